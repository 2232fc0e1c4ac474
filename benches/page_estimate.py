"""How well a page estimates whether it suffices, on questions of IntraSkill-Bench.

    python3 benches/page_estimate.py SKILLMUX INDEX datasets/intra-skill-bench.jsonl

For each question and three budgets it asks for a page, and compares the estimate of the page with the truth: whether each byte of the
evidence is shown. It prints the area under the ROC curve, and for each fifth of the pages the mean estimate and the share that suffices.
"""

import json
import subprocess
import sys

BUDGETS = [400, 800, 1600]


def page(program, index, case, budget):
    command = [program, "page", case["skill_id"], case["query"], "--index", index, "--budget", str(budget), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout)


def suffices(page, case):
    spans = [(node["start_byte"], node["end_byte"]) for node in page["nodes"]]
    # Headings and blanks between shown parts are shown, too: only bytes of parts that are left out count.
    shown = set()
    for start, end in spans:
        shown.update(range(start, end))
    missing = 0
    for start, end in case["evidence"]:
        missing += sum(1 for at in range(start, end) if at not in shown)
    return missing


def main():
    program, index, path = sys.argv[1:]
    cases = [json.loads(line) for line in open(path, encoding="utf-8")]
    found = []
    for case in cases:
        whole = suffices(page(program, index, case, 10**6), case)
        for budget in BUDGETS:
            answer = page(program, index, case, budget)
            if not answer.get("left_out"):
                continue
            # What the whole skill does not show either is headings and blanks.
            found.append((answer["sufficiency"], suffices(answer, case) <= whole))
    yes = [estimate for estimate, is_enough in found if is_enough]
    no = [estimate for estimate, is_enough in found if not is_enough]
    wins = sum((a > b) + 0.5 * (a == b) for a in yes for b in no)
    print(f"{len(found)} pages that leave something out, {len(yes)} of them suffice")
    print(f"area under the ROC curve {wins / (len(yes) * len(no)):.3f}")
    found.sort()
    size = len(found) / 5
    error = 0.0
    for fifth in range(5):
        part = found[round(fifth * size) : round((fifth + 1) * size)]
        mean = sum(estimate for estimate, _ in part) / len(part)
        share = sum(is_enough for _, is_enough in part) / len(part)
        error += abs(mean - share) * len(part) / len(found)
        print(f"fifth {fifth + 1}: estimate {mean:.2f}, suffices {share:.2f}")
    print(f"mean distance {error:.3f}")


main()
