"""Names that can be told apart (`KRN-19`): identifiers in NFKC form, and their skeletons.

The skeleton is that of Unicode TS #39: decompose, leave out what is invisible, replace each
character by its prototype, decompose again. The table covers Latin, Greek and Cyrillic letters and
the digits 0 and 1; it is data of this package, so the answer does not depend on the machine.
"""

from __future__ import annotations

from typing import Final
from unicodedata import normalize

_ALIKE: Final = {
    "a": "ɑαаａ⍺",
    "b": "ЬƄ",
    "c": "сϲᴄⅽ",
    "d": "ԁⅾ",
    "e": "еҽ℮",
    "f": "ſꞙẝ",
    "g": "ɡցᶃƍ",
    "h": "һհ",
    "i": "іιıɩɪ",
    "j": "јϳ",
    "l": "1IІΙӀƖǀ|ⅼאו",
    "n": "ոռ",
    "o": "οоσᴏօσ",
    "p": "рρϱ",
    "q": "ԛգզ",
    "r": "гᴦᴙ",
    "s": "ѕꜱƽ",
    "u": "υʋᴜս",
    "v": "ѵνᴠⅴ",
    "w": "ԝѡᴡɯ",
    "x": "хⅹ᙮",
    "y": "уγүʏỿ",
    "z": "ᴢ",
    "A": "ΑАᎪ",
    "B": "ΒВ",
    "C": "СϹⅭ",
    "D": "Ⅾ",
    "E": "ΕЕ",
    "F": "Ϝ",
    "G": "Ԍ",
    "H": "ΗНℍ",
    "J": "ЈͿ",
    "K": "ΚКK",
    "L": "Ⅼ",
    "M": "ΜМϺⅯ",
    "N": "Ν",
    "O": "0ΟОՕ",
    "P": "ΡР",
    "Q": "Ԛ",
    "R": "Ʀ",
    "S": "Ѕ",
    "T": "ΤТ",
    "U": "Ս",
    "V": "ѴⅤ",
    "W": "Ԝ",
    "X": "ΧХⅩ",
    "Y": "ΥУҮϒ",
    "Z": "Ζ",
    "ĸ": "кκ",
    "ʜ": "н",
    "ᴍ": "м",
    "ᴛ": "тτ",
    "ʙ": "в",
    "ᴨ": "пπ",
    "ɜ": "з",
    "ε": "єɛ",
    "φ": "фɸ",
    "Γ": "Г",
    "Π": "П",
    "Φ": "Ф",
    "Λ": "Л",
    "ə": "ә",
    "β": "ßẞ",
    "μ": "µ",
    "θ": "ө",
    "ψ": "ѱ",
    "Ʒ": "Ӡ",
    "rn": "m",
    "ae": "æӕ",
    "AE": "ÆӔ",
    "oe": "œ",
    "OE": "Œ",
}
_PROTOTYPE: Final = {other: prototype for prototype, others in _ALIKE.items() for other in others}
_INVISIBLE: Final = frozenset(
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\ufeff\u3164\uffa0"
) | frozenset(
    chr(point)
    for start, end in ((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0xFE00, 0xFE0F))
    for point in range(start, end + 1)
)


def is_plain_name(name: object) -> bool:
    """Whether a target name is an identifier in NFKC form; any other is undeclared (`KRN-19`)."""
    if type(name) is not str:
        return False
    if name.isascii():
        return name.isidentifier()
    return name.isidentifier() and normalize("NFKC", name) == name


def skeleton(name: str) -> str:
    """What a name looks like: two different names with equal skeletons are confusable (`KRN-19`)."""
    visible = [char for char in normalize("NFD", name) if char not in _INVISIBLE]
    return normalize("NFD", "".join([_PROTOTYPE.get(char, char) for char in visible]))


__all__ = ["is_plain_name", "skeleton"]
