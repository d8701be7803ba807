"""Runs that wait for a worker (`WRK-1`)."""

from agentl.durable.queue.jobs import Job

__all__ = ["Job"]
