"""What goes to standard output, and what must go nowhere."""

import base64
import json
import os
import pty
import select
import time
import urllib.parse

from check_scenario import rows_of
from harness import HEADWAY, Serve, all_ended, check, code_of, contains, environment, equal, expect, headway, run, spawn, stop

LOAD = ["-R", "200", "-d", "1s"]
SPREAD = "n mean sd cov min p50 p90 p95 p99 p999 max ci95".split()
# Of the contract of headway.summary/2: block: keys that it must have.
CONTRACT = {
    "": "schema units source name seed plan verdict arrivals rate lag blocked response response_ok service first_byte "
        "bytes outcomes by_label closed thread_groups series curves generator not_computed".split(),
    "units": "time rate size".split(),
    "verdict": "load pattern findings".split(),
    "arrivals": "n rate headway_mean headway_sd cov cov_se cov_se_poisson p50 p90 p95 p99 min max lag1 ks dispersion "
                "resolution by_label".split(),
    "arrivals.ks": ["plan", "exponential"],
    "arrivals.ks.plan": ["d", "p"],
    "arrivals.ks.exponential": ["d", "p"],
    "rate": "offered started throughput bytes_received bytes_sent".split(),
    "time_split": "connect tls receive".split(),
    "time_split.receive": "n mean p50 p90 p99 max".split(),
    "lag": "n p50 p99 p999 max".split(),
    "blocked": "n p50 p99 p999 max".split(),
    "response": SPREAD, "response_ok": SPREAD, "service": SPREAD, "first_byte": SPREAD, "bytes": SPREAD,
    "curves": ["percentiles", "headway"],
    "generator": "workers stalls same_host_as_target".split(),
}


def block(document, path):
    for name in filter(None, path.split(".")):
        document = document[name]
    return document


@check("output: --json - is one document on stdout, schema headway.summary/2, with every block of the contract")
def contract(tmp):
    with Serve("--service", "exp(1ms)", "--servers", "2", tmp=tmp) as serve:
        ended = run(serve.url, *LOAD, "--json", "-", tmp=tmp)
    document = json.loads(ended.out)
    equal(document, ended.summary, "stdout, against summary.json")
    equal(document["schema"], "headway.summary/2", "schema")
    equal(document["units"], {"time": "s", "rate": "1/s", "size": "B"}, "units")
    equal(document["source"], "live", "source")
    equal(document["time_split"]["tls"], None, "handshakes without TLS")
    lengths = {round(row["to_s"] - row["from_s"], 9) for row in document["series"]}
    equal(lengths, {0.1}, "lengths of rows of a second's run")
    statuses = [sum(row.get("statuses", {}).values()) for row in document["series"]]
    equal(sum(statuses), sum(n for name, n in document["outcomes"].items() if name in ("ok", "status", "check")), "responses in series")
    wrong = [
        f"{path or 'the document'} lacks {missing}"
        for path, keys in CONTRACT.items()
        if (missing := [k for k in keys if k not in block(document, path)])
    ]
    for path in ["lag", "blocked", "response", "service", "arrivals", "arrivals.intended", "curves.headway"]:
        if not isinstance(block(document, path).get("n"), int):
            wrong.append(f"{path} has no n")
    for row in document["arrivals"]["dispersion"]:
        if missing := [k for k in ("window", "index", "se", "windows", "expected") if k not in row]:
            wrong.append(f"a row of arrivals.dispersion lacks {missing}")
    for found in document["verdict"]["findings"]:
        if missing := [k for k in ("id", "severity", "text", "value", "interval", "limit", "at", "n") if k not in found]:
            wrong.append(f"finding {found.get('id')} lacks {missing}")
    for worker in document["generator"]["workers"]:
        if missing := [k for k in ("handling", "polling", "sleeping", "runqueue_wait") if k not in worker]:
            wrong.append(f"a worker lacks {missing}")
    for path in ["arrivals", "rate", "lag", "blocked", "response", "response_ok", "service", "first_byte", "bytes"]:
        for name, value in block(document, path).items():
            if value is None and f"{path}.{name}" not in document["not_computed"]:
                wrong.append(f"{path}.{name} is null without a reason in not_computed")
        for name, value in (block(document, path).get("ci95") or {}).items():
            if value is None and f"{path}.ci95.{name}" not in document["not_computed"]:
                wrong.append(f"{path}.ci95.{name} is null without a reason in not_computed")
    for label, entry in document["by_label"].items():
        if not {"response", "outcomes"} <= set(entry):
            wrong.append(f"by_label.{label} lacks response or outcomes")
    expect(not wrong, "\n".join(wrong))


