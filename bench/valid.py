#!/usr/bin/env python3
"""How often a load is VALID on this machine, how late it starts, and how often a generator without a fault would be VALID here.

    cargo build --release
    python3 bench/valid.py --new target/release/headway [--old OTHER/headway] [--realtime] > table.md

Cells: each rate against `headway serve` with each service time, with nothing else running and with one busy process of ordinary
priority per core. Runs of the binaries take turns in random order (the seed is printed); the old one has half as many. Before
each block of runs a thread that only reads the clock notes when it was held up. These hold-ups are the floor: a generator that is
late for nothing else starts what is due within one at its end. Such starts of Poisson plans are judged by the rules of
docs/verdict.md, with lateness up to the target's time scale forgiven: the column "faultless". The clock reader has real-time
priority where that is permitted, so that its hold-ups are those of the host and not of the busy processes, and rests between its
stretches, so that it is never the one that uses up the machine.

Nothing here asserts a time. Bounded by --runs, --seconds and --minutes; sends to 127.0.0.1 alone."""

import argparse
import contextlib
import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tools import free_port, median, shown, table, wait_for  # noqa: E402

# Not counted: connections are opened in it.
WARMUP = 2
# The time scales at which lateness may be judged, and how much shorter than the service one must be (docs/verdict.md).
LADDER, SHORTER = [1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 100e-3], 20
VERDICTS = ("VALID", "INCONCLUSIVE", "INVALID")
# A clock that jumps by more was not being read: one look takes 0.1 us.
HELD = 20e-6
# The reader rests after each stretch.
STRETCH, REST = 0.4, 0.05

SEGMENTS, T19 = 20, 2.093
LATE_SHARE, BUNCHING, DISPERSION = 0.01, 0.1, 0.1
WINDOWS, FEWEST_WINDOWS = (0.001, 0.01, 0.1, 1.0), 30

READER = f"""
import gc, os, sys, time
gc.disable()
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); word = "realtime"
except OSError:
    word = "ordinary"
clock, left, read = time.perf_counter, float(sys.argv[1]), 0.0
held = []
while left > 0:
    begin = before = clock(); end = begin + {STRETCH}
    while before < end:
        now = clock()
        if now - before > {HELD}: held.append((read + before - begin, now - before))
        before = now
    read += before - begin; left -= before - begin
    time.sleep({REST})
print(word, read)
for at, length in held: print(at, length)
"""

BUSY = "while True: pass"


# ------------------------------------------------------------------------------------------------- a generator without a fault

def scale_of(service):
    """The time scale of a target with that service time."""
    return max([L for L in LADDER if L <= service / SHORTER], default=LADDER[0])


def cov2(gaps):
    mean = sum(gaps) / len(gaps)
    return sum((g - mean) ** 2 for g in gaps) / (len(gaps) - 1) / mean ** 2


def index(counts):
    mean = sum(counts) / len(counts)
    return sum((c - mean) ** 2 for c in counts) / (len(counts) - 1) / mean


def beyond(hits, n, p):
    """The probability of more than so many hits."""
    if p <= 0 or p >= 1:
        return float(p >= 1)
    log = n * math.log1p(-p)
    total = math.exp(log)
    for k in range(1, hits + 1):
        log += math.log((n - k + 1) / k) + math.log(p) - math.log1p(-p)
        total += math.exp(log)
    return 1 - total


def root(rising):
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) else (middle, high)
    return (low + high) / 2


def clopper_pearson(hits, n):
    """95 % limits of a share (1934)."""
    low = root(lambda p: beyond(hits - 1, n, p) > 0.025) if hits else 0.0
    high = root(lambda p: beyond(hits, n, p) > 0.975) if hits < n else 1.0
    return low, high


def half_width(differences):
    return T19 * statistics.stdev(differences) / math.sqrt(len(differences))


def judged(low, high, tolerance):
    """What an interval says of a rule: it passes (0), is undecided (1), or fails (2)."""
    if -tolerance <= low and high <= tolerance:
        return 0
    return 2 if low > tolerance or high < -tolerance else 1


def cut(values, at, seconds):
    """The values in segments of equal length, by their times."""
    parts = [[] for _ in range(SEGMENTS)]
    for value, t in zip(values, at):
        parts[min(int(t / seconds * SEGMENTS), SEGMENTS - 1)].append(value)
    return parts


