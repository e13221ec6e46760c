"""HTTP/2: against nginx and nghttpd, the calibrated target, and targets that speak HTTP/1.1 alone."""

import shutil
import socket
import subprocess

from badserver import BadServer, hung
from certificates import Authority
from harness import (
    Nginx, Serve, Skipped, all_ended, check, code_of, conserved, contains, environment, equal, expect, flat, free_port, headway, reasons, run, spawn,
    stop, wait_for,
)

LOAD = ["-R", "200", "-d", "1s"]


class Site:
    """nginx with TLS, one server that speaks HTTP/2 and HTTP/1.1, and one that speaks HTTP/1.1 alone."""

    def __init__(self, tmp, more=""):
        self.authority = Authority(tmp)
        certificate = self.authority.server("good", "DNS:localhost,IP:127.0.0.1")
        self.both, self.one = free_port(), free_port()
        self.access = tmp / "access.log"
        answer = 'location / { return 200 "fine\\n"; }'
        self.nginx = Nginx(
            tmp,
            f"log_format versions '$server_protocol $connection $ssl_alpn_protocol'; access_log {self.access} versions; "
            f"server {{ listen 127.0.0.1:{self.both} ssl http2; {certificate} {more} {answer} }} "
            f"server {{ listen 127.0.0.1:{self.one} ssl; {certificate} {answer} }}",
        )
        self.trusting = environment(SSL_CERT_FILE=self.authority.certificate)

    def __enter__(self):
        self.nginx.__enter__()
        return self

    def __exit__(self, *error):
        return self.nginx.__exit__(*error)


def versions(site):
    return {line.split()[0] for line in site.access.read_text().splitlines()}


@check("http2: nginx: spoken with TLS by default, --http1.1 asks for the other, and the first screen says which")
def nginx(tmp):
    with Site(tmp) as site:
        url = f"https://localhost:{site.both}/"
        ended = run(url, *LOAD, tmp=tmp, name="default", env=site.trusting)
        summary = all_ended(ended, "ok")
        equal(versions(site), {"HTTP/2.0"}, "versions that nginx saw")
        equal(set(summary["generator"]["protocols"]), {"HTTP/2"}, "generator.protocols")
        equal((summary["plan"]["http"], summary["plan"]["streams"]), ("any", 100), "plan.http, plan.streams")
        contains(ended.out, "HTTP/2", "the first screen")
        equal(len(site.access.read_text().splitlines()), summary["measured"]["n"], "requests that nginx logged")
        site.access.write_text("")
        ended = run(url, *LOAD, "--http1.1", tmp=tmp, name="one", env=site.trusting)
        summary = all_ended(ended, "ok")
        equal(set(summary["generator"]["protocols"]), {"HTTP/1.1"}, "generator.protocols with --http1.1")
        expect(versions(site) <= {"HTTP/1.1"}, "versions that nginx saw with --http1.1")


@check("http2: nginx: many requests at once share a connection; --streams and --spread change how many there are")
def shared(tmp):
    with Site(tmp) as site:
        url = f"https://localhost:{site.both}/"
        work = ["-u", "32", "-n", "2000", "--pool", "shared"]
        opened = {}
        for name, flags in [("default", []), ("streams", ["--streams", "8"]), ("spread", ["--spread", "-c", "5"])]:
            summary = all_ended(run(url, *work, *flags, tmp=tmp, name=name, env=site.trusting), "ok")
            equal(summary["measured"]["n"], 2000, f"requests, {name}")
            opened[name] = summary["generator"]["connections_opened"]
        # nginx closes a connection after 1,000 requests.
        expect(1 <= opened["default"] <= 4, f"connections: {opened}")
        expect(4 <= opened["streams"] <= 12, f"connections: {opened}")
        expect(5 <= opened["spread"] <= 10, f"connections: {opened}")


