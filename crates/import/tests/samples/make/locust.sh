#!/usr/bin/env bash
# Makes the samples of Locust 2.47.0 (locust-requests, refused/locust-stats*). Needs python3 with venv; Locust comes from
# PyPI, or LOCUST names its program.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need python3
locust="${LOCUST:-$tools/locust/bin/locust}"
if [ ! -x "$locust" ]; then
    python3 -m venv "$tools/locust"
    "$tools/locust/bin/pip" install -q locust==2.47.0
fi
mkdir -p "$samples/locust-requests" "$samples/refused"
start_target --error-rate 0.1
(cd "$work" && "$locust" -f "$make_dir/locust/locustfile.py" --headless -u 8 -r 8 -t 6s --host "$url" --csv stats \
    --csv-full-history --only-summary >"$work/out.txt" 2>&1) || true
cp "$work/requests.csv" "$samples/locust-requests/requests.csv"
cp "$work/stats_stats.csv" "$samples/refused/locust-stats.csv"
cp "$work/stats_stats_history.csv" "$samples/refused/locust-stats.history.csv"
cp "$work/stats_failures.csv" "$samples/refused/locust-stats.failures.csv"
