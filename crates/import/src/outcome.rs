//! How a request ended, from what tools write about it. The one place for these rules.

use headway_base::Outcome;
use memchr::memmem;

/// By the status code alone: 400 and above is a failure, as in live runs; 0 is no answer.
pub(crate) fn from_status(code: u16) -> Outcome {
    match code {
        0 => Outcome::Reset,
        1..400 => Outcome::Ok,
        400.. => Outcome::Status,
    }
}

/// By the text of an error that came instead of an answer: `java.net.ConnectException: Connection refused`,
/// `dial tcp: lookup x: no such host`, `TimeoutError`. What no rule names is [`Outcome::Reset`]: no complete answer.
pub(crate) fn from_error_text(text: &[u8]) -> Outcome {
    let text = text.to_ascii_lowercase();
    let says = |word: &str| memmem::find(&text, word.as_bytes()).is_some();
    RULES
        .iter()
        .find(|(words, _)| words.iter().any(|word| says(word)))
        .map_or(Outcome::Reset, |&(_, outcome)| outcome)
}

/// The first that holds. Narrow ones first: a connect timeout is also a timeout, and Java's
/// `ConnectException` carries either `refused` or `timed out`.
const RULES: &[(&[&str], Outcome)] = &[
    (
        &[
            "unknownhost",
            "no such host",
            "name or service not known",
            "name resolution",
            "getaddrinfo",
            "dns error",
        ],
        Outcome::Dns,
    ),
    (
        &[
            "connecttimeout",
            "connect timed out",
            "connect timeout",
            "connection timed out",
            "dial: i/o timeout",
        ],
        Outcome::ConnectTimeout,
    ),
    (
        &["too many open files", "cannot assign requested address", "address not available", "bindexception"],
        Outcome::LocalLimit,
    ),
    (
        &[
            "refused",
            "noroutetohost",
            "no route to host",
            "network is unreachable",
            "host is unreachable",
            "connectexception",
        ],
        Outcome::Refused,
    ),
    (&["timeout", "timed out", "deadline exceeded"], Outcome::Timeout),
    (&["ssl", "tls", "x509", "certificate", "handshake"], Outcome::Tls),
    (
        &[
            "malformed",
            "protocolexception",
            "protocol error",
            "clientprotocol",
            "invalid header",
            "parse error",
        ],
        Outcome::Protocol,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_codes() {
        for (code, outcome) in [
            (0, Outcome::Reset),
            (101, Outcome::Ok),
            (200, Outcome::Ok),
            (399, Outcome::Ok),
            (400, Outcome::Status),
            (999, Outcome::Status),
        ] {
            assert_eq!(from_status(code), outcome, "{code}");
        }
    }

    #[test]
    fn error_texts() {
        for (text, outcome) in [
            ("Non HTTP response code: java.net.UnknownHostException", Outcome::Dns),
            ("dial tcp: lookup nowhere.invalid: no such host", Outcome::Dns),
            ("Non HTTP response code: org.apache.http.conn.HttpHostConnectException", Outcome::Refused),
            ("Non HTTP response code: org.apache.http.conn.ConnectTimeoutException", Outcome::ConnectTimeout),
            (
                "java.net.ConnectException: Connection timed out (Connection timed out)",
                Outcome::ConnectTimeout,
            ),
            ("dial tcp 127.0.0.1:1: connect: connection refused", Outcome::Refused),
            ("ConnectionRefusedError(111, 'Connection refused')", Outcome::Refused),
            ("java.net.BindException: Cannot assign requested address", Outcome::LocalLimit),
            ("dial tcp: socket: too many open files", Outcome::LocalLimit),
            ("Non HTTP response code: java.net.SocketTimeoutException", Outcome::Timeout),
            ("Get \"http://x/\": context deadline exceeded (Client.Timeout exceeded)", Outcome::Timeout),
            ("request timeout", Outcome::Timeout),
            ("javax.net.ssl.SSLHandshakeException", Outcome::Tls),
            ("x509: certificate signed by unknown authority", Outcome::Tls),
            ("org.apache.http.client.ClientProtocolException", Outcome::Protocol),
            ("java.net.SocketException: Connection reset", Outcome::Reset),
            ("EOF", Outcome::Reset),
        ] {
            assert_eq!(from_error_text(text.as_bytes()), outcome, "{text}");
        }
    }
}
