"""Targets that misbehave: each request ends once, as what it was, and the run ends in time."""

import resource
import threading

import badserver
from harness import (
    Serve, all_ended, check, code_of, conserved, contains, equal, expect, finding, finding_ids, flat, free_port, reasons,
    run, start_run,
)

LOAD = ["-R", "50", "-d", "1s"]
OK = b"HTTP/1.1 200 OK\r\n"


@check("bad target: nobody listens: exit 1, outcome refused, and said")
def refused(tmp):
    for name, url in [("tcp", f"http://127.0.0.1:{free_port()}/"), ("unix", f"unix:{tmp}/nobody:/")]:
        ended = run(url, *LOAD, tmp=tmp, name=name).exits(1)
        summary = ended.summary
        conserved(summary)
        equal(summary["outcomes"], {"refused": summary["measured"]["n"]}, f"outcomes ({ended})")
        contains(ended.err, "could not be reached", "stderr")
        contains(ended.out, "refused", "the report")


@check("bad target: one that never answers: timeout, with times as lower bounds")
def hung(tmp):
    with badserver.BadServer(badserver.hung) as bad:
        ended = run(bad.url, *LOAD, "--timeout", "500ms", tmp=tmp)
    summary = all_ended(ended, "timeout")
    response = summary["response"]
    equal(response["lower_bound"].get("p50"), True, "response.lower_bound.p50")
    expect(response["p50"] >= 0.5, f"p50 of the response is {response['p50']} s, given up after 0.5 s")
    contains(ended.out, "> ", "the report")
    equal(summary["service"]["n"], 0, "service.n")


