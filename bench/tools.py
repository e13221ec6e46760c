"""Starting targets and generators, pinned; what they used and what they said."""

import contextlib
import heapq
import json
import math
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADWAY = os.environ.get("HEADWAY", os.path.join(ROOT, "target/release/headway"))
PEERS = os.path.join(ROOT, "bench/peers/bin")
GENERATOR_CORE, TARGET_CORE = "0", "1"


AWAKE = os.environ.get("AWAKE", "1") != "0"


@contextlib.contextmanager
def awake():
    """No core falls asleep meanwhile: a loop of the lowest priority on each, which gives way to everything else (AWAKE=0: none).
    The host of a virtual machine takes milliseconds to wake a core that is idle."""
    loop = "import os; os.nice(19); os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"
    cores = sorted(os.sched_getaffinity(0)) if AWAKE else []
    loops = [subprocess.Popen(["taskset", "-c", str(core), sys.executable, "-c", loop]) for core in cores]
    try:
        yield
    finally:
        for process in loops:
            process.kill()
            process.wait()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def tool(name):
    path = shutil.which(name) or os.path.join(PEERS, name)
    return path if os.path.exists(path) else None


def wait_for(port, seconds=10, host="127.0.0.1"):
    end = time.time() + seconds
    while time.time() < end:
        with contextlib.suppress(OSError), socket.create_connection((host, port), 0.2):
            return
        time.sleep(0.02)
    raise RuntimeError(f"nothing listens at {host}:{port}")


@contextlib.contextmanager
def nginx():
    """One worker on the target's core: `return 200`, keep-alive without end. Gives its URL."""
    folder, port = tempfile.mkdtemp(prefix="headway-bench-"), free_port()
    conf = f"""worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
worker_rlimit_nofile 20000;
events {{ worker_connections 8000; }}
http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {folder}/b;
proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ return 200 "hello\\n"; }} }} }}
"""
    with open(f"{folder}/nginx.conf", "w") as f:
        f.write(conf)
    process = subprocess.Popen(
        ["taskset", "-c", TARGET_CORE, "nginx", "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(10)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def serve(*flags):
    """`headway serve` on the target's core. Gives its URL."""
    port = free_port()
    process = subprocess.Popen(
        ["taskset", "-c", TARGET_CORE, HEADWAY, "serve", "-l", f"127.0.0.1:{port}", *flags],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(10)


class Used:
    """What a finished process used and said."""

    def __init__(self, out, err, code, cpu_s, rss_kib):
        self.out, self.err, self.code, self.cpu_s, self.rss_kib = out, err, code, cpu_s, rss_kib


def run(command, timeout=200):
    """Runs a generator on its core."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(["taskset", "-c", GENERATOR_CORE, *command], stdout=out, stderr=err)
        end = time.time() + timeout
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.time() > end:
                process.kill()
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        texts = out.read(), err.read()
    return Used(*texts, process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def headway(url, *flags):
    """A run of ours and its summary."""
    folder = tempfile.mkdtemp(prefix="headway-bench-")
    used = run([HEADWAY, "run", url, *flags, "--out", folder, "--json", "-"])
    shutil.rmtree(folder, ignore_errors=True)
    if not used.out:
        raise RuntimeError(used.err)
    used.summary = json.loads(used.out)
    return used


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def number(text):
    return float(text.replace(",", ""))


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join("-" if c is None else str(c) for c in row) + " |")
    print(flush=True)


def shown(value, digits=2):
    return None if value is None else f"{value:,.{digits}f}"


def served(starts, services, servers):
    """When each request ends that comes then, at that number of servers which take them in order."""
    free = [-math.inf] * servers
    ends = []
    for start, service in zip(starts, services):
        end = max(start, free[0]) + service
        heapq.heapreplace(free, end)
        ends.append(end)
    return ends


def numbers(times):
    """Mean, p50, p90, p95 and p99: the smallest x with F(x) >= p."""
    ordered = sorted(times)
    at = lambda p: ordered[min(len(ordered) - 1, max(0, -(-len(ordered) * p // 100) - 1))]
    return [statistics.fmean(ordered), *(at(p) for p in (50, 90, 95, 99))]
