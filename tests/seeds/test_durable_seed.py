"""The page "Exécution durable", line by line: what it shows is what a program prints.

The quoted French texts are those of the seed document, character for character; only what the
document itself treats as a value (a run id, a folder) may differ, and here even that is the same.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.bank import RUN_ID, Payments, payments
from tests.support.command import Ended, here

# On one worker: the two crashes are told once for all the tests here.
pytestmark = [pytest.mark.real_kill, pytest.mark.xdist_group("durable_seed")]

STARTED = "→ exécution durable 6c463a7a4312 : runs/payments/wal.jsonl"
RESUMED = """\
↻ reprise de l'exécution durable 6c463a7a4312 : 12 entrée(s) journalisée(s), re-dérivées sans effet
  intention sans résultat : transfer (6c463a7a4312:payments:t1:a1) — sera tranchée
  ↻ transfer (6c463a7a4312:payments:t1:a1) : relancée avec la même clé d'idempotence
"""


class Story(NamedTuple):
    """One crash and one resume, told by what the commands printed and what the bank holds."""

    place: Payments
    first: str
    crashed: Path
    pending: Any
    resumed: Ended
    after: Any
    ledger: Any


def tell(folder: Path, hold: str) -> Iterator[Story]:
    with payments(folder, hold=hold) as place:
        first = place.run_and_kill()
        crashed = folder / "crashed"
        shutil.copytree(folder / "runs" / "payments", crashed)
        pending = place.agentl("durable", "status", "runs/payments", "--json").data
        resumed = place.run()
        after = place.agentl("durable", "status", "runs/payments", "--json").data
        yield Story(place, first, crashed, pending, resumed, after, place.ledger())


@pytest.fixture(scope="module")
def transfer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    yield from tell(tmp_path_factory.mktemp("transfer"), "transfers")


@pytest.fixture(scope="module")
def notify(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    yield from tell(tmp_path_factory.mktemp("notify"), "messages")


@pytest.fixture(scope="module")
def fee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    yield from tell(tmp_path_factory.mktemp("fee"), "fees")


def entries(folder: Path) -> list[dict[str, Any]]:
    # A killed driver leaves the room that it had laid out ahead as zero bytes (`STO-5`).
    written = (folder / "wal.jsonl").read_bytes().rstrip(b"\0")
    return [json.loads(line) for line in written.splitlines()]


def test_the_first_screen(transfer: Story) -> None:
    """`DCL-1`: « → exécution durable 6c463a7a4312 : runs/payments/wal.jsonl »."""
    assert transfer.first.splitlines()[0] == STARTED


def test_the_second_screen(transfer: Story) -> None:
    """`DCL-1`: the three lines of the resume, and nothing else on stderr."""
    assert transfer.resumed.code == 0
    assert transfer.resumed.err == RESUMED


def test_the_same_command_starts_and_resumes(transfer: Story) -> None:
    """« La même commande démarre et reprend » : new, interrupted or completed is what the journal says."""
    assert transfer.pending["status"] == "interrupted"
    assert [one["action_id"] for one in transfer.pending["pending"]] == [f"{RUN_ID}:payments:t1:a1"]
    assert transfer.after["status"] == "completed"
    again = transfer.place.run()
    assert again.code == 0
    assert "re-dérivées" not in again.err
    assert transfer.place.ledger() == transfer.ledger


def test_the_protocol_of_an_action(transfer: Story) -> None:
    """`DUR-5`: « intention (id, clé, condensat) » is on disk before the tool, the result right after it."""
    before, after = entries(transfer.crashed), entries(transfer.place.folder / "runs" / "payments")
    intent = before[-1]
    assert intent["kind"] == "intent"
    assert {"action_id", "key", "hash"} <= set(intent["args"])
    kinds = [entry["kind"] for entry in after[len(before) :]]
    assert kinds[:3] == ["resume", "resolution", "invoke"]
    assert "checkpoint" in kinds
    assert [entry["h"] for entry in after[: len(before)]] == [entry["h"] for entry in before]


def test_exactly_once_when_idempotent(transfer: Story) -> None:
    """« interrompue, outil idempotent ou réconciliable : exactement une fois »."""
    assert [one["how"] for one in transfer.after["resolutions"]] == ["retry"]
    key = entries(transfer.crashed)[-1]["args"]["key"]
    assert [entry["key"] for entry in transfer.ledger["transfers"]] == [key]


def test_exactly_once_when_reconcilable(notify: Story) -> None:
    """« Réconciliateur : on demande au monde » ; the letter was sent, so its result is journalled."""
    assert [one["how"] for one in notify.after["resolutions"]] == ["reconciled"]
    assert len(notify.ledger["messages"]) == 1
    assert notify.resumed.code == 0


def test_at_most_once_and_declared_without_a_promise(fee: Story) -> None:
    """« interrompue, sans promesse de l'hôte : au plus une fois, déclarée indéterminée »."""
    assert [one["how"] for one in fee.after["resolutions"]] == ["in_doubt"]
    assert fee.ledger["fees"] == [5]
    assert fee.resumed.code == 5
    assert [one["target"] for one in fee.after["in_doubt"]] == ["fee"]


