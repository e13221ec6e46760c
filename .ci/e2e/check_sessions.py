"""What sessions send: data, templates, values out of answers and cookies, as a server wrote it down."""

import collections
import email.parser
import email.policy
import json
import re
import urllib.parse
import uuid

from check_scenario import rows_of, run_file
from harness import check, conserved, contains, equal, expect, headway, reasons
from recorder import Recorder

NAMES = ["ann", 'bob "b"', "çé/ü?&#%", "  {{seq}} "]
NOTES = ["plain", "two\nlines", "x y", "a=1&b=2"]
FILE = b"file \x00\xff bytes\r\n--headway"
JOURNEY = r"""
journey:
  - post: /login
    name: login
    form: { user: "{{data.people.name}}", note: "{{data.note}}", id: "{{data.ids.id}}" }
    extract:
      id: { json: /user/id }
      deep: { jsonpath: "$.list[?@.x > 1].y" }
      tag: { header: ETag }
      sid: { cookie: sid }
      token: { regex: 'token=(\w+)', group: 1 }
      none: { json: /nothing, default: "left out" }
    expect: { status: 200, headers: { Content-Type: application/json, X-Kind: { matches: "^lo" } }, body: { contains: token, not-contains: error, json: { /user/state: open } } }
  - get: "/users/{{id}}/{{data.people.name}}"
    name: look
    query: { q: "{{data.people.name}}", shop: "{{vars.shop}}" }
    headers:
      X-Values: "{{deep}}|{{tag}}|{{sid}}|{{token}}|{{none}}|{{user.id}}|{{session}}"
      X-Uuid: "{{uuid}}"
      X-Seq: "{{seq}}"
      X-Now: "{{now}}|{{now.unix_s}}|{{now.unix_ms}}"
      X-Literal: '\{{id}}'
  - put: /json
    name: json
    repeat: 2
    headers: { X-Seq: "{{seq}}", X-Uuid: "{{uuid}}" }
    json: { user: "{{data.people.name}}", note: "{{data.note}}", n: 3, half: 0.5, yes: true, none: null, list: [1, { seq: "{{seq}}" }], numeral: "7" }
  - post: /multi
    name: multi
    multipart: [ { name: note, text: "{{data.note}}" }, { name: up, file: up.bin, filename: x.png, type: image/png } ]
  - request: { method: PURGE, path: /file }
    name: file
    file: up.bin
    headers: { Content-Type: application/x-mine, Cookie: mine=1 }
"""


def write_data(tmp, rows):
    quoted = [['"' + v.replace('"', '""') + '"' for v in pair] for pair in zip(NAMES, NOTES)]
    (tmp / "people.csv").write_text("name,note\n" + "".join(",".join(row) + "\n" for row in quoted))
    (tmp / "ids.jsonl").write_text("".join(json.dumps({"id": i}) + "\n" for i in range(rows)))
    (tmp / "up.bin").write_bytes(FILE)


def number(seen):
    """Which row of ids a login took."""
    return int(urllib.parse.parse_qs(seen.body.decode())["id"][0])


def answers(seen):
    if seen.path != "/base/login":
        return 200, {}, b"fine"
    i = number(seen)
    cookies = [f"sid=s{i}; Path=/base; HttpOnly", f"json=j{i}; Path=/base/json", "gone=1; Max-Age=0"]
    return 200, {"ETag": f'"e{i}"', "X-Kind": "login", "Set-Cookie": cookies}, {
        "user": {"id": i, "state": "open"}, "list": [{"x": 1, "y": "a"}, {"x": 2, "y": f"deep {i}"}], "text": f"token=t{i}!",
    }


