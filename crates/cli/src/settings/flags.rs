//! Flags as values of a scenario: what `run` and `plan` are given for a URL becomes a scenario of one request, and flags take
//! the place of its values as of those of a file.
//!
//! Deliberately absent: what the values may be. The scenario's checker says so, and names the flag.

use super::scenario::Logs;
use crate::args::{Beside, Given, LoadArgs, PhasesArgs, RunArgs, ThresholdArgs, Tolerance, ToleranceArgs};
use anyhow::{Result, anyhow, bail};
use headway_base::Nanos;
use headway_base::answer::unescaped;
use headway_engine::files;
use headway_engine::manifest::STEP;
use headway_stats::Threshold;
use headway_workload::Target;
use headway_workload::arrivals::{Arriving, TraceOf};
use headway_workload::redact::Redactor;
use headway_workload::scenario::{LONGEST_NAME, MOST_STEPS, Override, names_a_host};
use headway_workload::target::Scheme;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Methods that are keys of a step.
const VERBS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// The step of a target that takes plain bytes.
const SEND: &str = "send";

/// What kind of load flags ask for where there is no file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Arrive,
    /// Arrivals whose rates `--phases` gives.
    Phases,
    /// Arrivals as a log tells.
    Trace,
    Closed,
    Connecting,
    Work,
    AtOnce,
}

impl Kind {
    /// The kind that the flags ask for.
    ///
    /// # Errors
    /// Flags that contradict each other.
    fn of(args: &LoadArgs) -> Result<Kind> {
        for (there, beside, name) in [
            (is_trace(args), Beside::Trace, "--arrivals trace(...)"),
            (args.phases.phases.is_some(), Beside::Phases, "--phases"),
        ] {
            if let Some((flag, why)) = args.out_of_place(beside).filter(|_| there) {
                bail!("{flag} does not go with {name}: {why}");
            }
        }
        let closed = args.users.is_some() || args.think.is_some();
        if args.connecting.is_some()
            && (closed || args.rate.is_some() || args.at_once.is_some() || args.requests.is_some())
        {
            bail!(
                "--connecting is a load of its own, which follows from the number of sockets and --connect-timeout: it goes without -R, -n, \
                 -u, --think and --at-once"
            );
        }
        let kind = match (args.rate.is_some(), args.at_once.is_some(), args.requests.is_some()) {
            _ if args.connecting.is_some() => Kind::Connecting,
            (true, false, _) if closed => bail!(
                "-R (an open workload) and -u/--think (a closed one, in which users wait for their responses) are two kinds of load: \
                 give one of them"
            ),
            (rate, true, requests) if closed || rate || requests => {
                bail!("--at-once is a load of its own: it goes without -R, -n, -u and --think")
            }
            (_, true, _) => Kind::AtOnce,
            (false, false, true) => Kind::Work,
            _ if closed => Kind::Closed,
            _ if args.phases.phases.is_some() => Kind::Phases,
            _ if is_trace(args) => Kind::Trace,
            _ => Kind::Arrive,
        };
        let arrives = matches!(kind, Kind::Arrive | Kind::Phases | Kind::Trace);
        if args.arrivals.is_some() && !arrives {
            bail!(
                "--arrivals is for users who arrive (-R, --phases): with -u, -n, --at-once and --connecting there is no arrival process"
            );
        }
        if args.pool.is_some() && arrives {
            bail!("--pool is for -u and -n: arrivals of one request each share the connections");
        }
        if kind == Kind::Work && (args.ramp.is_some() || args.warmup.is_some()) {
            bail!("-n without -R is fixed work, which has no --ramp and no --warmup");
        }
        if kind == Kind::AtOnce && (args.ramp.is_some() || args.warmup.is_some() || args.duration.is_some()) {
            bail!(
                "--at-once begins with all at zero and ends with the last: it has no --ramp, --warmup or -d"
            );
        }
        Ok(kind)
    }

