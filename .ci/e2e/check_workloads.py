"""Who comes: closed users, fixed work, all at once, phases, groups; how many connections they take; and Ctrl-C in each kind."""

import collections
import resource
import signal

from certificates import Authority
from check_scenario import rows_of, run_file, start_file
from harness import (
    Nginx, Serve, check, code_of, conserved, contains, equal, expect, finding, finding_ids, flat, free_port, run, start_run,
)
from recorder import Recorder


def users_within(rows, begin, end):
    """Users with a request due in that span of seconds."""
    return {row["user"] for row in rows if begin * 1e9 <= row["intended_ns"] < end * 1e9}


@check("workloads: -u with --think: a connection per user, due at the answer before plus think time; --pool shared takes fewer")
def closed(tmp):
    with Recorder() as server:
        own = run(server.url, "-u", "6", "--think", "const(20ms)", "-d", "1s", tmp=tmp, name="own")
        opened = server.connections
        # Thinking takes all but some microseconds of a round: two connections are idle nearly always.
        shared = run(server.url, "-u", "6", "--think", "const(20ms)", "-d", "1s", "--pool", "shared", "-c", "2", tmp=tmp, name="shared")
        equal((opened, server.connections - opened <= 2), (6, True), f"connections per user; {server.connections - opened} shared")
    for ended in (own, shared):
        summary = ended.summary
        conserved(summary)
        ended.exits(code_of(summary))
        equal(summary["workload"], "closed", "workload")
        expect(set(summary["outcomes"]) <= {"ok", "unsent"}, f"outcomes ({ended})")
        by_user = collections.defaultdict(list)
        for row in rows_of(ended.folder):
            equal(row["due"], "user", "how a request came to be due")
            by_user[row["user"]].append(row)
        equal(sorted(by_user), list(range(6)), "users in the log")
        for rows in by_user.values():
            thinks = {after["intended_ns"] - before["done_ns"] for before, after in zip(rows, rows[1:])}
            equal(thinks, {20_000_000}, "think times in the log")
        expect(abs(summary["closed"]["users"] - 6) < 1e-6, f"closed.users is {summary['closed']['users']}")
        contains(flat(ended.out), "closed workload: a slow target receives fewer requests", "the report")


@check("workloads: -n with -c or -u, work in a file: exactly n requests, by so many users; --at-once: all n at zero")
def fixed(tmp):
    with Recorder() as server:
        for name, arguments, n, users in [
            ("n", ["-n", "203", "-c", "7"], 203, 7), ("few", ["-n", "3", "-c", "7"], 3, 3), ("users", ["-n", "50", "-u", "4"], 50, 4),
            ("once", ["--at-once", "60"], 60, 60), ("pool", ["--at-once", "60", "--pool", "shared", "-c", "5"], 60, 5),
        ]:
            before = (len(server.requests), server.connections)
            ended = run(server.url, *arguments, tmp=tmp, name=name)
            summary = ended.summary
            conserved(summary)
            equal(summary["outcomes"], {"ok": n}, f"{name}: outcomes ({ended})")
            equal(len(server.requests) - before[0], n, f"{name}: requests that came")
            opened = server.connections - before[1]
            expect(opened <= users and (name == "few" or opened == users), f"{name}: {opened} connections of {users} users")
            ended.exits(code_of(summary))
            if "--at-once" in arguments:
                equal({row["intended_ns"] for row in rows_of(ended.folder)}, {0}, f"{name}: when they were due")
        before = len(server.requests)
        text = "target: ${TARGET}\nusers: { %s }\njourney: [ { get: /a }, { get: /b, repeat: 2 } ]\n"
        env = {"TARGET": server.url}
        work = run_file(text % "work: { requests: 100, users: 6 }", tmp=tmp, name="work", env=env)
        equal((work.summary["outcomes"], len(server.requests) - before), ({"ok": 100}, 100), "work of a file")
        before = len(server.requests)
        once = run_file(text % "at-once: 30", tmp=tmp, name="sessions", env=env)
        equal((once.summary["outcomes"], len(server.requests) - before), ({"ok": 90}, 90), "sessions of a file at once")
        equal(len(rows_of(once.folder, "session")), 30, "rows of sessions")
        parts = [
            run_file(text % "work: { requests: 101, users: 7 }", "--seed", "1", "--shard", f"{i}/2", tmp=tmp, name=f"part{i}", env=env)
            for i in range(2)
        ]
        # Users 0, 2, 4 and 6 make 14 or 15 requests each, and the others the rest.
        equal([p.summary["outcomes"] for p in parts], [{"ok": 58}, {"ok": 43}], "work of two shards")
        for part in parts:
            part.exits(0)


