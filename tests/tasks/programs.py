"""Small programs with objectives, run durably in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentl import Host, parse_source
from agentl.durable import DurableRun, FileStore
from agentl.language.nodes import Program
from agentl.tasks import TaskState, task_state

HEAD = """
AGENT worker {
  GOAL saved { ACHIEVE file.saved == yes }
  GOAL told { ACHIEVE reader.told == yes }
  OBSERVE { file.saved, reader.told }
  TOOL save { INPUT { text: String } OUTPUT { size: Int } SIDE_EFFECT { file.saved } RISK LOW }
  TOOL tell { INPUT { to: String } OUTPUT { receipt: String } SIDE_EFFECT { reader.told } RISK LOW }
"""


def program(body: str, head: str = HEAD) -> Program:
    """The two objectives and tools, and what the agent does."""
    return parse_source(head + body + "\n}\n", "worker.agent")


class World:
    """What the tools changed, and what they are to do."""

    def __init__(self) -> None:
        self.facts = {"file.saved": "no", "reader.told": "no"}
        self.raises: dict[str, Any] = {}
        self.calls: list[str] = []

    def host(self, **promises: bool) -> Host:
        host = Host()
        for path in self.facts:
            host.sensor(path)(lambda path=path: self.facts[path])

        @host.tool("save", **promises)
        def save(text: str) -> dict[str, int]:
            self._act("save", "file.saved")
            return {"size": len(text)}

        @host.tool("tell", **promises)
        def tell(to: str) -> dict[str, str]:
            self._act("tell", "reader.told")
            return {"receipt": f"for {to}"}

        return host

    def _act(self, tool: str, fact: str) -> None:
        self.calls.append(tool)
        if tool in self.raises:
            raise self.raises[tool]
        self.facts[fact] = "yes"


def run(folder: Path, tree: Program, world: World, *, ticks: int = 1, **promises: bool) -> TaskState:
    """Run to the end, and look."""
    DurableRun(tree, world.host(**promises), store=FileStore(folder / "run")).run(ticks)
    return look(folder, tree)


def look(folder: Path, tree: Program) -> TaskState:
    """The state of the task, as a command would see it."""
    return task_state(FileStore(folder / "run"), tree)