FORMATS = "terminal json html markdown junit openmetrics hlog csv parquet".split()
MODELLED = """users: { arrive: { rate: 200/s }, phases: [{ hold: 2s }] }
journey: [{ get: / }]
model: { servers: 2, service: exp(1ms) }
"""


def starts(path, format):
    """Whether the file is of that format, by how it begins and ends."""
    data = path.read_bytes()
    if format == "parquet":
        return data.startswith(b"PAR1") and data.endswith(b"PAR1")
    begins = {
        "terminal": "", "json": "{", "html": "<!DOCTYPE html>", "markdown": "<!-- headway report -->", "junit": "<?xml",
        "openmetrics": "# TYPE headway_run info", "hlog": "#[Histogram log format version 1.3]", "csv": "arrival,",
    }
    text = data.decode()
    holds = {"terminal": "  OUTCOME  ", "openmetrics": "\n# EOF\n"}
    return text.startswith(begins[format]) and holds.get(format, "") in text


def all_at_once(tmp, name, formats, *command):
    """Every format of one command in its own file: as many rows as requests."""
    places = {format: tmp / f"{name}.{format}" for format in formats}
    flags = [word for format, place in places.items() for word in ("--output", f"{format}={place}")]
    ended = headway(*command, *flags, cwd=tmp)
    expect(ended.code in (0, 97, 98), f"{name}: exit {ended.code}: {ended.err}")
    for format, place in places.items():
        expect(place.is_file() and starts(place, format), f"{name}: no {format} in {place}: {ended.err}")
    json_of = json.loads(places["json"].read_text())
    rows = places["csv"].read_text().splitlines()
    equal(len(rows) - 1, sum(json_of["outcomes"].values()), f"{name}: rows of requests")
    return json_of


