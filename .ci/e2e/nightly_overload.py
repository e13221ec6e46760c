"""S-Clients in network namespaces of their own: over four shards against `headway serve --capacity`, and against nginx with a small
backlog. `bench/overload.py` makes the namespaces, counts SYNs by the kernels' counters, and fails where they are off the line."""

import os
import subprocess
import sys

from harness import HEADWAY, ROOT, Skipped, check, environment, expect, note


def beyond_capacity(what, sockets, seconds):
    if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode != 0:
        raise Skipped("this user may not make network namespaces")
    command = [sys.executable, ROOT / "bench/overload.py", what]
    settings = environment(HEADWAY=str(HEADWAY), SOCKETS=sockets, SECONDS=str(seconds))
    ended = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=300)
    expect(ended.returncode == 0, f"{what} ended with {ended.returncode}: {ended.stdout[-1500:]} {ended.stderr[-1500:]}")
    note(ended.stdout)


@check("overload: four shards of S-Clients in four namespaces send D/T + established/s, by the kernels' counters", alone=True)
def four(tmp):
    beyond_capacity("four", "48,972", 8)


@check("overload: S-Clients beyond what nginx accepts with a backlog of 8: D/T + established/s", alone=True)
def real_server(tmp):
    beyond_capacity("nginx", "96,600", 8)
