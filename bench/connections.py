#!/usr/bin/env python3
"""Many connections that are kept alive, by shards in processes of their own, merged into one run: prints a Markdown table.
See bench/README.md.

A process has a limit of descriptors and a local address some 28,000 ports to one address of a target, of which the second half is slow to open (docs/machines.md): so
one process for each part, and one target for each, at addresses of its own on loopback. Users think for a time that is uniform from 0 to twice its mean, so that each has opened
its connection when that time has passed; only then the measured phase begins.

    CONNECTIONS=100000 PROCESSES=8 RATE=2000 SECONDS=60 python3 bench/connections.py
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tools import HEADWAY, free_port, table, wait_for  # noqa: E402

SERVICE = "const(50ms)"
SEED = "7"
# How long before the plan's zero its processes are started: they are looked at without connections once.
AHEAD_S = 5


def address(i):
    return f"127.0.0.{i + 2}"


@contextlib.contextmanager
def processes(commands, folder):
    """These commands as processes, each with a file for what it says; those that are left are ended."""
    logs = [open(f"{folder}/{i}-{command[1]}.txt", "w") for i, command in enumerate(commands)]
    all_of = [subprocess.Popen(c, stdin=subprocess.DEVNULL, stdout=log, stderr=log) for c, log in zip(commands, logs)]
    try:
        yield all_of
    finally:
        for process in all_of:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process, log in zip(all_of, logs):
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            log.close()


def private(pid):
    """Bytes of memory that are this process's alone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as file:
        return 1024 * sum(int(n) for n in re.findall(r"^Private_\w+:\s+(\d+) kB", file.read(), re.M))
    return None


def sockets(pid):
    """Sockets that this process has open."""
    with contextlib.suppress(OSError):
        return sum(os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:") for fd in os.listdir(f"/proc/{pid}/fd"))
    return 0


def kernel():
    """Bytes that the kernel keeps and cannot give back: sockets among them."""
    with open("/proc/meminfo") as file:
        return 1024 * int(re.search(r"SUnreclaim:\s+(\d+)", file.read()).group(1))


def held(headway, connections, parts, rate, seconds):
    """Plays it: a dictionary of what was measured, and the summary of the merged run."""
    think = connections / rate
    folder = tempfile.mkdtemp(prefix="headway-bench-")
    port = free_port()
    serve = [[headway, "serve", "-l", f"{address(i)}:{port}", "--service", SERVICE, "--servers", "1000000"] for i in range(parts)]
    before = kernel()
    try:
        with processes(serve, folder):
            for i in range(parts):
                wait_for(port, host=address(i))
            zero = time.time() + AHEAD_S
            at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(zero)) + f".{int(zero % 1 * 1e6):06}Z"
            run = [
                # One target for all shards, as a run has; each reaches it at an address of its own.
                [headway, "run", f"http://{address(0)}:{port}/", "--connect-to", f"::{address(i)}:{port}", "-u", str(connections), "--think", f"uniform(0s,{2 * think}s)",
                 "--shard", f"{i}/{parts}", "--seed", SEED, "--warmup", f"{2 * think + 1}s", "-d", f"{seconds}s", "--wait", "sleep",
                 "--start-at", at, "--out", f"{folder}/run"]
                for i in range(parts)
            ]
            with processes(run, folder) as clients:
                time.sleep(max(0, zero - 1 - time.time()))
                empty = [private(client.pid) for client in clients]
                open_at, full, most = [], [None] * parts, before
                end = zero + 2 * think + 1 + seconds
                while time.time() < end - 1 and all(client.poll() is None for client in clients):
                    time.sleep(min(5, max(0.1, end - 1 - time.time())))
                    if time.time() > zero + 2 * think + 1:
                        open_at.append(sum(sockets(client.pid) for client in clients))
                        full = [private(client.pid) or full[i] for i, client in enumerate(clients)]
                        most = max(most, kernel())
                codes = [client.wait(120) for client in clients]
        runs = [f"{folder}/run/{i}" for i in range(parts)] if parts > 1 else [f"{folder}/run"]
        merged = subprocess.run(
            [headway, "merge", *runs, "--out", f"{folder}/merged", "--json", "-"], capture_output=True, text=True, timeout=600)
        if not merged.stdout:
            said = "".join(open(f"{folder}/{name}").read()[-500:] for name in sorted(os.listdir(folder)) if name.endswith("-run.txt"))
            raise RuntimeError(f"codes {codes}; {merged.stderr}; {said}")
        grown = sum(full[i] - empty[i] for i in range(parts))
        return {
            "codes": codes,
            "open": (min(open_at), max(open_at)),
            "bytes": grown / max(open_at),
            "empty": sum(empty) / parts,
            "kernel": (most - before) / max(open_at),
            "merged": merged.returncode,
            "summary": json.loads(merged.stdout),
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    connections = int(os.environ.get("CONNECTIONS", "100000"))
    parts = int(os.environ.get("PROCESSES", "8"))
    rate = float(os.environ.get("RATE", "2000"))
    seconds = int(os.environ.get("SECONDS", "60"))
    found = held(HEADWAY, connections, parts, rate, seconds)
    summary = found["summary"]
    verdict, lag = summary["verdict"], summary["lag"]
    ms = lambda s: "-" if s is None else f"{1e3 * s:.3f} ms"  # noqa: E731
    findings = ", ".join(f"{f['id']} ({f['severity']})" for f in verdict["findings"]) or "none"
    outcomes = ", ".join(f"{n} {name}" for name, n in sorted(summary["outcomes"].items()))
    measured = summary["measured"]["to_s"] - summary["measured"]["from_s"]
    rows = [
        ["client processes, each with a target", str(parts)],
        ["connections open, least and most over the measured phase", f"{found['open'][0]} to {found['open'][1]}"],
        ["connections opened", str(summary["generator"]["connections_opened"])],
        ["memory of a client process without connections", f"{found['empty'] / 2**20:.1f} MiB"],
        ["user memory a connection, records and statistics included", f"{found['bytes']:.0f} bytes"],
        ["kernel memory a connection, both ends (SUnreclaim)", f"{found['kernel']:.0f} bytes"],
        ["requests per second", f"{summary['measured']['n'] / measured:.0f}"],
        ["outcomes", outcomes],
        ["lag p50, p99, p99.9, largest", ", ".join(ms(lag.get(key)) for key in ("p50", "p99", "p999", "max"))],
        ["response p50, p99", ", ".join(ms(summary["response"].get(key)) for key in ("p50", "p99"))],
        ["verdict of the merged run", f"{verdict['load']} at L = {ms(verdict['lateness_s'])}, exit {found['merged']}"],
        ["findings", findings],
    ]
    table(["", "value"], rows)


if __name__ == "__main__":
    main()
