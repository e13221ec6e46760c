"""Several origins in one run, against nginx: steps that are whole URLs, redirects from one to another, one that is down, a proxy."""

import contextlib
import json
import socket
from collections import Counter

from certificates import Authority
from check_proxy import Tinyproxy
from harness import LoggedNginx, Nginx, all_ended, check, conserved, contains, environment, equal, expect, flat, free_port, headway, run

SECRET = "planted-marker-77"
LOAD = ["-R", "40", "-d", "500ms", "--arrivals", "constant"]


class Sites(LoggedNginx):
    """nginx with a site on 127.0.0.1 without TLS, and one on 127.0.0.2 with TLS and HTTP/2."""

    def __init__(self, tmp):
        self.authority, self.plain, self.tls, self.down = Authority(tmp), free_port(), free_port(), free_port()
        ours = self.authority.server("good", "DNS:api.example,IP:127.0.0.2")
        self.first, self.second = f"http://127.0.0.1:{self.plain}", f"https://127.0.0.2:{self.tls}"
        super().__init__(
            tmp,
            "$server_port $server_protocol $http_host $ssl_server_name $request_method $request_uri "
            "[$http_cookie] [$http_authorization] [$http_x_tag] [$http_x_note] $connection",
            f"server {{ listen 127.0.0.1:{self.plain}; location = /away {{ add_header Set-Cookie 'here=1; Path=/'; return 302 {self.second}/landed; }} "
            f"location = /lost {{ return 302 http://127.0.0.9:1/; }} location / {{ add_header Set-Cookie 'here=1; Path=/'; return 200 'one'; }} }} "
            f"server {{ listen 127.0.0.2:{self.tls} ssl http2; {ours} location = /back {{ return 302 {self.first}/home; }} "
            "location / { add_header Set-Cookie 'there=2; Path=/'; return 200 'two'; } }",
        )
        self.trusting = ["--cacert", self.authority.certificate]

    def seen(self):
        """What nginx logged since the last call: requests, and connections by port."""
        new = [line.rsplit(" ", 1) for line in self.lines()]
        return Counter(line for line, _ in new), Counter(port for port, _ in {(line.split()[0], number) for line, number in new})


def written(tmp, name, site, users, steps, more=""):
    (tmp / name).write_text(f"target: {site.first}\n{more}users: {users}\njourney:\n" + "".join(f"  - {step}\n" for step in steps))
    return tmp / name


@check("origins: a journey over two, each with its own host, protocol, cookies and connections; secrets of the file stay with the target")
def two(tmp):
    with Sites(tmp) as site:
        file = written(
            tmp, "two.yaml", site, "{ work: { requests: 40, users: 1 } }",
            ["get: /", f"get: {site.second}/items", "get: /again", f"{{ get: {site.second}/own, headers: {{ Authorization: Bearer other }} }}"],
            f"headers: {{ Authorization: Bearer {SECRET}, X-Tag: all }}\n",
        )
        ended = run(file, *site.trusting, "-c", "8", tmp=tmp, name="two")
        summary = all_ended(ended, "ok")
        requests, connections = site.seen()
        one, other = f"{site.plain} HTTP/1.1 127.0.0.1:{site.plain} - GET", f"{site.tls} HTTP/2.0 127.0.0.2:{site.tls} - GET"
        paths = Counter({
            f"{one} / [-] [Bearer {SECRET}] [all] [-]": 10, f"{one} /again [here=1] [Bearer {SECRET}] [all] [-]": 10,
            f"{other} /items [-] [-] [all] [-]": 10, f"{other} /own [there=2] [Bearer other] [all] [-]": 10,
        })
        equal(requests, paths, "what nginx saw")
        equal(connections, Counter({str(site.plain): 1, str(site.tls): 1}), "connections: one to each origin")
        equal(summary["generator"]["connections_opened"], 2, "connections of the summary")
        equal(summary["plan"]["origins"], [site.second], "plan.origins")
        labels = {f"GET /": 10, f"GET {site.second}/items": 10, "GET /again": 10, f"GET {site.second}/own": 10}
        equal({label: row["n"] for label, row in summary["by_label"].items()}, labels, "rows by label")
        expect(SECRET not in "".join(p.read_text(errors="replace") for p in ended.folder.iterdir() if p.is_file()), "the marker is in the folder")
        dry = headway("run", file, *site.trusting, "--dry-run", cwd=tmp).exits(0)
        contains(dry.out, f"GET {site.second}/items", "the dry run")
        steps = ["get: /", f"get: {site.second}/items"]
        several = written(tmp, "users.yaml", site, "{ work: { requests: 40, users: 3 } }", steps)
        all_ended(run(several, *site.trusting, tmp=tmp, name="users"), "ok")
        equal(site.seen()[1], Counter({str(site.plain): 3, str(site.tls): 3}), "connections: one of each user to each origin")
        contains(flat(run(several, *site.trusting, "-c", "4", tmp=tmp, name="cap").exits(2).err), "to each origin of their journey", "a cap for too few")
        shared = written(tmp, "shared.yaml", site, "{ work: { requests: 40, users: 3 }, connections: shared }", steps)
        few = all_ended(run(shared, *site.trusting, "-c", "1", tmp=tmp, name="few"), "ok")
        equal(few["measured"]["n"], 40, "requests with one connection for two origins")


