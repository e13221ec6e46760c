# Sourced after common.sh by the scripts that make access logs: what is sent to a server, and that it is up and down again.

# free_port: a port of the loopback that nobody listens on; sets $server_port and $server_url.
free_port() {
    server_port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
    server_url="http://127.0.0.1:$server_port"
}

# start_mute: a port that takes connections and never answers; sets $mute_port. It ends with the script.
start_mute() {
    python3 -c '
import socket, sys, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(120)' >"$work/mute" &
    mute_pid=$!
    trap 'kill "$mute_pid" 2>/dev/null || true; finish' EXIT
    while [ ! -s "$work/mute" ]; do sleep 0.05; done
    mute_port="$(cat "$work/mute")"
}

# wait_up: until the server answers.
wait_up() {
    local i
    for i in $(seq 100); do
        curl -s -o "$work/up" "$server_url/up" && return 0
        sleep 0.1
    done
    echo "$0: the server did not start" >&2
    exit 1
}

# send: Poisson arrivals at two paths, then what logs have to quote (odd agents, paths, request lines), and a client that
# goes before the answer.
send() {
    local out="$work/run"
    "$headway" run --quiet --no-log -R 40/s -d 3s --seed 1 --out "$out.1" "$server_url/home?user=1" >"$out" || true
    "$headway" run --quiet --no-log -R 40/s -d 3s --seed 2 --out "$out.2" -m POST -b text "$server_url/search" >"$out" || true
    curl -s -o "$out" -A 'an "agent" \ of its own' -e 'http://127.0.0.1/?q="x"' "$server_url/a%20b?c=d%22" "$server_url/home"
    curl -s -o "$out" -m 0.5 "$server_url/slow" || true
    python3 - "$server_port" <<'PY'
import socket, sys
for request in (b'\x16\x03\x01\x00\xa5\r\n\r\n', b'GARBAGE "quoted\r\n\r\n'):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5) as s:
        s.sendall(request)
        s.recv(1000)
PY
}
