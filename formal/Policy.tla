-------------------------------- MODULE Policy --------------------------------
(***************************************************************************)
(* The policy's algorithm (POL-2) and what surrounds it (KRN-3): the five  *)
(* steps over a set of rules whose guards are True, False or Unknown, then *)
(* the person where one is asked, then the permit.  Anything may raise at  *)
(* any step.  One initial state for every small rule set, so that checking *)
(* it is checking all of them.                                             *)
(*                                                                         *)
(* Code: agentl/kernel/policy.py, agentl/logic.py.                         *)
(***************************************************************************)
EXTENDS Kleene, Sequences, FiniteSets

CONSTANT MaxRules       \* length of the rule sets explored

VARIABLES
    rules,     \* the rules in source order: [effect, aims, guard]
    default,   \* ALLOW | DENY
    at,        \* where the judgement stands: the next step, or its end
    verdict,   \* none | ALLOWED | DENIED | APPROVAL_REQUIRED
    answer,    \* what the person said: none | yes | no | other
    raised     \* something raised on the way

vars == <<rules, default, at, verdict, answer, raised>>

Effects == {"NEVER", "DENY", "ALLOW", "ASK"}            \* ASK: REQUIRE APPROVAL
Aiming  == [effect : Effects, aims : {TRUE}, guard : Truth]
Rule    == Aiming \cup {[effect |-> "ALLOW", aims |-> FALSE, guard |-> "T"],
                        [effect |-> "NEVER", aims |-> FALSE, guard |-> "T"]}
RuleSets == UNION { [1..n -> Rule] : n \in 0..MaxRules }
Verdicts == {"ALLOWED", "DENIED", "APPROVAL_REQUIRED"}
Ends     == {"minted", "refused"}

-----------------------------------------------------------------------------
(* TRI-6: an unknown guard restrains; it never permits.                     *)
AppliesWhenUnknown(effect) == effect # "ALLOW"
Holds(rule) == rule.guard = "T" \/ (rule.guard = "U" /\ AppliesWhenUnknown(rule.effect))

Match(rs, effect) == \E i \in DOMAIN rs : rs[i].effect = effect /\ rs[i].aims /\ Holds(rs[i])
Aimed(rs, effect) == \E i \in DOMAIN rs : rs[i].effect = effect /\ rs[i].aims

(* Step 3: where ALLOW rules aim at this target, one of them must be True.  *)
Permitted(rs, d) == IF Aimed(rs, "ALLOW") THEN Match(rs, "ALLOW") ELSE d = "ALLOW"

(* POL-2 as one function, for the clauses that compare rule sets.           *)
Judgement(rs, d) ==
    CASE Match(rs, "NEVER") \/ Match(rs, "DENY") \/ ~Permitted(rs, d) -> "DENIED"
      [] Match(rs, "ASK") -> "APPROVAL_REQUIRED"
      [] OTHER -> "ALLOWED"

-----------------------------------------------------------------------------
Init ==
    /\ rules \in RuleSets /\ default \in {"ALLOW", "DENY"}
    /\ at = "never" /\ verdict = "none" /\ answer = "none" /\ raised = FALSE

Say(v, where) == verdict' = v /\ at' = where /\ UNCHANGED <<rules, default, answer, raised>>
Pass(where)   == at' = where /\ UNCHANGED <<rules, default, verdict, answer, raised>>

StepNever == /\ at = "never"
             /\ IF Match(rules, "NEVER") THEN Say("DENIED", "refused") ELSE Pass("deny")
StepDeny  == /\ at = "deny"
             /\ IF Match(rules, "DENY") THEN Say("DENIED", "refused") ELSE Pass("allow")
StepAllow == /\ at = "allow"
             /\ IF Permitted(rules, default) THEN Pass("ask") ELSE Say("DENIED", "refused")
StepAsk   == /\ at = "ask"
             /\ IF Match(rules, "ASK") THEN Say("APPROVAL_REQUIRED", "person") ELSE Pass("grant")
StepGrant == /\ at = "grant"
             /\ Say("ALLOWED", "mint")

(* APR-1, APR-2: only a yes approves; the policy's verdict stays as it was. *)
Approves(said) == said = "yes"
Person    == /\ at = "person"
             /\ answer' \in {"yes", "no", "other"}
             /\ at' = IF Approves(answer') THEN "mint" ELSE "refused"
             /\ UNCHANGED <<rules, default, verdict, raised>>
Mint      == /\ at = "mint"
             /\ Pass("minted")

(* ENV.  KRN-3: a guard, a hook, the approver or the copying raises.        *)
WhenRaised == "refused"
Raise     == /\ at \notin Ends /\ ~raised
             /\ raised' = TRUE /\ at' = WhenRaised
             /\ verdict' = IF verdict = "none" THEN "DENIED" ELSE verdict
             /\ UNCHANGED <<rules, default, answer>>

Next == StepNever \/ StepDeny \/ StepAllow \/ StepAsk \/ StepGrant \/ Person \/ Mint \/ Raise
Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Next)

