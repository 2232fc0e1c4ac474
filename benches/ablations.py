#!/usr/bin/env python3
"""Makes one table a dataset of the reports that ablations.sh wrote: each ranker, and how it differs from the whole one."""

import json
import sys
from pathlib import Path

MEASURES = ["Hit@1", "MRR@10", "Recall@10", "FC@10"]


def name_of(system):
    return system.removeprefix("ranked:").removesuffix(".json").replace("as-above", "whole ranker").replace("-", " ")


def table(path):
    report = json.loads(path.read_text())
    print(f"\n## {path.stem}\n\n{report['n_tasks']:,} tasks.\n")
    print("| ranker |" + "".join(f" {measure} |" for measure in MEASURES))
    print("|---|" + "---|" * len(MEASURES))
    for system in report["systems"]:
        view = system["views"][0]
        cells = []
        tests = {test["measure"]: test for test in view.get("tests") or []}
        for measure in MEASURES:
            [found] = [of for of in view["measures"] if of["measure"] == measure]
            if system["name"] == report["baseline"]:
                cells.append(f"{found['mean']:.3f} [{found['low']:.3f}, {found['high']:.3f}]")
                continue
            test = tests[measure]
            low, high = test["low"], test["high"]
            mark = "" if low <= 0 <= high else " **"
            cells.append(f"{found['mean']:.3f}, {test['difference']:+.3f} [{low:+.3f}, {high:+.3f}]{mark}")
        print(f"| {name_of(system['name'])} |" + "".join(f" {cell} |" for cell in cells))


print("# The ranker with parts off\n")
print("Made by `benches/ablations.sh`. Each ranker was fitted anew without a group of features (`train ranker --ablations`), or with another")
print("loss; candidates are the same. After the score: the difference from the whole ranker on the same tasks with its 95 % interval")
print("(paired bootstrap over tasks, 10,000 resamples); ** where it does not hold 0.")
print("There is no correction for the number of tests, some 300: single marks may be chance. `held-out-*` are the held-out queries of the ranker's")
print("training but for translations. The other sets chose nothing, but for `dev`: it had a say in leaving lengths out (docs/ranking.md).")
for path in sys.argv[1:]:
    table(Path(path))
