#!/usr/bin/env python3
"""What the live view costs the load: send lag with a reader and without, in turns.

    cargo build --release
    python3 bench/watch.py [--rounds 8] [--seconds 6] [--rates 2000,10000]

Generator and view share core 0; the target has core 1, and so has the reader, which takes every snapshot and the metrics once a second.
In each round three runs of one seed take turns, in an order that changes: without --watch, with it and without a reader, with a reader.
Prints medians, the median of the ratios within a round with its least and greatest, and how many snapshots a run had."""

import argparse
import http.client
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from tools import HEADWAY, TARGET_CORE, GENERATOR_CORE, awake, table

KINDS = ("without", "no reader", "a reader")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--rates", default="2000,10000")
    arguments = parser.parse_args()
    # The reader, and whatever this starts unpinned.
    os.sched_setaffinity(0, {int(TARGET_CORE)})
    with tempfile.TemporaryDirectory() as tmp, awake():
        target = subprocess.Popen(["taskset", "-c", TARGET_CORE, HEADWAY, "serve", "--listen", "127.0.0.1:0", "--service", "const(50us)", "--servers", "8"],
                                  stderr=subprocess.PIPE, text=True)
        try:
            url = re.search(r"serving at (\S+) ", target.stderr.readline()).group(1)
            rows = [row for rate in arguments.rates.split(",") for row in measured(f"http://{url}/", rate, arguments, pathlib.Path(tmp))]
        finally:
            target.terminate()
            target.wait()
    table(["rate", "run", "lag p50 us", "lag p99 us", "lag p99.9 us", "p99 / without", "processor s", "/ without", "snapshots"], rows)


def measured(url, rate, arguments, tmp):
    """A row for each kind of run at a rate."""
    draws = random.Random(rate)
    rounds = []
    for number in range(arguments.rounds):
        kinds = list(KINDS)
        draws.shuffle(kinds)
        rounds.append({kind: one(url, rate, arguments.seconds, kind, 100 + number, tmp) for kind in kinds})
    for kind in KINDS:
        def of(name):
            return [r[kind][name] for r in rounds]

        def ratio(name):
            all_of = [r[kind][name] / r["without"][name] for r in rounds]
            return f"{statistics.median(all_of):.2f} ({min(all_of):.2f} to {max(all_of):.2f})"

        lags = [f"{1e6 * statistics.median(of(name)):.1f}" for name in ("p50", "p99", "p999")]
        yield [rate, kind, *lags, ratio("p99"), f"{statistics.median(of('cpu')):.2f}", ratio("cpu"), f"{statistics.median(of('snapshots')):.0f}"]


def one(url, rate, seconds, kind, seed, tmp):
    command = ["taskset", "-c", GENERATOR_CORE, HEADWAY, "run", url, "-R", rate, "-d", f"{seconds}s", "--seed", str(seed), "--no-log", "--quiet",
               "--json", tmp / "one.json", "--out", tmp / f"{time.monotonic_ns()}", *([] if kind == "without" else ["--watch"])]
    before = os.times()
    run = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seen = []
    reader = None
    if kind != "without":
        port = re.search(r"watch it at http://127.0.0.1:(\d+)/", run.stderr.readline()).group(1)
        if kind == "a reader":
            reader = threading.Thread(target=read, args=(int(port), seen))
            reader.start()
    run.communicate()
    after = os.times()
    if reader:
        reader.join()
    lag = json.loads((tmp / "one.json").read_text())["lag"]
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {**{name: lag[name] for name in ("p50", "p99", "p999")}, "cpu": cpu, "snapshots": len(seen)}


def read(port, seen):
    """Every snapshot to the last, and the metrics after each."""
    connection, number = http.client.HTTPConnection("127.0.0.1", port, timeout=30), 0
    while True:
        connection.request("GET", f"/snapshot.json?after={number}")
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            continue
        document = json.loads(text)
        number = document["number"]
        seen.append(number)
        if document["ended"]:
            return
        connection.request("GET", "/metrics")
        connection.getresponse().read()


if __name__ == "__main__":
    sys.exit(main())
