"""What hinders a generator on its core: stops, neighbours, quotas, a slow line. Each is a context around a run that has begun.
For .ci/e2e and bench/disturbed.py."""

import contextlib
import os
import pathlib
import signal
import subprocess
import threading
import time

from harness import Skipped, expect, spawn, stop, tool, wait_for

CORES = sorted(os.sched_getaffinity(0))
GENERATOR = ["taskset", "-c", str(CORES[0])]
TARGET = ["taskset", "-c", str(CORES[-1])]


@contextlib.contextmanager
def nothing(running):
    yield


def pulses(length, every, draws=None):
    """SIGSTOP for so long, so often; with `draws` both are exponential with these means."""

    @contextlib.contextmanager
    def hinder(running):
        over = threading.Event()
        begun = running.zero
        lasting = (lambda mean: draws.expovariate(1 / mean)) if draws else lambda mean: mean

        def pulse():
            while not over.wait(max(0.0, begun + 0.3 - time.time()) or lasting(every)):
                with contextlib.suppress(ProcessLookupError):
                    running.signal(signal.SIGSTOP)
                    time.sleep(lasting(length))
                    running.signal(signal.SIGCONT)

        thread = threading.Thread(target=pulse)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    return hinder


def hog(*policy):
    """A loop on the generator's core."""

    @contextlib.contextmanager
    def hinder(running):
        loop = spawn([*GENERATOR, *policy, "sh", "-c", "while :; do :; done"])
        try:
            yield
        finally:
            stop(loop, 1)

    return hinder


def bursts(length, every, seed=None):
    """Takes the generator's core away for so long, so often, at real-time priority; with a seed both are exponential with these means."""
    lasting = "lambda mean: mean" if seed is None else f"lambda mean, draws=random.Random({seed}): draws.expovariate(1 / mean)"
    program = f"""
import random, time
lasting = {lasting}
while True:
    until = time.monotonic() + lasting({length})
    while time.monotonic() < until: pass
    time.sleep(lasting({every - length}))
"""
    return _program(["chrt", "-f", "50", "python3", "-c", program])


def _program(command):
    @contextlib.contextmanager
    def hinder(running):
        running.zero
        process = spawn([*GENERATOR, *command])
        try:
            yield
        finally:
            stop(process, 1)

    return hinder


def quota(percent, period_ms=100, must=True):
    """At most so much of a core, in such periods, by a control group that is made for it; it must throttle unless `must` is false."""

    @contextlib.contextmanager
    def hinder(running):
        first, second = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
        name, quota_us = f"headway-hindered-{os.getpid()}", int(10 * percent * period_ms)
        try:
            if first.is_dir():
                group = first / name
                group.mkdir()
                (group / "cpu.cfs_period_us").write_text(str(1_000 * period_ms))
                (group / "cpu.cfs_quota_us").write_text(str(quota_us))
            else:
                group = second / name
                group.mkdir()
                (group / "cpu.max").write_text(f"{quota_us} {1_000 * period_ms}")
            running.zero
            (group / "cgroup.procs").write_text(str(running.process.pid))
        except OSError as error:
            with contextlib.suppress(OSError):
                group.rmdir()
            raise Skipped(f"no control group can be made: {error}") from None
        try:
            yield
            throttled = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())["nr_throttled"]
            expect(int(throttled) > 0 or not must, f"a quota of {percent} % has throttled nothing")
        finally:
            wait_for(lambda: not (group / "cgroup.procs").read_text().strip() or running.process.poll() is not None, "the group to empty")
            for _ in range(50):
                with contextlib.suppress(OSError):
                    group.rmdir()
                    break
                time.sleep(0.05)

    return hinder


class Uplink:
    """Two network namespaces with a line between them, of which the generator's end sends so many bits a second."""

    def __init__(self, rate):
        self.rate = rate
        self.ours, self.theirs = (f"headway-{os.getpid()}-{i}" for i in (1, 2))

    def __enter__(self):
        try:
            for name in (self.ours, self.theirs):
                tool("ip", "netns", "add", name)
            tool("ip", "link", "add", "hw1", "netns", self.ours, "type", "veth", "peer", "name", "hw2", "netns", self.theirs)
            for name, link, address in ((self.ours, "hw1", "10.201.77.1/24"), (self.theirs, "hw2", "10.201.77.2/24")):
                tool("ip", "-n", name, "addr", "add", address, "dev", link)
                tool("ip", "-n", name, "link", "set", link, "up")
                tool("ip", "-n", name, "link", "set", "lo", "up")
            limit = ("root", "tbf", "rate", self.rate, "burst", "15kb", "latency", "400ms")
            tool("tc", "-n", self.ours, "qdisc", "add", "dev", "hw1", *limit)
        except Exception as error:
            self.__exit__()
            raise Skipped(f"no namespaces, or no tbf: {error}") from None
        return self

    def __exit__(self, *_):
        for name in (self.ours, self.theirs):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
