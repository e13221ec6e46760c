#!/usr/bin/env bash
# Makes the samples of oha 1.16.0 (oha-csv, oha-sqlite). Needs cargo, or OHA naming an oha binary.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
oha="${OHA:-$tools/bin/oha}"
if [ ! -x "$oha" ]; then
    need cargo
    cargo install oha --version 1.16.0 --locked --root "$tools"
fi
mkdir -p "$samples/oha-csv" "$samples/oha-sqlite"

# run NAME [OPTION...]: one run that writes both formats.
run() {
    local name="$1"
    shift
    rm -f "$work/out.db" "$work/out.csv"
    "$oha" --no-tui --output-format csv -o "$work/out.csv" --db-url "$work/out.db" "$@" "$url/" 2>"$work/out.txt" \
        || { cat "$work/out.txt" >&2; exit 1; }
    mv "$work/out.csv" "$samples/oha-csv/$name.csv"
    mv "$work/out.db" "$samples/oha-sqlite/$name.db"
}

start_target --error-rate 0.1
run closed -n 200 -c 3
run rate -n 200 -c 5 -q 100
# Two connections that manage 66/s of the 100/s asked for: the requests start ever later than meant.
stop_target
service='const(30ms)' start_target
run corrected -n 200 -c 2 -q 100 --latency-correction