    /// The group of users, with the defaults for what flags do not say.
    fn group(self) -> &'static str {
        match self {
            Kind::Arrive => "{ arrive: { rate: 50/s }, phases: [{ hold: 10s }] }",
            Kind::Phases | Kind::Trace => "{ arrive: {} }",
            Kind::Closed => "{ closed: { count: 1 }, phases: [{ hold: 10s }] }",
            Kind::Connecting => "{ connecting: { sockets: 1 }, phases: [{ hold: 10s }] }",
            // hey's and oha's number of users.
            Kind::Work => "{ work: { requests: 1, users: 50 } }",
            Kind::AtOnce => "{ at-once: 1 }",
        }
    }

    /// Which of the defaults are taken, as the flags that say the same.
    fn assumed(self, args: &LoadArgs, connections: bool) -> Vec<String> {
        let none = |given: bool, words: &'static str| (!given).then_some(words);
        let length = none(args.duration.is_some() || args.requests.is_some(), "-d 10s");
        let words = match self {
            Kind::Arrive => [none(args.rate.is_some(), "-R 50/s"), length],
            Kind::Closed => [none(args.users.is_some(), "-u 1"), length],
            Kind::Connecting => [None, length],
            Kind::Work => [none(args.users.is_some() || connections, "-c 50"), None],
            Kind::Phases | Kind::Trace | Kind::AtOnce => [None, None],
        };
        words.into_iter().flatten().map(str::to_owned).collect()
    }
}

/// Whether a log says when each arrives.
fn is_trace(args: &LoadArgs) -> bool {
    trace_of(args).is_some()
}

/// The log that says when each arrives, where one does.
fn trace_of(args: &LoadArgs) -> Option<&TraceOf> {
    match &args.arrivals.as_ref()?.value {
        Arriving::Trace(of) => Some(of),
        Arriving::Process(_) => None,
    }
}

/// A scenario of one request, made from flags.
pub(super) struct Made {
    /// Its text, with defaults for what flags say.
    pub text: String,
    /// What takes the place of the defaults.
    pub values: Vec<Override>,
    /// Which defaults were taken, as flags.
    pub assumed: Vec<String>,
    /// Logs of arrivals that were read, by path.
    pub logs: Logs,
    /// Whether the requests are those that a log names.
    own: bool,
}

/// The load that flags ask for; its request is GET /.
pub(super) fn bare(args: &LoadArgs) -> Result<Made> {
    made(args, None, "get")
}

fn made(args: &LoadArgs, connections: Option<&Given<u64>>, step: &str) -> Result<Made> {
    let kind = Kind::of(args)?;
    if let Some(of) = trace_of(args).filter(|of| of.own) {
        let logs = Logs::default();
        let path = PathBuf::from(&of.file);
        let log = logs.read(&path).map_err(anyhow::Error::msg)?;
        let text = format!("users: {}\njourney: {}\n", kind.group(), own_steps(&of.file, &log.labels)?);
        return Ok(Made { text, values: Vec::new(), assumed: Vec::new(), logs, own: true });
    }
    // The caller puts in what is sent as plain bytes: it knows how that was typed.
    let step = if step == SEND { String::new() } else { format!("{step}: /, ") };
    let text = format!("users: {}\njourney: [{{ {step}name: {STEP} }}]\n", kind.group());
    let mut values = Vec::new();
    if let (Kind::Work, None, Some(users)) = (kind, &args.users, connections) {
        values.push(Override::flag("-c", "users", &users.text));
    }
    let assumed = kind.assumed(args, connections.is_some());
    Ok(Made { text, values, assumed, logs: Logs::default(), own: false })
}

/// A step for each request that labels of a log name: method and path, as access logs have them. Others have no step.
fn own_steps(file: &str, labels: &[String]) -> Result<serde_json::Value> {
    // Labels that differ in secrets alone are one step, for its name has none.
    let (redactor, mut named) = (Redactor::default(), HashSet::new());
    let mut is_new = |label: &&String| named.insert(redactor.hide(label).into_owned());
    let steps: Vec<serde_json::Value> =
        labels.iter().filter(|label| is_new(label)).filter_map(|label| own_step(label)).collect();
    let some = || labels.iter().take(3).map(|label| format!("'{label}'")).collect::<Vec<_>>().join(", ");
    match steps.len() {
        0 => bail!(
            "{file}: requests=own without a scenario is for logs whose labels are method and path ('GET /a'), and this one has {}: write a \
             scenario with a step of each name",
            some()
        ),
        n if n > MOST_STEPS => bail!(
            "{file}: it names {n} different requests, and a scenario has {MOST_STEPS} steps at most: leave requests=own out"
        ),
        _ => Ok(steps.into()),
    }
}

