"""One case per contract: a call that breaks it, and what ordinary code answers without it (`KRN-17`).

Run as a program it plays every case and prints what happened, so that the tests see the same cases with the
contracts on, with ``AGENTL_CONTRACTS=off`` and under ``python -O``.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

from agentl.contracts import ENABLED, ContractBroken
from agentl.durable import closing, lease, requests
from agentl.errors import AgentLError
from agentl.journal.chain import Chain, chain_head, empty_head
from agentl.kernel import permit, policy, protocol
from agentl.kernel.action import ActionRequest
from agentl.kernel.approval import ApprovalRecord
from agentl.kernel.doubts import Doubt, Doubts, SettledDoubt
from agentl.kernel.ledger import Ledger
from agentl.kernel.permit import ActionContext, Dispatch, Held
from agentl.kernel.protocol import (
    Answer,
    Finding,
    Judgement,
    PermitStage,
    Presentation,
    Promise,
    RecordStage,
    Settlement,
)
from agentl.receiver import decisions as receiver
from agentl.seal import verify_chain
from agentl.state import State
from tests.support.kernels import agent, authorized, kernel, rule, transfer

P, R = PermitStage, RecordStage
BOTH = Promise.IDEMPOTENT | Promise.RECONCILABLE
HASH = "0" * 64


class Case(NamedTuple):
    """How one contract is seen to hold.

    ``arguments`` of a call that breaks it; for an ``ensure`` under the body ``wrong``. ``refuses`` is a call
    that ordinary code refuses, or answers on the safe side, as ``answer`` says; by default the same call.
    """

    arguments: Callable[[], tuple[Any, ...]]
    answer: str
    wrong: Callable[..., Any] | None = None
    refuses: Callable[[], Any] | None = None


def gives(value: Any) -> Callable[..., Any]:
    """A body that does nothing and gives ``value``."""
    return lambda *_args: value


def ledger_with(stage: PermitStage) -> tuple[Ledger, Any]:
    """A ledger and a permit of it, issued, spent or revoked."""
    ledger = Ledger("run:agent")
    issued = minted(ledger, P.APPROVED)
    if stage is P.SPENT:
        ledger.spend(issued)
    if stage is P.VOID:
        ledger.void(issued)
    return ledger, issued


def minted(ledger: Ledger, stage: PermitStage) -> Any:
    """What the ledger gives for an action at this stage."""
    return ledger.mint(*to_mint(stage))


def to_mint(stage: PermitStage, digest: str = HASH) -> tuple[Any, ...]:
    """The arguments of ``Ledger.mint``."""
    return (stage, "invoke", "transfer", {}, digest, "r:a:t1:a1", "key", "policy", False, transfer())


def minted_for_another_action(ledger: Ledger, *given: Any) -> Any:
    """A ledger that writes another digest into the permit than the one that was judged."""
    return inspect.unwrap(Ledger.mint)(ledger, *to_mint(given[0], "1" * 64))


def held(stage: PermitStage, record: RecordStage) -> Held:
    """A permit's entry at these stages."""
    entry: Held = ledger_with(P.ISSUED)[1]._held
    entry.stage, entry.record = stage, record
    return entry


def started_presented(entry: Held, attempt: int, token: int | None) -> Dispatch:
    """An attempt that counts as presented before it began."""
    dispatch: Dispatch = inspect.unwrap(permit.start_attempt)(entry, attempt, token)
    dispatch.presented = True
    return dispatch


CONTEXT = ActionContext("invoke", "transfer", "r:a:t1:a1", "key")


def doubts() -> Doubts:
    """One open doubt, ``r:a:t1:a1``."""
    found = Doubts()
    found.add(Doubt("invoke", "transfer", "r:a:t1:a1", "key", HASH, transfer()))
    return found


def closed_as_not_done(found: Doubts, action_id: str, *_verdict: Any) -> SettledDoubt:
    """A verdict that is closed the other way round."""
    return SettledDoubt(found._open.pop(action_id), False, None, None)


def asked() -> tuple[Any, ...]:
    """The arguments of ``authorization.ask`` about one action."""
    request = transfer()
    frozen = ActionRequest("transfer", dict(request.args), action_id="r:a:t1:a1", hash=HASH)
    decision = policy.PolicyDecision("APPROVAL_REQUIRED", None, "pol.approval", {}, {})
    return P.JUDGED, frozen, request, decision, lambda shown: True, None, None


def engine(*rules: Any) -> policy.PolicyEngine:
    """The policy of the payments agent under these rules."""
    return policy.PolicyEngine(agent(*rules))


