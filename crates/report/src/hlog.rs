//! An HdrHistogram interval log, version 1.3: response times by the second in which requests were due, for the tools that read such
//! logs (HistogramLogAnalyzer, HdrHistogram's own, and others).
//!
//! Values are nanoseconds, to three digits; the column of maxima is in milliseconds, as those tools expect. A line without a tag
//! holds all requests of its second; with several labels a line follows for each of them, tagged with it. The format has no
//! lower bounds: a request without an answer counts with the time after which it was given up, as the file says. A second without a request
//! has no line. Source: the format of HdrHistogram's `HistogramLogWriter`.

use crate::requests::{Origin, Requests};
use crate::{Material, Output};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use headway_base::{Kind, Nanos, Record};
use std::collections::BTreeMap;
use std::io::{Error, Result, Write};

/// The first line.
const VERSION: &str = "#[Histogram log format version 1.3]";

/// By whom, so that a file of another program is not taken for one of these.
const OURS: &str =
    "#[Written by Headway: response times in nanoseconds, by the second in which requests were due]";

const SECOND: i64 = 1_000_000_000;

/// The interval log.
pub struct Hlog;

impl Output for Hlog {
    fn name(&self) -> &'static str {
        "hlog"
    }

    fn about(&self) -> &'static str {
        "an HdrHistogram log of response times, one interval a second"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["hlog"]
    }

    fn made_of(&self) -> &'static [Material] {
        &[Material::Requests]
    }

    fn recognises(&self, start: &str) -> bool {
        start.starts_with(VERSION) && start.contains(OURS)
    }

    fn requests(&self, origin: Origin) -> Option<Box<dyn Requests>> {
        let tags = match &origin.labels[..] {
            [] | [_] => Vec::new(),
            labels => labels.iter().map(|label| tag(label)).collect(),
        };
        Some(Box::new(Log {
            origin,
            tags,
            second: None,
            all: fresh(),
            by_tag: BTreeMap::new(),
            serializer: V2DeflateSerializer::new(),
        }))
    }
}

struct Log {
    origin: Origin,
    /// Of the labels, by step; none where there is one label.
    tags: Vec<String>,
    /// The interval that is being filled.
    second: Option<i64>,
    all: Histogram<u64>,
    by_tag: BTreeMap<u16, Histogram<u64>>,
    serializer: V2DeflateSerializer,
}

impl Requests for Log {
    fn begin(&mut self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "{VERSION}\n{OURS}")?;
        writeln!(out, "#[A request without an answer counts with the time after which it was given up]")?;
        if let Some(zero) = self.origin.zero_unix_ns {
            writeln!(out, "#[StartTime: {:.3} (seconds since epoch)]", zero as f64 / 1e9)?;
        }
        writeln!(
            out,
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
        )
    }

    fn row(&mut self, record: &Record, out: &mut dyn Write) -> Result<()> {
        if record.kind != Kind::Request {
            return Ok(());
        }
        // A time before zero, which only a foreign file can have, is in the first second.
        let second = record.intended.0.max(0) / SECOND;
        if self.second.is_some_and(|filled| second > filled) {
            self.flush(out)?;
        }
        self.second.get_or_insert(second);
        // It grows as needed, so recording cannot fail.
        let (response, count) = (record.response().max(Nanos::ZERO).0 as u64, u64::from(record.count));
        let _ = self.all.record_n(response, count);
        if !self.tags.is_empty() {
            let _ = self.by_tag.entry(record.step).or_insert_with(fresh).record_n(response, count);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> Result<()> {
        self.flush(out)
    }
}

impl Log {
    /// Writes the interval that is filled, and empties it.
    fn flush(&mut self, out: &mut dyn Write) -> Result<()> {
        let Some(second) = self.second.take() else { return Ok(()) };
        line(&mut self.serializer, "", second, &self.all, out)?;
        self.all.clear();
        for (step, histogram) in std::mem::take(&mut self.by_tag) {
            let tag = self.tags.get(usize::from(step)).map_or("", String::as_str);
            line(&mut self.serializer, &format!("Tag={tag},"), second, &histogram, out)?;
        }
        Ok(())
    }
}

fn line(
    serializer: &mut V2DeflateSerializer,
    tag: &str,
    second: i64,
    histogram: &Histogram<u64>,
    out: &mut dyn Write,
) -> Result<()> {
    let mut bytes = Vec::new();
    serializer.serialize(histogram, &mut bytes).map_err(Error::other)?;
    let max_ms = histogram.max() as f64 / 1e6;
    writeln!(out, "{tag}{second}.000,1.000,{max_ms:.3},{}", STANDARD.encode(&bytes))
}

fn fresh() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are allowed")
}

/// A label as a tag: without commas, spaces and line ends, which end one.
fn tag(label: &str) -> String {
    label.chars().map(|c| if c == ',' || c.is_whitespace() || c.is_control() { '_' } else { c }).collect()
}
