"""The wordings: one module per area, each a table of code → (French, English).

A template names its values in braces (``{target}``); both languages name the same ones
(`MSG-1`), which a test checks. A literal brace is doubled. The texts that the seed
documents show are exact in French, character for character (`MSG-3`).
"""

from __future__ import annotations

from typing import Final

from agentl.catalogue import (
    analysis,
    cli,
    durable,
    kernel,
    language,
    operations,
    park,
    receiver,
    replay,
    runtime,
    tasks,
    worker,
)

CATALOGUE: Final[dict[str, tuple[str, str]]] = {
    **language.TEXTS,
    **kernel.TEXTS,
    **runtime.TEXTS,
    **durable.TEXTS,
    **park.TEXTS,
    **operations.TEXTS,
    **replay.TEXTS,
    **receiver.TEXTS,
    **tasks.TEXTS,
    **analysis.TEXTS,
    **cli.TEXTS,
    **worker.TEXTS,
}
