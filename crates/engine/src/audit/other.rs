//! What is left open of the stamps: the verdict if those that nothing shows to be starts were ends; rows left out for
//! stamps far from all others.

use super::files::instant;
use super::first_pass::Read;
use super::watch::Watch;
use super::{AuditSpec, second_pass, setup};
use crate::Error;
use headway_base::Nanos;
use headway_import::Clock;
use headway_report::format::plural;
use headway_stats::Summary;
use headway_stats::summary::{Finding, FindingId, LoadVerdict, OtherReading, Pattern, Severity, Stream};

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
    let open: Vec<String> = read.load().filter(|f| f.guessed).map(|f| f.file.path.clone()).collect();
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

fn start_or_end(open: &[String], summary: &Summary, other: Option<&OtherReading>) -> Finding {
    let files = match open {
        [one] => format!("The rows of {one} do"),
        [first, more @ ..] => {
            format!("The rows of {first} and {} do", plural(more.len() as u64, "more file"))
        }
        [] => String::new(),
    };
    let verdict = |load: Option<LoadVerdict>, pattern: Pattern, cov: Option<f64>| {
        let load = match load {
            Some(LoadVerdict::Valid) => "VALID and ",
            Some(LoadVerdict::Invalid) => "INVALID and ",
            Some(LoadVerdict::Inconclusive) => "INCONCLUSIVE and ",
            None => "",
        };
        let cov = cov.map_or(String::new(), |cov| format!(" (CoV {cov:.2})"));
        format!("{load}{}{cov}", pattern.word())
    };
    let own = verdict(summary.verdict.load, summary.verdict.pattern, summary.arrivals.cov);
    let (severity, reading) = match other {
        None => (Severity::Warning, "Read as ends none of them is in the part selected.".to_owned()),
        Some(other) => {
            let ends = verdict(other.load, other.pattern, other.cov);
            if (other.load, other.pattern) == (summary.verdict.load, summary.verdict.pattern) {
                (Severity::Info, format!("Read as ends the load is {ends} too."))
            } else {
                let text =
                    format!("Read as starts the load is {own}, read as ends {ends}: one of the two is true.");
                (Severity::Warning, text)
            }
        }
    };
    let text = format!(
        "{files} not show whether the stamps are starts or ends; they are read as starts, as JMeter has stamped by default since 2006 \
         (sampleresult.timestamp.start=true). {reading} --stamps start or --stamps end settles it."
    );
    Finding { id: FindingId::StartOrEnd, severity, text, n: open.len() as u64, ..Finding::default() }
}

/// Rows that are left out for their stamps, a finding for each file.
fn far(read: &Read) -> Vec<Finding> {
    let of_file = |file: &super::first_pass::FileRead| {
        let (n, at) = file.far?;
        let when = match file.facts.clock {
            Clock::Relative => format!("{:.0} s after the tool's zero", at.as_secs_f64()),
            Clock::Unix => {
                instant(Clock::Unix, at).unwrap_or_else(|| format!("{} ns after 1970", Nanos(at.0).0))
            }
        };
        let first = if n == 1 { "its stamp is" } else { "the first of their stamps is" };
        Some(Finding {
            id: FindingId::FarStamps,
            severity: Severity::Warning,
            text: format!(
                "{} of {} left out of every number: {first} {when}, more than a day and ten times the length of the test away \
                 from all others. Check the clock of the machine that wrote it.",
                plural(n, "row"),
                file.file.path
            ),
            value: Some(n as f64),
            n: file.requests.rows + n,
            ..Finding::default()
        })
    };
    read.files.iter().filter_map(of_file).collect()
}