@check("output: every format at once, of run, sim, audit and report; what cannot be made is refused before anything is sent")
def every_format(tmp):
    (tmp / "s.yaml").write_text(MODELLED)
    with Serve("--service", "exp(1ms)", "--servers", "2", tmp=tmp) as serve:
        seen = all_at_once(tmp, "run", FORMATS, "run", serve.url, *LOAD, "--seed", "1", "--out", tmp / "run")
        recorded = json.loads((tmp / "run/summary.json").read_text())
        equal(seen, recorded, "json of run, against its folder")
        for flags, said in [
            (["--no-log", "--output", "hlog=x"], "hlog is made of the records of single requests, and --no-log keeps none"),
            (["--no-log", "--output", "x.csv"], "csv is made of the records"),
            (["--output", "jsn=x"], "did you mean json?"),
            (["--output", "x.doc"], "no format is named"),
            (["--output", "json=-", "--output", "csv=-"], "both go to standard output"),
        ]:
            refused = headway("run", serve.url, *LOAD, *flags, cwd=tmp)
            equal(refused.code, 2, f"exit of {flags}")
            contains(refused.err, said, f"stderr of {flags}")
        expect(not (tmp / "headway-runs").exists(), "a refused run has a folder")
    simulated = all_at_once(tmp, "sim", FORMATS, "sim", tmp / "s.yaml", "--seed", "1", "--out", tmp / "sim")
    equal(simulated["source"], "sim", "source")
    all_at_once(tmp, "report", FORMATS, "report", tmp / "run")
    of_audit = [format for format in FORMATS if format != "parquet"]
    all_at_once(tmp, "audit", of_audit, "audit", tmp / "run")
    refused = headway("audit", tmp / "run", "--output", "x.parquet", cwd=tmp)
    equal(refused.code, 2, "exit of audit --output x.parquet")
    contains(refused.err, "an audit keeps no log", "stderr")
    study = headway("sim", tmp / "s.yaml", "--replications", "2", "--output", "study.md", "--output", "hlog=x", cwd=tmp)
    equal(study.code, 2, "exit of a study as hlog")
    headway("sim", tmp / "s.yaml", "--replications", "2", "--out", tmp / "study", cwd=tmp)
    again = headway("report", tmp / "study", "--output", "json=-", "--output", tmp / "study.md", cwd=tmp)
    equal(again.out, (tmp / "study/study.json").read_text(), "a study, reported again")
    expect(starts(tmp / "study.md", "markdown"), "a study as Markdown")
    refused = headway("report", tmp / "study", "--output", "junit=x", cwd=tmp)
    contains(refused.err, "junit cannot be made of a study; what can is terminal, json, html, markdown", "stderr")
    piped = headway("report", tmp / "run", "--output", "markdown=-", cwd=tmp)
    expect(piped.out.startswith("<!-- headway report -->"), f"markdown on stdout: {piped.out[:200]!r}")
    expect("Arrivals\n" not in piped.out, "the terminal report is printed too")


@check("output: --quiet prints nothing at all; progress goes to stderr alone; no colours off a terminal")
def quiet(tmp):
    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve:
        silent = run(serve.url, *LOAD, "--quiet", tmp=tmp, name="quiet")
        silent.exits(code_of(silent.summary))
        equal((silent.out, silent.err), ("", ""), "stdout and stderr of --quiet")
        both = run(serve.url, *LOAD, "--quiet", "--json", "-", tmp=tmp, name="both")
        equal(json.loads(both.out), both.summary, "--quiet --json -")
        loud = run(serve.url, "-R", "100", "-d", "6s", tmp=tmp, name="loud")
        all_ended(loud, "ok")
    expect("\x1b" not in loud.out + loud.err and "\r" not in loud.out + loud.err, "control codes off a terminal")
    expect(len(loud.err.splitlines()) >= 2, f"no progress on stderr: {loud.err!r}")
    expect(all(len(line) <= 100 for line in loud.err.splitlines()), "a line of stderr is over 100 columns")
    wide = [line for line in loud.out.splitlines() if len(line) > 80 and str(tmp) not in line]
    expect(not wide, f"lines over 80 columns: {wide[:3]}")


def on_a_terminal(arguments, cwd, env):
    """What a command prints on a terminal."""
    ours, theirs = pty.openpty()
    process = spawn([HEADWAY, *arguments], cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 1)[0]:
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            text += data
    os.close(ours)
    process.wait(10)
    stop(process)
    return text.decode("utf-8", "replace")


@check("output: on a terminal it is coloured, with NO_COLOR it is not")
def colours(tmp):
    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve:
        all_ended(run(serve.url, *LOAD, tmp=tmp), "ok")
    shown = on_a_terminal(["report", tmp / "run"], tmp, environment(TERM="xterm"))
    contains(shown, "\x1b[", "a report on a terminal")
    plain = on_a_terminal(["report", tmp / "run"], tmp, environment(TERM="xterm", NO_COLOR="1"))
    expect("\x1b[" not in plain, "escape codes in spite of NO_COLOR")
    contains(plain, "LOAD     ", "the plain report")


