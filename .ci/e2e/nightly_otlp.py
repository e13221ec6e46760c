"""Metrics to a collector of OpenTelemetry, read by OpenTelemetry's own messages: one that takes them, and some that do not."""

import contextlib
import http.server
import ssl
import threading
import time

from certificates import Authority
from harness import Serve, check, conserved, contains, environment, equal, expect, flat, free_port, headway, note, run, start_run
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2

KEY = "k3y-of-the-collector"


class Collector:
    """A collector on loopback that answers each request with `status` and `body`, after `delay` seconds."""

    def __init__(self, status=200, body=b"", delay=0, certified=None):
        requests = self.requests = []
        over = self.over = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                content = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                requests.append((time.time_ns(), self.path, headers, content))
                over.wait(delay)
                self.send_response(status)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(body)))
                # Headway does not wait for an answer that is late.
                with contextlib.suppress(OSError):
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http{'s' if certified else ''}://127.0.0.1:{self.server.server_port}"
        if certified:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certified)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.server.shutdown()


def attributes(of):
    return {one.key: one.value.string_value for one in of}


def decoded(content):
    """The resource of a request, and its metrics by name."""
    message = metrics_service_pb2.ExportMetricsServiceRequest.FromString(content)
    (resource,) = message.resource_metrics
    (scope,) = resource.scope_metrics
    equal(scope.scope.name, "headway", "the scope")
    metrics = {metric.name: metric for metric in scope.metrics}
    equal(len(metrics), len(scope.metrics), "names, each once")
    return attributes(resource.resource.attributes), metrics


def points(metric):
    """Data points by their attributes."""
    of = getattr(metric, metric.WhichOneof("data")).data_points
    found = {tuple(sorted(attributes(point.attributes).items())): point for point in of}
    equal(len(found), len(of), f"{metric.name}: points, each once")
    return found


def with_key(**more):
    return environment(OTEL_EXPORTER_OTLP_HEADERS=f"api-key={KEY}", **more)


def is_told(metrics, summary):
    """The numbers of a request are those of the summary."""
    requests = metrics["headway_requests"]
    expect(requests.sum.is_monotonic and requests.sum.aggregation_temporality == 2, "requests are no cumulative counter")
    seen = {(dict(key)["step"], dict(key)["outcome"]): point.as_int for key, point in points(requests).items()}
    wanted = {(step, outcome): n for step, of in summary["by_label"].items() for outcome, n in of["outcomes"].items()}
    equal(seen, wanted, "requests by step and outcome")
    for key, point in points(metrics["headway_response_seconds"]).items():
        of = summary["by_label"][dict(key)["step"]]["response"]
        equal((point.count, sum(point.bucket_counts)), (of["n"], of["n"]), "requests in the histogram")
        equal(len(point.bucket_counts), len(point.explicit_bounds) + 1, "buckets")
        expect(abs(point.sum - of["mean"] * of["n"]) <= 1e-9 * point.sum, "the sum of the histogram")
    quantiles = {dict(key)["quantile"]: point.as_double for key, point in points(metrics["headway_response_time_quantile_seconds"]).items()}
    equal((quantiles["0.5"], quantiles["0.99"]), (summary["response"]["p50"], summary["response"]["p99"]), "percentiles")
    equal(metrics["headway_response_time_quantile_seconds"].unit, "s", "the unit")
    rates = {dict(key)["of"]: point.as_double for key, point in points(metrics["headway_request_rate"]).items()}
    equal(rates["sent"], summary["rate"]["started"], "the sent rate")
    verdicts = {dict(key)["headway_load_verdict"] for key, point in points(metrics["headway_load_verdict"]).items() if point.as_double == 1}
    equal(verdicts, {summary["verdict"]["load"]}, "the verdict")


