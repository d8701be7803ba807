------------------------------ MODULE MutReceiver ------------------------------
(* Plausible faults of a receiver; see MutKernel.tla for how they are used.  *)
EXTENDS MCReceiver

(* Looks whether the key is there, and writes it when all is done: two      *)
(* requests see none.  A lock that runs out under a slow request is this    *)
(* fault as well.                                                           *)
ChecksThenWrites(r) == TRUE

(* The change is committed first, the key behind it.                        *)
KeyAtEnd == "answer"

(* The key is committed in a transaction of its own, before the change.     *)
KeyOutside == "claim"

(* The same key is the same request, whatever it asks for.                  *)
ParamsNotCompared(r) == TRUE

(* A key is deleted when its retention ends.                                *)
ForgetsExpired == Nobody

(* The answer leaves before the commit.                                     *)
AnswersEarly(r) == TRUE

(* The message is to be sent behind the commit, and nobody wrote it down.   *)
NotesNothing == "none"

(* A message is marked before it is delivered.                              *)
MarksFirst == TRUE

(* The consumer takes each delivery for a new message.                      *)
ConsumesAgain == consumed + 1
=============================================================================
