"""`headway sim` as a study: sweeps, replications, models; and what of a simulated run its log and its report are good for."""

import itertools
import json
import math
import signal
import sys

from check_records import differences
from check_sim import sim, timeless
from check_scenario import rows_of
from harness import ROOT, Headway, check, contains, environment, equal, expect, flat, headway, tool, wait_for

ONE_SERVER = """
name: one
seed: 7
users: { arrive: { rate: 50/s }, phases: [ { hold: 20s, warmup: true }, { hold: 200s } ] }
journey: [ { get: / } ]
model: { servers: 1, service: exp(10ms) }
"""

TWO_MODELS = """
name: pools
seed: 11
users: { arrive: { rate: 150/s }, phases: [ { hold: 10s, warmup: true }, { hold: 60s } ] }
journey: [ { get: / } ]
models:
  together: { servers: 2, service: exp(10ms) }
  slower: { servers: 2, service: exp(11ms) }
"""


def study(text, *arguments, tmp, name="study"):
    """`headway sim` of a file of that text, its JSON document, and how it ended."""
    path, out = tmp / f"{name}.yaml", tmp / f"{name}.json"
    path.write_text(text)
    ended = headway("sim", path, *arguments, "--json", out, cwd=tmp)
    return json.loads(out.read_text()), ended


@check("study: a sweep of rates with replications follows M/M/1, its seeds and threads change nothing, a single run is replication 0")
def sweep(tmp):
    ask = ["--sweep", "rate=20..80/20", "--replications", "5"]
    first, ended = study(ONE_SERVER, *ask, "--threads", "1", tmp=tmp)
    ended.exits(0)
    equal((first["schema"], first["seed"], first["replications"], first["warmup"]), ("headway.study/2", 7, 5, "phases"), "head")
    equal(first["parameters"], [{"name": "rate", "values": ["20", "40", "60", "80"]}], "parameters")
    equal([p["values"] for p in first["points"]], [["20"], ["40"], ["60"], ["80"]], "points")
    for point in first["points"]:
        rate = float(point["values"][0])
        mean, seen = 0.01 / (1 - rate * 0.01), point["response"]["mean"]
        low, high = seen["ci95"]
        # Student's t with 4 degrees: 2.776 standard errors to either side.
        error = (high - low) / (2 * 2.776)
        expect(abs(seen["mean"] - mean) <= 4 * error, f"rate {rate}: mean {seen['mean']}, expected {mean}, standard error {error}")
        expect(math.isclose(point["offered"]["mean"], rate, rel_tol=0.1), f"rate {rate}: offered {point['offered']}")
        equal((point["failed"]["mean"], point["little_holds"]), (0, 5), f"rate {rate}: share that failed, Little's law")
        expect(math.isclose(point["load"], rate * 0.01, rel_tol=1e-6), f"rate {rate}: load {point['load']}")
        expect(abs(point["utilisation"]["mean"] - rate * 0.01) < 0.05, f"rate {rate}: utilisation {point['utilisation']}")
        shares = [p for p, _ in point["curve"]]
        expect(shares == sorted(shares) and len(shares) > 40, f"rate {rate}: curve {point['curve'][:5]}")
    second, _ = study(ONE_SERVER, *ask, "--threads", "3", tmp=tmp, name="again")
    wrong = differences("", timeless(first), timeless(second))
    expect(not wrong, "more threads, another document: " + "; ".join(wrong[:5]))
    # The first replication has the study's own seed: it is the single run.
    alone, _ = study(ONE_SERVER, "--sweep", "model.servers=1,2", tmp=tmp, name="alone")
    single = sim(ONE_SERVER, "--no-log", tmp=tmp, name="single").exits(0).summary
    point = alone["points"][0]
    equal(point["n"], single["measured"]["n"], "requests of replication 0, against the single run")
    expect(math.isclose(point["response"]["mean"]["mean"], single["response"]["mean"], rel_tol=1e-9), "mean of replication 0")
    expect(math.isclose(point["response"]["p99"]["mean"], single["response"]["p99"], rel_tol=0.01), "p99 of replication 0")
    low, high = point["response"]["mean"]["ci95"]
    expect(low < point["response"]["mean"]["mean"] < high, "the interval by batch means")


