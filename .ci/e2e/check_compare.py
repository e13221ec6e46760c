"""Runs, studies and other tools' files beside each other: the first line, intervals, conditions, notes, baselines, rounds, and what is no comparison."""

import html
import json
import re
import shutil

from harness import Headway, Serve, check, contains, equal, expect, flat, free_port, headway, note

SCENARIO = """
name: shop
seed: 5
target: http://127.0.0.1:1/
users: { arrive: { rate: RATE/s }, phases: [ { hold: 5s, warmup: true }, { hold: 120s } ] }
journey: [ { get: /, name: list }, { post: /add, name: add } ]
model: { servers: 1, service: exp(SERVICE) }
"""


def simulated(tmp, name, *flags, service="2ms", rate=150):
    """A simulated run with its records, in tmp/NAME."""
    path = tmp / "shop.yaml"
    path.write_text(SCENARIO.replace("RATE", str(rate)).replace("SERVICE", service))
    headway("sim", path, "--out", tmp / name, *flags, cwd=tmp).exits(0)
    return tmp / name


def compared(tmp, *args, code=0):
    """A comparison: what ended, and its document."""
    out = tmp / "comparison.json"
    ended = headway("compare", *args, "--output", f"json={out}", cwd=tmp).exits(code)
    return ended, json.loads(out.read_text())


def row(document, of, label=None, pair=0):
    [found] = [r for r in document["pairs"][pair]["rows"] if (r["of"], r["label"]) == (of, label)]
    return found


@check("compare: simulated runs under one seed: slower, equal and faster, by label too; JSON, Markdown and a page; conditions and exit codes")
def recorded(tmp):
    base, equal_, slow = simulated(tmp, "base"), simulated(tmp, "twin", "--seed", "6"), simulated(tmp, "slow", service="2.4ms")
    page, report = tmp / "c.html", tmp / "c.md"
    ended, document = compared(tmp, base, slow, "--html", page, "--output", f"markdown={report}")
    equal(document["schema"], "headway.comparison/1", "the schema")
    pair = document["pairs"][0]
    equal((pair["verdict"]["is"], pair["same_arrivals"]), ("differs", True), "the verdict")
    p50 = row(document, "p50")
    expect(p50["shown"] == "higher" and p50["ratio_interval"][0] > 1 and p50["correlation"] > 0.1, f"p50: {p50}")
    first = ended.out.splitlines()[0]
    expect(re.match(r"slower by [0-9.]+ to [0-9.]+ % at p", first), f"the first line: {first}")
    contains(flat(ended.out), "slow against base", "the report")
    expect(max(map(len, ended.out.splitlines())) <= 80, "lines of at most 80 columns")
    equal({r["label"] for r in pair["rows"]}, {None, "list", "add"}, "labels")
    for shown in (report.read_text(), re.sub("<[^>]+>", " ", page.read_text())):
        contains(flat(html.unescape(shown).replace("\\", "")), first, "Markdown and page")
    contains(page.read_text(), 'id="comparison-curves"', "the curves of the page")
    expect(all(len(run["curve"]) > 10 for run in document["runs"]), "curves")
    # As the single runs have them.
    own = json.loads((base / "summary.json").read_text())["response"]
    equal(p50["base"]["value"], own["p50"], "p50 of the base")
    equal(p50["base"]["ci95"], own["ci95"]["p50"], "its interval")
    # The same system on other draws.
    ended, document = compared(tmp, base, equal_, "--fail-if", "p(50) slower by 15%", "--strict")
    equal((document["pairs"][0]["verdict"]["is"], document["conditions"][0]["outcome"]), ("no-difference", "does-not-hold"), "equal systems")
    expect(re.match(r"no difference shown \([0-9.]+ % would have been, at p\d+\)", ended.out), ended.out[:200])
    # Conditions.
    _, document = compared(tmp, base, slow, "--fail-if", "p(50) slower by 1%", code=99)
    equal(document["conditions"][0]["outcome"], "holds", "a condition that holds")
    _, document = compared(tmp, base, slow, "--fail-if", "p(97.5) faster", "--fail-if", "response{step:add}: p(50) faster")
    equal([c["outcome"] for c in document["conditions"]], ["does-not-hold"] * 2, "conditions that do not")
    expect(row(document, "p97.5")["shown"] == "higher", "a percentile that a condition names")
    ended, document = compared(tmp, base, equal_, slow)
    equal([p["verdict"]["is"] for p in document["pairs"]], ["no-difference", "differs"], "several")


