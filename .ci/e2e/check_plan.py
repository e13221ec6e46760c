"""`headway plan`: the plan is a function of its seed, and its shards add up to it."""

import subprocess

from harness import HEADWAY, check, environment, equal, expect, headway, planned

PROCESSES = ["poisson", "poisson-fixed-n", "constant", "uniform", "gamma(3)"]


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
