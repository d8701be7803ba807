"""This process, as a lease names it: machine, id, start time, and where the id counts (`STO-6`)."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

from agentl.durable.lease import Holder, Liveness, liveness, read_holder


def start_of(process: int) -> str:
    """When the process of that id began, in clock ticks since boot; empty when there is none.

    Without a ``/proc`` the id alone must do: ``?`` for a living process.
    """
    try:
        stat = Path(f"/proc/{process}/stat").read_bytes()
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return ""
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return ""
        except OSError:
            return "?"
        return "?"
    except OSError:
        return "?"
    # The command name may hold spaces and brackets; what follows its last bracket does not.
    fields = stat[stat.rfind(b")") + 2 :].split()
    if fields[0] in (b"Z", b"X"):
        return ""
    return fields[19].decode("ascii")


@cache
def _space() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return platform.node().replace(" ", "_")


def this_process() -> Holder:
    """The holder that this process is."""
    process = os.getpid()
    return Holder(platform.node() or "localhost", process, start_of(process), _space())


def liveness_of(text: str) -> tuple[Liveness, bool]:
    """What is known about the holder that a text names, and whether it is this very process."""
    holder = read_holder(text)
    if holder is None:
        return Liveness.UNKNOWN, False
    here = this_process()
    alive = liveness(holder.space, here.space, holder.started, start_of(holder.process))
    return alive, holder.process == here.process and alive is Liveness.ALIVE
