"""The load verdict against the kernel that received the load, while the generator is hindered in every way that can be had.

Each run is judged twice: by headway, and here, from the plan (`headway plan`) and the receive stamps of the target's kernel
(`headway serve --arrivals-log`). Nothing of the generator's own records is used. A load that headway calls VALID although more than 1 % of it
came late or never is a miss; one that it calls INVALID although what came is the plan is a false accusation. Both by 95 %
intervals; what lies astride is neither.
"""

import contextlib
import math
import os
import pathlib
import signal
import subprocess
import threading
import time

from harness import (
    HEADWAY, Headway, Skipped, check, code_of, environment, expect, free_port, note, planned, spawn, start_run, stop, tool, wait_for,
)

SECONDS = 8
SEGMENTS = 20
# Student's t with 19 degrees of freedom, 97.5 %.
T19 = 2.093
LATE_S = 0.001
# What the way from the generator's clock to the receiver's kernel may take on this machine, and still not be lateness.
TRANSIT_S = 0.000_2
TOLERATED = 0.01
CORES = sorted(os.sched_getaffinity(0))
GENERATOR = ["taskset", "-c", str(CORES[0])]
TARGET = ["taskset", "-c", str(CORES[-1])]


# --------------------------------------------------------------------------------------------- what the kernel saw


def late_ones(due, came, after):
    """Of each arrival of the plan whether it came more than `after` late, or never. The generator sends in order: where as many came
    as were due, the first that came is the first that was due, and so on. Else as many as can be are taken to be on time."""
    if len(due) == len(came):
        return [there - t > after for t, there in zip(due, came)]
    late, j = [], 0
    for t in due:
        while j < len(came) and came[j] < t - TRANSIT_S:
            j += 1
        on_time = j < len(came) and came[j] - t <= after
        j += on_time
        late.append(not on_time)
    return late


def beta_quantile(p, a, b):
    """By bisection of the binomial tail, which whole numbers a and b make exact."""
    n = a + b - 1

    def tail(x):
        if x <= 0:
            return 0.0
        if x >= 1:
            return 1.0
        logs = (
            math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(x) + (n - i) * math.log1p(-x)
            for i in range(a, n + 1)
        )
        return math.fsum(math.exp(x) for x in logs)

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) < p else (low, middle)
    return (low + high) / 2


def share(hits, due):
    """A share with its interval: the wider of Clopper and Pearson's and Student's over 20 segments of the run."""
    n, k = len(hits), sum(hits)
    value = k / n
    low = beta_quantile(0.025, k, n - k + 1) if k else 0.0
    high = beta_quantile(0.975, k + 1, n - k) if k < n else 1.0
    counts = [[0, 0] for _ in range(SEGMENTS)]
    for hit, t in zip(hits, due):
        segment = counts[min(SEGMENTS - 1, int(t / SECONDS * SEGMENTS))]
        segment[0] += hit
        segment[1] += 1
    residuals = sum((a - value * b) ** 2 for a, b in counts)
    half = T19 * math.sqrt(residuals / (SEGMENTS * (SEGMENTS - 1))) / (n / SEGMENTS)
    return value, min(low, value - half), max(high, value + half)


def cov(times):
    gaps = [b - a for a, b in zip(times, times[1:])]
    mean = sum(gaps) / len(gaps)
    return math.sqrt(sum((g - mean) ** 2 for g in gaps) / (len(gaps) - 1)) / mean


def changed(due, came, of):
    """The statistic of what came less that of the plan, and half of its interval over segments."""
    differences = []
    for s in range(SEGMENTS):
        low, high = s * SECONDS / SEGMENTS, (s + 1) * SECONDS / SEGMENTS
        ours = [t for t in due if low <= t < high]
        theirs = [t for t in came if low <= t < high]
        if len(ours) < 11 or len(theirs) < 11:
            return None
        differences.append(of(theirs, low, high) - of(ours, low, high))
    mean = sum(differences) / SEGMENTS
    deviation = math.sqrt(sum((d - mean) ** 2 for d in differences) / (SEGMENTS - 1))
    return mean, T19 * deviation / math.sqrt(SEGMENTS)


def index(window):
    def of(times, low, high):
        counts = [0] * max(2, round((high - low) / window))
        for t in times:
            counts[min(len(counts) - 1, int((t - low) / window))] += 1
        mean = sum(counts) / len(counts)
        return sum((c - mean) ** 2 for c in counts) / (len(counts) - 1) / mean

    return of


