"""Memory: declared keys, guarded writes, and what is restored from outside (`MEM-1` to `MEM-3`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from agentl.errors import RuntimeAgentError
from agentl.labels import DECLARED_LABEL, MEMORY_LABEL, NONE
from agentl.language.nodes import MemoryWrite
from agentl.runtime.core import Core, opened
from agentl.runtime.drift import REGISTRY_KEY, Drift
from agentl.runtime.trace import frozen
from agentl.state import BUCKETS
from agentl.values import UNDEFINED

SHARED: Final = "SHARED"


class Memory:
    """The memory of one agent: writes follow the declarations, in their order."""

    def __init__(self, core: Core, drift: Drift) -> None:
        self.core = core
        self.drift = drift
        self._last_version: dict[str, int] = {}

    def declare(self) -> None:
        """Every declared key starts as an empty list (`TCK-4`)."""
        spec = self.core.agent.memory
        for bucket, keys in zip(
            BUCKETS, (spec.short_term, spec.long_term, spec.knowledge, spec.shared), strict=True
        ):
            for key in keys:
                self.core.state.set_memory(bucket, key, [], DECLARED_LABEL)

    def update(self) -> None:
        """UPDATE_MEMORY: store a record for each WRITE whose WHEN holds (`MEM-1`)."""
        for write in self.core.agent.memory.writes:
            if self.core.condition(write.when, "context.memory", write.target):
                self._write(write)

    def _write(self, write: MemoryWrite) -> None:
        core = self.core
        record: dict[str, Any] = {}
        label = NONE if write.when is None else core.label(write.when)
        for path in write.store:
            value, value_label = core.state.get_labeled(path)
            label = label | value_label
            if value is not UNDEFINED:
                record[path] = frozen(value)
        if not record:
            return
        records = core.state.memory[write.into].get(write.key)
        if isinstance(records, list) and records and records[-1] == record:
            return
        core.state.append_memory(write.into, write.key, record, label | core.control.label)
        if write.into == SHARED:
            self._shared(write.key, record)
        else:
            core.count("memory_writes")
            core.say("MEMORY", "memory.write", {"bucket": write.into, "key": write.key, "record": record})

    def _shared(self, key: str, record: dict[str, Any]) -> None:
        """A write that other agents read: one version further (`MEM-2`)."""
        core = self.core
        version = core.state.shared_versions[key]
        own = self._last_version.get(key, 0)
        core.fact(f"shared.{key}.version", version)
        core.count("shared_writes")
        core.say("SHARED", "shared.write", {"key": key, "version": version, "record": record})
        if own not in (0, version - 1):
            core.count("shared_conflicts")
            core.say("SHARED", "shared.conflict", {"key": key})
        self._last_version[key] = version

    def seed(self, bucket: str, key: str, records: Iterable[Any]) -> None:
        """Restore records that come from outside, with label MEMORY (`MEM-3`).

        Raises:
            RuntimeAgentError: there is no such compartment.
        """
        if bucket not in BUCKETS:
            raise RuntimeAgentError(code="runtime.bucket", bucket=bucket)
        restored, label = opened(list(records))
        self.core.state.set_memory(bucket, key, restored, MEMORY_LABEL | label)
        if (bucket, key) == ("LONG_TERM", REGISTRY_KEY):
            self.drift.load()


__all__ = ["Memory"]
