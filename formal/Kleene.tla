-------------------------------- MODULE Kleene --------------------------------
(***************************************************************************)
(* Strong three-valued logic (TRI-2), and what "knowing less" means.       *)
(***************************************************************************)
EXTENDS Naturals

Truth == {"T", "F", "U"}

Not(a)    == CASE a = "T" -> "F" [] a = "F" -> "T" [] OTHER -> "U"
And(a, b) == IF a = "F" \/ b = "F" THEN "F" ELSE IF a = "T" /\ b = "T" THEN "T" ELSE "U"
Or(a, b)  == Not(And(Not(a), Not(b)))

(* v is what is known of w, or less.                                        *)
Less(v, w) == v = w \/ v = "U"

(* A guard is an operator over two facts; TRI-3: nothing else is needed,    *)
(* since every other node is U as soon as an operand is.                    *)
Shapes == {"fact", "not", "and", "or"}
Value(shape, x, y) ==
    CASE shape = "fact" -> x [] shape = "not" -> Not(x) [] shape = "and" -> And(x, y) [] OTHER -> Or(x, y)

(* TRI-2: a guard that was decided stays as it was when more is known.      *)
KleeneMonotone ==
    \A shape \in Shapes : \A x, y, v, w \in Truth :
        Less(v, x) /\ Less(w, y) => Less(Value(shape, v, w), Value(shape, x, y))

KleeneTables ==
    /\ \A a \in Truth : Not(Not(a)) = a /\ And(a, a) = a /\ Or(a, a) = a
    /\ \A a, b \in Truth : And(a, b) = And(b, a) /\ Or(a, b) = Or(b, a)
    /\ And("F", "U") = "F" /\ And("T", "U") = "U" /\ Or("T", "U") = "T" /\ Or("F", "U") = "U"
=============================================================================
