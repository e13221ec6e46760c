//! What the report tells of the files, and what else of an audit only its caller knows.

use super::Dispersion;
use super::first_pass::Read;
use super::second_pass::Chosen;
use super::setup::Stretch;
use super::{AuditSpec, offsets};
use crate::Error;
use headway_base::Nanos;
use headway_import::{Clock, Facts, Finished, Outcomes, Stamps};
use headway_stats::Summary;
use headway_stats::summary::{AuditFile, StampsHow, Stream, UnreadableRow, Why};
use headway_workload::redact::{Redactor, clear};
use jiff::tz::TimeZone;
use std::path::Path;

/// Another tool's file; the rows of each kind are counted by the survey.
pub(super) fn of_results(finished: &Finished) -> AuditFile {
    let examples = finished.examples.iter().map(|e| UnreadableRow {
        line: e.line,
        found: Redactor::default().clear_foreign(&e.found),
        expected: e.expected.clone(),
    });
    AuditFile {
        format: finished.format.to_owned(),
        compression: finished.compression.map(str::to_owned),
        stamps_how: Some(known_by(finished.stamps_how).into()),
        unreadable: finished.unreadable,
        examples: examples.collect(),
        left_out: finished.left_out.iter().map(|&(why, n)| (why.to_owned(), n)).collect(),
        ..of_facts(&finished.facts)
    }
}

/// The log of a run, or of a simulated one of that seed.
pub(super) fn of_run(log: &Path, facts: &Facts, simulated: Option<&str>) -> AuditFile {
    let parquet = log.extension().is_some_and(|e| e == "parquet");
    AuditFile {
        format: if parquet { "headway-parquet" } else { "headway-run" }.to_owned(),
        stamps_how: Some(match simulated {
            Some(seed) => StampsHow::Simulated { seed: seed.to_owned() }.into(),
            None => StampsHow::OwnClock.into(),
        }),
        ..of_facts(facts)
    }
}

fn known_by(how: headway_import::StampsHow) -> StampsHow {
    use headway_import::StampsHow as Of;
    match how {
        Of::Format => StampsHow::Format,
        Of::Subtracted => StampsHow::Subtracted,
        Of::NoTimes => StampsHow::NoTimes,
        Of::Overlap { ends, overlapping, otherwise, pairs } => {
            StampsHow::Overlap { ends, overlapping, otherwise, pairs }
        }
        Of::Slope { ends, slope, se, n } => StampsHow::Slope { ends, slope, se, n },
        Of::ByElapsed { back, stamps_back, pairs } => StampsHow::ByElapsed { back, stamps_back, pairs },
        Of::ByStamps { back, elapsed_back, pairs } => StampsHow::ByStamps { back, elapsed_back, pairs },
        Of::Sorted { back, pairs } => StampsHow::Sorted { back, pairs },
        Of::Untold { back, elapsed_back, pairs } => StampsHow::Untold { back, elapsed_back, pairs },
    }
}

fn of_facts(facts: &Facts) -> AuditFile {
    AuditFile {
        description: clear(&facts.format),
        tool: facts.tool.as_deref().map(clear),
        stamps: if facts.stamps == Stamps::End { "end" } else { "start" }.to_owned(),
        digit_s: facts.resolution.as_secs_f64(),
        missing: facts.missing.iter().map(|sentence| clear(sentence)).collect(),
        finer: facts.finer.map(str::to_owned),
        ..AuditFile::default()
    }
}

/// Fills in what only the caller knows.
pub(super) fn into_summary(
    summary: &mut Summary,
    settings: &AuditSpec,
    read: &Read,
    stretch: &Stretch,
    stream: Stream,
    chosen: &Chosen,
) -> Result<(), Error> {
    let offsets = offsets::offsets(read)?;
    let audit = summary.audit.get_or_insert_default();
    audit.files = read.files.iter().map(|f| f.file.clone()).collect();
    audit.stream = stream;
    audit.first_start = instant(read.clock, stretch.first);
    audit.selected = stretch.selected;
    audit.success_only = settings.success_only;
    audit.dispersion = match settings.dispersion {
        Dispersion::Cov => "cov",
        Dispersion::Vmr => "vmr",
    }
    .to_owned();
    audit.outside = chosen.outside;
    audit.generators.clone_from(&read.generators);
    audit.offsets = offsets;
    audit.unrecorded = unrecorded(read);
    if read.load().any(|f| f.requests.rows > 0 && f.facts.outcomes == Outcomes::None) {
        summary.not_computed.insert("outcomes".into(), Why::OutcomesNotTold.into());
    }
    Ok(())
}

/// Which failures never become a row, as a clause.
fn unrecorded(read: &Read) -> Option<String> {
    let mut clauses: Vec<&str> = Vec::new();
    for file in read.load().filter(|f| f.requests.rows > 0) {
        if let Outcomes::Some(clause) = file.facts.outcomes
            && !clauses.contains(&clause)
        {
            clauses.push(clause);
        }
    }
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// An instant of the Unix clock in RFC 3339; none on another clock.
pub(super) fn instant(clock: Clock, at: Nanos) -> Option<String> {
    instant_in(clock, at, &TimeZone::UTC)
}

/// The same with the offset of a time zone.
pub(super) fn instant_in(clock: Clock, at: Nanos, zone: &TimeZone) -> Option<String> {
    let timestamp =
        jiff::Timestamp::from_nanosecond(i128::from(at.0)).ok().filter(|_| clock == Clock::Unix)?;
    Some(match *zone == TimeZone::UTC {
        true => timestamp.to_string(),
        false => timestamp.display_with_offset(zone.to_offset(timestamp)).to_string(),
    })
}
