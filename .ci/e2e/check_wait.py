"""How workers wait: strategies and what they report, the device held and let go, loops that end, real-time priority."""

import contextlib
import os
import pathlib
import shutil
import signal
import struct
import time

from harness import (
    Serve, Skipped, check, code_of, conserved, contains, equal, expect, flat, run, start_run, tool, wait_for,
)

LOAD = ["-R", "100", "-d", "2s", "--seed", "5", "--no-log", "--details"]
LONG = ["-R", "100", "-d", "60s", "--seed", "5", "--no-log", "--details"]
DEVICE = "/dev/cpu_dma_latency"
DRIVER = pathlib.Path("/sys/devices/system/cpu/cpuidle/current_driver")
LOOP = "headway-awake"
FIFO, IDLE = 1, 5


def waited(ended):
    """`generator.wait` of a run that has taken place."""
    ended.exits(code_of(ended.summary))
    conserved(ended.summary)
    return ended.summary["generator"]["wait"]


def bound():
    """What all holders of the device together demand, in microseconds; to look is to demand nothing."""
    with open(DEVICE, "rb") as device:
        return struct.unpack("i", device.read(4))[0]


def can_hold():
    with contextlib.suppress(OSError):
        driver = DRIVER.read_text().strip()
        with open(DEVICE, "r+b"):
            return driver not in ("", "none")
    return False


def field(path, number):
    """A field of a stat file, by its number in proc(5); none if the process has ended."""
    with contextlib.suppress(OSError):
        text = pathlib.Path(path).read_text()
        return text.rsplit(")", 1)[1].split()[number - 3]
    return None


def below(parent):
    """Processes whose parent is that one, and theirs, but those that have ended."""
    all_of = [p for p in os.listdir("/proc") if p.isdigit() and field(f"/proc/{p}/stat", 4) == str(parent)]
    alive = [int(p) for p in all_of if field(f"/proc/{p}/stat", 3) != "Z"]
    return alive + [p for child in alive for p in below(child)]


