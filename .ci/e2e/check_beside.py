"""Simulated runs next to recorded ones: `--beside` in the report, the page and JSON; what audit and report say of a simulated folder."""

import json
import math
import re

from check_sim import sim
from harness import Serve, check, contains, equal, expect, flat, headway

SCENARIO = """
name: shop
seed: 5
target: TARGET
users: { name: visitors, arrive: { rate: 150/s }, phases: [ { hold: 1s, warmup: true }, { hold: 6s } ] }
journey: [ { get: /, name: list } ]
model: { servers: 4, service: exp(8ms) }
"""
def live(tmp):
    """A run of the scenario against a server that is what the model says; its folder is tmp/live."""
    with Serve("--servers", "4", "--service", "exp(8ms)", "--seed", "3", tmp=tmp) as serve:
        path = tmp / "live.yaml"
        path.write_text(SCENARIO.replace("TARGET", serve.url))
        headway("run", path, "--out", tmp / "live", cwd=tmp).exits(0, 98)
    return json.loads((tmp / "live" / "summary.json").read_text())


def section(page, name):
    """The text of a section of a page."""
    found = re.search(rf'<section id="{name}".*?</section>', page, re.S)
    expect(found, f"the page has no section {name}")
    return flat(re.sub("<[^>]+>", " ", found.group()).replace("&nbsp;", " "))


def against(document, point=0):
    """The pair of a point, and what its rows show."""
    pair = document["beside"]["pairs"][point]
    return pair, {row["of"]: row["shown"] for row in pair["rows"]}


@check("beside: a live run against ten replications of its model, by the comparison of `compare`, in report, page and JSON; what differs in nothing but luck does not differ")
def measured(tmp):
    recorded = live(tmp)
    page = tmp / "p.html"
    path = tmp / "own.yaml"
    path.write_text(SCENARIO.replace("TARGET", "http://127.0.0.1:1/"))
    ended = headway("sim", path, "--beside", tmp / "live", "--html", page, "--out", tmp / "own", cwd=tmp).exits(0)
    study = json.loads((tmp / "own" / "study.json").read_text())
    equal((study["replications"], len(study["points"])), (10, 1), "replications where none are asked for, and points")
    beside = study["beside"]
    equal([(run["name"], run["source"], run["load"]) for run in beside["runs"]], [("live", "live", recorded["verdict"]["load"]), ("simulated", "sim", None)], "the runs")
    pair, shown = against(study)
    equal(pair["differs"], [], "what was planned otherwise")
    rows = {row["of"]: row for row in pair["rows"]}
    point = study["points"][0]["response"]
    for of in ("mean", "p50", "p90"):
        base, other = rows[of]["base"]["value"], rows[of]["other"]["value"]
        expect(base and math.isclose(other, point[of]["mean"]), f"{of}: {rows[of]}")
        expect(math.isclose(rows[of]["ratio"], other / base, rel_tol=1e-9), f"ratio of {of}: {rows[of]}")
    report = flat(ended.out)
    verdict = pair["verdict"]["is"]
    words = {"no-difference": "no difference shown", "differs": "er by", "not-comparable": "not comparable", "not-told": "n/a"}[verdict]
    for text in (report, section(page.read_text(), "beside")):
        contains(text, "Beside live", "the report and the page")
        contains(text, "simulated against live: ", "the report and the page")
        contains(text, words, f"verdict {verdict}")
    expect(len(beside["runs"][0]["curve"]) > 10 and "Dotted: the response times of live" in page.read_text(), "the curve")


