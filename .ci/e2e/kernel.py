"""One load, and what the kernel that received it saw: the plan (`headway plan`) beside the receive stamps of the target's kernel
(`headway serve --arrivals-log`). Nothing of the generator's own records is used. For .ci/e2e and bench/disturbed.py."""

import math
import shutil
import signal
import typing

from harness import Headway, code_of, expect, free_port, planned, start_run, wait_for
from hindrances import GENERATOR, TARGET, nothing

SEGMENTS = 20
# Student's t with 19 degrees of freedom, 97.5 %.
T19 = 2.093
LATE_S = 0.001
# What the way from the generator's clock to the receiver's kernel may take on this machine, and still not be lateness.
TRANSIT_S = 0.000_2
TOLERATED = 0.01
# Of the rule `dispersion`.
WINDOWS, FEWEST_WINDOWS = (0.001, 0.01, 0.1, 1.0), 30


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


def share(hits, due, seconds):
    """A share with its interval: the wider of Clopper and Pearson's and Student's over 20 segments of the run."""
    n, k = len(hits), sum(hits)
    value = k / n
    low = beta_quantile(0.025, k, n - k + 1) if k else 0.0
    high = beta_quantile(0.975, k + 1, n - k) if k < n else 1.0
    counts = [[0, 0] for _ in range(SEGMENTS)]
    for hit, t in zip(hits, due):
        segment = counts[min(SEGMENTS - 1, int(t / seconds * SEGMENTS))]
        segment[0] += hit
        segment[1] += 1
    residuals = sum((a - value * b) ** 2 for a, b in counts)
    half = T19 * math.sqrt(residuals / (SEGMENTS * (SEGMENTS - 1))) / (n / SEGMENTS)
    return value, min(low, value - half), max(high, value + half)


def cov(times):
    gaps = [b - a for a, b in zip(times, times[1:])]
    mean = sum(gaps) / len(gaps)
    return math.sqrt(sum((g - mean) ** 2 for g in gaps) / (len(gaps) - 1)) / mean


def changed(due, came, seconds, of):
    """The statistic of what came less that of the plan, and half of its interval over segments."""
    differences = []
    for s in range(SEGMENTS):
        low, high = s * seconds / SEGMENTS, (s + 1) * seconds / SEGMENTS
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


def is_clean(due, came, seconds):
    """Whether what came is the plan in every way that a rule looks at, by intervals."""
    if len(came) < 0.995 * len(due):
        return False
    for of in (lambda times, low, high: cov(times) ** 2, index(0.001), index(0.01)):
        difference = changed(due, came, seconds, of)
        if difference is None or abs(difference[0]) + difference[1] > 0.1:
            return False
    return True


def forgiven(due, came, scale):
    """What came, with lateness up to `scale` forgiven, in order: each arrival of the plan with the request that can have been its own,
    which stands where it was due, or by what exceeds `scale` later. An arrival that never came is left out."""
    if len(due) == len(came):
        pairs = zip(due, came)
    else:
        pairs, j = [], 0
        for i, t in enumerate(due):
            while j < len(came) and came[j] < t - TRANSIT_S:
                j += 1
            # Of requests that are missing nothing says which: as few as can be are taken to be late.
            behind = len(came) - j >= len(due) - i
            if j < len(came) and (behind or i + 1 == len(due) or came[j] < due[i + 1]):
                pairs.append((t, came[j]))
                j += 1
    return sorted(max(t, there - scale) for t, there in pairs)


def off(due, came, scale, seconds):
    """How far what came is from the plan at that time scale: the largest difference of CoV^2 and of the indices of dispersion, by name,
    as the load rules of docs/verdict.md define them."""
    theirs = forgiven(due, came, scale + TRANSIT_S)
    differences = {"CoV^2": cov(theirs) ** 2 - cov(due) ** 2}
    for window in WINDOWS:
        if scale <= window and seconds / window >= FEWEST_WINDOWS:
            whole = int(seconds / window) * window
            of = lambda times: index(window)([t for t in times if t < whole], 0.0, whole)
            differences[f"index, {1e3 * window:g} ms"] = of(theirs) - of(due)
    name = max(differences, key=lambda name: abs(differences[name]))
    return name, differences[name]

# ------------------------------------------------------------------------------------------------------- one load


class Played(typing.NamedTuple):
    """One load: the seconds after its zero at which its arrivals were due, and at which the target's kernel received them."""

    due: list
    came: list
    seconds: float
    summary: dict


def play(tmp, what, rate, seed, seconds=8, hinder=nothing, flags=(), serve=(), body=0, uplink=None):
    """Plays one load, the generator hindered and on a core of its own."""
    name = f"{what}-{rate}".replace(" ", "-").replace("/", "-")
    log, load = tmp / f"{name}.csv", ["-R", str(rate), "-d", f"{seconds}s", "--seed", str(seed), "--tolerance", "lateness=1ms"]
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
        summary, zero = ended.summary, ended.plan["zero_unix_ns"]
        ended.exits(code_of(summary))
    finally:
        target.signal(signal.SIGINT)
        target.ended(20)
    came = []
    for line in log.read_text().splitlines()[1:]:
        stamp, _, whose = line.split(",")
        expect(whose == "kernel", f"{what}: a stamp of {whose!r} and not of the kernel")
        whole, nanos = stamp.split(".")
        came.append((int(whole) * 10**9 + int(nanos.ljust(9, "0")) - zero) / 1e9)
    due = [float(row.split(",")[1]) for row in planned(f"http://{address}/", *load, cwd=tmp)]
    log.unlink()
    shutil.rmtree(tmp / name)
    return Played(due, sorted(came), seconds, summary)