/// The request that a label names, if it does.
fn own_step(label: &str) -> Option<serde_json::Value> {
    let (method, path) = label.split_once(' ')?;
    let plain = !path.contains(|c: char| c.is_whitespace() || c.is_control());
    let token = !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase());
    // What stands in such brackets would be looked up, and what follows # is not sent.
    let other = ["{{", "${", "#"].iter().any(|part| label.contains(part))
        || method == "CONNECT"
        || names_a_host(path).is_some();
    if !(plain && token && path.starts_with('/')) || other || label.chars().count() > LONGEST_NAME {
        return None;
    }
    Some(match VERBS.contains(&method) {
        true => serde_json::json!({ (method.to_ascii_lowercase()): path, "name": label }),
        false => serde_json::json!({ "request": { "method": method, "path": path }, "name": label }),
    })
}

/// The request and the load that flags ask for.
///
/// # Errors
/// Flags that contradict each other.
pub(super) fn request(
    args: &RunArgs,
    target: &Target,
    headers: &[(String, String)],
    body: &Body,
) -> Result<Made> {
    if !target.scheme.is_http() {
        return datagram(args, target, headers, body);
    }
    let default = if body.bytes.is_empty() { "GET" } else { "POST" };
    let method = args.method.as_deref().unwrap_or(default);
    let verb = VERBS.contains(&method).then(|| method.to_ascii_lowercase());
    let mut made = made(&args.load, args.connections.as_ref(), verb.as_deref().unwrap_or("request"))?;
    if made.own {
        let whole = target.path == "/";
        let given = [
            (args.method.is_some(), "-m"),
            (!body.bytes.is_empty(), "a body"),
            (!whole, "the path of the URL"),
            (args.stream.is_some(), "--stream"),
        ];
        if let Some((_, what)) = given.into_iter().find(|(given, _)| *given) {
            bail!("requests=own: the log names methods and paths: leave {what} out");
        }
    }
    let values = &mut made.values;
    let origin = target.url();
    let origin = origin.strip_suffix(&target.path).unwrap_or(&origin).trim_end_matches(':');
    values.push(Override::literal("", "target", origin));
    if made.own {
        let header =
            |(name, value): &(String, String)| Override::text(&format!("-H {name}:"), "headers", name, value);
        values.extend(headers.iter().map(header));
        return Ok(made);
    }
    match &verb {
        Some(verb) => values.push(Override::text("", "journey.0", verb, &target.path)),
        None => {
            values.push(Override::set("journey.0.request", "{}"));
            values.push(Override::text("-m", "journey.0.request", "method", method));
            values.push(Override::text("", "journey.0.request", "path", &target.path));
        }
    }
    for (name, value) in headers {
        values.push(Override::text(&format!("-H {name}:"), "journey.0.headers", name, value));
    }
    if let Some(kind) = &args.stream {
        values.push(Override::text("--stream", "journey.0", "stream", kind));
    }
    match (&body.file, std::str::from_utf8(&body.bytes)) {
        _ if body.bytes.is_empty() => {}
        (Some(file), _) => values.push(Override::text("--body-file", "journey.0", "file", file)),
        (None, Ok(text)) => values.push(Override::text("-b", "journey.0", "text", text)),
        (None, Err(_)) => {
            bail!("-b -: standard input is no text; put the bytes into a file and give -b @FILE")
        }
    }
    Ok(made)
}

