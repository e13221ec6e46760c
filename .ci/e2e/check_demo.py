"""`headway demo`: the newcomer's first command."""

import json
import os
import pty
import re
import time
import urllib.request

from harness import HEADWAY, check, conserved, contains, equal, expect, headway, spawn


@check("demo: a report, its folder named and complete; no colours off a terminal; lines within 80 columns")
def demo(tmp):
    ended = headway("demo", "--seed", "1", cwd=tmp)
    folders = list((tmp / "headway-runs").iterdir())
    equal(len(folders), 1, f"run folders ({ended})")
    files = sorted(p.name for p in folders[0].iterdir())
    equal(files, ["plan.json", "records.arrow", "report.html", "summary.json"], "files of the run folder")
    contains(ended.out, f"headway-runs/{folders[0].name}", "the report")
    summary = json.loads((folders[0] / "summary.json").read_text())
    conserved(summary)
    equal(summary["outcomes"], {"ok": summary["measured"]["n"]}, "outcomes")
    # It has shown what it is to show, also where this machine could not send 1000/s and the verdict says so.
    ended.exits(0)
    contains(ended.out, f"LOAD     {summary['verdict']['load']}", "the report")
    for name, text in [("stdout", ended.out), ("stderr", ended.err)]:
        expect("\x1b" not in text, f"{name} has escape codes")
    wide = [line for line in ended.out.splitlines() if len(line) > 80 and line.strip() != str(folders[0])]
    expect(not wide, f"lines over 80 columns: {wide[:3]}")


@check("demo: on a terminal its target stays until Enter, and the command that it suggests works meanwhile")
def terminal(tmp):
    ours, theirs = pty.openpty()
    began = time.monotonic()
    process = spawn([HEADWAY, "demo", "--seed", "2"], cwd=tmp, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = ""
    while "until you press Enter" not in shown:
        shown += os.read(ours, 65536).decode()
    expect(time.monotonic() - began < 20, f"the demo took {time.monotonic() - began:.1f} s")
    shown = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", shown)
    url = re.search(r"the target stays at (\S+)", shown).group(1)
    contains(shown, f"headway run {url}", "what to try next")
    with urllib.request.urlopen(url, timeout=5) as answer:
        equal(answer.status, 200, "answer of the target")
    os.write(ours, b"\n")
    equal(process.wait(10), 0, "exit")
    os.close(ours)
