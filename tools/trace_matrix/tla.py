"""TLA+ modules: their operators with the comments beside them, and the actions of a protocol."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tools.trace_matrix.citations import cited

_MODULE = re.compile(r"-{4,} *MODULE (\w+) *-{4,}")
_OPERATOR = re.compile(r"(\w+)(\([^)]*\))?\s*==")
_RECURSIVE = re.compile(r"RECURSIVE (\w+)")
_DECLARES = re.compile(r"(CONSTANTS?|VARIABLES?)\b")
_LINE = re.compile(r"-{4,}|={4,}")
_WHOLE = frozenset({"Init", "Next", "Spec", "FairSpec"})
"""They use everything, so they belong to no comment above."""
_ENVIRONMENT = re.compile(r"\bENV\b\.?")


@dataclass
class Operator:
    """One definition of a module: its source, the comment it stands under, and the clauses named there.

    ``group`` is the line of that comment: operators of one group are read together. ``environment``: an
    action that is taken by the world, so no function of the code has its name.
    """

    module: str
    name: str
    file: str
    first: int
    last: int
    source: str
    cites: dict[str, int]
    group: int
    environment: bool = False

    @property
    def place(self) -> str:
        """The file and the line, as editors read it."""
        return f"{self.file}:{self.first}"


@dataclass
class Module:
    """One file of ``formal/``; ``cites`` are those of its heading."""

    name: str
    file: str
    operators: tuple[Operator, ...]
    cites: dict[str, int]

    @property
    def actions(self) -> tuple[Operator, ...]:
        """The operators that the next-state relation is made of, in the order of the file."""
        relation = next((one for one in self.operators if one.name == "Next"), None)
        if relation is None:
            return ()
        words = set(re.findall(r"\w+", relation.source.split("==", 1)[1]))
        return tuple(one for one in self.operators if one.name in words and one is not relation)


@dataclass
class _Group:
    """Definitions that share a comment: those right below, and those that use what is in the group."""

    comment: list[str]
    first: int
    names: list[str]


def read_module(path: Path, root: Path) -> Module:
    """The operators of one module, in order."""
    file = path.relative_to(root).as_posix()
    lines = path.read_text(encoding="utf-8").splitlines()
    name = next((match[1] for line in lines if (match := _MODULE.search(line))), path.stem)
    operators: list[Operator] = []
    heading: dict[str, int] = {}
    group: _Group | None = None
    gap = False
    for first, last in _blocks(lines):
        block = lines[first - 1 : last]
        if block[0].startswith("(*"):
            if not any(operators) and group is None and _is_heading(lines, first):
                heading = _cites(block, first)
                continue
            group, gap = _Group(block, first, []), False
            continue
        if _LINE.match(block[0]):
            group = None
            continue
        if not block[0].strip():
            gap = True
            continue
        for begin, end, defined in _definitions(block, first):
            text = "\n".join(lines[begin - 1 : end]).rstrip()
            if gap and group and group.names and not _uses(text, group.names):
                group = None
            if defined in _WHOLE:
                group = None
            gap = False
            cites = _cites(lines[begin - 1 : end], begin)
            comment = group.comment if group else []
            if group:
                cites = _cites(group.comment, group.first) | cites
                group.names.append(defined)
            shown = text
            if group and len(group.names) == 1:
                shown = "\n".join([*comment, text])
            environment = any(_ENVIRONMENT.search(line) for line in [*comment[:1], text.splitlines()[0]])
            above = group.first if group else begin
            operators.append(Operator(name, defined, file, begin, end, shown, cites, above, environment))
    return Module(name, file, tuple(operators), heading)


def read_models(root: Path) -> dict[str, Module]:
    """Every module of ``formal/`` by name."""
    modules = (read_module(path, root) for path in sorted((root / "formal").glob("*.tla")))
    return {module.name: module for module in modules}


def _is_heading(lines: list[str], first: int) -> bool:
    """Whether nothing but the line with the module's name stands above."""
    return all(_MODULE.search(line) or not line.strip() for line in lines[: first - 1])


def _blocks(lines: list[str]) -> list[tuple[int, int]]:
    """First and last line of each run of comment lines, of blank lines, and of definitions."""
    blocks: list[tuple[int, int]] = []
    kinds: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("(*"):
            kind = "comment"
        elif _LINE.match(line):
            kind = f"line {number}"
        else:
            kind = "text" if line.strip() else "blank"
        if kinds and kinds[-1] == kind:
            blocks[-1] = (blocks[-1][0], number)
        else:
            blocks.append((number, number))
            kinds.append(kind)
    return blocks


def _definitions(block: list[str], first: int) -> list[tuple[int, int, str]]:
    """The definitions in a run of lines: first line, last line, name."""
    starts: list[tuple[int, str]] = []
    for offset, line in enumerate(block):
        match = _OPERATOR.match(line) or _DECLARES.match(line)
        before = _RECURSIVE.match(block[offset - 1]) if offset else None
        if match:
            starts.append((offset - 1 if before and before[1] == match[1] else offset, match[1]))
    ends = [*(offset for offset, _ in starts[1:]), len(block)][: len(starts)]
    return [(first + begin, first + end - 1, name) for (begin, name), end in zip(starts, ends, strict=True)]


def _uses(text: str, names: list[str]) -> bool:
    return bool(set(names) & set(re.findall(r"\w+", text.split("==", 1)[-1])))


def _cites(lines: list[str], first: int) -> dict[str, int]:
    """The ids in the comments of some lines. A sentence may go on in the next line."""
    found: dict[str, int] = {}
    for offset, line in enumerate(lines):
        for one in cited(line):
            found.setdefault(one, first + offset)
    whole = " ".join(" ".join(line.strip("(*) \t") for line in lines).split())
    for one in cited(whole):
        found.setdefault(one, first)
    return found
