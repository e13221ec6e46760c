#!/usr/bin/env python3
"""How fast datagrams go out beside what the kernel takes at most, and what a request costs over TCP beside HTTP/1.1: prints two Markdown tables.
See bench/README.md.

Datagrams go to a socket that is never read; PING to redis-server, GET to nginx.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http2 import nginx, ours  # noqa: E402
from tools import TARGET_CORE, awake, free_port, headway, median, run, shown, table, tool, wait_for  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "5"))
DATAGRAMS = int(os.environ.get("DATAGRAMS", "1000000"))


@contextlib.contextmanager
def sink():
    """The port of a socket that is never read: a receiver that sleeps has to be woken, which costs the sender more the slower it sends."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        yield str(bound.getsockname()[1])


@contextlib.contextmanager
def redis():
    port = free_port()
    command = ["taskset", "-c", TARGET_CORE, tool("redis-server"), "--port", str(port), "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield f"tcp://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def sent(port):
    """Datagrams a second, one after the other as fast as they go, and a second of processor time of the worker."""
    used = headway(f"udp://127.0.0.1:{port}", "-u", "64", "-c", "1", "--pool", "shared", "-n", str(DATAGRAMS), "--one-way", "--no-log")
    summary = used.summary
    if set(summary["outcomes"]) != {"ok"}:
        raise RuntimeError(f"{summary['outcomes']}")
    (worker,) = summary["generator"]["workers"]
    return DATAGRAMS / (summary["measured"]["to_s"] - summary["measured"]["from_s"]), DATAGRAMS / worker["processor"]


def rows(values):
    first = next(iter(values))
    return [[name, shown(median(all)), shown(median([a / b for a, b in zip(all, values[first])]))] for name, all in values.items()]


def rounds(ways):
    values = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            values[name].append(way())
    return values


def main():
    folder = tempfile.mkdtemp(prefix="headway-bench-")
    floor = os.path.join(folder, "floor")
    subprocess.run(["cc", "-O2", "-o", floor, os.path.join(os.path.dirname(os.path.abspath(__file__)), "floor.c")], check=True)
    with sink() as port, awake():
        bare = lambda how: tuple(map(float, run([floor, port, str(DATAGRAMS), how]).out.split()))  # noqa: E731
        ways = {"bare loop, one by one": lambda: bare("one"), "bare loop, sendmmsg of 64": lambda: bare("many"), "headway --one-way": lambda: sent(port)}
        values = rounds(ways)
        # On a machine that does other things too, processor time says more than time.
        both = [rows({name: [one[i] for one in all] for name, all in values.items()}) for i in (0, 1)]
        head = ["datagrams", "a second", "ratio to one by one", "a second of processor time", "ratio"]
        table(head, [[*time, *cpu[1:]] for time, cpu in zip(*both)])
    shutil.rmtree(folder, ignore_errors=True)
    with nginx() as (one, _), redis() as ping, awake():
        cost = lambda n, cpu_s: cpu_s / n * 1e6  # noqa: E731
        ways = {
            "HTTP/1.1, 64 connections": lambda: cost(*ours(one, "-c", "64")),
            "TCP (PING), 64 connections": lambda: cost(*ours(ping, "-c", "64", "-b", "PING\r\n", "--answer", r"until:\r\n")),
        }
        table(["generator", "us CPU a request", "ratio"], rows(rounds(ways)))


if __name__ == "__main__":
    main()