@check("beside: an INVALID load and another plan are not comparable, with the reason; a study's points; --quiet, few replications and a folder that is none are refused")
def otherwise(tmp):
    text = SCENARIO.replace("TARGET", "http://127.0.0.1:1/")
    first = sim(text, "--no-log", tmp=tmp, name="first").exits(0).summary
    first["verdict"]["load"] = "INVALID"
    first["verdict"]["effect"] = None
    (tmp / "invalid.json").write_text(json.dumps(first))
    path, out = tmp / "first.yaml", tmp / "document.json"
    other = tmp / "other.yaml"
    other.write_text(text.replace("150/s", "600/s").replace("hold: 6s", "hold: 4s").replace("name: shop", "name: kiosk"))
    page = tmp / "o.html"
    ended = headway("sim", other, "--beside", tmp / "invalid.json", "--json", out, "--html", page, cwd=tmp).exits(0)
    pair, shown = against(json.loads(out.read_text()))
    equal({reason.get("what", reason["why"]) for reason in pair["verdict"]["reasons"]}, {"invalid", "rate", "duration"}, "reasons")
    equal(set(shown.values()), {"not-told"}, "what is shown")
    for told in (flat(ended.out), section(page.read_text(), "beside")):
        for part in ("not comparable", "the load of invalid.json was INVALID", "another plan: rate (150/s and 600/s); another plan: duration (7 s and 5 s)"):
            contains(told, part, "the report and the page")
    # A folder tells more: what its users do.
    other.write_text(other.read_text().replace("get: /", "get: /, repeat: 2"))
    headway("sim", other, "--beside", tmp / "first", "--json", out, cwd=tmp).exits(0)
    pair, _ = against(json.loads(out.read_text()))
    equal([reason["what"] for reason in pair["verdict"]["reasons"]], ["rate", "duration", "journey"], "what was planned otherwise of a folder")
    ended = headway("sim", path, "--sweep", "rate=150,300", "--replications", "5", "--beside", tmp / "first", "--json", out, "--html", tmp / "s.html", cwd=tmp).exits(0)
    document = json.loads(out.read_text())
    equal([pair["point"] for pair in document["beside"]["pairs"]], ["rate=150", "rate=300"], "the points")
    same, apart = (against(document, i) for i in range(2))
    expect(same[1]["p50"] == "no", f"p50 of the same plan: {same}")
    equal([reason["what"] for reason in apart[0]["verdict"]["reasons"]], ["rate"], "what was planned otherwise of the other point")
    for told in (flat(ended.out), section((tmp / "s.html").read_text(), "beside")):
        contains(told, "simulated against first, rate=300: not comparable: another plan: rate (150/s and 300/s)", "the study")
    for flags, message in ((["--quiet"], "--quiet leaves none"), (["--replications", "4"], "tell too little of chance")):
        refused = headway("sim", path, "--beside", tmp / "first", *flags, cwd=tmp).exits(2)
        contains(refused.err, message, "message")
    refused = headway("sim", path, "--beside", tmp / "nowhere", cwd=tmp).exits(1, 2)
    contains(refused.err, "--beside", "message")


@check("sim: audit and report of a simulated folder say so, without dates and sizes; it is not merged with a live one, whose audit has both")
def audited(tmp):
    live(tmp)
    folder = sim(SCENARIO.replace("TARGET", "http://127.0.0.1:1/"), tmp=tmp, name="own").exits(0).folder

    def audit(path):
        page, out = tmp / f"{path.name}.html", tmp / f"{path.name}.json"
        ended = headway("audit", path, "--details", "--html", page, "--json", out, cwd=tmp).exits(0, 98)
        return flat(ended.out), section(page.read_text(), "files"), json.loads(out.read_text())

    text, shown, document = audit(folder)
    for part in ("simulated run of Headway", "simulated, seed 5: virtual time"):
        contains(text, part, "the audit")
        contains(shown, part, "the page of the audit")
    equal((document["started_at"], document["audit"]["first_start"]), (None, None), "dates")
    expect("1970" not in text and "own clock" not in text and "bandwidth" not in text, text)
    equal(document["audit"]["tables"]["bytes"], [], "table of bytes")
    text, _, document = audit(tmp / "live")
    expect(document["started_at"] and document["audit"]["tables"]["bytes"], "the audit of a live run has lost its date, or its bytes")
    contains(text, "the run's own clock", "the audit of a live run")
    refused = headway("audit", folder, tmp / "live", cwd=tmp).exits(2)
    contains(refused.err, "they cannot be merged", "message")
    for arguments in ([], ["--recompute"]):
        page = tmp / f"report{len(arguments)}.html"
        ended = headway("report", folder, *arguments, "--html", page, cwd=tmp).exits(0)
        contains(ended.out, "shop: simulation", "the report")
        expect("of a response:" not in ended.out and "response size" not in page.read_text(), "sizes of responses that nobody sent")


@check("sim: a sweep of users who arrive, or of the rate of users who stay, is refused and names the group; --help is about simulations")
def swept(tmp):
    (tmp / "open.yaml").write_text(SCENARIO.replace("TARGET", "http://127.0.0.1:1/"))
    ended = headway("sim", "open.yaml", "--sweep", "users=1,2", cwd=tmp).exits(2)
    for part in ("'users' applies to a group that is closed, and the group 'visitors' arrives", "how many arrive is 'rate'", "open.yaml:5"):
        contains(ended.err, part, "message")
    closed = "seed: 1\nusers: { name: clerks, closed: { count: 4 }, think: 10ms, phases: [ { hold: 2s } ] }\njourney: [ { get: / } ]\nmodel: { servers: 1, service: exp(1ms) }\n"
    (tmp / "closed.yaml").write_text(closed)
    ended = headway("sim", "closed.yaml", "--sweep", "rate=10,20", cwd=tmp).exits(2)
    contains(ended.err, "'rate' applies to a group that arrives, and the group 'clerks' is closed", "message")
    headway("sim", "closed.yaml", "--sweep", "users=1,2", cwd=tmp).exits(0)
    equal(sorted(p.name for p in tmp.iterdir()), ["closed.yaml", "open.yaml"], "files after studies without --out")
    text = flat(headway("sim", "--help", cwd=tmp).exits(0).out)
    for part in ("empty [default: none, or with --log headway-runs/<time>-<name>]", "json: every number, as a stable and versioned document", "where the only group stays"):
        contains(text, part, "--help")
