//! A browser's recording (HAR 1.2) as a scenario: one session that does what was recorded, and pauses as the person did.
//!
//! The target is the origin with the most requests, or the one asked for; steps of other origins that are asked for are whole URLs. What
//! went elsewhere, came from a cache, had no answer or is a static asset is left out and counted. Requests within a page, parallel in a
//! browser, become steps one after the other. Deliberately absent: values that one answer gave and a later request used.

mod body;
mod cookies;
mod keys;
mod read;
mod think;

pub use think::LEAST;

use super::draft::{self, Draft, Step};
use super::secrets::Secrets;
use super::{Converted, Location, Text, count};
use anyhow::{Context as _, Result, bail};
use headway_base::Nanos;
use read::{Entry, Recording};
use std::collections::BTreeMap;

/// What to make of a recording.
#[derive(Clone, Default, Debug)]
pub struct Choices {
    /// The target, an origin of the recording; none: the one with the most requests.
    pub target: Option<String>,
    /// Other origins of the recording; their requests are kept.
    pub origins: Vec<String>,
    /// Keep static assets.
    pub all: bool,
}

/// A scenario of the recording in `text`.
///
/// # Errors
/// What is no HAR file, an origin that is asked for and not in it, or nothing of it is left to send.
pub fn scenario(text: &str, choices: &Choices) -> Result<Converted> {
    let Recording { creator, entries, unread } = read::read(text)?;
    let mut left_out = LeftOut::default();
    let mut candidates = Vec::new();
    for entry in &entries {
        if let Some(location) = sendable(entry, &mut left_out) {
            candidates.push((entry, location));
        }
    }
    let wanted = |entry: &Entry| choices.all || !is_asset(entry);
    let counts = counted(&candidates, wanted);
    let target = target(&counts, choices)?;
    let mut origins = vec![target.clone()];
    for origin in &choices.origins {
        origins.push(recorded("--origin", origin, &counts)?);
    }
    let mut pages = Pages::default();
    for (entry, location) in &candidates {
        if !origins.contains(&location.origin) {
            *left_out.elsewhere.entry(location.origin.clone()).or_default() += 1;
        } else {
            left_out.assets += usize::from(!wanted(entry));
            pages.add(entry, wanted(entry));
        }
    }

    let mut draft = Draft { target: target.clone(), ..Draft::default() };
    let fit = think::fit(&pages.pauses);
    let mut kept = Vec::new();
    for (entry, location) in &candidates {
        let Some(&begins) = pages.kept.get(&entry.number) else { continue };
        let mut step = step(entry, location, &mut draft.secrets);
        step.origin = (location.origin != target).then(|| location.origin.clone());
        step.think = fit.as_ref().filter(|_| begins).map(|fit| fit.law.clone());
        draft.steps.push(step);
        kept.push((*entry, location.host()));
    }
    if kept.is_empty() {
        let hint = if left_out.assets > 0 { "; --all keeps static assets" } else { "" };
        bail!("no request of the recording is left to send to {}{hint}", origins.join(", "));
    }
    cookies::settle(&mut draft.steps, &kept, &mut draft.secrets);

    let made = creator.map_or_else(String::new, |creator| format!(", made by {creator}"));
    let (n, of) = (count(kept.len(), "step"), count(entries.len(), "recorded request"));
    draft.notes.push(format!("Made by headway from-har: {n} out of {of}{made}."));
    draft.notes.push(match fit {
        Some(fit) => format!("Think times, from pauses of more than {LEAST} between pages: {}.", fit.reason),
        None => format!("No think times: the recording has no pause of more than {LEAST} between requests."),
    });
    if pages.parallel > 0 {
        draft.notes.push(format!(
            "{} while others were under way; here each follows the one before it.",
            began(pages.parallel)
        ));
    }
    draft.notes.push(
        "Values that an answer gave and a later request used (ids, tokens) are as recorded: see extract."
            .to_owned(),
    );
    draft.warnings = left_out.told();
    draft.warnings.extend(unread);
    draft.finish()
}

fn began(n: usize) -> String {
    if n == 1 { "1 request began".to_owned() } else { format!("{n} requests began") }
}

/// What is not in the scenario, and how much of it.
#[derive(Default)]
struct LeftOut {
    elsewhere: BTreeMap<String, usize>,
    assets: usize,
    cached: usize,
    unanswered: usize,
    /// WebSockets, data: URLs, CONNECT and the like.
    other: usize,
}

impl LeftOut {
    fn told(&self) -> Vec<String> {
        let mut told = Vec::new();
        let mut tell = |n: usize, what: &str| {
            if n > 0 {
                told.push(format!("Left out: {} {what}.", count(n, "request")));
            }
        };
        tell(self.assets, "for static assets (images, fonts, styles, scripts; --all keeps them)");
        tell(self.cached, "answered from the browser's cache");
        tell(self.unanswered, "without an answer");
        tell(self.other, "that no HTTP step can send (WebSockets, data: URLs, proxy tunnels)");
        let mut elsewhere: Vec<(&String, &usize)> = self.elsewhere.iter().collect();
        elsewhere.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        let list: Vec<String> = elsewhere.iter().map(|(origin, n)| format!("{origin} ({n})")).collect();
        let sum = elsewhere.iter().map(|(_, n)| **n).sum();
        tell(sum, &format!("to other origins, which --origin URL keeps: {}", list.join(", ")));
        told
    }
}

