"""Habits of other tools: `translate` and `--run`, targets and bodies on standard input, --user, proxies that are not used."""

import base64

from harness import check, conserved, contains, environment, equal, expect, finding, headway, run
from recorder import Recorder


def piped(text):
    """Puts a text on the standard input of a command."""
    return {"wrap": ["sh", "-c", 'printf "%s" "$0" | "$@"', text]}


@check("translate: the command alone on standard output, remarks on standard error, and --run runs it")
def translates(tmp):
    with Recorder() as server:
        command = ["wrk", "-t2", "-c3", "-d1s", "-H", "X-A: b", server.url]
        printed = headway("translate", "--", *command, cwd=tmp).exits(0)
        equal(printed.out, f"headway run {server.url} -u 3 -d 1s -H 'X-A: b'\n", "stdout")
        contains(printed.err, "closed workload", "stderr")
        ended = headway("translate", "--run", "--", "hey", "-n", "20", "-c", "2", "-a", "me:pw4711", server.url, cwd=tmp)
        expect(ended.code in (0, 98), f"{ended}")
        equal(len(server.requests), 20, "requests")
        expected = "Basic " + base64.b64encode(b"me:pw4711").decode()
        expect(all(seen.header("Authorization") == expected for seen in server.requests), "no Authorization")
        expect("pw4711" not in ended.out + ended.err, "the password is shown")


@check("run -: targets of vegeta and scenarios on standard input; bodies from a file and standard input")
def standard_input(tmp):
    with Recorder() as server:
        base = server.url.rstrip("/")
        targets = f"GET {base}/a\nX-A: b\n\nPOST {base}/c\n@body.json\n"
        (tmp / "body.json").write_text('{"a": 1}')
        ended = run("-", "-R", "60", "-d", "1s", tmp=tmp, **piped(targets))
        conserved(ended.summary)
        equal({(seen.method, seen.path) for seen in server.requests}, {("GET", "/a"), ("POST", "/c")}, "requests")
        posts = [seen for seen in server.requests if seen.method == "POST"]
        equal({seen.body for seen in posts}, {b'{"a": 1}'}, "bodies")
        server.requests.clear()
        body = base64.b64encode(b'{"b": 2}').decode()
        targets = f'{{"method": "PUT", "url": "{base}/j", "header": {{"X-A": ["b", "c"]}}, "body": "{body}"}}\n'
        conserved(run("-", "-R", "60", "-d", "500ms", tmp=tmp, name="json", **piped(targets)).summary)
        seen = {(seen.method, seen.path, seen.header("X-A"), seen.body) for seen in server.requests}
        equal(seen, {("PUT", "/j", "b, c", b'{"b": 2}')}, "requests of targets in JSON")
        server.requests.clear()
        scenario = f"target: {base}\nusers: {{ work: {{ requests: 4, users: 2 }} }}\njourney: [ {{ get: /s }} ]\n"
        run("-", tmp=tmp, name="scenario", **piped(scenario)).exits(0, 98)
        equal([seen.path for seen in server.requests], ["/s"] * 4, "requests of the scenario")
        for flags, options in ([["-b", "@body.json"], {}], [["--data", "-"], piped('{"a": 1}')]):
            server.requests.clear()
            run(server.url, "-n", "3", "-c", "1", *flags, tmp=tmp, name="body" + flags[0].strip("-"), **options).exits(0, 98)
            equal([(seen.method, seen.body) for seen in server.requests], [("POST", b'{"a": 1}')] * 3, f"bodies of {flags}")
    two = headway("run", "-", "-n", "4", "--print-scenario", cwd=tmp, **piped(f"GET {base}/a\nGET http://127.0.0.2:9/a\n")).exits(0)
    contains(two.out, "http://127.0.0.2:9/a", "a target of another host")


@check("run: a proxy that is named and not used is said, without its password; a rate with a cap is said to be in total")
def first_lines(tmp):
    with Recorder() as server:
        env = environment(HTTP_PROXY="http://me:pw4712@127.0.0.1:1")
        ended = run(server.url, "-q", "20", "-c", "4", "-d", "200ms", tmp=tmp, env=env)
        contains(ended.err, "HTTP_PROXY is set and not used", "stderr")
        contains(ended.err, "in total", "stderr")
        expect("pw4712" not in ended.err, "the password of the proxy is shown")
        contains(finding(ended.summary, "proxy-not-used")["text"], "HTTP_PROXY is set and not used", "finding")
        expect(server.requests, "nothing came")
        env = environment(HTTP_PROXY="http://127.0.0.1:1", NO_PROXY="127.0.0.1")
        ended = run(server.url, "-q", "20", "-d", "200ms", tmp=tmp, name="excepted", env=env)
        expect("PROXY" not in ended.err and "in total" not in ended.err, f"said for nothing; {ended}")
        expect(not finding(ended.summary, "proxy-not-used"), "found for nothing")
