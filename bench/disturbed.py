#!/usr/bin/env python3
"""Loads disturbed on purpose: does the target's kernel agree that what is VALID was sent as planned?

    cargo build --release
    python3 bench/disturbed.py --loads 200 > table.md

Each load has its own rate, target, length and disturbance, drawn from the printed seed: the generator is stopped (SIGSTOP), its core is
taken by real-time work, it shares the core with busy loops, has a CPU quota that throttles it, a connection cap that makes requests wait,
or a line too slow for what it sends; a few have none of these. The verdict is held against the plan and the receive stamps of the
target's kernel alone. A load is off if CoV^2 of its headways or the index of dispersion of its counts (windows of 1, 10, 100 ms and 1 s
from the time scale L up) differs from that of its plan by more than 0.15, lateness up to L forgiven as in the verdict. The difference is
the estimate itself and not the end of an interval.

Root is needed for real-time work, quotas and slow lines: without it those kinds are left out, which the table says. Sends to
127.0.0.1 and to network namespaces of its own; bounded by --loads and --minutes."""

import argparse
import collections
import math
import pathlib
import random
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / ".ci/e2e"), str(ROOT / "bench")]
import harness  # noqa: E402
import kernel  # noqa: E402
from hindrances import Uplink, bursts, hog, nothing, pulses, quota  # noqa: E402
from tools import table  # noqa: E402

OFF = 0.15
VERDICTS = ("VALID", "INCONCLUSIVE", "INVALID")
# Milliseconds of service time of the targets; the time scale L is 1 ms for those below 40, and 2, 5 and 10 ms for the last three.
SERVICES = "0.2,0.2,0.2,4,4,4,45,45,120,120,250"
# Requests that a target may hold at a time: each is a connection.
MOST_IN_FLIGHT = 400


def between(draws, low, high):
    """Uniform in the logarithm."""
    return low * math.exp(draws.random() * math.log(high / low))


def stops(draws):
    length, every = between(draws, 0.001, 0.15), between(draws, 0.1, 4)
    return f"{1e3 * length:.1f} ms each {every:.2f} s", {"hinder": pulses(length, every, draws)}


def taken(draws):
    length, every = between(draws, 0.0005, 0.06), between(draws, 0.1, 4)
    every += length
    return f"{1e3 * length:.1f} ms each {every:.2f} s", {"hinder": bursts(length, every, draws.randrange(2**32))}


def neighbour(draws):
    policy = draws.choice([(), ("nice", "-n", "10"), ("chrt", "-i", "0"), ("nice", "-n", "-10")])
    return " ".join(policy) or "equal priority", {"hinder": hog(*policy)}


def throttled(draws):
    percent, period = between(draws, 1, 40), draws.choice([10, 20, 50, 100])
    # The kernel's least quota is 1 ms.
    percent = max(percent, 100 / period)
    return f"{percent:.1f} % in {period} ms", {"hinder": quota(percent, period, must=False)}


def capped(draws, rate, service):
    """A cap from half to three times what the load needs on average."""
    cap = max(1, round(rate * service * between(draws, 0.5, 3)))
    return f"-c {cap}", {"flags": ("-c", str(cap))}


def undisturbed(_):
    return "-", {"hinder": nothing}


# Each kind, and how often.
KINDS = {"stopped": (stops, 5), "core taken": (taken, 5), "busy loop": (neighbour, 2), "quota": (throttled, 4), "cap": (None, 2),
         "slow line": (None, 1), "none": (undisturbed, 1)}