@check("sessions: two shards, one seed: unique rows once, seq and uuid once, answers carried on, bodies well-formed, cookies by path")
def sent(tmp):
    rows = 300
    write_data(tmp, rows)
    text = """
target: ${TARGET}/base
seed: 11
variables: { shop: "n orth" }
data:
  people: { csv: people.csv, take: sequential }
  ids: { jsonl: ids.jsonl, take: unique }
users:
  arrive: { rate: 40/s }
  phases: [ { hold: 2s }, { pause: 300ms } ]
  think: const(2ms)
""" + JOURNEY.replace("{{data.note}}", "{{data.people.note}}")
    with Recorder(answers) as server:
        shards = [
            run_file(text, "--shard", f"{i}/2", tmp=tmp, name=f"shard{i}", env={"TARGET": server.url}) for i in range(2)
        ]
    counts = []
    for ended in shards:
        conserved(ended.summary)
        equal(set(ended.summary["outcomes"]), {"ok"}, f"outcomes ({ended})")
        counts.append(len(rows_of(ended.folder, "session")))
    n = sum(counts)
    expect(min(counts) > 0 and n < rows, f"sessions of the shards: {counts}")
    equal(collections.Counter(s.path.split("?")[0].rsplit("/users/")[0] for s in server.requests),
          {"/base/login": n, "/base": n, "/base/json": 2 * n, "/base/multi": n, "/base/file": n}, "requests by path")

    # Session k takes row k, whichever shard plays it.
    ks = {row["k"]: row for ended in shards for row in rows_of(ended.folder, "session")}
    equal(len(ks), n, "sessions that only one shard played")
    equal(sorted(number(s) for s in server.on("/base/login")), sorted(ks), "unique rows taken, against the sessions")
    for seen in server.on("/base/login"):
        equal(seen.header("Content-Type"), "application/x-www-form-urlencoded", "type of a form")
        equal(seen.header("Cookie"), None, "cookies before anything was answered")
        form = {name: values[0] for name, values in urllib.parse.parse_qs(seen.body.decode(), strict_parsing=True).items()}
        k = number(seen)
        equal(form, {"user": NAMES[k % 4], "note": NOTES[k % 4], "id": str(k)}, f"form of session {k}")

    uuids, seqs = [], []
    for seen in server.requests:
        if seen.header("X-Uuid"):
            uuids.append(seen.header("X-Uuid"))
            seqs.append(int(seen.header("X-Seq")))
    equal((len(uuids), len(set(uuids)), len(set(seqs))), (3 * n, 3 * n, 3 * n), "uuids and seqs that differ")
    expect(all(uuid.UUID(u).version == 4 and uuid.UUID(u).variant == uuid.RFC_4122 for u in uuids), "uuids that are not of version 4")

    looks = [s for s in server.requests if s.path.startswith("/base/users/")]
    for seen in looks:
        path, _, query = seen.path.partition("?")
        _, _, _, i, name = path.split("/")
        i = int(i)
        equal(urllib.parse.unquote(name), NAMES[i % 4], f"name in the path {path}")
        equal(urllib.parse.parse_qsl(query, strict_parsing=True), [("q", NAMES[i % 4]), ("shop", "n orth")], f"query {query}")
        equal(seen.header("X-Values"), f'deep {i}|"e{i}"|s{i}|t{i}|left out|{i}|{i}', "values out of the answer")
        equal(seen.header("Cookie"), f"sid=s{i}", "cookies of the session")
        equal(seen.header("X-Literal"), "{{id}}", "a literal")
        now, seconds, millis = seen.header("X-Now").split("|")
        expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", now), f"now is {now}")
        equal(int(millis) // 1000, int(seconds), "seconds and milliseconds")
    equal(len({s.path for s in looks}), n, "sessions that looked at a page of their own")

    for seen in server.on("/base/json"):
        body = json.loads(seen.body)
        equal(seen.header("Content-Type"), "application/json", "type of JSON")
        i = NAMES.index(body["user"])
        told = {"user": NAMES[i], "note": NOTES[i], "n": 3, "half": 0.5, "yes": True, "none": None, "numeral": "7"}
        equal({key: body[key] for key in told}, told, "JSON body")
        equal(str(body["list"][1]["seq"]), seen.header("X-Seq"), "seq in body and header")
        cookies = dict(pair.split("=") for pair in seen.header("Cookie").split("; "))
        equal(cookies, {"sid": cookies["sid"], "json": "j" + cookies["sid"][1:]}, "cookies of a deeper path")
    for seen in server.on("/base/multi"):
        head = f"Content-Type: {seen.header('Content-Type')}\r\n\r\n".encode()
        parts = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + seen.body).get_payload()
        told = [(p.get_param("name", header="Content-Disposition"), p.get_filename(), p.get_payload(decode=True)) for p in parts]
        i = NOTES.index(told[0][2].decode())
        equal(told, [("note", None, NOTES[i].encode()), ("up", "x.png", FILE)], "parts of a form with a file")
        equal(parts[1].get_content_type(), "image/png", "type of the file")
    for seen in server.on("/base/file"):
        equal((seen.method, seen.body, seen.header("Content-Type"), seen.header("Cookie")),
              ("PURGE", FILE, "application/x-mine", "mine=1"), "a file, with headers of its own")


