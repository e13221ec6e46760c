"""Buckets as the destination of shards: an S3 server, and a proxy before it that fails, loses responses and refuses."""

import datetime
import email.utils
import json
import signal
import time

from certificates import Authority
from check_secrets import all_of, nowhere, written
from check_study import ONE_SERVER
from harness import ROOT, Headway, Serve, check, conserved, contains, equal, expect, finding, finding_ids, flat, headway, never_started, note, planned, wait_for
from storing import BUCKET, Bucket, Moto, Proxy, credentials

PLACE = f"s3://{BUCKET}/run42"
SECRETS = ["mkKeyId", "mkSecretKey", "mkSessionToken"]
SERVE = ["--service", "const(1ms)", "--servers", "8"]


def error(code, message):
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>"


def shard(url, i, *more, tmp, env, n=2):
    folder = tmp / f"on-{i}"
    folder.mkdir(exist_ok=True)
    return Headway(["run", url, "--shard", f"{i}/{n}", "--out", PLACE, "--quiet", *more], folder, env=env)


@check("bucket: the store fails, loses responses and is away for seconds: two shards are merged to the plan, nothing counts twice, and no secret shows")
def whole(tmp):
    plan = ["-R", "200", "-d", "10s", "--seed", "11"]
    load = [*plan, "--start-at", "barrier"]
    with Serve(*SERVE, tmp=tmp) as serve, Moto(tmp) as moto, Proxy(moto.url) as proxy:
        bucket, env = Bucket(moto.url), credentials(proxy.url)
        # The first PUT of each name is carried out, and its response lost: the claims and run.json among them.
        lost, away = set(), []

        def meddle(method, path):
            if away and time.monotonic() < away[0]:
                return "drop" if len(proxy.seen) % 2 else (503, error("SlowDown", "Please reduce your request rate."))
            if method == "PUT" and path not in lost:
                lost.add(path)
                return "lose"
            return None

        proxy.meddle = meddle
        merging = Headway(["merge", PLACE, "--expect", 2, "--wait", "--out", tmp / "merged", "--details"], tmp, env=env)
        running = [shard(serve.url, i, *load, tmp=tmp, env=env) for i in range(2)]
        wait_for(lambda: {f"run42/{i}/progress.json" for i in range(2)} <= set(bucket.names("run42/")), "the shards to begin")
        equal([name for name in bucket.names("run42/") if "done" in name], [], "shards that are done")
        again = shard(serve.url, 1, *load, tmp=tmp, env=env).ended().exits(0)
        contains(again.err, f"shard 1/2 was claimed by process {running[1].process.pid}", "stderr of the second process")
        for given, told in [
            ([*plan[:4], "--seed", "12", *load[6:]], "seed is 11 there and 12 here"),
            ([*plan, "--start-at", "2100-01-01T12:00:00Z"], "--start-at is barrier there and 2100-01-01T12:00:00Z here"),
        ]:
            contains(shard(serve.url, 0, *given, tmp=tmp, env=env).ended().exits(2).err, told, "stderr")
        contains(shard(serve.url, 0, *load, n=3, tmp=tmp, env=env).ended().exits(2).err, "number of shards is 2 there and 3 here", "stderr")
        contains(headway("merge", PLACE, "--expect", 3, "--out", tmp / "three", cwd=tmp, env=env).exits(2).err, "has 2 shards", "stderr")
        # Away at the end of the run, with a piece of each log there and the rest to come.
        wait_for(lambda: {f"run42/{i}/parts/000001" for i in range(2)} <= set(bucket.names("run42/")), "the first pieces of both logs", 30)
        away.append(time.monotonic() + 5)
        ended = [one.ended().exits(0, 98) for one in running]
        merged = merging.ended().exits(0, 98)
        names = bucket.names("run42/")
        document = {name: bucket.read(name) for name in names}
    folders = [next((tmp / f"on-{i}/headway-runs").iterdir()) for i in range(2)]
    for i, folder in enumerate(folders):
        done = json.loads(document[f"run42/{i}/done.json"])
        parts = [name for name in names if name.startswith(f"run42/{i}/parts/")]
        equal(done["parts"], len(parts), "pieces of the log")
        expect(len(parts) >= 2, f"pieces: {parts}")
        equal(b"".join(document[name] for name in parts), (folder / "records.arrow").read_bytes(), "the pieces, and the log")
        for name in ("plan.json", "summary.json", "report.html"):
            equal(document[f"run42/{i}/{name}"], (folder / name).read_bytes(), name)
        equal(done["exit_code"], ended[i].code, "exit code in done.json")
        conserved(json.loads(document[f"run42/{i}/summary.json"]))
    failed = [finding(json.loads(document[f"run42/{i}/summary.json"]), "store-failed") for i in range(2)]
    expect(all(failed), f"no finding says that the store failed: {[finding_ids(json.loads(document[f'run42/{i}/summary.json'])) for i in range(2)]}")
    # Whichever of the two came last.
    expect(all("SlowDown" in json.dumps(one) or "disconnected" in json.dumps(one) for one in failed), f"what the store said: {failed}")
    summary = json.loads((tmp / "merged/summary.json").read_text())
    n = len(planned(*plan, cwd=tmp))
    equal(summary["measured"]["n"], n, "arrivals of the merged run, and of the plan")
    equal(serve.report["requests"], n - never_started(summary), "requests that the target received")
    equal([(s["shard"], s["done"]) for s in summary["shards"]], [("0/2", True), ("1/2", True)], "shards")
    # Merged from the shards' own folders it is the same log.
    headway("merge", *folders, "--out", tmp / "by-hand", "--quiet", cwd=tmp).exits(0, 98)
    equal((tmp / "merged/records.arrow").read_bytes(), (tmp / "by-hand/records.arrow").read_bytes(), "merged logs")
    texts = {name: data.decode("utf-8", "replace") for name, data in document.items()}
    nowhere(SECRETS, {**texts, **written(tmp), **all_of(merged, "merge"), **all_of(ended[0], "shard 0")}, but=("moto.log",))
    expect(any("mkKeyId" in headers for *_, headers in proxy.seen), "the credentials were not used")
    note(f"{len(proxy.seen)} requests, {len(names)} objects; {failed[0]['n']} and {failed[1]['n']} failed")


