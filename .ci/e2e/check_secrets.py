"""Secrets: a marker in every place where a user or a target can put one, and none in anything that is written or shown."""

import base64
import json
import urllib.parse

from harness import check, code_of, contains, environment, equal, expect, headway
from recorder import Recorder

LOAD = ["-R", "40", "-d", "250ms", "--seed", "4"]
# Letters, digits, and what URLs, JSON, HTML and forms escape.
TAIL = "-9f/3+a\"&é"


def marker(name):
    return f"mk{name}{TAIL}"


def forms(text):
    """How a marker may look where it leaks: as it is, escaped, or in Base64."""
    found = {text, urllib.parse.quote(text, safe=""), urllib.parse.quote_plus(text), json.dumps(text)[1:-1],
             json.dumps(text, ensure_ascii=False)[1:-1], text.replace("&", "&amp;").replace('"', "&quot;")}
    # The part without anything to escape, which stands in all of these forms; and the inside of Base64.
    found |= {text.split("-")[0]}
    found |= {base64.b64encode(("x" * shift + text.split("-")[0]).encode()).decode()[4:-4] for shift in (0, 1, 2)}
    return {f for f in found if len(f) >= 5}


def written(*folders):
    """Every file under these folders."""
    return {str(p): p.read_bytes().decode("utf-8", "replace") for folder in folders for p in folder.rglob("*") if p.is_file()}


def nowhere(markers, texts, but=()):
    found = [f"{form!r} in {where}: ...{text[max(0, text.find(form) - 80):][:160]!r}"
             for where, text in texts.items() if not where.endswith(but)
             for m in markers for form in forms(m) if form in text]
    expect(not found, "\n".join(found[:12]))


def all_of(ended, name):
    return {f"stdout of {name}": ended.out, f"stderr of {name}": ended.err}


def q(text):
    return urllib.parse.quote(text, safe="")


PARAMETERS = ["token", "access_token", "api_key", "password", "sig", "X-Amz-Signature", "client_secret", "code", "jwt", "apikey",
              "X-Goog-Signature", "key", "refreshToken", "session_id", "user[password]", "door"]
HEADERS = ["Authorization", "Cookie", "DPoP", "X-Goog-Signature", "Ocp-Apim-Subscription-Key", "X-Session-Id", "X-Api-Key",
           "X-Auth-Token", "Proxy-Authorization", "X-CSRF-Token", "X-Amz-Security-Token", "Door"]


@check("secrets: markers in a URL, in headers and bodies are in no file, report, repeated command or dry run; --no-redact shows them")
def flags(tmp):
    user, password, fragment, body, cookie = map(marker, ["User", "Word", "Fragment", "Body", "Cookie"])
    values = {name: marker(f"Q{i}x") for i, name in enumerate(PARAMETERS)}
    headers = {name: f"mkH{i}x-9f/3+a" for i, name in enumerate(HEADERS)}
    headers["Cookie"] = "sid=mkHcookie-9f3a; theme=mkHtheme-9f3a"
    secrets = [user, password, fragment, body, *values.values(), *headers.values(), "mkHcookie-9f3a", "mkHtheme-9f3a"]
    query = "&".join(f"{q(name)}={q(value)}" for name, value in values.items())
    echo = lambda seen: (500, {"Set-Cookie": f"sid={cookie}"}, f"{seen.path} {seen.headers}".encode() + seen.body)
    with Recorder(echo) as server:
        address = server.url.removeprefix("http://").rstrip("/")
        url = f"http://{q(user)}:{q(password)}@{address}/p?{query}&page=2#{q(fragment)}"
        given = [a for name, value in headers.items() for a in ("-H", f"{name}: {value}")]
        given += ["-b", json.dumps({"password": body, "x": 1}), "--redact", "door"]
        ended = headway("run", url, *LOAD, *given, "--out", tmp / "run", "--json", tmp / "out.json", "--junit", tmp / "out.xml", "--details", cwd=tmp)
        # No request ended ok.
        expect(ended.code in (1, 98), str(ended))
    # It was sent as typed.
    seen = server.requests[0]
    equal(dict(urllib.parse.parse_qsl(seen.path.split("?")[1]))["X-Amz-Signature"], values["X-Amz-Signature"], "what was sent")
    again = headway("report", tmp / "run", "--recompute", "--html", tmp / "again.html", cwd=tmp)
    dry = headway("run", url, *LOAD, *given, "--dry-run", cwd=tmp).exits(0)
    texts = {**written(tmp), **all_of(ended, "run"), **all_of(again, "report"), **all_of(dry, "the dry run")}
    nowhere([*secrets, cookie], texts)
    for part in ["page=2", "hidden", "Authorization", "user and password of the URL", "the body"]:
        expect(part in ended.out, f"{part!r} is not in the report: {ended.out[-1500:]}")
    expect('"x": 1' in dry.out, f"the dry run hides too much: {dry.out}")
    shown = headway("run", url, *LOAD, *[a for a in given if a not in ("--redact", "door")], "--dry-run", "--no-redact", cwd=tmp).exits(0)
    hidden = [s for s in secrets if s not in (user, password, fragment) and s not in shown.out and q(s) not in shown.out
              and json.dumps(s)[1:-1] not in shown.out]
    expect(not hidden, f"--no-redact hides {hidden}")


