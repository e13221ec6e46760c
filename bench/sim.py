#!/usr/bin/env python3
"""How fast simulations are: ours beside SimPy and Ciw, timelike's five tables, memory, cost against the number of servers.

    cargo build --release && cargo build --release -p headway-sim --example speed
    python3 bench/sim.py setup                 # once: SimPy and Ciw from their registry, into bench/peers/sim
    python3 bench/sim.py [rates] [tables] [memory] [servers]

Prints Markdown tables; asserts nothing. No core falls asleep meanwhile (`tools.awake`). All on core 0, by the time that a process had it; tools take turns within each round,
and ratios are within a round."""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tools import HEADWAY, ROOT, awake, median, run, shown, table  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "5"))
REQUESTS = os.environ.get("REQUESTS", "1e7")
SPEED = os.environ.get("SPEED", os.path.join(ROOT, "target/release/examples/speed"))
TIMELIKE = os.path.join(ROOT, "bench/timelike.yaml")
VENV = os.path.join(ROOT, "bench/peers/sim")
PEERS = ("simpy==4.1.2", "ciw==3.2.7")

# Queues at a load of 0.8 with exponential gaps and services of mean 1, one server or a random one of so many. Each prints the
# requests per second of its loop and the mean response time.
SIMPY = """
import random, simpy, sys, time
n, servers = int(sys.argv[1]), int(sys.argv[2])
env = simpy.Environment()
pool = [simpy.Resource(env, 1) for _ in range(servers)]
cells, total = [0] * 100_000, 0.0
def request():
    global total
    came = env.now
    with pool[random.randrange(servers)].request() as turn:
        yield turn
        yield env.timeout(random.expovariate(1.0))
    cells[int((env.now - came) * 100)] += 1
    total += env.now - came
def source():
    for _ in range(n):
        yield env.timeout(random.expovariate(0.8 * servers))
        env.process(request())
env.process(source())
began = time.process_time()
env.run()
print(n / (time.process_time() - began), total / n)
"""
CIW = """
import ciw, sys, time
n, servers = int(sys.argv[1]), int(sys.argv[2])
one = ciw.dists.Exponential(1.0)
if servers == 1:
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(0.8)], service_distributions=[one], number_of_servers=[1])
else:
    # A node that serves at once sends each to one of the others.
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(0.8 * servers)] + [None] * servers,
        service_distributions=[ciw.dists.Deterministic(0.0)] + [one] * servers,
        number_of_servers=[float("inf")] + [1] * servers,
        routing=[[0.0] + [(1.0 - 1e-9) / servers] * servers] + [[0.0] * (servers + 1)] * servers)
simulation = ciw.Simulation(network)
began = time.process_time()
simulation.simulate_until_max_customers(n, method="Finish")
took = time.process_time() - began
records = simulation.get_all_records()
last = [r for r in records if servers == 1 or r.node > 1]
print(n / took, sum(r.exit_date - r.arrival_date for r in last) / len(last))
"""
# How many requests of each tool make a second or so.
SIZES = {("SimPy", 1): 100_000, ("SimPy", 250): 80_000, ("Ciw", 1): 50_000, ("Ciw", 250): 3_000}
SCRIPTS = {"SimPy": SIMPY, "Ciw": CIW}

# Name of the case in the example, what it is, and its bar in million/s.
CASES = (
    ("mm1", "M/M/1", 12),
    ("mm1-sharing", "M/M/1, processor sharing", None),
    ("random", "random over 250", None),
    ("round-robin", "round-robin over 250", None),
    ("least-connections", "least connections over 250, random ties", 6),
    ("least-connections-first", "least connections over 250, the first", None),
    ("two-choices", "the better of two over 250", None),
    ("recursion-mm1", "recursion: M/M/1", 50),
    ("recursion-random", "recursion: random over 250", 30),
    ("recursion-round-robin", "recursion: round-robin over 250", None),
    ("through-mm1", "recursion through the network: M/M/1", None),
    ("through-random", "recursion through the network: random over 250", None),
    ("through-least-connections", "recursion through the network: least connections over 250", None),
)


def setup():
    """Installs what we are compared with."""
    subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([os.path.join(VENV, "bin/pip"), "install", "-q", *PEERS], check=True)


def speed(requests, *cases, rounds=1):
    """Lines of the example by case and servers, and what it used."""
    os.environ["ROUNDS"] = str(rounds)
    used = run([SPEED, str(requests), *cases], timeout=900)
    if not used.out:
        raise RuntimeError(used.err)
    lines = [line.split("\t") for line in used.out.splitlines()]
    return {(line[0], line[1]): dict(zip(lines[0], line)) for line in lines[1:]}, used


def peer(name, servers):
    """Requests per second of another simulator, and its mean response time; none where it is not there."""
    python = os.path.join(VENV, "bin/python")
    if not os.path.exists(python):
        return None, None
    used = run([python, "-c", SCRIPTS[name], str(SIZES[name, servers]), str(servers)])
    if not used.out:
        raise RuntimeError(used.err)
    rate, mean = used.out.split()
    return float(rate), float(mean)


