"""HTTP/2 against the server of Go's standard library."""

import shutil
import socket
import subprocess

from certificates import Authority
from harness import Skipped, all_ended, check, environment, equal, expect, free_port, run, spawn, stop, wait_for

SERVER = """
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("Trailer", "X-After")
		fmt.Fprintf(w, "%s %d", r.Proto, n)
		w.Header().Set("X-After", "1")
	})
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Addr: os.Args[1], Handler: handler, Protocols: &protocols}
	if len(os.Args) > 2 {
		panic(server.ListenAndServeTLS(os.Args[2], os.Args[3]))
	}
	panic(server.ListenAndServe())
}
"""


def built(tmp):
    go = shutil.which("go", path="/usr/local/go/bin:/usr/bin:/usr/local/bin")
    if not go:
        raise Skipped("Go is not installed")
    (tmp / "server.go").write_text(SERVER)
    environ = environment(HOME=str(tmp), GOCACHE=str(tmp / "cache"), GOFLAGS="-mod=mod", GO111MODULE="off", GOTOOLCHAIN="local")
    done = subprocess.run([go, "build", "-o", "server", "server.go"], cwd=tmp, env=environ, capture_output=True, text=True)
    if done.returncode:
        raise Skipped(f"this Go cannot build the server: {done.stderr[:200]}")
    return tmp / "server"


def listening(port):
    def probe():
        with socket.socket() as it:
            return it.connect_ex(("127.0.0.1", port)) == 0

    wait_for(probe, "the server to listen")


@check("nightly http2: a server of Go, with TLS and without: bodies both ways, trailers, many requests at once")
def go(tmp):
    program = built(tmp)
    authority = Authority(tmp)
    certificate = authority.server("go", "DNS:localhost,IP:127.0.0.1")
    # As nginx has it: ssl_certificate FILE; ssl_certificate_key FILE;
    files = [word.rstrip(";") for word in certificate.split() if word.endswith(";")]
    (tmp / "body").write_bytes(b"x" * 200_000)
    scenario = tmp / "go.yaml"
    for tls in [True, False]:
        port = free_port()
        server = spawn([program, f"127.0.0.1:{port}", *(files if tls else [])], stderr=subprocess.DEVNULL)
        try:
            listening(port)
            scheme = "https://localhost" if tls else "h2c://127.0.0.1"
            lines = [
                f"target: {scheme}:{port}",
                "journey:",
                "  - post: /",
                f"    file: {tmp / 'body'}",
                "    expect: { body: { contains: 'HTTP/2.0 200000' } }",
                "users: { closed: { count: 20 }, connections: shared, phases: [ { hold: 3s } ] }",
            ]
            scenario.write_text("\n".join(lines) + "\n")
            env = environment(SSL_CERT_FILE=authority.certificate)
            summary = all_ended(run(scenario, tmp=tmp, name=f"run-{tls}", env=env), "ok")
            equal(set(summary["generator"]["protocols"]), {"HTTP/2"}, "generator.protocols")
            equal(summary["generator"]["connections_opened"], 1, "connections")
            expect(summary["measured"]["n"] > 100, "requests")
        finally:
            stop(server)