@check("bad target: garbage, an endless head, a body past --max-body: protocol and too-large")
def wrong_answers(tmp):
    mib = b"x" * (1 << 20)
    chunk = b"100000\r\n" + mib + b"\r\n"
    wrong = []
    for name, behaviour, outcome in [
        ("garbage", badserver.says_and_closes(b"\x00\xff not HTTP at all\r\n\r\n"), "protocol"),
        ("other-protocol", badserver.says_and_closes(b"SSH-2.0-OpenSSH_9.2\r\n"), "protocol"),
        ("bad-length", badserver.says_and_closes(OK + b"Content-Length: -5\r\n\r\nhello"), "protocol"),
        ("two-lengths", badserver.says_and_closes(OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), "protocol"),
        ("bad-chunk", badserver.says_and_closes(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"), "protocol"),
        ("endless-line", badserver.endless(OK + b"A: ", b"a" * 65536, 256), "too-large"),
        ("endless-head", badserver.endless(OK, b"A: " + b"a" * 1000 + b"\r\n", 16_384), "too-large"),
        ("100-MiB", badserver.endless(OK + b"Content-Length: 104857600\r\n\r\n", mib, 100), "too-large"),
        ("100-MiB-chunked", badserver.endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", chunk, 100), "too-large"),
        ("100-MiB-to-close", badserver.endless(OK + b"\r\n", mib, 100), "too-large"),
    ]:
        # A few are enough of what moves 64 MiB each.
        load = ["-R", "4", "-d", "1s", "--arrivals", "poisson-fixed-n", "-c", "4"]
        with badserver.BadServer(behaviour) as bad:
            ended = run(bad.url, *load, "--timeout", "20s", tmp=tmp, name=name)
        summary = ended.summary
        conserved(summary)
        if summary["outcomes"] != {outcome: summary["measured"]["n"]}:
            wrong.append(f"{name}: expected only {outcome}, seen {summary['outcomes']}; {summary['failure_reasons']}")
        elif not reasons(summary, outcome):
            wrong.append(f"{name}: no reason of {outcome}: {summary['failure_reasons']}")
        elif ended.code != code_of(summary):
            wrong.append(f"{name}: {ended}")
    expect(not wrong, "\n".join(wrong))


@check("bad target: connections reset or closed in mid-answer, or before one: reset or protocol, and timings kept")
def cut_off(tmp):
    half = OK + b"Content-Length: 10\r\n\r\nhello"
    wrong = []
    for name, behaviour, outcomes in [
        ("reset", badserver.says_and_resets(half), {"reset"}),
        ("closed", badserver.says_and_closes(half), {"reset", "protocol"}),
        ("closed-in-head", badserver.says_and_closes(OK), {"reset", "protocol"}),
        ("closed-at-once", badserver.says_and_closes(b""), {"reset", "protocol"}),
    ]:
        with badserver.BadServer(behaviour) as bad:
            ended = run(bad.url, *LOAD, "--timeout", "5s", tmp=tmp, name=name)
        summary = ended.summary
        conserved(summary)
        seen = set(summary["outcomes"])
        if not (seen <= outcomes and summary["measured"]["n"]):
            wrong.append(f"{name}: expected {outcomes}, seen {summary['outcomes']}")
        if name in ("reset", "closed") and seen == {"protocol"} and summary["service"]["n"] != summary["measured"]["n"]:
            wrong.append(f"{name}: service.n is {summary['service']['n']}: the first byte's time was lost")
        if ended.code != code_of(summary):
            wrong.append(f"{name}: {ended}")
    expect(not wrong, "\n".join(wrong))


@check("bad target: answers to one of two requests only: the others time out, connections are not mixed up")
def every_other(tmp):
    turn, lock = [0], threading.Lock()

    def behaviour(connection):
        while badserver.request_of(connection):
            with lock:
                turn[0] += 1
                answer = turn[0] % 2
            if not answer:
                badserver.hung(connection)
                return
            connection.sendall(OK + b"Content-Length: 5\r\n\r\nhello")

    with badserver.BadServer(behaviour) as bad:
        ended = run(bad.url, "-R", "50", "-d", "2s", "--timeout", "500ms", tmp=tmp)
    summary = ended.summary
    conserved(summary)
    equal(set(summary["outcomes"]), {"ok", "timeout"}, "outcomes")
    equal(sum(summary["outcomes"].values()), turn[0], "requests that the target received")
    expect(abs(summary["outcomes"]["ok"] - summary["outcomes"]["timeout"]) <= 1, f"outcomes: {summary['outcomes']}")
    equal(summary["response_ok"]["n"], summary["outcomes"]["ok"], "response_ok.n")


@check("bad target: at the connection cap arrivals wait, then are shed, and the report says what held them")
def cap(tmp):
    with badserver.BadServer(badserver.hung) as bad:
        ended = run(
            bad.url, "-R", "50", "-d", "2s", "-c", "4", "--timeout", "1s", "--max-wait", "200ms", tmp=tmp
        )
    summary = ended.summary
    conserved(summary)
    ended.exits(code_of(summary))
    # An arrival due before the plan's end may start within 10 ms after it (workload::client, GRACE). It is then awaited
    # for less than the whole timeout, and ends as unfinished: at most one on each connection.
    seen = summary["outcomes"]
    expect({"shed", "timeout"} <= set(seen) <= {"shed", "timeout", "unsent", "unfinished"}, f"outcomes: {seen}")
    expect(seen.get("unfinished", 0) <= 4, f"{seen} with 4 connections")
    expect(summary["outcomes"]["timeout"] <= 16, f"{summary['outcomes']} with 4 connections of a second each")
    expect(bad.accepted <= 16, f"{bad.accepted} connections: a timed-out one is replaced by one")
    # That the target holds every connection is not the generator's doing; the verdict says what the cap did.
    limited = summary["verdict"]["limited_by"]
    expect(limited and limited["limit"] == 4 and limited["share"] > 0.5, f"limited_by: {limited}")
    equal(limited["given_up"], seen["shed"] + seen.get("unsent", 0), "given up at the cap")
    if summary["verdict"]["load"] == "VALID":
        contains(flat(ended.out), "sent as specified up to the cap of 4 connections", "the verdict's line")
    expect(finding(summary, "unsent"), f"findings: {finding_ids(summary)}")


@check("limits: too few descriptors: a usage error that names ulimit; running out of them in mid-run: local-limit and a finding")
def descriptors(tmp):
    def few(limit):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    with Serve("--service", "const(2s)", "--servers", "1000", tmp=tmp) as serve:
        ended = run(serve.url, *LOAD, "-c", "500", tmp=tmp, name="c", before=few(300)).exits(2)
        contains(ended.err, "ulimit -n", "message")
        expect(not ended.folder.exists(), "a run that could not begin left a folder")
        running = start_run(serve.url, "-R", "50", "-d", "3s", tmp=tmp, name="shrunk")
        running.sleep_until(1)
        # As if something else in the process had taken the rest: no new descriptor from 40 on.
        resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (40, 40))
        ended = running.ended()
    summary = ended.summary
    conserved(summary)
    expect(set(summary["outcomes"]) == {"ok", "local-limit"}, f"outcomes: {summary['outcomes']}")
    expect(finding(summary, "local-limit"), f"findings: {finding_ids(summary)}")
    contains(flat(ended.out), "local-limit", "the report")
    equal(summary["verdict"]["load"], "INVALID", "the verdict of a load that the generator's own limit stopped")
    ended.exits(code_of(summary))
