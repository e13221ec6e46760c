"""`--watch`: a run is seen while it goes on, by a browser, a program and a collector of metrics, and by nobody without the right to."""

import contextlib
import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from check_secrets import all_of, marker, nowhere, q, written
from harness import (
    ROOT, Headway, Serve, Skipped, check, code_of, contains, equal, expect, flat, free_port, headway, run, start_run, wait_for,
)
from recorder import Recorder
from watching import follow, get, metrics, total, where

LIVE = ROOT / ".ci/check_live.py"


@check("watch: snapshots grow while the run goes on and end as its summary; metrics are valid OpenMetrics and only grow")
def snapshots(tmp):
    with Serve("--service", "exp(1ms)", "--servers", "2", "--error-rate", "0.05", "--seed", "5", tmp=tmp) as serve:
        going = start_run(serve.url, "-R", "200", "-d", "7s", "--seed", "5", "--threshold", "p(99)<1s", "--watch", tmp=tmp)
        address, port, token = where(going)
        expect(address.startswith("http://127.0.0.1:") and token is None, f"{address} {token}")
        seen, scrapes = [], []
        reader = threading.Thread(target=lambda: seen.extend(follow(port)))
        reader.start()
        while reader.is_alive() and going.process.poll() is None:
            with contextlib.suppress(OSError):
                status, headers, text = get(port, "/metrics", timeout=5)
                if status == 200:
                    equal(headers["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8", "type of the metrics")
                    scrapes.append(metrics(text))
            time.sleep(0.4)
        reader.join(20)
        ended = going.ended()
    summary = ended.summary
    ended.exits(code_of(summary))
    expect(len(seen) >= 5, f"{len(seen)} snapshots of seven seconds")
    expect([s["ended"] for s in seen] == [False] * (len(seen) - 1) + [True], "only the last has ended")
    equal(len({s["number"] for s in seen}), len(seen), "numbers of the snapshots")
    counts = [sum(s["summary"]["outcomes"].values()) for s in seen]
    expect(counts == sorted(counts) and counts[0] < counts[-2] <= counts[-1], f"requests that ended: {counts}")
    # The last is the run's own document.
    equal(seen[-1]["summary"], summary, "the last snapshot, against summary.json")
    middle = seen[len(seen) // 2]
    expect(0 < middle["at_s"] < 7.5 and middle["reached"][1] == 7000, f"{middle['at_s']} {middle['reached']}")
    expect(not middle["summary"]["measured"]["interrupted"], "a run that goes on is called interrupted")
    expect(not {"interrupted", "unaccounted"} & {f["id"] for f in middle["summary"]["verdict"]["findings"]}, "it is blamed for an end")
    equal([t["text"] for t in middle["summary"]["thresholds"]], ["p(99)<1s"], "thresholds so far")
    # An average over what has ended: a fifth of it at most may be chance or a machine that stands still.
    expect(100 < middle["summary"]["rate"]["started"] < 300, f"sent rate so far: {middle['summary']['rate']}")
    expect("Completed rate" in middle["markup"] and "status" in middle["summary"]["outcomes"], "failures by kind")
    expect(len(scrapes) >= 3, f"{len(scrapes)} scrapes of seven seconds")
    for name in ("headway_requests_total", "headway_response_seconds_count", "headway_measured_seconds"):
        values = [total(samples, name) for samples in scrapes]
        expect(values == sorted(values) and 0 < values[0] < values[-1], f"{name}: {values}")
    expect(total(scrapes[-1], "headway_requests_total") <= counts[-1], "more requests than there were")


@check("watch: only GET by this machine's own name or address; a policy without inline scripts; long heads and slow clients are refused")
def refused(tmp):
    with Serve("--service", "const(1ms)", tmp=tmp) as serve:
        going = start_run(serve.url, "-R", "50", "-d", "8s", "--watch", tmp=tmp)
        _, port, _ = where(going)
        begun = time.monotonic()
        slow = socket.create_connection(("127.0.0.1", port))
        slow.sendall(b"GET / HT")
        for host, status in [("evil.example", 421), (f"evil.example:{port}", 421), (f"localhost:{port}", 200), ("[::1]", 200)]:
            equal(get(port, "/", host=host)[0], status, f"status for the host {host}")
        for method in ("POST", "PUT", "OPTIONS", "HEAD"):
            equal(get(port, "/snapshot.json", method=method)[0], 405, f"status of {method}")
        equal(get(port, "/" + "x" * 9000)[0], 431, "status of a long head")
        equal(get(port, "/../etc/passwd")[0], 404, "status of a path that is not there")
        _, headers, page = get(port, "/")
        policy = headers["content-security-policy"]
        expect("default-src 'none'" in policy and "unsafe" not in policy and "script-src 'self'" in policy, policy)
        expect(not [n for n in headers if n.lower().startswith("access-control")], f"{headers}")
        expect("<script>" not in page and "style=" not in page, "the page has inline scripts or styles")
        # Of many that say nothing, some are let in and the others told that there are too many.
        many = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
        told = wait_for(lambda: [s for s in many if readable(s)], "a refusal")
        expect(b" 503 " in told[0].recv(100), "the refusal")
        for connection in many:
            connection.close()
        slow.settimeout(10)
        equal(slow.recv(10), b"", "what a client is told that takes too long")
        expect(4.5 < time.monotonic() - begun < 9.5, "how long a client may take")
        ended = going.ended()
    ended.exits(code_of(ended.summary))


def readable(connection):
    import select

    return bool(select.select([connection], [], [], 0)[0])


@check("watch: beyond loopback a token is needed, which is printed and stands in no file and no answer")
def token(tmp):
    with Serve("--service", "const(1ms)", tmp=tmp) as serve:
        going = start_run(serve.url, "-R", "100", "-d", "5s", "--watch-addr", "0.0.0.0:0", tmp=tmp)
        _, port, secret = where(going)
        expect(secret and len(secret) == 32, f"token: {secret!r}")
        texts = {}
        for path in ("/snapshot.json", "/metrics"):
            for given in (None, secret[:-1], secret[:-1] + ("0" if secret[-1] != "0" else "1")):
                status, headers, text = get(port, path, token=given)
                equal(status, 401, f"{path} with {'no' if given is None else 'a wrong'} token")
                texts[f"refusal of {path}"] = f"{headers} {text}"
            equal(get(port, f"{path}?token={secret}")[0], 401, "a token in the query")
        equal(get(port, "/")[0], 200, "the page itself, which says nothing of the run")
        seen = follow(port, token=secret)
        ended = going.ended()
    equal(seen[-1]["summary"], ended.summary, "the last snapshot")
    texts |= {"snapshots": json.dumps(seen), "stdout": ended.out, **written(tmp / "run")}
    found = [name for name, text in texts.items() if secret in text]
    expect(not found, f"the token stands in {found}")
    equal(ended.err.count(secret), 2, "how often the token is printed")


@check("watch: secrets of URL, headers, bodies and answers are on no page, in no snapshot and no metric")
def secrets(tmp):
    user, password, query, header, body, cookie = map(marker, ["WUser", "WWord", "WQuery", "WHeader", "WBody", "WCookie"])
    echo = lambda seen: (500, {"Set-Cookie": f"sid={cookie}"}, f"{seen.path} {seen.headers}".encode() + seen.body)
    with Recorder(echo) as server:
        address = server.url.removeprefix("http://").rstrip("/")
        url = f"http://{q(user)}:{q(password)}@{address}/p?api_key={q(query)}"
        given = ["-H", f"Authorization: {header}".replace('"', "'"), "-b", json.dumps({"password": body})]
        going = start_run(url, "-R", "40", "-d", "3s", *given, "--watch", tmp=tmp)
        _, port, _ = where(going)
        texts = {path: get(port, path)[2] for path in ("/", "/watch.js", "/watch.css")}
        texts["the first metrics"] = get(port, "/metrics")[2]
        expect("headway_requests_total" in texts["the first metrics"], texts["the first metrics"][:200])
        texts["snapshots"] = json.dumps(follow(port), ensure_ascii=False)
        ended = going.ended()
    expect('"status"' in texts["snapshots"], "failures by kind are shown")
    nowhere([user, password, query, header, body, cookie], {**texts, **all_of(ended, "run"), **written(tmp / "run")})


@check("watch: an address that is none, is taken or is elsewhere is a mistake, exit 2, before anything is sent")
def mistakes(tmp):
    port = free_port()
    with Serve("--service", "const(1ms)", tmp=tmp) as serve, socket.create_server(("127.0.0.1", port)):
        for place, part in [
            ("127.0.0.1:x", "is not an address to listen at: the port is not a number from 0 to 65535; write HOST:PORT"),
            (f"127.0.0.1:{port}", f"--watch-addr: nothing can listen at 127.0.0.1:{port}: Address already in use"),
            ("192.0.2.1:0", "--watch-addr: nothing can listen at 192.0.2.1:0: Cannot assign requested address"),
        ]:
            ended = headway("run", serve.url, "-d", "1s", "--watch-addr", place, "--out", tmp / "none", cwd=tmp).exits(2)
            expect(part in " ".join(ended.err.split()), f"{place}: {ended.err}")
        expect(not (tmp / "none").exists(), "a folder was made")
    equal(serve.report["requests"], 0, "requests that were sent")


@check("watch: in Chromium the page renews itself over 20 s without an error, also at 390 pixels and by keyboard, and ends as the report")
def browser(tmp):
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        raise Skipped("no chromium is found: apt-get install chromium")
    with Serve("--service", "exp(1ms)", "--servers", "2", "--error-rate", "0.05", tmp=tmp) as serve:
        going = start_run(serve.url, "-R", "150", "-d", "20s", "--warmup", "3s", "--watch", tmp=tmp)
        address, _, _ = where(going)
        looks = [subprocess.Popen([sys.executable, LIVE, address, "--width", width], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                 for width in ("390", "1280")]
        looked = [(look.args[-1], *look.communicate(timeout=100), look.returncode) for look in looks]
        ended = going.ended()
    for width, out, err, code in looked:
        expect(code == 0, f"at {width} pixels: {err}")
        seen = json.loads(out)
        standings, end = seen["standings"], seen["end"]
        # One a second, less what the browser took to start.
        expect(len(standings) >= 8, f"at {width} pixels the page was renewed {len(standings)} times")
        rates = {s["tiles"].get("Completed rate") for s in standings if s["ended"] == "false"}
        expect(len(rates) > 3, f"completed rates shown: {rates}")
        expect(all("may change" in s["state"] or "warm-up" in s["state"] or "nothing that counts" in s["state"] for s in standings[:-1]), "it says that it is so far")
        equal(end["word"], ended.summary["verdict"]["load"], "verdict at the end")
        equal(end["state"], "The run has ended. This is its report.", "state at the end")
        expect({"settings", "rules", "percentiles"} <= set(end["sections"]), f"sections at the end: {end['sections']}")


@check("watch: a recorded run is replayed at the speed that is asked for, from its first reader on, and ends as its report")
def replayed(tmp):
    with Serve("--service", "exp(1ms)", "--error-rate", "0.05", tmp=tmp) as serve:
        recorded = run(serve.url, "-R", "200", "-d", "6s", tmp=tmp)
        bare = run(serve.url, "-R", "50", "-d", "1s", "--no-log", tmp=tmp, name="bare")
    going = Headway(["report", recorded.folder, "--watch", "--speed", "2"], tmp)
    _, port, _ = where(going)
    # Nobody is there yet, and it has not begun.
    time.sleep(1)
    begun = time.monotonic()
    seen = follow(port)
    took = time.monotonic() - begun
    ended = going.ended().exits(code_of(recorded.summary))
    contains(ended.out, "LOAD", "the report")
    expect(took > 2.9, f"six seconds at twice the speed took {took:.2f} s")
    expect(len(seen) >= 3 and seen[0]["at_s"] <= 3 and not seen[0]["ended"], f"{[s['at_s'] for s in seen]}")
    counts = [sum(s["summary"]["outcomes"].values()) for s in seen]
    expect(counts == sorted(counts) and counts[0] < counts[-1], f"requests that ended: {counts}")
    equal(seen[-1]["summary"], recorded.summary, "the last snapshot, against summary.json")
    # Ctrl-C ends a replay that nobody looks at.
    going = Headway(["report", recorded.folder, "--watch", "--speed", "0.01"], tmp)
    where(going)
    going.signal(signal.SIGINT)
    going.ended(20).exits(code_of(recorded.summary))
    for arguments, part in [
        ([bare.folder, "--watch"], "--watch: this run kept no records to replay: leave it out"),
        ([recorded.folder, "--speed", "2"], "--speed is that of a replay: write --watch, too"),
        ([recorded.folder, "--watch", "--speed", "0"], "'0' is not a number from 0.01 to 10000"),
        ([recorded.folder, "--watch", "--speed", "fast"], "'fast' is not a number from 0.01 to 10000"),
    ]:
        ended = headway("report", *arguments, cwd=tmp).exits(2)
        contains(flat(ended.err), part, "the mistake")
