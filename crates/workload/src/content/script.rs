//! The script: all steps with their data, ready to be rendered and read.

use super::cookies::Site;
use super::data::Data;
use super::memory::Memory;
use super::names::Names;
use super::reader::Reader;
use super::redirect;
use super::step::Step;
use super::stream::StreamKind;
use super::template::Source;
use crate::client::{RequestKey, Streamed};
use crate::redact::{Place, Redactor};
use crate::request::Request;
use crate::target::{Endpoint, Target};
use headway_base::Nanos;
use headway_base::random::{Stream, streams};
use headway_base::trace::Traces;

/// Bytes of a body that are kept unless the caller says otherwise.
const MAX_BODY: u64 = 64 << 20;

/// How long a response with events that has begun may stand still, unless the caller says otherwise.
pub const IDLE_TIMEOUT: Nanos = Nanos::from_secs(30);

/// Which request of which session, and when: all that values depend on, except for the session's memory.
#[derive(Clone, Copy, Debug)]
pub struct RenderContext<'a> {
    /// Which request.
    pub sending: &'a RequestKey,
    /// The time of day, nanoseconds since 1970 in UTC.
    pub now_unix_ns: i128,
}

impl RenderContext<'_> {
    /// Seconds since 1970.
    pub(super) fn unix_s(&self) -> i64 {
        i64::try_from(self.now_unix_ns.div_euclid(1_000_000_000)).unwrap_or(i64::MAX)
    }
}

/// All steps with their data, compiled.
#[derive(Clone)]
pub struct Script {
    pub(super) steps: Vec<Step>,
    /// Which steps are the same for every session, cookies aside.
    fixed: Vec<bool>,
    pub(super) data: Vec<Data>,
    pub(super) names: Names,
    /// Most requests of a session, by group.
    pub(super) longest: Vec<u64>,
    pub(super) rows: Stream,
    pub(super) uuids: Stream,
    /// Stands before every path that is no link; does not end in a slash.
    pub(super) base_path: String,
    /// Where requests go: the target, then the other origins by their number.
    pub(super) sites: Vec<Site>,
    pub(super) keeps_cookies: bool,
    /// How many redirects are followed one after the other.
    pub(super) most_redirects: u32,
    /// Where requests name the trace that they are of.
    pub(super) traces: Option<Traces>,
    /// Steps whose path is an extracted link.
    pub(super) links: Vec<u16>,
    needs_memory: bool,
    max_body: u64,
    /// How long a response that has begun may stand still, if that was asked for.
    idle_timeout: Option<Nanos>,
    pub(super) redactor: Redactor,
    /// Columns of data, by set, and extracted values whose names say that they are secrets.
    secret_cells: Vec<(u16, u32)>,
    secret_values: Vec<u16>,
}

impl Script {
    /// A script of these steps in the order of their numbers, and these data sets in the order in which `names` got them
    /// of them; `longest` is the most requests of a session, by group.
    pub fn new(steps: Vec<Step>, data: Vec<Data>, names: Names, longest: &[u64]) -> Script {
        let keeps_cookies = longest.iter().any(|&most| most > 1);
        Script {
            fixed: steps.iter().map(Step::is_fixed).collect(),
            links: (0..)
                .zip(&steps)
                .filter(|(_, step)| step.link().is_some())
                .map(|(number, _)| number)
                .collect(),
            needs_memory: keeps_cookies || steps.iter().any(|step| !step.extracts.is_empty()),
            steps,
            data,
            names,
            longest: longest.to_vec(),
            rows: Stream::new(0, streams::ROW),
            uuids: Stream::new(0, streams::UUID),
            base_path: String::new(),
            sites: vec![Site::default()],
            keeps_cookies,
            most_redirects: 0,
            traces: None,
            max_body: MAX_BODY,
            idle_timeout: None,
            redactor: Redactor::default(),
            secret_cells: Vec::new(),
            secret_values: Vec::new(),
        }
        .with_redactor(Redactor::default())
    }

    /// One step, which sends this request and is content with any status below 400.
    pub fn single(request: &Request) -> Script {
        let name = format!("{} {}", request.method, request.path);
        Script::new(vec![Step::of(Redactor::default().clear(&name), request)], Vec::new(), Names::new(), &[1])
    }

