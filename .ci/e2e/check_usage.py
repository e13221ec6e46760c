"""What is typed wrong ends in exit 2, says on stderr what would be accepted, and prints nothing on stdout."""

import re
import socket
import subprocess

from harness import check, contains, equal, expect, headway

URL = "http://127.0.0.1:9/"
# Arguments, and what the message must hold: the value or flag at fault, and what would be accepted.
WRONG = [
    (["run", URL, "-n", "0"], ["-n 0", "from 1 up"]),
    (["run", URL, "-n", "10", "--warmup", "5s"], ["fixed work", "--warmup"]),
    (["run", URL, "-n", "10", "--arrivals", "constant"], ["--arrivals", "-R"]),
    (["run", URL, "-u", "0"], ["-u 0", "from 1 up"]),
    (["run", URL, "-u", "5", "-R", "5"], ["-R", "-u", "one of them"]),
    (["run", URL, "-u", "5", "--think", "5"], ["--think 5", "5s or 5ms"]),
    (["run", URL, "-u", "5", "--think", "expo(5s)"], ["'expo(5s)'", "did you mean exp?"]),
    (["run", URL, "-u", "5", "--arrivals", "poisson"], ["--arrivals", "-u"]),
    (["run", URL, "-u", "5", "--pool", "shard"], ["shard", "shared"]),
    (["run", URL, "-u", "20", "-c", "10"], ["20 users", "--pool shared"]),
    (["run", URL, "-R", "5", "--pool", "shared"], ["--pool", "-u"]),
    (["run", URL, "--at-once", "0"], ["--at-once 0", "from 1 up"]),
    (["run", URL, "--at-once", "5", "-d", "1s"], ["--at-once", "-d"]),
    (["run", URL, "--at-once", "5", "-u", "2"], ["--at-once", "-u"]),
    (["run", URL, "--at-once", "5", "-R", "2"], ["--at-once", "-R"]),
    (["run", URL, "--threshold", "p(99)<x"], ["column 7", "'x'", "100ms"]),
    (["run", URL, "--threshold", "p99<100"], ["'p99' is written p(99)"]),
    (["run", URL, "--threshold", "http_req_failed: rate<0.01"], ["failed here"]),
    (["run", URL, "--threshold", "response{step:requst}: avg<1"], ["did you mean request?"]),
    (["run", URL, "--abort-on-crossed"], ["--threshold"]),
    (["run", "scenario.yaml"], ["scenario.yaml", "No such file"]),
    (["sim", "scenario.yaml"], ["scenario.yaml", "No such file"]),
    (["sim", URL], [URL, "scenario"]),
    (["run", URL, "-R", "fast"], ["'fast'", "200/s"]),
    (["run", URL, "-R", "0"], ["'0'", "200/s"]),
    (["run", URL, "-R", "-5"], ["'-5'", "200/s"]),
    (["run", URL, "-d", "2"], ["'2'", "no unit", "2s, 2ms or 2m"]),
    (["run", URL, "-d", "soon"], ["'soon'", "1.5s"]),
    (["run", "."], ["the scenario .", "a folder", "http://127.0.0.1:8080/"]),
    (["rnu", URL], ["'rnu' is no verb", "did you mean headway run?"]),
    (["run", URL, "--concurrency", "50"], ["no flag of headway run", "-u 50", "-c 50"]),
    (["run", URL, "--thredas", "2"], ["did you mean --threads?"]),
    (["serve", "-p", "8080"], ["no flag of headway serve", "-l 127.0.0.1:8080"]),
    (["run", URL, "-R", "100/h", "-d", "1s", "--seed", "1"], ["sends nothing", "a longer time (-d)"]),
    (["run", URL, "-R", "1m"], ["'1m'", "1000k/s", "1/1m"]),
    (["run", "tcp://127.0.0.1:9", "-b", r"PING\d"], ["begins no escape", r"\r, \n"]),
    (["report", "nofolder"], ["nofolder", "No such file", "the folder of a run"]),
    (["report", "."], [".: not a run folder", "no records.arrow", "name the folder of a run"]),
    (["from-har", "nofile"], ["nofile cannot be read", "No such file", "HAR"]),
    (["from-openapi", "nofile"], ["nofile cannot be read", "No such file", "OpenAPI 3.0 or 3.1"]),
    (["from-jmx", "nofile"], ["nofile cannot be read", "No such file", "a test plan of JMeter (.jmx)"]),
    (["from-jmx", __file__], ["this is no XML", "name a test plan of JMeter (.jmx)"]),
    (["audit", "nofile"], ["nofile", "No such file", "results files of load tools"]),
    (["merge", __file__], [f"{__file__}: a file, and no destination", "name the destination"]),
    (["merge", "nofolder"], ["nofolder: there is nothing", "name the destination"]),
    (["merge", "nofolder", "other"], ["nofolder: No such file", "name the folder of a run"]),
    (["compare", "nofolder", "other"], ["nofolder", "No such file", "run folders, summaries"]),
    (["run", URL, "-d", "0s"], ["0s", "above zero"]),
    (["run", URL, "-H", "nonsense"], ["a word of 8 characters", "Name: value"]),
    (["run", URL, "-H", "A: b\r\nC: d"], ["line break"]),
    (["run", URL, "--arrivals", "posson"], ["'posson'", "did you mean poisson?", "gamma(COV)"]),
    (["run", URL, "--arrivals", "gamma(-1)"], ["gamma(-1)"]),
    (["run", URL, "--seed", "x"], ["--seed", "number"]),
    (["run", URL, "--seed", "-1"], ["-1", "2^53 - 1"]),
    (["run", URL, "--json", "x", "--junit", "./x"], ["--json x", "--junit ./x", "the same place"]),
    (["run", URL, "--out", "d", "--json", "d/../d/summary.json"], ["--json d/../d/summary.json", "--out d"]),
    (["run", URL, "--junit", "-"], ["--junit -", "json", "standard output"]),
    (["run", URL, "--body-file", "/dev/zero"], ["/dev/zero", "a device"]),
    (["sim", "/dev/zero"], ["/dev/zero", "a device"]),
    (["lab", "--json", "-"], ["--json", "poisson"]),
    (["run", URL, "--seed", "9007199254740992"], ["9007199254740992", "2^53 - 1"]),
    (["run", URL, "--shard", "3/3"], ["'3/3'", "0/4"]),
    (["run", URL, "-R", "5", "-c", "0"], ["-c 0", "from 1 up"]),
    # Habits of other tools: what is meant there, and what says it here.
    (["run", URL, "-c", "50"], [f"headway run {URL} -c 50 -R 200", f"headway run {URL} -u 50", "open:", "closed:"]),
    (["run", URL, "-t", "4"], ["wrk, wrk2, h2load", "threads", "hey, oha", "--timeout 4s", "ab, fortio, locust", "-d 4s"]),
    (["run", URL, "-t4", "-c50", "-d30s"], ["-t is no flag of headway run", "threads"]),
    (["run", URL, "-u", "a:hunter2"], ["-u:", "curl", "--user NAME:PASSWORD"]),
    (["run", URL, "-d", '{"a":1}'], ["hey, oha, curl", "the body", """--data '{"a":1}'"""]),
    (["run", URL, "--latency"], ["wrk, wrk2", "leave it out"]),
    (["run", URL, "-rate=50/1s"], ["-rate is no flag", "vegeta", "-R 50/1s"]),
    (["run", URL, "-duration=5s"], ["-duration is no flag", "vegeta", "-d 5s"]),
    (["run", URL, "--max-time", "3"], ["curl", "--timeout 3s"]),
    (["run", URL, "--vus-max", "3"], ["--vus-max"]),
    (["run", "-H", "http://127.0.0.1:9"], ["<URL|SCENARIO>"]),
    (["run", URL, "-H", "http://127.0.0.1:9"], ["Locust"]),
    (["run", URL, "--user", "me"], ["NAME:PASSWORD"]),
    (["run", URL, "-b", "@no-such-file"], ["-b @no-such-file cannot be read"]),
    (["translate", "--", "siege", URL], ["siege is no tool", "wrk, wrk2, hey"]),
    (["translate", "--", "wrk", "-x", URL], ["-x", "no option of wrk"]),
    (["translate", "--", "wrk", "-s", "post.lua", URL], ["-s of wrk", "scenario"]),
    (["translate", "--run", "--", "k6", "run", "--vus", "5", "a.js"], ["--run", "written first"]),
    (["run", URL, "--threads", "0"], ["--threads 0", "from 1 up"]),
    (["run", URL, "--timeout", "0s"], ["--timeout 0s", "above zero"]),
    (["run", URL, "--max-body", "big"], ["'big'", "10KiB"]),
    (["run", URL, "--start-at", "noon"], ["noon", "+5s"]),
    (["run", URL, "--body-file", "no-such-file"], ["no-such-file"]),
    (["run", URL, "-m", "GE T"], ["GE T"]),
    (["run", "ftp://127.0.0.1/"], ["ftp", "http://"]),
    (["run", "http://"], ["http://"]),
    (["run", URL, "--no-such-flag"], ["--no-such-flag"]),
    (["run"], ["<URL|SCENARIO>"]),
    (["frobnicate"], ["frobnicate"]),
    ([URL, "-R", "5"], ["a verb is missing", f"headway run {URL} -R 5"]),
    (["-c", "10", URL], ["a verb is missing", f"headway run -c 10 {URL}"]),
    (["load.yaml"], ["a verb is missing", "headway run load.yaml"]),
    (["hey", "-c", "10", URL], [f"headway translate -- hey -c 10 {URL}"]),
    (["attack", "-rate", "50"], ["headway translate -- vegeta attack -rate 50"]),
    (["run", URL, "-R", "5", "-q", "7"], ["-R and -q are one flag, --rate"]),
    (["run", URL, "-d", "5s", "-X", "POST", "-d", "{}"], ["-d is --duration here", "--data '{}'"]),
    (["run", "load.js"], ["load.js is a script of k6", "scenario"]),
    (["run", "plan.jmx"], ["plan.jmx is a test plan of JMeter", "headway from-jmx plan.jmx makes a scenario of it"]),
    (["demo", "-R", "5000"], ["5000", "headway run"]),
    (["plan", "-R", "fast"], ["'fast'", "200/s"]),
    (["plan", "--arrivals", "posson"], ["did you mean poisson?"]),
    (["serve", "--service", "foo(1)"], ["'foo(1)'", "exp(10ms)"]),
    (["serve", "--stall", "often"], ["'often'", "every=10s,for=1s"]),
    (["serve", "--error-rate", "2"], ["'2'", "0 to 1"]),
    (["serve", "--listen", "nowhere"], ["'nowhere'", "127.0.0.1:8080"]),
]


