"""What goes wrong inside sessions: data that runs out, answers without what is looked for, expectations, thresholds of a file."""

import collections
import gzip
import json
import time
import zlib

from check_scenario import rows_of, run_file, start_file
from check_thresholds import cases, code, expected
from harness import ROOT, Serve, check, conserved, contains, equal, expect, finding, flat, headway, reasons
from limits import KINDS, judged
from recorder import Recorder

# 20 sessions at 25, 50, 75 ... 500 ms. The pause is for the last, which a busy machine may make late: at the end nobody begins.
EVEN = "target: ${TARGET}\nseed: 1\nusers: { arrive: { process: constant, rate: 40/s }, phases: [ { hold: 510ms }, { pause: 200ms } ]%s }\n"
ROWS = 8


def outcomes(summary, label):
    return {k: v for k, v in summary["by_label"][label]["outcomes"].items() if v}


def cause(summary, outcome, *parts):
    """The reasons of that outcome are told, and hold these parts."""
    found = reasons(summary, outcome)
    expect(found, f"no reason of {outcome}: {summary['failure_reasons']}")
    for part in parts:
        contains(found, part, f"reasons of {outcome}")


@check("failures: unique data runs out: a failed step by default; skip ends the session, stop the group, wrap begins again")
def runs_out(tmp):
    (tmp / "ids.csv").write_text("id\n" + "".join(f"{i}\n" for i in range(ROWS)))
    seen, begun, outs = {}, {}, {}
    for end in ["", ", at-end: fail", ", at-end: skip", ", at-end: stop", ", at-end: wrap"]:
        name = end.split()[-1] if end else "default"
        text = EVEN % "" + (
            f"data: {{ ids: {{ csv: ids.csv, take: unique{end} }} }}\n"
            'journey: [ { get: /first }, { get: "/row/{{data.ids.id}}", name: row }, { get: /last } ]\n'
        )
        with Recorder() as server:
            ended = run_file(text, tmp=tmp, name=name, env={"TARGET": server.url})
        conserved(ended.summary)
        seen[name] = tuple(len(server.on(path)) for path in ("/first", "/last"))
        rows = [int(s.path[5:]) for s in server.requests if s.path.startswith("/row/")]
        equal(sorted(rows), list(range(ROWS)) if name != "wrap" else sorted(k % ROWS for k in range(20)), f"{name}: rows that were used")
        begun[name] = len({row["k"] for row in rows_of(ended.folder)})
        outs[name] = outcomes(ended.summary, "row")
        if name != "wrap":
            cause(ended.summary, "unsent", "row", f"data ids has {ROWS} rows")
            expect(ended.summary["verdict"]["load"] != "VALID", f"{name}: rows run out, and the verdict is VALID")
            contains(flat(ended.out), f"data ids has {ROWS} rows", "the report")
    equal(seen["default"], (20, 20), "default: requests before and after")
    equal(seen["fail"], (20, 20), "fail: requests before and after")
    equal(seen["wrap"], (20, 20), "wrap: requests before and after")
    equal(seen["skip"], (20, ROWS), "skip: requests before and after")
    # The session that found nothing has begun, and perhaps one that was under way.
    expect(seen["stop"][1] == ROWS and ROWS < seen["stop"][0] <= ROWS + 2, f"stop: requests before and after: {seen['stop']}")
    equal({name: begun[name] for name in ("default", "fail", "skip", "wrap")}, dict.fromkeys(("default", "fail", "skip", "wrap"), 20), "sessions")
    equal(begun["stop"], seen["stop"][0], "stop: sessions in the log, against those that the server saw")
    equal(outs["default"], {"ok": ROWS, "unsent": 20 - ROWS}, "default: outcomes of the step")
    equal(outs["fail"], outs["default"], "fail: outcomes of the step")
    equal(outs["wrap"], {"ok": 20}, "wrap: outcomes of the step")
    expect(outs["skip"]["ok"] == ROWS and outs["stop"]["ok"] == ROWS, f"outcomes of the step: {outs}")


