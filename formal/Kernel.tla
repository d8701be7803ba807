-------------------------------- MODULE Kernel --------------------------------
(***************************************************************************)
(* The kernel's protocol.  One process proposes its actions in order; each *)
(* is judged, approved where the policy asks a person, given a single-use  *)
(* permit, put on record (Intent), presented to the host (Dispatch), and   *)
(* closed (Result).  The process may die between any two steps.  A resume  *)
(* runs the program again from the beginning, is served from the log as    *)
(* long as it lasts, and settles what it finds without a result.           *)
(*                                                                         *)
(* One append with its fsync is one step here; what may happen inside such *)
(* a step is the subject of Journal.tla.  Each action is one function of   *)
(* agentl/kernel/protocol.py; those marked ENV belong to the environment.  *)
(***************************************************************************)
EXTENDS World

vars == <<log, permit, args, call, cursor, run, rule, host, effects, excuse, crashes>>

volatile == <<permit, args, call, cursor>>
outside  == <<rule, host>>

Init ==
    /\ log     = <<>>                             /\ permit = [a \in Action |-> "none"]
    /\ args    = [a \in Action |-> "judged"]      /\ call   = [a \in Action |-> "idle"]
    /\ cursor  = 0                                /\ run    = "up"
    /\ rule    = Rule0                            /\ host   = Host0
    /\ effects = [a \in Action |-> <<>>]          /\ excuse = [a \in Action |-> FALSE]
    /\ crashes = 0

-----------------------------------------------------------------------------
(* The process ends: what it held in memory is gone.                        *)
Ends(how) ==
    /\ run' = how
    /\ permit' = [a \in Action |-> "none"]    /\ args' = [a \in Action |-> "judged"]
    /\ call'   = [a \in Action |-> "idle"]    /\ cursor' = 0

Write(record) == log' = Append(log, record) /\ cursor' = cursor + 1
Step(a, to)   == permit' = [permit EXCEPT ![a] = to]
Quiet(a)      == call[a] = "idle" /\ permit[a] \notin {"judged", "approved", "dispatching"}
Idle          == \A a \in Action : Quiet(a)

-----------------------------------------------------------------------------
(* KRN-3, POL-2: the policy judges a frozen copy; proposals come in order.  *)
Judge(a) == CASE rule[a] = "deny" -> "refused" [] rule[a] = "ask" -> "judged" [] OTHER -> "approved"

Decide(a) ==
    /\ run = "up" /\ Idle /\ permit[a] = "none"
    /\ \A b \in Action : b < a => permit[b] # "none"
    /\ Step(a, Judge(a))
    /\ UNCHANGED <<log, args, call, cursor, run, outside, effects, excuse, crashes>>

(* APR-6: the answer is on record before it counts; a recorded one is       *)
(* served, never asked again; another entry there ends the resume (RES-4).  *)
Heard(answer) == IF answer = "approved" THEN "approved" ELSE "refused"

Approve(a) ==
    /\ run = "up" /\ permit[a] = "judged"
    /\ \/ /\ Live
          /\ \E answer \in {"approved", "denied"} :
                Write(Entry("approve", a, answer, {})) /\ Step(a, Heard(answer))
          /\ UNCHANGED <<args, call, run>>
       \/ /\ Serves("approve", a)
          /\ Step(a, Heard(log[cursor + 1].note)) /\ cursor' = NextHead - 1
          /\ UNCHANGED <<log, args, call, run>>
       \/ /\ ~Live /\ ~Serves("approve", a)
          /\ Ends("refused") /\ UNCHANGED log
    /\ UNCHANGED <<outside, effects, excuse, crashes>>

(* KRN-3, KRN-11: the permit comes last, and at most one is outstanding.    *)
MayMint(a)    == permit[a] = "approved"
Revoked(a, b) == b # a /\ permit[b] = "issued"

Mint(a) ==
    /\ run = "up" /\ MayMint(a)
    /\ permit' = [b \in Action |-> CASE b = a -> "issued" [] Revoked(a, b) -> "void" [] OTHER -> permit[b]]
    /\ UNCHANGED <<log, args, call, cursor, run, outside, effects, excuse, crashes>>

(* DUR-5, DUR-6: the intention is durable before the host is called.  In    *)
(* the prefix it is consumed with all that follows it: a result is served,  *)
(* none means that an earlier process died on the way (RES-5).              *)
Found(a) == IF Outcome(a) # "none" THEN "served" ELSE "interrupted"

Intent(a) ==
    /\ run = "up" /\ permit[a] = "issued" /\ Idle
    /\ \/ /\ Live
          /\ Write(Entry("intent", a, rule[a], host[a]))
          /\ call' = [call EXCEPT ![a] = "ready"]
          /\ UNCHANGED <<permit, args, run>>
       \/ /\ Serves("intent", a)
          /\ cursor' = NextHead - 1
          /\ IF Found(a) = "served" THEN Step(a, "spent") /\ UNCHANGED call
             ELSE UNCHANGED permit /\ call' = [call EXCEPT ![a] = "interrupted"]
          /\ UNCHANGED <<log, args, run>>
       \/ /\ ~Live /\ ~Serves("intent", a)
          /\ Ends("refused") /\ UNCHANGED log
    /\ UNCHANGED <<outside, effects, excuse, crashes>>

(* ENV.  Something between the kernel and the tool changes the arguments.   *)
Tamper(a) ==
    /\ run = "up" /\ call[a] = "ready" /\ args[a] = "judged" /\ crashes < MaxCrash
    /\ args' = [args EXCEPT ![a] = "changed"]
    /\ UNCHANGED <<log, permit, call, cursor, run, outside, effects, excuse, crashes>>

(* KRN-11 to KRN-13: one attempt is presented to the host.  What differs    *)
(* from the permit is refused, and a PermitError ends the run (KRN-15).     *)
(* Otherwise the service may act or not, and answer or not.                 *)
MayCall(a)     == call[a] = "ready" /\ permit[a] \in {"issued", "dispatching"}
HostAccepts(a) == args[a] = "judged"

Dispatch(a) ==
    /\ run = "up" /\ MayCall(a)
    /\ IF HostAccepts(a)
       THEN /\ \E reply \in Replies :
                  /\ effects' = [effects EXCEPT ![a] = Acted(a, reply)]
                  /\ call' = [call EXCEPT ![a] = Classify(a, reply)]
            /\ Step(a, "dispatching")
            /\ UNCHANGED <<args, cursor, run, crashes>>
       ELSE Ends("down") /\ crashes' = crashes + 1 /\ UNCHANGED effects
    /\ UNCHANGED <<log, outside, excuse>>

(* TOL-3, RES-6: what becomes of an action without a result; never a guess. *)
AfterSettle(a, how) ==
    CASE how = "retry"                              -> "ready"
      [] how = "not_executed"                       -> IF call[a] = "interrupted" THEN "ready" ELSE "failed"
      [] how \in {"reconciled", "executed"}         -> "returned"
      [] how = "failed"                             -> "failed"
      [] how = "in_doubt"                           -> "doubt"

Settle(a) ==
    /\ run = "up" /\ call[a] \in {"interrupted", "unsure", "called_off"}
    /\ \E said \in Says(a) :
          LET how == Settlement(a, said) IN
          /\ IF Written(a, said, how)
             THEN Write(Entry("resolution", a, how, Narrowed(a, how))) ELSE UNCHANGED <<log, cursor>>
          /\ call' = [call EXCEPT ![a] = AfterSettle(a, how)]
          /\ excuse' = [excuse EXCEPT ![a] = @ \/ Excuse(a, said)]
    /\ UNCHANGED <<permit, args, run, outside, effects, crashes>>

(* KRN-11, TOL-3: the outcome is durable, and the permit is spent.          *)
Status(a) == CASE call[a] = "returned" -> "result" [] call[a] = "failed" -> "failed" [] OTHER -> "doubt"
AfterUse  == "spent"

Result(a) ==
    /\ run = "up" /\ call[a] \in {"returned", "failed", "doubt"}
    /\ Write(Entry("result", a, Status(a), {}))
    /\ Step(a, AfterUse) /\ call' = [call EXCEPT ![a] = "idle"]
    /\ UNCHANGED <<args, run, outside, effects, excuse, crashes>>

(* RES-8: a run ends once its program has, and only at the end of the log.  *)
MayClose == Live

Close ==
    /\ run = "up" /\ Idle /\ \A a \in Action : permit[a] # "none"
    /\ Ends(IF MayClose THEN "closed" ELSE "refused")
    /\ UNCHANGED <<log, outside, effects, excuse, crashes>>

(* ENV.  RES-10, DCL-5: an operator, with no driver at work, says what      *)
(* became of an action that is pending or in doubt.  He is believed.        *)
Verdict(a) ==
    /\ run # "up" /\ Settleable(a) /\ Spoken < MaxVerdict
    /\ log' = Append(log, Entry("verdict", a, IF Count(a) > 0 THEN "executed" ELSE "not_executed", {}))
    /\ UNCHANGED <<volatile, run, outside, effects, excuse, crashes>>

(* ENV.  The process is killed.  What was written is durable (DUR-6).       *)
Surviving == log

Crash ==
    /\ run = "up" /\ crashes < MaxCrash
    /\ Ends("down") /\ log' = Surviving /\ crashes' = crashes + 1
    /\ UNCHANGED <<outside, effects, excuse>>

(* ENV.  RES-1, RES-9: somebody runs the same command again; meanwhile the  *)
(* policy and what the host promises may have changed.                      *)
Resume ==
    /\ \/ run = "down" /\ UNCHANGED crashes
       \/ run = "refused" /\ crashes < MaxCrash /\ crashes' = crashes + 1
    /\ run' = "up" /\ rule' \in RuleChange(rule) /\ host' \in HostChange(host)
    /\ UNCHANGED <<log, volatile, effects, excuse>>

-----------------------------------------------------------------------------
Next ==
    \/ \E a \in Action : Decide(a)
    \/ \E a \in Action : Approve(a)
    \/ \E a \in Action : Mint(a)
    \/ \E a \in Action : Intent(a)
    \/ \E a \in Action : Tamper(a)
    \/ \E a \in Action : Dispatch(a)
    \/ \E a \in Action : Settle(a)
    \/ \E a \in Action : Result(a)
    \/ \E a \in Action : Verdict(a)
    \/ Close \/ Crash \/ Resume

Spec == Init /\ [][Next]_vars

Progress == Close \/ \E a \in Action :
    Decide(a) \/ Approve(a) \/ Mint(a) \/ Intent(a) \/ Dispatch(a) \/ Settle(a) \/ Result(a)

FairSpec == Spec /\ WF_vars(Progress) /\ WF_vars(Resume)
=============================================================================
