//! Name, target, limits and thresholds.

use super::users::Coming;
use crate::connect::{Pem, Routes, Tls};
use crate::plan::{self, Connections};
use crate::scenario::leaves::Text;
use crate::scenario::read::Reader;
use crate::scenario::source::{Problem, Source, Span};
use crate::scenario::written::{self, Threshold};
use crate::scenario::{Settings, ThresholdText};
use crate::target::{Endpoint, HttpVersion, Scheme, Target};
use headway_base::{Answer, Nanos};

/// Most connections that a file may ask for, as `-c`.
const MOST_CONNECTIONS: u64 = 10_000_000;

/// Most redirects of one request that may be followed.
const MOST_REDIRECTS: u64 = 50;

/// A name is not read more often.
const SHORTEST_REFRESH: Nanos = Nanos::from_secs(1);

/// Most requests at once on a connection that may be asked for.
const MOST_STREAMS: u64 = 1_000_000;

/// The name that the file gives, or the stem of its own.
pub(super) fn name(file: &written::File, source: &Source, reader: &mut Reader<'_>) -> Option<String> {
    let Some(name) = &file.name else {
        let base = source.name.rsplit(['/', '\\']).next().unwrap_or_default();
        let stem = base.rsplit_once('.').map_or(base, |(stem, _)| if stem.is_empty() { base } else { stem });
        let plain: String = stem.chars().map(|c| if super::is_plain(c) { c } else { '-' }).collect();
        return Some(if plain.is_empty() { "scenario".to_owned() } else { plain });
    };
    if super::is_plain_name(&name.value.text) {
        return Some(name.value.text.clone());
    }
    let title = format!("{} is no name of a run", name.value.describe());
    reader.complain(
        Problem::new(name.span, title)
            .help("write letters, digits, dot, underscore and hyphen, for example bars-2"),
    )
}

/// The target, if there is one. Its path is the base path of all steps.
pub(super) fn target(file: &written::File, reader: &mut Reader<'_>) -> Option<Target> {
    let target = file.target.as_ref()?;
    match Target::parse(&target.value.text) {
        Ok(parsed) if parsed.authorization.is_some() => {
            let problem = Problem::new(target.span, "a user and password do not belong into the target");
            reader.complain(problem.help(
                "write headers: { Authorization: 'Basic ${CREDENTIALS}' }, the value in the environment",
            ))
        }
        Ok(parsed) if parsed.path.contains('?') => {
            let problem = Problem::new(target.span, "a target has a base path, but no query");
            reader.complain(problem.help("give each step its own, for example get: /items?page=1"))
        }
        Ok(parsed) => Some(parsed),
        Err(e) => {
            let (what, help) = e.wanted.rsplit_once("; ").unwrap_or((&e.wanted, ""));
            reader.complain(Problem::new(target.span, format!("'{}' is not {what}", e.given)).help(help))
        }
    }
}

/// What only some targets have: versions of HTTP and headers, and answers of plain bytes.
pub(super) fn fitting(file: &written::File, target: Option<&Target>, reader: &mut Reader<'_>) {
    let Some((target, written)) = target.zip(file.target.as_ref()) else { return };
    let name = target.scheme.name();
    if target.scheme.is_http() {
        if let Some(answer) = &file.answer {
            let problem = Problem::new(
                answer.span,
                format!("HTTP says itself where a response ends, and the target is {name}"),
            );
            reader.problems.push(problem.help("leave it out, or write a target of tcp:// or udp://"));
        }
        return;
    }
    for key in ["http", "headers", "insecure", "redirects", "origins", "traceparent"]
        .into_iter()
        .filter(|key| file.keys.has(key))
    {
        let problem = Problem::new(
            file.keys.at(key),
            format!("a target of {name} takes plain bytes, and has no {key}"),
        );
        reader.problems.push(problem.help("leave it out"));
    }
    if target.scheme == Scheme::Dns && !target.path.is_empty() {
        let problem = Problem::new(
            written.span,
            "a target of dns is a server alone, and steps say what it is asked for",
        );
        reader
            .problems
            .push(problem.help("write target: dns://127.0.0.1, and in the journey - send: example.com A"));
    }
    let of_datagrams = |answer: &Answer| matches!(answer, Answer::Match(_) | Answer::Next);
    let help = match (target.scheme, &file.answer) {
        (Scheme::Tcp, None) => {
            let problem = Problem::new(written.span, "it is not said where a response ends");
            let help = "write answer: (--answer) 'until:\\r\\n', bytes:16, length:4, close, or none if no response is expected";
            return reader.problems.push(problem.help(help));
        }
        (Scheme::Tcp, Some(answer)) if of_datagrams(&answer.value) => {
            "over tcp write until:TEXT, bytes:N, length:4, close or none"
        }
        (Scheme::Udp, Some(answer)) if !of_datagrams(&answer.value) && answer.value != Answer::None => {
            "over udp write match:OFFSET+WIDTH, next or none"
        }
        (Scheme::Dns, Some(answer)) if answer.value != Answer::None => {
            "DNS says itself which response is whose: leave it out, or write none if no response is expected"
        }
        _ => return,
    };
    if let Some(answer) = &file.answer {
        let title = format!("'{}' is no end of a response over {name}", answer.value);
        reader.problems.push(Problem::new(answer.span, title).help(help));
    }
}

