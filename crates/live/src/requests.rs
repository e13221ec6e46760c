//! What goes out and what its answer means: requests of a script as bytes of the wire protocol, and the answers read
//! by it.
//!
//! A step that is the same for every session is rendered once. What sessions keep (extracted values, cookies) lies in a slot
//! per session of the worker that plays it.

use crate::protocols::Protocols;
use headway_base::{KnownFailure, Nanos, Outcome};
use headway_wire::protocol::by_scheme;
use headway_wire::{Limits, Opened, Payload, Protocol, Unfit};
use headway_workload::client::SessionId;
use headway_workload::connect::Proxy;
use headway_workload::content::{
    Memory, Reader, Reading, Reason, Refusal, RenderContext, Script, StreamKind, StreamReader,
};
use headway_workload::target::Endpoint;
use headway_workload::{Request, RequestKey, SessionControl, Target};
use std::borrow::Cow;
use std::sync::Arc;
use thiserror::Error;

/// The requests of a run, those that can be rendered.
#[derive(Clone, Debug)]
pub struct Requests {
    /// Where they go: the target, then the other origins by their number.
    places: Vec<Place>,
    /// What writes the bytes of steps, where they are not requests of HTTP.
    plain: Option<&'static dyn Protocol>,
    script: Arc<Script>,
    /// By step: what is sent, where it is always the same.
    fixed: Vec<Option<Payload>>,
    /// Whether the target is asked to close the connection after its response.
    closes: bool,
}

/// Where requests go, as they say it.
#[derive(Clone, Debug)]
struct Place {
    host: String,
    port: Option<u16>,
    https: bool,
    /// Where they go to a proxy, which is to send them on.
    forwarded: Option<Forwarded>,
}

impl Place {
    fn of(target: &Target) -> Place {
        let https = target.tls();
        let default_port = if https { 443 } else { 80 };
        let (host, port) = match &target.endpoint {
            Endpoint::Tcp { host, port } => (host.clone(), Some(*port).filter(|&p| p != default_port)),
            Endpoint::Unix(_) => (target.authority.clone(), None),
        };
        Place { host, port, https, forwarded: None }
    }
}

/// What a request to a proxy holds besides.
#[derive(Clone)]
struct Forwarded {
    /// What paths are put behind: `http://host:port`.
    origin: String,
    /// The value of Proxy-Authorization.
    authorization: Option<String>,
}

/// Credentials do not show.
impl std::fmt::Debug for Forwarded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Forwarded({})", self.origin)
    }
}

/// A step that the protocol cannot send.
#[derive(Debug, Error)]
#[error("step {step}: {error}")]
pub struct RequestsError {
    /// Name of the step.
    pub step: String,
    /// What is wrong with it.
    pub error: Unfit,
}

impl Requests {
    /// The requests of that script to that target.
    ///
    /// # Errors
    /// A step that is the same for all sessions and holds something that the protocol does not allow. Others are found when they are due.
    pub fn new(target: &Target, script: Arc<Script>) -> Result<Requests, RequestsError> {
        Requests::to(std::slice::from_ref(target), script)
    }

    /// The same to the target and the other origins of the script, by their number.
    ///
    /// # Errors
    /// As [`Requests::new`].
    pub fn to(origins: &[Target], script: Arc<Script>) -> Result<Requests, RequestsError> {
        let plain = origins.first().filter(|target| !target.scheme.is_http());
        let plain = plain.and_then(|target| by_scheme(target.scheme.name()));
        let places = origins.iter().map(Place::of).collect();
        Requests { places, plain, fixed: Vec::new(), script, closes: false }.rendered()
    }

    /// The same, asking the target to close the connection after its response, unless a step has a header of its own on that.
    ///
    /// # Errors
    /// As [`Requests::new`].
    pub fn closing(self) -> Result<Requests, RequestsError> {
        Requests { closes: true, ..self }.rendered()
    }

    /// The same to the origin of that number, which is `target`, as a proxy is given them: with the whole URL, and the user and password
    /// of the proxy.
    ///
    /// # Errors
    /// As [`Requests::new`].
    pub fn forwarded(
        mut self,
        number: u16,
        target: &Target,
        proxy: &Proxy,
    ) -> Result<Requests, RequestsError> {
        let (origin, authorization) = (format!("http://{}", target.authority), proxy.authorization.clone());
        self.places[usize::from(number)].forwarded = Some(Forwarded { origin, authorization });
        self.rendered()
    }

