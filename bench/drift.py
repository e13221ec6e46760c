"""How the speed of a host wanders: times a fixed amount of work once a second.

    nice -n 19 python3 bench/drift.py 900 > drift.txt

Each line: microseconds of the thread's own processor time for the work, and of wall-clock time. The first leaves out the waits for
a processor that a low priority brings; it has what neighbours take of caches, clock rate and (where the hypervisor counts it) time.
"""

import sys
import time

WORK = 60_000


def work():
    total = 0
    for i in range(WORK):
        total += i * i & 7
    return total


def main(seconds):
    begin = time.monotonic()
    for second in range(seconds):
        time.sleep(max(0.0, begin + second - time.monotonic()))
        cpu, wall = time.thread_time_ns(), time.monotonic_ns()
        work()
        print((time.thread_time_ns() - cpu) // 1000, (time.monotonic_ns() - wall) // 1000, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
