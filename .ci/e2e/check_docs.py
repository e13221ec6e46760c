"""The pages of tasks do what they say: their commands run, and print what is shown."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from harness import HEADWAY, Serve, Skipped, check, equal, expect, headway

import documented

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Those that take longer than some seconds are nightly.
LONG = ["start/tutorial.md", "do/capacity.md", "do/compare.md"]


def pages():
    found = sorted(path.relative_to(ROOT / "docs").as_posix() for folder in ("start", "do") for path in (ROOT / "docs" / folder).glob("*.md"))
    return [page for page in found if documented.steps((ROOT / "docs" / page).read_text())]


def hold(tmp, names):
    if not shutil.which("unshare") or os.system("unshare --net true 2>/dev/null || unshare --user --net true 2>/dev/null") != 0:
        raise Skipped("no networks of its own")
    found = []
    for i, name in enumerate(names):
        folder = tmp / str(i)
        folder.mkdir()
        found += documented.page(os.path.abspath(HEADWAY), ROOT / "docs" / name, folder)
    expect(not found, "\n".join(found))


@check("docs: the pages of tasks run as they are written (logins, URLs, replays, audits, shards, models, CI)")
def short(tmp):
    names = [page for page in pages() if page not in LONG]
    expect(len(names) >= 9, f"{names}")
    hold(tmp, names)


@check("docs: the dashboard for Grafana asks for metrics that there are, and its file is what its script makes")
def dashboard(tmp):
    folder = ROOT / "docs/examples"
    text = (folder / "grafana.json").read_text()
    made = subprocess.run([sys.executable, folder / "grafana.py"], capture_output=True, text=True, check=True).stdout
    equal(text, made, "grafana.json")
    with Serve("--service", "exp(1ms)", tmp=tmp) as serve:
        headway("run", serve.url, "-R", "100", "-d", "2s", "--output", f"openmetrics={tmp / 'metrics'}", "--quiet", cwd=tmp)
    there = set(re.findall(r"^(headway_\w+)", (tmp / "metrics").read_text(), re.MULTILINE))
    asked = {name for panel in json.loads(text)["panels"] for target in panel["targets"] for name in re.findall(r"headway_\w+(?=[\[{ )]|$)", target["expr"])}
    expect(len(asked) >= 5 and asked <= there, f"{asked - there} of {sorted(asked)}")