@check("study: three shards meet in a destination, and are merged to the study of one machine to the byte; what is missing is named, what does not fit is refused")
def shards(tmp):
    # The last point crosses the threshold (p99 = ln(100) / 20 s); the secret is in no part.
    text = ONE_SERVER.replace("get: /", "get: /, headers: { Authorization: Bearer s3cr3t-marker }")
    (tmp / "s.yaml").write_text(text)
    ask = ["sim", "s.yaml", "--sweep", "rate=20,50,80", "--replications", "5", "--threshold", "p(99)<200", "--note", "why=a test"]
    headway(*ask, "--out", "whole", "--json", "whole.json", cwd=tmp).exits(0)

    def part(*flags, out="dest", code=0, env=None):
        ended = headway(*ask, "--out", out, *flags, cwd=tmp, env=env).exits(code)
        expect(not ended.out and not list(tmp.glob("dest/**/study.json")), f"a shard has reported: {ended.out}")
        return ended

    part("--shard", "2/3", "--threads", "1")
    part("--shard=1/3")
    auto = part("--shard", "auto", env=environment(JOB_COMPLETION_INDEX="0", SHARDS="3"))
    contains(auto.err, "shard 0/3 (JOB_COMPLETION_INDEX=0, SHARDS=3): 5 plays", "what the last one says of itself")
    contains(auto.err, "5 plays of shard 0/3 are in dest/0; next: headway merge dest --expect 3", "what it says in the end")
    dest = tmp / "dest"
    equal(sorted(path.name for path in dest.iterdir()), ["0", "1", "2", "run.json"], "what is in the destination")
    files = ["claim.json", "done.json", "part.json", "plays.jsonl", "progress.json"]
    equal(sorted(path.name for path in (dest / "1").iterdir()), files, "what a shard has left")
    equal(json.loads((dest / "run.json").read_text())["of"], {"study": {"points": 3, "replications": 5}}, "run.json")
    equal(sorted(json.loads(line)["job"] for line in (dest / "2" / "plays.jsonl").read_text().splitlines()), [2, 5, 8, 11, 14], "plays of shard 2")
    done = json.loads((dest / "2" / "done.json").read_text())
    equal(done, {"records": 5, "bytes": (dest / "2" / "plays.jsonl").stat().st_size, "parts": None, "exit_code": 0}, "done.json")
    kept = json.loads((dest / "2" / "part.json").read_text())
    expect("--shard" not in kept["words"] and "s3cr3t-marker" not in json.dumps(kept), f"part.json: {kept}")
    # Played once, and by this study alone.
    before = (dest / "1" / "plays.jsonl").read_bytes()
    contains(part("--shard", "1/3").err, "shard 1/3 was claimed by process", "a shard that is started again")
    equal((dest / "1" / "plays.jsonl").read_bytes(), before, "plays of a shard that was started again")
    for flags, why in [
        (["--seed", "8", "--shard", "1/3"], "seed is 7 there and 8 here"),
        (["--shard", "1/4"], "number of shards is 3 there and 4 here"),
        (["--replications", "6", "--shard", "1/3"], "number of replications is 5 there and 6 here"),
        (["--set", "model.servers=2", "--shard", "1/3"], "is of another study: "),
    ]:
        given = [*ask[:4], *ask[6:]] if "--replications" in flags else ask
        contains(headway(*given, *flags, "--out", "dest", cwd=tmp).exits(2).err, why, f"{flags}")
    run = ["run", "http://127.0.0.1:9/", "-R", "5", "-d", "1s", "--seed", "7", "--shard", "1/3"]
    contains(headway(*run, "--out", "dest", cwd=tmp).exits(2).err, "the place of the shards of a study, and this is a shard of a run", "a run")
    contains(part("--shard", "1/3", out="whole", code=2).err, "is the folder of a whole study", "the folder of a study")

    # All that is needed is in the parts: the scenario is gone.
    (tmp / "s.yaml").rename(tmp / "moved.yaml")
    merged = headway("merge", "dest", "--expect", "3", "--wait", "--out", "all", "--json", "all.json", cwd=tmp).exits(0)
    contains(merged.out, "rate", "the report")
    # The same of their folders; the command is that of the shard that is named first.
    headway("merge", "dest/1", "dest/2", "dest/0", "--expect", "3", "--out", "named", "--json", "named.json", cwd=tmp).exits(0)
    for name in ("all", "named"):
        for one, other in [("whole.json", f"{name}.json"), *((f"whole/{file}", f"{name}/{file}") for file in ("study.json", "scenario.yaml", "report.html"))]:
            expect((tmp / one).read_bytes() == (tmp / other).read_bytes(), f"{other} is not {one} to the byte")

    missing = headway("merge", "dest/0", "dest/2", "--out", "two", cwd=tmp).exits(3)
    contains(missing.err, "shard 1/3 is missing, and its 5 plays with it", "the shard that was not named")
    # Where no point has all its plays, the exit code is 3 whatever may be missing.
    allowed = headway("merge", "dest/0", "dest/2", "--allow-missing", "1", "--out", "allowed", cwd=tmp).exits(3)
    contains(" ".join(allowed.out.split()), "no threshold was judged", "a study of which nothing is left")
    contains(headway("merge", "none", "--wait", "--grace", "0s", "--out", "x", cwd=tmp).exits(2).err, "It was waited for", "no destination")
    plays, whole = dest / "1" / "plays.jsonl", before
    plays.write_bytes(whole[:-20])
    contains(headway("merge", "dest", "--out", "x", cwd=tmp).exits(2).err, "plays.jsonl: it has ", "plays that are not as long as was said")
    # Killed in its last play.
    ended = (dest / "1" / "done.json").read_bytes()
    (dest / "1" / "done.json").unlink()
    for names, out in [(["dest"], "cut"), (["dest/0", "dest/1", "dest/2"], "cut-named")]:
        cut = headway("merge", *names, "--out", out, "--json", f"{out}.json", cwd=tmp).exits(3)
        contains(cut.err, "shard 1/3 has 4 of its 5 plays", "the shard that was killed in its last play")
        document = json.loads((tmp / f"{out}.json").read_text())
        equal((len(document["points"]), document["missing"]), (2, [["80"]]), "points, and the one that is missing")
    headway("merge", "dest", "--allow-missing", "1", "--out", "cut-allowed", cwd=tmp).exits(0)
    contains(headway("merge", "dest", "--expect", "4", "--out", "x", cwd=tmp).exits(2).err, "the study in dest has 3 shards", "--expect 4")
    contains(headway("merge", "dest", "--allow-missing", "3", "--out", "x", cwd=tmp).exits(2).err, "at least one must be there", "--allow-missing 3")
    contains(headway("merge", "dest", "--junit", "x.xml", "--out", "x", cwd=tmp).exits(2).err, "junit cannot be made of a study", "--junit")
    plays.write_bytes(b"{}\n" + whole)
    contains(headway("merge", "dest", "--out", "x", cwd=tmp).exits(2).err, "plays.jsonl: line 1: no play", "a line that is no play")
    plays.write_bytes(whole + whole.splitlines(keepends=True)[0])
    contains(headway("merge", "dest", "--out", "x", cwd=tmp).exits(2).err, "line 6: play", "a play that is there twice")
    plays.write_bytes(whole)
    (dest / "1" / "done.json").write_bytes(ended)

    (tmp / "moved.yaml").rename(tmp / "s.yaml")
    part("--shard", "1/3", "--seed", "8", out="other")
    part("--shard", "1/4", out="four")
    headway("sim", "s.yaml", "--out", "run", cwd=tmp).exits(0)
    (tmp / "old").mkdir()
    (tmp / "old" / "part.json").write_text((dest / "1" / "part.json").read_text().replace('"headway": "', '"headway": "9.'))
    for names, why in [
        ("dest/0 dest/1 dest/1", "both shard 1/3"),
        ("dest/0 other/1 dest/2", "parts of different studies"),
        ("dest/0 four/1 dest/2", "a shard of 3, and the other of 4"),
        ("dest/0 old dest/2", "merge by the version that played"),
        ("dest/0 run", "merged with nothing but parts of it"),
        ("dest other", "a destination is merged by itself"),
    ]:
        contains(headway("merge", *names.split(), "--out", "x", cwd=tmp).exits(2).err, why, names)
    (dest / "1" / "part.json").write_bytes((tmp / "other" / "1" / "part.json").read_bytes())
    contains(headway("merge", "dest", "--out", "x", cwd=tmp).exits(2).err, "a shard of another study is in this destination", "a part of another study")
    expect(not (tmp / "x").exists(), "a merge that was refused has made a folder")


