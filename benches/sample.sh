#!/usr/bin/env bash
# Writes the quality of the sample tasks, which a test compares: results/sample-*.csv.
set -euo pipefail
cd "$(dirname "$0")/.."
skillmux=${1:?"usage: sample.sh SKILLMUX"}

"$skillmux" eval run fixtures/tasks.jsonl --qrels fixtures/qrels.trec --unjudged-need-none --library fixtures/library \
  --system default bm25 tfidf@best-k --format csv > results/sample-tasks.csv
"$skillmux" eval run fixtures/eval/intra-skill-bench/cases.jsonl --library fixtures/library \
  --system page:default/300 page:mmr/300 page:chunk/300 page:greedy-graph/300 --format csv > results/sample-pages.csv
