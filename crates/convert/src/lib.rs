//! What people have in hand, in Headway's terms: a curl command, a browser's recording (HAR), an OpenAPI document, a test plan of
//! JMeter or a list of targets as a scenario file; another load tool's command as one of `headway run`.
//!
//! Pure: text in, text out; the verbs of the command line read and print. A converter makes a [`draft::Draft`], which
//! becomes YAML in one place, so that quoting, secrets and names of steps are the same whatever it came from.
//!
//! Deliberately absent: reading the files that a command names (the scenario names them in turn), and finding values that
//! one answer gave and a later request uses; the scenario says so where it matters.

use base64::Engine as _;

pub mod curl;
pub mod draft;
pub mod har;
pub mod jmx;
mod json;
pub mod openapi;
pub mod proxy;
mod secrets;
pub mod targets;
pub mod tools;
mod words;

/// A scenario, and remarks for its user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Converted {
    /// The scenario file.
    pub scenario: String,
    /// For standard error, a line each: variables to set, what was left out.
    pub notes: Vec<String>,
}

/// Text as a scenario holds it: what is not literal in it are references to variables and templates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text(String);

impl Text {
    /// Text that stands for itself: what a scenario would read as a variable or a template is escaped.
    pub fn literal(text: &str) -> Text {
        Text(text.replace("${", "$${").replace("{{", "\\{{"))
    }

    /// The value of an environment variable.
    pub fn variable(name: &str) -> Text {
        Text(format!("${{{name}}}"))
    }

    /// What a step extracted under that name.
    pub fn extracted(name: &str) -> Text {
        Text(format!("{{{{{name}}}}}"))
    }

    /// With more text behind it.
    pub fn and(mut self, more: &Text) -> Text {
        self.0.push_str(&more.0);
        self
    }

    /// As the file holds it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A URL taken apart, every part as written.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Location {
    /// Scheme, host, and the port unless it is the scheme's own.
    origin: String,
    /// Host and port, as the Host header has them.
    authority: String,
    /// User and password that stood before the host.
    user: Option<String>,
    /// Path and query.
    path: String,
}

impl Location {
    /// Reads a URL of http or https; without a scheme, as curl does, of http.
    fn parse(url: &str) -> anyhow::Result<Location> {
        let url = url.trim();
        let target = headway_workload::Target::parse(url)?;
        let is_tcp = matches!(target.endpoint, headway_workload::target::Endpoint::Tcp { .. });
        if !is_tcp || !target.scheme.is_http() {
            anyhow::bail!("{url} is no http or https URL");
        }
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        // Browsers and curl pass over line breaks and tabs in URLs (WHATWG URL, 4.4).
        let tail = tail.split('#').next().unwrap_or_default().replace(['\t', '\n', '\r'], "");
        let slash = if tail.starts_with('/') { "" } else { "/" };
        let scheme = if target.tls() { "https" } else { "http" };
        Ok(Location {
            origin: format!("{scheme}://{}", target.authority),
            user: authority.rsplit_once('@').map(|(user, _)| user.to_owned()),
            authority: target.authority,
            path: format!("{slash}{tail}"),
        })
    }

    /// The host without its port.
    fn host(&self) -> &str {
        match self.authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => &self.authority,
        }
    }
}

/// A path as a step has it: a whole URL if it is of another origin than the target, or if it begins with two slashes, which is taken for a
/// host otherwise.
fn place(target: &str, origin: Option<&str>, path: &Text) -> Text {
    let of_target = (path.as_str().starts_with("//") && target.starts_with("http")).then_some(target);
    Text::literal(origin.or(of_target).unwrap_or_default()).and(path)
}

/// A word as a shell takes it: in quotes where it would read it otherwise.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The value of the header Authorization for `NAME:PASSWORD` (RFC 7617).
pub fn basic(login: &str) -> String {
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(login))
}

/// Whether a method or the name of a header can be that (RFC 9110, 5.6.2).
fn is_token(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// `1 step`, `2 steps`.
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod agreement;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scenario_would_read_is_escaped() {
        assert_eq!(Text::literal("a ${b} {{c}} {{{ $${").as_str(), "a $${b} \\{{c}} \\{{{ $$${");
        let text = Text::literal("id=").and(&Text::extracted("id")).and(&Text::variable("X"));
        assert_eq!(text.as_str(), "id={{id}}${X}");
    }

    #[test]
    fn urls_keep_their_paths_as_written() {
        let parse = |url: &str| Location::parse(url).unwrap();
        let location = parse("HTTP://me:pw@Example.org:80/a/../b?x={1}&y=%7b#frag");
        assert_eq!(location.origin, "http://example.org");
        assert_eq!(
            (location.user.as_deref(), location.path.as_str()),
            (Some("me:pw"), "/a/../b?x={1}&y=%7b")
        );
        assert_eq!(parse("https://a:8443?x").path, "/?x");
        assert_eq!(parse("localhost:8080").origin, "http://localhost:8080");
        assert_eq!(parse("https://[::1]:9/x").authority, "[::1]:9");
        let hosts = ["http://[::1]/", "http://[::1]:9/", "http://a.b:9/", "http://a.b/"];
        assert_eq!(hosts.map(|url| parse(url).host().to_owned()), ["[::1]", "[::1]", "a.b", "a.b"]);
        assert!(Location::parse("ftp://a/").is_err() && Location::parse("unix:/a").is_err());
    }
}
