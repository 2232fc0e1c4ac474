"""Runs programs and measures them from outside."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MAX_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes per unit of `ru_maxrss`."""


@dataclass(frozen=True)
class Finished:
    """What a program that has ended used and wrote."""

    code: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    stdout: bytes
    stderr: str


def run(command: Sequence[str | Path], codes: Sequence[int] = (0,)) -> Finished:
    """Runs a program to its end, and fails unless its exit code is one of `codes`.

    The peak of a child counts what its parent held when it started, so this process has to stay small.
    """
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        stdout.seek(0)
        stderr.seek(0)
        peak_bytes = usage.ru_maxrss * MAX_RSS_UNIT
        errors = stderr.read().decode(errors="replace")
        cpu_seconds = usage.ru_utime + usage.ru_stime
        finished = Finished(process.returncode, seconds, cpu_seconds, peak_bytes, stdout.read(), errors)
    if finished.code not in codes:
        line = " ".join(map(str, command[:4]))
        raise RuntimeError(f"`{line} ...` ended with {finished.code}: {finished.stderr.strip()[-500:]}")
    return finished


@dataclass(frozen=True)
class Skillmux:
    """The binary under test."""

    binary: Path

    def version(self) -> str:
        """Returns what `--version` prints."""
        return run([self.binary, "--version"]).stdout.decode().strip()

    def index(self, sources: Sequence[Path], index: Path) -> Finished:
        """Makes or updates an index without the transformer."""
        return run([self.binary, "index", *sources, "--index", index, "--transformer", "never", "--format", "json"])

    def search(self, index: Path, queries: Path, k: int) -> Finished:
        """Ranks skills for a file of queries; prints a TREC run, and timings to stderr."""
        return run([self.binary, "search", "--index", index, "--queries", queries, "-k", str(k), "--timings"])

    def stats(self, index: Path, *flags: str) -> bytes:
        """Describes an index as JSON."""
        return run([self.binary, "stats", "--index", index, "--format", "json", *flags]).stdout
