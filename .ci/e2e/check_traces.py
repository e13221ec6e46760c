"""Traces: a header of W3C Trace Context with every request, and its trace in the log."""

import subprocess
import sys

from check_records import READ_LOG
from harness import all_ended, check, contains, equal, expect, flat, run
from logs import read_log
from recorder import Recorder

LOAD = ["-R", "40", "-d", "500ms", "--arrivals", "constant"]


def named(server):
    """Trace and parent of each request that was received."""
    parts = [seen.header("traceparent").split("-") for seen in server.requests]
    equal({(part[0], len(part[1]), len(part[2]), part[3]) for part in parts}, {("00", 32, 16, "01")}, "form of the headers")
    return [(part[1], part[2]) for part in parts]


@check("traces: --traceparent names a trace for each session, which the log has, by the seed; none without it")
def traces(tmp):
    with Recorder() as server:
        n = all_ended(run(server.url, *LOAD, tmp=tmp, name="without"), "ok")["measured"]["n"]
        expect(all(seen.header("traceparent") is None for seen in server.requests), "a traceparent that nobody asked for")
        expect("trace_id" not in read_log(tmp / "without" / "records.arrow").column_names, "a column that nobody asked for")
    seen = []
    for name in ("once", "again"):
        with Recorder() as server:
            ended = run(server.url, *LOAD, "--traceparent", "--seed", "5", tmp=tmp, name=name)
            equal(all_ended(ended, "ok")["plan"]["traceparent"], True, "plan.traceparent")
            pairs = named(server)
            equal((len({trace for trace, _ in pairs}), len({parent for _, parent in pairs}), len(pairs)), (n, n, n), "traces and parents")
            log = read_log(ended.folder / "records.arrow")
            equal(sorted(log["trace_id"].to_pylist()), sorted(trace for trace, _ in pairs), "the traces of the log")
            subprocess.run([sys.executable, READ_LOG, ended.folder / "records.arrow", str(log.num_rows)], check=True, stdout=subprocess.DEVNULL)
            seen.append(sorted(pairs))
    equal(seen[0], seen[1], "traces of two runs with one seed")
    with Recorder() as server:
        (tmp / "s.yaml").write_text(
            f"target: {server.url}\ntraceparent: true\nusers: {{ arrive: {{ process: constant, rate: 20/s }}, phases: [ {{ hold: 510ms }} ] }}\n"
            "journey: [ { get: /a, repeat: 2 }, { get: /b } ]\n"
        )
        ended = run(tmp / "s.yaml", tmp=tmp, name="file")
        summary = all_ended(ended, "ok")
        pairs, log = named(server), read_log(ended.folder / "records.arrow")
        equal((len({trace for trace, _ in pairs}), len(set(pairs))), (summary["sessions"]["n"], 3 * summary["sessions"]["n"]), "a trace for each session")
        rows = {(kind, trace) for kind, trace in zip(log["kind"].to_pylist(), log["trace_id"].to_pylist())}
        equal(rows, {(kind, trace) for kind in ("request", "session") for trace, _ in pairs}, "rows of requests and sessions")
    own = run("http://127.0.0.1:9/", *LOAD, "--traceparent", "-H", "Traceparent: 00-x", tmp=tmp, name="own").exits(2)
    contains(flat(own.err), "has a header traceparent of its own", "stderr")
