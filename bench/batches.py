"""A generator that bunches on purpose, as one does whose connections all keep the same schedule: so many requests started at
once, again every so many milliseconds, on kept connections. Writes start (Unix nanoseconds), elapsed (milliseconds) and label
of every request to a CSV file.

    python3 bench/batches.py 127.0.0.1:8080 starts.csv --batch 10 --every 5 --seconds 20
"""

import argparse
import csv
import re
import select
import socket
import time

REQUEST = b"GET / HTTP/1.1\r\nHost: target\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
# The kernel wakes a sleeper up to this late; the rest is spent polling.
SPIN = 1_500_000


class Connection:
    def __init__(self, address):
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.start = 0
        self.answer = b""

    def send(self):
        self.answer = b""
        self.start = time.monotonic_ns()
        if self.socket.send(REQUEST) != len(REQUEST):
            raise RuntimeError("a request was sent in part")

    def read(self):
        """Whether the answer is complete."""
        data = self.socket.recv(65536)
        if not data:
            raise RuntimeError("the target closed a connection")
        self.answer += data
        head, found, body = self.answer.partition(b"\r\n\r\n")
        return bool(found) and len(body) >= int(LENGTH.search(head).group(1))


def run(address, batch, every, seconds, connections):
    """(start, elapsed) of each request, both in nanoseconds, in order of their ends."""
    pool = [Connection(address) for _ in range(connections)]
    by_file = {c.socket.fileno(): c for c in pool}
    poller = select.epoll()
    for file in by_file:
        poller.register(file, select.EPOLLIN)
    offset = time.time_ns() - time.monotonic_ns()
    rows = []
    begin = time.monotonic_ns() + 10_000_000
    due = [begin + i * every for i in range(seconds * 1_000_000_000 // every)]
    sent = 0
    while sent < len(due) or len(pool) < connections:
        now = time.monotonic_ns()
        if sent < len(due) and now >= due[sent]:
            if len(pool) < batch:
                raise RuntimeError(f"all {connections} connections are in use: the target is too slow")
            for _ in range(batch):
                pool.pop().send()
            sent += 1
            continue
        rest = due[sent] - now - SPIN if sent < len(due) else 10_000_000
        for file, _ in poller.poll(max(rest, 0) / 1e9):
            connection = by_file[file]
            if connection.read():
                rows.append((connection.start + offset, time.monotonic_ns() - connection.start))
                pool.append(connection)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", help="host:port")
    parser.add_argument("out", help="a new CSV file")
    parser.add_argument("--batch", type=int, default=10, help="requests at once")
    parser.add_argument("--every", type=float, default=5, help="milliseconds between batches")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--connections", type=int, default=400)
    args = parser.parse_args()
    host, port = args.target.rsplit(":", 1)
    with open(args.out, "x", newline="") as out:
        rows = run((host, int(port)), args.batch, int(args.every * 1e6), args.seconds, args.connections)
        writer = csv.writer(out)
        writer.writerow(["start", "elapsed", "label"])
        for start, elapsed in rows:
            writer.writerow([start, f"{elapsed / 1e6:.6f}", "home"])


if __name__ == "__main__":
    main()
