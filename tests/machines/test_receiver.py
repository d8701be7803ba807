"""The receiver beside what it must do, at random; and each fault of its model, planted in the code.

`RCV-1` to `RCV-6`, `RCV-8`, `RCV-9`; the names of the rules are the actions of ``formal/Receiver.tla``.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.support.receiver_driver import driver_in
from tests.support.receiver_mutants import CODE, SCRIPTS

ROOT = Path(__file__).resolve().parents[2]
KEYS = st.sampled_from(["a", "b", "c"])
AMOUNTS = st.sampled_from([1, 1, 1, 2])


class Receiver(RuleBasedStateMachine):
    """Requests that repeat, race, differ and die; messages that are delivered once or twice."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.driver = driver_in(self.folder)

    def teardown(self) -> None:
        self.driver.close()
        shutil.rmtree(self.folder)

    def nobody_inside(self) -> bool:
        return self.driver.expected.held is None

    @rule(key=KEYS, amount=AMOUNTS)
    def request(self, key: str, amount: int) -> None:
        self.driver.request(key, amount)

    @rule(key=KEYS, amount=AMOUNTS, point=st.sampled_from(["before", "behind"]))
    def dies(self, key: str, amount: int, point: str) -> None:
        self.driver.dies(key, amount, point)

    @rule(key=KEYS, amount=AMOUNTS)
    def fails(self, key: str, amount: int) -> None:
        self.driver.fails(key, amount)

    @rule(key=KEYS, amount=AMOUNTS)
    def opens(self, key: str, amount: int) -> None:
        self.driver.open(key, amount)

    @precondition(lambda self: not self.nobody_inside())
    @rule()
    def finishes(self) -> None:
        self.driver.finish()

    @precondition(lambda self: not self.nobody_inside())
    @rule()
    def abandons(self) -> None:
        self.driver.abandon()

    @precondition(nobody_inside)
    @rule()
    def expires(self) -> None:
        self.driver.expire()

    @precondition(nobody_inside)
    @rule(dies=st.booleans())
    def delivers(self, dies: bool) -> None:
        self.driver.deliver(dies=dies)

    @precondition(nobody_inside)
    @rule()
    def never_leaves(self) -> None:
        self.driver.never_leaves()


TestReceiver = Receiver.TestCase


def test_every_fault_of_the_model_has_its_twin() -> None:
    """`RCV-1` to `RCV-9`: none of ``formal/MutReceiver.tla`` is left out."""
    text = (ROOT / "formal" / "MutReceiver.tla").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^(\w+)(?:\(\w+\))? ==", text, re.MULTILINE)) == sorted(CODE)


def test_the_scripts_hold_for_the_code_as_it_is(tmp_path: Path) -> None:
    """`RCV-1` to `RCV-9`: a script that failed here would see faults everywhere."""
    for number, script in enumerate(SCRIPTS):
        folder = tmp_path / str(number)
        folder.mkdir()
        driver = driver_in(folder)
        script(driver)
        driver.close()


@pytest.mark.parametrize("name", sorted(CODE))
def test_the_twin_is_caught(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`RCV-1` to `RCV-9`: the same fault as in the model, planted in the code."""
    plant, script = CODE[name]
    plant(monkeypatch)
    driver = driver_in(tmp_path)
    with pytest.raises(AssertionError):
        script(driver)
    driver.close()
