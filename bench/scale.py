#!/usr/bin/env python3
"""What a run of many shards asks of the folder that they share and of the merge: measured with shards on this machine, and what 1,000 shards of 100,000/s would need by it.
Prints Markdown. See bench/README.md.

    cargo build --release --features full && cargo build --release -p headway-engine --example shards
    python3 bench/scale.py store                # SHARDS=100 processes, 10 requests a second each, which share a folder
    python3 bench/scale.py bucket               # the same in a bucket of moto's S3 server, which must be there for this python3 (pip install 'moto[server]')
    python3 bench/scale.py merge                # RECORDS=10 million records, of 8 shards and of SHARDS, made up by bench/merge.py's program
"""

import collections
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../.ci/e2e")]
from merge import MAKER, merged  # noqa: E402
from storing import BUCKET, Bucket, Moto, variables  # noqa: E402
from tools import HEADWAY, free_port, table, wait_for  # noqa: E402

SHARDS = int(os.environ.get("SHARDS", "100"))
SECONDS = int(os.environ.get("SECONDS", "25"))
MILLIONS = float(os.environ.get("RECORDS", "10"))
# What is extrapolated to.
MANY, RATE, LONG_S = 1_000, 100_000, 60


def store(in_bucket=False):
    with contextlib.ExitStack() as stack:
        folder = tempfile.mkdtemp(prefix="headway-bench-", dir=os.environ.get("FOLDER"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if not in_bucket:
            shards_in(folder, f"{folder}/run", lambda: sizes_of(f"{folder}/run"))
            return
        moto = stack.enter_context(Moto(pathlib.Path(folder)))
        bucket = Bucket(moto.url)
        os.environ.update(variables(moto.url))
        shards_in(folder, f"s3://{BUCKET}/run", lambda: {name.removeprefix("run/"): size for name, size in bucket.sizes("run/").items()})
        asked = collections.Counter(re.findall(r'"(GET|PUT|HEAD) /', moto.log.read_text()))
        print(f"Requests: {dict(asked)}, {sum(asked.values()) / SHARDS:.0f} a shard, those of the merge among them.\n")


def sizes_of(place):
    """Bytes of each file, by its name below the place."""
    files = [os.path.join(at, name) for at, _, names in os.walk(place) for name in names]
    return {os.path.relpath(file, place): os.path.getsize(file) for file in files}


def shards_in(folder, place, sizes):
    target = free_port()
    serve = subprocess.Popen([HEADWAY, "serve", "-l", f"127.0.0.1:{target}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(target)
        load = [f"http://127.0.0.1:{target}/", "-R", str(10 * SHARDS), "-d", f"{SECONDS}s", "--seed", "18", "--threads", "1", "--wait", "sleep", "--quiet"]
        begun, shards = time.time(), []
        for i in range(SHARDS):
            command = [HEADWAY, "run", *load, "--shard", f"{i}/{SHARDS}", "--start-at", "barrier", "--out", place]
            with open(f"{folder}/said-{i}", "w") as said:
                shards.append(subprocess.Popen(command, stdout=said, stderr=said, cwd=folder))
        codes = collections.Counter(shard.wait() for shard in shards)
        took = time.time() - begun
        if set(codes) - {0, 98}:
            sys.exit(f"shards ended with {codes}: {open(f'{folder}/said-0').read()[-800:]}")
        files = collections.defaultdict(list)
        for name, size in sizes().items():
            files[re.sub(r"[0-9]+", "i", name)].append(size)
        seconds, cpu, peak, summary = merged(HEADWAY, [place], f"{folder}/merged")
    finally:
        serve.terminate()
        serve.wait()
    n = sum(summary["outcomes"].values())
    print(f"## {'A bucket' if '://' in place else 'A folder'} of {SHARDS} shards, {SECONDS} s of plan ({took:.0f} s in all), {n:,} records\n")
    table(["file", "how many", "mean bytes"], [[name, len(sizes), f"{sum(sizes) / len(sizes):,.0f}"] for name, sizes in sorted(files.items())])
    every = [size for sizes in files.values() for size in sizes]
    print(f"{len(every) / SHARDS:.1f} files a shard. Merged in {seconds:.1f} s ({cpu:.1f} s of processor), {peak:,.0f} MiB.\n")


def line(points, x):
    """The straight line through two points, at x."""
    (x0, y0), (x1, y1) = points
    return y0 + (y1 - y0) / (x1 - x0) * (x - x0)


def thinned():
    """Processor seconds that a shard takes to find its own arrivals, for each of the whole plan: two plans, so that starting the program cancels out."""
    used = []
    for seconds in (1, 5):
        before = os.times()
        command = [HEADWAY, "plan", "-R", "10M", "-d", f"{seconds}s", "--seed", "18", "--shard", f"0/{MANY}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = os.times()
        used.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return (used[1] - used[0]) / 4 / 1e7


def merge():
    rows, times, peaks = [], [], []
    for shards in (8, SHARDS):
        folder = tempfile.mkdtemp(prefix="headway-bench-", dir=os.environ.get("FOLDER"))
        try:
            subprocess.run([MAKER, folder, str(shards), f"{MILLIONS / shards:g}"], check=True, stdout=subprocess.DEVNULL)
            runs = [f"{folder}/{i}" for i in range(shards)]
            size = sum(os.path.getsize(f"{run}/records.arrow") for run in runs)
            seconds, cpu, peak, summary = merged(HEADWAY, runs, f"{folder}/merged")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        n = sum(summary["outcomes"].values())
        times.append((shards, cpu / n)), peaks.append((shards, peak))
        rows.append([shards, f"{n:,}", f"{size / n:.1f}", f"{seconds:.1f}", f"{cpu:.1f}", f"{1e9 * cpu / n:,.0f}", f"{peak:,.0f}"])
    print("## Merge\n")
    table(["shards", "records", "bytes a record", "s", "CPU s", "CPU ns a record", "peak MiB"], rows)
    records, own = MANY * RATE * LONG_S, thinned()
    # Each shard is held to its own plan, which is found among all arrivals: time a record grows with the number of shards.
    table(
        [f"{MANY:,} shards of {RATE:,}/s for {LONG_S} s, by straight lines through both rows", ""],
        [
            ["records", f"{records:,}"],
            ["logs", f"{records * size / n / 1e12:.2f} TB; {RATE * size / n / 1e6:.1f} MB/s from each shard"],
            ["a shard's search for its own arrivals", f"{1e9 * own:.1f} ns for each of the whole plan: {100 * own * MANY * RATE:.0f} % of a core"],
            ["merge, processor time", f"{1e6 * line(times, MANY):.1f} us a record: {records * line(times, MANY) / 3600:,.0f} hours"],
            ["merge, memory", f"{line(peaks, MANY) / 1024:.1f} GiB"],
        ],
    )


if __name__ == "__main__":
    for what in sys.argv[1:] or ["store", "merge"]:
        {"store": store, "bucket": lambda: store(in_bucket=True), "merge": merge}[what]()