@check("study: a merge waits for shards that are played; Ctrl-C stops a shard, which keeps what has ended")
def waited(tmp):
    (tmp / "s.yaml").write_text(ONE_SERVER)
    # One play after the other for longer than the check lasts.
    ask = ["sim", "s.yaml", "--replications", "100000", "--threads", "1", "--out", "dest", "--quiet"]
    merging = Headway(["merge", "dest", "--expect", 2, "--wait", "--grace", "1s", "--out", "all"], tmp)
    running = [Headway([*ask, "--shard", f"{i}/2"], tmp) for i in range(2)]
    plays = [tmp / "dest" / str(i) / "plays.jsonl" for i in range(2)]
    wait_for(lambda: all(path.exists() and path.read_bytes().count(b"\n") for path in plays), "a play of each")
    wait_for(lambda: "0/2 done  2 alive  plays " in merging.text(merging.err), "the merge to show both")
    running[1].signal(signal.SIGINT)
    stopped = running[1].ended().exits(130)
    kept = plays[1].read_bytes().count(b"\n")
    contains(stopped.err, f"stopped: {kept:,} of 50,000 plays of shard 1/2 are in dest/1; next: headway merge dest --expect 2", "the shard that was stopped")
    equal(json.loads((tmp / "dest/1/done.json").read_text())["exit_code"], 130, "exit code in done.json")
    # Killed, it says nothing more: ten seconds later it is not alive.
    running[0].signal(signal.SIGKILL)
    running[0].process.wait(10)
    ended = merging.ended().exits(3)
    contains(ended.err, f"shard 1/2 has {kept:,} of its 50,000 plays", "the merge")
    contains(ended.err, "shard 0/2 has ", "the merge")
    expect(not (tmp / "dest/0/done.json").exists(), "a shard that was killed is done")


