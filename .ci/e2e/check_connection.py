"""How connections are made: client certificates, authorities, names and places, against nginx and openssl."""

import socket
import subprocess

from certificates import Authority
from check_reasons import advised
from harness import Nginx, all_ended, check, contains, equal, expect, flat, free_port, run, spawn, stop, tool, wait_for


LOAD = ["-R", "40", "-d", "500ms", "--arrivals", "constant"]


class Demanding:
    """nginx that wants a certificate of its clients, for the name site.test."""

    def __init__(self, tmp):
        self.authority, self.port, self.access = Authority(tmp), free_port(), tmp / "access.log"
        ours, ca = self.authority.server("site.test", "DNS:site.test"), self.authority.certificate
        self.authority.server("client", "DNS:client")
        self.authority.expired("old", "DNS:old")
        self.nginx = Nginx(
            tmp,
            f"log_format seen '$ssl_server_name $http_host $ssl_client_s_dn $ssl_session_reused'; access_log {self.access} seen; "
            f"server {{ listen 127.0.0.1:{self.port} ssl; {ours} ssl_client_certificate {ca}; ssl_verify_client on; "
            f'location / {{ return 200 "fine\\n"; }} }}',
        )

    def file(self, name):
        return self.authority.folder / name

    @property
    def certified(self):
        return ["--cert", self.file("client.pem"), "--key", self.file("client.key"), "--cacert", self.authority.certificate]

    def __enter__(self):
        self.nginx.__enter__()
        return self

    def __exit__(self, *error):
        return self.nginx.__exit__(*error)


