-------------------------------- MODULE MCPark --------------------------------
(* What must be true of every behaviour of Park.tla, and the witnesses.     *)
EXTENDS Park, TLC

Two == 1..2

TypeOK ==
    /\ up \in BOOLEAN /\ at \in {"nowhere", "asking", "going", "refused"} /\ args \in Args
    /\ \A i \in DOMAIN rows : /\ rows[i].args \in Args /\ rows[i].late \in BOOLEAN
                              /\ rows[i].state \in {"open", "approved", "denied", "expired", "withdrawn"}
    /\ \A i \in DOMAIN log : log[i].kind \in {"park", "approve", "result"}

(* PRK-3: what was decided stays decided.                                   *)
FirstDecisionWins ==
    [][\A i \in DOMAIN rows : rows[i].state # "open" => rows'[i].state = rows[i].state]_vars

(* PRK-3: a yes was said in time.                                           *)
ExpiredNeverApproves == \A i \in DOMAIN rows : rows[i].state = "approved" => rows[i].intime

(* PRK-2, APR-6: what was done is what somebody said yes to.                *)
ApprovalBoundToDigest ==
    \A n \in DOMAIN effects : \E i \in DOMAIN rows : rows[i].args = effects[n] /\ rows[i].state = "approved"

(* PRK-6: answered once, done once, however often the process dies.         *)
GoesOnOnce == Len(effects) <= 1 /\ Len(Of("approve")) <= 1 /\ Len(Of("result")) <= 1

(* PRK-6: who has answered is not asked again.                              *)
NeverAskedAgain == [][Answered => Len(rows') = Len(rows)]_vars

(* PRK-5: nobody is asked two things for one action at a time.              *)
OneOpen == Cardinality({ i \in DOMAIN rows : rows[i].state = "open" }) <= 1

(* PRK-4: whatever people see is on record, and so is all before it.        *)
AskedOnRecord == \A i \in DOMAIN rows : \E n \in DOMAIN log : log[n] = Entry("park", rows[i].args, "")

(* PRK-4: a process that finds the question open writes nothing.            *)
Silent == [][(at = "asking" /\ State(args) = "open") => log' = log]_vars

-----------------------------------------------------------------------------
(* Reachability witnesses: each must be violated.                           *)
NeverDone      == effects = <<>>
NeverExpired   == ~(Over /\ Of("approve")[1].note = "expired")
NeverWithdrawn == ~(effects # <<>> /\ \E i \in DOMAIN rows : rows[i].state = "withdrawn")
NeverTurnedBack == ~(Len(rows) = 3 /\ rows[1].args = rows[3].args /\ rows[2].args # rows[1].args /\ effects # <<>>)
NeverDecidedAlone == ~(~up /\ \E i \in DOMAIN rows : rows[i].state = "approved")
=============================================================================
