------------------------------- MODULE Effects -------------------------------
(***************************************************************************)
(* What an auditor is told, and nothing more.  No process, no disk, no     *)
(* crash: each action is begun on record only after it was authorised, its *)
(* effect happens at most once and with the arguments that were judged,    *)
(* and its account ends in a result, in a failure, or in a declared doubt  *)
(* that a verdict may still settle.                                        *)
(*                                                                         *)
(* Kernel.tla refines this module (RefinesEffects in MCKernel.tla), so     *)
(* every behaviour of the protocol, crashes included, looks like this from *)
(* outside.                                                                *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANT Action

VARIABLES
    approval,   \* what a person answered: none | approved | denied
    account,    \* what is on record about the action, see Accounts
    effects     \* the arguments of each effect that reached the world

evars == <<approval, account, effects>>

Accounts == {"none", "begun", "reading", "result", "failed", "doubt", "executed", "not_executed"}
Under(a) == account[a] \in {"begun", "reading"}
Happened(a) == Len(effects[a]) = 1

EInit ==
    /\ approval = [a \in Action |-> "none"]
    /\ account  = [a \in Action |-> "none"]
    /\ effects  = [a \in Action |-> <<>>]

Move(a, from, to) == account[a] = from /\ account' = [account EXCEPT ![a] = to]

(* APR-6: a person answers once.                                            *)
EAnswer(a) ==
    /\ approval[a] = "none" /\ account[a] = "none"
    /\ \E answer \in {"approved", "denied"} : approval' = [approval EXCEPT ![a] = answer]
    /\ UNCHANGED <<account, effects>>

(* INV-1, INV-2: begun only when nobody had to be asked, or a person said   *)
(* yes; never after a person said no.                                       *)
EBegin(a) ==
    /\ approval[a] \in {"none", "approved"}
    /\ Move(a, "none", "begun") \/ Move(a, "none", "reading")
    /\ UNCHANGED <<approval, effects>>

(* INV-6, INV-9: at most once, with the judged arguments.                   *)
EHappen(a) ==
    /\ Under(a) /\ effects[a] = <<>>
    /\ effects' = [effects EXCEPT ![a] = <<"judged">>]
    /\ UNCHANGED <<approval, account>>

(* TOL-3: exactly one of three ends; the first two are never a guess.       *)
EEnd(a) ==
    /\ Under(a)
    /\ \/ (Happened(a) \/ account[a] = "reading") /\ account' = [account EXCEPT ![a] = "result"]
       \/ ~Happened(a)                            /\ account' = [account EXCEPT ![a] = "failed"]
       \/ account' = [account EXCEPT ![a] = "doubt"]
    /\ UNCHANGED <<approval, effects>>

(* TOL-8, RES-10: a verdict settles a doubt, and tells the truth.           *)
ESettle(a) ==
    /\ \/ Happened(a)  /\ Move(a, "doubt", "executed")
       \/ ~Happened(a) /\ Move(a, "doubt", "not_executed")
    /\ UNCHANGED <<approval, effects>>

ENext == \E a \in Action : EAnswer(a) \/ EBegin(a) \/ EHappen(a) \/ EEnd(a) \/ ESettle(a)
ESpec == EInit /\ [][ENext]_evars

(* Theorems of this view, checked on it alone as well (MCEffects).          *)
AtMostOnce      == \A a \in Action : Len(effects[a]) <= 1
OnlyJudgedArgs  == \A a \in Action : \A i \in DOMAIN effects[a] : effects[a][i] = "judged"
EffectOnRecord  == \A a \in Action : Happened(a) => account[a] # "none"
NeverAfterNo    == \A a \in Action : account[a] # "none" => approval[a] # "denied"
TruthfulAccount == \A a \in Action : /\ account[a] \in {"failed", "not_executed"} => ~Happened(a)
                                     /\ account[a] = "executed" => Happened(a)
=============================================================================