def is_clean(due, came):
    """Whether what came is the plan in every way that a rule looks at, by intervals."""
    if len(came) < 0.995 * len(due):
        return False
    for of in (lambda times, low, high: cov(times) ** 2, index(0.001), index(0.01)):
        difference = changed(due, came, of)
        if difference is None or abs(difference[0]) + difference[1] > 0.1:
            return False
    return True


# ---------------------------------------------------------------------------------------------------- hindrances


@contextlib.contextmanager
def nothing(running):
    yield


def pulses(length, every):
    @contextlib.contextmanager
    def hinder(running):
        over = threading.Event()
        begun = running.zero

        def pulse():
            while not over.wait(max(0.0, begun + 0.3 - time.time()) or every):
                with contextlib.suppress(ProcessLookupError):
                    running.signal(signal.SIGSTOP)
                    time.sleep(length)
                    running.signal(signal.SIGCONT)

        thread = threading.Thread(target=pulse)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    return hinder


def hog(*policy):
    """A loop on the generator's core."""

    @contextlib.contextmanager
    def hinder(running):
        loop = spawn([*GENERATOR, *policy, "sh", "-c", "while :; do :; done"])
        try:
            yield
        finally:
            stop(loop, 1)

    return hinder


def bursts(length, every):
    """Takes the generator's core away for so long, so often, at real-time priority."""
    program = f"""
import time
while True:
    until = time.monotonic() + {length}
    while time.monotonic() < until: pass
    time.sleep({every - length})
"""
    return _program(["chrt", "-f", "50", "python3", "-c", program])


def _program(command):
    @contextlib.contextmanager
    def hinder(running):
        running.zero
        process = spawn([*GENERATOR, *command])
        try:
            yield
        finally:
            stop(process, 1)

    return hinder


def quota(percent):
    """At most so much of a core, in periods of 100 ms, by a control group that is made for it."""

    @contextlib.contextmanager
    def hinder(running):
        first, second = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
        name = f"headway-nightly-{os.getpid()}"
        try:
            if first.is_dir():
                group = first / name
                group.mkdir()
                (group / "cpu.cfs_period_us").write_text("100000")
                (group / "cpu.cfs_quota_us").write_text(str(1_000 * percent))
            else:
                group = second / name
                group.mkdir()
                (group / "cpu.max").write_text(f"{1_000 * percent} 100000")
            running.zero
            (group / "cgroup.procs").write_text(str(running.process.pid))
        except OSError as error:
            raise Skipped(f"no control group can be made: {error}") from None
        try:
            yield
            throttled = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())["nr_throttled"]
            expect(int(throttled) > 0, f"a quota of {percent} % has throttled nothing")
        finally:
            wait_for(lambda: not (group / "cgroup.procs").read_text().strip() or running.process.poll() is not None, "the group to empty")
            for _ in range(50):
                with contextlib.suppress(OSError):
                    group.rmdir()
                    break
                time.sleep(0.05)

    return hinder


class Uplink:
    """Two network namespaces with a line between them, of which the generator's end sends so many bits a second."""

    def __init__(self, rate):
        self.rate = rate
        self.ours, self.theirs = (f"headway-{os.getpid()}-{i}" for i in (1, 2))

    def __enter__(self):
        try:
            for name in (self.ours, self.theirs):
                tool("ip", "netns", "add", name)
            tool("ip", "link", "add", "hw1", "netns", self.ours, "type", "veth", "peer", "name", "hw2", "netns", self.theirs)
            for name, link, address in ((self.ours, "hw1", "10.201.77.1/24"), (self.theirs, "hw2", "10.201.77.2/24")):
                tool("ip", "-n", name, "addr", "add", address, "dev", link)
                tool("ip", "-n", name, "link", "set", link, "up")
                tool("ip", "-n", name, "link", "set", "lo", "up")
            limit = ("root", "tbf", "rate", self.rate, "burst", "15kb", "latency", "400ms")
            tool("tc", "-n", self.ours, "qdisc", "add", "dev", "hw1", *limit)
        except Exception as error:
            self.__exit__()
            raise Skipped(f"no namespaces, or no tbf: {error}") from None
        return self

    def __exit__(self, *_):
        for name in (self.ours, self.theirs):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


# ------------------------------------------------------------------------------------------------------- one run


