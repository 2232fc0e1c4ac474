"""Deterministic edits of a library, and the shards and queries that show them."""

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

SHARD_SKILLS = 2000

Skill = dict[str, Any]


@dataclass(frozen=True)
class Edit:
    """Positions of the skills that get a new text, are deleted, or are copied as a new skill."""

    changed: frozenset[int] = frozenset()
    deleted: frozenset[int] = frozenset()
    copied: frozenset[int] = frozenset()

    @classmethod
    def draw(cls, n_skills: int, n_changed: int, n_new: int, n_deleted: int, seed: int) -> "Edit":
        """Draws distinct positions below `n_skills`."""
        drawn = random.Random(seed).sample(range(n_skills), n_changed + n_new + n_deleted)
        return cls(
            changed=frozenset(drawn[:n_changed]),
            copied=frozenset(drawn[n_changed : n_changed + n_new]),
            deleted=frozenset(drawn[n_changed + n_new :]),
        )

    def apply(self, skills: Iterable[Skill]) -> Iterator[Skill]:
        """Yields the skills of the edited library."""
        for position, skill in enumerate(skills):
            if position in self.deleted:
                continue
            if position in self.changed:
                yield skill | {
                    "description": f"{skill['description']} Revised {position} times.",
                    "body": f"{skill['body']}\n\n## Revision\n\nCompare notes with revision {position} first.\n",
                }
            else:
                yield skill
            if position in self.copied:
                yield skill | {
                    "skill_id": f"bench/new-{position}",
                    "name": f"{skill['name']}-variant",
                    "body": f"This variant is number {position}.\n\n{skill['body']}",
                }

    def queries(self, skills: Iterable[Skill]) -> dict[str, str]:
        """Returns name and description of every skill that the edit touches, as queries."""
        touched = self.changed | self.deleted | self.copied
        return {
            f"edit-{position}": f"{skill['name']} {skill['description']}"
            for position, skill in enumerate(skills)
            if position in touched
        }


def write_shards(folder: Path, skills: Iterable[Skill]) -> None:
    """Writes skills as plain shards, in the place of those that are there."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.jsonl"):
        old.unlink()
    rest = iter(skills)
    for number in count():
        lines = [json.dumps(skill, ensure_ascii=False) + "\n" for skill in islice(rest, SHARD_SKILLS)]
        if not lines:
            break
        (folder / f"part-{number:04}.jsonl").write_text("".join(lines), encoding="utf-8")


def write_queries(path: Path, queries: dict[str, str]) -> Path:
    """Writes queries as skillmux and the baseline read them."""
    lines = (
        json.dumps({"query_id": query_id, "query": query}, ensure_ascii=False) for query_id, query in queries.items()
    )
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
