"""`headway search`: the knee of a model and of a target with a known law; what it refuses before it sends anything."""

import asyncio
import json
import math
import shutil
import signal
import subprocess
import threading
import time

from harness import HEADWAY, Headway, Serve, check, contains, equal, expect, flat, free_port, headway, note, wait_for

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
    expect(half / middle <= 0.1 and math.isclose(half / middle, found["reached"]), f"half width {half / middle}, said {found['reached']}")
    equal(sum(row["requests"] for row in found["trials"] + found["probed"]["rows"]), found["requests"], "requests of all")
    expect(low <= found["estimate"] <= high and abs(knee / found["estimate"] - 1) < 0.25, f"the estimate {found['estimate']}")
    probed = found["probed"]
    equal([row["users"] for row in probed["rows"]][:3], [1, 2, 4], "the probes")
    expect(probed["servers"] == 1 and 80 < probed["capacity"] < 120, f"one server that serves 100/s: {probed}")
    expect(knee / 1.5 < probed["expected"][0] < knee * 1.3, f"the first rate: {probed['expected']}")
    contains(ended.err, "first its capacity is probed", "the line on standard error")
    contains(ended.out, "holds up to about ", "the first lines")
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
    # A model that is slower by half, beside the first: a knee of 43.6/s in place of 77.0/s.
    slower = tmp / "slower.yaml"
    slower.write_text(ONE_SERVER.replace("10ms", "15ms"))
    later = ["search", slower, *ask[2:-1], "commit=2", "--baseline", out]
    refused = headway(*["p(90)<90ms" if word == "p(90)<100ms" else word for word in later], cwd=tmp).exits(2)
    contains(flat(refused.err), "not comparable, it asked for something else: thresholds (p(90)<100ms there, p(90)<90ms here)", "other thresholds")
    # Notes are labels.
    ended = headway(*later, "--out", tmp / "later", cwd=tmp).exits(0)
    contains(flat(ended.out), "the knee is lower by", "beside the first")
    contains(flat(ended.out), "beside out, whose knee is", "beside the first")
    beside = json.loads((tmp / "later" / "search.json").read_text())["baseline"]
    equal((beside["interval"], beside["differs"]), ([low, high], [{"what": "commit", "base": "1", "other": "2"}]), "the first in the document")
    expect(beside["ratio"][0] <= (1000 / 15 - math.log(10) / 0.1) / knee <= beside["ratio"][1], f"the ratio {beside['ratio']}")


@check("search: the number of closed users, of a model and of a live target")
def of_closed_users(tmp):
    (tmp / "closed.yaml").write_text("users: { closed: { count: 1 }, think: exp(1s) }\njourney: [ { get: / } ]\nmodel: { servers: 4, service: exp(40ms) }\n")
    out, page = tmp / "found.json", tmp / "found.html"
    ask = ["search", tmp / "closed.yaml", "--sim", "--threshold", "p(90)<200ms", "--from", "20", "--budget", "100h", "--seed", "3"]
    ended = headway(*ask, "--json", out, "--html", page, cwd=tmp).exits(0)
    found = json.loads(out.read_text())
    equal((found["rate_of"], found["from"]), ("users", 20), "what is searched")
    expect(all(trial["rate"] == int(trial["rate"]) for trial in found["trials"]), "whole users")
    low, high = found["interval"]
    # The birth-death process of the users: `the_knee_of_closed_users_is_that_of_the_machine_repair_model`.
    note(f"{low:.0f} to {high:.0f} users")
    contains(flat(ended.out), f"({low:.0f} to {high:.0f} users)", "the first line")
    contains(flat(ended.out), "p90 and goodput by users", "the curve")
    contains(page.read_text(), "Response time and goodput by number of users", "the page")
    refused = headway("search", tmp / "closed.yaml", "--sim", "--threshold", "p(90)<200ms", "--from", "20/s", cwd=tmp)
    contains(flat(refused.exits(2).err), "write a whole number from 1", "a rate of users")
    with Serve("--service", "const(1ms)", "--servers", "8", tmp=tmp) as server:
        live = ["search", server.url, "-u", "4", "--think", "exp(20ms)", "--to", "8", "--threshold", "p(90)<100ms", "--budget", "5m", "--seed", "3"]
        ended = headway(*live, "--json", out, "--out", tmp / "live", cwd=tmp).exits(99, 98)
        found = json.loads(out.read_text())
        equal((found["rate_of"], [trial["rate"] for trial in found["trials"][:1]]), ("users", [6]), "live trials begin in the (geometric) middle of 4 and 8")
        if ended.code == 99:
            equal((found["outcome"], found["interval"][0]), ("always", 8), "what it ends in")
            contains(flat(ended.out), "holds at 8 users, the highest number of users that was allowed (--to)", "the report")


