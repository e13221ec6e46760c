"""New connections: one for each request, and sockets that are kept connecting whatever the target accepts."""

import contextlib
import shutil
import socket
import subprocess
import threading
import time

from harness import (
    Serve,
    all_ended,
    check,
    code_of,
    conserved,
    contains,
    equal,
    expect,
    flat,
    free_port,
    headway,
    planned,
    run,
    start_run,
)
from hindrances import pulses


@contextlib.contextmanager
def listening(backlog, each=None):
    """A target whose queue holds that many and one more; it takes one out every so many seconds, and answers it; or none ever."""
    ended = threading.Event()
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(backlog)
        listener.settimeout(0.2)

        def serve():
            due = time.monotonic()
            while not ended.is_set():
                due = max(due + each, time.monotonic() - each)
                time.sleep(max(0, due - time.monotonic()))
                with contextlib.suppress(OSError):
                    taken, _ = listener.accept()
                    with taken:
                        taken.settimeout(1)
                        head = taken.recv(10_000)
                        expect(b"connection: close" in head.lower(), f"the request asks to keep the connection: {head}")
                        taken.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

        server = threading.Thread(target=serve, daemon=True)
        if each:
            server.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            ended.set()
            if each:
                server.join()


def by_law(summary, sockets, timeout_s):
    """As many attempts as sockets over the timeout and connections come to, but for those at the ends of the phase."""
    connects, measured = summary["connects"], summary["measured"]
    seconds = measured["to_s"] - measured["from_s"]
    law = sockets / timeout_s * seconds + connects["established"]
    # A machine that stands still makes fewer; each socket is in the middle of an attempt at either end.
    least = 0.8 * law - sockets
    expect(least <= connects["attempts"] <= law + sockets, f"{connects['attempts']} attempts, by the law {law}: {connects}")
    expect(abs(connects["expected_per_s"] - law / seconds) < 1e-6 * law, f"the law: {connects}")


def over_time(summary):
    """Attempts and established connections of the whole run."""
    return tuple(sum(row[name] for row in summary["series"]) for name in ("started", "established"))


@check("connects: sockets are kept connecting against a queue that is full, and each attempt ends as one record")
def full(tmp):
    flags = ["--connecting", "40", "--connect-timeout", "200ms", "-d", "3s", "--warmup", "500ms", "--timeout", "500ms"]
    with listening(1) as url:
        ended = run(url, *flags, "--interval", "1s", tmp=tmp)
    summary = ended.summary
    conserved(summary)
    # That no connection is established is what was asked for.
    ended.exits(98 if summary["verdict"]["load"] == "INVALID" else 0)
    by_law(summary, 40, 0.2)
    connects = summary["connects"]
    # The two that the queue takes were established during warm-up.
    equal((connects["established"], connects["served"], connects["refused"]), (0, 0, 0), "what came of attempts")
    equal(set(summary["outcomes"]), {"connect-timeout"}, "outcomes")
    expect(30 <= connects["connecting"] <= 40, f"sockets that were connecting: {connects}")
    rows = connects["intervals"]
    equal([row["from_s"] for row in rows[:4]], [0.0, 1.0, 2.0, 3.0], "intervals")
    equal(sum(row["established"] for row in rows), 2, "connections that the queue took, over all intervals")
    equal(over_time(summary)[1], 2, "the same over time")
    contains(flat(ended.out), "40 sockets kept connecting, each for 200 ms at most", "the first screen")
    expect("PATTERN" not in ended.out, "the pattern, which is nobody's")


@check("connects: a target that accepts late is served one request per connection, and the pressure stays")
def late(tmp):
    flags = ["--connecting", "30", "--connect-timeout", "250ms", "-d", "3s", "--timeout", "10s"]
    with listening(4, each=0.02) as url:
        ended = run(url, *flags, tmp=tmp)
    summary = ended.summary
    conserved(summary)
    by_law(summary, 30, 0.25)
    connects = summary["connects"]
    expect(30 <= connects["established"] <= 170, f"one every 20 ms: {connects}")
    expect(connects["timed_out"] > connects["established"], f"most are given up: {connects}")
    equal(set(summary["outcomes"]), {"ok", "connect-timeout"}, "outcomes")
    equal(summary["time_split"]["connect"]["n"], summary["outcomes"]["ok"], "connections that were timed")
    expect(summary["time_split"]["connect"]["p50"] < 0.25, "connecting takes less than it may")
    contains(flat(ended.out), "until a connection was established", "the first screen")


