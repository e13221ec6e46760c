"""`headway audit`: the committed samples of other tools, the same rows told in other ways, and files that are none."""

import gzip
import json
import math
import re
import subprocess

import pyarrow

from harness import HEADWAY, ROOT, Serve, check, contains, environment, equal, expect, finding_ids, flat, headway, planned, run

SAMPLES = ROOT / "crates/import/tests/samples"
VEGETA = SAMPLES / "vegeta-csv/100ps-10s.csv.gz"
TEST_1830 = SAMPLES / "jmeter-csv/1830_AggRpt.csv.zst"
STRETCH = ["--from", "120s", "--for", "1200s"]


def audit(*arguments, cwd, code=0):
    """The summary of an audit that exits with `code`."""
    ended = headway("audit", *arguments, "--json", "-", cwd=cwd).exits(code)
    return json.loads(ended.out)


def audit_stdin(content, *arguments, cwd):
    done = subprocess.run(
        [HEADWAY, "audit", "-", *arguments, "--json", "-"], input=content, cwd=cwd, capture_output=True, timeout=120,
        env=environment(),
    )
    expect(done.returncode == 0, f"audit of stdin exits {done.returncode}: {done.stderr.decode()!r}")
    return json.loads(done.stdout)


def lines_of_1830():
    with pyarrow.input_stream(str(TEST_1830), compression="zstd") as file:
        return file.read().splitlines(keepends=True)


def numbers(summary):
    """What must not depend on how the rows are told."""
    arrivals = summary["arrivals"]
    return [summary["verdict"]["pattern"], summary["audit"]["outside"]] + [
        arrivals[key] for key in ("n", "headway_mean", "headway_sd", "cov", "lag1", "min", "max", "dispersion")
    ]


@check("audit: vegeta at 100/s is even")
def vegeta(tmp):
    summary = audit(VEGETA, cwd=tmp)
    equal(summary["verdict"]["pattern"], "even", "pattern")
    equal(summary["verdict"]["load"], None, "verdict on the load without --expect")
    equal(summary["source"], "import", "source")
    answer = headway("audit", VEGETA, cwd=tmp).exits(0).out
    for part in ("PATTERN  even", "cure        none in vegeta", "instead     headway run -R 100 URL"):
        contains(answer, part, "first screen")
    expect(len(answer.splitlines()) <= 22, f"the first screen has {len(answer.splitlines())} lines")
    contains(headway("audit", VEGETA, "--details", cwd=tmp).exits(0).out, "Headways of requests", "report with --details")


@check("audit: Brady's test 1830 is independent, with a fixed population; his tables to the digit")
def brady(tmp):
    summary = audit(
        TEST_1830, *STRETCH, "--quantiles", "brady", "--csv", tmp / "tables", "--html", tmp / "report.html", cwd=tmp
    )
    equal(summary["verdict"]["pattern"], "independent", "pattern")
    expect("fixed-population" in finding_ids(summary), f"findings: {finding_ids(summary)}")
    equal(summary["audit"]["first_start"], "2012-03-16T01:30:03.1Z", "first start")
    last = lambda name: (tmp / "tables" / name).read_text().splitlines()[-1]
    equal(last("arr.csv"), "Total,38072,31.73,22,31.52,31.59,1.00,73,94,143,0,435", "headways")
    equal(last("agg.csv"), "Total,38073,31.73,10,52.74,155.39,457.82,25,607,633,4,3196,0.00,1910.16", "response times")
    contains((tmp / "report.html").read_text(), "1830_AggRpt", "HTML report")
    audit(TEST_1830, *STRETCH, "--histograms", tmp / "h", "--cells", "10ms", cwd=tmp)
    equal(sorted(p.name for p in (tmp / "h").iterdir()), ["headways-10ms.csv", "response-10ms.csv"], "histograms")
    total = [row.split(",") for row in (tmp / "h/headways-10ms.csv").read_text().splitlines() if row.startswith("Total,")]
    equal(total[0], ["Total", "", "0.000000000", "690"], "gaps of 0 ms")
    equal((sum(int(row[3]) for row in total), len(total)), (38072, 1 + 44), "gaps, and cells up to the longest of 435 ms")


