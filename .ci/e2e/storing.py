"""An S3 server (moto, from PyPI) and a proxy before it that fails as it is told to; a bucket in it, read by means of its own."""

import contextlib
import http.client
import http.server
import pathlib
import re
import ssl
import subprocess
import sys
import threading
import urllib.parse

from harness import Failed, environment, expect, free_port, spawn, stop, wait_for

BUCKET = "load-tests"


class Moto:
    """An S3 server with an empty bucket; `wrap` puts it into a network namespace, `host` is its address there."""

    def __init__(self, tmp, host="127.0.0.1", wrap=()):
        self.host, self.port, self.log, self.wrap = host, free_port(), tmp / "moto.log", [*wrap]
        self.url = f"http://{host}:{self.port}"

    def __enter__(self):
        program = pathlib.Path(sys.executable).with_name("moto_server")
        with open(self.log, "wb") as log:
            self.process = spawn([*self.wrap, sys.executable, program, "-H", self.host, "-p", self.port], stdout=log, stderr=log)

        def listens():
            if self.process.poll() is not None:
                raise Failed(f"moto ended: {self.log.read_text()[-800:]}")
            return "Running on" in self.log.read_text()

        wait_for(listens, "moto to listen")
        return self

    def __exit__(self, *_):
        stop(self.process)
        return False


# moto wants a signature, and does not look whether it is right.
SIGNED = ["-H", "Authorization: AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"]


class Bucket:
    """A new bucket, read and written by curl; `wrap` as that of the server."""

    def __init__(self, url, wrap=()):
        self.url, self.wrap = f"{url}/{BUCKET}", [*wrap]
        self.ask("PUT", "")

    def ask(self, method, path, data=b""):
        command = [*self.wrap, "curl", "-sS", "--fail", "--max-time", "20", *SIGNED, "-X", method, "-H", "Content-Type: application/octet-stream", "--data-binary", "@-", self.url + path]
        done = subprocess.run(command, input=data, capture_output=True)
        expect(done.returncode == 0, f"{method} {path}: {done.stderr.decode()}")
        return done.stdout

    def names(self, prefix=""):
        """Names of objects, in their order."""
        return list(self.sizes(prefix))

    def sizes(self, prefix=""):
        """Bytes of each object, by name."""
        found, more = {}, ""
        while True:
            listed = self.ask("GET", f"?list-type=2&prefix={prefix}{more}").decode()
            found |= {name: int(size) for name, size in re.findall(r"<Key>([^<]*)</Key>.*?<Size>(\d+)</Size>", listed, re.S)}
            token = re.search(r"<NextContinuationToken>([^<]*)<", listed)
            if not token:
                return found
            more = f"&continuation-token={urllib.parse.quote(token.group(1), safe='')}"

    def read(self, name):
        return self.ask("GET", f"/{name}")

    def write(self, name, data):
        self.ask("PUT", f"/{name}", data)

    def delete(self, name):
        self.ask("DELETE", f"/{name}")


class Proxy:
    """Carries requests to `to`. `meddle`, of method and path, may say what becomes of one: None, "drop" (it is not carried), "lose" (it is
    carried, and its response lost), a pair of status and body, or a function of the headers of the response."""

    def __init__(self, to, certificate=None):
        """`certificate`: the file of a certificate and that of its key; it then speaks TLS."""
        self.certificate = certificate
        self.to, self.meddle, self.seen = to.removeprefix("http://"), lambda method, path: None, []

    def __enter__(self):
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def carry(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                what = proxy.meddle(self.command, self.path)
                proxy.seen.append((self.command, self.path, what, str(self.headers)))
                if what == "drop":
                    self.close_connection = True
                    return
                if isinstance(what, tuple):
                    status, data = what
                    self.answer(status, [], data.encode())
                    return
                back = http.client.HTTPConnection(proxy.to, timeout=20)
                with contextlib.closing(back):
                    back.request(self.command, self.path, body, dict(self.headers))
                    response = back.getresponse()
                    data, headers = response.read(), response.getheaders()
                if what == "lose":
                    self.close_connection = True
                    return
                self.answer(response.status, what(headers) if callable(what) else headers, data)

            def answer(self, status, headers, data):
                self.send_response_only(status)
                for name, value in headers:
                    if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                        self.send_header(name, value)
                # That of HEAD is of what it does not carry.
                length = next((value for name, value in headers if name.lower() == "content-length"), len(data))
                self.send_header("Content-Length", length if self.command == "HEAD" else len(data))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = carry

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if self.certificate else ''}://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        return False


def variables(url):
    """What a process that uses the bucket at that URL finds in its environment; no metadata service."""
    return {
        "AWS_ENDPOINT": url, "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "mkKeyId", "AWS_SECRET_ACCESS_KEY": "mkSecretKey", "AWS_SESSION_TOKEN": "mkSessionToken",
        "AWS_METADATA_ENDPOINT": f"http://127.0.0.1:{free_port()}",
    }


def credentials(url, **changes):
    """The environment of such a process; None removes a variable."""
    return environment(**{**variables(url), **changes})
