#!/usr/bin/env bash
# Makes the samples of what wrk, hey, oha, k6 and ApacheBench print in the end (refused). Needs wrk, hey and ab (Debian:
# apt-get install wrk hey apache2-utils), and what oha.sh and k6.sh need or made.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need wrk hey ab
oha="${OHA:-$tools/bin/oha}"
k6="${K6:-$tools/bin/k6}"
need "$oha" "$k6"
mkdir -p "$samples/refused"
start_target --error-rate 0.1
wrk -t1 -c2 -d1s --latency "$url/" >"$samples/refused/wrk-text.txt"
hey -n 100 -c 2 "$url/" >"$samples/refused/hey-text.txt"
ab -n 100 -c 2 -e "$samples/refused/ab-text.csv" "$url/" >"$samples/refused/ab-text.txt" 2>"$work/out.txt"
"$oha" -n 100 -c 2 --no-tui "$url/" >"$samples/refused/hey-text.oha.txt"
"$oha" -n 100 -c 2 --no-tui --output-format json "$url/" >"$samples/refused/oha-json.json"
"$k6" run -q -e URL="$url" --summary-export "$samples/refused/k6-summary.json" "$make_dir/k6/two.js" >"$work/out.txt" 2>&1
