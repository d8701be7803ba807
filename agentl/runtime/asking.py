"""Questions to people: ASK with its time limit, escalations, and the answer that never came (`STM-9`)."""

from __future__ import annotations

from collections.abc import Mapping
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final

from agentl.errors import KernelAbort
from agentl.labels import DECLARED_LABEL, HUMAN_LABEL
from agentl.language.nodes import AskStmt
from agentl.messages import render
from agentl.runtime.core import Core, opened
from agentl.runtime.trace import failure, frozen
from agentl.values import Symbol

NO_ANSWER: Final = Symbol("no_answer")


class RuntimeQuestion(str):
    """A question that the runtime asks by itself: its code and values identify it in every language."""

    __slots__ = ("code", "values")
    code: str
    values: Mapping[str, Any]

    def __new__(cls, code: str, values: Mapping[str, Any]) -> RuntimeQuestion:
        question = super().__new__(cls, render(code, values))
        question.code = code
        question.values = values
        return question


def ask_within(host: Any, question: str, reason: str, timeout: float) -> Any:
    """Ask ``host`` and wait ``timeout`` seconds at most; then there is no answer (`STM-9`).

    The question is put from a thread of its own, which nobody waits for afterwards: an
    answer that comes late is dropped. Raises what the host raises in time.
    """
    if timeout <= 0:
        return NO_ANSWER
    answers: SimpleQueue[tuple[bool, Any]] = SimpleQueue()

    def put() -> None:
        try:
            answers.put((True, host.ask(question, reason)))
        except BaseException as error:  # noqa: BLE001 - raised again by the one who waits
            answers.put((False, error))

    Thread(target=put, name="agentl-ask", daemon=True).start()
    try:
        answered, answer = answers.get(timeout=timeout)
    except Empty:
        return NO_ANSWER
    if answered:
        return answer
    raise answer


class Asking:
    """Puts questions to the host and binds the answers."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def put(self, question: str, reason: str, timeout: float | None = None, who: str = "") -> Any:
        """The answer, or ``no_answer``; an operator that cannot be reached gives none.

        A host that crosses a boundary of its own (a durable or a recording one) offers
        ``ask_within`` with the same arguments, so that the time limit lies inside the crossing; one that
        keeps questions for people offers ``ask_person``, which hears too who is asked (`PRK-7`).
        """
        try:
            person = getattr(self.core.host, "ask_person", None) if who else None
            if person is not None:
                return person(who, question, reason, timeout)
            if timeout is None:
                return self.core.host.ask(question, reason)
            bounded = getattr(self.core.host, "ask_within", None)
            if bounded is not None:
                return bounded(question, reason, timeout)
            return ask_within(self.core.host, question, reason, timeout)
        except KernelAbort:
            raise
        except Exception as error:  # noqa: BLE001 - nobody reachable is an answer too: none (`STM-9`)
            self.core.say("ERROR", "ask.unreachable", failure(error, crossed=True))
            return NO_ANSWER

    def escalate(self) -> None:
        """ESCALATE: tell the operator that an escalation is required (`STM-7`)."""
        self.core.say("ASK", "stm.escalated", {})
        self.put(RuntimeQuestion("ask.escalate", {}), "ESCALATE")

    def mute_sensor(self, path: str) -> None:
        """ON UNKNOWN ESCALATE: tell the operator that a sensor is mute (`SNS-1`)."""
        self.core.say("ASK", "sensor.escalated", {"path": path})
        self.put(RuntimeQuestion("ask.mute_sensor", {"path": path}), "ON UNKNOWN ESCALATE")

    def ask(self, stmt: AskStmt) -> None:
        """ASK (`STM-9`): locals ``answer`` and ``answer.<who>``, labelled by who really answered."""
        core = self.core
        who = stmt.addressee
        detail = "ask.question.detail" if stmt.reason else "text.none"
        core.say(
            "ASK", "ask.question", {"who": who, "question": stmt.question, "reason": stmt.reason}, detail
        )
        answer, label = opened(self.put(stmt.question, stmt.reason, stmt.timeout, str(stmt.addressee)))
        if answer is None or (isinstance(answer, Symbol) and answer == NO_ANSWER):
            answer, label = NO_ANSWER, DECLARED_LABEL
            if stmt.default is not None:
                done, value, value_label = core.value(stmt.default, "context.default", f"ASK {who}")
                if done:
                    answer, label = value, label | value_label
        else:
            label = label | HUMAN_LABEL
        label = label | core.control.label
        core.state.set_local("answer", answer, label)
        core.state.set_local(f"answer.{who}", answer, label)
        core.say("ASK", "ask.answer", {"answer": frozen(answer), "who": who})


__all__ = ["NO_ANSWER", "Asking", "RuntimeQuestion", "ask_within"]