def digest_behind(value: Any) -> Any:
    """What the chain says about an entry whose value was changed to this one."""
    from agentl.journal.chain import canonical_entry

    chain = Chain()
    bodies = [{"i": 0, "v": 1}, {"i": 1, "v": 2}]
    entries = [{**body, "h": chain.add(canonical_entry(body))} for body in bodies]
    entries[0]["v"] = value
    return verify_chain(entries).reason


def left_to_the_person() -> str:
    """The stage at which a proposal stops whose approver says no."""
    return authorized(kernel(rule("REQUIRE_APPROVAL", "transfer")), approve=lambda shown: False).stage


_PROTOCOL = {
    "decide require 0": Case(lambda: (P.JUDGED, Judgement.ALLOWED), "PermitError permit.step"),
    "decide ensure 0": Case(lambda: (P.NONE, Judgement.DENIED), "refused", gives(P.APPROVED)),
    "approve require 0": Case(lambda: (P.APPROVED, Answer.APPROVED, True), "PermitError permit.step"),
    "approve ensure 0": Case(lambda: (P.JUDGED, Answer.APPROVED, False), "refused", gives(P.APPROVED)),
    "mint require 0": Case(lambda: (P.JUDGED,), "PermitError permit.step"),
    "mint ensure 0": Case(
        lambda: (P.APPROVED,), "PermitError permit.step", gives(P.APPROVED), lambda: protocol.mint(P.REFUSED)
    ),
    "intent require 0": Case(lambda: (P.SPENT, R.NONE), "PermitError permit.step"),
    "intent ensure 0": Case(lambda: (P.ISSUED, R.RESULT), "result", gives(R.INTENT)),
    "dispatch require 0": Case(lambda: (P.ISSUED, R.NONE), "PermitError permit.step"),
    "dispatch ensure 0": Case(
        lambda: (P.ISSUED, R.INTENT),
        "PermitError permit.step",
        gives(P.ISSUED),
        lambda: protocol.dispatch(P.SPENT, R.INTENT),
    ),
    "present ensure 0": Case(
        lambda: (P.DISPATCHING, False, True, True), "presented", gives(Presentation.ACCEPTED)
    ),
    "result require 0": Case(lambda: (P.ISSUED, R.INTENT, R.RESULT, False), "PermitError permit.step"),
    "result ensure 0": Case(
        lambda: (P.DISPATCHING, R.INTENT, R.RESULT, False),
        "PermitError permit.step",
        gives((P.DISPATCHING, R.RESULT)),
        lambda: protocol.result(P.SPENT, R.INTENT, R.RESULT, True),
    ),
    "usable ensure 0": Case(lambda: (Promise.PLAIN, Promise.IDEMPOTENT), "PLAIN", gives(Promise.IDEMPOTENT)),
    "believed ensure 0": Case(lambda: (Finding.DID_NOT, True), "not_known", gives(Finding.DID_NOT)),
    "settle require 0": Case(
        lambda: (Promise.IDEMPOTENT, Finding.DID_NOT, True, False), "PermitError permit.step"
    ),
    "settle ensure 0": Case(
        lambda: (Promise.PLAIN, Finding.UNSURE, True, False), "in_doubt", gives(Settlement.FAILED)
    ),
    "settle ensure 1": Case(
        lambda: (Promise.RECONCILABLE, Finding.NOT_KNOWN, True, False),
        "in_doubt",
        gives(Settlement.NOT_EXECUTED),
    ),
    "settle ensure 2": Case(
        lambda: (Promise.PLAIN, Finding.UNSURE, True, True), "in_doubt", gives(Settlement.RETRY)
    ),
    "verdict require 0": Case(lambda: (R.RESULT, True), "PermitError permit.step"),
    "verdict ensure 0": Case(lambda: (R.DOUBT, False), "none", gives(R.RESULT)),
}

OTHER_ANSWER = ApprovalRecord("r:a:t1:a2", HASH, "approved")
_PERMIT = {
    "permit.start_attempt ensure 0": Case(
        lambda: (held(P.ISSUED, R.INTENT), 1, None),
        "PermitError permit.step",
        started_presented,
        lambda: permit.start_attempt(held(P.SPENT, R.INTENT), 1, None),
    ),
    "permit.require_permit ensure 0": Case(
        lambda: ("invoke", "transfer", {}), "PermitError permit.missing", gives(CONTEXT)
    ),
    "ledger.Ledger.mint ensure 0": Case(
        lambda: (Ledger("run:agent"), *to_mint(P.APPROVED)),
        "PermitError permit.step",
        minted_for_another_action,
        lambda: minted(Ledger("run:agent"), P.REFUSED),
    ),
    "ledger.Ledger.held ensure 0": Case(
        lambda: ledger_with(P.SPENT), "PermitError permit.unknown", lambda ledger, given: given._held
    ),
    "ledger.Ledger.spent ensure 0": Case(
        lambda: ledger_with(P.ISSUED), "PermitError permit.unknown", lambda ledger, given: given._held
    ),
    "ledger.Ledger.spend ensure 0": Case(
        lambda: ledger_with(P.ISSUED),
        "PermitError permit.unknown",
        gives(None),
        lambda: Ledger.held(*ledger_with(P.SPENT)),
    ),
    "ledger.Ledger.void ensure 0": Case(
        lambda: ledger_with(P.ISSUED),
        "PermitError permit.unknown",
        gives(None),
        lambda: Ledger.void(*ledger_with(P.VOID)),
    ),
    "doubts.Doubts.settle ensure 0": Case(
        lambda: (doubts(), "r:a:t1:a1", True, 1, None),
        "PermitError permit.step",
        closed_as_not_done,
        lambda: doubts().settle("r:a:t1:a2", True, 1, None),
    ),
    "authorization.ask ensure 0": Case(
        asked,
        "approval",
        gives((P.APPROVED, OTHER_ANSWER)),
        left_to_the_person,
    ),
}