@check("failures: an extraction that finds nothing fails its step and those that use it, unsent; end-session and defaults")
def finds_nothing(tmp):
    finders = [
        ("json: /list/0/id", "/list/0/id"), ('jsonpath: "$.list[0].id"', "$.list[0].id"), ("header: X-Id", "X-Id"),
        ("cookie: sid", "sid"), ("regex: 'id=(\\d+)', group: 1", "id="),
    ]

    def steps(i, finder):
        return (
            f"  - {{ get: /a{i}, name: a{i}, extract: {{ v{i}: {{ {finder} }} }} }}\n"
            f'  - {{ get: "/b{i}/{{{{v{i}}}}}", name: b{i} }}\n'
        )

    everything = "journey:\n" + "".join(steps(i, finder) for i, (finder, _) in enumerate(finders)) + "  - { get: /c, name: c }\n"
    with Recorder(lambda seen: (200, {}, {"list": []})) as server:
        env = {"TARGET": server.url}
        ended = run_file(EVEN % "" + everything, tmp=tmp, env=env)
        summary = ended.summary
        conserved(summary)
        for i in range(len(finders)):
            equal([outcomes(summary, f"{x}{i}") for x in "ab"], [{"check": 20}, {"unsent": 20}], f"{finders[i]}: outcomes")
            equal(summary["by_label"][f"b{i}"]["response"]["n"], 0, f"b{i}: requests with a response time")
            equal(len(server.on(f"/a{i}")), 20, f"{finders[i]}: requests that came")
        equal((outcomes(summary, "c"), len(server.requests)), ({"ok": 20}, 120), "outcomes of the last step, requests that came")
        equal(summary["response"]["n"], 120, "requests with a response time")
        first = summary["verdict"]["findings"][0]
        equal((first["id"], summary["verdict"]["load"]), ("unsent-steps", "INVALID"), "the first finding and the verdict")
        contains(first["text"], "of step b0 after step a0 had failed", "the first finding")
        again = headway("report", ended.folder, "--recompute", "--json", tmp / "again.json", cwd=tmp)
        again.exits(98)
        again = json.loads((tmp / "again.json").read_text())
        equal(again["verdict"]["findings"][0]["text"], first["text"], "the first finding, computed again")
        equal(again["by_label"], summary["by_label"], "by_label, computed again")
        alone = [
            start_file(EVEN % "" + "journey:\n" + steps(0, finder), tmp=tmp, name=f"alone{i}", env=env)
            for i, (finder, _) in enumerate(finders)
        ]
        for running, (_, part) in zip(alone, finders):
            cause(running.ended().summary, "check", "a0: ", "{{v0}}", part)
        gone = run_file(EVEN % ", on-failure: end-session" + everything, tmp=tmp, name="gone", env=env)
        equal([outcomes(gone.summary, label) for label in ("a0", "b0", "c")], [{"check": 20}, {}, {}], "end-session: outcomes")
        equal(gone.summary["sessions"]["failed"], 20, "end-session: sessions that failed")
        given = "journey:\n" + steps(0, "json: /list/0/id, default: 7")
        given = run_file(EVEN % "" + given, tmp=tmp, name="given", env=env)
        equal([outcomes(given.summary, label) for label in ("a0", "b0")], [{"ok": 20}] * 2, "default: outcomes")
        equal(len(server.on("/b0/7")), 20, "default: requests with it")


EXPECTATIONS = [
    ("status: 201", "status", ["expected status 201", "got 200"]),
    ("status: [201, 204]", "status", ["201", "got 200"]),
    ('status: "300-399"', "status", ["300", "got 200"]),
    ("status: 4xx", "status", ["got 200"]),
    ("time: 1ns", "check", ["within 1ns"]),
    ("body: { contains: nowhere }", "check", ["contains", "nowhere", "fine"]),
    ("body: { not-contains: fine }", "check", ["does not contain", "fine"]),
    ("body: { matches: '^x' }", "check", ["matches", "^x"]),
    ("body: { json: { /state: open } }", "check", ["JSON"]),
    ("body: { min: 10B }", "check", ["at least 10 bytes", "got"]),
    ("body: { max: 2B }", "check", ["at most 2 bytes", "got"]),
    ("headers: { X-Here: no }", "check", ["X-Here", "no", "yes"]),
    ("headers: { X-Gone: { matches: '.' } }", "check", ["X-Gone", "none"]),
]


