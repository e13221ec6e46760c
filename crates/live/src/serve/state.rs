//! What a target with state holds: the items that were posted, by path, so that reads grow dearer with what was written.
//!
//! A path is a collection. POST appends the body as an item; GET (or HEAD) of the collection returns how many it holds
//! and costs a stated time for each; GET and DELETE of `collection/ID` are about one item. A last segment of digits
//! alone is an ID. Writes take effect when their request has come, a list shows what is held when it is answered.
//!
//! Bounded in items and in bytes, bodies in progress included; past either the answer is 507. Deliberately
//! absent: PUT and PATCH, queries (passed over), anything that outlives the process.

use headway_base::Nanos;
use headway_wire::Head;
use headway_wire::http1::{Response, ResponseError};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

/// What a target with state is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateSettings {
    /// What each item of a collection adds to the demand of a GET of it.
    pub cost: Nanos,
    /// How many items may be held, over all paths.
    pub max_items: u64,
    /// How many bytes of bodies, media types and paths may be held. An item costs some 100 bytes more than these.
    pub max_bytes: u64,
}

impl StateSettings {
    /// 10 us per item, a million items, 1 GiB.
    pub const DEFAULT: StateSettings =
        StateSettings { cost: Nanos::from_micros(10), max_items: 1_000_000, max_bytes: 1 << 30 };
}

/// What a request under way asks of the state.
#[derive(Debug)]
pub(super) enum Asked {
    List(String),
    Item(String, u64),
    Delete(String, u64),
    Post { path: String, kind: String, body: Vec<u8>, too_large: bool },
    NotAllowed { allow: &'static str },
}

/// Its response.
#[derive(Debug)]
pub(super) enum Answer {
    List(String),
    Item(Item),
    Created { path: String, id: u64 },
    Deleted,
    Missing,
    NotAllowed { allow: &'static str },
    Full,
}

/// One posted body; cloning shares it.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Its media type, as posted.
    kind: Arc<str>,
    body: Arc<[u8]>,
}

/// The items held.
#[derive(Debug)]
pub(super) struct State {
    settings: StateSettings,
    /// No collection is empty.
    collections: HashMap<String, BTreeMap<u64, Item>>,
    /// Ids are given out once over all paths: a collection that was emptied needs no memory.
    last_id: u64,
    items: u64,
    /// Held, and of bodies under way.
    bytes: u64,
}

impl State {
    pub(super) fn new(settings: StateSettings) -> State {
        State { settings, collections: HashMap::new(), last_id: 0, items: 0, bytes: 0 }
    }

    /// How many items are held, over all paths.
    pub(super) fn items(&self) -> u64 {
        self.items
    }

    /// What the head of a request asks for.
    pub(super) fn asked(method: &str, target: &str, head: Head) -> Asked {
        let path = path(target);
        match (method, item_of(path)) {
            ("GET" | "HEAD", None) => Asked::List(path.to_owned()),
            ("GET" | "HEAD", Some((path, id))) => Asked::Item(path.to_owned(), id),
            ("DELETE", Some((path, id))) => Asked::Delete(path.to_owned(), id),
            ("POST", None) => {
                let kind = head.header("content-type").and_then(|kind| str::from_utf8(kind).ok());
                let kind = kind.unwrap_or("application/octet-stream").to_owned();
                Asked::Post { path: path.to_owned(), kind, body: Vec::new(), too_large: false }
            }
            (_, None) => Asked::NotAllowed { allow: "GET, HEAD, POST" },
            (_, Some(_)) => Asked::NotAllowed { allow: "GET, HEAD, DELETE" },
        }
    }

    /// A piece of the request's body came.
    pub(super) fn receive(&mut self, asked: &mut Asked, data: &[u8]) {
        let Asked::Post { body, too_large, .. } = asked else { return };
        if *too_large {
            return;
        }
        if self.bytes + data.len() as u64 > self.settings.max_bytes {
            *too_large = true;
            self.bytes -= body.len() as u64;
            *body = Vec::new();
        } else {
            self.bytes += data.len() as u64;
            body.extend_from_slice(data);
        }
    }

    /// The request will not be done: its client has gone, or it is to fail.
    pub(super) fn give_up(&mut self, asked: &Asked) {
        if let Asked::Post { body, .. } = asked {
            self.bytes -= body.len() as u64;
        }
    }

