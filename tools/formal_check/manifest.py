"""The manifest of the formal models: what is run, and what must come out.

``formal/manifest.toml`` has tables ``[base.NAME]`` (module, specification, constants, clauses) and
``[[run]]``. A run names a base and changes what differs. Nothing is run that could not fail: a run
without a clause, a mutant without a swap, or a mutant or witness with more than one clause is refused.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

KINDS: Final = ("safety", "refinement", "liveness", "induction", "witness", "mutant", "graph")
MUST_PASS: Final = ("safety", "refinement", "liveness", "induction", "graph")
COUNTED: Final = ("safety", "refinement", "induction", "graph")
TIERS: Final = ("default", "long")
_KEYS: Final = {
    "name", "kind", "base", "module", "specification", "init", "next", "constants", "swaps", "invariants",
    "properties", "constraint", "expect", "distinct", "generated", "depth", "unused", "tier", "limit", "pure",
    "about",
}  # fmt: skip


class ManifestError(Exception):
    """The manifest asks for something that proves nothing, or is not well formed."""


@dataclass(frozen=True)
class Run:
    """One run of the model checker and its expected end.

    ``expect`` is ``"ok"`` or the name of the clause that must object; ``limit`` is in seconds.
    """

    name: str
    kind: str
    module: str
    specification: str
    init: str
    next: str
    constants: dict[str, str]
    swaps: dict[str, str]
    invariants: tuple[str, ...]
    properties: tuple[str, ...]
    constraint: str
    expect: str
    distinct: int | None
    generated: int | None
    depth: int | None
    unused: tuple[str, ...]
    tier: str
    limit: int
    pure: bool
    about: str
    base: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def clauses(self) -> tuple[str, ...]:
        """All that this run can object to."""
        return self.invariants + self.properties

    def configuration(self) -> str:
        """The text of the cfg file."""
        lines = (
            [f"INIT {self.init}", f"NEXT {self.next}"]
            if self.init
            else [f"SPECIFICATION {self.specification}"]
        )
        lines.append("CONSTANTS")
        for name, value in self.constants.items():
            lines.append(f"  {name} {value}" if value.startswith("<-") else f"  {name} = {value}")
        lines += [f"  {name} <- {mutant}" for name, mutant in self.swaps.items()]
        if self.invariants:
            lines.append("INVARIANTS " + " ".join(self.invariants))
        if self.properties:
            lines.append("PROPERTIES " + " ".join(self.properties))
        if self.constraint:
            lines.append(f"CONSTRAINT {self.constraint}")
        return "\n".join(lines) + "\n"


def _names(row: dict[str, Any], key: str) -> tuple[str, ...]:
    value = row.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ManifestError(f"run {row.get('name', '?')!r}: {key} must be a list of names")
    return tuple(value)


def _constants(row: dict[str, Any], key: str) -> dict[str, str]:
    return {name: str(value) for name, value in row.get(key, {}).items()}


def _merged(row: dict[str, Any], bases: dict[str, dict[str, Any]]) -> dict[str, Any]:
    name = row.get("base", "")
    if not name:
        return row
    if name not in bases:
        raise ManifestError(f"run {row.get('name', '?')!r}: base {name!r} is not defined")
    base = bases[name]
    merged = {**base, **row}
    merged["constants"] = {**base.get("constants", {}), **row.get("constants", {})}
    if "invariants" in row or "properties" in row:
        merged["invariants"] = row.get("invariants", [])
        merged["properties"] = row.get("properties", [])
    return merged


def _run(row: dict[str, Any]) -> Run:
    name = str(row.get("name", "?"))
    unknown = sorted(set(row) - _KEYS)
    if unknown:
        raise ManifestError(f"run {name!r}: unknown key {unknown[0]!r}")
    for key in ("name", "kind", "module"):
        if not row.get(key):
            raise ManifestError(f"run {name!r}: {key} is missing")
    run = Run(
        name=name,
        kind=str(row["kind"]),
        module=str(row["module"]),
        specification=str(row.get("specification", "Spec")),
        init=str(row.get("init", "")),
        next=str(row.get("next", "")),
        constants=_constants(row, "constants"),
        swaps=_constants(row, "swaps"),
        invariants=_names(row, "invariants"),
        properties=_names(row, "properties"),
        constraint=str(row.get("constraint", "")),
        expect=str(row.get("expect", "ok")),
        distinct=row.get("distinct"),
        generated=row.get("generated"),
        depth=row.get("depth"),
        unused=_names(row, "unused"),
        tier=str(row.get("tier", "default")),
        limit=int(row.get("limit", 60)),
        pure=bool(row.get("pure", False)),
        about=str(row.get("about", "")),
        base=str(row.get("base", "")),
    )
    _refuse_empty(run)
    return run


def _refuse_empty(run: Run) -> None:
    """Refuse a run that could not fail, or whose verdict would say nothing."""
    what = f"run {run.name!r}"
    if run.kind not in KINDS:
        raise ManifestError(f"{what}: kind {run.kind!r} is not one of {', '.join(KINDS)}")
    if run.tier not in TIERS:
        raise ManifestError(f"{what}: tier {run.tier!r} is not one of {', '.join(TIERS)}")
    if not run.clauses:
        raise ManifestError(f"{what}: no invariant and no property, so nothing would be checked")
    if run.kind in MUST_PASS and (run.expect != "ok" or run.swaps):
        raise ManifestError(f"{what}: a {run.kind} run has no swap and must end well")
    if run.kind in ("mutant", "witness"):
        if len(run.clauses) != 1 or run.expect != run.clauses[0]:
            raise ManifestError(f"{what}: exactly one clause, and it must be the one expected to object")
        if run.kind == "mutant" and not run.swaps and not run.about:
            raise ManifestError(f"{what}: a mutant swaps an operator")
    if run.kind == "liveness" and (len(run.properties) != 1 or run.constraint):
        raise ManifestError(f"{what}: a liveness run has one property and no constraint")
    if run.kind == "refinement" and not run.properties:
        raise ManifestError(f"{what}: a refinement run names the abstract specification as property")
    if run.kind == "graph" and run.properties:
        raise ManifestError(f"{what}: a property would add edges to the graph")


def parse(text: str) -> list[Run]:
    """Read a manifest.

    :raises ManifestError: it is not well formed, or a run would prove nothing.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(f"not TOML: {error}") from error
    bases: dict[str, dict[str, Any]] = data.get("base", {})
    runs = [_run(_merged(row, bases)) for row in data.get("run", [])]
    if not runs:
        raise ManifestError("no run, so nothing would be checked")
    seen: dict[str, int] = {}
    for run in runs:
        seen[run.name] = seen.get(run.name, 0) + 1
        if seen[run.name] > 1:
            raise ManifestError(f"two runs are named {run.name!r}")
    return runs


def load(path: Path) -> list[Run]:
    """Read the manifest file ``path``; errors as in ``parse``."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ManifestError(f"cannot read {path}: {error.strerror}") from error