@check("bucket: a shard that is killed has given what it had: named, exit 3, counted with --allow-missing 1")
def killed(tmp):
    load = ["-R", "100", "-d", "14s", "--seed", "3", "--timeout", "1s"]
    with Serve(*SERVE, tmp=tmp) as serve, Moto(tmp) as moto:
        bucket, env = Bucket(moto.url), credentials(moto.url)
        running = [shard(serve.url, i, *load, tmp=tmp, env=env) for i in range(2)]
        wait_for(lambda: "run42/1/parts/000001" in bucket.names("run42/"), "the first piece", 40)
        running[1].signal(signal.SIGKILL)
        running[1].process.wait(10)
        running[0].ended().exits(0, 98)
        # The last bytes of a piece may be half a record: what is before them counts.
        merged = headway("merge", PLACE, "--expect", 2, "--wait", "--grace", "1s", "--out", tmp / "merged", cwd=tmp, env=env).exits(3)
        contains(flat(merged.out), "1/2", "the report")
        allowed = headway("merge", PLACE, "--allow-missing", 1, "--out", tmp / "allowed", cwd=tmp, env=env).exits(0, 98)
        expect("records-missing" in finding_ids(json.loads((tmp / "allowed/summary.json").read_text())), str(allowed))
        bucket.write("run42/5/claim.json", b"{}")
        contains(headway("merge", PLACE, "--out", tmp / "five", cwd=tmp, env=env).exits(2).err, "run42/5: the run in", "stderr")
        bucket.delete("run42/5/claim.json")
        first = bucket.read("run42/0/parts/000001")
        bucket.write("run42/0/parts/000001", first + b"more")
        contains(headway("merge", PLACE, "--out", tmp / "longer", cwd=tmp, env=env).exits(2).err, "run42/0/records.arrow: it has ", "stderr")
    shards = json.loads((tmp / "merged/summary.json").read_text())["shards"]
    equal([s["done"] for s in shards], [True, False], "done")
    # The first piece holds what there was after ten seconds.
    expect(0 < shards[1]["records"] and shards[1]["without_record"] > 0, f"shards: {shards}")
    equal(shards[1]["records"] + shards[1]["without_record"], shards[1]["planned"], "arrivals of the shard that was killed")


