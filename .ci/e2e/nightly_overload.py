"""S-Clients in network namespaces of their own: over four shards against `headway serve --capacity`, and against nginx with a small
backlog. `bench/overload.py` makes the namespaces, counts SYNs by the kernels' counters, and fails where they are off the line. And the short form of the lab."""

import json
import os
import subprocess
import sys

from harness import HEADWAY, ROOT, Skipped, check, contains, environment, expect, flat, headway, note


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


@check("lab: overload --short: live SYNs by the kernel's counters, beside the simulated ones; the line D/T + established/s", alone=True)
def overload(tmp):
    path = tmp / "overload.json"
    told = headway("lab", "overload", "--short", "--replications", "1", "--json", path, cwd=tmp).exits(0)
    wide = [line for line in told.out.splitlines() if len(line) > 80]
    expect(not wide, f"lines over 80 columns: {wide[:3]}")
    tables = json.loads(path.read_text())["tables"]
    live = {
        (table["title"].split(":")[0], row["name"]): [cell["live"] for cell in row["cells"]]
        for table in tables for row in table["rows"] if any(cell["live"] is not None for cell in row["cells"])
    }
    # 160 simple clients are 30 more than are admitted: they send again, and the others make the capacity.
    syns, established, resent = live["Figure 5", "160"]
    expect(0 < established and resent > 0 and syns > established, f"160 simple clients: {live}")
    for sockets in (48, 192):
        syns, established, served = live["Figure 6", str(sockets)]
        # Each of these sockets sends two SYNs a second; a machine that stands still sends fewer and established later.
        expect(syns > 0.5 * (2 * sockets + established), f"{sockets} sockets: {live}")
    contains(flat(told.out), "SYNs are ActiveOpens + TCPSynRetrans", "the notes")