@check("search: ends with 97, 98 or 99 where there is no knee to be had, and says what was seen")
def without_a_knee(tmp):
    ask = ["search", model(tmp), "--sim", "--seed", "5"]
    never = headway(*ask, "--threshold", "p(90)<1ms", "--from", "5/s", cwd=tmp).exits(99)
    contains(flat(never.out), "no rate was found at which p(90)<1ms holds: one user alone breaks p(90)<1ms", "a threshold that nothing meets")
    contains(flat(never.out), "seen with one request after the other", "what was seen")
    # Known after the first probe.
    found = tmp / "never.json"
    headway(*ask, "--threshold", "p(90)<1ms", "--json", found, "--quiet", cwd=tmp).exits(99)
    found = json.loads(found.read_text())
    equal((len(found["probed"]["rows"]), found["trials"]), (1, []), "probes and trials")
    unprobed = headway(*ask, "--threshold", "p(90)<1ms", "--from", "5/s", "--no-probe", "--budget", "1h", cwd=tmp).exits(99)
    contains(flat(unprobed.out), "not even 5.00/s", "without probes")
    always = headway(*ask, "--threshold", "p(90)<10s", "--from", "5/s", "--to", "20/s", cwd=tmp).exits(99)
    contains(always.out, "the highest rate that was allowed (--to)", "a threshold that everything meets")
    short = headway(*ask, "--threshold", "p(90)<100ms", "--budget", "40s", "--precision", "2%", cwd=tmp).exits(97)
    contains(short.out, "the budget of 40.0 s ended", "a budget that ends")
    contains(flat(short.out), "so far the knee is about ", "an estimate, all the same")


@check("search: a target that is dead, that dies in the middle or that limits rates is named within ten seconds")
def bad_targets(tmp):
    begun = time.monotonic()
    dead = headway("search", f"http://127.0.0.1:{free_port()}/", "--threshold", "p(90)<50ms", "--from", "100/s", "--out", tmp / "dead", cwd=tmp).exits(1)
    took = time.monotonic() - begun
    contains(flat(dead.out), "could be opened (refused)", "a port at which nobody listens")
    expect(took < 10, f"said after {took:.1f} s")
    with Serve("--service", "exp(4ms)", "--stop-after", "14s", tmp=tmp) as server:
        begun = time.monotonic()
        dies = Headway(["search", server.url, "--threshold", "p(90)<50ms", "--out", tmp / "dies"], tmp).ended(60).exits(1)
        took = time.monotonic() - begun
    contains(flat(dies.out), "refused connections, as one does that has ended: so far the knee is about", "a target that dies")
    expect(took < 24, f"ended {took:.1f} s after its begin, {took - 14:.1f} s after the target did")
    # What it refused says nothing of the knee.
    trials = json.loads((tmp / "dies/search.json").read_text())["trials"]
    equal((trials[-1]["ended"], trials[-1]["cut_off"]), ("unreachable", True), "the last trial")
    with Limiting(200) as limiting:
        # Between bounds it is not probed.
        ask = ["search", limiting.url, "--threshold", "p(90)<50ms", "--from", "100/s", "--to", "2000/s", "--budget", "20s", "--seed", "5"]
        limited = Headway([*ask, "--out", tmp / "limited"], tmp).ended(90).exits(97, 98, 99, 0)
        contains(flat(limited.out), "the target limits rates: 429 from ", "the last lines")
        contains(limited.err, "failed (status 429", "said after its trial")
        contains(limited.err, "the target limits rates: 429 from ", "said as soon as it is seen")
        # Probes see it too.
        probed = Headway(["search", limiting.url, "--threshold", "p(90)<50ms", "--budget", "25s", "--seed", "5", "--out", tmp / "probed"], tmp)
        probed = probed.ended(90).exits(97, 98, 99, 0)
        contains(probed.err.split("trial 1")[0], "the target limits rates: 429 from ", "said after the probes")