/// What is sent where the target takes plain bytes, and the load.
fn datagram(args: &RunArgs, target: &Target, headers: &[(String, String)], body: &Body) -> Result<Made> {
    let name = target.scheme.name();
    if args.stream.is_some() {
        bail!(
            "--stream: a response of {name} is one piece: leave it out, or name a target of http:// or https://"
        );
    }
    if args.method.is_some() || !headers.is_empty() {
        bail!(
            "{target}: a target of {name} takes plain bytes: leave -m and -H out, and give the bytes with -b"
        );
    }
    if target.scheme == Scheme::Udp
        && body.bytes.is_empty()
        && (args.body.is_some() || args.body_file.is_some())
    {
        bail!(
            "{}: an empty datagram cannot be sent: give at least one byte, or leave that out for datagrams of 64 bytes with number and time",
            says_what_is_sent(args)
        );
    }
    let mut made = made(&args.load, args.connections.as_ref(), SEND)?;
    if made.own {
        bail!(
            "{target}: requests=own names methods and paths, and a target of {name} takes plain bytes: leave it out"
        );
    }
    let values = &mut made.values;
    let url = target.url();
    let server = url.strip_suffix(&target.path).unwrap_or(&url);
    values.push(Override::literal("", "target", server));
    match (target.question(), body.bytes.is_empty()) {
        (Some(question), true) => values.push(Override::text("", "journey.0", SEND, &question)),
        (Some(_), false) => {
            bail!("{target}: the URL says what is asked for, and -b too: leave one of them out")
        }
        (None, false) => {}
        (None, true) => values.push(Override::text(&says_what_is_sent(args), "journey.0", SEND, "")),
    }
    match (&body.file, std::str::from_utf8(&body.bytes)) {
        _ if body.bytes.is_empty() => {}
        (Some(file), _) => {
            values.push(Override::flag("--body-file", "journey.0.send", "{}"));
            values.push(Override::text("--body-file", "journey.0.send", "file", file));
        }
        (None, Ok(text)) if args.body.as_deref() == Some(text) && target.scheme != Scheme::Dns => {
            values.push(Override::text("-b", "journey.0", SEND, &of_escapes(text)?));
        }
        (None, Ok(text)) => values.push(Override::text("-b", "journey.0", SEND, text)),
        (None, Err(_)) => {
            bail!("-b -: standard input is no text; put the bytes into a file and give -b @FILE")
        }
    }
    Ok(made)
}

/// What a body of plain bytes stands for that was typed with escapes, which `--answer until:` has, too.
///
/// # Errors
/// An escape that is none, or bytes that are no text.
fn of_escapes(typed: &str) -> Result<String> {
    let Some(bytes) = unescaped(typed) else {
        bail!(
            "-b: a \\ in it begins no escape; accepted are \\r, \\n, \\t, \\0, \\xHH, and \\\\ for the sign itself; -b @FILE sends a file as it is"
        );
    };
    String::from_utf8(bytes).map_err(|_| {
        anyhow!(
            "-b: its escapes make bytes that are no UTF-8 text; put the bytes into a file and give -b @FILE"
        )
    })
}

/// The body that flags give.
pub(super) struct Body {
    /// All of it; nothing where there is none.
    pub bytes: Vec<u8>,
    /// The file that holds it.
    file: Option<String>,
}

/// What says on the command line what is sent to a target of plain bytes: the body's flag, or the URL.
pub(super) fn says_what_is_sent(args: &RunArgs) -> String {
    let file = args.body_file.as_ref().map(|file| format!("--body-file {}", file.display()));
    let body = args.body.as_deref().map(|text| match text.starts_with(['@', '-']) {
        true => format!("-b {text}"),
        false => "-b".to_owned(),
    });
    file.or(body).unwrap_or_else(|| args.target.clone())
}

/// What `-b` or `--body-file` gives: text, the file behind an `@`, or standard input.
///
/// # Errors
/// It cannot be read.
pub(super) fn body(args: &RunArgs) -> Result<Body> {
    let named = args.body_file.as_ref().map(|file| ("--body-file ", file.display().to_string()));
    let behind = args.body.as_deref().and_then(|text| text.strip_prefix('@'));
    let (lead, file) = match (args.body.as_deref(), named) {
        (Some("-" | "@-"), _) => return Ok(Body { bytes: super::standard_input(files::MOST)?, file: None }),
        (Some(text), _) if behind.is_none() => {
            return Ok(Body { bytes: text.to_owned().into_bytes(), file: None });
        }
        (_, Some(named)) => named,
        (Some(_), None) => ("-b @", behind.unwrap_or_default().to_owned()),
        (None, None) => return Ok(Body { bytes: Vec::new(), file: None }),
    };
    let bytes = files::read(Path::new(&file), files::MOST).map_err(|error| {
        anyhow!("{lead}{file} cannot be read: {error}; name a file, or write the body itself after -b")
    })?;
    Ok(Body { bytes, file: Some(file) })
}

