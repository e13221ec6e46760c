"""`headway plan`: the plan is a function of its seed, and its shards add up to it."""

import json
import math
import subprocess

from harness import HEADWAY, check, environment, equal, expect, headway, planned

PROCESSES = ["poisson", "poisson-fixed-n", "constant", "uniform", "gamma(3)", "batch(poisson,geometric(3))"]


@check("plan: same seed, same lines; another seed, others; times rise and lie within the plan")
def seeds(tmp):
    for process in PROCESSES:
        load = ["-R", "500", "-d", "4s", "--arrivals", process]
        first = planned(*load, "--seed", "7", cwd=tmp)
        equal(planned(*load, "--seed", "7", cwd=tmp), first, f"{process}: the plan of the same seed")
        if process != "constant":
            expect(planned(*load, "--seed", "8", cwd=tmp) != first, f"{process}: seed 8 gives the plan of seed 7")
        rows = [line.split(",") for line in first]
        equal([int(r[0]) for r in rows], list(range(len(rows))), f"{process}: arrival numbers")
        times = [float(r[1]) for r in rows]
        expect(times == sorted(times) and 0 <= times[0] and times[-1] <= 4, f"{process}: times out of order or range")
        # Even gamma(3) stays within 2000 +- 5 x 3 x sqrt(2000); of a fixed seed this is no matter of chance.
        expect(1300 < len(rows) < 2700, f"{process}: {len(rows)} arrivals at 500/s over 4 s")
    equal(len(planned("-R", "100", "-n", "250", "--seed", "3", cwd=tmp)), 250, "arrivals of -n 250")


@check("plan: the shards' union is the whole, for every process and with ramp and warm-up")
def shards(tmp):
    for process in PROCESSES:
        load = ["-R", "300", "-d", "3s", "--ramp", "1s", "--warmup", "1s", "--seed", "11", "--arrivals", process]
        whole = planned(*load, cwd=tmp)
        parts = [planned(*load, "--shard", f"{i}/3", cwd=tmp) for i in range(3)]
        expect(all(parts), f"{process}: an empty shard")
        union = sorted((line for part in parts for line in part), key=lambda line: int(line.split(",")[0]))
        equal(union, whole, f"{process}: union of three shards")


@check("plan: shards whose clocks differ: Poisson arrivals are still independent, evenly spaced ones have the CoV of docs/scale.md")
def clocks(tmp):
    # Errors of eight clocks (s), of mean 0.
    errors = [-1.7, -1.1, -0.6, -0.1, 0.2, 0.7, 1.0, 1.6]

    def together(load, scale):
        """Arrivals of all shards at the target, each shifted by its clock, in the window that they have in common."""
        parts = [planned(*load, "--seed", "12", "--shard", f"{i}/8", cwd=tmp) for i in range(8)]
        at = sorted(float(row.split(",")[1]) + scale * error for part, error in zip(parts, errors) for row in part)
        return [t for t in at if 2 * scale <= t <= float(load[-1][:-1]) - 2 * scale]

    at = together(["-R", "1000", "-d", "40s"], 1.0)
    (tmp / "at.csv").write_text("start\n" + "".join(f"{1_700_000_000 + t:.9f}\n" for t in at))
    headway("audit", "at.csv", "--columns", "start=start", "--json", "at.json", "--quiet", cwd=tmp).exits(0)
    verdict = json.loads((tmp / "at.json").read_text())["verdict"]
    equal(verdict["pattern"], "independent", f"Poisson arrivals by clocks that differ by up to 3.3 s ({len(at)} of them)")

    # Clocks that agree to a tenth of the gap of 1 ms: sd 0.1 ms. The shards of successive arrivals are independent draws.
    sd = math.sqrt(sum(error**2 for error in errors) / 8)
    at = together(["-R", "1000", "--arrivals", "constant", "-d", "10s"], 0.0001 / sd)
    gaps = [b - a for a, b in zip(at, at[1:])]
    mean = sum(gaps) / len(gaps)
    cov = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) / mean
    wanted = math.sqrt(2) * 0.1
    # Its square is a mean of some 10,000 terms with a CoV below 2.
    expect(abs(cov**2 / wanted**2 - 1) < 4 * 2 / math.sqrt(len(gaps)), f"CoV {cov} of evenly spaced arrivals, and not {wanted}")


