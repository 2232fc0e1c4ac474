#!/usr/bin/env python3
"""Measures `skillmux compile`: how tasks find skills by the list that an agent shows today, and by the compiled one.

usage: compile.py SKILLMUX NAME=SKILLS.jsonl,TASKS.jsonl...

SKILLMUX is the program. Skills are JSON Lines as `skillmux index` reads them. Of a task, `query` counts, and `skill_ids` or `skills`.
`benches/installed.py` writes such files. Each library is installed for each agent in a home folder that goes away, as
`FOLDER/SKILL/SKILL.md`. Prints a table in Markdown.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDERS = {"claude-code": ".claude/skills", "codex": ".codex/skills", "openclaw": ".openclaw/skills"}


def rows(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def install(skills, root):
    """Writes the skills and returns the name of each by its id; later ones of the same name are left out."""
    names = {}
    for skill in skills:
        name = re.sub(r"[^\w-]", "-", skill["name"]) or "skill"
        folder = root / name
        if folder.exists() or not (skill.get("description") or "").strip():
            continue
        folder.mkdir(parents=True)
        head = f"---\nname: {json.dumps(name)}\ndescription: {json.dumps(skill['description'], ensure_ascii=False)}\n---\n"
        (folder / "SKILL.md").write_text(head + skill.get("body", ""), encoding="utf-8")
        names[skill["skill_id"]] = name
    return names


def gold(task):
    ids = task.get("skill_ids") or task.get("skills") or []
    flat = [one for item in ids for one in (item if isinstance(item, list) else [item])]
    return [one["skill_id"] if isinstance(one, dict) else one for one in flat]


def compiled(program, agent, skills, tasks):
    with tempfile.TemporaryDirectory(prefix="ada-") as home:
        home = Path(home)
        (home / FOLDERS[agent].split("/")[0]).mkdir()
        names = install(skills, home / FOLDERS[agent])
        file = home / "tasks.jsonl"
        with file.open("w", encoding="utf-8") as out:
            for task in tasks:
                ids = [names[one] for one in gold(task) if one in names]
                if ids:
                    out.write(json.dumps({"query": task["query"], "skill_ids": ids}) + "\n")
        project = home / "project"
        project.mkdir()
        command = [program, "compile", "--agent", agent, "--tasks", str(file), "--history", "none", "--format", "json"]
        env = {"HOME": str(home), "PATH": os.environ["PATH"]}
        done = subprocess.run(command, env=env, cwd=project, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return json.loads(done.stdout)


def cell(score):
    return f"{score['mean']:.3f} [{score['low']:.2f}, {score['high']:.2f}]"


def main():
    program, libraries = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    print("| library | agent | skills | list | characters | described | listed | a right skill is first | right skills among the first five |")
    print("|---|---|---:|---|---:|---:|---:|---:|---:|")
    for library in libraries:
        name, files = library.split("=", 1)
        skills, tasks = (rows(path) for path in files.split(","))
        for agent in FOLDERS:
            report = compiled(program, agent, skills, tasks)
            n_skills = len(report["skills"])
            for kind, what in [("today", "today"), ("compiled", "compiled"), ("whole", "all whole")]:
                counts, scores = report[kind], report["routing"][kind]
                described = counts["n_whole"] + counts["n_shortened"]
                print(f"| {name} ({report['routing']['n_tasks']} tasks) | {agent} | {n_skills} | {what} | {counts['n_chars']:,} | {described} | "
                      f"{n_skills - counts['n_hidden']} | {cell(scores['hit_at_1'])} | {cell(scores['recall_at_5'])} |", flush=True)


if __name__ == "__main__":
    main()