def test_in_doubt_marks_the_side_effects_and_presumes_nothing(fee: Story) -> None:
    """« Le runtime ne présume aucun EFFECT … et pose tools.<outil>.in_doubt = true »."""
    trace = [event["code"] for event in fee.place.run("--json").data["trace"]]
    assert "tool.in_doubt" in trace


def test_a_journalled_result_never_runs_again(fee: Story) -> None:
    """« résultat journalisé : l'action ne se ré-exécute jamais » : transfer, notify came before."""
    assert len(fee.ledger["transfers"]) == 1
    assert len(fee.ledger["messages"]) == 1


def test_status_shows_chain_pending_and_resolutions(transfer: Story, tmp_path: Path) -> None:
    """`durable status DIR` : « état sans reprendre : chaîne, intentions en suspens, résolutions »."""
    run = tmp_path / "run"
    shutil.copytree(transfer.crashed, run)
    before = (run / "wal.jsonl").read_bytes()
    shown = here("durable", "status", run)
    assert shown.code == 0
    assert f"{RUN_ID}:payments:t1:a1" in shown.out
    assert entries(run)[-1]["h"][:12] in shown.out
    assert (run / "wal.jsonl").read_bytes() == before
    done = here("durable", "status", transfer.place.folder / "runs" / "payments")
    assert "  ↻ transfer : relancée avec la même clé d'idempotence" in done.out.splitlines()


def test_export_gives_a_journal_that_replays(transfer: Story, tmp_path: Path) -> None:
    """`durable export DIR [-o F]` : « journal de rejeu standard d'une exécution terminée »."""
    run, file = transfer.place.folder / "runs" / "payments", tmp_path / "journal.json"
    assert here("durable", "export", run, "-o", file).code == 0
    replayed = here("replay", file, "--source", transfer.place.folder / "payments.agent", "--quiet")
    assert replayed.code == 0, replayed.err
    assert replayed.out.splitlines()[-1].startswith("✔ ")
    unfinished = here("durable", "export", transfer.crashed, "-o", tmp_path / "no.json")
    assert unfinished.code == 1
    assert not (tmp_path / "no.json").exists()


def test_durable_and_record_exclude_each_other(transfer: Story) -> None:
    """« --durable et --record s'excluent : un journal durable s'exporte »."""
    ended = transfer.place.run("--record", "journal.json")
    assert ended.code == 2
    assert "--durable" in ended.err
    assert "--record" in ended.err
    assert "agentl durable export" in ended.err


