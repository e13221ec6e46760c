"""A build without Parquet, SQLite, zstd, OTLP and buckets: it says what it lacks and how to get it, and leaves nothing behind."""

import http.server
import shutil
import threading

from harness import ROOT, all_ended, check, contains, equal, expect, flat, headway, run

SAMPLES = ROOT / "crates/import/tests/samples"


def lacks(ended, what, feature):
    ended.exits(2)
    contains(flat(ended.err), f"this headway was built without {what}", "stderr")
    contains(flat(ended.err), f"--features {feature}`", "stderr")


@check("features: without parquet, report --parquet exits 2 before it writes anything")
def parquet(tmp):
    out = tmp / "out.parquet"
    run = ROOT / "crates/cli/tests/folders/0.1.0/run"
    lacks(headway("report", run, "--parquet", out, cwd=tmp), "Parquet", "parquet")
    expect(not out.exists(), "a file was written")
    (tmp / "export.parquet").write_bytes(b"PAR1 and more")
    lacks(headway("audit", "export.parquet", cwd=tmp), "Parquet", "parquet")


@check("features: without sqlite, a database of oha is recognised and refused; without zstd, a compressed file")
def others(tmp):
    database = next(path for path in sorted((SAMPLES / "oha-sqlite").iterdir()) if path.read_bytes().startswith(b"SQLite format 3"))
    shutil.copy(database, tmp / "oha.sqlite")
    lacks(headway("audit", "oha.sqlite", cwd=tmp), "SQLite", "sqlite")
    ended = headway("audit", SAMPLES / "jmeter-csv/1830_AggRpt.csv.zst", cwd=tmp)
    lacks(ended, "zstd", "zstd")
    contains(flat(ended.err), "zstd -dc", "stderr")


@check("features: without bucket, a bucket as a destination exits 2, of run, of sim and of merge")
def bucket(tmp):
    shard = ["run", "http://127.0.0.1:9/", "-R", "10", "-d", "1s", "--seed", "1", "--shard", "0/2"]
    study = ["sim", ROOT / "docs/examples/balancers.yaml", "--replications", "2", "--seed", "1", "--shard", "0/2"]
    for command in ([*shard, "--out", "s3://load-tests/run42"], [*study, "--out", "s3://load-tests/run42"], ["merge", "s3://load-tests/run42"]):
        lacks(headway(*command, cwd=tmp), "buckets", "bucket")
    equal(list(tmp.iterdir()), [], "files that were left")


class Packed(http.server.BaseHTTPRequestHandler):
    """Answers in the coding that its path names; what is in the body does not matter."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"not looked into"
        self.send_response(200)
        self.send_header("Content-Encoding", self.path[1:])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@check("features: without brotli and zstd, an answer in one of these says what is lacking, and one that is not looked into is fine")
def packed_answers(tmp):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Packed)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for coding, what, feature in [("br", "Brotli", "brotli"), ("zstd", "zstd", "zstd")]:
            url = f"http://127.0.0.1:{server.server_port}"
            scenario = tmp / f"{coding}.yaml"
            scenario.write_text(
                f"target: {url}\njourney: [ {{ get: /{coding}, expect: {{ body: {{ contains: hello }} }} }} ]\n"
                "users: { arrive: { rate: 20/s }, phases: [ { hold: 1s } ] }\n"
            )
            ended = run(scenario, tmp=tmp, name=coding)
            contains(flat(ended.out), f"this headway was built without {what}", "the first screen")
            contains(flat(ended.out), f"--features {feature}", "the first screen")
            all_ended(ended, "check")
            all_ended(run(f"{url}/{coding}", "-R", "20", "-d", "1s", tmp=tmp, name=f"{coding}-plain"), "ok")
    finally:
        server.shutdown()


@check("features: without otlp, run --otlp exits 2 before it sends anything")
def otlp(tmp):
    ended = run("http://127.0.0.1:1/", "-d", "1s", "--otlp", "http://127.0.0.1:4318", tmp=tmp)
    lacks(ended, "OTLP", "otlp")
    expect(not ended.folder.exists(), "a run folder was made")


@check("features: all else works: a demo's report, and an audit of a gzipped file")
def rest(tmp):
    headway("demo", cwd=tmp).exits(0, 97, 98)
    packed = next(path for path in sorted((SAMPLES / "vegeta-csv").iterdir()) if path.suffix == ".gz")
    headway("audit", packed, cwd=tmp).exits(0)
