//! What is asked for: a request before any protocol has put it into bytes.

use crate::redact::Redactor;
use std::fmt;

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

/// Secrets do not show.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let redactor = Redactor::default();
        let headers: Vec<String> =
            self.headers.iter().map(|(n, v)| format!("{n}: {}", redactor.hide_header(n, v))).collect();
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("path", &redactor.hide_url(&self.path))
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
        let mut request = Request::get("/?token=abc");
        request.headers.push(("Cookie".to_owned(), "id=abc".to_owned()));
        assert!(!format!("{request:?}").contains("abc"));
    }
}