@check("plan: --phases is the file's list of phases, for short too: the same arrivals, as many in each phase as its rate; mistakes are shown as typed")
def phases(tmp):
    load = ["--phases", "2s@50, { ramp: 1s, to: 200/s }, 3s@200", "--arrivals", "constant", "--seed", "7"]
    given = planned(*load, cwd=tmp)
    times = [float(line.split(",")[1]) for line in given]
    for begin, end, wanted in [(0, 2, 100), (2, 3, 125), (3, 6, 600)]:
        found = sum(begin <= at < end for at in times)
        # Evenly paced: one arrival may fall to either side of each end.
        expect(abs(found - wanted) <= 2, f"{found} arrivals from {begin} s to {end} s, and not {wanted}")
    for name, listed in [
        ("short.yaml", "[2s@50, { ramp: 1s, to: 200/s }, 3s@200]"),
        ("long.yaml", "[{ hold: 2s, at: 50/s }, { ramp: 1s, to: 200/s }, { hold: 3s, at: 200/s }]"),
    ]:
        (tmp / name).write_text(f"seed: 7\nusers: {{ arrive: {{ process: constant }}, phases: {listed} }}\njourney: [ {{ get: /, name: request }} ]\n")
        equal(planned(tmp / name, cwd=tmp), given, f"the plan of {name}")
    (tmp / "other.yaml").write_text("seed: 7\nusers: { arrive: { rate: 9/s, process: constant } }\njourney: [ { get: /, name: request } ]\nmodel: { service: 1ms }\n")
    equal(planned(tmp / "other.yaml", *load[:2], cwd=tmp), given, "the plan of a file with --phases")
    played = headway("sim", tmp / "other.yaml", *load[:2], "--print-scenario", cwd=tmp).exits(0).out
    (tmp / "printed.yaml").write_text(played)
    equal(planned(tmp / "printed.yaml", cwd=tmp), given, "the plan of what sim prints")
    for flags, told in [
        (["--phases", "2s@50, 3s@fast"], "1 | --phases 2s@50, 3s@fast\n  |                    ^^^^\n"),
        (["--phases", "2s@50", "-R", "9"], "-R does not go with --phases: each phase has its own rate"),
        (["--phases", "2s@50", "--ramp", "9s"], "--ramp does not go with --phases: a ramp is a phase"),
    ]:
        ended = headway("plan", *flags, cwd=tmp).exits(2)
        expect(told in ended.err, f"{flags}: {ended.err}")
    ended = headway("search", "http://127.0.0.1:1/", "--threshold", "p(99)<1s", "--phases", "2s@50", cwd=tmp).exits(2)
    expect("--phases" in ended.err and "--from and --to" in ended.err, ended.err)
    ended = headway("compare", "--live", "http://127.0.0.1:1/", "http://127.0.0.1:1/", "--", "--phases", "2s@50", cwd=tmp).exits(2)
    expect("behind --: --phases does not go with --live" in ended.err, ended.err)


@check("plan: a reader that has read enough (| head -1) ends it quietly")
def broken_pipe(tmp):
    # pipefail: the exit code of headway, should it not be 0.
    line = f"set -o pipefail; '{HEADWAY}' plan -R 100k -d 60s --seed 1 | head -1"
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    equal((done.returncode, done.stdout), (0, "arrival,intended_s,step\n"), f"exit and output (stderr {done.stderr!r})")
    equal(len(done.stderr.splitlines()), 1, f"lines on stderr: {done.stderr!r}")


@check("plan: nothing is sent, and no folder made")
def nothing_sent(tmp):
    headway("plan", "http://127.0.0.1:1/", "-R", "10", "-d", "1s", cwd=tmp).exits(0)
    equal(list(tmp.iterdir()), [], "files left behind")
