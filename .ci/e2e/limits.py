"""Loads for which this machine lacks something: descriptors of the process, or local ports in a network namespace of its own; and a
server in a process of its own that counts what really arrived.

    python limits.py PORT SERVICE_S FILE       the server; writes its count to FILE when it is terminated
"""

import asyncio
import contextlib
import os
import pathlib
import resource
import signal
import subprocess
import sys

from harness import Skipped, expect, free_port, spawn, start_run, stop, wait_for

SERVICE_S = 0.1
SECONDS = 5
USERS = 20

# Each needs some 20 connections: 200/s of 100 ms; users who wait most of the time; sessions of three steps.
KINDS = {
    "open": ["-R", "200", "-d", f"{SECONDS}s"],
    "closed": ["-u", str(USERS), "--think", "exp(10ms)", "-d", f"{SECONDS}s"],
    "fixed work": ["-n", "800", "-u", str(USERS)],
    "sessions": None,
}
SESSIONS = """target: http://127.0.0.1:%d
users: { arrive: { process: poisson, rate: 66/s }, phases: [ { hold: %ds } ], think: exp(10ms) }
journey: [ { get: /a, name: a }, { get: /b, name: b }, { get: /c, name: c } ]
"""


class Counter:
    """As a context: the server, on a free port or in a namespace; `count` holds what arrived, once it is closed."""

    def __init__(self, tmp, wrap=()):
        self.file, self.port, self.count = tmp / "count.txt", free_port(), None
        self.command = [*wrap, sys.executable, __file__, self.port, SERVICE_S, self.file]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.process = spawn(self.command)
        wait_for(lambda: self.file.exists() or self.process.poll() is not None, "the counting server")
        expect(self.process.poll() is None, "the counting server ended")
        return self

    def __exit__(self, *_):
        stop(self.process)
        self.count = int(self.file.read_text() or 0)
        return False


class Namespace:
    """As a context: a network namespace with a loopback and so many local ports; `wrap` goes before a command."""

    def __init__(self, ports):
        self.ports, self.name = ports, f"headway-{os.getpid()}"
        self.wrap = ["ip", "netns", "exec", self.name]

    def __enter__(self):
        if os.geteuid() or subprocess.run(["ip", "netns", "add", self.name], capture_output=True).returncode:
            raise Skipped("no network namespace can be made here (that takes root and iproute2)")
        subprocess.run([*self.wrap, "ip", "link", "set", "lo", "up"], check=True)
        limit = f"echo 61000 {61000 + max(self.ports, 1) - 1} > /proc/sys/net/ipv4/ip_local_port_range"
        # A port is free again as soon as its connection is closed, as on a machine with few connections.
        subprocess.run([*self.wrap, "sh", "-c", f"{limit}; echo 1 > /proc/sys/net/ipv4/tcp_tw_reuse"], check=True)
        return self

    def __exit__(self, *_):
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True)
        return False


def start(kind, server, tmp, wrap=()):
    what = server.url
    if kind == "sessions":
        what = tmp / "sessions.yaml"
        what.write_text(SESSIONS % (server.port, SECONDS))
    return start_run(what, *(KINDS[kind] or []), "--strict", "--seed", "5", "--start-at", "+1s", tmp=tmp, name=kind.split()[0], wrap=wrap)


def leave_descriptors(running, allowed):
    """As if something else in the process had taken the rest: no more than that many new ones from before the first request on."""
    running.sleep_until(-0.5)
    pid = running.process.pid
    most = len(os.listdir(f"/proc/{pid}/fd")) + allowed
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, most))


def played(kind, what, allowed, tmp):
    """Runs that kind of load with so many connections to be had: the ended run, and how many requests arrived."""
    tmp = tmp / f"{kind.split()[0]}-{what}-{allowed}"
    tmp.mkdir()
    if what == "ports":
        with Namespace(allowed) as namespace, Counter(tmp, namespace.wrap) as server:
            ended = start(kind, server, tmp, namespace.wrap).ended()
    else:
        with Counter(tmp) as server:
            running = start(kind, server, tmp)
            leave_descriptors(running, allowed)
            ended = running.ended()
    return ended, server.count


def judged(kind, what, allowed, tmp):
    """A row of the table, and what is wrong with it."""
    ended, arrived = played(kind, what, allowed, tmp)
    summary = ended.summary
    verdict, outcomes = summary["verdict"]["load"], summary["outcomes"]
    due = sum(outcomes.values())
    lacked = outcomes.get("local-limit", 0)
    # What was due and neither answered nor tried is the generator's to answer for.
    lost = due - arrived
    given_up = (summary["verdict"]["limited_by"] or {}).get("given_up", 0)
    asked = {"fixed work": 800}.get(kind, due)
    missing = (max(asked, due) - arrived - given_up) / max(asked, due, 1)
    ids = [finding["id"] for finding in summary["verdict"]["findings"]]
    wrong = []
    if lost != lacked + outcomes.get("unsent", 0) + outcomes.get("shed", 0):
        wrong.append(f"{lost} of {due} never arrived, and the outcomes are {outcomes}")
    if missing > 0.01 and (verdict == "VALID" or ended.code == 0):
        wrong.append(f"{100 * missing:.1f} % never arrived: {verdict}, exit {ended.code}")
    if lacked and "local-limit" not in ids:
        wrong.append(f"findings: {ids}")
    if lacked:
        name = "descriptors" if what == "descriptors" else "ports"
        if set(summary["generator"]["lacked"]) != {name}:
            wrong.append(f"generator.lacked: {summary['generator']['lacked']}")
    if not lacked and verdict == "INVALID" and not set(ids) & {"late", "stall", "bunched", "saturated"}:
        wrong.append(f"INVALID without a cause: {ids}")
    row = f"| {kind} | {what} | {allowed} | {due} | {arrived} | {100 * missing:.1f} % | {verdict} | {ended.code} |"
    return row, [f"{kind}, {allowed} {what}: {text}" for text in wrong]


HEAD = ["| load | lacks | to be had | due | arrived | not sent | verdict | exit |", "|---|---|---|---|---|---|---|---|"]


def serve(port, service, file):
    count = 0

    async def connection(reader, writer):
        nonlocal count
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                count += 1
                await asyncio.sleep(service)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                await writer.drain()
        writer.close()

    async def main():
        over = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
        server = await asyncio.start_server(connection, "127.0.0.1", port, backlog=1024)
        file.write_text("")
        await over.wait()
        server.close()
        file.write_text(str(count))

    asyncio.run(main())


if __name__ == "__main__":
    serve(int(sys.argv[1]), float(sys.argv[2]), pathlib.Path(sys.argv[3]))