def resume_after(story: Story, folder: Path, damage: str) -> Ended:
    """Resume a copy of the crashed run after something was done to it."""
    shutil.copytree(story.crashed, folder / "runs" / "payments")
    for name in ("payments.agent", "payments.py"):
        shutil.copy(story.place.folder / name, folder / name)
    wal, program = folder / "runs" / "payments" / "wal.jsonl", folder / "payments.agent"
    if damage == "program":
        text = program.read_text(encoding="utf-8")
        program.write_text(text.replace("fee(amount: 5)", "fee(amount: 6)"), encoding="utf-8")
    elif damage == "chain":
        wal.write_bytes(wal.read_bytes().replace(b'"acct-1"', b'"acct-2"', 1))
    return Payments(folder, story.place.address).run()


def test_a_changed_program_is_refused(transfer: Story, tmp_path: Path) -> None:
    """`DRF-1`: « le programme a changé depuis le début de cette exécution »."""
    ended = resume_after(transfer, tmp_path, "program")
    assert ended.code == 2
    assert ended.err.startswith("✗ le programme a changé depuis le début de cette exécution")


def test_an_altered_journal_is_refused(transfer: Story, tmp_path: Path) -> None:
    """`DRF-1`: « journal durable altéré au franchissement #n »."""
    ended = resume_after(transfer, tmp_path, "chain")
    assert ended.code == 2
    changed = next(entry["seq"] for entry in entries(transfer.crashed) if entry.get("value") == "acct-1")
    assert ended.err.startswith(f"✗ journal durable altéré au franchissement #{changed}")


def test_an_approval_for_other_arguments_is_a_divergence(transfer: Story, tmp_path: Path) -> None:
    """`DRF-2`: « reprise impossible au franchissement #n », « une approbation pour d'autres arguments ».

    Whoever can write the folder can recompute the chain: it has no key. The resume still compares.
    """
    from agentl.journal.chain import chain_hashes

    shutil.copytree(transfer.crashed, tmp_path / "runs" / "payments")
    for name in ("payments.agent", "payments.py"):
        shutil.copy(transfer.place.folder / name, tmp_path / name)
    forged = entries(transfer.crashed)
    approval = next(entry for entry in forged if entry["kind"] == "approve")
    approval["args"]["hash"] = "0" * 64
    bodies = [{name: value for name, value in entry.items() if name != "h"} for entry in forged]
    chained = zip(bodies, chain_hashes(bodies), strict=True)
    lines = [json.dumps({**body, "h": digest}, ensure_ascii=False) for body, digest in chained]
    (tmp_path / "runs" / "payments" / "wal.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ended = Payments(tmp_path, transfer.place.address).run()
    assert ended.code == 1
    assert f"reprise impossible au franchissement #{approval['seq']}" in ended.err


def test_the_python_interface(tmp_path: Path) -> None:
    """`API-9`, `RES-1`: the snippet of the page, with the three stores that it names."""
    from agentl import MockLLM, parse_source
    from agentl.durable import NOT_EXECUTED, DurableRun, FileStore, MemoryStore, SQLiteStore
    from tests.support.samples import HOST, PROGRAM

    assert NOT_EXECUTED is not None
    space: dict[str, Any] = {}
    exec(HOST, space)
    agent = parse_source(PROGRAM).agents[0]
    for store in (FileStore(tmp_path / "runs"), SQLiteStore(tmp_path / "runs.db", "one"), MemoryStore()):
        host, _ = space["build"]()
        run = DurableRun(agent, host, MockLLM(), store=store)
        runtime = run.run(max_ticks=8)
        assert (run.resumed, run.status, run.journal.resolutions) == (False, "completed", [])
        assert runtime.state.tick == 1


def test_the_guard_of_the_page_is_false_on_a_new_run(transfer: Story) -> None:
    """« tools.<outil>.in_doubt vaut false au démarrage » : the guard does not block a new run."""
    program = (transfer.place.folder / "payments.agent").read_text(encoding="utf-8")
    assert "NEVER transfer WHEN tools.transfer.in_doubt == true" in program
    assert len(transfer.ledger["transfers"]) == 1