@check("otlp: a collector gets the numbers while the run goes on, and at the end those of summary.json, as OpenMetrics has them", alone=True)
def delivered(tmp):
    with Serve("--service", "exp(1ms)", "--servers", "2", "--error-rate", "0.1", tmp=tmp) as serve, Collector() as collector:
        began = time.time_ns()
        ended = run(serve.url, "-R", "200", "-d", "6s", "--seed", "4", "--note", "commit=4c81b15", "--otlp", "env", "--otlp-every", "1s",
                    tmp=tmp, env=with_key(OTEL_EXPORTER_OTLP_ENDPOINT=f"{collector.url}/base"))
        over = time.time_ns()
    conserved(ended.summary)
    expect("metrics to" not in ended.err, ended.err)
    expect(5 <= len(collector.requests) <= 8, f"{len(collector.requests)} exports of 6 s, one each second and one at the end")
    totals, beginnings = [], set()
    for at, path, headers, content in collector.requests:
        equal((path, headers["content-type"], headers["api-key"]), ("/base/v1/metrics", "application/x-protobuf", KEY), "path and headers")
        resource, metrics = decoded(content)
        equal({key: resource[key] for key in ("service.name", "headway.run.seed", "headway.note.commit")},
              {"service.name": "headway", "headway.run.seed": "4", "headway.note.commit": "4c81b15"}, "the resource")
        expect(resource["service.instance.id"] and resource["service.version"], "no instance or version")
        counts = points(metrics["headway_requests"]).values()
        expect(all(began <= point.start_time_unix_nano <= point.time_unix_nano <= at <= over for point in counts), "times of the points")
        beginnings |= {point.start_time_unix_nano for point in counts}
        totals.append(sum(point.as_int for point in counts))
    equal(totals, sorted(totals), "counts, which only grow")
    expect(0 < totals[0] < totals[-1], f"counts: {totals}")
    equal(len(beginnings), 1, "beginnings of the counters")
    resource, metrics = decoded(collector.requests[-1][3])
    is_told(metrics, ended.summary)
    text = headway("report", ended.folder, "--output", "openmetrics=-", cwd=tmp).out
    families = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    filled = {name.removesuffix("_info") for name in metrics}
    expect(filled <= families, f"not in OpenMetrics: {filled - families}")
    bare = {name for name in families - filled if any(line.startswith(name) for line in text.splitlines())}
    equal(bare, set(), "families with samples that did not arrive")
    kept = b"".join(path.read_bytes() for path in ended.folder.iterdir()) + (ended.out + ended.err).encode()
    expect(KEY.encode() not in kept, "the key of the collector is shown")


def numbers(ended):
    """A run is what it would be without a collector."""
    conserved(ended.summary)
    expect(ended.summary["measured"]["n"] > 300, "too few requests")
    return ended.summary["verdict"]["load"]


@check("otlp: a collector that is down, slow or refusing costs the run nothing and is said at the end, without secrets", alone=True)
def undelivered(tmp):
    partial = metrics_service_pb2.ExportMetricsServiceResponse()
    partial.partial_success.rejected_data_points = 3
    partial.partial_success.error_message = f"quota of {KEY}"
    with Serve("--service", "exp(1ms)", "--servers", "4", tmp=tmp) as serve, Collector(delay=600) as slow, Collector(status=503) as busy, \
            Collector(status=302) as elsewhere, Collector(body=partial.SerializeToString()) as full, Collector(body=b"<html>Log in</html>") as page:
        urls = {"down": f"http://127.0.0.1:{free_port()}?token={KEY}&tenant={KEY}", "slow": slow.url, "busy": busy.url, "elsewhere": elsewhere.url,
                "full": full.url, "page": page.url}
        began = time.monotonic()
        going = {name: start_run(serve.url, "-R", "100", "-d", "4s", "--otlp", url, "--otlp-every", "1s", tmp=tmp, name=name, env=with_key())
                 for name, url in urls.items()}
        ended = {name: one.ended() for name, one in going.items()}
        took = time.monotonic() - began
    told = {
        "down": "the final numbers among them: Connection refused",
        "slow": "the final numbers among them: the collector did not answer within 5.00 s",
        "busy": "the final numbers among them: the collector answered with status 503",
        "elsewhere": "the final numbers among them: the collector answered with status 302",
        "full": f"/v1/metrics: the collector rejected {3 * len(full.requests)} numbers, 3 of them final: quota of ",
        "page": "the final numbers among them: it is not an OpenTelemetry collector: its answer begins with '<html>Log in</html>'",
    }
    for name, one in ended.items():
        one.exits(0, 98)
        numbers(one)
        said = flat(one.err)
        contains(said, f"headway: metrics to {urls[name].split('?')[0]}/v1/metrics", f"{name}: stderr")
        contains(said, told[name], f"{name}: stderr")
        kept = "".join(path.read_text(errors="replace") for path in one.folder.iterdir())
        expect(KEY not in one.out + one.err + kept, f"{name}: the key of the collector is shown")
    contains(flat(ended["down"].err), "/v1/metrics?token=<redacted>&tenant=<redacted>: ", "stderr")
    contains(flat(ended["slow"].err), "skipped, since the collector had not answered the one before", "stderr")
    # The export that goes on, and the last one: five seconds each.
    expect(took < 4 + 2 * 5 + 6, f"the slow collector held the end up: {took:.1f} s")
    note(f"the slowest of them ended {took - 4:.1f} s after its 4 s")