    /// Follows up to `most` redirects one after the other; 0 follows none. Requests that redirects lead to are of steps of their own, which stand
    /// behind the others in the same order ([`Journey::following`](crate::journey::Journey::following)), and sessions keep cookies.
    /// Call once.
    pub fn following(mut self, most: u32) -> Script {
        if most == 0 {
            return self;
        }
        self.most_redirects = most;
        self.steps.iter_mut().for_each(Step::follow);
        let redirected: Vec<Step> = self.steps.iter().map(Step::redirected).collect();
        self.fixed.extend(redirected.iter().map(Step::is_fixed));
        self.steps.extend(redirected);
        (self.keeps_cookies, self.needs_memory) = (true, true);
        self
    }

    /// The steps that look at redirects themselves: they expect such a status, or their extracts and checks are about `Location` or a
    /// cookie.
    pub fn taking_redirects(&self) -> Vec<u16> {
        let steps = (0_u16..).zip(&self.steps).filter(|(_, step)| !step.follows && !step.is_redirected);
        steps.filter(|(_, step)| step.takes_redirects()).map(|(number, _)| number).collect()
    }

    /// Sends with every request a header `traceparent` (W3C Trace Context): a trace for each session, by the seed.
    pub fn tracing(mut self) -> Script {
        self.traces = Some(Traces::new(0));
        self.fixed.fill(false);
        self
    }

    /// Whether requests name the trace that they are of.
    pub fn is_tracing(&self) -> bool {
        self.traces.is_some()
    }

    /// Whether requests of that step are those that redirects lead to.
    #[inline]
    pub fn is_redirected(&self, step: u16) -> bool {
        self.steps[usize::from(step)].is_redirected
    }

    /// With the draws of that seed; 0 unless it is given.
    pub fn with_seed(mut self, seed: u64) -> Script {
        self.traces = self.traces.map(|_| Traces::new(seed));
        (self.rows, self.uuids) = (Stream::new(seed, streams::ROW), Stream::new(seed, streams::UUID));
        self
    }

    /// For that target: its path (less any query) stands before every path, and its host says whose cookies count.
    pub fn with_target(mut self, target: &Target) -> Script {
        let path = target.path.split('?').next().unwrap_or_default();
        self.base_path = path.trim_end_matches('/').to_owned();
        self.sites[0] = site(target);
        self
    }

    /// With these origins beside the target, numbered from 1: steps may name them, and redirects may lead there.
    pub fn reaching(mut self, others: &[Target]) -> Script {
        self.sites.truncate(1);
        self.sites.extend(others.iter().map(site));
        self
    }

    /// The number of the origin that a request of that step goes to, 0 being the target; `memory` is that of the session at hand.
    #[inline]
    pub fn origin(&self, step: u16, memory: &Memory) -> u16 {
        let step = &self.steps[usize::from(step)];
        match memory.hop() {
            Some(hop) if step.is_redirected => hop.origin,
            _ if step.is_link => self.led(step, memory).map_or(step.origin, |(origin, _)| origin),
            _ => step.origin,
        }
    }

    /// Whether where a request goes may depend on what its session extracted.
    #[inline]
    pub fn has_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// The site of a visit's request.
    #[inline]
    pub(super) fn site_of(&self, visit: &RenderContext<'_>, memory: &Memory) -> &Site {
        &self.sites[usize::from(self.origin(visit.sending.step, memory))]
    }

    /// Keeps at most that many bytes of a body; a longer one, where it matters, is outcome too-large. 64 MiB unless given.
    pub fn with_max_body(mut self, bytes: u64) -> Script {
        self.max_body = bytes;
        self
    }

    /// Makes events of the responses to every step.
    pub fn streaming(mut self, kind: StreamKind) -> Script {
        self.steps.iter_mut().for_each(|step| step.stream(kind));
        self
    }

    /// Gives up responses that have begun and then stand still for so long. Unless given, of steps with [`Step::stream`] alone, after
    /// [`IDLE_TIMEOUT`].
    pub fn with_idle_timeout(mut self, idle: Option<Nanos>) -> Script {
        self.idle_timeout = idle;
        self
    }

    /// How long a response that has begun may stand still, if that was asked for.
    pub fn idle_timeout(&self) -> Option<Nanos> {
        self.idle_timeout
    }

    /// What the client is to know of the responses to each step.
    pub fn streamed(&self) -> Vec<Streamed> {
        let of = |step: &Step| {
            let events = step.stream.is_some();
            let default = if events { IDLE_TIMEOUT } else { Nanos::MAX };
            Streamed { events, idle: self.idle_timeout.unwrap_or(default) }
        };
        self.steps.iter().map(of).collect()
    }