@check("compare: other plans and INVALID loads are not comparable (2), --across permits, notes are labels; bad input says what would be accepted")
def refused(tmp):
    base, other = simulated(tmp, "base", "--note", "commit=a", "--note", "token=hush"), simulated(tmp, "other", "--note", "commit=b", "--note", "token=hush", rate=100)
    expect("hush" not in (base / "plan.json").read_text() + (base / "summary.json").read_text(), "a secret in a note")
    equal(json.loads((base / "plan.json").read_text())["asked"]["notes"]["commit"], "a", "the note in plan.json")
    ended, document = compared(tmp, base, other, code=2)
    why = [r["why"] for r in document["pairs"][0]["verdict"]["reasons"]]
    equal(why, ["plan"], "reasons")
    for part in ("not comparable: another plan: rate (150/s and 100/s)", "add --across rate.", "They differ in commit (a and b)."):
        contains(flat(ended.out), part, "the report")
    ended, document = compared(tmp, base, other, "--across", "rate")
    expect(document["pairs"][0]["verdict"]["is"] != "not-comparable", "--across")
    _, document = compared(tmp, base, other, "--fail-if", "rate lower", code=2)
    expect(all(r["shown"] == "not-told" for r in document["pairs"][0]["rows"]), "nothing is concluded from what is not comparable")
    equal(document["conditions"][0]["outcome"], "not-judged", "a condition on what is not comparable")
    contains(flat(ended.out), "They differ in rate (150/s and 100/s); commit (a and b).", "what differs")
    twin = simulated(tmp, "twin", "--note", "commit=a", "--note", "token=hush")
    summary = json.loads((twin / "summary.json").read_text())
    summary["verdict"]["load"] = "INVALID"
    (twin / "summary.json").write_text(json.dumps(summary))
    ended, _ = compared(tmp, base, twin, "--fail-if", "p(99) slower", code=2)
    contains(flat(ended.out), "not comparable: the load of twin was INVALID", "an INVALID load")
    summary["verdict"]["load"], summary["measured"]["interrupted"] = "VALID", True
    (twin / "summary.json").write_text(json.dumps(summary))
    killed = simulated(tmp, "killed")
    (killed / "summary.json").unlink()
    (tmp / "empty").mkdir()
    for args, part in (
        ((base, base), "are the same run: name two"),
        ((base, base / "summary.json"), "are the same run: name two"),
        ((base, other, "-R", "50"), "-R is for a live comparison"),
        ((base, other, "--rounds", "10"), "--rounds is for a live comparison"),
        ((base, other, "--out", tmp / "kept"), "--out is for a live comparison"),
        (("--live", "http://127.0.0.1:1/", "http://127.0.0.1:1/", "--", "--dry-run"), "behind --: --dry-run does not go with --live"),
        (("--live", "http://127.0.0.1:1/", "http://127.0.0.1:1/", "--", "--json", tmp / "x.json"), "it stands before the --"),
        ((base,), "one run is not compared with itself"),
        ((base, tmp / "empty"), "is no run folder: it has no summary.json and no plan.json"),
        ((base, tmp / "none"), "No such file"),
        ((base, killed), "the run is incomplete: it goes on still, or was killed before it wrote its summary"),
        ((base, twin), "the run is incomplete: it was cut short"),
        ((base, base / "records.arrow"), "are the same run: name two"),
        ((base, other, "--across", "rat"), "did you mean 'rate'?"),
        ((base, other, "--across", "commit"), "notes may differ in any comparison"),
        ((base, other, "--fail-if", "p99 slower"), "'p99' is written p(99)"),
        ((base, other, "--fail-if", "p(99) slower by 5ms"), "write per cent, such as 5% or 0.5%"),
        ((base, other, "--fail-if", "response{step:pay}: p(99) slower"), "base has no step 'pay' (its steps: add, list)"),
        ((base, other, "--junit", tmp / "j.xml"), "cannot be made of a comparison"),
        ((base, other, "--rounds", "4"), "4"),
        ((), "<RUN>"),
    ):
        ended = headway("compare", *args, cwd=tmp).exits(2)
        contains(flat(ended.err), part, f"compare {args}")
    ended = headway("sim", tmp / "shop.yaml", "--note", "commit", cwd=tmp).exits(2)
    contains(flat(ended.err), "write KEY=VALUE, such as commit=4c81b15", "a note without a value")