@check("origins: a header of the file with a secret goes to the target alone, however its value is written")
def withheld(tmp):
    with Sites(tmp) as site:
        (tmp / "people.csv").write_text(f"name,password\nann,{SECRET}-cell\n")
        named = {
            "Authorization": "Bearer ${TICKET}", "X-A": "{{vars.api_key}}", "X-B": "u:{{vars.password}}:x", "X-C": "{{data.people.password}}",
            "X-D": "{{sess_token}}", "X-E": "{{here}}", "X-F": f"{SECRET}-key", "X-G": "{{vars.pin}}",
        }
        said = "log_format heads '" + "|".join(f"$http_{name.lower().replace('-', '_')}" for name in [*named, "X-H", "X-I"]) + "'"
        plain, tls, access = free_port(), free_port(), tmp / "heads.log"
        both = " ".join(
            f"server {{ listen 127.0.0.1:{port}; access_log {tmp}/{port}.log heads; "
            f"location / {{ add_header Set-Cookie 'here={SECRET}-jar; Path=/'; return 200 'sess_token={SECRET}-got'; }} }}" for port in (plain, tls)
        )
        (tmp / "second").mkdir()
        with Nginx(tmp / "second", f"{said}; {both}"):
            headers = "".join(f"  {name}: '{value}'\n" for name, value in {**named, "X-H": "{{data.people.name}}", "X-I": "all"}.items())
            (tmp / "secrets.yaml").write_text(
                f"target: http://127.0.0.1:{plain}\nvariables: {{ api_key: {SECRET}-key, password: {SECRET}-word, pin: '4' }}\n"
                f"headers:\n{headers}data: {{ people: {{ csv: people.csv }} }}\nusers: {{ at-once: 1 }}\njourney:\n"
                "  - { get: /, headers: { X-D: none, X-E: none }, extract: { sess_token: { regex: 'sess_token=(.*)' }, here: { cookie: here } } }\n"
                f"  - get: /again\n  - get: http://127.0.0.1:{tls}/other\n"
                f"  - {{ get: 'http://127.0.0.1:{tls}/own', headers: {{ X-D: '{{{{sess_token}}}}' }} }}\n"
            )
            for more in [], ["--no-redact"]:
                name = "shown" if more else "hidden"
                all_ended(run(tmp / "secrets.yaml", *more, tmp=tmp, name=name, env=environment(TICKET=f"{SECRET}-ticket")), "ok")
                to = {port: (tmp / f"{port}.log").read_text().splitlines()[-2:] for port in (plain, tls)}
                ways = ["ticket", "key", "word", "cell", "got", "jar", "key"]
                equal(to[plain][1].replace("u:", "").replace(":x", "").replace("Bearer ", ""), "|".join(f"{SECRET}-{way}" for way in ways) + "|4|ann|all", "to the target")
                equal(to[tls], ["|".join(["-"] * 8 + ["ann", "all"]), "|".join(["-"] * 4 + [f"{SECRET}-got"] + ["-"] * 3 + ["ann", "all"])], "to the other origin")


