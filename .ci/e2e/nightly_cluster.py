"""Shards past one machine: `deploy/` on Slurm and by ssh, on hosts that are network namespaces and share a folder or a bucket.
What is asserted holds for the target and for the plan, by means of their own: the log of arrivals of `headway serve`, `headway plan`, the
shards' logs read by pyarrow."""

import contextlib
import json
import math
import shlex
import signal
import subprocess
import time

import pyarrow as pa
import pyarrow.compute as pc

from cluster import HUB, NODES, Hosts, Slurm, Sshd, serving
from harness import HEADWAY, ROOT, Headway, check, code_of, environment, equal, expect, headway, never_started, note, planned, spawn, tool, wait_for
from logs import read_log
from storing import BUCKET, Bucket, Moto, variables

SHARDS = 8
# Eight generators and the target share the cores: none polls, and each comes before what else runs here.
GENTLE = ["--threads", "1", "--wait", "sleep", "--realtime"]
SERVE = ["--service", "const(1ms)", "--servers", "64"]
RUN, MERGE = ROOT / "deploy/slurm/run.sbatch", ROOT / "deploy/slurm/merge.sbatch"


def column(table, name):
    values = table[name]
    return values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values


def sorted_rows(table):
    """Its rows in an order that depends on nothing but them, words as text."""
    table = pa.table({name: column(table, name) for name in table.column_names})
    return table.sort_by([(name, "ascending") for name in ("k", "kind", "attempt", "started_ns", "done_ns")])


def union_is_plan(table, load, tmp):
    """Every arrival of the plan is there once, at its instant, bit for bit; how many those are."""
    plan = [row.split(",") for row in planned(f"http://{HUB}:8080/", *load, cwd=tmp)]
    rows = table.filter(pc.equal(column(table, "kind"), "request")).sort_by("k")
    seconds, nanos = zip(*(row[1].split(".") for row in plan))
    expect({len(n) for n in nanos} == {9}, "the plan is not in nanoseconds")
    due = [int(s) * 10**9 + int(n) for s, n in zip(seconds, nanos)]
    equal([int(row[0]) for row in plan], list(range(len(plan))), "numbers in the plan")
    first, count, at = (rows[name].to_pylist() for name in ("k", "count", "intended_ns"))
    # One row may stand for several that were never started; it has the instant of the first.
    equal([k + j for k, n in zip(first, count) for j in range(n)], list(range(len(plan))), "numbers in the log")
    equal(at, [due[k] for k in first], "instants in the log")
    return len(plan)


def summary_is_that_of(summary, table):
    """Counts, mean and quantiles of the summary are those of the rows, computed here. A quantile is the middle of a
    cell of a histogram, 1/1024 wide at most."""
    rows = table.filter(pc.equal(column(table, "kind"), "request"))
    counted = summary["measured"]
    within = pc.and_(
        pc.greater_equal(rows["intended_ns"], round(counted["from_s"] * 1e9)), pc.less(rows["intended_ns"], round(counted["to_s"] * 1e9))
    )
    rows = rows.filter(within)
    equal(pc.sum(rows["count"]).as_py(), counted["n"], "measured requests")
    by_outcome = pa.table({"outcome": column(rows, "outcome"), "count": rows["count"]}).group_by("outcome").aggregate([("count", "sum")])
    outcomes = dict(zip(by_outcome["outcome"].to_pylist(), by_outcome["count_sum"].to_pylist()))
    equal(outcomes, {name: n for name, n in summary["outcomes"].items() if n}, "outcomes")
    answered = rows.filter(pc.equal(column(rows, "outcome"), "ok"))
    for name, since in (("response", "intended_ns"), ("service", "sent_ns")):
        spans = sorted(pc.subtract(answered["done_ns"], answered[since]).to_pylist())
        told = summary[name]
        equal(told["n"], len(spans), f"n of {name}")
        mean = math.fsum(spans) / len(spans) / 1e9
        expect(abs(told["mean"] - mean) <= 1e-9 * mean + 1e-12, f"mean of {name}: {told['mean']}, and {mean} of the rows")
        for quantile, p in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
            exact = spans[math.ceil(p * len(spans)) - 1] / 1e9
            expect(abs(told[quantile] - exact) <= exact / 2048 + 1e-9, f"{quantile} of {name}: {told[quantile]}, and {exact} of the rows")


