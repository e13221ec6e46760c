"""Loads with a known defect: the verdict must see it. Of sound loads only that there is a verdict: a busy machine may
well spoil one."""

import os
import re
import signal
import time
import urllib.request

from harness import (
    Nginx, Serve, Skipped, check, code_of, conserved, contains, equal, expect, finding_ids, free_port, note,
    run, start_run,
)

# What tells of a generator that stood still.
STOOD_STILL = ("stall", "late", "bunched", "unsent")


@check("verdict: a generator stopped for 500 ms in mid-run (SIGSTOP) says so, and when; the verdict does not hide it")
def stopped(tmp):
    wrong = []
    with Serve("--service", "const(500us)", "--servers", "8", tmp=tmp) as serve:
        for rate in (200, 1000):
            running = start_run(serve.url, "-R", str(rate), "-d", "5s", tmp=tmp, name=f"at-{rate}")
            running.sleep_until(2)
            zero = running.zero
            running.signal(signal.SIGSTOP)
            began = time.time() - zero
            time.sleep(0.5)
            over = time.time() - zero
            running.signal(signal.SIGCONT)
            ended = running.ended()
            summary = ended.summary
            conserved(summary)
            ended.exits(code_of(summary))
            findings = summary["verdict"]["findings"]
            middle = (began + over) / 2
            covering = [f["id"] for f in findings if any(a <= middle <= b for a, b in f["at"]) and f["id"] in STOOD_STILL]
            what = f"{rate}/s, stopped from {began:.3f} to {over:.3f} s"
            if not covering:
                seen = {f["id"]: f["at"][:8] for f in findings}
                wrong.append(f"{what}: no finding of {STOOD_STILL} covers it; findings: {seen}")
            stalls = [s for s in summary["generator"]["stalls"] if s["at_s"] <= middle <= s["at_s"] + s["length_s"]]
            if not stalls:
                wrong.append(f"{what}: not among generator.stalls")
            # It is counted against the target's times unless said otherwise: those due meanwhile waited for us.
            if not summary["lag"]["max"] > 0.3:
                wrong.append(f"{what}: largest send lag is {summary['lag']['max']} s")
            if not any(f["id"] in STOOD_STILL and f["severity"] in ("warning", "error") for f in findings):
                wrong.append(f"{what}: nothing graver than a note, verdict {summary['verdict']['load']}: {finding_ids(summary)}")
    expect(not wrong, "\n".join(wrong))


