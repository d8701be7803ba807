"""The page "Noyau et permis", line by line: its messages, its snippets, its table of invariants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import agentl
from agentl import Host, Runtime, Symbol, parse_source
from agentl.kernel import TCB_FILES, PermitError, current_action
from agentl.kernel.testing import dispatch

ROOT = Path(__file__).resolve().parent.parent.parent

NO_PERMIT = "invoke `wipe` sans permis d'exécution : seul le noyau AGENT-L appelle l'hôte (Kernel.execute)"

INVARIANTS = """\
| I1  | aucune action n’atteint l’hôte sans permis émis par le noyau       |
| I2  | `NEVER` ne se contourne jamais, ni par approbation, ni par `ALLOW` |
| I3  | une garde indéterminée ne crée jamais une autorisation             |
| I4  | une donnée non fiable ne masque pas une donnée fiable              |
| I5  | le LLM ne peut désigner qu’un plan déclaré                         |
| I6  | une action approuvée est exactement celle qui s’exécute            |
| I7  | le rejeu ne crée aucune action absente du journal d’origine        |
| I8  | la provenance d’une donnée survit à ses transformations            |
| I9  | un crash suivi d’une reprise ne double pas un effet                |
| I10 | une sortie du modèle n’est jamais une autorité                     |
"""


def a_bank() -> tuple[Host, list[tuple[Any, ...]]]:
    host, booked = Host(), []

    @host.tool("transfer", idempotent=True)
    def transfer(amount: int, to: str) -> dict[str, Any]:
        booked.append((amount, to))
        return {"status": Symbol("booked")}

    return host, booked


def test_no_permit_no_call() -> None:
    """`KRN-14`: the message of the page, character for character, and nothing was called."""
    host, called = Host(), []
    host.tool("wipe")(lambda host: called.append(host))
    with pytest.raises(PermitError) as refused:
        host.invoke("wipe", {"host": "prod-db"})
    assert str(refused.value) == NO_PERMIT
    assert called == []


def test_a_permit_for_other_arguments_is_none() -> None:
    """« Sans lui, ou avec un permis émis pour d'autres arguments, ils lèvent `PermitError` » (`KRN-14`)."""
    host, _ = a_bank()
    refused: list[BaseException] = []

    @host.tool("wipe")
    def wipe(target: str) -> dict[str, Any]:
        # Inside an authorised call, the permit in force covers that call and no other.
        for name, args in (("wipe", {"target": "prod-db"}), ("transfer", {"amount": 1, "to": "x"})):
            with pytest.raises(PermitError) as error:
                host.invoke(name, args)
            refused.append(error.value)
        return {}

    dispatch(host, "wipe", {"target": "test-db"})
    assert len(refused) == 2


def test_two_ways_to_test_a_tool() -> None:
    """« Tester un outil » : the registered function alone, or with a real kernel (`HST-5`)."""
    host, booked = a_bank()
    assert host.tools["transfer"](amount=100, to="acct-1") == {"status": Symbol("booked")}
    assert dispatch(host, "transfer", {"amount": 100, "to": "acct-1"}) == {"status": Symbol("booked")}
    assert booked == [(100, "acct-1")] * 2


def test_the_context_of_the_action() -> None:
    """« ctx.action_id, ctx.idempotency_key, ctx.attempt » (`KRN-13`)."""
    host, seen = Host(), []

    @host.tool("transfer", idempotent=True)
    def transfer(amount: int, to: str) -> dict[str, Any]:
        seen.append(current_action())
        return {}

    dispatch(host, "transfer", {"amount": 1, "to": "a"})
    assert seen[0].action_id
    assert seen[0].idempotency_key
    assert seen[0].attempt == 1


APPROVED = """\
AGENT payer {
  TOOL transfer { INPUT { amount: Int, to: String } RISK HIGH }
  POLICY { DEFAULT ALLOW REQUIRE APPROVAL FOR transfer }
  PLAN pay WHEN 1 == 1 { transfer(amount: 100, to: "acct-1") }
  LOOP MAX 1 { SELECT_PLAN EXECUTE }
}
"""


def run_with(approver: Any) -> tuple[list[tuple[Any, ...]], Any]:
    host, booked = a_bank()
    host.approver = approver
    agent = parse_source(APPROVED).agents[0]
    runtime = Runtime(agent, host)
    runtime.run()
    return booked, runtime


def test_the_approver_gets_another_copy() -> None:
    """« L'approbateur reçoit une seconde copie » : what he does to it changes nothing (`APR-3`, I6)."""

    def approver(request: Any) -> bool:
        request.args["amount"] = 1_000_000
        return True

    assert run_with(approver)[0] == [(100, "acct-1")]


def test_an_exception_of_the_approver_is_a_refusal() -> None:
    """« Une exception de l'approbateur vaut refus, jamais accord » (`APR-2`)."""

    def approver(_request: Any) -> bool:
        raise RuntimeError("nobody home")

    booked, runtime = run_with(approver)
    assert booked == []
    assert runtime.metrics["blocked"] == 1


def test_every_invariant_has_its_file() -> None:
    """« un test par invariant » : I1 to I10, one file each (`INV-1` to `INV-10`)."""
    rows = [line.split("|")[1].strip() for line in INVARIANTS.splitlines()]
    assert rows == [f"I{number}" for number in range(1, 11)]
    files = sorted(path.name for path in (ROOT / "tests" / "invariants").glob("test_i*.py"))
    assert [name[:8] for name in files] == [f"test_i{number:02}" for number in range(1, 11)]


def test_the_trusted_files_are_listed() -> None:
    """« La liste des fichiers de confiance est `agentl.kernel.TCB_FILES` » (`KRN-17`)."""
    package = Path(agentl.__file__).parent
    assert TCB_FILES
    assert [name for name in TCB_FILES if not (package / name).is_file()] == []


def test_the_formal_check_is_where_the_page_says() -> None:
    """« python3 tools/check_formal.py » and « Voir docs/formal/README.md »."""
    assert (ROOT / "tools" / "check_formal.py").is_file()
    assert (ROOT / "docs" / "formal" / "README.md").is_file()