def soon():
    """An instant by which Slurm has started all."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 10))


def received(log):
    return len(log.read_text().splitlines()) - 1


def whole(tmp, parts, merged, load, log, code):
    """A run that lacks nothing: union = plan, received = sent, and the summary that of the shards' logs. Returns the summary."""
    logs = [read_log(parts / str(i) / "records.arrow") for i in range(SHARDS)]
    expect(all(len(table) for table in logs), f"rows of the shards: {[len(table) for table in logs]}")
    rows = sorted_rows(pa.concat_tables(pa.table({name: column(table, name) for name in table.column_names}) for table in logs))
    together = read_log(merged / "records.arrow")
    n = union_is_plan(together, load, tmp)
    equal(sorted_rows(together), rows, "the merged log, and those of the shards")
    summary = json.loads((merged / "summary.json").read_text())
    equal(code, code_of(summary), "exit code of merge")
    equal(summary["measured"]["n"], n, "measured requests")
    summary_is_that_of(summary, rows)
    sent = sum(pc.is_valid(rows["sent_ns"]).to_pylist())
    equal(sent + never_started(summary), n, "requests that were sent, and those that were not, as where the machine stands still at the end")
    equal(received(log), sent, "requests that the target received")
    note(f"{n} arrivals: {sent} sent, {received(log)} received; load {summary['verdict']['load']}, pattern {summary['verdict']['pattern']}")
    return summary


def spread(tasks):
    """Tasks of the array, by node."""
    nodes = {}
    for index, task in tasks.items():
        nodes.setdefault(task.node, []).append(index)
    note(f"shards by node: {dict(sorted(nodes.items()))}")
    equal((len(tasks), len(nodes)), (SHARDS, NODES), "tasks, and nodes that they ran on")
    return nodes


class Folder:
    """A folder that all hosts see."""

    def __init__(self, tmp):
        self.out, self.env = tmp / "shared/run", {}
        self.out.parent.mkdir()

    def plan(self):
        """That of any shard, once there is one."""
        return next((file.read_bytes() for file in self.out.glob("*/plan.json")), None)

    def shards(self):
        return self.out


class InBucket:
    """A bucket in an S3 server at that URL, which the hub reaches."""

    def __init__(self, tmp, url, wrap):
        self.out, self.env, self.tmp, self.bucket = f"s3://{BUCKET}/run", variables(url), tmp, Bucket(url, wrap)

    def plan(self):
        name = next((name for name in self.bucket.names("run/") if name.endswith("/plan.json")), None)
        return name and self.bucket.read(name)

    def shards(self):
        """A folder with the log of each shard, put together of its pieces."""
        for i in range(SHARDS):
            folder = self.tmp / "fetched" / str(i)
            folder.mkdir(parents=True)
            pieces = [self.bucket.read(name) for name in self.bucket.names(f"run/{i}/parts/")]
            (folder / "records.arrow").write_bytes(b"".join(pieces))
        return self.tmp / "fetched"


@contextlib.contextmanager
def meeting(hosts, tmp, in_bucket):
    """Where the shards meet."""
    if not in_bucket:
        yield Folder(tmp)
        return
    inside = hosts.inside(hosts.hub)
    with Moto(tmp, HUB, inside) as moto:
        yield InBucket(tmp, moto.url, inside)


def on_slurm(tmp, in_bucket):
    load = ["-R", "500", "-d", "65s", "--seed", "2"]
    with Hosts() as hosts, serving(hosts, tmp, *SERVE) as (url, log), meeting(hosts, tmp, in_bucket) as place:
        with Slurm(hosts, tmp, math.ceil(SHARDS / NODES)) as slurm:
            job = slurm.submit(f"--array=0-{SHARDS - 1}", RUN, url, *load, *GENTLE, "--start-at", soon(), "--out", place.out, **place.env)
            merge = slurm.submit(f"--dependency=afterany:{job}", MERGE, place.out, "--expect", SHARDS, "--out", tmp / "merged", **place.env)
            tasks = slurm.ended(job, 180)
            merging = slurm.ended(merge, 120)[0]
            said = (tmp / f"headway-{merge}-merge.log").read_text()
        spread(tasks)
        logs = "\n".join(file.read_text()[-300:] for file in tmp.glob("headway-*.log"))
        expect({task.code for task in tasks.values()} <= {0, 98}, f"the shards ended with {tasks}: {logs}")
        expect(merging.code in (0, 98), f"the merge ended with {merging}: {said[-1500:]}")
        shards = place.shards()
    whole(tmp, shards, tmp / "merged", load, log, merging.code)
    expect(received(log) >= 30_000, f"only {received(log)} arrivals at the target")
    headway("audit", log, "--json", "audit.json", "--quiet", cwd=tmp).exits(0)
    verdict = json.loads((tmp / "audit.json").read_text())["verdict"]
    scale = verdict["pattern_scale_s"]
    note(f"headways at the target: {verdict['pattern']} up to {scale} s, by {received(log)} arrivals")
    equal(verdict["pattern"], "independent", f"headways at the target ({[r for r in verdict['pattern_rules'] if r['outcome'] != 'pass']})")


