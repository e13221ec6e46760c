#!/usr/bin/env python3
"""Headway beside other tools: prints Markdown tables. See bench/README.md."""

import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers  # noqa: E402
from tools import headway, median, nginx, run, serve, shown, table, tool, HEADWAY  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "5"))


def cpu():
    """CPU per request at saturation, generator and target on a core each, 64 connections."""
    print("## CPU per request at saturation\n")
    print(f"nginx with one worker, 64 connections, 3 s, medians of {ROUNDS} rounds.\n")
    names = [n for n in ("wrk", "h2load", "fortio", "oha", "k6") if tool(n)]
    rows = {n: [] for n in [*names, "headway --no-log", "headway"]}
    with nginx() as url:
        for _ in range(ROUNDS):
            for name in names:
                used, n = peers.saturate(name, url, 3)
                rows[name].append((n / 3, used.cpu_s / n * 1e6))
            # Twice what the closed loop reached: the open loop then runs into its 64 connections.
            rate = 2 * rows["wrk"][-1][0]
            for name, flags in (("headway --no-log", ["--no-log"]), ("headway", [])):
                used = headway(url, "-R", f"{rate:.0f}", "-d", "3s", "-c", "64", *flags)
                n = used.summary["outcomes"]["ok"]
                rows[name].append((n / 3, used.cpu_s / n * 1e6))
    ratio = {n: median([r[1] / w[1] for r, w in zip(rows[n], rows["wrk"])]) for n in rows}
    table(["generator", "requests/s", "us CPU/request", "ratio to wrk"],
          [[n, shown(median([r[0] for r in rows[n]]), 0), shown(median([r[1] for r in rows[n]])),
            shown(ratio[n])] for n in sorted(rows, key=ratio.get)])


def microseconds(seconds):
    return None if seconds is None else 1e6 * seconds


def dispersion_gap(summary, window):
    for row in summary["arrivals"]["dispersion"]:
        if math.isclose(row["window"], window):
            return row["index"] - row["intended"]
    return None


def spin(core, seconds):
    """What a thread that does nothing but read the clock sees of this host: its hold-ups of over 1 ms."""
    code = ("import os, sys, time\nos.sched_setaffinity(0, {int(sys.argv[1])})\n"
            "end = time.perf_counter() + float(sys.argv[2]); before = time.perf_counter(); gaps = []\n"
            "while before < end:\n    now = time.perf_counter()\n"
            "    if now - before > 1e-3: gaps.append(now - before)\n    before = now\n"
            "print(*gaps)")
    out = subprocess.run([sys.executable, "-c", code, str(core), str(seconds)], capture_output=True, text=True)
    return [float(g) for g in out.stdout.split()]


def host():
    """How often this machine holds up a thread that has a core to itself."""
    print("## The host\n")
    print("A thread that only reads the clock, 20 s on each core with nothing else running: its hold-ups.\n")
    rows = []
    for core in (0, 1):
        gaps = spin(core, 20)
        rows.append([core, shown(len(gaps) / 20, 2), shown(1e3 * max(gaps, default=0), 1),
                     shown(1e2 * sum(gaps) / 20, 3)])
    table(["core", "over 1 ms, per second", "longest, ms", "% of the time"], rows)


