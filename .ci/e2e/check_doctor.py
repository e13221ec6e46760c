"""`headway doctor`: the limit that it names is the one which ends a run beyond it; what it prints; that it changes nothing."""

import json
import os
import resource

from doctoring import blames_the_machine, bound, diagnosed, ends_first
from harness import Serve, check, contains, equal, expect, flat, headway, run, start_run
from limits import Counter, Namespace

USERS = ["--think", "exp(50ms)", "-d", "3s", "--seed", "5"]


@check("doctor: descriptors end a plan of users beyond them; run refuses it, and a run that loses them is INVALID for want of them")
def descriptors(tmp):
    allowed = 120
    few = {"before": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, allowed))}
    with Counter(tmp) as server:
        plan = [server.url, "-u", "100", *USERS]
        document, ended = diagnosed(*plan, tmp=tmp, **few)
        first = ends_first(document, "descriptors")
        equal((first["allows"], first["asks"]), (allowed - 50, 100), "allows and asks")
        contains(ended.out, "NOT FIT", "page")
        contains(ended.out, "prlimit", "page")
        refused = run(*plan, tmp=tmp, name="refused", **few).exits(2)
        contains(flat(refused.err), f"this process may open {allowed - 50} (raise ulimit -n; `headway doctor` says how)", "refusal")
        # Beyond it all the same: the limit is lowered when the run has begun.
        running = start_run(*plan, "--start-at", "+1s", tmp=tmp)
        running.sleep_until(-0.5)
        most = len(os.listdir(f"/proc/{running.process.pid}/fd")) + 60
        resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (most, most))
        summary = blames_the_machine(running.ended(), "local-limit")
        equal(list(summary["generator"]["lacked"]), ["descriptors"], "generator.lacked")
        equal(summary["generator"]["first_bound"]["resource"], "descriptors", "generator.first_bound")


@check("doctor: local ports end a plan of more users than there are, and the run beyond them is INVALID for want of them")
def ports(tmp):
    with Namespace(20) as namespace, Counter(tmp, namespace.wrap) as server:
        plan = [server.url, "-u", "40", *USERS]
        document, _ = diagnosed(*plan, tmp=tmp, wrap=namespace.wrap)
        first = ends_first(document, "ports")
        equal((first["allows"], first["asks"]), (20, 40), "allows and asks")
        summary = blames_the_machine(run(*plan, tmp=tmp, wrap=namespace.wrap), "local-limit")
        equal(list(summary["generator"]["lacked"]), ["ports"], "generator.lacked")
        equal(summary["generator"]["first_bound"]["resource"], "ports", "generator.first_bound")


@check("doctor: the connection cap ends a plan by Little's law, and the run is limited by it")
def cap(tmp):
    plan = ["-R", "200", "-d", "3s", "--seed", "5", "-c", "10"]
    with Counter(tmp) as server:
        document, _ = diagnosed(server.url, *plan, "--response", "100ms", tmp=tmp)
        first = ends_first(document, "cap")
        equal(first["allows"], 10, "allows")
        expect(20 < first["asks"] < 40, f"20 in flight on the mean, asks for {first['asks']}")
        # Without a response time only that is known at which it is full.
        unknown, _ = diagnosed(server.url, *plan, tmp=tmp, name="unknown", codes=(0,))
        equal((bound(unknown, "cap")["asks"], bound(unknown, "cap")["full_at_s"]), (None, 0.05), "asks, full at")
        limited = run(server.url, *plan, tmp=tmp).summary["verdict"]["limited_by"]
        equal((limited["what"], limited["limit"]), ("cap", 10), "limited_by")


@check("doctor: without a plan; JSON to standard output; nothing is written, sent or left behind; other files are refused")
def alone(tmp):
    ended = headway("doctor", "--details", cwd=tmp).exits(0)
    for part in ("MACHINE", "file descriptors", "wake-ups", "Machine", "fs.nr_open", "clock"):
        contains(ended.out, part, "page")
    expect(max(map(len, ended.out.splitlines())) <= 80, "a line is longer than 80 columns")
    document = json.loads(headway("doctor", "--json", "-", cwd=tmp).exits(0).out)
    expect(document["plan"] is None and document["demand"] is None, "a plan without one")
    expect(document["measured"]["lateness"]["n"] > 500, f"measured: {document['measured']}")
    contains(headway("doctor", "--html", "x.html", cwd=tmp).exits(2).err, "writes JSON", "refusal")
    contains(headway("doctor", "http://127.0.0.1:1", "-R", "x", cwd=tmp).exits(2).err, "--rate", "error")
    with Serve(tmp=tmp) as server:
        headway("doctor", server.url, "-R", "50", "--quiet", cwd=tmp).exits(0)
    equal(server.report["requests"], 0, "requests to the target")
    equal([path.name for path in tmp.iterdir() if path.suffix != ".json"], [], "files left")
