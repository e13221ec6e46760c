//! A list of targets, as `vegeta attack` reads it, as a scenario: lines `GET http://host/path`, below each its headers and
//! `@FILE` with its body.
//!
//! Each request is one of the targets, drawn at random with equal weights; vegeta takes them in turn. Secrets stay as they
//! are: the scenario is made for a run and is not shown.

use crate::{Location, Text, is_token};
use anyhow::{Context as _, Result, bail};
use headway_workload::Target;
use serde_json::{Map, Value, json};

/// A target.
struct Request {
    method: String,
    location: Location,
    /// What user and password before the host make.
    authorization: Option<String>,
    headers: Vec<(String, String)>,
    file: Option<String>,
}

/// Method and URL of a line that begins a target.
fn begins(line: &str) -> Option<(&str, &str)> {
    let (method, url) = line.trim().split_once(char::is_whitespace)?;
    let upper = !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase());
    (upper && url.contains("://")).then(|| (method, url.trim()))
}

fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

/// Whether a text is a list of targets: whether its first line is one.
pub fn is_one(text: &str) -> bool {
    text.lines().find(|line| !is_comment(line)).is_some_and(|line| begins(line).is_some())
}

/// The URL of a list that is one GET without headers and body.
pub(crate) fn single(text: &str) -> Option<String> {
    let mut lines = text.lines().filter(|line| !is_comment(line));
    match (begins(lines.next()?), lines.next()) {
        (Some(("GET", url)), None) => Some(url.to_owned()),
        _ => None,
    }
}

/// A scenario of these targets for users that come as `group` says, in YAML.
///
/// # Errors
/// A line that is neither target, header nor body, with its number; or targets on several hosts.
pub fn scenario(text: &str, group: &str) -> Result<String> {
    let mut requests: Vec<Request> = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !is_comment(line)) {
        let wrong = |why: &str| format!("line {} of the targets: {why}", i + 1);
        let line = line.trim();
        match (begins(line), requests.last_mut()) {
            (Some((method, url)), _) => {
                let location = Location::parse(url).with_context(|| wrong("its URL"))?;
                let authorization = Target::parse(url)?.authorization;
                requests.push(Request {
                    method: method.to_owned(),
                    location,
                    authorization,
                    headers: Vec::new(),
                    file: None,
                });
            }
            (None, None) => bail!(wrong("write METHOD http://host/path")),
            (None, Some(request)) => match (line.strip_prefix('@'), line.split_once(':')) {
                (Some(file), _) => request.file = Some(file.trim().to_owned()),
                (None, Some((name, value))) if is_token(name.trim()) => {
                    request.headers.push((name.trim().to_owned(), value.trim().to_owned()));
                }
                _ => bail!(wrong("write METHOD http://host/path, or below a target 'Name: value' or @FILE")),
            },
        }
    }
    let Some(first) = requests.first() else { bail!("there is no target: write METHOD http://host/path") };
    let origin = first.location.origin.clone();
    if let Some(other) = requests.iter().find(|request| request.location.origin != origin) {
        bail!(
            "the targets are on several hosts ({origin}, {}), and a run has one: run them apart, each with its share of the rate",
            other.location.origin
        );
    }
    let steps: Vec<Value> = requests.iter().map(Request::step).collect();
    let journey = match steps.as_slice() {
        [step] => json!([step]),
        steps => {
            json!([{ "choose": steps.iter().map(|step| json!({ "weight": 1, "steps": [step] })).collect::<Vec<_>>() }])
        }
    };
    Ok(format!("target: {}\nusers: {group}\njourney: {journey}\n", Value::from(origin)))
}

impl Request {
    fn step(&self) -> Value {
        let literal = |text: &str| Value::from(Text::literal(text).as_str());
        let mut step = Map::new();
        let path = literal(&self.location.path);
        step.insert("request".to_owned(), json!({ "method": self.method, "path": path }));
        let mut headers = Map::new();
        for (name, value) in &self.headers {
            headers.insert(name.clone(), literal(value));
        }
        if let Some(value) = &self.authorization {
            headers.entry("Authorization").or_insert_with(|| Value::from(value.as_str()));
        }
        if !headers.is_empty() {
            step.insert("headers".to_owned(), Value::Object(headers));
        }
        if let Some(file) = &self.file {
            step.insert("file".to_owned(), Value::from(file.as_str()));
        }
        Value::Object(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: &str = "{ arrive: { rate: 50/s }, phases: [{ hold: 1s }] }";

    #[test]
    fn a_list_is_known_by_its_first_line() {
        for text in ["GET http://h/", "\n# all\nPOST http://h/a\nA: b\n@f\n", "HEAD https://h"] {
            assert!(is_one(text), "{text}");
        }
        for text in
            ["", "target: http://h", "get http://h", "GET /a", "{\"target\": \"http://h\"}", "# GET http://h"]
        {
            assert!(!is_one(text), "{text}");
        }
        assert_eq!(single("GET http://h/ \n").as_deref(), Some("http://h/"));
        assert!(single("POST http://h/").is_none() && single("GET http://h/\nA: b").is_none());
    }

    #[test]
    fn targets_are_ways_of_equal_weight() {
        let text =
            scenario("GET http://h:81/a?x={1}\nA: ${b}\n\nPOST http://h:81/b\n@body.json\n", GROUP).unwrap();
        assert!(text.starts_with("target: \"http://h:81\"\nusers: { arrive"), "{text}");
        assert!(
            text.contains(r#"{"headers":{"A":"$${b}"},"request":{"method":"GET","path":"/a?x={1}"}}"#),
            "{text}"
        );
        assert!(
            text.contains(r#""file":"body.json""#) && text.matches(r#""weight":1"#).count() == 2,
            "{text}"
        );
        assert!(!scenario("DELETE http://h/", GROUP).unwrap().contains("choose"));
    }

    #[test]
    fn what_is_no_target_is_named_with_its_line() {
        for (text, says) in [
            ("GET http://a/\nnonsense", "line 2"),
            ("GET http://a/\n\nGET http://b/", "several hosts (http://a, http://b)"),
            ("GET ftp://a/", "line 1"),
        ] {
            let error = format!("{:#}", scenario(text, GROUP).unwrap_err());
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
