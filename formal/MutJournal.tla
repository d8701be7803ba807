------------------------------- MODULE MutJournal -------------------------------
(* Plausible faults of a journal; see MutKernel.tla for how they are used.  *)
EXTENDS MCJournal

(* The append returns without fsync.                                        *)
ForgetsSync == synced

(* The torn tail is left in the file, and the next line is glued to it.     *)
KeepsTorn(records) == IF Read(file, <<>>).records = records THEN file ELSE Written(records, Len(records))

(* A complete line without a newline is accepted, but gets no newline.      *)
OmitsNewline(records) ==
    IF file # <<>> /\ ~Newline(file[Len(file)]) /\ Len(file) % 3 = 2 /\ ~(file[Len(file)].part = "zero")
    THEN SubSeq(Written(records, Len(records)), 1, Len(file)) ELSE Written(records, Len(records))

(* A last line that does not verify is taken for torn, newline or not.      *)
ForgivesLast(line, before) == TRUE

(* The digest is checked in each line alone, not along the chain.           *)
Unchained(line, before) ==
    /\ Len(line) = 2 /\ line[1].part = "head" /\ line[2].part = "tail" /\ line[1].ok /\ line[2].ok

(* Every tail without a newline is dropped, a changed one as well.          *)
DropsAnyTail(rest) == Len(rest) # 2

(* Every tail that ends in zero bytes is dropped.                           *)
DropsAllZeros(rest) == rest = <<>> \/ (Len(rest) = 1 /\ rest[1].ok) \/ rest[Len(rest)].part = "zero"

(* A strict prefix of a line is not recognised as torn.                     *)
RefusesTorn(rest) == rest = <<>>
=============================================================================
