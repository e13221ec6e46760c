"""Why requests failed: distinct reasons with counts, and for each known error a sentence that names the flag which helps."""

import contextlib
import json
import socket
import time

import badserver
from certificates import Authority
from check_scenario import run_file
from check_tls import Site
from harness import Serve, check, conserved, contains, environment, equal, expect, flat, free_port, headway, run
from recorder import Recorder

LOAD = ["-R", "40", "-d", "1s", "--arrivals", "constant"]
# 40 sessions at 25, 50 ... 1,000 ms, and time for the last.
FILE = "target: ${TARGET}\nseed: 1\nusers: { arrive: { process: constant, rate: 40/s }, phases: [ { hold: 1010ms }, { pause: 200ms } ] }\n"


def advised(ended, outcome, kind, *parts):
    """All failures of that outcome are of that kind, and the first screen says what helps."""
    summary = ended.summary
    conserved(summary)
    rows = [row for row in summary["failure_reasons"]["rows"] if row["outcome"] == outcome]
    expect(rows, f"no reasons of outcome {outcome}: {summary['failure_reasons']}; {ended}")
    equal({row["kind"] for row in rows}, {kind}, f"kinds of outcome {outcome}")
    failed = sum(f["n"] for f in summary["failures"] if f["outcome"] == outcome)
    equal(sum(row["n"] for row in rows), failed, f"{kind}: reasons, against failures (there is no warm-up)")
    for row in rows:
        contains(flat(ended.out), flat(row["advice"]), f"{kind}: the first screen")
    for part in parts:
        contains(flat(ended.out), part, f"{kind}: the first screen")
    for name, arguments in [("details", ["--details"]), ("markdown", ["--output", "markdown=-"])]:
        again = headway("report", ended.folder, *arguments, cwd=ended.folder.parent).exits(ended.code, 0)
        text = flat(again.out).replace("\\", "")
        for part in parts:
            contains(text, part.replace("&", "&amp;"), f"{kind}: {name}")
    page = (ended.folder / "report.html").read_text().replace("&#39;", "'").replace("&apos;", "'").replace("&#x27;", "'")
    for part in parts:
        contains(page, part, f"{kind}: report.html")


@check("reasons: a wrong port, and a name that does not resolve")
def nobody(tmp):
    port = free_port()
    advised(
        run(f"http://127.0.0.1:{port}/", *LOAD, tmp=tmp).exits(1), "refused", "connection-refused",
        f"connecting to 127.0.0.1:{port}", "Nothing listens at that address and port", "`headway serve` starts an HTTP target",
    )
    # Nothing is sent, so that there is no report: the sentence is the error.
    ended = run("http://nosuchhost.invalid/", *LOAD, tmp=tmp, name="name").exits(1)
    contains(ended.err, "nosuchhost.invalid does not resolve", "stderr")
    contains(flat(ended.err), "--resolve nosuchhost.invalid:", "stderr")
    with Recorder() as server:
        port = server.url.rstrip("/").rsplit(":", 1)[1]
        run(f"http://nosuchhost.invalid:{port}/", *LOAD, "--resolve", f"nosuchhost.invalid:{port}:127.0.0.1", tmp=tmp, name="host")
        equal({seen.header("Host") for seen in server.requests}, {f"nosuchhost.invalid:{port}"}, "Host, as the sentence advises")


@check("reasons: a certificate of an unknown issuer, an expired one, one for another name")
def certificates(tmp):
    with Site(tmp) as site:
        trusting = environment(SSL_CERT_FILE=site.authority.certificate)
        other = environment(SSL_CERT_FILE=Authority(tmp, "other-authority").certificate)
        accepts = "-k accepts any certificate"
        for name, kind, env, parts in [
            ("good", "untrusted", other, ["issuer is not trusted", "--cacert ca.pem"]),
            ("expired", "expired", trusting, ["not valid at this time"]),
            ("misnamed", "name", trusting, ["for another name"]),
        ]:
            ended = run(site.url(name), *LOAD, tmp=tmp, name=kind, env=env).exits(1)
            advised(ended, "tls", f"certificate-{kind}", accepts, *parts)


@contextlib.contextmanager
def full():
    """A port whose queue of connections is full, so that the kernel drops what asks for another one."""
    with contextlib.ExitStack() as open_ones:
        listener = open_ones.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(8):
            waiting = open_ones.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


