-------------------------------- MODULE Journal --------------------------------
(***************************************************************************)
(* One append to the journal, seen from the disk.  A record is a line: two *)
(* pieces of its body and a newline.  Bytes are written, then synchronised;*)
(* a crash keeps any prefix of what was not synchronised, perhaps with the *)
(* last piece as zero bytes.  Opening the file again accepts, repairs or   *)
(* refuses.  Kernel.tla takes one append for one step; this module is why  *)
(* it may.                                                                 *)
(*                                                                         *)
(* Code: agentl/journal/ (entry, chain, journal), agentl/durable/stores.   *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Payload, MaxRecords, MaxCrash

VARIABLES
    file,      \* the pieces of the file, in order
    synced,    \* how many of them are durable
    known,     \* the records that the running process holds for true
    acked,     \* ghost: the records whose append returned durable
    flight,    \* ghost: the records written by the last process, synced or not
    run,       \* up | down | refused
    damaged,   \* ghost: somebody changed durable bytes
    crashes

vars == <<file, synced, known, acked, flight, run, damaged, crashes>>

-----------------------------------------------------------------------------
(* DUR-8: the digest of a record depends on all before it.  Hashing is one  *)
(* to one here: the digest is the sequence of payloads itself.              *)
Piece(part, digest) == [part |-> part, digest |-> digest, ok |-> TRUE]
Zero == [part |-> "zero", digest |-> <<>>, ok |-> FALSE]
Line(digest) == <<Piece("head", digest), Piece("tail", digest), Piece("newline", <<>>)>>

Newline(p) == p.part = "newline" /\ p.ok
Whole(line, before) ==
    /\ Len(line) = 2 /\ line[1].part = "head" /\ line[2].part = "tail" /\ line[1].ok /\ line[2].ok
    /\ line[1].digest = line[2].digest
    /\ Len(line[1].digest) = Len(before) + 1 /\ SubSeq(line[1].digest, 1, Len(before)) = before
LastLine(line, before) == Whole(line, before)

(* STO-5: a tail without a newline is torn if, its zero bytes apart, it is   *)
(* the strict prefix of a line.  (Were all that ends in zero bytes torn, a  *)
(* changed newline before it would hide a durable record: DropsAllZeros in  *)
(* MutJournal.tla.)                                                         *)
RECURSIVE Bare(_)
Bare(rest) == IF rest # <<>> /\ rest[Len(rest)].part = "zero" THEN Bare(SubSeq(rest, 1, Len(rest) - 1)) ELSE rest
Torn(rest) == LET b == Bare(rest) IN b = <<>> \/ (Len(b) = 1 /\ b[1].part = "head" /\ b[1].ok)

(* The reader: [fine, records].                                             *)
RECURSIVE Read(_, _)
Read(pieces, before) ==
    LET ends == { i \in DOMAIN pieces : Newline(pieces[i]) } IN
    IF ends = {}
    THEN IF Torn(pieces) THEN [fine |-> TRUE, records |-> before]
         ELSE IF Whole(Bare(pieces), before) THEN [fine |-> TRUE, records |-> pieces[1].digest]
         ELSE [fine |-> FALSE, records |-> before]
    ELSE LET n == CHOOSE i \in ends : \A j \in ends : i <= j
             line == SubSeq(pieces, 1, n - 1)
             last == ends = {n} /\ n = Len(pieces)
         IN IF (IF last THEN LastLine(line, before) ELSE Whole(line, before))
            THEN Read(SubSeq(pieces, n + 1, Len(pieces)), IF Len(line) = 2 THEN line[1].digest ELSE before)
            ELSE [fine |-> FALSE, records |-> before]

RECURSIVE Written(_, _)
Written(records, n) == IF n = 0 THEN <<>> ELSE Written(records, n - 1) \o Line(SubSeq(records, 1, n))

-----------------------------------------------------------------------------
Init ==
    /\ file = <<>> /\ synced = 0 /\ known = <<>> /\ acked = <<>> /\ flight = <<>>
    /\ run = "up" /\ damaged = FALSE /\ crashes = 0

(* DUR-3: one line at the end.                                              *)
Append1(p) ==
    /\ run = "up" /\ Len(known) < MaxRecords
    /\ known' = Append(known, p) /\ flight' = known'
    /\ file' = file \o Line(known')
    /\ UNCHANGED <<synced, acked, run, damaged, crashes>>

