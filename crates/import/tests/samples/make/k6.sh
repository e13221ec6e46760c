#!/usr/bin/env bash
# Makes the samples of k6 1.8.1 (k6-csv, k6-json). Needs go, or K6 naming a k6 binary.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
k6="${K6:-$tools/bin/k6}"
if [ ! -x "$k6" ]; then
    need go
    GOBIN="$tools/bin" go install go.k6.io/k6@v1.8.1
fi
export K6_NO_USAGE_REPORT=true
start_target --error-rate 0.1
mkdir -p "$samples/k6-csv" "$samples/k6-json"

# run OUTPUT FILE [OPTION...]: `--out OUTPUT=FILE` of two.js.
run() {
    local output="$1" file="$2"
    shift 2
    rm -f "$file"
    "$k6" run -q -e URL="$url" --out "$output=$file" "$@" "$make_dir/k6/two.js" >"$work/out.txt" 2>&1 \
        || { cat "$work/out.txt" >&2; exit 1; }
}

# trim FROM TO BYTES: whole lines of at most so many bytes, cut where an iteration's first request begins.
trim() {
    awk -v most="$3" '/http_reqs/ && /home/ && !/"Metric"/ { printf "%s", held; held = "" }
        { size += length($0) + 1; if (size > most) exit; held = held $0 "\n" }' "$1" >"$2"
}

run csv "$work/seconds.csv"
trim "$work/seconds.csv" "$samples/k6-csv/seconds.csv" 60000
K6_CSV_TIME_FORMAT=unix_nano run csv "$work/nano.csv"
gzip -9n <"$work/nano.csv" >"$samples/k6-csv/nano.csv.gz"
run json "$work/whole.json"
gzip -9n <"$work/whole.json" >"$samples/k6-json/whole.json.gz"
trim "$work/whole.json" "$samples/k6-json/head.json" 60000

# No answer at all: nothing listens there.
live="$url"
url=http://127.0.0.1:1
K6_CSV_TIME_FORMAT=rfc3339_nano run csv "$work/refused.csv" -e DURATION=1s
trim "$work/refused.csv" "$samples/k6-csv/refused.csv" 20000
url="$live"

# Fewer users than the rate needs: iterations are dropped.
stop_target
service='const(200ms)' servers=50 start_target
K6_CSV_TIME_FORMAT=unix_milli run csv "$samples/k6-csv/dropped.csv" -e VUS=4 -e DURATION=2s