@check("reasons: a connection that takes too long, a response that does, and a connection that is reset")
def times(tmp):
    with full() as port:
        ended = run(f"http://127.0.0.1:{port}/", *LOAD, "--connect-timeout", "300ms", tmp=tmp, name="connect")
        advised(ended, "connect-timeout", "connect-timeout", "--connect-timeout 30s waits longer")
        equal(set(ended.outcomes), {"connect-timeout"}, "outcomes")
    with badserver.BadServer(badserver.hung) as bad:
        ended = run(bad.url, *LOAD, "--timeout", "300ms", tmp=tmp, name="response")
        advised(ended, "timeout", "response-timeout", "see whether it hangs")
    with badserver.BadServer(badserver.says_and_resets(b"")) as bad:
        ended = run(bad.url, *LOAD, tmp=tmp, name="closed")
        advised(ended, "reset", "closed-unanswered", "closes connections without a word: use https:// if it expects TLS")
    with badserver.BadServer(badserver.says_and_resets(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi")) as bad:
        advised(run(bad.url, *LOAD, tmp=tmp, name="reset"), "reset", "reset", "closed the connection before its response", "a lower -R or -c")


@check("reasons: https to a server without TLS, which answers or is silent, and http to a port of TLS")
def crossed(tmp):
    plain = "use http:// instead of https://"
    with Recorder() as server, Serve(tmp=tmp) as serve:
        # Python's server reads up to the end of a line, which what TLS begins with may never have.
        ended = run(server.url.replace("http:", "https:"), *LOAD, "-k", "--connect-timeout", "300ms", tmp=tmp, name="python")
        expect(set(ended.outcomes) <= {"connect-timeout", "tls"}, f"outcomes of Python's server: {ended.outcomes}")
        kinds = {row["kind"] for row in ended.summary["failure_reasons"]["rows"]}
        expect(kinds <= {"tls-unanswered", "without-tls"}, f"kinds of Python's server: {kinds}")
        advised(run(serve.url.replace("http:", "https:"), *LOAD, "-k", tmp=tmp, name="serve").exits(1), "tls", "without-tls", plain)
    with badserver.BadServer(badserver.hung) as bad:
        ended = run(bad.url.replace("http:", "https:"), *LOAD, "-k", "--connect-timeout", "300ms", tmp=tmp, name="hung").exits(1)
        advised(ended, "connect-timeout", "tls-unanswered", "said nothing in TLS", "use http:// if it speaks plain HTTP")
    expected = "expects TLS at this port: use https:// instead of http://"
    with badserver.BadServer(badserver.says_and_closes(bytes([21, 3, 3, 0, 2, 2, 70]))) as bad:
        advised(run(bad.url, *LOAD, tmp=tmp, name="alert"), "protocol", "tls-expected", "TLS alert", expected)
    with Site(tmp) as site:
        ended = run(site.url("good").replace("https", "http"), *LOAD, tmp=tmp, name="page")
        advised(ended, "status", "tls-expected", "status 400", expected)


@check("reasons: status 401, 403, 429 and 503")
def statuses(tmp):
    with Recorder(lambda seen: (int(seen.path[1:]), {}, b"")) as server:
        for status, part in [
            (401, "-H 'Authorization: Bearer TOKEN' or --user NAME:PASSWORD"), (403, "credentials of another one"),
            (429, "use a lower -R"), (503, "overloaded or down: use a lower -R"),
        ]:
            ended = run(f"{server.url}/{status}", *LOAD, tmp=tmp, name=str(status))
            advised(ended, "status", f"status-{status}", f"status {status}", part)


@check("reasons: an empty body where JSON was expected, and a variable without a value")
def contents(tmp):
    expecting = FILE + "journey: [ { get: /empty, name: e, expect: { body: { json: { /state: open } } } } ]\n"
    extracting = FILE + (
        "journey:\n  - { get: /some, name: a, extract: { id: { json: /id } } }\n"
        '  - { get: "/b/{{id}}", name: b }\n'
    )
    with Recorder(lambda seen: (200, {}, b"" if seen.path == "/empty" else b"{}")) as server:
        env = {"TARGET": server.url}
        advised(
            run_file(expecting, tmp=tmp, name="empty", env=env), "check", "empty-body",
            "expected a body of JSON, got an empty body", "-H 'Accept: application/json'", "`expect: { status: 200 }`",
        )
        ended = run_file(extracting, tmp=tmp, name="missing", env=env)
        advised(ended, "unsent", "missing-variable", "{{id}}", "`extract` a `default:`")
        advised(ended, "check", "missing-variable", "expected a value at /id of the body")


@check("reasons: of the failed checks, 22 had no token and 67 a wrong body: two rows with counts; beyond 16 only counted")
def counted(tmp):
    bodies = iter([b'{"state": "open"}'] * 22 + [b'{"state": "shut%d", "token": 1}' % i for i in range(67)])
    text = (
        "target: ${TARGET}\nusers: { work: { requests: 89, users: 1 } }\n"
        "journey: [ { get: /x, name: login, expect: { body: { json: { /state: open } } }, extract: { token: { json: /token } } } ]\n"
    )
    with Recorder(lambda seen: (200, {}, next(bodies))) as server:
        ended = run_file(text, tmp=tmp, env={"TARGET": server.url})
    summary = ended.summary
    conserved(summary)
    rows = [(row["outcome"], row["status"], row["reason"], row["n"]) for row in summary["failure_reasons"]["rows"]]
    state, token = 'login: expected "open" at /state of the body', "login: {{token}}: expected a value at /token of the body"
    equal(rows, [("check", 200, state, 67), ("check", 200, token, 22)], "reasons")
    equal(summary["failure_reasons"]["rows"][0]["example"], state + ', got "shut0"', "example")
    contains(ended.out, f"67: {state}", "the first screen")
    contains(ended.out, "22: login: {{token}}: expected a value", "the first screen")
    steps = "".join(f"  - {{ get: /x, name: s{i:02}, expect: {{ body: {{ contains: nowhere }} }} }}\n" for i in range(20))
    with Recorder() as server:
        ended = run_file("target: ${TARGET}\nusers: { work: { requests: 40, users: 1 } }\njourney:\n" + steps, tmp=tmp, name="many", env={"TARGET": server.url})
    reasons = ended.summary["failure_reasons"]
    failed = ended.outcomes["check"]
    equal(len(reasons["rows"]), 16, "rows")
    equal(sum(row["n"] for row in reasons["rows"]) + reasons["others"]["check"], failed, "all that failed, with the others")
    contains(ended.out, "and 14 more reasons", "the first screen")


@check("reasons: secrets in a reason are hidden in the document and on the screen")
def secrets(tmp):
    text = (
        "target: ${TARGET}\nusers: { work: { requests: 20, users: 1 } }\n"
        'journey: [ { get: /x, name: login, headers: { Authorization: "Bearer hunter2hunter2" }, expect: { body: { contains: nowhere } } } ]\n'
    )
    with Recorder(lambda seen: (200, {}, seen.header("Authorization").encode())) as server:
        ended = run_file(text, tmp=tmp, env={"TARGET": server.url})
    expect(ended.summary["failure_reasons"]["rows"], "no reasons")
    for file in ["summary.json", "report.html"]:
        expect("hunter2" not in (ended.folder / file).read_text(), f"{file} holds the secret")
    expect("hunter2" not in ended.out + ended.err, "the screen holds the secret")


@check("reasons: requests that were given up have their limit; computed again they are the same, and merge adds those of the shards up")
def kept(tmp):
    def slow_or_wrong(seen):
        if seen.path == "/slow":
            time.sleep(1)
        return 500, {}, b""

    text = "target: ${TARGET}\nseed: 7\nusers: { arrive: { rate: 40/s }, phases: [ { hold: 2s } ] }\ntimeout: 300ms\njourney: [ { get: /x, name: x }, { get: /slow, name: slow } ]\n"
    (tmp / "s.yaml").write_text(text)
    counts = []
    with Recorder(slow_or_wrong) as server:
        env = {"TARGET": server.url}
        for i in range(2):
            headway("run", "s.yaml", "--shard", f"{i}/2", "--out", "run", "--quiet", cwd=tmp, env=env)
    reasons = lambda folder: json.loads((tmp / folder / "summary.json").read_text())["failure_reasons"]
    key = lambda row: (row["outcome"], row["status"], row["kind"], row["reason"], row["example"])
    for i in range(2):
        own = reasons(f"run/{i}")
        late = [row for row in own["rows"] if row["outcome"] == "timeout"]
        equal([(row["reason"], row["kind"]) for row in late], [("no complete response within 300ms", "response-timeout")], "timeouts")
        headway("report", f"run/{i}", "--recompute", "--json", f"again-{i}.json", cwd=tmp)
        equal(json.loads((tmp / f"again-{i}.json").read_text())["failure_reasons"], own, "computed again")
        counts.append({key(row): row["n"] for row in own["rows"]})
    headway("merge", "run/0", "run/1", "--out", "all", "--quiet", cwd=tmp)
    both = {k: sum(of.get(k, 0) for of in counts) for k in set(counts[0]) | set(counts[1])}
    equal({key(row): row["n"] for row in reasons("all")["rows"]}, both, "merged")
    (tmp / "run/0/summary.json").unlink()
    headway("report", "run/0", "--recompute", "--json", "killed.json", cwd=tmp)
    killed = json.loads((tmp / "killed.json").read_text())["failure_reasons"]["rows"]
    expect([row["outcome"] for row in killed] == ["timeout"], f"without a summary: {killed}")
