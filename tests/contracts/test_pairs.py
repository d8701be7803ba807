"""Each contract fires, and each refusal that it mirrors is ordinary code (`KRN-17`).

The cases are played in three other processes: with every contract live, with ``AGENTL_CONTRACTS=off``, and
under ``python -O``. So the pairs are seen whatever the switches of this process are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.contract_cases import CASES
from tests.support.contracted import written

ROOT = Path(__file__).resolve().parents[2]

LIVE = {"AGENTL_CONTRACTS": "on", "AGENTL_CONTRACTS_SLOW": "on", "PYTHONOPTIMIZE": ""}
WITHOUT: dict[str, tuple[list[str], dict[str, str]]] = {
    "off": ([], {"AGENTL_CONTRACTS": "off", "PYTHONOPTIMIZE": ""}),
    "-O": (["-O"], {"AGENTL_CONTRACTS": "on"}),
}


def played(flags: list[str], switches: dict[str, str]) -> dict[str, Any]:
    """What every case comes to in a process of its own."""
    done = subprocess.run(
        [sys.executable, *flags, "-m", "tests.support.contract_cases"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **switches},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.fixture(scope="module")
def live() -> dict[str, Any]:
    report = played([], LIVE)
    assert report["enabled"]
    return report


@pytest.fixture(scope="module", params=WITHOUT)
def without(request: pytest.FixtureRequest) -> dict[str, Any]:
    report = played(*WITHOUT[request.param])
    assert not report["enabled"]
    assert report["debug"] == (request.param == "off")
    assert report["fires"] == {}
    return report


def test_no_contract_is_without_its_pair(live: dict[str, Any]) -> None:
    """KRN-17: what icontract keeps, what the text says, and the cases below are the same contracts."""
    assert sorted(live["fires"]) == sorted(CASES)
    assert len(written()) == len(CASES), written()


@pytest.mark.parametrize("key", CASES)
def test_the_contract_fires(key: str, live: dict[str, Any]) -> None:
    """KRN-3, KRN-10 to KRN-13, APR-6, POL-2, DUR-6, DUR-8, TOL-3, TOL-8, RES-6, RES-8, RES-9, STO-6."""
    found = live["fires"][key]
    broken = f"ContractBroken {found['clause']}"
    with_the_others, alone = found["fired"]
    assert alone == broken
    # An earlier contract of the same function may see the fault first; that is a contract, too.
    assert with_the_others.startswith("ContractBroken")


@pytest.mark.parametrize("key", CASES)
def test_the_refusal_needs_no_contract(key: str, without: dict[str, Any]) -> None:
    """KRN-15, KRN-17: the same call, or its neighbour, is refused by ordinary code."""
    assert without["refuses"][key] == CASES[key].answer


@pytest.mark.parametrize("key", [key for key, case in CASES.items() if case.wrong is not None])
def test_contracts_change_no_answer(key: str, live: dict[str, Any]) -> None:
    """KRN-17: what is refused on the safe side without contracts is refused the same with them."""
    before = live["refuses"][key]
    assert before == CASES[key].answer or before.startswith("ContractBroken")
