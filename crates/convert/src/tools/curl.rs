//! curl 8. What says how curl shows or stores an answer is passed over; what would make it send something else than a
//! scenario can is refused with the reason. Names, letters and which options take a value are those of `curl --help all` of 7.88.1;
//! `--variable` and `--show-headers` came later.

use super::said::*;
use super::{Meaning, Row, Style, Takes, Tool, Value};
use crate::curl::{Data, Means};

const NO_PROXY: Means = Means::Refused(
    "it knows proxies of HTTP alone, as -x http://HOST:PORT, with NAME:PASSWORD@ before HOST if they ask for them",
);
const NO_ABSTRACT: Means = Means::Refused("a socket has a path here, as in --unix-socket /run/app.sock");
const NO_INTERFACE: Means =
    Means::Refused("leave it out, and give the address to headway run as --local-addr ADDRESS");
const NO_LOGIN: Means =
    Means::Refused("a scenario knows Basic and Bearer authorization (-u, --oauth2-bearer) only");
const NO_CERTIFICATE: Means =
    Means::Refused("write the PEM files as cert:, key: and cacert: into the scenario");
const NO_HTTP3: Means = Means::Refused(
    "Headway speaks HTTP/1.1 and HTTP/2: leave it out, and it is HTTP/2 where the server offers that with TLS",
);
const NO_CONFIG: Means = Means::Refused("give the options themselves");
const NO_TRANSFER: Means = Means::Refused("a scenario sends one whole body and takes whole answers");
const SHOWN: &str = "what curl shows or stores";
const OWN: &str = "how curl goes about it";

const fn row(
    short: &'static str,
    long: &'static str,
    example: &'static str,
    about: &'static str,
    means: Means,
) -> Row {
    Row::new(short, long, example, about, Meaning::Curl(means))
}

/// What an option of curl is to `headway run`.
pub(super) fn flag(row: &Row, means: Means) -> Meaning {
    const SCENARIO: Meaning = Meaning::Cannot("a scenario can: headway from-curl 'curl ...' makes one");
    match means {
        Means::Request => Meaning::Flag("-m", Value::Same),
        Means::Header => Meaning::Flag("-H", Value::Same),
        Means::Data(Data::Encoded | Data::Json) => SCENARIO,
        Means::Data(Data::Raw) => Meaning::Flag("--data", Value::Body),
        Means::Data(Data::Text | Data::Binary) => Meaning::Flag("--data", Value::Same),
        Means::User => Meaning::Flag("--user", Value::Secret),
        Means::Bearer => Meaning::Flag("-H", Value::Bearer),
        Means::Cookie => Meaning::Flag("-H", Value::Header("Cookie")),
        Means::Agent => Meaning::Flag("-H", Value::Header("User-Agent")),
        Means::Referer => Meaning::Flag("-H", Value::Header("Referer")),
        Means::Insecure => Meaning::Flag("-k", Value::Switch),
        Means::Proxy => THROUGH,
        Means::Http("1.1") => Meaning::Flag("--http1.1", Value::Switch),
        Means::Http("2") => Meaning::Flag("--http2", Value::Switch),
        Means::Http(_) => Meaning::Nothing("leave it out: HTTP/2 is offered with TLS"),
        Means::Compressed => Meaning::Flag("-H", Value::Fixed("Accept-Encoding: gzip, deflate, br, zstd")),
        Means::Location => FOLLOWED,
        Means::Head => Meaning::Flag("-m", Value::Fixed("HEAD")),
        Means::MaxTime => Meaning::Flag("--timeout", Value::Seconds),
        Means::ConnectTimeout => Meaning::Flag("--connect-timeout", Value::Seconds),
        Means::UnixSocket => NO_SOCKET,
        Means::Url => Meaning::Load(super::Part::Base),
        Means::Form { .. } | Means::Get | Means::Next | Means::Upload => SCENARIO,
        Means::Ignored if row.long.starts_with("http") => {
            Meaning::Nothing("leave it out: Headway speaks HTTP/1.1 and HTTP/2")
        }
        Means::Globoff | Means::Ignored => Meaning::Nothing("leave it out: it is about curl itself"),
        Means::File("cacert") => Meaning::Flag("--cacert", Value::Same),
        Means::File("cert") => Meaning::Flag("--cert", Value::Same),
        Means::File(_) => Meaning::Flag("--key", Value::Same),
        Means::Route("resolve") => Meaning::Flag("--resolve", Value::Same),
        Means::Route(_) => Meaning::Flag("--connect-to", Value::Same),
        Means::Refused(why) => Meaning::Cannot(why),
    }
}

