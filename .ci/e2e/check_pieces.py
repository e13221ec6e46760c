"""Responses that come in pieces: events in the log, the summary and the report, of a run, its shards, and one that is killed."""

import json
import signal
import socket
import time

import pyarrow
import pyarrow.ipc

from badserver import BadServer, request_of
from check_scale import instant
from harness import all_ended, check, contains, equal, expect, flat, headway, run, start_run, wait_for

# Before each of five pieces (s).
GAPS = [0.015, 0.010, 0.030, 0.005, 0.020]
LOAD = ["-R", "20", "-d", "2s", "--arrivals", "constant", "--stream", "chunks"]
HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
PIECE = b"e\r\npl4nted-marker\r\n"


def in_five(connection):
    # Each write is a segment of its own.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while request_of(connection):
        connection.sendall(HEAD)
        for gap in GAPS:
            time.sleep(gap)
            connection.sendall(PIECE)
        connection.sendall(b"0\r\n\r\n")


def stands_still(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if request_of(connection):
        connection.sendall(HEAD + PIECE)
        time.sleep(0.02)
        connection.sendall(PIECE)
        connection.recv(1)


def rows(path):
    """The rows of a table; of one that was cut short, those of its whole batches."""
    read, batches = path.read_bytes()[8:], []
    stream = pyarrow.ipc.open_stream(pyarrow.py_buffer(read))
    try:
        batches.extend(stream)
    except (pyarrow.ArrowInvalid, OSError):
        pass
    return pyarrow.Table.from_batches(batches, stream.schema).to_pylist()


def of_log(folder):
    """n, requests, first events and gaps (s) by the events of that folder alone."""
    events = rows(folder / "events.arrow")
    pieces = [e for e in events if e["kind"] == "chunk"]
    first = [(e["at_ns"] - e["intended_ns"]) / 1e9 for e in pieces if e["before_ns"] is None]
    gaps = [(e["at_ns"] - e["before_ns"]) / 1e9 for e in pieces if e["before_ns"] is not None]
    return len(pieces), len(events) - len(pieces), first, gaps


def holds(summary, folder):
    """The block of the summary is what the table holds."""
    n, requests, first, gaps = of_log(folder)
    events = summary["events"]
    equal((events["n"], events["requests"]), (n, requests), "events, requests")
    for name, values in [("first", first), ("gap", gaps)]:
        found = events[name]
        equal(found["n"], len(values), f"n of {name}")
        expect(abs(found["mean"] / (sum(values) / len(values)) - 1) < 1e-3, f"mean of {name}: {found['mean']}")
        expect(abs(found["max"] / max(values) - 1) < 1e-3, f"max of {name}: {found['max']}")


def recomputed(tmp, folder):
    path = tmp / f"again-{folder.name}.json"
    again = headway("report", folder, "--recompute", "--json", path, cwd=tmp)
    expect(path.exists(), again.err)
    return json.loads(path.read_text())


@check("pieces: each piece of a body is an event; first event and gap are in the summary, the report and the log, and no content is")
def known_gaps(tmp):
    with BadServer(in_five) as server:
        ended = run(server.url, *LOAD, "--details", tmp=tmp)
    summary = all_ended(ended, "ok")
    holds(summary, ended.folder)
    events, requests = summary["events"], summary["measured"]["n"]
    equal((events["n"], events["requests"], list(events["by_label"])), (5 * requests, requests, ["request"]), "events")
    # A sleep is never cut short; by how much it is late, the machine says.
    expect(events["first"]["min"] >= GAPS[0] - 0.001, f"first event: {events['first']}")
    expect(events["gap"]["mean"] >= sum(GAPS[1:]) / 4 - 0.001, f"gap: {events['gap']}")
    interval = events["gap"]["ci95"]["mean"]
    expect(interval[0] <= events["gap"]["mean"] <= interval[1], f"interval of the mean gap: {interval}")
    contains(flat(ended.out), "Events of responses", "--details")
    equal(recomputed(tmp, ended.folder)["events"], events, "events recomputed from the log")
    for file in ended.folder.iterdir():
        expect(b"pl4nted-marker" not in file.read_bytes(), f"{file.name} holds content")

    with BadServer(in_five) as server:
        without = run(server.url, *LOAD[:-2], tmp=tmp, name="without")
    summary = all_ended(without, "ok")
    expect("events" not in summary, "a summary without events has a block of them")
    expect(not (without.folder / "events.arrow").exists(), "a log without events has a table of them")


@check("pieces: thresholds judge the first event and the gaps, by step too, and OpenMetrics has them; a search wants a threshold on failures beside them")
def judged(tmp):
    metrics = tmp / "metrics.txt"
    demands = [("first_event: p(50)<1s", "passed"), ("event_gap{step:request}: avg<8ms", "crossed")]
    flags = [word for text, _ in demands for word in ("--threshold", text)]
    with BadServer(in_five) as server:
        ended = run(server.url, *LOAD, *flags, "--output", f"openmetrics={metrics}", tmp=tmp).exits(99)
        refused = headway("search", server.url, "--stream", "chunks", "--threshold", "first_event: p(50)<1s", cwd=tmp).exits(2)
    contains(flat(refused.err), "failed: rate<1%", "the search's refusal")
    found = ended.summary["thresholds"]
    equal([row["outcome"] for row in found], [outcome for _, outcome in demands], "outcomes")
    equal(found[0]["value"], ended.summary["events"]["first"]["p50"], "the first event")
    for family in ("headway_first_event_time", "headway_event_gap_time"):
        contains(metrics.read_text(), f"{family}_quantile_seconds", "OpenMetrics")


@check("pieces: shards that are merged have the events of all, and the numbers of what stands in the merged table")
def shards(tmp):
    with BadServer(in_five) as server:
        load = [*LOAD, "--seed", "3", "--start-at", instant(time.time() + 2)]
        running = [start_run(server.url, *load, "--shard", f"{i}/2", tmp=tmp, name="all") for i in range(2)]
        parts = [part.ended() for part in running]
    out = tmp / "merged"
    merged = headway("merge", *[part.folder for part in parts], "--out", out, cwd=tmp)
    expect((out / "summary.json").exists(), merged.err)
    summary = json.loads((out / "summary.json").read_text())
    holds(summary, out)
    of_parts = [of_log(part.folder) for part in parts]
    equal(summary["events"]["requests"], summary["measured"]["n"], "requests with an end")
    equal((summary["events"]["n"], summary["events"]["requests"]), tuple(sum(part[i] for part in of_parts) for i in (0, 1)), "events of both")
    equal(recomputed(tmp, out)["events"], summary["events"], "events recomputed from the merged log")


@check("pieces: a run that is killed leaves its events to the last batch")
def killed(tmp):
    with BadServer(in_five) as server:
        running = start_run(server.url, "-R", "40", "-d", "30s", "--stream", "chunks", tmp=tmp)
        table = running.folder / "events.arrow"
        wait_for(lambda: table.exists() and len(rows(table)) > 200, "events in the log")
        running.signal(signal.SIGKILL)
        ended = running.ended()
    found = rows(ended.folder / "events.arrow")
    records = {row["k"] for row in rows(ended.folder / "records.arrow")}
    whole = {row["k"] for row in found if row["kind"] == "end"}
    expect(len(found) > 200 and records <= whole, f"records without their events: {sorted(records - whole)}")
    summary = recomputed(tmp, ended.folder)
    expect(summary["events"]["n"] == sum(row["kind"] == "chunk" for row in found), "events of a killed run")


@check("pieces: a response that stands still fails as idle-timeout, by what it had, and the report says which limit it met")
def idle(tmp):
    with BadServer(stands_still) as server:
        ended = run(server.url, *LOAD, "--idle-timeout", "150ms", tmp=tmp)
    summary = ended.summary
    n = summary["measured"]["n"]
    equal(summary["outcomes"], {"idle-timeout": n}, "outcomes")
    events = summary["events"]
    equal((events["n"], events["first"]["n"], events["first"]["censored"], events["gap"]["n"]), (2 * n, n, 0, n), "events of what came")
    expect(summary["service"]["min"] >= 0.169, f"given up 150 ms after the last piece: {summary['service']}")
    reason = summary["failure_reasons"]["rows"][0]
    equal((reason["outcome"], reason["limit"]), ("idle-timeout", {"no": "idle", "within_s": 0.15}), "the reason")
    contains(flat(ended.out), "nothing more of it came within 150ms", "the first screen")


@check("pieces: kinds of streams that are none, and steps that cannot have one")
def mistakes(tmp):
    for arguments, said in [
        (["http://127.0.0.1:9/", "--stream", "lumps"], "chunks"),
        (["udp://127.0.0.1:9", "--stream", "chunks"], "--stream"),
        (["http://127.0.0.1:9/", "--idle-timeout", "0s"], "idle-timeout"),
    ]:
        refused = headway("run", *arguments, cwd=tmp)
        equal(refused.code, 2, f"exit of {arguments}")
        contains(flat(refused.err), said, f"the message for {arguments}")
