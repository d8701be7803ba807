------------------------------- MODULE MCPolicy -------------------------------
(* Bounds are constants of the cfg: MaxRules.  Reachability witnesses.      *)
EXTENDS Policy, TLC

(* Each of these must be violated: the situation can be reached.            *)
NeverMinted        == at # "minted"
NeverAsked         == at # "person"
AllowNeverRestrains == ~(at = "refused" /\ ~raised /\ default = "ALLOW" /\ \A i \in DOMAIN rules : rules[i].effect = "ALLOW")
=============================================================================