    /// Server time of the request in addition to its draw of the service law.
    pub(super) fn cost(&self, asked: &Asked) -> Nanos {
        let Asked::List(path) = asked else { return Nanos::ZERO };
        let count = self.collections.get(path).map_or(0, BTreeMap::len);
        Nanos(self.settings.cost.0.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX)))
    }

    /// Does what was asked.
    pub(super) fn apply(&mut self, asked: Asked) -> Answer {
        match asked {
            Asked::List(path) => Answer::List(path),
            Asked::Item(path, id) => match self.collections.get(&path).and_then(|items| items.get(&id)) {
                Some(item) => Answer::Item(item.clone()),
                None => Answer::Missing,
            },
            Asked::Delete(path, id) => self.delete(&path, id),
            Asked::Post { too_large: true, .. } => Answer::Full,
            Asked::Post { path, kind, body, too_large: false } => {
                self.bytes -= body.len() as u64;
                self.append(path, &kind, body)
            }
            Asked::NotAllowed { allow } => Answer::NotAllowed { allow },
        }
    }

    fn append(&mut self, path: String, kind: &str, body: Vec<u8>) -> Answer {
        let known = self.collections.get(&path);
        let bytes = (body.len() + kind.len() + if known.is_some() { 0 } else { path.len() }) as u64;
        if self.items >= self.settings.max_items || self.bytes + bytes > self.settings.max_bytes {
            return Answer::Full;
        }
        // Items of one collection are mostly of one type.
        let last = known.and_then(|items| items.last_key_value()).map(|(_, item)| item.kind.clone());
        let kind = last.filter(|last| **last == *kind).unwrap_or_else(|| Arc::from(kind));
        self.last_id += 1;
        self.items += 1;
        self.bytes += bytes;
        let item = Item { kind, body: body.into() };
        self.collections.entry(path.clone()).or_default().insert(self.last_id, item);
        Answer::Created { path, id: self.last_id }
    }

    fn delete(&mut self, path: &str, id: u64) -> Answer {
        let Some(items) = self.collections.get_mut(path) else { return Answer::Missing };
        let Some(item) = items.remove(&id) else { return Answer::Missing };
        self.items -= 1;
        self.bytes -= (item.body.len() + item.kind.len()) as u64;
        if items.is_empty() {
            self.collections.remove(path);
            self.bytes -= path.len() as u64;
        }
        Answer::Deleted
    }

    /// The answer in the words of HTTP; a list shows as many of the oldest items as fit into `list_bytes`.
    pub(super) fn response(&self, answer: &Answer, list_bytes: u64) -> Result<Response, ResponseError> {
        let json = |status, body: String| {
            Ok(Response::new(status)?.header("content-type", "application/json")?.body(body.into_bytes()))
        };
        match answer {
            Answer::List(path) => json(200, self.list(path, list_bytes)),
            Answer::Item(item) => {
                Ok(Response::new(200)?.header("content-type", &item.kind)?.body(item.body.clone()))
            }
            Answer::Created { path, id } => {
                let root = if path == "/" { "" } else { path };
                Ok(json(201, format!("{{\"id\":{id}}}"))?.header("location", &format!("{root}/{id}"))?)
            }
            Answer::Deleted => Response::new(204),
            Answer::Missing => json(404, "{\"error\":\"no such item\"}".to_owned()),
            Answer::NotAllowed { allow } => {
                json(405, "{\"error\":\"method not allowed\"}".to_owned())?.header("allow", allow)
            }
            Answer::Full => json(507, "{\"error\":\"no room for more items\"}".to_owned()),
        }
    }

    /// `{"count":3,"items":[{"id":1,"body":"..."}, ...]}`: the count is always there, items while they fit.
    fn list(&self, path: &str, most_bytes: u64) -> String {
        let items = self.collections.get(path);
        let mut out = format!("{{\"count\":{},\"items\":[", items.map_or(0, BTreeMap::len));
        for (i, (id, item)) in items.into_iter().flatten().enumerate() {
            let before = out.len();
            let comma = if i == 0 { "" } else { "," };
            // No body shrinks by being quoted: one that is too long needs no copy.
            if out.len() as u64 + item.body.len() as u64 > most_bytes {
                break;
            }
            let _ = write!(out, "{comma}{{\"id\":{id},\"body\":");
            quote(&String::from_utf8_lossy(&item.body), &mut out);
            out.push('}');
            if out.len() as u64 + 2 > most_bytes {
                out.truncate(before);
                break;
            }
        }
        out.push_str("]}");
        out
    }
}

/// The path of a request's target: without scheme and host, query, and slashes at its end.
fn path(target: &str) -> &str {
    let path = match target.split_once("://") {
        Some((_, rest)) if !target.starts_with('/') => rest.find('/').map_or("/", |at| &rest[at..]),
        _ => target,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    if path.is_empty() { "/" } else { path }
}

/// A path that ends in a number names an item: its collection, and its id.
fn item_of(path: &str) -> Option<(&str, u64)> {
    let (collection, last) = path.rsplit_once('/')?;
    let digits = !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit());
    // A number that no id can reach is one all the same.
    digits.then(|| (if collection.is_empty() { "/" } else { collection }, last.parse().unwrap_or(u64::MAX)))
}