@check("workloads: closed phases rise, fall, pause and spike: never more users than asked, none in a pause, the first stay the longest")
def phases(tmp):
    text = """
target: ${TARGET}
users:
  closed: { count: 4 }
  phases:
    - { ramp: 600ms, to: 8 }
    - { hold: 400ms }
    - { ramp: 400ms, to: 2 }
    - { pause: 300ms }
    - { spike: 300ms, to: 6 }
    - { step: 200ms, by: 1, times: 2 }
  think: const(10ms)
journey: [ { get: /a }, { get: /b } ]
"""
    with Recorder() as server:
        ended = run_file(text, tmp=tmp, env={"TARGET": server.url})
    conserved(ended.summary)
    rows = [row for row in rows_of(ended.folder) if row["started_ns"] is not None]
    equal(len(rows), len(server.requests), "requests that came")
    # Those who are to go finish their round first: 2 requests and a think time, and the machine may be slow.
    for begin, end, users in [(0, 0.3, 4), (0, 0.6, 8), (0.7, 1, 8), (1.7, 2, 6), (2, 2.2, 6), (2.2, 2.4, 6)]:
        seen = users_within(rows, begin, end)
        expect(seen <= set(range(users)), f"users {seen} from {begin} to {end} s, where {users} were asked for")
    equal(users_within(rows, 0.6, 1), set(range(8)), "users of the hold")
    equal(users_within(rows, 1.7, 2), set(range(6)), "users of the spike")
    begun = {row["intended_ns"] / 1e9 for row in rows if row["step"] == 0}
    expect(not [t for t in begun if 1.402 < t < 1.7], "a round began in the pause")
    first = {user: min(row["intended_ns"] for row in rows if row["user"] == user) for user in range(8)}
    equal(sorted(first, key=first.get)[4:], [4, 5, 6, 7], "the order in which users came")


@check("workloads: an open and a closed group in one file: each its own requests, columns, connections; the open one as planned")
def two_groups(tmp):
    text = """
target: ${TARGET}
seed: 13
users:
  - name: visitors
    arrive: { rate: 60/s }
    phases: [ { hold: 1s }, { pause: 200ms } ]
    journey: [ { get: /open } ]
  - name: clerks
    closed: { count: 3 }
    phases: [ { hold: 1s } ]
    think: exp(15ms)
    journey: [ { get: /closed, headers: { X-User: "{{user.id}}" } } ]
"""
    with Recorder() as server:
        ended = run_file(text, tmp=tmp, env={"TARGET": server.url})
    summary = ended.summary
    conserved(summary)
    ended.exits(code_of(summary))
    rows = rows_of(ended.folder)
    for group, path, due in [(0, "/open", "arrival"), (1, "/closed", "user")]:
        mine = [row for row in rows if row["group"] == group and row["sent_ns"] is not None]
        equal({row["due"] for row in mine}, {due}, f"{path}: how requests came to be due")
        equal({row["step"] for row in mine}, {group}, f"{path}: steps")
        equal(len(mine), len(server.on(path)), f"{path}: requests that came")
        equal(summary["by_label"][f"GET {path}"]["outcomes"]["ok"], len(mine), f"{path}: by label")
    equal({s.header("X-User") for s in server.on("/closed")}, {"0", "1", "2"}, "users that the server saw")
    own = {s.connection for s in server.on("/closed")}
    expect(len(own) == 3 and not own & {s.connection for s in server.on("/open")}, f"connections of the clerks: {own}")
    expect(summary["arrivals"]["cov"] is not None, "no headways of the open group")


@check("workloads: 50,000 users through 50 connections take less than 2 KiB each; too many of their own are refused before anything is sent")
def many(tmp):
    with Serve("--service", "const(1ms)", "--servers", "64", tmp=tmp) as serve:
        held = {}
        for users in (100, 50_000):
            running = start_run(
                serve.url, "-u", users, "--pool", "shared", "-c", "50", "--think", "uniform(1s,20s)", "-d", "2500ms", tmp=tmp, name=f"u{users}"
            )
            running.sleep_until(2)
            status = open(f"/proc/{running.process.pid}/status").read()
            held[users] = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024
            summary = running.ended().summary
            conserved(summary)
            expect(summary["outcomes"].get("ok", 0) > 0, f"{users} users: {summary['outcomes']}")
            expect(summary["generator"]["connections_opened"] <= 50, "connections")
        each = (held[50_000] - held[100]) / 50_000
        expect(each < 2048, f"{each:.0f} B per user")
        descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if descriptors != resource.RLIM_INFINITY:
            refused = run(serve.url, "-u", descriptors, "-d", "1s", tmp=tmp, name="refused").exits(2)
            contains(refused.err, "--pool shared", "message")
            expect(not refused.folder.exists(), "a refused run has left a folder")
        refused = run(serve.url, "-u", "20", "-c", "10", "-d", "1s", tmp=tmp, name="refused").exits(2)
        contains(refused.err, "--pool shared", "message")
    expect(serve.report["connections"] <= 100, f"connections that the target counted: {serve.report['connections']}")


