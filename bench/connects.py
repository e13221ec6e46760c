#!/usr/bin/env python3
"""How fast connects go against a queue that is full, beside a bare loop, and what a million of them leave behind: prints two Markdown tables.
See bench/README.md.

    connects.py [speed] [leaks]     both unless one is named
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from datagrams import rounds, rows  # noqa: E402
from tools import HEADWAY, awake, free_port, headway, run, table  # noqa: E402

SOCKETS = int(os.environ.get("SOCKETS", "5000"))
SECONDS = float(os.environ.get("SECONDS", "3"))
ATTEMPTS = int(os.environ.get("ATTEMPTS", "1000000"))


@contextlib.contextmanager
def full():
    """The port of a target whose queue is full from the start, and of which nothing is ever taken out."""
    with socket.socket() as listener, contextlib.ExitStack() as clients:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        for _ in range(4):
            client = clients.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        time.sleep(0.1)
        yield str(listener.getsockname()[1])


def sent(port):
    """Attempts a second where more are asked for than can be made: 200,000. Every socket is then behind its time, so that at the end each has one
    attempt that was due and is never made (`unsent`), which is none of those counted.
    """
    flags = ["--connecting", str(SOCKETS), "--connect-timeout", f"{SOCKETS / 200_000}s", "-d", f"{SECONDS}s", "--no-log"]
    summary = headway(f"http://127.0.0.1:{port}/", *flags).summary
    outcomes, attempts = summary["outcomes"], summary["connects"]["attempts"]
    made = sum(outcomes.values()) - outcomes.get("unsent", 0)
    # Of the others at most one for each socket began after the end of the phase, within the grace.
    if set(outcomes) - {"connect-timeout", "unsent"} or outcomes.get("unsent", 0) > SOCKETS or not attempts <= made <= attempts + SOCKETS:
        raise RuntimeError(f"{outcomes}, {attempts} attempts")
    return summary["connects"]["per_s"]["attempts"]


def speed():
    folder = tempfile.mkdtemp(prefix="headway-bench-")
    floor = os.path.join(folder, "connects")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "connects.c")
    subprocess.run(["cc", "-O2", "-o", floor, source], check=True)
    with full() as port, awake():
        bare = lambda how: float(run([floor, port, str(SOCKETS), str(SECONDS), how]).out)  # noqa: E731
        ways = {
            "bare loop": lambda: bare("bare"),
            "bare loop with epoll": lambda: bare("watched"),
            "headway --connecting": lambda: sent(port),
        }
        table(["connects to a full queue", "a second", "ratio to the bare loop"], rows(rounds(ways)))
    shutil.rmtree(folder, ignore_errors=True)


def held(pid):
    """Resident memory in MiB, and descriptors."""
    with open(f"/proc/{pid}/status") as status:
        rss = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    return rss / 1024, len(os.listdir(f"/proc/{pid}/fd"))


def watched(port):
    """What a run holds a tenth of its way on and at its end."""
    folder = tempfile.mkdtemp(prefix="headway-bench-")
    rate, timeout_s = 20_000, 0.05
    seconds = ATTEMPTS / rate
    flags = ["--connecting", str(int(rate * timeout_s)), "--connect-timeout", f"{timeout_s}s", "-d", f"{seconds}s", "--no-log", "--out", f"{folder}/run"]
    command = [HEADWAY, "run", f"http://127.0.0.1:{port}/", *flags, "--quiet", "--json", f"{folder}/json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begun, found = time.time(), []
    for share in (0.1, 0.98):
        time.sleep(max(0, begun + share * seconds - time.time()))
        found.append((share, *held(process.pid)))
    process.wait(60)
    with open(f"{folder}/json") as text:
        connects = json.load(text)["connects"]
    shutil.rmtree(folder, ignore_errors=True)
    return connects["attempts"], found


def leaks():
    with full() as port:
        targets = {"a full queue": port, "a closed port": str(free_port())}
        lines = []
        for name, at in targets.items():
            attempts, found = watched(at)
            lines += [[name, f"{share * attempts:,.0f}", f"{rss:.1f}", str(fds)] for share, rss, fds in found]
    table(["target", "attempts so far", "RSS, MiB", "descriptors"], lines)


if __name__ == "__main__":
    for part in sys.argv[1:] or ["speed", "leaks"]:
        {"speed": speed, "leaks": leaks}[part]()