@check("origins: a redirect to another is followed where the run names it, without the secrets of its step")
def led(tmp):
    with Sites(tmp) as site:
        secrets = ["-H", f"Authorization: Bearer {SECRET}", "-H", f"X-Note: {SECRET}", "-H", f"Cookie: mine={SECRET}", "-H", "X-Tag: all"]
        ended = run(f"{site.first}/away", *LOAD, "-L", "--origin", site.second, *site.trusting, *secrets, tmp=tmp, name="led")
        n = all_ended(ended, "ok")["measured"]["n"] // 2
        requests, _ = site.seen()
        landed = {line: count for line, count in requests.items() if "/landed" in line}
        equal(landed, {f"{site.tls} HTTP/2.0 127.0.0.2:{site.tls} - GET /landed [-] [-] [all] [-]": n}, "what the other origin saw")
        first = [line for line in requests if "/away" in line]
        expect(len(first) == 1 and first[0].count(SECRET) == 3, f"what the first origin saw: {first}")
        ended = run(f"{site.first}/lost", *LOAD, "-L", "--origin", site.second, *site.trusting, tmp=tmp, name="lost")
        contains(flat(ended.out), "redirected to http://127.0.0.9:1", "the place that nobody named")
        contains(flat(ended.out), "give --origin", "the advice")
        file = written(tmp, "back.yaml", site, "{ work: { requests: 6, users: 1 } }", [f"get: {site.second}/back", "get: /end"], "redirects: 3\n")
        all_ended(run(file, *site.trusting, tmp=tmp, name="back"), "ok")
        paths = Counter(" ".join(line.split()[4:6]) for line in site.seen()[0].elements() if "/lost" not in line)
        equal(paths, Counter({"GET /back": 3, "GET /home": 3, "GET /end": 3}), "there and back")


@check("origins: one that is down fails by its name, and the others go on")
def down(tmp):
    with Sites(tmp) as site:
        nowhere = f"http://127.0.0.1:{site.down}"
        file = written(tmp, "down.yaml", site, "{ arrive: { rate: 40/s }, phases: [ { hold: 1s } ] }", ["get: /", f"get: {nowhere}/x", f"get: {site.second}/y"])
        ended = run(file, *site.trusting, tmp=tmp, name="down")
        conserved(ended.summary)
        rows = {label: row["n"] for label, row in ended.summary["by_label"].items()}
        failed = {(row["outcome"], row["reason"]) for row in ended.summary["failure_reasons"]["rows"]}
        expect(len(failed) == 1, f"failures: {failed}")
        outcome, reason = failed.pop()
        equal(outcome, "refused", "the outcome")
        contains(reason, f"{nowhere}: connecting to 127.0.0.1:{site.down}", "the reason")
        seen = site.seen()[0]
        equal(sum(seen.values()), rows["GET /"] + rows[f"GET {site.second}/y"], "requests to the others")


@check("origins: one that does not answer, or takes no connection, is named by what was given up there")
def silent(tmp):
    with Sites(tmp) as site, contextlib.ExitStack() as sockets:
        def listening(backlog):
            listener = sockets.enter_context(socket.create_server(("127.0.0.1", 0), backlog=backlog))
            return listener, f"http://127.0.0.1:{listener.getsockname()[1]}"

        # The kernel takes connections, and nobody reads; where the queue is full, it takes none.
        _, mute = listening(100)
        full, shut = listening(0)
        for _ in range(2):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        users = "{ arrive: { process: constant, rate: 20/s }, phases: [ { hold: 1s } ] }"
        file = written(tmp, "silent.yaml", site, users, ["get: /", f"get: {mute}/x", f"get: {shut}/y"], "timeout: 300ms\nconnect-timeout: 200ms\n")
        ended = run(file, tmp=tmp, name="silent")
        conserved(ended.summary)
        rows = {(row["outcome"], row["reason"], row["origin"]): row["n"] for row in ended.summary["failure_reasons"]["rows"]}
        late = ("timeout", f"{mute}: no complete response within 300ms", mute)
        closed = ("connect-timeout", f"{shut}: no connection within 200ms", shut)
        equal(set(rows), {late, closed}, "reasons")
        counts = {outcome: n for outcome, n in ended.summary["outcomes"].items() if outcome != "ok"}
        equal(counts, {late[0]: rows[late], closed[0]: rows[closed]}, "outcomes, against rows")
        again = headway("report", ended.folder, "--recompute", "--json", tmp / "again.json", cwd=tmp)
        again.exits(0, 98)
        told = json.loads((tmp / "again.json").read_text())["failure_reasons"]
        equal({(row["outcome"], row["reason"], row["origin"]): row["n"] for row in told["rows"]}, rows, "computed again")


