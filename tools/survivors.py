"""Take one guard away at a time, and see whether a test notices: prints the guards that nobody misses.

    python3 tools/survivors.py [--only sync] [--file ledger] [--list]

Each mutant is the package with one thing less: a refusal (``raise`` in the trusted base, the host's check, a
store), a contract (``require`` or ``ensure``), or a synchronisation with the disk. It lives in a copy of the
checkout in a temporary folder, where the few tests that are meant to notice are run, for a refusal with the
contracts off. The tests must pass there first without any mutation. Exits with 1 when a mutant survives.
"""

from __future__ import annotations

import argparse
import ast
import os
import py_compile
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 180.0
"""Seconds for the tests of one mutant; one that makes them hang is noticed, too."""

PAIRS = "tests/contracts/test_pairs.py"
STORE_GUARDS = "tests/durable/test_guards.py"
STORES = (
    STORE_GUARDS,
    "tests/durable/test_syncs.py",
    "tests/durable/test_file_store.py",
    "tests/durable/test_sqlite_store.py",
)
POSTGRES = (
    "tests/durable/test_postgres_store.py",
    "tests/durable/test_postgres_link.py",
    "tests/durable/test_postgres_schema.py",
)
KEPT = ("tests/durable/test_moving.py", "tests/durable/test_purging.py")
DRIVEN = ("tests/durable/test_syncs.py",)

GUARDS_TESTED = "tests/kernel/test_guards.py"

REFUSALS: dict[str, tuple[str, ...]] = {
    "kernel/protocol.py": ("tests/kernel/test_protocol.py", PAIRS),
    "kernel/permit.py": ("tests/kernel/test_permit.py", "tests/kernel/test_execution.py"),
    "kernel/ledger.py": ("tests/kernel/test_permit.py", "tests/kernel/test_doubts.py", PAIRS),
    "kernel/doubts.py": ("tests/kernel/test_doubts.py", PAIRS),
    "kernel/gate.py": (
        GUARDS_TESTED,
        "tests/kernel/test_gate.py",
        "tests/kernel/test_permit.py",
        "tests/kernel/test_doubts.py",
        "tests/durable/test_boundary.py",
    ),
    "kernel/authorization.py": (GUARDS_TESTED, "tests/kernel/test_gate.py", "tests/kernel/test_approval.py"),
    "kernel/approval.py": ("tests/kernel/test_approval.py", "tests/kernel/test_gate.py"),
    "kernel/execution.py": (GUARDS_TESTED, "tests/kernel/test_execution.py"),
    "kernel/registry.py": ("tests/host", GUARDS_TESTED),
    "host.py": ("tests/host", "tests/kernel/test_permit.py", "tests/kernel/test_execution.py"),
    "durable/lease.py": (PAIRS,),
    "durable/served.py": (
        STORE_GUARDS,
        "tests/durable/test_boundary.py",
        "tests/durable/test_run.py",
        "tests/journal/test_shapes.py",
    ),
    "durable/stores/file.py": STORES,
    "durable/stores/sqlite.py": STORES,
    "durable/stores/run_directory.py": (*STORES, *KEPT),
    "durable/stores/sqlite_run.py": KEPT,
    "durable/stores/committer.py": ("tests/durable/test_committer.py",),
    "durable/marks.py": KEPT,
    "durable/stores/rows.py": STORES,
    "durable/stores/postgres.py": POSTGRES,
    "durable/stores/postgres_link.py": POSTGRES,
    "durable/stores/postgres_schema.py": POSTGRES,
    "durable/stores/memory.py": ("tests/durable/test_memory_store.py",),
    "journal/chain.py": (PAIRS,),
}
"""Where each ``raise`` refuses something, and the tests that are meant to see it."""

GUARDS = {"require_permit", "let_through", "_check", "_fence"}
"""Calls that refuse for their caller."""

SYNCED = ("durable", "journal")
SYNCS = {"fsync", "_fdatasync", "fdatasync", "_sync_directory"}


@dataclass(frozen=True)
class Mutant:
    """One thing taken away: ``text`` stands instead of the source from ``start`` to ``end``."""

    kind: str
    file: str
    line: int
    start: int
    end: int
    text: str
    shown: str
    tests: tuple[str, ...]


class _Source:
    """A file, its tree, and where a node stands in it (in bytes, as ``ast`` counts)."""

    def __init__(self, file: Path) -> None:
        self.data = file.read_bytes()
        self.tree = ast.parse(self.data)
        self._lines = [0]
        for line in self.data.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def place(self, node: ast.AST) -> tuple[int, int]:
        """The bytes from the beginning to the end of a node."""
        at = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        return self._lines[at[0] - 1] + at[1], self._lines[at[2] - 1] + at[3]

    def mutant(self, kind: str, file: str, node: ast.AST, text: str, tests: tuple[str, ...]) -> Mutant:
        """The mutant in which ``text`` stands instead of ``node``."""
        start, end = self.place(node)
        if kind == "contract":
            start = self.data.rindex(b"@", 0, start)
        shown = " ".join(self.data[start:end].decode("utf-8").split())
        line: int = node.lineno  # type: ignore[attr-defined]
        return Mutant(kind, file, line, start, end, text, shown, tests)


