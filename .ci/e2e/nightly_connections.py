"""Thousands of connections kept alive by shards in processes of their own: all are open, none costs more than 4 KiB, one run comes out."""

import os
import sys

from harness import HEADWAY, ROOT, VERDICTS, check, equal, expect, note

sys.path.insert(0, os.path.join(ROOT, "bench"))
from connections import held  # noqa: E402

CONNECTIONS, PROCESSES = 12_000, 2


@check("connections: 12,000 of two shards stay open at 2,000/s, take at most 4 KiB each, and merge into one run", alone=True)
def connections(tmp):
    found = held(HEADWAY, CONNECTIONS, PROCESSES, rate=2_000, seconds=10)
    summary = found["summary"]
    note(f"{found['bytes']:.0f} bytes a connection; {summary['verdict']['load']}, lag p99 {summary['lag']['p99']} s")
    equal(found["open"], (CONNECTIONS, CONNECTIONS), "sockets open, least and most")
    equal(summary["generator"]["connections_opened"], CONNECTIONS, "connections opened")
    equal(list(summary["outcomes"]), ["ok"], "outcomes")
    expect(found["bytes"] <= 4_096, f"{found['bytes']:.0f} bytes of user memory a connection")
    expect(summary["verdict"]["load"] in VERDICTS, f"verdict: {summary['verdict']['load']}")
    equal(found["merged"], 98 if summary["verdict"]["load"] == "INVALID" else 0, "exit code of merge")
