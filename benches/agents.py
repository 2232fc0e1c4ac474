#!/usr/bin/env python3
"""Times `skillmux doctor` and `skillmux hook` as whole processes, over homes that it makes.

usage: agents.py BINARY [--skills 2000] [--installed 300] [--runs 30]

The skills are those of fixtures/library under other names. `doctor` reads --skills of them, spread over the folders of
seven agents. `hook` answers prompts over --installed of them, from an index that is there.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[1] / "fixtures/library"
FOLDERS = [
    ".claude/skills", ".agents/skills", ".codex/skills", ".gemini/skills", ".openclaw/skills", ".copilot/skills",
    ".cursor/skills", ".config/opencode/skills",
]
PROMPTS = [
    "Fill in the attached PDF form from customers.json and check every field",
    "why is this postgres query slow, and which index would help?",
    "turn these meeting notes into minutes with owners and dates",
    "thanks, that looks good",
]


def make_home(home, n_skills):
    texts = [path.read_text(encoding="utf-8", errors="ignore") for path in sorted(LIBRARY.rglob("SKILL.md"))]
    texts = [text for text in texts if "\nname: " in text]
    for number in range(n_skills):
        text = texts[number % len(texts)]
        name = f"skill-{number}"
        head, tail = text.split("\nname: ", 1)
        text = f"{head}\nname: {name}\n{tail.split(chr(10), 1)[1]}\nNumber {number}.\n"
        folder = home / FOLDERS[number % len(FOLDERS)] / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text, encoding="utf-8")
    (home / "project").mkdir()


def environment(home):
    return {"HOME": str(home), "PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1"}


def run(binary, home, *arguments, text=None):
    started = time.perf_counter()
    done = subprocess.run(
        [binary, *arguments], env=environment(home), cwd=home / "project", input=text, capture_output=True, text=True
    )
    return time.perf_counter() - started, done


def shown(name, times):
    times = sorted(1000 * it for it in times)
    print(f"{name}: median {statistics.median(times):.1f} ms, 95 % {times[int(0.95 * (len(times) - 1))]:.1f} ms, most {times[-1]:.1f} ms")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--skills", type=int, default=2000)
    parser.add_argument("--installed", type=int, default=300)
    parser.add_argument("--runs", type=int, default=30)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        make_home(home, args.skills)
        times = []
        for _ in range(args.runs):
            seconds, done = run(args.binary, home, "doctor", "--format", "json")
            assert done.returncode in (0, 1), done.stderr
            times.append(seconds)
        n_agents = len(json.loads(done.stdout)["agents"])
        shown(f"doctor, {args.skills} skills, {n_agents} agents", times)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        make_home(home, args.installed)
        assert run(args.binary, home, "index")[1].returncode == 0
        # No other process looks for newer skills while the hook is timed.
        stamps = home / ".cache/skillmux/hook"
        stamps.mkdir()
        answered, silent = [], []
        for number in range(args.runs):
            for index in (home / ".cache/skillmux/agents").iterdir():
                (stamps / index.name).touch()
            prompt = PROMPTS[number % len(PROMPTS)]
            event = json.dumps({"prompt": prompt, "cwd": str(home / "project")})
            seconds, done = run(args.binary, home, "hook", "claude-code", text=event)
            assert done.returncode == 0
            (answered if done.stdout else silent).append(seconds)
        shown(f"hook with an answer, {args.installed} skills, {len(answered)} prompts", answered)
        if silent:
            shown(f"hook without one, {len(silent)} prompts", silent)


if __name__ == "__main__":
    main()
