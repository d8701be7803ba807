------------------------------- MODULE MCJournal -------------------------------
(* Reachability witnesses; each must be violated.                           *)
EXTENDS Journal, TLC

NeverLoses     == [][(run = "down" /\ run' = "up") => known' = flight]_vars
NeverKeepsMore == [][(run = "down" /\ run' = "up") => known' = acked]_vars
NeverRefuses   == run # "refused"
=============================================================================
