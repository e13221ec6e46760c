"""Through a proxy: tinyproxy from Debian for what works, scripted ones for what does not."""

import os
import re
import shutil
import socket

import badserver
from certificates import Authority
from check_reasons import advised
from check_scenario import run_file
from harness import (
    Nginx, all_ended, check, contains, environment, equal, expect, finding, flat, free_port, headway, run, spawn, stop, wait_for,
)
from recorder import Recorder

LOAD = ["-R", "40", "-d", "500ms", "--arrivals", "constant"]
LOGIN = "someone:pass%2Dword7"


class Tinyproxy:
    """tinyproxy for this machine alone, in a folder of its own."""

    def __init__(self, tmp, *settings, name="tinyproxy"):
        self.folder, self.port = tmp / name, free_port()
        self.folder.mkdir()
        self.log = self.folder / "log"
        lines = [f"Port {self.port}", "Listen 127.0.0.1", "Timeout 20", f'LogFile "{self.log}"', "LogLevel Connect", "MaxClients 200", *settings]
        (self.folder / "conf").write_text("\n".join(lines) + "\n")
        self.address = f"127.0.0.1:{self.port}"

    def url(self, login=""):
        return f"http://{login}{'@' if login else ''}{self.address}"

    def asked(self):
        """First lines of the requests in its log."""
        return re.findall(r"Request \(file descriptor \d+\): (.*)", self.log.read_text()) if self.log.exists() else []

    def __enter__(self):
        binary = shutil.which("tinyproxy", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        expect(binary, "tinyproxy is not installed")
        with open(self.folder / "start.log", "wb") as log:
            self.process = spawn([binary, "-d", "-c", self.folder / "conf"], stdout=log, stderr=log)

        def listens():
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", self.port)) == 0

        wait_for(listens, "tinyproxy to listen")
        return self

    def __exit__(self, *_):
        stop(self.process)
        return False


class Sites:
    """nginx with a site without TLS and one with TLS and HTTP/2, which log how they were reached."""

    def __init__(self, tmp):
        self.authority, self.plain, self.tls, self.access = Authority(tmp), free_port(), free_port(), tmp / "access.log"
        ours = self.authority.server("good", "DNS:localhost,IP:127.0.0.1")
        where = 'location / { return 200 "fine\\n"; }'
        self.nginx = Nginx(
            tmp,
            f"log_format seen '$scheme $server_protocol $host|$http_via|$http_proxy_authorization|$request_uri'; access_log {self.access} seen; "
            f"server {{ listen 127.0.0.1:{self.plain}; {where} }} server {{ listen 127.0.0.1:{self.tls} ssl http2; {ours} {where} }}",
        )
        self.trusting = ["--cacert", self.authority.certificate]

    def seen(self):
        return [line.split("|") for line in self.access.read_text().splitlines()]

    def __enter__(self):
        self.nginx.__enter__()
        return self

    def __exit__(self, *error):
        return self.nginx.__exit__(*error)


def echo(connection):
    """Sends back what comes."""
    while data := connection.recv(4096):
        connection.sendall(data)


@check("proxy: tinyproxy with a password: requests without TLS whole, TLS with HTTP/2 and bytes over TCP by tunnels; its log agrees with nginx's")
def through(tmp):
    with Sites(tmp) as sites, Tinyproxy(tmp, "BasicAuth someone pass-word7") as proxy:
        given = ["--proxy", proxy.url(LOGIN)]
        ended = run(f"http://localhost:{sites.plain}/a?b=c", *LOAD, *given, tmp=tmp, name="plain")
        summary = all_ended(ended, "ok")
        contains(flat(ended.out), f"through the proxy http://{proxy.address}", "the first screen")
        n = summary["measured"]["n"]
        seen = sites.seen()
        equal(len(seen), n, "requests without TLS that nginx logged")
        equal({(how, login, uri) for how, _, login, uri in seen}, {("http HTTP/1.1 localhost", "-", "/a?b=c")}, "what nginx saw")
        expect(all("tinyproxy" in via for _, via, _, _ in seen), f"not through tinyproxy: {seen[:2]}")
        equal(set(proxy.asked()), {f"GET http://localhost:{sites.plain}/a?b=c HTTP/1.1"}, "what tinyproxy was asked for")
        equal(summary["plan"]["proxy"], f"http://{proxy.address}", "proxy in the summary")
        expect("same_host_as_target" not in summary["generator"] or summary["generator"]["same_host_as_target"] is None,
               f"where the target is: {summary['generator']}")

        before = len(proxy.asked())
        url = f"https://localhost:{sites.tls}/"
        summary = all_ended(run(url, *LOAD, *given, *sites.trusting, tmp=tmp, name="tls"), "ok")
        equal(list(summary["generator"]["protocols"]), ["HTTP/2"], "protocols through the tunnel")
        new = sites.seen()[n:]
        equal({tuple(line) for line in new}, {("https HTTP/2.0 localhost", "-", "-", "/")}, "what nginx saw through the tunnel")
        opened = summary["generator"]["connections_opened"]
        equal(proxy.asked()[before:], [f"CONNECT localhost:{sites.tls} HTTP/1.1"] * opened, "tunnels that tinyproxy was asked for")

        before, count = len(proxy.asked()), len(sites.seen())
        work = ["-n", "20", "-c", "2", "--http1.1", "--new-connections"]
        summary = all_ended(run(url, *work, *given, *sites.trusting, tmp=tmp, name="each"), "ok")
        equal(len(proxy.asked()) - before, summary["measured"]["n"], "tunnels, one for each request")
        equal({line[0] for line in sites.seen()[count:]}, {"https HTTP/1.1 localhost"}, "protocol of these")
        rows = [row for row in summary["series"] if row["n"]]
        expect(rows and all(row["time_split"]["connect"] > 0 and row["time_split"]["tls"] > 0 for row in rows), "times of connections")

        text = (
            f"target: https://localhost:{sites.tls}\ncacert: {sites.authority.certificate}\nproxy: 'http://${{LOGIN}}@proxy.test:{proxy.port}'\n"
            f"resolve: [ 'proxy.test:{proxy.port}:127.0.0.1' ]\nusers: {{ work: {{ requests: 9, users: 2 }} }}\njourney: [ {{ get: /file }} ]\n"
        )
        count = len(sites.seen())
        ended = run_file(text, tmp=tmp, name="file", env={"LOGIN": LOGIN})
        all_ended(ended, "ok")
        equal(len(sites.seen()) - count, 9, "requests of the file")
        equal(ended.summary["plan"]["proxy"], f"http://proxy.test:{proxy.port}", "proxy of the file in the summary")

        with badserver.BadServer(echo) as server:
            tcp = f"tcp://127.0.0.1:{server.port}"
            all_ended(run(tcp, *LOAD, *given, "-b", "ping\n", "--answer", "until:\\n", tmp=tmp, name="tcp"), "ok")
            contains("\n".join(proxy.asked()), f"CONNECT 127.0.0.1:{server.port} HTTP/1.1", "the log of tinyproxy")

        # Two runs of which one goes through a proxy are not the same plan.
        direct = run(f"http://localhost:{sites.plain}/a?b=c", *LOAD, tmp=tmp, name="direct")
        compared = headway("compare", direct.folder, tmp / "plain", cwd=tmp)
        contains(flat(compared.out + compared.err), "proxy", "compare")


@check("proxy: no password, a wrong one, a forbidden port, a target that is not there, by tinyproxy: kind and advice")
def refused(tmp):
    closed = free_port()
    with Sites(tmp) as sites, Tinyproxy(tmp, "BasicAuth someone pass-word7", "ConnectPort 443", f"ConnectPort {closed}") as proxy:
        plain, tls = f"http://localhost:{sites.plain}/", f"https://localhost:{sites.tls}/"
        advice = "give --proxy http://HOST:PORT with NAME:PASSWORD"
        ended = run(plain, *LOAD, "--proxy", proxy.url(), tmp=tmp, name="plain")
        advised(ended, "status", "proxy-authentication", "status 407", advice)
        for name, login, status in [("none", "", 407), ("wrong", "someone:else", 401)]:
            ended = run(tls, *LOAD, "--proxy", proxy.url(login), *sites.trusting, tmp=tmp, name=name).exits(1)
            advised(ended, "refused", "proxy-authentication", f"the proxy {proxy.address} answered CONNECT: status {status}", advice)
        ended = run(tls, *LOAD, "--proxy", proxy.url(LOGIN), *sites.trusting, tmp=tmp, name="port").exits(1)
        advised(ended, "refused", "proxy-forbids", "answered CONNECT: status 403", "use another --proxy")
        ended = run(f"https://localhost:{closed}/", *LOAD, "--proxy", proxy.url(LOGIN), "-k", tmp=tmp, name="closed").exits(1)
        advised(ended, "refused", "proxy-no-target", "answered CONNECT: status 500", "The proxy did not reach the target")
        equal(sites.access.read_text(), "", "requests that came through all the same")


@check("proxy: nobody there, silence, a closed connection, garbage, a bad gateway, more than the head, by scripted ones: kind and advice")
def broken(tmp):
    def says(text):
        def behaviour(connection):
            if badserver.request_of(connection):
                connection.sendall(text)
                connection.shutdown(socket.SHUT_WR)
                badserver.hung(connection)
        return behaviour

    tls = ["https://localhost:9/", *LOAD, "-k"]
    plain = ["http://localhost:9/", *LOAD]
    port = free_port()
    for name, target in [("tls", tls), ("plain", plain)]:
        ended = run(*target, "--proxy", f"http://127.0.0.1:{port}", tmp=tmp, name=f"nobody-{name}").exits(1)
        advised(ended, "refused", "proxy-refused", f"connecting to the proxy 127.0.0.1:{port}", "check the host and the port of --proxy")
    with badserver.BadServer(badserver.hung) as bad:
        ended = run(*tls, "--proxy", bad.url, "--connect-timeout", "300ms", tmp=tmp, name="silent").exits(1)
        advised(ended, "connect-timeout", "proxy-unanswered", "gave no complete response to CONNECT within 300ms", "--connect-timeout 30s waits longer")
    made = b"HTTP/1.1 200 Connection established\r\n\r\n"
    for name, target, answer, outcome, kind, parts in [
        ("closed", tls, b"", "reset", "proxy-closed", ["closed by it", "The proxy closes connections before it answers"]),
        ("closed-plain", plain, b"", "reset", "proxy-closed", ["The proxy closes connections before it answers"]),
        ("garbage", tls, b"SSH-2.0-OpenSSH_9.9\r\n", "protocol", "proxy-not-http", ["What answers is no proxy of HTTP without TLS"]),
        ("garbage-plain", plain, b"SSH-2.0-OpenSSH_9.9\r\n", "protocol", "proxy-not-http", ["What answers is no proxy of HTTP without TLS"]),
        ("gateway", tls, b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "refused", "proxy-no-target", ["status 502", "The proxy did not reach the target"]),
        ("more", tls, made + b"hello", "protocol", "proxy-surplus", ["more than the head of its response", "use another --proxy"]),
    ]:
        with badserver.BadServer(says(answer)) as bad:
            ended = run(*target, "--proxy", bad.url, tmp=tmp, name=name)
            advised(ended, outcome, kind, *parts)


@check("proxy: what cannot be is refused with exit code 2; a dry run names it; the environment names none for a run")
def usage(tmp):
    url, through = "http://127.0.0.1:9/", ["--proxy", "http://me:hunter2@127.0.0.1:1"]
    for name, arguments, parts in [
        ("scheme", [url, "--proxy", "https://p:1"], ["--proxy", "without TLS", "http://HOST:PORT"]),
        ("socks", [url, "--proxy", "socks5://p:1"], ["--proxy", "SOCKS", "http://HOST:PORT"]),
        ("port", [url, "--proxy", "http://p"], ["--proxy", "it names no port", "http://HOST:PORT"]),
        ("path", [url, "--proxy", "http://p:1/x"], ["--proxy", "a host and a port alone"]),
        ("udp", ["udp://127.0.0.1:9", "-b", "x", *through], ["--proxy", "a target of udp goes over UDP, and through no proxy", "tcp://"]),
        ("unix", ["unix:/run/x.sock", *through], ["--proxy", "a Unix socket has no host"]),
        ("connecting", [url, "--connecting", "5", *through], ["--proxy", "accepts connections itself", "give the proxy as the target"]),
        ("resolve", [url, *through, "--resolve", "127.0.0.1:9:127.0.0.2"], ["--resolve", "127.0.0.1, port 1"]),
        ("connect-to", [url, *through, "--connect-to", "127.0.0.1:9::8"], ["--connect-to", "the proxy is 127.0.0.1, port 1"]),
    ]:
        load = ["-d", "1s"] if name == "connecting" else LOAD
        ended = run(*arguments, *load, tmp=tmp, name=name).exits(2)
        for part in parts:
            contains(flat(ended.err), part, f"{name}: stderr")
        expect("hunter2" not in ended.err and not ended.folder.exists(), f"{name}: {ended}")
    ended = headway("run", "https://bars.test/", *LOAD, *through, "--dry-run", cwd=tmp).exits(0)
    contains(ended.out, "at https://bars.test/ through the proxy http://127.0.0.1:1, seed", "dry run")
    ended = run("http://bars.test/", *LOAD, "--proxy", "http://no.such.proxy.invalid:3128", tmp=tmp, name="name").exits(1)
    contains(flat(ended.err), "the name no.such.proxy.invalid of the proxy does not resolve", "stderr")
    with Recorder() as server:
        env = environment(HTTP_PROXY="http://127.0.0.1:1")
        ended = run(server.url, *LOAD, tmp=tmp, name="environment", env=env)
        contains(flat(ended.err), "HTTP_PROXY is set and not used", "stderr")
        contains(flat(ended.err), "give --proxy http://HOST:PORT", "stderr")
        expect(server.requests, "nothing came")
        ended = run("http://bars.test/", *LOAD, "--proxy", server.url, tmp=tmp, name="both", env=env)
        expect("HTTP_PROXY" not in ended.err and not finding(ended.summary, "proxy-not-used"), f"said for nothing: {ended}")
        equal({seen.path for seen in server.requests[-3:]}, {"http://bars.test/"}, "what the proxy was asked for")
