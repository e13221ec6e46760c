//! Where metrics go that a collector gets: `--otlp`, and of the environment what OpenTelemetry's own exporters read there. Nothing of the
//! environment counts without the flag.

use crate::args::OtlpArgs;
use anyhow::{Result, anyhow, bail, ensure};
use headway_engine::otlp::{Collector, OTLP};
use headway_workload::redact::Redactor;
use url::Url;

/// What is added to the URL of a collector.
const PATH: &str = "/v1/metrics";
/// Seconds from one export to the next.
const EVERY: u32 = 5;
/// Headers by which a request is carried: with another value no collector could read it.
const OWN: [&str; 6] =
    ["connection", "content-encoding", "content-length", "content-type", "host", "transfer-encoding"];

/// The collector that is asked for; `environment` gives its variables, and `redactor` hides the run's secrets.
///
/// # Errors
/// A build without OTLP; a URL, header or protocol that cannot be.
pub(super) fn collector(
    args: &OtlpArgs,
    environment: impl Fn(&str) -> Option<String>,
    redactor: &Redactor,
) -> Result<Option<Collector>> {
    let Some(asked) = &args.otlp else { return Ok(None) };
    ensure!(OTLP, "--otlp: {}", headway_base::not_built("OTLP", "otlp"));
    // An empty variable is none: OpenTelemetry, environment variable specification.
    let variable = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
    // That of metrics comes before that of all signals.
    let either = |end: &str| {
        let names = [format!("OTEL_EXPORTER_OTLP_METRICS_{end}"), format!("OTEL_EXPORTER_OTLP_{end}")];
        names.into_iter().find_map(|name| Some((variable(&name)?, name)))
    };
    let url = match asked.as_str() {
        "env" => {
            if let Some((protocol, name)) = either("PROTOCOL").filter(|(it, _)| it.trim() != "http/protobuf")
            {
                bail!("--otlp env: {name} is '{protocol}', and metrics are sent as http/protobuf alone");
            }
            let Some((text, name)) = either("ENDPOINT") else {
                bail!(
                    "--otlp env: OTEL_EXPORTER_OTLP_ENDPOINT is not set: set it, or write --otlp http://HOST:4318"
                );
            };
            // That of metrics is taken as it is.
            address(&format!("--otlp env: {name}"), &text, !name.contains("METRICS"), redactor)?
        }
        text => address("--otlp", text, true, redactor)?,
    };
    let mut redactor = redactor.clone();
    let place = redactor.hide_query(url.as_str()).into_owned();
    redactor.know_url(url.as_str());
    redactor.know_query(url.as_str());
    let mut headers = Vec::new();
    if let Some((text, name)) = either("HEADERS") {
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            // The value is no part of the message: it may be a secret.
            let (key, value) = header(pair).ok_or_else(|| {
                anyhow!("--otlp: {name}: a header is not written as it should be: write name=value,name=value, values percent-encoded")
            })?;
            if OWN.iter().any(|own| key.eq_ignore_ascii_case(own)) {
                bail!(
                    "--otlp: {name}: Headway sets the header {key} itself: leave it out; accepted are others, such as \
                     authorization=Bearer%20..."
                );
            }
            redactor.know(&value);
            headers.push((key, value));
        }
    }
    let every = args.otlp_every.unwrap_or(EVERY);
    Ok(Some(Collector { url: url.into(), place, headers, every, redactor }))
}