/// The headers of `-H`, and credentials of the URL. One that is given twice has both values (RFC 9110, 5.3).
///
/// # Errors
/// One that is none.
pub(super) fn headers(args: &RunArgs, target: Option<&Target>) -> Result<Vec<(String, String)>> {
    let mut headers: Vec<(String, String)> = Vec::with_capacity(args.headers.len() + 1);
    for header in &args.headers {
        let (name, value) = header.split_once(':').ok_or_else(|| {
            // All but the name may be a secret, and a single word may be one.
            let name = header.trim().split_once([' ', '=']).map(|(name, _)| format!(" '{name}...'"));
            let given = name.unwrap_or_else(|| format!(": a word of {} characters", header.chars().count()));
            anyhow!("-H{given} is not a header: write 'Name: value'")
        })?;
        let (name, value) = (name.trim(), value.trim());
        if matches!(name, "http" | "https") && value.starts_with("//") {
            bail!(
                "-H {header} is a URL: give it without a flag (-H is a header here, and the base URL in Locust)"
            );
        }
        match headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, known)) => {
                let comma = if name.eq_ignore_ascii_case("cookie") { "; " } else { ", " };
                *known = format!("{known}{comma}{value}");
            }
            None => headers.push((name.to_owned(), value.to_owned())),
        }
    }
    let given = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    if let Some(login) = &args.user {
        if given || !login.contains(':') {
            bail!("--user: write NAME:PASSWORD, and no -H 'Authorization: ...' beside it");
        }
        headers.push(("Authorization".to_owned(), headway_convert::basic(login)));
        return Ok(headers);
    }
    if let (Some(value), false) = (target.and_then(|target| target.authorization.as_ref()), given) {
        headers.push(("Authorization".to_owned(), value.clone()));
    }
    Ok(headers)
}

/// The group of users that arrives, unless flags ask for another kind of load.
///
/// # Errors
/// Flags that contradict each other.
pub(super) fn group(args: &LoadArgs) -> Result<&'static str> {
    Ok(Kind::of(args)?.group())
}

/// The connection cap, where it is all that flags say of a load.
pub(super) fn cap_alone(args: &RunArgs) -> Option<&str> {
    let load = &args.load;
    let other = load.rate.is_some()
        || load.users.is_some()
        || load.requests.is_some()
        || load.at_once.is_some()
        || load.connecting.is_some()
        || load.phases.phases.is_some()
        || load.think.is_some();
    args.connections.as_ref().filter(|_| !other).map(|cap| cap.text.as_str())
}

/// What `--phases` says.
pub(super) fn phases(args: &PhasesArgs) -> Option<Override> {
    args.phases.as_ref().map(|text| Override::phases("--phases", text.trim()))
}

/// What flags say of the load, but for `-n`, which depends on what the load is.
pub(super) fn load(args: &LoadArgs) -> Vec<Override> {
    fn said<T>(flag: &str, path: &str, given: &Option<Given<T>>) -> Option<Override> {
        given.as_ref().map(|given| Override::flag(flag, path, &given.text))
    }
    let text = |flag, path, text: Option<&String>| text.map(|text| Override::literal(flag, path, text));
    let all = [
        args.seed.map(|seed| Override::flag("--seed", "seed", &seed.to_string())),
        phases(&args.phases),
        said("-R", "rate", &args.rate),
        said("-u", "users", &args.users),
        said("--at-once", "users.at-once", &args.at_once),
        said("--connecting", "users.connecting.sockets", &args.connecting),
        args.new_connections.then(|| Override::flag("--new-connections", "users.connections", "per-request")),
        text("--think", "users.think", args.think.as_ref()),
        said("--pool", "users.connections", &args.pool),
        text("--arrivals", "users.arrive.process", args.arrivals.as_ref().map(|given| &given.text)),
        said("--ramp", "ramp", &args.ramp),
        said("--warmup", "warmup", &args.warmup),
        said("-d", "duration", &args.duration),
    ];
    all.into_iter().flatten().collect()
}

