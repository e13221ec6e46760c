#!/usr/bin/env bash
# Installs the tools that the benchmarks compare with: Debian's packages, and the rest under bench/peers (ignored by git).
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p peers
if ! command -v wrk >/dev/null || ! command -v h2load >/dev/null || ! command -v nginx >/dev/null; then
    apt-get update -qq
    apt-get install -y -qq wrk nghttp2-client nginx-light >/dev/null
fi
[ -x peers/bin/oha ] || cargo install oha --locked --root peers
[ -x peers/bin/k6 ] || GOBIN="$PWD/peers/bin" go install go.k6.io/k6@latest
[ -x peers/bin/fortio ] || GOBIN="$PWD/peers/bin" go install fortio.org/fortio@v1.63.0
ls peers/bin
