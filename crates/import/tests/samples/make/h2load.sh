#!/usr/bin/env bash
# Makes the samples of h2load (h2load). Needs h2load (Debian: apt-get install nghttp2-client).
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need h2load
mkdir -p "$samples/h2load" "$samples/refused"
start_target --error-rate 0.1
h2load --h1 --log-file="$work/closed.log" -n 300 -c 4 "$url/" >"$samples/refused/h2load-text.txt"
h2load --h1 --log-file="$work/rate.log" -n 200 -c 100 -r 10 --rate-period 200ms "$url/" >"$work/out.txt"
stop_target
# A target that answers a few requests a second and is gone before the last: what was under way then is not in the log.
service='const(300ms)' servers=1 start_target
(sleep 1; stop_target) &
h2load --h1 --log-file="$work/lost.log" -n 20 -c 4 "$url/" >"$work/out.txt" || true
wait
stop_target
for name in closed rate lost; do cp "$work/$name.log" "$samples/h2load/$name.log"; done
