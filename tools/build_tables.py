"""Write ``agentl/language/tables.json`` again from the grammar; ``--check`` only says whether it is fresh."""

from __future__ import annotations

import json
import sys

from agentl.language import tables


def main() -> int:
    """Build, compare, write. Exit code 1 when ``--check`` finds a stale file."""
    made = tables.build(tables.GRAMMAR_FILE.read_text(encoding="utf-8"))
    text = json.dumps(made, separators=(",", ":"), ensure_ascii=True) + "\n"
    fresh = tables.TABLES_FILE.exists() and tables.TABLES_FILE.read_text(encoding="utf-8") == text
    if "--check" in sys.argv[1:]:
        print(
            "the parse tables are fresh" if fresh else "the parse tables are stale: run tools/build_tables.py"
        )
        return 0 if fresh else 1
    tables.TABLES_FILE.write_text(text, encoding="utf-8")
    print(f"{len(made['shifts'])} states, {len(made['rules'])} rules, {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
