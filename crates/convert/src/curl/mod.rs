//! A curl command as a scenario: each URL is a step, `--next` begins others. The first one's host is the target; steps to others are whole
//! URLs.
//!
//! The command may be one text, quoted as for bash, or words that a shell has taken apart already. Deliberately absent:
//! reading files (the scenario names them), redirects (the scenario follows them), URL globs, and curl's own Accept and User-Agent.

mod body;
mod options;

use super::draft::{Draft, Step};
use super::tools::{self, Found, Meaning, Word};
use super::{Converted, Location, Text, count, draft, is_token, words};
use anyhow::{Context as _, Result, bail};
use body::{Form, Pieces};
use headway_base::Nanos;
use headway_workload::connect::{ConnectTo, Proxy, Resolve, Routes};
use headway_workload::target::{Endpoint, Target};
pub use options::{Data, Means};

/// A scenario that sends what the command sends.
///
/// # Errors
/// No curl command, quoting that bash would not take, an option that is unknown or has no counterpart in a scenario, no
/// URL, or a Unix socket beside another place.
pub fn scenario(given: &[String]) -> Result<Converted> {
    let words = match given {
        // A program's name alone needs no quotes and says nothing: one word is a whole command.
        [command] => words::split(command)?,
        words => words.iter().map(|word| word.clone().into_bytes()).collect(),
    };
    let Some((program, arguments)) = words.split_first() else {
        bail!("there is no command: give one, for example headway from-curl 'curl https://host/path'");
    };
    let name = String::from_utf8_lossy(program);
    if !matches!(name.rsplit(['/', '\\']).next(), Some("curl" | "curl.exe")) {
        bail!(
            "the command begins with '{name}' and not with curl; give it as copied with \"Copy as cURL (bash)\""
        );
    }
    let mut converter = Converter::default();
    let mut operation = Operation::default();
    for word in tools::find(&tools::CURL, arguments)? {
        let (name, means, value) = match word {
            Word::Option(Found { name, row, value }) => match row.meaning {
                Meaning::Curl(means) => (name, means, value),
                _ => continue,
            },
            Word::Other(url) => ("--url".to_owned(), Means::Url, Some(url)),
        };
        if means == Means::Next {
            converter.steps(std::mem::take(&mut operation))?;
        } else {
            operation.option(&name, means, value).with_context(|| name.clone())?;
        }
    }
    converter.steps(operation)?;
    converter.finish()
}

const BASIC: &str = "the value of the header Authorization, which is 'Basic ' and the base64 of USER:PASSWORD, as in \"Basic $(printf %s USER:PASSWORD | base64 -w0)\"";
const BEARER: &str =
    "the value of the header Authorization, which is 'Bearer ' and the token of --oauth2-bearer";