    fn rendered(mut self) -> Result<Requests, RequestsError> {
        let steps = u16::try_from(self.script.steps().len()).unwrap_or(u16::MAX);
        self.fixed = (0..steps).map(|step| self.render_fixed(step)).collect::<Result<_, _>>()?;
        Ok(self)
    }

    fn render_fixed(&self, step: u16) -> Result<Option<Payload>, RequestsError> {
        if !self.script.is_fixed(step, &Memory::default()) {
            return Ok(None);
        }
        let sending = RequestKey { step, ..RequestKey::default() };
        let visit = RenderContext { sending: &sending, now_unix_ns: 0 };
        // Nothing in it can be missing: the answer is never a refusal.
        let Ok(request) = self.script.render(&visit, &Memory::default()) else { return Ok(None) };
        let name = || self.script.steps()[usize::from(step)].name().to_string();
        let origin = self.script.origin(step, &Memory::default());
        self.wire(&request, origin).map(Some).map_err(|error| RequestsError { step: name(), error })
    }

    /// Whether those to the origin of that number are requests of HTTP, sent without TLS.
    pub(crate) fn are_plain_http(&self, origin: u16) -> bool {
        self.plain.is_none() && !self.places[usize::from(origin)].https
    }

    /// The script behind them.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// A request to the origin of that number as the wire protocol has it.
    ///
    /// # Errors
    /// A method, path or header that HTTP does not allow.
    pub fn wire(&self, request: &Request, origin: u16) -> Result<Payload, Unfit> {
        let Place { host, port, https, forwarded } = &self.places[usize::from(origin)];
        if let Some(protocol) = self.plain {
            return protocol.payload(&request.body);
        }
        let path = match forwarded {
            // OPTIONS of the target as a whole has no path then (RFC 9112, 3.2.4).
            Some(forwarded) if request.path == "*" => Cow::Borrowed(forwarded.origin.as_str()),
            Some(forwarded) if request.path.starts_with('/') => {
                Cow::Owned(forwarded.origin.clone() + &request.path)
            }
            _ => Cow::Borrowed(request.path.as_str()),
        };
        let mut builder =
            headway_wire::Request::builder(request.method.as_str(), host.as_str(), path.into_owned())
                .port(*port)
                .https(*https);
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let says = |own: &str| request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(own));
        if self.closes && !says("connection") {
            builder = builder.header("Connection", "close");
        }
        let authorization = forwarded.as_ref().and_then(|forwarded| forwarded.authorization.as_ref());
        if let Some(value) = authorization.filter(|_| !says("proxy-authorization")) {
            builder = builder.header("Proxy-Authorization", value);
        }
        if !request.body.is_empty() {
            builder = builder.body(request.body.as_slice());
        }
        Ok(Payload::Http(builder.build()?))
    }

    /// Whether these protocols can send what is known before the run.
    ///
    /// # Errors
    /// A step that would never be sent.
    pub fn fit(&self, protocols: &Protocols) -> Result<(), RequestsError> {
        let Some(protocol) = self.plain else { return Ok(()) };
        let settings = protocols.settings(Limits::DEFAULT);
        for (payload, step) in self.fixed.iter().zip(self.script.steps()) {
            protocol
                .fits(payload.as_ref(), &settings)
                .map_err(|error| RequestsError { step: step.name().to_string(), error })?;
        }
        Ok(())
    }

    /// The request of one session's turn, for steps that differ between sessions.
    fn make(&self, sending: &RequestKey, now_unix_ns: i128, memory: &Memory) -> Result<Payload, Refusal> {
        let request = self.script.render(&RenderContext { sending, now_unix_ns }, memory)?;
        if self.plain.is_some() && request.body.is_empty() {
            // A datagram without bytes would be one of our own.
            return Err(self.unfit(sending.step, &Unfit::Empty));
        }
        let origin = self.script.origin(sending.step, memory);
        self.wire(&request, origin).map_err(|error| self.unfit(sending.step, &error))
    }

    /// The protocol does not allow what this step is to send.
    fn unfit(&self, step: u16, error: &Unfit) -> Refusal {
        let step = self.script.steps()[usize::from(step)].name();
        let same = format!("step {step}: the protocol cannot send what it holds");
        let kind = Some(KnownFailure::Unfit);
        let reason = Reason { whole: format!("step {step}: {error}"), same, kind };
        Refusal { outcome: Outcome::Unsent, then: SessionControl::Continue, reason }
    }
}

