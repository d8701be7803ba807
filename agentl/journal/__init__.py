"""The one ordered truth of a run: entries, their lines and their chain (`DUR-3` to `DUR-8`)."""

from agentl.journal.chain import DOMAIN, Chain
from agentl.journal.entry import ANNOTATIONS, KINDS, Entry
from agentl.journal.index import Index
from agentl.journal.journal import DURABLE_FORMAT, Entries, OrderedJournal

__all__ = [
    "ANNOTATIONS",
    "DOMAIN",
    "DURABLE_FORMAT",
    "KINDS",
    "Chain",
    "Entries",
    "Entry",
    "Index",
    "OrderedJournal",
]
