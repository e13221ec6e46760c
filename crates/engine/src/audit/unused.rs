//! Options without effect on this report. They are listed, so that the report is not read as if they had one.
//!
//! Deliberately absent: what is wrong in itself, which the settings refuse.

use super::AuditSpec;
use super::first_pass::Read;
use super::watch::Watch;
use headway_stats::Summary;
use headway_stats::summary::Why;

/// The format whose lines `--log-format` describes.
const ACCESS_LOG: &str = "access-log";

/// Notes in the document what it lacks or holds otherwise than asked for.
pub(super) fn into_summary(summary: &mut Summary, settings: &AuditSpec) {
    let users = summary.audit.as_ref().and_then(|audit| audit.users).unwrap_or(0);
    let too_large: Vec<u64> = settings.by_threads.iter().copied().filter(|&size| size > users).collect();
    if !too_large.is_empty() {
        let left_out = match summary.not_computed.get("thread_groups").map(|stated| &stated.why) {
            Some(Why::Groups { left_out, .. }) => *left_out,
            _ => 0,
        };
        let groups = Why::Groups { left_out, too_large, users };
        summary.not_computed.insert("thread_groups".into(), groups.into());
    }
    let counts = summary.audit.as_ref().is_some_and(|audit| audit.counts.is_some());
    if let Some(interval) = settings.count_interval.filter(|_| !counts) {
        let reason = Why::NoInterval { interval_s: interval.as_secs_f64() };
        summary.not_computed.entry("audit.counts".into()).or_insert(reason.into());
    }
}

/// Notes that `--log-format` describes none of the files, if so.
pub(super) fn note_log_format(settings: &AuditSpec, read: &Read, watch: &mut dyn Watch) {
    if settings.options.log_format.is_some() && read.files.iter().all(|f| f.file.format != ACCESS_LOG) {
        let formats: Vec<&str> = read.files.iter().map(|f| f.file.format.as_str()).collect();
        watch.note(&format!(
            "--log-format is not used: {} is no access log but {}",
            settings.names(),
            formats.join(", ")
        ));
    }
}