/// What TLS needs, and other places to connect to, where neither the target nor another origin has either. A certificate, its key and a
/// name to indicate are of the target.
pub(super) fn connecting(file: &written::File, target: &Target, others: &[Target], reader: &mut Reader<'_>) {
    let name = target.scheme.name();
    let any = others.iter().any(Target::tls);
    let keys = [("cert", false), ("key", false), ("cacert", any), ("sni", false), ("tls-resumption", any)];
    for (key, _) in keys.into_iter().filter(|(key, other)| file.keys.has(key) && !target.tls() && !other) {
        let title = format!("TLS is not spoken to a target of {name}");
        let problem = Problem::new(file.keys.at(key), title);
        let help = match any {
            true => {
                "it is for the target alone, not for origins of steps and redirects: leave it out, or write a target of https://"
            }
            false => "leave it out, or write a target of https://",
        };
        reader.problems.push(problem.help(help));
    }
    let connect_to = file.connect_to.iter().flatten().map(|to| {
        let alone = Routes { connect_to: vec![to.value.clone()], ..Routes::default() };
        (to.span, alone)
    });
    let all = Routes {
        connect_to: file.connect_to.iter().flatten().map(|to| to.value.clone()).collect(),
        ..Routes::default()
    };
    let Endpoint::Tcp { .. } = &target.endpoint else {
        let spans = connect_to.map(|(span, _)| span);
        let spans = spans.chain(file.dns_refresh.iter().map(|every| every.span));
        let spans = spans.chain(file.resolve.iter().flatten().map(|resolve| resolve.span));
        let spans = spans.filter(|_| others.is_empty()).chain(file.proxy.iter().map(|proxy| proxy.span));
        for span in spans {
            let problem = Problem::new(span, "a Unix socket has no host and no port");
            reader.problems.push(problem.help("leave it out"));
        }
        return;
    };
    if let Some(proxy) = file.proxy.as_ref().filter(|_| target.scheme.is_datagrams()) {
        let problem =
            Problem::new(proxy.span, format!("a target of {name} goes over UDP, and through no proxy"));
        reader.problems.push(problem.help("leave it out, or write a target of http://, https:// or tcp://"));
        return;
    }
    let proxy = file.proxy.as_ref().map(|proxy| proxy.value.endpoint());
    let Endpoint::Tcp { host, port } = proxy.as_ref().unwrap_or(&target.endpoint) else { return };
    let whose = if proxy.is_some() { "proxy" } else { "target" };
    let others = others.iter().filter(|_| proxy.is_none()).filter_map(|other| match &other.endpoint {
        Endpoint::Tcp { host, port } => Some((host.as_str(), *port)),
        Endpoint::Unix(_) => None,
    });
    let places: Vec<(&str, u16)> = std::iter::once((host.as_str(), *port)).chain(others).collect();
    // A slip of the pen must not send the load to the place that was to be spared.
    for (span, alone) in connect_to {
        if !places.iter().any(|(host, port)| alone.concerns(host, *port)) {
            let title =
                format!("no connection goes to that host and port: the {whose} is {host}, port {port}");
            let help = format!("name the host and port of the {whose}, or leave them empty");
            reader.problems.push(Problem::new(span, title).help(help));
        }
    }
    let to = all.of(host, *port);
    for resolve in file.resolve.iter().flatten() {
        let alone = Routes { resolve: vec![resolve.value.clone()], ..Routes::default() };
        let concerns = |(host, port): &(&str, u16)| {
            let to = all.of(host, *port);
            alone.concerns(&to.host, to.port)
        };
        if !places.iter().any(concerns) {
            let title =
                format!("no connection goes to that host and port, but to {}, port {}", to.host, to.port);
            reader.problems.push(Problem::new(resolve.span, title).help("name these, or leave it out"));
        }
    }
}

