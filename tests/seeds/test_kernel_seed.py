"""The seed document on the kernel and its permits: what it shows must be so, character for character."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from agentl import Host
from agentl.kernel import TCB_FILES, PermitError, current_action
from agentl.kernel.testing import dispatch
from tests.support.kernels import authorized, kernel, rule

ROOT = Path(__file__).resolve().parents[2]

PERMIT_ERROR = """
PermitError: invoke `wipe` sans permis d'exécution : seul le noyau AGENT-L
             appelle l'hôte (Kernel.execute)
"""

INVARIANTS = """
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


def test_a_call_without_a_permit_says_what_the_seed_shows() -> None:
    """KRN-14, MSG-3: one line; the seed folds it to fit its page."""
    with pytest.raises(PermitError) as caught:
        Host().invoke("wipe", {"host": "prod-db"})
    shown = f"{type(caught.value).__name__}: {caught.value}"
    assert shown == re.sub(r"\s*\n\s*", " ", PERMIT_ERROR.strip())
    assert "\n" not in shown


def bank() -> Host:
    host = Host()

    @host.tool("transfer", idempotent=True)
    def transfer(amount: Any, to: Any) -> Any:
        ctx = current_action()
        if ctx is None:
            return {"amount": amount, "to": to}
        return {"id": ctx.action_id, "key": ctx.idempotency_key, "attempt": ctx.attempt}

    return host


def test_the_two_ways_to_test_a_tool() -> None:
    """HST-5, KRN-16: the registered function, and the governed call."""
    host = bank()
    result = host.tools["transfer"](amount=100, to="acct-1")
    assert result == {"amount": 100, "to": "acct-1"}
    result = dispatch(host, "transfer", {"amount": 100, "to": "acct-1"})
    assert result["id"] == "test:test:t0:a1"
    assert result["attempt"] == 1


def test_the_key_is_the_same_on_every_resume() -> None:
    """KRN-10, KRN-13: derived from the run and the action, so another process finds it again."""
    keys = {dispatch(bank(), "transfer", {"amount": 100, "to": "acct-1"})["key"] for _ in range(2)}
    assert len(keys) == 1
    other = dispatch(bank(), "transfer", {"amount": 101, "to": "acct-1"})["key"]
    assert other not in keys


def test_the_way_of_an_action() -> None:
    """KRN-3: frozen copy, policy, a second copy for the approver, the permit last."""
    order: list[str] = []

    class Watch:
        def decided(self, request: Any, decision: Any) -> None:
            order.append("policy")

    gate = kernel(rule("REQUIRE_APPROVAL", "transfer"))
    copies: list[Any] = []

    def approver(request: Any) -> bool:
        order.append("approver")
        copies.append(request)
        assert gate.stats["permits"] == 0
        return True

    result = authorized(gate, approve=approver, observer=Watch())
    order.append("permit")
    assert order == ["policy", "approver", "permit"]
    assert result.permit is not None
    assert copies[0].args is not result.permit.args

    def silent(_request: Any) -> bool:
        raise TimeoutError

    assert not authorized(gate, approve=silent).granted


def test_each_invariant_of_the_table_has_its_test_file() -> None:
    """INV-1 to INV-10."""
    rows = re.findall(r"^\| I(\d+) +\| (.+?) +\|$", INVARIANTS, flags=re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 11))
    for number, _ in rows:
        files = list((ROOT / "tests" / "invariants").glob(f"test_i{int(number):02}_*.py"))
        assert len(files) == 1
        assert files[0].read_text(encoding="utf-8").startswith(f'"""I{number}:')


def test_the_trusted_files_are_listed() -> None:
    """KRN-17."""
    assert {"kernel/gate.py", "kernel/permit.py", "kernel/policy.py", "host.py"} <= set(TCB_FILES)
