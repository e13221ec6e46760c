#!/usr/bin/env bash
# Writes results of vegeta 12.13.0 as CSV, JSON and gob to a new folder. The committed samples come from an earlier
# attack at the same rate (100/s) and are not overwritten. Needs go, or VEGETA naming a vegeta binary.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
out="${1:?usage: vegeta.sh FOLDER}"
vegeta="${VEGETA:-$tools/bin/vegeta}"
if [ ! -x "$vegeta" ]; then
    need go
    GOBIN="$tools/bin" go install github.com/tsenart/vegeta/v12@v12.13.0
fi
mkdir "$out"
start_target --error-rate 0.1
echo "GET $url/" | "$vegeta" attack -rate 100 -duration 2s -name home >"$out/results.gob"
"$vegeta" encode --to csv --output "$out/results.csv" "$out/results.gob"
"$vegeta" encode --to json --output "$out/results.jsonl" "$out/results.gob"
