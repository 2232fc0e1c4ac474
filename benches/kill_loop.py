"""Kills a writer over and over, and checks that the index is the old one or the new one.

    python3 benches/kill_loop.py target/release/skillmux SOURCE_A SOURCE_B [--kills 200] [--seed 7]

Each round starts `skillmux index` on the source that the index does not hold, kills it (SIGKILL)
after a random part of the time that a whole run takes, and verifies every byte of what is left.
Which source an index holds is told by its manifest. Every other round then lets a run finish, so
that both a fresh index and one with the leavings of a killed writer are killed upon. Prints
`200 kills: N old, M new, 0 broken`, and exits with 1 if anything broke. Standard library only.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def index_command(binary, source, index):
    return [binary, "index", str(source), "--index", str(index)]


def finish_run(binary, source, index):
    """Runs an indexing to its end and returns how long it took in seconds."""
    started = time.monotonic()
    done = subprocess.run(index_command(binary, source, index), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"a run that was not killed failed: {done.stderr}")
    return time.monotonic() - started


def state_of(binary, index):
    """Returns the sources and the number of skills of an index, after verifying every byte."""
    command = [binary, "stats", "--verify", "--format", "json", "--index", str(index)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the index does not open: {done.stderr}")
    stats = json.loads(done.stdout)
    return tuple(stats["sources"]), stats["n_skills"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("sources", nargs=2, type=Path, metavar="SOURCE")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    binary = str(Path(args.binary).resolve())
    sources = [source.resolve() for source in args.sources]
    draw = random.Random(args.seed)

    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        states, seconds = [], []
        for source in [*sources, sources[0]]:
            seconds.append(finish_run(binary, source, index))
            states.append(state_of(binary, index))
        if states[0] == states[1] or states[0] != states[2]:
            sys.exit("the two sources must differ, and not change meanwhile")

        counts = {"old": 0, "new": 0, "broken": 0}
        old = 0
        for kill in range(args.kills):
            new = 1 - old
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            writer = subprocess.Popen(index_command(binary, sources[new], index), **quiet)
            time.sleep(draw.uniform(0, 1.1 * max(seconds)))
            writer.kill()
            writer.wait()
            try:
                state = state_of(binary, index)
                if state not in states:
                    raise RuntimeError(f"the index is neither old nor new: {state}")
                found = states.index(state, 0, 2)
                counts["new" if found == new else "old"] += 1
                old = found
                if kill % 2 == 0:
                    finish_run(binary, sources[new], index)
                    old = new
            except RuntimeError as error:
                counts["broken"] += 1
                print(f"kill {kill}: {error}", file=sys.stderr)
                command = [*index_command(binary, sources[0], index), "--rebuild"]
                subprocess.run(command, check=True, capture_output=True)
                old = 0
    print(f"{args.kills} kills: " + ", ".join(f"{n} {name}" for name, n in counts.items()))
    sys.exit(1 if counts["broken"] else 0)


if __name__ == "__main__":
    main()