def _called(node: ast.AST) -> str:
    """The last name of what a statement calls, or nothing."""
    call = node.value if isinstance(node, ast.Expr) else node
    if not isinstance(call, ast.Call):
        return ""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def mutants() -> Iterator[Mutant]:
    """Everything that can be taken away, in the order of the files."""
    package = ROOT / "agentl"
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        source = _Source(path)
        for node in ast.walk(source.tree):
            for decorator in getattr(node, "decorator_list", []):
                if _called(decorator) in ("require", "ensure"):
                    yield source.mutant(
                        "contract", name, decorator, "", (f"{PAIRS}::test_the_contract_fires",)
                    )
            guard = isinstance(node, ast.Expr) and _called(node) in GUARDS
            if name in REFUSALS and (guard or isinstance(node, ast.Raise)):
                yield source.mutant("refusal", name, node, "pass", REFUSALS[name])
            # The suite for stores is itself a test.
            if name.split("/")[0] in SYNCED and "/testing/" not in name:
                tests = STORES if "/stores/" in name else DRIVEN
                if isinstance(node, ast.Expr) and _called(node) in SYNCS:
                    yield source.mutant("sync", name, node, "pass", tests)
                if isinstance(node, ast.keyword) and node.arg == "sync" and ast.unparse(node.value) == "True":
                    yield source.mutant("sync", name, node.value, "False", tests)
                if isinstance(node, ast.Constant) and node.value == "PRAGMA synchronous=FULL":
                    yield source.mutant("sync", name, node, repr("PRAGMA synchronous=NORMAL"), tests)


class Copy:
    """A copy of the checkout in which one mutant at a time can live."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        without = shutil.ignore_patterns("__pycache__", "*.pyc", "runs")
        for part in ("agentl", "tests", "tools", "spec", "docs"):
            shutil.copytree(ROOT / part, folder / part, ignore=without)
        shutil.copy2(ROOT / "pyproject.toml", folder)
        # Compiled files that go by content: a mutant is compiled anew, whatever the clock says.
        checked = py_compile.PycInvalidationMode.CHECKED_HASH
        for path in [*(folder / "agentl").rglob("*.py"), *(folder / "tests" / "support").rglob("*.py")]:
            py_compile.compile(str(path), doraise=True, invalidation_mode=checked)

    def passes(self, kind: str, tests: tuple[str, ...]) -> bool:
        """Whether these tests pass here."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            # A refusal must stand without the contract that mirrors it, which would answer first.
            "AGENTL_CONTRACTS": "off" if kind == "refusal" else "on",
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, timeout=LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        if done.returncode not in {0, 1, 2}:
            raise SystemExit(f"✗ pytest ended with {done.returncode}: {done.stdout.decode()[-1000:]}")
        return done.returncode == 0

    def survives(self, mutant: Mutant) -> bool:
        """Whether no test notices the mutant; afterwards the copy is as before."""
        file = self.folder / "agentl" / mutant.file
        data = file.read_bytes()
        file.write_bytes(data[: mutant.start] + mutant.text.encode() + data[mutant.end :])
        try:
            return self.passes(mutant.kind, mutant.tests)
        finally:
            file.write_bytes(data)


def _prepare(folder: Path, workers: int, every: list[Mutant]) -> queue.Queue[Copy]:
    """The copies, one a worker, after the tests have passed in the first without a mutant."""
    copies: queue.Queue[Copy] = queue.Queue()
    for number in range(workers):
        copies.put(Copy(folder / str(number)))
    first = copies.get()
    probe = [sys.executable, "-c", "import agentl, pathlib; print(pathlib.Path(agentl.__file__).parent)"]
    environment = {**os.environ, "PYTHONPATH": str(first.folder)}
    seen = subprocess.run(
        probe, cwd=first.folder, env=environment, capture_output=True, text=True, check=True
    )
    if Path(seen.stdout.strip()) != first.folder / "agentl":
        raise SystemExit(f"✗ the tests would run against {seen.stdout.strip()}, not against the copy")
    for kind in sorted({mutant.kind for mutant in every}):
        tests = {test for mutant in every if mutant.kind == kind for test in mutant.tests}
        if not first.passes(kind, tuple(sorted(tests))):
            raise SystemExit(f"✗ the tests of the {kind} mutants do not pass without a mutant")
    copies.put(first)
    return copies


def main() -> int:
    """Try every chosen mutant; 1 when one survives."""
    parser = argparse.ArgumentParser(description="Print the guards whose removal no test notices.")
    parser.add_argument("--only", choices=("contract", "refusal", "sync"), help="only this kind")
    parser.add_argument("--file", help="only files whose name contains this")
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    every = [
        mutant
        for mutant in mutants()
        if (not chosen.only or mutant.kind == chosen.only) and (not chosen.file or chosen.file in mutant.file)
    ]
    if chosen.list or not every:
        for mutant in every:
            print(f"{mutant.kind:8} {mutant.file}:{mutant.line}  {mutant.shown[:90]}")
        print(f"{len(every)} mutants")
        return 0 if every else 2
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="survivors-") as folder:
        copies = _prepare(Path(folder), chosen.workers, every)
        print(
            f"{len(every)} mutants; the tests pass without one ({time.monotonic() - began:.0f} s)", flush=True
        )

        def tried(mutant: Mutant) -> bool:
            copy = copies.get()
            try:
                return copy.survives(mutant)
            finally:
                copies.put(copy)

        survivors = []
        with ThreadPoolExecutor(chosen.workers) as pool:
            for number, (mutant, survived) in enumerate(zip(every, pool.map(tried, every), strict=True), 1):
                if survived:
                    survivors.append(mutant)
                    print(f"✗ {mutant.kind:8} {mutant.file}:{mutant.line}  {mutant.shown[:110]}", flush=True)
                if number % 25 == 0:
                    print(f"  {number} of {len(every)} tried", flush=True)
    seconds = time.monotonic() - began
    print(f"{'✗' if survivors else '✓'} {len(every)} mutants, {len(survivors)} survivors, {seconds:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