@check("compare: copies of one run show nothing (2), and a simulation that came out the same is told to be one")
def same_records(tmp):
    base = simulated(tmp, "base")
    shutil.copytree(base, tmp / "again")
    ended, document = compared(tmp, base, tmp / "again", "--fail-if", "p(99) slower by 5%")
    expect(document["pairs"][0]["same_records"], "the key")
    contains(flat(ended.out), "no difference at all: both simulations came out the same", "simulations")
    rows = [f"{1_700_000_000_000 + 10 * i},{20 + (i * 7919) % 40},GET,200,OK,t-1,true" for i in range(4_000)]
    head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success\n"
    for name, more in (("one", 0), ("two", 0), ("other", 1)):
        (tmp / f"{name}.jtl").write_text(head + "\n".join(rows[: len(rows) - more]) + "\n")
    ended, document = compared(tmp, tmp / "one.jtl", tmp / "two.jtl", "--fail-if", "p(99) slower by 5%", code=2)
    equal((document["pairs"][0]["verdict"], document["conditions"][0]["outcome"]), ({"is": "not-comparable", "reasons": [{"why": "copies"}]}, "not-judged"), "copies")
    contains(flat(ended.out), "copies of one run, which show nothing", "copies")
    compared(tmp, tmp / "one.jtl", tmp / "other.jtl")


@check("compare: --live with a target that is down: what is asked of it holds or is not judged, and the exit code is never 0")
def one_is_down(tmp):
    closed = f"http://127.0.0.1:{free_port()}/"
    flags = ("-R", "100", "--rounds", "5", "--each", "500ms", "--warmup", "100ms", "--seed", "7")
    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as up:
        # All at once: each waits most of the time. An INVALID load, which is this machine's affair, is 2; one that is INCONCLUSIVE is compared.
        running = []
        for urls, condition, code in (
            ((up.url, closed), "rate lower by 50%", 99),
            ((up.url, closed), "failed higher by 50%", 99),
            ((up.url, closed), "p(99) slower by 5%", 97),
            ((up.url, closed), "p(50) faster", 97),
            ((closed, up.url), "p(99) slower by 5%", 97),
            ((closed, up.url), "rate lower by 2%", 97),
            ((closed, closed), "p(99) slower by 5%", 97),
        ):
            place = tmp / str(len(running))
            place.mkdir()
            running.append((condition, code, Headway(["compare", "--live", *urls, *flags, "--fail-if", condition], place)))
        for condition, code, one in running:
            ended = one.ended().exits(code, 2)
            note(f"{condition}: {ended.code}, {flat(ended.out)[:100]}")


@check("compare: studies point by point, summaries without records, and another tool's files")
def documents(tmp):
    path = tmp / "shop.yaml"
    for name, service in (("a", "2ms"), ("b", "2.6ms")):
        path.write_text(SCENARIO.replace("RATE", "150").replace("SERVICE", service).replace("120s", "20s"))
        headway("sim", path, "--sweep", "rate=100,150", "--replications", "8", "--json", tmp / f"{name}.json", "--seed", "3" if name == "a" else "4", cwd=tmp).exits(0)
    _, document = compared(tmp, tmp / "a.json", tmp / "b.json")
    equal([(p["point"], p["verdict"]["is"]) for p in document["pairs"]], [("rate=100", "differs"), ("rate=150", "differs")], "points")
    path.write_text(SCENARIO.replace("RATE", "150").replace("SERVICE", "2ms").replace("120s", "25s"))
    headway("sim", path, "--sweep", "rate=150,160", "--replications", "8", "--json", tmp / "c.json", "--seed", "5", cwd=tmp).exits(0)
    ended, document = compared(tmp, tmp / "a.json", tmp / "c.json", code=2)
    contains(flat(ended.out), "not comparable: another plan: duration", "studies of other plans")
    for part in ("for a.json has and c.json has not: rate=100.", "for c.json has and a.json has not: rate=160."):
        contains(flat(ended.out), part, "points that one study alone has")
    _, document = compared(tmp, tmp / "a.json", tmp / "b.json", tmp / "c.json", code=2)
    equal(document["points_left_out"], [{"run": 0, "lacks": 2, "point": "rate=100"}, {"run": 2, "lacks": 0, "point": "rate=160"}], "of which two of three")
    # Five minutes without a failure prove little of shares below one in a thousand.
    failed = row(document, "failed")
    expect(failed["difference_interval"][0] < 0 < failed["difference_interval"][1], f"failures of studies: {failed}")
    base, slow = simulated(tmp, "base"), simulated(tmp, "slow", "--no-log", service="2.6ms")
    _, document = compared(tmp, base, slow)
    expect(row(document, "p50")["shown"] == "higher" and row(document, "failed")["why_not"][0]["reason"]["why"] == "no-records", "without records")
    for name in ("base", "slow"):
        rows = [f"{1_700_000_000_000 + 10 * i},{20 + (i * 7919) % 40 + (8 if name == 'slow' else 0)},GET,200,OK,t-1,true" for i in range(4_000)]
        (tmp / f"{name}.jtl").write_text("timeStamp,elapsed,label,responseCode,responseMessage,threadName,success\n" + "\n".join(rows) + "\n")
    ended, document = compared(tmp, tmp / "base.jtl", tmp / "slow.jtl")
    equal(document["pairs"][0]["verdict"]["is"], "differs", "files of JMeter")
    contains(flat(ended.out), "it is not known whether the load was sent as specified", "files of JMeter")