@check("study: two models on the same draws: the difference is sharp, every request is slower by its own tenth; --model plays one")
def models(tmp):
    document, ended = study(TWO_MODELS, "--replications", "20", tmp=tmp)
    ended.exits(0)
    equal([p["values"] for p in document["points"]], [["together"], ["slower"]], "points")
    together, slower = (p["response"]["mean"]["mean"] for p in document["points"])
    equal(document["points"][0]["n"], document["points"][1]["n"], "requests that came to the two")
    of_mean = next(d for d in document["differences"] if d["of"] == "mean")
    equal((of_mean["point"], of_mean["with"]), (1, 0), "what is compared")
    expect(math.isclose(of_mean["difference"]["mean"], slower - together, rel_tol=1e-9), f"difference {of_mean}")
    low, high = of_mean["difference"]["ci95"]
    expect(0 < low < of_mean["difference"]["mean"] < high, f"interval of the difference: {of_mean}")
    expect(of_mean["gain"] > 1.2, f"common draws gain {of_mean['gain']}")
    for point in document["points"]:
        low, high = point["response"]["mean"]["p05"], point["response"]["mean"]["p95"]
        expect(low < point["response"]["mean"]["mean"] < high, f"range of the replications: {point['response']['mean']}")
    alone = json.loads(headway("sim", "study.yaml", "--model", "slower", "--json", "-", cwd=tmp).exits(0).out)
    equal((alone["schema"], alone["source"]), ("headway.summary/2", "sim"), "one model, once")
    both, _ = study(TWO_MODELS, "--sweep", "rate=100,150", tmp=tmp, name="both")
    equal([p["values"] for p in both["points"]], [list(v) for v in itertools.product(["100", "150"], ["together", "slower"])], "points of two parameters")
    equal({(d["point"], d["with"]) for d in both["differences"]}, {(1, 0), (3, 2)}, "what is compared at each rate")


