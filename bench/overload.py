#!/usr/bin/env python3
"""S-Clients beyond capacity, in network namespaces that this script makes: `four` spreads the sockets over four shards in four
namespaces (the paper had 12 S-Clients on 4 machines), against `headway serve --capacity` in a fifth; `nginx` loads nginx with a
backlog of 8 and one worker which compresses each response. Each row is from one run; SYNs and established connections are the
kernels' counts over a window. Prints Markdown, and ends with 1 if SYN/s is further from D/T + established/s than 1 % and three
standard errors of the count.

    python3 bench/overload.py [four] [nginx]      root; HEADWAY names the binary [target/release/headway]
    SECONDS=10 SOCKETS=48,972                     length of a window, and numbers of sockets
"""

import contextlib
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADWAY = pathlib.Path(os.environ.get("HEADWAY", ROOT / "target/release/headway")).resolve()
SECONDS = float(os.environ.get("SECONDS", "10"))
SOCKETS = [int(n) for n in os.environ.get("SOCKETS", "12,48,96,192,384,600,972,4000").split(",")]
WARM_S, AHEAD_S, TIMEOUT_S = 2.0, 3.0, 0.5
SHARDS = 4
CAPACITY, BACKLOG = 130, 128
ME = f"hwo{os.getpid() % 100000}"


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True)


def inside(space, *command):
    return ["ip", "netns", "exec", space, *map(str, command)]


@contextlib.contextmanager
def namespaces(*names):
    """Namespaces with a loopback each."""
    made = []
    try:
        for name in names:
            ip("netns", "add", name)
            made.append(name)
            ip("-n", name, "link", "set", "lo", "up")
        yield
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False)


@contextlib.contextmanager
def process(command, **options):
    started = subprocess.Popen(command, **options)
    try:
        yield started
    finally:
        if started.poll() is None:
            started.send_signal(signal.SIGINT)
            try:
                started.wait(10)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()


def counters(space):
    """What the kernel counts there."""
    text = subprocess.run(inside(space, "cat", "/proc/net/snmp", "/proc/net/netstat"), check=True, capture_output=True, text=True).stdout
    found = {}
    lines = text.splitlines()
    for names, numbers in zip(lines, lines[1:]):
        if names.split()[0] == numbers.split()[0] and names.split()[0] in ("Tcp:", "TcpExt:"):
            found.update(zip(names.split()[1:], numbers.split()[1:]))
    return {name: int(found[name]) for name in ("ActiveOpens", "PassiveOpens", "TCPSynRetrans", "ListenOverflows")}


def at(instant):
    time.sleep(max(0.0, instant - time.time()))


def window(zero, clients, server):
    """SYN/s, established/s and the number of SYNs between two instants after `zero`."""
    def reading(instant):
        at(instant)
        now = time.time()
        return now, [counters(space) for space in clients], counters(server)

    before, after = reading(zero + WARM_S), reading(zero + WARM_S + SECONDS)
    length = after[0] - before[0]
    syns = sum(a[n] - b[n] for a, b in zip(after[1], before[1]) for n in ("ActiveOpens", "TCPSynRetrans"))
    established = after[2]["PassiveOpens"] - before[2]["PassiveOpens"]
    return syns / length, established / length, syns


def load(spaces, url, sockets, folder):
    """Starts the shards; their processes and the instant of the plan's zero."""
    zero = math.ceil(time.time() + AHEAD_S)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(zero))
    length = f"{WARM_S + SECONDS + 1:g}s"
    flags = ["--connecting", sockets, "--connect-timeout", f"{int(TIMEOUT_S * 1000)}ms", "-d", length, "--seed", 1, "--start-at", stamp]
    flags += ["--threads", 1, "--wait", "sleep", "--quiet", "-H", "Accept-Encoding: gzip"]
    started = []
    for i, space in enumerate(spaces):
        shard = ["--shard", f"{i}/{len(spaces)}"] if len(spaces) > 1 else ["--no-log"]
        command = inside(space, HEADWAY, "run", url, *flags, *shard, "--out", folder / f"{sockets}")
        log = open(folder / f"{sockets}-{i}.log", "w")
        started.append(subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT))
        log.close()
    return started, zero


