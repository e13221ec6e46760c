//! fortio's `-access-log-file`, JSON lines or influx line protocol (tried with fortio 1.63.0 against a target that takes
//! half a second: `timestamp` is the start, in the order of the ends). Calls of one thread follow one another; the
//! thread is the user. The warm-up calls before the run are not in the file.

use super::request;
use crate::error::Error;
use crate::format::{Facts, Format, Reader};
use crate::lines::Lines;
use crate::numbers;
use crate::options::Options;
use crate::outcome;
use crate::rows::Rows;
use crate::stamps;
use headway_base::{Nanos, Outcome};
use memchr::memmem;
use serde::Deserialize;
use std::borrow::Cow;
use std::path::Path;

/// fortio's access log.
pub struct FortioLog;

const JSON: &[u8] = b"{\"latency\":";
const INFLUX: &[u8] = b"latency,thread=";

impl Format for FortioLog {
    fn name(&self) -> &'static str {
        "fortio-log"
    }

    fn about(&self) -> &'static str {
        "fortio load -access-log-file FILE, -access-log-format json or influx"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        let Some(line) = Lines::new(head, true, 0).next() else { return false };
        let has = |word: &str| memmem::find(line, word.as_bytes()).is_some();
        (line.starts_with(JSON) && has("\"timestamp\":") && has("\"iter\":"))
            || (line.starts_with(INFLUX) && has(" value="))
    }

    fn reader(&self, _path: &Path, _options: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(Log::default()))
    }
}

#[derive(Default)]
struct Log {
    lines: u64,
    k: u64,
}

/// One call.
struct Call<'a> {
    thread: Cow<'a, [u8]>,
    ok: bool,
    latency_ns: i64,
    timestamp_ns: i64,
    /// The status code, or what went wrong.
    details: Cow<'a, str>,
}

impl Reader for Log {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.lines);
        while let Some(line) = lines.next() {
            let call = if line.starts_with(b"{") { json(line) } else { influx(line) };
            if !call.is_some_and(|call| self.push(&call, rows)) {
                rows.bad(
                    lines.line(),
                    line,
                    "a call with latency, timestamp (ns since 1970) and thread, JSON or influx",
                );
            }
        }
        self.lines = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        Facts {
            format: "fortio access log".into(),
            tool: Some("fortio".into()),
            resolution: Nanos(1),
            users: true,
            ends: true,
            missing: vec!["Which URL a call went to and how many bytes came are not in it.".into()],
            ..Facts::default()
        }
    }
}

impl Log {
    /// Adds that call; false if its times are out of all bounds.
    fn push(&mut self, call: &Call<'_>, rows: &mut Rows) -> bool {
        let (Some(started), Some(latency)) = (stamps::unix(call.timestamp_ns), stamps::span(call.latency_ns))
        else {
            return false;
        };
        let mut record = request::between(rows.generator, started, started + latency);
        record.k = self.k;
        record.user = rows.user(&call.thread);
        record.step = rows.step(b"request");
        let status = Some(&*call.details).filter(|d| d.len() == 3).and_then(|d| d.parse::<u16>().ok());
        record.status = status.unwrap_or(0);
        record.outcome = match status {
            _ if call.ok => Outcome::Ok,
            Some(status @ 400..) => outcome::from_status(status),
            Some(_) => Outcome::Check,
            None => outcome::from_error_text(call.details.as_bytes()),
        };
        if !call.ok {
            record.repeat = rows.message(call.details.as_bytes());
        }
        self.k += 1;
        rows.records.push(record);
        true
    }
}

fn json(line: &[u8]) -> Option<Call<'_>> {
    #[derive(Deserialize)]
    struct Row<'a> {
        latency: f64,
        timestamp: i64,
        thread: u64,
        ok: bool,
        #[serde(borrow)]
        details: Cow<'a, str>,
    }
    let row: Row<'_> = serde_json::from_slice(line).ok()?;
    Some(Call {
        thread: Cow::Owned(row.thread.to_string().into_bytes()),
        ok: row.ok,
        latency_ns: (row.latency * 1e9).round() as i64,
        timestamp_ns: row.timestamp,
        details: row.details,
    })
}

