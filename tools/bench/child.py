"""A measurement in a process of its own: ``python -m tools.bench.child TASK OPTIONS-JSON``.

A fresh process per task keeps memory peaks, import switches and garbage apart.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tools.bench.measure import count_syncs

ROOT = Path(__file__).resolve().parents[2]


class ChildError(RuntimeError):
    """A measurement that could not be made; its text is what the child said."""


def environment(*, contracts: bool = True) -> dict[str, str]:
    """The environment of a child: contracts as asked, this checkout importable, one hash seed."""
    return {
        **os.environ,
        "AGENTL_CONTRACTS": "on" if contracts else "off",
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "0",
    }


def run_task(task: str, *, contracts: bool = True, status: int = 0, **options: Any) -> dict[str, Any]:
    """Run one task in a child and return its figures (empty when it is to die with ``status``).

    Raises:
        ChildError: the child ended otherwise than expected.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tools.bench.child", task, json.dumps(options)],
        cwd=ROOT,
        env=environment(contracts=contracts),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != status:
        raise ChildError(f"{task} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    if status:
        return {}
    figures = json.loads(done.stdout.strip().splitlines()[-1])
    if not isinstance(figures, dict):
        raise ChildError(f"{task} gave no figures")
    return figures


def main() -> int:
    """Run the task named on the command line and print its figures as one JSON line."""
    count_syncs()
    from tools.bench.tasks import TASKS  # only now: the package must find the counted calls

    print(json.dumps(TASKS[sys.argv[1]](**json.loads(sys.argv[2]))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