@check("failures: each kind of expectation that does not hold: its outcome, what was expected and what came")
def expectations(tmp):
    # All in one file: a label each, and one run.
    steps = "".join(f"  - get: /{i}\n    name: e{i}\n    expect: {{ {e} }}\n" for i, (e, _, _) in enumerate(EXPECTATIONS))
    steps += "  - get: /missing\n    name: plain\n  - get: /missing\n    name: wanted\n    expect: { status: 404 }\n"
    head = EVEN.replace("rate: 40/s", "rate: 10/s") % ""

    def answer(seen):
        return 404 if seen.path == "/missing" else 200, {"X-Here": "yes"}, b'fine"'

    with Recorder(answer) as server:
        ended = run_file(head + "journey:\n" + steps, tmp=tmp, env={"TARGET": server.url})
        summary = ended.summary
        conserved(summary)
        equal(len(server.requests), summary["measured"]["n"], "requests that came")
        wrong = [
            f"{expectation}: {outcomes(summary, f'e{i}')}"
            for i, (expectation, outcome, _) in enumerate(EXPECTATIONS)
            if outcomes(summary, f"e{i}") != {outcome: 5}
        ]
        expect(not wrong, "outcomes: " + "; ".join(wrong))
        equal((outcomes(summary, "plain"), outcomes(summary, "wanted")), ({"status": 5}, {"ok": 5}), "answers of 404")
        # The first reason of each outcome is told: one short run for each.
        alone = [
            start_file(
                head.replace("hold: 510ms", "hold: 210ms") + f"journey: [ {{ get: /x, name: one, expect: {{ {expectation} }} }} ]\n",
                tmp=tmp, name=f"one{i}", env={"TARGET": server.url},
            )
            for i, (expectation, _, _) in enumerate(EXPECTATIONS)
        ]
        for running, (_, outcome, parts) in zip(alone, EXPECTATIONS):
            cause(running.ended().summary, outcome, "one: ", *parts)


@check("failures: thresholds of a file: crossed 99, of a step, together with --threshold; one that aborts ends the run after its delay")
def thresholds(tmp):
    text = EVEN.replace("rate: 40/s", "rate: 60/s").replace("510ms", "1s") % "" + (
        "journey: [ { get: /a, name: a }, { get: /bad, name: bad } ]\n"
        'thresholds: ["med<10s", "response{step:bad}: min<1ns", "failed: rate<90%"]\n'
    )
    aborting = text.replace("hold: 1s", "hold: 30s").replace(
        '"failed: rate<90%"', '{ threshold: "failed: rate<10%", abort: true, delay: 1500ms }'
    )
    with Recorder(lambda seen: (500 if seen.path == "/bad" else 200, {}, b"")) as server:
        env = {"TARGET": server.url}
        whole = run_file(text, "--threshold", "p(90)<10s", "--junit", tmp / "j.xml", tmp=tmp, name="whole", env=env)
        began = time.monotonic()
        aborted = run_file(aborting, tmp=tmp, name="aborted", env=env)
        expect(time.monotonic() - began < 25, "it went on to its end")
    summary = whole.summary
    expected(summary, "passed", "crossed", "passed", "passed")
    equal([t["text"] for t in summary["thresholds"]], ["med<10s", "response{step:bad}: min<1ns", "failed: rate<90%", "p(90)<10s"], "texts")
    whole.exits(code(summary))
    expect({t["text"] for t in summary["thresholds"]} <= set(cases(tmp / "j.xml")), "test cases of the JUnit file")
    summary = aborted.summary
    conserved(summary)
    measured = summary["measured"]
    expect(measured["aborted"] and 1.5 <= measured["to_s"] < 15, f"measured: {measured}")
    expected(summary, "passed", "crossed", "crossed")
    aborted.exits(code(summary))
    contains(aborted.err, "failed: rate<10% crossed", "stderr")
    contains(finding(summary, "aborted")["text"], "failed: rate<10%", "finding")


