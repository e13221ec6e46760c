"""The HTML report as a browser lays it out: no clipped text, no text over text, tables that fit."""

import shutil
import subprocess
import sys

from check_scenario import run_file
from check_sim import sim
from check_study import ONE_SERVER, TWO_MODELS, study
from harness import ROOT, Serve, Skipped, check, equal, expect, headway, run

LOOK = ROOT / ".ci/check_layout.py"
READ = ROOT / ".ci/check_report.py"
DRAW = ROOT / ".ci/check_charts.py"
STEPS = """
target: ${TARGET}
users: { arrive: { process: poisson, rate: 100/s }, phases: [ { hold: 3s } ] }
journey: [ { get: /list, name: list }, { get: /add, name: add of a very long name which no legend has room for } ]
"""
AUDITED = ROOT / "crates/import/tests/samples/jmeter-csv/1830_AggRpt.csv.zst"
# What may go wrong with a page, the style that makes it so, and what is then found.
BROKEN = {
    "clips": (".tile-value { height: 9px; overflow: hidden; }", "is clipped"),
    "overlaps": (".tile-note { margin-top: -16px; }", "overlaps"),
    "breaks numbers": (".tile-value { width: 20px; }", "is broken within its cell"),
    "sticks out": (".scroll { overflow: visible; } .scroll table { width: 2000px; }", "px wider than the screen"),
    "scrolls": (".scroll table, .scroll tbody { display: table; min-width: 2000px; }", "px too wide"),
}
# A page of steps, whose filter does nothing.
UNFILTERED = ("for (const row of rows) row.hidden = other;", "", "step: after the down arrow")
UNREADABLE = {
    "is unfolded": ('<details class="fold">', '<details class="fold" open>', "before anything is unfolded"),
    "has an index that goes": ("nav { position: sticky;", "nav { position: static;", "index: at the end of the page"),
    "does not unfold": ("if (fold) fold.open = true;", "", "its link does not unfold"),
    "sorts the wrong way": ('const sign = order === "ascending" ? 1 : -1;', "const sign = 1;", "is not descending"),
    "zooms each chart alone": ('sync: { key: "over-time" }', 'sync: { key: "over-time", filters: { pub: () => false } }', "zoom: chart"),
    "does not zoom by buttons": ("() => changeStretch(0.5, 0)", "() => 0", "zoom: after Enter"),
    "does not zoom by keys": ("event.preventDefault();\n    act[3]();", "event.preventDefault();", "zoom: after +"),
    "sorts intervals by their numbers alone": ("if (cell?.dataset.sort) return Number(cell.dataset.sort);", "", "reads"),
    "keeps its index open": ('event.key !== "Escape"', 'event.key !== "F9"', "Escape does not close"),
}
LARGE_NUMBERS = ("v >= large ? digits(v)", "v >= large ? nothing(v)")
# Charts write on canvases, where no style reaches; this makes the font of their axes too large.
LARGE_AXES = ('font: "12px system-ui', 'font: "60px system-ui')


def look(*arguments, program=LOOK):
    """The exit code of a check of these pages, and what it found."""
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        raise Skipped("no chromium is found: apt-get install chromium")
    ended = subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True, timeout=300)
    return ended.returncode, ended.stdout + ended.stderr


