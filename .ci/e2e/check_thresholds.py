"""Thresholds: what holds, what is crossed, what ends a run, and what is not judged; the exit code and the JUnit file of each."""

import signal
import time
import xml.etree.ElementTree as ElementTree

from harness import Serve, check, conserved, contains, equal, expect, finding, flat, headway, note, run, start_run

FIXED = ("--service", "const(2ms)", "--servers", "64")


def outcomes(summary):
    return [t["outcome"] for t in summary["thresholds"]]


def thresholds(*texts):
    return [word for text in texts for word in ("--threshold", text)]


def code(summary, strict=False):
    """Exit code of a run that was not interrupted by hand."""
    open_for = [t["open"] for t in summary["thresholds"]]
    crossed = [t["open"] for t in summary["thresholds"] if t["outcome"] == "crossed"]
    if None in crossed or (crossed and not strict):
        return 99
    return 98 if "generator" in open_for else 97 if strict and "data" in open_for else 0


def expected(summary, *judged):
    """These outcomes, far from their limits: whatever this machine did to the load."""
    equal(outcomes(summary), list(judged), "outcomes of the thresholds")


def cases(path):
    """Test cases of a JUnit file: name to (kind, text)."""
    suites = ElementTree.parse(path).getroot()
    found = {}
    for case in suites.iter("testcase"):
        children = list(case)
        expect(len(children) == 1, f"{case.get('name')}: {len(children)} elements")
        found[case.get("name")] = (children[0].tag, children[0].get("message") or children[0].text)
    counted = sum(1 for kind, _ in found.values() if kind == "failure")
    equal(int(suites.get("failures")), counted, "failures of the JUnit file")
    return found


@check("thresholds: those that hold exit 0, crossed ones 99; each has value, n and outcome in report, JSON and JUnit")
def holds_or_not(tmp):
    with Serve(*FIXED, tmp=tmp) as serve:
        fine = run(
            serve.url, "-R", "200", "-d", "5s", *thresholds("med<500", "failed: rate<1%", "started: count>100"),
            "--junit", tmp / "fine.xml", tmp=tmp, name="fine",
        )
        bad = run(
            serve.url, "-R", "200", "-d", "5s", *thresholds("med<500", "service: med<1.5", "p(97.5)<1us"),
            "--junit", tmp / "bad.xml", tmp=tmp, name="bad",
        )
    expected(fine.summary, "passed", "passed", "passed")
    fine.exits(code(fine.summary))
    expected(bad.summary, "passed", "crossed", "crossed")
    bad.exits(code(bad.summary))
    for ended, name in ((fine, "fine.xml"), (bad, "bad.xml")):
        summary = ended.summary
        conserved(summary)
        equal(ended.plan["asked"]["thresholds"], [t["text"] for t in summary["thresholds"]], "thresholds in plan.json")
        found = cases(tmp / name)
        for t in summary["thresholds"]:
            expect(t["n"] > 0 and t["value"] is not None, f"{t['text']} has no value or n: {t}")
            contains(flat(ended.out), f"{t['text']}: ", "the report")
            kind = {"passed": "system-out", "crossed": "failure", "not-judged": "skipped"}[t["outcome"]]
            equal(found[t["text"]][0], kind, f"{t['text']} in {name}")
        applied = [rule for rule in summary["verdict"]["rules"] if rule["outcome"] != "not-applicable"]
        expect(sum(1 for n in found if n.startswith("load: ")) == len(applied), f"rules: {list(found)}")
        expect("pattern of the starts" in found, f"pattern: {list(found)}")
    equal((tmp / "bad" / "report.html").read_text().count('id="thresholds"'), 1, "tables of thresholds in the page")
    (tmp / "mine.xml").write_text("<?xml version='1.0'?><mine/>")
    again = run(serve.url, "--junit", tmp / "mine.xml", tmp=tmp, name="again").exits(2)
    contains(again.err, "never overwritten", "message")


