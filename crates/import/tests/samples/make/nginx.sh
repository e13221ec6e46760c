#!/usr/bin/env bash
# Makes the samples of nginx (access-log/nginx-*). Needs nginx, curl and python3 (Debian: apt-get install nginx).
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$make_dir/servers.sh"
need nginx curl python3
start_target --error-rate 0.1
mkdir -p "$samples/access-log"
free_port
start_mute
timed='$remote_addr [$time_local] $msec "$request" $status $bytes_sent $request_time "$upstream_response_time" $connection/$connection_requests "$http_user_agent"'
json='{"at":"$time_iso8601","msec":$msec,"method":"$request_method","uri":"$request_uri","status":$status,"bytes":$body_bytes_sent,"took":$request_time,"agent":"$http_user_agent"}'
cat >"$work/nginx.conf" <<CONF
daemon off;
worker_processes 1;
pid $work/nginx.pid;
error_log $work/error.log;
events {}
http {
    log_format timed '$timed';
    log_format json escape=json '$json';
    access_log $work/combined.log;
    access_log $work/timed.log timed;
    access_log $work/json.log json;
    server {
        listen 127.0.0.1:$server_port;
        location / { proxy_pass $url; }
        location = /up { access_log off; return 204; }
        location = /slow { proxy_pass http://127.0.0.1:$mute_port; }
    }
}
CONF
nginx -p "$work" -c "$work/nginx.conf" &
server_pid=$!
wait_up
send
kill -QUIT "$server_pid"
wait "$server_pid" || true
cp "$work/combined.log" "$samples/access-log/nginx-combined.log"
cp "$work/timed.log" "$samples/access-log/nginx-timed.log"
echo "$timed" >"$samples/access-log/nginx-timed.log.format"
cp "$work/json.log" "$samples/access-log/nginx-json.log"
echo "$json" >"$samples/access-log/nginx-json.log.format"
