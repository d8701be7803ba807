---------------------------- MODULE KernelClauses ----------------------------
(***************************************************************************)
(* What must be true of every run of Kernel.tla.  One operator per clause, *)
(* named for it; the type invariant is apart, and looser than the clauses. *)
(***************************************************************************)
EXTENDS Kernel

TypeOK ==
    /\ permit \in [Action -> Permits]
    /\ args \in [Action -> {"judged", "changed"}]
    /\ call \in [Action -> Calls]
    /\ cursor \in 0..Len(log)
    /\ run \in Runs
    /\ rule \in [Action -> Rules]
    /\ host \in [Action -> SUBSET Promises]
    /\ excuse \in [Action -> BOOLEAN]
    /\ crashes \in 0..MaxCrash
    /\ \A i \in DOMAIN log : log[i].action \in Action

Effect(a) == { effects[a][i] : i \in DOMAIN effects[a] }
Acting    == {"issued", "dispatching", "spent"}

(* INV-1, KRN-12: no effect without a permit in force, minted for an action *)
(* that the policy allowed or a person approved.                            *)
NoUnauthorizedEffect == \A a \in Action : \A e \in Effect(a) : e.lawful

(* INV-6, KRN-13: what reached the world is what was judged.                *)
OnlyJudgedArgs == \A a \in Action : \A e \in Effect(a) : e.args = "judged"

(* INV-9, DUR-2: whatever dies and resumes, no effect is doubled.           *)
AtMostOnce == \A a \in Action : Count(a) <= 1

(* DUR-2, RES-6: a recorded promise that the host keeps gives exactly one   *)
(* effect, or a failure that is sure.                                       *)
ExactlyOnceWhenPromised ==
    \A a \in Action :
        (HasIntent(a) /\ Outcome(a) # "none" /\ ~excuse[a]) =>
            \/ Recorded(a) \cap {"idempotent", "reconcilable"} = {} \/ "read_only" \in Promised(a)
            \/ Outcome(a) = "result" /\ Count(a) = 1
            \/ Outcome(a) = "failed" /\ Count(a) = 0

(* TOL-3: an outcome other than doubt is never a guess.                     *)
NeverGuessed ==
    \A a \in Action :
        /\ Outcome(a) = "failed" => Count(a) = 0
        /\ Outcome(a) = "result" => Count(a) = 1 \/ ("read_only" \in Promised(a) /\ Count(a) = 0)

(* DUR-6, RES-8: an effect is on record, an open intention is the last      *)
(* thing on record, and a closed run leaves none open.                      *)
Pending(i) == log[i].kind = "intent" /\ Outcome(log[i].action) = "none"
NothingLostSilently ==
    /\ \A a \in Action : Count(a) > 0 => HasIntent(a)
    /\ \A i \in DOMAIN log : Pending(i) => run # "closed" /\ \A j \in DOMAIN log : j > i => log[j].kind \notin Heads

(* RES-6: doubt is declared only where the host left no way to know.        *)
InDoubtOnlyWithoutPromise == \A a \in Action : Outcome(a) = "doubt" => excuse[a]

(* DUR-2, DUR-5: one intention and one result for an action; once it has a  *)
(* result it is not called.                                                 *)
OneResult ==
    \A a \in Action :
        /\ Len(Of("intent", a)) <= 1 /\ Len(Of("result", a)) <= 1
        /\ Outcome(a) # "none" => call[a] = "idle"
        /\ Outcome(a) # "none" => HasIntent(a)

(* KRN-11: at most one permit is outstanding ...                            *)
OneOutstanding == Cardinality({a \in Action : permit[a] \in {"issued", "dispatching"}}) <= 1
(* KRN-11: and a permit runs once: when the result of its action was        *)
(* written or served in this process, it is not in force.                   *)
Consumed(a) == \E i \in 1..cursor : log[i].kind = "result" /\ log[i].action = a
PermitSingleUse == \A a \in Action : Consumed(a) => permit[a] \notin {"issued", "dispatching"}
(* KRN-11: one that was used, revoked or refused never comes to life again. *)
NoPermitRevives ==
    [][\A a \in Action : (permit[a] \in {"spent", "void", "refused"} /\ run' = "up") => permit'[a] = permit[a]]_vars

(* KRN-3, APR-6, RES-5: in force only with the policy's word of today and,  *)
(* where it asks, a recorded yes.                                           *)
SpentOnlyWhenApproved == \A a \in Action : permit[a] \in Acting => Granted(a)

(* DUR-3: the log only grows.                                               *)
OnlyGrows == [][Len(log') >= Len(log) /\ SubSeq(log', 1, Len(log)) = log]_vars

(* RES-1, HST-4: every run comes to an end: completed, or refused with a    *)
(* reason.                                                                  *)
Termination == <>[](run \in {"closed", "refused"})
=============================================================================
