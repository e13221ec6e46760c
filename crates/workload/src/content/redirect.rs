//! Where redirects lead to, as browsers and curl take them: the next place, and by which method.
//!
//! Followed are those to origins (scheme, host and port) that the run names: nothing is sent to a place that its user did not name. What the step has
//! of secrets stays with the origin that it was given for.

use super::memory::Memory;
use super::reason::Fault;
use super::script::{RenderContext, Script};
use super::shown::shown_header;
use super::values::Values;
use crate::redact::{Place, Redactor};
use headway_base::KnownFailure;
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

/// The root of a target of HTTP; none if there is no host.
pub(super) fn root(tls: bool, authority: &str) -> Option<Url> {
    Url::parse(&format!("{}://{authority}/", if tls { "https" } else { "http" })).ok()
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
        let is_there = |root: &Url| root.origin() == to.origin();
        let stays = [Some(&root), known].into_iter().flatten().any(is_there);
        let others = || {
            let mut all = (0..).zip(&self.sites);
            all.find(|(_, site)| site.root.as_ref().is_some_and(is_there)).map(|(origin, _)| origin)
        };
        let Some(origin) = stays.then_some(present).or_else(others) else {
            // Its path may hold anything; where a place is, is the same for many requests.
            let place = match to.origin() {
                Origin::Tuple(..) => to.origin().ascii_serialization(),
                Origin::Opaque(_) => format!("{}:", to.scheme()),
            };
            let fault = Fault::plain(format!("redirected to {place}"));
            return Err(fault.of_kind(KnownFailure::RedirectElsewhere));
        };
        let gets = before.is_some_and(|hop| hop.gets) || turns_into_get(status, &step.method);
        let path = to[Position::BeforePath..Position::AfterQuery].to_owned();
        Ok(Hop { origin, path, gets, number })
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