    /// With another redactor for what is shown of requests and answers: reasons, and what a dry run prints.
    pub fn with_redactor(mut self, redactor: Redactor) -> Script {
        let names = redactor.names();
        let is_secret = |name: &str| names.has(Place::Field, name) || names.has(Place::Variable, name);
        let columns = self.data.iter().zip(0..).flat_map(|(data, set)| {
            data.columns().iter().zip(0..).map(move |(name, column)| (name.as_str(), (set, column)))
        });
        self.secret_cells = columns.filter(|(name, _)| is_secret(name)).map(|(_, cell)| cell).collect();
        let extracts = self.steps.iter().flat_map(|step| &step.extracts);
        let secret = extracts.filter(|extract| {
            is_secret(self.names.extracted_name(extract.name)) || extract.finder.finds_a_secret(&redactor)
        });
        self.secret_values = secret.map(|extract| extract.name).collect();
        self.secret_values.sort_unstable();
        self.secret_values.dedup();
        let (cells, values) = (&self.secret_cells, &self.secret_values);
        let is_secret = |source| match source {
            Source::Cell { set, column } => cells.contains(&(set, column)),
            Source::Extracted(name) => values.contains(&name),
            _ => false,
        };
        for step in self.steps.iter_mut().filter(|step| step.origin > 0) {
            step.headers.retain(|header| !(header.is_shared && header.sources().any(is_secret)));
        }
        self.redactor = redactor;
        self
    }

    /// What hides secrets, those of this session too: of its row of data, and of what it remembers.
    #[cold]
    pub fn redactor(&self, visit: &RenderContext<'_>, memory: &Memory) -> Redactor {
        let mut redactor = self.redactor.clone();
        for (set, column) in &self.secret_cells {
            if let Some(row) = self.row(*set, visit) {
                redactor.know(self.data[usize::from(*set)].cell(row, *column).0);
            }
        }
        for name in &self.secret_values {
            if let Some((text, _)) = memory.value(*name) {
                redactor.know(text);
            }
        }
        if let Some(jar) = memory.jar() {
            jar.values().for_each(|value| redactor.know(value));
        }
        redactor
    }

    /// The row of a set that the visit's session takes.
    #[inline]
    pub(super) fn row(&self, set: u16, visit: &RenderContext<'_>) -> Option<u64> {
        let sending = visit.sending;
        let draw = || self.rows.bits(sending.k, u64::from(sending.group) << 16 | u64::from(set));
        self.data[usize::from(set)].row(sending.k, draw)
    }

    /// The steps in the order of their numbers.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The data sets in the order of their numbers.
    pub fn data(&self) -> &[Data] {
        &self.data
    }

    /// What templates may name.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Whether the request of a step is the same bytes for every session that remembers no cookies, so that it may be
    /// rendered once; `memory` is that of the session at hand.
    #[inline]
    pub fn is_fixed(&self, step: u16, memory: &Memory) -> bool {
        let step = usize::from(step);
        self.fixed[step] && (!memory.has_cookies() || self.steps[step].gives_cookie)
    }

    /// Whether sessions remember anything: values or cookies. If not, any [`Memory`] serves for all.
    pub fn needs_memory(&self) -> bool {
        self.needs_memory
    }

    /// Whether any step has bytes to send beside a request's head.
    pub fn has_bodies(&self) -> bool {
        self.steps.iter().any(|step| !step.body.is_empty())
    }

    /// Reads the answer to a request of that step. Allocates nothing before there is something to keep.
    #[inline]
    pub fn reader(&self, step: u16) -> Reader {
        Reader::new(self, step, self.max_body)
    }
}

/// Whose cookies the requests to a target have, and where its redirects lead from.
fn site(target: &Target) -> Site {
    let host = match &target.endpoint {
        Endpoint::Tcp { host, .. } => host.to_ascii_lowercase(),
        Endpoint::Unix(_) => "localhost".to_owned(),
    };
    Site { host, tls: target.tls(), root: redirect::root(target.tls(), &target.authority) }
}

/// What is sent may be a secret: only what there is shows.
impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script")
            .field("steps", &self.steps)
            .field("data", &self.data)
            .field("names", &self.names)
            .field("longest", &self.longest)
            .field("traces", &self.traces.is_some())
            .field("idle_timeout", &self.idle_timeout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