class Row:
    def __init__(self, what, rate, due, came, summary):
        self.what, self.rate, self.due, self.came = what, rate, len(due), len(came)
        self.late = share(late_ones(due, came, LATE_S + TRANSIT_S), due)
        self.clean = share(late_ones(due, came, LATE_S), due)[2] < TOLERATED and is_clean(due, came)
        self.cov = cov(came) if len(came) > 2 else math.nan
        self.verdict = summary["verdict"]["load"]
        limited = summary["verdict"]["limited_by"]
        # Said in the verdict's line from this share on.
        self.limited = limited["what"] if limited and limited["share"] > limited["tolerated"] else None
        self.failed = [r["rule"] for r in summary["verdict"]["rules"] if r["outcome"] == "fail"]
        late = self.late[1] > TOLERATED
        # Whoever asked for the cap is told what it did.
        missed = self.verdict == "VALID" and late and not self.limited
        accused = self.verdict == "INVALID" and self.clean
        self.word = "MISS" if missed else "FALSE" if accused else "right" if late or self.clean else "astride"

    def __str__(self):
        value, low, high = (100 * x for x in self.late)
        limited = f" limited by {self.limited}" if self.limited else ""
        failed = f" ({', '.join(dict.fromkeys(self.failed))})" if self.failed else ""
        return (
            f"{self.what:<26} {self.rate:>5}/s {self.due:>6} {self.came:>6}  {value:6.2f} % ({max(0.0, low):5.2f} to {high:6.2f})"
            f"  {self.cov:5.2f}  {self.verdict}{limited}{failed}: {self.word}"
        )


def one(tmp, what, rate, seed, hinder=nothing, flags=(), serve=(), body=0, uplink=None):
    """Plays one load; the row of the table."""
    name = f"{what}-{rate}".replace(" ", "-").replace("/", "-")
    log, load = tmp / f"{name}.csv", ["-R", str(rate), "-d", f"{SECONDS}s", "--seed", str(seed)]
    inside = lambda ns: ["ip", "netns", "exec", ns] if uplink else []
    address = f"{'10.201.77.2' if uplink else '127.0.0.1'}:{free_port()}"
    served = ["serve", "--listen", address, "--arrivals-log", log, *(serve or ("--service", "const(200us)", "--servers", "16"))]
    target = Headway(served, tmp, wrap=[*inside(uplink.theirs if uplink else None), *TARGET])
    try:
        wait_for(lambda: "serving at" in target.text(target.err) or target.process.poll() is not None, "serve to listen")
        extra = ["-m", "POST", "-b", "x" * body] if body else []
        arguments = [*load, "--threads", "1", "--timeout", "5s", *flags, *extra]
        wrap = [*inside(uplink.ours if uplink else None), *GENERATOR]
        running = start_run(f"http://{address}/", *arguments, tmp=tmp, name=name, wrap=wrap)
        with hinder(running):
            ended = running.ended()
        ended.exits(code_of(ended.summary))
    finally:
        target.signal(signal.SIGINT)
        target.ended(20)
    zero = ended.plan["zero_unix_ns"]
    came = []
    for line in log.read_text().splitlines()[1:]:
        stamp, _, whose = line.split(",")
        expect(whose == "kernel", f"{what}: a stamp of {whose!r} and not of the kernel")
        seconds, nanos = stamp.split(".")
        came.append((int(seconds) * 10**9 + int(nanos.ljust(9, "0")) - zero) / 1e9)
    due = [float(row.split(",")[1]) for row in planned(f"http://{address}/", *load, cwd=tmp)]
    return Row(what, rate, due, sorted(came), ended.summary)


def most_by_chance(n, p=0.01):
    """So many of n go wrong with more than 1 % of probability, if each does by chance with p."""
    tail, k = 1.0, -1
    while tail > 0.01:
        k += 1
        tail -= math.comb(n, k) * p**k * (1 - p) ** (n - k)
    return k


