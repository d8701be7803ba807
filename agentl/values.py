"""Values of the language and their two encodings: the one door to both (`KRN-2`, `ENC-1`).

*Canonical bytes* identify a value (hash, compare); *journal form* stores it.
"""

from __future__ import annotations

from agentl.canonical import canonical, canonical_bytes, plain_copy, value_digest
from agentl.datamodel import (
    MAX_DEPTH,
    MAX_INTEGER_BITS,
    UNDEFINED,
    DataModelError,
    Opaque,
    Symbol,
    Undefined,
    type_name,
)
from agentl.encoding import decode, encode, is_opaque_inside
from agentl.messages import fmt

__all__ = [
    "MAX_DEPTH",
    "MAX_INTEGER_BITS",
    "UNDEFINED",
    "DataModelError",
    "Opaque",
    "Symbol",
    "Undefined",
    "canonical",
    "canonical_bytes",
    "decode",
    "encode",
    "fmt",
    "is_opaque_inside",
    "plain_copy",
    "type_name",
    "value_digest",
]
