//! One row a request, for spreadsheets and scripts that read neither Arrow nor Parquet.
//!
//! Instants are in seconds since the plan's zero, with nine decimals, as exact as the log; the start by the wall clock stands in the last
//! column. A cell without a value is empty.
//! Names from outside cannot act as formulas ([`quoted`]). Deliberately absent: columns that only tell shards and connections
//! apart; Parquet has every column.

use crate::csv::quoted;
use crate::requests::{Origin, Requests};
use crate::{Material, Output};
use headway_base::{Kind, Nanos, Record};
use std::io::{Result, Write};

/// The first line.
const COLUMNS: &str = "arrival,group,user,step,repeat,attempt,due,intended_s,started_s,sent_s,first_byte_s,done_s,wait_s,connect_s,\
                       tls_s,response_s,bytes_sent,bytes_received,status,outcome,count,started_unix_s";

/// Requests as CSV.
pub struct RequestsCsv;

impl Output for RequestsCsv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "one row a request, in the order in which they were due"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv"]
    }

    fn made_of(&self) -> &'static [Material] {
        &[Material::Requests]
    }

    fn recognises(&self, start: &str) -> bool {
        start.lines().next() == Some(COLUMNS)
    }

    fn requests(&self, origin: Origin) -> Option<Box<dyn Requests>> {
        Some(Box::new(Rows { origin }))
    }
}

struct Rows {
    origin: Origin,
}

impl Requests for Rows {
    fn begin(&mut self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "{COLUMNS}")
    }

    fn row(&mut self, record: &Record, out: &mut dyn Write) -> Result<()> {
        if record.kind != Kind::Request {
            return Ok(());
        }
        let Record { k, group, user, repeat, attempt, .. } = record;
        let step = quoted(self.origin.label(record.step));
        write!(out, "{k},{group},{user},{step},{repeat},{attempt},{}", record.due.name())?;
        let spans = [
            record.first_byte.get(),
            Some(record.done),
            Some(record.wait),
            record.connect.get(),
            record.tls.get(),
        ];
        let instants = [Some(record.intended), record.started.get(), record.sent.get()];
        for at in instants.into_iter().chain(spans).chain([Some(record.response())]) {
            write!(out, ",{}", at.map(seconds).unwrap_or_default())?;
        }
        let status = if record.status == 0 { String::new() } else { record.status.to_string() };
        let Record { bytes_sent, bytes_received, count, .. } = record;
        write!(out, ",{bytes_sent},{bytes_received},{status},{},{count},", record.outcome.name())?;
        let started = record.started.get().zip(self.origin.zero_unix_ns);
        writeln!(out, "{}", started.map(|(at, zero)| unix(zero + i128::from(at.0))).unwrap_or_default())
    }

    fn end(&mut self, _: &mut dyn Write) -> Result<()> {
        Ok(())
    }
}

/// Seconds with nine decimals.
fn seconds(at: Nanos) -> String {
    unix(i128::from(at.0))
}

/// The same of nanoseconds since the Unix epoch, which may be more than fit in 64 bits.
fn unix(at: i128) -> String {
    let sign = if at < 0 { "-" } else { "" };
    let ns = at.unsigned_abs();
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}