@check("thresholds: of a load that was not sent as asked what is certain is said, and the rest is the generator's: exit code 98")
def not_judged(tmp):
    with Serve(*FIXED, tmp=tmp) as serve:
        running = start_run(
            serve.url, "-R", "1000", "-d", "4s", *thresholds("p(95)<500", "p(99)<20s"), "--junit", tmp / "j.xml", tmp=tmp,
        )
        # Stopped for half of the run: whatever the machine, a load with half a second and more of lag is not the one asked for.
        running.sleep_until(1)
        running.signal(signal.SIGSTOP)
        time.sleep(2)
        running.signal(signal.SIGCONT)
        ended = running.ended()
    summary = ended.summary
    equal(summary["verdict"]["load"], "INVALID", "verdict.load")
    first, second = summary["thresholds"]
    equal((first["outcome"], first["open"], second["outcome"]), ("not-judged", "generator", "passed"), "outcomes")
    contains(first["reason"]["text"], "the generator's own delays move it between", "reason")
    ended.exits(98)
    found = cases(tmp / "j.xml")
    equal([found[t][0] for t in ("p(95)<500", "p(99)<20s")], ["skipped", "system-out"], "in the JUnit file")
    expect(any(kind == "failure" for name, (kind, _) in found.items() if name.startswith("load: ")), f"no rule fails: {found}")


@check("thresholds: --abort-on-crossed ends the run at the first second after its delay, says so, and exits 99")
def aborted(tmp):
    with Serve(*FIXED, "--error-rate", "0.5", "--seed", "3", tmp=tmp) as serve:
        flags = ["-R", "200", "-d", "30s", *thresholds("failed: rate<10%", "p(99)<10s")]
        ended = run(serve.url, *flags, "--abort-on-crossed=2s", tmp=tmp, name="aborted")
        whole = run(serve.url, "-R", "200", "-d", "3s", *thresholds("failed: rate<10%"), tmp=tmp, name="whole")
    summary = ended.summary
    conserved(summary)
    measured = summary["measured"]
    expect(measured["aborted"] and measured["interrupted"], f"measured: {measured}")
    expect(2 <= measured["to_s"] < 10, f"ended after {measured['to_s']} s")
    expected(summary, "crossed", "passed")
    ended.exits(code(summary))
    told = finding(summary, "aborted")
    expect(told and "failed: rate<10%" in told["text"], f"findings: {summary['verdict']['findings']}")
    contains(ended.err, "failed: rate<10% crossed", "stderr")
    expect(2 <= summary["thresholds"][0]["ended_run_at"] < 10, f"{summary['thresholds'][0]}")
    # Without the flag a crossed threshold lets the run go on.
    expect(not whole.summary["measured"]["interrupted"], "cut short without being asked to")
    whole.exits(code(whole.summary))


@check("thresholds: report judges a recorded run by others, any percentile from its records; by its own if it is given none")
def judged_again(tmp):
    with Serve(*FIXED, tmp=tmp) as serve:
        first = run(serve.url, "-R", "200", "-d", "3s", *thresholds("med<1us"), tmp=tmp, name="kept")
        run(serve.url, "-R", "200", "-d", "2s", "--no-log", tmp=tmp, name="bare")
    summary = first.summary
    codes = {"bad": 99, "good": 0}
    equal(outcomes(summary), ["crossed"], "outcomes")
    headway("report", "kept", cwd=tmp).exits(codes["bad"])
    headway("report", "kept", "--recompute", cwd=tmp).exits(codes["bad"])
    new = headway("report", "kept", *thresholds("p(97.5)<10s"), "--junit", "new.xml", cwd=tmp).exits(codes["good"])
    contains(flat(new.out), "p(97.5)<10s: ", "the report")
    expect("med<1us" not in new.out, "the run's own threshold is still there")
    expect("p(97.5)<10s" in cases(tmp / "new.xml"), "the JUnit file")
    # A report of ours is replaced, whole; what is no report of ours is not.
    (tmp / "notes.xml").write_text("not a report\n")
    headway("report", "kept", "--junit", "notes.xml", cwd=tmp).exits(2)
    equal((tmp / "notes.xml").read_text(), "not a report\n", "a file that is no report")
    headway("report", "kept", *thresholds("response{step:pay}: avg<1"), cwd=tmp).exits(2)
    # Without records there is what the summary holds.
    headway("report", "bare", *thresholds("p(99)<10s"), cwd=tmp).exits(0)
    contains(headway("report", "bare", *thresholds("p(97.5)<10s"), cwd=tmp).exits(2).err, "kept no records", "message")