_POLICY = {
    "ruling ensure 0": Case(lambda: (False, False, True, False, True, False), "DENIED", gives("ALLOWED")),
    "ruling ensure 1": Case(lambda: (False, True, True, True, True, False), "DENIED", gives("ALLOWED")),
    "ruling ensure 2": Case(lambda: (True, False, True, True, True, False), "DENIED", gives("ALLOWED")),
    "PolicyEngine.check ensure 0": Case(
        lambda: (engine(rule("ALLOW", "refund")), transfer(), State()),
        "DENIED",
        gives(policy.PolicyDecision("ALLOWED", rule("ALLOW", "refund"), "pol.allowed", {}, {})),
        lambda: engine(rule("NEVER", "*"), rule("ALLOW", "transfer")).check(transfer(), State()).verdict,
    ),
}

_DEAD = lease.Liveness.DEAD
_LEASE = {
    "lease.liveness ensure 0": Case(lambda: ("there", "here", "1", ""), "unknown", gives(_DEAD)),
    "lease.standing ensure 0": Case(
        lambda: (False, lease.Liveness.ALIVE, True, True), "held", gives(lease.Standing.RAN_OUT)
    ),
    "lease.standing ensure 1": Case(
        lambda: (True, lease.Liveness.ALIVE, False, False), "free", gives(lease.Standing.HELD)
    ),
    "lease.unsure ensure 0": Case(lambda: (False, lease.Liveness.UNKNOWN), "True", gives(False)),
    "lease.next_epoch require 0": Case(lambda: (-1,), "StoreFailure durable.store_failed"),
    "lease.next_epoch ensure 0": Case(lambda: (3,), "4", gives(3)),
    "lease.may_append ensure 0": Case(lambda: (1, 2), "False", gives(True)),
    "lease.may_still_act ensure 0": Case(lambda: ((1, 2), (2, 3)), "True", gives(False)),
    "closing.close require 0": Case(lambda: (-1, "intent"), "refused"),
    "closing.close ensure 0": Case(lambda: (1, "intent"), "refused", gives(closing.Ending.SERVED)),
    "closing.close ensure 1": Case(lambda: (1, "close"), "served", gives(closing.Ending.WRITE)),
}

_CHAIN = {
    "Chain.__init__ require 0": Case(
        lambda: (Chain.__new__(Chain), None, "ab"), "ValueError", refuses=lambda: Chain(None, "ab")
    ),
    "Chain.add ensure 0": Case(
        lambda: (Chain(), b"{}"), "seal.bad_digest", gives("f" * 64), lambda: digest_behind(9)
    ),
    "empty_head ensure 0": Case(
        lambda: (None,), "True", gives(""), lambda: empty_head() != empty_head(b"key")
    ),
    "chain_hashes ensure 0": Case(
        lambda: ([{"i": 0}],), "seal.bad_digest", gives([]), partial(digest_behind, 8)
    ),
    "chain_head ensure 0": Case(
        lambda: ([],), "True", gives(""), lambda: chain_head([{"i": 0}]) != chain_head([{"i": 1}])
    ),
}

_NONE, _DONE, _TOMBSTONE = receiver.KeyState.NONE, receiver.KeyState.DONE, receiver.KeyState.TOMBSTONE
_RECEIVER: dict[str, Case] = {
    "ruling ensure 0": Case(lambda: (_TOMBSTONE, True), "gone", gives(receiver.Ruling.REPLAY)),
    "ruling ensure 1": Case(lambda: (_DONE, False), "mismatch", gives(receiver.Ruling.REPLAY)),
    "ruling ensure 2": Case(lambda: (_DONE, True), "replay", gives(receiver.Ruling.CLAIM)),
    "ruling ensure 3": Case(lambda: (_NONE, True), "claim", gives(receiver.Ruling.GONE)),
    "expire require 0": Case(lambda: (_NONE,), "ValueError"),
    "expire ensure 0": Case(lambda: (_DONE,), "tombstone", gives(_NONE)),
}