fn address(what: &str, text: &str, is_base: bool, redactor: &Redactor) -> Result<Url> {
    let shown = || redactor.hide_query(text).into_owned();
    let wanted = "write the URL of a collector, such as http://127.0.0.1:4318";
    let mut url =
        Url::parse(text.trim()).map_err(|error| anyhow!("{what}: '{}': {error}: {wanted}", shown()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() || url.fragment().is_some() {
        bail!("{what}: '{}' is not an address of HTTP or HTTPS: {wanted}", shown());
    }
    if !url.username().is_empty() || url.password().is_some() {
        bail!(
            "{what}: the URL holds a login: leave it out, and set OTEL_EXPORTER_OTLP_HEADERS=authorization=Basic%20..."
        );
    }
    let path = url.path().trim_end_matches('/');
    if is_base && !path.ends_with(PATH) {
        url.set_path(&format!("{path}{PATH}"));
    }
    Ok(url)
}

/// Name and value of a header that is written `name=value`.
fn header(pair: &str) -> Option<(String, String)> {
    let (name, value) = pair.split_once('=')?;
    let name = name.trim();
    let is_token = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
    // Percent-encoding as in a form, where `&` and `+` mean nothing else.
    let form = format!("{}=", value.trim().replace('&', "%26").replace('+', "%2B").replace('=', "%3D"));
    let value = url::form_urlencoded::parse(form.as_bytes()).next()?.0.into_owned();
    let is_plain = value.bytes().all(|b| (0x20..0x7f).contains(&b));
    (is_token && is_plain).then(|| (name.to_owned(), value))
}

#[cfg(all(test, feature = "otlp"))]
mod tests {
    use super::*;

    fn resolved(asked: &str, environment: &[(&str, &str)]) -> Result<Collector> {
        let args = OtlpArgs { otlp: Some(asked.to_owned()), otlp_every: None };
        let find = |name: &str| {
            environment.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
        };
        Ok(collector(&args, find, &Redactor::default())?.unwrap())
    }

    #[test]
    fn the_path_of_metrics_is_added_where_it_is_not_there() {
        for (asked, url) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics"),
            ("https://c.example/otlp/", "https://c.example/otlp/v1/metrics"),
            ("http://c/v1/metrics", "http://c/v1/metrics"),
            ("http://c/api?tenant=a", "http://c/api/v1/metrics?tenant=a"),
        ] {
            assert_eq!(resolved(asked, &[]).unwrap().url, url);
        }
    }

    #[test]
    fn the_environment_counts_as_that_of_other_exporters() {
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318");
        let own = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://own/in");
        assert_eq!(resolved("env", &[all]).unwrap().url, "http://all:4318/v1/metrics");
        assert_eq!(resolved("env", &[all, own]).unwrap().url, "http://own/in");
        assert_eq!(resolved("http://typed", &[all, own]).unwrap().url, "http://typed/v1/metrics");
        let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b=+c, x=1&2,");
        let found = resolved("http://typed", &[headers]).unwrap().headers;
        assert_eq!(found, [("api-key", "a b=+c"), ("x", "1&2")].map(|(k, v)| (k.to_owned(), v.to_owned())));
    }

    #[test]
    fn the_query_of_a_collector_shows_its_names_alone() {
        let of = resolved("http://c?tenant=s3cr3t-value&bare-s3cr3t", &[]).unwrap();
        assert_eq!(of.place, "http://c/v1/metrics?tenant=<redacted>&<redacted>");
        assert_eq!(of.redactor.hide_foreign("s3cr3t-value of bare-s3cr3t"), "<redacted> of <redacted>");
    }

    #[test]
    fn what_cannot_be_says_what_could() {
        let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4317");
        let bad = |value| ("OTEL_EXPORTER_OTLP_HEADERS", value);
        for (asked, environment, part) in [
            ("env", &[][..], "OTEL_EXPORTER_OTLP_ENDPOINT is not set"),
            ("env", &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")], "OTEL_EXPORTER_OTLP_ENDPOINT is not set"),
            (
                "env",
                &[all, grpc],
                "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc', and metrics are sent as http/protobuf",
            ),
            (
                "env",
                &[("OTEL_EXPORTER_OTLP_ENDPOINT", "c:4318")],
                "OTEL_EXPORTER_OTLP_ENDPOINT: 'c:4318' is not",
            ),
            ("127.0.0.1:4318", &[], "such as http://127.0.0.1:4318"),
            ("ftp://c", &[], "not an address of HTTP or HTTPS"),
            ("ftp://c?tenant=s3cr3t-value", &[], "'ftp://c?tenant=<redacted>' is not an address"),
            ("c?tenant=s3cr3t-value", &[], "'c?tenant=<redacted>': "),
            ("http://u:s3cr3t-value@c", &[], "the URL holds a login"),
            (
                "http://c",
                &[bad("api-key=a,Host=s3cr3t-value")],
                "OTEL_EXPORTER_OTLP_HEADERS: Headway sets the header Host itself",
            ),
            (
                "http://c",
                &[bad("content-length=5")],
                "accepted are others, such as authorization=Bearer%20...",
            ),
            ("http://c", &[bad("Transfer-Encoding=chunked")], "the header Transfer-Encoding itself"),
            ("http://c", &[bad("connection=close")], "the header connection itself"),
            ("http://c", &[bad("content-type=application/json")], "the header content-type itself"),
            ("http://c", &[bad("content-encoding=gzip")], "the header content-encoding itself"),
            ("http://c", &[bad("s3cr3t-value")], "name=value,name=value"),
            ("http://c", &[bad("a b=s3cr3t-value")], "name=value,name=value"),
            ("http://c", &[bad("a=s3cr3t-value%0a")], "name=value,name=value"),
        ] {
            let error = resolved(asked, environment).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("--otlp"), "{asked}: {error}");
            assert!(!error.contains("s3cr3t"), "{error}");
        }
    }
}
