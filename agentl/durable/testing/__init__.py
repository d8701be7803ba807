"""The conformance suite of stores: one set of tests that every store passes, also one of your own (`STO-10`).

Needs pytest. Give a fixture ``place`` and inherit what applies::

    pytest.register_assert_rewrite("agentl.durable.testing")  # in conftest.py

    class TestMyStore(StoreConformance, ProcessConformance, TimedLeaseConformance):
        @pytest.fixture
        def place(self, tmp_path):
            return MyPlace(tmp_path)

``docs/stores.md`` says what a store must promise and which class looks at what.
"""

from agentl.durable.testing.basic import StoreConformance
from agentl.durable.testing.places import ELSEWHERE, RUN, Place, entry
from agentl.durable.testing.processes import DiskConformance, ProcessConformance
from agentl.durable.testing.remote import RemoteConformance
from agentl.durable.testing.requests import RequestConformance
from agentl.durable.testing.timed import TimedLeaseConformance

__all__ = [
    "ELSEWHERE",
    "RUN",
    "DiskConformance",
    "Place",
    "ProcessConformance",
    "RemoteConformance",
    "RequestConformance",
    "StoreConformance",
    "TimedLeaseConformance",
    "entry",
]