@check("connects: a target that refuses is not sent more than sockets that wait out their time")
def refused(tmp):
    flags = ["--connecting", "20", "--connect-timeout", "200ms", "-d", "2s"]
    ended = run(f"http://127.0.0.1:{free_port()}/", *flags, tmp=tmp)
    summary = ended.summary
    conserved(summary)
    by_law(summary, 20, 0.2)
    equal(set(summary["outcomes"]), {"refused"}, "outcomes")
    equal(summary["connects"]["established"], 0, "established")


@check("connects: a generator that is stopped again and again is INVALID, against a queue that is full and a target that accepts at once")
def stopped(tmp):
    stops = pulses(0.1, 0.25)
    flags = ["--connecting", "20", "--connect-timeout", "200ms", "--timeout", "1s", "-d", "5s"]
    with listening(1) as full, Serve(tmp=tmp) as accepting:
        # One socket: as fast as the target accepts it takes little of the machine.
        for name, url, sockets in [("full", full, []), ("accepting", accepting.url, ["--connecting", "1"])]:
            running = start_run(url, *(sockets or flags[:2]), *flags[2:], tmp=tmp, name=name)
            with stops(running):
                summary = running.ended().summary
            rules = {rule["rule"]: rule for rule in summary["verdict"]["rules"] if rule["outcome"] != "not-applicable"}
            equal(summary["verdict"]["load"], "INVALID", f"the load on a target that is {name}: {rules}")
            equal(set(rules), {"requests-sent", "late-share", "sockets-held", "stood-still"}, "rules")
            equal(rules["stood-still"]["outcome"], "fail", f"stood-still, stopped for 100 of 350 ms: {rules['stood-still']}")
            equal(summary["verdict"]["time_scale"], {"from": "connect-timeout", "timeout_s": 0.2}, "where the time scale comes from")
            fails = "late-share" if name == "full" else "sockets-held"
            equal(rules[fails]["outcome"], "fail", f"{fails}, stopped for 100 of 350 ms: {rules[fails]}")


@check("connects: at a rate every attempt starts when it is due, whatever the queue takes")
def at_a_rate(tmp):
    flags = ["-R", "200", "-d", "2s", "--seed", "7"]
    due = len(planned("http://127.0.0.1:1/", *flags, cwd=tmp))
    with listening(1) as url:
        ended = run(url, *flags, "--new-connections", "--connect-timeout", "300ms", "--timeout", "500ms", tmp=tmp)
    summary = ended.summary
    conserved(summary)
    ended.exits(code_of(summary))
    connects = summary["connects"]
    # The last ones may start after the end of the phase.
    started, established = over_time(summary)
    equal((summary["measured"]["n"], started), (due, due), "attempts, against the plan")
    expect(due - 40 <= connects["attempts"] <= due, f"attempts within the phase: {connects}")
    equal(established, 2, "what the queue took")
    equal(summary["outcomes"], {"connect-timeout": due - 2, "timeout": 2}, "outcomes")
    expect(connects["sockets"] is None and connects["expected_per_s"] is None, f"no sockets are kept: {connects}")


@check("connects: each request opens a connection of its own, over HTTP/1.1 and tcp, of arrivals and of users")
def one_each(tmp):
    for name, load in [("rate", ["-R", "300", "-d", "1s"]), ("users", ["-u", "4", "-n", "200"])]:
        with Serve(tmp=tmp) as target:
            summary = all_ended(run(target.url, *load, "--new-connections", tmp=tmp, name=name), "ok")
        n = summary["measured"]["n"]
        equal((target.report["requests"], target.report["connections"]), (n, n), "requests and connections served")
        equal((over_time(summary), summary["time_split"]["connect"]["n"]), ((n, n), n), "established")
        equal(summary["generator"]["connections_opened"], n, "connections opened")
    scenario = tmp / "scenario.yaml"
    with Serve(tmp=tmp) as target:
        scenario.write_text(
            f"""
target: {target.url}
connect-timeout: 100ms
users: {{ connecting: {{ sockets: 5 }}, phases: [{{ hold: 500ms, warmup: true }}, {{ hold: 1s }}] }}
journey: [{{ get: / }}]
"""
        )
        summary = all_ended(run(scenario, "--set", "users.connecting.sockets=2", tmp=tmp, name="file"), "ok")
    equal((summary["workload"], summary["plan"]["sockets"]), ("connecting", 2), "the load")
    # One that is established is replaced at once, but for the time in which the generator did not run.
    held = next(rule["value"] for rule in summary["verdict"]["rules"] if rule["rule"] == "sockets-held")
    connecting = summary["connects"]["connecting"]
    expect(abs(connecting - 2 * held) < 0.05, f"two sockets, held for {held} of the time: {connecting} connecting")


