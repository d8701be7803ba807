------------------------------- MODULE MCKernel -------------------------------
(* Bounds, mixes of promises and policies, the refinement mapping and the   *)
(* reachability witnesses for Kernel.tla.                                   *)
EXTENDS KernelClauses, TLC

One == 1..1    Two == 1..2    Three == 1..3

P == {}    I == {"idempotent"}    R == {"reconcilable"}    O == {"read_only"}
B == {"idempotent", "reconcilable"}

Mix(f, s) == [a \in Action |-> IF a <= Len(s) THEN s[a] ELSE f]
HostP == Mix(P, <<>>)    HostI == Mix(I, <<>>)    HostR == Mix(R, <<>>)
HostO == Mix(O, <<>>)    HostB == Mix(B, <<>>)
HostPI == Mix(R, <<P, I>>)    HostIR == Mix(P, <<I, R>>)    HostRP == Mix(I, <<R, P>>)
HostOB == Mix(R, <<O, B>>)    HostRI == Mix(O, <<R, I>>)    HostOP == Mix(P, <<O>>)    HostIP == Mix(P, <<I>>)

AllAllow == Mix("allow", <<>>)
AllAsk   == Mix("ask", <<>>)
AskAllow == Mix("allow", <<"ask">>)
AllowAsk == Mix("allow", <<"allow", "ask">>)

(* What a resume may meet. *)
Strict(r) == IF r = "allow" THEN {"allow", "ask", "deny"} ELSE {r, "deny"}
SameRules(r)   == {r}
AnyRules(r)    == [Action -> Rules]
StricterOne(r) == {r} \cup UNION { { [r EXCEPT ![a] = s] : s \in Strict(r[a]) } : a \in Action }
DeniesFirst(r) == {r, [r EXCEPT ![1] = "deny"]}

(* A host may make other promises at each resume, but a tool that acts does *)
(* not become a reading (README.md, assumption A3).                         *)
Fair(a, h, p) == "read_only" \in p => "read_only" \in h[a]
SameHost(h)  == {h}
AnyHost(h)   == { g \in [Action -> SUBSET Promises] : \A a \in Action : Fair(a, h, g[a]) }
OtherHost(h) == { g \in {h, [a \in Action |-> {}], [a \in Action |-> B]} : \A a \in Action : Fair(a, h, g[a]) }

DropsFirst(h) == {h, [h EXCEPT ![1] = {}]}

-----------------------------------------------------------------------------
(* The refinement mapping: only the log and the world are seen.             *)
Account(a) ==
    IF ~HasIntent(a) THEN "none"
    ELSE CASE Outcome(a) = "none"  -> IF "read_only" \in Promised(a) THEN "reading" ELSE "begun"
           [] Outcome(a) = "doubt" -> IF Last(Trail(a)).kind = "verdict" THEN Last(Trail(a)).note ELSE "doubt"
           [] OTHER                -> Outcome(a)

Seen == INSTANCE Effects WITH
    approval <- [a \in Action |-> Asked(a)],
    account  <- [a \in Action |-> Account(a)],
    effects  <- [a \in Action |-> [i \in DOMAIN effects[a] |-> effects[a][i].args]]
RefinesEffects == Seen!ESpec              \* a cfg accepts a bare name only

-----------------------------------------------------------------------------
(* Reachability witnesses: each must be violated, or the models would pass  *)
(* because nothing interesting happens in them.                             *)
NeverServed      == ~(\E a \in Action : Consumed(a) /\ crashes = 2 /\ permit[a] = "spent")
NeverRetried     == ~(\E a \in Action : Outcome(a) = "result" /\ Attempt(a) = 3)
NeverReconciled  == \A i \in DOMAIN log : log[i].note # "reconciled"
NeverInDoubt     == \A a \in Action : Outcome(a) # "doubt"
NeverRefused     == run # "refused"
NeverVoid        == \A a \in Action : permit[a] # "void"
NeverSettled     == ~(\E a \in Action : Outcome(a) = "doubt" /\ Last(Trail(a)).kind = "verdict")
NeverByVerdict   == ~(run = "closed" /\ \E a \in Action : Of("verdict", a) # <<>> /\ Outcome(a) = "result")
NeverPromiseLost == ~(\E a \in Action : Outcome(a) = "doubt" /\ Promised(a) # {} /\ host[a] = {})

(* Faults can make the model infinite; the kill matrix is bounded by this.  *)
Bounded == Len(log) <= 12 /\ \A a \in Action : Count(a) <= 3
=============================================================================
