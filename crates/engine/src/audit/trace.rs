//! The arrivals that a file tells, for a plan that repeats them. The file may be anything that is audited.

use super::input::Input;
use crate::Error;
use anyhow::anyhow;
use headway_base::record::Trigger;
use headway_base::{Kind, Nanos};
use headway_import::Options;
use headway_import::source::Progress;
use headway_workload::arrivals::{Logged, MOST_LOGGED};
use std::path::Path;

/// Share of rows that may be unreadable.
const MOST_UNREADABLE: f64 = 0.01;

/// Reads when requests arrived: when each was due, where the file tells that, else when it started. Of a log with sessions those
/// requests that began one; what followed a response is left out.
///
/// # Errors
/// It cannot be read, more than 1 % of its rows cannot, none of its requests arrived by themselves, or there are more than
/// [`MOST_LOGGED`].
pub fn trace(path: &Path) -> Result<Logged, Error> {
    read(path).map_err(Error::without_secrets)
}

fn read(path: &Path) -> Result<Logged, Error> {
    let shown = path.display();
    let mut rows = super::first_pass::rows();
    let mut input = Input::open(path, &Options::default(), Progress::default())?;
    let mut logged = Logged::default();
    let mut rest = 0_u64;
    while input.next(&mut rows)? {
        for record in &rows.records {
            if record.kind != Kind::Request || record.attempt > 0 || record.due != Trigger::Arrival {
                logged.left_out += 1;
                continue;
            }
            let several = record.count.max(1) as usize;
            if logged.instants.len() + several > MOST_LOGGED {
                rest += several as u64;
                continue;
            }
            logged.instants.extend(std::iter::repeat_n(record.intended, several));
            logged.steps.extend(std::iter::repeat_n(record.step, several));
        }
    }
    let ended = input.finish(&mut rows, true)?;
    logged.labels = rows.tables.labels.as_slice().to_vec();
    if rest > 0 {
        return Err(Error::usage(anyhow!(
            "{shown}: it has {} arrivals, and a plan holds {MOST_LOGGED} at most: cut the log",
            logged.instants.len() as u64 + rest
        )));
    }
    let file = ended.file;
    logged.unreadable = file.unreadable;
    logged.left_out += file.left_out.iter().map(|(_, n)| n).sum::<u64>();
    logged.resolution = ended.facts.resolution.max(Nanos(1));
    let read = logged.instants.len() as u64;
    let all = read + logged.unreadable;
    if logged.unreadable as f64 > MOST_UNREADABLE * all as f64 {
        let first = file.examples.first().map_or(String::new(), |row| {
            format!(": line {}: \"{}\": expected {}", row.line, row.found, row.expected)
        });
        return Err(Error::usage(anyhow!(
            "{shown}: {} of {all} rows cannot be read, more than 1 %{first}; `headway audit {shown}` shows them",
            logged.unreadable
        )));
    }
    if read == 0 {
        return Err(Error::usage(anyhow!(
            "{shown}: none of its {} rows is an arrival: requests that follow responses have no instants of their own to repeat",
            logged.left_out
        )));
    }
    Ok(logged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    fn read(text: &str) -> Result<Logged, String> {
        let file = file(text);
        let name = file.path().display().to_string();
        trace(file.path()).map_err(|e| e.to_string().replace(&name, "FILE"))
    }

    /// An access log has stamps of whole seconds and is not sorted; rows that are none are counted.
    #[test]
    fn an_access_log_is_a_trace() {
        let row = |second: u64| {
            format!(
                "127.0.0.1 - - [10/Oct/2025:13:55:{second:02} +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x\"\n"
            )
        };
        let mut text: String = (0..200).map(|i| row((i * 7) % 50)).collect();
        text.push_str("oops\n");
        let logged = read(&text).unwrap();
        assert_eq!((logged.instants.len(), logged.unreadable, logged.left_out), (200, 1, 0));
        assert_eq!(logged.resolution, Nanos::from_secs(1));
        assert_eq!((logged.steps.len(), &logged.labels[..]), (200, &["GET /a".to_owned()][..]));
        let mut sorted = logged.instants.clone();
        sorted.sort_unstable();
        assert_ne!(sorted, logged.instants);
        assert_eq!(sorted[199] - sorted[0], Nanos::from_secs(49));
    }

    #[test]
    fn what_gives_no_trace_says_why() {
        let row = "1331861403100,18,Home,200,OK,Group 1-6,text,true,18078,13\n";
        let bad = format!("{}{}", row.repeat(50), "oops\n".repeat(2));
        let error = read(&bad).unwrap_err();
        assert!(
            error.contains("FILE: 2 of 52 rows cannot be read, more than 1 %: line 51: \"oops\""),
            "{error}"
        );
        assert!(read("a,b\n1,2\n").unwrap_err().contains("not a results file"));
        assert!(trace(Path::new("/no/such/file")).unwrap_err().to_string().contains("/no/such/file"));
    }
}