@check("search: a trial far beyond what can be sent and answered does not overrun the budget by its drain")
def no_overrun(tmp):
    with Serve("--service", "exp(8ms)", "--servers", "4", "--seed", "3", tmp=tmp) as server:
        begun = time.monotonic()
        ask = ["search", server.url, "--threshold", "p(99)<60ms", "--from", "5k/s", "--to", "20k/s", "--budget", "10s", "--seed", "5"]
        ended = Headway([*ask, "--out", tmp / "far"], tmp).ended(90).exits(97, 98, 99)
        took = time.monotonic() - begun
    # Waited for, what is in flight then would take the timeout of 30 s.
    expect(took < 25, f"a budget of 10 s took {took:.1f} s: {flat(ended.err)}")
    expect("unsent" not in ended.out, f"what was not sent is no failure of the target: {flat(ended.out)}")


class Limiting:
    """A server that answers at most so many requests a second, and the rest with 429."""

    def __init__(self, most):
        self.most, self.tokens, self.at = most, float(most) / 10, time.monotonic()

    def answer(self):
        now = time.monotonic()
        self.tokens = min(self.most / 10, self.tokens + (now - self.at) * self.most)
        self.at = now
        if self.tokens < 1:
            return b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"
        self.tokens -= 1
        return b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    async def client(self, reader, writer):
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(self.answer())
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def listen(self, started):
        server = await asyncio.start_server(self.client, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        self.loop = asyncio.get_running_loop()
        self.stop = asyncio.Event()
        started.set()
        await self.stop.wait()

    def __enter__(self):
        started = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.listen(started)))
        self.thread.start()
        started.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.stop.set)
        self.thread.join()


@check("run --sweep: a curve by short runs, judged as any; in text, JSON and HTML; Ctrl-C keeps what is there; what does not fit is refused")
def swept(tmp):
    with Serve("--service", "const(4ms)", "--servers", "1", "--seed", "3", tmp=tmp) as server:
        out, page, document = tmp / "swept", tmp / "swept.html", tmp / "swept.json"
        ask = ["run", server.url, "--sweep", "rate=50..350/100", "-d", "2s", "--threshold", "p(90)<60ms", "--seed", "5"]
        ended = headway(*ask, "--out", out, "--html", page, "--json", document, cwd=tmp).exits(0, 98)
        found = json.loads(document.read_text())
        equal((found["schema"], found["outcome"], found["sweep"]), ("headway.search/1", "swept", [50, 150, 250, 350]), "head")
        equal([row["rate"] for row in found["trials"]], found["sweep"], "the runs")
        first, last = found["trials"][0], found["trials"][-1]
        equal(last["ended"], "fails", "more than one server of 4 ms can do")
        expect(last["goodput"] < 280 and len(last["response"]) >= 2, f"goodput and percentiles of {last}")
        for number, row in enumerate(found["trials"], 1):
            summary = json.loads((out / f"point-{number:02}" / "summary.json").read_text())
            equal((row["folder"], row["seed"], row["verdict"]), (str(out / f"point-{number:02}"), summary["seed"], summary["verdict"]["load"]), "folder, seed and verdict")
            length = summary["measured"]["to_s"] - summary["measured"]["from_s"]
            expect(1.9 < length < 2.1, f"measured for {length} s")
        contains(flat(ended.out), "4 runs from 50.0 to 350/s", "the first line")
        contains(flat(ended.out), "p90 and goodput by rate per second", "the curve")
        contains(page.read_text(), 'data-chart="search-curve"', "the page")
        contains(page.read_text(), "The sweep", "the page")
        expect((out / "search.json").is_file() and (out / "report.html").is_file(), "the folder has the document and the page")
        contains(headway("search", server.url, "--threshold", "p(90)<60ms", "--resume", out, cwd=tmp).exits(2).err, "the folder of a sweep", "it is no search")
        # Its runs are whole, so that they can be compared.
        headway("compare", out / "point-01", out / "point-02", "--across", "rate", cwd=tmp).exits(0, 2, 97)
        cut = Headway(["run", server.url, "--sweep", "rate=50,60,70,80", "-d", "2s", "--out", tmp / "cut"], tmp)
        wait_for(lambda: (tmp / "cut" / "point-02").exists(), "the second run")
        cut.signal(signal.SIGINT)
        ended = cut.ended(30).exits(130)
        found = json.loads((tmp / "cut" / "search.json").read_text())
        equal(found["outcome"], "interrupted", "what became of it")
        equal((found["trials"][0]["cut_off"], len([row for row in found["trials"] if not row["cut_off"]])), (False, 1), "the runs that are whole")
        contains(flat(ended.out), "interrupted: 1 of 4 runs", "the first line")
        users = headway("run", server.url, "--sweep", "users=1,4", "-d", "1s", "--json", document, "--out", tmp / "users", cwd=tmp).exits(0, 98)
        found = json.loads(document.read_text())
        equal((found["rate_of"], found["sweep"]), ("users", [1, 4]), "closed users")
        contains(flat(users.out), "2 runs from 1 to 4 users", "the first line")
        for arguments, words in [
            (["--sweep", "think=1,2"], "write rate=100..1000/100 or users=1,2,4"),
            (["--sweep", "rate=0,10"], "is not a rate"),
            (["--sweep", "rate=10,20", "-R", "5"], "-R: --sweep plays several short runs"),
            (["--sweep", "rate=10,20", "-n", "5"], "-n: --sweep plays several short runs"),
            (["--sweep", "rate=10,20", "--dry-run"], "--dry-run: --sweep plays"),
            (["--sweep", "rate=10,20", "--baseline", "x"], "--baseline and --across are for a single run"),
            (["--sweep", "rate=10,20", "--junit", "x.xml"], "junit cannot be made of a search"),
        ]:
            contains(headway("run", server.url, *arguments, cwd=tmp).exits(2).err, words, " ".join(arguments))
        contains(headway("search", server.url, "--threshold", "p(90)<60ms", "--sweep", "rate=1,2", cwd=tmp).exits(2).err, "headway run --sweep", "a search")


