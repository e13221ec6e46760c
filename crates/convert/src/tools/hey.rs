//! hey 0.1.4. Checked against `hey -h` and `hey.go`.

use super::said::*;
use super::{Meaning, Part, Row, Style, Takes, Tool, Value};

pub(super) static HEY: Tool = Tool {
    name: "hey",
    style: Style::Go,
    verb: None,
    takes: Takes::Url,
    needs: &[],
    rows: &[
        Row::new("", "n", "1000", REQUESTS, Meaning::Load(Part::Requests)),
        Row::new("", "c", "50", USERS, Meaning::Load(Part::Users)),
        Row::new("", "q", "10", "requests per second of each worker", Meaning::Load(Part::RateEach)),
        Row::new("", "z", "10s", LENGTH, Meaning::Load(Part::Duration)),
        Row::new("", "o", "csv", OUTPUT, NO_OUTPUT),
        Row::new("", "m", "PUT", METHOD, Meaning::Flag("-m", Value::Same)),
        Row::new("", "H", "Accept: */*", HEADER, Meaning::Flag("-H", Value::Same)),
        Row::new("", "t", "20", TIMEOUT, Meaning::Flag("--timeout", Value::Seconds)),
        Row::new("", "A", "text/html", ACCEPT, Meaning::Flag("-H", Value::Header("Accept"))),
        Row::new("", "d", "x=1", BODY, Meaning::Flag("--data", Value::Body)),
        Row::new("", "D", "body.json", BODY_FILE, Meaning::Flag("--body-file", Value::File)),
        Row::new("", "T", "application/json", TYPE, Meaning::Flag("-H", Value::Header("Content-Type"))),
        Row::new("", "U", "probe", "the header User-Agent", Meaning::Flag("-H", Value::Header("User-Agent"))),
        Row::new("", "a", "NAME:PASSWORD", LOGIN, Meaning::Flag("--user", Value::Secret)),
        Row::new("", "x", "proxy:8080", PROXY, NO_PROXY),
        Row::new("", "h2", "", VERSION, NO_VERSION),
        Row::new("", "host", "example.org", "the header Host", Meaning::Flag("-H", Value::Header("Host"))),
        Row::new(
            "",
            "disable-compression",
            "",
            "do not ask for compressed responses",
            Meaning::Nothing("leave it out: none are asked for unless a header does"),
        ),
        Row::new("", "disable-keepalive", "", REUSE, CLOSED),
        Row::new("", "disable-redirects", "", REDIRECTS, NO_REDIRECTS),
        Row::new("", "cpus", "2", CORES, NO_THREADS),
        Row::new("", "h", "", HELP, NO_HELP),
    ],
};