@check("connects: what cannot be is refused, and nothing is sent")
def usage(tmp):
    local = "http://127.0.0.1:1/"
    cases = [
        ([local, "--new-connections", "--http2"], "each request opens its own"),
        (["udp://127.0.0.1:9", "--new-connections"], "no connections to open"),
        ([local, "--connecting", "5", "-R", "10"], "--connecting is a load of its own"),
        ([local, "--connecting", "5", "-n", "10"], "--connecting is a load of its own"),
        ([local, "--connecting", "0"], "--connecting 0"),
        ([local, "--connecting", "100", "-c", "50"], "100 sockets"),
        ([local, "--connecting", "5", "--pool", "shared"], "--pool"),
        ([local, "--target-is-mine", "example.com", "--connecting", "5"], "--target-is-mine example.com"),
        # An address for documentation (RFC 5737): were anything sent, it would reach nobody.
        (["http://203.0.113.7/", "--connecting", "5"], "--target-is-mine 203.0.113.7"),
    ]
    for flags, message in cases:
        ended = run(*flags, tmp=tmp, name="never").exits(2)
        contains(flat(ended.err), message, f"the message of {flags}")
        expect(not (tmp / "never").exists(), f"{flags} leaves a folder")
    scenario = tmp / "several.yaml"
    scenario.write_text(
        """
target: http://127.0.0.1:1
users:
  - { name: a, connecting: { sockets: 5 } }
  - { name: b, arrive: { rate: 1/s } }
journey: [{ get: / }]
"""
    )
    contains(run(scenario, tmp=tmp, name="never").exits(2).err, "a load of their own", "two groups")
    contains(headway("plan", local, "--connecting", "5", cwd=tmp).exits(2).err, "have a plan of arrivals", "plan")


@check("connects: connections are opened from the addresses that are given, in turn")
def sources(tmp):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)
        peers = []

        def serve():
            while True:
                try:
                    taken, (peer, _) = listener.accept()
                except OSError:
                    return
                with taken:
                    peers.append(peer)
                    taken.recv(10_000)
                    taken.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        flags = ["-R", "100", "-d", "1s", "--arrivals", "constant", "--new-connections", "--threads", "1"]
        addresses = "127.0.0.2-127.0.0.4,127.0.0.9"
        summary = all_ended(run(url, *flags, "--local-addr", addresses, tmp=tmp), "ok")
        equal(len(peers), summary["measured"]["n"], "connections")
        turns = {peer: peers.count(peer) for peer in peers}
        expect(set(turns) == {f"127.0.0.{n}" for n in (2, 3, 4, 9)} and max(turns.values()) - min(turns.values()) <= 1, f"{turns}")
        for bad, message in [
            ("127.0.0.5-127.0.0.2", "a range goes up"),
            ("127.0.0", "is no address"),
            ("203.0.113.9", "no address of this machine"),
            ("::1", "both must be of IPv4 or of IPv6"),
        ]:
            contains(flat(run(url, *flags, "--local-addr", bad, tmp=tmp, name="never").exits(2).err), message, f"--local-addr {bad}")


@check("connects: a target whose user says that it is theirs is sent the load")
def mine(tmp):
    wrap = ["unshare", "-rn"]
    alone = shutil.which("unshare") and subprocess.run([*wrap, "true"], capture_output=True, check=False).returncode == 0
    if not alone:
        return
    # In a network namespace with nothing in it: no route leads anywhere.
    flags = ["--connecting", "5", "--connect-timeout", "100ms", "-d", "500ms", "--target-is-mine", "203.0.113.7"]
    summary = run("http://203.0.113.7/", *flags, tmp=tmp, wrap=wrap).summary
    equal(set(summary["outcomes"]), {"refused"}, "outcomes where there is no network")
