//! fortio's `-access-log-file`, JSON lines or influx line protocol (tried with fortio 1.63.0 against a target that takes
//! half a second: `timestamp` is the start, in the order of the ends). Calls of one thread follow one another; the
//! thread is the user. The warm-up calls before the run are not in the file.

use super::columns::layout::{Cut, Layout, PLAIN, Tabular};
use headway_base::Nanos;
use memchr::memmem;

const LOG: Layout = Layout {
    title: "fortio access log",
    tool: Some("fortio"),
    rows: Cut::Json { marks: &["latency", "timestamp", "thread", "iter", "ok", "details"], begins: "" },
    columns: "start:ns=timestamp,elapsed:s=latency,thread=thread,success=ok,details=details",
    resolution: Some(Nanos(1)),
    missing: &["Which URL a call went to and how many bytes came are not in it."],
    ..PLAIN
};

/// fortio's access log.
pub static FORTIO_LOG: Tabular = Tabular {
    name: "fortio-log",
    about: "fortio load -access-log-file FILE, -access-log-format json or influx",
    layouts: &[
        LOG,
        Layout {
            rows: Cut::Own(influx),
            columns: "thread=1,success=2,elapsed:s=3,details=4,start:ns=5",
            ..LOG
        },
    ],
};

/// `latency,thread=0,ok=true value=0.501057,details="200" 1795265546221923830`
fn influx(line: &[u8]) -> Option<Vec<&[u8]>> {
    let line = line.strip_prefix(b"latency,thread=")?;
    let (thread, rest) = cut(line, b",ok=")?;
    let (ok, rest) = cut(rest, b" value=")?;
    let (latency, rest) = cut(rest, b",details=\"")?;
    // What went wrong may hold anything; the stamp stands behind its last quote.
    let end = memmem::rfind(rest, b"\" ")?;
    Some(vec![thread, ok, latency, &rest[..end], &rest[end + 2..]])
}

fn cut<'a>(text: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let n = memmem::find(text, at)?;
    Some((&text[..n], &text[n + at.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;
    use crate::{Format, Options};
    use headway_base::Outcome;

    fn shown(text: &str) -> Vec<(u64, i64, i64, u32, u16, Outcome)> {
        assert!(FORTIO_LOG.recognise(text.as_bytes()));
        let (rows, facts) = read_all(&FORTIO_LOG, text.as_bytes(), &Options::default());
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
        let (rows, _) = read_all(&FORTIO_LOG, text, &Options::default());
        assert_eq!((rows.records.len(), rows.unreadable), (1, 5));
    }
}
