//! h2load of nghttp2 1.52. Checked against its manual page.

use super::said::*;
use super::{Meaning, Part, Row, Style, Takes, Tool, Value};

const FRAMES: Meaning = Meaning::Nothing("leave it out: Headway chooses frames and windows itself");

pub(super) static H2LOAD: Tool = Tool {
    name: "h2load",
    style: Style::Getopt,
    verb: None,
    takes: Takes::Url,
    needs: &["-D", "10"],
    alike: &[],
    own: &[
        Row::new("n", "requests", "1000", REQUESTS, Meaning::Load(Part::Requests)),
        Row::new("c", "clients", "10", USERS, Meaning::Load(Part::Users)),
        Row::new("t", "threads", "2", THREADS, NO_THREADS),
        Row::new(
            "m",
            "max-concurrent-streams",
            "10",
            "requests in flight on each connection",
            Meaning::Load(Part::Streams),
        ),
        Row::new("D", "duration", "10", LENGTH, Meaning::Load(Part::Duration)),
        Row::new("", "warm-up-time", "5", "time before what is measured", Meaning::Load(Part::Warmup)),
        Row::new("", "rps", "10", "requests per second of each connection", Meaning::Load(Part::RateEach)),
        Row::new(
            "r",
            "rate",
            "10",
            "connections opened per second",
            Meaning::Cannot(
                "a rate of connections is a scenario whose sessions arrive (docs/scenarios.md): each has its own",
            ),
        ),
        Row::new(
            "",
            "rate-period",
            "1s",
            "the period of -r",
            Meaning::Cannot(
                "a rate of connections is a scenario whose sessions arrive (docs/scenarios.md): each has its own",
            ),
        ),
        Row::new("d", "data", "body.json", BODY_FILE, Meaning::Flag("--body-file", Value::File)),
        Row::new("H", "header", "Accept: */*", HEADER, Meaning::Flag("-H", Value::Same)),
        Row::new("", "h1", "", "HTTP/1.1", Meaning::Load(Part::Http1)),
        Row::new(
            "p",
            "no-tls-proto",
            "http/1.1",
            "the version of HTTP without TLS",
            Meaning::Cannot("--http2 or --http1.1 asks for a version of HTTP"),
        ),
        Row::new(
            "",
            "npn-list",
            "h2",
            "versions of HTTP",
            Meaning::Cannot("--http2 or --http1.1 asks for a version of HTTP"),
        ),
        Row::new(
            "",
            "alpn-list",
            "h2",
            "versions of HTTP",
            Meaning::Cannot("--http2 or --http1.1 asks for a version of HTTP"),
        ),
        Row::new(
            "i",
            "input-file",
            "urls.txt",
            "a file of URLs",
            Meaning::Cannot("a file of lines 'GET http://...' is a target here: headway run FILE"),
        ),
        Row::new(
            "",
            "timing-script-file",
            "times.txt",
            "when each request is sent",
            Meaning::Cannot("a plan is made from a rate and a seed, not read from a file"),
        ),
        Row::new(
            "B",
            "base-uri",
            "http://127.0.0.1:8080",
            PLACE,
            Meaning::Cannot(
                "put the address into the URL and the name into -H 'Host: NAME', or write unix:/path/to/socket:/path",
            ),
        ),
        Row::new("", "connect-to", "127.0.0.1:8080", PLACE, NO_PLACE),
        Row::new(
            "T",
            "connection-active-timeout",
            "10",
            "how long a connection is kept",
            Meaning::Nothing("leave it out: connections are kept (--timeout bounds each response)"),
        ),
        Row::new(
            "N",
            "connection-inactivity-timeout",
            "10",
            "how long a connection may be silent",
            Meaning::Flag("--timeout", Value::Seconds),
        ),
        Row::new("f", "max-frame-size", "16K", "the size of frames", FRAMES),
        Row::new("w", "window-bits", "30", "the window of a stream", FRAMES),
        Row::new("W", "connection-window-bits", "30", "the window of a connection", FRAMES),
        Row::new("", "header-table-size", "4K", "the table of headers", FRAMES),
        Row::new("", "encoder-header-table-size", "4K", "the table of headers", FRAMES),
        Row::new("", "ciphers", "ALL", "ciphers of TLS", NO_TLS),
        Row::new("", "tls13-ciphers", "ALL", "ciphers of TLS", NO_TLS),
        Row::new("", "groups", "X25519", "groups of TLS", NO_TLS),
        Row::new("", "log-file", "requests.tsv", OUTPUT, NO_OUTPUT),
        Row::new("", "qlog-file-base", "qlog", OUTPUT, NO_OUTPUT),
        Row::new("v", "verbose", "", "how much it prints", NO_PRINT),
        Row::new("", "version", "", HELP, NO_HELP),
        Row::new("h", "help", "", HELP, NO_HELP),
    ],
};