@check("verdict against the target's kernel: hindered generators are found out, sound ones are not accused")
def impairments(tmp):
    slow = ("--service", "exp(4ms)", "--servers", "16")
    runs = []
    for rate in (100, 1000, 5000):
        runs += [
            ("nothing", rate, {}),
            ("stopped 5 ms every 2 s", rate, {"hinder": pulses(0.005, 2)}),
            ("stopped 20 ms every 0.5 s", rate, {"hinder": pulses(0.02, 0.5)}),
            ("stopped 100 ms every 1 s", rate, {"hinder": pulses(0.1, 1)}),
            ("core taken 3 ms in 1 s", rate, {"hinder": bursts(0.003, 1)}),
            ("core taken 30 ms in 0.3 s", rate, {"hinder": bursts(0.03, 0.3)}),
            ("a loop on its core", rate, {"hinder": hog()}),
            ("an idle loop on its core", rate, {"hinder": hog("chrt", "-i", "0")}),
        ]
    runs += [
        ("quota of 2 %", 100, {"hinder": quota(2)}),
        ("quota of 5 %", 1000, {"hinder": quota(5)}),
        ("quota of 10 %", 5000, {"hinder": quota(10)}),
        ("-c 1, 4 ms a request", 100, {"flags": ("-c", "1"), "serve": slow}),
        ("-c 2, 4 ms a request", 200, {"flags": ("-c", "2"), "serve": slow}),
        ("-c 400, 4 ms a request", 1000, {"flags": ("-c", "400"), "serve": slow}),
    ]
    rows, skipped = [], []

    def play(what, rate, options):
        try:
            rows.append(one(tmp, what, rate, 100 + len(rows), **options))
        except Skipped as reason:
            skipped.append(f"{what}: {reason}")

    for what, rate, options in runs:
        play(what, rate, options)
    for link, rates in (("8mbit", (500, 800, 1000)), ("1gbit", (1000,))):
        try:
            with Uplink(link) as uplink:
                for rate in rates:
                    play(f"uplink of {link}, 1 KB", rate, {"uplink": uplink, "body": 1000})
        except Skipped as reason:
            skipped.append(f"uplink of {link}: {reason}")
    note(f"{'hindrance':<26} {'rate':>7} {'due':>6} {'came':>6}  late by over 1.2 ms, or never   CoV  verdict")
    for row in rows:
        note(str(row))
    for reason in skipped:
        note(f"skipped: {reason}")
    wrong = [row for row in rows if row.word in ("MISS", "FALSE")]
    shown = sum(row.word == "right" for row in rows)
    note(f"{len(rows)} runs; {shown} decided by the kernel's stamps, {len(wrong)} of them otherwise than headway")
    expect(len(rows) >= 24, f"only {len(rows)} runs: {skipped}")
    hindered = [row for row in rows if row.late[1] > TOLERATED]
    expect(len(hindered) >= 6, "too few hindrances hinder anything: nothing was shown")
    allowed = most_by_chance(len(rows))
    expect(len(wrong) <= allowed, f"{len(wrong)} verdicts against what the kernel saw, {allowed} by chance:\n" + "\n".join(map(str, wrong)))


@check("generator's share: of a load with stalls, the p99 of the same load without them lies between both ends")
def generators_share(tmp):
    # M/M/1 of 1 ms at 500/s: p99 is 2 ms x ln 100 = 9.2 ms, and more by what the target itself adds to each service. Over 60 s its
    # sampling error is some 4 %.
    def p99(name, hinder):
        port = free_port()
        target = Headway(["serve", "--listen", f"127.0.0.1:{port}", "--service", "exp(1ms)"], tmp, wrap=TARGET)
        try:
            wait_for(lambda: "serving at" in target.text(target.err) or target.process.poll() is not None, "serve to listen")
            load = ["-R", "500", "-d", "60s", "--seed", "5", "--threads", "1", "--threshold", "p(99)<12ms"]
            running = start_run(f"http://127.0.0.1:{port}/", *load, tmp=tmp, name=name, wrap=GENERATOR)
            with hinder(running):
                ended = running.ended()
        finally:
            target.signal(signal.SIGINT)
            target.ended(20)
        threshold = ended.summary["thresholds"][0]
        both = ended.summary["response"]["generator_share"]["p99"]
        low, high = both
        note(
            f"{name}: p99 {1e3 * low:.2f} to {1e3 * high:.2f} ms; {ended.summary['verdict']['load']}; "
            f"threshold {threshold['text']}: {threshold['outcome']}, exit {ended.code}"
        )
        if ended.summary["verdict"]["load"] != "INVALID" and low < 0.012 <= high:
            expect(threshold["outcome"] == "not-judged" and ended.code == 99, f"{threshold}, exit {ended.code}")
            expect("the generator's own delays move" in threshold["reason"]["text"], threshold["reason"]["text"])
        return both

    sound, hindered = p99("undisturbed", nothing), p99("stopped 18 ms every 2 s", pulses(0.018, 2))
    expect(hindered[0] <= 1.15 * sound[1], f"{hindered} does not begin below {sound}")
    expect(hindered[1] >= 0.9 * sound[0], f"{hindered} does not reach {sound}")
    expect(hindered[1] > 1.15 * hindered[0], f"stalls of 18 ms do not show: {hindered}")