def rows(spaces, server, url, folder):
    """A row for each number of sockets; how many are off the line."""
    off = 0
    print("| D | D/T + established/s | SYN/s | off | established/s |\n|--|--|--|--|--|", flush=True)
    for sockets in SOCKETS:
        clients, zero = load(spaces, url, sockets, folder)
        try:
            syn_rate, established, syns = window(zero, spaces, server)
            codes = [client.wait(60) for client in clients]
        finally:
            for client in clients:
                if client.poll() is None:
                    client.kill()
                    client.wait()
        if not set(codes) <= {0, 97, 98}:
            said = [(folder / f"{sockets}-{i}.log").read_text()[-800:] for i in range(len(spaces))]
            raise SystemExit(f"headway ended with {codes}: {said}")
        line = sockets / TIMEOUT_S + established
        off += abs(syn_rate / line - 1) > max(0.01, 3 / math.sqrt(max(syns, 1)))
        print(f"| {sockets} | {line:.1f} | {syn_rate:.1f} | {100 * (syn_rate / line - 1):+.2f} % | {established:.1f} |", flush=True)
    return off


def four(folder):
    server, clients = f"{ME}s", [f"{ME}c{i}" for i in range(SHARDS)]
    with namespaces(server, *clients):
        for i, client in enumerate(clients):
            ip("link", "add", "uplink", "netns", client, "type", "veth", "peer", "name", f"down{i}", "netns", server)
            for space, device, address in [(client, "uplink", f"10.77.{i}.2/24"), (server, f"down{i}", f"10.77.{i}.1/24")]:
                ip("-n", space, "addr", "add", address, "dev", device)
                ip("-n", space, "link", "set", device, "up")
            ip("-n", client, "route", "add", "10.77.99.1", "via", f"10.77.{i}.1")
        ip("-n", server, "addr", "add", "10.77.99.1/32", "dev", "lo")
        serve = inside(server, HEADWAY, "serve", "--listen", "10.77.99.1:8080", "--capacity", f"{CAPACITY}/s", "--backlog", BACKLOG)
        log = folder / "serve.log"
        with open(log, "w") as out, process(serve, stderr=out, stdout=out):
            listening(log)
            print(f"\n{SHARDS} shards in {SHARDS} namespaces, T = {TIMEOUT_S} s, server {CAPACITY}/s, accept queue {BACKLOG}\n")
            return rows(clients, server, "http://10.77.99.1:8080/", folder)


def listening(log):
    for _ in range(100):
        if "serving at" in log.read_text():
            return
        time.sleep(0.1)
    raise SystemExit(f"headway serve does not listen: {log.read_text()}")


def nginx(folder):
    binary = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin") or sys.exit("nginx is not installed (nginx-light)")
    page = folder / "www"
    page.mkdir()
    # Text that does not compress well takes its time: letters by a small generator, so that each run has the same.
    state, letters = 1, bytearray()
    for _ in range(60_000):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        letters.append(97 + (state >> 16) % 16)
    (page / "index.html").write_bytes(bytes(letters))
    temps = " ".join(f"{n}_temp_path {folder}/{n};" for n in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off; user root; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;\n"
        f"events {{ worker_connections 1024; multi_accept off; }}\n"
        f"http {{ {temps} access_log off; gzip on; gzip_comp_level 9; gzip_min_length 1; keepalive_timeout 0;\n"
        f"server {{ listen 127.0.0.1:8080 backlog=8; root {page}; }} }}\n"
    )
    space = f"{ME}n"
    with namespaces(space), process(inside(space, binary, "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log")):
        for _ in range(100):
            if (folder / "pid").is_file() and (folder / "pid").read_text().strip():
                break
            time.sleep(0.1)
        url = "http://127.0.0.1:8080/"
        alone = inside(space, HEADWAY, "run", url, "-u", 4, "--new-connections", "-d", "4s", "-H", "Accept-Encoding: gzip",
                       "--out", folder / "alone", "--no-log", "--wait", "sleep")
        said = subprocess.run(alone, capture_output=True, text=True).stdout
        summary = (folder / "alone/summary.json").read_text() if (folder / "alone/summary.json").is_file() else ""
        rate = re.search(r'"throughput":\s*([\d.]+)', summary)
        print(f"\nnginx, one worker, backlog 8, gzip of {len(letters) >> 10} KiB for each request; four simple clients get "
              f"{float(rate.group(1)):.1f}/s\n" if rate else f"\nnginx: {said[-500:]}\n")
        return rows([space], space, url, folder)


def main():
    wanted = sys.argv[1:] or ["four", "nginx"]
    off = 0
    for name in wanted:
        if name not in ("four", "nginx"):
            sys.exit(f"{name}: write four or nginx")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="overload-"))
        try:
            off += {"four": four, "nginx": nginx}[name](folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if off else 0)


if __name__ == "__main__":
    main()
