#!/usr/bin/env python3
"""Live and simulated: each scenario by `headway run` against `headway serve`, and by `headway sim` against its model.

    cargo build --release
    python3 bench/live_sim.py [NAME...]          # some of the scenarios
    SECONDS=60 SEED=7 HELD=0.02 TRIES=3 OUT=FOLDER python3 bench/live_sim.py

The same file and the same seed both times, so the same arrivals. Where each arrival is one request, `serve` and the model draw the
same service times as well, by the number of the request; elsewhere their order differs, and so do the draws. Of the live
quantiles the median response time of the same scenario against `--service 'const(0s)'` is taken off: what the loopback and both
programs cost. p50, p90 and p99 agree within 5 % or 0.2 ms. Prints a Markdown table; exits with 1 if some do not agree.

A machine that is busy with something else delays answers, and so does a virtual one that falls asleep: its host takes
milliseconds to wake an idle core, now and then fifty. So a loop of the lowest priority keeps each core awake (AWAKE=0: none), and
`chrt -f 1 python3 bench/live_sim.py` (as root) goes before all other processes. The table says what share of the machine's time
went elsewhere (other processes but those of low priority, the hypervisor) while a scenario was live, and how long the generator
itself was held up at most, by its own watch. A run in which that was more than HELD seconds is no measurement: it is played again,
up to TRIES times in all; what came out has no say in that. With OUT the page of each scenario, both curves in one picture, is
written to that folder. As in run.py the generator has core 0 and the target core 1."""

import json
import os
import re
import resource
import shlex
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tools import HEADWAY, awake, run, serve, table  # noqa: E402

SECONDS = int(os.environ.get("SECONDS", "60"))
SEED = os.environ.get("SEED", "7")
HELD, TRIES = float(os.environ.get("HELD", "0.02")), int(os.environ.get("TRIES", "3"))
OUT = os.environ.get("OUT")
WITHIN, OR_SECONDS = 0.05, 0.0002
QUANTILES = ("p50", "p90", "p99")

OPEN = """
users:
  arrive: {{ process: poisson, rate: {rate}/s }}
  phases: [ {{ hold: 3s, at: {rate}/s, warmup: true }}, {{ hold: {seconds}s }} ]
journey: [ {{ get: / }} ]
"""

SESSIONS = """
users:
  arrive: {{ process: poisson, rate: {rate}/s }}
  phases: [ {{ hold: 3s, at: {rate}/s, warmup: true }}, {{ hold: {seconds}s }} ]
  think: exp(20ms)
journey: [ {{ get: /, repeat: 5 }} ]
"""

CLOSED = """
users:
  closed: {{ count: {users} }}
  phases: [ {{ hold: 3s, warmup: true }}, {{ hold: {seconds}s }} ]
  think: exp(12500us)
journey: [ {{ get: / }} ]
"""

# Name: kind of load, its values, service law, servers, places in the queue (none: no limit).
SCENARIOS = {
    "M/M/4, 40 %": (OPEN, {"rate": 200}, "exp(8ms)", 4, 50),
    "M/M/4, 70 %": (OPEN, {"rate": 350}, "exp(8ms)", 4, 50),
    "M/M/4, 85 %": (OPEN, {"rate": 425}, "exp(8ms)", 4, 50),
    "M/M/4/8, 110 %": (OPEN, {"rate": 550}, "exp(8ms)", 4, 4),
    "M/D/1, 80 %": (OPEN, {"rate": 800}, "const(1ms)", 1, None),
    "M/G/2, 60 %": (OPEN, {"rate": 400}, "lognormal(3ms,1.5)", 2, None),
    # Where the draws differ, shorter services: more of them, so that chance alone keeps the two within 5 %.
    "sessions of 5, 55 %": (SESSIONS, {"rate": 220}, "exp(2ms)", 4, None),
    "24 users who think": (CLOSED, {"users": 24}, "exp(2ms)", 4, None),
    "60 users, saturated": (CLOSED, {"users": 60}, "exp(2ms)", 4, None),
}


def scenario(folder, name, url, seconds=SECONDS):
    """The file of a scenario: what is played, and the model of its target."""
    load, values, service, servers, queue = SCENARIOS[name]
    limit = "" if queue is None else f", queue: {queue}"
    path = os.path.join(folder, "scenario.yaml")
    with open(path, "w") as f:
        f.write(f"name: live-sim\ntarget: {url}\n" + load.format(seconds=seconds, **values)
                + f"model: {{ servers: {servers}, service: '{service}'{limit} }}\n")
    return path


def headway(verb, path, *flags):
    """The summary of a run, live or simulated."""
    used = run([HEADWAY, verb, path, "--seed", SEED, "--json", "-", *flags])
    if not used.out:
        raise RuntimeError(used.err)
    return json.loads(used.out)