@check("html: at 390 and 1,280 pixels, light and dark, no text is clipped or overlaps and tables fit: run, simulation, study, audit")
def pages(tmp):
    with Serve("--service", "exp(1ms)", "--servers", "2", "--error-rate", "0.05", tmp=tmp) as serve:
        ran = run(serve.url, "-R", "200", "-d", "4s", "--html", tmp / "run.html", tmp=tmp)
        url = {"TARGET": serve.url.rstrip("/")}
        run_file(STEPS, "--html", tmp / "steps.html", tmp=tmp, name="steps", env=url)
    expect(ran.summary["failures"], "the page has no failures to show")
    sim(ONE_SERVER, "--html", tmp / "sim.html", tmp=tmp)
    study(TWO_MODELS, "--sweep", "rate=100..150/10", "--replications", "3", "--html", tmp / "study.html", tmp=tmp)
    headway("audit", AUDITED, "--html", tmp / "audit.html", cwd=tmp).exits(0)
    code, found = look(*(tmp / f"{name}.html" for name in ("run", "steps", "sim", "study", "audit")))
    expect(code == 0, found)
    code, found = look(tmp / "steps.html", program=DRAW)
    expect(code == 0, f"numbers at the ends of their ranges: {found}")
    # Of a page with a mistake that only such numbers meet, the check finds it.
    page = (tmp / "steps.html").read_text()
    expect(LARGE_NUMBERS[0] in page, "the page shows large numbers in another way")
    (tmp / "broken.html").write_text(page.replace(*LARGE_NUMBERS))
    code, found = look(tmp / "broken.html", program=DRAW)
    expect(code == 1 and "nothing is not defined" in found, f"of a page which fails on large numbers: {found}")


@check("html: a page of one step is three screens long until it is unfolded; contents, folds, sorting and zoom work, by mouse and by keyboard")
def reading(tmp):
    sim(ONE_SERVER, "--html", tmp / "sim.html", tmp=tmp)
    with Serve("--service", "exp(1ms)", "--servers", "2", "--error-rate", "0.05", tmp=tmp) as serve:
        # Intervals in microseconds and in milliseconds.
        thresholds = [part for text in ("p(10)<100", "p(90)<100", "p(99)<100") for part in ("--threshold", text)]
        run(serve.url, "-R", "200", "-d", "4s", *thresholds, "--html", tmp / "run.html", tmp=tmp)
        run_file(STEPS, "--html", tmp / "steps.html", tmp=tmp, name="steps", env={"TARGET": serve.url.rstrip("/")})
    for colours in ([], ["--dark"]):
        for width in ("1280", "390"):
            screens = ["--screens", "3"] if width == "1280" else []
            code, found = look(tmp / "sim.html", tmp / "sim.png", "--width", width, *screens, *colours, program=READ)
            expect(code == 0, found)
            # How many findings a live run has is the machine's affair, and so is its length.
            for name in ("run", "steps"):
                code, found = look(tmp / f"{name}.html", tmp / f"{name}.png", "--width", width, *colours, program=READ)
                expect(code == 0 and " 0 zoom together" not in found and " 0 columns sort" not in found, found)
    page = (tmp / "steps.html").read_text()
    part, other, finding = UNFILTERED
    expect(part in page, f"the page has no {part!r}")
    (tmp / "broken.html").write_text(page.replace(part, other))
    code, found = look(tmp / "broken.html", tmp / "broken.png", "--width", "1280", program=READ)
    expect(code == 1 and finding in found, f"of a page whose filter does nothing: {found}")
    # Of pages with a mistake the check finds it.
    page = (tmp / "run.html").read_text()
    for name, (part, other, finding) in UNREADABLE.items():
        expect(part in page, f"the page has no {part!r}")
        (tmp / "broken.html").write_text(page.replace(part, other))
        code, found = look(tmp / "broken.html", tmp / "broken.png", "--width", "1280", "--screens", "3", program=READ)
        expect(code == 1 and finding in found, f"of a page which {name}: {found}")


@check("html: the check of the layout finds each kind of broken page")
def broken(tmp):
    page, copy = tmp / "page.html", tmp / "broken.html"
    sim(ONE_SERVER, "--html", page, tmp=tmp)
    whole = page.read_text()
    for name, (style, finding) in BROKEN.items():
        copy.write_text(whole.replace("</style>", style + "</style>", 1))
        code, found = look(copy, "--width", "390")
        equal(code, 1, f"exit code of a page which {name}")
        expect(finding in found, f"of a page which {name}: {found}")
    expect(LARGE_AXES[0] in whole, "the axes have no font that this check could enlarge")
    copy.write_text(whole.replace(*LARGE_AXES))
    code, found = look(copy, "--width", "390")
    expect(code == 1 and "in the chart" in found, f"of a page with large axes: {found}")
