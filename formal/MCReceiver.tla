------------------------------ MODULE MCReceiver ------------------------------
(* Bounds, and reachability witnesses, each of which must be violated.      *)
EXTENDS Receiver, TLC

Two      == {1, 2}
Three    == {1, 2, 3}
Same     == [r \in Request |-> 1]
LastElse == [r \in Request |-> IF r = 3 THEN 2 ELSE 1]

NeverReplays  == \A r, q \in Request : r # q => ~(reply[r].word = "done" /\ reply[q].word = "done")
NeverBusy     == \A r \in Request : reply[r].word # "busy"
NeverDiffers  == \A r \in Request : reply[r].word # "mismatch"
NeverGone     == \A r \in Request : reply[r].word # "gone"
NeverTwice    == arrived < 2
NeverFromAfar == ~(row.state = "done" /\ \E r \in Request : at[r] = "sent" /\ crashes > 0)
=============================================================================
