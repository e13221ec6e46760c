#!/usr/bin/env python3
"""Auditing a large JMeter CSV, beside DuckDB's answer to the same question on the same core.

    python3 -m venv bench/peers/venv && bench/peers/venv/bin/pip install duckdb numpy
    bench/peers/venv/bin/python bench/audit.py [ROWS]        # default 10,000,000

The file is made once, in bench/peers (ignored by git): Poisson starts at 1,000/s, exponential elapsed times of 50 ms, six
labels, 200 threads, rows in the order of completion as JMeter writes them. DuckDB computes n, mean and standard deviation of
the headways by label; the audit computes that and everything else in its report.
"""

import json
import os
import statistics
import sys

import tools

ROUNDS = int(os.environ.get("ROUNDS", "3"))
LABELS = ["010_Home", "012_Home_jpg", "020_Dept", "022_Dept_jpg", "030_Demographics", "040_Statistics"]
QUERY = """
SET threads = 1;
SELECT label, count(gap), avg(gap), stddev(gap) FROM (
    SELECT label, "timeStamp" - lag("timeStamp") OVER (PARTITION BY label ORDER BY "timeStamp") AS gap
    FROM read_csv('{path}', header = true)
) GROUP BY label ORDER BY label;
"""


def make(path, rows):
    import numpy as np

    random = np.random.default_rng(1)
    head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,Latency\n"
    starts = 1_700_000_000_000 + np.cumsum(random.exponential(1.0, rows))
    elapsed = np.ceil(random.exponential(50.0, rows)).astype(np.int64)
    starts = starts.astype(np.int64)
    order = np.argsort(starts + elapsed, kind="stable")
    labels, threads = random.integers(0, 6, rows), random.integers(1, 201, rows)
    part = path + ".part"
    with open(part, "w") as f:
        f.write(head)
        for chunk in np.array_split(order, max(1, rows // 500_000)):
            f.write("".join(
                f"{starts[i]},{elapsed[i]},{LABELS[labels[i]]},200,OK,Thread Group 1-{threads[i]},text,true,17991,{elapsed[i] // 2}\n"
                for i in chunk))
    os.rename(part, path)


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    path = os.path.join(tools.ROOT, f"bench/peers/jmeter-{rows}.csv")
    if not os.path.exists(path):
        make(path, rows)
    mib = os.path.getsize(path) / 2**20
    duck = [sys.executable, "-c", f"import duckdb; print(duckdb.sql({QUERY.format(path=path)!r}))"]
    ours = [tools.HEADWAY, "audit", path, "--json", "-", "--quiet"]
    results = {"headway": [], "duckdb": []}
    for _ in range(ROUNDS):
        for name, command in (("headway", ours), ("duckdb", duck)):
            used = tools.run(command, timeout=900)
            if used.code:
                sys.exit(f"{name}: exit {used.code}\n{used.err}")
            results[name].append(used)
    summary = json.loads(results["headway"][-1].out)
    total = summary["audit"]["tables"]["headways"][-1]
    print(f"## Audit of {rows:,} rows ({mib:,.0f} MiB), one core, medians of {ROUNDS} rounds\n")
    print(f"CoV {total['cov']:.4f}, pattern {summary['verdict']['pattern']}\n")
    table = []
    for name, used in results.items():
        cpu = statistics.median(u.cpu_s for u in used)
        table.append([name, f"{cpu:.2f}", f"{1e9 * cpu / rows:,.0f}", f"{mib * 1.048576 / cpu:,.0f}",
                      f"{max(u.rss_kib for u in used) / 1024:,.0f}"])
    tools.table(["", "CPU s", "ns a row", "MB/s", "peak MiB"], table)


if __name__ == "__main__":
    main()