def on_one_core(tmp, rate, seconds):
    """The summary of a run from one core against nginx on another, once both agree on what was sent."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise Skipped("needs two cores")
    ours, theirs = (["taskset", "-c", str(c)] for c in cores[:2])
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    site = f"""server {{ listen 127.0.0.1:{port} backlog=1024;
        location / {{ return 200 "fine\\n"; }} location = /count {{ stub_status; }} }}"""

    def served():
        with urllib.request.urlopen(url + "count", timeout=10) as answer:
            return int(re.search(r"requests\s+\d+\s+\d+\s+(\d+)", answer.read().decode()).group(1))

    with Nginx(tmp, site, wrap=theirs):
        before = served()
        ended = run(url, "-R", rate, "-d", seconds, "-c", "200", "--strict", tmp=tmp, wrap=ours)
        # The second question counts itself.
        requests = served() - before - 1
    summary = ended.summary
    conserved(summary)
    ended.exits(code_of(summary, strict=True))
    n, started, verdict = summary["measured"]["n"], summary["arrivals"]["started"], summary["verdict"]["load"]
    equal(requests, started, "requests that nginx counted, against arrivals started")
    never = sum(v for k, v in summary["outcomes"].items() if k in ("unsent", "shed", "local-limit"))
    equal(n - started, never, "not started, against outcomes unsent, shed, local-limit")
    if started < 0.99 * n:
        expect(verdict != "VALID", f"{never} of {n} were never sent, and the verdict is VALID")
        expect("unsent" in finding_ids(summary), f"{never} never sent; findings: {finding_ids(summary)}")
    contains(ended.out, verdict, "the report")
    note(f"{verdict}; {started} of {n} started; findings: {' '.join(finding_ids(summary))}")
    return summary


@check("verdict: 1,000,000/s asked of one core is never VALID: what was not sent is counted and said, nginx agrees", alone=True)
def far_too_much(tmp):
    summary = on_one_core(tmp, "1000k", "2s")
    # No machine sends a request in a microsecond: of this rate the verdict is known in advance.
    expect(summary["verdict"]["load"] in ("INVALID", "INCONCLUSIVE"), f"verdict.load is {summary['verdict']['load']}")
    expect(summary["arrivals"]["started"] < summary["measured"]["n"], "every request of a million a second was sent?")


@check("verdict: 200,000/s asked of one core: whatever was sent, the verdict, the counts and nginx agree on it", alone=True)
def near_the_limit(tmp):
    # Some machines send all of it: what would be VALID is theirs to say, what is missing must not be.
    on_one_core(tmp, "200k", "5s")


@check("verdict: a sound run at 200/s has a verdict, its six rules, and the exit code of it")
def sound(tmp):
    with Serve("--service", "const(500us)", "--servers", "8", tmp=tmp) as serve:
        ended = run(serve.url, "-R", "200", "-d", "6s", "--strict", tmp=tmp)
    summary = ended.summary
    conserved(summary)
    ended.exits(code_of(summary, strict=True))
    rules = {r["rule"] for r in summary["verdict"]["rules"]}
    expect({"sent-share", "late-share", "bunching", "dispersion"} <= rules, f"rules: {sorted(rules)}")
    expect(summary["verdict"]["pattern"] in ("independent", "bunched", "even", "undecided", "n/a"), "verdict.pattern")
    note(f"{summary['verdict']['load']}, {summary['verdict']['pattern']}")


@check("verdict: bursts planned as such (gamma(3)) are not held against the generator; a metronome is even")
def as_planned(tmp):
    with Serve("--service", "const(100us)", "--servers", "8", tmp=tmp) as serve:
        bursts = run(serve.url, "-R", "300", "-d", "5s", "--arrivals", "gamma(3)", "--seed", "2", tmp=tmp, name="bursts")
        even = run(serve.url, "-R", "300", "-d", "5s", "--arrivals", "constant", tmp=tmp, name="even")
    for ended in (bursts, even):
        ended.exits(code_of(ended.summary))
    arrivals = bursts.summary["arrivals"]
    expect(arrivals["cov"] > 2, f"gamma(3): CoV of headways is {arrivals['cov']}")
    expect(bursts.summary["verdict"]["pattern"] != "even", "gamma(3) is called even")
    arrivals = even.summary["arrivals"]
    expect(arrivals["intended"]["cov"] < 0.01, f"constant: intended CoV is {arrivals['intended']['cov']}")
    expect(even.summary["verdict"]["pattern"] != "independent", "a metronome is called independent")


@check("verdict: one connection at 100/s: its line says what the cap did, and without the cap nothing is said")
def at_the_cap(tmp):
    with Serve("--service", "const(3ms)", "--servers", "8", tmp=tmp) as serve:
        capped = run(serve.url, "-R", "100", "-d", "6s", "-c", "1", "--strict", tmp=tmp, name="capped")
        free = run(serve.url, "-R", "100", "-d", "6s", "-c", "50", "--strict", tmp=tmp, name="free")
    limited = capped.summary["verdict"]["limited_by"]
    # An M/D/1 queue at a load of 0.3: a quarter of the requests wait for over 1 ms.
    expect(limited and 0.1 < limited["share"] < 0.4, f"limited_by: {limited}")
    equal((limited["what"], limited["limit"], limited["tolerated"]), ("cap", 1, 0.01), "limited_by")
    if capped.summary["verdict"]["load"] == "VALID":
        contains(" ".join(capped.out.split()), "sent as specified up to the cap of 1 connection:", "the verdict's line")
    capped.exits(code_of(capped.summary, strict=True))
    equal(free.summary["verdict"]["limited_by"], None, "limited_by without waiting")
