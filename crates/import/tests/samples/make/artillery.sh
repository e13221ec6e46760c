#!/usr/bin/env bash
# Makes the sample of Artillery 2.0.21 (refused/artillery-json.json). Needs node and npm.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need node npm
artillery="${ARTILLERY:-$tools/artillery/node_modules/.bin/artillery}"
if [ ! -x "$artillery" ]; then
    # Without the scripts of its dependencies: they fetch browsers.
    npm install --silent --ignore-scripts --prefix "$tools/artillery" artillery@2.0.21
fi
mkdir -p "$samples/refused"
start_target --error-rate 0.1
cat >"$work/load.yml" <<YAML
config:
  target: "$url"
  phases: [{ duration: 12, arrivalRate: 5 }]
scenarios: [{ flow: [{ get: { url: "/" } }] }]
YAML
(cd "$work" && ARTILLERY_DISABLE_TELEMETRY=true "$artillery" run -o report.json load.yml >out.txt 2>&1) \
    || { cat "$work/out.txt" >&2; exit 1; }
cp "$work/report.json" "$samples/refused/artillery-json.json"
