"""`headway search`: the knee of a model and of a target with a known law; what it refuses before it sends anything."""

import json
import math

from harness import check, contains, equal, expect, headway

ONE_SERVER = """
name: one
seed: 7
users: { arrive: { rate: 50/s } }
journey: [ { get: / } ]
model: { servers: 1, service: exp(10ms) }
"""


def model(tmp):
    path = tmp / "one.yaml"
    path.write_text(ONE_SERVER)
    return path


@check("search: the knee of M/M/1 is found by its model, in text, JSON, HTML and run folders, and the command repeats it")
def of_a_model(tmp):
    out, document, page = tmp / "out", tmp / "found.json", tmp / "found.html"
    ask = ["search", model(tmp), "--sim", "--threshold", "p(90)<100ms", "--from", "7/s", "--budget", "10h", "--seed", "5", "--note", "commit=1"]
    ended = headway(*ask, "--json", document, "--html", page, "--out", out, cwd=tmp).exits(0)
    found = json.loads(document.read_text())
    equal((found["schema"], found["outcome"], found["seed"]), ("headway.search/1", "found", 5), "head")
    # The sojourn time is exponential with rate 100/s - rate: 10 % are beyond 100 ms where that is ln(10) / 0.1 s.
    knee, (low, high) = 100 - math.log(10) / 0.1, found["interval"]
    # One interval in twenty misses it: three half widths never do.
    middle, half = (low + high) / 2, (high - low) / 2
    expect(abs(knee - middle) <= 3 * half, f"the knee {knee} is far from {low} to {high}")
    expect(half / middle <= 0.05 and math.isclose(half / middle, found["reached"]), f"half width {half / middle}, said {found['reached']}")
    equal(sum(trial["requests"] for trial in found["trials"]), found["requests"], "requests of all trials")
    expect({trial["ended"] for trial in found["trials"]} >= {"holds", "fails"}, "trials hold and fail")
    contains(ended.out, "holds up to a rate between", "the first lines")
    expect(all(len(line) <= 80 for line in ended.out.splitlines()), "80 columns")
    contains(page.read_text(), "data-chart=\"search-curve\"", "the page")
    for n, trial in enumerate(found["trials"], 1):
        folder = out / f"trial-{n:02}"
        summary = json.loads((folder / "summary.json").read_text())
        equal(summary["seed"], trial["seed"], "seed of a trial")
        equal(summary["plan"]["notes"], {"commit": "1"}, "what was noted")
        equal(trial["folder"], str(folder), "folder of a trial")
    expect((out / "search.json").is_file() and (out / "report.html").is_file(), "the folder has the document and the page")
    again = tmp / "again.json"
    headway(*ask, "--json", again, "--quiet", cwd=tmp).exits(0)
    equal(json.loads(again.read_text())["interval"], [low, high], "the same seed finds the same")


@check("search: ends with 97, 98 or 99 where there is no knee to be had, and says what was seen")
def without_a_knee(tmp):
    ask = ["search", model(tmp), "--sim", "--seed", "5"]
    never = headway(*ask, "--threshold", "p(90)<1ms", "--from", "5/s", cwd=tmp).exits(99)
    contains(never.out, "no rate was found at which p(90)<1ms holds", "a threshold that nothing meets")
    contains(never.out, "seen at 5.00/s", "what was seen")
    always = headway(*ask, "--threshold", "p(90)<10s", "--from", "5/s", "--to", "20/s", cwd=tmp).exits(99)
    contains(always.out, "the highest rate that was allowed (--to)", "a threshold that everything meets")
    short = headway(*ask, "--threshold", "p(90)<100ms", "--from", "20/s", "--budget", "2m", cwd=tmp).exits(97)
    contains(short.out, "the budget of 2.00 min ended", "a budget that ends")


@check("search: what cannot be searched is refused before anything is sent, with what would be accepted")
def refusals(tmp):
    url = "http://127.0.0.1:9/"
    for arguments, words in [
        ([url], "a search needs a threshold"),
        ([url, "--threshold", "avg<5ms"], "a percentile of response"),
        ([url, "--threshold", "started: rate>5"], "a percentile of response"),
        ([url, "--threshold", "nonsense: p(99)<5"], "nonsense"),
        ([url, "--threshold", "p(99)<100", "-R", "50"], "--from and --to"),
        ([url, "--threshold", "p(99)<100", "-d", "10s"], "--budget"),
        ([url, "--threshold", "p(99)<100", "-u", "5"], "open load"),
        ([url, "--threshold", "p(99)<100", "--from", "50/s", "--to", "20/s"], "not below --to"),
        ([url, "--threshold", "p(99)<100", "--precision", "0"], "from 1% to 50%"),
        ([url, "--threshold", "p(99.99)<100", "--from", "10/s", "--budget", "10m"], "a longer"),
        ([url, "--threshold", "p(99)<100", "--model", "x"], "--sim"),
        ([url, "--threshold", "p(99)<100", "--baseline", "x"], "headway compare RUN DIR/trial-01"),
        ([model(tmp), "--sim", "--threshold", "p(99)<100", "--timeout", "1s"], "--set timeout=TIME"),
        ([url, "--threshold", "p(99)<100", "--junit", "x.xml"], "junit cannot be made of a search"),
    ]:
        ended = headway("search", *arguments, cwd=tmp).exits(2)
        contains(ended.err, words, " ".join(map(str, arguments)))
    expect(not (tmp / "headway-runs").exists(), "no folder is left")
