//! A tunnel through a proxy (CONNECT; RFC 9110, 9.3.6): what asks for it, and what the proxy answers.
//!
//! After a status of 2xx the connection is the target's, whatever Content-Length or Transfer-Encoding the head has (RFC 9112, 6.3, rule 2).
//! Deliberately absent: what goes through the tunnel.

use super::assembler::{Assembler, Assembly};
use super::client::{malformed, no_answer};
use super::fields::parse_answer;
use crate::connection::{ProtocolError, ResetReason};
use crate::limits::{Limit, Limits};
use crate::request::{Request, RequestError, USER_AGENT};
use crate::syntax::push_line;

/// What asks a proxy for a tunnel to that host (without brackets) and port. `authorization`: the value of Proxy-Authorization.
///
/// # Errors
/// A host that is neither a name nor an address, or a value that no header can have.
pub fn ask(host: &str, port: u16, authorization: Option<&str>) -> Result<Vec<u8>, RequestError> {
    const AUTHORIZATION: &str = "Proxy-Authorization";
    let checked = Request::builder("GET", host, "/").port(port);
    let checked = match authorization {
        Some(value) => checked.header(AUTHORIZATION, value),
        None => checked,
    };
    let checked = checked.build()?;
    let place = checked.authority();
    let mut bytes = b"CONNECT ".to_vec();
    bytes.extend_from_slice(place);
    bytes.extend_from_slice(b" HTTP/1.1\r\n");
    push_line(&mut bytes, "Host", place);
    push_line(&mut bytes, "User-Agent", USER_AGENT.as_bytes());
    if let Some(value) = authorization {
        push_line(&mut bytes, AUTHORIZATION, value.as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    Ok(bytes)
}

/// Why there is no tunnel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TunnelError {
    /// The proxy answered with a status that is none of 2xx.
    #[error("status {0}")]
    Status(u16),
    /// What it answered is not HTTP.
    #[error("{0}")]
    Protocol(ProtocolError),
    /// The head of its answer is larger than the [`Limits`] allow.
    #[error("the response is too large: {0}")]
    TooLarge(Limit),
}

/// A tunnel that was asked for, until the proxy has answered.
#[derive(Debug)]
pub struct Tunnel {
    limits: Limits,
    assembler: Assembler,
    /// Bytes of informational heads.
    informational: usize,
}

impl Tunnel {
    /// One that was just asked for.
    pub fn new(limits: Limits) -> Tunnel {
        Tunnel { limits, assembler: Assembler::default(), informational: 0 }
    }

    /// Reads what the proxy sent up to the end of its head, and advances `bytes` over that: what is left came through the tunnel. None:
    /// more is needed.
    pub fn receive(&mut self, bytes: &mut &[u8]) -> Option<Result<(), TunnelError>> {
        while !bytes.is_empty() {
            let room = self.limits.head_bytes.saturating_sub(self.informational);
            // Looked at before the assembler drops empty lines, so that what is told does not depend on how the bytes were cut.
            if let (true, Some(error)) = (self.assembler.is_empty(), no_answer(bytes)) {
                return Some(Err(TunnelError::Protocol(error)));
            }
            let assembly = self.assembler.push(bytes, room);
            if let Some(error) = no_answer(self.assembler.bytes()) {
                return Some(Err(TunnelError::Protocol(error)));
            }
            match assembly {
                Assembly::Partial => return None,
                Assembly::TooLarge => return Some(Err(TunnelError::TooLarge(Limit::Head))),
                Assembly::Complete => self.assembler.unfold(),
            }
            let parsed = match parse_answer(self.assembler.bytes(), self.limits.headers) {
                Ok(Some(parsed)) => parsed,
                Ok(None) => return Some(Err(TunnelError::Protocol(ProtocolError::StatusLine))),
                Err(error) => return Some(Err(of(malformed(error)))),
            };
            match parsed.first.0 {
                0..=99 => return Some(Err(TunnelError::Protocol(ProtocolError::StatusLine))),
                101 => return Some(Err(TunnelError::Protocol(ProtocolError::Upgrade))),
                100..=199 => {
                    // They count against the same limit: an endless row of them must end, too.
                    self.informational += parsed.len;
                    self.assembler.release();
                }
                200..=299 => return Some(Ok(())),
                status => return Some(Err(TunnelError::Status(status))),
            }
        }
        None
    }
}

fn of(reason: ResetReason) -> TunnelError {
    match reason {
        ResetReason::TooLarge(limit) => TunnelError::TooLarge(limit),
        ResetReason::Protocol(error) => TunnelError::Protocol(error),
        _ => TunnelError::Protocol(ProtocolError::Header),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of an answer and what is left of it, the same at any split.
    fn answered(answer: &[u8], limits: Limits) -> (Option<Result<(), TunnelError>>, Vec<u8>) {
        let read = |cut: usize| {
            let mut tunnel = Tunnel::new(limits);
            let (mut first, mut second) = answer.split_at(cut);
            let told = tunnel.receive(&mut first);
            let told = if told.is_some() { told } else { tunnel.receive(&mut second) };
            (told, [first, second].concat())
        };
        let whole = read(answer.len());
        for cut in 0..answer.len() {
            let cut_up = read(cut);
            assert_eq!(cut_up.0, whole.0, "{} at {cut}", answer.escape_ascii());
            // Of what is no answer it does not matter how much was read.
            if whole.0 == Some(Ok(())) {
                assert_eq!(cut_up.1, whole.1, "{} at {cut}", answer.escape_ascii());
            }
        }
        whole
    }

    #[test]
    fn a_tunnel_is_asked_for_by_host_and_port() {
        let agent = format!("User-Agent: headway/{}\r\n", env!("CARGO_PKG_VERSION"));
        let text = |host, port, authorization| {
            ask(host, port, authorization).map(|bytes| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(
            text("example.org", 443, None).unwrap(),
            format!("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n{agent}\r\n")
        );
        assert_eq!(
            text("::1", 8443, Some("Basic bWU6cHc=")).unwrap(),
            format!(
                "CONNECT [::1]:8443 HTTP/1.1\r\nHost: [::1]:8443\r\n{agent}Proxy-Authorization: Basic bWU6cHc=\r\n\r\n"
            )
        );
        assert_eq!(text("a b", 1, None), Err(RequestError::Host("a b".into())));
        let error = text("a", 1, Some("Basic x\r\nX: y")).unwrap_err();
        assert!(matches!(error, RequestError::HeaderValue { .. }), "{error}");
    }

    #[test]
    fn what_follows_a_good_head_is_of_the_tunnel_whatever_the_head_says_of_a_body() {
        for (head, rest) in [
            ("HTTP/1.1 200 Connection established\r\n\r\n", ""),
            ("HTTP/1.0 200 OK\nVia: x\n\n", "\x16\x03\x01"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello, more"),
            ("HTTP/1.1 299 \r\nTransfer-Encoding: chunked\r\nContent-Length: x\r\n\r\n", "220 ready\r\n"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "x"),
        ] {
            let told = answered(&[head, rest].concat().into_bytes(), Limits::DEFAULT);
            assert_eq!(told, (Some(Ok(())), rest.as_bytes().to_vec()), "{head}");
        }
    }

    #[test]
    fn any_other_answer_is_told_as_what_it_is() {
        let small = Limits { head_bytes: 60, headers: 2, ..Limits::DEFAULT };
        let many = "HTTP/1.1 100 Continue\r\n\r\n".repeat(3);
        let long = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "b".repeat(60));
        for (answer, expected) in [
            ("HTTP/1.1 407 Who are you\r\nContent-Length: 2\r\n\r\nno", TunnelError::Status(407)),
            ("HTTP/1.0 502 Bad Gateway\r\n\r\n", TunnelError::Status(502)),
            ("HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n", TunnelError::Status(301)),
            ("HTTP/1.1 101 Switching\r\n\r\n", TunnelError::Protocol(ProtocolError::Upgrade)),
            ("SSH-2.0-OpenSSH_9.9\r\n", TunnelError::Protocol(ProtocolError::StatusLine)),
            ("\x15\x03\x03\0\x02\x02\x46", TunnelError::Protocol(ProtocolError::TlsAlert)),
            ("\r\nHTTP/1.1 200 OK\r\n\r\n", TunnelError::Protocol(ProtocolError::StatusLine)),
            ("HTTP/1.1 2x0 OK\r\n\r\n", TunnelError::Protocol(ProtocolError::StatusLine)),
            ("HTTP/1.1 200 OK\r\nA b: c\r\n\r\n", TunnelError::Protocol(ProtocolError::Header)),
            ("HTTP/1.1 200 OK\r\nA:1\r\nB:2\r\nC:3\r\n\r\n", TunnelError::TooLarge(Limit::Headers)),
            (&long, TunnelError::TooLarge(Limit::Head)),
            (&many, TunnelError::TooLarge(Limit::Head)),
        ] {
            assert_eq!(answered(answer.as_bytes(), small).0, Some(Err(expected)), "{answer}");
        }
        for part in ["", "H", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n"] {
            assert_eq!(answered(part.as_bytes(), small).0, None, "{part:?}");
        }
    }
}
