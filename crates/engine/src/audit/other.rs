//! What is left open of the stamps: the verdict if those that nothing shows to be starts were ends; rows left out for
//! stamps far from all others.

use super::files::instant;
use super::first_pass::Read;
use super::watch::Watch;
use super::{AuditSpec, second_pass, setup};
use crate::Error;
use headway_import::Clock;
use headway_stats::Summary;
use headway_stats::summary::evidence::{Cause, FirstStamp, Reading};
use headway_stats::summary::{Finding, FindingId, OtherReading, Severity, Stream};
use headway_workload::redact::Cleared;

/// Adds the findings. Reads the stamps as ends where that is open, for which the rows are sorted and judged once more; takes
/// what was read out of use.
pub(super) fn into_summary(
    summary: &mut Summary,
    settings: &AuditSpec,
    read: &mut Read,
    stream: Stream,
    watch: &mut dyn Watch,
) -> Result<(), Error> {
    let mut findings = far(read);
    let open: Vec<Cleared> = read.load().filter(|f| f.guessed).map(|f| f.file.path.clone()).collect();
    if !open.is_empty() && read.read_as_ends()? {
        let other = judged(settings, read, stream, watch)?;
        findings.push(start_or_end(&open, summary, other.as_ref()));
        summary.audit.get_or_insert_default().other_reading = other;
    }
    for finding in findings {
        let found = &mut summary.verdict.findings;
        let place = found.iter().position(|f| f.severity <= finding.severity).unwrap_or(found.len());
        found.insert(place, finding);
    }
    Ok(())
}

/// The pattern of the other reading; none where nothing of it is selected.
fn judged(
    settings: &AuditSpec,
    read: &Read,
    stream: Stream,
    watch: &mut dyn Watch,
) -> Result<Option<OtherReading>, Error> {
    let mut settings = settings.clone();
    settings.exports.failures = None;
    settings.exports.histograms = None;
    settings.exports.rows = None;
    settings.exports.requests = false;
    let stretch = setup::Stretch::new(&settings, read, stream)?;
    let chosen = second_pass::count(&settings, read, &stretch, stream)?;
    if chosen.starts.n == 0 {
        return Ok(None);
    }
    let setup = setup::setup(&settings, read, &stretch, stream, &chosen);
    let facts = setup::facts(&settings, read, &stretch);
    let other = second_pass::judge(&settings, read, &stretch, &chosen, setup, facts, watch)?;
    Ok(Some(OtherReading {
        stamps: "end".into(),
        load: other.verdict.load,
        pattern: other.verdict.pattern,
        cov: other.arrivals.cov,
        cov_se: other.arrivals.cov_se,
        cause: other.audit.and_then(|audit| audit.cause),
    }))
}

fn start_or_end(open: &[Cleared], summary: &Summary, other: Option<&OtherReading>) -> Finding {
    let as_starts =
        Reading { load: summary.verdict.load, pattern: summary.verdict.pattern, cov: summary.arrivals.cov };
    let as_ends = other.map(|other| Reading { load: other.load, pattern: other.pattern, cov: other.cov });
    let same = |ends: &Reading| (ends.load, ends.pattern) == (as_starts.load, as_starts.pattern);
    let severity = if as_ends.as_ref().is_some_and(same) { Severity::Info } else { Severity::Warning };
    let evidence = Cause::StartOrEnd {
        file: open.first().cloned().unwrap_or_default(),
        more_files: open.len().saturating_sub(1) as u64,
        as_starts,
        as_ends,
    };
    Finding {
        id: FindingId::StartOrEnd,
        severity,
        evidence: vec![evidence.into()],
        n: open.len() as u64,
        ..Finding::default()
    }
}

/// Rows that are left out for their stamps, a finding for each file.
fn far(read: &Read) -> Vec<Finding> {
    let of_file = |file: &super::first_pass::FileRead| {
        let (n, at) = file.far?;
        let first = match file.facts.clock {
            Clock::Relative => FirstStamp::SinceZero { seconds: at.as_secs_f64() },
            Clock::Unix => match instant(Clock::Unix, at) {
                Some(instant) => FirstStamp::At { instant },
                None => FirstStamp::SinceEpoch { ns: at.0 },
            },
        };
        let evidence = Cause::FarStamps { n, file: file.file.path.clone(), first };
        Some(Finding {
            id: FindingId::FarStamps,
            severity: Severity::Warning,
            evidence: vec![evidence.into()],
            value: Some(n as f64),
            n: file.requests.rows + n,
            ..Finding::default()
        })
    };
    read.files.iter().filter_map(of_file).collect()
}
