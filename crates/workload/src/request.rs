//! What is asked for: a request before any protocol has put it into bytes.

use std::fmt;

/// Header names whose values are secrets: never shown in logs, reports or the written-down command.
pub const SECRET_HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "x-auth-token",
    "x-csrf-token",
];

/// What stands in the place of a secret.
pub const REDACTED: &str = "<redacted>";

/// One request, the same for every arrival.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// Method, upper case.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names and values, in order; without Host, Content-Length and the like unless the user gave them.
    pub headers: Vec<(String, String)>,
    /// The body; empty is none.
    pub body: Vec<u8>,
}

impl Request {
    /// A GET of that path.
    pub fn get(path: &str) -> Request {
        Request { method: "GET".to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }
}

/// Whether a header of that name carries a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_HEADERS.contains(&name.as_str()) || name.contains("token") || name.contains("secret")
}

/// A header as `Name: value` with a secret value replaced.
pub fn redact_header(header: &str) -> String {
    match header.split_once(':') {
        Some((name, _)) if is_secret(name.trim()) => format!("{}: {REDACTED}", name.trim()),
        _ => header.to_owned(),
    }
}

/// Secrets do not show.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<String> =
            self.headers.iter().map(|(n, v)| redact_header(&format!("{n}: {v}"))).collect();
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("headers", &headers)
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_show() {
        assert_eq!(redact_header("Authorization: Bearer abc"), "Authorization: <redacted>");
        assert_eq!(redact_header("X-My-Token:abc"), "X-My-Token: <redacted>");
        assert_eq!(redact_header("Accept: text/html"), "Accept: text/html");
        let mut request = Request::get("/");
        request.headers.push(("Cookie".to_owned(), "id=abc".to_owned()));
        assert!(!format!("{request:?}").contains("abc"));
    }
}
