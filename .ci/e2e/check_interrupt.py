"""Ctrl-C: once stops sending and waits for answers, twice ends at once; the report is written both times."""

import json
import signal
import time

from harness import Serve, check, conserved, contains, equal, expect, finding, finding_ids, flat, headway, planned, start_run

LOAD = ["-R", "50", "-d", "60s", "--seed", "3"]


def stopped_once(tmp, number):
    with Serve("--service", "const(400ms)", "--servers", "200", tmp=tmp) as serve:
        running = start_run(serve.url, *LOAD, tmp=tmp)
        running.sleep_until(2)
        running.signal(number)
        ended = running.ended(30)
    ended.exits(130)
    contains(ended.err, "waiting for answers", "stderr")
    summary = ended.summary
    conserved(summary)
    n = summary["measured"]["n"]
    expect(summary["measured"]["interrupted"], "measured.interrupted")
    expect(0 < n < len(planned(*LOAD, cwd=tmp)) / 2, f"{n} requests: sending went on")
    # In flight when the signal came, 20 on average, and every one of them answered.
    equal(summary["outcomes"], {"ok": n}, f"outcomes ({ended})")
    equal(serve.report["ok"], n, "answers that the target counted")
    equal(serve.report["requests"], n, "requests that the target counted")
    expect(finding(summary, "interrupted"), f"findings: {finding_ids(summary)}")
    contains(flat(ended.out), "cut short", "the report")
    files = sorted(p.name for p in ended.folder.iterdir())
    equal(files, ["plan.json", "records.arrow", "report.html", "summary.json"], "files of the run folder")
    # The log was closed in order, and its plan goes on: read again, the run ends where it was stopped.
    again = tmp / "again.json"
    headway("report", ended.folder, "--recompute", "--json", again, cwd=tmp)
    found = json.loads(again.read_text())
    equal(found["measured"], summary["measured"], "measured, recomputed")
    equal(found["rate"]["started"], summary["rate"]["started"], "requests per second, recomputed")


@check("interrupt: Ctrl-C once: exit 130, sending stops, what is in flight is answered, the report is whole")
def once(tmp):
    stopped_once(tmp, signal.SIGINT)


@check("interrupt: SIGTERM does what Ctrl-C does")
def terminated(tmp):
    stopped_once(tmp, signal.SIGTERM)


@check("interrupt: Ctrl-C twice ends at once, the rest counted as cancelled")
def twice(tmp):
    with Serve("--service", "const(60s)", "--servers", "1000", tmp=tmp) as serve:
        running = start_run(serve.url, *LOAD, "--timeout", "60s", tmp=tmp)
        running.sleep_until(2)
        running.signal(signal.SIGINT)
        time.sleep(0.3)
        expect(running.process.poll() is None, "it did not wait for answers")
        running.signal(signal.SIGINT)
        # Not a timing: anything that waits for the answers would take a minute.
        ended = running.ended(20)
    ended.exits(130)
    contains(ended.err, "stopping at once", "stderr")
    summary = ended.summary
    conserved(summary)
    equal(summary["outcomes"], {"cancelled": summary["measured"]["n"]}, "outcomes")
    equal(serve.report["requests"], summary["measured"]["n"], "requests that the target counted")
    contains(ended.out, "cancelled", "the report")


@check("interrupt: before the plan's zero (--start-at +60s) it ends at once, with nothing sent")
def before_zero(tmp):
    with Serve("--service", "const(1ms)", tmp=tmp) as serve:
        running = start_run(serve.url, "-R", "50", "-d", "5s", "--start-at", "+60s", tmp=tmp)
        expect(running.zero > time.time() + 30, "the plan's zero is not a minute away")
        time.sleep(0.5)
        running.signal(signal.SIGINT)
        ended = running.ended(20)
    ended.exits(130)
    equal(serve.report["requests"], 0, "requests that the target counted")
