----------------------------- MODULE TraceKernel -----------------------------
(***************************************************************************)
(* Is each recorded log a behaviour of Kernel.tla?                         *)
(*                                                                         *)
(* TraceData.tla is generated: Logs is a tuple of logs, a log a tuple of   *)
(* lines.  The first line, Start, has the policy and the promises of the   *)
(* first process; each Resume has those of the process that it starts.     *)
(* Every other line is one step of the kernel, told after it was durable.  *)
(*                                                                         *)
(* Left open, and found by TLC: what a call did to the world, and the one  *)
(* step that a process made and could not tell of any more: a call under   *)
(* way, a write that became durable just before the death.  A log is       *)
(* accepted when SOME way to fill these gaps leads to its end, so a branch *)
(* that stops is no failure.  Clauses: KRN-3, KRN-11, DUR-6, RES-5, RES-6. *)
(***************************************************************************)
EXTENDS KernelClauses, TraceData, TLC

VARIABLES t, l, g         \* which log, which line comes next, whether a gap was filled before it
tvars == <<vars, t, l, g>>

Line == Logs[t][l]

Unknown  == 1000000                                             \* no such count was told

(* Bounds that a log does not have, and the one that it tells of.           *)
AnyRule       == [a \in Action |-> "allow"]
AnyHost       == [a \in Action |-> {}]
EveryRule(r)  == [Action -> Rules]
EveryHost(h)  == [Action -> SUBSET Promises]
LineBound(a)  == IF l <= Len(Logs[t]) THEN Line.bound ELSE Unknown

Wrote    == Len(log') > Len(log)
Note     == Last(log').note
OnRecord == Len(SelectSeq(log, LAMBDA r : r.kind \in {"intent", "result"}))

Matches(a) ==
    CASE Line.step = "Decide"   -> Decide(a) /\ permit'[a] = Line.to
      [] Line.step = "Approve"  -> Approve(a) /\ run' = "up" /\ permit'[a] = Line.to
      [] Line.step = "Mint"     -> Mint(a)
      [] Line.step = "Intent"   -> /\ Intent(a) /\ run' = "up"
                                   /\ \/ Line.to = "new"         /\ Wrote
                                      \/ Line.to = "served"      /\ permit'[a] = "spent"
                                      \/ Line.to = "interrupted" /\ call'[a] = "interrupted"
      [] Line.step = "Dispatch" -> /\ Dispatch(a) /\ run' = "up"
                                   /\ call'[a] = Line.to \/ (Line.to = "called_off" /\ call'[a] = "unsure")
      [] Line.step = "Settle"   -> /\ Settle(a) /\ call'[a] = AfterSettle(a, Line.to)
                                   /\ Wrote => Note = Line.to
      [] Line.step = "Result"   -> Result(a) /\ Note = Line.to
      [] Line.step = "Verdict"  -> Verdict(a) /\ Note = Line.to
      [] Line.step = "Close"    -> Close /\ run' = "closed"
      [] Line.step = "Crash"    -> IF run = "down" THEN UNCHANGED vars ELSE Crash
      [] Line.step = "Resume"   -> /\ rule' = Line.rule /\ host' = Line.host /\ Resume
                                   /\ Line.records \in {Unknown, OnRecord}

(* The gap: one step before a death that nobody heard of.                   *)
Unheard == /\ Line.step = "Crash" /\ run = "up" /\ ~g
           /\ \E a \in Action : Approve(a) \/ Intent(a) \/ Dispatch(a) \/ Settle(a) \/ Result(a)
           /\ run' = "up"

TraceInit ==
    /\ t \in 1..Len(Logs) /\ l = 2 /\ g = FALSE
    /\ log     = <<>>                             /\ permit = [a \in Action |-> "none"]
    /\ args    = [a \in Action |-> "judged"]      /\ call   = [a \in Action |-> "idle"]
    /\ cursor  = 0                                /\ run    = "up"
    /\ rule    = Logs[t][1].rule                  /\ host   = Logs[t][1].host
    /\ effects = [a \in Action |-> <<>>]          /\ excuse = [a \in Action |-> FALSE]
    /\ crashes = 0

TraceNext ==
    /\ l <= Len(Logs[t]) /\ t' = t
    /\ \/ /\ Matches(Line.action) /\ l' = l + 1 /\ g' = FALSE
          /\ Verbose => PrintT(<<"REACHED", t, l>>)
          /\ l' > Len(Logs[t]) => PrintT(<<"ACCEPTED", t>>)
       \/ Unheard /\ l' = l /\ g' = TRUE

TraceSpec == TraceInit /\ [][TraceNext]_tvars

(* The trace module itself must not make a step that the kernel has not.    *)
OnlyKernelSteps == [][Next]_vars
=============================================================================