def target(name):
    """The flags of `headway serve` that make it what the model says."""
    _, _, service, servers, queue = SCENARIOS[name]
    return ["--service", service, "--servers", str(servers), "--seed", SEED, *([] if queue is None else ["--queue", str(queue)])]


def overhead(folder, name):
    """The median response time of the same load where service takes no time."""
    with serve("--service", "const(0s)") as url:
        path = scenario(folder, name, url, seconds=10)
        return headway("run", path, "--no-log", "--out", os.path.join(folder, "overhead"))["response"]["p50"]


def milliseconds(seconds):
    return "-" if seconds is None else f"{1e3 * seconds:.2f}"


def interval(spread, quantile, off=0.0):
    ends = (spread["ci95"] or {}).get(quantile)
    return "-" if ends is None else f"{1e3 * (ends[0] - off):.2f} to {1e3 * (ends[1] - off):.2f}"


def failed(summary):
    outcomes = summary["outcomes"]
    return 1 - outcomes.get("ok", 0) / sum(outcomes.values())


def machine():
    """Seconds that all cores had so far, those in which they did something of more than low priority, and those that this
    script's children used."""
    with open("/proc/stat") as f:
        user, nice, system, idle, waiting, *rest = map(int, f.readline().split()[1:9])
    tick = os.sysconf("SC_CLK_TCK")
    busy = user + system + sum(rest)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (busy + nice + idle + waiting) / tick, busy / tick, used.ru_utime + used.ru_stime


def play(folder, name):
    """A scenario live: its summary, its file, how long the generator was held up at most, what share of the machine's time went
    elsewhere, and how often it was played."""
    recorded = os.path.join(folder, "live")
    for tries in range(1, TRIES + 1):
        shutil.rmtree(recorded, ignore_errors=True)
        before = machine()
        with serve(*target(name)) as url:
            path = scenario(folder, name, url)
            live = headway("run", path, "--no-log", "--out", recorded)
        time, busy, ours = (after - then for after, then in zip(machine(), before))
        held = max((stall["length_s"] for stall in live["generator"]["stalls"]), default=0.0)
        if held <= HELD:
            break
    return live, path, held, max(0.0, busy - ours) / time, tries


def picture(path, name, recorded):
    """The page of ten simulations with the live run's curve beside theirs."""
    page = os.path.join(OUT, re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") + ".html")
    if os.path.exists(page):
        os.remove(page)
    headway("sim", path, "--beside", recorded, "--html", page)
    with open(page) as f:
        data = dict(re.findall(r'<script type="application/json" id="([a-z-]+)">(.*?)</script>', f.read(), re.S))
    study = json.loads(data["study"])
    ours, theirs = study["points"][0]["curve"], study["beside"]["runs"][0]["curve"]
    assert len(ours) > 1 and len(theirs) > 1, f"{page} holds {len(ours)} and {len(theirs)} points of its two curves"


def compare(name):
    """The rows of one scenario, and whether all of it agrees."""
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        off = overhead(folder, name)
        live, path, held, elsewhere, tries = play(folder, name)
        sim = headway("sim", path, "--no-log")
        if OUT:
            picture(path, name, os.path.join(folder, "live"))
    rows = []
    for i, quantile in enumerate(QUANTILES):
        measured, predicted = live["response"][quantile] - off, sim["response"][quantile]
        apart = abs(measured - predicted)
        agrees = apart <= WITHIN * predicted or apart <= OR_SECONDS
        first = [name, f"{live['response']['n']:,}", tries, f"{elsewhere:.0%}", f"{1e3 * held:.0f}", milliseconds(off),
                 f"{failed(live):.2%}, {failed(sim):.2%}"]
        rows.append([*(first if i == 0 else [""] * len(first)), quantile, milliseconds(measured),
                     interval(live["response"], quantile, off), milliseconds(predicted), interval(sim["response"], quantile),
                     f"{measured / predicted:.3f}", "pass" if agrees else "FAIL"])
    return rows, all(row[-1] == "pass" for row in rows)


def main():
    names = sys.argv[1:] or list(SCENARIOS)
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        sys.exit(f"unknown: {unknown}; scenarios are {', '.join(map(shlex.quote, SCENARIOS))}")
    print("## Live and simulated\n")
    print(f"`SECONDS={SECONDS} SEED={SEED} python3 bench/live_sim.py`; milliseconds.\n", flush=True)
    rows, all_agree = [], True
    with awake():
        for name in names:
            more, agrees = compare(name)
            rows += more
            all_agree &= agrees
    table(["scenario", "requests", "played", "elsewhere", "held up", "loopback", "failed live, sim", "of", "live less loopback",
           "95 %", "simulated", "95 %", "ratio", "within 5 % or 0.2 ms"], rows)
    sys.exit(0 if all_agree else 1)


if __name__ == "__main__":
    main()