@check("connection: --cert, --key, --cacert, --resolve, --connect-to, --sni and --tls-resumption as nginx sees them, by flags and in a file")
def seen(tmp):
    with Demanding(tmp) as site:
        port, lines = site.port, lambda: site.access.read_text().splitlines()

        def went(name, url, *arguments):
            before = len(lines())
            n = all_ended(run(url, *LOAD, *site.certified, *arguments, tmp=tmp, name=name), "ok")["measured"]["n"]
            new = lines()[before:]
            equal(len(new), n, f"{name}: requests that nginx logged")
            return new

        resolved = went("resolve", f"https://site.test:{port}/", "--resolve", f"site.test:{port}:127.0.0.1", "--new-connections")
        equal({line.rsplit(" ", 1)[0] for line in resolved}, {f"site.test site.test:{port} CN=client"}, "what nginx saw of --resolve")
        equal({line.rsplit(" ", 1)[1] for line in resolved}, {"."}, "sessions that were resumed without --tls-resumption")
        elsewhere = went("connect-to", "https://site.test/", "--connect-to", f"site.test:443:127.0.0.1:{port}")
        equal({line.rsplit(" ", 1)[0] for line in elsewhere}, {"site.test site.test CN=client"}, "what nginx saw of --connect-to")
        named = went("sni", f"https://127.0.0.1:{port}/", "--sni", "site.test")
        equal({line.rsplit(" ", 1)[0] for line in named}, {f"site.test 127.0.0.1:{port} CN=client"}, "what nginx saw of --sni")
        again = went("again", f"https://127.0.0.1:{port}/", "--sni", "site.test", "--new-connections", "--tls-resumption")
        expect(sum(line.endswith(" r") for line in again) >= len(again) // 2, f"sessions that were resumed: {again}")
        both = tmp / "both.pem"
        both.write_text(site.file("client.pem").read_text() + site.file("client.key").read_text())
        (tmp / "ca.pem").write_text(site.authority.certificate.read_text())
        text = f"target: https://site.test\ncert: both.pem\ncacert: ca.pem\nconnect-to: [ 'site.test:443::{port}' ]\nresolve: [ '*:{port}:127.0.0.1' ]\n"
        (tmp / "s.yaml").write_text(text + "users: { work: { requests: 9, users: 2 } }\njourney: [ { get: / } ]\n")
        before = len(lines())
        all_ended(run(tmp / "s.yaml", tmp=tmp, name="file"), "ok")
        equal(len(lines()) - before, 9, "requests of the file")


@check("connection: no certificate, a refused one, another name, by nginx and by the alert of openssl: kind and advice")
def refused(tmp):
    with Demanding(tmp) as site:
        url, trusting = f"https://127.0.0.1:{site.port}/", ["--cacert", site.authority.certificate, "--sni", "site.test"]
        ended = run(url, *LOAD, *trusting, tmp=tmp, name="none")
        advised(ended, "status", "client-certificate-missing", "give one by --cert client.pem --key client.key")
        old = ["--cert", site.file("old.pem"), "--key", site.file("old.key")]
        ended = run(url, *LOAD, *trusting, *old, tmp=tmp, name="old")
        advised(ended, "status", "client-certificate-refused", "refuses the certificate of --cert")
        ended = run(url, *LOAD, *site.certified, tmp=tmp, name="name").exits(1)
        advised(ended, "tls", "certificate-name", "--resolve NAME:PORT:ADDRESS")
        port = free_port()
        server = spawn(["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", site.file("site.test.pem"), "-key", site.file("site.test.key"),
                        "-CAfile", site.authority.certificate, "-Verify", "1", "-verify_return_error", "-www", "-quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def listens():
                with socket.socket() as s:
                    return s.connect_ex(("127.0.0.1", port)) == 0
            wait_for(listens, "openssl to listen")
            ended = run(f"https://127.0.0.1:{port}/", *LOAD, *trusting, tmp=tmp, name="alert")
            advised(ended, "tls", "client-certificate-missing", "give one by --cert client.pem --key client.key")
        finally:
            stop(server)


@check("connection: files and places that cannot be used: exit code 2, the file, what is wrong and what would be accepted")
def unusable(tmp):
    authority = Authority(tmp)
    authority.server("client", "DNS:client")
    authority.server("other", "DNS:other")
    cert, key, other = (authority.folder / name for name in ("client.pem", "client.key", "other.key"))
    (tmp / "der.pem").write_bytes(b"\x30\x82\x01\x02")
    (tmp / "damaged.pem").write_text(cert.read_text().replace("-----BEGIN CERTIFICATE-----\n", "-----BEGIN CERTIFICATE-----\n!!", 1))
    tool("openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:abc", "-out", tmp / "locked.key")
    url = "https://127.0.0.1:9/"
    for name, arguments, parts in [
        ("alone", ["--cert", cert], ["--cert", "a certificate without its key", "--key FILE"]),
        ("key", ["--key", key], ["a key without the certificate", "--cert client.pem"]),
        ("other", ["--cert", cert, "--key", other], ["other.key", "does not belong to the certificate", "openssl"]),
        ("swapped", ["--cert", key, "--key", cert], ["holds no certificate", "-----BEGIN PRIVATE KEY-----", "BEGIN CERTIFICATE"]),
        ("der", ["--cacert", tmp / "der.pem"], ["--cacert", "DER", "-inform der"]),
        ("damaged", ["--cacert", tmp / "damaged.pem"], ["damaged.pem: line 1: ", "BEGIN CERTIFICATE"]),
        ("unverified", ["-k", "--cacert", tmp / "damaged.pem"], ["damaged.pem: line 1: ", "BEGIN CERTIFICATE"]),
        ("locked", ["--cert", cert, "--key", tmp / "locked.key"], ["the key is encrypted", "openssl pkey"]),
        ("missing", ["--cacert", tmp / "nowhere"], ["nowhere", "cannot be read"]),
        ("sni", ["--sni", "127.0.0.1"], ["--sni", "is no name that TLS can indicate", "example.org"]),
        ("place", ["--connect-to", "a:80"], ["--connect-to", "HOST:PORT:HOST2:PORT2"]),
        ("address", ["--resolve", "127.0.0.1:9:b"], ["--resolve", "HOST:PORT:ADDRESS"]),
        ("nobody", ["--resolve", "a.test:9:127.0.0.1"], ["--resolve", "no connection goes to that host and port", "127.0.0.1, port 9"]),
    ]:
        ended = run(url, *LOAD, *arguments, tmp=tmp, name=name).exits(2)
        for part in parts:
            contains(flat(ended.err), part, f"{name}: stderr")
        expect(not ended.folder.exists(), f"{name}: a run that could not begin left a folder")
    contains(flat(run("http://127.0.0.1:9/", *LOAD, "--cacert", cert, tmp=tmp, name="plain").exits(2).err), "TLS is not spoken", "stderr")
