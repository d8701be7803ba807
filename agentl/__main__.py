"""``python -m agentl`` and the console script ``agentl`` (`CLI-1`)."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; returns the exit code.

    ``--version`` is answered before anything is imported: it is what people and scripts ask most.
    """
    _forget_working_directory()
    if sys.argv[1:] == ["--version"]:
        from agentl import __version__

        sys.stdout.write(f"agentl {__version__}\n")
        return 0
    from agentl.cli.app import main as run

    return run()


def _forget_working_directory() -> None:
    """With ``-m`` Python looks into the working directory first: a host ``json.py`` would be its ``json``."""
    package = __file__.replace("\\", "/").rsplit("/", 2)[0]
    if __name__ == "__main__" and not sys.flags.safe_path and sys.path[0].replace("\\", "/") != package:
        del sys.path[0]


if __name__ == "__main__":
    sys.exit(main())
