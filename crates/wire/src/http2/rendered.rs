//! A request as HTTP/2 has it.

use bytes::Bytes;
use http::header::{CONNECTION, HOST, HeaderName, TE, TRANSFER_ENCODING, UPGRADE};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderValue, Method, Uri, Version};

use crate::request::{Request, RequestError};

/// The head as the library takes it, and the body.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(super) head: http::Request<()>,
    pub(super) body: Bytes,
}

impl Rendered {
    /// Renders a request.
    ///
    /// # Errors
    /// [`RequestError::NotInHttp2`] for a target or an authority that HTTP/1.1 takes and HTTP/2 does not.
    pub(crate) fn of(request: &Request) -> Result<Rendered, RequestError> {
        let unfit = |what: &str| RequestError::NotInHttp2(what.to_owned());
        let mut head = http::Request::new(());
        *head.version_mut() = Version::HTTP_2;
        *head.method_mut() =
            Method::from_bytes(request.method().as_bytes()).map_err(|_| unfit(request.method()))?;
        *head.uri_mut() = uri(request).ok_or_else(|| unfit(request.target()))?;
        *head.headers_mut() = fields(request)?;
        Ok(Rendered { head, body: Bytes::copy_from_slice(request.body()) })
    }
}

/// RFC 9113, 8.3.1.
fn uri(request: &Request) -> Option<Uri> {
    let absolute = request.target().parse::<Uri>().ok().filter(|uri| uri.scheme().is_some());
    if absolute.is_some() {
        return absolute;
    }
    let mut parts = http::uri::Parts::default();
    parts.scheme = Some(if request.is_https() { Scheme::HTTPS } else { Scheme::HTTP });
    parts.authority = Some(Authority::try_from(request.authority()).ok()?);
    parts.path_and_query = Some(PathAndQuery::try_from(request.target()).ok()?);
    Uri::from_parts(parts).ok()
}

/// RFC 9113, 8.2.2: fields that speak of the connection are left out.
fn fields(request: &Request) -> Result<HeaderMap, RequestError> {
    let mut map = HeaderMap::new();
    for (name, value) in request.fields() {
        let unfit = || RequestError::NotInHttp2(format!("header {name}"));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unfit())?;
        let of_connection = [CONNECTION, TRANSFER_ENCODING, UPGRADE, HOST].contains(&name)
            || matches!(name.as_str(), "keep-alive" | "proxy-connection" | "http2-settings");
        if of_connection || (name == TE && *value != *b"trailers") {
            continue;
        }
        map.append(name, HeaderValue::from_bytes(&value).map_err(|_| unfit())?);
    }
    Ok(map)
}
