#!/usr/bin/env bash
# Measures the ranker with each group of features off, and with other losses, on every development set and on the held-out queries of
# its training; writes results/ablations.md. DATA and WORK are those of results.sh, which must have run: its index is used.
set -euo pipefail
cd "$(dirname "$0")/.."
skillmux=$(realpath "${1:?"usage: ablations.sh SKILLMUX DATA WORK"}")
data=$(realpath "${2:?"usage: ablations.sh SKILLMUX DATA WORK"}")
work=$(realpath "${3:?"usage: ablations.sh SKILLMUX DATA WORK"}")
root=$PWD

if [ ! -e "$work/ablations/held-out.jsonl" ]; then
  # Without the skills of the development tasks.
  "$skillmux" index "$data/pool" --index "$work/train.idx" --transformer never
  "$skillmux" train ranker --index "$work/train.idx" --queries "$data/queries-train.jsonl.zst" fixtures/long-tasks.jsonl \
    --tasks datasets/long-tasks.jsonl --translations "$data/bilingual.jsonl.zst" --out "$work/ranker.json" --ablations "$work/ablations"
fi

# Names of files are names of systems.
cd "$work/ablations"
systems=(ranked:as-above.json)
for weights in without-*.json pointwise-loss.json near-duplicates-*.json; do systems+=("ranked:$weights"); done
grep -F '"kind":"long"' held-out.jsonl > held-out-long.jsonl
grep -F '"kind":"short"' held-out.jsonl > held-out-short.jsonl

# measure NAME DATASET [OPTION...]
measure() {
  echo "== $1" >&2
  "$skillmux" eval run "${@:2}" --index "$work/pool.idx" --system "${systems[@]}" fielded --out "$work/ablations/$1" --format json > "$1.json"
}
measure dev "$data/dev"
measure queries-dev "$data/queries-dev.jsonl.zst" --sample 1000
measure bilingual "$data/bilingual.jsonl.zst"
measure held-out-long held-out-long.jsonl
measure held-out-short held-out-short.jsonl
python3 "$root/benches/ablations.py" dev.json queries-dev.json bilingual.json held-out-long.json held-out-short.json > "$root/results/ablations.md"