@check("usage: each of many mistakes exits 2, names what would be accepted, on stderr alone")
def mistakes(tmp):
    wrong = []
    for arguments, parts in WRONG:
        ended = headway(*arguments, cwd=tmp)
        if ended.code != 2:
            wrong.append(f"expected exit 2; {ended}")
        elif missing := [p for p in parts if p not in ended.err]:
            wrong.append(f"message lacks {missing}; {ended}")
        # What is to be said of another tool's command stands before the mistake.
        elif not ended.err.startswith("headway: ") or ended.err.count("headway: ") != 1 and arguments[0] != "translate" or "error: " in ended.err:
            wrong.append(f"message has another form than 'headway: what, where, found, accepted'; {ended}")
        elif ended.out:
            wrong.append(f"stdout is not empty: {ended.out[:200]!r}; {ended}")
    expect(not wrong, "\n".join(wrong))
    equal([p.name for p in tmp.iterdir()], [], "files that the mistakes left behind")


@check("usage: what cannot be done exits 1 and says why: unknown name, port taken")
def cannot(tmp):
    for arguments, part in [
        (["run", "http://no-such-host.invalid/", "-R", "10", "-d", "1s"], "no-such-host.invalid"),
    ]:
        ended = headway(*arguments, cwd=tmp).exits(1)
        contains(ended.err, part, "message")
        equal(ended.out, "", "stdout")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        message = headway("serve", "--listen", address, cwd=tmp).exits(1).err
        contains(message, address, "message")
        contains(message, "-l 127.0.0.1:0 takes a free port", "message")
    equal([p.name for p in tmp.iterdir()], [], "files left behind")