@check("study: thresholds are judged at each point by their intervals; a sweep names its crossing and exits 0, a single point that fails exits 99")
def thresholds(tmp):
    # p99 of M/M/1: ln(100) / (100 - rate) s, so 58, 92 and 230 ms, and no steady state at 120.
    ask = ["--sweep", "rate=20,50,80,120", "--replications", "8", "--threshold", "p(99)<130", "--threshold", "failed: rate<1%"]
    page = tmp / "page.html"
    document, ended = study(ONE_SERVER, *ask, "--html", page, tmp=tmp)
    ended.exits(0)
    outcomes = [[t["outcome"] for t in point["thresholds"]] for point in document["points"]]
    equal(outcomes, [["passed"] * 2, ["passed"] * 2, ["crossed", "passed"], ["crossed"] * 2], "outcomes by point")
    for point in document["points"]:
        for judged in point["thresholds"]:
            low, high = judged["interval"] or (None, None)
            limit, outcome = judged["limit"], judged["outcome"]
            if judged["interval"]:
                expect((outcome == "passed") == (high < limit), f"passed means wholly below: {judged}")
                expect((outcome == "crossed") == (low >= limit), f"crossed means wholly above: {judged}")
    # Without a steady state there is no interval, and what grows is certain all the same.
    for judged, above in zip(document["points"][3]["thresholds"], ("130 ms", "1.00 %")):
        equal((judged["interval"], judged["open"]), (None, None), "at rate 120")
        contains(judged["reason"]["text"], f"above {above} in all 8 replications, and growing; no steady state: target is offered 1.20 times", "why")
    told = "p(99)<130 holds up to rate 50, fails from rate 80 on."
    contains(flat(ended.out), told, "terminal")
    contains(flat(page.read_text()), told.replace("<", "&lt;"), "page")
    one = ["--replications", "8"]
    for limit, code, outcome in [("120", 0, "passed"), ("60", 99, "crossed")]:
        document, ended = study(ONE_SERVER, *one, "--threshold", f"p(99)<{limit}", tmp=tmp, name=f"one{limit}")
        ended.exits(code)
        equal(document["points"][0]["thresholds"][0]["outcome"], outcome, f"p(99)<{limit}")
    value = document["points"][0]["thresholds"][0]["value"] * 1e3
    for name, limit, code in [("over", value * 1.001, 0), ("under", value * 0.999, 99)]:
        astride = [*one, "--threshold", f"p(99)<{limit:.6f}"]
        document, ended = study(ONE_SERVER, *astride, tmp=tmp, name=name)
        # Not certain: the value decides.
        ended.exits(code)
        equal(document["points"][0]["thresholds"][0]["outcome"], "inconclusive", "a limit within the interval")
        study(ONE_SERVER, *astride, "--strict", tmp=tmp, name=f"strict-{name}")[1].exits(97)
    # p95 of M/M/2 at 150/s is 67 ms, and 92 ms of the slower.
    document, ended = study(TWO_MODELS, "--replications", "20", "--threshold", "p(95)<77", tmp=tmp, name="models")
    ended.exits(99)
    equal([p["thresholds"][0]["outcome"] for p in document["points"]], ["passed", "crossed"], "two models")
    contains(flat(ended.out), "p(95)<77 holds for together, fails for slower.", "terminal")
    over = ONE_SERVER.replace("50/s", "120/s")
    study(over, *one, "--threshold", "p(99)<1h", tmp=tmp, name="over")[1].exits(99)
    kept = ONE_SERVER + 'thresholds: [ "p(50) < 1s", "bytes: avg < 1KiB" ]\n'
    document, ended = study(kept, *one, tmp=tmp, name="kept")
    ended.exits(0)
    equal(len(document["points"][0]["thresholds"]), 1, "thresholds that a study can judge")
    contains(document["not_judged"][0], "bytes: avg < 1KiB is not judged: a study keeps only", "what it cannot")
    contains(flat(ended.err), "bytes: avg < 1KiB is not judged", "stderr")


