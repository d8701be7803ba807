"""The host module beside a program (`CLI-2`): found, imported, asked for what it builds."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from agentl.errors import RuntimeAgentError
from agentl.language.nodes import Agent, Program


@dataclass(frozen=True)
class Provided:
    """What a host module gives: a host (or one per agent), a model or ``None``, and extras or ``None``."""

    host: Any
    llm: Any = None
    extra: Any = None


def load_host(program_file: Path, program: Program) -> Provided:
    """The host that stands beside ``program_file``.

    Raises:
        RuntimeAgentError: there is none, it fails, or it gives no host (`CLI-2`).
    """
    file = program_file.with_suffix(".py")
    if not file.is_file():
        raise RuntimeAgentError(code="cli.no_host", program=str(program_file), host=str(file))
    provided = _provided(_import(file), file)
    _check(provided.host, program, file)
    return provided


def host_for(provided: Any, agent: Agent) -> Any:
    """The host (or model) of one agent: its own when the module gives one per agent."""
    return provided.get(agent.name) if isinstance(provided, Mapping) else provided


def _import(file: Path) -> ModuleType:
    name = f"agentl_host_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise RuntimeAgentError(code="cli.host_failed", file=str(file), line=0, error="import")
    module = importlib.util.module_from_spec(spec)
    # A host may import what lies beside it, now or while a tool runs.
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[name] = module
    writes_bytecode = sys.dont_write_bytecode
    # Bytecode is found by second and size: a host that was edited twice within a second could run
    # in its older form. Which code acts on the world must never depend on that.
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise _failure(file, error) from error
    finally:
        sys.dont_write_bytecode = writes_bytecode
    return module


def _provided(module: ModuleType, file: Path) -> Provided:
    build = getattr(module, "build", None)
    if build is None:
        if not hasattr(module, "host"):
            raise RuntimeAgentError(code="cli.host_without_build", file=str(file))
        return Provided(module.host, getattr(module, "llm", None))
    if not callable(build):
        raise RuntimeAgentError(code="cli.host_without_build", file=str(file))
    try:
        built = build()
    except (Exception, SystemExit) as error:
        raise _failure(file, error) from error
    if not isinstance(built, tuple):
        return Provided(built)
    if not 1 <= len(built) <= 3:
        raise RuntimeAgentError(code="cli.host_shape", file=str(file), given=f"tuple[{len(built)}]")
    return Provided(*built)


def _check(host: Any, program: Program, file: Path) -> None:
    hosts = list(host.values()) if isinstance(host, Mapping) else [host]
    for one in hosts:
        if not (callable(getattr(one, "invoke", None)) and callable(getattr(one, "read", None))):
            raise RuntimeAgentError(code="cli.host_shape", file=str(file), given=type(one).__name__)
    if isinstance(host, Mapping):
        unknown = [str(name) for name in host if name not in {agent.name for agent in program.agents}]
        if unknown:
            raise RuntimeAgentError(code="cli.unknown_hosts", names=", ".join(unknown), file=str(file))


def _failure(file: Path, error: BaseException) -> RuntimeAgentError:
    """The error of a host module as a package error that names the line in it."""
    line = 0
    if isinstance(error, SyntaxError) and error.filename == str(file):
        line = error.lineno or 0
    else:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno or 0 for frame in reversed(frames) if frame.filename == str(file)), 0)
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    shown = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return RuntimeAgentError(code="cli.host_failed", file=str(file), line=line, error=shown)