def rate():
    """The highest Poisson rate that is VALID in 3 of 5 rounds, one worker, -c 4000.

    One second by default: of a longer phase the verdict is on the host's stalls (see `host`), not on the generator.
    """
    seconds = int(os.environ.get("RATE_SECONDS", "1"))
    print("## Highest VALID Poisson rate, one worker\n")
    with nginx() as url:
        few, most = (median([peers.wrk(url, connections, 3)[1] / 3 for _ in range(3)]) for connections in (64, 4000))
        print(f"nginx, -c 4000, {seconds} s after 3 s of warm-up; closed-loop maximum of wrk here, one thread: "
              f"{most:,.0f}/s with 4000 connections, {few:,.0f}/s with 64. Shares are of the former.\n")
        rows = []
        for share in map(float, os.environ.get("RATE_SHARES", "0.2 0.4 0.5 0.6 0.7 0.8").split()):
            results = []
            for i in range(ROUNDS):
                used = headway(url, "-R", f"{share * most:.0f}", "-d", f"{seconds}s", "-c", "4000", "--warmup", "3s",
                               "--threads", "1", "--seed", str(i), "--no-log")
                results.append(used.summary)
            verdicts = [r["verdict"]["load"] for r in results]
            failed = sorted({r["rule"] for s in results for r in s["verdict"]["rules"]
                             if r["outcome"] in ("fail", "undecided")})
            rows.append([f"{share:.0%}", shown(share * most, 0), f"{verdicts.count('VALID')} of {ROUNDS}",
                         shown(median([dispersion_gap(r, 0.001) for r in results]), 3),
                         shown(median([dispersion_gap(r, 0.01) for r in results]), 3),
                         shown(microseconds(median([r["lag"]["p99"] for r in results])), 0),
                         shown(100 * median([r["generator"]["workers"][0]["handling"] for r in results])
                               / (seconds + 3), 0),
                         shown(median([sum(s["at_s"] >= 3 for s in r["generator"]["stalls"]) for r in results]), 0),
                         ", ".join(failed) or "-"])
    table(["of wrk", "rate", "VALID", "dispersion 1 ms - plan", "10 ms - plan", "lag p99 us",
           "handling %", "stalls over 1 ms", "not passed in some round"], rows)


def lag():
    """Release lag, target on the other core."""
    print("## Release lag\n")
    rows = []
    with serve("--service", "const(0s)") as url:
        for per_second in (100, 1_000, 10_000):
            results = [headway(url, "-R", str(per_second), "-d", "10s", "--warmup", "1s").summary
                       for _ in range(ROUNDS)]
            worker = [r["generator"]["workers"][0] for r in results]
            share = [100 * w["polling"] / (w["polling"] + w["sleeping"] + w["handling"]) for w in worker]
            rows.append([shown(per_second, 0)]
                        + [shown(microseconds(median([r["lag"][q] for r in results])), 2) for q in ("p50", "p99", "p999")]
                        + [shown(median(share), 1)])
    table(["rate", "p50 us", "p99 us", "p99.9 us", "polling, % of a core"], rows)


def ks(values, cdf):
    values = sorted(values)
    n = len(values)
    return max(max(abs(cdf(x) - i / n), abs(cdf(x) - (i + 1) / n)) for i, x in enumerate(values))


def index_of_dispersion(stamps, window, end):
    counts = [0] * int(end / window)
    for t in stamps:
        if 0 <= t < len(counts) * window:
            counts[int(t / window)] += 1
    mean = sum(counts) / len(counts)
    return sum((c - mean) ** 2 for c in counts) / (len(counts) - 1) / mean


def squared_cov(gaps):
    mean = sum(gaps) / len(gaps)
    return sum((g - mean) ** 2 for g in gaps) / (len(gaps) - 1) / mean ** 2


def planned(per_second, seconds, seed):
    used = run([HEADWAY, "plan", "-R", str(per_second), "-d", f"{seconds}s", "--seed", str(seed)])
    return [float(line.split(",")[1]) for line in used.out.splitlines()[1:]]