@check("sim: thresholds of a run without a steady state are not certain, but for what is of that run alone; their values decide")
def unsteady(tmp):
    over = ONE_SERVER.replace("50/s", "150/s")
    ask = ["--threshold", "p(99)<1h", "--threshold", "started: rate>100"]
    ended = sim(over, *ask, tmp=tmp, name="over").exits(99)
    first, second = ended.summary["thresholds"]
    # More than 1 % of the requests had no response within 30 s: a lower bound is not within.
    equal((first["outcome"], first["open"], first["interval"]), ("crossed", "data", None), "what a longer run would change")
    equal((second["outcome"], second["open"]), ("passed", None), "what is of this run")
    contains(first["reason"]["text"], "there is no steady state", "reason")
    # What is beyond its limit, and grows, is certain.
    grows, = sim(over, "--threshold", "p(50)<100ms", tmp=tmp, name="grows").exits(99).summary["thresholds"]
    equal((grows["outcome"], grows["open"]), ("crossed", None), "a queue that grows")
    contains(grows["reason"]["text"], "and growing", "reason")
    sim(ONE_SERVER, *ask[:2], tmp=tmp, name="calm").exits(0)
    # Judged anew on the recorded run, it is not certain either.
    (tmp / "run.yaml").write_text(over)
    headway("sim", "run.yaml", "--log", "--out", tmp / "run", cwd=tmp).exits(0)
    again = json.loads(headway("report", tmp / "run", "--threshold", "p(95)<1h", "--json", "-", cwd=tmp).exits(99).out)
    equal((again["thresholds"][0]["outcome"], again["thresholds"][0]["open"]), ("crossed", "data"), "headway report")


@check("sim: closed users who are only turned away are named, and those who think are not")
def turned_away(tmp):
    crowd = """
name: crowd
seed: 3
users: { closed: { count: 10 }, think: 0s, phases: [ { hold: 1s } ] }
journey: [ { get: / } ]
model: { servers: 1, queue: 0, service: const(10ms) }
"""
    def found(text, name):
        (tmp / f"{name}.yaml").write_text(text)
        summary = json.loads(headway("sim", f"{name}.yaml", "--json", "-", cwd=tmp).out)
        return [f for f in summary["verdict"]["findings"] if f["id"] == "turned-away"]
    (finding,) = found(crowd, "crowd")
    contains(finding["text"], "refusals per user and second", "finding")
    expect(finding["value"] > 80_000, f"nine of ten ask every 10 us: {finding}")
    equal(found(crowd.replace("think: 0s", "think: exp(1s)"), "thinking"), [], "users who think")
    equal(found(crowd.replace("queue: 0", "queue: 20"), "queue"), [], "users who queue")