@check("otlp: a collector with HTTPS is verified against the authorities of this machine")
def over_tls(tmp):
    authority = Authority(tmp)
    authority.server("collector", "IP:127.0.0.1")
    certified = [authority.folder / "collector.pem", authority.folder / "collector.key"]
    with Serve(tmp=tmp) as serve, Collector(certified=certified) as collector:
        for name, trusted in [("trusting", authority.certificate), ("other", Authority(tmp, "other-authority").certificate)]:
            before = len(collector.requests)
            ended = run(serve.url, "-n", "20", "--otlp", collector.url, tmp=tmp, name=name, env=environment(SSL_CERT_FILE=trusted)).exits(0, 98)
            if name == "trusting":
                is_told(decoded(collector.requests[-1][3])[1], ended.summary)
            else:
                contains(flat(ended.err), "invalid peer certificate: UnknownIssuer", "stderr")
                equal(len(collector.requests), before, "exports to a collector that is not verified")


@check("otlp: bad addresses, headers and protocols are refused before anything is sent, without secrets")
def refused(tmp):
    with Serve(tmp=tmp) as serve:
        for flags, env, told in [
            (["--otlp", "127.0.0.1:4318"], {}, "such as http://127.0.0.1:4318"),
            (["--otlp", f"http://me:{KEY}@127.0.0.1:4318"], {}, "the URL holds a login"),
            (["--otlp", "env"], {}, "OTEL_EXPORTER_OTLP_ENDPOINT is not set"),
            (["--otlp", "env"], {"OTEL_EXPORTER_OTLP_ENDPOINT": serve.url, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "http/protobuf alone"),
            (["--otlp", f"ftp://127.0.0.1?tenant={KEY}"], {}, "tenant=<redacted>' is not an address of HTTP or HTTPS"),
            (["--otlp", serve.url], {"OTEL_EXPORTER_OTLP_HEADERS": KEY}, "OTEL_EXPORTER_OTLP_HEADERS: a header is not written"),
            (["--otlp", serve.url], {"OTEL_EXPORTER_OTLP_HEADERS": f"Host={KEY}"}, "Headway sets the header Host itself: leave it out"),
            (["--otlp", serve.url, "--otlp-every", "1500ms"], {}, "whole seconds from 1s to 1h"),
            (["--otlp-every", "5s"], {}, "--otlp"),
        ]:
            ended = run(serve.url, "-n", "5", *flags, tmp=tmp, env=environment(**env)).exits(2)
            contains(flat(ended.err), told, f"{flags}: stderr")
            expect(KEY not in ended.err, ended.err)
            expect(not ended.folder.exists(), f"{flags}: a run folder was made")
        # The environment alone asks for nothing.
        with Collector() as collector:
            run(serve.url, "-n", "50", tmp=tmp, name="plain", env=environment(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)).exits(0, 98)
            equal(collector.requests, [], "requests that nobody asked for")
    equal(serve.report["requests"], 50, "requests that the target served")


@check("otlp: the load is not later with an export each second than without", alone=True)
def load(tmp):
    lags = {"with": [], "without": []}
    with Serve("--service", "exp(1ms)", "--servers", "8", tmp=tmp) as serve, Collector() as collector:
        for i in range(3):
            for name in lags if i % 2 else reversed(lags):
                flags = ["--otlp", collector.url, "--otlp-every", "1s"] if name == "with" else []
                ended = run(serve.url, "-R", "1000", "-d", "10s", *flags, tmp=tmp, name=f"{name}-{i}")
                conserved(ended.summary)
                lags[name].append((ended.summary["lag"]["p50"], ended.summary["lag"]["p99"]))
    middle = {name: [sorted(of)[1] for of in zip(*all)] for name, all in lags.items()}
    note("; ".join(f"{name}: median lag p50 {1e6 * p50:.0f} us, p99 {1e6 * p99:.0f} us" for name, (p50, p99) in middle.items()))
    ratio = middle["with"][1] / middle["without"][1]
    note(f"ratio of the p99: {ratio:.2f}")
    # Within one machine; what is under 100 us is the noise of a wake-up.
    expect(ratio < 2 or middle["with"][1] < 100e-6, f"the p99 of the lag grew {ratio:.1f} times")
