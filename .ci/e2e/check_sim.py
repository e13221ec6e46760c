"""`headway sim`: a scenario in virtual time: the same every time, by the plan of the live run, judged and kept like one."""

import json
import math

from check_records import differences
from check_scenario import planned_file, rows_of
from harness import Headway, check, conserved, contains, equal, expect, finding, headway

SESSIONS = """
name: shop
seed: 5
users:
  - name: visitors
    arrive: { rate: 150/s }
    phases: [ { ramp: 2s, to: 150/s, warmup: true }, { hold: 20s } ]
    think: exp(100ms)
    journey: [ { get: /list, name: list, repeat: 2 }, { post: /add, name: add, text: x } ]
model: { servers: 4, service: exp(4ms), steps: { add: { service: exp(8ms) } } }
"""


def sim(text, *arguments, tmp, name="sim"):
    """`headway sim` of a file of that text to its end, its run folder at tmp/name."""
    path = tmp / f"{name}.yaml"
    path.write_text(text)
    folder = tmp / name
    return Headway(["sim", path, *arguments, "--out", folder], tmp, folder=folder).ended()


def timeless(summary):
    return {key: value for key, value in summary.items() if key not in ("started_at", "command")}


@check("sim -: a scenario on standard input is the one of a file; what is wrong in it is shown")
def standard_input(tmp):
    def piped(text, name):
        folder = tmp / name
        wrap = ["sh", "-c", 'printf "%s" "$0" | "$@"', text]
        return Headway(["sim", "-", "--out", folder], tmp, folder=folder, wrap=wrap).ended()

    of_file = sim(SESSIONS, tmp=tmp, name="file").exits(0).summary
    of_pipe = piped(SESSIONS, "pipe").exits(0).summary
    equal(timeless(of_pipe), timeless(of_file), "documents")
    wrong = piped(SESSIONS.replace("think:", "thinks:"), "wrong").exits(2)
    contains(wrong.err, "thinks", "message")
    contains(wrong.err, "stdin:8:5", "place")


@check("sim: the same seed gives the same document, another seed another; arrivals are those of plan; report reads the folder")
def same(tmp):
    first = sim(SESSIONS, tmp=tmp, name="first").exits(0)
    second = sim(SESSIONS, tmp=tmp, name="second").exits(0)
    other = sim(SESSIONS, "--seed", "6", tmp=tmp, name="other").exits(0)
    summary = first.summary
    conserved(summary)
    wrong = differences("", timeless(summary), timeless(second.summary))
    expect(not wrong, "the same seed, another document: " + "; ".join(wrong[:5]))
    expect(other.summary["response"] != summary["response"], "seed 6 gives what seed 5 gives")
    equal((summary["source"], summary["seed"], summary["outcomes"]), ("sim", 5, {"ok": summary["measured"]["n"]}), "source, seed, outcomes")
    plan = [line.split(",") for line in planned_file(tmp, "first.yaml")]
    rows = rows_of(first.folder)
    seen = sorted(row["intended_ns"] for row in rows if row["due"] == "arrival")
    equal([f"{at / 1e9:.9f}" for at in seen], [t for _, t, _ in plan], "arrivals in the log, against the plan")
    equal(len(rows), 3 * len(plan), "requests in the log")
    equal({row["started_ns"] - row["intended_ns"] for row in rows}, {0}, "lag of a perfect generator")
    files = sorted(p.name for p in first.folder.iterdir())
    equal(files, ["plan.json", "records.arrow", "report.html", "scenario.yaml", "summary.json"], "files of the folder")
    equal((first.folder / "scenario.yaml").read_text(), SESSIONS, "the scenario that was kept")
    equal(headway("report", first.folder, cwd=tmp).exits(0).out, first.out, "the report, rendered again")
    new = json.loads(headway("report", first.folder, "--recompute", "--json", "-", cwd=tmp).exits(0).out)
    wrong = [d for path in ["source", "measured", "arrivals", "response", "by_label", "sessions", "rate"]
             for d in differences(path, summary[path], new[path])]
    expect(not wrong, "recomputed otherwise: " + "; ".join(wrong[:5]))