@check("origins: an extracted link is followed where the run names its origin, without the secrets of its step, and is named elsewhere")
def links(tmp):
    with Sites(tmp) as site:
        # Several users might end between their two steps. Where nginx says that it leads: to the second site, and to a place that nobody names.
        def ran(name, path, more, users="{ work: { requests: 12, users: 1 } }"):
            steps = [f"{{ get: {path}, expect: {{ status: 302 }}, extract: {{ link: {{ header: Location }} }} }}",
                     f"{{ get: '{{{{link}}}}', name: link, headers: {{ Authorization: Bearer {SECRET}, X-Tag: all }} }}"]
            return run(written(tmp, name, site, users, steps, more), *site.trusting, tmp=tmp, name=name[:-5])

        origins = f"origins: [ '{site.second}' ]\n"
        ended = ran("link.yaml", "/away", origins)
        all_ended(ended, "ok")
        requests, connections = site.seen()
        landed = f"{site.tls} HTTP/2.0 127.0.0.2:{site.tls} - GET /landed [-] [-] [all] [-]"
        equal({line: n for line, n in requests.items() if "/away" not in line}, {landed: 6}, "what the other origin saw")
        equal(connections, Counter({str(site.plain): 1, str(site.tls): 1}), "connections: one of the user to each origin")
        equal(ended.summary["by_label"]["link"]["n"], 6, "requests of the link")
        shared = ran("shared.yaml", "/away", origins, "{ arrive: { process: constant, rate: 40/s }, phases: [ { hold: 500ms } ] }")
        all_ended(shared, "ok")
        equal(sum(n for line, n in site.seen()[0].items() if landed == line), 20, "links of sessions that arrive")
        lost = ran("lost.yaml", "/lost", origins)
        equal(lost.summary["by_label"]["link"]["outcomes"], {"unsent": 6}, f"outcomes of links elsewhere ({lost})")
        row = next(row for row in lost.summary["failure_reasons"]["rows"])
        equal((row["outcome"], row["kind"], row["reason"]), ("unsent", "redirect-elsewhere", "link: the link leads to http://127.0.0.9:1"), "the reason")
        contains(row["advice"], "give --origin", "the advice")
        equal(sum(site.seen()[0].values()), 6, "requests of the run whose links lead elsewhere")


@check("origins: through a proxy, requests without TLS are forwarded, and those with it have a tunnel")
def proxied(tmp):
    with Sites(tmp) as site, Tinyproxy(tmp) as proxy:
        file = written(tmp, "via.yaml", site, "{ work: { requests: 8, users: 1 } }", ["get: /", f"get: {site.second}/items"])
        all_ended(run(file, *site.trusting, "--proxy", proxy.url(), tmp=tmp, name="via"), "ok")
        asked = Counter(line.split()[0] for line in proxy.asked())
        expect(asked["CONNECT"] == 1 and asked["GET"] >= 1, f"the proxy was asked: {asked}")
        equal(sum(site.seen()[0].values()), 8, "requests")


