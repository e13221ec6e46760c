//! Access logs of nginx, Apache, Envoy and HAProxy, by the server's own format string or, for the formats they ship with, by
//! content.
//!
//! | server | stamp | start |
//! |---|---|---|
//! | nginx | when the line is written | that less `$request_time` |
//! | Apache | when the request was received, unless `end:` | the stamp |
//! | Envoy | when the request's first byte came | the stamp |
//! | HAProxy | when the request came | the stamp |
//!
//! A log without the time taken has no ends, and where its stamps are ends they must stand for starts. Clients'
//! addresses are not users: thousands may share one. Deliberately absent: structured (JSON) logs other than by a format
//! string that spells them, and what stands behind an address.

mod apache;
mod envoy;
mod haproxy;
mod moment;
mod nginx;
mod pattern;
mod strftime;
#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::format::{Facts, Format, Outcomes, Reader, Stamps};
use crate::formats::request;
use crate::lines::Lines;
use crate::options::Options;
use crate::outcome;
use crate::rows::Rows;
use crate::stamps::{self, LocalTime};
use headway_base::{Nanos, Outcome};
use memchr::memchr;
use pattern::{Field, Pattern, Values, Wrong};
use std::path::Path;

/// Access logs.
pub struct AccessLog;

impl Format for AccessLog {
    fn name(&self) -> &'static str {
        "access-log"
    }

    fn about(&self) -> &'static str {
        "access logs of nginx, Apache, Envoy and HAProxy; other formats by --log-format"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        // The first line may have lost its beginning in a rotation.
        let shipped = shipped();
        let mut lines = Lines::new(head, true, 0);
        std::iter::from_fn(|| lines.next())
            .take(3)
            .any(|line| shipped.iter().any(|layout| layout.lay(line).is_some()))
    }

    fn reader(&self, _path: &Path, options: &Options) -> Result<Box<dyn Reader>, Error> {
        let layouts = match &options.log_format {
            Some(format) => vec![Layout::given(format)?],
            None => shipped(),
        };
        Ok(Box::new(LogReader {
            layouts,
            decided: options.log_format.is_some(),
            zone: LocalTime::new(options.zone.clone()),
            lines: 0,
            k: 0,
            digit: None,
            label: Vec::new(),
        }))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Server {
    Nginx,
    Apache,
    Envoy,
    HaProxy,
    /// nginx and Apache write the same by default.
    NginxOrApache,
}

/// A format of a server.
struct Layout {
    server: Server,
    name: &'static str,
    pattern: Pattern,
    /// There may be more at the end of the line.
    more: bool,
    /// Whether a start is in it, else an end.
    stamps_starts: bool,
    /// Whether the time taken is in it.
    takes_time: bool,
    /// Whether a start and an end are, or one of them and the time taken.
    knows_ends: bool,
}

const COMMON: &str = "%h %l %u %t \"%r\" %>s %b";
const COMBINED: &str = "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\"";
const VHOST_COMBINED: &str = "%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"";
const NGINX_MAIN: &str = "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \
                          \"$http_user_agent\" \"$http_x_forwarded_for\"";
const ENVOY: &str = "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" %RESPONSE_CODE% \
                     %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %REQ(X-ENVOY-UPSTREAM-SERVICE-TIME)% \
                     \"%REQ(X-FORWARDED-FOR)%\" \"%REQ(USER-AGENT)%\" \"%REQ(X-REQUEST-ID)%\" \"%REQ(:AUTHORITY)%\" \
                     \"%UPSTREAM_HOST%\"";

/// What is recognised without a format string: the fullest first.
const SHIPPED: [(Server, &str, &str, bool); 7] = [
    (Server::HaProxy, "HAProxy HTTP log", "", false),
    (Server::Envoy, "Envoy access log, default format", ENVOY, false),
    (Server::Apache, "Apache access log, vhost_combined format", VHOST_COMBINED, false),
    (Server::Nginx, "nginx access log, main format", NGINX_MAIN, false),
    (Server::NginxOrApache, "access log, combined format", COMBINED, false),
    (Server::NginxOrApache, "access log, common format", COMMON, false),
    (Server::NginxOrApache, "access log, common format and more", COMMON, true),
];

fn shipped() -> Vec<Layout> {
    let layout = |(server, name, format, more)| {
        compile(server, format).ok().map(|pattern| Layout::new(server, name, pattern, more))
    };
    SHIPPED.into_iter().filter_map(layout).collect()
}

fn compile(server: Server, format: &str) -> Result<Pattern, Wrong> {
    match server {
        Server::Nginx => nginx::compile(format),
        Server::Apache | Server::NginxOrApache => apache::compile(format),
        Server::Envoy => envoy::compile(format),
        Server::HaProxy => haproxy::compile(),
    }
}

impl Layout {
    fn new(server: Server, name: &'static str, pattern: Pattern, more: bool) -> Layout {
        let has = |wanted: fn(Field) -> bool| pattern.fields().any(wanted);
        let stamps_starts = has(|field| matches!(field, Field::Started(_)));
        let takes_time = has(|field| matches!(field, Field::Took { .. }));
        let knows_ends = takes_time || (stamps_starts && has(|field| matches!(field, Field::Ended(_))));
        Layout { server, name, pattern, more, stamps_starts, takes_time, knows_ends }
    }

    /// The format that the user gave, as it stands in the server's configuration.
    fn given(format: &str) -> Result<Layout, Error> {
        let format = &*unescaped(format);
        let refused =
            |expected: String| Error::Option { option: "--log-format", value: format.to_owned(), expected };
        let wrong = |wrong: Wrong| {
            refused(format!("at character {}: {}", format[..wrong.at].chars().count() + 1, wrong.what))
        };
        let (server, name) = if format.contains('$') && !envoy::is_spoken(format) {
            (Server::Nginx, "nginx access log")
        } else if envoy::is_spoken(format) {
            (Server::Envoy, "Envoy access log")
        } else if format.contains('%') {
            (Server::Apache, "Apache access log")
        } else {
            return Err(refused(
                "expected nginx's $variables, Apache's %directives or Envoy's %COMMANDS%, as in the server's configuration".into(),
            ));
        };
        let pattern = compile(server, format).map_err(wrong)?;
        if !pattern.fields().any(|field| matches!(field, Field::Started(_) | Field::Ended(_))) {
            return Err(refused(format!(
                "no time is in it: without {} nothing is known of when requests came",
                times(server)
            )));
        }
        Ok(Layout::new(server, name, pattern, false))
    }

    fn lay<'a>(&self, line: &'a [u8]) -> Option<Values<'a>> {
        self.pattern.lay(line, self.more)
    }

    fn has(&self, wanted: impl Fn(Field) -> bool) -> bool {
        self.pattern.fields().any(wanted)
    }

    fn finer(&self) -> Option<&'static str> {
        Some(match self.server {
            Server::Nginx => "log_format with $msec $request_time",
            Server::Apache => "LogFormat with %{usec}t %D",
            Server::Envoy => "%START_TIME(%s.%6f)% %COMMON_DURATION(DS_RX_BEG:DS_TX_END:us)%",
            Server::HaProxy => return None,
            Server::NginxOrApache => {
                "nginx: log_format with $msec $request_time; Apache: LogFormat with %{usec}t %D"
            }
        })
    }

    fn missing(&self) -> Vec<String> {
        let mut missing = vec!["What never reached the server is not in its log.".to_owned()];
        if self.server == Server::NginxOrApache {
            missing.push(
                "nginx stamps the end and Apache the start in this format, and the log has no time taken: stamps stand for starts."
                    .into(),
            );
        } else if !self.knows_ends {
            missing.push(match (self.stamps_starts, self.server) {
                (true, _) => "The log has no time taken: response times are unknown.".into(),
                (false, Server::Nginx) => "The log has no $request_time: ends stand for starts.".into(),
                (false, _) => "The log has no time taken: ends stand for starts.".to_owned(),
            });
        }
        let finest_ns = self.pattern.fields().filter_map(|field| match field {
            Field::Took { unit_ns } => Some(unit_ns),
            _ => None,
        });
        if self.server == Server::Apache && finest_ns.min() == Some(1_000_000_000) {
            missing.push("The time taken is in whole seconds (%T); %D has microseconds.".into());
        }
        if self.more {
            missing.push(
                "What follows the bytes in each line is not read: give the server's --log-format.".into(),
            );
        }
        missing
    }
}

