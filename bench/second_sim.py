#!/usr/bin/env python3
"""A second simulation, of what no formula tells, and Markov chains solved, for `crates/testkit/tests/trust/second.rs`.

    nice -n 10 python3 bench/second_sim.py > crates/testkit/tests/trust/second.tsv     # some six minutes of one core
    python3 bench/second_sim.py NAME...                                               # some of them, to look at

The parts are in second_parts.py. Each experiment begins empty, goes on for so many seconds of Poisson arrivals, and ends when the
last has its answer; all requests count. So there is no warm-up to agree about. The instants at which shares are taken come from
a pilot of seeds of its own. Where a chain of the whole system is small enough it is solved instead: its standard error is 0.

Columns: experiment, number, at (seconds, of shares that were answered by then), value, its standard error over the replications."""

import itertools
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from second_parts import (  # noqa: E402
    AnyOf, Balancer, Breaker, Hedge, PeakEwma, Retry, Station, Timeout, Told, UpAndDown, World, anyone, fewest, ring,
)

RUNS = 400
PILOT = 20
REQUESTS = 4_000
MS = 1e-3


def pool(world, *means, **how):
    return [Station(world, mean * MS, **how) for mean in means]


def flaky(world, n, up, down):
    return [Station(world, MS, faults=UpAndDown(world, up * MS, down * MS)) for _ in range(n)]


def ewma(world, decay):
    return Balancer(world, pool(world, 1, 1, 1, 1, 2, 2), PeakEwma(world, 6, decay))


def retried(world, low, **budget):
    station = flaky(world, 1, 100, 20)[0]
    return Retry(world, station, 4, 5 * MS, 2.0, 15 * MS, low, **budget)


def hedged(world, choose, **how):
    return Hedge(world, Balancer(world, pool(world, 1, 1, 3, 3), choose), 4 * MS, **how)


def held(world, hold):
    return Balancer(world, flaky(world, 4, 80, 20), fewest(), hold)


def broken(world):
    faults = UpAndDown(world, 150 * MS, 40 * MS)
    station = Station(world, MS, servers=2, most_waiting=10, faults=faults)
    return Breaker(world, station, 0.5, 20, 30 * MS, 3)


def overloaded(world):
    return Breaker(world, Station(world, MS, most_waiting=1), 0.4, 10, 5 * MS, 2)


def hashed(world, points, bound):
    return Balancer(world, pool(world, *[1] * 10), ring(points, 10, bound))


def impatient(world, cancel):
    return Timeout(world, Station(world, MS, servers=2), 4 * MS, cancel)


def stale(world):
    stations, routers = pool(world, *[1] * 6), []
    for _ in range(3):
        Told(world, stations, fewest(), routers, 3 * MS, 0.5 * MS)
    return AnyOf(world, routers)


# Name: requests per second, the model of a world (and of a ring), and what is counted besides, per request.
EXPERIMENTS = {
    "peak-ewma": (3_500.0, lambda w, _: ewma(w, 20 * MS), []),
    "peak-ewma, long memory": (3_500.0, lambda w, _: ewma(w, 10.0), []),
    "consistent-hash": (6_000.0, lambda w, r: hashed(w, r, None), []),
    "consistent-hash, bounded": (8_000.0, lambda w, r: hashed(w, r, 1.25), []),
    "retries, budget": (700.0, lambda w, _: retried(w, 0.0, share=0.2, reserve=5.0), ["attempts"]),
    "retries, half jitter": (600.0, lambda w, _: retried(w, 0.5), ["attempts"]),
    "hedge, called back": (1_000.0, lambda w, _: hedged(w, anyone), ["attempts"]),
    "hedge, fewest": (1_800.0, lambda w, _: hedged(w, fewest()), ["attempts"]),
    "hedge twice": (500.0, lambda w, _: hedged(w, anyone, most=2, cancel=False), ["attempts"]),
    "no hold": (2_500.0, lambda w, _: held(w, 0.0), []),
    "hold": (2_500.0, lambda w, _: held(w, 10 * MS), []),
    "breaker": (1_200.0, lambda w, _: broken(w), ["asked"]),
    "breaker, overloaded": (1_500.0, lambda w, _: overloaded(w), ["asked"]),
    "stale": (4_200.0, lambda w, _: stale(w), []),
    "time-out": (1_700.0, lambda w, _: impatient(w, False), []),
    "time-out, called back": (2_000.0, lambda w, _: impatient(w, True), []),
}


def replication(name, seed):
    """Answers, and how often each thing was counted. Two replications in a row have a ring in common."""
    rate, model, counted = EXPERIMENTS[name]
    world = World(f"{name} {seed}")
    answers = world.play(rate, REQUESTS / rate, model(world, random.Random(f"ring {name} {seed // 2}")))
    return answers, [world.count[c] for c in counted]


def quantile(sorted_values, p):
    return sorted_values[min(int(p * len(sorted_values)), len(sorted_values) - 1)]


