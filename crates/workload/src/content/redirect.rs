//! Where redirects lead to, as browsers and curl take them: the next place, and by which method. Where extracted links do.
//!
//! Followed are those to origins (scheme, host and port) that the run names: nothing is sent to a place that its user did not name. What the step has
//! of secrets stays with the origin that it was given for.

use super::cookies::Site;
use super::memory::Memory;
use super::reason::Fault;
use super::script::{RenderContext, Script};
use super::shown::{shown, shown_header};
use super::step::Step;
use super::template::Piece;
use super::values::Values;
use crate::redact::{Place, Redactor};
use headway_base::KnownFailure;
use std::borrow::Cow;
use url::{Origin, Position, Url};

/// The header that names it.
pub(super) const LOCATION: &str = "Location";

/// The request that a redirect leads to, as far as it is not that of its step.
#[derive(Clone, Default)]
pub(super) struct Hop {
    /// Number of the origin that it goes to.
    pub origin: u16,
    /// Path and query, percent-encoded.
    pub path: String,
    /// Whether it is a GET without a body, whatever the step's method is.
    pub gets: bool,
    /// How many redirects led there, one after the other.
    number: u32,
}

impl Hop {
    /// How many redirects led there, one after the other.
    pub fn number(&self) -> u32 {
        self.number
    }
}

/// What it asks for may be a secret.
impl std::fmt::Debug for Hop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "redirect {} ({} bytes)", self.number, self.path.len())
    }
}

/// A Location as text. Bytes that are no UTF-8 are those that the server wants back: they are percent-encoded, as curl does.
pub(super) fn written(location: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(location) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let read = |&byte: &u8| match byte.is_ascii() {
                true => char::from(byte).to_string(),
                false => format!("%{byte:02X}"),
            };
            Cow::Owned(location.iter().map(read).collect())
        }
    }
}

/// The root of a target of HTTP; none if there is no host.
pub(super) fn root(tls: bool, authority: &str) -> Option<Url> {
    Url::parse(&format!("{}://{authority}/", if tls { "https" } else { "http" })).ok()
}

/// A link that names its host: a whole URL of HTTP, or one without its scheme (`//host/path`), which is then that of its step.
fn absolute(link: &str, tls: bool) -> Option<Url> {
    let url = match lacks_scheme(link) {
        true => Url::parse(&format!("{}:{link}", if tls { "https" } else { "http" })).ok()?,
        false => Url::parse(link).ok()?,
    };
    ["http", "https"].contains(&url.scheme()).then_some(url)
}

/// Where a URL is: the same for many requests, while its path may hold anything.
fn place(url: &Url) -> String {
    match url.origin() {
        Origin::Tuple(..) => url.origin().ascii_serialization(),
        Origin::Opaque(_) => format!("{}:", url.scheme()),
    }
}

/// Whether a link is a URL without its scheme, as browsers read it: no path of the target.
pub(super) fn lacks_scheme(link: &str) -> bool {
    link.starts_with("//")
}

/// Why a link that a step of that scheme extracted was not followed.
pub(super) fn not_followed(link: &str, tls: bool, redactor: &Redactor) -> Fault {
    match absolute(link, tls) {
        Some(url) => Fault::plain(format!("the link leads to {}", place(&url)))
            .of_kind(KnownFailure::RedirectElsewhere),
        None => {
            let expected = "expected a link that begins with one slash, or a whole URL of http or https";
            Fault::got(expected.to_owned(), shown(link.as_bytes(), redactor))
        }
    }
}

/// Whether a header is about the body, which a redirect may take away.
pub(super) fn is_of_body(name: &str) -> bool {
    name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("content-"))
}

/// Whether a header of a step stays behind where a redirect leads to another origin: one of the host or of a secret, by its name or by what it holds.
pub(super) fn stays(name: &str, value: &str, secrets: &Redactor) -> bool {
    is_of_origin(name, secrets) || secrets.finds(value)
}

/// Whether a header of that name is for one origin alone: the host, or a secret.
pub(super) fn is_of_origin(name: &str, secrets: &Redactor) -> bool {
    name.eq_ignore_ascii_case("host") || secrets.names().has(Place::Header, name)
}

/// Whether a redirect with that status turns the method into GET (RFC 9110, 15.4.2 to 15.4.4, as browsers do).
fn turns_into_get(status: u16, method: &str) -> bool {
    match status {
        301 | 302 => method == "POST",
        303 => method != "HEAD",
        _ => false,
    }
}

