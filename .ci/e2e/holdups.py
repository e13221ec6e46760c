"""Whether this machine stood still: a process per core that only sleeps, ahead of everything else, and notes when it woke late.

What wakes it late is not the work of a check, which yields to it, but a host that gave the core to somebody else. A check
that fails in such a moment has not shown anything of headway; run.py lets it show again.
"""

import ctypes
import mmap
import os
import signal
import struct
import time

SLEEP_S = 0.005
# Below what any check asserts of times; far above what a kernel takes to wake a process.
LATE_S = 0.02
_SLOT = struct.Struct("dd")


class Watch:
    """Watches every core of this process; `since(t)` is the longest hold-up (s) that ended after t, of `time.monotonic`."""

    def __init__(self):
        cores = sorted(os.sched_getaffinity(0))
        # Of each core: a ring of when a hold-up ended, and how long it took. Shared with the children.
        self.kept, self.cores = 256, len(cores)
        self.memory = mmap.mmap(-1, self.cores * self.kept * _SLOT.size)
        self.children = []
        for slot, core in enumerate(cores):
            child = os.fork()
            if child == 0:
                self._watch(slot, core)
            self.children.append(child)

    def _watch(self, slot, core):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.sched_setaffinity(0, {core})
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except PermissionError:
            # The work of a check could then pass for a hold-up.
            os._exit(0)
        n, before = 0, time.monotonic()
        while True:
            time.sleep(SLEEP_S)
            now = time.monotonic()
            if now - before - SLEEP_S > LATE_S:
                _SLOT.pack_into(self.memory, (slot * self.kept + n % self.kept) * _SLOT.size, now, now - before - SLEEP_S)
                n += 1
            before = now

    def since(self, begun):
        seen = (_SLOT.unpack_from(self.memory, i * _SLOT.size) for i in range(self.cores * self.kept))
        return max((took for at, took in seen if at > begun), default=0.0)

    def stop(self):
        for child in self.children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.children = []
