------------------------------- MODULE MCEffects -------------------------------
(* The auditor's view, checked on its own.                                  *)
EXTENDS Effects
TypeOK == /\ account \in [Action -> Accounts]
          /\ approval \in [Action -> {"none", "approved", "denied"}]
=============================================================================