/// What the flags of `run` say of the whole run.
pub(super) fn settings(args: &RunArgs) -> Vec<Override> {
    fn text<T>(given: &Option<Given<T>>) -> Option<&str> {
        given.as_ref().map(|given| given.text.as_str())
    }
    // A bare number is bytes here; in a file the unit must be there.
    let bytes = text(&args.max_body).map(|size| match size.ends_with(|c: char| c.is_ascii_digit()) {
        true => format!("{size}B"),
        false => size.to_owned(),
    });
    let http = match (args.http1, args.http2) {
        (true, _) => Some(("--http1.1", "1.1")),
        (_, true) => Some(("--http2", "2")),
        _ => None,
    };
    let all = [
        ("-c", "connections", text(&args.connections)),
        ("--timeout", "timeout", text(&args.timeout)),
        ("--idle-timeout", "idle-timeout", text(&args.idle_timeout)),
        ("--connect-timeout", "connect-timeout", text(&args.connect_timeout)),
        ("--max-wait", "max-wait", text(&args.max_wait)),
        ("--drain", "drain", text(&args.drain)),
        ("--max-body", "max-body", bytes.as_deref()),
        ("--location", "redirects", args.location.then_some("10")),
        ("--traceparent", "traceparent", args.traceparent.then_some("true")),
        ("--insecure", "insecure", args.insecure.then_some("true")),
        (http.map_or("", |(flag, _)| flag), "http", http.map(|(_, version)| version)),
        ("--streams", "streams", text(&args.streams)),
        ("--spread", "spread", args.spread.then_some("true")),
        ("--dns-refresh", "dns-refresh", text(&args.dns_refresh)),
        ("--tls-resumption", "tls-resumption", args.tls_resumption.then_some("true")),
    ];
    let answer = match args.one_way {
        true => Some(("--one-way", "none")),
        false => args.answer.as_deref().map(|text| ("--answer", text)),
    };
    let all = all.into_iter().filter_map(|(flag, path, text)| Some(Override::flag(flag, path, text?)));
    // A text with a colon is one all the same.
    let texts = [
        ("--cert", "cert", args.cert.as_ref()),
        ("--key", "key", args.key.as_ref()),
        ("--cacert", "cacert", args.cacert.as_ref()),
        ("--sni", "sni", args.sni.as_ref()),
        ("--proxy", "proxy", args.proxy.as_ref()),
    ];
    let texts = texts.into_iter().filter_map(|(flag, path, text)| Some(Override::literal(flag, path, text?)));
    let places = |flag: &'static str, path: &'static str, all: &[String]| -> Vec<Override> {
        all.iter().map(|text| Override::literal(flag, path, text)).collect()
    };
    all.chain(answer.map(|(flag, text)| Override::literal(flag, "answer", text)))
        .chain(texts)
        .chain(places("--connect-to", "connect-to.+", &args.connect_to))
        .chain(places("--origin", "origins.+", &args.origin))
        .chain(places("--resolve", "resolve.+", &args.resolve))
        .collect()
}

/// What flags tolerate.
pub(super) fn tolerances(args: &ToleranceArgs) -> Vec<Override> {
    let one = |tolerance: &Tolerance| {
        let (name, value) = match tolerance {
            Tolerance::Effect(share) => ("effect", share.to_string()),
            Tolerance::Lateness(lateness) => ("lateness", lateness.to_string()),
            Tolerance::SentShare(share) => ("sent-share", share.to_string()),
        };
        Override { lead: format!("--tolerance {name}="), ..Override::text("", "tolerances", name, &value) }
    };
    args.tolerances.iter().map(one).collect()
}

/// The thresholds of flags, all of them ending the run after a delay if any is to.
pub(super) fn thresholds(args: &ThresholdArgs, abort: Option<Nanos>) -> Vec<Override> {
    let one = |threshold: &Threshold| match abort {
        None => Override::literal("--threshold", "thresholds.+", threshold.typed()),
        Some(delay) => {
            let text = serde_json::Value::from(threshold.typed().replace("${", "$${"));
            let full = format!("{{ threshold: {text}, abort: true, delay: {delay} }}");
            Override::flag("--threshold", "thresholds.+", &full)
        }
    };
    args.thresholds.iter().map(one).collect()
}
