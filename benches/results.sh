#!/usr/bin/env bash
# Measures the shipped configuration and all baselines on every dataset; writes results/NAME.{csv,md}.
# DATA is the folder that benches/README.md describes; WORK keeps the indexes and the full reports: what a run was interrupted at
# goes on, and after a change of the program the reports there are in the way: remove them.
set -euo pipefail
cd "$(dirname "$0")/.."
skillmux=${1:?"usage: results.sh SKILLMUX DATA WORK"}
data=${2:?"usage: results.sh SKILLMUX DATA WORK"}
work=${3:?"usage: results.sh SKILLMUX DATA WORK"}
clusters=results/clusters/pool.jsonl.zst
mkdir -p "$work"

# measure NAME DATASET [OPTION...]
measure() {
  echo "== $1" >&2
  "$skillmux" eval run "${@:2}" --out "$work/$1" --format markdown > "results/$1.md"
  cp "$work/$1/tasks.csv" "results/$1.csv"
}

pool=(--index "$work/pool.idx" --clusters "$clusters")
"$skillmux" index "$data/pool" "$data/dev/skills.jsonl" --index "$work/pool.idx" --transformer
measure dev "$data/dev" "${pool[@]}" --system default bm25 bm25:nd fielded fielded:nd tfidf tfidf:nd \
  dense:nd 'rrf(bm25,dense:nd)' 'score(fielded,dense:nd*0.3)' bm25@best-k bm25@oracle-k tfidf@best-k tfidf@oracle-k
measure queries-dev "$data/queries-dev.jsonl.zst" "${pool[@]}" --sample 1000 --system default bm25 fielded
measure bilingual "$data/bilingual.jsonl.zst" "${pool[@]}" --system default bm25 dense:nd
measure intra-skill-bench datasets/intra-skill-bench.jsonl "${pool[@]:0:2}" --system page:default page:mmr page:chunk page:greedy-graph \
  page:topk-dep page:head page:full-document page:default/800 page:mmr/800 page:chunk/800 page:greedy-graph/800 page:topk-dep/800 page:head/800

"$skillmux" eval build compskillbench "$data/awesome-mcp-servers.md" --out "$work/chains"
"$skillmux" index "$data/awesome-mcp-servers.md" --index "$work/servers.idx"
# One skill for each step, as SkillWeaver has it.
chain=(--index "$work/servers.idx" --composer chain)
measure comp-skill-bench "$work/chains" "${chain[@]}" --system default bm25 bm25@oracle-k tfidf tfidf@oracle-k tfidf@best-k
# The builder puts the human-style set beside the categories.
measure comp-skill-bench-human "$work/chains/human.jsonl" "${chain[@]}" --system default bm25@3 tfidf@3
for needs in comp-skill-bench comp-skill-bench-with-hints; do
  measure "$needs-needs" "$work/chains" "${chain[@]}" --needs "datasets/needs/$needs.jsonl"
  measure "${needs/bench/bench-human}-needs" "$work/chains/human.jsonl" "${chain[@]}" --needs "datasets/needs/$needs.jsonl"
done
