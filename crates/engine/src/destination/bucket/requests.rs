//! Requests of object_store over a blocking client, with the TLS of the rest of this program and the system's roots.
//!
//! What a store says when it refuses is taken from its answer: the URLs and headers of requests, which may hold secrets, are never in a message.

use super::super::Failures;
use headway_live::service;
use headway_live::service::ureq::http::{Method, Request, Response, StatusCode, Uri};
use headway_live::service::ureq::{self, Agent};
use headway_workload::redact::Redactor;
use http_body_util::BodyExt as _;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions, Result};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a connection may take.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
/// As object_store has it of a metadata service, which a machine outside a cloud has not.
const CONNECT_METADATA: Duration = Duration::from_secs(1);
/// How long a step of a request may take in which nothing moves.
const STILL: Duration = Duration::from_secs(20);
/// Characters of what a store says that are shown.
const SHOWN: usize = 300;

/// Makes clients, and keeps what the store said.
#[derive(Clone, Debug)]
pub(super) struct Requests(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    said: Said,
    failures: Option<Failures>,
}

/// What became of the requests of one call.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// How often it was tried.
    pub(super) tries: u32,
    /// What went wrong at last, secrets replaced; empty if nothing did.
    pub(super) text: String,
    /// Whether trying again is of no use.
    pub(super) refused: bool,
    /// Whether it is the bucket that is not there.
    pub(super) lacks_bucket: bool,
}

impl Requests {
    pub(super) fn new() -> Requests {
        Requests(Arc::default())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new call begins.
    pub(super) fn begin(&self) {
        self.state().said = Said::default();
    }

    /// What became of the requests of this call.
    pub(super) fn said(&self) -> Said {
        self.state().said.clone()
    }

    /// Requests that failed and were tried again, over all calls.
    pub(super) fn failures(&self) -> Option<Failures> {
        self.state().failures.clone()
    }

    fn note(&self, text: &str, refused: bool, lacks_bucket: bool) {
        let text = Redactor::default().hide_foreign(text).into_owned();
        let mut state = self.state();
        if !refused {
            let n = state.failures.as_ref().map_or(0, |before| before.n) + 1;
            state.failures = Some(Failures { n, last: text.clone() });
        }
        let tries = state.said.tries;
        state.said = Said { tries, text, refused, lacks_bucket };
    }
}

impl HttpConnector for Requests {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let is = |key, value: &str| options.get_config_value(&key).as_deref() == Some(value);
        let connecting = |options: &ClientOptions| options.get_config_value(&ClientConfigKey::ConnectTimeout);
        let metadata = ClientOptions::new().with_connect_timeout(CONNECT_METADATA);
        let is_metadata = connecting(options) == connecting(&metadata);
        // A store without TLS needs no roots; where there are none, one with TLS is refused.
        let config = service::config(true).or_else(|_| service::config(false));
        let agent = config
            .map_err(|error| object_store::Error::Generic { store: "HTTP", source: Box::new(error) })?
            .https_only(is(ClientConfigKey::AllowHttp, "false"))
            .timeout_connect(Some(if is_metadata { CONNECT_METADATA } else { CONNECT }))
            .timeout_per_write(Some(STILL))
            .timeout_per_read(Some(STILL))
            .timeout_recv_response(Some(STILL))
            .build()
            .new_agent();
        Ok(HttpClient::new(Service { agent, is_metadata, requests: self.clone() }))
    }
}

/// Carries requests.
#[derive(Debug)]
struct Service {
    agent: Agent,
    /// Whether they go to the service of the machine that gives credentials.
    is_metadata: bool,
    requests: Requests,
}

impl Service {
    async fn carry(&self, request: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let (uri, bare) = (parts.uri.clone(), [Method::GET, Method::HEAD].contains(&parts.method));
        self.requests.state().said.tries += 1;
        let answered = match bare {
            true => self.agent.run(Request::from_parts(parts, ())),
            false => self.agent.run(Request::from_parts(parts, &body[..])),
        };
        let answered = answered.and_then(|response| {
            let (parts, mut body) = response.into_parts();
            Ok(Response::from_parts(parts, body.with_config().limit(u64::MAX).read_to_vec()?))
        });
        match answered {
            Ok(response) => {
                self.hear(response.status(), response.body());
                Ok(response.map(Into::into))
            }
            Err(error) => Err(self.broken(&uri, error)),
        }
    }

    /// What an answer says that is no success.
    fn hear(&self, status: StatusCode, body: &[u8]) {
        let known = [StatusCode::NOT_MODIFIED, StatusCode::CONFLICT, StatusCode::PRECONDITION_FAILED];
        if status.is_success() || known.contains(&status) {
            return;
        }
        let body = String::from_utf8_lossy(body);
        let code = element(&body, "Code").unwrap_or_default();
        let message = element(&body, "Message").unwrap_or_default();
        let text = [status.to_string(), code.to_owned(), message.to_owned()];
        let text = text.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        let lacks_bucket = ["NoSuchBucket", "ContainerNotFound"].contains(&code);
        let again = status.is_server_error()
            || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status);
        let what = if lacks_bucket { format!("there is no such bucket ({text})") } else { text };
        self.requests.note(&short(&what), !again, lacks_bucket);
    }

    /// A request without an answer. All are tried again, also those that may have been carried out: what is to be made once is compared then.
    fn broken(&self, uri: &Uri, error: ureq::Error) -> HttpError {
        let host =
            uri.authority().map_or("the store", |at| at.as_str().rsplit('@').next().unwrap_or_default());
        let (what, refused) = match &error {
            _ if self.is_metadata => (
                "no credentials: the environment has none (docs/scale.md names the variables), and no metadata service of a cloud is here"
                    .to_owned(),
                true,
            ),
            ureq::Error::RequireHttpsOnly(_) => {
                (format!("{host}: without TLS, and that is not allowed: AWS_ALLOW_HTTP=true allows it"), true)
            }
            // What rustls refuses while bytes are read: a certificate, for one.
            ureq::Error::Io(error) => {
                (format!("{host}: {error}"), error.kind() == std::io::ErrorKind::InvalidData)
            }
            other @ (ureq::Error::Rustls(_)
            | ureq::Error::Tls(_)
            | ureq::Error::BadUri(_)
            | ureq::Error::InvalidProxyUrl) => (format!("{host}: {other}"), true),
            other => (format!("{host}: {other}"), false),
        };
        self.requests.note(&short(&what), refused, false);
        let kind = if refused { HttpErrorKind::Unknown } else { HttpErrorKind::Request };
        HttpError::new(kind, error)
    }
}

impl HttpService for Service {
    // As async_trait has it.
    fn call<'a, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = std::result::Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(self.carry(request))
    }
}

/// What stands in that element of an XML document, which is of one line there.
fn element<'t>(document: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = document.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>"))?.0.lines().next()
}

/// As part of a sentence.
fn short(text: &str) -> String {
    let text = text.trim_end_matches('.');
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}
