"""Datagrams: `udp://` against `headway serve --udp`, and what cannot be sent so."""

import csv
import re
import signal
import socket

from harness import Failed, Headway, all_ended, check, conserved, contains, equal, expect, free_port, headway, run, wait_for

LOAD = ["-R", "400", "-d", "1s"]


class Datagrams:
    """`headway serve --udp` on a free port; `report` holds its counts after it has ended."""

    def __init__(self, *arguments, tmp):
        self.arguments, self.tmp, self.report = arguments, tmp, None

    def __enter__(self):
        self.headway = Headway(["serve", "--udp", "--listen", "127.0.0.1:0", *self.arguments], self.tmp)

        def address():
            if self.headway.process.poll() is not None:
                raise Failed(f"serve ended: {self.headway.text(self.headway.err)!r}")
            return re.search(r"serving UDP at (\S+) ", self.headway.text(self.headway.err))

        self.url = f"udp://{wait_for(address, 'serve to listen').group(1)}"
        return self

    def __exit__(self, *error):
        if self.headway.process.poll() is None:
            self.headway.signal(signal.SIGINT)
        ended = self.headway.ended(20)
        if error[0] is None:
            ended.exits(0)
            counts = re.search(
                r"received (\d+) datagrams of (\d+) bytes: (\d+) answered, (\d+) rejected, (\d+) answers not taken; (\d+) dropped", ended.err
            )
            expect(counts, f"serve tells no counts: {ended}")
            names = ("received", "bytes", "answered", "rejected", "unsent", "dropped")
            self.report = dict(zip(names, map(int, counts.groups())))
        return False


@check("udp: each datagram is answered, and target and generator count the same")
def echo(tmp):
    with Datagrams(tmp=tmp) as target:
        ended = run(target.url, *LOAD, tmp=tmp)
        summary = all_ended(ended, "ok")
        own = run(target.url, *LOAD, "-b", "{{ arrival }} and eight more bytes", "--answer", "next", tmp=tmp, name="own")
        conserved(own.summary)
    n = summary["measured"]["n"]
    equal(set(summary["generator"]["protocols"]), {"UDP"}, "generator.protocols")
    equal(set(summary["generator"]["datagrams"].values()), {0}, "late, duplicates, reordered, unexpected")
    contains(ended.out, "UDP", "the first screen")
    equal(target.report["received"], n + own.summary["measured"]["n"], "datagrams that the target received")
    equal(target.report["answered"], target.report["received"], "datagrams sent back")


@check("udp: --one-way counts what was sent, the target what it received, with the kernel's stamps")
def one_way(tmp):
    log = tmp / "arrivals.csv"
    with Datagrams("--count", "--arrivals-log", log, tmp=tmp) as target:
        ended = run(target.url, *LOAD, "--one-way", tmp=tmp)
        summary = all_ended(ended, "ok")
    contains(ended.out, "no answer is expected", "the first screen")
    equal((summary["plan"]["answer"], summary["bytes_received"] if "bytes_received" in summary else 0), ("none", 0), "plan.answer")
    rows = list(csv.DictReader(log.open()))
    equal(len(rows), summary["measured"]["n"], "rows of the log")
    equal({(row["stamp"], row["dropped"], row["sender"]) for row in rows}, {("kernel", "0", "0")}, "stamp, dropped, sender")
    equal((target.report["received"], target.report["answered"]), (len(rows), 0), "received and answered")
    headway("audit", log, cwd=tmp).exits(0, 1)


@check("udp: a port without a listener, and a name without one, end as refused")
def refused(tmp):
    ended = run(f"udp://127.0.0.1:{free_port()}", "-R", "50", "-d", "1s", tmp=tmp)
    summary = ended.summary
    conserved(summary)
    equal(set(summary["outcomes"]), {"refused"}, f"outcomes ({ended})")


@check("udp: what the target cannot take is said before anything is sent")
def mistakes(tmp):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        s.settimeout(0.2)
        url = f"udp://127.0.0.1:{s.getsockname()[1]}"
        for arguments, words in [
            ([url, "-H", "a: b"], "takes plain bytes"),
            ([url, "-m", "POST"], "takes plain bytes"),
            ([url + "/x"], "a host and a port alone"),
            (["udp://127.0.0.1:0"], "port 0"),
            (["udp://127.0.0.1"], "names no port"),
            ([url, "--answer", "until:x"], "udp"),
            ([url, "--answer", "match:x"], "match"),
            ([url, "--http2"], "http"),
            (["http://127.0.0.1:9", "--one-way"], "http"),
        ]:
            ended = headway("run", *arguments, cwd=tmp).exits(2)
            contains(ended.err, words, f"message on {' '.join(arguments)}")
        try:
            raise AssertionError(f"a datagram came: {s.recv(100)}")
        except TimeoutError:
            pass


@check("udp: serve answers beyond loopback only on demand, and never where it cannot")
def served(tmp):
    for arguments, words in [
        (["--listen", "0.0.0.0:0"], "--allow-remote"),
        (["--listen", f"unix:{tmp}/s"], "carries no UDP"),
        (["--state"], "--state"),
        (["--body", "100"], "--body"),
    ]:
        ended = headway("serve", "--udp", *arguments, cwd=tmp).exits(2)
        contains(ended.err, words, f"message on {' '.join(arguments)}")
    for arguments in [["--count"], ["--allow-remote"]]:
        headway("serve", "--udp", "--listen", "0.0.0.0:0", *arguments, "--stop-after", "100ms", cwd=tmp).exits(0)
