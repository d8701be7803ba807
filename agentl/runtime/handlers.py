"""Messages and events: taking them, binding what they carry, handling them (`TCK-5`, `TCK-6`, `TCK-14`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from agentl.errors import KernelAbort
from agentl.labels import EVENT, EVENT_LABEL, MESSAGE, MESSAGE_LABEL, NONE, RUNTIME_LABEL, UNKNOWN_LABEL, Prov
from agentl.language.nodes import EventHandler, MessageHandler
from agentl.runtime.core import Core, opened
from agentl.runtime.plans import Plans
from agentl.runtime.trace import failure, frozen
from agentl.state import Saved
from agentl.values import type_name


class Envelope(NamedTuple):
    """A message in the inbox; ``labels`` are those of its fields at the sender."""

    name: str
    sender: str
    payload: Mapping[str, Any]
    labels: Mapping[str, Prov] = {}


class _Bound(NamedTuple):
    """A name that a payload bound in this tick: what it replaced, and what it is now."""

    before: Saved
    value: Any
    label: Prov


class _Binding(NamedTuple):
    """What one binding replaced, to take it back when the handler's WHEN does not hold."""

    saved: tuple[Saved, ...]
    bound: dict[tuple[str, str], _Bound]


class Handlers:
    """The message and event handlers of one agent.

    Attributes:
        inbox: the messages that wait for the next RECEIVE, in the order of their arrival.
    """

    def __init__(self, core: Core, plans: Plans) -> None:
        self.core = core
        self.plans = plans
        self.inbox: list[Envelope] = []
        self._bound: dict[tuple[str, str], _Bound] = {}

    # --- messages ---

    def receive(self) -> None:
        """RECEIVE: take each message in order (`TCK-5`)."""
        waiting = list(self.inbox)
        self.inbox.clear()
        for envelope in waiting:
            self._receive(envelope)

    def _receive(self, envelope: Envelope) -> None:
        core = self.core
        core.count("messages_received")
        handlers = [handler for handler in core.agent.messages if handler.name == envelope.name]
        values = {
            "message": envelope.name,
            "sender": envelope.sender,
            "payload": frozen(dict(envelope.payload)),
        }
        if not handlers:
            core.say("MESSAGE", "message.ignored", values)
            return
        about = {"name": envelope.name, "from": envelope.sender}
        labels = {
            key: MESSAGE_LABEL | envelope.labels.get(key, UNKNOWN_LABEL if envelope.labels else NONE)
            for key in envelope.payload
        }
        shown = False
        for handler in handlers:
            binding = self._bind("message", about, envelope.payload, labels, MESSAGE_LABEL, silent=shown)
            shown = True
            if not core.condition(handler.when, "context.message", handler.name):
                self._unbind(binding)
                core.say("MESSAGE", "message.filtered", values)
                continue
            core.say("MESSAGE", "message.received", values)
            self._run(handler, MESSAGE)

    # --- events ---

    def events(self) -> None:
        """Take the pending events of the host and hand each to the handlers of its source (`TCK-10`)."""
        for source, payload in self._pending():
            self._event(source, payload)

    def _pending(self) -> list[tuple[str, dict[str, Any]]]:
        core = self.core
        host = core.host
        try:
            if hasattr(host, "pending"):
                waiting = host.pending()
                if isinstance(waiting, list) and waiting:
                    host.acknowledge([item.get("id") for item in waiting if isinstance(item, Mapping)])
            else:
                waiting = host.drain()
        except KernelAbort:
            raise
        except Exception as error:  # noqa: BLE001 - a queue that fails gives no event (`TCK-14`)
            core.say("ERROR", "event.queue_failed", failure(error, crossed=True))
            return []
        if not isinstance(waiting, list):
            core.say("ERROR", "event.queue_malformed", {"type": type_name(waiting)})
            return []
        taken: list[tuple[str, dict[str, Any]]] = []
        for item in waiting:
            if (
                isinstance(item, Mapping)
                and isinstance(item.get("payload", {}), Mapping)
                and "source" in item
            ):
                taken.append((str(item["source"]), dict(item.get("payload", {}))))
            else:
                core.say("ERROR", "event.queue_malformed", {"type": type_name(item)})
        return taken

    def _event(self, source: str, payload: dict[str, Any]) -> None:
        core = self.core
        fields: dict[str, Any] = {}
        labels: dict[str, Prov] = {}
        for name, value in payload.items():
            key = str(name)
            fields[key], label = opened(value)
            labels[key] = EVENT_LABEL | label
        values = {"source": source, "payload": frozen(fields)}
        handlers = [handler for handler in core.agent.events if handler.source == source]
        if not handlers:
            core.say("EVENT", "event.unhandled", values)
            return
        shown = False
        for handler in handlers:
            binding = self._bind("event", {"source": source}, fields, labels, EVENT_LABEL, silent=shown)
            shown = True
            if not core.condition(handler.when, "context.event", source):
                self._unbind(binding)
                core.say("EVENT", "event.filtered", values)
                continue
            core.say("EVENT", "event.handled", values)
            self._run(handler, EVENT)

    def _run(self, handler: EventHandler | MessageHandler, source: str) -> None:
        core = self.core
        decision = core.control.decide(source, condition=handler.when, state=core.state)
        before, core.origin = core.origin, source.lower()
        try:
            with core.control.enter(decision):
                self.plans.guarded(handler.body)
        finally:
            core.origin = before

    # --- payload ---

    def _bind(
        self,
        holder: str,
        about: dict[str, str],
        payload: Mapping[str, Any],
        labels: Mapping[str, Prov],
        whole: Prov,
        *,
        silent: bool,
    ) -> _Binding:
        """Bind a payload for the rest of the tick (`TCK-6`); returns what it replaced."""
        state = self.core.state
        masked: list[str] = []
        for key in payload:
            found = state.find(key)
            if found is not None and found.store != "untrusted":
                masked.append(key)
        if masked and not silent:
            readable = ", ".join([f"payload.{key}" for key in masked])
            self.core.say(
                "BLOCKED", "payload.masked", {"holder": holder, "keys": masked, "readable": readable}
            )
        saved = (state.save("locals", ("payload", holder)), state.save("untrusted", tuple(payload)))
        binding = _Binding(saved, dict(self._bound))
        for label in labels.values():
            whole = whole | label
        bound = dict(payload)
        self._keep("locals", "payload", bound, whole)
        self._keep("locals", holder, about, RUNTIME_LABEL)
        for key, value in payload.items():
            self._keep("untrusted", key, value, labels[key])
        return binding

    def _keep(self, store: str, key: str, value: Any, label: Prov) -> None:
        state = self.core.state
        place = (store, key)
        bound = self._bound.get(place)
        self._bound[place] = _Bound(
            state.save(store, (key,)) if bound is None else bound.before, value, label
        )
        if store == "locals":
            state.set_local(key, value, label)
        else:
            state.set_untrusted(key, value, label)

    def _unbind(self, binding: _Binding) -> None:
        for part in binding.saved:
            self.core.state.restore(part)
        self._bound = binding.bound

    def end_tick(self) -> None:
        """A payload lasts until the end of its tick; what another writer put there since stays (`TCK-6`)."""
        if not self._bound:
            return
        state = self.core.state
        for place, bound in self._bound.items():
            held = state.locals if place[0] == "locals" else state.untrusted
            if held.get(place[1]) is bound.value and state.labels.get(place) is bound.label:
                state.restore(bound.before)
        self._bound.clear()


__all__ = ["Envelope", "Handlers"]
