"""R10: a run that cannot be resumed says so, keeps the reason, and is not tried again for ever."""

from __future__ import annotations

import pytest

from agentl import Host
from agentl.durable import DurableError
from tests.field_reports.kit import Kill, Ledger, Place, command, drive, in_child

PROGRAM = """
AGENT STEPS {
  TOOL first { INPUT { n: Number } }
  TOOL second { INPUT { n: Number } }
  TOOL other { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN tools.first.calls == 0 { first(n: 1) second(n: 2) }
}
"""
CHANGES = {
    "another tool": ("second(n: 2) }", "other(n: 2) }"),
    "another argument": ("second(n: 2) }", "second(n: 3) }"),
    "another order": ("first(n: 1) second(n: 2)", "second(n: 2) first(n: 1)"),
    "a stricter policy": ("DEFAULT ALLOW", "DEFAULT ALLOW NEVER second"),
    "a step less": ("first(n: 1) second(n: 2)", "second(n: 2)"),
}


def world(ledger: Ledger) -> Host:
    host = Host()
    for name in ("first", "second", "other"):

        def call(n: float, name: str = name) -> dict[str, str]:
            ledger.add(name, n=n)
            return {}

        host.tool(name)(call)
    return host


@pytest.mark.real_kill
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_program_is_refused_with_the_reason(place: Place, ledger: Ledger, change: str) -> None:
    """DRF-1, DUR-13: refused before any call, again at every try; the journal stays as it was."""
    assert in_child(lambda: drive(place, PROGRAM, world(ledger), kill=Kill("after", "invoke", 1))).killed
    before = place.entries()
    changed = PROGRAM.replace(*CHANGES[change])
    assert changed != PROGRAM
    for _ in range(2):
        with pytest.raises(DurableError) as refused:
            drive(place, changed, world(ledger))
        assert refused.value.code == "durable.program_changed"
        assert str(refused.value).startswith("le programme a changé depuis le début de cette exécution")
    assert ledger.tools() == ["first"]
    assert place.entries() == before
    assert in_child(lambda: drive(place, PROGRAM, world(ledger)).status).ok() == "completed"
    assert ledger.tools() == ["first", "second"]


@pytest.mark.real_kill
def test_status_alone_tells_that_the_run_needs_attention(tmp_path, ledger: Ledger) -> None:
    """DUR-13, DCL-3: from the status command: refused, with the reason; and an end of its own kind."""
    place = Place("file", tmp_path)
    assert in_child(lambda: drive(place, PROGRAM, world(ledger), kill=Kill("after", "invoke", 1))).killed
    with pytest.raises(DurableError):
        drive(place, PROGRAM.replace("second(n: 2) }", "other(n: 2) }"), world(ledger))
    shown = command("durable", "status", str(place.path / "run"), cwd=tmp_path, lang="fr")
    assert shown.returncode == 0, shown.stderr
    assert "le programme a changé depuis le début de cette exécution" in shown.stdout
    as_json = command("durable", "status", str(place.path / "run"), "--json", cwd=tmp_path)
    assert '"refused"' in as_json.stdout
    assert "Traceback" not in shown.stderr + as_json.stderr
