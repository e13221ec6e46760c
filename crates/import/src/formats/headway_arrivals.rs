//! The two CSV files of Headway itself that hold arrivals and nothing else: what `headway serve --arrivals-log` saw come
//! (`received_unix_s,connection,stamp`, over UDP `received_unix_s,sender,stamp,dropped`), and what `headway plan` intends (`arrival,intended_s,step`). Runs of Headway are
//! logs of another kind and read elsewhere.

use super::request;
use crate::error::Error;
use crate::format::{Clock, Facts, Format, Outcomes, Reader};
use crate::lines::{Csv, Fields, Lines};
use crate::numbers;
use crate::options::Options;
use crate::rows::Rows;
use crate::stamps;
use headway_base::{Nanos, Record};
use std::path::Path;

/// What `headway serve --arrivals-log` writes.
pub struct HeadwayArrivals;

/// What `headway plan` prints.
pub struct HeadwayPlan;

const ARRIVALS: &[u8] = b"received_unix_s,connection,stamp";
/// Over UDP, with what the kernel had dropped before.
const DATAGRAMS: &[u8] = b"received_unix_s,sender,stamp,dropped";
const PLAN: &[u8] = b"arrival,intended_s,step";

impl Format for HeadwayArrivals {
    fn name(&self) -> &'static str {
        "headway-arrivals"
    }

    fn about(&self) -> &'static str {
        "headway serve --arrivals-log FILE"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        Lines::new(head, true, 0).next().is_some_and(|first| [ARRIVALS, DATAGRAMS].contains(&first))
    }

    fn reader(&self, _path: &Path, _options: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(Arrivals { csv: Csv::new(b','), kind: Which::Came, lines: 0, k: 0, by_clock: 0 }))
    }
}

impl Format for HeadwayPlan {
    fn name(&self) -> &'static str {
        "headway-plan"
    }

    fn about(&self) -> &'static str {
        "headway plan: what is intended, not what was sent"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        Lines::new(head, true, 0).next() == Some(PLAN)
    }

    fn reader(&self, _path: &Path, _options: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(Arrivals { csv: Csv::new(b','), kind: Which::Planned, lines: 0, k: 0, by_clock: 0 }))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Came,
    Planned,
}

struct Arrivals {
    csv: Csv,
    kind: Which,
    lines: u64,
    k: u64,
    /// Arrivals stamped by the clock after the read, not by the kernel.
    by_clock: u64,
}

impl Reader for Arrivals {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let (header, expected) = match self.kind {
            Which::Came => (
                ARRIVALS,
                "three fields: seconds since 1970, a connection's number, kernel or user (over UDP a fourth: how many were dropped)",
            ),
            Which::Planned => {
                (PLAN, "three fields: an arrival's number, seconds since the plan's zero, a step")
            }
        };
        let mut lines = Lines::new(bytes, last, self.lines);
        while let Some(fields) = self.csv.next(&mut lines) {
            if [header, DATAGRAMS].contains(&fields.raw()) {
                continue;
            }
            let record = match self.kind {
                Which::Came => came(&fields, self.k, rows),
                Which::Planned => planned(&fields, rows),
            };
            match record {
                Some(record) => {
                    self.k += 1;
                    self.by_clock += u64::from(self.kind == Which::Came && fields.get(2) == Some(b"user"));
                    rows.records.push(record);
                }
                None => rows.bad(lines.line(), fields.raw(), expected),
            }
        }
        self.lines = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        let facts = Facts {
            tool: Some("headway".into()),
            resolution: Nanos(1),
            outcomes: Outcomes::None,
            ..Facts::default()
        };
        match self.kind {
            Which::Came => {
                let mut missing =
                    vec!["It holds arrivals only: neither answers nor what was asked for.".to_owned()];
                if self.by_clock > 0 {
                    let (n, all) = (self.by_clock, self.k);
                    missing.push(format!("{n} of {all} arrivals have no stamp of the kernel's, but the time when they were read."));
                }
                Facts { format: "Headway arrivals log".into(), missing, ..facts }
            }
            Which::Planned => Facts {
                format: "Headway plan".into(),
                clock: Clock::Relative,
                missing: vec!["It is what was intended: what was sent is not in it.".into()],
                ..facts
            },
        }
    }
}

fn came(fields: &Fields<'_>, k: u64, rows: &mut Rows) -> Option<Record> {
    let dropped = fields.get(3).is_none_or(|dropped| numbers::int(dropped).is_some());
    if !(3..=4).contains(&fields.len()) || !dropped || !matches!(fields.get(2)?, b"kernel" | b"user") {
        return None;
    }
    let at = stamps::unix(numbers::decimal(fields.get(0)?, 9)?)?;
    let mut record = request::between(rows.generator, at, at);
    record.k = k;
    let connection = u64::try_from(numbers::int(fields.get(1)?)?).ok()?;
    record.connection = u32::try_from(connection).unwrap_or(u32::MAX);
    record.step = rows.step(b"request");
    Some(record)
}

/// No plan is longer than ten years.
const LONGEST_PLAN: Nanos = Nanos::from_secs(10 * 366 * 86_400);

fn planned(fields: &Fields<'_>, rows: &mut Rows) -> Option<Record> {
    if fields.len() != 3 {
        return None;
    }
    let at = Nanos(numbers::decimal(fields.get(1)?, 9)?);
    if !(Nanos::ZERO..=LONGEST_PLAN).contains(&at) {
        return None;
    }
    let k = u64::try_from(numbers::int(fields.get(0)?)?).ok()?;
    let mut record = request::between(rows.generator, at, at);
    record.k = k;
    record.step = rows.step(fields.get(2)?);
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;

    #[test]
    fn arrivals_are_read() {
        let text =
            b"received_unix_s,connection,stamp\n1795265544.123456789,0,kernel\n1795265544.123456790,7,user\n\
                     1795265544.1,7\n1795265544.1,-7,user\n0.1,7,user\n1795265544.1,7,us";
        assert!(HeadwayArrivals.recognise(text) && !HeadwayPlan.recognise(text));
        let (rows, facts) = read_all(&HeadwayArrivals, text, &Options::default());
        let read: Vec<_> =
            rows.records.iter().map(|r| (r.k, r.intended.0, r.response().0, r.connection)).collect();
        assert_eq!(read, [(0, 1_795_265_544_123_456_789, 0, 0), (1, 1_795_265_544_123_456_790, 0, 7)]);
        assert_eq!((rows.unreadable, facts.ends, facts.resolution), (4, false, Nanos(1)));
        assert!(facts.missing[1].starts_with("1 of 2"), "{:?}", facts.missing);
    }

    #[test]
    fn plans_are_read() {
        let text =
            b"arrival,intended_s,step\n3,0.000000001,request\n5,12.5,\"other, step\"\n6,-1.0,request\n7,1\n";
        assert!(HeadwayPlan.recognise(text) && !HeadwayArrivals.recognise(text));
        let (rows, facts) = read_all(&HeadwayPlan, text, &Options::default());
        let read: Vec<_> = rows.records.iter().map(|r| (r.k, r.intended.0, r.step)).collect();
        assert_eq!(read, [(3, 1, 0), (5, 12_500_000_000, 1)]);
        assert_eq!(rows.tables.labels.as_slice(), ["request", "other, step"]);
        assert_eq!((rows.unreadable, facts.clock), (2, Clock::Relative));
    }
}
