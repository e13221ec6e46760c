"""TLS through nginx, with certificates of an authority made for the check."""

import os

from certificates import Authority
from harness import Nginx, all_ended, check, contains, environment, equal, expect, free_port, has_ipv6, reasons, run

LOAD = ["-R", "100", "-d", "1s"]
KINDS = ["good", "expired", "misnamed"]
SYSTEM_ROOTS = "/etc/ssl/certs/ca-certificates.crt"


class Site:
    def __init__(self, tmp):
        self.authority = Authority(tmp)
        good = "DNS:localhost,IP:127.0.0.1"
        certificates = {
            "good": self.authority.server("good", good),
            "expired": self.authority.expired("expired", good),
            "misnamed": self.authority.server("misnamed", "DNS:elsewhere.example"),
        }
        certificates["old"] = certificates["good"]
        self.port = {kind: free_port() for kind in certificates}
        self.access = tmp / "access.log"
        # The name localhost may be either address.
        def six(port):
            return f"listen [::1]:{port} ssl;" if has_ipv6() else ""

        servers = "".join(
            f"server {{ listen 127.0.0.1:{self.port[kind]} ssl; {six(self.port[kind])} {certificates[kind]} "
            f'ssl_protocols TLSv1.{2 if kind == "old" else 3}; location / {{ return 200 "fine\\n"; }} }}'
            for kind in certificates
        )
        self.nginx = Nginx(
            tmp, f"log_format tls '$ssl_protocol $ssl_server_name $ssl_session_reused'; access_log {self.access} tls; {servers}"
        )

    def __enter__(self):
        self.nginx.__enter__()
        return self

    def __exit__(self, *error):
        return self.nginx.__exit__(*error)

    def url(self, kind, host="127.0.0.1"):
        return f"https://{host}:{self.port[kind]}/"


def refused(ended, *words):
    """Not one handshake came through: exit 1, outcome tls, and why."""
    ended.exits(1)
    summary = ended.summary
    equal(summary["outcomes"], {"tls": summary["measured"]["n"]}, f"outcomes ({ended})")
    why = reasons(summary, "tls")
    expect(any(w in why.lower() for w in words), f"reasons {why!r} say none of {words}")
    contains(ended.err, "could not be reached", "stderr")


@check("tls: verified by SSL_CERT_FILE, by address and by name; TLS 1.3 and 1.2")
def verified(tmp):
    with Site(tmp) as site:
        trusting = environment(SSL_CERT_FILE=site.authority.certificate)
        first = all_ended(run(site.url("good"), *LOAD, tmp=tmp, name="address", env=trusting), "ok")
        split = first["time_split"]
        equal(split["tls"]["n"], split["connect"]["n"], "handshakes, and connections opened for a request")
        expect(split["tls"]["p50"] > split["connect"]["p50"] > 0, f"a handshake takes longer than a connection alone: {split}")
        both, whole = split["connect"]["mean"] + split["tls"]["mean"], first["metrics"]["connect"]
        equal(whole["n"], split["tls"]["n"], "connections of the metric")
        expect(abs(whole["mean"] / both - 1) < 1e-9, f"the metric connect holds the handshake: {whole['mean']} and {both}")
        seen = site.access.read_text().splitlines()
        equal(len(seen), first["measured"]["n"], "requests that nginx logged")
        expect(all(line.startswith("TLSv1.3") for line in seen), f"protocol: {seen[0]}")
        all_ended(run(site.url("good", "localhost"), *LOAD, tmp=tmp, name="name", env=trusting), "ok")
        contains(site.access.read_text().splitlines()[-1], "localhost", "server name that nginx saw")
        all_ended(run(site.url("old"), *LOAD, tmp=tmp, name="old", env=trusting), "ok")
        contains(site.access.read_text().splitlines()[-1], "TLSv1.2", "protocol of the old server")


@check("tls: an unknown issuer, an expired certificate, another name: exit 1, outcome tls, the reason said")
def not_trusted(tmp):
    with Site(tmp) as site:
        trusting = environment(SSL_CERT_FILE=site.authority.certificate)
        other = environment(SSL_CERT_FILE=Authority(tmp, "other-authority").certificate)
        refused(run(site.url("good"), *LOAD, tmp=tmp, name="stranger", env=other), "issuer", "unknown")
        if os.path.exists(SYSTEM_ROOTS):
            refused(run(site.url("good"), *LOAD, tmp=tmp, name="system", env=environment()), "issuer", "unknown")
        refused(run(site.url("expired"), *LOAD, tmp=tmp, name="expired", env=trusting), "expired")
        refused(run(site.url("misnamed"), *LOAD, tmp=tmp, name="misnamed", env=trusting), "name")
        equal(site.access.read_text(), "", "what nginx logged")


@check("tls: -k takes any certificate; no roots at all is said before anything is sent")
def insecure(tmp):
    with Site(tmp) as site:
        for kind in KINDS:
            all_ended(run(site.url(kind), *LOAD, "-k", tmp=tmp, name=kind), "ok")
        empty = tmp / "empty.pem"
        empty.touch()
        ended = run(site.url("good"), *LOAD, tmp=tmp, name="none", env=environment(SSL_CERT_FILE=empty)).exits(1)
        contains(ended.err, "SSL_CERT_FILE", "message")
        expect(not ended.folder.exists(), "a run that could not begin left a folder")


@check("tls: https to a plain server ends as tls, http to a TLS server as an answer or a protocol error")
def crossed(tmp):
    port = free_port()
    with Nginx(tmp, f'server {{ listen 127.0.0.1:{port}; location / {{ return 200 "fine\\n"; }} }}'):
        refused(run(f"https://127.0.0.1:{port}/", *LOAD, "-k", tmp=tmp, name="plain"), "corrupt", "invalid", "message", "tls")
    (tmp / "other").mkdir()
    with Site(tmp / "other") as site:
        # nginx answers 400: "The plain HTTP request was sent to HTTPS port".
        all_ended(run(site.url("good").replace("https", "http"), *LOAD, tmp=tmp, name="crossed"), "status")