fn times(server: Server) -> &'static str {
    match server {
        Server::Nginx => "$msec, $time_iso8601 or $time_local",
        Server::Apache | Server::NginxOrApache => "%t or %{usec}t",
        Server::Envoy => "%START_TIME%",
        Server::HaProxy => "the accept date",
    }
}

/// Without the backslashes of a configuration file, before quotes and in the names of tabs and line ends.
fn unescaped(format: &str) -> String {
    let format = format.trim_end();
    let format = format.strip_suffix("\\n").unwrap_or(format);
    format.replace("\\\"", "\"").replace("\\t", "\t")
}

struct LogReader {
    /// What the log may be; once `decided` the first one is it.
    layouts: Vec<Layout>,
    decided: bool,
    zone: LocalTime,
    lines: u64,
    k: u64,
    /// The finest last digit of the rows so far.
    digit: Option<Nanos>,
    label: Vec<u8>,
}

impl LogReader {
    /// Adds that request; false if its times are missing or out of all bounds.
    fn push(&mut self, values: &Values<'_>, rows: &mut Rows) -> bool {
        let Some((started, done, digit)) = self.span(values) else { return false };
        let mut record = request::between(rows.generator, started, done);
        record.k = self.k;
        let first_byte = values.first_byte.and_then(|(ns, _)| stamps::span(ns));
        record.first_byte = first_byte.map(|span| started + span).into();
        record.status = values.status.unwrap_or(0);
        record.outcome = match values.status {
            _ if values.aborted => Outcome::Reset,
            // nginx: the client went before the answer.
            Some(499) => Outcome::Reset,
            Some(status) => outcome::from_status(status),
            // A format without the status.
            None => Outcome::Ok,
        };
        record.bytes_received = values.bytes_out.or(values.body_bytes_out).unwrap_or(0);
        record.bytes_sent = values.bytes_in.unwrap_or(0);
        record.connection = values.connection.and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX);
        record.reused = values.reused;
        self.name(values);
        record.step = rows.step(&self.label);
        rows.records.push(record);
        self.k += 1;
        self.digit = Some(self.digit.map_or(digit, |known| known.min(digit)));
        true
    }

    /// Start, end, and what the start's last digit is worth.
    fn span(&mut self, values: &Values<'_>) -> Option<(Nanos, Nanos, Nanos)> {
        let layout = &self.layouts[0];
        let took = match values.took {
            Some((ns, digit)) => Some((stamps::span(ns)?, Nanos(digit))),
            // Envoy has none (`-`) for a request that was never answered; its start counts none the less.
            None if layout.takes_time && !layout.stamps_starts => return None,
            None => None,
        };
        if layout.stamps_starts {
            let (started, digit) = values.started.finish(&mut self.zone)?;
            let done = match took {
                Some((took, _)) => started + took,
                None if layout.knows_ends && !layout.takes_time => values.ended.finish(&mut self.zone)?.0,
                None => started,
            };
            stamps::span((done - started).0)?;
            return Some((started, done, digit));
        }
        let (done, digit) = values.ended.finish(&mut self.zone)?;
        let (took, coarse) = took.unwrap_or((Nanos::ZERO, Nanos(1)));
        Some((done - took, done, digit.max(coarse)))
    }

    /// Puts the request's label together: method and path without the query.
    fn name(&mut self, values: &Values<'_>) {
        let named = values.request_line.is_some() || values.method.is_some() || values.path.is_some();
        let sent = |text: &&[u8]| !text.is_empty() && *text != b"-";
        let (mut method, mut path) = (values.method.filter(sent), values.path.filter(sent));
        let mut words = values.request_line.unwrap_or_default().splitn(3, |&b| b == b' ');
        if let (Some(first), Some(second)) = (words.next(), words.next()) {
            // As they were sent, not decoded.
            (method, path) = (Some(first), Some(second));
        }
        self.label.clear();
        if let Some(method) = method {
            self.label.extend_from_slice(method);
        }
        if let Some(path) = path {
            if method.is_some() {
                self.label.push(b' ');
            }
            self.label.extend_from_slice(&path[..memchr(b'?', path).unwrap_or(path.len())]);
        }
        if self.label.is_empty() {
            // A connection closed or timed out before it sent one, or not HTTP.
            self.label.extend_from_slice(if named { b"(no request line)" } else { b"request" });
        }
    }
}

