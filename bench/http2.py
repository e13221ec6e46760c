#!/usr/bin/env python3
"""What a request costs the generator over HTTP/2 beside HTTP/1.1: prints a Markdown table. See bench/README.md.

64 requests under way at once: on 64 connections of HTTP/1.1, on one connection of HTTP/2. nginx on the other core; without TLS.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tools import TARGET_CORE, awake, free_port, headway, median, number, run, shown, table, tool, wait_for  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "5"))
REQUESTS = int(os.environ.get("REQUESTS", "100000"))


@contextlib.contextmanager
def nginx():
    """One worker that speaks HTTP/1.1 at the first URL, and HTTP/2 without TLS at the second."""
    folder, one, two = tempfile.mkdtemp(prefix="headway-bench-"), free_port(), free_port()
    server = 'location / { return 200 "hello\\n"; }'
    conf = f"""worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 8000; }}
http {{ access_log off; keepalive_requests 1000000000; http2_max_concurrent_streams 128; client_body_temp_path {folder}/b;
proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
server {{ listen 127.0.0.1:{one} backlog=4096; {server} }}
server {{ listen 127.0.0.1:{two} http2 backlog=4096; {server} }} }}
"""
    with open(f"{folder}/nginx.conf", "w") as f:
        f.write(conf)
    process = subprocess.Popen(
        ["taskset", "-c", TARGET_CORE, "nginx", "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(one), wait_for(two)
        yield f"http://127.0.0.1:{one}/", f"http://127.0.0.1:{two}/"
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(10)
        shutil.rmtree(folder, ignore_errors=True)


def ours(url, *flags):
    used = headway(url, "-u", "64", "-n", str(REQUESTS), "--no-log", *flags)
    outcomes = used.summary["outcomes"]
    if set(outcomes) != {"ok"}:
        raise RuntimeError(f"{outcomes}")
    return outcomes["ok"], used.cpu_s


def h2load(url, *flags):
    used = run([tool("h2load"), "-t1", f"-n{REQUESTS}", *flags, url])
    return number(re.search(r"(\d+) succeeded", used.out).group(1)), used.cpu_s


def main():
    with nginx() as (one, two), awake():
        ways = {
            "headway, HTTP/1.1, 64 connections": lambda: ours(one, "-c", "64"),
            "headway, HTTP/2, 1 connection": lambda: ours(two, "--http2", "--pool", "shared", "-c", "1"),
            "headway, HTTP/2, 64 connections": lambda: ours(two, "--http2", "-c", "64"),
            # At a rate each request is due by itself, and is sent by itself.
            "headway, HTTP/1.1, 20,000/s": lambda: rate(one),
            "headway, HTTP/2, 20,000/s": lambda: rate(two, "--http2"),
        }
        if tool("h2load"):
            ways["h2load, HTTP/1.1, 64 connections"] = lambda: h2load(one, "--h1", "-c64")
            ways["h2load, HTTP/2, 1 connection"] = lambda: h2load(two, "-c1", "-m64")
        costs = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, way in ways.items():
                n, cpu_s = way()
                costs[name].append(cpu_s / n * 1e6)
        first = next(iter(ways))
        table(
            ["generator", "us CPU a request", f"ratio to {first}"],
            [[name, shown(median(all)), shown(median([a / b for a, b in zip(all, costs[first])]))] for name, all in costs.items()],
        )


def rate(url, *flags):
    used = headway(url, "-R", "20k", "-d", "3s", "--no-log", *flags)
    return used.summary["outcomes"]["ok"], used.cpu_s


if __name__ == "__main__":
    main()
