"""Steps of the protocol with one fault each. CrossHair must find every one (``tools/crosshair_check.py``)."""

from __future__ import annotations

from agentl.kernel import protocol
from agentl.kernel.protocol import (
    Answer,
    Ended,
    Finding,
    Judgement,
    PermitStage,
    Presentation,
    Promise,
    RecordStage,
    Settlement,
)
from tests.contracts.planted.shared import under


@under(protocol.decide)
def decide(permit: PermitStage, judgement: Judgement) -> PermitStage:
    """Takes "ask a person" for a yes."""
    return PermitStage.REFUSED if judgement is Judgement.DENIED else PermitStage.APPROVED


@under(protocol.approve)
def approve(permit: PermitStage, answer: Answer, same_action: bool) -> PermitStage:
    """Takes the approval of one action for that of another."""
    return PermitStage.APPROVED if answer is Answer.APPROVED else PermitStage.REFUSED


@under(protocol.mint)
def mint(permit: PermitStage) -> PermitStage:
    """Issues nothing."""
    return permit


@under(protocol.intent)
def intent(permit: PermitStage, record: RecordStage) -> RecordStage:
    """Writes an intention over a result."""
    return RecordStage.INTENT


@under(protocol.dispatch)
def dispatch(permit: PermitStage, record: RecordStage) -> PermitStage:
    """Leaves the permit as it was: it could be used again."""
    return permit


@under(protocol.present)
def present(permit: PermitStage, fresh: bool, same_target: bool, same_arguments: bool) -> Presentation:
    """The host that does not look at the arguments."""
    if permit is not PermitStage.DISPATCHING:
        return Presentation.MISSING
    if not fresh:
        return Presentation.PRESENTED
    return Presentation.ACCEPTED if same_target else Presentation.OTHER


@under(protocol.result)
def result(permit: PermitStage, record: RecordStage, outcome: RecordStage, settled: bool) -> Ended:
    """A settled action keeps its permit."""
    return Ended(permit if settled else PermitStage.SPENT, outcome)


@under(protocol.usable)
def usable(recorded: Promise, made: Promise) -> Promise:
    """Believes a promise that was made only after the call."""
    return made


@under(protocol.believed)
def believed(finding: Finding, restricted: bool) -> Finding:
    """Believes a reconciler that says no, while a driver sleeps inside its call."""
    return finding


@under(protocol.settle)
def settle(promise: Promise, finding: Finding, unsure: bool, may_repeat: bool) -> Settlement:
    """The blind retry of an action in doubt."""
    if finding is Finding.TOOK_PLACE:
        return Settlement.RECONCILED
    if finding is Finding.DID_NOT:
        return Settlement.NOT_EXECUTED
    return Settlement.RETRY if may_repeat else Settlement.IN_DOUBT


@under(protocol.verdict)
def verdict(record: RecordStage, executed: bool) -> RecordStage:
    """A doubt that was not executed stays open."""
    return RecordStage.RESULT if executed else RecordStage.INTENT
