"""Targets that die under load, and the runs that must end all the same: what check_mortality and nightly_mortality share.

A pairwise array: each fault with each load, each protocol and each verb, each load with each protocol, and so on.
"""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time

from harness import ROOT, Failed, Headway, Skipped, expect, free_port, note, spawn, stop, tool

# Of the target; its capacity is 100/s.
LOADS = {"low": 30, "at capacity": 100, "four times": 400}
FAULTS = ["killed", "stopped", "restarted", "cut off", "newest first"]
PROTOCOLS = ["http1", "http2", "tcp", "udp"]
VERBS = ["run", "search", "compare", "shards"]
FACTORS = [FAULTS, list(LOADS), PROTOCOLS, VERBS]

# When the fault comes, after the start of the command (s): when the load has been there for a while.
FAULT_AT_S = 1.5
TIMEOUT_S = 1
# Each command's plan takes so long at most (s); the rest of its bound is for a busy machine and the report.
PLANNED_S = {"run": 4, "shards": 4, "compare": 5, "search": 10}
SLACK_S = 25


def pairwise(factors):
    """Rows in which each pair of values of two factors occurs, by the greedy rule: the row with the most pairs that are new. Always the same ones."""

    def pairs(row):
        return {(i, row[i], j, row[j]) for i, j in itertools.combinations(range(len(row)), 2)}

    every = list(itertools.product(*factors))
    missing, rows = set().union(*map(pairs, every)), []
    while missing:
        best = max(every, key=lambda row: len(pairs(row) & missing))
        missing -= pairs(best)
        rows.append(best)
    return rows


class Network:
    """A network namespace with a loopback of its own, which can be taken down."""

    def __init__(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode != 0:
            raise Skipped("this user may not make network namespaces")
        self.name = f"hwm{os.getpid() % 100000}x{time.monotonic_ns() % 100000}"

    def __enter__(self):
        tool("ip", "netns", "add", self.name)
        tool("ip", "-n", self.name, "link", "set", "lo", "up")
        return self

    def __exit__(self, *_):
        subprocess.run(["ip", "netns", "del", self.name], check=False)
        return False

    @property
    def wrap(self):
        return ["nsenter", f"--net=/run/netns/{self.name}"]

    def cut(self):
        tool("ip", "-n", self.name, "link", "set", "lo", "down")


class Target:
    def __init__(self, protocol, order, wrap):
        self.protocol, self.order, self.wrap, self.port = protocol, order, wrap, free_port()

    def __enter__(self):
        self.begin()
        return self

    def begin(self):
        command = [*self.wrap, sys.executable, ROOT / ".ci/e2e/mortal.py", self.protocol, self.port, self.order]
        self.process = spawn(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        expect(self.process.stdout.readline() == b"ready\n", "the target does not listen")

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        stop(self.process)
        return False

    @property
    def url(self):
        scheme = {"http1": "http", "http2": "http"}.get(self.protocol, self.protocol)
        return f"{scheme}://127.0.0.1:{self.port}" + ("/" if scheme == "http" else "")

    @property
    def flags(self):
        # More requests wait at once than the 64 stretches of time that statistics keep.
        own = {"http1": [], "http2": ["--http2"], "tcp": ["-b", "ping\n", "--answer", r"until:\n"], "udp": []}
        return [*own[self.protocol], "--timeout", f"{TIMEOUT_S}s"]

    def suffers(self, fault, network):
        if fault in ("killed", "restarted"):
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if fault == "restarted":
            time.sleep(0.5)
            self.begin()
        if fault == "stopped":
            self.process.send_signal(signal.SIGSTOP)
        if fault == "cut off":
            network.cut()


def commands(verb, target, rate, tmp):
    """What is run at once, and what afterwards."""
    load = ["-R", f"{rate}/s", "--seed", "5"]
    seconds = PLANNED_S[verb]
    one = ["run", target.url, *load, "-d", f"{seconds}s", *target.flags]
    match verb:
        case "run":
            return [[*one, "--out", tmp / "run"]], []
        case "shards":
            return [[*one, "--shard", f"{i}/2", "--out", tmp / "run"] for i in range(2)], [["merge", tmp / "run"]]
        case "compare":
            return [["compare", "--live", target.url, target.url, *load, "--rounds", "5", "--each", "500ms", "--warmup", "0s", "--", *target.flags]], []
        case "search":
            bounds = ["--from", f"{rate // 2}/s", "--to", f"{2 * rate}/s", "--threshold", "p(90)<80ms", "--budget", f"{seconds}s"]
            return [["search", target.url, *bounds, "--seed", "5", *target.flags]], []


def ends(row, tmp):
    """Plays that row; how each command ended and after how long (s)."""
    fault, load, protocol, verb = row
    network = Network() if fault == "cut off" else None
    order = "lifo" if fault == "newest first" else "fifo"
    with network or threading.Lock():
        wrap = network.wrap if network else []
        with Target(protocol, order, wrap) as target:
            first, then = commands(verb, target, LOADS[load], tmp)
            began = time.monotonic()
            running = [Headway(command, tmp, wrap=wrap) for command in first]
            time.sleep(FAULT_AT_S)
            target.suffers(fault, network)
            ended = [one.ended(PLANNED_S[verb] + SLACK_S) for one in running]
            took = time.monotonic() - began
            ended += [Headway(command, tmp).ended(SLACK_S) for command in then]
    for one in ended:
        # 2: rounds of a comparison whose load was INVALID; a machine that stands still leaves no other word for it.
        one.exits(0, 1, 3, 97, 98, 99, *([2] if verb == "compare" else []))
        for word in ("panicked", "does not end"):
            expect(word not in one.err, f"{word}: {one}")
        expect(one.out.strip() or one.code == 1, f"it ended without a report: {one}")
    return [one.code for one in ended], took


def all_end(rows, tmp):
    """Each of them ends; all that do not are told."""
    wrong, left_out = [], 0
    for number, row in enumerate(rows):
        place = tmp / str(number)
        place.mkdir()
        try:
            codes, took = ends(row, place)
            note(f"{', '.join(row)}: exit {' '.join(map(str, codes))} after {took:.1f} s")
        except Skipped as reason:
            left_out += 1
            note(f"{', '.join(row)}: left out, {reason}")
        except Failed as failure:
            wrong.append(f"{', '.join(row)}: {failure}")
    expect(not wrong, "\n".join(wrong))
    if left_out == len(rows):
        raise Skipped("this user may not make network namespaces")