def rates():
    """Requests per second of one core."""
    print("## Requests per second\n")
    print(f"One core, every response time in a histogram, {float(REQUESTS):,.0f} requests a case at a load of 0.8; "
          f"medians of {ROUNDS} rounds.\n")
    ours, theirs = {}, {}
    for _ in range(ROUNDS):
        lines, _ = speed(REQUESTS, *(case for case, _, _ in CASES))
        for (case, _), line in lines.items():
            ours.setdefault(case, []).append((float(line["million/s"]), float(line["mean ms"])))
        for name, servers in SIZES:
            theirs.setdefault((name, servers), []).append(peer(name, servers))
    rows = []
    for case, about, bar in CASES:
        values = [rate for rate, _ in ours[case]]
        rows.append([about, shown(median(values)), shown(max(values)), bar, shown(ours[case][0][1], 3)])
    table(["", "million/s", "best", "bar", "mean response, services"], rows)
    rows = []
    for (name, servers), values in theirs.items():
        label, other = ("M/M/1", "mm1") if servers == 1 else ("random over 250", "random")
        pairs = list(zip(values, ours[other], ours["recursion-" + other]))
        ratio = lambda i: median([p[i][0] * 1e6 / p[0][0] for p in pairs if p[0][0]])  # noqa: E731
        rows.append([f"{label}, {name}", shown(median([rate for rate, _ in values]), 0),
                     shown(median([mean for _, mean in values]), 2), shown(ratio(1), 0), shown(ratio(2), 0)])
    table(["", "requests/s", "mean response", "ours by calendar, times as fast", "by recursion"], rows)


def tables():
    """timelike's five tables as a study, and what 200 more replications of the lab take, with its four further rows."""
    print("## timelike's five tables\n")
    took = {200: [], 2_200: []}
    study = []
    for _ in range(ROUNDS):
        study.append(cpu("sim", TIMELIKE, "--replications", "200"))
        for replications, seconds in took.items():
            seconds.append(cpu("lab", "balancers", "--replications", str(replications)))
    each = median([(many - few) / 10 for few, many in zip(took[200], took[2_200])])
    print(f"200 replications of 10,000 requests of each, by `headway sim timelike.yaml --replications 200`: {shown(median(study))} s of "
          f"one core (best {shown(min(study))}). Within the lab, all nine rows of it: {shown(each)} s. The whole lab with 200, steady "
          f"states included: {shown(median(took[200]))} s.\n")


def cpu(*flags):
    """Seconds of a core that a command took, from its start to its end."""
    used = run([HEADWAY, *flags, "--json", "-"], timeout=300)
    if not used.out:
        raise RuntimeError(used.err)
    return used.cpu_s


def memory():
    """Peak memory of a short and a long run."""
    print("## Memory\n")
    rows = []
    for case, about, _ in CASES:
        if case not in ("mm1", "least-connections", "recursion-mm1", "recursion-random"):
            continue
        peaks = [speed(requests, case)[1].rss_kib for requests in ("1e6", "1e8")]
        rows.append([about, *(shown(peak / 1024, 1) for peak in peaks)])
    table(["", "MiB, 1e6 requests", "MiB, 1e8 requests"], rows)


def servers():
    """Cost of a request against the number of servers."""
    print("## Cost against the number of servers\n")
    cases = ("least-connections", "random", "recursion-random")
    counts = (10, 100, 1_000, 10_000, 100_000)
    cost = {(case, n): [] for case in cases for n in counts}
    for _ in range(ROUNDS):
        for n in counts:
            lines, _ = speed(max(2_000_000, 30 * n), *(f"{case}:{n}" for case in cases))
            for (case, _), line in lines.items():
                cost[case, n].append(1e3 / float(line["million/s"]))
    print(f"ns per request; medians of {ROUNDS} rounds.\n")
    table(["servers", *cases], [[f"{n:,}", *(shown(median(cost[case, n]), 0) for case in cases)] for n in counts])
    if not shutil.which("valgrind"):
        print("Without valgrind instructions are not counted.\n")
        return
    counts = counts[1:]
    rows = [[f"{n:,}", *(shown(instructions(case, n), 0) for case in cases)] for n in counts]
    print("Instructions per request, from the second to the third hundred thousand and ten for each server.\n")
    table(["servers", *cases], rows)


def instructions(case, n):
    """What a request costs in instructions once as many are under way as will be."""
    os.environ["ROUNDS"] = "1"
    counted = []
    for requests in (200_000 + 10 * n, 300_000 + 10 * n):
        flags = ["--tool=callgrind", "--callgrind-out-file=/dev/null", SPEED, str(requests), f"{case}:{n}"]
        told = run(["valgrind", *flags], timeout=1_800).err
        counted.append(int(re.search(r"Collected : (\d+)", told)[1]))
    return (counted[1] - counted[0]) / 100_000


PARTS = {f.__name__: f for f in (setup, rates, tables, memory, servers)}

if __name__ == "__main__":
    unknown = [a for a in sys.argv[1:] if a not in PARTS]
    if unknown:
        sys.exit(f"unknown: {unknown}; parts are {' '.join(PARTS)}")
    with awake():
        for part in sys.argv[1:] or [p for p in PARTS if p != "setup"]:
            PARTS[part]()
