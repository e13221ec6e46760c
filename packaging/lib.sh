# What the packages share; sourced, not run. Each takes the folder to write to (dist/ unless one is named) and an architecture, x86_64 or
# aarch64 (this machine's unless one is named).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
OUT=$(realpath -m "${1:-dist}")
TARGET=$(realpath -m "${CARGO_TARGET_DIR:-target}")
VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
# Where the project lives, in one place; HEADWAY_ADDRESS is for a fork that packs without an edit.
ADDRESS=${HEADWAY_ADDRESS:-$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)}
HERE=$(uname -m)
ARCHITECTURE=${2:-$HERE}
mkdir -p "$OUT"
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

case $ARCHITECTURE in
    x86_64) DEBIAN=amd64 ;;
    aarch64) DEBIAN=arm64 ;;
    *)
        printf 'packages are made for x86_64 and aarch64, and not for %s\n' "$ARCHITECTURE" >&2
        exit 2
        ;;
esac
PLATFORM=$ARCHITECTURE-unknown-linux-gnu

# Of another architecture, the compiler, linker and strip of Debian that make its binaries.
CROSS=
if [ "$ARCHITECTURE" != "$HERE" ]; then
    CROSS=$ARCHITECTURE-linux-gnu-
    if ! command -v "${CROSS}gcc" >/dev/null; then
        printf 'no %sgcc: apt-get install gcc-%s-linux-gnu libc6-dev-%s-cross\n' "$CROSS" "${ARCHITECTURE//_/-}" "$DEBIAN" >&2
        exit 1
    fi
    export "CARGO_TARGET_${ARCHITECTURE^^}_UNKNOWN_LINUX_GNU_LINKER=${CROSS}gcc" "CC_${ARCHITECTURE}_unknown_linux_gnu=${CROSS}gcc"
    # A toolchain that is not of rustup has the targets that it has.
    ! command -v rustup >/dev/null || rustup --quiet target add "$PLATFORM"
fi
# A binary that needs no library of the system: with --target, so that what runs while it compiles is not linked like it.
export RUSTFLAGS='-C target-feature=+crt-static'
# Linked at a fixed address: the relocations of a static binary that may be loaded anywhere take 2 MB. It is a flag of the last crate alone,
# which the linker goes by; decision 033 says what is given up.
readonly LINK=(-C relocation-model=static)

# build PLATFORM: the one binary of all packages, into the target folder of that platform.
build() {
    cargo rustc --package headway-cli --bin headway --release --locked --features full --target "$1" -- "${LINK[@]}"
}

# binary FILE: that binary for the architecture that was asked for, stripped.
binary() {
    build "$PLATFORM"
    "${CROSS}strip" -o "$1" "$TARGET/$PLATFORM/release/headway"
}

say() {
    printf '%s\n' "$OUT/$1"
}