impl Script {
    /// Where a visit's request is redirected to.
    pub(super) fn hop(
        &self,
        visit: &RenderContext<'_>,
        status: u16,
        location: &str,
        memory: &Memory,
    ) -> Result<Hop, Fault> {
        let step = &self.steps[usize::from(visit.sending.step)];
        let before = memory.hop().filter(|_| step.is_redirected);
        let shown = || shown_header(LOCATION, location.as_bytes(), &self.redactor(visit, memory));
        let number = before.map_or(0, |hop| hop.number) + 1;
        if number > self.most_redirects {
            let same = format!("more than {} redirects", self.most_redirects);
            let fault = Fault { met: format!(", at last to {}", shown()), ..Fault::plain(same) };
            return Err(fault.of_kind(KnownFailure::TooManyRedirects));
        }
        let present = self.origin(visit.sending.step, memory);
        let known = self.sites[usize::from(present)].root.as_ref();
        let root = self.own_root(visit, memory);
        // Put together, as a path that begins with two slashes would be taken for a host.
        let at = |root: &Url| {
            Url::parse(&(root[..Position::BeforePath].to_owned() + &self.path_and_query_of(visit, memory)))
                .ok()
        };
        let here = root.as_ref().and_then(at);
        let to = here.as_ref().and_then(|here| here.join(location).ok());
        let (Some(root), Some(to)) = (root, to) else {
            let same = "redirected to what is no place of the target".to_owned();
            return Err(Fault { met: format!(": {}", shown()), ..Fault::plain(same) });
        };
        let stays = [Some(&root), known].into_iter().flatten().any(|root| root.origin() == to.origin());
        let Some(origin) = stays.then_some(present).or_else(|| self.named(&to)) else {
            let fault = Fault::plain(format!("redirected to {}", place(&to)));
            return Err(fault.of_kind(KnownFailure::RedirectElsewhere));
        };
        let gets = before.is_some_and(|hop| hop.gets) || turns_into_get(status, &step.method);
        let path = to[Position::BeforePath..Position::AfterQuery].to_owned();
        Ok(Hop { origin, path, gets, number })
    }

    /// The number of the origin of a URL, if the run names it.
    fn named(&self, url: &Url) -> Option<u16> {
        let is_there = |site: &Site| site.root.as_ref().is_some_and(|root| root.origin() == url.origin());
        (0..).zip(&self.sites).find(|(_, site)| is_there(site)).map(|(origin, _)| origin)
    }

    /// Where the link of a step leads: origin, path and query. None where it is a path, no URL, or of an origin that the run does not
    /// name. The host of a fixed header `Host` is that of the step's own origin.
    pub(super) fn led(&self, step: &Step, memory: &Memory) -> Option<(u16, String)> {
        let site = &self.sites[usize::from(step.origin)];
        let url = absolute(memory.value(step.link()?)?.0, site.tls)?;
        let own = step.headers.iter().find(|header| header.name.eq_ignore_ascii_case("host"));
        let own = own.and_then(|header| match header.value.as_slice() {
            [Piece::Fixed(host)] => root(site.tls, host),
            _ => None,
        });
        let stays = [own.as_ref(), site.root.as_ref()].into_iter().flatten();
        let stays = stays.map(Url::origin).any(|origin| origin == url.origin());
        let origin = stays.then_some(step.origin).or_else(|| self.named(&url))?;
        Some((origin, url[Position::BeforePath..Position::AfterQuery].to_owned()))
    }

    /// The steps whose links lead to another origin than theirs, and its number, by what the session remembers now.
    pub fn leads(&self, memory: &Memory) -> Vec<(u16, u16)> {
        let lead = |&number: &u16| {
            let step = &self.steps[usize::from(number)];
            let (origin, _) = self.led(step, memory)?;
            (origin != step.origin).then_some((number, origin))
        };
        self.links.iter().filter_map(lead).collect()
    }

    /// The root of the site that the request names: of its header Host, or of where it goes.
    fn own_root(&self, visit: &RenderContext<'_>, memory: &Memory) -> Option<Url> {
        let step = &self.steps[usize::from(visit.sending.step)];
        let site = self.site_of(visit, memory);
        let mut own = step.headers.iter().filter(|_| self.origin(visit.sending.step, memory) == step.origin);
        let Some(header) = own.find(|header| header.name.eq_ignore_ascii_case("host")) else {
            return site.root.clone();
        };
        let mut host = String::new();
        Values::new(self, visit, memory).pieces(&header.value, &mut host).ok()?;
        root(site.tls, &host)
    }
}

#[cfg(test)]
mod tests;