@check("audit: one load, the same numbers: stdin, gz, out of order, two files merged")
def told_in_other_ways(tmp):
    lines = lines_of_1830()
    expected = numbers(audit(TEST_1830, *STRETCH, cwd=tmp))
    content = b"".join(lines)
    equal(numbers(audit_stdin(content, *STRETCH, cwd=tmp)), expected, "stdin")
    equal(numbers(audit_stdin(gzip.compress(content, 1), *STRETCH, cwd=tmp)), expected, "gz on stdin")
    (tmp / "reverse.csv").write_bytes(b"".join(reversed(lines)))
    equal(numbers(audit("reverse.csv", *STRETCH, "--stamps", "start", cwd=tmp)), expected, "last row first")
    # Threads tell that the stamps are starts, though the rows are in the order of the stamps.
    (tmp / "sorted.csv").write_bytes(b"".join(sorted(lines, key=lambda line: line.split(b",")[0])))
    sorted_by_stamp = audit("sorted.csv", *STRETCH, cwd=tmp)
    equal(numbers(sorted_by_stamp), expected, "sorted by stamp")
    expect("start-or-end" not in finding_ids(sorted_by_stamp), "what the threads show is said to be open")
    (tmp / "far.csv").write_bytes(content.rstrip(b"\n") + b"\n" + lines[-1].replace(lines[-1].split(b",")[0], b"4102444800000"))
    far = audit("far.csv", *STRETCH, cwd=tmp)
    equal(numbers(far), expected, "with a row of the year 2100")
    expect("far-stamps" in finding_ids(far), f"findings: {finding_ids(far)}")
    (tmp / "a.csv").write_bytes(b"".join(lines[::2]))
    (tmp / "b.csv").write_bytes(b"".join(lines[1::2]))
    merged = audit("a.csv", "b.csv", *STRETCH, cwd=tmp)
    equal(numbers(merged), expected, "two files")
    equal(merged["audit"]["generators"], ["a.csv", "b.csv"], "generators")
    offset = merged["audit"]["offsets"][0]
    equal((offset["generator"], offset["ahead_s"]), ("b.csv", None), "offset of the second file's clock")
    contains(offset["how"], "nothing in these files relates their clocks", "offset")


@check("audit: --success-only, --failures, --requests, --shift-by-response, --stamps")
def options(tmp):
    stock = SAMPLES / "jmeter-csv/stock.csv"
    whole = audit(stock, "--failures", tmp / "failed.csv", cwd=tmp)
    failed = sum(n for outcome, n in whole["outcomes"].items() if outcome != "ok")
    rows = (tmp / "failed.csv").read_text().splitlines()
    equal(rows[0], "time,start_s,elapsed_s,label,status,outcome,thread,generator,message,first_byte_s,bytes_received,bytes_sent",
          "head of --failures")
    equal(len(rows) - 1, failed, "rows of --failures")
    good = audit(stock, "--success-only", cwd=tmp)
    equal(good["outcomes"], {"ok": whole["outcomes"]["ok"]}, "outcomes with --success-only")
    equal(good["audit"]["outside"], failed, "rows left out by --success-only")

    shifted = audit(stock, "--shift-by-response", "add", cwd=tmp)
    expect(shifted["arrivals"]["cov"] != whole["arrivals"]["cov"], "--shift-by-response changes nothing")
    as_ends = audit(stock, "--stamps", "end", cwd=tmp)
    equal(as_ends["audit"]["files"][0]["stamps"], "end", "stamps")
    equal(audit(stock, "--stamps", "start", cwd=tmp)["arrivals"], whole["arrivals"], "arrivals with --stamps start")

    users = SAMPLES / "gatling-text/3.11.5.log"
    equal(audit(users, cwd=tmp)["audit"]["stream"], "sessions", "stream of a file with sessions")
    equal(audit(users, "--requests", cwd=tmp)["audit"]["stream"], "requests", "stream with --requests")