@check("failures: encoded responses are decoded for checks, which hold values of the session; damaged and endless ones are told")
def encoded(tmp):
    made = ROOT / "crates/workload/src/content/decode/encoded"
    (tmp / "ids.csv").write_text("id\n" + "".join(f"{i}\n" for i in range(20)))
    endless = gzip.compress(bytes((64 << 20) + 1))

    def answer(seen):
        how, _, number = seen.path[1:].partition("/")
        body = json.dumps({"id": int(number or 0), "said": f"of {number}"}).encode()
        packed = {
            "gzip": lambda: gzip.compress(body),
            "deflate": lambda: zlib.compress(body),
            "br": lambda: (made / "text.br").read_bytes(),
            "zstd": lambda: (made / "text.zstd").read_bytes(),
            "gzip,br": lambda: (made / "text.gzip.br").read_bytes(),
            "damaged": lambda: b"\x1f\x8b" + body,
            "endless": lambda: endless,
        }[how]()
        return 200, {"Content-Encoding": how if how not in ("damaged", "endless") else "gzip"}, packed

    of_row = '{ json: { /id: "{{data.ids.id}}" }, contains: "of {{data.ids.id}}" }'
    steps = "".join(f'  - {{ get: "/{how}/{{{{data.ids.id}}}}", name: {how}, expect: {{ body: {of_row} }} }}\n' for how in ("gzip", "deflate"))
    steps += "".join(
        f'  - {{ get: "/{how}", name: "{how}", expect: {{ body: {{ json: {{ /items/39/id: 39 }}, min: 1231B, max: 1231B }} }} }}\n'
        for how in ("br", "zstd", "gzip,br")
    )
    steps += "  - { get: /gzip/77, name: other, expect: { body: " + of_row + " } }\n"
    steps += "  - { get: /damaged/1, name: damaged, expect: { body: { contains: x } } }\n"
    one = "target: ${TARGET}\nusers: { work: { requests: 1, users: 1 } }\njourney: [ { get: /endless/1, name: endless, expect: { body: { contains: x } } } ]\n"
    text = EVEN % "" + "data: { ids: { csv: ids.csv } }\njourney:\n" + steps
    with Recorder(answer) as server:
        ended = run_file(text.replace("40/s", "8/s"), tmp=tmp, env={"TARGET": server.url})
        given_up = run_file(one, tmp=tmp, name="endless", env={"TARGET": server.url}).summary
        expect(not any(seen.header("Accept-Encoding") for seen in server.requests), "Accept-Encoding was sent")
    summary = ended.summary
    conserved(summary)
    n = summary["by_label"]["gzip"]["outcomes"]["ok"]
    expect(n > 0, f"{summary['by_label']}")
    for how in ("gzip", "deflate", "br", "zstd", "gzip,br"):
        equal(outcomes(summary, how), {"ok": n}, f"outcomes of {how}")
    equal([outcomes(summary, how) for how in ("other", "damaged")], [{"check": n}] * 2, "outcomes of the others")
    equal(given_up["outcomes"], {"too-large": 1}, "outcomes of an endless body")
    reasons = " ".join(row["example"] for row in summary["failure_reasons"]["rows"])
    contains(reasons, 'other: expected a body that contains "of {{data.ids.id}}", here "of ', "reasons")
    contains(reasons, "damaged: expected a body in gzip, got one that cannot be decoded", "reasons")
    reasons = given_up["failure_reasons"]["rows"][0]["example"]
    contains(reasons, f"endless: expected a body of at most {64 << 20} bytes, got more out of {len(endless)} of gzip", "reasons")
    decoded = summary["decoded"]
    equal(decoded["n"], 6 * n, "bodies that were decoded")
    expect(decoded["decoded_bytes"] > decoded["encoded_bytes"] > 0, f"{decoded}")


def lacks(what, kinds, tmp):
    wrong = []
    for kind in kinds:
        row, of_it = judged(kind, what, 8, tmp)
        wrong += of_it
        expect("| INVALID | 98 |" in row, f"8 of some 20 connections: {row}")
    expect(not wrong, "\n".join(wrong))


