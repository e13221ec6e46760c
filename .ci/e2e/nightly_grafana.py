"""The queries of the dashboard, docs/examples/grafana.json, asked of a real Prometheus: they return what the run's summary.json says."""

import contextlib
import http.server
import json
import math
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from harness import ROOT, Serve, check, equal, expect, free_port, headway, note, spawn, start_run, stop, wait_for
from nightly_watch import prometheus
from watching import where

CONFIGURATION = """
global: {{ scrape_interval: 1s, scrape_timeout: 900ms }}
scrape_configs:
  - job_name: headway
    static_configs: [ {{ targets: ["127.0.0.1:{port}"] }} ]
"""
RATE, LASTS_S = 200, 25
# What Grafana makes of $__rate_interval with scrapes a second apart is less than this; long enough to count on.
WINDOW_S = 10


class Relay:
    """What Prometheus scrapes: the run while it goes, and what `final` returns once that is set, so that one target has the whole run."""

    def __init__(self, address):
        self.final = None
        relay = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = relay.final
                if body is None:
                    try:
                        body = urllib.request.urlopen(address, timeout=0.8).read()
                    except (OSError, urllib.error.URLError):
                        self.send_error(503)
                        return
                self.send_response(200)
                self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def queries():
    """Each query of the dashboard by its panel's title and its legend."""
    panels = json.loads((ROOT / "docs/examples/grafana.json").read_text())["panels"]
    return {(panel["title"], target["legendFormat"]): target["expr"].replace("$__rate_interval", f"{WINDOW_S}s") for panel in panels for target in panel["targets"]}


@check("grafana: each query of the dashboard, asked of a real Prometheus, returns what summary.json says", alone=True)
def dashboard(tmp):
    binary = prometheus(tmp)
    own = free_port()
    asked = queries()

    def ask(panel, legend, at=None):
        parameters = {"query": asked[panel, legend], **({"time": at} if at else {})}
        with urllib.request.urlopen(f"http://127.0.0.1:{own}/api/v1/query?" + urllib.parse.urlencode(parameters), timeout=10) as answer:
            result = json.load(answer)["data"]["result"]
        label = legend.strip("{}") if legend.startswith("{{") else None
        return {row["metric"].get(label) if label else legend: float(row["value"][1]) for row in result}

    with Serve("--service", "exp(4ms)", "--servers", "4", "--error-rate", "0.1", tmp=tmp) as serve:
        going = start_run(serve.url, "-R", str(RATE), "-d", f"{LASTS_S}s", "--watch-addr", "127.0.0.1:0", tmp=tmp)
        _, port, _ = where(going)
        relay = Relay(f"http://127.0.0.1:{port}/metrics")
        (tmp / "prometheus.yml").write_text(CONFIGURATION.format(port=relay.port))
        log = open(tmp / "prometheus.log", "wb")
        server = spawn([binary, f"--config.file={tmp}/prometheus.yml", f"--storage.tsdb.path={tmp}/data", f"--web.listen-address=127.0.0.1:{own}"], stdout=log, stderr=log)
        try:
            time.sleep(LASTS_S - 4)
            # While it goes: what panels show over the last seconds.
            now = time.time()
            going_on = {key: ask(*key, at=now) for key in asked}
            ended = going.ended()
            # Its exit code is that of the verdict.
            relay.final = headway("report", tmp / "run", "--output", "openmetrics=-", cwd=tmp).out.encode()
            last = wait_for(lambda: sum(ask("Asked for and done", "{{of}}").values()) and time.time() > now + 8, "the last scrape")
            expect(last, "no scrape of the end")
            at_end = {key: ask(*key) for key in asked}
            summary = json.loads((tmp / "run/summary.json").read_text())
        finally:
            stop(server)
            log.close()

    empty = [key for key, rows in going_on.items() if not rows or any(math.isnan(value) for value in rows.values())]
    expect(not empty, f"panels without data while it goes: {empty}")

    # What is of the run so far is at its end what the summary says, to the bit.
    def same(panel, legend, wanted):
        equal(at_end[panel, legend], wanted, panel)

    response = summary["response"]
    same("Response time of the run so far", "{{quantile}}", {"0.5": response["p50"], "0.9": response["p90"], "0.95": response["p95"], "0.99": response["p99"], "0.999": response["p999"], "1": response["max"]})
    rate = summary["rate"]
    same("Asked for and done", "{{of}}", {"offered": rate["offered"], "sent": rate["started"], "throughput": rate["throughput"], "goodput": rate["goodput"]})
    lag = summary["lag"]
    same("How late the generator itself was", "{{quantile}}", {"0.5": lag["p50"], "0.99": lag["p99"], "0.999": lag["p999"], "1": lag["max"]})
    equal(list(at_end["The load so far", "{{headway_load_verdict}}"]), [summary["verdict"]["load"]], "The load so far")

    # What is of the last seconds has the run's rates and shares, within five standard errors of a window of independent arrivals.
    outcomes = going_on["Requests a second, by outcome", "{{outcome}}"]
    equal(set(outcomes), set(summary["outcomes"]), "outcomes")
    n = summary["measured"]["n"]
    for name, count in summary["outcomes"].items():
        wanted = count / LASTS_S
        expect(abs(outcomes[name] - wanted) <= 5 * math.sqrt(wanted / WINDOW_S), f"{name}: {outcomes[name]}/s and not {wanted}/s")
    share = summary["outcomes"]["status"] / n
    failed = going_on["Share that failed", "failed"]["failed"]
    expect(abs(failed - share) <= 5 * math.sqrt(share / (RATE * WINDOW_S)), f"failed: {failed} and not {share}")
    # A quantile of a histogram lies in the bucket of the true one, whose ends are a factor of 2.5 apart at most; the window's may be the next.
    over = {legend: rows[legend] for (panel, legend), rows in going_on.items() if panel == "Response time over the last seconds"}
    for name, value in over.items():
        expect(response[name] / 2.6 <= value <= response[name] * 2.6, f"{name}: {value} and not about {response[name]}")
    by_step = going_on["Response time by step, p99", "{{step}}"]
    equal(set(by_step), set(summary["by_label"]), "steps")
    equal(sum(by_step.values()), over["p99"], "the p99 of the only step")
    note(f"{len(asked)} queries; {failed:.3f} failed, {share:.3f} by the summary; the load {summary['verdict']['load']}; exit {ended.code}")
