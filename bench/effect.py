#!/usr/bin/env python3
"""Is the verdict on a disturbed load right? The rule `effect`, live, against the truth by the target's own log and draws.

    cargo build --release
    python3 bench/effect.py --runs 60 --out effect.jsonl

Where others work on the machine: `setsid sh -c 'echo -5 > /proc/self/autogroup; exec python3 bench/effect.py ...'` as root.

Each run has a target, a rate and a disturbance of the generator, drawn from its seed (1, 2, ...): stops (SIGSTOP), a busy loop of equal
priority per core, a CPU quota that throttles, bursts of real-time work on its core, or none. The *truth* is what a generator would have
found in this run that starts each request when it is due and reads each answer as it comes:

- `headway serve` logs when each request reached its kernel, in the order in which it drew their services; from its seed these services are
  drawn again here, by the hash and the ziggurat of crates/base, in Python.
- Played at the logged instants through the same queue (in order, as many servers), they say when each answer was due to leave. Answers came
  a little later: the target's own delay, which is seen for each request, by the receive stamp of the generator's kernel.
- Played at the intended instants of the run's records, plus the median way there of requests that were on time, they say when each answer
  would have been due. The target's own delay is added as it was seen for requests that were on time; for others, which may have met the
  target in a heap, the median of those on time. Two other ways bound what this choice matters: as seen for all, and the median for all.

Requests that were never sent take the next draws. The target is pinned to the last core and has real-time priority, so that what disturbs
the generator hardly disturbs the target. The generator is pinned to the first core. That the two checks `early` (answers ahead of the time
at which they were due) and `unlike` (numbers made of the records here, that differ from those printed) are nearly zero says that draws
and records are read rightly. `--calm` holds it against what a generator prints that is hardly ever late: what is left is what it costs to
wake, start and read, which the truth does not have.

A number is off by |printed / truth - 1|, and by nothing up to 20 us, as in the rule; numbers without a verdict (fewer than 20 requests
beyond) do not count. Every run is a line of the file that --out names, and a seed that is there is not played again: stop it and start it
again as often as needed. The tables are of all that the file holds. Root is needed for real-time work and quotas. Sends to 127.0.0.1."""

import argparse
import contextlib
import datetime
import json
import math
import os
import pathlib
import random
import shutil
import signal
import statistics
import struct
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / ".ci/e2e"), str(ROOT / "bench")]
import harness  # noqa: E402
from hindrances import CORES, GENERATOR, TARGET, bursts, hog, nothing, pulses, quota  # noqa: E402
from tools import numbers, served, table  # noqa: E402

WARMUP, VERDICTS = 2, ("VALID", "INCONCLUSIVE", "INVALID")
# Services as `headway serve` reads them; mean in seconds, whether it is exponential, servers, rates (per second).
TARGETS = [("exp(1ms)", 1e-3, True, 8, (100, 1000)), ("exp(8ms)", 8e-3, True, 40, (100, 1000)), ("exp(8ms)", 8e-3, True, 4, (300,)),
           ("exp(20ms)", 20e-3, True, 40, (100, 1000)), ("const(100ms)", 100e-3, False, 1000, (100, 1000))]
NAMES = ("mean", "p50", "p90", "p95", "p99")
# On time: it reached the target's kernel so soon after it was due.
ON_TIME_S = 0.0005
# How a generator is hardly ever late.
CALM = ("chrt", "-f", "2")
# What the rule tolerates of any number.
FLOOR_S = 20e-6

# ------------------------------------------------------------------------------------------------------ the target's draws

_MASK = 2**64 - 1
_WEYL, _WEYL_J = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03