/// `latency,thread=0,ok=true value=0.501057,details="200" 1795265546221923830`
fn influx(line: &[u8]) -> Option<Call<'_>> {
    let line = line.strip_prefix(INFLUX)?;
    let (thread, rest) = cut(line, b",ok=")?;
    let (ok, rest) = cut(rest, b" value=")?;
    let (latency, rest) = cut(rest, b",details=\"")?;
    // What went wrong may hold anything; the stamp stands behind its last quote.
    let end = memmem::rfind(rest, b"\" ")?;
    Some(Call {
        thread: Cow::Borrowed(thread),
        ok: match ok {
            b"true" => true,
            b"false" => false,
            _ => return None,
        },
        latency_ns: numbers::decimal(latency, 9)?,
        timestamp_ns: numbers::int(&rest[end + 2..])?,
        details: String::from_utf8_lossy(&rest[..end]),
    })
}

fn cut<'a>(text: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let n = memmem::find(text, at)?;
    Some((&text[..n], &text[n + at.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;

    fn shown(text: &str) -> Vec<(u64, i64, i64, u32, u16, Outcome)> {
        assert!(FortioLog.recognise(text.as_bytes()));
        let (rows, facts) = read_all(&FortioLog, text.as_bytes(), &Options::default());
        assert_eq!((rows.unreadable, facts.resolution), (0, Nanos(1)));
        assert_eq!(rows.tables.users.as_slice(), ["1", "0"]);
        rows.records
            .iter()
            .map(|r| (r.k, r.intended.0, r.response().0, r.user, r.status, r.outcome))
            .collect()
    }

    const EXPECTED: [(u64, i64, i64, u32, u16, Outcome); 3] = [
        (0, 1_795_265_544_206_570_022, 504_353_000, 0, 200, Outcome::Ok),
        (1, 1_795_265_544_206_648_053, 504_386_000, 1, 503, Outcome::Status),
        (2, 1_795_265_544_957_501_425, 1_089_000, 1, 0, Outcome::Refused),
    ];

    #[test]
    fn json_is_read() {
        let text = "{\"latency\":0.504353,\"timestamp\":1795265544206570022,\"thread\":1,\"iter\":0,\"ok\":true,\"details\":\"200\"}\n\
                    {\"latency\":0.504386,\"timestamp\":1795265544206648053,\"thread\":0,\"iter\":0,\"ok\":false,\"details\":\"503\"}\n\
                    {\"latency\":0.001089,\"timestamp\":1795265544957501425,\"thread\":0,\"iter\":1,\"ok\":false,\"details\":\
                    \"dial \\\"x\\\": connection refused\"}\n";
        assert_eq!(shown(text), EXPECTED);
    }

    #[test]
    fn influx_is_read() {
        let text = "latency,thread=1,ok=true value=0.504353,details=\"200\" 1795265544206570022\n\
                    latency,thread=0,ok=false value=0.504386,details=\"503\" 1795265544206648053\n\
                    latency,thread=0,ok=false value=0.001089,details=\"dial \"x\" : connection refused\" 1795265544957501425";
        assert_eq!(shown(text), EXPECTED);
    }

    #[test]
    fn what_is_no_call_is_said() {
        let text = b"{\"latency\":0.5,\"timestamp\":1795265544206570022,\"thread\":1,\"iter\":0,\"ok\":true,\"details\":\"200\"}\n\
                     {\"latency\":0.5,\"timestamp\":1795265544206570022,\"thr\n\
                     {\"latency\":-0.5,\"timestamp\":1795265544206570022,\"thread\":1,\"iter\":0,\"ok\":true,\"details\":\"200\"}\n\
                     {\"latency\":0.5,\"timestamp\":17952655,\"thread\":1,\"iter\":0,\"ok\":true,\"details\":\"200\"}\n\
                     latency,thread=0,ok=maybe value=0.5,details=\"200\" 1795265544206648053\n\
                     latency,thread=0,ok=true value=0.5,details=\"200\"\n";
        let (rows, _) = read_all(&FortioLog, text, &Options::default());
        assert_eq!((rows.records.len(), rows.unreadable), (1, 5));
    }
}
