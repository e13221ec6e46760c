//! wrk 4.2 and wrk2 4.0, whose program is called wrk too. Checked against `wrk --help` and `src/wrk.c` of both.

use super::said::*;
use super::{Meaning, Part, Row, Style, Takes, Tool, Value};

const CONNECTIONS: Row = Row::new("c", "connections", "50", USERS, Meaning::Load(Part::Users));
const DURATION: Row = Row::new("d", "duration", "10s", LENGTH, Meaning::Load(Part::Duration));
const THREADS_ROW: Row = Row::new("t", "threads", "2", THREADS, NO_THREADS);
const SCRIPT: Row = Row::new("s", "script", "post.lua", "a Lua script", NO_SCRIPT);
const HEADER_ROW: Row = Row::new("H", "header", "Accept: */*", HEADER, Meaning::Flag("-H", Value::Same));
const TIMEOUT_ROW: Row = Row::new("", "timeout", "2s", TIMEOUT, Meaning::Flag("--timeout", Value::Seconds));
const VERSION_ROW: Row = Row::new("v", "version", "", HELP, NO_HELP);

pub(super) static WRK: Tool = Tool {
    name: "wrk",
    style: Style::Getopt,
    verb: None,
    takes: Takes::Url,
    needs: &[],
    alike: &[],
    own: &[
        CONNECTIONS,
        DURATION,
        THREADS_ROW,
        SCRIPT,
        HEADER_ROW,
        Row::new("", "latency", "", "print percentiles", NO_PRINT),
        TIMEOUT_ROW,
        VERSION_ROW,
    ],
};

pub(super) static WRK2: Tool = Tool {
    name: "wrk2",
    style: Style::Getopt,
    verb: None,
    takes: Takes::Url,
    needs: &["-R", "200"],
    alike: &[],
    own: &[
        CONNECTIONS,
        DURATION,
        THREADS_ROW,
        SCRIPT,
        HEADER_ROW,
        Row::new("L", "latency", "", "print percentiles", NO_PRINT),
        Row::new(
            "U",
            "u_latency",
            "",
            "print uncorrected percentiles",
            Meaning::Nothing("leave it out: service times are those"),
        ),
        Row::new(
            "B",
            "batch_latency",
            "",
            "times of whole batches of pipelined requests",
            Meaning::Cannot("requests are not pipelined here"),
        ),
        Row::new("R", "rate", "200", RATE, Meaning::Load(Part::Rate)),
        TIMEOUT_ROW,
        VERSION_ROW,
    ],
};