@check("sessions: closed users begin again with an empty jar, the same user.id and the next iteration; a choice keeps its weights")
def rounds(tmp):
    text = """
target: ${TARGET}
seed: 5
users: { closed: { count: 4 }, phases: [ { hold: 1500ms } ], think: const(1ms), pace: 40ms }
journey:
  - get: /in
    headers: { X-User: "{{user.id}}", X-Round: "{{user.iteration}}", X-Session: "{{session}}" }
  - choose:
      - { weight: 3, steps: [ { get: /often } ] }
      - { weight: 1, steps: [ { get: /seldom } ] }
  - get: /out
"""
    with Recorder(lambda seen: (200, {"Set-Cookie": "in=1"} if seen.path == "/in" else {}, b"")) as server:
        ended = run_file(text, tmp=tmp, env={"TARGET": server.url})
    conserved(ended.summary)
    # Who was to ask at the very end may not have got to it.
    expect(set(ended.summary["outcomes"]) <= {"ok", "unsent"}, f"outcomes ({ended})")
    equal(server.connections, 4, "connections, one per user")
    by_user = collections.defaultdict(list)
    for seen in server.on("/in"):
        equal(seen.header("Cookie"), None, "cookies at the beginning of a round")
        by_user[seen.header("X-User")].append(int(seen.header("X-Round")))
    equal(sorted(by_user), ["0", "1", "2", "3"], "users")
    for user, seen_rounds in by_user.items():
        equal(seen_rounds, list(range(len(seen_rounds))), f"rounds of user {user}")
        # No sooner than every 40 ms, whatever the machine.
        expect(3 < len(seen_rounds) <= 39, f"{len(seen_rounds)} rounds of user {user}")
    expect(all(s.header("Cookie") == "in=1" for s in server.requests if s.path != "/in"), "a cookie was left out")
    often, seldom = len(server.on("/often")), len(server.on("/seldom"))
    # 3/4 within 4 standard errors; the seed makes it no matter of chance which side each round takes.
    share, n = often / (often + seldom), often + seldom
    expect(abs(share - 0.75) <= 4 * (0.75 * 0.25 / n) ** 0.5, f"{often} often, {seldom} seldom")
    starts = collections.defaultdict(list)
    for row in rows_of(ended.folder, "session"):
        starts[row["user"]].append(row["intended_ns"])
    for user, at in starts.items():
        expect(all(b - a >= 40_000_000 for a, b in zip(sorted(at), sorted(at)[1:])), f"user {user} begins sooner than his pace")


@check("sessions: what data would break is refused, encoded, or written as it stands: headers, paths, queries, bodies")
def injection(tmp):
    evil = "a\r\nX-Evil: 1"
    (tmp / "evil.csv").write_bytes(f'text\n"{evil}"\nfine\n'.encode())
    text = """
target: ${TARGET}
data: { d: { csv: evil.csv, take: sequential } }
users: { arrive: { process: constant, rate: 20/s }, phases: [ { hold: 1010ms }, { pause: 200ms } ] }
journey:
  - get: /head
    name: head
    headers: { X-Text: "{{data.d.text}}" }
  - get: "/path/{{data.d.text}}"
    name: path
    query: { q: "{{data.d.text}}" }
  - post: /form
    name: form
    form: { "{{data.d.text}}": "{{data.d.text}}" }
  - post: /json
    name: json
    json: { text: "{{data.d.text}}" }
"""
    with Recorder() as server:
        ended = run_file(text, tmp=tmp, env={"TARGET": server.url})
    summary = ended.summary
    conserved(summary)
    equal(summary["by_label"]["head"]["outcomes"], {"unsent": 10, "ok": 10}, "outcomes of the header")
    contains(reasons(summary, "unsent"), "X-Text", "reasons")
    contains(ended.out, "line break", "the report")
    equal({s.header("X-Text") for s in server.on("/head")}, {"fine"}, "headers that came")
    expect(not any(s.header("X-Evil") for s in server.requests), "a header was smuggled in")
    paths = {urllib.parse.unquote(s.path.split("?")[0]) for s in server.requests if s.path.startswith("/path/")}
    equal(paths, {f"/path/{evil}", "/path/fine"}, "paths that came")
    forms = {tuple(urllib.parse.parse_qsl(s.body.decode())) for s in server.on("/form")}
    equal(forms, {((evil, evil),), (("fine", "fine"),)}, "forms that came")
    equal({json.loads(s.body)["text"] for s in server.on("/json")}, {evil, "fine"}, "JSON that came")
    equal(len(server.requests), 70, "requests that came")


@check("sessions: environment secrets reach the target and no file, message or report of ours, not even in a failed check")
def secrets(tmp):
    secret = "s3cr3t/+ü"
    text = """
target: ${TARGET}
users: { arrive: { process: constant, rate: 20/s }, phases: [ { hold: 510ms }, { pause: 200ms } ] }
journey:
  - post: /echo
    name: echo
    headers: { Authorization: "Bearer abc", X-Mine: "m" }
    json: { password: "${DB_PASSWORD}" }
    query: { p: "${DB_PASSWORD}" }
    expect: { body: { not-contains: "${DB_PASSWORD}" } }
"""
    with Recorder(lambda seen: (200, {}, seen.body)) as server:
        ended = run_file(text, tmp=tmp, env={"TARGET": server.url, "DB_PASSWORD": secret})
        again = headway("report", ended.folder, cwd=tmp)
    equal(set(ended.summary["outcomes"]), {"check"}, "outcomes")
    equal({json.loads(s.body)["password"] for s in server.requests}, {secret}, "what the target got")
    shown = [ended.out, ended.err, again.out, again.err, *(p.read_bytes().decode("utf-8", "replace") for p in ended.folder.iterdir())]
    for hidden in [secret, urllib.parse.quote(secret, safe=""), secret[:6], "Bearer abc"]:
        held = [part for part in shown if hidden in part]
        expect(not held, f"{hidden!r} is shown: {held[:1] and held[0][:300]}")
