"""The trusted base: it judges every action, and it alone calls a host (`KRN-1` to `KRN-19`, `API-8`).

The names are loaded when they are first used, so that importing one module of the kernel does not
import them all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from agentl.errors import (
        ActionInDoubt,
        Cancelled,
        InvalidArguments,
        KernelAbort,
        NotExecuted,
        PermissionRefused,
        PermitError,
        StoreFailure,
    )
    from agentl.kernel.action import (
        ActionRequest,
        action_digest,
        action_from_tool,
        coerce_inputs,
        typecheck,
    )
    from agentl.kernel.approval import APPROVAL_WORDS, Approval, approval_granted
    from agentl.kernel.gate import Authorization, Kernel
    from agentl.kernel.permit import (
        ActionContext,
        ExecutionPermit,
        activated,
        active_dispatch,
        current_action,
        require_permit,
    )
    from agentl.kernel.policy import policy_digest
    from agentl.values import canonical, canonical_bytes, value_digest

TCB_FILES: Final = (
    "canonical.py",
    "contracts.py",
    "datamodel.py",
    "encoding.py",
    "errors.py",
    "evaluator.py",
    "functions.py",
    "guards.py",
    "host.py",
    "kernel/__init__.py",
    "kernel/action.py",
    "kernel/approval.py",
    "kernel/authorization.py",
    "kernel/control.py",
    "kernel/doubts.py",
    "kernel/execution.py",
    "kernel/gate.py",
    "kernel/ledger.py",
    "kernel/names.py",
    "kernel/names_skeleton.py",
    "kernel/permit.py",
    "kernel/policy.py",
    "kernel/port.py",
    "kernel/protocol.py",
    "kernel/provenance.py",
    "kernel/registry.py",
    "kernel/retry.py",
    "kernel/steps.py",
    "labels.py",
    "language/depth.py",
    "language/digest.py",
    "language/expressions.py",
    "language/nodes.py",
    "language/statements.py",
    "logic.py",
    "paths.py",
    "scope.py",
    "state.py",
    "values.py",
)
"""The files that the guarantees depend on, below the package folder (`KRN-17`)."""

_HOME: Final = {
    "ActionContext": "permit",
    "ActionInDoubt": "errors",
    "ActionRequest": "action",
    "Approval": "approval",
    "APPROVAL_WORDS": "approval",
    "Authorization": "gate",
    "Cancelled": "errors",
    "ExecutionPermit": "permit",
    "InvalidArguments": "errors",
    "Kernel": "gate",
    "KernelAbort": "errors",
    "NotExecuted": "errors",
    "PermissionRefused": "errors",
    "PermitError": "errors",
    "StoreFailure": "errors",
    "action_digest": "action",
    "action_from_tool": "action",
    "activated": "permit",
    "active_dispatch": "permit",
    "approval_granted": "approval",
    "canonical": "values",
    "canonical_bytes": "values",
    "coerce_inputs": "action",
    "current_action": "permit",
    "policy_digest": "policy",
    "require_permit": "permit",
    "typecheck": "action",
    "value_digest": "values",
}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'agentl.kernel' has no attribute {name!r}")
    outside = home in ("errors", "values")
    value = getattr(import_module(f"agentl.{home}" if outside else f"agentl.kernel.{home}"), name)
    globals()[name] = value
    return value


__all__ = [
    "APPROVAL_WORDS",
    "TCB_FILES",
    "ActionContext",
    "ActionInDoubt",
    "ActionRequest",
    "Approval",
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
