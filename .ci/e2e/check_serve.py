"""`headway serve`: a target whose answers are known in advance, against `headway run`; each counts the other's doings."""

import json
import socket
import time

from harness import (
    Headway, Serve, all_ended, check, code_of, conserved, contains, equal, expect, flat, headway, planned, run, wait_for,
)


def statuses(ended, served, kind, total):
    """Outcomes are ok and status alone, and as many as the target says."""
    summary = ended.summary
    conserved(summary)
    equal(set(summary["outcomes"]) - {"ok", "status"}, set(), f"other outcomes ({ended})")
    equal(summary["outcomes"].get("status", 0), served[kind], f"status, against the target's {kind}")
    equal(served["requests"], total, "requests that the target counted")
    ended.exits(code_of(summary))
    return summary


@check("serve: M/M/1 at 80 % busy: mean response near its theory (5 ms), nothing lost", alone=True)
def queue(tmp):
    with Serve("--service", "exp(1ms)", "--seed", "5", tmp=tmp) as serve:
        ended = run(serve.url, "-R", "800", "-d", "10s", "--seed", "5", tmp=tmp)
    summary = all_ended(ended, "ok")
    equal(serve.report["ok"], summary["measured"]["n"], "answers that the target counted")
    equal(serve.report["connections"], summary["generator"]["connections_opened"], "connections, by both ends")
    # Far wider than the 0.5 ms by which the mean of so many scatters. A busy machine adds its own, and more if it stands still.
    mean, verdict = summary["response"]["mean"], summary["verdict"]["load"]
    expect(mean > 0.002, f"mean response is {1000 * mean:.2f} ms, in theory 5 ms")
    expect(mean < 0.015 or verdict != "VALID", f"mean response is {1000 * mean:.2f} ms, in theory 5 ms, of a load called {verdict}")
    expect(summary["response"]["p50"] < summary["response"]["p99"], "percentiles out of order")


@check("serve: --queue answers 503 past its bound, --error-rate 500; both ends count the same")
def errors(tmp):
    with Serve("--service", "const(20ms)", "--queue", "5", "--seed", "5", tmp=tmp) as serve:
        ended = run(serve.url, "-R", "200", "-d", "3s", tmp=tmp, name="queue")
    summary = statuses(ended, serve.report, "rejected", ended.summary["measured"]["n"])
    # It can serve 50/s, and is asked for 200.
    expect(0.4 < summary["outcomes"]["status"] / summary["measured"]["n"] < 0.95, f"outcomes: {summary['outcomes']}")
    with Serve("--service", "const(100us)", "--error-rate", "0.2", "--seed", "5", tmp=tmp) as serve:
        ended = run(serve.url, "-R", "500", "-d", "3s", tmp=tmp, name="errors")
    summary = statuses(ended, serve.report, "errors", ended.summary["measured"]["n"])
    # 1500 draws at 0.2: four standard errors are 0.04.
    expect(0.15 < summary["outcomes"]["status"] / summary["measured"]["n"] < 0.25, f"outcomes: {summary['outcomes']}")


@check("merge: three shards of a live run are the run: counts add up, one verdict; a lost one is named, exit 3")
def merged(tmp):
    with Serve("--service", "exp(2ms)", "--servers", "4", tmp=tmp) as serve:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3))
        load = ["-R", "300", "-d", "4s", "--seed", "5", "--start-at", at, "--quiet"]
        shards = [Headway(["run", serve.url, *load, "--shard", f"{i}/3", "--out", "run"], tmp) for i in range(3)]
        for shard in shards:
            shard.ended().exits(0, 98)
    of = [json.loads((tmp / f"run/{i}/summary.json").read_text()) for i in range(3)]
    headway("merge", "run/2", "run/0", "run/1", "--out", "all", "--quiet", cwd=tmp).exits(0, 98)
    summary = json.loads((tmp / "all/summary.json").read_text())
    equal(summary["measured"]["n"], sum(s["measured"]["n"] for s in of), "arrivals")
    for outcome, n in summary["outcomes"].items():
        equal(n, sum(s["outcomes"].get(outcome, 0) for s in of), outcome)
    equal(len(summary["generator"]["workers"]), 3, "workers")
    equal(summary["measured"]["n"], len(planned("-R", "300", "-d", "4s", "--seed", "5", cwd=tmp)), "arrivals of the whole plan")
    lost = headway("merge", "run/0", "run/2", "--out", "two", "--json", "two.json", cwd=tmp).exits(3)
    contains(flat(lost.out), f"1/3 ({of[1]['measured']['n']} planned arrivals)", "the report")


@check("serve: --stall every=2s,for=1s shows in the response times of those who came during it")
def stall(tmp):
    with Serve("--service", "const(1ms)", "--servers", "8", "--stall", "every=2s,for=1s", tmp=tmp) as serve:
        ended = run(serve.url, "-R", "100", "-d", "6s", tmp=tmp)
    response = all_ended(ended, "ok")["response"]
    expect(response["max"] > 0.9, f"max response is {response['max']} s")
    expect(response["p99"] > 0.5, f"p99 of the response is {response['p99']} s")
    # Half of the time it stands still: a tool that waits for answers would have seen a handful of slow ones.
    expect(response["p90"] > 0.2, f"p90 of the response is {response['p90']} s")


