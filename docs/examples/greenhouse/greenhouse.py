"""The host of ``greenhouse.agent``: a greenhouse in this process, and everything a host can offer."""

from __future__ import annotations

from typing import Any

from agentl import Host, MockLLM, Symbol


def build() -> tuple[Host, MockLLM]:
    """The host, and the model that the program reasons with: here one that gives a scripted answer."""
    host = Host()
    soil, valve = [12], ["closed"]
    diary: list[str] = []
    rain = {"summer": "no"}

    host.sensor("soil.moisture")(lambda: soil[0])
    host.sensor("tank.level")(lambda: 40)
    host.sensor("valve.state")(lambda: Symbol(valve[0]))
    host.sensor("beds")(lambda: [{"name": "tomatoes"}, {"name": "beans"}])

    @host.tool("open_valve", idempotent=True)
    def open_valve(zone: Symbol, minutes: int) -> dict[str, Any]:
        valve[0] = "open"
        soil[0] = 12 + minutes
        diary.append(f"{zone}: {minutes} minutes")
        return {"litres": 4.5 * minutes}

    @host.tool("open_roof")
    def open_roof(share: float) -> None:
        """Moves the roof."""

    @host.tool("note", idempotent=True)
    def note(text: str) -> None:
        diary.append(text)

    # A sub-agent is called by DELEGATE with what INPUT names, and answers what EXPECT names.
    @host.subagent("weather", read_only=True)
    def weather(payload: dict[str, Any]) -> dict[str, Any]:
        return {"rain": Symbol(rain.get(str(payload["season"]), "yes"))}

    # A person: ASK and ESCALATE come here; None means that nobody answered.
    host.asker = lambda question, reason: Symbol("yes") if "quarter" in question and not reason else None
    # Another person: REQUIRE APPROVAL comes here, with the action; only a clear yes is one.
    host.approver = lambda request: request.args["share"] == 0

    host.emit("storm", speed=90)
    return host, MockLLM({"minutes of water": {"minutes": 18, "why": "the soil is dry"}})
