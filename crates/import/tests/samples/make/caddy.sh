#!/usr/bin/env bash
# Makes the samples of Caddy (json-log/caddy*.json). Needs caddy, curl and python3 (Debian: apt-get install caddy).
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$make_dir/servers.sh"
need caddy curl python3
start_target --error-rate 0.1
mkdir -p "$samples/json-log"
free_port
start_mute
cat >"$work/Caddyfile" <<CONF
{
    admin off
    auto_https off
}
http://127.0.0.1:$server_port {
    log {
        output file $work/caddy.json
    }
    skip_log /up
    respond /up 204
    reverse_proxy /slow 127.0.0.1:$mute_port
    reverse_proxy $url
}
CONF
HOME="$work" caddy run --config "$work/Caddyfile" >/dev/null 2>&1 &
server_pid=$!
wait_up
send
kill "$server_pid"
wait "$server_pid" || true
cp "$work/caddy.json" "$samples/json-log/caddy.json"