@check("bucket: no such bucket, credentials missing or refused, a clock an hour off, a URL with a secret: exit 2, a reason, and nothing is sent")
def refused(tmp):
    load = ["-R", "50", "-d", "500ms", "--seed", "1"]
    with Serve(*SERVE, tmp=tmp) as serve, Moto(tmp) as moto, Proxy(moto.url) as proxy:

        def both(told, env, place=PLACE, code=2, flags=()):
            texts = {}
            for command in (["run", serve.url, *load, "--shard", "0/2", *flags, "--out", place, "--quiet"], ["merge", place, "--out", tmp / "merged"]):
                if command[0] == "merge" and flags:
                    continue
                ended = headway(*command, cwd=tmp, env=env).exits(code)
                contains(flat(ended.err), told, "stderr")
                texts |= all_of(ended, command[0])
            nowhere([*SECRETS, "mkUser", "mkWord", "mkSignature"], {**texts, **written(tmp)}, but=("moto.log",))

        both("there is no such bucket", credentials(proxy.url))
        Bucket(moto.url)
        contains(headway("merge", PLACE, "--out", "merged", cwd=tmp, env=credentials(proxy.url)).exits(2).err, "no shard has come yet", "stderr")
        both("no credentials", credentials(proxy.url, AWS_ACCESS_KEY_ID=None, AWS_SECRET_ACCESS_KEY=None, AWS_SESSION_TOKEN=None))
        both("AWS_ALLOW_HTTP", credentials(proxy.url, AWS_ALLOW_HTTP=None))
        both("AWS_ALLOW_HTTP=true allows it", credentials(proxy.url, AWS_ALLOW_HTTP="No"))
        both("AWS_ALLOW_HTTP: it says neither yes nor no", credentials(proxy.url, AWS_ALLOW_HTTP="maybe"))
        for url in ("localhost:15055", "", "http://mkUser:mkWord more@127.0.0.1:1"):
            both("AWS_ENDPOINT: it is no URL of a server", credentials(url))
        for name in ("AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID"):
            both(f"{name}: it has a character that no header may have", credentials(proxy.url, **{name: "mkSecretKey\n"}))
        proxy.meddle = lambda method, path: (403, error("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."))
        both("InvalidAccessKeyId", credentials(proxy.url))

        def an_hour_behind(headers):
            stamp = lambda text: email.utils.format_datetime(email.utils.parsedate_to_datetime(text).replace(microsecond=0) - datetime.timedelta(hours=1), usegmt=True)
            return [(name, stamp(value) if name.lower() == "last-modified" else value) for name, value in headers]

        proxy.meddle = lambda method, path: an_hour_behind
        both("ahead of that of s3://load-tests/run42", credentials(proxy.url), flags=("--start-at", "2100-01-01T00:00:00Z"))
        proxy.meddle = lambda method, path: None
        for place, told in [
            (f"s3://mkUser:mkWord@{BUCKET}/run42", "without user, password or port"),
            (f"s3://{BUCKET}/run42?X-Amz-Signature=mkSignature", "without a query"),
            (f"https://{BUCKET}.s3.amazonaws.com/run42?X-Amz-Signature=mkSignature", "s3://bucket/prefix"),
            (f"s3://{BUCKET}", "s3://bucket/prefix"),
        ]:
            both(told, credentials(proxy.url), place=place)
        authority = Authority(tmp)
        authority.server("store", "IP:127.0.0.1")
        with Proxy(moto.url, (authority.folder / "store.pem", authority.folder / "store.key")) as secure:
            both("certificate", credentials(secure.url, AWS_ALLOW_HTTP=None))
            env = credentials(secure.url, AWS_ALLOW_HTTP=None, SSL_CERT_FILE=authority.certificate)
            contains(headway("merge", PLACE, "--out", "merged", cwd=tmp, env=env).exits(3).err, "none of the 2 shards", "stderr over TLS")
        single = headway("run", serve.url, *load, "--out", PLACE, cwd=tmp, env=credentials(proxy.url)).exits(2)
        contains(single.err, "--shard", "stderr of a run without a shard")
        study = ["sim", ROOT / "docs/examples/balancers.yaml", "--seed", "1", "--replications", "4"]
        contains(headway(*study, "--out", PLACE, cwd=tmp, env=credentials(proxy.url)).exits(2).err, "a bucket is for shards", "stderr")
        onto = headway("merge", tmp, "--out", PLACE, cwd=tmp, env=credentials(proxy.url)).exits(2)
        expect(not (tmp / "s3:").exists(), f"a folder s3: was made: {onto}")
        expect(not (tmp / "merged").exists(), "a folder was made for nothing")
    equal(serve.report["requests"], 0, "requests that the target received")
    expect(not (tmp / "headway-runs").exists(), "a run folder was made")


