"""From a fresh clone to a running demonstration, or to every check, with nothing installed.

    python3 tools/bootstrap.py demo    # a payments agent is killed in mid-transfer, and resumes
    python3 tools/bootstrap.py test    # lint, types, tests, contracts, formal check, traceability

Standard library only. The tools live in ``.venv`` beside ``pyproject.toml``; running this again
reuses it as long as ``pyproject.toml`` has not changed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.bootstrap_checks import run_checks  # noqa: E402 - a script finds its neighbours by itself
from tools.bootstrap_demo import run_demo  # noqa: E402

WANTED_PYTHON = (3, 11)


def venv_python(root: Path = ROOT) -> Path:
    """The interpreter of this checkout's own environment."""
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return root / ".venv" / folder / name


def say(text: str) -> None:
    """One line of what is being done, at once."""
    print(text, flush=True)


def prepare() -> Path:
    """Create the environment and install the package with its development tools, if need be.

    Returns the interpreter. Raises ``SystemExit`` with a clear sentence when that fails.
    """
    python = venv_python()
    stamp = ROOT / ".venv" / "installed-for"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if not python.exists():
        say(f"• creating {python.parent.parent}")
        if _failed([sys.executable, "-m", "venv", str(ROOT / ".venv")]):
            raise SystemExit(
                "✗ this Python cannot create environments; install its venv module "
                "(on Debian: apt-get install python3-venv) and run the command again"
            )
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        say("• the environment is up to date")
        return python
    say("• installing the package and its tools (a minute or two the first time)")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if _failed([*install, "--editable", f"{ROOT}[dev]"]):
        raise SystemExit("✗ the installation failed (see above); is the package index within reach?")
    stamp.write_text(wanted, encoding="utf-8")
    return python


def _failed(command: list[str]) -> bool:
    return subprocess.run(command, check=False).returncode != 0


def main() -> int:
    """The command line; returns the exit code."""
    if sys.version_info < WANTED_PYTHON:
        found = ".".join(str(part) for part in sys.version_info[:3])
        print(f"✗ Python 3.11 or later is needed, this is {found}", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(description="Set up this checkout and use it.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="kill a paying agent at the worst moment, and resume it")
    demo.add_argument("--folder", type=Path, help="where to work (default: a new temporary folder)")
    test = commands.add_parser("test", help="every check of the project")
    test.add_argument("--only", action="append", metavar="STEP", help="only this step (may be repeated)")
    test.add_argument("--list", action="store_true", help="name the steps and end")
    options = parser.parse_args()

    python = prepare()
    if options.command == "demo":
        return run_demo(ROOT, python, options.folder)
    return run_checks(ROOT, python, options.only or [], names_only=options.list)


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