@check("search: what cannot be searched is refused before anything is sent, with what would be accepted")
def refusals(tmp):
    url = "http://127.0.0.1:9/"
    both = tmp / "both.yaml"
    group = "{ name: %s, %s, phases: [ { hold: 5s } ], journey: [ { get: /%s } ] }"
    groups = ", ".join([group % ("a", "arrive: { rate: 5/s }", "a"), group % ("b", "closed: { count: 5 }", "b")])
    both.write_text(f"users: [ {groups} ]\nmodel: {{ servers: 1, service: exp(10ms) }}\n")
    for arguments, words in [
        ([both, "--sim", "--threshold", "p(99)<100"], "write `arrive:` for every group"),
        ([url], "a search needs a threshold"),
        ([url, "--threshold", "avg<5ms"], "a percentile of a time"),
        ([url, "--threshold", "started: rate>5"], "a percentile of a time"),
        ([url, "--threshold", "nonsense: p(99)<5"], "nonsense"),
        ([url, "--threshold", "p(99)<100", "-R", "50"], "--from and --to"),
        ([url, "--threshold", "p(99)<100", "-d", "10s"], "--budget"),
        ([url, "--threshold", "p(99)<100", "-n", "100"], "write --budget"),
        ([url, "--threshold", "p(99)<100", "--from", "50/s", "--to", "20/s"], "not below --to"),
        ([url, "--threshold", "p(99)<100", "--precision", "0"], "from 1% to 50%"),
        ([url, "--threshold", "p(99)<100", "--model", "x"], "--sim"),
        ([url, "--threshold", "p(99)<100", "--baseline", "x"], "name the folder of an earlier search"),
        ([url, "--threshold", "p(99)<100", "--fail-if", "p(99) slower"], "a search has no conditions"),
        ([url, "--threshold", "p(99)<100", "--across", "commit"], "name the search to compare with by --baseline DIR"),
        ([url, "--threshold", "response_ok: p(99)<100"], "'failed: rate<1%'"),
        ([url, "--threshold", "p(99)<60s", "--budget", "30s"], "a longer --budget"),
        ([model(tmp), "--sim", "--threshold", "p(99)<100", "--timeout", "1s"], "--set timeout=TIME"),
        ([url, "--threshold", "p(99)<100", "--junit", "x.xml"], "junit cannot be made of a search"),
    ]:
        ended = headway("search", *arguments, cwd=tmp).exits(2)
        contains(ended.err, words, " ".join(map(str, arguments)))
    expect(not (tmp / "headway-runs").exists(), "no folder is left")


