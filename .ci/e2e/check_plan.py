"""`headway plan`: the plan is a function of its seed, and its shards add up to it."""

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
