-------------------------------- MODULE Lease --------------------------------
(***************************************************************************)
(* Who drives a run, and what a second driver may do about an action that  *)
(* a first one left open.  Drivers are processes: each crashes, pauses and *)
(* wakes at any step.  A store admits entries of the latest epoch only.  A *)
(* lease ends by release, by the known death of its process, or by time;   *)
(* in the last case the old driver may be asleep inside its call.          *)
(*                                                                         *)
(* One action.  The kernel's own protocol is Kernel.tla, where one process *)
(* exists at a time; here is what more than one adds.  A driver in "ready" *)
(* has a durable entry that permits a call, and is anywhere between that   *)
(* entry and the effect: nothing that is written later can stop it.        *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Drivers,        \* 1..n, in the order in which they take the lease
    Worlds,         \* leases, machines, promises and receivers to begin with
    Jumps,          \* clocks jump: the lease of a driver at work may end too
    MaxPauses,      \* how often drivers are put to sleep
    MaxRepeats,     \* further calls on record
    MaxVerdicts

VARIABLES
    world,      \* outside: [lease, home, host, knows], never changes
    process,    \* outside: each driver: new | awake | asleep | dead | ended
    log,        \* store:   the entries of the run, each with its driver
    epoch,      \* store:   the epoch of each driver, 0 before it has one
    released,   \* store:   drivers whose lease was given back
    late,       \* store:   the latest lease was not renewed in time
    at,         \* memory:  where each driver stands
    said,       \* memory:  what the reconciler answered to it
    unsure,     \* memory:  older drivers that may live, as far as it could know
    effects,    \* world:   the key of each effect
    fence,      \* world:   the greatest epoch that the receiver was shown
    excuse,     \* ghost:   nobody could have known
    pauses      \* bookkeeping for the bound

vars == <<world, process, log, epoch, released, late, at, said, unsure, effects, fence, excuse, pauses>>

store   == <<log, epoch, released, late>>
outside == <<effects, fence>>

Init ==
    /\ world \in Worlds
    /\ process = [d \in Drivers |-> "new"]      /\ at = [d \in Drivers |-> "nowhere"]
    /\ said = [d \in Drivers |-> "nothing"]     /\ unsure = [d \in Drivers |-> {}]
    /\ log = <<>>                               /\ epoch = [d \in Drivers |-> 0]
    /\ released = {}                            /\ late = FALSE
    /\ effects = <<>>                           /\ fence = 0
    /\ excuse = FALSE                           /\ pauses = 0

-----------------------------------------------------------------------------
(* What is on record.                                                       *)
Entry(kind, note, d) == [kind |-> kind, note |-> note, by |-> d]
Of(kind)   == SelectSeq(log, LAMBDA r : r.kind = kind)
Last(s)    == s[Len(s)]
Repeats    == SelectSeq(log, LAMBDA r : r.kind = "resolution" /\ r.note \in {"retry", "not_executed"})
Outcome    == IF Of("result") = <<>> THEN "none" ELSE Of("result")[1].note
Closing    == IF Of("reconcile") = <<>> THEN "none" ELSE Of("reconcile")[1].note
Waiting    == IF log # <<>> /\ Last(log).kind = "verdict" THEN Last(log).note ELSE "none"
OpenDoubt  == Repeats # <<>> /\ Last(Repeats).note = "retry"
Declared   == Of("resolution") # <<>> /\ Last(Of("resolution")).note = "in_doubt"

(* Drivers whose entry permits a call: they may be inside it.               *)
Permits(r) == r.kind = "intent" \/ (r.kind = "resolution" /\ r.note \in {"retry", "not_executed"})
Callers    == { log[i].by : i \in { i \in DOMAIN log : Permits(log[i]) } }

-----------------------------------------------------------------------------
(* STO-6: leases.                                                           *)
Taken  == { d \in Drivers : epoch[d] > 0 }
Newest == CHOOSE d \in Taken : \A c \in Taken : c <= d
Latest == IF Taken = {} THEN 0 ELSE epoch[Newest]
Awake(d) == process[d] = "awake"

(* Only from its own machine can a process be known dead; the lock of an    *)
(* operating system says it to everybody who may take it.                   *)
Liveness(c, d) ==
    IF world.lease = "time" /\ world.home[c] # world.home[d] THEN "unknown"
    ELSE IF process[c] = "dead" THEN "dead" ELSE "alive"

Over(c, d)   == c \in released \/ Liveness(c, d) = "dead"
MayTake(d)   == IF Taken = {} THEN TRUE ELSE Over(Newest, d) \/ (world.lease = "time" /\ late)
Unsure(d)    == { c \in Taken : ~Over(c, d) }

(* A directory counts the drivers that wrote, a database every lease.       *)
Writers      == { log[i].by : i \in DOMAIN log }
NextEpoch    == 1 + IF world.lease = "os" THEN Cardinality(Writers) ELSE Latest

Start ==
    CASE log = <<>>        -> "fresh"
      [] Outcome = "none"  -> "found"
      [] Outcome = "doubt" -> "doubtful"
      [] OTHER             -> "done"

Acquire(d) ==
    /\ process[d] = "new" /\ \A c \in Drivers : c < d => process[c] # "new"
    /\ MayTake(d) /\ Start # "done"                             \* a run that is over asks for nothing
    /\ process' = [process EXCEPT ![d] = "awake"]
    /\ epoch'   = [epoch EXCEPT ![d] = NextEpoch]
    /\ unsure'  = [unsure EXCEPT ![d] = Unsure(d)]
    /\ at'      = [at EXCEPT ![d] = Start]
    /\ late'    = FALSE
    /\ UNCHANGED <<world, log, released, said, outside, excuse, pauses>>

(* A driver at work, a slow tool included, puts the end of its lease off.   *)
Renew(d) ==
    /\ Awake(d) /\ d = Newest /\ d \notin released /\ late
    /\ late' = FALSE
    /\ UNCHANGED <<world, process, log, epoch, released, at, said, unsure, outside, excuse, pauses>>

(* ENV.  Time passes, and the lease was not renewed.                        *)
Expire ==
    /\ world.lease = "time" /\ Taken # {} /\ ~late /\ Newest \notin released
    /\ Jumps \/ ~Awake(Newest)
    /\ late' = TRUE
    /\ UNCHANGED <<world, process, log, epoch, released, at, said, unsure, outside, excuse, pauses>>

(* A run that ends gives its lease back, and is inside no call any more.    *)
AfterEnd(d) == "ended"

Ends(d) ==
    /\ process'  = [process EXCEPT ![d] = AfterEnd(d)]
    /\ at'       = [at EXCEPT ![d] = IF AfterEnd(d) = "ended" THEN "nowhere" ELSE @]
    /\ said'     = [said EXCEPT ![d] = "nothing"]
    /\ released' = released \cup {d}

Release(d) ==
    /\ Awake(d) /\ Ends(d)
    /\ UNCHANGED <<world, log, epoch, late, unsure, outside, excuse, pauses>>

(* Fencing: the test of the epoch and the write are one step.  Whoever was  *)
(* superseded hears it at its next entry, and its run ends.                 *)
Admit(d) == epoch[d] = Latest /\ d \notin released

Write(d, entry, to) ==
    \/ /\ Admit(d)
       /\ log' = Append(log, entry)
       /\ at' = [at EXCEPT ![d] = to] /\ said' = [said EXCEPT ![d] = "nothing"]
       /\ UNCHANGED <<process, released>>
    \/ /\ ~Admit(d) /\ Ends(d) /\ UNCHANGED log

-----------------------------------------------------------------------------
(* The world.                                                               *)
Promises(p)  == p \in world.host
Key(d)       == "key"                                           \* KRN-10: the same for every driver
Remembers(d) == \E i \in DOMAIN effects : effects[i] = Key(d)

(* A receiver that knows the token refuses an epoch below one it was shown. *)
Refuses(d)   == "token" \in world.knows /\ epoch[d] < fence
Shown(d)     == IF "token" \in world.knows /\ epoch[d] > fence THEN epoch[d] ELSE fence
ShownToAsk(d) == Shown(d)

Acted(d) ==
    IF Promises("read_only") \/ ("key" \in world.knows /\ Remembers(d))
    THEN effects ELSE Append(effects, Key(d))

(* HST-4: the truth of this moment, or that it does not know.  A promised   *)
(* fence holds for the question too.                                        *)
Truth == IF effects # <<>> THEN "took_place" ELSE "did_not"

-----------------------------------------------------------------------------
(* The rule.  Older callers of this action that may still act.              *)
MayStillAct(d) == (unsure[d] \cap Callers) \ {d}

(* "It took place" stays true.  "It did not" may cease to be, unless nobody *)
(* is left who could act, or the question itself shut the receiver to them. *)
Believes(d, answer) ==
    CASE answer = "took_place" -> TRUE
      [] answer = "did_not"    -> MayStillAct(d) = {} \/ Promises("fenced")
      [] OTHER                 -> FALSE

(* RES-6: the same key, and a receiver that knows it, makes one of many.    *)
MayRetry(d) ==
    /\ Promises("idempotent") \/ Promises("read_only")
    /\ at[d] \in {"found", "unsure"} /\ Len(Repeats) < MaxRepeats

MayAsk(d) ==
    /\ Promises("reconcilable") /\ said[d] = "nothing" /\ Waiting = "none"
    /\ \/ at[d] = "doubtful" /\ Closing = "none"
       \/ at[d] \in {"found", "unsure", "called_off"} /\ ~Declared /\ ~MayRetry(d)

Settlement(d) ==
    CASE Waiting # "none"    -> Waiting
      [] Declared            -> "in_doubt"
      [] MayRetry(d)         -> "retry"
      [] said[d] = "took_place" /\ Believes(d, said[d]) -> "reconciled"
      [] said[d] = "did_not" /\ Believes(d, said[d])    -> IF at[d] = "found" THEN "not_executed" ELSE "failed"
      [] Promises("read_only") -> "failed"
      [] OTHER               -> "in_doubt"

(* A doubt is excused: no promise, no answer, attempts used up, or a caller *)
(* that nobody can know to be over, and no fence against it.                *)
Excused(d) ==
    \/ Waiting # "none" \/ Declared
    \/ ~Promises("idempotent") /\ ~Promises("reconcilable")
    \/ Promises("idempotent") /\ ~Promises("reconcilable") /\ ~MayRetry(d)
    \/ said[d] = "unknown"
    \/ /\ said[d] = "did_not" /\ ~Promises("fenced")
       /\ \E i \in DOMAIN log : Permits(log[i]) /\ log[i].by \in unsure[d]

-----------------------------------------------------------------------------
(* DUR-6: the intention is durable before the call.                         *)
Intent(d) ==
    /\ Awake(d) /\ at[d] = "fresh"
    /\ Write(d, Entry("intent", "", d), "ready")
    /\ UNCHANGED <<world, epoch, late, unsure, outside, excuse, pauses>>

(* The call, however late: no store is asked any more.                      *)
Reaches(d) == Awake(d) /\ at[d] = "ready"
Heard(reply) == IF reply = "failed" /\ OpenDoubt THEN "called_off" ELSE reply

Dispatch(d) ==
    /\ Reaches(d)
    /\ \/ /\ Refuses(d)
          /\ at' = [at EXCEPT ![d] = Heard("failed")] /\ UNCHANGED outside
       \/ /\ ~Refuses(d)
          /\ effects' = Acted(d) /\ fence' = Shown(d)
          /\ \E reply \in {"returned", "unsure"} : at' = [at EXCEPT ![d] = reply]
       \/ /\ ~Refuses(d)
          /\ \E reply \in {"failed", "unsure"} : at' = [at EXCEPT ![d] = Heard(reply)]
          /\ UNCHANGED outside
    /\ UNCHANGED <<world, process, store, said, unsure, excuse, pauses>>

(* The reconciler is asked with the epoch of the one who asks.              *)
Ask(d) ==
    /\ Awake(d) /\ MayAsk(d)
    /\ \/ said' = [said EXCEPT ![d] = "unknown"] /\ UNCHANGED fence
       \/ ~Refuses(d) /\ said' = [said EXCEPT ![d] = Truth] /\ fence' = ShownToAsk(d)
    /\ UNCHANGED <<world, process, store, at, unsure, effects, excuse, pauses>>

(* RES-6: what becomes of an action without a result.                       *)
After(how) ==
    CASE how \in {"retry", "not_executed"} -> "ready"
      [] how = "reconciled"                -> "returned"
      [] how = "failed"                    -> "failed"
      [] how = "in_doubt"                  -> "doubt"

Settle(d) ==
    /\ Awake(d) /\ at[d] \in {"found", "unsure", "called_off"} /\ ~MayAsk(d)
    /\ LET how == Settlement(d) IN
       /\ IF how = "executed"
          THEN at' = [at EXCEPT ![d] = "returned"] /\ UNCHANGED <<log, process, released, said>>
          ELSE Write(d, Entry("resolution", how, d), After(how))
       /\ excuse' = (excuse \/ (how = "in_doubt" /\ Excused(d)))
    /\ UNCHANGED <<world, epoch, late, unsure, outside, pauses>>

Status(d) == CASE at[d] = "returned" -> "result" [] at[d] = "failed" -> "failed" [] OTHER -> "doubt"

Result(d) ==
    /\ Awake(d) /\ at[d] \in {"returned", "failed", "doubt"}
    /\ Write(d, Entry("result", Status(d), d), IF at[d] = "doubt" THEN "doubtful" ELSE "done")
    /\ UNCHANGED <<world, epoch, late, unsure, outside, excuse, pauses>>

(* TOL-8: a doubt is reconciled later, by the same rule.                    *)
Reconcile(d) ==
    /\ Awake(d) /\ at[d] = "doubtful" /\ said[d] # "nothing"
    /\ IF Believes(d, said[d])
       THEN Write(d, Entry("reconcile", said[d], d), "done")
       ELSE said' = [said EXCEPT ![d] = "nothing"] /\ UNCHANGED <<log, at, process, released>>
    /\ UNCHANGED <<world, epoch, late, unsure, outside, excuse, pauses>>

(* ENV.  RES-10: an operator under a lease of his own.  He is believed, so  *)
(* "it was not executed" must be final: whoever could act has ended.        *)
Final(d) == \A c \in Callers \ {d} : process[c] \in {"dead", "ended"} \/ at[c] # "ready"

Verdict(d) ==
    /\ Awake(d) /\ at[d] \in {"found", "doubtful"} /\ said[d] = "nothing" /\ Closing = "none" /\ Waiting = "none"
    /\ Len(Of("verdict")) < MaxVerdicts
    /\ \/ effects # <<>> /\ Write(d, Entry("verdict", "executed", d), at[d])
       \/ effects = <<>> /\ Final(d) /\ Write(d, Entry("verdict", "not_executed", d), at[d])
    /\ UNCHANGED <<world, epoch, late, unsure, outside, excuse, pauses>>

(* ENV.  Anything may happen to a process; a call ends with it (README, A4).*)
Leaves(d) == "nowhere"

Crash(d) ==
    /\ process[d] \in {"awake", "asleep"}
    /\ process' = [process EXCEPT ![d] = "dead"]
    /\ at' = [at EXCEPT ![d] = Leaves(d)] /\ said' = [said EXCEPT ![d] = "nothing"]
    /\ UNCHANGED <<world, store, unsure, outside, excuse, pauses>>

Pause(d) ==
    /\ Awake(d) /\ pauses < MaxPauses
    /\ process' = [process EXCEPT ![d] = "asleep"] /\ pauses' = pauses + 1
    /\ UNCHANGED <<world, store, at, said, unsure, outside, excuse>>

Wake(d) ==
    /\ process[d] = "asleep" /\ process' = [process EXCEPT ![d] = "awake"]
    /\ UNCHANGED <<world, store, at, said, unsure, outside, excuse, pauses>>

-----------------------------------------------------------------------------
Next ==
    \/ \E d \in Drivers : Acquire(d)
    \/ \E d \in Drivers : Renew(d)
    \/ \E d \in Drivers : Release(d)
    \/ \E d \in Drivers : Intent(d)
    \/ \E d \in Drivers : Dispatch(d)
    \/ \E d \in Drivers : Ask(d)
    \/ \E d \in Drivers : Settle(d)
    \/ \E d \in Drivers : Result(d)
    \/ \E d \in Drivers : Reconcile(d)
    \/ \E d \in Drivers : Verdict(d)
    \/ \E d \in Drivers : Crash(d)
    \/ \E d \in Drivers : Pause(d)
    \/ \E d \in Drivers : Wake(d)
    \/ Expire

Spec == Init /\ [][Next]_vars
=============================================================================
