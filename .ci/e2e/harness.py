"""What the checks share: running headway, starting and stopping servers, saying what was expected.

Everything a check makes lies in one temporary folder; every process that it starts is stopped when it ends, and dies
with this one even if that is killed (Linux: parent-death signal). Nothing here talks to anything but loopback addresses
and unix sockets.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADWAY = pathlib.Path(os.environ.get("HEADWAY", ROOT / "target/release/headway")).resolve()
ARTIFACTS = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "ci"
# Of a command that should have ended long ago: generous, for it only keeps a hung check from hanging the whole run.
PATIENCE_S = 120

CHECKS = []
NOTES = []


class Failed(Exception):
    """A check found something else than it should have."""


class Skipped(Exception):
    """This machine cannot run the check."""


class Check(typing.NamedTuple):
    """A check: `alone` says that it needs the machine for itself, for what it asserts or for the load it sends."""

    title: str
    function: typing.Callable
    alone: bool


def check(title, alone=False):
    """Registers a function of a temporary folder as a check, in the order of definition."""

    def register(function):
        CHECKS.append(Check(title, function, alone))
        return function

    return register


def expect(holds, message):
    if not holds:
        raise Failed(message)


def equal(seen, expected, what):
    expect(seen == expected, f"{what}: expected {expected!r}, seen {seen!r}")


def contains(text, part, what):
    expect(part in text, f"{what}: expected to contain {part!r}, seen {text[-1500:]!r}")


def note(text):
    """Something worth telling of a check that passes; printed below its line."""
    NOTES.append(text)


def flat(text):
    """Wrapped text as one line."""
    return " ".join(text.split())


# ---------------------------------------------------------------------------------------------------- processes

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_running = []


def _die_with_parent():
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    # A shell that runs this in the background ignores it, and what is ignored is inherited.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def environment(**changes):
    """The environment of a check: no colours, proxies or certificates of the user; None removes a variable."""
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "SSL_CERT_FILE", "SSL_CERT_DIR", "COLUMNS")}
    env["LC_ALL"] = "C.UTF-8"
    for name, value in changes.items():
        env.pop(name, None)
        if value is not None:
            env[name] = str(value)
    return env


def spawn(command, **options):
    before = options.pop("before", None)

    def prepare():
        _die_with_parent()
        if before:
            before()

    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("env", environment())
    process = subprocess.Popen([str(c) for c in command], preexec_fn=prepare, **options)
    _running.append(process)
    return process


def stop(process, patience=10):
    """Ends a process of ours, gently first."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
            process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process in _running:
        _running.remove(process)


def stop_all():
    for process in list(_running):
        stop(process, 3)


