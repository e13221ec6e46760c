#!/usr/bin/env bash
# runs.sh FOLDER [NAME...]: the real runs of docs/audit.md, one after the other, each against `headway serve` on the loopback;
# their result files go to FOLDER/NAME/. A run whose folder exists is left as it is. Needs bench/peers.sh to have run, mvn, a
# JDK 17, python3 and a release build (or HEADWAY); takes seven minutes.
. "$(dirname "${BASH_SOURCE[0]}")/../crates/import/tests/samples/make/common.sh"
bench="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
out="${1:?usage: runs.sh FOLDER [NAME...]}"
shift
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(jmeter-200 jmeter-10 k6-constant fortio-50 batches headway-poisson)

# Threads that think for a uniform time of 0 to 2 s before each request.
jmeter() {
    bash "$make_dir/jmeter/install.sh" "$tools/jmeter-5.6.3"
    java -Duser.timezone=UTC -jar "$tools/jmeter-5.6.3/bin/ApacheJMeter.jar" -n -t "$make_dir/jmeter/plain.jmx" \
        -l "$2/results.csv" -j "$work/jmeter.log" -Jport="$port" -Jthreads="$1" -Jramp=2 -Jloops=-1 -Jseconds=120 -Jrange=2000
}

one() {
    case "$1" in
    jmeter-200) start_target; jmeter 200 "$2" ;;
    jmeter-10) start_target; jmeter 10 "$2" ;;
    k6-constant)
        start_target
        K6_NO_USAGE_REPORT=true K6_CSV_TIME_FORMAT=unix_nano "$bench/peers/bin/k6" run -q --out csv="$2/results.csv" \
            -e URL="$url" -e RATE=200 -e DURATION=60s "$make_dir/k6/one.js" ;;
    fortio-50)
        start_target
        "$bench/peers/bin/fortio" load -c 50 -qps 1000 -t 30s -loglevel Error -access-log-file "$2/results.json" "$url/" ;;
    batches)
        # 2000/s on average: half of what this target can serve.
        service='exp(1ms)' start_target
        python3 "$bench/batches.py" "127.0.0.1:$port" "$2/results.csv" --batch 10 --every 5 --seconds 20 ;;
    headway-poisson)
        start_target
        "$headway" run -R 500 -d 30s --seed 1 --out "$2/run" "$url/" ;;
    *) echo "$0: no run is named $1" >&2; exit 1 ;;
    esac
    stop_target
}

name=
trap 'status=$?; [ $status = 0 ] || cat "$work/$name/output.txt" >&2; finish' EXIT
for name in "${names[@]}"; do
    [ ! -e "$out/$name" ] || { echo "$out/$name exists"; continue; }
    mkdir -p "$work/$name" "$out"
    echo "$name: load average $(cut -d' ' -f1 /proc/loadavg)"
    one "$name" "$work/$name" >"$work/$name/output.txt" 2>&1
    find "$work/$name" -maxdepth 1 -name "results.*" -exec gzip -n {} +
    mv "$work/$name" "$out/"
done
