"""The folder of the project and its git history: the checkpoints of ``coder.agent``.

Everything that changes the folder happens under one lock, and every git process inherits it. An agent
that is killed leaves the git process it had started behind; the lock then stays taken until that process
has ended. Whoever comes next therefore sees a finished commit or none, never one that is still to come.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from agentl.kernel import InvalidArguments

SETTINGS = {
    "user.name": "coder",
    "user.email": "coder@example.invalid",
    "commit.gpgsign": "false",
    "core.autocrlf": "false",
    "core.fsync": "all",  # what the journal records as done must still be there after a power cut
    "core.hooksPath": os.devnull,
    "gc.auto": "0",
    "init.defaultBranch": "main",
    "maintenance.auto": "false",
}
"""Given with every command: neither the configuration of the machine nor hooks have a say."""

ACTION = "Action"
"""The trailer of a commit that names the action which made it."""


class Repository:
    """One project folder; its history never leaves it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.store = self.folder / ".git"
        self.last_commit_here = ""
        self._contents: dict[tuple[str, str], bytes | None] = {}
        self._lock: int | None = None

    # --- git -------------------------------------------------------------------------------

    def git(self, *words: str, given: str | None = None) -> str:
        """The output of one git command. Raises ``CalledProcessError`` when git says no."""
        return self.raw(*words, given=given).decode("utf-8", "replace")

    def raw(self, *words: str, given: str | None = None) -> bytes:
        """``git`` with its output as bytes."""
        # An inherited GIT_DIR would lead into another repository, perhaps the one around this folder.
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        done = subprocess.run(
            ["git", f"--git-dir={self.store}", f"--work-tree={self.folder}", *settings, *words],
            cwd=self.folder,
            env={**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"},
            input=(given or "").encode(),
            capture_output=True,
            pass_fds=() if self._lock is None else (self._lock,),
            check=True,
        )
        return done.stdout

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else of us is at work in the folder, no orphaned git process either."""
        if self._lock is not None:
            yield
            return
        self.store.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self.store / "coder.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print("coder: waiting for the git of an earlier run", file=sys.stderr, flush=True)
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            # Whoever held one of these is dead: it would hold ours as well.
            for stale in (*self.store.glob("*.lock"), *self.store.glob("refs/**/*.lock")):
                if stale.name != "coder.lock":
                    stale.unlink(missing_ok=True)
            yield
        finally:
            os.close(self._lock)
            self._lock = None

    # --- looking ---------------------------------------------------------------------------

    def head(self) -> str:
        """The commit that the folder stands on; empty before the first."""
        if not (self.store / "HEAD").is_file():
            return ""
        with self.alone():
            try:
                return self.git("rev-parse", "--verify", "--quiet", "HEAD^{commit}").strip()
            except subprocess.CalledProcessError:
                return ""

    def root(self) -> str:
        """The commit that set the project up."""
        return self.git("rev-list", "--max-parents=0", "HEAD").split()[-1]

    def commits(self, *where: str) -> list[tuple[str, dict[str, str]]]:
        """Commits with their trailers, the newest first; by default those of the branch."""
        told = self.git("log", "-z", "--format=%H%n%(trailers:only,unfold)", *(where or ("HEAD",)))
        found = []
        for entry in filter(None, told.split("\0")):
            commit, *lines = entry.splitlines()
            found.append((commit, dict(line.split(": ", 1) for line in lines if ": " in line)))
        return found

    def good(self) -> str:
        """The newest commit of our own: each was made after a passed check, or changes a note only."""
        if not self.head():
            return ""
        return next((commit for commit, trailers in self.commits() if ACTION in trailers), "")

    def made_by(self, action_id: str) -> str | None:
        """The commit that an action made, wherever the branch has gone since."""
        with self.alone():
            if not self.head():
                return None
            every = self.commits("--all")
        return next((commit for commit, trailers in every if trailers.get(ACTION) == action_id), None)

    def history(self, count: int = 8) -> str:
        """The last commits, a line each."""
        return self.git("log", f"-{count}", "--format=%h %s").strip() if self.head() else ""

    def clean(self) -> bool:
        """Whether nothing lies in the folder that is not committed, ignored files included."""
        if not self.head():
            return False
        with self.alone():
            return not self.raw("status", "--porcelain", "--ignored", "--untracked-files=all", "-z")

    def committed(self, commit: str, path: str) -> bytes | None:
        """The content of a file in a commit, ``None`` when it has no such file."""
        if (commit, path) not in self._contents:  # a hash stands for one content, for ever
            listed = self.raw("ls-tree", "-z", commit, "--", path)
            found = self.raw("cat-file", "blob", f"{commit}:{path}") if listed else None
            self._contents[commit, path] = found
        return self._contents[commit, path]

    def committed_below(self, commit: str, *paths: str) -> list[str]:
        """The files of a commit below some paths."""
        listed = self.raw("ls-tree", "-r", "-z", "--name-only", commit, "--", *paths)
        return [name.decode() for name in listed.split(b"\0") if name]

    # --- changing --------------------------------------------------------------------------

    def put(self, path: str, content: bytes) -> str:
        """Give a file its content, all of it or nothing; gives the digest. Twice is as good as once."""
        digest = hashlib.sha256(content).hexdigest()
        target = self.folder / path
        if target.is_dir() and not target.is_symlink():
            raise InvalidArguments(f"{path} is a folder")
        with self.alone():
            target.parent.mkdir(parents=True, exist_ok=True)
            spare = self.store / f"coder-{digest}"
            with spare.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            spare.replace(target)
            _keep(target.parent)
        return digest

    def take(self, path: str) -> None:
        """Remove a file, if it is there."""
        with self.alone():
            (self.folder / path).unlink(missing_ok=True)
            _keep(self.folder)

    def go_back(self, commit: str) -> str:
        """Put the folder back to a commit of this branch; nothing uncommitted is left.

        What is left behind stays in the repository, under ``refs/left``. Twice is as good as once.
        """
        with self.alone():
            head = self.head()
            behind = {known for known, _ in self.commits()} if head else set()
            if commit not in behind:
                raise InvalidArguments(f"there is no commit {commit or '(none)'} to go back to")
            if commit != head:
                self.git("update-ref", f"refs/left/{head}", head)
            self.git("reset", "--quiet", "--hard", commit)
            self.git("clean", "--quiet", "-ffdx")
            return self.head()

    def stage(self) -> list[str]:
        """Take everything in the folder into the next commit; gives the paths that it changes."""
        base = self.head() or self.git("hash-object", "-t", "tree", "-w", "--stdin").strip()
        self.git("add", "--all", "--force")
        changed = self.raw("diff", "--cached", "--no-renames", "--name-only", "-z", base)
        return sorted(name.decode("utf-8", "replace") for name in changed.split(b"\0") if name)

    def unstage(self) -> None:
        """Take nothing into the next commit."""
        (self.store / "index").unlink(missing_ok=True)
        if self.head():
            self.git("reset", "--quiet")

    def commit(self, subject: str, trailers: dict[str, str]) -> str:
        """Commit what is staged; gives the hash."""
        told = "".join(f"{name}: {value}\n" for name, value in trailers.items() if value)
        self.git("commit", "--quiet", "--no-verify", "--file=-", given=f"{subject}\n\n{told}")
        return self.head()


def _keep(folder: Path) -> None:
    """Put a folder's entries on the disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