@check("output: a closed pipe ends a report quietly")
def closed_pipe(tmp):
    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve:
        ended = run(serve.url, *LOAD, tmp=tmp)
    reader, writer = os.pipe()
    os.close(reader)
    process = spawn([HEADWAY, "report", ended.folder], cwd=tmp, stdout=writer, stderr=open(tmp / "err", "wb"))
    os.close(writer)
    code = process.wait(30)
    stop(process)
    equal((code, (tmp / "err").read_text()), (code_of(ended.summary), ""), "exit and stderr")


@check("secrets: an Authorization header, a cookie, URL credentials and bodies are in no file of the run, nor printed")
def secrets(tmp):
    password = "pw/d0rmouse"
    plain = {"s3cr3t", "c00kie", "b0dy", "d0rmouse", urllib.parse.quote(password, safe="")}
    hidden = [*plain, base64.b64encode(f"alice:{password}".encode()).decode()]
    log = tmp / "seen"
    with Serve("--service", "const(1ms)", "--servers", "4", tmp=tmp) as serve:
        address = serve.url.removeprefix("http://")
        for name, url, arguments in [
            ("header", serve.url, ["-H", "Authorization: Bearer s3cr3t", "-H", "Cookie: session=c00kie", "-b", "pin=b0dy"]),
            ("joined", serve.url, ["-HAuthorization: Bearer s3cr3t", "--header=Cookie: session=c00kie", "--body=pin=b0dy"]),
            ("key", serve.url, ["-H", "X-Api-Key: s3cr3t", "-H", "Proxy-Authorization: Basic s3cr3t", "-H", "X-Auth-Token: s3cr3t"]),
            ("url", f"http://alice:{urllib.parse.quote(password, safe='')}@{address}", []),
            ("bare", f"alice:{urllib.parse.quote(password, safe='')}@{address}", []),
        ]:
            ended = run(url, "-R", "50", "-d", "500ms", *arguments, tmp=tmp, name=name)
            all_ended(ended, "ok")
            again = headway("report", ended.folder, "--recompute", "--html", tmp / f"{name}.html", cwd=tmp)
            texts = {"stdout": ended.out, "stderr": ended.err, "report": again.out + again.err}
            texts |= {p.name: p.read_bytes().decode("latin-1") for p in [*ended.folder.iterdir(), tmp / f"{name}.html"]}
            found = [f"{secret} in {where}" for where, text in texts.items() for secret in hidden if secret in text]
            log.open("a").writelines(f"{name}: {f}\n" for f in found)
    found = log.read_text()
    expect(not found, found)


@check("secrets: a mistake in a command does not print them either")
def secrets_in_errors(tmp):
    for arguments in [
        ["run", "http://alice:d0rmouse@127.0.0.1:99999/"],
        ["run", "alice:d0rmouse@127.0.0.1:99999/"],
        ["run", "http://alice:d0rmouse@127.0.0.1:1/", "-R", "100", "-d", "200ms", "--arrivals", "constant", "--out", tmp / "refused"],
        ["run", "http://127.0.0.1:1/", "-H", "Authorization Bearer d0rmouse"],
        ["run", "http://127.0.0.1:1/", "-H", "Authorization: Bearer d0rmouse\r\n"],
    ]:
        ended = headway(*arguments, cwd=tmp)
        expect(ended.code in (1, 2), f"expected exit 1 or 2; {ended}")
        expect("d0rmouse" not in ended.out + ended.err, f"the password is printed; {ended}")