@check("compare: --live in rounds, and --baseline on a run: pairs in random order by the seed, warm-up left out, the folder gets the comparison", alone=True)
def live(tmp):
    flags = ("-R", "300", "--rounds", "5", "--each", "500ms", "--warmup", "250ms", "--seed", "7")
    with Serve("--service", "const(1ms)", tmp=tmp) as one, Serve("--service", "const(4ms)", tmp=tmp) as two:
        out = tmp / "live.json"
        ended = headway("compare", "--live", one.url, two.url, *flags, "--json", out, "--", "-H", "A: b", cwd=tmp).exits(0, 2)
        document = json.loads(out.read_text())
        rounds = document["rounds"]
        equal((document["method"], rounds["seed"], len(rounds["played"])), ("rounds", 7, 5), "the rounds")
        expect(len({r["seed"] for r in rounds["played"]}) == 5 and {r["first"] for r in rounds["played"]} == {0, 1}, f"seeds and order: {rounds}")
        equal(rounds["warmup_share"], 1 / 3, "the share of warm-up")
        kept = headway("compare", "--live", one.url, one.url, "-R", "100", "--rounds", "5", "--each", "200ms", "--warmup", "0s", "--out", tmp / "kept", "--quiet", cwd=tmp).exits(0, 2, 97)
        equal(sorted(f.name for f in (tmp / "kept").iterdir()), sorted(f"round-{r}-target-{t}" for r in range(1, 6) for t in (1, 2)), f"folders: {kept.err}")
        if ended.code == 0:
            expect(row(document, "p50")["ratio_interval"][0] > 1.5, f"p50: {row(document, 'p50')}")
            contains(flat(ended.out), "slower by", "the first line")
        run = ("run", one.url, "-R", "300", "-d", "2s", "--seed", "7")
        headway(*run, "--out", tmp / "before", "--note", "at=1", cwd=tmp).exits(0, 98)
        ended = headway(*run, "--out", tmp / "after", "--note", "at=2", "--baseline", tmp / "before", cwd=tmp)
        ended.exits(0, 2, 98)
        document = json.loads((tmp / "after" / "comparison.json").read_text())
        equal([r["name"] for r in document["runs"]], ["before", "after"], "runs")
        contains(flat(ended.out), "after against before", "the report")
        expect((tmp / "after" / "comparison.html").is_file(), "the page")
        ended = headway("run", one.url, "-R", "200", "-d", "2s", "--out", tmp / "third", "--baseline", tmp / "before", cwd=tmp).exits(2)
        contains(flat(ended.err), "not comparable, another plan: rate (300/s there, 200/s here)", "before anything is sent")
        expect(not (tmp / "third").exists(), "nothing was sent")
        ended = headway("run", one.url, "--fail-if", "p(99) slower", cwd=tmp).exits(2)
        contains(flat(ended.err), "--baseline RUN", "a condition without a baseline")