def part(i, *more, tmp, env, n=2):
    folder = tmp / f"on-{i}"
    folder.mkdir(exist_ok=True)
    return Headway(["sim", tmp / "s.yaml", *more, "--shard", f"{i}/{n}", "--out", PLACE], folder, env=env)


@check("bucket: two shards of a study, while the store fails and loses responses, are merged to the study of one machine to the byte; each is played once")
def study(tmp):
    (tmp / "s.yaml").write_text(ONE_SERVER)
    ask = ["--sweep", "rate=20,50,80", "--replications", "4"]
    headway("sim", tmp / "s.yaml", *ask, "--out", tmp / "whole", "--json", tmp / "whole.json", cwd=tmp).exits(0)
    with Moto(tmp) as moto, Proxy(moto.url) as proxy:
        bucket, env = Bucket(moto.url), credentials(proxy.url)
        # Of each name the first PUT is carried out and its response lost, and the second fails.
        puts = {}

        def meddle(method, path):
            if method == "PUT":
                puts[path] = puts.get(path, 0) + 1
                return {1: "lose", 2: (503, error("SlowDown", "Please reduce your request rate."))}.get(puts[path])
            return None

        proxy.meddle = meddle
        merging = Headway(["merge", PLACE, "--expect", 2, "--wait", "--out", tmp / "merged", "--json", tmp / "merged.json"], tmp, env=env)
        running = [part(i, *ask, tmp=tmp, env=env) for i in range(2)]
        ended = [one.ended().exits(0) for one in running]
        merging.ended().exits(0)
        again = part(1, *ask, tmp=tmp, env=env).ended().exits(0)
        contains(again.err, f"shard 1/2 was claimed by process {running[1].process.pid}", "stderr of the second process")
        contains(part(0, *ask, "--seed", "8", tmp=tmp, env=env).ended().exits(2).err, "seed is 7 there and 8 here", "stderr")
        run = ["run", "http://127.0.0.1:9/", "-R", "5", "-d", "1s", "--seed", "7", "--shard", "1/2", "--out", PLACE]
        contains(headway(*run, cwd=tmp, env=env).exits(2).err, "the place of the shards of a study, and this is a shard of a run", "stderr")
        names = bucket.names("run42/")
        objects = {name: bucket.read(name) for name in names}
    for i, one in enumerate(ended):
        folder, = (tmp / f"on-{i}/headway-runs").iterdir()
        contains(one.err, "SlowDown", f"what shard {i} says of the store")
        contains(flat(one.err), f"6 plays of shard {i}/2 are in {PLACE}/{i}, and in headway-runs/{folder.name}; next: headway merge {PLACE} --expect 2", "the end")
        done = json.loads(objects[f"run42/{i}/done.json"])
        parts = [name for name in names if name.startswith(f"run42/{i}/parts/")]
        equal((done["records"], done["parts"], done["exit_code"]), (6, len(parts), 0), "done.json")
        equal(b"".join(objects[name] for name in parts), (folder / "plays.jsonl").read_bytes(), "the pieces, and the plays")
        equal(objects[f"run42/{i}/part.json"], (folder / "part.json").read_bytes(), "part.json")
    for one, other in [("whole.json", "merged.json"), ("whole/study.json", "merged/study.json"), ("whole/report.html", "merged/report.html")]:
        expect((tmp / one).read_bytes() == (tmp / other).read_bytes(), f"{other} is not {one} to the byte")
    texts = {name: data.decode("utf-8", "replace") for name, data in objects.items()}
    nowhere(SECRETS, {**texts, **written(tmp), **all_of(ended[0], "shard 0")}, but=("moto.log",))


