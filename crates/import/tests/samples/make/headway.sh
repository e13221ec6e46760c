#!/usr/bin/env bash
# Makes the samples of Headway's own CSV files (headway-arrivals, headway-plan).
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mkdir -p "$samples/headway-arrivals" "$samples/headway-plan"
start_target --arrivals-log "$work/arrivals.csv"
"$headway" run --quiet --no-log -R 100/s -d 3s --seed 1 --out "$work/run" "$url/" >"$work/out.txt" || true
kill -INT "$target_pid"
wait "$target_pid" || true
target_pid=
cp "$work/arrivals.csv" "$samples/headway-arrivals/poisson.csv"
"$headway" plan -R 100/s -d 3s --seed 1 >"$samples/headway-plan/poisson.csv" 2>"$work/out.txt"