/// What holds from the beginning, or a `--next`, to the end or the next one.
#[derive(Default)]
struct Operation {
    urls: Vec<String>,
    method: Option<String>,
    /// In order; an empty value takes a header of curl's own away.
    headers: Vec<(String, String)>,
    removed: Vec<String>,
    data: Pieces,
    form: Form,
    upload: Option<String>,
    get: bool,
    head: bool,
    user: Option<String>,
    bearer: Option<String>,
    cookie_file: bool,
    compressed: bool,
    insecure: bool,
    proxy: Option<String>,
    http: Option<&'static str>,
    location: bool,
    globoff: bool,
    timeout: Option<Nanos>,
    connect_timeout: Option<Nanos>,
    socket: Option<String>,
    /// Files of TLS, and other places of hosts: settings of a scenario and their values.
    settings: Vec<(&'static str, String)>,
    routes: Vec<(&'static str, String)>,
    /// Options that were passed over, as typed.
    ignored: Vec<String>,
}

impl Operation {
    fn option(&mut self, name: &str, means: Means, value: Option<&[u8]>) -> Result<()> {
        let bytes = value.unwrap_or_default();
        let value = || text(bytes);
        match means {
            Means::Request => {
                let method = value()?;
                if !is_token(&method) || method.eq_ignore_ascii_case("CONNECT") {
                    bail!("'{method}' is no method that a step can have: write for example PUT");
                }
                self.method = Some(method);
            }
            Means::Header => self.header(&value()?)?,
            Means::Data(data) => {
                self.data.add(data, &value()?)?;
                if data == Data::Json {
                    self.default_header("Content-Type", "application/json");
                    self.default_header("Accept", "application/json");
                }
            }
            Means::Form { literal } => self.form.add(&value()?, literal)?,
            Means::Upload => self.upload = Some(value()?),
            Means::Get => self.get = true,
            Means::Head => self.head = true,
            Means::User => self.user = Some(value()?),
            Means::Bearer => self.bearer = Some(value()?),
            Means::Cookie => {
                let value = value()?;
                if value.contains('=') {
                    self.headers.push(("Cookie".to_owned(), value));
                } else {
                    self.cookie_file = true;
                }
            }
            Means::Agent => self.headers.push(("User-Agent".to_owned(), value()?)),
            Means::Referer => {
                let value = value()?;
                let referer = value.strip_suffix(";auto").unwrap_or(&value);
                self.headers.push(("Referer".to_owned(), referer.to_owned()));
            }
            Means::Insecure => self.insecure = true,
            Means::Proxy => self.proxy = Some(crate::tools::proxy(&value()?)?),
            Means::Http(version) => self.http = Some(version),
            Means::Compressed => self.compressed = true,
            Means::Location => self.location = true,
            Means::Globoff => self.globoff = true,
            Means::MaxTime => self.timeout = Some(seconds(&value()?)?),
            Means::ConnectTimeout => self.connect_timeout = Some(seconds(&value()?)?),
            Means::UnixSocket => self.socket = Some(value()?),
            Means::Url => self.urls.push(value()?),
            Means::File(setting) => {
                let file = value()?;
                if setting == "cert" && file.contains(':') {
                    bail!(
                        "'{}:...' gives a passphrase, and a key is read without one: write the key into a file of its own (openssl pkey -in FILE -out plain.key), and give --key",
                        file.split(':').next().unwrap_or_default()
                    );
                }
                self.settings.push((setting, file));
            }
            Means::Route(setting) => {
                let route = value()?;
                // Of curl, + says that the entry may be replaced by a look-up.
                let route = route.strip_prefix('+').unwrap_or(&route);
                if route.starts_with('-') || route.contains(',') || route.starts_with('*') {
                    bail!(
                        "'{route}': a scenario knows one address for one host and port, as in HOST:PORT:ADDRESS"
                    );
                }
                self.routes.push((setting, route.to_owned()));
            }
            Means::Ignored => self.ignored.push(name.to_owned()),
            Means::Refused(why) => bail!("no scenario can do this: {why}"),
            Means::Next => {}
        }
        Ok(())
    }

    /// `Name: value`; `Name:` takes a header away, `Name;` is one without a value.
    fn header(&mut self, header: &str) -> Result<()> {
        if header.starts_with('@') {
            bail!("headers from a file are not read here: give them one by one with -H");
        }
        if header.trim().chars().any(|c| c.is_control() && c != '\t') {
            bail!("{} holds a control character, which no header can", header.escape_debug());
        }
        match header.split_once(':') {
            Some((name, value)) if value.trim().is_empty() => self.removed.push(name.trim().to_owned()),
            Some((name, value)) if is_token(name.trim()) => {
                self.headers.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            _ => match header.trim().strip_suffix(';') {
                Some(name) if is_token(name) => self.headers.push((name.to_owned(), String::new())),
                _ => bail!("'{header}' is no header: write 'Name: value'"),
            },
        }
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        self.headers.iter().any(|(known, _)| is(known)) || self.removed.iter().any(|known| is(known))
    }

    fn default_header(&mut self, name: &str, value: &str) {
        if !self.has(name) {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
    }

    fn method(&self) -> &str {
        match &self.method {
            Some(method) => method,
            None if self.head => "HEAD",
            None if self.upload.is_some() => "PUT",
            None if !self.form.is_empty() || (!self.data.is_empty() && !self.get) => "POST",
            None => "GET",
        }
    }
}

/// What came of the operations so far.
#[derive(Default)]
struct Converter {
    draft: Draft,
    /// Origin or socket of the first.
    target: Option<String>,
    timeout: Option<Nanos>,
    connect_timeout: Option<Nanos>,
    insecure: bool,
    /// That of the last operation that has one, which is of the whole scenario.
    proxy: Option<String>,
    location: bool,
    http: Option<&'static str>,
    /// As of an operation; of each file the last one, of the whole scenario.
    settings: Vec<(&'static str, String)>,
    routes: Vec<(&'static str, String)>,
}

impl Converter {
    fn steps(&mut self, mut operation: Operation) -> Result<()> {
        if operation.urls.is_empty() {
            bail!("there is no URL in the command (or in a part of it that --next ends)");
        }
        let bodies = [!operation.data.is_empty(), !operation.form.is_empty(), operation.upload.is_some()];
        if bodies.iter().filter(|&&given| given).count() > 1 {
            bail!("more than one kind of body: give one of -d, -F and -T");
        }
        if operation.head && bodies.contains(&true) && !operation.get {
            bail!("-I asks for a head and sends no body: leave out one of them (curl refuses both)");
        }
        // They are of the whole scenario.
        self.timeout = self.timeout.max(operation.timeout);
        self.connect_timeout = self.connect_timeout.max(operation.connect_timeout);
        self.insecure |= operation.insecure;
        self.proxy = operation.proxy.take().or(self.proxy.take());
        for (setting, file) in operation.settings.drain(..) {
            self.settings.retain(|(known, _)| *known != setting);
            self.settings.push((setting, file));
        }
        for route in operation.routes.drain(..) {
            if !self.routes.contains(&route) {
                self.routes.push(route);
            }
        }
        self.location |= operation.location;
        self.http = operation.http.or(self.http);
        if operation.compressed {
            operation.default_header("Accept-Encoding", "gzip, deflate, br, zstd");
        }
        for url in std::mem::take(&mut operation.urls) {
            let step = self.step(&operation, &url).with_context(|| {
                format!("'{}'", headway_workload::redact::Redactor::default().hide_url(&url))
            })?;
            self.draft.steps.push(step);
        }
        Ok(())
    }

    fn step(&mut self, operation: &Operation, url: &str) -> Result<Step> {
        if url.trim_start().starts_with("//") {
            bail!("curl takes no URL that begins with slashes: write http: or https: before them");
        }
        if !operation.globoff && has_globs(url) {
            bail!(
                "curl would make several URLs of {{}} and []: give them one by one, or -g if they are meant as they are"
            );
        }
        let mut location = Location::parse(url)?;
        let target = match &operation.socket {
            None => location.origin.clone(),
            Some(_) if location.origin.starts_with("https:") => {
                bail!("TLS over a Unix socket is not spoken here: write http://")
            }
            Some(socket) if socket.contains(":/") => {
                bail!("a socket's path with :/ in it cannot be written as a target")
            }
            Some(socket) => format!("unix:{socket}"),
        };
        let first = self.target.get_or_insert_with(|| target.clone());
        let origin = (*first != target).then_some(target);
        if let Some(other) = &origin
            && (first.starts_with("unix:") || other.starts_with("unix:"))
        {
            bail!(
                "a scenario whose target is a Unix socket goes nowhere else, and this goes to {other} where others go to {first}: convert them one by one"
            );
        }
        if let Some(file) = &operation.upload {
            let (path, query) =
                location.path.split_at(location.path.find('?').unwrap_or(location.path.len()));
            let own = file.rsplit(['/', '\\']).next().unwrap_or(file);
            if path.ends_with('/') && own != "-" {
                // As curl does where the URL names no file.
                let own: String = url::form_urlencoded::byte_serialize(own.as_bytes()).collect();
                location.path = format!("{path}{}{query}", own.replace('+', "%20"));
            }
        }
        if operation.get {
            let query = operation.data.query()?;
            let separator = if location.path.contains('?') { "&" } else { "?" };
            if !query.is_empty() {
                location.path = format!("{}{separator}{query}", location.path);
            }
        }
        let secrets = &mut self.draft.secrets;
        let mut step = Step::new(operation.method(), draft::path(&location.path, secrets));
        step.origin = origin;
        step.notes = notes(operation);
        for (name, value) in &operation.headers {
            let of_framing = ["content-length", "transfer-encoding", "connection"];
            if of_framing.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                step.notes.push(format!("Left out: the header {name}, which is made anew for each request."));
            } else if !name.eq_ignore_ascii_case("content-type") {
                let value = secrets.header(name, value).unwrap_or_else(|| Text::literal(value));
                step.header(name, value);
            }
        }
        let basic = operation.user.as_ref().or(location.user.as_ref()).map(|user| (user, BASIC));
        let authorization = operation.bearer.as_ref().map(|token| (token, BEARER)).or(basic);
        if let Some((secret, about)) = authorization.filter(|_| !operation.has("authorization")) {
            step.header("Authorization", secrets.variable("AUTHORIZATION", secret, about));
        }
        if operation.socket.is_some() && location.authority != "localhost" && !operation.has("host") {
            step.header("Host", Text::literal(&location.authority));
        }
        let given = operation.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let given = given.map(|(_, kind)| kind.as_str());
        body::fill(&mut step, operation, given, secrets)?;
        Ok(step)
    }

    fn finish(mut self) -> Result<Converted> {
        self.draft.target = self.target.take().unwrap_or_default();
        let unused = self.unused_routes()?;
        let draft = &mut self.draft;
        draft.notes.push(format!("Made by headway from-curl: {}.", count(draft.steps.len(), "step")));
        for (key, value) in [("timeout", self.timeout), ("connect-timeout", self.connect_timeout)] {
            if let Some(time) = value {
                draft.settings.push((key, time.to_string()));
            }
        }
        if self.location {
            draft.settings.push(("redirects", "10".to_owned()));
        }
        if self.insecure {
            draft.settings.push(("insecure", "true".to_owned()));
        }
        if let Some(proxy) = self.proxy {
            let about = "the URL of the proxy, with user and password";
            let secret = proxy.contains('@').then(|| draft.secrets.variable("PROXY", &proxy, about));
            let text = secret.map_or(proxy, |text| text.as_str().to_owned());
            draft.settings.push(("proxy", text));
        }
        let written = |text: &str| serde_json::Value::from(text.replace("${", "$${")).to_string();
        for (setting, file) in &self.settings {
            draft.settings.push((setting, written(file)));
        }
        if !self.settings.is_empty() {
            draft.notes.push("The names of certificates and keys are relative to this scenario.".to_owned());
        }
        if !unused.is_empty() {
            let names: Vec<String> = unused.iter().map(|(of, route)| format!("--{of} {route}")).collect();
            draft
                .notes
                .push(format!("Passed over, since no URL of the command leads there: {}.", names.join(" ")));
        }
        for setting in ["resolve", "connect-to"] {
            let all = self.routes.iter().filter(|route| route.0 == setting && !unused.contains(route));
            let all: Vec<String> = all.map(|(_, route)| written(route)).collect();
            if !all.is_empty() {
                draft.settings.push((setting, format!("[{}]", all.join(", "))));
            }
        }
        if let Some(version) = self.http {
            draft.settings.push(("http", version.to_owned()));
        }
        self.draft.finish()
    }

    /// Other places of hosts that no URL leads to. curl ignores them; a scenario that names them is wrong.
    fn unused_routes(&self) -> Result<Vec<(&'static str, String)>> {
        let places: Vec<Endpoint> = match &self.proxy {
            Some(proxy) => vec![Proxy::parse(proxy)?.endpoint()],
            None => {
                let origins = self.draft.other_origins();
                let origins = origins.iter().map(|(origin, _)| origin).chain([&self.draft.target]);
                origins.map(|origin| Ok(Target::parse(origin)?.endpoint)).collect::<Result<_>>()?
            }
        };
        let places = || {
            places.iter().filter_map(|place| match place {
                Endpoint::Tcp { host, port } => Some((host.as_str(), *port)),
                Endpoint::Unix(_) => None,
            })
        };
        let of = |setting: &str, route: &str| -> Result<Routes> {
            Ok(match setting {
                "resolve" => Routes { resolve: vec![Resolve::parse(route)?], ..Routes::default() },
                _ => Routes { connect_to: vec![ConnectTo::parse(route)?], ..Routes::default() },
            })
        };
        let mut all = Routes::default();
        for (setting, route) in &self.routes {
            all.connect_to.extend(of(setting, route)?.connect_to);
        }
        let mut unused = Vec::new();
        for (setting, route) in &self.routes {
            let alone = of(setting, route)?;
            let used = match *setting {
                "resolve" => places()
                    .map(|(host, port)| all.of(host, port))
                    .any(|to| alone.concerns(&to.host, to.port)),
                _ => places().any(|(host, port)| alone.concerns(host, port)),
            };
            if !used {
                unused.push((*setting, route.clone()));
            }
        }
        unused.sort();
        Ok(unused)
    }
}

/// Whether curl would make several URLs of one. An address of IPv6 stands in brackets of its own.
fn has_globs(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let address = host.strip_prefix('[').and_then(|host| host.split_once(']'));
    let address = address.filter(|(address, _)| address.parse::<std::net::Ipv6Addr>().is_ok());
    let host = address.map_or(host, |(_, port)| port);
    [user, host, tail].iter().any(|part| part.contains(['{', '}', '[', ']']))
}

/// What there is to say of the options of a step.
fn notes(operation: &Operation) -> Vec<String> {
    let mut notes = Vec::new();
    if operation.location {
        notes.push(
            "-L: `redirects: 10` follows the redirects of every step, to the target and the origins of steps."
                .to_owned(),
        );
    }
    if operation.cookie_file {
        notes.push(
            "Left out: -b FILE, the cookies in a file. Each session keeps the cookies that it is given."
                .to_owned(),
        );
    }
    if !operation.ignored.is_empty() {
        let mut names = operation.ignored.clone();
        names.dedup();
        notes.push(format!("Passed over, being about curl itself: {}.", names.join(" ")));
    }
    let sends_none = |name: &&String| {
        name.eq_ignore_ascii_case("content-type")
            && (operation.upload.is_some() || !operation.data.is_empty() && !operation.get)
    };
    for name in operation.removed.iter().filter(|name| !sends_none(name)) {
        notes.push(format!("Passed over: -H '{name}:', which takes away a header of curl's own."));
    }
    notes
}

/// A value that is text.
fn text(bytes: &[u8]) -> Result<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => bail!(
            "byte {} of its value is no UTF-8, and a scenario is text: put a body of bytes into a file and give it as --data-binary @FILE",
            error.valid_up_to() + 1
        ),
    }
}

/// Seconds as curl takes them.
fn seconds(text: &str) -> Result<Nanos> {
    match text.trim().parse::<f64>() {
        Ok(seconds) if (1e-3..1e9).contains(&seconds) => Ok(Nanos::from_secs_f64(seconds)),
        _ => bail!("'{text}' is no number of seconds, at least 0.001"),
    }
}

#[cfg(test)]
mod tests;
