"""Redirects, against nginx: counted and said, or followed, as further requests of steps of their own."""

import json
from collections import Counter

from check_reasons import advised
from harness import LoggedNginx, all_ended, check, conserved, contains, equal, expect, finding, flat, free_port, headway, run

LOAD = ["-R", "40", "-d", "500ms", "--arrivals", "constant"]


class Site(LoggedNginx):
    """nginx that redirects within itself, elsewhere, and in a circle."""

    def __init__(self, tmp):
        self.port, self.other = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(
            tmp,
            "$server_port $request_method $uri $content_length [$cookie_sid] [$http_authorization]",
            f"server {{ listen 127.0.0.1:{self.port}; "
            "location = /old { return 301 /middle; } location = /middle { add_header Set-Cookie 'sid=7; Path=/'; return 302 /new; } "
            'location = /new { return 200 "fine\\n"; } '
            "location = /form { return 303 /new; } location = /kept { return 307 /new; } "
            f"location = /elsewhere {{ return 302 http://127.0.0.1:{self.other}/new; }} "
            "location = /circle { return 302 /circle; } } "
            f'server {{ listen 127.0.0.1:{self.other}; location / {{ return 200 "other\\n"; }} }}',
        )

    def seen(self):
        """What nginx logged since the last call."""
        return Counter(self.lines())


@check("redirects: of a plain URL they are counted and said, and followed with -L, beside the work that is asked for")
def plain(tmp):
    with Site(tmp) as site:
        ended = run(f"{site.url}/old", *LOAD, "--seed", "1", tmp=tmp, name="said")
        n = all_ended(ended, "ok")["measured"]["n"]
        equal(site.seen(), Counter({f"{site.port} GET /old - [-] [-]": n}), "what nginx saw without -L")
        said = finding(ended.summary, "redirects")
        equal((said["severity"], said["n"], said["value"]), ("warning", n, 1.0), "the finding")
        contains(flat(ended.out), "Follow them by -L", "the first screen")

        followed = run(f"{site.url}/old", *LOAD, "--seed", "1", "-L", "-H", "Authorization: Bearer abc123", tmp=tmp, name="followed")
        summary = all_ended(followed, "ok")
        equal(summary["measured"]["n"], 3 * n, "requests, redirects followed")
        lines = {f"{site.port} GET {path} - [{sid}] [Bearer abc123]": n for path, sid in [("/old", "-"), ("/middle", "-"), ("/new", "7")]}
        equal(site.seen(), Counter(lines), "what nginx saw with -L")
        steps = {name: row["n"] for name, row in summary["by_label"].items()}
        equal(sorted(steps.values()), [n, 2 * n], f"requests by step: {steps}")
        expect(any(name.endswith(" (redirected)") for name in steps), f"steps: {steps}")
        equal(summary["sessions"]["n"], n, "sessions, of three requests each")
        expect(finding(summary, "redirects") is None, "a finding on redirects that were followed")

        work = run(f"{site.url}/old", "-n", "30", "-c", "4", "-L", tmp=tmp, name="work")
        issued = [rule for rule in all_ended(work, "ok")["verdict"]["rules"] if rule["rule"] == "all-issued"]
        equal([(rule["value"], rule["n"], rule["outcome"]) for rule in issued], [(1.0, 30, "pass")], "the rule on the work")
        equal(sum(site.seen().values()), 90, "30 asked for, each led on twice")


@check("redirects: those that a step expects, or takes a cookie of, are not warned of; others are, also when the run is computed again")
def expected(tmp):
    with Site(tmp) as site:
        def ran(name, *steps):
            (tmp / f"{name}.yaml").write_text(
                f"target: {site.url}\nusers: {{ work: {{ requests: 12, users: 1 }} }}\njourney: [ {', '.join(steps)} ]\n"
            )
            ended = run(tmp / f"{name}.yaml", tmp=tmp, name=name)
            all_ended(ended, "ok")
            return ended

        taken = ["{ get: /old, expect: { status: 301 } }", "{ get: /middle, extract: { sid: { cookie: sid } } }", "{ get: /new }"]
        ended = ran("taken", *taken)
        expect(finding(ended.summary, "redirects") is None, f"redirects that were expected are found: {ended}")
        expect("redirect" not in ended.out, f"said for nothing: {ended}")
        ended = ran("also", *taken, "{ get: /middle, name: plain }")
        said = finding(ended.summary, "redirects")
        equal((said["value"], said["n"]), (3 / 12, 12), "redirects of the step that says nothing of them")
        headway("report", ended.folder, "--recompute", "--json", tmp / "again.json", cwd=tmp).exits(0, 98)
        again = json.loads((tmp / "again.json").read_text())
        equal((finding(again, "redirects")["value"], again["plan"]["redirects_expected"]), (3 / 12, [0, 1]), "computed again")


@check("redirects: methods and bodies as in curl, a circle, another origin; in a scenario, by redirects: 10")
def scenario(tmp):
    with Site(tmp) as site:
        (tmp / "s.yaml").write_text(
            f"target: {site.url}\nredirects: 10\nusers: {{ work: {{ requests: 8, users: 1 }} }}\n"
            "journey: [ { post: /form, text: abc }, { post: /kept, text: abc }, { get: /old, expect: { status: 301 } }, { get: /new } ]\n"
        )
        ended = run(tmp / "s.yaml", tmp=tmp, name="scenario")
        all_ended(ended, "ok")
        port = site.port
        equal(
            site.seen(),
            Counter({
                f"{port} POST /form 3 [-] [-]": 2, f"{port} GET /new - [-] [-]": 4, f"{port} POST /kept 3 [-] [-]": 2,
                f"{port} POST /new 3 [-] [-]": 2, f"{port} GET /old - [-] [-]": 2,
            }),
            "what nginx saw of the scenario",
        )
        ended = run(f"{site.url}/elsewhere", *LOAD, "-L", tmp=tmp, name="elsewhere")
        advised(ended, "check", "redirect-elsewhere", f"redirected to http://127.0.0.1:{site.other}", "give --origin")
        expect(not any(line.startswith(str(site.other)) for line in site.seen()), "something was sent to the other port")
        ended = run(f"{site.url}/circle", *LOAD, "-L", tmp=tmp, name="circle")
        advised(ended, "check", "too-many-redirects", "curl -vL")
        conserved(ended.summary)
        equal(ended.summary["measured"]["n"], sum(site.seen().values()), "requests, and those that nginx saw")
        for name, value, part in [("many", "51", "a number from 0"), ("word", "true", "is not a count")]:
            (tmp / f"{name}.yaml").write_text(f"target: {site.url}\nredirects: {value}\nusers: {{ at-once: 1 }}\njourney: [ {{ get: / }} ]\n")
            contains(flat(run(tmp / f"{name}.yaml", tmp=tmp, name=name).exits(2).err), part, f"redirects: {value}")
        contains(flat(run(site.url, "--connecting", "4", "-d", "1s", "-L", tmp=tmp, name="connecting").exits(2).err), "follow no redirect", "stderr")
        contains(flat(run(f"tcp://127.0.0.1:{site.port}", "-R", "4", "-d", "1s", "-b", "x", "--answer", "close", "-L", tmp=tmp, name="tcp").exits(2).err), "has no redirects", "stderr")
