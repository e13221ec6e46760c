//! Which cookies of a recording a session gets by itself, and which it must be given.
//!
//! A cookie that an answer set earlier in the recording is the jar's affair. One that came from before the recording, or
//! from a script in the page, is a variable. Where a request sent both, the jar's are named too, because a step that gives
//! its own Cookie header gets none from the jar.

use super::super::Text;
use super::super::draft::{Finder, Step};
use super::super::secrets::Secrets;
use super::read::Entry;
use std::collections::HashMap;

/// Settles the Cookie headers of the steps, which are those of the entries, in order.
pub(super) fn settle(steps: &mut [Step], entries: &[&Entry], secrets: &mut Secrets) {
    // Which step's answer set it last.
    let mut jar: HashMap<String, usize> = HashMap::new();
    for (i, entry) in entries.iter().enumerate() {
        let (own, given): (Vec<_>, Vec<_>) =
            sent(entry).into_iter().partition(|(name, _)| jar.contains_key(name));
        if !given.is_empty() {
            let names: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
            let about = format!("the cookies {}, as in {}=...", names.join(", "), names[0]);
            let mut value = secrets.variable("COOKIE", &names.join(";"), &about);
            for (name, _) in &own {
                let variable = extracted_as(name);
                value = Text::literal(&format!("{name}="))
                    .and(&Text::extracted(&variable))
                    .and(&Text::literal("; "))
                    .and(&value);
                let taken = &mut steps[jar[name]].extract;
                if !taken.iter().any(|(known, _)| *known == variable) {
                    taken.push((variable, Finder::new("cookie", name.as_str())));
                }
            }
            steps[i].header("Cookie", value);
        }
        for (name, value) in received(entry) {
            if value {
                jar.insert(name, i);
            } else {
                jar.remove(&name);
            }
        }
    }
}

/// The cookies that a request sent.
fn sent(entry: &Entry) -> Vec<(String, String)> {
    let headers = entry.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    let mut pairs: Vec<(String, String)> = Vec::new();
    for piece in headers.flat_map(|(_, value)| value.split(';')) {
        if let Some((name, value)) = piece.split_once('=') {
            pairs.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    if pairs.is_empty() { entry.cookies.clone() } else { pairs }
}

/// The cookies that an answer set, and whether to something: a cookie that is taken away is emptied.
fn received(entry: &Entry) -> Vec<(String, bool)> {
    let headers = entry.answer_headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    // Chrome puts several into one, a line each.
    let lines = headers.flat_map(|(_, value)| value.split('\n'));
    lines
        .filter_map(|line| {
            let mut parts = line.split(';').map(str::trim);
            let (name, value) = parts.next()?.split_once('=')?;
            let gone = parts.any(|part| part.to_ascii_lowercase().replace(' ', "") == "max-age=0");
            Some((name.trim().to_owned(), !gone && !value.trim().is_empty()))
        })
        .collect()
}

/// The name under which a cookie is extracted: one for each cookie.
fn extracted_as(cookie: &str) -> String {
    let mut name = String::from("cookie_");
    for c in cookie.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else {
            name.push_str(&format!("_{:x}", u32::from(c)));
        }
    }
    name
}