@check("secrets: user and password of a proxy, by flag, in a file and in its environment, are in no file, report, reason or dry run")
def proxies(tmp):
    user, password = marker("Pu"), marker("Pw")
    # What no percent escape is needed for, as it is sent.
    sent = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    login = f"{q(user)}:{q(password)}"
    echo = lambda seen: (407, {"Proxy-Authenticate": seen.header("Proxy-Authorization")}, f"{seen.headers}".encode())
    file = "target: http://bars.test\nproxy: PROXY\nusers: { work: { requests: 5, users: 1 } }\n"
    file += 'journey: [ { get: /, name: n, expect: { status: 407, headers: { Proxy-Authenticate: "never there" }, body: { contains: "never there" } } } ]\n'
    texts = {}
    with Recorder(echo) as server:
        address = server.url.removeprefix("http://").rstrip("/")
        url, variables = f"http://{login}@{address}", environment(LOGIN=login)
        (tmp / "literal.yaml").write_text(file.replace("PROXY", f"'{url}'"))
        (tmp / "env.yaml").write_text(file.replace("PROXY", f"'http://${{LOGIN}}@{address}'"))
        for name, arguments in [
            ("flag", ["http://bars.test/", *LOAD, "--proxy", url]), ("joined", ["http://bars.test/", *LOAD, f"--proxy={url}"]),
            ("literal", [tmp / "literal.yaml"]), ("env", [tmp / "env.yaml"]), ("over", [tmp / "literal.yaml", "--proxy", url]),
            ("set", [tmp / "literal.yaml", "--set", f"proxy={url}"]), ("tunnel", ["https://bars.test/", *LOAD, "--proxy", url]),
        ]:
            before = len(server.requests)
            ended = headway("run", *arguments, "--out", tmp / name, "--json", tmp / f"{name}.json", "--details", cwd=tmp, env=variables)
            expect(ended.code in (0, 1, 98), str(ended))
            if name != "tunnel":
                equal({s.header("Proxy-Authorization") for s in server.requests[before:]}, {sent}, f"{name}: what the proxy got")
            dry = headway("run", *arguments, "--dry-run", cwd=tmp, env=variables).exits(0)
            printed = headway("run", *arguments, "--print-scenario", cwd=tmp, env=variables).exits(0)
            texts |= {**written(tmp / name), **all_of(ended, name), **all_of(dry, f"dry {name}"), **all_of(printed, f"scenario {name}")}
            texts[f"{name}.json"] = (tmp / f"{name}.json").read_text()
            contains(dry.out, f"through the proxy http://{address}", f"{name}: dry run")
    nowhere([user, password, login, sent.split()[1]], texts)


SCENARIO = """
redact: [door]
target: ${TARGET}
variables: { api_key: KEY, door: DOOR }
headers: { DPoP: HEADER, X-Plain: plain }
data: { people: { csv: people.csv, take: sequential } }
users: { arrive: { process: constant, rate: 40/s }, phases: [ { hold: 210ms }, { pause: 300ms } ] }
journey:
  - { post: "/login?sig=PATHSIG", name: login, json: { user: "{{data.name}}", password: "{{data.password}}", env: "${DB_PASSWORD}" },
      extract: { t: { json: /access_token } } }
  - { post: /echo, name: echo, BODY, query: { code: QUERY, used: "{{t}}" }, headers: { X-Own: "{{vars.door}}" }, expect: EXPECT }
model: { service: exp(1ms) }
# In a comment: KEY
"""
BODIES = [
    'json: { token: JSON, used: "{{t}}", who: "{{data.password}}" }',
    'form: { client_secret: FORM, used: "{{t}}", who: "{{data.password}}" }',
    'text: "<a><password>TEXT</password><b>{{t}} {{data.password}}</b></a>"',
    'multipart: [ { name: secret, text: PART }, { name: used, text: "{{t}}" } ]',
]
EXPECTS = [
    '{ body: { contains: "never there" } }',
    '{ body: { matches: "never there" } }',
    '{ body: { json: { /token: 5 } } }',
    '{ headers: { Location: "never there" } }',
]


