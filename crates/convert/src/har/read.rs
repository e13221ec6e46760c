//! Reads a HAR file (HTTP Archive 1.2): the requests in the order in which they began, and what of each is needed here.
//!
//! Deliberately absent: what browsers add under names of their own (but for requests that never left the cache), bodies
//! of answers, and timings within a request.

use anyhow::{Context as _, Result, anyhow, bail};
use headway_base::Nanos;
use serde_json::Value;

/// A recording.
pub(super) struct Recording {
    /// Who made it, as it says.
    pub creator: Option<String>,
    /// In the order of their starts.
    pub entries: Vec<Entry>,
    /// What it holds that is not read.
    pub unread: Option<String>,
}

/// A request and its answer.
pub(super) struct Entry {
    /// Its number in the file, from 1.
    pub number: usize,
    /// When it began, since the Unix epoch.
    pub started: Nanos,
    /// When its answer was there.
    pub ended: Nanos,
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// The cookies it sent, where they are listed apart.
    pub cookies: Vec<(String, String)>,
    pub post: Option<Post>,
    /// How many bytes the body had, as far as is recorded.
    pub body_bytes: u64,
    /// 0 without an answer.
    pub status: u16,
    /// Media type of the answer.
    pub kind: String,
    pub answer_headers: Vec<(String, String)>,
    pub from_cache: bool,
}

/// The body of a request.
pub(super) struct Post {
    pub kind: String,
    pub text: String,
    pub params: Vec<Param>,
    /// How `text` is encoded, if it says so.
    pub encoding: Option<String>,
}

/// A field of a form.
pub(super) struct Param {
    pub name: String,
    pub value: String,
    pub file: Option<String>,
    pub kind: Option<String>,
    /// How `value` is encoded, if it says so.
    pub encoding: Option<String>,
}

/// Reads a recording.
///
/// # Errors
/// What is no JSON, no HAR, or an entry without its request, answer or times.
pub(super) fn read(text: &str) -> Result<Recording> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let har: Value = serde_json::from_str(text).map_err(|e| {
        anyhow!("this is no HAR file, which is JSON: {e}; save one with a browser's \"Save all as HAR\"")
    })?;
    let Some(entries) = har["log"]["entries"].as_array() else {
        bail!("this is no HAR file: JSON it is, but without the list log.entries of requests");
    };
    let read = |(i, value): (usize, &Value)| {
        entry(i + 1, value)
            .with_context(|| format!("request {} of {} (log.entries[{i}])", i + 1, entries.len()))
    };
    let mut read: Vec<Entry> = entries.iter().enumerate().map(read).collect::<Result<_>>()?;
    read.sort_by_key(|entry| entry.started);
    let creator = har["log"]["creator"]["name"].as_str().map(|name| {
        let version = har["log"]["creator"]["version"].as_str().unwrap_or_default();
        format!("{name} {version}").trim().to_owned()
    });
    Ok(Recording { creator, entries: read, unread: super::keys::unread(&har) })
}

fn entry(number: usize, value: &Value) -> Result<Entry> {
    let (request, response) = (&value["request"], &value["response"]);
    let started = text(value, "startedDateTime")?;
    let started: jiff::Timestamp = started.parse().map_err(|e| {
        anyhow!("startedDateTime is '{started}', and no time with its offset such as 2026-01-31T12:00:00.000Z: {e}")
    })?;
    let started =
        Nanos(i64::try_from(started.as_nanosecond()).context("startedDateTime is too far from today")?);
    let status = &response["status"];
    let Some(status) = status.as_u64().and_then(|s| u16::try_from(s).ok()).or_else(|| no_answer(status))
    else {
        bail!("response.status is {}, and no status such as 200", shown(status));
    };
    let time = value["time"].as_f64().or_else(|| timings(&value["timings"]));
    // Of one that was aborted some browsers write none: it is left out.
    let time = time.or((status == 0).then_some(0.0));
    let Some(time_ms) = time.filter(|ms| ms.is_finite() && *ms < 1e9) else {
        bail!("time is {}, and no number of milliseconds", shown(&value["time"]));
    };
    Ok(Entry {
        number,
        started,
        // An aborted one has -1 in some recordings.
        ended: started + Nanos::from_secs_f64(time_ms.max(0.0) / 1e3),
        method: text(request, "method").context("request")?,
        url: text(request, "url").context("request")?,
        headers: pairs(&request["headers"]).context("request.headers")?,
        cookies: pairs(&request["cookies"]).context("request.cookies")?,
        post: post(&request["postData"]).context("request.postData")?,
        body_bytes: request["bodySize"].as_u64().unwrap_or(0),
        status,
        kind: response["content"]["mimeType"].as_str().unwrap_or_default().to_ascii_lowercase(),
        answer_headers: pairs(&response["headers"]).context("response.headers")?,
        from_cache: value["_fromCache"].is_string() || response["_fromCache"].is_string(),
    })
}

/// Browsers write a request without an answer with a status of 0, -1 or null.
fn no_answer(status: &Value) -> Option<u16> {
    (status.is_null() || status.as_i64().is_some_and(|s| s < 0)).then_some(0)
}

/// The sum of the parts of a request's time, in milliseconds; -1 stands for none.
fn timings(value: &Value) -> Option<f64> {
    let parts = ["blocked", "dns", "connect", "send", "wait", "receive"];
    let known: Vec<f64> = parts.iter().filter_map(|part| value[*part].as_f64()).collect();
    (!known.is_empty()).then(|| known.iter().filter(|ms| **ms > 0.0).sum())
}

fn post(value: &Value) -> Result<Option<Post>> {
    if value.is_null() {
        return Ok(None);
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let param = |value: &Value| Param {
        name: text(&value["name"]),
        value: text(&value["value"]),
        file: value["fileName"].as_str().map(str::to_owned),
        kind: value["contentType"].as_str().map(str::to_owned),
        encoding: value["encoding"].as_str().map(str::to_owned),
    };
    if !value.is_object() {
        bail!("it is {}, and no body with its mimeType and text", shown(value));
    }
    Ok(Some(Post {
        kind: text(&value["mimeType"]),
        text: text(&value["text"]),
        params: value["params"].as_array().into_iter().flatten().map(param).collect(),
        encoding: value["encoding"].as_str().map(str::to_owned),
    }))
}

/// `[{"name": ..., "value": ...}, ...]`; nothing there is an empty list.
fn pairs(value: &Value) -> Result<Vec<(String, String)>> {
    if value.is_null() {
        return Ok(Vec::new());
    }
    let Some(list) = value.as_array() else {
        bail!("it is {}, and no list of names and values", shown(value))
    };
    list.iter().map(|pair| Ok((text(pair, "name")?, text(pair, "value")?))).collect()
}

fn text(value: &Value, key: &str) -> Result<String> {
    match value[key].as_str() {
        Some(text) => Ok(text.to_owned()),
        None => bail!("{key} is {}, and no text", shown(&value[key])),
    }
}

/// A value for a message, not too long.
fn shown(value: &Value) -> String {
    if value.is_null() {
        return "missing".to_owned();
    }
    let text = value.to_string();
    if text.chars().count() > 60 { text.chars().take(60).chain("...".chars()).collect() } else { text }
}
