"""R40: another spelling of a tool's name is another name, and names that look alike are refused."""

from __future__ import annotations

import pytest

from agentl import Host, Runtime, check_program, parse_source
from tests.field_reports.kit import Ledger, agent_of, blocked

PROGRAM = """
AGENT MAILER {
  TOOL send_mail { INPUT { to: String } }
  POLICY { DEFAULT ALLOW  NEVER send_mail }
}
"""
SPELLINGS = {
    "capitals": "Send_Mail",
    "upper case": "SEND_MAIL",
    "hyphen": "send-mail",
    "trailing space": "send_mail ",
    "leading space": " send_mail",
    "new line": "send_mail\n",
    "cyrillic letter": "send_m\u0430il",
    "full width": "\uff53\uff45\uff4e\uff44\uff3f\uff4d\uff41\uff49\uff4c",
    "zero-width joiner": "send\u200d_mail",
    "soft hyphen": "send\u00ad_mail",
    "ligature": "\ufb01le_mail",
    "dot": "send.mail",
    "star": "*",
    "empty": "",
    "nul": "send_mail\0",
    "lone surrogate": "send_mail\ud83d",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_variant_is_undeclared(ledger: Ledger, spelling: str) -> None:
    """TOL-2, KRN-19: no variant reaches a tool, neither its own nor the one it resembles."""
    name = SPELLINGS[spelling]
    host = Host()
    host.tools["send_mail"] = lambda to: ledger.add("send_mail", to=to)
    host.tools[name] = lambda to: ledger.add("variant", to=to)
    runtime = Runtime(agent_of(PROGRAM), host)
    runtime.call_tool(name, {"to": "a"})
    assert blocked(runtime)
    assert ledger.rows() == []


NOT_NORMAL = sorted(set(SPELLINGS) - {"capitals", "upper case", "cyrillic letter"})


@pytest.mark.parametrize("spelling", NOT_NORMAL)
@pytest.mark.parametrize("registry", ["tool", "subagent", "reconciler"])
def test_a_host_refuses_to_register_it(spelling: str, registry: str) -> None:
    """KRN-19: only identifiers in NFKC form are names; the error says which name."""
    with pytest.raises(ValueError, match=r".") as refused:
        getattr(Host(), registry)(SPELLINGS[spelling])(lambda **_args: {})
    assert getattr(refused.value, "code", "host.name") == "host.name"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("send_mai1", "send_mail"),
        ("pay_all", "pay_a11"),
        ("wipe0", "wipeO"),
        ("sendI", "sendl"),
        ("arn", "am"),
    ],
)
def test_two_tools_that_look_alike_are_an_error_of_the_program(one: str, two: str) -> None:
    """CHK-E020, GRM-29: confusable declared names are refused before anything runs."""
    program = parse_source(f"AGENT ALIKE {{ TOOL {{ {one}, {two} }} POLICY {{ DEFAULT DENY }} }}")
    assert "E020" in {diagnostic.code for diagnostic in check_program(program)}


def test_different_names_are_not_confused() -> None:
    """CHK-E020: and the check does not cry wolf."""
    program = parse_source("AGENT FINE { TOOL { send_mail, read_mail, send_main } POLICY { DEFAULT DENY } }")
    assert "E020" not in {diagnostic.code for diagnostic in check_program(program)}