-----------------------------------------------------------------------------
TypeOK == rules \in RuleSets /\ verdict \in Verdicts \cup {"none"}

(* INV-2, POL-2: a NEVER that holds, or might, is above everything.         *)
NeverDominates ==
    (\E i \in DOMAIN rules : rules[i].effect = "NEVER" /\ rules[i].aims /\ rules[i].guard # "F")
        => verdict \in {"none", "DENIED"} /\ at # "minted"

(* POL-2: and a DENY is above ALLOW and approval.                           *)
DenyDominates ==
    (\E i \in DOMAIN rules : rules[i].effect = "DENY" /\ rules[i].aims /\ rules[i].guard # "F")
        => verdict \in {"none", "DENIED"} /\ at # "minted"

(* INV-3, TRI-6: forget any part of what the guards know; the judgement is  *)
(* never more permissive.                                                   *)
Rank(v) == CASE v = "DENIED" -> 0 [] v = "APPROVAL_REQUIRED" -> 1 [] OTHER -> 2
Forgets(rs) == { g \in [DOMAIN rs -> Truth] : \A i \in DOMAIN rs : Less(g[i], rs[i].guard) }
KnowingLessNeverPermitsMore ==
    at = "never" => \A g \in Forgets(rules) :
        Rank(Judgement([i \in DOMAIN rules |-> [rules[i] EXCEPT !.guard = g[i]]], default))
            <= Rank(Judgement(rules, default))

(* TRI-2: and a guard that is decided stays decided when more is known.     *)
GuardsMonotone == (at = "never" /\ rules = <<>>) => KleeneMonotone /\ KleeneTables

(* POL-2: the order of the source makes no difference.                      *)
Swapped(rs, i, j) == [k \in DOMAIN rs |-> IF k = i THEN rs[j] ELSE IF k = j THEN rs[i] ELSE rs[k]]
OrderIndependent ==
    at = "never" => \A i, j \in DOMAIN rules : Judgement(Swapped(rules, i, j), default) = Judgement(rules, default)

(* POL-2: the steps compute the judgement, unless something raised.         *)
StepsJudge == verdict \in {"ALLOWED", "APPROVAL_REQUIRED"} => verdict = Judgement(rules, default)

(* KRN-3, APR-2: whatever raises, the way to a permit is closed.            *)
ExceptionDenies == raised => at = "refused"

(* APR-4, POL-2: a denial is not put to a person; a permit is minted only   *)
(* after ALLOWED, or after a person said yes.                               *)
AskedOnlyWhenRequired == at = "person" => verdict = "APPROVAL_REQUIRED"
MintedOnlyWhenPermitted ==
    at \in {"mint", "minted"} => verdict = "ALLOWED" \/ (verdict = "APPROVAL_REQUIRED" /\ answer = "yes")

(* Every judgement comes to an end.                                         *)
Decides == <>(at \in Ends)
=============================================================================
