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
NUMBERS = ["mean", "p50", "p90", "p99"]


def live(tmp):
    """A run of the scenario against a server that is what the model says; its folder is tmp/live."""
    with Serve("--servers", "4", "--service", "exp(8ms)", "--seed", "3", tmp=tmp) as serve:
        path = tmp / "live.yaml"
        path.write_text(SCENARIO.replace("TARGET", serve.url))
        headway("run", path, "--out", tmp / "live", cwd=tmp).exits(0, 98)
    return json.loads((tmp / "live" / "summary.json").read_text())


def sides(document):
    return {name: (document["response"][name], document["response"]["ci95"][name]) for name in NUMBERS}


def ratio_interval(recorded, simulated):
    """Zou and Donner's interval of a ratio, from the values and intervals of its parts."""
    (a, (a_low, a_high)), (b, (b_low, b_high)) = recorded, simulated
    down = math.hypot(math.log(a / a_low), math.log(b_high / b))
    up = math.hypot(math.log(a_high / a), math.log(b / b_low))
    return a / b * math.exp(-down), a / b * math.exp(up)


def section(page, name):
    """The text of a section of a page."""
    found = re.search(rf'<section id="{name}".*?</section>', page, re.S)
    expect(found, f"the page has no section {name}")
    return flat(re.sub("<[^>]+>", " ", found.group()).replace("&nbsp;", " "))


@check("beside: a live run next to its simulation in the report, the page and JSON: ratios and intervals as computed here from both")
def measured(tmp):
    recorded = live(tmp)
    page = tmp / "p.html"
    text = SCENARIO.replace("TARGET", "http://127.0.0.1:1/")
    ended = sim(text, "--beside", tmp / "live", "--html", page, tmp=tmp, name="own").exits(0)
    own = ended.summary
    beside = own["beside"]
    equal((beside["run"]["name"], beside["run"]["source"], beside["run"]["load"]), ("live", "live", recorded["verdict"]["load"]), "the run")
    equal(beside["run"]["response"], recorded["response"], "its response times")
    equal(beside["against"]["differs"], [], "what was asked otherwise")
    compared = beside["against"]["compared"]
    equal([c["of"] for c in compared], NUMBERS, "numbers")
    ours, theirs = sides(own), sides(recorded)
    report = flat(ended.out)
    for c in compared:
        name = c["of"]
        equal((c["recorded"]["value"], c["recorded"]["ci95"]), theirs[name], f"recorded {name}")
        equal((c["simulated"]["value"], c["simulated"]["ci95"]), ours[name], f"simulated {name}")
        if theirs[name][0] is None:
            # So many were never sent that it is not known.
            expect(c["ratio"] is None and c["agree"] is None and c["why_not"], f"{name} is not known of the run, and: {c}")
            continue
        expect(math.isclose(c["ratio"], theirs[name][0] / ours[name][0], rel_tol=1e-9), f"ratio of {name}: {c}")
        if theirs[name][1] is None or ours[name][1] is None:
            expect(c["agree"] is None and c["why_not"], f"{name} has no interval of both, and: {c}")
            continue
        expected = ratio_interval(theirs[name], ours[name])
        expect(all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(c["ratio_ci95"], expected)), f"{name}: {c['ratio_ci95']}, expected {expected}")
        equal(c["agree"], expected[0] <= 1 <= expected[1], f"whether {name} agrees")
        expect(re.search(rf" {name} [^!]*? \[[0-9., ]+\] {'agree' if c['agree'] else 'differ'} ", report), f"no line for {name}: {report}")
    contains(report, "Beside live", "the report")
    shown = section(page.read_text(), "beside")
    expect(("INVALID" in shown) == (recorded["verdict"]["load"] == "INVALID"), f"verdict {recorded['verdict']['load']}, and: {shown}")
    expect(shown.count(" agree ") + shown.count(" differ ") >= sum(c["agree"] is not None for c in compared), shown)
    expect(len(beside["run"]["curve"]) > 10 and "Dotted: the response times of live" in page.read_text(), "the curve")
    # What the folder keeps is told again.
    equal(headway("report", ended.folder, cwd=tmp).exits(0).out, ended.out, "the report, rendered again")


@check("beside: an INVALID load and whatever was asked otherwise are named; no agreement without intervals; a study's points; --quiet is refused")
def otherwise(tmp):
    text = SCENARIO.replace("TARGET", "http://127.0.0.1:1/")
    first = sim(text, "--no-log", tmp=tmp, name="first").exits(0).summary
    first["verdict"]["load"] = "INVALID"
    (tmp / "invalid.json").write_text(json.dumps(first))
    other = text.replace("150/s", "600/s").replace("hold: 6s", "hold: 4s").replace("name: shop", "name: kiosk")
    page = tmp / "o.html"
    ended = sim(other, "--no-log", "--beside", tmp / "invalid.json", "--html", page, tmp=tmp, name="other").exits(0)
    against = ended.summary["beside"]["against"]
    named = {d["what"]: (d["recorded"], d["simulated"]) for d in against["differs"]}
    equal(named, {"rate": ("150/s", "600/s"), "duration": ("7 s", "5 s")}, "what was asked otherwise")
    for c in against["compared"]:
        equal((c["agree"], c["simulated"]["ci95"]), (None, None), f"{c['of']} of more than can be done")
        contains(c["why_not"], "no steady state", f"why {c['of']} is not compared")
    for shown in (flat(ended.out), section(page.read_text(), "beside")):
        for part in ("The load of invalid.json was INVALID", "rate (150/s there, 600/s here); duration (7 s there, 5 s here)", "no steady state"):
            contains(shown, part, "the report and the page")
    # A folder tells more: whose scenario it was, and what its users do.
    folder = sim(other.replace("get: /", "get: /, repeat: 2"), "--no-log", "--beside", tmp / "first", tmp=tmp, name="two").exits(0)
    named = [d["what"] for d in folder.summary["beside"]["against"]["differs"]]
    equal(named, ["scenario", "rate", "duration", "journey"], "what was asked otherwise of a folder")
    path, out = tmp / "first.yaml", tmp / "study.json"
    ended = headway("sim", path, "--sweep", "rate=150,300", "--replications", "5", "--beside", tmp / "first", "--json", out, "--html", tmp / "s.html", cwd=tmp).exits(0)
    document = json.loads(out.read_text())
    equal((document["beside"]["name"], len(document["points"])), ("first", 2), "the study")
    same, apart = (p["beside"] for p in document["points"])
    equal((same["differs"], [d["what"] for d in apart["differs"]]), ([], ["rate"]), "what is asked otherwise of the points")
    equal([c["of"] for c in same["compared"]], NUMBERS, "numbers of a point")
    expect(same["compared"][1]["agree"] is True and apart["compared"][1]["agree"] is False, f"p50 of the points: {same} {apart}")
    for shown in (flat(ended.out), section((tmp / "s.html").read_text(), "beside")):
        contains(shown, "rate 300: Not asked for the same: rate (150/s there, 300/s here)", "the study")
    refused = headway("sim", path, "--beside", tmp / "first", "--quiet", cwd=tmp).exits(2)
    contains(refused.err, "--quiet leaves none", "message")
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
