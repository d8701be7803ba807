------------------------------- MODULE MutLease -------------------------------
(***************************************************************************)
(* Rules that look right and double an effect, or are more careful than    *)
(* they need to be.  Each takes the place of one operator of Lease.tla     *)
(* through "CONSTANT Op <- Mutant" in a cfg; manifest.toml says which      *)
(* clause must object.  spec/lease.md tells each in words.                 *)
(***************************************************************************)
EXTENDS MCLease

L == INSTANCE Lease

-----------------------------------------------------------------------------
(* Who is believed.                                                         *)

(* A reconciler that says "it did not" is believed beside a sleeping caller.*)
BelievesNo(d, answer) == answer \in {"took_place", "did_not"}

(* The same, later: a doubt is closed by it (TOL-8).                        *)
BelievesNoLater(d, answer) == IF at[d] = "doubtful" THEN answer # "unknown" ELSE L!Believes(d, answer)

(* Only whoever wrote the intention is asked about, not who called again.   *)
OnlyTheFirst == { Of("intent")[i].by : i \in DOMAIN Of("intent") }

(* Only the driver just before is looked at, not the ones before it.        *)
OnlyTheLast(d) == { c \in L!Unsure(d) : c = Newest }

(* A verdict that is true when it is spoken, while the call is on its way.  *)
HastyVerdict(d) == TRUE

-----------------------------------------------------------------------------
(* Who is dead.                                                             *)

(* A lease that ran out is taken for a death.                               *)
LateMeansDead(d) == IF late THEN {} ELSE L!Unsure(d)

(* A process id is looked up on the wrong machine, and not found.           *)
ElsewhereMeansDead(c, d) == IF world.home[c] # world.home[d] THEN "dead" ELSE L!Liveness(c, d)

(* The lock is a note: it is taken over from a driver that sleeps.          *)
StealsLock(d) == IF Taken = {} THEN TRUE ELSE L!MayTake(d) \/ process[Newest] = "asleep"

(* A lease is given back by another thread while the call goes on.          *)
ReleasesInCall(d) == IF at[d] = "ready" THEN "awake" ELSE "ended"

(* A call outlives its process: what assumption A4 excludes.                *)
CallGoesOn(d)     == at[d]
ReachesFromDeath(d) == at[d] = "ready" /\ process[d] \in {"awake", "dead"}

-----------------------------------------------------------------------------
(* Who writes.                                                              *)

(* The store does not look at the epoch.                                    *)
AdmitsAll(d) == d \notin released

(* A new lease takes the old number.                                        *)
SameEpoch == IF Latest = 0 THEN 1 ELSE Latest

-----------------------------------------------------------------------------
(* What the receiver knows.                                                 *)

(* Every driver has a key of its own.                                       *)
KeyPerDriver(d) == epoch[d]

(* No key, and called again all the same.                                   *)
RetriesWithoutKey(d) == at[d] \in {"found", "unsure"} /\ Len(Repeats) < MaxRepeats

(* The token is taken for a key: the newest may always call.                *)
TokenMeansKey(d) == L!MayRetry(d) \/ (Promises("fenced") /\ at[d] = "found" /\ Len(Repeats) < MaxRepeats)

(* The question does not shut the receiver to older epochs; only a call.    *)
AsksWithoutToken(d) == fence

-----------------------------------------------------------------------------
(* Too careful: no effect is doubled, but a doubt is declared without need. *)

(* The first version of the rule: beside a sleeping caller nobody is asked. *)
NeverAsks(d, answer) == MayStillAct(d) = {} /\ answer # "unknown"

(* Every old driver counts, also one that never had leave to call.          *)
AnyDriver == Taken
=============================================================================
