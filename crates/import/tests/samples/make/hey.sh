#!/usr/bin/env bash
# Makes the samples of hey 0.1.4 (hey-csv), and of what ab -g writes (refused). Needs hey and ab (Debian: apt-get install hey
# apache2-utils).
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need hey ab
mkdir -p "$samples/hey-csv" "$samples/refused"
start_target --error-rate 0.1
hey -n 300 -c 3 -o csv "$url/" >"$samples/hey-csv/closed.csv"
hey -n 300 -c 5 -q 20 -o csv "$url/" >"$samples/hey-csv/rate.csv"
ab -n 100 -c 2 -g "$samples/refused/ab-gnuplot.tsv" "$url/" >"$work/out.txt" 2>&1
