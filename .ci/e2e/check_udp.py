"""Datagrams: `udp://` against `headway serve --udp`, `dns://` against dnsmasq, and what cannot be sent so."""

import csv
import ctypes
import errno
import os
import platform
import re
import shutil
import socket
import struct
import subprocess
import threading
import time

from harness import (
    Serve, Skipped, all_ended, check, conserved, contains, equal, expect, flat, free_port, headway, reasons, run, spawn, stop, wait_for,
)

LOAD = ["-R", "400", "-d", "1s"]


class Datagrams(Serve):
    """`headway serve --udp`."""

    flags, scheme, listens = ("--udp",), "udp://{}", r"serving UDP at (\S+) "
    counts = r"received (\d+) datagrams of (\d+) bytes: (\d+) answered, (\d+) rejected, (\d+) answers not taken; (\d+) dropped"
    names = ("received", "bytes", "answered", "rejected", "unsent", "dropped")


@check("udp: each datagram is answered, and target and generator count the same")
def echo(tmp):
    with Datagrams(tmp=tmp) as target:
        ended = run(target.url, *LOAD, tmp=tmp)
        summary = all_ended(ended, "ok")
        own = run(target.url, *LOAD, "-b", "bytes of its own", "--answer", "next", tmp=tmp, name="own")
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
    contains(ended.out, "no response is expected", "the first screen")
    equal(summary["generator"]["datagrams"]["unreachable"], 0, "datagrams that did not arrive")
    # The system says of each that it met a closed port, when the next is sent.
    closed = run(f"udp://127.0.0.1:{free_port()}", "-R", "50", "-d", "1s", "--one-way", tmp=tmp, name="closed")
    n, told = closed.summary["measured"]["n"], closed.summary["generator"]["datagrams"]["unreachable"]
    expect(n // 2 < told <= n, f"{told} of {n} are said not to arrive")
    contains(flat(closed.out), "met a port at which nothing listens (ICMP)", "the first screen")
    expect("p99.9" not in ended.out and "answered" not in ended.out, f"what was not measured is not shown: {ended.out}")
    equal(summary["plan"]["answer"], "none", "plan.answer")
    rows = list(csv.DictReader(log.open()))
    equal(len(rows), summary["measured"]["n"], "rows of the log")
    equal({(row["stamp"], row["dropped"], row["sender"]) for row in rows}, {("kernel", "0", "0")}, "stamp, dropped, sender")
    equal((target.report["received"], target.report["answered"]), (len(rows), 0), "received and answered")
    headway("audit", log, cwd=tmp).exits(0, 1)


@check("udp: --interval says what was sent, received and lost, and when; what is late, repeated and strange is counted")
def intervals(tmp):
    # Answers after 120 ms and twice in the second second of the peer's life; the first datagram is its zero.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))

        def peer():
            zero = None
            while True:
                try:
                    datagram, sender = s.recvfrom(2000)
                except OSError:
                    return
                zero = zero or time.monotonic()
                if 1 <= time.monotonic() - zero < 2:
                    timer = threading.Timer(0.12, lambda d=datagram, to=sender: [s.sendto(d, to), s.sendto(d, to), s.sendto(b"?", to)])
                    timer.daemon = True
                    timer.start()
                else:
                    s.sendto(datagram, sender)

        threading.Thread(target=peer, daemon=True).start()
        url = f"udp://127.0.0.1:{s.getsockname()[1]}"
        load = ["--arrivals", "constant", "-R", "50", "-d", "4s", "--timeout", "60ms", "--interval", "1s", "--details"]
        ended = run(url, *load, tmp=tmp)
        headway("run", url, "--interval", "1500ms", cwd=tmp).exits(2)
    headway("run", "http://127.0.0.1:9", "--interval", "1s", cwd=tmp).exits(2)
    summary = ended.summary
    conserved(summary)
    strays = summary["generator"]["datagrams"]
    rows = strays["intervals"]
    expect(re.search(r"^ *1 to 2 s ", ended.out, re.M), f"no row of the second interval in {ended.out}")
    equal(sum(row["sent"] for row in rows), summary["measured"]["n"], "sent, over the intervals")
    equal(sum(row["received"] for row in rows), summary["outcomes"]["ok"], "received, over the intervals")
    equal(sum(row["lost"] for row in rows), summary["outcomes"]["timeout"], "lost, over the intervals")
    for name in ("late", "duplicates", "reordered", "unexpected"):
        equal(sum(row[name] for row in rows), strays[name], f"{name}, over the intervals")
    lost = [row["lost"] for row in rows]
    expect(40 <= sum(lost) <= 60 and lost[1] >= 30 and lost[0] + sum(lost[3:]) <= 3, f"lost by interval: {lost}")
    expect(strays["late"] == sum(lost) and strays["duplicates"] == sum(lost) and strays["unexpected"] == sum(lost), f"{strays}, lost {lost}")


@check("udp: a port without a listener, and a name without one, end as refused")
def refused(tmp):
    ended = run(f"udp://127.0.0.1:{free_port()}", "-R", "50", "-d", "1s", tmp=tmp)
    summary = ended.summary
    conserved(summary)
    equal(set(summary["outcomes"]), {"refused"}, f"outcomes ({ended})")


def refuse_long_datagrams():
    """What a small MTU on the way is to a socket that must not fragment: sendto of more than 1,472 bytes is EMSGSIZE (a seccomp filter, which
    needs no privilege and stays with this process)."""
    sendto = {"x86_64": 44, "aarch64": 206}[platform.machine()]
    load, equals, above, end = 0x20, 0x15, 0x25, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000 | errno.EMSGSIZE
    # Number of the call at 0 of seccomp_data, its arguments of 8 bytes from 16 on, the lower half first.
    filters = [(load, 0, 0, 0), (equals, 0, 3, sendto), (load, 0, 0, 16 + 2 * 8), (above, 0, 1, 1472), (end, 0, 0, refuse), (end, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in filters))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(filters), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_seccomp, with_filter = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(set_seccomp, with_filter, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


@check("udp: a datagram that the system finds too long for the way (EMSGSIZE) is unsent, with the reason, and the socket goes on")
def too_long_for_the_way(tmp):
    if platform.machine() not in ("x86_64", "aarch64"):
        raise Skipped("the filter that refuses long datagrams knows this machine's system calls not")
    with Datagrams(tmp=tmp) as target:
        scenario = tmp / "scenario.yaml"
        scenario.write_text(
            f"""
target: {target.url}
answer: "match:0+8"
users: {{ arrive: {{ process: poisson, rate: 100/s }}, phases: [{{ hold: 1s }}] }}
journey:
  - {{ send: "{64 * "s"}", name: short }}
  - {{ send: "{2_000 * "l"}", name: long }}
  - {{ send: "{1_472 * "m"}", name: longest }}
"""
        )
        ended = run(scenario, tmp=tmp, before=refuse_long_datagrams)
        one_way = run(target.url, *LOAD, "-b", 2_000 * "l", "--one-way", tmp=tmp, name="one-way", before=refuse_long_datagrams)
        plain = run(scenario, tmp=tmp, name="plain")
    summary = ended.summary
    conserved(summary)
    sessions = summary["measured"]["n"] // 3
    equal(summary["outcomes"], {"ok": 2 * sessions, "unsent": sessions}, f"outcomes ({ended})")
    all_ended(plain, "ok")
    conserved(one_way.summary)
    equal(set(one_way.summary["outcomes"]), {"unsent"}, f"outcomes ({one_way})")
    for told in (ended, one_way):
        contains(reasons(told.summary, "unsent"), os.strerror(errno.EMSGSIZE), "the reason")
    equal(target.report["received"], 2 * sessions + plain.summary["measured"]["n"], "datagrams that the target received")


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
            ([url, "-b", "hello", "--answer", "match:2+4"], "with a sum of at most 5"),
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
        (["--count", "--service", "const(1ms)"], "exclude each other"),
    ]:
        ended = headway("serve", "--udp", *arguments, cwd=tmp).exits(2)
        contains(ended.err, words, f"message on {' '.join(arguments)}")
    for arguments in [["--count"], ["--allow-remote"]]:
        headway("serve", "--udp", "--listen", "0.0.0.0:0", *arguments, "--stop-after", "100ms", cwd=tmp).exits(0)


class Resolver:
    """dnsmasq on a free port: one name has an address, one a long text, and no other exists."""

    def __enter__(self):
        binary = shutil.which("dnsmasq", path="/usr/sbin:/usr/bin")
        expect(binary, "dnsmasq is not installed")
        self.port = free_port()
        texts = ",".join(200 * "x" for _ in range(6))
        flags = [
            f"--port={self.port}", "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv", "--no-hosts", "--local=/test/",
            "--host-record=here.test,192.0.2.1", f"--txt-record=long.test,{texts}", "--keep-in-foreground", "--conf-file=/dev/null",
            "--user=root", "--pid-file=",
        ]  # fmt: skip
        self.process = spawn([binary, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.answers, "dnsmasq to answer")
        return self

    def answers(self):
        question = b"\0\1\1\0\0\1\0\0\0\0\0\0\4here\4test\0\0\1\0\1"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(0.2)
            try:
                s.sendto(question, ("127.0.0.1", self.port))
                return s.recv(600)
            except OSError:
                return None

    def __exit__(self, *_):
        stop(self.process)
        return False


@check("dns: dnsmasq answers by number; codes are outcomes; a truncated answer is none")
def dns(tmp):
    with Resolver() as resolver:
        server = f"dns://127.0.0.1:{resolver.port}"
        ended = run(f"{server}/here.test?type=A", *LOAD, tmp=tmp, name="here")
        summary = all_ended(ended, "ok")
        equal(set(summary["generator"]["protocols"]), {"DNS"}, "generator.protocols")
        contains(ended.out, "DNS", "the first screen")
        ended = run(f"{server}/nowhere.test", *LOAD, tmp=tmp, name="nowhere")
        summary = all_ended(ended, "status")
        contains(ended.out, "NXDOMAIN", "the first screen")
        equal({failure["status"] for failure in summary["failures"]}, {3}, "codes")
        ended = run(f"{server}/long.test?type=TXT", *LOAD, tmp=tmp, name="long")
        all_ended(ended, "too-large")
        contains(ended.out, "truncated", "the first screen")
        names = tmp / "names.csv"
        names.write_text("name\nhere.test\nnowhere.test\n")
        scenario = tmp / "scenario.yaml"
        scenario.write_text(
            f"""
target: {server}
data: {{ names: {{ csv: names.csv }} }}
users: {{ arrive: {{ process: poisson, rate: 200/s }}, phases: [{{ hold: 1s }}] }}
journey:
  - send: "{{{{ data.names.name }}}} AAAA"
    expect: {{ status: [NOERROR, NXDOMAIN] }}
"""
        )
        all_ended(run(scenario, tmp=tmp, name="scenario"), "ok")
        root = run(f"{server}/.?type=NS", *LOAD, tmp=tmp, name="root")
        conserved(root.summary)
        expect(root.summary["failures"] == [] or {f["outcome"] for f in root.summary["failures"]} == {"status"}, f"the root is answered: {root}")
        names.write_text("name\nbad..name\n")
        bad = run(scenario, tmp=tmp, name="bad")
        conserved(bad.summary)
        equal(set(bad.summary["outcomes"]), {"unsent"}, f"outcomes ({bad})")
        contains(bad.out, "'bad..name' is no name", "the first screen")
        expect("Lower the rate" not in bad.out, f"advice against bad names: {bad.out}")
        for arguments, words in [
            ([server], "nothing is asked"),
            ([server + "/a/b"], "one name"),
            ([server + "/a..b"], "is no name"),
            ([server + "/a.b?type=Q"], "no type of record"),
            ([server + "/a.b", "-b", "c.d"], "leave one of them out"),
            ([server + "/a.b", "--answer", "next"], "DNS"),
            (["dns:///a.b"], "names no host"),
        ]:
            ended = headway("run", *arguments, cwd=tmp).exits(2)
            contains(ended.err, words, f"message on {' '.join(arguments)}")
