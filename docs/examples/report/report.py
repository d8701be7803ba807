"""The host of ``report.agent``: a folder of sources, a file to write, a service that notifies.

Both tools may be repeated under the same key, and so a run that was interrupted calls them again:

- ``save`` sets a file to a version; the version is the digest of the text, and the file appears
  whole or not at all;
- ``notify`` sends the key of the action to the service, which keeps it in an inbox (``notifier.py``)
  and answers a second request with the receipt of the first.

``REPORT_SERVICE`` is where the service answers, ``REPORT_FOLDER`` where the report is written, and
``REPORT_READER`` who is told.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentl import Host, MockLLM, Symbol
from agentl.kernel import InvalidArguments, NotExecuted, current_action

SOURCES = {
    "1": "Rivers carried 4 percent less water in the dry year.",
    "2": "The reservoir was filled to 61 percent in March.",
}
DRAFT = "# Water\n\nRivers carried less water [1], and the reservoir was not full [2].\n"
TIMEOUT = 60.0


def post(address: str, body: dict[str, Any], key: str) -> dict[str, Any]:
    """Ask the service for something, under a key.

    A refusal of the service is known to have done nothing; silence is not, and stays unknown.
    """
    headers = {"Content-Type": "application/json", "Idempotency-Key": f'"{key}"'}
    request = urllib.request.Request(address, data=json.dumps(body).encode(), headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            found: dict[str, Any] = json.load(answer)
            return found
    except urllib.error.HTTPError as refusal:
        reason = json.load(refusal).get("detail", refusal.reason)
        if refusal.code in {400, 410, 422}:
            raise InvalidArguments(reason) from None
        if refusal.code == 409:
            raise NotExecuted(reason) from None
        raise


def write_whole(file: Path, text: str) -> None:
    """Set ``file`` to ``text``: after a crash it holds the old version or the new one, never a part."""
    draft = file.with_suffix(".draft")
    with draft.open("w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    draft.replace(file)


def build(point: Callable[[str], None] = lambda _name: None) -> tuple[Host, MockLLM]:
    """The host, and the model: here one that gives a scripted draft.

    Args:
        point: called at the named moments ``save:before``, ``save:after``, ``notify:before`` and
            ``notify:after``; a test kills the process there.
    """
    service = os.environ.get("REPORT_SERVICE", "http://127.0.0.1:8766").rstrip("/")
    folder = Path(os.environ.get("REPORT_FOLDER", "."))
    reader = os.environ.get("REPORT_READER", "reader@example.org")
    report = folder / "report.md"
    host = Host()
    host.sensor("sources.text")(lambda: [f"[{number}] {text}" for number, text in SOURCES.items()])
    host.sensor("reader.address")(lambda: reader)

    @host.sensor("report.saved")
    def saved() -> Symbol:
        return Symbol("yes" if report.is_file() else "no")

    @host.sensor("report.cited")
    def cited() -> Symbol:
        found = re.findall(r"\[(\d+)\]", report.read_text(encoding="utf-8")) if report.is_file() else []
        return Symbol("yes" if found and all(number in SOURCES for number in found) else "no")

    @host.sensor("reader.notified")
    def notified() -> Symbol:
        with urllib.request.urlopen(f"{service}/notifications", timeout=TIMEOUT) as answer:
            return Symbol("yes" if any(one["to"] == reader for one in json.load(answer)) else "no")

    @host.tool("save", idempotent=True)
    def save(name: str, text: str) -> dict[str, Any]:
        point("save:before")
        write_whole(folder / Path(name).name, text)
        point("save:after")
        return {"version": hashlib.sha256(text.encode()).hexdigest()[:12]}

    @host.tool("notify", idempotent=True)
    def notify(to: str, version: str) -> dict[str, Any]:
        point("notify:before")
        body = {"to": to, "version": version}
        answer = post(f"{service}/notifications", body, current_action().idempotency_key)
        point("notify:after")
        return {"receipt": str(answer["receipt"])}

    return host, MockLLM({"write the report": {"text": DRAFT}})