/// Where an entry's request went, if a step can send it.
fn sendable(entry: &Entry, left_out: &mut LeftOut) -> Option<Location> {
    let http = ["http://", "https://"]
        .iter()
        .any(|scheme| entry.url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    let location = Location::parse(&entry.url).ok().filter(|_| http);
    let method = super::is_token(&entry.method) && entry.method != "CONNECT";
    let no_step = location.is_none() || !method || entry.status == 101;
    let counter = if no_step {
        &mut left_out.other
    } else if entry.from_cache {
        &mut left_out.cached
    } else if entry.status == 0 {
        &mut left_out.unanswered
    } else {
        return location;
    };
    *counter += 1;
    None
}

/// The origins of the recording, in the order of their first requests, and how many requests to each become steps if it is kept.
fn counted(candidates: &[(&Entry, Location)], wanted: impl Fn(&Entry) -> bool) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for (entry, location) in candidates {
        let n = usize::from(wanted(entry));
        match counts.iter_mut().find(|(origin, _)| *origin == location.origin) {
            Some((_, known)) => *known += n,
            None => counts.push((location.origin.clone(), n)),
        }
    }
    counts
}

/// The origin of a URL, which is one of the recording's.
fn recorded(flag: &str, url: &str, counts: &[(String, usize)]) -> Result<String> {
    let origin = Location::parse(url).context(flag.to_owned())?.origin;
    if !counts.iter().any(|(known, _)| *known == origin) {
        let known: Vec<&str> = counts.iter().map(|(origin, _)| origin.as_str()).collect();
        bail!("{flag} {origin}: the recording has no request to it, only to {}", known.join(", "));
    }
    Ok(origin)
}

/// The origin that is the target.
fn target(counts: &[(String, usize)], choices: &Choices) -> Result<String> {
    // Of several the first: it is where the person began.
    match (&choices.target, counts.iter().rev().max_by_key(|(_, n)| *n)) {
        (_, None) => bail!("the recording has no HTTP request with an answer"),
        (Some(url), _) => recorded("--target", url, counts),
        (None, Some((origin, _))) => Ok(origin.clone()),
    }
}

/// What a page is furnished with, by the media type of the answer, or of its name where the recording has no type.
fn is_asset(entry: &Entry) -> bool {
    let essence = entry.kind.split(';').next().unwrap_or_default().trim();
    if essence.is_empty() || essence == "x-unknown" {
        let path = entry.url.split(['?', '#']).next().unwrap_or_default();
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        return [
            "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "woff", "woff2", "ttf", "css", "js",
            "mjs",
        ]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known));
    }
    [
        "image/",
        "font/",
        "audio/",
        "video/",
        "application/font",
        "application/x-font",
        "application/vnd.ms-fontobject",
    ]
    .iter()
    .any(|prefix| essence.starts_with(prefix))
        || [
            "text/css",
            "text/javascript",
            "application/javascript",
            "application/x-javascript",
            "application/ecmascript",
        ]
        .contains(&essence)
}

/// Bursts of requests, with the pauses of a person between them.
#[derive(Default)]
struct Pages {
    /// Of the entries of the origins that are kept, by number: those that become steps, and whether a pause came before.
    kept: BTreeMap<usize, bool>,
    pauses: Vec<Nanos>,
    /// How many began before the answer to an earlier one was there.
    parallel: usize,
    /// When the last answer of the page under way was there, and whether one of the page became a step.
    ended: Option<Nanos>,
    has_step: bool,
    /// The end of the last page that has a step, if the one under way has none yet.
    paused_from: Option<Nanos>,
    begun: Option<Nanos>,
}

impl Pages {
    /// The next entry that is kept by start, and whether it becomes a step.
    fn add(&mut self, entry: &Entry, wanted: bool) {
        match self.ended {
            Some(ended) if entry.started - ended > LEAST => {
                // A page of assets alone is part of the pause.
                if self.has_step {
                    self.paused_from = Some(ended);
                }
                self.has_step = false;
                self.begun = Some(entry.started);
            }
            None => self.begun = Some(entry.started),
            Some(_) => {}
        }
        if wanted {
            let begins = !self.has_step && self.paused_from.is_some();
            if let (true, Some(from), Some(begun)) = (begins, self.paused_from, self.begun) {
                self.pauses.push(begun - from);
            }
            self.parallel +=
                usize::from(self.has_step && self.ended.is_some_and(|ended| entry.started < ended));
            self.has_step = true;
            self.kept.insert(entry.number, begins);
        }
        self.ended = self.ended.max(Some(entry.ended));
    }
}

/// Headers that belong to a connection, or that the body and the target make anew.
pub(super) const NOT_SENT: &[&str] = &[
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
];

/// Headers that are settled apart.
const APART: &[&str] = &["cookie", "content-type"];

fn step(entry: &Entry, location: &Location, secrets: &mut Secrets) -> Step {
    let mut step = Step::new(&entry.method, draft::path(&location.path, secrets));
    step.statuses = vec![entry.status.to_string()];
    for (name, value) in &entry.headers {
        let (name, value) = (name.trim(), value.trim());
        // Pseudo-headers of HTTP/2 begin with a colon.
        let apart = NOT_SENT.iter().chain(APART).any(|own| name.eq_ignore_ascii_case(own));
        if !super::is_token(name) || apart {
            continue;
        }
        step.header(name, secrets.header(name, value).unwrap_or_else(|| Text::literal(value)));
    }
    body::fill(&mut step, entry, secrets);
    step
}

#[cfg(test)]
mod tests;
