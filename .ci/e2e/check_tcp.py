"""Plain bytes over TCP: Redis, and targets that answer otherwise than expected."""

import shutil
import socket
import subprocess
import threading

from harness import all_ended, check, conserved, contains, equal, expect, free_port, headway, run, spawn, stop, wait_for


class Redis:
    """redis-server on a free port, with one key."""

    def __enter__(self):
        binary = shutil.which("redis-server")
        expect(binary, "redis-server is not installed")
        self.port = free_port()
        flags = ["--port", self.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.process = spawn([binary, *map(str, flags)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: b"PONG" in self.ask(b"PING\r\n"), "redis-server to answer")
        self.ask(b"SET key hello\r\n")
        return self

    def ask(self, what):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 2) as s:
                s.sendall(what)
                return s.recv(1000)
        except OSError:
            return b""

    def __exit__(self, *_):
        stop(self.process)
        return False


LOAD = ["-R", "500", "-d", "1s", "-c", "20"]


@check("tcp: Redis answers PING and GET, and has executed as many commands as were sent")
def redis(tmp):
    with Redis() as target:
        url = f"tcp://127.0.0.1:{target.port}"
        before = executed(target)
        ping = run(url, *LOAD, "-b", "PING\r\n", "--answer", r"until:\r\n", tmp=tmp, name="ping")
        pings = all_ended(ping, "ok")
        get = run(url, *LOAD, "-b", "GET key\r\n", "--answer", "resp", tmp=tmp, name="get")
        gets = all_ended(get, "ok")
        after = executed(target)
        contains(ping.out, "TCP", "the first screen")
        equal((pings["bytes"]["min"], pings["bytes"]["max"]), (7, 7), "bytes of a PONG")
        equal((gets["bytes"]["min"], gets["bytes"]["max"]), (11, 11), "bytes of a text of five")
        expect(gets["generator"]["connections_opened"] <= 20, "connections go on after a text")
        # The two questions about it are commands too.
        equal(after - before - 1, pings["measured"]["n"] + gets["measured"]["n"], "commands that Redis executed")
        scenario = tmp / "scenario.yaml"
        scenario.write_text(
            f"""
target: tcp://127.0.0.1:{target.port}
answer: "until:\\r\\n"
users: {{ arrive: {{ process: poisson, rate: 200/s }}, phases: [{{ hold: 1s }}] }}
journey:
  - send: "SET key-{{{{ uuid }}}} 1\\r\\n"
"""
        )
        sets = all_ended(headway_run(scenario, tmp), "ok")
        equal(sets["measured"]["n"], int(target.ask(b"DBSIZE\r\n")[1:]) - 1, "keys that were set")


def headway_run(scenario, tmp):
    return run(scenario, tmp=tmp, name="scenario")


def executed(target):
    return int(target.ask(b"INFO stats\r\n").split(b"total_commands_processed:")[1].split()[0])


@check("tcp: a target that answers nothing, closes, or sends too much is told apart")
def hostile(tmp):
    def serve(listener, does):
        def loop():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=does, args=(connection,), daemon=True).start()

        threading.Thread(target=loop, daemon=True).start()

    def silent(connection):
        while connection.recv(100):
            pass

    def closes(connection):
        connection.recv(100)
        connection.close()

    def says_more(connection):
        while connection.recv(100):
            connection.sendall(b"hello\nand more")

    def floods(connection):
        connection.recv(100)
        try:
            while True:
                connection.sendall(b"x" * 65536)
        except OSError:
            pass

    for does, outcome, more in [(silent, "timeout", []), (closes, "reset", []), (floods, "too-large", ["--max-body", "100k"])]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            serve(listener, does)
            url = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
            ended = run(url, "-R", "30", "-d", "1s", "--timeout", "500ms", "-b", "hi", "--answer", r"until:\n", *more, tmp=tmp, name=outcome)
            conserved(ended.summary)
            equal(set(ended.summary["outcomes"]), {outcome}, f"outcomes ({ended})")


    with socket.create_server(("127.0.0.1", 0)) as listener:
        serve(listener, says_more)
        url = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        ended = run(url, "-R", "30", "-d", "1s", "-b", "hi", "--answer", r"until:\n", tmp=tmp, name="surplus")
        generator = all_ended(ended, "ok")["generator"]
        equal(generator["surplus"], generator["connections_opened"], "connections that were replaced")
        contains(ended.out, "connections were replaced", "the first screen")
        contains(ended.out, "--answer", "what to do about it")


@check("tcp: what cannot be sent or ended is said before anything is sent")
def mistakes(tmp):
    url = "tcp://127.0.0.1:9"
    for arguments, words in [
        ([url, "-b", "x"], "--answer"),
        ([url, "--answer", "close"], "nothing is sent"),
        ([url, "-b", "x", "--answer", "match:0+2"], "tcp"),
        ([url, "-b", "x", "--answer", "until:"], "until"),
        ([url, "-b", "x", "--answer", "length:9"], "length"),
        ([url, "-b", "x", "--answer", "close", "-H", "a: b"], "takes plain bytes"),
    ]:
        ended = headway("run", *arguments, cwd=tmp).exits(2)
        contains(ended.err, words, f"message on {' '.join(arguments)}")