@check("bucket: a shard of a study that is killed has given the plays that were published: named, exit 3, counted with --allow-missing 2")
def study_killed(tmp):
    (tmp / "s.yaml").write_text(ONE_SERVER)
    # One play after the other, for longer than it is left.
    ask = ["--sweep", "rate=20,50", "--replications", "100000", "--threads", "1", "--quiet"]
    with Moto(tmp) as moto:
        bucket, env = Bucket(moto.url), credentials(moto.url)
        one = part(1, *ask, tmp=tmp, env=env)
        wait_for(lambda: "run42/1/parts/000001" in bucket.names("run42/"), "the first piece", 40)
        one.signal(signal.SIGKILL)
        one.process.wait(10)
        plays = bucket.read("run42/1/parts/000001").count(b"\n")
        expect(plays > 0, "the first piece holds no play")
        merged = headway("merge", PLACE, "--expect", 2, "--out", tmp / "merged", cwd=tmp, env=env).exits(3)
        contains(merged.err, f"shard 1/2 has {plays:,} of its 100,000 plays", "the shard that was killed")
        contains(merged.err, "shard 0/2 is missing, and its 100,000 plays with it", "the shard that did not come")
        headway("merge", PLACE, "--allow-missing", 1, "--out", tmp / "allowed", cwd=tmp, env=env).exits(3)
        contains(headway("merge", PLACE, "--expect", 3, "--out", tmp / "three", cwd=tmp, env=env).exits(2).err, "the study in s3://load-tests/run42 has 2 shards", "stderr")


@check("bucket: the store dies before the end of a run: Ctrl-C twice ends the wait, and the message says where the results are")
def dead(tmp):
    load = ["-R", "50", "-d", "2s", "--seed", "5", "--timeout", "1s"]
    with Serve(*SERVE, tmp=tmp) as serve, Moto(tmp) as moto, Proxy(moto.url) as proxy:
        bucket, env = Bucket(moto.url), credentials(proxy.url)
        one = Headway(["run", serve.url, "--shard", "0/2", "--out", PLACE, *load], tmp, env=env)
        wait_for(lambda: "run42/0/progress.json" in bucket.names("run42/"), "the shard to begin")
        proxy.meddle = lambda method, path: "drop"
        wait_for(lambda: "cannot be written yet" in one.text(one.err), "the shard to say that it waits", 30)
        began = time.monotonic()
        one.signal(signal.SIGINT)
        wait_for(lambda: "once more: stop at once" in one.text(one.err), "the first Ctrl-C to be heard")
        expect(one.process.poll() is None, "the first Ctrl-C has ended it")
        one.signal(signal.SIGINT)
        ended = one.ended(20).exits(1)
        note(f"it ended {time.monotonic() - began:.1f} s after the first Ctrl-C")
        proxy.meddle = lambda method, path: None
        equal([name for name in bucket.names("run42/") if "done" in name], [], "shards that are done")
        folder, = (tmp / "headway-runs").iterdir()
        told = flat(ended.err)
        contains(told, f"the results of shard 0/2 are not complete in {PLACE}; they are in headway-runs/{folder.name}", "stderr")
        contains(told, "interrupted", "stderr")
        contains(flat(ended.out), f"headway merge {PLACE} --expect 2", "what to type next")
        contains(flat(ended.out), f"{PLACE}/0", "the bucket in the report")
        expect((folder / "summary.json").exists() and (folder / "records.arrow").exists(), "the results are not in the folder")
        # What is there is enough to be merged.
        headway("merge", folder, "--out", tmp / "merged", cwd=tmp).exits(3)
