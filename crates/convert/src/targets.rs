//! A list of targets, as `vegeta attack` reads it, as a scenario: lines `GET http://host/path`, below each its headers and
//! `@FILE` with its body; or, as of `-format=json`, an object of JSON on each line.
//!
//! Each request is one of the targets, drawn at random with equal weights; vegeta takes them in turn. Secrets stay as they
//! are: the scenario is made for a run and is not shown.

use crate::{Location, Text, is_token, place};
use anyhow::{Context as _, Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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
    body: Option<String>,
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

/// The target that a line of JSON is; none of other lines.
fn json(line: &str) -> Option<Map<String, Value>> {
    let object: Map<String, Value> = serde_json::from_str(line.trim()).ok()?;
    (object.contains_key("method") && object.contains_key("url")).then_some(object)
}

/// Whether a text is a list of targets: whether its first line is one.
pub fn is_one(text: &str) -> bool {
    let first = text.lines().find(|line| !is_comment(line));
    first.is_some_and(|line| begins(line).is_some() || json(line).is_some())
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
/// A line that is neither target, header nor body, with its number.
pub fn scenario(text: &str, group: &str) -> Result<String> {
    let mut requests: Vec<Request> = Vec::new();
    let all_json = text.lines().find(|line| !is_comment(line)).is_some_and(|line| json(line).is_some());
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !is_comment(line)) {
        let wrong = |why: &str| format!("line {} of the targets: {why}", i + 1);
        let line = line.trim();
        // Of one format or of the other, by the first line.
        if all_json {
            let target = json(line).ok_or_else(|| anyhow!(wrong(JSON)))?;
            requests.push(Request::of_json(&target).with_context(|| wrong("not a target"))?);
            continue;
        }
        match (begins(line), requests.last_mut()) {
            (Some((method, url)), _) => {
                requests.push(Request::new(method, url).with_context(|| wrong("its URL"))?);
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
    let steps: Vec<Value> = requests.iter().map(|request| request.step(&origin)).collect();
    let journey = match steps.as_slice() {
        [step] => json!([step]),
        steps => {
            json!([{ "choose": steps.iter().map(|step| json!({ "weight": 1, "steps": [step] })).collect::<Vec<_>>() }])
        }
    };
    Ok(format!("target: {}\nusers: {group}\njourney: {journey}\n", Value::from(origin)))
}

/// What a line of JSON is.
const JSON: &str = r#"write {"method": "GET", "url": "http://host/path"}, with "header": {"NAME": ["VALUE"]} and "body" (base64) as needed"#;

impl Request {
    fn new(method: &str, url: &str) -> Result<Request> {
        Ok(Request {
            method: method.to_owned(),
            location: Location::parse(url)?,
            authorization: Target::parse(url)?.authorization,
            headers: Vec::new(),
            file: None,
            body: None,
        })
    }

    /// As vegeta's lib/target.schema.json has it.
    fn of_json(target: &Map<String, Value>) -> Result<Request> {
        let text = |key: &str| {
            target.get(key).and_then(Value::as_str).ok_or_else(|| anyhow!("{key} is no text: {JSON}"))
        };
        if let Some(other) =
            target.keys().find(|key| !["method", "url", "header", "body"].contains(&key.as_str()))
        {
            bail!("{other} is not known: {JSON}");
        }
        let mut request = Request::new(text("method")?, text("url")?)?;
        match target.get("header") {
            None | Some(Value::Null) => {}
            Some(Value::Object(headers)) => {
                for (name, values) in headers {
                    let values = values.as_array().and_then(|all| all.iter().map(Value::as_str).collect());
                    let values: Vec<&str> =
                        values.ok_or_else(|| anyhow!("the values of header {name} are no list: {JSON}"))?;
                    request.headers.extend(values.iter().map(|value| (name.clone(), (*value).to_owned())));
                }
            }
            Some(_) => bail!("header is no object: {JSON}"),
        }
        if target.get("body").is_some_and(|body| !body.is_null()) {
            let bytes = STANDARD.decode(text("body")?).context("its body is no base64")?;
            let body = String::from_utf8(bytes).context(
                "its body is no UTF-8 text: put it into a file, and write the targets as lines, with @FILE below its own",
            )?;
            request.body = Some(body).filter(|body| !body.is_empty());
        }
        Ok(request)
    }

    /// As a step: with its whole URL, unless it is of the target.
    fn step(&self, target: &str) -> Value {
        let literal = |text: &str| Value::from(Text::literal(text).as_str());
        let mut step = Map::new();
        let Location { origin, path, .. } = &self.location;
        let other = (origin != target).then_some(origin.as_str());
        let path = place(target, other, &Text::literal(path));
        step.insert("request".to_owned(), json!({ "method": self.method, "path": path.as_str() }));
        let mut headers = Map::new();
        for (name, value) in &self.headers {
            let same = headers.keys().find(|known| known.eq_ignore_ascii_case(name)).cloned();
            // Several of a name are one with a list (RFC 9110, 5.3); of cookies, RFC 6265, 4.2.
            let separator = if name.eq_ignore_ascii_case("cookie") { "; " } else { ", " };
            let before = same.as_ref().and_then(|name| headers[name].as_str());
            let value = literal(value);
            let value = value.as_str().unwrap_or_default();
            let all = before.map_or(value.to_owned(), |before| format!("{before}{separator}{value}"));
            headers.insert(same.unwrap_or_else(|| name.clone()), Value::from(all));
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
        if let Some(body) = &self.body {
            step.insert("text".to_owned(), literal(body));
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
        let two = scenario("GET http://a/x\nGET https://b:81/x\nGET http://a//b.test/x\n", GROUP).unwrap();
        let paths: Vec<&str> =
            two.split(r#""path":""#).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(paths, ["/x", "https://b:81/x", "http://a//b.test/x"]);
    }

    #[test]
    fn what_is_no_target_is_named_with_its_line() {
        for (text, says) in [
            ("GET http://a/\nnonsense", "line 2"),
            ("GET ftp://a/", "line 1"),
            (r#"{"method": "GET", "url": "http://a/""#, "line 1"),
        ] {
            let error = format!("{:#}", scenario(text, GROUP).unwrap_err());
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    /// As vegeta's README has them.
    #[test]
    fn targets_of_json_are_read() {
        let text = concat!(
            r#"{"method":"POST","url":"https://goku/1","header":{"Content-Type":["application/json"]},"body":"eyJhIjoge3t9fX0="}"#,
            "\n\n",
            r#"{"method": "GET", "url": "https://goku/2", "header": {"X-A": ["1", "2"], "cookie": ["a=1", "b=${c}"]}, "body": null}"#,
        );
        assert!(is_one(text) && !is_one("{ target: 'http://h', journey: [] }") && !is_one(r#"{"url": "a"}"#));
        let made = scenario(text, GROUP).unwrap();
        assert!(made.starts_with("target: \"https://goku\"\n"), "{made}");
        for part in [
            r#"{"headers":{"Content-Type":"application/json"},"request":{"method":"POST","path":"/1"},"text":"{\"a\": \\{{}}}"}"#,
            r#"{"headers":{"X-A":"1, 2","cookie":"a=1; b=$${c}"},"request":{"method":"GET","path":"/2"}}"#,
        ] {
            assert!(made.contains(part), "{made}");
        }
        for (rest, says) in [
            (r#""headers":{}"#, "headers is not known: write {\"method\""),
            (r#""header":{"A":"b"}"#, "the values of header A are no list"),
            (r#""header":[]"#, "header is no object"),
            (r#""body":"%""#, "its body is no base64"),
            (r#""body":"/w==""#, "its body is no UTF-8 text: put it into a file"),
        ] {
            let line = format!(r#"{{"method":"GET","url":"http://a/",{rest}}}"#);
            let error = format!("{:#}", scenario(&line, GROUP).unwrap_err());
            assert!(
                error.starts_with("line 1 of the targets: not a target: ") && error.contains(says),
                "{error}"
            );
        }
        let mixed = "{\"method\":\"GET\",\"url\":\"http://a/\"}\nGET http://a/";
        assert!(
            format!("{:#}", scenario(mixed, GROUP).unwrap_err())
                .starts_with("line 2 of the targets: write {")
        );
    }
}