@check("secrets: markers in a scenario, its data, environment and answers are in no file, reason, dry run or mistake")
def scenario(tmp):
    names = ["KEY", "DOOR", "HEADER", "PATHSIG", "QUERY", "JSON", "FORM", "TEXT", "PART"]
    plain = {name: f"mk{name}9f3a" for name in names}
    env, row, token, cookie, page = "mkEnv-9f/3+a", "mkRow-9f/3+a", "mkToken-9f/3+a", "mkCookie9f3a", "mkPage9f3a"
    (tmp / "people.csv").write_text(f"name,password\nada,{row}\n")
    secrets = [*plain.values(), env, row, token, cookie, page]

    def answer(seen):
        if seen.path.startswith("/login"):
            return 200, {"Set-Cookie": f"sid={cookie}"}, {"access_token": token, "you": seen.body.decode()}
        head = {"Location": f"https://elsewhere/?token={page}&again={q(token)}#access_token={page}"}
        said = f"<input name=csrf_token value='{page}'>{{\"token\": \"{page}\"}} {seen.headers} {seen.path} "
        if "EXPECT_JSON" in kind:
            return 200, head, {"token": page, "you": seen.body.decode(), "were": seen.path}
        return 200, head, seen.body + b" " + said.encode()

    texts = {}
    for i, (body, wanted) in enumerate(zip(BODIES, EXPECTS)):
        kind = "EXPECT_JSON" if "json" in wanted else ""
        text = SCENARIO.replace("BODY", body).replace("EXPECT", wanted)
        for name, value in plain.items():
            text = text.replace(name, value) if name != "BODY" else text
        file = tmp / f"s{i}.yaml"
        file.write_text(text)
        with Recorder(answer) as server:
            variables = environment(TARGET=server.url.rstrip("/"), DB_PASSWORD=env)
            ended = headway("run", file, "--seed", "4", "--out", tmp / f"run{i}", "--details", cwd=tmp, env=variables)
            dry = headway("run", file, "--seed", "4", "--dry-run", cwd=tmp, env=variables).exits(0)
            sim = headway("sim", file, "--seed", "4", "--out", tmp / f"sim{i}", cwd=tmp, env=variables)
            study = headway("sim", file, "--seed", "4", "--replications", "2", "--out", tmp / f"study{i}", cwd=tmp, env=variables)
            broken = tmp / f"broken{i}.yaml"
            broken.write_text(text.replace("X-Own", "X Own").replace("rate: 40/s", "rate: fast").replace("name: echo", "nmae: echo"))
            wrong = headway("run", broken, cwd=tmp, env=variables).exits(2)
        echoed = [s for s in server.requests if s.path.startswith("/echo")]
        expect(echoed and row in (echoed[0].body.decode() + row) and q(token) in echoed[0].path, f"{i}: what was sent: {echoed[:1]}")
        summary = json.loads((tmp / f"run{i}" / "summary.json").read_text())
        expect(summary["outcomes"].get("check"), f"{i}: no check failed: {summary['outcomes']}")
        expect("never there" in ended.out or "/token" in ended.out, f"{i}: the report does not say what failed: {ended.out[-900:]}")
        texts |= {**all_of(ended, f"run {i}"), **all_of(dry, f"dry run {i}"), **all_of(sim, f"sim {i}"),
                  **all_of(study, f"study {i}"), **all_of(wrong, f"mistake {i}"),
                  **written(tmp / f"run{i}", tmp / f"sim{i}", tmp / f"study{i}")}
        code_of(summary)
    nowhere(secrets, texts)
    expect("ada" in texts["stdout of dry run 0"], "the dry run hides what is no secret")


