"""Kills `skillmux index` at random moments and looks whether the index still answers as it should."""

import random
import subprocess
import time
from collections import Counter
from pathlib import Path
from statistics import median

from child import Skillmux, run
from edits import Edit, Skill, write_queries, write_shards
from report import Row

K = 20
N_QUERIES = 12
N_TIMED = 3
MAX_DELAY = 1.25
"""Latest kill, in typical updates: the commit comes last and is short, so that it has to be passed now and then."""


class KillLoop:
    """An index of one of two versions of a library, and the answers that belong to each."""

    def __init__(self, skillmux: Skillmux, work: Path, skills: list[Skill], seed: int) -> None:
        self.skillmux = skillmux
        self.index = work / "killed"
        edit = Edit.draw(len(skills), len(skills) // 10, len(skills) // 50, len(skills) // 50, seed)
        touched = edit.queries(skills)
        step = max(len(touched) // N_QUERIES, 1)
        self.queries = write_queries(work / "kills.jsonl", dict(list(touched.items())[::step]))
        self.libraries = [work / "old", work / "new"]
        write_shards(self.libraries[0], skills)
        write_shards(self.libraries[1], edit.apply(skills))
        self.answers: list[bytes] = []
        for library in self.libraries:
            index = work / f"{library.name}-index"
            skillmux.index([library], index)
            self.answers.append(skillmux.search(index, self.queries, K).stdout)
        if self.answers[0] == self.answers[1]:
            raise RuntimeError("the two versions of the library answer alike")

    def version(self) -> int:
        """Returns which version the index answers as; fails if it is neither."""
        answer = self.skillmux.search(self.index, self.queries, K).stdout
        if answer not in self.answers:
            raise RuntimeError("the answers are of neither version")
        return self.answers.index(answer)

    def update(self, version: int) -> float:
        """Updates the index to a version, undisturbed, and returns the seconds that it took."""
        seconds = self.skillmux.index([self.libraries[version]], self.index).seconds
        if self.version() != version:
            raise RuntimeError("an undisturbed update left the other version")
        return seconds

    def kill(self, version: int, delay: float) -> bool:
        """Starts an update and kills it after `delay` seconds; returns whether it had ended before."""
        command: list[str | Path] = [self.skillmux.binary, "index", self.libraries[version], "--index", self.index, "--transformer", "never"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.kill()
        code = process.wait()
        if code > 0:
            raise RuntimeError(f"the update failed with {code}")
        return code == 0


def measure(skillmux: Skillmux, work: Path, skills: list[Skill], n_kills: int, seed: int) -> list[Row]:
    """Kills `n_kills` updates, each to the version that the index does not hold."""
    loop = KillLoop(skillmux, work, skills, seed)
    loop.update(0)
    typical = median(loop.update(number % 2) for number in range(1, 2 * N_TIMED + 1))
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    errors: list[str] = []
    held = 0
    for _ in range(n_kills):
        target = 1 - held
        try:
            ended = loop.kill(target, rng.uniform(0, MAX_DELAY * typical))
            held = loop.version()
            counts["ended first" if ended else "new" if held == target else "old"] += 1
            if ended and held != target:
                raise RuntimeError("an update that ended left the old version")
        except RuntimeError as error:
            errors.append(str(error))
            run([skillmux.binary, "index", loop.libraries[0], "--index", loop.index, "--rebuild"])
            held = 0
    loop.update(1 - held)
    skillmux.stats(loop.index, "--verify")
    measured = (
        f"{len(errors)} broken; {counts['old']} left the old version, {counts['new']} the new one, "
        f"{counts['ended first']} ended before the kill"
    )
    what = f"{n_kills} kills of an update of {len(skills):,} skills (takes {typical * 1000:.0f} ms)"
    if errors:
        measured += f"; first: {errors[0]}"
    values = {"broken": len(errors), "typical_s": typical, **counts}
    return [Row(what, measured, "0 broken", not errors, values)]
