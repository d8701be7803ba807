"""All durable runs of one place (`OPS-2`)."""

from agentl.durable.collections.base import Collection, KeptStore, RunNote

__all__ = ["Collection", "KeptStore", "RunNote"]