@check("secrets: mistakes in commands do not show them")
def mistakes(tmp):
    secret = "mkMistake9f3a"
    (tmp / "wrong").mkdir()
    journey = "target: http://127.0.0.1:1\nusers: { arrive: { rate: 1/s } }\njourney: [{ get: / }]\n"
    for name, text in [("password.yaml", f"password: {secret} b\n{journey}"), ("headers.yaml", f"{journey}headers: [ \"Authorization: Bearer {secret}\" ]\n"),
                       ("bearer.yaml", f"{journey}headrs: {{ X-Foo: Bearer {secret} }}\n"), ("nolog.txt", f"password={secret} of mine\n")]:
        (tmp / "wrong" / name).write_text(text)
    for arguments in [
        ["run", f"http://h/?token={secret}", f"http://h/?token={secret}"],
        ["run", f"http://h/#{secret}", "--no-such-flag"],
        ["run", f"ftp://h/?token={secret}#{secret}"],
        ["run", f"http://me:{secret}@127.0.0.1:99999/"],
        ["run", "http://127.0.0.1:1/", "-H", f"Authorization={secret}"],
        ["run", "http://127.0.0.1:1/", "--proxy", f"https://me:{secret}@127.0.0.1:1"],
        ["run", "http://127.0.0.1:1/", f"--proxy=http://me:{secret}@127.0.0.1:99999"],
        ["run", "http://127.0.0.1:1/", "--proxy", f"me:{secret}@127.0.0.1:1"],
        ["run", "http://127.0.0.1:1/", "--proxy", f"http://me:{secret}@127.0.0.1:1", "-R", "40", "-d", "500ms", "--seed", "4", "--out", tmp / "proxy"],
        ["run", "http://127.0.0.1:1/", "-H", secret],
        ["run", "http://127.0.0.1:1/", "-H", f"X-Plain: {secret}\x01"],
        ["run", "http://127.0.0.1:1/", "-H", f"DPoP: {secret}\x01"],
        ["run", "http://127.0.0.1:1/", "-kH", f"Session: {secret}\x01"],
        ["run", f"http://127.0.0.1:1/?code={secret}", "-R", "40", "-d", "500ms", "--seed", "4", "--out", tmp / "refused"],
        ["run", f"http://no.such.host.invalid/?code={secret}", "-R", "40", "-d", "500ms", "--seed", "4"],
        ["run", f"http://127.0.0.1:1/ ?code={secret}", "--seed", "x"],
        ["plan", f"http://127.0.0.1:99999/?api_key={secret}"],
        ["from-curl", f"curl -H 'Authorization: Bearer {secret}' --no-such-flag http://h/?token={secret}"],
        ["from-curl", f"curl http://me:{secret}@h:99999/?token={secret}"],
        ["run", "http://127.0.0.1:1/", "--set", f"headers.Authorization.x={secret}"],
        ["run", tmp / "wrong" / "password.yaml"], ["run", tmp / "wrong" / "headers.yaml"], ["run", tmp / "wrong" / "bearer.yaml"],
        ["audit", tmp / "wrong" / "nolog.txt"],
    ]:
        ended = headway(*arguments, cwd=tmp)
        expect(ended.code in (1, 2), f"expected exit 1 or 2; {ended}")
        nowhere([secret], {**all_of(ended, str(arguments[0])), **{k: v for k, v in written(tmp).items() if "/wrong/" not in k}})


@check("secrets: labels, messages and rows of audited files are shown without them")
def audited(tmp):
    head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes\n"
    labels = ["/login?password=mkLabel{i}x9", "/a?to=http%3A%2F%2Fh%2F%3Ftoken%3DmkLabel{i}x9", "/plain"]
    row = lambda i: f"{1700000000000 + i * 53},10,{labels[i % 3].format(i=i)},500,wrong password 'mkMessage{i}x9',t 1-1,false,5\n"
    (tmp / "y.jtl").write_text(head + "".join(map(row, range(600))) + "17x,10,/b?api_key=mkRow9f3a,200,OK,t 1-1,true,5\n")
    (tmp / "out").mkdir()
    ended = headway("audit", tmp / "y.jtl", "--lenient", "--json", tmp / "out" / "y.json", "--html", tmp / "out" / "y.html", "--details", cwd=tmp)
    expect(ended.code in (0, 97, 98, 99), str(ended))
    texts = {**all_of(ended, "audit"), **written(tmp / "out")}
    expect(not [w for w, text in texts.items() for mark in ("mkLabel", "mkMessage", "mkRow") if mark in text], f"shown: {ended.out[-900:]}")
    shown = json.loads((tmp / "out" / "y.json").read_text())
    expect("/login?password=<redacted>" in json.dumps(shown) and "/plain" in json.dumps(shown), "the labels are not there")