@check("output: --percentiles: of a run and computed again from its records; none can be without records; bad ones: exit 2")
def percentiles(tmp):
    asked = ["--percentiles", "75,99,99.99"]
    with Serve("--service", "exp(1ms)", "--servers", "2", tmp=tmp) as serve:
        own = run(serve.url, *LOAD, *asked, tmp=tmp, name="asked")
        run(serve.url, *LOAD, tmp=tmp, name="plain")
        run(serve.url, *LOAD, "--no-log", tmp=tmp, name="nolog")
    equal(own.summary["plan"]["percentiles"], [75, 99, 99.99], "plan.percentiles")
    response = own.summary["response"]
    equal([row["percent"] for row in response["percentiles"]], [75, 99.99], "percentiles besides the five")
    middle, far = response["percentiles"]
    expect(response["p50"] <= middle["value"] <= response["p90"] and middle["ci95"], f"p75: {response}")
    expect(far["ci95"] is None and "response.ci95.p99.99" in own.summary["not_computed"], f"p99.99: {far}")
    again = json.loads(headway("report", "plain", *asked, "--json", "-", cwd=tmp).out)
    log = [(row["done_ns"] - row["intended_ns"]) / 1e9 for row in rows_of(tmp / "plain")]
    expect(abs(again["response"]["percentiles"][0]["value"] / sorted(log)[int(len(log) * 0.75)] - 1) < 0.1, "p75 against the records")
    shown = headway("report", "plain", *asked, cwd=tmp).out
    contains(shown, "p99.99", "the table")
    expect("p95 " not in shown, f"p95 is shown: {shown}")
    contains(headway("report", "nolog", "--percentiles", "99,50", cwd=tmp).exits(0, 98).out, "p50", "of a run without records")
    lacks = headway("report", "nolog", *asked, cwd=tmp).exits(2)
    contains(lacks.err, "--percentiles: the summary does not hold 75, and the run kept no records", "message")
    for bad in ["0", "100", "abc", "50,,99"]:
        wrong = headway("report", "plain", "--percentiles", bad, cwd=tmp).exits(2)
        contains(wrong.err, "--percentiles", f"message of {bad}")
        contains(wrong.err, "above 0 and below 100", f"message of {bad}")


@check("output: --histogram has every answered request once; --open starts the desktop's opener, and says where it cannot")
def histogram_and_open(tmp):
    with Serve("--service", "exp(1ms)", "--servers", "2", tmp=tmp) as serve:
        ended = run(serve.url, *LOAD, "--histogram", tmp=tmp, name="shown")
    lines = ended.out.splitlines()
    first = next(i for i, line in enumerate(lines) if "answered requests" in line)
    bars = [line for line in lines[first + 1:] if "%" in line and line.rstrip().endswith("#")]
    expect(0 < len(bars) <= 13 and all(len(line) <= 80 for line in bars), ended.out)
    equal(sum(int(line[21:].split()[0].replace(",", "")) for line in bars), ended.summary["outcomes"]["ok"], "requests in the histogram")
    opener = tmp / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text('#!/bin/sh\necho "$1" > opened\n')
    opener.chmod(0o755)
    path = f"{opener.parent}:{os.environ['PATH']}"
    headway("report", "shown", "--open", cwd=tmp, env=environment(PATH=path, CI="")).exits(ended.code)
    for _ in range(100):
        if (tmp / "opened").exists() and (tmp / "opened").read_text():
            break
        time.sleep(0.05)
    equal((tmp / "opened").read_text().strip(), "shown/report.html", "the page that was opened")
    (tmp / "opened").unlink()
    said = headway("report", "shown", "--open", cwd=tmp, env=environment(PATH=path, CI="true")).exits(ended.code)
    contains(said.err, "nothing is opened where CI is set", "in CI")
    said = headway("report", "shown", "--open", cwd=tmp, env=environment(PATH=str(tmp), CI="")).exits(ended.code)
    contains(said.err, "neither xdg-open nor open can be started", "without an opener")
    (tmp / "shown" / "report.html").unlink()
    said = headway("report", "shown", "--open", cwd=tmp, env=environment(PATH=path, CI="")).exits(2)
    contains(said.err, "--open: there is no page to open: --html FILE writes one", "without a page")
    headway("report", "shown", "--open", "--html", "new.html", cwd=tmp, env=environment(PATH=str(tmp), CI="")).exits(ended.code)
    time.sleep(0.2)
    expect(not (tmp / "opened").exists(), "it was opened")
