//! What was asked for and changes nothing: it is said, so that nobody takes the report for an answer to it.
//!
//! Deliberately absent: what is wrong in itself, which the settings refuse.

use super::AuditSpec;
use super::read::Read;
use super::watch::Watch;
use headway_stats::Summary;

/// The format whose lines `--log-format` describes.
const ACCESS_LOG: &str = "access-log";

/// Notes in the document what it lacks or holds otherwise than asked for.
pub(super) fn into_summary(summary: &mut Summary, settings: &AuditSpec) {
    let users = summary.audit.as_ref().and_then(|audit| audit.users).unwrap_or(0);
    if let Some(reason) = sizes(&settings.by_threads, users) {
        let noted = summary.not_computed.entry("thread_groups".into()).or_default();
        *noted = if noted.is_empty() { reason } else { format!("{noted}; {reason}") };
    }
    let counts = summary.audit.as_ref().is_some_and(|audit| audit.counts.is_some());
    if let Some(interval) = settings.count_interval.filter(|_| !counts) {
        let reason = format!("--counts-per {interval}: not one such interval fits into what is judged");
        summary.not_computed.entry("audit.counts".into()).or_insert(reason);
    }
}

/// Why some of the groups of users are not of the sizes asked for.
fn sizes(asked: &[u64], users: u64) -> Option<String> {
    let large: Vec<String> = asked.iter().filter(|&&size| size > users).map(u64::to_string).collect();
    if large.is_empty() {
        return None;
    }
    let large = large.join(",");
    Some(match users {
        0 => format!("--by-threads {large}: the files name no users"),
        1 => format!("--by-threads {large}: there is 1 user, who stands for these groups"),
        _ => format!("--by-threads {large}: there are {users} users, who stand for these groups"),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_no_group_has() {
        assert_eq!(sizes(&[1, 5, 200], 200), None);
        assert_eq!(
            sizes(&[1, 500, 900], 200).unwrap(),
            "--by-threads 500,900: there are 200 users, who stand for these groups"
        );
        assert!(sizes(&[2], 1).unwrap().contains("1 user,"));
        assert!(sizes(&[1], 0).unwrap().contains("name no users"));
    }
}