@check("usage: --help and --version go to stdout, within 100 columns; a bare run says what it assumes")
def help_and_version(tmp):
    for verb in ([], ["demo"], ["run"], ["serve"], ["plan"], ["report"], ["sim"], ["lab"], ["from-curl"], ["from-har"], ["from-openapi"], ["from-jmx"], ["translate"], ["explain"], ["schema"], ["completions"], ["man"]):
        ended = headway(*verb, "--help", cwd=tmp).exits(0)
        contains(ended.out, "Usage: headway", f"help of {verb}")
        equal(ended.err, "", f"stderr of {verb} --help")
        long = [line for line in ended.out.splitlines() if len(line) > 100]
        expect(not long, f"help of {verb} is too wide: {long[:3]}")
    version = headway("--version", cwd=tmp).exits(0).out
    expect(re.fullmatch(r"headway \d+\.\d+\.\d+ \(commit ([0-9a-f]{12}|unknown), target \S+, features: [a-z ]+\)\n", version), version)
    common = headway("run", "--help", cwd=tmp).out.split("\nOptions:\n")[1].split("\nLoad:\n")[0]
    shown = re.findall(r"^ +(-\w|--[\w-]+)", common, re.M)
    equal(shown, ["-R", "-d", "-n", "-u", "-c", "-H", "-m", "-b", "-k", "--timeout", "-h"], "the common options")
    ended = headway("run", "http://127.0.0.1:1/", "-d", "200ms", cwd=tmp)
    contains(ended.err, "-R 50/s", "what a bare URL assumes")


