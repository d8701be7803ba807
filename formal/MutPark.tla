-------------------------------- MODULE MutPark --------------------------------
(* Rules that look right, and are not.  Each takes the place of one operator *)
(* of Park.tla; manifest.toml says which clause must object, spec/park.md    *)
(* tells each in words.                                                      *)
EXTENDS MCPark

P == INSTANCE Park

(* A second thought overwrites the first.                                    *)
LastDecisionWins(i) == rows[i].state \in {"open", "approved", "denied"} /\ ~rows[i].late

(* Nobody looks at the clock before writing a yes down.                      *)
ForgetsDeadline(i) == rows[i].state = "open"

(* Silence is consent.                                                       *)
SilenceApproves == "approved"

(* The answer is looked up by the place of the action, not by its digest.    *)
AnyDigest(a) ==
    LET mine == { i \in DOMAIN rows : rows[i].state # "withdrawn" }
    IN IF mine = {} THEN 0 ELSE CHOOSE i \in mine : \A j \in mine : j <= i

(* The old question stays beside the new one.                                *)
KeepsOld(a) == {}

(* The request is posted before the entry is durable.                        *)
PostsFirst(a) == State(a) = "none"

(* A resumed process looks for the request and not for its own record.       *)
LooksPastRecord == FALSE

(* Each process that finds the question open puts it on record once more.    *)
ParksAgain(a) == State(a) \in {"none", "open"} /\ Len(Of("park")) < MaxRows
=============================================================================
