"""Reads JSON-lines files, plain or zstd-compressed."""

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

SUFFIXES = (".jsonl", ".jsonl.zst")


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yields one object per non-empty line of `path`."""
    with path.open("rb") as file:
        if path.suffix == ".zst":
            import zstandard  # Imported here so that plain files need only the standard library.

            stream: IO[bytes] = zstandard.ZstdDecompressor().stream_reader(file)
        else:
            stream = file
        for line in io.TextIOWrapper(stream, encoding="utf-8", newline="\n"):
            if line.strip():
                yield json.loads(line)


def expand(paths: Iterable[Path]) -> list[Path]:
    """Replaces each folder by the JSON-lines files directly inside it, sorted by name."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files.extend(sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES)))
        else:
            files.append(path)
    return files