def tool(*command, **options):
    """Runs a helper program (openssl, ...) to its end; its failure is the check's."""
    done = subprocess.run(
        [str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S, **options
    )
    expect(done.returncode == 0, f"{command[0]} exits {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


class Ended:
    """A headway process that has ended."""

    def __init__(self, command, code, out, err, folder=None):
        self.command, self.code, self.out, self.err, self.folder = command, code, out, err, folder

    def __str__(self):
        shown = " ".join(str(c) for c in self.command[1:])
        return f"`headway {shown}` exits {self.code}; stderr: {self.err.strip()[-600:]!r}"

    @property
    def summary(self):
        path = self.folder / "summary.json"
        expect(path.is_file(), f"no summary.json; {self}")
        return json.loads(path.read_text())

    @property
    def plan(self):
        return json.loads((self.folder / "plan.json").read_text())

    @property
    def outcomes(self):
        return self.summary["outcomes"]

    def exits(self, *codes):
        expect(self.code in codes, f"expected exit {' or '.join(map(str, codes))}; {self}")
        return self


class Headway:
    """A headway process; `zero` is its plan's zero in Unix seconds, once it has one."""

    def __init__(self, arguments, cwd, folder=None, env=None, before=None, wrap=()):
        self.command = [*wrap, HEADWAY, *arguments]
        self.folder = folder
        # Files and not pipes: nobody reads while a check waits.
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = spawn(
            self.command, cwd=cwd, stdout=self.out, stderr=self.err, env=env or environment(), before=before
        )

    def text(self, file):
        # Not by seek and read: the process shares the position in the file, and would go on writing over its own lines.
        written = os.fstat(file.fileno()).st_size
        return os.pread(file.fileno(), written, 0).decode("utf-8", "replace")

    def ended(self, patience=PATIENCE_S):
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            stop(self.process, 1)
            raise Failed(f"`{' '.join(map(str, self.command[1:]))}` has not ended after {patience} s") from None
        _running.remove(self.process)
        return Ended(self.command, code, self.text(self.out), self.text(self.err), self.folder)

    @property
    def zero(self):
        """Waits for the plan to be written down."""

        def written():
            with contextlib.suppress(OSError, ValueError):
                return json.loads((self.folder / "plan.json").read_text())["zero_unix_ns"] / 1e9
            if self.process.poll() is not None:
                raise Failed(f"ended before it began: {self.text(self.err)!r}")
            return None

        return wait_for(written, "plan.json")

    def sleep_until(self, seconds):
        """Until so long after the plan's zero."""
        time.sleep(max(0, self.zero + seconds - time.time()))

    def signal(self, number):
        self.process.send_signal(number)


def headway(*arguments, cwd, **options):
    """Runs headway to its end."""
    return Headway(arguments, cwd, **options).ended()


def start_run(url, *arguments, tmp, name="run", **options):
    place = tmp / name
    # With a shard it is the place of all shards.
    shards = [shard for flag, shard in zip(arguments, arguments[1:]) if flag == "--shard"]
    folder = place / shards[0].split("/")[0] if shards else place
    return Headway(["run", url, *arguments, "--out", place], tmp, folder=folder, **options)


def run(url, *arguments, tmp, name="run", **options):
    """`headway run` to its end, its run folder at tmp/name."""
    return start_run(url, *arguments, tmp=tmp, name=name, **options).ended()


def wait_for(condition, what, patience=PATIENCE_S):
    """The first true value of `condition()`."""
    deadline = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failed(f"waited {patience} s for {what}")
        time.sleep(0.02)


# ------------------------------------------------------------------------------------------ promises of every run

VERDICTS = ("VALID", "INVALID", "INCONCLUSIVE")


def code_of(summary, strict=False):
    """The exit code that a run which could be done leads to. The verdict itself is the machine's affair."""
    verdict = summary["verdict"]["load"]
    expect(verdict in VERDICTS, f"verdict.load is {verdict!r}")
    if summary["measured"]["interrupted"]:
        return 130
    if not summary["outcomes"].get("ok"):
        return 1
    return 98 if verdict == "INVALID" else 97 if verdict == "INCONCLUSIVE" and strict else 0


def never_started(summary):
    """Arrivals without a start, as far as outcomes alone tell."""
    return sum(summary["outcomes"].get(o, 0) for o in ("shed", "unsent"))


def conserved(summary):
    """Every arrival ended once."""
    equal(sum(summary["outcomes"].values()), summary["measured"]["n"], "sum of outcomes, against measured.n")


def all_ended(ended, outcome):
    """Every request ended so, the counts add up and the exit code is that of the verdict."""
    summary = ended.summary
    conserved(summary)
    expect(summary["measured"]["n"] > 0, "nothing was sent")
    equal(summary["outcomes"], {outcome: summary["measured"]["n"]}, f"outcomes ({ended})")
    ended.exits(code_of(summary))
    return summary


def finding(summary, *ids):
    """The first finding of one of these ids, or none."""
    return next((f for f in summary["verdict"]["findings"] if f["id"] in ids), None)


def reasons(summary, outcome):
    """What requests of that outcome met: the example of each reason, in one text."""
    return "; ".join(row["example"] for row in summary["failure_reasons"]["rows"] if row["outcome"] == outcome)


def finding_ids(summary):
    return [f["id"] for f in summary["verdict"]["findings"]]


def planned(*arguments, cwd, **options):
    """The rows of `headway plan`."""
    ended = headway("plan", *arguments, cwd=cwd, **options).exits(0)
    lines = ended.out.splitlines()
    equal(lines[0], "arrival,intended_s,step", "head of the plan")
    return lines[1:]


# ------------------------------------------------------------------------------------------------------- servers


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
        return True
    except OSError:
        return False


class Serve:
    """`headway serve` on a free port; as a context it is stopped by SIGINT, and `report` holds its counts."""

    flags, scheme, listens = (), "http://{}/", r"serving at (\S+) "
    counts = r"served (\d+) requests on (\d+) connections: (\d+) ok, (\d+) errors, (\d+) rejected"
    names = ("requests", "connections", "ok", "errors", "rejected")

    def __init__(self, *arguments, tmp):
        self.arguments, self.tmp, self.report = arguments, tmp, None

    def __enter__(self):
        self.headway = Headway(["serve", *self.flags, "--listen", "127.0.0.1:0", *self.arguments], self.tmp)

        def address():
            if self.headway.process.poll() is not None:
                raise Failed(f"serve ended: {self.headway.text(self.headway.err)!r}")
            return re.search(self.listens, self.headway.text(self.headway.err))

        self.url = self.scheme.format(wait_for(address, "serve to listen").group(1))
        return self

    def __exit__(self, *error):
        if self.headway.process.poll() is None:
            self.headway.signal(signal.SIGINT)
        ended = self.headway.ended(20)
        if error[0] is None:
            ended.exits(0)
            counts = re.search(self.counts, ended.err)
            expect(counts, f"serve tells no counts: {ended}")
            self.report = dict(zip(self.names, map(int, counts.groups())))
        return False


class Nginx:
    """nginx with one worker and a configuration of its own, in a folder of its own."""

    def __init__(self, tmp, http, wrap=()):
        self.folder = tmp / "nginx"
        self.folder.mkdir()
        # As root the worker would change to a user who may not enter the temporary folder.
        user = "user root;" if os.geteuid() == 0 else ""
        temps = "\n".join(f"{n}_temp_path {self.folder}/{n};" for n in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        log = "" if "access_log" in http else "access_log off;"
        (self.folder / "nginx.conf").write_text(
            f"""
            daemon off; {user} worker_processes 1; pid {self.folder}/pid; error_log {self.folder}/error.log;
            events {{ worker_connections 4096; }}
            http {{ {temps} keepalive_requests 1000000; {log} server_tokens off; {http} }}
            """
        )
        self.wrap = wrap

    def __enter__(self):
        # It lives in a folder that only root's PATH holds.
        binary = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        expect(binary, "nginx is not installed")
        configuration = ["-p", self.folder, "-c", self.folder / "nginx.conf", "-e", self.folder / "error.log"]
        log = open(self.folder / "start.log", "wb")
        self.process = spawn([*self.wrap, binary, *configuration], stdout=log, stderr=log)
        log.close()

        def ready():
            if self.process.poll() is not None:
                said = "".join(p.read_text() for p in self.folder.glob("*.log"))
                raise Failed(f"nginx ended: {said[-800:]}")
            return (self.folder / "pid").is_file() and (self.folder / "pid").read_text().strip()

        wait_for(ready, "nginx to start")
        return self

    def __exit__(self, *_):
        stop(self.process)
        return False


class LoggedNginx(Nginx):
    """nginx that writes a line of that form for each request."""

    def __init__(self, tmp, form, servers):
        self.access, self.read = tmp / "access.log", 0
        super().__init__(tmp, f"log_format seen '{form}'; access_log {self.access} seen; {servers}")

    def lines(self):
        """The lines since the last call. nginx writes that of a request after its response: until nothing more comes."""
        size, now = -1, self.access.stat().st_size if self.access.exists() else 0
        while size != now:
            time.sleep(0.1)
            size, now = now, self.access.stat().st_size if self.access.exists() else 0
        lines = self.access.read_text().splitlines() if self.access.exists() else []
        new, self.read = lines[self.read:], len(lines)
        return new