/// The status by which a proxy asks who its user is.
const PROXY_AUTHENTICATION: u16 = 407;

/// What one worker's sessions keep.
#[derive(Debug, Default)]
pub(crate) struct SessionStore {
    memories: Vec<Memory>,
}

/// A request under way: whose it is, and what is read of its answer.
#[derive(Debug)]
pub(crate) struct InFlight {
    sending: RequestKey,
    pub(crate) reader: Reader,
    /// Finds the events of the answer, where these are wanted.
    pub(crate) stream: Option<StreamReader>,
}

impl InFlight {
    /// Whose request it is.
    pub(crate) fn session(&self) -> SessionId {
        self.sending.session
    }
}

impl SessionStore {
    /// Gives the request that is to be sent to `send`; returns what is to be done with its answer.
    pub(crate) fn ask(
        &mut self,
        requests: &Requests,
        sending: &RequestKey,
        now_unix_ns: impl FnOnce() -> i128,
        send: impl FnOnce(&Payload) -> Opened,
    ) -> Result<(Opened, InFlight), Refusal> {
        let script = requests.script();
        if script.needs_memory() {
            let slot = sending.session as usize;
            if self.memories.len() <= slot {
                self.memories.resize_with(slot + 1, Memory::default);
            }
            if sending.ordinal == 0 && !script.is_redirected(sending.step) {
                self.memories[slot].clear();
            }
        }
        let stream = script.steps()[usize::from(sending.step)].streams().map(StreamKind::reader);
        let asked = InFlight { sending: *sending, reader: script.reader(sending.step), stream };
        let nothing = Memory::default();
        let memory = self.memories.get(sending.session as usize).unwrap_or(&nothing);
        let opened = match &requests.fixed[usize::from(sending.step)] {
            Some(fixed) if script.is_fixed(sending.step, memory) => send(fixed),
            _ => send(&requests.make(sending, now_unix_ns(), memory)?),
        };
        match opened {
            Opened::Unfit(error) => Err(requests.unfit(sending.step, &error)),
            opened => Ok((opened, asked)),
        }
    }

    /// What the answer means, `response` after the request was due.
    pub(crate) fn answer(
        &mut self,
        requests: &Requests,
        (asked, status): (InFlight, u16),
        now_unix_ns: impl FnOnce() -> i128,
        response: Nanos,
    ) -> Reading {
        let InFlight { sending, reader, .. } = asked;
        let script = requests.script();
        let memory = self.memories.get_mut(sending.session as usize);
        let origin = script.origin(sending.step, memory.as_deref().unwrap_or(&Memory::default()));
        let place = &requests.places[usize::from(origin)];
        let told = match requests.are_plain_http(origin) {
            true => reader.says_tls_is_expected().then_some(KnownFailure::TlsExpected),
            false => reader.says_of_certificate().filter(|_| place.https),
        };
        let mut reading = match memory {
            Some(memory) if script.needs_memory() => {
                let visit = RenderContext { sending: &sending, now_unix_ns: now_unix_ns() };
                script.finish(&visit, reader, memory, response)
            }
            _ => {
                let visit = RenderContext { sending: &sending, now_unix_ns: 0 };
                script.finish(&visit, reader, &mut Memory::default(), response)
            }
        };
        let told = match (&place.forwarded, status) {
            (Some(_), PROXY_AUTHENTICATION) => Some(KnownFailure::ProxyAuthentication),
            _ => told,
        };
        if let Some((reason, kind)) = reading.reason.as_mut().zip(told) {
            reason.kind = Some(kind);
        }
        reading
    }

    /// Steps of a session whose links lead to another origin than the journey says, and the number of that.
    pub(crate) fn leads(&self, requests: &Requests, session: SessionId) -> Vec<(u16, u16)> {
        let memory = self.memories.get(session as usize);
        memory.map_or_else(Vec::new, |memory| requests.script().leads(memory))
    }

    /// A request has no answer: what it was to give is not there.
    pub(crate) fn missed(&mut self, requests: &Requests, asked: &InFlight) {
        if let Some(memory) = self.memories.get_mut(asked.sending.session as usize) {
            requests.script().missed(asked.sending.step, memory);
        }
    }
}
