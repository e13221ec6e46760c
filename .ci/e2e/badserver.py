"""Servers that do what servers should not: one thread per connection, one behaviour for all of them."""

import contextlib
import socket
import struct
import threading


class BadServer:
    """As a context: listens on a free loopback port and hands each connection to `behaviour(connection)`."""

    def __init__(self, behaviour):
        self.behaviour = behaviour
        self.accepted = 0
        self.connections = set()

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.accepted += 1
                self.connections.add(connection)
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError), connection:
            self.behaviour(connection)
        self.connections.discard(connection)

    def __exit__(self, *_):
        # A blocked accept or read ends when its socket is shut down, not when it is closed.
        for s in [self.listener, *self.connections]:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        return False


def request_of(connection):
    """Reads to the end of a head; false if there was none."""
    seen = b""
    while b"\r\n\r\n" not in seen:
        data = connection.recv(65536)
        if not data:
            return False
        seen += data
    return True


def hung(connection):
    while connection.recv(65536):
        pass


def says(data):
    """Answers each request with these bytes."""

    def behaviour(connection):
        while request_of(connection):
            connection.sendall(data)

    return behaviour


def says_and_closes(data):
    def behaviour(connection):
        if request_of(connection):
            connection.sendall(data)

    return behaviour


def says_and_resets(data):
    def behaviour(connection):
        if request_of(connection):
            connection.sendall(data)
            # Closing with a linger time of zero sends a reset.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return behaviour


def endless(head, piece, times):
    """A head, then the same piece over and over; bounded, should nobody close."""

    def behaviour(connection):
        if request_of(connection):
            connection.sendall(head)
            for _ in range(times):
                connection.sendall(piece)

    return behaviour