@check("workloads: Ctrl-C in each kind: exit 130, every answer awaited, log and report whole, the server's count the log's")
def interrupted(tmp):
    hold = "phases: [ { hold: 60s } ]"
    kinds = {
        "closed": f"users: {{ closed: {{ count: 5 }}, {hold}, think: exp(20ms) }}",
        "sessions": f"users: {{ arrive: {{ rate: 20/s }}, {hold}, think: exp(20ms) }}",
        "work": "users: { work: { requests: 1000000, users: 3 } }",
        "once": "users: { at-once: 100000, connections: shared }\nconnections: 3",
        "groups": f"users: [ {{ name: a, arrive: {{ rate: 20/s }}, {hold}, journey: two }}, {{ name: b, closed: {{ count: 2 }}, {hold}, think: 10ms, journey: two }} ]",
    }
    for kind, users in kinds.items():
        steps = "[ { get: /a }, { get: /b } ]"
        journey = f"journeys: {{ two: {steps} }}" if kind == "groups" else f"journey: {steps}"
        with Serve("--service", "const(10ms)", "--servers", "8", tmp=tmp) as serve:
            running = start_file(f"target: {serve.url}\n{users}\n{journey}\n", "--timeout", "10s", "--drain", "10s", tmp=tmp, name=kind)
            running.sleep_until(0.7)
            running.signal(signal.SIGINT)
            ended = running.ended(30)
        ended.exits(130)
        summary = ended.summary
        conserved(summary)
        expect(summary["measured"]["interrupted"], f"{kind}: measured.interrupted")
        expect(finding(summary, "interrupted"), f"{kind}: findings: {finding_ids(summary)}")
        expect(set(summary["outcomes"]) <= {"ok", "unsent", "cancelled", "unfinished"}, f"{kind}: outcomes {summary['outcomes']}")
        rows = [row for row in rows_of(ended.folder) if row["sent_ns"] is not None]
        equal(len(rows), serve.report["requests"], f"{kind}: requests in the log, against the target's")
        equal(sum(row["outcome"] == "ok" for row in rows), serve.report["ok"], f"{kind}: answers")
        expect(len(rows) > 10, f"{kind}: {len(rows)} requests")
        expect((ended.folder / "report.html").is_file() and (ended.folder / "scenario.yaml").is_file(), f"{kind}: files")


@check("workloads: a scenario over https to nginx: one handshake per user, kept alive; one per request where nginx closes")
def https(tmp):
    authority = Authority(tmp)
    certificate = authority.server("good", "DNS:localhost,IP:127.0.0.1")
    port, closing, access = free_port(), free_port(), tmp / "access.log"
    servers = "".join(
        f"server {{ listen 127.0.0.1:{p} ssl; {certificate} keepalive_timeout {keep}; "
        f'location /items {{ add_header X-Method $request_method always; return 201 "done"; }} location / {{ return 200 "fine"; }} }}'
        for p, keep in ((port, "60s"), (closing, "0"))
    )
    text = """
target: https://127.0.0.1:${PORT}
seed: 3
users: { closed: { count: 3 }, phases: [ { hold: 1s } ], think: const(5ms) }
journey:
  - get: /
  - put: "/items/{{user.id}}"
    name: put
    json: { user: "{{user.id}}" }
    expect: { status: 201, headers: { X-Method: PUT }, body: { contains: done } }
"""
    log = f"log_format scenario '$connection $connection_requests $request_method $uri $status'; access_log {access} scenario;"
    with Nginx(tmp, log + servers):
        for name, p in [("kept", port), ("closed", closing)]:
            before = len(access.read_text().splitlines())
            ended = run_file(text, tmp=tmp, name=name, env={"PORT": p, "SSL_CERT_FILE": authority.certificate})
            summary = ended.summary
            conserved(summary)
            expect(set(summary["outcomes"]) <= {"ok", "unsent"}, f"{name}: outcomes ({ended})")
            ended.exits(code_of(summary))
            seen = [line.split() for line in access.read_text().splitlines()[before:]]
            rows = [row for row in rows_of(ended.folder) if row["sent_ns"] is not None]
            equal(len(seen), len(rows), f"{name}: requests that nginx logged")
            equal({(m, u) for _, _, m, u, _ in seen if m == "PUT"}, {("PUT", f"/items/{user}") for user in range(3)}, f"{name}: puts")
            connections = {connection for connection, *_ in seen}
            equal(len(connections), 3 if name == "kept" else len(seen), f"{name}: connections that nginx counted")
            equal(sum(row["tls_ns"] is not None for row in rows), len(connections), f"{name}: handshakes in the log")
