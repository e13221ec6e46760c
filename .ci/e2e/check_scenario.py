"""Scenario files against `headway serve --state`: what is sent, what is recorded, and what is kept."""

import collections
import json
import re

from check_records import differences, read_log
from harness import Serve, check, code_of, conserved, contains, environment, equal, expect, headway, planned, start_run

SECRET = "not-to-be-seen-7f3a"
# The sketch of the documentation, shorter.
BARS = """
name: bars
target: ${TARGET}
seed: 7
headers: { X-Api-Key: "${API_KEY}" }
users:
  arrive: { process: poisson, rate: 20/s }
  phases:
    - { ramp: 1s, to: 20/s, warmup: true }
    - { hold: 3s }
    # For the last arrivals, which a busy machine may make late: at the end nobody begins.
    - { pause: 300ms }
  think: uniform(10ms, 30ms)
journey:
  - get: /bars
    name: list
    repeat: 10
  - post: /bars
    name: add
    json: { name: "bar {{user.id}}", price: 3.5 }
    expect: { status: 201 }
thresholds: ["p(99) < 10s"]
"""
CONTENT = ["plan.json", "records.arrow", "report.html", "scenario.yaml", "summary.json"]


def run_file(text, *arguments, tmp, name="run", env=None, **options):
    """`headway run` of a scenario file of that text, its run folder at tmp/name."""
    return start_file(text, *arguments, tmp=tmp, name=name, env=env, **options).ended()


def start_file(text, *arguments, tmp, name="run", env=None, **options):
    path = tmp / f"{name}.yaml"
    path.write_text(text)
    return start_run(path, *arguments, tmp=tmp, name=name, env=environment(**(env or {})), **options)


def rows_of(folder, kind="request"):
    """Rows of the log of one kind, as dictionaries in the order of their start."""
    rows = [row for row in read_log(folder / "records.arrow").to_pylist() if row["kind"] == kind]
    return sorted(rows, key=lambda row: (row["started_ns"] is None, row["started_ns"] or row["done_ns"]))


def sessions(rows):
    """Rows by group and session."""
    found = collections.defaultdict(list)
    for row in rows:
        found[row["group"], row["k"]].append(row)
    return found


def never_shown(secret, *places):
    """Neither in these texts nor in any file of these folders."""
    for place in places:
        texts = {"text": place.encode()} if isinstance(place, str) else {p.name: p.read_bytes() for p in place.iterdir()}
        for name, held in texts.items():
            expect(secret.encode() not in held, f"the secret stands in {name}")


