------------------------------- MODULE IndKernel -------------------------------
(***************************************************************************)
(* Is the kernel safe after any history, not only after two crashes?       *)
(* IndInv says what is true of an action at every moment; it is checked as *)
(* an inductive invariant: start in every state that satisfies it, take    *)
(* one step, and it holds again (INIT IndInit, NEXT Next, INVARIANT        *)
(* IndInv).  Reachability plays no part, so the number of crashes, resumes *)
(* and promise changes is not bounded; the bounds left are one action, and *)
(* the number of annotations behind its intention (MaxNotes).              *)
(***************************************************************************)
EXTENDS MCKernel

CONSTANTS MaxNotes, Sets       \* Sets: the promises a host may make

a1 == CHOOSE a \in Action : TRUE

(* The log has the shape of one action's story.                             *)
Annotations == SelectSeq(log, LAMBDA r : r.kind \in {"resolution", "verdict"})
Positions(kind) == { i \in DOMAIN log : log[i].kind = kind }
Calling == { i \in Positions("resolution") : log[i].note \in {"retry", "not_executed"} }
Story ==
    /\ Cardinality(Positions("approve")) <= 1 /\ Cardinality(Positions("intent")) <= 1
    /\ Cardinality(Positions("result")) <= 1
    /\ \A i \in Positions("approve") : i = 1 /\ log[1].note \in {"approved", "denied"}
    /\ \A i \in Positions("intent") : i = Cardinality(Positions("approve")) + 1
    /\ \A i \in Positions("intent") :
          /\ log[i].note \in {"allow", "ask"}
          /\ (log[i].note = "ask") = (Positions("approve") # {})
          /\ Positions("approve") # {} => log[1].note = "approved"
    /\ Positions("resolution") \cup Positions("verdict") \cup Positions("result") # {} => Positions("intent") # {}
    /\ \A i \in Positions("resolution") : \A j \in Positions("result") : i < j
    /\ \A i \in Positions("result") : log[i].note \in {"result", "failed", "doubt"}
    /\ \A i \in Positions("verdict") :                   \* a verdict follows no verdict, no sure result
          /\ log[i - 1].kind # "verdict"
          /\ log[i - 1].kind = "result" => log[i - 1].note = "doubt"
    /\ \A i \in Positions("resolution") : log[i].promise \subseteq Promised(a1)
    /\ \A i, j \in Calling : i < j => log[j].promise \subseteq log[i].promise

(* What is on record tells the truth about the world.                       *)
Told ==
    /\ Count(a1) <= 1 /\ (Count(a1) = 1 => HasIntent(a1))
    /\ \A e \in Effect(a1) : e.lawful /\ e.args = "judged" /\ e.key = <<1, a1>>
    /\ Outcome(a1) = "failed" => Count(a1) = 0
    /\ Outcome(a1) = "result" => Count(a1) = 1 \/ "read_only" \in Promised(a1)
    /\ Outcome(a1) = "doubt" => excuse[a1]
    /\ Waiting(a1) = "executed" => Count(a1) = 1
    /\ Waiting(a1) = "not_executed" => Count(a1) = 0

(* An effect that is not accounted for was made under every promise by      *)
(* which it may still be settled.                                           *)
Covered ==
    (HasIntent(a1) /\ Outcome(a1) = "none") =>
        \A e \in Effect(a1) : (Recorded(a1) \cap {"idempotent", "reconcilable"}) \subseteq e.promise

(* Where this process stands agrees with the record.                        *)
Stands ==
    /\ run # "up" => cursor = 0 /\ permit[a1] = "none" /\ call[a1] = "idle" /\ args[a1] = "judged"
    /\ run = "closed" => Outcome(a1) # "none" \/ ~HasIntent(a1)
    /\ permit[a1] \in Acting \cup {"approved"} => Granted(a1)
    /\ permit[a1] = "judged" => rule[a1] = "ask"
    /\ call[a1] # "idle" => /\ permit[a1] \in {"issued", "dispatching"} /\ Live
                            /\ HasIntent(a1) /\ Outcome(a1) = "none"
    /\ args[a1] = "changed" => call[a1] = "ready"
    /\ permit[a1] = "dispatching" => call[a1] # "idle"
    /\ permit[a1] = "spent" => Live /\ Outcome(a1) # "none"
    /\ permit[a1] \in {"none", "judged"} => cursor = 0
    /\ (run = "up" /\ call[a1] = "idle" /\ permit[a1] # "spent") =>
          cursor = IF Asked(a1) # "none" /\ rule[a1] = "ask" /\ permit[a1] \in {"approved", "refused", "issued"} THEN 1 ELSE 0
    /\ call[a1] = "ready" => (Count(a1) = 0 \/ (OpenDoubt(a1) /\ Usable(a1) \cap {"idempotent", "read_only"} # {}))
    /\ call[a1] = "ready" => Recorded(a1) \subseteq host[a1]
    /\ Waiting(a1) = "not_executed" => call[a1] \in {"idle", "interrupted"}
    /\ Waiting(a1) = "executed" => call[a1] \in {"idle", "interrupted", "returned"}
    /\ LeftInDoubt(a1) => call[a1] \in {"idle", "interrupted", "doubt"}
    /\ call[a1] = "returned" => Count(a1) = 1 \/ "read_only" \in Promised(a1)
    /\ call[a1] = "failed" => Count(a1) = 0
    /\ call[a1] = "doubt" => excuse[a1]
    /\ LeftInDoubt(a1) => excuse[a1]
    /\ permit[a1] # "void"

IndInv == TypeOK /\ Story /\ Told /\ Covered /\ Stands

(* The clauses of KernelClauses.tla are checked on the same states.         *)
-----------------------------------------------------------------------------
(* All states that satisfy IndInv, built piece by piece.                    *)
Make(kind, note, promise) == [kind |-> kind, action |-> a1, id |-> 1, note |-> note, promise |-> promise]
Notes == { Make("resolution", n, p) : n \in {"retry", "not_executed"}, p \in Sets }
         \cup { Make("resolution", n, {}) : n \in {"reconciled", "in_doubt"} }
         \cup { Make("verdict", n, {}) : n \in {"executed", "not_executed"} }
Behind == UNION { [1..n -> Notes] : n \in 0..MaxNotes }
Closings == { <<>> } \cup { <<Make("result", n, {})>> : n \in {"result", "failed", "doubt"} }
            \cup { <<Make("result", "doubt", {}), Make("verdict", n, {})>> : n \in {"executed", "not_executed"} }
Openings == { <<Make("intent", "allow", p)>> : p \in Sets }
            \cup { <<Make("approve", "approved", {}), Make("intent", "ask", p)>> : p \in Sets }
Ordinary == { s \in Behind : /\ \A i \in DOMAIN s : i > 1 => ~(s[i].kind = "verdict" /\ s[i - 1].kind = "verdict") }
Stories == { <<>> } \cup { <<Make("approve", n, {})>> : n \in {"approved", "denied"} }
           \cup { o \o s \o c : o \in Openings, s \in Ordinary, c \in Closings }
Worlds == { <<>> } \cup { <<[args |-> "judged", lawful |-> TRUE, key |-> <<1, a1>>, promise |-> p]>> : p \in Sets }
Places == { pc \in Permits \X Calls :                    \* permit and call that can go together
              /\ pc[2] # "idle" => pc[1] \in {"issued", "dispatching"}
              /\ pc[1] = "dispatching" => pc[2] # "idle"
              /\ pc[1] # "void" }

IndInit ==
    /\ log \in Stories /\ Story
    /\ \E w \in Worlds : effects = [a \in Action |-> w]
    /\ \E x \in BOOLEAN : excuse = [a \in Action |-> x]
    /\ Told /\ Covered
    /\ \E p \in Places : permit = [a \in Action |-> p[1]] /\ call = [a \in Action |-> p[2]]
    /\ (call[a1] # "idle" => HasIntent(a1) /\ Outcome(a1) = "none")
    /\ run \in Runs /\ (run # "up" => permit[a1] = "none")
    /\ \E r \in Rules : rule = [a \in Action |-> r]
    /\ (permit[a1] \in Acting \cup {"approved"} => Granted(a1)) /\ (permit[a1] = "judged" => rule[a1] = "ask")
    /\ \E h \in Sets : host = [a \in Action |-> h]
    /\ \E g \in {"judged", "changed"} : args = [a \in Action |-> g]
    /\ cursor \in {0, 1, Len(log)}
    /\ crashes = 0
    /\ Stands

Single == {P, I, R}    Pair == {P, I}    Mixed == {P, I, R, B}
OneStep == TLCGet("level") < 2
IndHost(h) == { [a \in Action |-> p] : p \in Sets }
=============================================================================