@check("study: what cannot be swept says why, exit 2, and nothing is played or left behind")
def mistakes(tmp):
    (tmp / "one.yaml").write_text(ONE_SERVER)
    (tmp / "two.yaml").write_text(TWO_MODELS)
    for file, arguments, told in [
        ("one", ["--sweep", "rate=100..50/10"], "100 is above 50"),
        ("one", ["--sweep", "rate=10..50/0"], "step must be above 0"),
        ("one", ["--sweep", "rate=10..50"], "the step is missing"),
        ("one", ["--sweep", "rate=1..100000/1"], "at most 10000"),
        ("one", ["--sweep", "rate=1..200/1", "--sweep", "model.servers=1..100/1"], "200 x 100 points"),
        ("one", ["--sweep", "model.srevers=1,2"], "srevers"),
        ("one", ["--sweep", "model.deep.er=1,2"], "deep"),
        ("one", ["--sweep", "model.servers=2,-1"], "--sweep model.servers=-1"),
        ("one", ["--sweep", "name=a,b"], "make no difference"),
        ("one", ["--sweep", "rate=10,20", "--sweep", "rate=30"], "given twice"),
        ("one", ["--sweep", "model=x,y"], "no model 'x'"),
        ("one", ["--sweep", "rate=10,20", "--threshold", "service: p(99)<1s"], "a study keeps only response"),
        ("one", ["--sweep", "rate=10,20", "--threshold", "p(99)<1s", "--strict"], "a sweep ends in 0 wherever it crosses"),
        ("one", ["--replications", "2", "--strict"], "a study without thresholds decides nothing"),
        ("one", ["--replications", "2", "--junit", "x.xml"], "--junit x.xml: junit cannot be made of a study of several runs"),
        ("one", ["--replications", "2", "--threshold", "p(99)<1s", "--abort-on-crossed"], "--abort-on-crossed"),
        ("one", ["--sweep", "rate=10,20", "--log"], "--log is about a single run"),
        ("one", ["--sweep", "rate=10,20", "--percentiles", "50,75"], "--percentiles is about a single run"),
        ("one", ["--replications", "2", "--histogram"], "--histogram is about a single run"),
        ("one", ["--open"], "--open: there is no page to open: --html FILE writes one"),
        ("one", ["--html", "-", "--open"], "--open: there is no page to open"),
        ("one", ["--sweep", "rate=10,20", "--open"], "--open: there is no page to open"),
        ("one", ["--replications", "0"], "--replications 0"),
        ("one", ["--replications", "2m"], "--replications 2000000"),
        ("one", ["--log", "--no-log"], "exclude each other"),
        ("two", ["--model", "slowr"], "did you mean slower?"),
        ("two", ["--model", "slower", "--sweep", "model=slower"], "give one of them"),
    ]:
        ended = headway("sim", f"{file}.yaml", *arguments, cwd=tmp).exits(2)
        contains(flat(ended.err), told, f"message of {' '.join(arguments)}")
    equal(sorted(p.name for p in tmp.iterdir()), ["one.yaml", "two.yaml"], "files that are left")


@check("study: Ctrl-C reports the points that are complete, names those that are missing, and exits 130")
def interrupted(tmp):
    # The first point takes an instant, the others about for ever.
    text = ONE_SERVER.replace("hold: 200s", "hold: 1h")
    (tmp / "long.yaml").write_text(text)
    out = tmp / "long.json"
    arguments = ["sim", "long.yaml", "--sweep", "rate=1/s,100k/s,200k/s", "--threads", "1", "--json", out, "--out", tmp / "long"]
    running = Headway(arguments, tmp)
    wait_for(lambda: "simulating 3 points" in running.text(running.err), "the study to begin")
    # Nothing tells of a point that is done; the first needs less than this.
    try:
        running.process.wait(3)
    except Exception:
        pass
    running.signal(signal.SIGINT)
    ended = running.ended(20).exits(130)
    contains(ended.err, "what is complete will be reported", "stderr")
    contains(flat(ended.err), "1 of 3 points are complete; 2 are missing (rate=100k/s to rate=200k/s)", "stderr")
    document = json.loads(out.read_text())
    equal([p["values"] for p in document["points"]], [["1/s"]], "points")
    equal(document["missing"], [["100k/s"], ["200k/s"]], "what is missing")
    expect((tmp / "long" / "study.json").read_text() == out.read_text(), "study.json of the folder")


