"""What a run keeps when it is killed, when the disk is full and when files may not grow: often, and with numbers.

Rows lost by kill -9 are counted by when they were done: what ended more than a second before the kill is in the log.
"""

import os
import random
import resource
import signal
import time

from harness import Serve, Skipped, check, contains, equal, expect, headway, note, run, start_run
from logs import on_stderr, read_log, small_disk, told

KILLS = 30


@check("nightly lost: 30 runs killed by kill -9 keep all that ended a second before")
def kills(tmp):
    rng = random.Random(20261122)
    losses = []
    with Serve("--service", "const(1ms)", "--servers", "8", tmp=tmp) as serve:
        for i in range(KILLS):
            rate = rng.choice([20, 200, 1000])
            running = start_run(serve.url, "-R", str(rate), "-d", "60s", "--arrivals", "constant", tmp=tmp, name=f"run{i}")
            running.sleep_until(1.3 + 1.7 * rng.random())
            running.signal(signal.SIGKILL)
            killed = time.time() - running.zero
            running.process.wait(10)
            log = read_log(running.folder / "records.arrow")
            losses.append((killed - max(log["done_ns"].to_pylist(), default=0) / 1e9, rate))
            headway("report", running.folder, "--json", "-", cwd=tmp)
    losses.sort()
    note(f"seconds before the kill whose rows are lost: median {losses[KILLS // 2][0]:.2f}, most {losses[-1][0]:.2f} (at {losses[-1][1]}/s)")
    expect(losses[-1][0] <= 1.0, f"more than a second is lost: {losses[-5:]}")


@check("nightly lost: full disks of seven sizes: stderr, the report and the log agree, nothing is half written")
def full_disks(tmp):
    if os.geteuid() != 0:
        raise Skipped("only root can mount a small disk")
    with Serve("--service", "const(100us)", "--servers", "4", tmp=tmp) as serve:
        for kib in [64, 128, 256, 384, 512, 768, 1024]:
            folder = tmp / f"run{kib}"
            with small_disk(folder, f"{kib}k"):
                ended = run(serve.url, "-R", "2000", "-d", "5s", tmp=tmp, name=folder.name).exits(1)
                contains(ended.out, "LOAD     ", f"{kib} KiB: the report")
                lost, kept = told(ended)
                equal(on_stderr(ended), lost, f"{kib} KiB: rows lost on stderr, against the report")
                equal(read_log(folder / "records.arrow").num_rows, kept, f"{kib} KiB: rows in the log, against rows kept")
                left = [p.name for p in folder.iterdir()]
                expect(not [name for name in left if "unfinished" in name], f"{kib} KiB: left {left}")


@check("nightly lost: --json and --junit on a full disk: the old report stays, the new one is shown, exit 1")
def full_report(tmp):
    if os.geteuid() != 0:
        raise Skipped("only root can mount a small disk")
    load = ["-R", "100", "-d", "300ms", "--seed", "10"]
    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve, small_disk(tmp / "disk", "128k"):
        run(serve.url, *load, "--json", tmp / "disk/a.json", tmp=tmp, name="first")
        old = (tmp / "disk/a.json").read_bytes()
        filler = tmp / "disk/filler"
        filler.write_bytes(b"x" * (os.statvfs(tmp / "disk").f_bavail * 4096))
        ended = run(serve.url, *load, "--json", tmp / "disk/a.json", tmp=tmp, name="second").exits(1)
        contains(ended.out, "LOAD     ", "the report")
        contains(ended.err, "No space left", "stderr")
        equal((tmp / "disk/a.json").read_bytes(), old, "the report that was there")
        equal(sorted(p.name for p in (tmp / "disk").iterdir()), ["a.json", "filler"], "files on the disk")


@check("nightly lost: limits of the size of files, 8 KiB to 2 MiB: no signal ends the run, what fits is kept")
def limits(tmp):
    with Serve("--service", "const(100us)", "--servers", "4", tmp=tmp) as serve:
        for kib in [8, 32, 64, 128, 256, 512, 1024, 2048]:
            def limit():
                resource.setrlimit(resource.RLIMIT_FSIZE, (kib << 10, kib << 10))

            ended = run(serve.url, "-R", "2000", "-d", "4s", tmp=tmp, name=f"run{kib}", before=limit)
            # A megabyte holds all that such a run writes.
            ended.exits(*([1] if kib < 1024 or "File too large" in ended.err else [0, 98]))
            # Below some 10 KiB the head of the log does not fit, and nothing is begun.
            if not ended.out:
                contains(ended.err, "File too large", f"{kib} KiB: stderr")
                continue
            contains(ended.out, "LOAD     ", f"{kib} KiB: the report")
            log = ended.folder / "records.arrow"
            if "rows were lost" in ended.err:
                lost, kept = told(ended)
                equal(on_stderr(ended), lost, f"{kib} KiB: rows lost on stderr, against the report")
                equal(read_log(log).num_rows, kept, f"{kib} KiB: rows in the log, against rows kept")
            expect(log.stat().st_size <= kib << 10, f"{kib} KiB: the log has {log.stat().st_size} bytes")


@check("nightly lost: an export to Parquet that is killed leaves no file of that name, and the run as it was")
def export(tmp):
    with Serve("--service", "const(100us)", "--servers", "4", tmp=tmp) as serve:
        ended = run(serve.url, "-R", "5000", "-d", "8s", tmp=tmp)
    size = (ended.folder / "records.arrow").stat().st_size
    whole = 0
    for i in range(10):
        out = tmp / f"out{i}.parquet"
        exporting = start_export(ended.folder, out, tmp)
        time.sleep(0.02 * i)
        exporting.signal(signal.SIGKILL)
        exporting.process.wait(10)
        if out.exists():
            whole += 1
            import pyarrow.parquet

            equal(pyarrow.parquet.read_table(out).num_rows, read_log(ended.folder / "records.arrow").num_rows, "rows of an export")
    equal((ended.folder / "records.arrow").stat().st_size, size, "bytes of the log")
    note(f"{whole} of 10 exports were whole before the kill, the others left no file of that name")


def start_export(folder, out, tmp):
    from harness import Headway

    return Headway(["report", folder, "--parquet", out], tmp)
