------------------------------- MODULE MCLease -------------------------------
(* What must be true of every behaviour of Lease.tla, the combinations it   *)
(* begins with, and the reachability witnesses.                             *)
EXTENDS Lease, TLC

One == 1..1    Two == 1..2    Three == 1..3

TypeOK ==
    /\ process \in [Drivers -> {"new", "awake", "asleep", "dead", "ended"}]
    /\ at \in [Drivers -> {"nowhere", "fresh", "found", "ready", "returned", "failed", "unsure", "called_off",
                           "doubt", "doubtful", "done"}]
    /\ said \in [Drivers -> {"nothing", "took_place", "did_not", "unknown"}]
    /\ unsure \in [Drivers -> SUBSET Drivers] /\ released \subseteq Drivers
    /\ epoch \in [Drivers -> Nat] /\ fence \in Nat /\ late \in BOOLEAN /\ excuse \in BOOLEAN

(* INV-9, DUR-2: however many drivers, no effect is doubled.                *)
AtMostOnce == Len(effects) <= 1

(* DUR-2, RES-6: a promise that the host keeps gives exactly one effect, or *)
(* a failure that is sure, unless nobody could know.                        *)
ExactlyOnceWhenPromised ==
    (Outcome # "none" /\ ~excuse /\ world.host \cap {"idempotent", "reconcilable"} # {}) =>
        \/ Outcome = "result" /\ Len(effects) = 1
        \/ Outcome = "failed" /\ Len(effects) = 0

(* TOL-3, TOL-8: what is on record, now and later, is never a guess.        *)
NeverGuessed ==
    /\ Outcome = "result"     => Promises("read_only") \/ Len(effects) >= 1
    /\ Outcome = "failed"     => Len(effects) = 0
    /\ Closing = "took_place" => Len(effects) >= 1
    /\ Closing = "did_not"    => Len(effects) = 0
    /\ (Outcome = "doubt" /\ Waiting = "not_executed") => Len(effects) = 0

(* DUR-6: nothing happens that is not on record.                            *)
EffectOnRecord == effects # <<>> => Of("intent") # <<>>

(* RES-6: doubt is declared only where nobody could know.  A rule that is   *)
(* too careful breaks this one.                                             *)
InDoubtOnlyWithoutPromise == (Outcome = "doubt" \/ Declared) => excuse

(* STO-6: at most one driver may write, and epochs only grow.               *)
OneDriver == Cardinality({ d \in Taken : process[d] \notin {"dead", "ended"} /\ Admit(d) }) <= 1
EpochsGrow == \A c, d \in Taken : c < d =>
    IF world.lease = "time" THEN epoch[c] < epoch[d] ELSE epoch[c] <= epoch[d]

(* STO-6: a driver that was superseded adds nothing.                        *)
SupersededWritesNothing == \A i, j \in DOMAIN log : i < j => log[i].by <= log[j].by

(* STO-6: under the lock of an operating system nobody is ever unsure.      *)
LockIsSure == world.lease = "os" => \A d \in Drivers : unsure[d] = {}

(* DUR-5: one intention, one result, and nothing is called behind it.       *)
OneResult == Len(Of("intent")) <= 1 /\ Len(Of("result")) <= 1 /\ Len(Of("reconcile")) <= 1

-----------------------------------------------------------------------------
(* Where the drivers run.                                                   *)
Together == [d \in Drivers |-> 1]
Apart    == [d \in Drivers |-> d]
LastTwo  == [d \in Drivers |-> IF d = 1 THEN 1 ELSE 2]

(* What a host promises, and what its receiver knows: a promise needs the   *)
(* knowledge behind it, but a receiver may know more than is promised.      *)
P == {}              I == {"idempotent"}      R == {"reconcilable"}    O == {"read_only"}
F == {"fenced"}      B == I \cup R            RF == R \cup F           FI == I \cup F    BF == B \cup F
Fits(h, k) == /\ "idempotent" \in h => "key" \in k
              /\ "fenced" \in h => "token" \in k
Receivers == SUBSET {"key", "token"}
Mixes(hosts, homes) ==
    { w \in [lease : {"time"}, home : homes, host : hosts, knows : Receivers] : Fits(w.host, w.knows) }
Locked(hosts) ==
    { w \in [lease : {"os"}, home : {Together}, host : hosts, knows : Receivers] : Fits(w.host, w.knows) }

Every    == {P, I, R, O, B, F, RF, FI, BF}
EveryMix == Mixes(Every, {Together, Apart}) \cup Locked(Every)
Plainly(hosts, homes) ==      \* the receiver knows what is promised, no more
    { w \in Mixes(hosts, homes) : /\ "key" \in w.knows => "idempotent" \in w.host
                                  /\ "token" \in w.knows => "fenced" \in w.host }
Lockly(hosts) == { w \in Locked(hosts) : /\ "key" \in w.knows => "idempotent" \in w.host
                                         /\ "token" \in w.knows => "fenced" \in w.host }
EachPromise == Plainly(Every, {Apart}) \cup Plainly({R}, {Together}) \cup Lockly({P, R, B})
Pausing   == Plainly({P, R, RF}, {Apart}) \cup Lockly({R})
ThreeMix  == Plainly({P, I, R, B, RF}, {LastTwo})

OnlyP  == Plainly({P}, {Apart})      OnlyI  == Plainly({I}, {Apart})     OnlyR == Plainly({R}, {Apart})
OnlyRF == Plainly({RF}, {Apart})     OnlyF  == Plainly({F}, {Apart})     LockR == Lockly({R})
NearR  == Plainly({R}, {Together})  TwoR  == Plainly({R}, {LastTwo})

-----------------------------------------------------------------------------
(* Reachability witnesses: each must be violated.                           *)
NeverSuperseded  == ~(\E d \in Drivers : process[d] = "awake" /\ at[d] = "ready" /\ epoch[d] < Latest)
NeverWokenEffect == ~(\E d \in Drivers : at[d] = "returned" /\ epoch[d] < Latest)
NeverRanOut      == \A d \in Drivers : unsure[d] = {}
NeverKnownDead   == ~(\E d \in Drivers : process[d] = "dead" /\ \E c \in Drivers : c > d /\ at[c] = "returned"
                        /\ unsure[c] = {} /\ \E i \in DOMAIN log : log[i].note = "not_executed")
NeverBelievedYes == ~(\E d \in Drivers : at[d] = "returned" /\ MayStillAct(d) # {} /\ log # <<>>
                        /\ Last(log).note = "reconciled")
NeverRefusedToken == ~(\E d \in Drivers : Refuses(d) /\ at[d] \in {"failed", "called_off"})
NeverDoubtEnded  == Closing = "none"
NeverByVerdict   == ~(Outcome = "result" /\ Of("verdict") # <<>>)
NeverRetriedBeside == ~(Outcome = "result" /\ \E d \in Drivers : MayStillAct(d) # {} /\ OpenDoubt)

Bounded == Len(effects) <= 3 /\ Len(log) <= 8

(* Three drivers, kept small: only the first ends well, and none dies.      *)
Narrow == Bounded /\ released \subseteq {1} /\ \A d \in Drivers : process[d] # "dead"
=============================================================================
