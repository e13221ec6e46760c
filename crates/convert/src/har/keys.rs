//! Which keys of a recording are read, and which are passed over since they change nothing that was sent. Any other is reported, so that
//! none is lost in silence. What tools add under names of their own (`_priority`) is about the browser.

use super::count;
use serde_json::Value;
use std::collections::BTreeMap;

/// The keys of one kind of object.
struct Keys {
    /// Where it stands, for people.
    of: &'static str,
    read: &'static [&'static str],
    passed: &'static [&'static str],
}

const LOG: Keys =
    Keys { of: "log", read: &["creator", "entries"], passed: &["version", "browser", "pages", "comment"] };

const ENTRY: Keys = Keys {
    of: "entries",
    read: &["startedDateTime", "time", "request", "response", "timings"],
    passed: &["pageref", "cache", "serverIPAddress", "connection", "comment"],
};

const REQUEST: Keys = Keys {
    of: "request",
    read: &["method", "url", "headers", "cookies", "postData", "bodySize"],
    // The query is in the URL too, and which version of HTTP a scenario speaks is settled with its target.
    passed: &["httpVersion", "queryString", "headersSize", "comment"],
};

const POST: Keys =
    Keys { of: "request.postData", read: &["mimeType", "text", "params", "encoding"], passed: &["comment"] };

const PARAM: Keys = Keys {
    of: "request.postData.params",
    read: &["name", "value", "fileName", "contentType", "encoding"],
    passed: &["comment"],
};

const HEADER: Keys = Keys { of: "request.headers", read: &["name", "value"], passed: &["comment"] };

/// What a server said of its cookie is read off its own header.
const COOKIE: Keys = Keys {
    of: "request.cookies",
    read: &["name", "value"],
    passed: &["path", "domain", "expires", "httpOnly", "secure", "sameSite", "comment"],
};

/// Most kinds of keys that are named.
const SHOWN: usize = 10;

/// Keys that are neither, with how often each is there.
#[derive(Default)]
struct Unread(BTreeMap<String, usize>);

impl Unread {
    fn look(&mut self, value: &Value, keys: &Keys) {
        let known =
            |key: &str| keys.read.contains(&key) || keys.passed.contains(&key) || key.starts_with('_');
        for key in value.as_object().into_iter().flat_map(|object| object.keys()).filter(|key| !known(key)) {
            *self.0.entry(format!("{}.{key}", keys.of)).or_default() += 1;
        }
    }

    fn look_at_all(&mut self, list: &Value, keys: &Keys) {
        list.as_array().into_iter().flatten().for_each(|value| self.look(value, keys));
    }
}

/// Keys of a recording which are not read, in one sentence.
pub(super) fn unread(har: &Value) -> Option<String> {
    let mut unread = Unread::default();
    unread.look(&har["log"], &LOG);
    for entry in har["log"]["entries"].as_array().into_iter().flatten() {
        let request = &entry["request"];
        let post = &request["postData"];
        unread.look(entry, &ENTRY);
        unread.look(request, &REQUEST);
        unread.look(post, &POST);
        unread.look_at_all(&post["params"], &PARAM);
        unread.look_at_all(&request["headers"], &HEADER);
        unread.look_at_all(&request["cookies"], &COOKIE);
        let apart = request["queryString"].as_array().is_some_and(|query| !query.is_empty());
        if apart && request["url"].as_str().is_some_and(|url| !url.contains('?')) {
            *unread.0.entry("request.queryString beside a URL without a query".to_owned()).or_default() += 1;
        }
    }
    let keys: Vec<String> =
        unread.0.iter().take(SHOWN).map(|(key, n)| format!("{key} ({})", count(*n, "time"))).collect();
    let more = unread.0.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {}", count(more, "other")) } else { String::new() };
    (!keys.is_empty()).then(|| format!("Not read: {}{more}.", keys.join(", ")))
}
