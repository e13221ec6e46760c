"""`/metrics` of a live view, scraped by a real Prometheus."""

import json
import subprocess
import time
import urllib.parse
import urllib.request

from harness import Serve, Skipped, check, equal, expect, free_port, note, spawn, start_run, stop, tool, wait_for
from watching import where

CONFIGURATION = """
global: {{ scrape_interval: 2s, scrape_timeout: 1900ms }}
scrape_configs:
  - job_name: headway
    authorization: {{ credentials: {token} }}
    static_configs: [ {{ targets: ["127.0.0.1:{port}"] }} ]
"""


def prometheus(tmp):
    """Debian's binary of Prometheus. Its package is unpacked and not installed: installing would start a server."""
    done = subprocess.run(["apt-get", "download", "prometheus"], cwd=tmp, capture_output=True, text=True, timeout=300)
    package = next(tmp.glob("prometheus_*.deb"), None)
    if package is None:
        raise Skipped(f"Debian's Prometheus cannot be downloaded: {done.stderr.strip()[-300:]}")
    tool("dpkg-deb", "-x", package, tmp / "unpacked")
    return tmp / "unpacked/usr/bin/prometheus"


@check("watch: a real Prometheus scrapes /metrics with the token, and its counters are the run's", alone=True)
def scraped(tmp):
    binary = prometheus(tmp)
    own = free_port()
    with Serve("--service", "exp(1ms)", "--servers", "2", "--error-rate", "0.1", tmp=tmp) as serve:
        going = start_run(serve.url, "-R", "200", "-d", "15s", "--watch-addr", "0.0.0.0:0", tmp=tmp)
        _, port, token = where(going)
        (tmp / "prometheus.yml").write_text(CONFIGURATION.format(port=port, token=token))
        log = open(tmp / "prometheus.log", "wb")
        server = spawn([binary, f"--config.file={tmp}/prometheus.yml", f"--storage.tsdb.path={tmp}/data", f"--web.listen-address=127.0.0.1:{own}"],
                       stdout=log, stderr=log)
        ended = going.ended()
        time.sleep(1)

        def query(text):
            url = f"http://127.0.0.1:{own}/api/v1/query?" + urllib.parse.urlencode({"query": text})
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]["result"]

        try:
            up = wait_for(lambda: query("max_over_time(up[1m])"), "the first scrape")
            targets = json.load(urllib.request.urlopen(f"http://127.0.0.1:{own}/api/v1/targets", timeout=10))["data"]["activeTargets"]
            equal(up[0]["value"][1], "1", f"whether a scrape worked: {targets}")
            scrapes = float(query("count_over_time(headway_measured_seconds[1m])")[0]["value"][1])
            last = {r["metric"]["outcome"]: float(r["value"][1]) for r in query("max_over_time(headway_requests_total[1m])")}
            falls = query("resets(headway_requests_total[1m])")
            buckets = query("max_over_time(headway_response_seconds_bucket{le='+Inf'}[1m])")
        finally:
            stop(server)
            log.close()
    outcomes = ended.summary["outcomes"]
    expect(scrapes >= 4, f"{scrapes} scrapes of 15 s")
    equal(set(last), set(outcomes), "outcomes that were scraped")
    for outcome, n in last.items():
        # The last scrape was up to four seconds before the end.
        expect(0.6 * outcomes[outcome] <= n <= outcomes[outcome], f"{outcome}: {n} scraped, {outcomes[outcome]} in the summary")
    equal({r["value"][1] for r in falls}, {"0"}, "falls of the counters")
    expect(0.6 * sum(outcomes.values()) < float(buckets[0]["value"][1]) <= sum(outcomes.values()), f"buckets: {buckets}")
    note(f"{scrapes:.0f} scrapes in 15 s")
