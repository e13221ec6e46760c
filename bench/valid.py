#!/usr/bin/env python3
"""How often runs are VALID on this machine, beside what a faultless generator could have had there.

    python3 bench/valid.py --new target/release/headway --out valid.jsonl

Cells of a target, a rate and neighbours (none, or one busy process of equal priority per core). Each run is played against
`headway serve`; just before it a thread of ordinary priority does for as long what a faultless generator does: it sleeps until shortly
before each instant of the plan, reads the clock until then, and notes when that was. The *floor* is what requests of these starts
measure at the same target (servers in order, the same services as from the intended instants). A run of the floor is *fine* if mean,
p50, p90, p95 and p99 are within 3 % of the truth. (A thread that only reads the clock tells nothing here: beside busy processes the
scheduler holds back who never sleeps, and with real-time priority it sees no neighbour.)

Every run is a line of the file that --out names, and a cell that is complete there is not played again: stop it and start it again as
often as needed, `--cells 2` plays that many cells more. The table is of all that the file holds.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tools import free_port, numbers, served, table, wait_for  # noqa: E402

# Not counted: connections are opened in it.
WARMUP = 2
# Services as `headway serve` reads them, servers, and the same law here: mean in seconds, whether it is exponential.
TARGETS = {
    "exp(1ms)": (8, 1e-3, True),
    "exp(8ms)": (40, 8e-3, True),
    "exp(20ms)": (40, 20e-3, True),
    "const(100ms)": (1000, 100e-3, False),
}
# A run of the floor is fine up to this.
FINE = 0.03
# The last part of each wait is spent reading the clock; a wake-up takes less than this.
AWAKE = 0.3e-3

PACER = f"""
import ctypes, gc, sys, time
gc.disable()
ctypes.CDLL(None).prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK, in ns
due = [float(line) for line in sys.stdin]
clock = time.perf_counter
began, starts = clock() + 0.1, []
for t in due:
    left = began + t - clock()
    if left > {AWAKE}: time.sleep(left - {AWAKE})
    while (now := clock()) < began + t: pass
    starts.append(now - began)
print(*starts, sep="\\n")
"""

BUSY = "while True: pass"


# -------------------------------------------------------------------------------------------------------------------- the floor

def plan(rate, seconds, seed):
    """When requests are due."""
    draws = random.Random(seed)
    due, t = [], 0.0
    while (t := t + draws.expovariate(rate)) < seconds:
        due.append(t)
    return due


def floor(due, starts, target, seed):
    """By how much the furthest of the numbers is off that a faultless generator with these starts measures."""
    servers, mean, exponential = TARGETS[target]
    draws = random.Random(seed)
    services = [draws.expovariate(1 / mean) if exponential else mean for _ in due]
    response = lambda starts: [end - t for end, t in zip(served(starts, services, servers), due)]
    return max(abs(got / true - 1) for got, true in zip(numbers(response(starts)), numbers(response(due))))


# ------------------------------------------------------------------------------------------------------------------ real ones

def paced(due):
    """When a thread that sleeps until each of these instants was there."""
    out = subprocess.run([sys.executable, "-c", PACER], input="\n".join(map(str, due)), capture_output=True, text=True, check=True,
                         timeout=10 * due[-1] + 60).stdout
    return [float(line) for line in out.split()]


@contextlib.contextmanager
def serving(binary, target):
    port = free_port()
    command = [binary, "serve", "-l", f"127.0.0.1:{port}", "--service", target, "--servers", str(TARGETS[target][0])]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


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


def run(binary, url, rate, seconds, seed):
    """The summary of a run."""
    folder = tempfile.mkdtemp(prefix="headway-bench-")
    try:
        flags = ["-R", str(rate), "-d", f"{seconds}s", "--warmup", f"{WARMUP}s", "--seed", str(seed), "--no-log", "--out", folder]
        used = subprocess.run([binary, "run", url, *flags, "--json", "-"], capture_output=True, text=True, timeout=3 * seconds + 60)
        if not used.stdout:
            raise RuntimeError(used.stderr)
        return json.loads(used.stdout)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def one(asked, target, rate, beside, seed):
    """A run and its floor, as a line of the file."""
    with neighbours(beside == "busy"):
        due = plan(rate, asked.seconds, seed)
        starts = paced(due)
        with serving(asked.new, target) as url:
            summary = run(asked.new, url, rate, asked.seconds, seed)
    verdict = summary["verdict"]
    failed = [rule["rule"] for rule in verdict["rules"] if rule["outcome"] in ("fail", "undecided")]
    return {"target": target, "rate": rate, "beside": beside, "seconds": asked.seconds, "seed": seed, "load": verdict["load"],
            "open": failed, "effect": verdict.get("effect"), "floor": floor(due, starts, target, seed)}


# ------------------------------------------------------------------------------------------------------------------------ all

def cell_of(line):
    return line["target"], line["rate"], line["beside"], line["seconds"]


def shown(lines):
    cells = collections.defaultdict(list)
    for line in lines:
        cells[cell_of(line)].append(line)
    rows, of = [], lambda runs, load: sum(line["load"] == load for line in runs)
    for (target, rate, beside, seconds), runs in sorted(cells.items()):
        fine = sum(line["floor"] <= FINE for line in runs)
        rows.append([target, f"{rate}/s", beside, f"{seconds} s", len(runs), fine, *(of(runs, load) for load in ("VALID", "INCONCLUSIVE", "INVALID"))])
    all_runs = [line for runs in cells.values() for line in runs]
    rows.append(["all", "", "", "", len(all_runs), sum(line["floor"] <= FINE for line in all_runs),
                 *(of(all_runs, load) for load in ("VALID", "INCONCLUSIVE", "INVALID"))])
    table(["target", "rate", "neighbours", "length", "runs", f"floor within {FINE:.0%}", "VALID", "INCONCLUSIVE", "INVALID"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new", required=True, help="the binary to be judged")
    parser.add_argument("--out", required=True, help="where the runs are kept, one a line")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=12, help="per cell")
    parser.add_argument("--rates", default="100,1000", help="per second")
    parser.add_argument("--targets", default=" ".join(TARGETS), help="some of: " + " ".join(TARGETS))
    parser.add_argument("--neighbours", default="none,busy")
    parser.add_argument("--cells", type=int, default=10**6, help="most cells that are played now")
    asked = parser.parse_args()
    lines = []
    if os.path.exists(asked.out):
        with open(asked.out) as file:
            lines = [json.loads(line) for line in file]
    played = 0
    for target in asked.targets.split():
        for rate in map(int, asked.rates.split(",")):
            for beside in asked.neighbours.split(","):
                there = [line for line in lines if cell_of(line) == (target, rate, beside, asked.seconds)]
                if len(there) >= asked.runs or played >= asked.cells:
                    continue
                played += 1
                for seed in range(len(there) + 1, asked.runs + 1):
                    line = one(asked, target, rate, beside, seed)
                    lines.append(line)
                    with open(asked.out, "a") as file:
                        file.write(json.dumps(line) + "\n")
                    print(f"{target} {rate}/s {beside} {seed}: floor {line['floor']:.1%} off, {line['load']} {line['open']}",
                          file=sys.stderr, flush=True)
    shown(lines)


if __name__ == "__main__":
    main()