def ratio(pairs, common):
    """Sum over sum, and its standard error; with what two in a row have in common, as if there were one ring."""
    sums, counts = zip(*pairs)
    n, value = len(pairs), sum(sums) / sum(counts)
    each = sum(counts) / n
    off = [(s - value * c) / each for s, c in pairs]
    variance = sum(d * d for d in off) / (n - 1) / n
    if common:
        shared = sum(a * b for a, b in zip(off[::2], off[1::2])) / (n // 2)
        variance += max(shared, 0.0) * (1.0 + 1.0 / n)
    return value, math.sqrt(variance)


def experiment(name):
    """Rows of an experiment."""
    pilot = sorted(t for r in range(PILOT) for t, good in replication(name, -2 * PILOT + r)[0] if good)
    instants = [float(f"{quantile(pilot, p):.2g}") for p in (0.5, 0.99)]
    rows = {"mean": [], "failed": [], **{t: [] for t in instants}, **{c: [] for c in EXPERIMENTS[name][2]}}
    for r in range(2, RUNS + 2):
        answers, counts = replication(name, r)
        good = [t for t, good in answers if good]
        rows["mean"].append((sum(good), len(good)))
        rows["failed"].append((len(answers) - len(good), len(answers)))
        for t in instants:
            rows[t].append((sum(g <= t for g in good), len(good)))
        for counted, count in zip(EXPERIMENTS[name][2], counts):
            rows[counted].append((count, len(answers)))
    for number, pairs in rows.items():
        # That nobody failed, or that all had their answer, has no standard error.
        if number != "mean" and (not any(had for had, _ in pairs) or all(had == of for had, of in pairs)):
            continue
        at, number = (number, "within") if isinstance(number, float) else ("", number)
        value, error = ratio(pairs, name.startswith("consistent-hash"))
        yield name, number, at, f"{value:.7g}", f"{error:.2g}"


def erlang(stages, x):
    """The probability that so many exponentials of mean 1 add up to at most x."""
    term, below = math.exp(-x), 0.0
    for i in range(stages):
        below += term
        term *= x / (i + 1)
    return 1.0 - below


# Name: services per second of each of four, weights, requests per second, how many different ones are drawn, and whether ties go
# to the first.
CHAINS = {
    "three of four, weights": ((1_000.0, 1_000.0, 2_000.0, 2_000.0), (1.0, 1.0, 2.0, 2.0), 4_200.0, 3, False),
    "least connections, weights": ((1_000.0, 1_000.0, 2_000.0, 2_000.0), (1.0, 1.0, 2.0, 2.0), 4_200.0, 4, False),
    "least connections, two speeds, the first": ((1_000.0, 1_000.0, 2_000.0, 2_000.0), (1.0,) * 4, 3_600.0, 4, True),
}


def shares(state, weights, drawn, first):
    """Who gets the next request, with which probability."""
    got = [0.0] * len(state)
    sets = list(itertools.combinations(range(len(state)), drawn))
    for those in sets:
        loads = {i: (state[i] + 1) / weights[i] for i in those}
        best = [i for i in those if loads[i] == min(loads.values())]
        best = best[:1] if first else best
        for i in best:
            got[i] += 1.0 / len(sets) / len(best)
    return got


def chain(name):
    """Rows of a chain: balance equations by Gauss and Seidel over all states up to so many at each station."""
    speeds, weights, rate, drawn, first = CHAINS[name]
    most = [9 if speed == min(speeds) else 14 for speed in speeds]
    states = list(itertools.product(*(range(m + 1) for m in most)))
    index = {state: k for k, state in enumerate(states)}
    into, leaving = [[] for _ in states], [0.0] * len(states)
    ways = [shares(state, weights, drawn, first) for state in states]
    for k, state in enumerate(states):
        for i, share in enumerate(ways[k]):
            moves = []
            if share and state[i] < most[i]:
                moves.append((1, rate * share))
            if state[i]:
                moves.append((-1, speeds[i]))
            for step, speed in moves:
                into[index[state[:i] + (state[i] + step,) + state[i + 1:]]].append((k, speed))
                leaving[k] += speed
    p = [1.0 / len(states)] * len(states)
    change = 1.0
    while change > 1e-9:
        change = 0.0
        for k, ins in enumerate(into):
            new = sum(p[j] * speed for j, speed in ins) / leaving[k]
            change += abs(new - p[k])
            p[k] = new
        total = sum(p)
        p = [q / total for q in p]
    full = sum(q for q, state in zip(p, states) if any(n == m for n, m in zip(state, most)))
    assert full < 1e-5, full
    mean = sum(q * sum(state) for q, state in zip(p, states)) / rate
    chosen = {}
    for q, state, way in zip(p, states, ways):
        for i, share in enumerate(way):
            chosen[speeds[i], state[i]] = chosen.get((speeds[i], state[i]), 0.0) + q * share
    within = lambda t: sum(q * erlang(n + 1, speed * t) for (speed, n), q in chosen.items())  # noqa: E731
    yield name, "mean", "", f"{mean:.7g}", 0
    for p in (0.5, 0.99):
        low, high = 0.0, 1.0
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (middle, high) if within(middle) < p else (low, middle)
        at = float(f"{low:.2g}")
        yield name, "within", at, f"{within(at):.7g}", 0
    fast = sum(q for (speed, _), q in chosen.items() if speed == max(speeds))
    yield name, "to the fast", "", f"{fast:.7g}", 0


if __name__ == "__main__":
    names = sys.argv[1:] or [*EXPERIMENTS, *CHAINS]
    unknown = [name for name in names if name not in EXPERIMENTS and name not in CHAINS]
    if unknown:
        sys.exit(f"unknown: {unknown}; there are {[*EXPERIMENTS, *CHAINS]}")
    print(f"# python3 bench/second_sim.py: {RUNS} replications of {REQUESTS} requests, on average, each; chains are exact.")
    for name in names:
        for row in (experiment if name in EXPERIMENTS else chain)(name):
            print(*row, sep="\t", flush=True)
