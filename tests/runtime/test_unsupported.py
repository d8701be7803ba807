"""Programs that this version cannot run say so before the first tick."""

from __future__ import annotations

import pytest

from agentl.errors import RuntimeAgentError
from agentl.host import Host
from agentl.language.parser import parse_source
from agentl.messages import set_language
from agentl.runtime.unsupported import unsupported
from tests.support.running import agent_of, start


@pytest.mark.parametrize(
    ("body", "code", "named"),
    [
        ("HYPOTHESIS theft { PRIOR 0.1 EVIDENCE { a.b == 1 } }", "runtime.hypothesis", "theft"),
        ("PLANNER { ENABLE }", "runtime.planner", "T"),
        ("LOOP MAX 1 { SYNTHESIZE }", "runtime.phase", "SYNTHESIZE"),
        ("POLICY { DEFAULT DENY REQUIRE APPROVAL FOR t BY treasury } TOOL t {}", "apr.no_ring", "treasury"),
        ("MEMORY { WRITE { STORE a.b INTO ELSEWHERE.k } }", "runtime.bucket", "ELSEWHERE"),
    ],
)
def test_a_program_that_needs_what_is_missing_is_refused_at_once(body: str, code: str, named: str) -> None:
    """`TCK-4`, `TCK-8`: one clear sentence that names what is meant, in both languages, and nothing runs."""
    with pytest.raises(RuntimeAgentError) as refused:
        start(body)
    assert refused.value.code == code
    for language in ("fr", "en"):
        set_language(language)
        assert named in str(refused.value)
        assert "{" not in str(refused.value)


def test_several_agents_are_a_society() -> None:
    """`TCK-4`: the function of the command line and of durable runs."""
    program = parse_source("AGENT ONE { } AGENT TWO { }")
    problem = unsupported(program)
    assert problem is not None
    assert problem.code == "runtime.society"
    assert "ONE, TWO" in str(problem)


def test_a_key_ring_that_the_host_has_is_no_obstacle() -> None:
    """`GRM-10`."""
    agent = agent_of("POLICY { DEFAULT DENY REQUIRE APPROVAL FOR t BY treasury } TOOL t {}")
    host = Host()
    host.key_rings["treasury"] = object()
    assert unsupported(agent, host) is None
    assert unsupported(agent) is None


def test_an_ordinary_program_is_supported() -> None:
    """`TCK-4`: scenarios are declarations that a run does not need."""
    assert unsupported(parse_source("AGENT ONE { SCENARIO s { EXPECT { 1 == 1 } } }")) is None