@check("study: a station that is asked for more than it can do is said to grow; a short run is said to be short")
def growing(tmp):
    document, _ = study(ONE_SERVER, "--sweep", "rate=50,120", "--replications", "3", tmp=tmp)
    calm, growing = document["points"]
    equal((calm["steady"], growing["steady"]), (3, 0), "replications in a steady state")
    notes = " ".join(growing["notes"])
    contains(notes, "no steady state", "notes")
    contains(notes, "1.2", "notes")
    # It does 100/s, some of it for users who have given up.
    expect(60 < growing["goodput"]["mean"] < 105, f"a server of 100/s completes {growing['goodput']}")
    short, _ = study(ONE_SERVER.replace("hold: 200s", "hold: 2s"), "--sweep", "rate=80,90", tmp=tmp, name="short")
    contains(" ".join(short["points"][1]["notes"]), "relaxation", "notes of a short run")


@check("sim: a histogram whose axis begins just below a power of ten is drawn")
def axis_below_a_power_of_ten(tmp):
    page = tmp / "r.html"
    # All take 1.2 ms, and so that none waits they come evenly. The first bin ends at 1.25 ms: the axis begins at 0.99 ms.
    text = """
name: constant
users: { arrive: { rate: 100/s, process: constant }, phases: [ { hold: 20s } ] }
journey: [ { get: / } ]
model: { servers: 1, service: const(1.2ms) }
"""
    sim(text, "--html", page, tmp=tmp).exits(0)
    tool(sys.executable, ROOT / ".ci/check_report.py", page, tmp / "page.png")


@check("sim: --log keeps the records in a folder of its own; audit judges them, report and --html show the model's parts")
def logged(tmp):
    folder = tmp / "kept"
    ended = sim(ONE_SERVER, "--log", "--html", tmp / "r.html", tmp=tmp, name="kept").exits(0)
    simulation = ended.summary["simulation"]
    expect(simulation["little"]["holds"] and simulation["little"]["n"] > 9_000, f"Little's law: {simulation['little']}")
    (part,) = simulation["parts"]
    expect(abs(part["utilisation"] - 0.5) < 0.05 and math.isclose(part["offered"], 0.5), f"the station: {part['utilisation']}, {part['offered']}")
    expect(abs(part["number"] - 1) < 0.25, f"number in the station: {part['number']}")
    steady = simulation["steady"]
    low, high = steady["ci95"]
    expect(steady["found"] and low < steady["mean"] < high, f"steady state: {steady}")
    expect(abs(steady["mean"] - 0.02) <= 4 * (high - low) / (2 * 2.093), f"mean {steady['mean']}, interval {low} to {high}")
    n = ended.summary["measured"]["n"] + ended.summary["measured"]["warmup"]
    equal(len(rows_of(folder)), n, "rows of the log")
    audit = json.loads(headway("audit", folder, "--json", "-", cwd=tmp).exits(0).out)
    equal(audit["measured"]["n"], n, "requests that the audit found")
    expect(math.isclose(audit["arrivals"]["cov"], 1, rel_tol=0.05), f"CoV by the audit: {audit['arrivals']['cov']}")
    contains((tmp / "r.html").read_text(), "<html", "the HTML report")
    headway("report", folder, cwd=tmp).exits(0)
    (tmp / "bare.yaml").write_text(ONE_SERVER)
    headway("sim", "bare.yaml", "--log", cwd=tmp).exits(0)
    (made,) = (tmp / "headway-runs").iterdir()
    expect((made / "records.arrow").is_file(), f"--log without --out: {sorted(p.name for p in made.iterdir())}")
    headway("sim", "bare.yaml", "--no-log", "--out", tmp / "bare", cwd=tmp).exits(0)
    expect(not (tmp / "bare" / "records.arrow").exists(), "--no-log has written a log")
