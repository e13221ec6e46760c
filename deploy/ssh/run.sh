#!/usr/bin/env bash
# The shards of a run, one on each host of a list; the arguments after the list are those of `headway run`:
#     deploy/ssh/run.sh 'one two user@three' shop.yaml --seed 7 --start-at barrier --out /shared/run42
# Each host has the program (HEADWAY names it, where it is not on the PATH there), and lets this user in without a password. What --out
# names is what all hosts share, and files in the arguments are those of the hosts. Exit code 1 if a shard ends with another code than 0.
set -euo pipefail
usage() {
    printf '%s\n' "usage: ${0##*/} 'HOST HOST ...' ARGUMENTS-OF-HEADWAY-RUN" >&2
    exit 2
}
[ "$#" -ge 2 ] || usage
read -r -a hosts <<<"$1"
shift
[ "${#hosts[@]}" -gt 0 ] || usage

# What a host says, each line with its name.
named() {
    local line
    while IFS= read -r line; do
        printf '%s: %s\n' "$1" "${line%$'\r'}"
    done
}

# With a terminal of its own (-tt) a shard is interrupted when its connection ends: after Ctrl-C none goes on alone.
shards=()
trap '[ "${#shards[@]}" -eq 0 ] || kill "${shards[@]}" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
for i in "${!hosts[@]}"; do
    printf -v command '%q ' env NO_COLOR=1 "${HEADWAY:-headway}" run "$@" --shard "$i/${#hosts[@]}"
    TERM=dumb ssh -tt -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 "${hosts[i]}" "$command" </dev/null > >(named "${hosts[i]}") 2>&1 &
    shards+=("$!")
done

failed=0
for i in "${!hosts[@]}"; do
    code=0
    wait "${shards[i]}" || code=$?
    if [ "$code" -ne 0 ]; then
        printf '%s: shard %d of %d ended with exit code %d\n' "${hosts[i]}" "$i" "${#hosts[@]}" "$code" >&2
        failed=1
    fi
done
shards=()
exit "$failed"