/// How many redirects are followed.
fn redirects(file: &written::File, reader: &mut Reader<'_>) -> u32 {
    let Some(redirects) = &file.redirects else { return 0 };
    if redirects.value > MOST_REDIRECTS {
        let title = format!("{} redirects of one request are too many to follow", redirects.value);
        reader.problems.push(
            Problem::new(redirects.span, title)
                .help(format!("write a number from 0 (none are followed) to {MOST_REDIRECTS}")),
        );
    }
    redirects.value.min(MOST_REDIRECTS) as u32
}

/// What TLS needs besides the host.
fn tls(file: &written::File, reader: &mut Reader<'_>) -> Tls {
    let mut pem = |text: &Option<Text>| {
        let text = text.as_ref()?;
        match super::bodies::read(text, reader) {
            Ok(bytes) => Some(Pem { file: text.value.text.clone(), bytes: bytes.into() }),
            Err(problem) => reader.complain(problem),
        }
    };
    let (cert, key, cacert) = (pem(&file.cert), pem(&file.key), pem(&file.cacert));
    if let (None, Some(key)) = (&file.cert, &file.key) {
        let problem = Problem::new(key.span, "a key without the certificate that it belongs to");
        reader.problems.push(problem.help("give the certificate, too: cert: client.pem (--cert client.pem)"));
    }
    let sni = file.sni.as_ref().and_then(|sni| {
        let name = sni.value.text.as_str();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if name.is_empty() || !name.chars().all(plain) || name.parse::<std::net::IpAddr>().is_ok() {
            let problem =
                Problem::new(sni.span, format!("{} is no name that TLS can indicate", sni.value.describe()));
            return reader.complain(
                problem.help("write the name of a host, as in example.org; TLS indicates no addresses"),
            );
        }
        Some(name.to_owned())
    });
    Tls { cert, key, cacert, sni, resumption: file.tls_resumption.as_ref().is_some_and(|flag| flag.value) }
}

/// Sockets that are kept connecting would connect to the proxy alone; and go wherever a name comes to lead.
pub(super) fn directly(file: &written::File, coming: &[Coming], reader: &mut Reader<'_>) {
    let connecting = |group: &&Coming| matches!(group.source, plan::Source::Connecting { .. });
    if let Some((every, group)) = file.dns_refresh.as_ref().zip(coming.iter().find(connecting)) {
        let title = "a name that is read again may come to lead elsewhere, and these do not give way";
        let problem = Problem::new(every.span, title).other(group.at, "these would be kept connecting there");
        reader.problems.push(problem.help("leave it out"));
    }
    if let Some((proxy, group)) = file.proxy.as_ref().zip(coming.iter().find(connecting)) {
        let title = "a proxy accepts connections itself, whatever the target does";
        let problem = Problem::new(proxy.span, title).other(group.at, "these would be kept connecting to it");
        reader.problems.push(problem.help("leave it out, or give the proxy as the target"));
    }
}

/// Groups of which each request opens its own connection need a protocol that has connections, of one request at a time.
pub(super) fn one_request_each(
    file: &written::File,
    coming: &[Coming],
    target: Option<&Target>,
    reader: &mut Reader<'_>,
) {
    let Some(group) = coming.iter().find(|group| group.connections == Connections::PerRequest) else {
        return;
    };
    let scheme = target.map(|target| target.scheme);
    if let Some(scheme) = scheme.filter(|scheme| scheme.is_datagrams()) {
        let title = format!("over {} there are no connections to open", scheme.name());
        reader
            .problems
            .push(Problem::new(group.at, title).help("write a target of http://, https:// or tcp://"));
        return;
    }
    let asked = file.http.as_ref().filter(|http| http.value == HttpVersion::Http2).map(|http| http.span);
    let at = file.target.as_ref().filter(|_| scheme == Some(Scheme::H2c)).map(|target| target.span);
    if let Some(at) = asked.or(at) {
        let title = "HTTP/2 sends many requests over a connection, and here each request opens its own";
        let problem = Problem::new(at, title).other(group.at, "here");
        reader
            .problems
            .push(problem.help("ask for HTTP/1.1 (--http1.1), or leave per-request (--new-connections) out"));
    }
}

/// An origin besides the target is HTTP/2 without TLS, as is asked for `at` that place.
pub(super) fn http2_elsewhere(
    file: &written::File,
    coming: Option<&[Coming]>,
    at: Span,
    reader: &mut Reader<'_>,
) {
    let asked = file.http.as_ref().filter(|http| http.value == HttpVersion::Http1).map(|http| http.span);
    let mut groups = coming.iter().copied().flatten();
    let group = groups.find(|group| group.connections == Connections::PerRequest).map(|group| group.at);
    if let Some(other) = asked.or(group) {
        let problem = Problem::new(at, "HTTP/2 without TLS, and HTTP/1.1 alone is asked for");
        let problem = problem.other(other, "here");
        reader.problems.push(problem.help("write http:// in place of h2c://, or leave that out"));
    }
}

