#!/usr/bin/env python3
"""What scenarios cost: a journey with templates and checks beside plain requests, and users who think.

    cargo build --release
    python3 bench/scenarios.py [journey] [users] [lag]

Prints Markdown tables; asserts nothing. As in run.py the generator has core 0 and the target core 1."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tools import headway, median, serve, shown, table  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "5"))
REQUESTS = int(os.environ.get("REQUESTS", "110000"))
USERS = int(os.environ.get("USERS", "100000"))

PLAIN = """
name: plain
target: {url}
users: {{ work: {{ requests: {n}, users: 8 }} }}
journey: [ {{ get: /items, name: list, repeat: 11 }} ]
"""

# Ten reads with templates, a write with a templated JSON body; a status, a header and a time checked of each, a value taken from
# the answers and used in what follows.
JOURNEY = """
name: journey
target: {url}
data: {{ people: {{ csv: people.csv }} }}
users: {{ work: {{ requests: {n}, users: 8 }} }}
journey:
  - post: /items
    name: add
    json: {{ name: "{{{{data.people.name}}}}", id: "{{{{uuid}}}}", seq: "{{{{seq}}}}" }}
    expect: {{ status: 200, time: 5s }}
    extract: {{ kind: {{ header: content-type }} }}
  - get: "/items?user={{{{user.id}}}}&n={{{{seq}}}}"
    name: list
    repeat: 10
    headers: {{ X-Person: "{{{{data.people.name}}}}", X-Kind: "{{{{kind}}}}" }}
    expect: {{ status: 200, headers: {{ content-type: text/plain }}, body: {{ contains: headway }}, time: 5s }}
"""

USERS_THINK = """
name: users
target: {url}
connections: 1000
users:
  closed: {{ count: {users} }}
  connections: shared
  think: exp({think})
  phases: [ {{ ramp: 5s, to: {users}, warmup: true }}, {{ hold: 10s }} ]
journey: [ {{ get: / }} ]
"""


def scenario(folder, text, **values):
    path = os.path.join(folder, "scenario.yaml")
    with open(path, "w") as f:
        f.write(text.format(**values))
    with open(os.path.join(folder, "people.csv"), "w") as f:
        f.write("name,city\n" + "".join(f"person {i},town {i % 7}\n" for i in range(1000)))
    return path


def journey():
    """CPU per request of a journey of eleven requests with templates, data, extraction and checks."""
    print("## A journey beside plain requests\n")
    print(f"{REQUESTS:,} requests of 8 users, `headway serve --service 'const(0s)'`, medians of {ROUNDS} rounds.\n")
    cost = {"plain": [], "journey": []}
    with tempfile.TemporaryDirectory() as folder, serve("--service", "const(0s)") as url:
        for _ in range(ROUNDS):
            for name, text in (("plain", PLAIN), ("journey", JOURNEY)):
                used = headway(scenario(folder, text, url=url, n=REQUESTS), "--no-log")
                assert used.summary["outcomes"] == {"ok": REQUESTS}, used.summary["outcomes"]
                cost[name].append(used.cpu_s / REQUESTS * 1e6)
    ratios = [j / p for j, p in zip(cost["journey"], cost["plain"])]
    table(["11 requests", "us CPU/request", "ratio"],
          [["plain", shown(median(cost["plain"])), "1"],
           ["with templates, data, extraction, checks", shown(median(cost["journey"])), shown(median(ratios))]])


def users():
    """Memory per user who thinks, over shared connections on one worker."""
    print("## Users who think\n")
    rows = []
    with tempfile.TemporaryDirectory() as folder, serve("--service", "const(0s)") as url:
        peaks = {}
        for count in (1000, USERS):
            path = scenario(folder, USERS_THINK, url=url, users=count, think="50s")
            used = headway(path, "--no-log", "--threads", "1")
            peaks[count] = used.rss_kib
            outcomes = used.summary["outcomes"]
            rows.append([f"{count:,}", shown(used.rss_kib / 1024, 1), f"{sum(outcomes.values()):,}",
                         shown(used.summary["lag"]["p50"] * 1e6), shown(used.summary["lag"]["p99"] * 1e6)])
    table(["users", "peak memory, MiB", "requests", "lag p50, us", "lag p99, us"], rows)
    print(f"{(peaks[USERS] - peaks[1000]) * 1024 / (USERS - 1000):,.0f} bytes per user.\n")


def lag():
    """Release lag at 10,000 requests a second of so many users."""
    print(f"## Lag at 10,000/s of {USERS:,} users\n")
    rows = []
    with tempfile.TemporaryDirectory() as folder, serve("--service", "const(0s)") as url:
        for _ in range(ROUNDS):
            path = scenario(folder, USERS_THINK, url=url, users=USERS, think=f"{USERS // 10_000}s")
            summary = headway(path, "--no-log", "--threads", "1").summary
            rows.append((summary["rate"]["started"], summary["lag"]["p50"] * 1e6, summary["lag"]["p99"] * 1e6))
    table(["requests/s", "lag p50, us", "lag p99, us"], [[shown(median(c), 2) for c in zip(*rows)]])


PARTS = {f.__name__: f for f in (journey, users, lag)}

if __name__ == "__main__":
    unknown = [a for a in sys.argv[1:] if a not in PARTS]
    if unknown:
        sys.exit(f"unknown: {unknown}; parts are {' '.join(PARTS)}")
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
