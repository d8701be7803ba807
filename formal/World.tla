-------------------------------- MODULE World --------------------------------
(***************************************************************************)
(* The vocabulary of Kernel.tla: its variables, what the log says about an *)
(* action, what hosts promise and how services behave, and how an action   *)
(* without a result is settled.  State functions only; the steps are in    *)
(* Kernel.tla.  Mutants replace these operators one at a time.             *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Action,          \* 1..n, in the order in which the program proposes them
    MaxCrash,        \* how often the process may be killed or interrupted
    MaxVerdict,      \* how often an operator may speak
    MaxAttempts,     \* HST-4: calls within one process for an unsure outcome
    Rule0, Host0,    \* the policy and the promises of the first process
    RuleChange(_),   \* the policies a resume may meet
    HostChange(_)    \* the promises a resume may meet

VARIABLES
    log,       \* durable: the ordered truth of the run
    permit,    \* memory:  the life of each permit
    args,      \* memory:  the arguments about to be presented: judged | changed
    call,      \* memory:  where the execution of each action stands
    cursor,    \* memory:  how much of the log this process has consumed
    run,       \* the process: up | down | refused | closed
    rule,      \* outside: the policy's word on each action: allow | ask | deny
    host,      \* outside: what the host promises for each action's target
    effects,   \* outside: what each action did to the world
    excuse,    \* ghost:   the host gave the kernel no way to know
    crashes    \* bookkeeping for the bound

Permits == {"none", "judged", "approved", "refused", "issued", "dispatching", "spent", "void"}
Calls   == {"idle", "ready", "returned", "failed", "unsure", "called_off", "interrupted", "doubt"}
Rules   == {"allow", "ask", "deny"}
Runs    == {"up", "down", "refused", "closed"}
Promises == {"idempotent", "reconcilable", "read_only"}        \* plain is the empty set

-----------------------------------------------------------------------------
(* The log.  KRN-10: an id counts the actions the policy does not deny.     *)
Id(a)  == Cardinality({b \in Action : b <= a /\ rule[b] # "deny"})
Key(a) == <<Id(a), a>>                                          \* stable on every resume

Entry(kind, a, note, promise) ==
    [kind |-> kind, action |-> a, id |-> Id(a), note |-> note, promise |-> promise]

Heads == {"approve", "intent"}                                  \* the others only annotate them
Live  == cursor = Len(log)

(* RES-4: what comes next is exactly this entry.                            *)
Serves(kind, a) ==
    /\ cursor < Len(log)
    /\ LET next == log[cursor + 1] IN next.kind = kind /\ next.action = a /\ next.id = Id(a)

(* Position of the next entry that is not an annotation of the next one.    *)
NextHead ==
    CHOOSE k \in (cursor + 2)..(Len(log) + 1) :
        /\ \A j \in (cursor + 2)..(k - 1) : log[j].kind \notin Heads
        /\ k = Len(log) + 1 \/ log[k].kind \in Heads

Trail(a)     == SelectSeq(log, LAMBDA r : r.action = a /\ r.kind # "approve")
Of(kind, a)  == SelectSeq(log, LAMBDA r : r.action = a /\ r.kind = kind)
Last(s)      == s[Len(s)]
HasIntent(a) == Of("intent", a) # <<>>
Outcome(a)   == IF Of("result", a) = <<>> THEN "none" ELSE Of("result", a)[1].note
Asked(a)     == IF Of("approve", a) = <<>> THEN "none" ELSE Of("approve", a)[1].note

Promised(a)  == IF HasIntent(a) THEN Of("intent", a)[1].promise ELSE {}
Repeats(a)   == SelectSeq(Trail(a), LAMBDA r : r.kind = "resolution" /\ r.note \in {"retry", "not_executed"})
Attempt(a)   == 1 + Len(Repeats(a))
Settled(a)   == IF Of("resolution", a) = <<>> THEN "none" ELSE Last(Of("resolution", a)).note
OpenDoubt(a) == Settled(a) = "retry"

(* RES-9: each further call is made under the promises of its own process,  *)
(* and its entry narrows what is on record to them.                         *)
Recorded(a)  == IF Repeats(a) # <<>> THEN Last(Repeats(a)).promise ELSE Promised(a)

(* RES-6: a verdict decides once, until something was done upon it.         *)
Waiting(a) == IF Trail(a) # <<>> /\ Last(Trail(a)).kind = "verdict" /\ Outcome(a) = "none"
              THEN Last(Trail(a)).note ELSE "none"
Spoken        == Len(SelectSeq(log, LAMBDA r : r.kind = "verdict"))
LeftInDoubt(a) == Settled(a) = "in_doubt" /\ Last(Trail(a)).kind = "resolution"
Settleable(a) == HasIntent(a) /\ Outcome(a) \in {"none", "doubt"} /\ Last(Trail(a)).kind # "verdict"

-----------------------------------------------------------------------------
(* The world.  A reply says what the service did and what the kernel hears. *)
Count(a) == Len(effects[a])
Granted(a) == rule[a] = "allow" \/ (rule[a] = "ask" /\ Asked(a) = "approved")
Lawful(a)  == permit[a] \in {"issued", "dispatching"} /\ Granted(a)

Replies == { r \in [acts : BOOLEAN, hears : {"returned", "failed", "unsure"}] :
               (r.hears = "returned" => r.acts) /\ (r.hears = "failed" => ~r.acts) }

Remembers(a, promise) ==                                        \* only effects made under it are
    \E i \in DOMAIN effects[a] : promise \in effects[a][i].promise /\ effects[a][i].key = Key(a)

(* HST-4: an idempotent receiver ignores a repeated key; read-only acts not.*)
Acted(a, reply) ==
    IF \/ ~reply.acts
       \/ "read_only" \in host[a]
       \/ "idempotent" \in host[a] /\ Remembers(a, "idempotent")
    THEN effects[a]
    ELSE Append(effects[a], [args |-> args[a], lawful |-> Lawful(a), key |-> Key(a), promise |-> host[a]])

-----------------------------------------------------------------------------
(* HST-4: how often a target may be called; a host may say it per target.  *)
Bound(a) == MaxAttempts

(* RES-9: a promise counts if it is on record and still made.               *)
Usable(a) == Recorded(a) \cap host[a]

(* TOL-3: what one reply means.  A late sure failure removes no doubt.      *)
Classify(a, reply) ==
    CASE reply.hears = "returned" -> "returned"
      [] "read_only" \in Usable(a) /\ (reply.hears = "failed" \/ Attempt(a) >= Bound(a)) -> "failed"
      [] reply.hears = "failed" -> IF OpenDoubt(a) THEN "called_off" ELSE "failed"
      [] OTHER -> "unsure"

(* HST-4, RES-6: called again under the same key, within the bound.         *)
MayRetry(a) ==
    /\ Usable(a) \cap {"idempotent", "read_only"} # {}
    /\ call[a] = "interrupted" \/ (call[a] = "unsure" /\ Attempt(a) < Bound(a))

MayAsk(a) == "reconcilable" \in Usable(a)

(* HST-4: a reconciler tells the truth about calls made under its promise,  *)
(* or that it does not know.                                                *)
Says(a) ==
    IF Waiting(a) # "none" \/ LeftInDoubt(a) \/ MayRetry(a) \/ ~MayAsk(a) THEN {"nothing"}
    ELSE {"unknown", IF Remembers(a, "reconcilable") THEN "took_place" ELSE "did_not"}

Settlement(a, said) ==
    CASE Waiting(a) # "none" -> Waiting(a)                      \* executed | not_executed
      [] LeftInDoubt(a)      -> "in_doubt"                      \* declared before: it stands
      [] MayRetry(a)         -> "retry"
      [] said = "took_place" -> "reconciled"
      [] said = "did_not"    -> "not_executed"
      [] "read_only" \in Usable(a) -> "failed"
      [] OTHER               -> "in_doubt"

(* DUR-5: what is written: every repetition, every answer of a reconciler,  *)
(* every doubt found by a resume, each once.                                *)
Written(a, said, how) ==
    CASE how \in {"retry", "reconciled", "not_executed"} -> TRUE
      [] how = "in_doubt" -> ~LeftInDoubt(a) /\ (call[a] = "interrupted" \/ said = "unknown")
      [] OTHER -> FALSE

(* RES-9: an entry after which the tool is called says under which promises.*)
Narrowed(a, how) == IF how \in {"retry", "not_executed"} THEN Usable(a) ELSE {}

(* When a doubt may be declared: no promise to use, an answer of "unknown", *)
(* or repeated calls that never said anything.                              *)
Excuse(a, said) ==
    /\ Waiting(a) = "none"
    /\ \/ Recorded(a) \cap host[a] = {}
       \/ said = "unknown"
       \/ call[a] # "interrupted" /\ (call[a] = "called_off" \/ Attempt(a) >= Bound(a))
=============================================================================
