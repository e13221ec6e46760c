"""What a run leaves on disk: readable by others, complete or saying what is missing, never overwritten."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys

import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet

from harness import (
    ROOT, Serve, Skipped, all_ended, check, code_of, conserved, contains, equal, expect, finding, finding_ids, flat,
    headway, run, start_run, tool,
)
from logs import read_log, small_disk, told

READ_LOG = ROOT / ".ci/read_log.py"


def prints(folder):
    """What every file of a folder holds."""
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


@check("records: pyarrow reads the log, with as many rows as the summary counts and every promise kept")
def log(tmp):
    with Serve("--service", "exp(1ms)", "--servers", "2", "--error-rate", "0.1", tmp=tmp) as serve:
        ended = run(serve.url, "-R", "1000", "-d", "3s", "--warmup", "500ms", tmp=tmp)
    summary = ended.summary
    conserved(summary)
    measured = summary["measured"]
    rows = measured["n"] + measured["warmup"] + measured["after"]
    tool(sys.executable, READ_LOG, ended.folder / "records.arrow", rows)
    table = read_log(ended.folder / "records.arrow")
    expect(pyarrow.feather.read_table(ended.folder / "records.arrow").equals(table), "feather reads something else")
    dataset = pyarrow.dataset.dataset(ended.folder / "records.arrow", format="ipc")
    equal(dataset.count_rows(filter=pyarrow.dataset.field("outcome") != "ok"), rows - table["outcome"].to_pylist().count("ok"), "failures")
    counts = {}
    for outcome, intended in zip(table["outcome"].to_pylist(), table["intended_ns"].to_pylist()):
        if intended >= measured["from_s"] * 1e9:
            counts[outcome] = counts.get(outcome, 0) + 1
    equal(counts, summary["outcomes"], "outcomes in the log, against the summary")
    equal(sorted(table["k"].to_pylist()), list(range(rows)), "arrival numbers in the log")
    metadata = {k.decode(): v.decode() for k, v in table.schema.metadata.items()}
    expect(str(summary["seed"]) in metadata.values(), f"the log does not name the seed: {metadata}")


@check("records: kill -9 leaves a log that pyarrow and `headway report` read to its last batch, and what is missing is said")
def killed(tmp):
    with Serve("--service", "const(1ms)", "--servers", "8", tmp=tmp) as serve:
        running = start_run(serve.url, "-R", "500", "-d", "60s", tmp=tmp)
        running.sleep_until(4)
        running.signal(signal.SIGKILL)
        ended = running.ended()
    equal(ended.code, -signal.SIGKILL, "exit")
    expect(not (ended.folder / "summary.json").exists(), "a killed run wrote a summary")
    rows = read_log(ended.folder / "records.arrow").num_rows
    received = serve.report["requests"]
    # It is handed over once a second: of four seconds most must be there, even where a busy machine delayed it.
    expect(received / 4 < rows <= received, f"{rows} rows of {received} requests that the target received")
    tool(sys.executable, READ_LOG, ended.folder / "records.arrow", rows, "--truncated")
    before = prints(ended.folder)
    report = headway("report", ended.folder, cwd=tmp)
    document = json.loads(headway("report", ended.folder, "--json", "-", cwd=tmp).out)
    equal(document["measured"]["n"], rows, "measured.n of the report, against pyarrow's rows")
    conserved(document)
    expect(finding(document, "log-cut-short"), f"findings: {finding_ids(document)}")
    contains(flat(report.out), "no end mark", "the report")
    report.exits(code_of(document))
    equal(document["measured"]["interrupted"], True, "measured.interrupted")
    parquet = tmp / "killed.parquet"
    headway("report", ended.folder, "--parquet", parquet, cwd=tmp).exits(code_of(document))
    equal(pyarrow.parquet.read_table(parquet).num_rows, rows, "rows of the Parquet export")
    equal(prints(ended.folder), before, "the run folder after it was reported")


@check("records: report renders the same text again; --recompute gives the same numbers; --parquet and --html are whole")
def again(tmp):
    with Serve("--service", "exp(1ms)", "--servers", "2", tmp=tmp) as serve:
        ended = run(serve.url, "-R", "500", "-d", "4s", "--warmup", "1s", "--timeout", "5s", tmp=tmp)
    summary = all_ended(ended, "ok")
    code = code_of(summary)
    before = prints(ended.folder)
    equal(headway("report", ended.folder, cwd=tmp).exits(code).out, ended.out, "the report, rendered again")
    equal(headway("report", ended.folder / "records.arrow", cwd=tmp).exits(code).code, code, "report of the log's path")
    stored = json.loads(headway("report", ended.folder, "--json", "-", cwd=tmp).exits(code).out)
    equal(stored, summary, "--json of the report, against summary.json")

    new = json.loads(headway("report", ended.folder, "--recompute", "--json", "-", cwd=tmp).out)
    wrong = []
    for path in ["outcomes", "measured", "seed", "command", "started_at", "plan", "name", "source", "rate", "lag", "blocked",
                 "response", "response_ok", "service", "first_byte", "time_split", "bytes", "by_label", "arrivals", "series"]:
        wrong += differences(path, summary[path], new[path])
    expect(not wrong, "recomputed otherwise:\n" + "\n".join(wrong[:20]))
    equal(new["verdict"]["load"], summary["verdict"]["load"], "verdict.load, recomputed")

    parquet, html, document = tmp / "out.parquet", tmp / "out.html", tmp / "out.json"
    headway("report", ended.folder, "--parquet", parquet, "--html", html, "--json", document, cwd=tmp).exits(code)
    table, exported = read_log(ended.folder / "records.arrow"), pyarrow.parquet.read_table(parquet)
    equal(exported.num_rows, table.num_rows, "rows of the Parquet export")
    key = [("k", "ascending")]
    table, exported = table.sort_by(key), exported.sort_by(key)
    for name in table.column_names:
        equal(exported[name].to_pylist() == table[name].to_pylist(), True, f"column {name} of the export is the log's")
    equal(html.read_bytes() == (ended.folder / "report.html").read_bytes(), True, "--html is the run's report.html")
    equal(json.loads(document.read_text()), summary, "--json FILE")
    for flag, path, codes in [("--parquet", parquet, [2]), ("--html", html, [code]), ("--json", document, [code])]:
        held, number = path.read_bytes(), path.stat().st_ino
        headway("report", ended.folder, flag, path, cwd=tmp).exits(*codes)
        expect(path.read_bytes() == held, f"{flag} has changed its file")
        equal(path.stat().st_ino == number, flag == "--parquet", f"{flag}: the file was kept, not replaced")
    equal(prints(ended.folder), before, "the run folder after it was reported")


def differences(path, old, new):
    """Where two documents differ: counts and order statistics exactly, sums to the ninth digit."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [d for k in sorted(set(old) | set(new)) for d in differences(f"{path}.{k}", old.get(k), new.get(k))]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [d for i, (a, b) in enumerate(zip(old, new)) for d in differences(f"{path}[{i}]", a, b)]
    if isinstance(old, float) and isinstance(new, float) and abs(old - new) <= 1e-9 * max(abs(old), abs(new)):
        return []
    return [] if old == new else [f"{path}: was {old!r}, is {new!r}"]


