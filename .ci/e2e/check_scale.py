"""Shards of a run: joining late, and the place that they share."""

import json
import signal
import time

from harness import Headway, Serve, check, conserved, contains, equal, expect, finding, finding_ids, flat, headway, planned, start_run, wait_for

LOAD = ["-R", "200", "-d", "5s", "--seed", "11"]


def instant(unix_s):
    """RFC 3339, to the millisecond."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(unix_s))
    return f"{whole}.{int(unix_s * 1000) % 1000:03}Z"


def document(place, name):
    return json.loads((place / name).read_text())


@check("scale: a run that comes after --start-at joins the plan where it is; what it missed is unsent, and the zero stays")
def late(tmp):
    with Serve("--service", "const(1ms)", "--servers", "8", tmp=tmp) as serve:
        start = int(time.time() * 1000 - 1_500) / 1000
        ended = start_run(serve.url, *LOAD, "--start-at", instant(start), tmp=tmp).ended()
    # 1.5 s of 5 s were missed.
    ended.exits(98)
    summary = ended.summary
    conserved(summary)
    equal(ended.plan["zero_unix_ns"], round(start * 1000) * 1_000_000, "the plan's zero")
    due = sorted(float(line.split(",")[1]) for line in planned(*LOAD, cwd=tmp))
    equal(summary["measured"]["n"], len(due), "arrivals")
    unsent = summary["outcomes"]["unsent"]
    expect(sum(at < 1.5 for at in due) <= unsent < len(due) / 2 + 100, f"{unsent} of {len(due)} are unsent")
    equal(serve.report["requests"], len(due) - unsent, "requests that the target counted")
    joined = finding(summary, "joined-late")
    expect(joined, f"findings: {finding_ids(summary)}")
    equal(joined["n"], unsent, "arrivals that were missed")
    # Those that were due by the join, and no others.
    equal(sum(at < joined["value"] for at in due), unsent, "arrivals due before the join")
    contains(flat(ended.out), "joined its plan", "the report")


@check("scale: later than --late, or after the plan's end, nothing is made or sent: exit 75")
def too_late(tmp):
    with Serve("--service", "const(1ms)", tmp=tmp) as serve:
        for ago, more, told in [(3, ["--late", "2s"], "--late 2s is the latest"), (11, [], "--late 10s"), (8, [], "ended")]:
            start = instant(time.time() - ago)
            ended = start_run(serve.url, *LOAD, "--start-at", start, *more, tmp=tmp, name="late").ended().exits(75)
            contains(ended.err, told, "stderr")
            expect(not ended.folder.exists(), f"{ended.folder} was made")
            place = tmp / "place"
            shard = [*LOAD, "--shard", "0/2", "--start-at", start, *more, "--out", place]
            headway("run", serve.url, *shard, cwd=tmp).exits(75)
            expect(not place.exists(), f"{place} was made")
    equal(serve.report["requests"], 0, "requests that the target counted")
    ended = headway("run", "http://127.0.0.1:9/", *LOAD, "--late", "2s", cwd=tmp).exits(2)
    contains(ended.err, "--start-at", "stderr")


@check("scale: shards share a place: each is claimed, tells how it stands, and is done; together they are the plan")
def shared(tmp):
    place = tmp / "run"
    with Serve("--service", "const(1ms)", "--servers", "8", tmp=tmp) as serve:
        load = [*LOAD, "--start-at", instant(time.time() + 4), "--out", place, "--quiet"]
        shards = [Headway(["run", serve.url, *load, "--shard", f"{i}/2"], tmp, folder=place / str(i)) for i in range(2)]
        shards[1].sleep_until(3.9)
        # Every 2 s, and 200/s in all.
        progress = document(place, "1/progress.json")
        expect(20 < progress["offered"] < 500, f"progress: {progress}")
        expect(progress["ended"] <= progress["sent"] <= progress["offered"], f"progress: {progress}")
        expect(not (place / "1/done.json").exists(), "shard 1 is done before its end")
        again = headway("run", serve.url, *load, "--shard", "1/2", cwd=tmp).exits(0)
        contains(again.err, f"shard 1/2 was claimed by process {shards[1].process.pid}", "stderr of the second process")
        ended = [shard.ended() for shard in shards]
    for i, shard in enumerate(ended):
        shard.exits(0, 98)
        done = document(place, f"{i}/done.json")
        log = place / f"{i}/records.arrow"
        equal(done, {"records": done["records"], "bytes": log.stat().st_size, "parts": None, "exit_code": shard.code}, "done.json")
        equal(done["records"], document(place, f"{i}/progress.json")["ended"], "rows of the log, and requests that ended")
    run = document(place, "run.json")
    equal((run["shards"], run["seed"], run["of"]["run"]["start_at"]), (2, 11, str(ended[0].plan["zero_unix_ns"])), "run.json")
    equal(ended[0].plan["zero_unix_ns"], ended[1].plan["zero_unix_ns"], "the zeros of the shards")
    headway("merge", place / "0", place / "1", "--out", "all", "--quiet", cwd=tmp).exits(0, 98)
    equal(document(tmp, "all/summary.json")["measured"]["n"], len(planned(*LOAD, cwd=tmp)), "arrivals of the merged run")
    equal(serve.report["requests"], sum(document(place, f"{i}/progress.json")["sent"] for i in range(2)), "requests")


@check("scale: another run in a shared place, or one that has ended, is refused: exit 2, both values, nothing sent")
def refused(tmp):
    place = tmp / "run"
    with Serve("--service", "const(1ms)", tmp=tmp) as serve:

        def shard(*more):
            return headway("run", serve.url, *more, "--out", place, "--quiet", cwd=tmp)

        short = ["-R", "50", "-d", "500ms", "--timeout", "100ms"]
        shard(*short, "--seed", "1", "--shard", "0/2").exits(0, 98)
        counted = len(planned(*short[:4], "--seed", "1", "--shard", "0/2", cwd=tmp))
        for more, told in [
            (["--seed", "2", "--shard", "1/2"], "seed is 1 there and 2 here"),
            (["--seed", "1", "--shard", "1/3"], "number of shards is 2 there and 3 here"),
            (["--seed", "1", "--shard", "1/2", "-R", "60"], "there and"),
            (["--seed", "1", "--shard", "1/2", "--start-at", "2100-01-01T12:00:00Z"], "none there and 2100-01-01T12:00:00Z here"),
            (["--seed", "1", "--shard", "1/2", "--no-log"], "--no-log"),
        ]:
            given = short[2:] if "-R" in more else short
            contains(shard(*given, *more).exits(2).err, told, "stderr")
        time.sleep(1)
        contains(shard(*short, "--seed", "1", "--shard", "0/2").exits(2).err, "holds a run that ended at", "stderr")
        equal(sorted(p.name for p in place.iterdir()), ["0", "clock", "run.json"], "what is in the place")
        single = tmp / "single"
        headway("run", serve.url, *short, "--seed", "1", "--out", single, "--quiet", cwd=tmp).exits(0, 98)
        ended = headway("run", serve.url, *short, "--seed", "1", "--shard", "0/2", "--out", single, cwd=tmp).exits(2)
        contains(ended.err, "folder of a single run", "stderr")
    single_run = len(planned(*short[:4], "--seed", "1", cwd=tmp))
    equal(serve.report["requests"], counted + single_run, "requests that the target counted")


@check("scale: a shard that is killed leaves its plan and its log, and is not done")
def killed(tmp):
    place = tmp / "run"
    with Serve("--service", "const(1ms)", "--servers", "8", tmp=tmp) as serve:
        running = Headway(["run", serve.url, *LOAD, "--shard", "0/2", "--out", place, "--quiet"], tmp, folder=place / "0")
        running.sleep_until(3)
        running.signal(signal.SIGKILL)
        running.process.wait(10)
    names = {p.name for p in (place / "0").iterdir()}
    expect({"claim.json", "plan.json", "progress.json", "records.arrow"} <= names and "done.json" not in names, f"files: {names}")
    expect((place / "0/records.arrow").stat().st_size > 1000, "the log is empty")


@check("scale: shards that meet at the barrier begin at one instant, the last one five seconds after it came")
def barrier(tmp):
    place = tmp / "run"
    with Serve("--service", "const(1ms)", "--servers", "8", tmp=tmp) as serve:

        def shard(i):
            words = ["run", serve.url, *LOAD[:2], "-d", "2s", "--seed", "11", "--shard", f"{i}/2", "--start-at", "barrier", "--out", place]
            return Headway(words, tmp, folder=place / str(i))

        first = shard(1)
        wait_for(lambda: (place / "ready/1.json").exists(), "the first shard")
        time.sleep(1)
        expect(not (place / "start.json").exists(), "one shard alone has begun")
        came = time.time()
        last = shard(0)
        ended = [one.ended().exits(0, 98) for one in (first, last)]
    zeros = {one.plan["zero_unix_ns"] for one in ended}
    equal(zeros, {document(place, "start.json")["zero_unix_ns"]}, "zeros of the shards, and start.json")
    expect(came + 5 <= min(zeros) / 1e9 <= time.time(), f"it began at {zeros}, and the last came at {came}")
    contains(ended[0].err, "waiting for all 2 shards", "stderr")
    equal(sum(one.summary["measured"]["n"] for one in ended), len(planned(*LOAD[:2], "-d", "2s", "--seed", "11", cwd=tmp)), "arrivals")


@check("scale: shards that do not come to the barrier are named: exit 1, nothing sent, and the place is used up; Ctrl-C ends the wait")
def not_met(tmp):
    with Serve("--service", "const(1ms)", tmp=tmp) as serve:

        def shard(i, start, place):
            words = ["run", serve.url, *LOAD, "--shard", f"{i}/3", "--start-at", start, "--out", place, "--quiet"]
            return Headway(words, tmp, folder=tmp / place / str(i))

        two = [shard(0, "barrier(3s)", "run"), shard(2, "barrier(3s)", "run")]
        for one in two:
            contains(one.ended().exits(1).err, "missing: 1/3: nothing was sent", "stderr")
        contains(shard(1, "barrier", "run").ended().exits(1).err, "a shard has given up", "stderr")
        contains(shard(0, "barrier", "run").ended().exits(2).err, "whose shards did not all come", "stderr")
        alone = shard(0, "barrier", "other")
        wait_for(lambda: (tmp / "other/ready/0.json").exists(), "the shard")
        alone.signal(signal.SIGINT)
        alone.ended(20).exits(130)
        contains(headway("run", serve.url, *LOAD, "--start-at", "barrier", cwd=tmp).exits(2).err, "--shard", "stderr")
    equal(serve.report["requests"], 0, "requests that the target counted")