@check("audit: --expect holds a plan to what it was, exits 98 for another rate or process")
def expectation(tmp):
    rows = planned("-R", "500", "-d", "60s", "--seed", "1", cwd=tmp)
    (tmp / "plan.csv").write_text("arrival,intended_s,step\n" + "".join(f"{row}\n" for row in rows))
    # Whether so many rows suffice for VALID is not the question here.
    headway("audit", "plan.csv", "--expect", "poisson,rate=500/s", cwd=tmp).exits(0)
    headway("audit", "plan.csv", "--expect", "poisson,rate=500/s", "--strict", "--quiet", cwd=tmp).exits(0, 97)
    for wrong in ("poisson,rate=600/s", "constant,rate=500/s", "gamma(3),rate=500/s"):
        summary = audit("plan.csv", "--expect", wrong, cwd=tmp, code=98)
        equal(summary["verdict"]["load"], "INVALID", f"verdict with --expect {wrong}")
        equal(summary["verdict"]["pattern"], "independent", f"pattern with --expect {wrong}")


@check("audit: a run folder of headway run, and two of them")
def run_folders(tmp):
    with Serve("--service", "const(1ms)", "--servers", "50", tmp=tmp) as server:
        runs = [run(server.url, "-R", "300", "-d", "2s", "--seed", seed, tmp=tmp, name=f"run{seed}") for seed in "12"]
    ran = [ended.exits(0, 98).summary for ended in runs]
    one = audit("run1", cwd=tmp)
    equal(one["arrivals"]["n"], ran[0]["arrivals"]["n"], "headways")
    # Summed up in another order.
    expect(abs(one["arrivals"]["cov"] - ran[0]["arrivals"]["cov"]) < 1e-9, "CoV of the audit is not that of the run")
    equal(one["outcomes"], ran[0]["outcomes"], "outcomes")
    file = one["audit"]["files"][0]
    equal((file["format"], file["stamps"], file["digit_s"]), ("headway-run", "start", 1e-9), "file")
    equal(numbers(audit("run1/records.arrow", cwd=tmp)), numbers(one), "numbers of the log alone")
    both = audit("run1", "run2", cwd=tmp)
    equal([f["rows"] for f in both["audit"]["files"]], [s["measured"]["n"] for s in ran], "rows of both")


@check("audit: the target's log relates the clocks and is not judged")
def clocks(tmp):
    with Serve("--service", "exp(1ms)", "--servers", "20", "--arrivals-log", "log.csv", tmp=tmp) as server:
        run(server.url, "-R", "300", "-d", "2s", "--seed", "3", tmp=tmp).exits(0, 98)
    alone = audit("run", cwd=tmp)
    head, *rows = (tmp / "log.csv").read_text().splitlines()
    second, rest = zip(*(row.split(".", 1) for row in rows))
    later = [f"{int(s) + 5}.{r}" for s, r in zip(second, rest)]
    (tmp / "later.csv").write_text("\n".join([head, *later]) + "\n")
    (tmp / "short.csv").write_text("\n".join([head, *rows[:-1]]) + "\n")
    for name, true in (("log.csv", 0), ("later.csv", 5)):
        both = audit("run", name, cwd=tmp)
        equal(numbers(both), numbers(alone), f"numbers beside {name}")
        equal(both["audit"]["generators"], ["run"], f"generators beside {name}")
        offset = both["audit"]["offsets"][0]
        low, high = map(float, re.match(r"between (\S+) s and (\S+) s:", offset["how"]).groups())
        # One clock, read by both: so it lies within, up to what the text rounds.
        expect(low - 1e-6 <= true <= high + 1e-6, f"{true} s is not within {offset}")
        equal((offset["generator"], offset["n"]), (name, len(rows)), "generator and requests behind the offset")
    contains(audit("run", "short.csv", cwd=tmp)["audit"]["offsets"][0]["how"], f"holds {len(rows) - 1} requests", "why")


