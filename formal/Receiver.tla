------------------------------- MODULE Receiver -------------------------------
(***************************************************************************)
(* The other half of exactly-once: a service that is asked for one change  *)
(* under one idempotency key, by requests that repeat, race, differ and    *)
(* die.  The key is inserted under a unique constraint, and the change is  *)
(* made in the same transaction; what must be told to others leaves by an  *)
(* outbox, at least once, and meets an inbox like this one.                *)
(*                                                                         *)
(* One key.  Requests under other keys, or of another tenant, share        *)
(* nothing with it.                                                        *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, Sequences

CONSTANTS
    Request,        \* the requests that carry the key
    Param,          \* what each of them asks for
    MaxCrash,       \* how often a request dies and is sent again
    MaxExpire       \* whether the retention of the key may end

VARIABLES
    row,        \* store:   what is committed under the key: [state, param]
    holders,    \* store:   open transactions that have inserted the key
    changes,    \* store:   the committed changes, each with what was asked
    outbox,     \* store:   none | waiting | sent
    at,         \* memory:  where each request stands
    reply,      \* client:  what each request was told, and for which change
    arrived,    \* outside: messages that reached the consumer
    consumed,   \* outside: the consumer's changes
    crashes     \* bookkeeping for the bound

vars == <<row, holders, changes, outbox, at, reply, arrived, consumed, crashes>>

Nobody  == [state |-> "none", param |-> 0]
Silence == [word |-> "none", param |-> 0]
Word(w) == [word |-> w, param |-> 0]

Init ==
    /\ row = Nobody                             /\ holders = {}
    /\ changes = <<>>                           /\ outbox = "none"
    /\ at = [r \in Request |-> "sent"]          /\ reply = [r \in Request |-> Silence]
    /\ arrived = 0                              /\ consumed = 0
    /\ crashes = 0

-----------------------------------------------------------------------------
(* What a mutant may get wrong.                                             *)

(* RCV-1.  The unique constraint: one open transaction may hold the key.    *)
MayHold(r) == holders = {}

(* RCV-2.  When the key becomes durable: with the change.                   *)
KeyWith == "commit"

(* RCV-4.  The same key must ask for the same.                              *)
SameParams(r) == row.param = Param[r]

(* RCV-6.  What stays of a key when its retention ends.                     *)
Remains == [row EXCEPT !.state = "tombstone"]

(* RCV-8.  A message is written down in the same transaction.               *)
Noted == "waiting"

(* RCV-3.  An answer is given behind the commit.                            *)
MayAnswer(r) == at[r] = "committed"

(* RCV-9.  A message is marked behind its delivery.                         *)
MayMark == arrived > 0

(* RCV-9.  The consumer knows the message by its id.                        *)
Consume == IF consumed = 0 THEN 1 ELSE consumed

-----------------------------------------------------------------------------
Kept(r)  == [state |-> "done", param |-> Param[r]]
Waits(r) == at[r] = "sent"

(* RCV-1.  The key is inserted; nobody else has it.                         *)
Claim(r) ==
    /\ Waits(r) /\ row.state = "none" /\ MayHold(r)
    /\ holders' = holders \cup {r}
    /\ at' = [at EXCEPT ![r] = "claimed"]
    /\ row' = IF KeyWith = "claim" THEN Kept(r) ELSE row
    /\ UNCHANGED <<changes, outbox, reply, arrived, consumed, crashes>>

(* RCV-3.  Done before: the stored answer.                                  *)
Replay(r) ==
    /\ Waits(r) /\ row.state = "done" /\ SameParams(r)
    /\ at' = [at EXCEPT ![r] = "told"]
    /\ reply' = [reply EXCEPT ![r] = [word |-> "done", param |-> row.param]]
    /\ UNCHANGED <<row, holders, changes, outbox, arrived, consumed, crashes>>

(* RCV-4.  The same key for something else.                                 *)
Mismatch(r) ==
    /\ Waits(r) /\ row.state # "none" /\ ~SameParams(r)
    /\ at' = [at EXCEPT ![r] = "told"]
    /\ reply' = [reply EXCEPT ![r] = Word("mismatch")]
    /\ UNCHANGED <<row, holders, changes, outbox, arrived, consumed, crashes>>

(* RCV-6.  The answer is forgotten, the key is not.                         *)
Gone(r) ==
    /\ Waits(r) /\ row.state = "tombstone" /\ SameParams(r)
    /\ at' = [at EXCEPT ![r] = "told"]
    /\ reply' = [reply EXCEPT ![r] = Word("gone")]
    /\ UNCHANGED <<row, holders, changes, outbox, arrived, consumed, crashes>>

(* RCV-5.  Somebody is at it, and this request does not wait.               *)
Busy(r) ==
    /\ Waits(r) /\ row.state = "none" /\ holders # {}
    /\ at' = [at EXCEPT ![r] = "told"]
    /\ reply' = [reply EXCEPT ![r] = Word("busy")]
    /\ UNCHANGED <<row, holders, changes, outbox, arrived, consumed, crashes>>

(* RCV-2.  Key, change, answer and message become durable in one step.      *)
Commit(r) ==
    /\ at[r] = "claimed"
    /\ changes' = Append(changes, Param[r])
    /\ outbox' = IF outbox = "none" THEN Noted ELSE outbox
    /\ row' = IF KeyWith = "commit" THEN Kept(r) ELSE row
    /\ holders' = holders \ {r}
    /\ at' = [at EXCEPT ![r] = "committed"]
    /\ UNCHANGED <<reply, arrived, consumed, crashes>>

(* RCV-2.  The service says no, or fails: nothing stays, the key neither.   *)
Rollback(r) ==
    /\ at[r] = "claimed"
    /\ holders' = holders \ {r}
    /\ at' = [at EXCEPT ![r] = "told"]
    /\ reply' = [reply EXCEPT ![r] = Word("failed")]
    /\ UNCHANGED <<row, changes, outbox, arrived, consumed, crashes>>

(* RCV-3.                                                                   *)
Answer(r) ==
    /\ at[r] \in {"claimed", "committed"} /\ MayAnswer(r) /\ reply[r] = Silence
    /\ at' = [at EXCEPT ![r] = IF at[r] = "committed" THEN "told" ELSE @]
    /\ reply' = [reply EXCEPT ![r] = [word |-> "done", param |-> Param[r]]]
    /\ row' = IF KeyWith = "answer" THEN Kept(r) ELSE row
    /\ UNCHANGED <<holders, changes, outbox, arrived, consumed, crashes>>

(* ENV.  A request dies; the database takes an open transaction back, and   *)
(* the client, who heard nothing, sends the same again.                     *)
Crash(r) ==
    /\ at[r] \in {"claimed", "committed"} /\ crashes < MaxCrash
    /\ crashes' = crashes + 1
    /\ holders' = holders \ {r}
    /\ at' = [at EXCEPT ![r] = "sent"]
    /\ UNCHANGED <<row, changes, outbox, reply, arrived, consumed>>

(* ENV.  A client that was told to come back, or not to worry, does so.     *)
Again(r) ==
    /\ at[r] = "told" /\ reply[r].word \in {"busy", "failed", "done"} /\ crashes < MaxCrash
    /\ crashes' = crashes + 1
    /\ at' = [at EXCEPT ![r] = "sent"]
    /\ reply' = [reply EXCEPT ![r] = Silence]
    /\ UNCHANGED <<row, holders, changes, outbox, arrived, consumed>>

(* RCV-6.  The retention of a key ends.                                     *)
Expire ==
    /\ row.state = "done" /\ MaxExpire > 0
    /\ row' = Remains
    /\ UNCHANGED <<holders, changes, outbox, at, reply, arrived, consumed, crashes>>

(* RCV-9.  A message is sent, marked afterwards, and perhaps sent again.    *)
Deliver ==
    /\ outbox = "waiting" /\ arrived < 2
    /\ arrived' = arrived + 1
    /\ consumed' = Consume
    /\ UNCHANGED <<row, holders, changes, outbox, at, reply, crashes>>

Mark ==
    /\ outbox = "waiting" /\ MayMark
    /\ outbox' = "sent"
    /\ UNCHANGED <<row, holders, changes, at, reply, arrived, consumed, crashes>>

Step(r) == Claim(r) \/ Replay(r) \/ Mismatch(r) \/ Gone(r) \/ Busy(r) \/ Commit(r) \/ Rollback(r) \/ Answer(r)
Next    == Expire \/ Deliver \/ Mark \/ \E r \in Request : Step(r) \/ Crash(r) \/ Again(r)

(* The service works on, and people who pass on messages do so.             *)
Fairness == WF_vars(Deliver) /\ WF_vars(Mark) /\ \A r \in Request : WF_vars(Step(r))
Spec     == Init /\ [][Next]_vars
FairSpec == Spec /\ Fairness

-----------------------------------------------------------------------------
(* What must be true.                                                       *)
TypeOK ==
    /\ row \in [state : {"none", "done", "tombstone"}, param : {0} \cup { Param[r] : r \in Request }]
    /\ holders \subseteq Request
    /\ outbox \in {"none", "waiting", "sent"}
    /\ at \in [Request -> {"sent", "claimed", "committed", "told"}]

(* RCV-1.  However often, and however many at once.                         *)
OneChangePerKey == Len(changes) <= 1

(* RCV-2.  The key is on record exactly if the change is.                   *)
KeyWithChange == (row.state # "none") = (changes # <<>>)

(* RCV-3.  Who was told that it is done asked for what was done.            *)
AnswerIsTrue == \A r \in Request : reply[r].word = "done" => changes # <<>> /\ changes[1] = Param[r]

(* RCV-4.  Another wish under the same key is never granted.                *)
MismatchRefused ==
    \A r \in Request : changes # <<>> /\ changes[1] # Param[r] => reply[r].word # "done"

(* RCV-1.  One transaction at a time is inside.                             *)
OneHolder == Cardinality(holders) <= 1

(* RCV-8.  What is published was committed, and what was committed is.      *)
PublishedIfCommitted == (outbox # "none") = (changes # <<>>)

(* RCV-9.  Nothing is marked that never left, and the consumer acts once.   *)
SentMeansArrived == outbox = "sent" => arrived > 0
ConsumedOnce     == consumed <= 1

(* RCV-5, RCV-9.  Every request is told something; every message leaves.    *)
EverybodyIsTold == \A r \in Request : at[r] = "sent" ~> at[r] = "told"
MessagesLeave   == outbox = "waiting" ~> outbox = "sent"
=============================================================================
