"""`from-curl`, `from-har`, `from-openapi` and `from-jmx`: what they print is a scenario that runs and sends the same, secrets apart. `schema`: what
editors go by agrees with what headway takes."""

import json
import re
from collections import Counter

import jsonschema
import yaml

from check_scenario import never_shown
from harness import ROOT, Serve, check, conserved, contains, environment, equal, expect, flat, headway, run
from recorder import Recorder

SECRETS = ["BEARER-4711", "COOKIE-4712", "PASSWORD-4713", "TOKEN-4714", "SESSION-4715"]


@check("convert: a curl command becomes a scenario that sends what curl would, with its secrets asked for and not printed")
def curl(tmp):
    with Recorder() as server:
        command = (
            f"curl '{server.url}/api/items?x=1&y=a%20b' -X PUT -H 'Content-Type: application/json' -H 'X-Mine: it'\\''s' "
            f"-H 'Authorization: Bearer {SECRETS[0]}' -b 'sid={SECRETS[1]}' --data-raw '{{\"a\": [1, \"{{{{b}}}}\"], \"c\": null}}' --compressed"
        )
        printed = headway("from-curl", command, cwd=tmp).exits(0)
        never_shown(SECRETS[0], printed.out, printed.err)
        never_shown(SECRETS[1], printed.out, printed.err)
        (tmp / "curl.yaml").write_text(printed.out.replace("rate: 1/s", "rate: 20/s").replace("hold: 10s", "hold: 500ms"))
        missing = headway("run", "curl.yaml", "--dry-run", cwd=tmp).exits(2)
        names = sorted(set(re.findall(r"HEADWAY_SECRET_\w+", printed.out)))
        equal(names, ["HEADWAY_SECRET_AUTHORIZATION", "HEADWAY_SECRET_COOKIE"], "secrets that are asked for")
        for name in names:
            contains(missing.err, f"the environment variable {name} is not set", "message")
            contains(printed.err, name, "stderr")
        env = environment(HEADWAY_SECRET_AUTHORIZATION=f"Bearer {SECRETS[0]}", HEADWAY_SECRET_COOKIE=f"sid={SECRETS[1]}")
        ended = run("curl.yaml", "--seed", "4", tmp=tmp, env=env)
        conserved(ended.summary)
        never_shown(SECRETS[0], ended.folder, ended.out, ended.err)
    expect(server.requests, "nothing came")
    for seen in server.requests:
        equal((seen.method, seen.path), ("PUT", "/api/items?x=1&y=a%20b"), "request line")
        told = {"Content-Type": "application/json", "X-Mine": "it's", "Authorization": f"Bearer {SECRETS[0]}", "Cookie": f"sid={SECRETS[1]}"}
        equal({name: seen.header(name) for name in told}, told, "headers")
        equal(json.loads(seen.body), {"a": [1, "{{b}}"], "c": None}, "body")
    for wrong, part in [("wget http://x/", "curl"), ("curl", "no URL"), ("curl --unix-socket /s http://a/ --next http://b/", "goes nowhere else"), ("curl 'http://a", "not closed")]:
        ended = headway("from-curl", wrong, cwd=tmp).exits(2)
        contains(ended.err, part, "message")
        equal(ended.out, "", "stdout")


def entry(at, method, url, took, headers=(), answered=(), kind="text/html", body=None):
    def listed(pairs):
        return [{"name": name, "value": value} for name, value in pairs]

    sent = {"postData": {"mimeType": body[0], "text": body[1]}} if body else {}
    return {
        "startedDateTime": f"2026-03-01T10:00:{at:06.3f}Z", "time": took, "cache": {}, "timings": {"send": 0, "wait": took, "receive": 0},
        "request": {"method": method, "url": url, "httpVersion": "HTTP/1.1", "headers": listed(headers), "queryString": [],
                    "cookies": [], "headersSize": -1, "bodySize": -1, **sent},
        "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": listed(answered), "cookies": [],
                     "content": {"size": 0, "mimeType": kind}, "redirectURL": "", "headersSize": -1, "bodySize": 0},
    }