impl Reader for LogReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.lines);
        while let Some(line) = lines.next() {
            if !self.decided
                && let Some(fits) = self.layouts.iter().position(|layout| layout.lay(line).is_some())
            {
                self.layouts.swap(0, fits);
                self.decided = true;
            }
            match self.layouts[0].lay(line) {
                Some(values) if self.push(&values, rows) => {}
                Some(_) => rows.bad(lines.line(), line, "a time between 1990 and 2200 and up to a day taken"),
                None => rows.bad(lines.line(), line, format!("a line of the {}", self.layouts[0].name)),
            }
        }
        self.lines = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        let layout = &self.layouts[0];
        let bytes = |field| matches!(field, Field::BytesOut | Field::BodyBytesOut);
        Facts {
            format: layout.name.to_owned(),
            stamps: if layout.stamps_starts { Stamps::Start } else { Stamps::End },
            resolution: self.digit.unwrap_or(Nanos::from_secs(1)),
            ends: layout.knows_ends,
            bytes: layout.has(bytes),
            outcomes: match layout.has(|field| matches!(field, Field::Status)) {
                true => Outcomes::Some("what never reached the server is not in its log"),
                false => Outcomes::None,
            },
            missing: layout.missing(),
            finer: layout.finer(),
            ..Facts::default()
        }
    }
}
