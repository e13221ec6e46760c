#!/usr/bin/env bash
# Makes the samples of Apache httpd (access-log/apache-*). Needs apache2, curl and python3 (Debian: apt-get install apache2).
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$make_dir/servers.sh"
need apache2 curl python3
modules="${APACHE_MODULES:-/usr/lib/apache2/modules}"
start_target --error-rate 0.1
mkdir -p "$samples/access-log"
free_port
start_mute
combined='%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"'
timed='%h [%{%d/%b/%Y:%H:%M:%S}t.%{usec_frac}t %{%z}t] \"%r\" %>s %B %D %X %k %I %O \"%{User-Agent}i\"'
ends='%{end:usec}t %{us}T %m %U%q %>s'
cat >"$work/apache.conf" <<CONF
ServerRoot $work
ServerName localhost
PidFile $work/apache.pid
ErrorLog $work/error.log
Listen 127.0.0.1:$server_port
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule proxy_module $modules/mod_proxy.so
LoadModule proxy_http_module $modules/mod_proxy_http.so
LoadModule setenvif_module $modules/mod_setenvif.so
User ${APACHE_USER:-www-data}
Group ${APACHE_USER:-www-data}
ProxyPass /slow http://127.0.0.1:$mute_port/
ProxyTimeout 1
ProxyPass / $url/
SetEnvIf Request_URI ^/up$ probe
CustomLog $work/combined.log "$combined" env=!probe
CustomLog $work/timed.log "$timed" env=!probe
CustomLog $work/ends.log "$ends" env=!probe
CONF
chmod a+rx "$work"
apache2 -f "$work/apache.conf" -D FOREGROUND &
server_pid=$!
wait_up
send
# It notices that the client went when it gives the answer up.
sleep 1.5
kill -TERM "$server_pid"
wait "$server_pid" || true
cp "$work/combined.log" "$samples/access-log/apache-combined.log"
cp "$work/timed.log" "$samples/access-log/apache-timed.log"
echo "$timed" >"$samples/access-log/apache-timed.log.format"
cp "$work/ends.log" "$samples/access-log/apache-ends.log"
echo "$ends" >"$samples/access-log/apache-ends.log.format"