def named(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    return None


@contextlib.contextmanager
def without_device(tmp, node):
    """What to put before a command so that it finds no device: none at all, or one (`node`) that it may not open."""
    made = f"mknod {DEVICE} c 10 259 &&" if node else ""
    script = f'mount -t tmpfs -o nodev tmpfs /dev && {made} exec "$@"'
    wrap = ["unshare", "--mount", "sh", "-c", script, "sh"]
    if not shutil.which("unshare") or os.system("unshare --mount true 2>/dev/null") != 0:
        raise Skipped("no right to a mount namespace")
    yield wrap


@check("wait: auto, sleep and spin run, and the report says how, and at what cost")
def strategies(tmp):
    with Serve("--service", "const(1ms)", tmp=tmp) as serve:
        for strategy in ("auto", "sleep", "spin"):
            ended = run(serve.url, *LOAD, "--wait", strategy, tmp=tmp, name=strategy)
            wait = waited(ended)
            equal(wait["strategy"], strategy, "strategy")
            worker = ended.summary["generator"]["workers"][0]
            expect(worker["processor"] > 0, f"processor time: {worker}")
            contains(flat(ended.out), "worker CPU", "the report")
            if strategy == "spin":
                equal((wait["horizon_s"], worker["sleeping"]), (None, 0.0), "sleep of a worker that never sleeps")
                contains(ended.out, "never sleeping", "the report")
            else:
                least, most = wait["horizon_s"]
                expect(50e-6 <= least <= most <= 500e-6, f"horizon: {least} to {most}")
                expect(strategy == "auto" or most == 50e-6, f"horizon of sleep: {most}")
                expect(worker["sleeping"] > 1, f"sleep: {worker}")
                contains(flat(ended.out), "sleeping until", "the report")
            if strategy != "auto":
                equal((wait["dma_latency"], wait["idle_loops"]), ("not-used", "not-used"), "what was done to the machine")


@check("wait: late is what is later than a quarter of the lateness that is forgiven, 1 ms unless a tolerance says another")
def scale(tmp):
    with Serve("--service", "const(0)", tmp=tmp) as server:
        wait = waited(run(server.url, *LOAD, tmp=tmp, name="default"))
        equal(wait["late_after_s"], 0.00025, "late_after_s by default")
        wait = waited(run(server.url, *LOAD, "--tolerance", "lateness=5ms", tmp=tmp, name="given"))
        equal(wait["late_after_s"], 0.00125, "late_after_s at 5 ms")


@check("wait: a word that is none is refused, and so are spinning workers of real-time priority", alone=False)
def refused(tmp):
    for flags, says in [(["--wait", "poll"], "auto, sleep or spin"), (["--wait", "spin", "--realtime"], "would freeze its core")]:
        ended = run("http://127.0.0.1:1/", *LOAD, *flags, tmp=tmp, name="refused").exits(2)
        contains(flat(ended.err), says, "stderr")


@check("wait: auto holds the idle states off while it runs, and lets go at the end and when it is killed", alone=True)
def device(tmp):
    if not can_hold():
        raise Skipped("no device, or no idle states to hold off")
    before = bound()
    if before == 0:
        raise Skipped("another process holds the device")
    with Serve("--service", "const(1ms)", tmp=tmp) as serve:
        running = start_run(serve.url, *LOAD, tmp=tmp)
        running.sleep_until(0.5)
        equal(bound(), 0, "the bound during the run")
        ended = running.ended()
        equal(waited(ended)["dma_latency"], "held", "dma_latency")
        contains(flat(ended.out), DEVICE, "the report")
        contains(flat(ended.out), "measured warm", "the report")
        equal(bound(), before, "the bound after the run")
        ended = run(serve.url, *LOAD, "--wait", "sleep", tmp=tmp, name="sleep")
        running = start_run(serve.url, *LONG, tmp=tmp, name="killed")
        running.sleep_until(0.5)
        equal(bound(), 0, "the bound during the run")
        running.signal(signal.SIGKILL)
        running.ended()
        equal(bound(), before, "the bound after the kill")


@check("wait: without the device it says why; loops of idle priority come with late wake-ups, and go", alone=True)
def loops(tmp):
    with without_device(tmp, node=True) as wrap, Serve("--service", "const(1ms)", tmp=tmp) as serve:
        running = start_run(serve.url, *LONG, tmp=tmp, wrap=wrap)
        running.sleep_until(0.2)
        pid = running.process.pid
        helpers = below(pid)
        if not helpers:
            running.signal(signal.SIGINT)
            wait = waited_anyhow(running.ended())
            raise Skipped(f"no loops here: {wait['idle_loops']}")
        # On a machine that wakes its threads late the loops run already.
        equal({named(p) for p in helpers}, {LOOP}, "what runs beside it")
        # Held up while it sleeps, it wakes late.
        for _ in range(40):
            running.signal(signal.SIGSTOP)
            time.sleep(0.03)
            running.signal(signal.SIGCONT)
            time.sleep(0.03)
            if len(below(pid)) > 1:
                break
        time.sleep(0.3)
        all_of = below(pid)
        policies = [field(f"/proc/{p}/stat", 41) for p in all_of if p != helpers[0]]
        running.signal(signal.SIGINT)
        ended = running.ended()
        wait = waited_anyhow(ended)
        expect(wait["dma_latency"] in ("refused", "no-idle-states"), f"dma_latency: {wait}")
        equal(wait["idle_loops"], "running", "idle_loops")
        cores = len(os.sched_getaffinity(0))
        equal((wait["idle_loop_cores"], policies), (cores, [str(IDLE)] * cores), "loops, and their policies")
        contains(flat(ended.out), "loops of idle priority", "the report")
        if wait["dma_latency"] == "refused":
            contains(flat(ended.out), f"{DEVICE} would do without loops", "the report")
        gone(all_of, "the run")

        running = start_run(serve.url, *LONG, tmp=tmp, name="killed", wrap=wrap)
        running.sleep_until(0.2)
        helpers = below(running.process.pid)
        equal({named(p) for p in helpers}, {LOOP}, "what runs beside it")
        running.signal(signal.SIGKILL)
        running.ended()
        gone(helpers, "the kill")


def waited_anyhow(ended):
    """`generator.wait` of a run that was interrupted."""
    ended.exits(130)
    return ended.summary["generator"]["wait"]


def gone(pids, what):
    wait_for(lambda: not any(named(p) == LOOP for p in pids), f"the end of the loops after {what}", 5)


@check("wait: a machine without the device says so")
def missing(tmp):
    with without_device(tmp, node=False) as wrap, Serve("--service", "const(1ms)", tmp=tmp) as serve:
        wait = waited(run(serve.url, *LOAD, tmp=tmp, wrap=wrap))
        expect(wait["dma_latency"] in ("missing", "no-idle-states"), f"dma_latency: {wait}")
        expect(wait["idle_loops"] != "not-used", f"idle_loops: {wait}")


@check("wait: --realtime gives workers real-time priority where that is permitted", alone=True)
def realtime(tmp):
    if len(os.sched_getaffinity(0)) < 2 or os.system("chrt -f 1 true 2>/dev/null") != 0:
        raise Skipped("one core, or no right to real-time priority")
    with Serve("--service", "const(1ms)", tmp=tmp) as serve:
        running = start_run(serve.url, *LOAD, "--realtime", tmp=tmp)
        running.sleep_until(0.5)
        tasks = pathlib.Path(f"/proc/{running.process.pid}/task").glob("*/stat")
        policies = sorted((field(task, 41), field(task, 40)) for task in tasks)
        limit = tool("prlimit", "--rttime", "--raw", "--noheadings", "--output", "SOFT", "--pid", running.process.pid).strip()
        ended = running.ended()
        wait = waited(ended)
        equal((wait["realtime"], wait["realtime_lost"]), (True, 0), f"realtime, and workers that lost it ({wait})")
        expect((str(FIFO), "1") in policies, f"policy and priority of the threads: {policies}")
        expect(0 < int(limit) <= 3_000_000, f"RLIMIT_RTTIME: {limit}")
        contains(flat(ended.out), "real-time priority", "the report")


@check("wait: --realtime is refused, with what would give it, where it cannot be had")
def no_realtime(tmp):
    for wrap, says in [
        (["setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice", "--"], "setcap cap_sys_nice+ep"),
        (["taskset", "-c", str(min(os.sched_getaffinity(0)))], "needs two cores"),
    ]:
        ended = run("http://127.0.0.1:1/", *LOAD, "--realtime", tmp=tmp, name="refused", wrap=wrap).exits(2)
        contains(flat(ended.err), "--realtime", "stderr")
        contains(flat(ended.err), says, "stderr")
        expect(not ended.folder.exists(), "a refused run leaves a folder")
