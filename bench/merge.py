#!/usr/bin/env python3
"""Merging the shards of a large run: time, processor time and peak memory, as a Markdown table. See bench/README.md.

    cargo build --release && cargo build --release -p headway-engine --example shards
    python3 bench/merge.py [SHARDS [MILLIONS]]        # default 8 shards of 10 million records: 21 GB of disk in FOLDER
    FOLDER=/somewhere HEADWAY=... MAKER=... OLD=... python3 bench/merge.py

The shards are made once, in FOLDER (default bench/peers/shards-SHARDS-MILLIONS, ignored by git), by MAKER (default
target/release/examples/shards): real plans and made-up responses. OLD, if it is given, merges them too. What is merged is removed again.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tools import HEADWAY, ROOT, table  # noqa: E402

MAKER = os.environ.get("MAKER", os.path.join(ROOT, "target/release/examples/shards"))


def merged(headway, runs, out):
    """Merges them; seconds, processor seconds, peak of resident memory in MiB, and the summary."""
    shutil.rmtree(out, ignore_errors=True)
    begun = time.monotonic()
    process = subprocess.Popen([headway, "merge", "--quiet", "--out", out, *runs], stderr=subprocess.PIPE, text=True)
    peak = [0]

    def watch():
        while process.returncode is None:
            try:
                with open(f"/proc/{process.pid}/status") as file:
                    peak[0] = max(peak[0], int(re.search(r"^VmHWM:\s+(\d+)", file.read(), re.M).group(1)))
            except (OSError, AttributeError):
                return
            time.sleep(0.2)

    watcher = threading.Thread(target=watch)
    watcher.start()
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - begun
    watcher.join()
    if process.returncode not in (0, 98, 99):
        sys.exit(f"{headway}: exit {process.returncode}\n{said}")
    with open(f"{out}/summary.json") as file:
        summary = json.load(file)
    peak_kib = max(peak[0], usage.ru_maxrss)
    return seconds, usage.ru_utime + usage.ru_stime, peak_kib / 1024, summary


def main():
    shards = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    millions = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    folder = os.environ.get("FOLDER", os.path.join(ROOT, f"bench/peers/shards-{shards}-{millions:g}"))
    if not os.path.exists(f"{folder}/made"):
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([MAKER, folder, str(shards), f"{millions:g}"], check=True, stdout=subprocess.DEVNULL)
        open(f"{folder}/made", "w").close()
    runs = [f"{folder}/{i}" for i in range(shards)]
    size = sum(os.path.getsize(f"{run}/records.arrow") for run in runs)
    rows = []
    for headway in filter(None, [os.environ.get("OLD"), HEADWAY]):
        out = f"{folder}/merged"
        seconds, cpu, peak, summary = merged(headway, runs, out)
        n = sum(summary["outcomes"].values())
        rows.append([headway, f"{n:,}", f"{seconds:.1f}", f"{cpu:.1f}", f"{1e9 * seconds / n:,.0f}", f"{peak:,.0f}",
                     f"{1e3 * summary['response']['p99']:.3f}", summary["verdict"]["load"]])
        shutil.rmtree(out)
    print(f"## Merge of {shards} shards ({size / 2**30:.1f} GiB)\n")
    table(["", "records", "s", "CPU s", "ns a record", "peak MiB", "p99 ms", "load"], rows)


if __name__ == "__main__":
    main()
