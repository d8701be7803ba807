------------------------------ MODULE MutKernel ------------------------------
(***************************************************************************)
(* Plausible faults.  Each operator here takes the place of one operator   *)
(* of World.tla or Kernel.tla through "CONSTANT Op <- Mutant" in a cfg, so *)
(* the models themselves are never edited.  manifest.toml says which       *)
(* clause must object to which fault.  K! reaches the original of an       *)
(* action that a fault changes only in part.                               *)
(***************************************************************************)
EXTENDS MCKernel

K == INSTANCE Kernel

-----------------------------------------------------------------------------
(* The five that the seed names.                                            *)

(* Blind retry of an action in doubt: no promise, called again.             *)
RetriesBlindly(a) == call[a] = "interrupted" \/ (call[a] = "unsure" /\ Attempt(a) < MaxAttempts)

(* A host that does not check the permit.                                   *)
ChecksNothing(a) == args[a] \in {"judged", "changed"}

(* A recorded result taken for a pending action.                            *)
TakesResultForPending(a) == "interrupted"

(* A resume that cannot serve a result: it dies on it, each time anew.      *)
CannotServe(a) ==
    IF run = "up" /\ permit[a] = "issued" /\ Idle /\ Serves("intent", a) /\ Found(a) = "served"
    THEN Ends("down") /\ UNCHANGED <<log, outside, effects, excuse, crashes>>
    ELSE K!Intent(a)

(* A refused approval that still mints.                                     *)
MintsRefused(a) == permit[a] \in {"approved", "refused"}

-----------------------------------------------------------------------------
(* Policy and approval.                                                     *)

(* Any answer of a person is taken for a yes.                               *)
HearsYes(answer) == "approved"

(* The first process's verdict is kept: a stricter policy is not consulted. *)
JudgesByOldPolicy(a) ==
    CASE Rule0[a] = "deny" -> "refused" [] Rule0[a] = "ask" -> "judged" [] OTHER -> "approved"

-----------------------------------------------------------------------------
(* Permits and calls.                                                       *)

(* The tool is called while the person is still being asked.                *)
CallsBeforeApproval(a) == (permit[a] = "judged" /\ call[a] = "idle") \/ K!MayCall(a)

(* The tool is called before the intention is on record.                    *)
CallsBeforeIntent(a) == (permit[a] = "issued" /\ call[a] = "idle") \/ K!MayCall(a)

(* A permit survives its use.                                               *)
PermitSurvives == "issued"

(* Minting leaves an older permit in force.                                 *)
RevokesNothing(a, b) == b # a /\ permit[b] = "nothing"

-----------------------------------------------------------------------------
(* Settling.                                                                *)

(* A reconciler that does not know is taken for a no.                       *)
UnknownMeansNo(a, said) == IF said = "unknown" THEN "not_executed" ELSE K!Settlement(a, said)

(* A promise made only since the call is trusted.                           *)
TrustsNewPromise(a) == host[a]

(* A promise on record that the host no longer makes is trusted.            *)
TrustsOldPromise(a) == Promised(a)

(* A promise that one process did not make, though it called, counts again. *)
ForgetsWithdrawal(a) == Promised(a)

(* In doubt, although the host promised a way to know.                      *)
DoubtsTooSoon(a, said) == IF MayRetry(a) THEN "in_doubt" ELSE K!Settlement(a, said)

(* Nobody knows, so it is written down as failed.                           *)
GuessesFailure(a, said) == IF K!Settlement(a, said) = "in_doubt" THEN "failed" ELSE K!Settlement(a, said)

(* Nobody knows, so it is written down as done.                             *)
GuessesSuccess(a, said) == IF K!Settlement(a, said) = "in_doubt" THEN "reconciled" ELSE K!Settlement(a, said)

(* After an unsure attempt a sure failure is believed to cover both.        *)
LateFailureClears(a, reply) == IF reply.hears = "failed" THEN "failed" ELSE K!Classify(a, reply)

(* A verdict is used again, although a call was made upon it.               *)
VerdictTwice(a) ==
    IF Of("verdict", a) # <<>> /\ Outcome(a) = "none" THEN Last(Of("verdict", a)).note ELSE "none"

(* Each attempt has a key of its own.                                       *)
KeyPerAttempt(a) == <<Id(a), a, Attempt(a)>>

-----------------------------------------------------------------------------
(* The record.                                                              *)

Without(kind) == IF log # <<>> /\ Last(log).kind = kind THEN SubSeq(log, 1, Len(log) - 1) ELSE log

(* The intention was written but not synchronised.                          *)
IntentNotSynced == Without("intent")

(* The result was written but not synchronised.                             *)
ResultNotSynced == Without("result")

(* A resume does not re-derive: it goes on at once as if everything were new.*)
ResumesAfresh == cursor <= Len(log)

(* A run closes although entries of its prefix were never derived again.    *)
ClosesEarly == TRUE
=============================================================================