/// What `run` has flags for.
pub(super) fn settings(file: &written::File, reader: &mut Reader<'_>) -> Settings {
    let times = [
        ("timeout", &file.timeout),
        ("idle-timeout", &file.idle_timeout),
        ("connect-timeout", &file.connect_timeout),
    ];
    for (key, time) in times {
        if let Some(time) = time.as_ref().filter(|time| time.value <= Nanos::ZERO) {
            let problem = Problem::new(time.span, format!("{key} 0s leaves no time for a response"));
            reader.problems.push(problem.help("write a time above zero"));
        }
    }
    if let Some(every) = file.dns_refresh.as_ref().filter(|every| every.value < SHORTEST_REFRESH) {
        let title = format!("a name that is read every {} is a load on its resolver", every.value);
        reader.problems.push(Problem::new(every.span, title).help("write a time of at least 1s"));
    }
    let connections = file.connections.as_ref().and_then(|c| match c.value {
        0 => reader.complain(
            Problem::new(c.span, "0 connections let nothing through").help("write a number from 1 up"),
        ),
        n if n > MOST_CONNECTIONS => {
            let title = format!("{n} connections are more than a machine could ever open");
            reader.complain(Problem::new(c.span, title).help("write at most 10m"))
        }
        n => u32::try_from(n).ok(),
    });
    let streams = file.streams.as_ref().and_then(|streams| match streams.value {
        1..=MOST_STREAMS => u32::try_from(streams.value).ok(),
        n => reader.complain(
            Problem::new(streams.span, format!("{n} streams on a connection cannot be"))
                .help("write a number from 1 to 1m; most servers allow 100 to 250"),
        ),
    });
    let time = |time: &Option<crate::scenario::leaves::Time>| time.as_ref().map(|t| t.value);
    Settings {
        connections,
        timeout: time(&file.timeout),
        idle_timeout: time(&file.idle_timeout),
        connect_timeout: time(&file.connect_timeout),
        max_wait: time(&file.max_wait),
        drain: time(&file.drain),
        max_body: file.max_body.as_ref().map(|size| size.value),
        redirects: redirects(file, reader),
        traceparent: file.traceparent.as_ref().is_some_and(|flag| flag.value),
        insecure: file.insecure.as_ref().map(|flag| flag.value),
        tls: tls(file, reader),
        routes: Routes {
            connect_to: file.connect_to.iter().flatten().map(|to| to.value.clone()).collect(),
            resolve: file.resolve.iter().flatten().map(|resolve| resolve.value.clone()).collect(),
        },
        proxy: file.proxy.as_ref().map(|proxy| proxy.value.clone()),
        dns_refresh: time(&file.dns_refresh),
        http: file.http.as_ref().map(|version| version.value),
        streams,
        spread: file.spread.as_ref().map(|flag| flag.value),
        answer: file.answer.as_ref().map(|answer| answer.value.clone()),
        effect: file.tolerances.as_ref().and_then(|t| t.effect.as_ref()).map(|share| share.value),
        lateness: file.tolerances.as_ref().and_then(|t| t.lateness.as_ref()).map(|lateness| lateness.value),
        unsent: file.tolerances.as_ref().and_then(|t| t.sent_share.as_ref()).map(|share| share.value),
    }
}

/// Thresholds, of which the grammar is another's.
pub(super) fn thresholds(file: &written::File, reader: &mut Reader<'_>) -> Vec<ThresholdText> {
    let all = file.thresholds.iter().flatten();
    all.filter_map(|threshold| match threshold {
        Threshold::Text(text) => {
            Some(ThresholdText { text: text.value.text.clone(), abort: None, span: text.span })
        }
        Threshold::Full(full) => {
            let text = full.threshold.as_ref()?;
            let abort = full.abort.as_ref().is_some_and(|abort| abort.value);
            let delay = full.delay.as_ref();
            if let (Some(_), false) = (delay, abort) {
                let problem = Problem::new(
                    full.keys.at("delay"),
                    "a delay says when the run may be ended, and this threshold does not end it",
                );
                return reader.complain(problem.help("add abort: true, or leave delay out"));
            }
            let abort = abort.then(|| delay.map_or(Nanos::ZERO, |delay| delay.value));
            Some(ThresholdText { text: text.value.text.clone(), abort, span: text.span })
        }
    })
    .collect()
}