@check("records: nothing is overwritten: --out and --json that exist exit 2 and stay as they were; an empty folder is taken")
def never_overwritten(tmp):
    # With this seed the last arrival comes 54 ms before the end: it is sent also by a machine that is held up.
    load = ["-R", "50", "-d", "500ms", "--seed", "10"]
    with Serve("--service", "const(1ms)", tmp=tmp) as serve:
        (tmp / "run").mkdir()
        first = run(serve.url, *load, tmp=tmp)
        all_ended(first, "ok")
        before = prints(first.folder)
        second = run(serve.url, *load, tmp=tmp).exits(2)
        contains(second.err, "never overwritten", "message")
        equal((second.out, prints(first.folder)), ("", before), "stdout, and the first run's folder")
        document = tmp / "mine.json"
        document.write_text("mine")
        third = run(serve.url, *load, "--json", document, tmp=tmp, name="third").exits(2)
        contains(third.err, "mine.json", "message")
        equal((document.read_text(), third.out, third.folder.exists()), ("mine", "", False), "file, stdout, a folder")
        fourth = run(serve.url, *load, "--json", tmp / "new.json", tmp=tmp, name="fourth")
        equal(json.loads((tmp / "new.json").read_text()), fourth.summary, "--json FILE, against summary.json")
        bare = run(serve.url, *load, "--no-log", tmp=tmp, name="bare")
        all_ended(bare, "ok")
        expect(not (bare.folder / "records.arrow").exists(), "--no-log has left a log")


@check("records: a full disk: the report still comes, says what was lost, and exits 1")
def full_disk(tmp):
    if os.geteuid() != 0:
        raise Skipped("only root can mount a small disk")
    with Serve("--service", "const(100us)", "--servers", "4", tmp=tmp) as serve, small_disk(tmp / "run", "1m"):
        ended = run(serve.url, "-R", "2000", "-d", "8s", "--details", tmp=tmp).exits(1)
        contains(ended.out, "LOAD     ", f"the report on stdout ({ended})")
        contains(flat(ended.out), "lost", "the report")
        contains(flat(ended.out), "No space left", "the report")
        rows = read_log(ended.folder / "records.arrow").num_rows
        received = serve_requests(ended.out)
        expect(0 < rows < received, f"{rows} rows of {received}")
        equal(told(ended), (received - rows, rows), "rows lost and kept by the report")


def serve_requests(text):
    """The `sent` column of the report's row of arrivals."""
    line = next(line for line in text.splitlines() if line.strip().startswith("arrivals"))
    return int(line.split()[2].replace(",", ""))