@check("convert: a browser's recording becomes a scenario: its requests in order, think times, the jar's cookies left to answers")
def har(tmp):
    form = "application/x-www-form-urlencoded"
    with Recorder(lambda seen: (200, {"Set-Cookie": f"session={SECRETS[4]}"} if seen.path == "/login" else {}, b"")) as server:
        common = [("Accept", "text/html"), ("User-Agent", "Mozilla/5.0 (test)"), ("Host", "x"), ("Connection", "keep-alive")]
        inside = [*common, ("Cookie", f"session={SECRETS[4]}")]
        entries = [
            entry(0, "GET", f"{server.url}/", 50, common),
            entry(0.06, "GET", f"{server.url}/style.css", 20, common, kind="text/css"),
            entry(0.07, "GET", f"{server.url}/logo.png", 20, common, kind="image/png"),
            entry(3.1, "POST", f"{server.url}/login", 40, [*common, ("Content-Type", form)],
                  [("Set-Cookie", f"session={SECRETS[4]}; Path=/")], body=(form, f"user=ann+b&password={SECRETS[2]}")),
            entry(5.2, "GET", f"{server.url}/items?page=1&token={SECRETS[3]}", 40, [*inside, ("Authorization", f"Bearer {SECRETS[0]}")]),
            entry(9, "POST", f"{server.url}/api", 30, [*inside, ("Content-Type", "application/json")], body=("application/json", '{"a": {"b": [1]}}')),
            entry(9.1, "GET", "https://tracker.example/p.gif", 10, common),
        ]
        (tmp / "r.har").write_text(json.dumps({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": entries}}))
        printed = headway("from-har", "r.har", cwd=tmp).exits(0)
        for secret in SECRETS:
            never_shown(secret, printed.out, printed.err)
        contains(printed.err, "tracker.example", "stderr")
        scenario = yaml.safe_load(printed.out)
        equal([next(iter(step.items())) for step in scenario["journey"]][:2], [("get", "/"), ("post", "/login")], "steps")
        thinks = [step.get("think") for step in scenario["journey"]]
        expect(thinks[0] is None and all(t and t.startswith("exp(") for t in thinks[1:]), f"think times: {thinks}")
        # Means of some seconds: the same law, faster.
        text = re.sub(r"exp\([^)]*\)", "exp(1ms)", printed.out).replace("rate: 1/s", "rate: 20/s").replace("hold: 10s", "hold: 500ms")
        (tmp / "har.yaml").write_text(text)
        env = environment(
            HEADWAY_SECRET_PASSWORD=SECRETS[2], HEADWAY_SECRET_TOKEN=SECRETS[3], HEADWAY_SECRET_AUTHORIZATION=f"Bearer {SECRETS[0]}"
        )
        dry = headway("run", "har.yaml", "--dry-run", cwd=tmp, env=env).exits(0)
        for secret in SECRETS[:4]:
            never_shown(secret, dry.out, dry.err)
        ended = run("har.yaml", "--seed", "2", tmp=tmp, env=env)
        conserved(ended.summary)
        equal(set(ended.summary["outcomes"]) - {"unsent"}, {"ok"}, f"outcomes ({ended})")
        login = server.on("/login")[0]
        equal((login.body.decode(), login.header("Content-Type"), login.header("Cookie")),
              (f"user=ann+b&password={SECRETS[2]}", form, None), "login")
        for seen in [*server.on("/items"), *server.on("/api")]:
            equal((seen.header("Cookie"), seen.header("User-Agent")), (f"session={SECRETS[4]}", "Mozilla/5.0 (test)"), "headers")
        equal({json.loads(seen.body)["a"]["b"][0] for seen in server.on("/api")}, {1}, "body")
        everything = headway("from-har", "r.har", "--all", cwd=tmp).exits(0).out
        contains(everything, "/style.css", "--all")
    (tmp / "broken.har").write_text('{"log": {"entries": []}}')
    contains(headway("from-har", "broken.har", cwd=tmp).exits(2).err, "broken.har", "message")
    headway("from-har", "none.har", cwd=tmp).exits(1, 2)


@check("convert: a command, a recording and a plan of two hosts become scenarios that send each request to its own, with its headers")
def hosts(tmp):
    def played(name, *arguments):
        """What each of the servers saw of the scenario: method, path and the header X-Api-Key."""
        made = headway(*arguments, cwd=tmp).exits(0)
        never_shown(SECRETS[0], made.out, made.err)
        work = "users:\n  work: { requests: 12, users: 1 }\njourney:"
        text, n = re.subn(r"users:\n(  .*\n)+journey:", work, re.sub(r"exp\([^)]*\)", "exp(1ms)", made.out))
        equal(n, 1, "loads")
        (tmp / f"{name}.yaml").write_text(text)
        env = environment(HEADWAY_SECRET_X_API_KEY=SECRETS[0])
        ended = run(f"{name}.yaml", tmp=tmp, name=name, env=env)
        equal(ended.summary["outcomes"], {"ok": 12}, f"outcomes ({ended})")
        equal(ended.summary["plan"]["origins"], [api.url], "plan.origins")
        seen = [Counter((r.method, r.path, r.header("X-Api-Key")) for r in server.requests) for server in (shop, api)]
        for server in (shop, api):
            server.requests.clear()
        return made, seen

    with Recorder() as shop, Recorder() as api:
        key = f"X-Api-Key: {SECRETS[0]}"
        made, seen = played("curl", "from-curl", f"curl -H '{key}' {shop.url}/a '{api.url}/b?c=1' --next -X PUT {api.url}/d")
        keyed = SECRETS[0]
        equal(seen, [Counter({("GET", "/a", keyed): 4}), Counter({("GET", "/b?c=1", keyed): 4, ("PUT", "/d", None): 4})], "requests of the command")
        contains(made.err, f"Steps also go to {api.url} (2).", "stderr")

        secret = [("X-Api-Key", SECRETS[0]), ("User-Agent", "Mozilla/5.0 (test)")]
        entries = [
            entry(0, "GET", f"{shop.url}/", 50, secret), entry(0.1, "GET", f"{api.url}/items", 20, secret, kind="application/json"),
            entry(0.2, "GET", "https://tracker.example/p", 10, secret), entry(3, "GET", f"{shop.url}/next", 50, [("Accept", "*/*")]),
        ]
        (tmp / "two.har").write_text(json.dumps({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": entries}}))
        alone = headway("from-har", "two.har", cwd=tmp).exits(0)
        contains(alone.err, "to other origins, which --origin URL keeps", "stderr")
        expect(f"get: {api.url}" not in alone.out, f"another origin is kept: {alone.out}")
        made, seen = played("har", "from-har", "two.har", "--origin", api.url)
        equal(seen, [Counter({("GET", "/", keyed): 4, ("GET", "/next", None): 4}), Counter({("GET", "/items", keyed): 4})], "requests of the recording")
        contains(made.err, "keeps: https://tracker.example (1)", "stderr")
        for flag in ["--origin", "--target"]:
            error = headway("from-har", "two.har", flag, "https://none.example", cwd=tmp).exits(2).err
            contains(flat(error), f"{flag} https://none.example: the recording has no request to it, only to {shop.url}, {api.url}, https://tracker.example", flag)

        def sampler(name, path, url):
            _, host, port = url.split(":")
            more = f'<stringProp name="HTTPSampler.domain">{host[2:]}</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>'
            return f'<HTTPSamplerProxy testname="{name}"><stringProp name="HTTPSampler.path">{path}</stringProp>{more}</HTTPSamplerProxy><hashTree/>'

        (tmp / "two.jmx").write_text(f"""<jmeterTestPlan><hashTree><TestPlan testname="T"/><hashTree>
          <HeaderManager testname="h"><collectionProp name="HeaderManager.headers"><elementProp name=""><stringProp name="Header.name">X-Api-Key</stringProp>
          <stringProp name="Header.value">{SECRETS[0]}</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>
          <ThreadGroup testname="G"><stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup><hashTree>
          {sampler("a", "/a", shop.url)}{sampler("b", "/b", api.url)}{sampler("c", "/c", shop.url)}
          </hashTree></hashTree></hashTree></jmeterTestPlan>""")
        made, seen = played("jmx", "from-jmx", "two.jmx")
        equal(seen, [Counter({("GET", "/a", keyed): 4, ("GET", "/c", keyed): 4}), Counter({("GET", "/b", keyed): 4})], "requests of the plan")
        contains(made.err, f"its header X-Api-Key, a secret, goes to {api.url} too, as in the plan", "stderr")


@check("convert: an OpenAPI document becomes a scenario whose requests the target understands, with its secrets asked for")
def openapi(tmp):
    key = {"type": "apiKey", "in": "header", "name": "X-Key"}
    pet = {"required": ["name", "token"], "properties": {"name": {"type": "string", "minLength": 3}, "token": {"type": "string", "example": SECRETS[3]}}}
    by_id = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 7}}]
    limit = [{"name": "limit", "in": "query", "required": True, "example": 20}]
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}
    document = {
        "openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "security": [{"key": []}],
        "paths": {
            "/pets": {"get": {"parameters": limit, "responses": {"200": {"content": {"application/json": {}}}}},
                      "post": {"requestBody": body, "responses": {"201": {}}}},
            "/pets/{id}": {"parameters": by_id, "get": {"responses": {"200": {}}}, "delete": {"responses": {"2XX": {}}}},
        },
        "components": {"schemas": {"Pet": pet}, "securitySchemes": {"key": key}},
    }
    (tmp / "api.json").write_text(json.dumps(document, indent=2))
    contains(headway("from-openapi", "api.json", cwd=tmp).exits(2).err, "--target http://127.0.0.1:8080", "message")

    def answer(seen):
        return (201 if seen.method == "POST" else 204 if seen.method == "DELETE" else 200), {}, b""

    with Recorder(answer) as server:
        safe = headway("from-openapi", "api.json", "--target", f"{server.url}/v1", cwd=tmp).exits(0)
        equal([next(iter(step.items())) for step in yaml.safe_load(safe.out)["journey"]],
              [("get", "/pets?limit=20"), ("get", "/pets/{{vars.id}}")], "steps")
        line = next(i for i, text in enumerate((tmp / "api.json").read_text().split("\n"), 1) if '"post"' in text)
        contains(safe.err, f"api.json:{line}: left out: POST /pets", "stderr")
        made = headway("from-openapi", "api.json", "--target", f"{server.url}/v1", "--all-methods", "-o", "api.yaml", cwd=tmp).exits(0)
        equal(made.out, "", "stdout")
        text = (tmp / "api.yaml").read_text()
        never_shown(SECRETS[3], text, made.err)
        (tmp / "api.yaml").write_text(text.replace("rate: 1/s", "rate: 20/s").replace("hold: 10s", "hold: 500ms"))
        env = environment(HEADWAY_SECRET_KEY=SECRETS[0], HEADWAY_SECRET_TOKEN=SECRETS[3])
        headway("run", "api.yaml", "--dry-run", cwd=tmp, env=env).exits(0)
        equal(server.requests, [], "requests so far")
        ended = run("api.yaml", "--seed", "3", tmp=tmp, env=env)
        conserved(ended.summary)
        equal(set(ended.summary["outcomes"]) - {"unsent"}, {"ok"}, f"outcomes ({ended})")
    equal({(seen.method, seen.path) for seen in server.requests},
          {("GET", "/v1/pets?limit=20"), ("POST", "/v1/pets"), ("GET", "/v1/pets/7"), ("DELETE", "/v1/pets/7")}, "requests")
    for seen in server.requests:
        equal(seen.header("X-Key"), SECRETS[0], "X-Key")
        if seen.method == "POST":
            equal(json.loads(seen.body), {"name": "text", "token": SECRETS[3]}, "body")
    (tmp / "old.yaml").write_text("swagger: '2.0'\n")
    contains(headway("from-openapi", "old.yaml", cwd=tmp).exits(2).err, "old.yaml:1: this is Swagger 2.0", "message")


@check("convert: a test plan of JMeter becomes a scenario that sends what the plan would, as often, with what is not carried over listed")
def jmx(tmp):
    argument = '<elementProp name=""><stringProp name="Argument.name">{}</stringProp><stringProp name="Argument.value">{}</stringProp></elementProp>'

    def sampler(name, method, path, arguments=(), below=""):
        inside = "".join(argument.format(*pair) for pair in arguments)
        return f"""<HTTPSamplerProxy testname="{name}" enabled="true">
          <elementProp name="HTTPsampler.Arguments"><collectionProp name="Arguments.arguments">{inside}</collectionProp></elementProp>
          <stringProp name="HTTPSampler.method">{method}</stringProp><stringProp name="HTTPSampler.path">{path}</stringProp>
        </HTTPSamplerProxy><hashTree>{below}</hashTree>"""

    take = """<RegexExtractor testname="id"><stringProp name="RegexExtractor.refname">id</stringProp>
      <stringProp name="RegexExtractor.regex">id=(\\d+)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp></RegexExtractor><hashTree/>"""
    created = """<ResponseAssertion testname="created"><collectionProp name="Asserion.test_strings"><stringProp name="1">201</stringProp></collectionProp>
      <stringProp name="Assertion.test_field">Assertion.response_code</stringProp><intProp name="Assertion.test_type">8</intProp></ResponseAssertion><hashTree/>"""
    rows = """<CSVDataSet testname="people"><stringProp name="filename">people.csv</stringProp><stringProp name="variableNames">who</stringProp>
      <boolProp name="recycle">true</boolProp></CSVDataSet><hashTree/>"""

    def plan(port, load):
        return f"""<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2"><hashTree>
 <TestPlan testname="Plan"/>
 <hashTree>
  <ConfigTestElement guiclass="HttpDefaultsGui" testname="defaults"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp></ConfigTestElement><hashTree/>
  <ThreadGroup testname="Group" enabled="true">{load}</ThreadGroup>
  <hashTree>{rows}
   <LoopController testname="twice"><stringProp name="LoopController.loops">2</stringProp></LoopController>
   <hashTree>{sampler("list", "GET", "/items", [("q", "${who}")], take)}</hashTree>
   {sampler("buy", "POST", "/orders/${id}", [("by", "${who}"), ("password", SECRETS[2])], created)}
   <JDBCSampler testname="rows" enabled="true"/><hashTree/>
  </hashTree>
 </hashTree>
</hashTree></jmeterTestPlan>
"""

    def loops(threads, loops, more=""):
        return f"""<stringProp name="ThreadGroup.num_threads">{threads}</stringProp>
          <elementProp name="ThreadGroup.main_controller"><stringProp name="LoopController.loops">{loops}</stringProp></elementProp>{more}"""

    def answer(seen):
        return (201, {}, b"") if seen.method == "POST" else (200, {}, b"<a href='?id=17'>")

    (tmp / "people.csv").write_text("who\nann b\n")
    env = environment(HEADWAY_SECRET_PASSWORD=SECRETS[2])
    with Recorder(answer) as server:
        port = server.url.rsplit(":", 1)[1]
        text = plan(port, loops(3, 4))
        (tmp / "plan.jmx").write_text(text)
        made = headway("from-jmx", "plan.jmx", "-o", "made.yaml", cwd=tmp).exits(0)
        line = next(i for i, text in enumerate(text.split("\n"), 1) if "JDBCSampler" in text)
        contains(made.err, f"plan.jmx:{line}: 'rows' (JDBCSampler): left out", "stderr")
        contains(made.err, "people.csv needs a first line with the names: who", "stderr")
        never_shown(SECRETS[2], (tmp / "made.yaml").read_text(), made.err)
        headway("run", "made.yaml", "--dry-run", cwd=tmp, env=env).exits(0)
        equal(server.requests, [], "requests so far")
        ended = run("made.yaml", "--seed", "3", tmp=tmp, env=env)
        conserved(ended.summary)
        equal(ended.summary["outcomes"], {"ok": 36}, f"outcomes of 3 threads with 4 loops of 3 requests ({ended})")
        seen = {(seen.method, seen.path, seen.body) for seen in server.requests}
        equal(seen, {("GET", "/items?q=ann%20b", b""), ("POST", "/orders/17", f"by=ann+b&password={SECRETS[2]}".encode())}, "requests")
    with Serve("--service", "const(1ms)", tmp=tmp) as target:
        more = '<boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">2</stringProp>'
        short = plan(1, loops(5, -1, more)).split("<LoopController")[0] + sampler("home", "GET", "/") + "</hashTree></hashTree></hashTree></jmeterTestPlan>"
        (tmp / "short.jmx").write_text(short)
        headway("from-jmx", "short.jmx", "--target", target.url, "-o", "short.yaml", cwd=tmp).exits(0)
        ended = run("short.yaml", "--seed", "3", tmp=tmp, name="short")
        conserved(ended.summary)
        equal(set(ended.summary["outcomes"]), {"ok"}, f"outcomes ({ended})")
        # Five users one after the other for 2 s: 5,000/s at most, and each has its turn.
        expect(50 < ended.summary["outcomes"]["ok"] <= 10_000, f"requests: {ended.summary['outcomes']}")
    for text, says in [("<a/>", "wrong.jmx:1: the first element is a"), ('<!DOCTYPE a [<!ENTITY b "c">]>\n<a/>', "wrong.jmx:1: a document type"),
                       ("<jmeterTestPlan>\n<hashTree>", "wrong.jmx:2: the file ends within hashTree")]:
        (tmp / "wrong.jmx").write_text(text)
        ended = headway("from-jmx", "wrong.jmx", cwd=tmp).exits(2)
        contains(ended.err, says, "message")
        equal(ended.out, "", "stdout")


@check("convert: `schema` is a JSON Schema that takes the documented examples and what we print, and refuses misspelt keys")
def schema(tmp):
    document = json.loads(headway("schema", cwd=tmp).exits(0).out)
    validator = jsonschema.validators.validator_for(document)
    validator.check_schema(document)
    judge = validator(document)
    examples = {path.name: path.read_text() for path in sorted((ROOT / "docs/examples").glob("*.yaml"))}
    expect(len(examples) >= 4, f"examples: {list(examples)}")
    examples["from-curl"] = headway("from-curl", "curl -k -u a:b http://127.0.0.1/x -F a=b -F 'f=@up.bin'", cwd=tmp).exits(0).out
    wrong = []
    for name, text in examples.items():
        wrong += [f"{name}: {error.json_path}: {error.message}" for error in judge.iter_errors(yaml.safe_load(text))]
    expect(not wrong, "the schema refuses examples: " + "; ".join(wrong[:5]))
    least = {"target": "http://127.0.0.1:1", "users": {"arrive": {"rate": "5/s"}}, "journey": [{"get": "/"}]}
    expect(judge.is_valid(least), f"the least scenario: {[e.message for e in judge.iter_errors(least)]}")

    def changed(change):
        scenario = json.loads(json.dumps(least))
        change(scenario)
        return scenario

    for name, change in {
        "jurney": lambda s: s.update(jurney=s.pop("journey")),
        "arive": lambda s: s["users"].update(arive=s["users"].pop("arrive")),
        "step": lambda s: s["journey"][0].update(repat=2),
        "expect": lambda s: s["journey"][0].update(expect={"satus": 200}),
        "phase": lambda s: s["users"].update(phases=[{"hold": "1s", "upto": "5/s"}]),
        "model": lambda s: s.update(model={"serves": 4}),
        "journey of a number": lambda s: s.update(journey=5),
    }.items():
        scenario = changed(change)
        expect(not judge.is_valid(scenario), f"the schema takes {name}")
        (tmp / "s.yaml").write_text(yaml.safe_dump(scenario))
        headway("run", "s.yaml", "--dry-run", cwd=tmp).exits(2)