@check("cluster: eight shards by sbatch on three nodes of Slurm, in a folder: union = plan, received = sent, summary = that of all logs; independent at the target", alone=True)
def slurm_folder(tmp):
    on_slurm(tmp, in_bucket=False)


@check("cluster: eight shards by sbatch on three nodes of Slurm, in a bucket: union = plan, received = sent, summary = that of all logs; independent at the target", alone=True)
def slurm_bucket(tmp):
    on_slurm(tmp, in_bucket=True)


@check("cluster: a node that loses power midway: its shards are named, what they had given to a folder counts, exit 3, within the deadline", alone=True)
def cut_from_folder(tmp):
    power_cut(tmp, in_bucket=False)


@check("cluster: a node that loses power midway: its shards are named, what they had given to a bucket counts, exit 3, within the deadline", alone=True)
def cut_from_bucket(tmp):
    power_cut(tmp, in_bucket=True)


def power_cut(tmp, in_bucket):
    length_s, timeout_s, grace_s, cut_s = 24, 3, 5, 14
    with Hosts() as hosts, serving(hosts, tmp, *SERVE) as (url, _), meeting(hosts, tmp, in_bucket) as place, Slurm(hosts, tmp, math.ceil(SHARDS / NODES)) as slurm:
        flags = ["-R", "200", "-d", f"{length_s}s", "--seed", "9", "--timeout", f"{timeout_s}s", *GENTLE, "--start-at", soon(), "--out", place.out]
        job = slurm.submit(f"--array=0-{SHARDS - 1}", RUN, url, *flags, **place.env)
        later = slurm.submit(f"--dependency=afterany:{job}", MERGE, place.out, "--expect", SHARDS, "--out", tmp / "later", **place.env)
        # As one runs it meanwhile, on a machine that the cut does not reach.
        waits = ["--expect", SHARDS, "--wait", "--grace", f"{grace_s}s", "--out", "merged"]
        waiting = Headway(["merge", place.out, *waits], tmp, wrap=hosts.inside(hosts.hub), env=environment(**place.env))
        wait_for(lambda: {task.state for task in slurm.tasks(job).values()} == {"RUNNING"}, "all tasks to run", 60)
        lost = spread(slurm.tasks(job))[f"n{NODES - 1}"]
        zero = json.loads(wait_for(place.plan, "a start", 60))["zero_unix_ns"] / 1e9
        time.sleep(max(0.0, zero + cut_s - time.time()))
        hosts.cut(NODES - 1)
        hosts.end(hosts.nodes[-1])
        ended = waiting.ended(120).exits(3)
        took, deadline = time.time() - zero, length_s + timeout_s + grace_s
        # And the merge itself, of a few thousand records.
        expect(took <= deadline + 10, f"merged {took:.1f} s after the start, and the deadline is {deadline} s: {ended}")
        equal(slurm.ended(later, 120)[0].code, 3, "exit code of the merge that Slurm starts when it has given the node up")
    for folder in ("merged", "later"):
        summary = json.loads((tmp / folder / "summary.json").read_text())
        shards = read_log(tmp / folder / "records.arrow")["shard"]
        counts = {item["values"]: item["counts"] for item in pc.value_counts(shards).to_pylist()}
        evidence = json.dumps(next(f["evidence"] for f in summary["verdict"]["findings"] if f["id"] == "records-missing"))
        note(f"{folder}: lost {sorted(lost)} after {cut_s} s of {length_s} s; records by shard {dict(sorted(counts.items()))}; {evidence}")
        for i in range(SHARDS):
            equal(f'"{i}/{SHARDS}"' in evidence, i in lost, f"shard {i} is named in {evidence}")
            expect(counts.get(i, 0) > 0, f"shard {i} has given no record")
        expect(summary["verdict"]["load"] != "VALID", f"the load is {summary['verdict']['load']}")
    note(f"merged {took:.1f} s after the start, exit 3")


