# Sourced by the scripts of this folder: where the samples and the tools go, and a calibrated target to send requests to.
# HEADWAY names the headway binary (default: the release build of this workspace), SAMPLE_TOOLS the folder for downloaded
# tools (default: ~/.cache/headway-samples). Samples are made by hand and committed; CI only reads them.
set -euo pipefail
make_dir="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
samples="$(dirname "$make_dir")"
headway="${HEADWAY:-$make_dir/../../../../../target/release/headway}"
tools="${SAMPLE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/headway-samples}"
mkdir -p "$tools"

# A folder for what a script throws away, and the target: both go when the script ends.
work="$(mktemp -d)"
target_pid=
finish() {
    [ -z "$target_pid" ] || kill "$target_pid" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

# need COMMAND...: stops with a message when one is not installed.
need() {
    local c
    for c in "$@"; do
        command -v "$c" >/dev/null || { echo "$0: $c is needed and is not in PATH" >&2; exit 1; }
    done
}

# start_target [OPTION...]: `headway serve` on a free port of the loopback, by default with exp(2ms) at 4 servers ($service,
# $servers); sets $port and $url.
start_target() {
    [ -x "$headway" ] || { echo "$0: no binary at $headway; run cargo build --release or set HEADWAY" >&2; exit 1; }
    "$headway" serve --service "${service:-exp(2ms)}" --servers "${servers:-4}" --seed 1 -l 127.0.0.1:0 --stop-after 20m "$@" 2>"$work/serve.log" &
    target_pid=$!
    local i
    for i in $(seq 100); do
        port="$(sed -n 's/.*serving at 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$work/serve.log")"
        [ -z "$port" ] || break
        sleep 0.05
    done
    [ -n "$port" ] || { echo "$0: the target did not start:" >&2; cat "$work/serve.log" >&2; exit 1; }
    url="http://127.0.0.1:$port"
}

stop_target() {
    kill "$target_pid" 2>/dev/null || true
    wait "$target_pid" 2>/dev/null || true
    target_pid=
}
