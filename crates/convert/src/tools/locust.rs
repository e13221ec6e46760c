//! Locust 2. Checked against `locust/argument_parser.py`.

use super::said::*;
use super::{Meaning, Part, Row, Style, Takes, Tool};

const WEB: Meaning = Meaning::Nothing("leave it out: there is no web page to steer a run");
const OF_FILE: Meaning =
    Meaning::Nothing("what the file holds, users and tasks, is written as a scenario (docs/scenarios.md)");

pub(super) static LOCUST: Tool = Tool {
    name: "locust",
    style: Style::Getopt,
    verb: None,
    takes: Takes::Script("the locustfile"),
    needs: &[],
    alike: &[],
    own: &[
        Row::new("f", "locustfile", "locustfile.py", "the locustfile", OF_FILE),
        Row::new("H", "host", "http://127.0.0.1:8080", "the base URL", Meaning::Load(Part::Base)),
        Row::new("u", "users", "100", "virtual users", Meaning::Load(Part::Users)),
        Row::new("r", "spawn-rate", "10", "users who begin in a second", Meaning::Load(Part::Spawn)),
        Row::new("t", "run-time", "5m", LENGTH, Meaning::Load(Part::Duration)),
        Row::new("", "headless", "", "no web page", WEB),
        Row::new("", "autostart", "", "start without the web page", WEB),
        Row::new("", "autoquit", "10", "end some time after the run", WEB),
        Row::new("", "web-host", "127.0.0.1", "its web page", WEB),
        Row::new("P", "web-port", "8089", "its web page", WEB),
        Row::new("", "class-picker", "", "its web page", WEB),
        Row::new(
            "",
            "config",
            "locust.conf",
            "a file of options",
            Meaning::Cannot("give the options themselves"),
        ),
        Row::new("", "config-users", "{}", "settings of its users", OF_FILE),
        Row::new("l", "list", "", HELP, NO_HELP),
        Row::new("", "master", "", "steer other machines", NO_WORKERS),
        Row::new("", "worker", "", "send for another machine", NO_WORKERS),
        Row::new("", "master-host", "127.0.0.1", "the machine that steers", NO_WORKERS),
        Row::new("", "master-port", "5557", "the machine that steers", NO_WORKERS),
        Row::new("", "expect-workers", "2", "other machines", NO_WORKERS),
        Row::new(
            "",
            "processes",
            "4",
            "processes",
            Meaning::Nothing("leave it out: Headway chooses its worker threads (--threads N sets them)"),
        ),
        Row::new("T", "tags", "slow", "which tasks", OF_FILE),
        Row::new("E", "exclude-tags", "slow", "which tasks", OF_FILE),
        Row::new("", "csv", "results", OUTPUT, NO_OUTPUT),
        Row::new("", "csv-full-history", "", OUTPUT, NO_OUTPUT),
        Row::new("", "html", "report.html", OUTPUT, Meaning::Flag("--html", super::Value::Same)),
        Row::new("", "json", "", "print results as JSON", Meaning::Flag("--json", super::Value::Fixed("-"))),
        Row::new("", "print-stats", "", "how much it prints", NO_PRINT),
        Row::new("", "only-summary", "", "how much it prints", NO_PRINT),
        Row::new(
            "",
            "reset-stats",
            "",
            "count after all users have begun",
            Meaning::Nothing("leave it out: requests of the --ramp are never counted"),
        ),
        Row::new("", "skip-log-setup", "", "how much it logs", NO_PRINT),
        Row::new("L", "loglevel", "INFO", "how much it logs", NO_PRINT),
        Row::new("", "logfile", "locust.log", OUTPUT, NO_OUTPUT),
        Row::new(
            "",
            "exit-code-on-error",
            "1",
            "the exit code after failures",
            Meaning::Nothing("leave it out: --threshold decides the exit code"),
        ),
        Row::new(
            "s",
            "stop-timeout",
            "10",
            "how long users may go on after the end",
            Meaning::Flag("--drain", super::Value::Seconds),
        ),
        Row::new("V", "version", "", HELP, NO_HELP),
        Row::new("h", "help", "", HELP, NO_HELP),
    ],
};