@check("scenario: the sketch, live: steps in order, think times kept, labels and 201s counted, secrets nowhere in the folder")
def sketch(tmp):
    with Serve("--state", "--service", "exp(500us)", "--servers", "4", tmp=tmp) as serve:
        ended = run_file(BARS, tmp=tmp, env={"TARGET": serve.url, "API_KEY": SECRET})
    summary = ended.summary
    conserved(summary)
    equal(sorted(p.name for p in ended.folder.iterdir()), CONTENT, "files of the run folder")
    equal((ended.folder / "scenario.yaml").read_text(), BARS, "the scenario that was kept, against the one written")
    never_shown(SECRET, ended.folder, ended.out, ended.err)
    code = code_of(summary)
    ended.exits(code)

    n = summary["measured"]["n"]
    equal(summary["outcomes"], {"ok": n}, f"outcomes ({ended})")
    labels = {label: block["n"] for label, block in summary["by_label"].items()}
    equal(labels, {"list": n * 10 // 11, "add": n // 11}, "requests by label")
    equal(serve.report["ok"], n + summary["measured"]["warmup"], "answers that the target counted")
    contains(headway("report", ended.folder, "--details", cwd=tmp).out, "add ", "labels in the details")

    rows = rows_of(ended.folder)
    equal({row["group"] for row in rows}, {0}, "groups in the log")
    plan = [float(line.split(",")[1]) for line in planned_file(tmp, "run.yaml", {"TARGET": serve.url, "API_KEY": "x"})]
    found = sessions(rows)
    equal(sorted(k for _, k in found), list(range(len(plan))), "sessions in the log, against the plan")
    for (_, k), mine in found.items():
        equal([row["step"] for row in mine], [0] * 10 + [1], f"steps of session {k}")
        equal([row["status"] for row in mine], [200] * 10 + [201], f"statuses of session {k}")
        equal([row["repeat"] for row in mine], [*range(10), 0], f"repeats of session {k}")
        equal([row["due"] for row in mine], ["arrival"] + ["step"] * 10, f"how the requests of session {k} came to be due")
        due = round(plan[k] * 1e9)
        equal(mine[0]["intended_ns"], due, f"when session {k} was due")
        # It is left out where it is the row's own.
        equal([row["arrived_ns"] or row["intended_ns"] for row in mine], [due] * 11, f"by which session {k} is counted")
        thinks = [after["intended_ns"] - before["done_ns"] for before, after in zip(mine, mine[1:])]
        expect(all(10_000_000 <= t <= 30_000_000 for t in thinks), f"think times of session {k}: {thinks}")
        expect(all(row["started_ns"] >= row["intended_ns"] for row in mine), f"session {k} began before it was due")
    whole = rows_of(ended.folder, "session")
    equal(sorted(row["k"] for row in whole), list(range(len(plan))), "rows of sessions")
    equal({row["repeat"] for row in whole}, {11}, "requests of each, as the rows of sessions tell")


def planned_file(tmp, name, env=None, *arguments):
    """The rows of `headway plan` of a scenario file."""
    return planned(name, *arguments, cwd=tmp, env=environment(**(env or {})))


@check("scenario: report --recompute gives the numbers of the live summary, sessions and closed users included")
def recomputed(tmp):
    closed = """
target: ${TARGET}
users:
  closed: { count: 6 }
  phases: [ { ramp: 500ms, to: 6, warmup: true }, { hold: 2s }, { ramp: 500ms, to: 2 } ]
  think: exp(30ms)
journey: [ { get: /a }, { get: /b, expect: { status: 404 } } ]
"""
    with Serve("--state", "--service", "exp(500us)", "--servers", "4", tmp=tmp) as serve:
        ended = [
            run_file(text, tmp=tmp, name=name, env={"TARGET": serve.url, "API_KEY": "x"})
            for name, text in [("bars", BARS.replace("hold: 3s", "hold: 1s")), ("closed", closed)]
        ]
    for run in ended:
        summary = run.summary
        conserved(summary)
        again = headway("report", run.folder, cwd=tmp).exits(code_of(summary))
        equal(again.out, run.out, f"{run.folder.name}: the report, rendered again")
        new = json.loads(headway("report", run.folder, "--recompute", "--json", "-", cwd=tmp).out)
        wrong = []
        for path in ["outcomes", "measured", "seed", "command", "started_at", "source", "plan", "workload", "rate", "lag",
                     "blocked", "response", "response_open", "response_session", "response_ok", "service", "first_byte",
                     "bytes", "by_label", "arrivals", "sessions"]:
            wrong += differences(path, summary[path], new[path])
        # Users count from the rows of their requests; when they came and went is not in the log.
        for path in ["think", "think_n", "response", "rate", "n_little", "rort", "users"]:
            wrong += differences(f"closed.{path}", summary["closed"][path], new["closed"][path])
        expect(not wrong, f"{run.folder.name}: recomputed otherwise:\n" + "\n".join(wrong[:20]))
        equal(new["verdict"]["load"], summary["verdict"]["load"], f"{run.folder.name}: verdict.load, recomputed")


@check("scenario: --dry-run opens no connection, leaves no folder, shows requests with secrets and answers left out")
def dry_run(tmp):
    text = """
target: ${TARGET}/base
seed: 3
variables: { tenant: "acme-${ACCESS_TOKEN}" }
data: { people: { csv: people.csv } }
users: { arrive: { rate: 5/s }, think: const(1s) }
journey:
  - post: /login
    name: login
    headers: { Authorization: "Bearer ${ACCESS_TOKEN}", X-Tenant: "{{vars.tenant}}" }
    json: { user: "{{data.people.name}}", password: "${ACCESS_TOKEN}" }
    extract: { id: { json: /id } }
  - get: "/items/{{id}}"
    name: item
    query: { t: "${ACCESS_TOKEN}", q: "a b" }
    repeat: 2
"""
    (tmp / "people.csv").write_text("name\nann\nbob\n")
    with Serve(tmp=tmp) as serve:
        env = {"TARGET": serve.url.rstrip("/"), "ACCESS_TOKEN": SECRET}
        ended = run_file(text, "--dry-run", tmp=tmp, env=env)
        flags = headway("run", serve.url, "-u", "3", "--think", "exp(1s)", "--dry-run", "-H", f"X-Api-Key: {SECRET}", cwd=tmp)
    ended.exits(0)
    flags.exits(0)
    equal(serve.report["connections"], 0, "connections that the target counted")
    equal(ended.folder.exists() or (tmp / "headway-runs").exists(), False, "a run folder")
    never_shown(SECRET, ended.out, ended.err, flags.out, flags.err)
    for part in ["nothing is sent", "[login]", "POST /base/login", "[item]", "GET /base/items/{{id}}?", "q=a%20b", "ann", "bob",
                 "<redacted>", "thinks for 1s", "Content-Type: application/json"]:
        contains(ended.out, part, "what would be sent")
    contains(flags.out, "X-Api-Key: <redacted>", "what would be sent")
    contains(flags.out, "GET /", "what would be sent")


@check("scenario: `plan FILE` is what a run of the file and seed intends; shards add up; users who wait have no plan")
def plan_of_file(tmp):
    text = """
target: ${TARGET}
users:
  - name: readers
    arrive: { process: uniform, rate: 40/s }
    phases: [ { ramp: 500ms, to: 40/s, warmup: true }, { hold: 500ms }, { pause: 200ms }, { spike: 200ms, to: 150/s }, { step: 200ms, by: 20/s, times: 2 } ]
    journey: [ { choose: [ { weight: 3, steps: [ { get: /a } ] }, { weight: 1, steps: [ { get: /b } ] } ] } ]
  - name: writers
    arrive: { rate: 30/s }
    phases: [ { hold: 1s } ]
    journey: [ { post: /c, text: x, expect: { status: 201 } }, { get: /d } ]
"""
    with Serve("--state", "--service", "const(100us)", tmp=tmp) as serve:
        env = {"TARGET": serve.url}
        ended = run_file(text, "--seed", "21", tmp=tmp, env=env)
    labels = ended.plan["asked"]["steps"]
    rows = [row for row in rows_of(ended.folder) if row["due"] == "arrival"]
    seen = sorted((f"{row['intended_ns'] / 1e9:.9f}", labels[row["step"]]) for row in rows)
    whole = planned_file(tmp, "run.yaml", env, "--seed", "21")
    equal(sorted(tuple(line.split(",")[1:]) for line in whole), seen, "first requests of the log, against the plan")
    expect({"GET /a", "GET /b", "POST /c"} <= {step for _, step in seen}, f"steps that begin: {set(seen)}")
    expect(not [t for t, step in seen if 1.0 < float(t) < 1.2 and step != "POST /c"], "readers arrived in their pause")
    parts = [line for i in range(3) for line in planned_file(tmp, "run.yaml", env, "--seed", "21", "--shard", f"{i}/3")]
    equal(sorted(parts), sorted(whole), "union of three shards")
    expect(planned_file(tmp, "run.yaml", env, "--seed", "22") != whole, "another seed gives the same plan")
    (tmp / "closed.yaml").write_text("target: http://127.0.0.1:1\nusers: { closed: { count: 3 } }\njourney: [ { get: / } ]\n")
    contains(headway("plan", "closed.yaml", cwd=tmp).exits(2).err, "have no plan of arrivals", "message")


# A file, and what its message must hold: place and cause.
MISTAKES = [
    ("target: http://127.0.0.1:1\nusers:\n  arive: { rate: 5/s }\njourney: [ { get: / } ]\n", ["bad.yaml:3:3", "arive", "arrive"]),
    ("target: http://127.0.0.1:1\nusers: { arrive: { rate: 5 } }\njourney: [ { get: / } ]\n", ["bad.yaml:2:", "5/s"]),
    ("target: http://127.0.0.1:1\nusers: { arrive: { rate: 5/s } }\njourney:\n  - get: /a\n    header: { X: y }\n", ["bad.yaml:5:5", "headers"]),
    ("target: http://127.0.0.1:1\nheaders: { X-Key: '${NOT_SET_ANYWHERE}' }\nusers: { arrive: { rate: 5/s } }\njourney: [ { get: / } ]\n",
     ["bad.yaml:2:", "^^^", "NOT_SET_ANYWHERE"]),
    ("target: http://127.0.0.1:1\ndata: { d: { csv: none.csv } }\nusers: { arrive: { rate: 5/s } }\njourney: [ { get: '/{{data.d.x}}' } ]\n",
     ["bad.yaml:2:", "none.csv"]),
    ("target: http://127.0.0.1:1\nusers: { arrive: { rate: 5/s } }\njourney: [ { get: '/{{idd}}', extract: { id: { json: /x } } } ]\n",
     ["bad.yaml:3:", "idd", "id"]),
    ("target: http://127.0.0.1:1\nusers: { arrive: { rate: 5/s } }\njourney: [ { get: / } ]\nthresholds: ['p(99)<x']\n", ["bad.yaml:4:", "p(99)<x"]),
    ("target: http://127.0.0.1:1\nusers:\n\tarrive: { rate: 5/s }\njourney: [ { get: / } ]\n", ["bad.yaml:3:", "tab"]),
    ("target: http://127.0.0.1:1\nusers: { arrive: { rate: 5/s } }\njourney: [ { get: / ]\n", ["bad.yaml:3:"]),
    ("", ["bad.yaml", "journey"]),
]


@check("scenario: mistakes in a file exit 2 from run, plan, sim and --dry-run alike, with line, caret and what would be right")
def mistakes(tmp):
    wrong = []
    for number, (text, parts) in enumerate(MISTAKES):
        (tmp / "bad.yaml").write_text(text)
        verbs = [["run"], ["run", "--dry-run"], ["plan"], ["sim"]] if number < 2 else [["run"]]
        for verb in verbs:
            ended = headway(*verb, "bad.yaml", cwd=tmp)
            missing = [p for p in parts if p not in ended.err]
            if ended.code != 2 or missing or ended.out or "^" not in ended.err and text:
                wrong.append(f"expected exit 2 and {missing} on stderr; {ended}")
    expect(not wrong, "\n".join(wrong))
    equal([p.name for p in tmp.iterdir()], ["bad.yaml"], "files that the mistakes left behind")
    # All mistakes at once, each with its own place.
    (tmp / "bad.yaml").write_text("target: http://x\nusers: { arrive: { rate: fast }, think: 5 }\njourney: [ { get: /, repat: 2 } ]\n")
    err = headway("run", "bad.yaml", cwd=tmp).exits(2).err
    equal(sorted(set(re.findall(r"bad\.yaml:(\d)", err))), ["2", "3"], f"lines with mistakes in {err}")


@check("scenario: flags take the place of a file's values and are named in the first line; those about a step are refused")
def flags(tmp):
    text = "target: ${TARGET}\nseed: 4\nusers: { arrive: { rate: 50/s }, phases: [ { hold: 500ms } ] }\njourney: [ { get: / } ]\n"
    with Serve("--service", "const(100us)", tmp=tmp) as serve:
        env = {"TARGET": serve.url}
        ended = run_file(text, "--seed", "9", "-c", "3", "--timeout", "5s", tmp=tmp, env=env)
        for arguments, parts in [
            (["-u", "5"], ["-u applies to a group that is closed"]), (["-m", "PUT"], ["-m: the steps"]), (["-b", "x"], ["-b: the steps"]),
            (["--at-once", "5"], ["| --at-once 5", "cannot have both 'arrive' and 'at-once'"]),
            (["--set", "timout=3s"], ["| --set timout=3s", "did you mean timeout?"]),
        ]:
            refused = run_file(text, *arguments, tmp=tmp, name="refused", env=env).exits(2)
            for part in parts:
                contains(refused.err, part, "message")
            expect(not refused.folder.exists(), f"{arguments} has left a folder")
        given = ["-R", "90", "-n", "20", "--arrivals", "constant", "--ramp", "100ms", "-H", "A: b", "--set", "timeout=4s"]
        other = run_file(text, *given, tmp=tmp, name="other", env=env)
        contains(other.err, "in place of the file's values: -H A: b, -R 90, --arrivals constant, --ramp 100ms, --set timeout=4s, -n 20", "first line")
        equal((other.plan["asked"]["timeout_s"], other.plan["asked"]["ramp_s"]), (4.0, 0.1), "--set and --ramp in plan.json")
        no_seed = run_file(text.replace("seed: 4\n", ""), "--shard", "0/2", tmp=tmp, name="refused", env=env).exits(2)
        contains(no_seed.err, "--seed", "message")
        no_target = run_file(text.replace("target: ${TARGET}\n", ""), tmp=tmp, name="refused").exits(2)
        contains(no_target.err, "target:", "message")
    asked = ended.plan["asked"]
    equal((ended.plan["plan"]["seed"], asked["connections"], asked["timeout_s"]), (9, 3, 5.0), "seed, -c and --timeout in plan.json")
