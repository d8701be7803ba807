"""Signed approvals: rings of public keys that verify them, and how one is signed (`APR-7`, `PRK-8`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agentl.errors import RuntimeAgentError, SealError
from agentl.kernel.approval import ApprovalRecord, approval_statement
from agentl.signing import ED25519, Ed25519Key, Key, from_pem, load_signing_key

if TYPE_CHECKING:
    from agentl.kernel.action import ActionRequest

_SIGNATURE: Final = re.compile(r"[0-9a-f]{128}")


class KeyRing:
    """Public keys by person (`APR-7`).

    Args:
        name: what policies call it.
        keys: for each person, keys: PEM bytes, or objects with ``key_id`` and ``verify(message, signature)``.

    Raises:
        RuntimeAgentError: something is no public Ed25519 key.
        SealError: the optional library is missing.
    """

    def __init__(self, name: str, keys: Any) -> None:
        self.name = name
        self._keys: dict[tuple[str, str], Any] = {}
        if not isinstance(keys, Mapping) or not keys:
            raise RuntimeAgentError(code="apr.bad_ring", name=name, holder="—")
        for holder, several in keys.items():
            for given in several if isinstance(several, list | tuple) else [several]:
                key = _public(name, holder, given)
                self._keys[str(holder), key.key_id] = key

    @property
    def signers(self) -> dict[str, list[str]]:
        """The ids of the keys of each person."""
        found: dict[str, list[str]] = {}
        for holder, key in self._keys:
            found.setdefault(holder, []).append(key)
        return found

    def verify(self, statement: bytes, by: str, key_id: str, signature: str) -> bool:
        """Whether the signature is one that the key ``key_id`` of that person made over the statement."""
        key = self._keys.get((by, key_id))
        if key is None or _SIGNATURE.fullmatch(signature) is None:
            return False
        return key.verify(statement, signature) is True


def _public(name: str, holder: Any, given: Any) -> Any:
    if isinstance(given, bytes):
        try:
            found = from_pem(given, f"{name}/{holder}")
        except SealError as error:
            if error.code == "seal.no_cryptography":
                raise
            raise RuntimeAgentError(code="apr.bad_ring", name=name, holder=str(holder)) from error
        return found
    if getattr(given, "algorithm", None) != ED25519:
        raise RuntimeAgentError(code="apr.bad_ring", name=name, holder=str(holder))
    return given


def open_rings(wanted: list[str], declared: Any) -> dict[str, KeyRing]:
    """The rings that a policy names, of those that a host declares (`APR-7`).

    Raises:
        RuntimeAgentError: one is not declared, or holds something else than public keys.
        SealError: the optional library is missing.
    """
    rings: dict[str, KeyRing] = {}
    for name in dict.fromkeys(wanted):
        if not isinstance(declared, Mapping) or name not in declared:
            raise RuntimeAgentError(code="apr.no_ring", name=name)
        rings[name] = KeyRing(name, declared[name])
    return rings


def signing_key(spec: str) -> Ed25519Key:
    """The private key of a PEM file, for an approval.

    Raises:
        SealError: there is none, or it is of another kind.
    """
    key = load_signing_key(spec)
    if not isinstance(key, Ed25519Key):
        raise SealError(code="apr.key_kind", algorithm=getattr(key, "algorithm", "—"))
    return key


def signed(record: ApprovalRecord, key: Key, run_id: str) -> ApprovalRecord:
    """The record with the signature of ``key`` (`APR-7`).

    Raises:
        SealError: the key is no private Ed25519 key.
    """
    if not isinstance(key, Ed25519Key):
        raise SealError(code="apr.key_kind", algorithm=getattr(key, "algorithm", type(key).__name__))
    return replace(record, key_id=key.key_id, signature=key.sign(approval_statement(run_id, record)))


def sign_approval(
    request: ActionRequest, key: Key, *, run_id: str, by: str, at: str, answer: str = "approved"
) -> ApprovalRecord:
    """A signed answer to a request, for an approver that has a key.

    Args:
        request: what the kernel gave to the approver.
        run_id: of the run that asks, as its runtime was given it.
        by: the person, under the name that the ring has.
        at: when, UTC in ISO form.
    """
    return signed(ApprovalRecord(request.action_id, request.hash, answer, by, at), key, run_id)


__all__ = ["KeyRing", "open_rings", "sign_approval", "signed", "signing_key"]
