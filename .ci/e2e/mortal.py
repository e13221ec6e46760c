#!/usr/bin/env python3
"""A target that can be killed, stopped, started again and cut off: one server of one request each 10 ms, over HTTP/1.1, HTTP/2 (in clear), TCP or UDP.

    mortal.py PROTOCOL PORT ORDER      PROTOCOL: http1, http2, tcp, udp; ORDER: fifo, or lifo: it lets requests wait, and fails the newest first

It prints `ready` when it listens. Under `lifo` what has waited for half a second is answered all at once, newest first, as a failure where the
protocol has one: status 503, and closed connections over TCP.
"""

import selectors
import socket
import sys
import time

SERVICE_S = 0.01
RESPONSE = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
FAILURE = b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, SETTINGS, PING, ACK, END = 1, 4, 6, 1, 5


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


class Connection:
    """What came on it and is no whole request yet."""

    def __init__(self, protocol, connection):
        self.protocol, self.socket, self.seen, self.greeted = protocol, connection, b"", False

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass

    def requests(self, data):
        """The requests that these bytes complete, each as what is to be called with whether it goes well."""
        self.seen += data
        if self.protocol == "http2":
            yield from self.streams()
            return
        end = b"\r\n\r\n" if self.protocol == "http1" else b"\n"
        while end in self.seen:
            _, self.seen = self.seen.split(end, 1)
            yield self.answer

    def answer(self, well):
        if self.protocol == "http1":
            self.send(RESPONSE if well else FAILURE)
        elif well:
            self.send(b"+ok\r\n")
        else:
            self.socket.shutdown(socket.SHUT_RDWR)

    def streams(self):
        if not self.greeted:
            if len(self.seen) < len(PREFACE):
                return
            self.seen, self.greeted = self.seen[len(PREFACE):], True
            self.send(frame(SETTINGS, 0, 0))
        while len(self.seen) >= 9:
            length, kind, flags = int.from_bytes(self.seen[:3], "big"), self.seen[3], self.seen[4]
            if len(self.seen) < 9 + length:
                return
            stream, payload = int.from_bytes(self.seen[5:9], "big"), self.seen[9:9 + length]
            self.seen = self.seen[9 + length:]
            if kind == SETTINGS and not flags & ACK:
                self.send(frame(SETTINGS, ACK, 0))
            elif kind == PING and not flags & ACK:
                self.send(frame(PING, ACK, 0, payload))
            elif kind == HEADERS:
                # `:status` is 200 by the static table, or a literal.
                yield lambda well, stream=stream: self.send(frame(HEADERS, END, stream, b"\x88" if well else b"\x08\x03503"))


def main(protocol, port, order):
    kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
    listener = socket.socket(socket.AF_INET, kind)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(port)))
    listener.setblocking(False)
    looks = selectors.DefaultSelector()
    looks.register(listener, selectors.EVENT_READ)
    if protocol != "udp":
        listener.listen(1024)
    print("ready", flush=True)
    # Each with when it came.
    waiting, free_at = [], 0.0
    while True:
        for key, _ in looks.select(0.001 if waiting else 1):
            now = time.monotonic()
            try:
                if key.data:
                    data = key.fileobj.recv(65536)
                    waiting += [(now, request) for request in key.data.requests(data)]
                    if not data:
                        looks.unregister(key.fileobj)
                        key.fileobj.close()
                elif protocol == "udp":
                    data, peer = listener.recvfrom(65536)
                    waiting.append((now, lambda well, data=data, peer=peer: listener.sendto(data, peer)))
                else:
                    connection, _ = listener.accept()
                    looks.register(connection, selectors.EVENT_READ, Connection(protocol, connection))
            except BlockingIOError:
                pass
            except OSError:
                if key.data:
                    looks.unregister(key.fileobj)
                    key.fileobj.close()
        now = time.monotonic()
        try:
            if order == "lifo":
                if waiting and now - waiting[0][0] > 0.5:
                    shed, waiting = waiting, []
                    for _, request in reversed(shed):
                        request(False)
            elif waiting and now >= free_at:
                free_at = max(free_at, now - 10 * SERVICE_S) + SERVICE_S
                waiting.pop(0)[1](True)
        except OSError:
            pass


if __name__ == "__main__":
    main(*sys.argv[1:])
