------------------------------- MODULE MutPolicy -------------------------------
(* Plausible faults of a policy engine; see MutKernel.tla for how they are  *)
(* used.                                                                    *)
EXTENDS MCPolicy

(* An unknown guard of a prohibition is taken as not holding.               *)
UnknownNeverIgnored(effect) == effect \notin {"ALLOW", "NEVER"}
UnknownDenyIgnored(effect)  == effect \notin {"ALLOW", "DENY"}

(* An unknown guard of an ALLOW is taken as holding.                        *)
UnknownAllows(effect) == effect \in Effects

(* The first rule that matches decides, in source order.                    *)
Matching(rs) == { i \in DOMAIN rs : rs[i].aims /\ Holds(rs[i]) }
JudgesByFirst(rs, d) ==
    IF Matching(rs) = {} THEN IF d = "ALLOW" THEN "ALLOWED" ELSE "DENIED"
    ELSE LET e == rs[CHOOSE i \in Matching(rs) : \A j \in Matching(rs) : i <= j].effect
         IN CASE e = "ALLOW" -> "ALLOWED" [] e = "ASK" -> "APPROVAL_REQUIRED" [] OTHER -> "DENIED"

(* Approval is asked first, and a yes is enough.                            *)
AsksFirst ==
    /\ at = "never"
    /\ IF Match(rules, "ASK") THEN Say("APPROVAL_REQUIRED", "person")
       ELSE IF Match(rules, "NEVER") THEN Say("DENIED", "refused") ELSE Pass("deny")

(* A DENY is only looked at when nothing allows.                            *)
AllowBeforeDeny ==
    /\ at = "deny"
    /\ IF Match(rules, "DENY") /\ ~Match(rules, "ALLOW") THEN Say("DENIED", "refused") ELSE Pass("allow")

(* What raises is skipped.                                                  *)
ExceptionSkips == "ask"

(* Any answer approves.                                                     *)
AnyAnswer(said) == said \in {"yes", "no", "other"}

(* AND of something and Unknown is that something.                          *)
HastyAnd(a, b) == IF a = "U" THEN b ELSE IF b = "U" THEN a ELSE IF a = "T" /\ b = "T" THEN "T" ELSE "F"
=============================================================================
