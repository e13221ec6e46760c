"""`headway demo`: the newcomer's first command."""

import json

from harness import check, conserved, contains, equal, expect, headway


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
    # It has shown what it is to show, also where this machine could not send 500/s and the verdict says so.
    ended.exits(0)
    contains(ended.out, f"LOAD     {summary['verdict']['load']}", "the report")
    for name, text in [("stdout", ended.out), ("stderr", ended.err)]:
        expect("\x1b" not in text, f"{name} has escape codes")
    wide = [line for line in ended.out.splitlines() if len(line) > 80 and line.strip() != str(folders[0])]
    expect(not wide, f"lines over 80 columns: {wide[:3]}")
