"""When requests arrive: batches at one instant, a day, and as a log tells, live against a recorder of what came."""

from check_scenario import rows_of
from harness import check, conserved, contains, equal, expect, flat, headway, planned, run
from recorder import Recorder


def times(lines):
    """Intended instants of a printed plan, in nanoseconds."""
    return [int(line.split(",")[1].replace(".", "")) for line in lines]


@check("arrivals: batches are due at one instant, start in a row, and are bunched as the plan asks", alone=True)
def batches(tmp):
    with Recorder() as server:
        ended = run(server.url, "-R", "300", "-d", "10s", "--seed", "5", "--arrivals", "batch(poisson,geometric(3))", tmp=tmp)
    summary = ended.summary
    conserved(summary)
    equal((summary["plan"]["process"], summary["verdict"]["pattern"]), ("batch(poisson,geometric(3))", "bunched"), f"process and pattern ({ended})")
    equal(summary["not_computed"]["arrivals.ks.plan"]["why"], "simultaneous-arrivals", "why there is no distance from the plan's law")
    contains(flat(ended.out), "more clustered than independent users, as the plan asks", "the report")
    intended = sorted(row["intended_ns"] for row in rows_of(ended.folder))
    # Two thirds of the headways are 0, of about 3,000: within 5 standard errors of 0.0086.
    zeros = sum(a == b for a, b in zip(intended, intended[1:])) / (len(intended) - 1)
    expect(abs(zeros - 2 / 3) < 0.043, f"{zeros:.3f} of the headways are 0 in the plan")


@check("arrivals: a daily has its mean over a day and its peak where it is asked for")
def day(tmp):
    phases = "{ daily: 100s, day: 100s, mean: 200/s, peak: 1.5, peak-at: 60s }"
    due = [at / 1e9 for at in times(planned("--phases", phases, "--arrivals", "constant", "--seed", "1", cwd=tmp))]
    # Evenly paced on the scale of the rate: the counts are its integrals, but for one arrival at each end.
    expect(abs(len(due) - 20_000) <= 1, f"{len(due)} arrivals of a mean of 200/s over 100 s")
    for begin, end, wanted in [(55, 65, 10 * 200 * (1 + 0.5 * 0.98363)), (5, 15, 10 * 200 * (1 - 0.5 * 0.98363))]:
        found = sum(begin <= at < end for at in due)
        expect(abs(found - wanted) <= 4, f"{found} arrivals from {begin} s to {end} s, and not {wanted:.1f}")


@check("arrivals: a log of a run is played again at its intended instants, at twice the speed in half the time")
def again(tmp):
    with Recorder() as server:
        first = run(server.url, "-R", "100", "-d", "3s", "--seed", "8", tmp=tmp, name="first")
        given = times(planned("-R", "100", "-d", "3s", "--seed", "8", cwd=tmp))
        relative = [at - given[0] for at in given]
        trace = f"trace({first.folder})"
        equal(times(planned("--arrivals", trace, cwd=tmp)), relative, "the plan of the log")
        halves = times(planned("--arrivals", f"trace({first.folder},speed=2)", cwd=tmp))
        expect(all(abs(2 * a - b) <= 1 for a, b in zip(halves, relative, strict=True)), "the plan of the log at twice the speed")
        second = run(server.url, "--arrivals", trace, tmp=tmp, name="second")
        # A part of it, and what of that is warm-up.
        part = run(server.url, "--arrivals", f"trace({first.folder},from=500ms,to=2500ms)", "--warmup", "500ms", "-d", "1500ms", tmp=tmp, name="part")
        wanted = [at - 500_000_000 for at in relative if 500_000_000 <= at < 2_000_000_000]
        equal(sorted(row["intended_ns"] for row in rows_of(part.folder)), wanted, "the instants of a part")
        equal(part.summary["measured"]["n"], sum(at >= 500_000_000 for at in wanted), "arrivals after the warm-up")
    conserved(second.summary)
    equal(sorted(row["intended_ns"] for row in rows_of(second.folder)), relative, "the instants of the second run")
    log = second.summary["plan"]["log"]
    equal((log["arrivals"], log["spread"], log["unreadable"]), (len(given), False, 0), "the log in the summary")
    equal((second.folder / "arrivals.bin").stat().st_size, 8 * len(given), "bytes of arrivals.bin")
    # The second run is a log too.
    equal(times(planned("--arrivals", f"trace({second.folder})", cwd=tmp)), relative, "the plan of the second run's log")
    for flags, told in [
        (["-R", "5"], "-R does not go with --arrivals trace(...): the log says when each arrives"),
        (["--phases", "5s@5"], "--phases does not go with --arrivals trace(...)"),
        (["-n", "5"], "-n does not go with --arrivals trace(...): the load ends with the log, or after -d"),
    ]:
        refused = headway("plan", "--arrivals", trace, *flags, cwd=tmp).exits(2)
        expect(told in refused.err, f"{flags}: {refused.err}")
    refused = headway("search", server.url, "--threshold", "p(99)<1s", "--arrivals", trace, cwd=tmp).exits(2)
    expect("a log has its own" in refused.err, refused.err)


@check("arrivals: an access log brings its own requests, spread over its whole seconds; shards divide it, and merge")
def access_log(tmp):
    requests = ["GET /a?x=1 HTTP/1.1", "POST /b HTTP/1.1", "GET /a HTTP/1.1", "-"]
    rows = [f'127.0.0.1 - - [10/Oct/2025:13:55:{i // 80:02} +0000] "{requests[i % 4]}" 200 5 "-" "x"\n' for i in range(400)]
    (tmp / "access.log").write_text("".join(rows[200:] + rows[:200] + ["oops\n"]))
    trace = "trace(access.log,requests=own)"
    with Recorder() as server:
        shards = [
            run(server.url, "--arrivals", trace, "--shard", f"{i}/2", "--seed", "3", tmp=tmp, name=f"shard-{i}") for i in range(2)
        ]
        asked = [(request.method, request.path) for request in server.requests]
    equal({one: asked.count(one) for one in set(asked)}, {("GET", "/a"): 200, ("POST", "/b"): 100}, "requests that came")
    said = shards[0].out + shards[0].err
    for words in ["stamps of 1 s, each arrival at a random place within its step", "1 row could not be read", "100 arrivals left out"]:
        contains(flat(said), words, "what is said of the log")
    contains(flat(shards[0].out), "log 1 row could not be read; 100 arrivals left out, which no step can send", "the first screen")
    twice = headway("plan", server.url, "--arrivals", "trace(access.log,speed=2,speed=3)", cwd=tmp).exits(2)
    contains(flat(twice.err), "'speed=3' is not the only speed=: write it once", "an option that is given twice")
    # They ran one after the other, which the verdict says; the records are all there, and held to the plan.
    merged = headway("merge", shards[0].folder, shards[1].folder, "--out", tmp / "merged", cwd=tmp)
    rows = rows_of(tmp / "merged")
    equal((len(rows), sorted(row["k"] for row in rows)), (300, list(range(300))), f"requests of the merged run ({merged})")
    equal((tmp / "merged" / "arrivals.bin").read_bytes(), (shards[0].folder / "arrivals.bin").read_bytes(), "arrivals.bin of the merged run")
