"""A server that writes down what it was asked, and answers as a function of it."""

import contextlib
import http.server
import json
import socket
import threading


class Seen:
    """One request, as it came over the wire."""

    def __init__(self, connection, method, path, headers, body):
        self.connection, self.method, self.path, self.headers, self.body = connection, method, path, headers, body

    def header(self, name):
        """The only header of that name; None without one."""
        values = [v for n, v in self.headers if n.lower() == name.lower()]
        if len(values) > 1:
            raise AssertionError(f"{name} came {len(values)} times: {values}")
        return values[0] if values else None

    def __repr__(self):
        return f"{self.method} {self.path} {self.headers} {self.body[:200]!r}"


class Recorder:
    """As a context: serves HTTP/1.1 on a free loopback port. `answer(seen)` gives (status, headers, body); all that was
    asked stands in `requests`, in the order of their heads; `connections` counts those that were opened."""

    def __init__(self, answer=lambda seen: (200, {}, b"fine")):
        self.answer = answer
        self.requests = []
        self.connections = 0
        self.lock = threading.Lock()

    def __enter__(self):
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def setup(self):
                super().setup()
                with recorder.lock:
                    recorder.connections += 1
                    self.number = recorder.connections

            def handle(self):
                with contextlib.suppress(ConnectionError):
                    super().handle()

            def handle_one_request(self):
                self.raw_requestline = self.rfile.readline(65537)
                if not self.raw_requestline:
                    self.close_connection = True
                    return
                if not self.parse_request():
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                seen = Seen(self.number, self.command, self.path, list(self.headers.items()), body)
                with recorder.lock:
                    recorder.requests.append(seen)
                status, headers, answer = recorder.answer(seen)
                if not isinstance(answer, bytes):
                    headers = {"Content-Type": "application/json", **headers}
                    answer = json.dumps(answer).encode()
                self.send_response(status)
                for name, value in headers.items():
                    for one in value if isinstance(value, list) else [value]:
                        self.send_header(name, one)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer)
                self.wfile.flush()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

            def handle_error(self, *_):
                pass

            def server_bind(self):
                # That of HTTPServer looks its own name up.
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                self.socket.bind(self.server_address)
                self.server_address = self.socket.getsockname()
                self.server_name, self.server_port = self.server_address[:2]

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.socket.close()
        return False

    def on(self, path):
        """What was asked of that path, its query aside."""
        return [seen for seen in self.requests if seen.path.split("?")[0] == path]
