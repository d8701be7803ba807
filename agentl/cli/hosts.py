"""The host module beside a program (`CLI-2`): found, imported, asked for what it builds."""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from agentl.cli.failures import one_line
from agentl.errors import RuntimeAgentError
from agentl.language.nodes import Agent, Program, ReasonStmt


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
    _check_model(provided.llm, file)
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
    folder = str(file.absolute().parent)
    if folder not in sys.path:
        # Behind the standard library, which the runtime goes on loading, before what is installed.
        installed = (place for place, one in enumerate(sys.path) if one.endswith("-packages"))
        sys.path.insert(next(installed, len(sys.path)), folder)
    sys.modules[name] = module
    writes_bytecode = sys.dont_write_bytecode
    # Bytecode is found by second and size: a host that was edited twice within a second could run
    # in its older form. Which code acts on the world must never depend on that.
    sys.dont_write_bytecode = True
    streams = sys.stdout, sys.stderr
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        sys.modules.pop(name, None)
        raise _failure(file, error) from error
    finally:
        sys.dont_write_bytecode = writes_bytecode
        sys.stdout, sys.stderr = streams  # a host may print; where the report goes is not its choice
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
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _failure(file, error) from error
    if inspect.iscoroutine(built):
        built.close()  # or Python warns that nobody waited for it
    if not isinstance(built, tuple):
        return Provided(built)
    if not 1 <= len(built) <= 3:
        raise RuntimeAgentError(code="cli.host_shape", file=str(file), given=f"tuple[{len(built)}]")
    return Provided(*built)


def _check(host: Any, program: Program, file: Path) -> None:
    hosts = list(host.values()) if isinstance(host, Mapping) else [host]
    for one in hosts:
        shaped = callable(getattr(one, "invoke", None)) and callable(getattr(one, "read", None))
        if isinstance(one, type) or not shaped:
            raise RuntimeAgentError(code="cli.host_shape", file=str(file), given=type(one).__name__)
        for kind in ("tools", "sensors", "subagents"):
            offered = getattr(one, kind, None)
            for name, function in offered.items() if isinstance(offered, dict) else ():
                if inspect.iscoroutinefunction(function):
                    # Its call would return before it did anything, and leave an action in doubt.
                    raise RuntimeAgentError(code="cli.host_async", file=str(file), name=str(name))
    if isinstance(host, Mapping):
        unknown = [str(name) for name in host if name not in {agent.name for agent in program.agents}]
        if unknown:
            raise RuntimeAgentError(code="cli.unknown_hosts", names=", ".join(unknown), file=str(file))
        without = [agent.name for agent in program.agents if agent.name not in host]
        if without:
            raise RuntimeAgentError(code="cli.agents_without_host", names=", ".join(without), file=str(file))


def _check_model(llm: Any, file: Path) -> None:
    for one in llm.values() if isinstance(llm, Mapping) else [llm]:
        if one is not None and (isinstance(one, type) or not callable(getattr(one, "reason", None))):
            given = one.__name__ if isinstance(one, type) else type(one).__name__
            raise RuntimeAgentError(code="cli.model_shape", file=str(file), given=given)


def missing_from(provided: Provided, agent: Agent) -> list[tuple[str, dict[str, str]]]:
    """What the program names and the host does not offer: a code and values for each kind.

    Only a host that looks its functions up by name can be judged; another one may find them otherwise.
    """
    from agentl.host import Host
    from agentl.kernel.names import walk

    host = host_for(provided.host, agent)
    found: list[tuple[str, dict[str, str]]] = []
    if type(host) is Host:
        for code, wanted, offered in (
            ("cli.missing_tools", [tool.name for tool in agent.tools], host.tools),
            ("cli.missing_sensors", [observer.path for observer in agent.observers], host.sensors),
        ):
            missing = [_with_near(name, offered) for name in wanted if name not in offered]
            if missing:
                found.append((code, {"names": ", ".join(missing)}))
    asks = any(isinstance(node, ReasonStmt) for node in walk(agent))
    if asks and host_for(provided.llm, agent) is None:
        found.append(("cli.missing_model", {}))
    return found


def _with_near(name: str, offered: Any) -> str:
    near = difflib.get_close_matches(name, sorted(map(str, offered)), n=1)
    return f"{name} (≈ {near[0]})" if near else name


def _failure(file: Path, error: BaseException) -> RuntimeAgentError:
    """The error of a host module as a package error that names the line in it."""
    own = {str(file), str(file.absolute())}
    if isinstance(error, SyntaxError) and error.filename in own:
        line = error.lineno or 0
    else:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno or 0 for frame in reversed(frames) if frame.filename in own), 0)
    said = " ".join(str(error.msg).split()) if isinstance(error, SyntaxError) else one_line(error)
    shown = f"{type(error).__name__}: {said}" if said else type(error).__name__
    code = "cli.host_failed" if line else "cli.host_failed_somewhere"
    return RuntimeAgentError(code=code, file=str(file), line=line, error=shown)