@check("origins: names are looked up and verified by origin; what cannot be is said with its place")
def mistakes(tmp):
    with Sites(tmp) as site:
        api = f"https://api.example:{site.tls}"
        file = written(tmp, "named.yaml", site, "{ work: { requests: 4, users: 1 } }", ["get: /", f"get: {api}/"])
        resolve = ["--resolve", f"api.example:{site.tls}:127.0.0.2"]
        all_ended(run(file, *site.trusting, *resolve, tmp=tmp, name="named"), "ok")
        expect(any(f"api.example:{site.tls} api.example GET /" in line for line in site.seen()[0]), "the name in TLS and in Host")
        for name, step, part in [
            ("values", "get: https://{{user.id}}.example/x", "the host of a step is the same"), ("login", "get: https://me:pass@a.example/", "a user and a password"),
            ("scheme", "get: ftp://a.example/", "not spoken here"), ("port", "get: http://a.example:0/", "port 0"),
            ("glued", "get: https://a.example{{user.id}}", "the host of a step is the same"),
            ("slashes", "get: //a.example/x", "write https://a.example/x or http://a.example/x"),
        ]:
            error = run(written(tmp, f"{name}.yaml", site, "{ at-once: 1 }", [step]), tmp=tmp, name=name).exits(2).err
            contains(flat(error), part, name)
            contains(error, f"{name}.yaml:4", f"{name}: the line")
        model = written(tmp, "sim.yaml", site, "{ at-once: 1 }", ["get: /", f"get: {api}/"], "model: { servers: 1, service: exp(8ms) }\n")
        contains(flat(headway("sim", model, cwd=tmp).exits(2).err), "a model stands for one target", "the simulation")
        contains(flat(run(site.first, *LOAD, "--origin", site.second, tmp=tmp, name="none").exits(2).err), "no redirect is followed", "an origin without -L")
        for at, origin in enumerate(["7", "{{vars.a}}", "https://{{vars.a}}", "*.test", "http://*.test", f"{site.second}#part", f"{site.second}?a=b", f"{site.second}/x"]):
            error = run(site.first, *LOAD, "-L", "--origin", origin, tmp=tmp, name=f"origin{at}").exits(2).err
            contains(flat(error), "write scheme, host and port alone", origin)
        gone = written(tmp, "gone.yaml", site, "{ at-once: 1 }", ["get: /", "get: http://nosuchhost.invalid/x"])
        error = flat(run(gone, tmp=tmp, name="gone").exits(1).err)
        contains(error, "http://nosuchhost.invalid: the name nosuchhost.invalid does not resolve", "a name of a step")
        contains(error, "--resolve nosuchhost.invalid:80:ADDRESS", "the advice")
        contains(flat(run(site.first, *LOAD, "-L", "--origin", site.second, "--sni", "a.example", tmp=tmp, name="sni").exits(2).err), "for the target alone", "--sni")


@check("origins: http:// and h2c:// of one host and port are two, each with its own version of HTTP")
def versions(tmp):
    ports = free_port(), free_port()
    both = " ".join(f"server {{ listen 127.0.0.1:{port}{more}; access_log {tmp}/{port}.log seen; location / {{ return 200 'x'; }} }}" for port, more in zip(ports, ["", " http2"]))
    with Nginx(tmp, f"log_format seen '$server_protocol $request_uri'; {both}"):
        plain, prior = f"http://127.0.0.1:{ports[0]}", f"h2c://127.0.0.1:{ports[1]}"

        def seen():
            logs = [tmp / f"{port}.log" for port in ports]
            lines = [line for log in logs for line in log.read_text().splitlines()]
            for log in logs:
                log.write_text("")
            return Counter(lines)

        for name, target, step in [("one", plain, prior), ("other", prior, plain)]:
            text = f"target: {target}\nusers: {{ work: {{ requests: 8, users: 1 }} }}\njourney:\n  - get: /a\n  - get: {step}/b\n"
            (tmp / f"{name}.yaml").write_text(text)
            all_ended(run(tmp / f"{name}.yaml", tmp=tmp, name=name), "ok")
            of_plain, of_prior = ("a", "b") if target == plain else ("b", "a")
            equal(seen(), Counter({f"HTTP/1.1 /{of_plain}": 4, f"HTTP/2.0 /{of_prior}": 4}), f"versions with target {target}")
        # The same host and port.
        same = plain.replace("http", "h2c")
        (tmp / "same.yaml").write_text(f"target: {plain}\nusers: {{ at-once: 1 }}\njourney:\n  - get: /a\n  - get: {same}/b\n")
        equal(run(tmp / "same.yaml", tmp=tmp, name="same").summary["plan"]["origins"], [same], "plan.origins")
        contains(flat(run(tmp / "same.yaml", "--http1.1", tmp=tmp, name="asked").exits(2).err), "HTTP/1.1 alone is asked for", "--http1.1")