@check("audit: what is no results file exits 2, names the file and says what would do")
def refused(tmp):
    (tmp / "empty.csv").touch()
    (tmp / "folder").mkdir()
    (tmp / "junk").write_bytes(bytes(range(256)) * 20)
    (tmp / "one.csv").write_bytes(b"".join(lines_of_1830()[:20]))
    (tmp / "cut.csv.gz").write_bytes(gzip.compress(b"".join(lines_of_1830()))[:50_000])
    for arguments, parts in [
        ([SAMPLES / "refused/locust-stats.csv"], ["locust-stats.csv", "statistics by name", "CsvRequestLogger"]),
        (["empty.csv"], ["empty.csv", "nothing to audit"]),
        (["folder"], ["folder is a directory"]),
        (["junk"], ["junk", "not a results file", "Known are: ", "--columns"]),
        (["no-such-file"], ["no-such-file"]),
        (["cut.csv.gz"], ["cut.csv.gz"]),
        (["one.csv", "junk"], ["junk", "not a results file"]),
        (["one.csv", "./one.csv"], ["the same file"]),
        (["one.csv", "--from", "1h"], ["--from", "none of 20 requests"]),
        (["one.csv", "--sessions"], ["--sessions"]),
        ([VEGETA, "--stamps", "end"], ["--stamps", "vegeta-csv"]),
        (["one.csv", "--for", "0s"], ["--for 0s", "above zero"]),
        (["one.csv", "--expect", "poisson"], ["the rate is missing"]),
        (["one.csv", "--zone", "Mars"], ["'Mars'", "Europe/Berlin"]),
        (["one.csv", "--percentiles", "101"], ["'101'", "below 100"]),
        ([], ["<FILE>"]),
    ]:
        ended = headway("audit", *arguments, cwd=tmp).exits(2)
        for part in parts:
            contains(flat(ended.err), part, f"message for {arguments}")
        equal(ended.out, "", "stdout")


@check("audit: rows that cannot be read are counted; more than 1 % of them need --lenient")
def unreadable(tmp):
    rows = lines_of_1830()[:1000]
    # The last line is cut: one of a thousand.
    (tmp / "cut.csv").write_bytes(b"".join(rows)[:-40])
    file = audit("cut.csv", cwd=tmp)["audit"]["files"][0]
    equal((file["rows"], file["unreadable"]), (999, 1), "rows and unreadable ones of a cut file")
    equal(file["examples"][0]["line"], 1000, "line of the unreadable row")
    (tmp / "bad.csv").write_bytes(b"".join(rows) + b"so,it,goes\n" * 20)
    ended = headway("audit", "bad.csv", cwd=tmp).exits(2)
    for part in ("20 of 1020 rows", "--lenient", 'bad.csv:1001: "so,it,goes"', "expected 10 columns"):
        contains(ended.err, part, "message")
    file = audit("bad.csv", "--lenient", cwd=tmp)["audit"]["files"][0]
    equal((file["rows"], file["unreadable"]), (1000, 20), "rows and unreadable ones with --lenient")


@check("audit: nothing that exists is overwritten")
def never_overwritten(tmp):
    (tmp / "taken").write_text("kept")
    (tmp / "full").mkdir()
    (tmp / "full/x").touch()
    for flag, name in (("--json", "taken"), ("--html", "taken"), ("--failures", "taken"), ("--csv", "full"), ("--histograms", "full")):
        contains(headway("audit", VEGETA, flag, name, cwd=tmp).exits(2).err, "never overwritten", f"message of {flag}")
    equal((tmp / "taken").read_text(), "kept", "the file that was there")
    equal(sorted(p.name for p in (tmp / "full").iterdir()), ["x"], "the folder that was there")


SIMULATED = """
name: station
users:
  arrive: { process: gamma(3), rate: 150/s }
  phases: [ { hold: 60s } ]
journey:
  - get: /
model:
  servers: 4
  service: exp(20ms)
"""


