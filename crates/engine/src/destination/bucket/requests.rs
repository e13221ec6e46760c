//! Requests of object_store over a blocking client, with the TLS of the rest of this program and the system's roots. Each has a thread, so that it can be left behind.
//!
//! What a store says when it refuses is taken from its answer: the URLs and headers of requests, which may hold secrets, are never in a message.

use super::super::Failures;
use super::super::address::BUCKETS;
use super::environment::Environment;
use headway_live::service;
use headway_live::service::ureq::http::{Method, Request, Response, StatusCode, Uri};
use headway_live::service::ureq::{self, Agent};
use http_body_util::BodyExt as _;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions, Result};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

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
pub(super) struct Requests {
    /// The provider.
    scheme: &'static str,
    environment: Arc<Environment>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    said: Said,
    failures: Option<Failures>,
    /// When a request last had an answer that was no failure.
    success: Option<Instant>,
    /// Whether the last request failed.
    fails: bool,
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
    pub(super) fn new(scheme: &str, environment: Environment) -> Requests {
        let scheme = BUCKETS.into_iter().find(|known| *known == scheme).unwrap_or_default();
        Requests { scheme, environment: Arc::new(environment), state: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// When a request last had an answer that was no failure.
    pub(super) fn success(&self) -> Option<Instant> {
        self.state().success
    }

    /// What the store said at last, if the last request failed.
    pub(super) fn failing(&self) -> Option<String> {
        let state = self.state();
        state.failures.as_ref().filter(|_| state.fails).map(|failures| failures.last.clone())
    }

    /// `text` is shown: its secrets are replaced.
    fn note(&self, text: &str, refused: bool, lacks_bucket: bool) {
        let text = short(text);
        let mut state = self.state();
        if !refused {
            let n = state.failures.as_ref().map_or(0, |before| before.n) + 1;
            state.failures = Some(Failures { n, last: text.clone() });
        }
        state.fails = !refused;
        let tries = state.said.tries;
        state.said = Said { tries, text, refused, lacks_bucket };
    }

    /// That no credentials are to be had, for that reason.
    fn lacks_credentials(&self, why: &str) -> String {
        let variables = match self.scheme {
            "gs" => "neither GOOGLE_SERVICE_ACCOUNT nor GOOGLE_SERVICE_ACCOUNT_KEY is set",
            "az" => "none of AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_KEY and AZURE_CLIENT_SECRET is set",
            _ => "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set",
        };
        format!("no credentials: {variables}, and the metadata service of a cloud gave none ({why})")
    }
}

impl HttpConnector for Requests {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let connecting = |options: &ClientOptions| options.get_config_value(&ClientConfigKey::ConnectTimeout);
        let metadata = ClientOptions::new().with_connect_timeout(CONNECT_METADATA);
        let is_metadata = connecting(options) == connecting(&metadata);
        // object_store lets requests to a metadata service, which has no TLS, do without.
        let by_itself = options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
        let https_only = !(self.environment.http || is_metadata && by_itself);
        // A store without TLS needs no roots; where there are none, one with TLS is refused.
        let config = service::config(true).or_else(|_| service::config(false));
        let agent = config
            .map_err(|error| object_store::Error::Generic { store: "HTTP", source: Box::new(error) })?
            .https_only(https_only)
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
        let agent = self.agent.clone();
        let run = move || {
            let response = match bare {
                true => agent.run(Request::from_parts(parts, ())),
                false => agent.run(Request::from_parts(parts, &body[..])),
            }?;
            let (parts, mut body) = response.into_parts();
            Ok(Response::from_parts(parts, body.with_config().limit(u64::MAX).read_to_vec()?))
        };
        let (tell, told) = oneshot::channel();
        // A caller that does not wait for it any more does not hear of it.
        let work = move || drop(tell.send(run()));
        let begun = thread::Builder::new().name("store".to_owned()).spawn(work);
        let answered = match begun {
            Ok(_) => {
                told.await.unwrap_or_else(|_| Err(std::io::Error::other("the request was given up").into()))
            }
            Err(error) => Err(error.into()),
        };
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
            let mut state = self.requests.state();
            (state.success, state.fails) = (Some(Instant::now()), false);
            return;
        }
        let body = String::from_utf8_lossy(body);
        let code = element(&body, "Code").unwrap_or_default();
        let message = element(&body, "Message").unwrap_or_default();
        // Each by itself: a code may end in the name of a secret, which hides what follows.
        let foreign = |text: &str| self.requests.environment.redactor.hide_foreign(text).into_owned();
        let text = [status.to_string(), foreign(code), foreign(message)];
        let text = text.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        let lacks_bucket = ["NoSuchBucket", "ContainerNotFound"].contains(&code);
        let again = status.is_server_error()
            || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status);
        let what = match () {
            () if lacks_bucket => format!("there is no such bucket ({text})"),
            () if self.is_metadata => self.requests.lacks_credentials(&text),
            () => text,
        };
        self.requests.note(&what, !again, lacks_bucket);
    }

    /// A request without an answer. All are tried again, also those that may have been carried out: what is to be made once is compared then.
    fn broken(&self, uri: &Uri, error: ureq::Error) -> HttpError {
        let host =
            uri.authority().map_or("the store", |at| at.as_str().rsplit('@').next().unwrap_or_default());
        let (what, refused) = match &error {
            _ if self.is_metadata => (self.requests.lacks_credentials(&format!("{host}: {error}")), true),
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
        let what = self.requests.environment.redactor.hide(&what).into_owned();
        self.requests.note(&what, refused, false);
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

/// As part of a sentence on a terminal: without control characters, and not longer than [`SHOWN`].
fn short(text: &str) -> String {
    let text = text.trim_end_matches('.').replace(char::is_control, "\u{fffd}");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of an answer of a store to requests with these variables.
    fn heard(is_metadata: bool, status: StatusCode, body: &str) -> Said {
        let variables = [("AWS_SECRET_ACCESS_KEY".into(), "mk/Secret+Key".into())];
        let environment = super::super::environment::read("s3", variables.into_iter()).unwrap();
        let requests = Requests::new("s3", environment);
        let agent = Agent::new_with_defaults();
        Service { agent, is_metadata, requests: requests.clone() }.hear(status, body.as_bytes());
        requests.said()
    }

    #[test]
    fn what_a_store_says_stays_readable_without_secrets_and_control_characters() {
        let error = |code: &str, message: &str| {
            let body = format!("<Error><Code>{code}</Code><Message>{message}</Message></Error>");
            heard(false, StatusCode::FORBIDDEN, &body).text
        };
        assert_eq!(
            error("SignatureDoesNotMatch", "The request signature we calculated does not match."),
            "403 Forbidden: SignatureDoesNotMatch: The request signature we calculated does not match"
        );
        assert_eq!(error("A", "red \u{1b}[31m\u{7}"), "403 Forbidden: A: red \u{fffd}[31m\u{fffd}");
        let hidden = error("A", "not mk/Secret+Key, nor http://127.0.0.1/?X-Amz-Signature=0123abcd here");
        assert!(hidden.starts_with("403 Forbidden: A: not <redacted>, nor http://127.0.0.1/"), "{hidden}");
        assert!(!hidden.contains("0123abcd"), "{hidden}");
    }

    #[test]
    fn a_metadata_service_that_refuses_is_not_taken_for_the_store() {
        let said = heard(true, StatusCode::FORBIDDEN, "");
        assert!(said.refused && said.text.starts_with("no credentials: AWS_ACCESS_KEY_ID"), "{}", said.text);
        assert!(said.text.ends_with("gave none (403 Forbidden)"), "{}", said.text);
    }
}