def late_share(late, due, seconds):
    parts = cut(late, due, seconds)
    value = sum(late) / len(late)
    off = [sum(part) - value * len(part) for part in parts]
    half = T19 * math.sqrt(SEGMENTS * sum(x * x for x in off) / (SEGMENTS - 1)) / len(late)
    low, high = clopper_pearson(sum(late), len(late))
    return judged(max(0.0, min(value - half, low)), max(value + half, high), LATE_SHARE)


def bunching(starts, due, seconds):
    gaps = [[b - a for a, b in zip(times, times[1:])] for times in (starts, due)]
    pairs = zip(*(cut(g, due[1:], seconds) for g in gaps))
    half = half_width([cov2(a) - cov2(b) for a, b in pairs])
    value = cov2(gaps[0]) - cov2(gaps[1])
    return judged(value - half, value + half, BUNCHING)


def dispersion(starts, due, seconds, window):
    n = int(seconds / window)
    counts = []
    for times in (starts, due):
        counts.append([0] * n)
        for t in times:
            if t < n * window:
                counts[-1][min(int(t / window), n - 1)] += 1
    each = n // SEGMENTS
    differences = [index(counts[0][i * each:(i + 1) * each]) - index(counts[1][i * each:(i + 1) * each])
                   for i in range(SEGMENTS)]
    value, half = index(counts[0]) - index(counts[1]), half_width(differences)
    return judged(value - half, value + half, DISPERSION)


def faultless(held, rate, seconds, scale, seed):
    """The verdict on Poisson arrivals of which those that are due within a hold-up start at its end."""
    draws, due, t = random.Random(seed), [], 0.0
    while (t := t + draws.expovariate(rate)) < seconds:
        due.append(t)
    starts, i = [], 0
    for t in due:
        while i < len(held) and held[i][0] + held[i][1] <= t:
            i += 1
        inside = i < len(held) and held[i][0] <= t
        starts.append(held[i][0] + held[i][1] if inside else t)
    late = [s - d > scale for s, d in zip(starts, due)]
    # What is up to the time scale late cannot matter to the target.
    starts = [s - min(s - d, scale) for s, d in zip(starts, due)]
    outcomes = [late_share(late, due, seconds), bunching(starts, due, seconds)]
    outcomes += [dispersion(starts, due, seconds, w) for w in WINDOWS if seconds / w >= FEWEST_WINDOWS]
    return {0: "VALID", 1: "INCONCLUSIVE", 2: "INVALID"}[max(outcomes)]


# ------------------------------------------------------------------------------------------------------------------ real ones

def read_clock(seconds):
    """Hold-ups (when, how long) of a thread that only reads the clock, how long it read, and with which priority."""
    out = subprocess.run([sys.executable, "-c", READER, str(seconds)], capture_output=True, text=True, check=True,
                         timeout=10 * seconds + 60).stdout.splitlines()
    word, read = out[0].split()
    return [tuple(map(float, line.split())) for line in out[1:]], float(read), word


@contextlib.contextmanager
def target(binary, service):
    """`headway serve` with more servers than requests in flight, so that none waits."""
    port = free_port()
    command = [binary, "serve", "-l", f"127.0.0.1:{port}", "--service", f"const({service * 1e6:.0f}us)", "--servers", "100000"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(10)


@contextlib.contextmanager
def neighbours(busy):
    """One busy process of ordinary priority per core, as from another terminal."""
    cores = sorted(os.sched_getaffinity(0)) if busy else []
    processes = [subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True) for _ in cores]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def run(command, url, rate, seconds, seed):
    """The summary of a run."""
    folder = tempfile.mkdtemp(prefix="headway-bench-")
    try:
        flags = ["-R", str(rate), "-d", f"{seconds}s", "--warmup", f"{WARMUP}s", "--seed", str(seed), "--no-log", "--out", folder]
        used = subprocess.run([command[0], "run", url, *flags, *command[1:], "--json", "-"], capture_output=True, text=True,
                              timeout=3 * seconds + 60)
        if not used.stdout:
            raise RuntimeError(used.stderr)
        return json.loads(used.stdout)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def share(verdicts, of):
    return "-" if not verdicts else f"{verdicts.count(of) / len(verdicts):.0%}"