def witness():
    """Seen from the target's own log of arrivals, by the kernel's stamps."""
    print("## Seen from the target\n")
    print(f"`serve --arrivals-log` (the kernel's receive stamps) against the plan; medians of {ROUNDS} rounds.\n")
    rows = []
    for per_second, seconds in ((1_000, 20), (10_000, 10)):
        got = []
        for seed in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                log = os.path.join(folder, "arrivals.csv")
                with serve("--service", "const(0s)", "--arrivals-log", log) as url:
                    headway(url, "-R", str(per_second), "-d", f"{seconds}s", "--seed", str(seed))
                with open(log) as f:
                    # Nanoseconds since 1970 do not fit a float: the seconds before the first come off first.
                    texts = [line.split(",")[0].split(".") for line in f.readlines()[1:]]
            base = int(texts[0][0])
            received = sorted((int(s) - base) + int(ns) / 1e9 for s, ns in texts)
            plan = planned(per_second, seconds, seed)
            shift = received[0] - plan[0]
            gaps = [b - a for a, b in zip(received, received[1:])]
            plan_gaps = [b - a for a, b in zip(plan, plan[1:])]
            long = [g for g in gaps if g >= 50e-6]
            got.append((
                ks(long, lambda x: 1 - math.exp(-per_second * (x - 50e-6))),
                0.01 + 1.36 / math.sqrt(len(long)),
                ks(gaps, lambda x: 1 - math.exp(-per_second * x)),
                squared_cov(gaps) - squared_cov(plan_gaps),
                *(index_of_dispersion([t - shift for t in received], w, seconds)
                  - index_of_dispersion(plan, w, seconds) for w in (0.001, 0.01)),
                len(received) - len(plan),
            ))
        columns = [median(c) for c in zip(*got)]
        floor = 1 - math.exp(-per_second * 5e-6)
        rows.append([shown(per_second, 0), shown(columns[0], 4), shown(columns[1], 4), shown(columns[2], 4),
                     shown(floor, 4), *(shown(c, 3) for c in columns[3:6]), shown(columns[6], 0)])
    table(["rate", "KS, headways >= 50 us", "bar", "KS, all headways", "floor of one thread (5 us a send)",
           "CoV^2 - plan", "dispersion 1 ms - plan", "10 ms - plan", "received - planned"], rows)


def mm1():
    """The same M/M/1 target at 800/s through each tool."""
    print("## The same queue through each tool\n")
    seconds = int(os.environ.get("MM1_SECONDS", "60"))
    print(f"`headway serve --service 'exp(1ms)'` at 800/s, {seconds} s: M/M/1 at 80 %, for Poisson arrivals mean 5 ms, "
          "p50 3.47, p99 23.0. Milliseconds as each tool reports them.\n")
    rows = [["theory (M/M/1)", "5.00", "3.47", "23.03", ""]]
    with serve("--service", "const(0s)") as url:
        s = headway(url, "-R", "800", "-d", "10s").summary["response"]
    overhead = [1e3 * s[q] for q in ("mean", "p50", "p99")]
    for seed in (1, 2, 3):
        with serve("--service", "exp(1ms)", "--seed", str(seed)) as url:
            s = headway(url, "-R", "800", "-d", f"{seconds}s", "--warmup", "2s", "--seed", str(seed)).summary["response"]
        intervals = [s["ci95"][q] for q in ("mean", "p50", "p99")]
        text = ", ".join(f"{1e3 * lo:.2f} to {1e3 * hi:.2f}" if lo else "-" for lo, hi in
                         [i or (None, None) for i in intervals])
        rows.append([f"headway, seed {seed}", *(shown(1e3 * s[q]) for q in ("mean", "p50", "p99")), text])
    rows.append(["of that, loopback (const(0s))", *(shown(v, 3) for v in overhead), ""])
    for name in ("fortio", "oha", "oha --latency-correction", "k6", "h2load"):
        if tool(name.split()[0]):
            with serve("--service", "exp(1ms)", "--seed", "1") as url:
                rows.append([name, *(shown(v) for v in peers.at_rate(name, url, 800, seconds)), ""])
    table(["tool", "mean", "p50", "p99", "95 % intervals of mean, p50, p99"], rows)


def memory():
    """Peak memory of a run and of one ten times longer."""
    print("## Memory\n")
    rows = []
    with serve("--service", "const(0s)") as url:
        for flags, name in (([], "with the log"), (["--no-log"], "--no-log")):
            peaks = [headway(url, "-R", "10k", "-d", d, *flags).rss_kib / 1024 for d in ("6s", "60s")]
            rows.append([name, *(shown(p, 1) for p in peaks)])
    table(["10,000/s", "6 s, MiB", "60 s, MiB"], rows)


PARTS = {f.__name__: f for f in (host, cpu, rate, lag, witness, mm1, memory)}

if __name__ == "__main__":
    unknown = [a for a in sys.argv[1:] if a not in PARTS]
    if unknown:
        sys.exit(f"unknown: {unknown}; parts are {' '.join(PARTS)}")
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
