//! hey 0.1.4. Checked against `hey -h` and `hey.go`.

use super::said::*;
use super::{Meaning, Part, Row, Style, Takes, Tool, Value, alike};

pub(super) static HEY: Tool = Tool {
    name: "hey",
    style: Style::Go,
    verb: None,
    takes: Takes::Url,
    needs: &[],
    alike: &[alike::ALL, alike::TYPED, alike::OF_HEY],
    own: &[
        Row::new("", "q", "10", "requests per second of each worker", Meaning::Load(Part::RateEach)),
        Row::new("", "o", "csv", OUTPUT, NO_OUTPUT),
        Row::new("", "m", "PUT", METHOD, Meaning::Flag("-m", Value::Same)),
        Row::new("", "t", "20", TIMEOUT, Meaning::Flag("--timeout", Value::Seconds)),
        Row::new("", "U", "probe", "the header User-Agent", Meaning::Flag("-H", Value::Header("User-Agent"))),
        Row::new("", "x", "proxy:8080", PROXY, THROUGH),
        Row::new("", "h2", "", VERSION, OFFERED),
        Row::new("", "disable-keepalive", "", REUSE, CLOSED),
        Row::new("", "disable-redirects", "", REDIRECTS, NO_REDIRECTS),
        Row::new("", "cpus", "2", CORES, NO_THREADS),
        Row::new("", "h", "", HELP, NO_HELP),
    ],
};