(* DUR-6, STO-1: durable on return, with all that waited before it.         *)
Durable == Len(file)
Sync ==
    /\ run = "up" /\ acked # known
    /\ synced' = Durable /\ acked' = known
    /\ UNCHANGED <<file, known, flight, run, damaged, crashes>>

(* ENV.  The machine stops.                                                 *)
Crash ==
    /\ run = "up" /\ crashes < MaxCrash
    /\ \E n \in synced..Len(file) :
          \/ file' = SubSeq(file, 1, n)
          \/ n > synced /\ file' = SubSeq(file, 1, n - 1) \o <<Zero>>
    /\ synced' = Len(file') /\ known' = <<>>
    /\ run' = "down" /\ crashes' = crashes + 1
    /\ UNCHANGED <<acked, flight, damaged>>

(* ENV.  Durable lines are changed: a flipped bit, a line removed (not the  *)
(* last ones), swapped or doubled.                                          *)
Lines == Len(acked)
At(i) == SubSeq(file, 3 * i - 2, 3 * i)
Front(i) == SubSeq(file, 1, 3 * i)
After(i) == SubSeq(file, 3 * i + 1, Len(file))
Flipped(k) == [file EXCEPT ![k] = [@ EXCEPT !.ok = FALSE]]

Damage ==
    /\ run = "down" /\ ~damaged /\ Lines > 0 /\ Len(file) >= 3 * Lines
    /\ \/ \E k \in 1..(3 * Lines) : file' = Flipped(k)
       \/ \E i \in 1..(Lines - 1) : file' = Front(i - 1) \o After(i)
       \/ \E i \in 1..(Lines - 1) : file' = Front(i - 1) \o At(i + 1) \o At(i) \o After(i + 1)
       \/ \E i \in 1..Lines : file' = Front(i) \o At(i) \o After(i)
    /\ damaged' = TRUE /\ synced' = Len(file')
    /\ UNCHANGED <<known, acked, flight, run, crashes>>

(* STO-5: accept, repair and synchronise, or refuse.                        *)
Repaired(records) == Written(records, Len(records))
Open ==
    /\ run = "down"
    /\ LET found == Read(file, <<>>) IN
          IF found.fine
          THEN /\ run' = "up" /\ known' = found.records /\ acked' = found.records /\ flight' = found.records
               /\ file' = Repaired(found.records) /\ synced' = Len(file')
          ELSE run' = "refused" /\ UNCHANGED <<file, synced, known, acked, flight>>
    /\ UNCHANGED <<damaged, crashes>>

Next == (\E p \in Payload : Append1(p)) \/ Sync \/ Crash \/ Damage \/ Open
Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Open)

-----------------------------------------------------------------------------
Prefix(s, t) == Len(s) <= Len(t) /\ SubSeq(t, 1, Len(s)) = s

(* DUR-2, DUR-6: no acknowledged record is ever lost.                       *)
AcknowledgedSurvives == [][(run = "down" /\ run' = "up") => Prefix(acked, known')]_vars

(* STO-5: what is accepted is the acknowledged records and at most further  *)
(* ones that were being written, in their order.                            *)
AcceptedWasWritten == [][(run = "down" /\ run' = "up") => Prefix(known', flight)]_vars

(* DUR-8, STO-5: durable bytes that were changed are refused.               *)
DamageRefused == damaged => run # "up"

(* STO-5: a crash alone never makes a journal unreadable, however often.    *)
NeverRefusesItself == run = "refused" => damaged

(* DUR-11: the file always says what the process holds for true.            *)
FileSaysSo == run = "up" => Read(file, <<>>) = [fine |-> TRUE, records |-> known]

(* RES-1: a journal that is down is opened or refused.                      *)
ComesBack == (run = "down") ~> (run # "down")
=============================================================================