def _mix13(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


class Draws:
    """The draws of item k of the stream of that name: crates/base/src/random.rs."""

    def __init__(self, seed, name, k):
        fnv = 0xCBF29CE484222325
        for byte in name.encode():
            fnv = ((fnv ^ byte) * 0x100000001B3) & _MASK
        key = _mix13(_mix13((seed + _WEYL) & _MASK) ^ fnv)
        self.state = _mix13((key + k * _WEYL) & _MASK) ^ _mix13(key ^ _WEYL_J)

    def bits(self):
        out = _mix13(self.state)
        self.state = (self.state + _WEYL_J) & _MASK
        return out


def open01(bits):
    return ((bits >> 12) + 0.5) / 2**52


# Marsaglia and Tsang (2000), 256 layers: crates/base/src/special.rs.
_R, _V = 7.69711747013105, 0.003949659822581572
_X = [_V / math.exp(-_R), _R]
for _i in range(2, 256):
    _X.append(-math.log(_V / _X[-1] + math.exp(-_X[-1])))
_X.append(0.0)
_F = [math.exp(-x) for x in _X]


def exponential(draws):
    shift = 0.0
    bits = draws.bits()
    i, x = bits & 255, open01(bits) * _X[bits & 255]
    while x >= _X[i + 1]:
        if i == 0:
            shift += _R
        elif _F[i] + open01(draws.bits()) * (_F[i + 1] - _F[i]) < math.exp(-x):
            break
        bits = draws.bits()
        i, x = bits & 255, open01(bits) * _X[bits & 255]
    return shift + x


# ------------------------------------------------------------------------------------------------------------ a run's records


class _Table:
    """A table of FlatBuffers, in which Arrow writes its heads."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]

    def _place(self, n):
        size, = struct.unpack_from("<H", self.data, self.fields)
        offset = struct.unpack_from("<H", self.data, self.fields + 4 + 2 * n)[0] if 4 + 2 * n < size else 0
        return self.at + offset if offset else None

    def scalar(self, n, form):
        place = self._place(n)
        return struct.unpack_from(form, self.data, place)[0] if place else 0

    def _to(self, place):
        return place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, n):
        place = self._place(n)
        return _Table(self.data, self._to(place)) if place else None

    def text(self, n):
        at = self._to(self._place(n))
        return self.data[at + 4:at + 4 + struct.unpack_from("<I", self.data, at)[0]].decode()

    def vector(self, n):
        """Where its items begin, and how many there are."""
        at = self._to(self._place(n))
        return at + 4, struct.unpack_from("<I", self.data, at)[0]

    def tables(self, n):
        at, count = self.vector(n)
        return [_Table(self.data, self._to(at + 4 * i)) for i in range(count)]


def records(path, wanted):
    """Columns of a log (Arrow's file format, not compressed): of each a list, None where a cell is null. Int64 and dictionaries of int8."""
    data = path.read_bytes()
    harness.expect(data[:6] == data[-6:] == b"ARROW1", f"{path} is no Arrow file")
    foot = len(data) - 10 - struct.unpack_from("<i", data, len(data) - 10)[0]
    footer = _Table(data, foot + struct.unpack_from("<I", data, foot)[0])
    text = (4, 5)
    fields = [(f.text(0), 3 if f.scalar(2, "<B") in text and not f.table(4) else 2, bool(f.table(4))) for f in footer.table(1).tables(1)]
    columns = {name: [] for name in wanted}
    blocks, count = footer.vector(3)
    for b in range(count):
        offset, head, _ = struct.unpack_from("<qi4xq", data, blocks + 24 * b)
        message = _Table(data, offset + 8 + struct.unpack_from("<I", data, offset + 8)[0])
        batch, body = message.table(2), offset + head
        rows = batch.scalar(0, "<q")
        nodes, _ = batch.vector(1)
        buffers, _ = batch.vector(2)
        at = 0
        for n, (name, own, is_dictionary) in enumerate(fields):
            if name in columns:
                nulls = struct.unpack_from("<qq", data, nodes + 16 * n)[1]
                (there, _), (values, _) = (struct.unpack_from("<qq", data, buffers + 16 * (at + i)) for i in (0, 1))
                cells = list(struct.unpack_from(f"<{rows}{'b' if is_dictionary else 'q'}", data, body + values))
                if nulls:
                    cells = [cell if data[body + there + i // 8] >> i % 8 & 1 else None for i, cell in enumerate(cells)]
                columns[name] += cells
            at += own
    return columns


# ------------------------------------------------------------------------------------------------------------------ the truth


def quantile(values, p):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(p * len(ordered)))]


def truth(log, rows, zero, measured_from, law, seed):
    """The true numbers in three ways, and what they rest on."""
    mean, is_exponential, servers = law
    came = []
    for line in log.read_text().splitlines()[1:]:
        stamp, _, whose = line.split(",")
        harness.expect(whose == "kernel", f"a stamp of {whose!r} and not of the kernel")
        whole, nanos = stamp.split(".")
        came.append((int(whole) * 10**9 + int(nanos.ljust(9, "0")) - zero) / 1e9)
    services = [mean * exponential(Draws(seed, "service", k)) if is_exponential else mean for k in range(len(rows["outcome"]))]
    due_to_leave = served(came, services, servers)
    # One thread sends, and each request reaches the target's kernel in the call that sends it: both orders are the same.
    by_stamp = sorted(range(len(came)), key=came.__getitem__)
    column = lambda name: [math.nan if cell is None else cell / 1e9 for cell in rows[name]]
    intended, started, sent, done, unread = (column(f"{n}_ns") for n in ("intended", "started", "sent", "done", "unread"))
    every = sorted(range(len(intended)), key=intended.__getitem__)
    were_sent = [i for i in every if not math.isnan(sent[i])]
    by_send = sorted(were_sent, key=sent.__getitem__)
    harness.expect(len(by_send) == len(by_stamp), f"{len(by_send)} were sent and {len(by_stamp)} came")
    harness.expect(not any(rows["outcome"][i] for i in were_sent), "some did not end ok")
    harness.expect(not any(math.isnan(unread[i]) for i in were_sent), "no receive stamps")
    line_of = dict(zip(by_send, by_stamp))
    # What was never sent takes the next draws.
    line_of |= {i: len(came) + n for n, i in enumerate(i for i in every if i not in line_of)}
    way = {i: came[line_of[i]] - started[i] for i in were_sent}
    delay = {i: done[i] - unread[i] - due_to_leave[line_of[i]] for i in were_sent}
    late = {i: came[line_of[i]] - intended[i] for i in were_sent}
    # Those on time, and the most punctual where these are hardly any.
    on_time = sorted(were_sent, key=late.__getitem__)[:max(20, sum(t <= ON_TIME_S for t in late.values()))]
    usual_way, usual_delay = (statistics.median(of[i] for i in on_time) for of in (way, delay))
    ends = served([intended[i] + usual_way for i in every], [services[line_of[i]] for i in every], servers)
    of_those, these = set(on_time), [(i, end) for i, end in zip(every, ends) if intended[i] >= measured_from]
    truths = [numbers([end + added(i) - intended[i] for i, end in these]) for added in
              (lambda i: delay[i] if i in of_those else usual_delay, lambda i: delay.get(i, usual_delay), lambda i: usual_delay)]
    rests = {"on_time": sum(t <= ON_TIME_S for t in late.values()) / len(every), "sent": len(were_sent) / len(every),
             "way_s": usual_way, "way_least_s": min(came[line_of[i]] - sent[i] for i in were_sent),
             "delay_s": usual_delay, "delay_p99_s": quantile([delay[i] for i in on_time], 0.99),
             "early": sum(delay[i] < -5e-6 - 0.002 * unread[i] for i in were_sent) / len(delay), "delay_least_s": min(delay.values())}
    return truths, rests, numbers([done[i] - intended[i] for i, _ in these if i in delay])


# ------------------------------------------------------------------------------------------------------------------- one run


def between(draws, low, high):
    """Uniform in the logarithm."""
    return low * math.exp(draws.random() * math.log(high / low))


def stops(draws):
    length, every = between(draws, 0.002, 0.06), between(draws, 0.1, 3)
    return f"{1e3 * length:.1f} ms each {every:.2f} s", pulses(length, every, draws)


def taken(draws):
    length, every = between(draws, 0.0005, 0.02), between(draws, 0.05, 2)
    return f"{1e3 * length:.1f} ms each {length + every:.2f} s", bursts(length, length + every, draws.randrange(2**32))


def throttled(draws):
    percent, period = between(draws, 5, 60), draws.choice([10, 20, 50, 100])
    # The kernel's least quota is 1 ms.
    percent = max(percent, 100 / period)
    return f"{percent:.1f} % in {period} ms", quota(percent, period, must=False)


def neighbours(_):
    @contextlib.contextmanager
    def hinder(running):
        other = harness.spawn(["taskset", "-c", str(CORES[-1]), "sh", "-c", "while :; do :; done"])
        try:
            with hog()(running):
                yield
        finally:
            harness.stop(other, 1)

    return "equal priority", hinder


# Each kind, and how often.
KINDS = {"none": (lambda _: ("-", nothing), 1), "stopped": (stops, 3), "busy loops": (neighbours, 2), "quota": (throttled, 2),
         "core taken": (taken, 2)}


def one(tmp, seed, seconds, calm=False):
    """A run, as a line of the file."""
    draws = random.Random(f"effect-{seed}")
    service, mean, is_exponential, servers, rates = draws.choice(TARGETS)
    rate = draws.choice(rates)
    kind = draws.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
    what, hinder = KINDS[kind][0](draws)
    if calm:
        kind, what, hinder = "none", "calm", nothing
    log, port, serve_seed = tmp / f"{seed}.csv", harness.free_port(), draws.randrange(2**32)
    arguments = ["serve", "--listen", f"127.0.0.1:{port}", "--service", service, "--servers", servers, "--seed", serve_seed, "--arrivals-log", log]
    target = harness.Headway(arguments, tmp, wrap=[*TARGET, "chrt", "-f", "60"])
    try:
        harness.wait_for(lambda: "serving at" in target.text(target.err) or target.process.poll() is not None, "serve to listen")
        load = ["-R", rate, "-d", f"{seconds}s", "--warmup", f"{WARMUP}s", "--seed", seed, "--threads", "1", "--quiet"]
        running = harness.start_run(f"http://127.0.0.1:{port}/", *load, tmp=tmp, name=f"run-{seed}", wrap=[*GENERATOR, *(CALM if calm else ())])
        with hinder(running):
            ended = running.ended()
        summary, plan = ended.summary, ended.plan
    finally:
        target.signal(signal.SIGINT)
        target.ended(20)
    rows = records(ended.folder / "records.arrow", [*(f"{n}_ns" for n in ("intended", "started", "sent", "done", "unread")), "outcome"])
    law = (mean, is_exponential, servers)
    truths, rests, made = truth(log, rows, plan["zero_unix_ns"], plan["plan"]["measured_from_ns"] / 1e9, law, serve_seed)
    shutil.rmtree(ended.folder)
    log.unlink()
    verdict = summary["verdict"]
    told = {row["number"]: row for row in verdict["effect"]["numbers"]}
    rests["unlike"] = max(abs(told[name]["measured"] / value - 1) for name, value in zip(NAMES, made))
    found = [{"number": name, "printed": told[name]["measured"], "truth": ways[0], "as_seen": ways[1], "usual": ways[2],
              "undisturbed": told[name]["undisturbed"], "basis": told[name]["basis"], "outcome": told[name]["outcome"]}
             for name, ways in zip(NAMES, zip(*truths))]
    failed = [rule["rule"] for rule in verdict["rules"] if rule["outcome"] in ("fail", "undecided")]
    return {"seed": seed, "service": service, "servers": servers, "rate": rate, "kind": kind, "what": what, "seconds": seconds,
            "n": verdict["effect"]["n"], "load": verdict["load"], "open": failed, "numbers": found, "rests": rests,
            "at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}


# ------------------------------------------------------------------------------------------------------------------------ all


def off(number, way="truth"):
    difference = number["printed"] - number[way]
    return 0.0 if abs(difference) <= FLOOR_S else difference / number[way]


def worst(line, way="truth"):
    """The number with a verdict that is furthest off, signed."""
    return max((off(number, way) for number in line["numbers"] if number["outcome"]), key=abs, default=0.0)


def named(line):
    return f"seed {line['seed']}, {line['service']} x{line['servers']} at {line['rate']}/s, {line['kind']} {line['what']}"


WAYS = {"truth": "the target's own delay as seen where on time", "as_seen": "it as seen for all", "usual": "the median for all"}
BANDS = (0.02, 0.03, 0.05, 0.1)


def shown(lines):
    begun, ended = (pick(line["at"] for line in lines) for pick in (min, max))
    print(f"## The rule `effect`, live\n\n{len(lines)} runs of {lines[0]['seconds']} s, {begun} to {ended}.\n")
    bands = {**{f"within {band:.0%}": (lambda x, band=band: x <= band) for band in BANDS[:3]},
             **{f"beyond {band:.0%}": (lambda x, band=band: x > band) for band in BANDS[2:]}}
    those = {name: [line["load"] for line in lines if holds(abs(worst(line)))] for name, holds in bands.items()}
    table(["all numbers within, or one beyond", "runs", *VERDICTS],
          [[name, len(loads), *(loads.count(load) for load in VERDICTS)] for name, loads in those.items()])
    for way, words in WAYS.items():
        false = [(line["load"], abs(worst(line, way))) for line in lines]
        print(f"With {words}: {sum(load == 'VALID' and x > 0.1 for load, x in false)} VALID beyond 10 %, "
              f"{sum(load == 'VALID' and x > 0.05 for load, x in false)} beyond 5 %; {sum(load == 'INVALID' and x <= 0.03 for load, x in false)} INVALID "
              f"within 3 %, {sum(load == 'INVALID' and x <= 0.05 for load, x in false)} within 5 %.\n")
    rows = []
    for kind in [*KINDS, "all"]:
        those = [line for line in lines if kind in (line["kind"], "all")]
        fine, wrong = ([line for line in those if holds(abs(worst(line)))] for holds in (lambda x: x <= 0.05, lambda x: x > 0.05))
        rows.append([kind, len(those), *(f"{len(part)}: {' / '.join(str(sum(line['load'] == load for line in part)) for load in VERDICTS)}"
                                         for part in (fine, wrong))])
    table(["disturbance", "runs", "within 5 %: " + " / ".join(VERDICTS), "beyond 5 %: " + " / ".join(VERDICTS)], rows)
    for line in lines:
        wrong = abs(worst(line))
        if line["load"] == "VALID" and wrong > 0.05 or line["load"] == "INVALID" and wrong <= 0.05:
            shown = "; ".join(f"{n['number']} printed {1e3 * n['printed']:.3f} ms, truth {1e3 * n['truth']:.3f}, off {off(n):+.1%}, "
                              f"range {1e3 * n['undisturbed'][0]:.3f} to {1e3 * n['undisturbed'][1]:.3f}, {n['outcome']}" for n in line["numbers"])
            ways = ", ".join(f"{worst(line, way):+.1%}" for way in ("as_seen", "usual"))
            print(f"- **{line['load']}, off by {worst(line):+.1%}** ({ways} with the target's delay as seen, and as usual): {named(line)}, "
                  f"rules {line['open']}: {shown}\n")
    holds = lambda n, slack: n["undisturbed"][0] - slack <= n["truth"] <= n["undisturbed"][1] + slack
    rows = []
    for name in [*NAMES, "all of a run"]:
        runs = [[n for n in line["numbers"] if n["outcome"] and name in (n["number"], "all of a run")] for line in lines]
        runs = [run for run in runs if run]
        rows.append([name, len(runs), *(sum(all(holds(n, slack) for n in run) for run in runs) for slack in (0, FLOOR_S))])
    table(["number with a verdict", "runs", "the range holds the truth", "within 20 us of it"], rows)
    rests = lambda key: [line["rests"][key] for line in lines]
    print(f"The target's own delay: {1e6 * statistics.median(rests('delay_s')):.0f} us (median of medians), 99th percentile of a run "
          f"{1e3 * statistics.median(rests('delay_p99_s')):.2f} ms (median), {1e3 * max(rests('delay_p99_s')):.2f} ms (worst run). Requests on time: "
          f"{min(rests('on_time')):.0%} to {max(rests('on_time')):.0%}. Answers ahead of when they were due: {max(rests('early')):.2%} in the worst run. "
          f"Numbers made of the records differ from the printed by {max(rests('unlike')):.2%} at most. The three ways of taking the target's own delay differ "
          f"by more than 2 % of a number with a verdict in "
          f"{sum(any(abs(n[way] / n['truth'] - 1) > 0.02 for n in line['numbers'] if n['outcome'] for way in ('as_seen', 'usual')) for line in lines)} runs.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="where the runs are kept, one a line")
    parser.add_argument("--runs", type=int, default=60, help="seeds 1 to this")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--calm", action="store_true", help="to check the truth: without disturbances, by a generator at real-time priority")
    parser.add_argument("--minutes", type=float, default=60, help="no run begins after that")
    asked = parser.parse_args()
    lines = []
    if os.path.exists(asked.out):
        with open(asked.out) as file:
            lines = [json.loads(line) for line in file]
    there, end, tmp = {line["seed"] for line in lines}, time.time() + 60 * asked.minutes, pathlib.Path(tempfile.mkdtemp(prefix="headway-bench-"))
    for seed in range(1, asked.runs + 1):
        if seed in there or time.time() > end:
            continue
        try:
            line = one(tmp, seed, asked.seconds, asked.calm)
        except (harness.Skipped, harness.Failed) as reason:
            print(f"{seed}: left out: {reason}", file=sys.stderr, flush=True)
            harness.stop_all()
            continue
        lines.append(line)
        with open(asked.out, "a") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{named(line)}: {worst(line):+.1%} off, {line['load']} {line['open']}", file=sys.stderr, flush=True)
    shutil.rmtree(tmp, ignore_errors=True)
    left_out = asked.runs - len(lines)
    if lines:
        shown(lines)
    if left_out:
        print(f"\n{left_out} of {asked.runs} runs were left out or not played.")


if __name__ == "__main__":
    try:
        main()
    finally:
        harness.stop_all()
