"""Other tools: how each is asked for the same thing, and where it says what it did."""

import json
import os
import re
import tempfile

from tools import number, run, tool

K6_SATURATE = """
import http from 'k6/http';
export const options = { vus: 64, duration: '%ss', discardResponseBodies: true };
export default function () { http.get('%s'); }
"""
K6_RATE = """
import http from 'k6/http';
export const options = { discardResponseBodies: true, summaryTrendStats: ['avg', 'p(50)', 'p(99)'],
  scenarios: { a: { executor: 'constant-arrival-rate', rate: %s, timeUnit: '1s', duration: '%ss',
  preAllocatedVUs: 64, maxVUs: 2000 } } };
export default function () { http.get('%s'); }
"""


def k6(script):
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "script.js"), os.path.join(folder, "out.json")
        with open(path, "w") as f:
            f.write(script)
        used = run([tool("k6"), "run", "--quiet", "--no-usage-report", "--summary-export", out, path])
        with open(out) as f:
            return used, json.load(f)["metrics"]


def wrk(url, connections, seconds):
    """That many connections as fast as they go: what it used, and how many requests it made."""
    used = run([tool("wrk"), "-t1", f"-c{connections}", f"-d{seconds}s", url])
    return used, number(re.search(r"(\d+) requests in", used.out).group(1))


def saturate(name, url, seconds):
    """64 connections as fast as they go: what it used, and how many requests it made."""
    if name == "wrk":
        return wrk(url, 64, seconds)
    if name == "h2load":
        used = run([tool("h2load"), "--h1", "-t1", "-c64", f"-D{seconds}", url])
        return used, number(re.search(r"(\d+) succeeded", used.out).group(1))
    if name == "oha":
        used = run([tool("oha"), "--no-tui", "-c", "64", "-z", f"{seconds}s", "--output-format", "json", url])
        return used, sum(json.loads(used.out)["statusCodeDistribution"].values())
    if name == "fortio":
        used = run([tool("fortio"), "load", "-quiet", "-qps", "0", "-c", "64", "-t", f"{seconds}s", url])
        return used, number(re.search(r"Code 200 : (\d+)", used.out + used.err).group(1))
    if name == "k6":
        used, metrics = k6(K6_SATURATE % (seconds, url))
        return used, metrics["http_reqs"]["count"]
    raise ValueError(name)


def at_rate(name, url, rate, seconds):
    """At that rate: mean, p50 and p99 that it reports, in milliseconds; none where it reports none."""
    if name in ("oha", "oha --latency-correction"):
        flags = ["--latency-correction"] if "correction" in name else []
        used = run([tool("oha"), "--no-tui", "-c", "64", "-q", str(rate), "-z", f"{seconds}s",
                    "--output-format", "json", *flags, url])
        said = json.loads(used.out)
        quantiles = said["latencyPercentiles"]
        return said["summary"]["average"] * 1e3, quantiles["p50"] * 1e3, quantiles["p99"] * 1e3
    if name == "fortio":
        used = run([tool("fortio"), "load", "-quiet", "-qps", str(rate), "-c", "64", "-t", f"{seconds}s",
                    "-p", "50,99", "-json", "-", url])
        said = json.loads(used.out)["DurationHistogram"]
        by = {p["Percentile"]: p["Value"] * 1e3 for p in said["Percentiles"]}
        return said["Avg"] * 1e3, by[50], by[99]
    if name == "k6":
        _, metrics = k6(K6_RATE % (rate, seconds, url))
        said = metrics["http_req_duration"]
        return said["avg"], said["p(50)"], said["p(99)"]
    if name == "h2load":
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            run([tool("h2load"), "--h1", "-t1", "-c64", f"--rps={rate / 64}", f"-D{seconds}",
                 f"--log-file={log}", url])
            with open(log) as f:
                times = sorted(int(line.split()[2]) / 1e3 for line in f)
        return sum(times) / len(times), times[len(times) // 2], times[len(times) * 99 // 100]
    raise ValueError(name)