pub(crate) static CURL: Tool = Tool {
    name: "curl",
    style: Style::Curl,
    verb: None,
    takes: Takes::Url,
    needs: &[],
    alike: &[],
    own: ROWS,
};

const ROWS: &[Row] = &[
    row("X", "request", "PUT", METHOD, Means::Request),
    row("H", "header", "Accept: */*", HEADER, Means::Header),
    row("d", "data", "x=1", BODY, Means::Data(Data::Text)),
    row("", "data-ascii", "x=1", BODY, Means::Data(Data::Text)),
    row("", "data-raw", "x=1", BODY, Means::Data(Data::Raw)),
    row("", "data-binary", "x=1", BODY, Means::Data(Data::Binary)),
    row("", "data-urlencode", "a=b c", "a body that is percent-encoded", Means::Data(Data::Encoded)),
    row("", "json", "{}", "a body of JSON", Means::Data(Data::Json)),
    row("F", "form", "a=b", "a field of a form", Means::Form { literal: false }),
    row("", "form-string", "a=b", "a field of a form", Means::Form { literal: true }),
    row("G", "get", "", "the body as a query", Means::Get),
    row("u", "user", "NAME:PASSWORD", LOGIN, Means::User),
    row("", "oauth2-bearer", "TOKEN", "a token (Bearer)", Means::Bearer),
    row("b", "cookie", "a=b", "a cookie", Means::Cookie),
    row("A", "user-agent", "probe", "the header User-Agent", Means::Agent),
    row("e", "referer", "http://example.org", "the header Referer", Means::Referer),
    row("k", "insecure", "", TRUST, Means::Insecure),
    row("", "compressed", "", "ask for compressed responses", Means::Compressed),
    row("L", "location", "", REDIRECTS, Means::Location),
    row("", "location-trusted", "", REDIRECTS, Means::Location),
    row("I", "head", "", "HEAD in place of GET", Means::Head),
    row("m", "max-time", "20", TIMEOUT, Means::MaxTime),
    row("", "connect-timeout", "5", "how long a connection may take", Means::ConnectTimeout),
    row("", "unix-socket", "/run/app.sock", SOCKET, Means::UnixSocket),
    row("", "url", "http://example.org/", "the URL", Means::Url),
    row(":", "next", "", "another request", Means::Next),
    row("T", "upload-file", "body.json", "a file to be sent", Means::Upload),
    row("g", "globoff", "", "brackets in URLs as they are", Means::Globoff),
    // What curl shows and keeps.
    row("o", "output", "FILE", SHOWN, Means::Ignored),
    row("", "output-dir", "VALUE", SHOWN, Means::Ignored),
    row("O", "remote-name", "", SHOWN, Means::Ignored),
    row("", "remote-name-all", "", SHOWN, Means::Ignored),
    row("J", "remote-header-name", "", SHOWN, Means::Ignored),
    row("R", "remote-time", "", SHOWN, Means::Ignored),
    row("", "create-dirs", "", SHOWN, Means::Ignored),
    row("s", "silent", "", SHOWN, Means::Ignored),
    row("S", "show-error", "", SHOWN, Means::Ignored),
    row("v", "verbose", "", SHOWN, Means::Ignored),
    row("i", "include", "", SHOWN, Means::Ignored),
    row("", "show-headers", "", SHOWN, Means::Ignored),
    row("f", "fail", "", SHOWN, Means::Ignored),
    row("", "fail-with-body", "", SHOWN, Means::Ignored),
    row("", "fail-early", "", SHOWN, Means::Ignored),
    row("w", "write-out", "FORMAT", SHOWN, Means::Ignored),
    row("D", "dump-header", "VALUE", SHOWN, Means::Ignored),
    row("c", "cookie-jar", "VALUE", SHOWN, Means::Ignored),
    row("j", "junk-session-cookies", "", SHOWN, Means::Ignored),
    row("#", "progress-bar", "", SHOWN, Means::Ignored),
    row("", "no-progress-meter", "", SHOWN, Means::Ignored),
    row("N", "no-buffer", "", SHOWN, Means::Ignored),
    row("", "stderr", "VALUE", SHOWN, Means::Ignored),
    row("", "trace", "VALUE", SHOWN, Means::Ignored),
    row("", "trace-ascii", "VALUE", SHOWN, Means::Ignored),
    row("", "trace-time", "", SHOWN, Means::Ignored),
    row("", "styled-output", "", SHOWN, Means::Ignored),
    // How curl goes about it, where a load test has its own way.
    row("0", "http1.0", "", OWN, Means::Ignored),
    row("", "http1.1", "", VERSION, Means::Http("1.1")),
    row("", "http2", "", VERSION, Means::Http("any")),
    row("", "http2-prior-knowledge", "", VERSION, Means::Http("2")),
    row("", "http3", "", OWN, NO_HTTP3),
    row("", "http3-only", "", OWN, NO_HTTP3),
    row("4", "ipv4", "", OWN, Means::Ignored),
    row("6", "ipv6", "", OWN, Means::Ignored),
    row("1", "tlsv1", "", OWN, Means::Ignored),
    row("", "tlsv1.2", "", OWN, Means::Ignored),
    row("", "tlsv1.3", "", OWN, Means::Ignored),
    row("", "ssl-no-revoke", "", OWN, Means::Ignored),
    row("", "tcp-nodelay", "", OWN, Means::Ignored),
    row("", "keepalive-time", "VALUE", OWN, Means::Ignored),
    row("", "no-keepalive", "", OWN, Means::Ignored),
    row("q", "disable", "", OWN, Means::Ignored),
    row("", "basic", "", OWN, Means::Ignored),
    row("", "path-as-is", "", OWN, Means::Ignored),
    row("", "post301", "", OWN, Means::Ignored),
    row("", "post302", "", OWN, Means::Ignored),
    row("", "post303", "", OWN, Means::Ignored),
    row("", "max-redirs", "VALUE", OWN, Means::Ignored),
    row("", "retry", "VALUE", OWN, Means::Ignored),
    row("", "retry-delay", "VALUE", OWN, Means::Ignored),
    row("", "retry-max-time", "VALUE", OWN, Means::Ignored),
    row("", "retry-connrefused", "", OWN, Means::Ignored),
    row("", "retry-all-errors", "", OWN, Means::Ignored),
    row("", "limit-rate", "VALUE", OWN, Means::Ignored),
    row("Y", "speed-limit", "VALUE", OWN, Means::Ignored),
    row("y", "speed-time", "VALUE", OWN, Means::Ignored),
    row("", "rate", "VALUE", OWN, Means::Ignored),
    row("Z", "parallel", "", OWN, Means::Ignored),
    row("", "parallel-immediate", "", OWN, Means::Ignored),
    row("", "parallel-max", "VALUE", OWN, Means::Ignored),
    row("", "expect100-timeout", "VALUE", OWN, Means::Ignored),
    row("", "max-filesize", "VALUE", OWN, Means::Ignored),
    // What would send something else.
    row("x", "proxy", "http://proxy:3128", PROXY, Means::Proxy),
    row("", "socks5", "VALUE", PROXY, NO_PROXY),
    row("", "socks5-hostname", "VALUE", PROXY, NO_PROXY),
    row("", "preproxy", "VALUE", PROXY, NO_PROXY),
    row("U", "proxy-user", "VALUE", PROXY, NO_PROXY),
    row("", "resolve", "a:80:127.0.0.1", PLACE, Means::Route("resolve")),
    row("", "connect-to", "a:80:b:80", PLACE, Means::Route("connect-to")),
    row("", "abstract-unix-socket", "VALUE", PLACE, NO_ABSTRACT),
    row("", "interface", "VALUE", PLACE, NO_INTERFACE),
    row("", "digest", "", "another kind of login", NO_LOGIN),
    row("", "ntlm", "", "another kind of login", NO_LOGIN),
    row("", "negotiate", "", "another kind of login", NO_LOGIN),
    row("", "anyauth", "", "another kind of login", NO_LOGIN),
    row("", "aws-sigv4", "VALUE", "another kind of login", NO_LOGIN),
    row("n", "netrc", "", "another kind of login", NO_LOGIN),
    row("E", "cert", "me.pem", CERTIFICATES, Means::File("cert")),
    row("", "key", "me.key", CERTIFICATES, Means::File("key")),
    row("", "cacert", "ca.pem", CERTIFICATES, Means::File("cacert")),
    row("", "capath", "VALUE", CERTIFICATES, NO_CERTIFICATE),
    row("K", "config", "VALUE", "a file of options", NO_CONFIG),
    row("", "variable", "VALUE", "a file of options", NO_CONFIG),
    row(
        "",
        "url-query",
        "VALUE",
        "a query",
        Means::Refused("put the query into the URL, or use -G with --data-urlencode"),
    ),
    row("r", "range", "VALUE", "a part of a transfer", NO_TRANSFER),
    row("C", "continue-at", "VALUE", "a part of a transfer", NO_TRANSFER),
    row("z", "time-cond", "VALUE", "a part of a transfer", NO_TRANSFER),
];