@check("failures: out of descriptors in every kind of load: not sent, INVALID, and the finding names what is missing")
def without_descriptors(tmp):
    lacks("descriptors", KINDS, tmp)


@check("failures: out of local ports: not sent, INVALID, and the finding names what is missing")
def without_ports(tmp):
    lacks("ports", ("open", "fixed work"), tmp)


STEPS = """
target: ${TARGET}
seed: 3
users: { arrive: { process: poisson, rate: 150/s }, phases: [ { hold: 2s } ] }
journey: [ { get: /list, name: list }, { get: /add, name: add, expect: { status: 204 } } ]
"""


def due_within(rows, row):
    return [r for r in rows if row["from_s"] <= r["intended_ns"] / 1e9 < row["to_s"]]


@check("failures: over time by status code and step, and the parts of the time, as the log has them; the same recomputed and merged")
def over_time(tmp):
    with Serve("--service", "const(1ms)", "--servers", "4", "--error-rate", "0.1", tmp=tmp) as serve:
        url = {"TARGET": serve.url.rstrip("/")}
        ended = run_file(STEPS, "--details", tmp=tmp, env=url)
        shards = [run_file(STEPS, "--shard", f"{i}/2", tmp=tmp, name=f"shard-{i}", env=url) for i in range(2)]
    summary, rows = ended.summary, rows_of(ended.folder)
    series = summary["series"]
    expect(len(series) >= 20, f"a run of 2 s has {len(series)} rows")
    for row in series:
        done = [r for r in rows if row["from_s"] <= r["done_ns"] / 1e9 < row["to_s"] and r["outcome"] != "ok"]
        kinds = collections.Counter(f"{r['outcome']} {r['status']}" if r["status"] else r["outcome"] for r in done)
        equal(row.get("failure_kinds", {}), dict(kinds), f"failures from {row['from_s']} s on")
        whole = [r for r in due_within(rows, row) if r["outcome"] in ("ok", "status", "check")]
        split = row.get("time_split")
        equal(split["n"] if split else 0, len(whole), f"responses to requests due from {row['from_s']} s on")
        if whole:
            parts = sum(value for name, value in split.items() if name != "n")
            mean = sum(r["done_ns"] - r["intended_ns"] for r in whole) / len(whole) / 1e9
            expect(abs(parts / mean - 1) < 1e-6, f"parts of {row}: {parts} of a mean of {mean}")
    names = {name for row in series for name in row.get("failure_kinds", {})}
    expect({"status 500", "status 200"} <= names, f"kinds of failure: {names}")
    for step, name in enumerate(["list", "add"]):
        for row in summary["by_label"][name]["series"]:
            # The end of the run may leave a request unsent: it has no response time, and has not failed.
            due = [r for r in due_within(rows, row) if r["step"] == step and r["outcome"] != "unsent"]
            equal((row["n"], row["failed"]), (len(due), sum(r["outcome"] != "ok" for r in due)), f"{name} from {row['from_s']} s on")
    for part in ["Failures over the run", "status 500", "status 200"]:
        contains(ended.out, part, "the terminal report with --details")
    again = json.loads(headway("report", ended.folder, "--recompute", "--json", "-", cwd=tmp).out)
    merged = headway("merge", *(shard.folder for shard in shards), "--out", "all", "--json", "all.json", cwd=tmp)
    merged = json.loads((tmp / "all.json").read_text())
    equal((again["series"], again["by_label"]), (series, summary["by_label"]), "series, recomputed")
    both = [row for shard in shards for row in shard.summary["series"]]
    count = lambda rows: sum((collections.Counter(row.get("failure_kinds", {})) for row in rows), collections.Counter())
    equal(count(merged["series"]), count(both), "kinds of failure of two shards, merged")
    total = lambda rows: sum(row["n"] for row in rows)
    for name in ["list", "add"]:
        parts = sum(total(shard.summary["by_label"][name]["series"]) for shard in shards)
        equal(total(merged["by_label"][name]["series"]), parts, f"requests of {name} over time, merged")
