"""A program that is small enough to read at a glance, and its host."""

from __future__ import annotations

from pathlib import Path

PROGRAM = """\
AGENT keeper {
  VERSION "1.0"
  GOAL closed { ACHIEVE door.state == closed }
  OBSERVE { door.state }
  TOOL shut {
    INPUT { force: Int }
    OUTPUT { effort: Number }
    SIDE_EFFECT { door.state }
    RISK LOW
  }
  POLICY {
    DEFAULT DENY
    NEVER shut WHEN tools.shut.in_doubt == true
    ALLOW shut WHEN force <= 5
  }
  PLAN close WHEN door.state == open {
    shut(force: 3)
    VERIFY "the door is closed" { door.state == closed }
  }
  LOOP UNTIL door.state == closed MAX 3 { OBSERVE UPDATE_BELIEFS EVALUATE_GOALS SELECT_PLAN EXECUTE }
}
"""

HOST = """\
from agentl import Host, Symbol


def build():
    host = Host()
    door = {"state": Symbol("open")}

    @host.sensor("door.state")
    def state():
        return door["state"]

    @host.tool("shut")
    def shut(force):
        door["state"] = Symbol("closed")
        return {"effort": 0.5}

    return host, None
"""


def place(folder: Path, program: str | bytes = PROGRAM, host: str | None = HOST) -> Path:
    """Write the two files; returns the program's."""
    file = folder / "keeper.agent"
    file.write_bytes(program if isinstance(program, bytes) else program.encode())
    if host is not None:
        (folder / "keeper.py").write_text(host, encoding="utf-8")
    return file
