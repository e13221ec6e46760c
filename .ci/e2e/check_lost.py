"""Nothing is lost in silence: logs that others touch, outputs that cannot be written, limits on the size of files."""

import json
import os
import resource
import shutil
import signal

from harness import (HEADWAY, Headway, Serve, Skipped, check, code_of, conserved, contains, equal, expect, finding,
                     finding_ids, headway, run, spawn, start_run, stop)
from logs import on_stderr, read_log, small_disk, told

LOAD = ["-R", "300", "-d", "2s", "--seed", "10"]


def disturbed(tmp, name, serve, act, said):
    running = start_run(serve.url, *LOAD, tmp=tmp, name=name)
    running.sleep_until(1.2)
    act(running.folder / "records.arrow")
    ended = running.ended(30).exits(1)
    contains(ended.err, said, f"{name}: stderr")
    contains(ended.out, "LOAD     ", f"{name}: the report")
    lost, kept = told(ended)
    equal(on_stderr(ended), lost, f"{name}: rows lost on stderr, against the report")
    sent = ended.summary["measured"]["n"]
    equal(lost + kept, sent, f"{name}: rows lost and kept, against arrivals sent")
    return ended, kept


@check("lost: a log that is removed, replaced or cut during the run is said, with what is kept; exit 1")
def touched(tmp):
    def replaced(path):
        (path.parent / "other").write_text("other")
        os.replace(path.parent / "other", path)

    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve:
        ended, kept = disturbed(tmp, "removed", serve, os.remove, "removed it during the run")
        expect(kept == 0 and finding(ended.summary, "log-lost"), f"{kept} rows kept; {finding_ids(ended.summary)}")
        _, kept = disturbed(tmp, "replaced", serve, replaced, "removed it during the run")
        equal(kept, 0, "rows kept of a log that was replaced")
        _, kept = disturbed(tmp, "emptied", serve, lambda path: os.truncate(path, 0), "cut it from")
        equal(kept, 0, "rows kept of an emptied log")
        ended, kept = disturbed(tmp, "cut", serve, lambda path: os.truncate(path, path.stat().st_size - 100), "cut it from")
        equal(read_log(ended.folder / "records.arrow").num_rows, kept, "rows that can be read, against rows kept")
        expect(kept > 0, "no row is kept of a log that lost a hundred bytes")
        again = headway("report", ended.folder, "--recompute", "--json", "-", cwd=tmp)
        equal(json.loads(again.out)["measured"]["n"], kept, "measured.n of what is left")


@check("lost: a run folder that is renamed during the run is found again, and a plan.json that is removed is missed; exit 1")
def renamed(tmp):
    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve:
        running = start_run(serve.url, *LOAD, tmp=tmp)
        running.sleep_until(1)
        running.folder.rename(tmp / "elsewhere")
        ended = running.ended(30).exits(1)
        contains(ended.err, "moved or removed it during the run", "stderr")
        contains(ended.err, f"report {tmp}/elsewhere", "stderr")
        again = headway("report", tmp / "elsewhere", "--json", "-", cwd=tmp)
        equal(json.loads(again.out)["measured"]["n"], read_log(tmp / "elsewhere/records.arrow").num_rows, "measured.n of what was moved")
        running = start_run(serve.url, *LOAD, tmp=tmp, name="unplanned")
        running.sleep_until(1)
        (running.folder / "plan.json").unlink()
        ended = running.ended(30).exits(1)
        contains(ended.err, "plan.json: another program moved or removed it during the run", "stderr")
        expect(ended.summary["measured"]["n"] > 0, "the summary is written all the same")


@check("lost: a run folder that vanishes during the run: the report comes, says so, and exits 1")
def folder_gone(tmp):
    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve:
        running = start_run(serve.url, *LOAD, tmp=tmp)
        running.sleep_until(1)
        shutil.rmtree(running.folder)
        ended = running.ended(30).exits(1)
    contains(ended.out, "LOAD     ", "the report")
    contains(ended.err, "summary.json", "stderr")
    expect("report.html" not in ended.out and f"report {tmp}" not in ended.out, "it points to a folder that is gone")


