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

/// Which hosts are sent a cookie: the one that set it, or all of a domain.
#[derive(Clone, PartialEq, Eq)]
enum Scope {
    Host(String),
    Domain(String),
}

impl Scope {
    fn covers(&self, host: &str) -> bool {
        match self {
            Scope::Host(own) => own == host,
            Scope::Domain(domain) => {
                host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }
        }
    }
}

/// The names under which cookies are extracted: one for each cookie and scope.
#[derive(Default)]
struct Variables(HashMap<String, Vec<Scope>>);

impl Variables {
    fn of(&mut self, cookie: &str, scope: &Scope) -> String {
        let scopes = self.0.entry(cookie.to_owned()).or_default();
        let at = scopes.iter().position(|known| known == scope).unwrap_or_else(|| {
            scopes.push(scope.clone());
            scopes.len() - 1
        });
        let name = extracted_as(cookie);
        if at == 0 { name } else { format!("{name}-{}", at + 1) }
    }
}

/// Settles the Cookie headers of the steps, which are those of the entries with the hosts that they went to, in order.
pub(super) fn settle(steps: &mut [Step], entries: &[(&Entry, &str)], secrets: &mut Secrets) {
    // By name: for whom, and which step's answer set it last.
    let mut jar: HashMap<String, Vec<(Scope, usize)>> = HashMap::new();
    let mut variables = Variables::default();
    for (i, (entry, host)) in entries.iter().enumerate() {
        let held = |name: &str| jar.get(name)?.iter().rev().find(|(scope, _)| scope.covers(host));
        let (own, given): (Vec<_>, Vec<_>) =
            sent(entry).into_iter().partition(|(name, _)| held(name).is_some());
        if !given.is_empty() {
            let names: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
            let about = format!("the cookies {}, as in {}=...", names.join(", "), names[0]);
            let mut value = secrets.variable("COOKIE", &names.join(";"), &about);
            for (name, _) in &own {
                let Some((scope, step)) = held(name) else { continue };
                let variable = variables.of(name, scope);
                value = Text::literal(&format!("{name}="))
                    .and(&Text::extracted(&variable))
                    .and(&Text::literal("; "))
                    .and(&value);
                let taken = &mut steps[*step].extract;
                if !taken.iter().any(|(known, _)| *known == variable) {
                    taken.push((variable, Finder::new("cookie", name.as_str())));
                }
            }
            steps[i].header("Cookie", value);
        }
        for Received { name, domain, is_kept } in received(entry) {
            let scope = domain.map_or_else(|| Scope::Host((*host).to_owned()), Scope::Domain);
            let held = jar.entry(name).or_default();
            held.retain(|(known, _)| *known != scope);
            if is_kept {
                held.push((scope, i));
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

/// A cookie that an answer set, or took away.
struct Received {
    name: String,
    /// Its domain, if it names one: every host of it gets the cookie.
    domain: Option<String>,
    /// A cookie that is taken away is emptied.
    is_kept: bool,
}

fn received(entry: &Entry) -> Vec<Received> {
    let headers = entry.answer_headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    // Chrome puts several into one, a line each.
    let lines = headers.flat_map(|(_, value)| value.split('\n'));
    lines
        .filter_map(|line| {
            let mut parts = line.split(';').map(str::trim);
            let (name, value) = parts.next()?.split_once('=')?;
            let (mut domain, mut gone) = (None, false);
            for part in parts.map(|part| part.to_ascii_lowercase().replace(' ', "")) {
                gone |= part == "max-age=0";
                let named = part.strip_prefix("domain=").map(|name| name.trim_start_matches('.'));
                domain = named.filter(|name| !name.is_empty()).map(str::to_owned).or(domain);
            }
            let is_kept = !gone && !value.trim().is_empty();
            Some(Received { name: name.trim().to_owned(), domain, is_kept })
        })
        .collect()
}

/// A cookie's name as that of a value.
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
