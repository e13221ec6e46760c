#!/usr/bin/env python3
"""End-to-end checks: the program against real servers on this machine.

    run.py [PATTERN...]      all checks, or those whose title contains one of the patterns (--list shows them)
    run.py --beside          those that run beside each other; --alone: the others
    run.py --nightly         the slow, hostile ones instead
    run.py --cluster         those of shards on Slurm and by ssh instead
    run.py --default-features   those of a binary without Parquet, SQLite, zstd, OTLP and buckets instead

One line per check; exits 1 if one failed. Needs nginx, openssl, chromium, taskset, and the Python packages that .ci/run
installs. HEADWAY names another binary than target/release/headway. A check never asserts that a run was fast or its load
VALID: that is the machine's affair. Many checks hold for any verdict and then check that the exit code is that verdict's.

Most checks wait most of the time, so several run beside each other; a check that fails so is begun again alone, and the report says so.
Last come those that need the machine alone (`@check(..., alone=True)`).
Some fail all the same where the host takes the machine away at a bad moment (the last requests of a plan are then never
sent). A check that fails alone while a process that only sleeps saw the machine stand still is begun again, twice at most,
and the report says so; what fails alone on a machine that did not stand still fails at once.
"""

import atexit
import concurrent.futures
import multiprocessing
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import traceback

import harness
import holdups

MODULES = [
    "check_usage", "check_plan", "check_arrivals", "check_demo", "check_nginx", "check_tls", "check_connection", "check_redirects", "check_pieces", "check_origins", "check_traces", "check_http2", "check_udp", "check_tcp", "check_connects", "check_serve", "check_records", "check_proxy", "check_names",
    "check_verdict", "check_thresholds", "check_scenario", "check_sessions", "check_failures", "check_reasons",
    "check_workloads", "check_sim", "check_study", "check_search", "check_beside", "check_compare", "check_lab", "check_convert", "check_translate", "check_interrupt", "check_mortality",
    "check_bad_targets", "check_scale", "check_bucket", "check_output", "check_secrets", "check_lost", "check_wait", "check_doctor", "check_audit", "check_deploy", "check_watch", "check_docs", "check_python",
]

# Slow ones, for .ci/nightly.
NIGHTLY = ["nightly_broken_servers", "nightly_doctor", "nightly_connections", "nightly_html_layout", "nightly_limits", "nightly_lost", "nightly_http2", "nightly_impairments",
           "nightly_overload", "nightly_compare", "nightly_search", "nightly_mortality", "nightly_watch", "nightly_otlp", "nightly_docs", "nightly_book", "nightly_grafana", "nightly_notebook"]

# Shards on hosts that are network namespaces, for .ci/cluster.
CLUSTER = ["nightly_cluster"]

# What a build without the features `full` says.
WITHOUT_FEATURES = ["nightly_features"]

# How often a check is begun alone, at most, on a machine that stands still.
ATTEMPTS = 3
# Checks beside each other. On two cores: together they compute for 190 s and wait for five times as long.
LANES = 5


def attempt(function):
    """Runs a check in a folder of its own: the word of its line, why, and its notes."""
    # A short path, for unix sockets have room for about a hundred bytes.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="headway-e2e-"))
    harness.NOTES.clear()
    try:
        function(folder)
    except harness.Skipped as reason:
        return "SKIP", [str(reason)], []
    except harness.Failed as failure:
        return "FAIL", str(failure).splitlines(), harness.NOTES[:]
    except Exception:
        return "FAIL", traceback.format_exc().splitlines(), harness.NOTES[:]
    finally:
        harness.stop_all()
        shutil.rmtree(folder, ignore_errors=True)
    return "PASS", [], harness.NOTES[:]


def attempt_timed(number):
    """In a process of a lane: the check of that number, and how long it took (s)."""
    began = time.monotonic()
    return *attempt(harness.CHECKS[number].function), time.monotonic() - began


def begin_lane():
    def end(*_):
        harness.stop_all()
        os._exit(143)

    signal.signal(signal.SIGTERM, end)


class Results:
    """Prints a line per check and counts them."""

    def __init__(self):
        self.count = {"PASS": 0, "FAIL": 0, "SKIP": 0}

    def add(self, title, word, took, lines):
        self.count[word] += 1
        print(f"{word}  {title}  ({took:.1f} s)", flush=True)
        for line in lines:
            print(f"      {line}", flush=True)


def run_alone(check, watch, results, again=()):
    """Runs a check with nothing beside it; `again` says why it was begun before."""
    at, again = time.monotonic(), list(again)
    for left in reversed(range(ATTEMPTS)):
        begun = time.monotonic()
        word, why, notes = attempt(check.function)
        held = watch.since(begun)
        if word != "FAIL" or not left or not held:
            break
        again.append(f"begun again, for this machine stood still for {1000 * held:.0f} ms: {' '.join(why)[-300:]}")
    results.add(check.title, word, time.monotonic() - at, [*again, *notes, *why])


def run_beside(checks, results):
    """Runs checks beside each other; returns those that failed, each with why."""
    failed = []
    with concurrent.futures.ProcessPoolExecutor(LANES, multiprocessing.get_context("fork"), begin_lane) as lanes:
        running = {lanes.submit(attempt_timed, harness.CHECKS.index(check)): check for check in checks}
        for done in concurrent.futures.as_completed(running):
            check, (word, why, notes, took) = running[done], done.result()
            if word == "FAIL":
                failed.append((check, why))
            else:
                results.add(check.title, word, took, [*notes, *why])
    return failed


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    atexit.register(harness.stop_all)
    suites = {"--nightly": NIGHTLY, "--cluster": CLUSTER, "--default-features": WITHOUT_FEATURES}
    for name in next((modules for flag, modules in suites.items() if flag in sys.argv), MODULES):
        __import__(name)
    patterns = [p for p in sys.argv[1:] if not p.startswith("-")]
    chosen = [c for c in harness.CHECKS if not patterns or any(p in c.title for p in patterns)]
    if "--list" in sys.argv:
        print("\n".join(check.title for check in chosen))
        return 0
    if not harness.HEADWAY.is_file():
        sys.exit(f"{harness.HEADWAY} is not there: cargo build --release, or set HEADWAY")
    harness.ARTIFACTS.mkdir(parents=True, exist_ok=True)

    alone = [check for check in chosen if check.alone and "--beside" not in sys.argv]
    beside = [check for check in chosen if not check.alone and "--alone" not in sys.argv]
    results = Results()
    began = time.monotonic()
    watch = holdups.Watch()
    atexit.register(watch.stop)
    for check, why in run_beside(beside, results):
        run_alone(check, watch, results, [f"begun again, alone: {' '.join(why)[-300:]}"])
    for check in alone:
        run_alone(check, watch, results)
    count = results.count
    skipped = f", {count['SKIP']} skipped" if count["SKIP"] else ""
    print(f"{count['PASS']} passed, {count['FAIL']} failed{skipped}  ({time.monotonic() - began:.0f} s)")
    return 1 if count["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