@check("lost: --json, --junit and --html that fail at the end leave the report, no half file, and exit 1; a report is replaced whole")
def outputs(tmp):
    load = ["-R", "100", "-d", "300ms", "--seed", "10"]
    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve:
        first = run(serve.url, *load, "--json", tmp / "a.json", "--junit", tmp / "a.xml", tmp=tmp, name="first")
        old = (tmp / "a.json").read_text()
        os.symlink("a.json", tmp / "link.json")
        second = run(serve.url, *load, "--json", tmp / "link.json", "--junit", tmp / "a.xml", tmp=tmp, name="second")
        equal(second.code, code_of(second.summary), "exit of a run that replaces a report")
        expect((tmp / "link.json").is_symlink() and (tmp / "a.json").read_text() != old, "the report behind the link was not replaced")
        equal(json.loads((tmp / "a.json").read_text()), second.summary, "the report that was replaced")
        inside = headway("report", first.folder, "--json", first.folder / "summary.json", cwd=tmp).exits(2)
        contains(inside.err, "belongs to a run folder", "stderr")
        for flag in ["--json", "--junit"]:
            ended = run(serve.url, *load, flag, "/dev/full", tmp=tmp, name=f"full{flag}").exits(1)
            contains(ended.out, "LOAD     ", f"the report ({ended})")
            contains(ended.err, f"{flag}: /dev/full cannot be written: No space left", "stderr")
            expect((ended.folder / "summary.json").is_file(), "no summary in the run folder")
        ended = headway("report", first.folder, "--html", "/dev/full", cwd=tmp).exits(1)
        contains(ended.out, "LOAD     ", "the report")
        with open("/dev/full", "wb") as full:
            process = spawn([HEADWAY, "report", first.folder], cwd=tmp, stdout=full, stderr=open(tmp / "err", "wb"))
            equal(process.wait(30), 1, "exit with standard output full")
            stop(process)
        contains((tmp / "err").read_text(), "No space left", "stderr")
        closed = Headway(["report", first.folder], tmp, wrap=["sh", "-c", 'exec "$0" "$@" >&-']).ended()
        equal(closed.code, code_of(first.summary), "exit with standard output closed")
    expect(not [p.name for p in tmp.iterdir() if "unfinished" in p.name], "unfinished files are left")


@check("lost: ulimit -f ends no run: what fits is kept, the report comes, and exits 1")
def file_limit(tmp):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))

    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve:
        ended = run(serve.url, *LOAD, "--json", tmp / "out.json", tmp=tmp, before=limit).exits(1)
    contains(ended.err, "File too large", "stderr")
    contains(ended.out, "LOAD     ", "the report")
    lost, kept = told(ended)
    equal(on_stderr(ended), lost, "rows lost on stderr, against the report")
    equal(read_log(ended.folder / "records.arrow").num_rows, kept, "rows in the log, against rows kept")
    expect(kept > 0 and lost > 0, f"{kept} kept, {lost} lost")
    for name in ["summary.json", "report.html"]:
        whole = ended.folder / name
        expect(not whole.exists() or whole.stat().st_size < 64 << 10, f"{name} is cut off")


@check("lost: with too little address space (ulimit -v) a run says so and exits 1; with enough it ends; it never aborts")
def address_space(tmp):
    refused = 0
    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve:
        for mib in range(16, 400, 8):
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))
            ended = run(serve.url, "-R", "50", "-d", "500ms", tmp=tmp, name=f"at-{mib}", before=limit)
            if (ended.folder / "summary.json").exists():
                break
            # Below that the system cannot load the program.
            if "headway: cannot begin" in ended.err:
                refused += 1
                ended.exits(1)
                contains(ended.err, "ulimit -v", "message")
            else:
                expect(ended.code in (127, -signal.SIGSEGV, -signal.SIGKILL), f"with {mib} MiB: {ended}")
    expect(refused > 1 and (ended.folder / "summary.json").exists(), f"{refused} refused; the last: {ended}")
    ended.exits(code_of(ended.summary))


@check("lost: two runs that begin in one second in one folder have a folder each")
def same_second(tmp):
    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve:
        begun = [Headway(["run", serve.url, "-R", "50", "-d", "200ms", "--quiet"], tmp) for _ in range(4)]
        ended = [one.ended(30) for one in begun]
    folders = list((tmp / "headway-runs").iterdir())
    equal(len(folders), 4, "run folders")
    for folder in folders:
        conserved(json.loads((folder / "summary.json").read_text()))
    expect(all(e.code in (0, 98) for e in ended), str(ended[0]))


@check("lost: a full disk: stderr, the report and the log agree on the rows lost; a report there is not half written")
def full_disk(tmp):
    if os.geteuid() != 0:
        raise Skipped("only root can mount a small disk")
    with Serve("--service", "const(100us)", "--servers", "4", tmp=tmp) as serve, small_disk(tmp / "run", "512k"):
        ended = run(serve.url, "-R", "1500", "-d", "4s", tmp=tmp).exits(1)
        lost, kept = told(ended)
        equal(on_stderr(ended), lost, "rows lost on stderr, against the report")
        equal(read_log(ended.folder / "records.arrow").num_rows, kept, "rows in the log, against rows kept")
        expect(lost > 0 and kept > 0, f"{lost} lost, {kept} kept")
        left = sorted(p.name for p in ended.folder.iterdir())
        expect(not [name for name in left if "unfinished" in name], f"left: {left}")
