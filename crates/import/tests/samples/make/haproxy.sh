#!/usr/bin/env bash
# Makes the sample of HAProxy (access-log/haproxy.log). Needs haproxy, curl and python3 (Debian: apt-get install haproxy).
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$make_dir/servers.sh"
need haproxy curl python3
start_target --error-rate 0.1
mkdir -p "$samples/access-log"
free_port
start_mute
cat >"$work/haproxy.cfg" <<CONF
global
    log stdout format rfc3164 local0
defaults
    mode http
    log global
    option httplog
    timeout connect 2s
    timeout client 20s
    timeout server 20s
frontend http_in
    bind 127.0.0.1:$server_port
    http-request return status 204 if { path /up }
    http-request set-log-level silent if { path /up }
    capture request header User-Agent len 20
    use_backend slow if { path /slow }
    default_backend app
backend app
    server srv1 127.0.0.1:$port
backend slow
    server srv1 127.0.0.1:$mute_port
CONF
TZ=UTC haproxy -db -f "$work/haproxy.cfg" >"$work/haproxy.log" 2>/dev/null &
server_pid=$!
wait_up
send
kill "$server_pid"
wait "$server_pid" || true
grep -a 'haproxy\[[0-9]*\]: .* http_in ' "$work/haproxy.log" | grep -v ' "GET /up ' | sed 's/^<[0-9]*>//' >"$samples/access-log/haproxy.log"