def microseconds(seconds):
    return None if seconds is None else 1e6 * seconds


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new", required=True, help="the binary to be judged")
    parser.add_argument("--old", help="another one, to compare: half as many runs")
    parser.add_argument("--realtime", action="store_true", help="also `--new --realtime`")
    parser.add_argument("--wait", action="append", default=[], help="also `--new --wait WAIT` (sleep, spin)")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=12, help="per cell")
    parser.add_argument("--rates", default="100,1000,10000", help="per second")
    parser.add_argument("--services", default="1,50", help="milliseconds")
    parser.add_argument("--neighbours", default="none,busy")
    parser.add_argument("--minutes", type=float, default=240, help="no block begins after that")
    parser.add_argument("--seed", type=int, default=None)
    return parser.parse_args()


def main():
    asked = arguments()
    seed = random.randrange(10 ** 6) if asked.seed is None else asked.seed
    draws = random.Random(seed)
    rates = [int(r) for r in asked.rates.split(",")]
    services = [float(s) / 1e3 for s in asked.services.split(",")]
    states = asked.neighbours.split(",")
    binaries = {"new": [asked.new]}
    binaries.update({f"new --wait {wait}": [asked.new, "--wait", wait] for wait in asked.wait})
    if asked.realtime:
        binaries["new --realtime"] = [asked.new, "--realtime"]
    if asked.old:
        binaries["old"] = [asked.old]
    # Seconds of a round: a run begins and ends within one.
    cells = len(rates) * len(services)
    length = asked.runs * len(states) * ((len(binaries) - bool(asked.old) / 2) * cells * (asked.seconds + WARMUP + 1) + asked.seconds)
    print("## How often a load is VALID\n")
    print(f"Seed {seed}; {asked.seconds} s a run; at most {length / 60:.0f} minutes.\n", flush=True)

    verdicts, lags, floors, hosts, words = {}, {}, {}, [], set()
    end = time.time() + 60 * asked.minutes
    with contextlib.ExitStack() as stack:
        urls = {service: stack.enter_context(target(asked.new, service)) for service in services}
        for block in range(asked.runs):
            for state in draws.sample(states, len(states)):
                if time.time() > end:
                    break
                with neighbours(state == "busy"):
                    held, read, word = read_clock(asked.seconds)
                    words.add(word)
                    hosts.append((state, len([h for _, h in held if h > 1e-3]) / read, 1e3 * sum(h for _, h in held) / read,
                                  1e3 * max((h for _, h in held), default=0)))
                    names = [name for name in binaries if name != "old" or block % 2 == 0]
                    for name, rate, service in draws.sample(todo := [(n, r, s) for n in names for r in rates for s in services],
                                                            len(todo)):
                        try:
                            summary = run(binaries[name], urls[service], rate, asked.seconds, draws.randrange(2 ** 32))
                        except (RuntimeError, subprocess.TimeoutExpired) as error:
                            print(f"{name}, {rate}/s, {service} s, {state}: {error}", file=sys.stderr, flush=True)
                            continue
                        cell = (state, service, rate)
                        verdicts.setdefault((cell, name), []).append(summary["verdict"]["load"])
                        lags.setdefault((cell, name), []).append(summary["lag"])
                    for rate in rates:
                        for service in services:
                            verdict = faultless(held, rate, asked.seconds, scale_of(service), draws.randrange(2 ** 32))
                            floors.setdefault((state, service, rate), []).append(verdict)

    rows = []
    for cell in [(state, service, rate) for state in states for service in services for rate in rates]:
        for name in binaries:
            seen = verdicts.get((cell, name), [])
            lag = lags.get((cell, name), [])
            rows.append([cell[0], f"{1e3 * cell[1]:g} ms", f"{cell[2]:,}", name, len(seen), *(share(seen, v) for v in VERDICTS),
                         *(shown(microseconds(median([one[q] for one in lag])), 0) for q in ("p50", "p99")),
                         share(floors.get(cell, []), "VALID")])
    table(["neighbours", "target", "rate", "binary", "runs", *VERDICTS, "lag p50 us", "p99 us", "faultless VALID"], rows)
    print(f"What a thread that only reads the clock saw ({', '.join(sorted(words))} priority), medians of its stretches.\n")
    table(["neighbours", "blocks", "hold-ups over 1 ms a second", "ms a second in all hold-ups", "longest, ms"],
          [[state, len(of), *(shown(median([h[i] for h in of])) for i in (1, 2, 3))]
           for state in states for of in [[h for h in hosts if h[0] == state]]])


if __name__ == "__main__":
    main()
