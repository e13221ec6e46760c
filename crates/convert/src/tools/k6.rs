//! k6 (`k6 run`). Checked against `internal/cmd/options.go` and `runtime_options.go`.

use super::said::*;
use super::{Meaning, Part, Row, Style, Takes, Tool, Value};

const OF_SCRIPT: Meaning =
    Meaning::Nothing("leave it out: it is about the script, whose place a scenario takes");
const CONTROL: Meaning =
    Meaning::Nothing("leave it out: a run starts at once (--start-at TIME) and ends by itself or by Ctrl-C");
const THRESHOLDS: Meaning =
    Meaning::Nothing("leave it out: thresholds are those of --threshold, in k6's grammar");

pub(super) static K6: Tool = Tool {
    name: "k6",
    style: Style::Getopt,
    verb: Some("run"),
    takes: Takes::Script("the script"),
    needs: &[],
    alike: &[],
    own: &[
        Row::new("u", "vus", "10", "virtual users", Meaning::Load(Part::Users)),
        Row::new("d", "duration", "30s", LENGTH, Meaning::Load(Part::Duration)),
        Row::new("i", "iterations", "100", "rounds of the script", Meaning::Load(Part::Requests)),
        Row::new("s", "stage", "30s:10", "a stage: length and users", Meaning::Load(Part::Stages)),
        Row::new("", "execution-segment", "0:1/2", "a part of the load", NO_WORKERS),
        Row::new("", "execution-segment-sequence", "0,1/2,1", "the parts of the load", NO_WORKERS),
        Row::new("p", "paused", "", "begin paused", CONTROL),
        Row::new("l", "linger", "", "stay after the end", CONTROL),
        Row::new("", "no-setup", "", "no setup()", OF_SCRIPT),
        Row::new("", "no-teardown", "", "no teardown()", OF_SCRIPT),
        Row::new("", "max-redirects", "10", REDIRECTS, NO_REDIRECTS),
        Row::new("", "batch", "20", "parallel requests of a batch", OF_SCRIPT),
        Row::new("", "batch-per-host", "6", "parallel requests of a batch", OF_SCRIPT),
        Row::new("", "rps", "200", RATE, Meaning::Load(Part::Rate)),
        Row::new(
            "",
            "user-agent",
            "probe",
            "the header User-Agent",
            Meaning::Flag("-H", Value::Header("User-Agent")),
        ),
        Row::new(
            "",
            "http-debug",
            "",
            "log requests",
            Meaning::Nothing("leave it out: --dry-run shows the requests and sends nothing"),
        ),
        Row::new("", "insecure-skip-tls-verify", "", TRUST, Meaning::Flag("-k", Value::Switch)),
        Row::new("", "no-connection-reuse", "", REUSE, CLOSED),
        Row::new(
            "",
            "no-vu-connection-reuse",
            "",
            "new connections for each round",
            Meaning::Cannot(
                "users keep their connections from round to round; sessions that arrive have their own (docs/scenarios.md)",
            ),
        ),
        Row::new(
            "",
            "min-iteration-duration",
            "1s",
            "the least time of a round",
            Meaning::Cannot("pace: of a scenario is that"),
        ),
        Row::new(
            "w",
            "throw",
            "",
            "failed requests end a round",
            Meaning::Cannot("on-failure: end-session of a scenario is that"),
        ),
        Row::new("", "blacklist-ip", "10.0.0.0/8", "addresses that are not called", OF_SCRIPT),
        Row::new("", "block-hostnames", "*.example.org", "hosts that are not called", OF_SCRIPT),
        Row::new("", "summary-trend-stats", "avg,p(95)", "the columns of its summary", NO_PRINT),
        Row::new("", "summary-time-unit", "ms", "the unit of times in the output", NO_PRINT),
        Row::new("", "system-tags", "url", "tags of its metrics", NO_PRINT),
        Row::new("", "tag", "a=b", "a tag of its metrics", NO_PRINT),
        Row::new("", "console-output", "log.txt", OUTPUT, NO_OUTPUT),
        Row::new(
            "",
            "discard-response-bodies",
            "",
            "read no bodies",
            Meaning::Nothing("leave it out: bodies are read and kept only where a step needs them"),
        ),
        Row::new("", "local-ips", "127.0.0.1", "the local address", LOCAL_ADDRESSES),
        Row::new(
            "",
            "dns",
            "ttl=5m",
            "how addresses are looked up",
            Meaning::Nothing("leave it out: the host is looked up once, before the run"),
        ),
        Row::new("o", "out", "csv=out.csv", OUTPUT, NO_OUTPUT),
        Row::new(
            "e",
            "env",
            "A=b",
            "a variable of the script",
            Meaning::Nothing("leave it out: a scenario reads ${NAME} from the environment"),
        ),
        Row::new("t", "type", "js", "the type of the script", OF_SCRIPT),
        Row::new("", "include-system-env-vars", "", "variables of the environment", OF_SCRIPT),
        Row::new("", "compatibility-mode", "base", "the dialect of the script", OF_SCRIPT),
        Row::new("", "no-thresholds", "", "judge no thresholds", THRESHOLDS),
        Row::new("", "no-summary", "", "no summary", NO_PRINT),
        Row::new("", "summary-mode", "full", "the form of its summary", NO_PRINT),
        Row::new("", "summary-export", "out.json", OUTPUT, Meaning::Flag("--json", Value::Same)),
        Row::new("", "traces-output", "none", OUTPUT, NO_OUTPUT),
        Row::new(
            "c",
            "config",
            "k6.json",
            "a file of options",
            Meaning::Cannot("give the options themselves"),
        ),
        Row::new("a", "address", "localhost:6565", "the address of its API", CONTROL),
        Row::new("q", "quiet", "", "no progress", Meaning::Flag("--quiet", Value::Switch)),
        Row::new("v", "verbose", "", "how much it prints", NO_PRINT),
        Row::new(
            "",
            "no-color",
            "",
            "no colours",
            Meaning::Nothing("leave it out: NO_COLOR in the environment does that"),
        ),
        Row::new("", "log-output", "stderr", OUTPUT, NO_OUTPUT),
        Row::new(
            "",
            "no-usage-report",
            "",
            "no report to its makers",
            Meaning::Nothing("leave it out: Headway reports to nobody"),
        ),
        Row::new("h", "help", "", HELP, NO_HELP),
    ],
};
