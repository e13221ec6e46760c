# What the packages share; sourced, not run.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
OUT=$(realpath -m "${1:-dist}")
TARGET=$(realpath -m "${CARGO_TARGET_DIR:-target}")
VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
PLATFORM=$(uname -m)-unknown-linux-gnu
mkdir -p "$OUT"
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# A binary that needs no library of the system: with --target, so that what runs while it compiles is not linked like it.
static() {
    export RUSTFLAGS='-C target-feature=+crt-static'
}

say() {
    printf '%s\n' "$OUT/$1"
}
