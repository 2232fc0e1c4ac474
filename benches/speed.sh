#!/usr/bin/env bash
# Measures long tasks on one thread over an index: median and 99th percentile of five rounds, ranked and by fielded BM25, and memory.
set -euo pipefail
cd "$(dirname "$0")/.."
skillmux=${1:?"usage: speed.sh SKILLMUX INDEX"}
index=${2:?"usage: speed.sh SKILLMUX INDEX"}
tasks=$(mktemp)
trap 'rm -f "$tasks"' EXIT
# The first 150 English tasks of 120 to 200 words.
python3 - > "$tasks" <<'EOF'
import json

rows = map(json.loads, open("datasets/long-tasks.jsonl"))
rows = [row for row in rows if row["lang"] == "en" and 120 <= len(row["query"].split()) <= 200][:150]
for row in rows:
    print(json.dumps({"query_id": row["query_id"], "query": row["query"]}))
EOF
for _ in 1 2 3 4 5; do
  for retriever in ranked fielded; do
    printf '%s: ' "$retriever"
    "$skillmux" search --retriever "$retriever" --queries "$tasks" -k 50 --index "$index" --timings 2>&1 > /dev/null | tail -n 1
  done
done
/usr/bin/time -f 'resident: %M KiB' "$skillmux" search --retriever ranked --queries "$tasks" -k 50 --index "$index" > /dev/null