def one(tmp, draws, number, services):
    """Plays a load: its kind, what it was, and how it was played."""
    kind = draws.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
    service = draws.choices(services)[0]
    rate = round(between(draws, 50, min(4000, MOST_IN_FLIGHT / service)))
    seconds, seed = draws.choice([6, 8, 10]), draws.randrange(2**32)
    law = draws.choice(["const({}us)", "lognormal({}us,0.3)"]).format(round(1e6 * service))
    servers = 4 * MOST_IN_FLIGHT
    options = {"seconds": seconds, "serve": ("--service", law, "--servers", str(servers))}
    if kind == "slow line":
        # From half to three times what requests of 1 KB, and what carries them, need.
        with Uplink(f"{round(rate * 1.25 * 8 * between(draws, 0.5, 3))}kbit") as uplink:
            played = kernel.play(tmp, f"load {number}", rate, seed, uplink=uplink, body=1000, **options)
            return kind, f"{uplink.rate}, 1 KB", rate, law, played
    what, more = capped(draws, rate, service) if kind == "cap" else KINDS[kind][0](draws)
    return kind, what, rate, law, kernel.play(tmp, f"load {number}", rate, seed, **options, **more)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loads", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--services", default=SERVICES, help="milliseconds of the targets' service times, one as often as it stands there")
    parser.add_argument("--only", help="of these loads, by number, alone: 25,30")
    parser.add_argument("--minutes", type=float, default=120, help="no load begins after that")
    asked = parser.parse_args()
    seed = random.randrange(10**6) if asked.seed is None else asked.seed
    services = [float(service) / 1e3 for service in asked.services.split(",")]
    print(f"## Loads disturbed on purpose\n\n{asked.loads} loads, seed {seed}, service times of {asked.services} ms.\n", flush=True)

    counts, left_out, worst = collections.defaultdict(collections.Counter), collections.Counter(), []
    end, tmp = time.time() + 60 * asked.minutes, pathlib.Path(tempfile.mkdtemp(prefix="headway-bench-"))
    for number in [int(n) for n in asked.only.split(",")] if asked.only else range(asked.loads):
        if time.time() > end:
            print(f"Ended after {asked.minutes:g} minutes, at load {number}.\n")
            break
        try:
            # A stream of its own, so that one load can be played again alone.
            kind, what, rate, law, played = one(tmp, random.Random(f"{seed}-{number}"), number, services)
        except (harness.Skipped, harness.Failed) as reason:
            left_out[str(reason)[:160]] += 1
            print(f"{number}: left out: {reason}", file=sys.stderr, flush=True)
            harness.stop_all()
            continue
        verdict = played.summary["verdict"]
        scale = verdict["lateness_s"]
        name, difference = kernel.off(played.due, played.came, scale, played.seconds)
        limited = verdict["limited_by"]
        named = bool(limited and limited["share"] > limited["tolerated"])
        is_off = abs(difference) > OFF
        count = counts[kind]
        count.update(["runs", verdict["load"]] + ["off"] * is_off)
        if verdict["load"] == "VALID":
            count.update(["named"] * named + ["off at the cap"] * (named and is_off) + ["wrong"] * (is_off and not named))
            worst.append((abs(difference), number)) if not named else None
        print(f"{number:>4} {kind:<10} {what:<24} {rate:>5}/s {law:<24} L {1e3 * scale:g} ms  due {len(played.due)} came {len(played.came)}"
              f"  {name} {difference:+.3f}  {verdict['load']}{' up to the cap' if named else ''}"
              f"{' WRONG' if verdict['load'] == 'VALID' and is_off and not named else ''}", file=sys.stderr, flush=True)

    rows = []
    for kind in [*KINDS, "all"]:
        of = counts[kind] if kind != "all" else sum(counts.values(), collections.Counter())
        rows.append([kind, *(of[column] for column in ("runs", *VERDICTS, "off", "named", "off at the cap", "wrong"))])
    table(["disturbance", "runs", *VERDICTS, "off by the kernel's stamps", "VALID up to the cap, which the verdict names", "of these off",
           "VALID otherwise, but off"], rows)
    if worst:
        print(f"The largest difference of a VALID load: {max(worst)[0]:.3f} (load {max(worst)[1]}).\n")
    for reason, n in left_out.items():
        print(f"{n} left out: {reason}\n")


if __name__ == "__main__":
    try:
        main()
    finally:
        harness.stop_all()
