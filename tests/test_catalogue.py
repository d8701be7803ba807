"""The catalogue of messages: two languages, the same values, no code without words (MSG-1 to MSG-5)."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

from agentl import catalogue
from agentl.catalogue import CATALOGUE
from agentl.messages import render, set_language

ROOT = Path(__file__).resolve().parent.parent
AREAS = (
    "language", "kernel", "runtime", "durable", "operations", "park", "replay", "receiver", "analysis", "cli",
    "tasks", "worker",
)  # fmt: skip
CODE = re.compile(r"^[a-z]+(\.[A-Za-z0-9_]+)+$")


def names(template: str) -> list[str]:
    return sorted({field for _, field, _, _ in Formatter().parse(template) if field is not None})


def promised() -> list[tuple[str, int, str]]:
    """What the specification says of messages: the code, how many values it lists, and where."""
    found = []
    for path in sorted((ROOT / "spec").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"`msg:([a-z_]+\.\w+)`(?: \(([a-z_, ]+)\))?", text):
            if match[1] != "area.name":
                found.append((match[1], len(match[2].split(",")) if match[2] else 0, path.name))
    return found


def test_what_the_specification_promises_of_a_message_is_in_its_words() -> None:
    """`MSG-2`: there is a text of that code, and it, or its second line, names at least as many values."""
    references = promised()
    assert len(references) > 150
    assert [code for code, _, _ in references if code not in CATALOGUE] == []
    for code, count, where in references:
        said = {name for part in (code, f"{code}.detail") for name in names(CATALOGUE.get(part, ("",))[0])}
        assert len(said) >= count, (code, where)


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_both_languages_name_the_same_values(code: str) -> None:
    """`MSG-1`: one French and one English wording, and they name the same values."""
    french, english = CATALOGUE[code]
    assert bool(french) == bool(english)
    assert names(french) == names(english)
    assert all(re.fullmatch(r"[a-z_][a-z0-9_]*", name) for name in names(french))


def test_no_code_has_two_homes() -> None:
    """`MSG-1`: one catalogue keyed by code; two areas with the same code would hide one wording."""
    total = sum(len(getattr(catalogue, area).TEXTS) for area in AREAS)
    assert total == len(CATALOGUE)


def test_codes_are_area_and_name() -> None:
    """`MSG-1`: codes have the form `area.name`."""
    assert [code for code in CATALOGUE if not CODE.match(code)] == []


def used_codes() -> dict[str, str]:
    """Every literal message code in the package, with a place that uses it."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "agentl").rglob("*.py")):
        if path.parent.name == "catalogue":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                for value in _codes_of(node):
                    if CODE.match(value):
                        found.setdefault(value, f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def _codes_of(call: ast.Call) -> list[str]:
    named = [keyword.value for keyword in call.keywords if keyword.arg in {"code", "detail_code"}]
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if function == "render":
        named += call.args[:1]
    if function == "say":
        named += call.args[2:3]
    return [node.value for node in named if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_every_code_in_use_has_words() -> None:
    """`MSG-1`: an error or a trace line never shows a bare code."""
    wordless = {code: place for code, place in used_codes().items() if code not in CATALOGUE}
    assert not wordless


def test_seed_texts_are_in_the_catalogue() -> None:
    """`MSG-3`: the texts that the seeds show verbatim are the French wordings, character for character."""
    french = [texts[0] for texts in CATALOGUE.values()]
    for fragment in (
        "relancée avec la même clé d'idempotence",
        "entrée(s) journalisée(s), re-dérivées sans effet",
        "le programme a changé depuis le début de cette exécution",
        "journal durable altéré au franchissement #",
        "reprise impossible au franchissement #",
        "sans permis d'exécution : seul le noyau AGENT-L appelle l'hôte (Kernel.execute)",
        "intention sans résultat : ",
        "— sera tranchée",
        "exécution durable ",
    ):
        assert any(fragment in text for text in french), fragment


def test_the_language_is_the_option_then_the_environment_then_french(monkeypatch: pytest.MonkeyPatch) -> None:
    """`MSG-4`: `--lang`, else `AGENTL_LANG`, else French; an unknown environment value is ignored."""
    french, english = CATALOGUE["cli.interrupted"]
    assert render("cli.interrupted") == french
    monkeypatch.setenv("AGENTL_LANG", "en")
    assert render("cli.interrupted") == english
    monkeypatch.setenv("AGENTL_LANG", "xx")
    assert render("cli.interrupted") == french
    set_language("en")
    assert render("cli.interrupted") == english
    with pytest.raises(ValueError, match="xx"):
        set_language("xx")


def test_a_missing_wording_never_becomes_another_error() -> None:
    """`MSG-1`: an unknown code and a missing value stay visible."""
    assert render("nowhere.at_all", {"x": 1.0}) == "nowhere.at_all (x=1)"
    assert "{file}" in render("cli.unreadable", {"cause": "c"})