@check("search: one that was killed goes on from its folder, and finds what it would have found; what is asked otherwise is refused")
def resumed(tmp):
    ask = ["search", model(tmp), "--sim", "--threshold", "p(90)<100ms", "--from", "7/s", "--budget", "10h"]
    whole, cut = tmp / "whole", tmp / "cut"
    headway(*ask, "--out", whole, "--quiet", cwd=tmp).exits(0)
    headway(*ask, "--out", cut, "--quiet", cwd=tmp).exits(0)
    # As kill -9 in the third trial leaves it.
    found = json.loads((cut / "search.json").read_text())
    dropped = found["trials"][2:]
    found.update(trials=found["trials"][:2], outcome="unfinished", interval=[None, None], reached=None)
    (cut / "search.json").write_text(json.dumps(found))

    def files(folder):
        return sorted((path.name, path.stat().st_mtime_ns) for path in (tmp / folder).iterdir())

    kept = {trial["folder"]: files(trial["folder"]) for trial in dropped}
    goes_on = headway(*ask, "--resume", cut, cwd=tmp).exits(0)
    contains(goes_on.err, "going on after 2 trials", "what is said")
    before, after = (json.loads((folder / "search.json").read_text()) for folder in (whole, cut))
    equal(after["cut_off"], list(kept), "what was cut off")
    for folder, was in kept.items():
        equal(files(folder), was, f"files of {folder}, which is not written to")
        expect((tmp / f"{folder}-2" / "summary.json").is_file(), f"{folder}-2 has the trial again")
    for document in (before, after):
        for trial in document["trials"]:
            del trial["folder"]
        del document["cut_off"], document["command"]
    for key in before:
        equal(after[key], before[key], f"{key} of the search that went on, and of the one that was not interrupted")
    equal(list(after), list(before), "keys")
    other = ["--budget", "9h", "--threshold", "p(95)<100ms", "--seed", "6", "--resume", cut]
    refused = headway(*ask[:-2], *other, cwd=tmp).exits(2)
    contains(refused.err, "seed (7 there, 6 here)", "what differs")
    contains(refused.err, "thresholds (p(90)<100ms there", "what differs")
    for one, words in ((whole / "trial-01", "is a trial of a search"), (whole, "is the folder of a search")):
        trial = headway("compare", cut, one, cwd=tmp).exits(2) if one == whole else headway("compare", cut / "trial-01", one, cwd=tmp).exits(2)
        contains(flat(trial.err), "ended when their outcome was clear", words)
    # What is called like a trial is none for its name, and one that is called otherwise would be none of that search.
    (whole / "trial-01").rename(whole / "trial-99")
    shutil.copytree(cut / "trial-01", tmp / "trial-01")
    headway("compare", whole / "trial-99", tmp / "trial-01", cwd=tmp).exits(0)
    nothing = headway(*ask, "--resume", tmp / "none", cwd=tmp).exits(2)
    contains(nothing.err, "name the folder of a search", "no folder")