@check("serve: --arrivals-log has a line for each request, in time with the run")
def arrivals_log(tmp):
    log = tmp / "arrivals.csv"
    with Serve("--service", "const(1ms)", "--servers", "8", "--arrivals-log", log, tmp=tmp) as serve:
        ended = run(serve.url, "-R", "300", "-d", "3s", tmp=tmp)
    summary = all_ended(ended, "ok")
    lines = log.read_text().splitlines()
    equal(lines[0], "received_unix_s,connection,stamp", "head of the log")
    rows = [line.split(",") for line in lines[1:]]
    equal(len(rows), summary["measured"]["n"], "lines of the log")
    equal({r[2] for r in rows} - {"kernel", "user"}, set(), "stamps")
    zero = ended.plan["zero_unix_ns"] / 1e9
    at = sorted(float(r[0]) - zero for r in rows)
    # Not before the plan's zero, nor after the last answer; 50 ms for the drift between two clocks.
    last = max(3.0, max(s["from_s"] for s in summary["series"]) + 1) + summary["response"]["max"]
    expect(-0.05 <= at[0] and at[-1] <= last + 0.05, f"received from {at[0]} to {at[-1]} s after zero")
    intended = [float(line.split(",")[1]) for line in planned("-R", "300", "-d", "3s", "--seed", str(summary["seed"]), cwd=tmp)]
    early = [a - i for a, i in zip(at, intended) if a < i - 0.05]
    expect(not early, f"{len(early)} requests received before they were due")


@check("serve: an existing --arrivals-log is never overwritten; --stop-after ends it; a unix socket serves")
def serve_odds(tmp):
    log = tmp / "arrivals.csv"
    log.write_text("mine\n")
    ended = headway("serve", "--listen", "127.0.0.1:0", "--arrivals-log", log, cwd=tmp).exits(2)
    equal((log.read_text(), ended.out), ("mine\n", ""), "the file that was there, and stdout")
    headway("serve", "--listen", "127.0.0.1:0", "--stop-after", "300ms", cwd=tmp).exits(0)
    socket = tmp / "s"
    serving = Headway(["serve", "--listen", f"unix:{socket}", "--service", "const(1ms)", "--stop-after", "4s"], tmp)
    wait_for(socket.exists, "the socket")
    all_ended(run(f"unix:{socket}", "-R", "100", "-d", "1s", tmp=tmp), "ok")
    serving.ended().exits(0)


@check("run: -n, warm-up, ramp, shards: the counts are the plan's, of every process")
def counts(tmp):
    with Serve("--service", "const(100us)", "--servers", "4", tmp=tmp) as serve:
        wrong = []
        cases = [["--arrivals", p] for p in ("constant", "uniform", "gamma(2)", "poisson-fixed-n")]
        cases += [["-n", "123"], ["--warmup", "500ms", "--ramp", "500ms"], ["--shard", "1/3"]]
        for i, case in enumerate(cases):
            load = ["-R", "200", *([] if "-n" in case else ["-d", "1s"]), "--seed", "9", *case]
            summary = run(serve.url, *load, tmp=tmp, name=str(i)).summary
            measured, outcomes = summary["measured"], sum(summary["outcomes"].values())
            lines = planned(*load, cwd=tmp)
            warm = sum(float(line.split(",")[1]) < measured["from_s"] for line in lines)
            if (measured["n"], measured["warmup"], outcomes) != (len(lines) - warm, warm, len(lines) - warm):
                wrong.append(
                    f"{' '.join(load)}: planned {len(lines)}, {warm} of them warm-up; measured {json.dumps(measured)}, "
                    f"outcomes add up to {outcomes}"
                )
    expect(not wrong, "\n".join(wrong))


class Late(Serve):
    """`headway serve --capacity`: one connection at a time."""

    counts = r"accepted (\d+) connections: (\d+) served, (\d+) closed by the client before a request, (\d+) without a request"
    names = ("accepted", "served", "gone", "silent")


@check("serve: --capacity answers one connection after the other; the kernel admits --backlog + 1; bad values are refused")
def late(tmp):
    with Late("--capacity", "100/s", "--backlog", "8", tmp=tmp) as serve:
        summary = all_ended(run(serve.url, "-u", "4", "-d", "2s", tmp=tmp), "ok")
    served = serve.report["served"]
    equal(served, summary["measured"]["n"], "requests served, against the answers that came")
    # However slow this machine is, it is never faster: the first begins at zero, and the last answer comes at some 2 s.
    expect(0 < served <= 100 * (2 + summary["response"]["max"]) + 1, f"{served} served at 100/s in 2 s")
    with Late("--capacity", "1/s", "--backlog", "2", tmp=tmp) as serve:
        at = serve.url.removeprefix("http://").rstrip("/").split(":")
        admitted = []
        for _ in range(8):
            try:
                admitted.append(socket.create_connection((at[0], int(at[1])), 0.05))
            except TimeoutError:
                pass
        # One is in service, three wait. It leaves one that says nothing after a second, and takes the next.
        expect(4 <= len(admitted) < 8, f"{len(admitted)} of 8 connections were admitted")
        for one in admitted:
            one.close()
    for bad, said in [
        (["--capacity", "0/s"], "--capacity"),
        (["--capacity", "130/s", "--service", "const(1ms)"], "exclude each other"),
        (["--capacity", "130/s", "--udp"], "exclude each other"),
        (["--capacity", "130/s", "--listen", f"unix:{tmp}/s"], "write host:port"),
        (["--backlog=-1"], "--backlog"),
        (["--backlog", "0"], "--backlog"),
        (["--backlog", "8", "--udp"], "exclude each other"),
    ]:
        contains(headway("serve", *bad, "--stop-after", "1s", cwd=tmp).exits(2).err, said, f"serve {' '.join(bad)}")