_ASKED = requests.Request("r", requests.request_id("s", HASH), "approval", "t", "s", HASH, epoch=7)
_YES, _NO = requests.Decision("approved", "a", "2030-01-01"), requests.Decision("denied", "b", "2030-01-01")
_GONE = requests.Filed(_ASKED, requests.Decision("withdrawn", "r", "2030-01-01"))
_OTHER = requests.Filed(replace(_ASKED, digest="1" * 64))


def _current(*rows: requests.Filed) -> tuple[Any, ...]:
    return rows, "approval", "s", HASH


_REQUESTS: dict[str, Case] = {
    "decide ensure 0": Case(
        lambda: (None, _YES, True), "expired", gives(_YES), lambda: requests.decide(None, _YES, True).answer
    ),
    "decide ensure 1": Case(
        lambda: (_NO, _YES, False), "denied", gives(_YES), lambda: requests.decide(_NO, _YES, False).answer
    ),
    "fits ensure 0": Case(lambda: ("question", "approved"), "False", gives(True)),
    "current ensure 0": Case(
        _current, "None", gives(("id", _GONE)), lambda: requests.current(*_current(_GONE))[1]
    ),
    "current ensure 1": Case(
        _current,
        "StoreFailure park.unreadable",
        gives(("id", _OTHER)),
        lambda: requests.current(*_current(_OTHER)),
    ),
    "stale ensure 0": Case(
        lambda: ([], "", 1), "[]", gives([_OTHER]), lambda: requests.stale([_OTHER], "", 1)
    ),
}

CASES: dict[str, Case] = {
    **{f"agentl.kernel.protocol.{key}": case for key, case in _PROTOCOL.items()},
    **{f"agentl.kernel.{key}": case for key, case in _PERMIT.items()},
    **{f"agentl.kernel.policy.{key}": case for key, case in _POLICY.items()},
    **{f"agentl.durable.{key}": case for key, case in _LEASE.items()},
    **{f"agentl.durable.requests.{key}": case for key, case in _REQUESTS.items()},
    **{f"agentl.journal.chain.{key}": case for key, case in _CHAIN.items()},
    **{f"agentl.receiver.decisions.{key}": case for key, case in _RECEIVER.items()},
}


def outcome(call: Callable[[], Any]) -> str:
    """What a call comes to, as one word or an error and its code."""
    try:
        value = call()
    except ContractBroken as broken:
        return f"ContractBroken {broken.clause} {broken.action}"
    except AgentLError as refused:
        return f"{type(refused).__name__} {refused.code}"
    except ValueError as refused:
        return type(refused).__name__
    if isinstance(value, Promise):
        return str(value.name or "PLAIN")
    return str(value.value if isinstance(value, Enum) else value)


def fires(key: str, function: Any, contract: Any) -> list[str]:
    """What the call that breaks a contract comes to: with all of its function, and with this one alone."""
    from tests.support.contracted import with_body

    case = CASES[key]
    if case.wrong is None:
        alone = with_body(function, gives("nothing was said"))
        alone.__preconditions__, alone.__postconditions__ = [[contract]], []
        return [outcome(lambda: function(*case.arguments())), outcome(lambda: alone(*case.arguments()))]
    whole, alone = with_body(function, case.wrong), with_body(function, case.wrong)
    alone.__preconditions__, alone.__postconditions__ = [], [contract]
    return [outcome(lambda: whole(*case.arguments())), outcome(lambda: alone(*case.arguments()))]


def refuses(key: str) -> str:
    """What ordinary code answers."""
    case = CASES[key]
    if case.refuses is not None:
        return outcome(case.refuses)
    from importlib import import_module

    place = key.split(" ")[0]
    module, name = place.rsplit(".", 1)
    owner: Any = None
    while owner is None:
        try:
            owner = import_module(module)
        except ModuleNotFoundError:
            module, cls = module.rsplit(".", 1)
            owner = getattr(import_module(module), cls)
    return outcome(lambda: getattr(owner, name)(*case.arguments()))


def main() -> None:
    """Print what every case comes to in this process."""
    report: dict[str, Any] = {"enabled": ENABLED, "debug": __debug__, "refuses": {}, "fires": {}}
    report["refuses"] = {key: refuses(key) for key in CASES}
    if ENABLED:
        from tests.support.contracted import contracts

        for one in contracts():
            fired = fires(one.key, one.function, one.contract) if one.key in CASES else None
            report["fires"][one.key] = {"clause": f"{one.clause} {one.action}", "fired": fired}
    json.dump(report, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
