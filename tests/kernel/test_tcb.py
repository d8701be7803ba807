"""The trusted base: which files, how large, and what they import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import agentl
import agentl.kernel
from agentl.kernel import TCB_FILES

PACKAGE = Path(agentl.__file__).parent

BUDGET = 5130
"""Source lines without blanks, comments and docstrings. Lower it when possible; raise it only with a
decision record (the last one: docs/decisions/0006-questions-outlive-the-process.md)."""

DATA = {"messages", "catalogue"}
"""Prose by code: read by the trusted base as data."""


def source_lines(file: Path) -> int:
    """Lines that are neither blank, nor a comment, nor part of a docstring."""
    text = file.read_text(encoding="utf-8")
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for statement in body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                prose.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return sum(
        1
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.strip().startswith("#") and number not in prose
    )


def test_the_trusted_base_keeps_within_its_budget() -> None:
    """KRN-17."""
    total = sum(source_lines(PACKAGE / name) for name in TCB_FILES)
    assert total <= BUDGET, f"the trusted base has {total} source lines"


def test_every_file_of_the_kernel_is_listed_except_the_test_helper() -> None:
    """KRN-17."""
    assert len(set(TCB_FILES)) == len(TCB_FILES)
    assert all((PACKAGE / name).is_file() for name in TCB_FILES)
    kernel = {f"kernel/{file.name}" for file in (PACKAGE / "kernel").glob("*.py")} - {"kernel/testing.py"}
    assert kernel == {name for name in TCB_FILES if name.startswith("kernel/")}


def modules_of(name: str) -> set[str]:
    return {name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")}


def test_the_trusted_base_imports_itself_the_standard_library_and_icontract() -> None:
    """KRN-17: and nothing optional, inside functions neither."""
    own = set().union(*(modules_of(name) for name in TCB_FILES)) | DATA | {"language"}
    for name in TCB_FILES:
        for node in ast.walk(ast.parse((PACKAGE / name).read_text(encoding="utf-8"))):
            wanted: list[str] = []
            if isinstance(node, ast.Import):
                wanted = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name}: relative import"
                module = str(node.module)
                wanted = [module]
                if module in ("agentl", "agentl.kernel", "agentl.language"):
                    wanted = [f"{module}.{alias.name}" for alias in node.names]
            for module in wanted:
                if module.startswith("agentl."):
                    assert module.removeprefix("agentl.") in own, f"{name} imports {module}"
                else:
                    top = module.split(".")[0]
                    assert top in sys.stdlib_module_names or top == "icontract", f"{name} imports {module}"


def test_loading_the_kernel_loads_no_parser_and_no_event_loop() -> None:
    """KRN-17: start-up is felt, and what is not loaded cannot fail."""
    program = (
        "import sys; import agentl.kernel.gate, agentl.host;"
        "print([m for m in ('lark', 'asyncio', 'typer', 'rich', 'agentl.runtime', 'agentl.language.parser') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = ast.literal_eval(done.stdout)
    assert set(loaded) <= {"asyncio"}  # icontract itself loads asyncio


def test_the_public_names_of_the_kernel() -> None:
    """API-8."""
    wanted = [
        "ActionContext",
        "ActionInDoubt",
        "ActionRequest",
        "Approval",
        "APPROVAL_WORDS",
        "Authorization",
        "Cancelled",
        "ExecutionPermit",
        "InvalidArguments",
        "Kernel",
        "KernelAbort",
        "NotExecuted",
        "PermissionRefused",
        "PermitError",
        "StoreFailure",
        "TCB_FILES",
        "action_digest",
        "action_from_tool",
        "activated",
        "active_dispatch",
        "approval_granted",
        "canonical",
        "canonical_bytes",
        "coerce_inputs",
        "current_action",
        "policy_digest",
        "require_permit",
        "typecheck",
        "value_digest",
    ]
    assert sorted(agentl.kernel.__all__) == sorted(wanted)
    for name in wanted:
        assert getattr(agentl.kernel, name) is not None
    from agentl.kernel import provenance

    for name in (
        "Prov",
        "of",
        "join",
        "NONE",
        "UNKNOWN_LABEL",
        "Labeled",
        "untrusted",
        "unwrap",
        *provenance.SOURCES,
    ):
        assert hasattr(provenance, name)