@check("sim: M/M/c and a closed loop come out as queueing theory says, within four standard errors")
def theory(tmp):
    # Erlang C at c = 2, rho = 0.7: waits 2 rho^2 / (1 + rho) of the time.
    text = """
seed: 1
users: { arrive: { rate: 140/s }, phases: [ { hold: 50s, warmup: true }, { hold: 1000s } ] }
journey: [ { get: / } ]
model: { servers: 2, service: exp(10ms) }
"""
    open_ = sim(text, "--no-log", tmp=tmp, name="open").exits(0).summary["response"]
    rho = 0.7
    mean = 0.01 + 2 * rho**2 / (1 + rho) * 0.01 / (2 * (1 - rho))
    low, high = open_["ci95"]["mean"]
    expect(abs(open_["mean"] - mean) <= 4 * (high - low) / 3.92, f"mean {open_['mean']} s, expected {mean} s, interval {low} to {high}")
    # 8 users who never think share one server: 8 x 10 ms, and the server is never idle.
    text = """
seed: 2
users: { closed: { count: 8 }, phases: [ { hold: 1s, warmup: true }, { hold: 100s } ] }
journey: [ { get: / } ]
model: { servers: 1, service: const(10ms) }
"""
    closed = sim(text, "--no-log", tmp=tmp, name="closed").exits(0).summary
    expect(math.isclose(closed["response"]["mean"], 0.08, rel_tol=1e-3), f"closed: mean {closed['response']['mean']} s")
    expect(math.isclose(closed["rate"]["throughput"], 100, rel_tol=1e-3), f"closed: rate {closed['rate']}")


@check("sim: thresholds exit 99, JUnit and --json; a queue limit with users who never think ends; stalls and a cold target show")
def judged(tmp):
    crossed = sim(SESSIONS + 'thresholds: ["p(99)<1us", "failed: rate<1%"]\n', "--threshold", "med<10s", "--junit", tmp / "j.xml", tmp=tmp, name="crossed")
    equal([t["outcome"] for t in crossed.exits(99).summary["thresholds"]], ["crossed", "passed", "passed"], "outcomes of the thresholds")
    contains((tmp / "j.xml").read_text(), "p(99)&lt;1us", "JUnit file")
    full = """
seed: 3
users: { closed: { count: 20 }, phases: [ { hold: 200ms } ] }
journey: [ { get: / } ]
model: { servers: 1, service: exp(10ms), queue: 17 }
"""
    summary = sim(full, "--no-log", "--quiet", tmp=tmp, name="full").summary
    conserved(summary)
    expect(set(summary["outcomes"]) == {"ok", "status"}, f"outcomes of a full queue: {summary['outcomes']}")
    work = "seed: 1\nusers: { work: { requests: 5000, users: 50 } }\njourney: [ { get: / } ]\nmodel: { servers: 4, service: exp(8ms) }\n"
    equal(sim(work, tmp=tmp, name="work").exits(0).summary["outcomes"], {"ok": 5000}, "outcomes of fixed work")
    stalled = sim(SESSIONS.replace("service: exp(4ms)", "service: exp(4ms), stalls: { at: 10s, for: 1s }"), tmp=tmp, name="stalled").summary
    expect(0.9 < stalled["response"]["max"] < 2, f"longest response across a stall of 1 s: {stalled['response']['max']}")
    before = stalled["response"]["p50"]
    cold = sim(SESSIONS.replace("service: exp(4ms)", "service: exp(4ms), cold: { factor: 2, requests: 3000 }"), tmp=tmp, name="cold").summary
    expect(finding(cold, "not-steady", "no-steady-state") and cold["response"]["p50"] > before, f"a cold target: {[f['id'] for f in cold['verdict']['findings']]}")
    no_model = sim(SESSIONS.split("model:")[0], tmp=tmp, name="bare").exits(2)
    contains(no_model.err, "model:", "message")
    expect(not no_model.folder.exists(), "it has left a folder")
    quiet = headway("sim", "crossed.yaml", "--quiet", cwd=tmp).exits(99)
    equal((quiet.out, quiet.err), ("", ""), "--quiet")
    document = json.loads(headway("sim", "crossed.yaml", "--json", "-", cwd=tmp).exits(99).out)
    equal(timeless(document)["response"], crossed.summary["response"], "--json -")
    expect(not (tmp / "headway-runs").exists(), "a simulation without --out has left a folder")