@check("cluster: eight shards of a study by sbatch on Slurm, in a folder and in a bucket: the study of one machine", alone=True)
def studied(tmp):
    (tmp / "s.yaml").write_text(
        "seed: 7\nusers: { arrive: { rate: 50/s }, phases: [ { hold: 200s } ] }\njourney: [ { get: / } ]\nmodel: { servers: 1, service: exp(10ms) }\n"
    )
    ask = ["sim", tmp / "s.yaml", "--sweep", "rate=20,50,80", "--replications", 20]
    headway(*ask, "--out", tmp / "whole", cwd=tmp).exits(0)
    for in_bucket in (False, True):
        own = tmp / ("bucket" if in_bucket else "folder")
        own.mkdir()
        out = own / "merged"
        with Hosts() as hosts, meeting(hosts, own, in_bucket) as place, Slurm(hosts, own, math.ceil(SHARDS / NODES)) as slurm:
            command = shlex.join(map(str, [HEADWAY, *ask, "--threads", 1, "--shard", "auto", "--out", place.out]))
            job = slurm.submit(f"--array=0-{SHARDS - 1}", "--wrap", f"exec {command}", **place.env)
            merge = slurm.submit(f"--dependency=afterany:{job}", MERGE, place.out, "--expect", SHARDS, "--out", out, **place.env)
            tasks = slurm.ended(job, 180)
            merging = slurm.ended(merge, 120)[0]
        note(f"shards by node: {sorted({task.node for task in tasks.values()})}")
        equal(({task.code for task in tasks.values()}, merging.code), ({0}, 0), f"exit codes of the shards, and of the merge: {tasks}")
        documents = [json.loads((folder / "study.json").read_text()) for folder in (tmp / "whole", out)]
        for document in documents:
            document.pop("command")
        equal(documents[1], documents[0], "the merged study, and that of one machine")


@check("cluster: three shards by ssh: union = plan, received = sent; a host that is down is named; on SIGTERM no shard goes on", alone=True)
def by_ssh(tmp):
    load = ["-R", "300", "-d", "5s", "--seed", "10"]
    script, every = ROOT / "deploy/ssh/run.sh", " ".join(f"n{i}" for i in range(NODES))
    with Hosts() as hosts, Sshd(hosts, tmp) as ssh:
        def start(names, url, *flags):
            command = [script, names, url, *flags, *GENTLE]
            return spawn(command, env=ssh.env, cwd=tmp, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

        with serving(hosts, tmp, *SERVE) as (url, log):
            running = start(every, url, *load, "--start-at", soon(), "--out", tmp / "run")
            said, _ = running.communicate(timeout=120)
        expect(running.returncode in (0, 1), f"run.sh exits {running.returncode}: {said}")
        for i in range(NODES):
            expect(f"n{i}: " in said, f"what n{i} says is not told: {said}")
        headway("merge", tmp / "run", "--expect", NODES, "--out", "merged", cwd=tmp).exits(0, 98)
        n = union_is_plan(read_log(tmp / "merged/records.arrow"), load, tmp)
        equal(received(log), n, "requests that the target received")
        log.unlink()

        with serving(hosts, tmp, *SERVE) as (url, log):
            hosts.cut(1)
            down = start("n0 n1", url, "-R", "10", "-d", "1s", "--seed", "1", "--out", tmp / "down")
            said, _ = down.communicate(timeout=240)
            hosts.heal(1)
            equal(down.returncode, 1, f"run.sh with a host that is down: {said}")
            expect("n1: shard 1 of 2 ended with exit code 255" in said, f"the host that is down is not named: {said}")

            def going():
                pids = " ".join(tool("ip", "netns", "pids", node) for node in hosts.nodes).split()
                lines = [subprocess.run(["ps", "-o", "args=", "-p", pid], capture_output=True, text=True).stdout for pid in pids]
                return [line for line in lines if " run " in line and "--shard" in line and not line.startswith("sshd")]

            long = start(every, url, "-R", "30", "-d", "10m", "--seed", "1", "--out", tmp / "long")
            wait_for(lambda: all((tmp / f"long/{i}/plan.json").exists() for i in range(NODES)), "three shards to begin", 60)
            expect(len(going()) >= NODES, f"shards that go on: {going()}")
            long.send_signal(signal.SIGTERM)
            long.communicate(timeout=30)
            wait_for(lambda: not going(), "the shards to end with their connections", 40)
            equal(long.returncode, 130, "exit code of run.sh that was ended")