@check("search: a target that was faster when it was looked at first drifts: no knee, exit 99")
def drifts(tmp):
    ask = ["search", model(tmp), "--sim", "--threshold", "p(90)<100ms", "--seed", "5", "--precision", "1%"]
    headway(*ask, "--budget", "6m", "--out", tmp / "out", "--quiet", cwd=tmp).exits(97)
    found = json.loads((tmp / "out/search.json").read_text())
    # A model does not change from one trial to the next: what the first half saw is told to have been a third of it.
    early = found["trials"][: len(found["trials"]) // 2]
    for trial in early:
        if trial["pace"] is not None:
            trial["pace"] -= math.log(3)
    (tmp / "out/search.json").write_text(json.dumps(found))
    ended = headway(*ask, "--budget", "10h", "--resume", tmp / "out", cwd=tmp).exits(99)
    found = json.loads((tmp / "out/search.json").read_text())
    equal((found["outcome"], found["interval"]), ("drifts", [None, None]), "what it ends in")
    drift = found["drift"]
    expect(drift["drifts"] and 0 < drift["ci95"][0] < drift["per_minute"], f"the drift: {drift}")
    first_seen, last_seen = drift["response"]
    expect(last_seen > 1.5 * first_seen, f"three times as long, within what chance and a line through all looks make of it: {drift}")
    contains(flat(ended.out), "there is no knee: the target drifts", "the report")


@check("search: Ctrl-C and kill -9 leave a folder from which a live search goes on with the seed that it had")
def interrupted(tmp):
    cut_by(tmp / "int", signal.SIGINT, 130, "interrupted")
    cut_by(tmp / "kill", signal.SIGKILL, -signal.SIGKILL, "unfinished")


def cut_by(tmp, number, code, outcome):
    tmp.mkdir()
    with Serve("--service", "exp(1ms)", tmp=tmp) as serve:
        ask = ["search", serve.url, "--threshold", "p(90)<50ms", "--from", "300/s", "--to", "600/s"]
        running = Headway([*ask, "--out", tmp / "out"], tmp)
        wait_for(lambda: (tmp / "out/trial-01/records.arrow").is_file(), "the first trial")
        running.signal(number)
        running.ended().exits(code)
        first = json.loads((tmp / "out/search.json").read_text())
        equal(first["outcome"], outcome, "outcome")
        goes_on = headway(*ask, "--budget", "1m", "--resume", tmp / "out", cwd=tmp).exits(0, 97, 98, 99)
        second = json.loads((tmp / "out/search.json").read_text())
        equal(second["seed"], first["seed"], "seed")
        equal(second["cut_off"], [str(tmp / "out/trial-01")], "what was cut off")
        expect(len(second["trials"]) > 0 and not second["trials"][0]["cut_off"], f"no trial was played: {goes_on}")
        expect((tmp / second["trials"][0]["folder"] / "summary.json").is_file(), "the folder of its trial")


@check("search: several targets in turns, one row for each; one that cannot be reached does not end the others")
def of_several(tmp):
    closed = free_port()
    with Serve("--service", "exp(1ms)", "--servers", "2", tmp=tmp) as one, Serve("--service", "exp(2ms)", "--servers", "4", tmp=tmp) as two:
        # Trials take a number of requests: the higher the rate, the sooner they end.
        ask = ["--threshold", "p(90)<50ms", "--from", "200/s", "--to", "400/s", "--budget", "1m"]
        targets = ["--target", f"one={one.url}", "--target", f"none=http://127.0.0.1:{closed}/", "--target", f"two={two.url}"]
        document, page, out = tmp / "found.json", tmp / "found.html", tmp / "out"
        ended = headway("search", *targets, *ask, "--out", out, "--json", document, "--html", page, cwd=tmp).exits(1)
    found = json.loads(document.read_text())
    equal(found["schema"], "headway.searches/1", "schema")
    equal([target["name"] for target in found["targets"]], ["one", "none", "two"], "names")
    outcomes = [target["outcome"] for target in found["targets"]]
    equal(outcomes[1], "unreachable", "the one that nobody serves")
    # Whether the machine sent its load as planned is its affair.
    expect("unreachable" not in (outcomes[0], outcomes[2]), f"outcomes: {outcomes}")
    expect(all(target["trials"] for target in found["targets"]), "each has trials")
    begun = [[trial["begun_s"] for trial in target["trials"]] for target in found["targets"]]
    expect(begun[0][0] < begun[1][0] < begun[2][0] < begun[0][1], f"in turns: {begun}")
    for name in ("one", "none", "two"):
        expect((out / name / "report.html").is_file() and (out / name / "trial-01/plan.json").is_file(), f"folder of {name}")
        contains(page.read_text(), f">{name}<", "the page")
        contains(ended.out, f"\n  {name} ", "the table")
    contains(flat(ended.out), f"none: no connection to http://127.0.0.1:{closed}/ could be opened", "what is said of it")
    expect(all(len(line) <= 80 for line in ended.out.splitlines()), "80 columns")
    trials = [out / name / "trial-01" for name in ("one", "two")]
    contains(flat(headway("compare", *trials, cwd=tmp).exits(2).err), "is a trial of a search", "trials of several targets")
    alone = headway("search", *targets[2:4], *ask, "--out", tmp / "alone", "--quiet", cwd=tmp).exits(1)
    equal(alone.out, "", "quiet")
    # Each of them is given what stands on standard input.
    scenario, both = "users: { arrive: { rate: 50/s } }\njourney: [ { get: / } ]\n", [*targets[2:4], "--target", f"other=http://127.0.0.1:{closed}/"]
    piped = subprocess.run([HEADWAY, "search", "-", *both, *ask], input=scenario, cwd=tmp, capture_output=True, text=True, timeout=60)
    equal(piped.returncode, 1, f"exit code of targets that nobody serves: {piped.stderr[-500:]}")
    twice = headway("search", *targets[:2], *targets[:2], *ask, cwd=tmp).exits(2)
    contains(twice.err, "a name of its own", "one name twice")