@check("http2: nginx: a connection that it closes with GOAWAY after 50 requests answers those, and what came too late is sent again")
def goaway(tmp):
    with Site(tmp, "keepalive_requests 50;") as site:
        ended = run(f"https://localhost:{site.both}/", "-R", "500", "-d", "2s", tmp=tmp, name="run", env=site.trusting)
        summary = ended.exits(code_of(ended.summary)).summary
        n, ok = summary["measured"]["n"], summary["outcomes"]["ok"]
        equal(summary["outcomes"], {"ok": n}, "outcomes")
        # A request that crosses the GOAWAY on its way is given back: a few at each end of a connection.
        again = [f["evidence"][0] for f in summary["verdict"]["findings"] if f["id"] == "sent-again"]
        expect(all(0 < row["n"] <= n // 4 and row["times"] >= row["n"] for row in again), f"sent again: {again}")
        expect(summary["generator"]["connections_opened"] >= ok // 50, "connections opened")
        equal(len(site.access.read_text().splitlines()), ok, "requests that nginx logged")


@check("http2: --http2 where the target speaks HTTP/1.1 alone says so; contradictions are refused")
def refused(tmp):
    with Site(tmp) as site:
        url = f"https://localhost:{site.one}/"
        ended = run(url, *LOAD, "--http2", tmp=tmp, name="tls", env=site.trusting).exits(1)
        contains(reasons(ended.summary, "tls"), "does not speak HTTP/2", "reasons")
        all_ended(run(url, *LOAD, tmp=tmp, name="any", env=site.trusting), "ok")
    for arguments, message in [
        (["h2c://127.0.0.1:9/", "--http1.1"], "h2c://127.0.0.1:9/ is HTTP/2 without TLS"),
        (["http://127.0.0.1:9/", "--http1.1", "--http2"], "exclude each other"),
        (["http://127.0.0.1:9/", "--streams", "0"], "0 streams"),
    ]:
        contains(headway("run", *arguments, cwd=tmp).exits(2).err, message, " ".join(arguments))


@check("http2: nghttpd without TLS: h2c:// and --http2, bodies, and no more streams than it allows")
def nghttpd(tmp):
    program = shutil.which("nghttpd", path="/usr/sbin:/usr/bin:/usr/local/bin")
    if not program:
        raise Skipped("nghttpd is not installed")
    port = free_port()
    (tmp / "index.html").write_text("fine\n")
    server = spawn([program, "--no-tls", "-m", "4", "-d", str(tmp), str(port)], stdout=subprocess.DEVNULL)

    def listening():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_for(listening, "nghttpd to listen")
        summary = all_ended(run(f"h2c://127.0.0.1:{port}/index.html", *LOAD, tmp=tmp, name="h2c"), "ok")
        equal(set(summary["generator"]["protocols"]), {"HTTP/2"}, "generator.protocols")
        summary = all_ended(
            run(f"http://127.0.0.1:{port}/index.html", "--http2", "-u", "16", "-n", "1000", "--pool", "shared", tmp=tmp, name="many"), "ok"
        )
        opened = summary["generator"]["connections_opened"]
        expect(4 <= opened <= 16, f"{opened} connections for 16 requests at once, 4 on each")
        (tmp / "body").write_bytes(b"x" * 300_000)
        all_ended(
            run(f"h2c://127.0.0.1:{port}/index.html", "-R", "20", "-d", "1s", "-m", "POST", "--body-file", str(tmp / "body"), tmp=tmp, name="post"),
            "ok",
        )
    finally:
        stop(server)


@check("http2: the calibrated target speaks it, and --timeout resets a stream, not the connection")
def served(tmp):
    with Serve("--service", "const(200ms)", "--servers", "1000", tmp=tmp) as target:
        url = target.url.replace("http://", "h2c://")
        summary = all_ended(run(url, "-R", "100", "-d", "1s", tmp=tmp, name="slow"), "ok")
        equal(summary["generator"]["connections_opened"], 1, "connections")
        summary = run(url, "-R", "100", "-d", "1s", "--timeout", "100ms", tmp=tmp, name="timeout").summary
        equal(set(summary["outcomes"]), {"timeout"}, "outcomes")
        equal(summary["generator"]["connections_opened"], 1, "connections")


@check("http2: a target that accepts connections and says nothing is named, and the cap is not blamed")
def mute(tmp):
    with BadServer(hung) as target:
        ended = run(target.url, "--http2", "-R", "50", "-d", "4s", "--timeout", "500ms", "--connect-timeout", "1s", tmp=tmp)
    summary = ended.summary
    conserved(summary)
    kinds = {row.get("kind") for row in summary["failure_reasons"]["rows"]}
    expect("http2-unanswered" in kinds, f"kinds of failures: {kinds}")
    # Nobody waits for long for a connection to say how much it takes: each request then has its own, as over HTTP/1.1.
    n = summary["measured"]["n"]
    expect(summary["outcomes"].get("timeout", 0) > 0.5 * n, f"outcomes of {n}: {summary['outcomes']}")
    contains(flat(ended.out), "no SETTINGS", "the report")
    for blamed in ("Raise -c", "used up the cap", "used up all", "cap of"):
        expect(blamed not in flat(ended.out), f"{blamed}: {ended.out}")