@check("usage: headway alone is one screen and exits 0; run -h has at most 80 lines; headway explain says what a word means")
def first_screens(tmp):
    alone = headway(cwd=tmp).exits(0)
    expect(len(alone.out.splitlines()) <= 24 and not alone.err, str(alone))
    for word in ("headway VERB -h", "--help", "demo, serve", "explain WORD", "docs/"):
        contains(alone.out, word, "the overview")
    short, long = headway("run", "-h", cwd=tmp).exits(0).out, headway("run", "--help", cwd=tmp).exits(0).out
    expect(len(short.splitlines()) <= 80 and len(long.splitlines()) > 200, f"{len(short.splitlines())} and {len(long.splitlines())} lines")
    equal(len(re.findall(r"^  headway run ", short, re.M)), 4, "examples")
    for word, part in [("VALID", "planned load"), ("p99", "99 of 100"), ("exit-98", "INVALID"), ("late", "released"), ("sent-share", "99 %")]:
        contains(headway("explain", word, cwd=tmp).exits(0).out, part, f"headway explain {word}")
    contains(headway("explain", "bunchd", cwd=tmp).exits(2).err, "did you mean bunched?", "message")
    contains(headway("explain", cwd=tmp).exits(0).out, "departed-late", "the words")


@check("usage: a secret in a flag that is not understood is not shown")
def secrets_of_others(tmp):
    for flags in (["-u", "me:hunter2"], ["--user", "me:hunter2", "-H", "Authorization: x"], ["-a", "x", "--user=me:hunter2"]):
        expect("hunter2" not in headway("run", URL, *flags, cwd=tmp).exits(2).err, f"shown with {flags}")
    printed = headway("translate", "--", "hey", "-a", "me:hunter2", URL, cwd=tmp).exits(0)
    expect("hunter2" not in printed.out + printed.err, "translate shows it")
    contains(printed.out, "--user 'me:<redacted>'", "the command")


@check("usage: completions of three shells and man pages name every verb")
def completions_and_man_pages(tmp):
    verbs = ["run", "audit", "sim", "translate", "from-curl"]
    for shell in ("bash", "zsh", "fish"):
        script = headway("completions", shell, cwd=tmp).exits(0).out
        for word in [*verbs, "abort-on-crossed"]:
            contains(script, word, f"completions of {shell}")
    (tmp / "headway.bash").write_text(headway("completions", "bash", cwd=tmp).out)
    parsed = subprocess.run(["bash", "-n", tmp / "headway.bash"], capture_output=True, text=True)
    equal((parsed.returncode, parsed.stderr), (0, ""), "bash reads its completions")
    contains(headway("completions", "csh", cwd=tmp).exits(2).err, "bash", "message")
    headway("man", "pages", cwd=tmp).exits(0)
    for verb in verbs:
        contains((tmp / "pages" / f"headway-{verb}.1").read_text(), ".TH", f"man page of {verb}")
    contains((tmp / "pages" / "headway-run.1").read_text(), "abort", "man page of run")
    headway("man", "pages/headway-run.1", cwd=tmp).exits(1)
