//! Reports of single requests: from the log of a run, and from an audit as it goes over its rows.

use crate::args::Wanted;
use anyhow::{Context as _, Result, anyhow};
use headway_base::Record;
use headway_engine::audit::Watch;
use headway_engine::files::Replacement;
use headway_records::{By, Merge, metadata};
use headway_report::{Origin, Requests};
use headway_workload::redact::Cleared;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A report being written.
struct Writing {
    format: Box<dyn Requests>,
    out: BufWriter<To>,
    wanted: Wanted,
}

/// Where it goes.
enum To {
    Stdout(io::Stdout),
    File(Replacement),
}

impl Write for To {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            To::Stdout(out) => out.write(bytes),
            To::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            To::Stdout(out) => out.flush(),
            To::File(file) => file.flush(),
        }
    }
}

impl Writing {
    fn begin(wanted: &Wanted, origin: Origin) -> Result<Writing> {
        let format = wanted.output.requests(origin);
        let mut format = format.with_context(|| format!("{}: it is not made of requests", wanted.typed()))?;
        let to = match wanted.is_printed() {
            true => To::Stdout(io::stdout()),
            false => To::File(Replacement::begin(&wanted.path).context(wanted.flag)?),
        };
        let mut out = BufWriter::new(to);
        format.begin(&mut out).with_context(|| failed(wanted))?;
        Ok(Writing { format, out, wanted: wanted.clone() })
    }

    fn row(&mut self, record: &Record) -> Result<()> {
        self.format.row(record, &mut self.out).with_context(|| failed(&self.wanted))
    }

    fn finish(mut self) -> Result<()> {
        self.format.end(&mut self.out).with_context(|| failed(&self.wanted))?;
        let to = self.out.into_inner().map_err(io::IntoInnerError::into_error);
        match to.with_context(|| failed(&self.wanted))? {
            To::Stdout(mut out) => out.flush().with_context(|| failed(&self.wanted)),
            To::File(file) => file.finish().context(self.wanted.flag),
        }
    }
}

fn failed(wanted: &Wanted) -> String {
    format!("{} cannot be written", wanted.typed())
}

/// A closed pipe of standard output is no error.
fn unless_closed(result: Result<()>) -> Result<()> {
    let is_closed = |error: &anyhow::Error| {
        let kind = error.root_cause().downcast_ref::<io::Error>().map(io::Error::kind);
        kind == Some(io::ErrorKind::BrokenPipe)
    };
    result.or_else(|error| if is_closed(&error) { Ok(()) } else { Err(error) })
}

/// Writes the requests of a log, in the order in which they were due.
///
/// # Errors
/// The log cannot be read, or the report cannot be written.
pub(super) fn of_log(log: &Path, wanted: &Wanted) -> Result<()> {
    let mut rows = Merge::of_log(log, By::Intended)?;
    let origin = origin(rows.metadata()).with_context(|| format!("{} cannot be read", log.display()))?;
    let mut writing = Writing::begin(wanted, origin)?;
    let all = || -> Result<()> {
        while let Some(record) = rows.next_row()? {
            writing.row(&record)?;
        }
        writing.finish()
    };
    unless_closed(all())
}

fn origin(metadata: &metadata::Metadata) -> Result<Origin> {
    let steps = metadata.get(metadata::STEPS).map_or("[]", String::as_str);
    // A simulation took place at no time.
    let zero =
        metadata.get(metadata::ZERO_UNIX_NS).and_then(|zero| zero.parse().ok()).filter(|zero| *zero != 0);
    Ok(Origin {
        name: Cleared::default(),
        labels: serde_json::from_str(steps).context("the labels of its steps")?,
        zero_unix_ns: zero,
    })
}

/// Writes the requests that an audit judges, beside whatever else watches it.
pub struct Listening<'a, W> {
    watch: W,
    wanted: &'a [Wanted],
    /// Reports that can be written so far.
    writing: Vec<Writing>,
    failed: Vec<anyhow::Error>,
}

impl<'a, W: Watch> Listening<'a, W> {
    /// For these reports, beside `watch`.
    pub fn new(watch: W, wanted: &'a [Wanted]) -> Listening<'a, W> {
        Listening { watch, wanted, writing: Vec::new(), failed: Vec::new() }
    }

    /// Ends the reports; what could not be written.
    pub fn finish(self) -> Vec<Result<()>> {
        let never = (self.writing.len() + self.failed.len() < self.wanted.len())
            .then(|| Err(anyhow!("the audit gave no requests to write")));
        let ended = self.writing.into_iter().map(Writing::finish);
        ended.chain(self.failed.into_iter().map(Err)).chain(never).map(unless_closed).collect()
    }
}

impl<W: Watch> Watch for Listening<'_, W> {
    fn beneath(&mut self) -> Option<&mut dyn Watch> {
        Some(&mut self.watch)
    }

    fn requests(&mut self, origin: Origin) {
        for wanted in self.wanted {
            match Writing::begin(wanted, origin.clone()) {
                Ok(writing) => self.writing.push(writing),
                Err(error) => self.failed.push(error),
            }
        }
    }

    fn request(&mut self, record: &Record) {
        let failed = &mut self.failed;
        self.writing.retain_mut(|writing| match writing.row(record) {
            Ok(()) => true,
            Err(error) => {
                failed.push(error);
                false
            }
        });
    }
}
