-------------------------------- MODULE Park --------------------------------
(***************************************************************************)
(* A question that outlives the process which put it.  The run stands at   *)
(* one action that needs a yes.  Its process may die between any two       *)
(* steps; people answer from anywhere, when no process is there too; time  *)
(* passes; and a process that derives the run again may come to other      *)
(* arguments than the one before.                                          *)
(*                                                                         *)
(* One process at a time (Lease.tla has several).  What becomes of an      *)
(* action after its approval is Kernel.tla; here it is one step.           *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Args,       \* what the action may be derived with; its digest
    MaxRows,    \* requests ever posted
    MaxCrash

VARIABLES
    up,         \* memory: a process drives the run
    at,         \* memory: nowhere | asking | going | refused
    args,       \* memory: the arguments that this process derived
    log,        \* store:  the entries of the run
    rows,       \* store:  the requests, in the order in which they were posted
    effects,    \* world:  the arguments of each effect
    crashes     \* bookkeeping for the bound

vars == <<up, at, args, log, rows, effects, crashes>>

memory == <<up, at, args>>

Init ==
    /\ up = TRUE /\ at = "asking" /\ args \in Args
    /\ log = <<>> /\ rows = <<>> /\ effects = <<>> /\ crashes = 0

-----------------------------------------------------------------------------
(* What is on record.                                                       *)
Entry(kind, a, note) == [kind |-> kind, args |-> a, note |-> note]
Of(kind)    == SelectSeq(log, LAMBDA r : r.kind = kind)
Last(s)     == s[Len(s)]
Answered    == Of("approve") # <<>>
Over        == Of("result") # <<>>
OnRecord(a) == log # <<>> /\ Last(log) = Entry("park", a, "")

(* PRK-2: an answer is for the action of this digest and no other.  A       *)
(* request that was withdrawn is never taken up again: another one is.      *)
Current(a) ==
    LET mine == { i \in DOMAIN rows : rows[i].args = a /\ rows[i].state # "withdrawn" }
    IN IF mine = {} THEN 0 ELSE CHOOSE i \in mine : \A j \in mine : j <= i

State(a) == IF Current(a) = 0 THEN "none" ELSE rows[Current(a)].state

(* PRK-5: questions that the run no longer stands at.                       *)
Stale(a) == { i \in DOMAIN rows : rows[i].state = "open" /\ rows[i].args # a }

Stands(a) == up /\ at = "asking" /\ args = a /\ Stale(a) = {}

-----------------------------------------------------------------------------
(* The process.                                                             *)
Withdraw(i) ==
    /\ up /\ at = "asking" /\ i \in Stale(args)
    /\ rows' = [rows EXCEPT ![i].state = "withdrawn"]
    /\ UNCHANGED <<memory, log, effects, crashes>>

(* PRK-4: the entry is durable before anybody can see the request, so all   *)
(* that led to it is.  Where it is on record already, nothing is written.   *)
MayPark(a) == State(a) = "none" /\ ~OnRecord(a)

Park ==
    /\ Stands(args) /\ MayPark(args)
    /\ log' = Append(log, Entry("park", args, ""))
    /\ UNCHANGED <<memory, rows, effects, crashes>>

MayPost(a) == State(a) = "none" /\ OnRecord(a)

Post ==
    /\ Stands(args) /\ MayPost(args) /\ Len(rows) < MaxRows
    /\ rows' = Append(rows, [args |-> args, state |-> "open", late |-> FALSE, intime |-> FALSE])
    /\ UNCHANGED <<memory, log, effects, crashes>>

(* The run waits without a process.                                         *)
Release ==
    /\ Stands(args) /\ State(args) = "open"
    /\ up' = FALSE /\ at' = "nowhere"
    /\ UNCHANGED <<args, log, rows, effects, crashes>>

(* APR-6: the answer becomes an entry, and the run goes on from it.         *)
Approve ==
    /\ Stands(args) /\ State(args) \in {"approved", "denied", "expired"}
    /\ log' = Append(log, Entry("approve", args, State(args)))
    /\ at'  = IF State(args) = "approved" THEN "going" ELSE "refused"
    /\ UNCHANGED <<up, args, rows, effects, crashes>>

(* The action, or its refusal, and the end.                                 *)
Act ==
    /\ up /\ at \in {"going", "refused"}
    /\ effects' = IF at = "going" THEN Append(effects, args) ELSE effects
    /\ log' = Append(log, Entry("result", args, at))
    /\ up' = FALSE /\ at' = "nowhere"
    /\ UNCHANGED <<args, rows, crashes>>

-----------------------------------------------------------------------------
(* ENV.  A person, on any machine, with or without a process.               *)
(* PRK-3: the first decision wins, and none comes after the deadline.       *)
MayDecide(i) == rows[i].state = "open" /\ ~rows[i].late

Decide(i) ==
    /\ MayDecide(i)
    /\ \E answer \in {"approved", "denied"} :
           rows' = [rows EXCEPT ![i].state = answer, ![i].intime = ~rows[i].late]
    /\ UNCHANGED <<memory, log, effects, crashes>>

(* ENV.  Whoever sees first that it is late says so.                        *)
Expiry == "expired"

Expire(i) ==
    /\ rows[i].state = "open" /\ rows[i].late
    /\ rows' = [rows EXCEPT ![i].state = Expiry]
    /\ UNCHANGED <<memory, log, effects, crashes>>

(* ENV.  Time passes.                                                       *)
Late(i) ==
    /\ ~rows[i].late /\ rows' = [rows EXCEPT ![i].late = TRUE]
    /\ UNCHANGED <<memory, log, effects, crashes>>

(* ENV.                                                                     *)
Crash ==
    /\ up /\ crashes < MaxCrash
    /\ up' = FALSE /\ at' = "nowhere" /\ crashes' = crashes + 1
    /\ UNCHANGED <<args, log, rows, effects>>

(* ENV.  The command is run again.  What is answered is served; what is     *)
(* not may be derived otherwise.                                            *)
Served == Answered

Resume ==
    /\ ~up /\ ~Over /\ up' = TRUE
    /\ IF Served
       THEN /\ args' = Of("approve")[1].args
            /\ at'   = IF Of("approve")[1].note = "approved" THEN "going" ELSE "refused"
       ELSE args' \in Args /\ at' = "asking"
    /\ UNCHANGED <<log, rows, effects, crashes>>

-----------------------------------------------------------------------------
Next ==
    \/ \E i \in DOMAIN rows : Withdraw(i)
    \/ Park
    \/ Post
    \/ Release
    \/ Approve
    \/ Act
    \/ \E i \in DOMAIN rows : Decide(i)
    \/ \E i \in DOMAIN rows : Expire(i)
    \/ \E i \in DOMAIN rows : Late(i)
    \/ Crash
    \/ Resume

Spec == Init /\ [][Next]_vars
=============================================================================