/// Appends a JSON string.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\0'..='\x1f' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(state: &mut State, path: &str, body: &str) -> Answer {
        let (path, kind) = (path.to_owned(), "text/plain".to_owned());
        let mut asked = Asked::Post { path, kind, body: Vec::new(), too_large: false };
        state.receive(&mut asked, body.as_bytes());
        state.apply(asked)
    }

    fn small(max_items: u64, max_bytes: u64) -> State {
        State::new(StateSettings { max_items, max_bytes, ..StateSettings::DEFAULT })
    }

    #[test]
    fn targets_name_collections_and_items() {
        for (target, expected) in [
            ("/", "/"),
            ("/bars", "/bars"),
            ("/bars/", "/bars"),
            ("/bars?x=1/2", "/bars"),
            ("http://a:1/bars?u=://", "/bars"),
            ("http://a", "/"),
            ("/go?to=http://a/b", "/go"),
            ("*", "*"),
        ] {
            assert_eq!(path(target), expected, "{target}");
        }
        assert_eq!(item_of("/bars/17"), Some(("/bars", 17)));
        assert_eq!(item_of("/17"), Some(("/", 17)));
        assert_eq!(item_of("/99999999999999999999"), Some(("/", u64::MAX)));
        for path in ["/", "/bars", "/17/bars", "/bars/+1", "/bars/1a", "*"] {
            assert_eq!(item_of(path), None, "{path}");
        }
    }

    #[test]
    fn what_is_full_takes_no_more_until_something_goes() {
        let mut state = small(2, 1_000);
        for id in 1..=2 {
            assert!(matches!(post(&mut state, "/a", "x"), Answer::Created { id: i, .. } if i == id));
        }
        assert!(matches!(post(&mut state, "/a", "x"), Answer::Full));
        assert!(matches!(state.delete("/a", 1), Answer::Deleted));
        assert!(matches!(state.delete("/a", 1), Answer::Missing));
        assert!(matches!(post(&mut state, "/b", "x"), Answer::Created { id: 3, .. }));
        state.delete("/a", 2);
        state.delete("/b", 3);
        assert_eq!((state.items, state.bytes, state.collections.len()), (0, 0, 0));
    }

    #[test]
    fn bytes_are_bounded_also_of_bodies_under_way() {
        let mut state = small(100, 30);
        assert!(matches!(post(&mut state, "/a", "0123456789"), Answer::Created { .. }));
        // "/a", "text/plain" and the body.
        assert_eq!(state.bytes, 22);
        let (path, kind) = ("/a".to_owned(), "text/plain".to_owned());
        let mut asked = Asked::Post { path, kind, body: Vec::new(), too_large: false };
        for _ in 0..1_000 {
            state.receive(&mut asked, b"01234");
            assert!(state.bytes <= 30);
        }
        assert!(matches!(state.apply(asked), Answer::Full));
        assert!(matches!(post(&mut state, "/b", ""), Answer::Full));
        assert_eq!(state.bytes, 22);
        let mut asked =
            Asked::Post { path: "/c".to_owned(), kind: String::new(), body: vec![], too_large: false };
        state.receive(&mut asked, b"01");
        assert_eq!(state.bytes, 24);
        state.give_up(&asked);
        assert_eq!(state.bytes, 22);
    }

    #[test]
    fn a_list_costs_by_what_it_holds_and_shows_what_fits() {
        let mut state = small(100, 1_000);
        let cost = |state: &State, path: &str| state.cost(&Asked::List(path.to_owned()));
        assert_eq!(cost(&state, "/a"), Nanos::ZERO);
        assert_eq!(state.list("/a", 0), r#"{"count":0,"items":[]}"#);
        for body in ["one", "\"\\\n", "\u{e9}"] {
            post(&mut state, "/a", body);
        }
        assert_eq!(cost(&state, "/a"), Nanos::from_micros(30));
        assert_eq!(cost(&state, "/b"), Nanos::ZERO);
        assert_eq!(state.cost(&Asked::Item("/a".to_owned(), 1)), Nanos::ZERO);
        let whole =
            r#"{"count":3,"items":[{"id":1,"body":"one"},{"id":2,"body":"\"\\\u000a"},{"id":3,"body":"é"}]}"#;
        assert_eq!(state.list("/a", 1_000), whole);
        assert_eq!(state.list("/a", whole.len() as u64), whole);
        for most in 0..whole.len() as u64 {
            let list = state.list("/a", most);
            assert!(list.len() as u64 <= most.max(22) && list.starts_with("{\"count\":3,"), "{list}");
            assert!(list.len() < whole.len());
        }
    }
}