def p99_of_mmc(rate, service, servers):
    """Of the response time of M/M/c in steady state (Erlang C)."""
    load = rate * service
    terms = [load**k / math.factorial(k) for k in range(servers)]
    last = load**servers / math.factorial(servers) / (1 - load / servers)
    waits, rest = last / (sum(terms) + last), servers - 1 - load
    beyond = lambda t: math.exp(-t / service) * (1 + waits * (1 - math.exp(-rest * t / service)) / rest)
    low, high = 0.0, 1000 * service
    for _ in range(100):
        low, high = ((low + high) / 2, high) if beyond((low + high) / 2) > 0.01 else (low, (low + high) / 2)
    return low


@check("audit: by how much a p99 is off, of a simulated station; and why it cannot be said of a target that serves all at once")
def how_far_off(tmp):
    for name, text in (("station", SIMULATED), ("shared", SIMULATED.replace("exp(20ms)", "exp(20ms)\n  discipline: ps"))):
        (tmp / f"{name}.yaml").write_text(text)
        headway("sim", f"{name}.yaml", "--seed", "3", "--log", "--out", name, cwd=tmp)
    summary = audit("station", cwd=tmp)
    equal(summary["verdict"]["pattern"], "bunched", "pattern")
    off = summary["audit"]["estimated"]
    expect(4 in off["servers"], f"servers: {off}")
    truth = p99_of_mmc(off["rate"], 0.02, 4)
    expect(abs(off["p99_independent"] / truth - 1) < 0.2, f"p99 of M/M/4: {truth}, {off}")
    expect(off["ci95"][0] < off["p99_observed"] / truth - 1 < off["ci95"][1], f"p99 of M/M/4: {truth}, {off}")
    screen = headway("audit", "station", cwd=tmp).exits(0).out
    line = next((line for line in screen.splitlines() if line.startswith("  estimated ")), None)
    expect(line and "too high (95 % CI" in line and "FIFO" in line and len(line) <= 80, f"line {line!r} of {screen}")
    contains(flat(headway("audit", "station", "--details", cwd=tmp).exits(0).out), "Assumed: the target serves in order", "details")
    summary = audit("shared", cwd=tmp)
    equal(summary["audit"]["estimated"], None, "estimate")
    expect(summary["not_computed"]["audit.estimated"]["why"] in ("no-station", "no-queue"), summary["not_computed"])
    contains(headway("audit", "shared", cwd=tmp).exits(0).out, "  estimated   p99 off by an unknown amount: ", "first screen")


@check("audit: --help names every format, within 100 columns")
def audit_help(tmp):
    text = headway("audit", "--help", cwd=tmp).exits(0).out
    for part in ("Usage: headway audit", "jmeter-csv", "access-log", "vegeta-gob", "--by-threads"):
        contains(text, part, "help")
    wide = [line for line in text.splitlines() if len(line) > 100]
    expect(not wide, f"too wide: {wide[:3]}")


@check("lab: poisson beside the published figures, the same from the same seed, as text and as JSON")
def lab(tmp):
    contains(headway("lab", cwd=tmp).exits(0).out, "poisson", "list of labs")
    report = headway("lab", "poisson", "--seed", "5", cwd=tmp).exits(0).out
    for part in ("seed 5", "gaps of 0 mm", "cannot be reproduced"):
        contains(flat(report), part, "report")
    expect(max(map(len, report.splitlines())) <= 80, "the report is wider than 80 columns")
    again = [headway("lab", "poisson", "--seed", "5", "--json", "-", cwd=tmp).exits(0).out for _ in range(2)]
    equal(again[0], again[1], "the same seed again")
    document = json.loads(again[0])
    equal(document["schema"], "headway.lab/1", "schema")
    for row in document["rows"]:
        expect({"name", "published", "replications", "steady"} <= set(row), f"row {row}")
    contains(headway("lab", "poison", cwd=tmp).exits(2).err, "did you mean poisson?", "message")
