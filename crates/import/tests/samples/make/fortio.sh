#!/usr/bin/env bash
# Makes the samples of fortio 1.63.0 (fortio-log). Needs go, or FORTIO naming a fortio binary.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
fortio="${FORTIO:-$tools/bin/fortio}"
if [ ! -x "$fortio" ]; then
    need go
    GOBIN="$tools/bin" go install fortio.org/fortio@v1.63.0
fi
mkdir -p "$samples/fortio-log" "$samples/refused"
start_target --error-rate 0.1

# run FILE [OPTION...]: one run that logs its calls into FILE; -1 is what a call without an answer ends with.
run() {
    local file="$1"
    shift
    rm -f "$work/calls"
    "$fortio" load -quiet -allow-initial-errors -access-log-file "$work/calls" "$@" "$url/" >"$work/out.txt" 2>&1 || true
    cp "$work/calls" "$samples/fortio-log/$file"
}

run bunched.json -c 10 -qps 200 -n 400 -json "$samples/refused/fortio-json.json"
run uniform.json -c 10 -qps 200 -n 200 -uniform
run closed.influx -c 2 -qps 0 -n 200 -access-log-format influx
stop_target
run refused.json -c 2 -qps 20 -n 10
