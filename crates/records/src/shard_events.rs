//! The events of several runs, one after the other, all counting from the zero of the first.
//!
//! Deliberately absent: an order of time over all of them. Numbers of events need none, and the rows of one request stand together.

use std::path::PathBuf;

use headway_base::{Nanos, ResponseEvent, Stamp};

use crate::error::Error;
use crate::folder::events_beside;
use crate::merge::First;
use crate::reader::{EventReader, LogReader};
use crate::sort::Limits;
use crate::stream::Ending;

/// Hands the events that stand beside each of `logs` to `take`, batch by batch, and nothing of one that has none; returns the tables that have no
/// end mark. Instants are moved as those of [`merge`](crate::merge()) are.
///
/// # Errors
/// The errors of reading, and those of `take`.
pub fn events_of<E: From<Error>>(
    logs: &[PathBuf],
    limits: Limits,
    mut take: impl FnMut(&[ResponseEvent]) -> Result<(), E>,
) -> Result<Vec<PathBuf>, E> {
    let (mut first, mut truncated) = (First::default(), Vec::new());
    for log in logs {
        let shift = first.admit(&LogReader::open(log)?)?;
        let path = events_beside(log);
        if !path.is_file() {
            continue;
        }
        let shift = if Nanos(shift.0.abs()) <= limits.same_zero { Nanos::ZERO } else { shift };
        let mut reader = EventReader::open(&path)?;
        while let Some(events) = reader.next_batch()? {
            match shift {
                Nanos::ZERO => take(events)?,
                shift => take(&events.iter().map(|event| moved(*event, shift)).collect::<Vec<_>>())?,
            }
        }
        if matches!(reader.ending(), Some(Ending::Truncated { .. })) {
            truncated.push(path);
        }
    }
    Ok(truncated)
}

fn moved(event: ResponseEvent, shift: Nanos) -> ResponseEvent {
    let by = |at: Nanos| Nanos(at.0.saturating_add(shift.0));
    ResponseEvent {
        intended: by(event.intended),
        arrived: by(event.arrived),
        at: by(event.at),
        before: event.before.get().map_or(Stamp::NONE, |before| by(before).into()),
        ..event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::RECORDS;
    use crate::metadata::{self, Metadata};
    use crate::run_log::RunLog;
    use headway_base::{EventKind, Outcome, Record};

    #[test]
    fn events_of_all_count_from_the_first_zero() {
        let folder = tempfile::tempdir().unwrap();
        // The first has none: its zero counts all the same.
        let logs: Vec<PathBuf> = [(5_000_i64, false), (5_000_000, true), (5_900, true)]
            .into_iter()
            .enumerate()
            .map(|(shard, (zero, any))| {
                let path = folder.path().join(shard.to_string());
                std::fs::create_dir(&path).unwrap();
                let said = Metadata::from([(metadata::ZERO_UNIX_NS.to_owned(), zero.to_string())]);
                let mut log = RunLog::at(&path.join(RECORDS), &said).unwrap();
                let row = Record::never_started(shard as u64, Nanos(10), Nanos(90), Outcome::Ok);
                let end = ResponseEvent::end_of(&row);
                let piece =
                    ResponseEvent { kind: EventKind::Chunk, at: Nanos(50), before: Nanos(40).into(), ..end };
                let events = [piece, end];
                log.append(&[row], if any { &events } else { &[] }).unwrap();
                log.finish().unwrap();
                path.join(RECORDS)
            })
            .collect();
        let limits = Limits { same_zero: Nanos(1_000), ..Limits::default() };
        let mut found = Vec::new();
        let truncated = events_of(&logs, limits, |events| {
            found.extend(events.iter().map(|e| (e.k, e.intended.0, e.at.0, e.before.get().map(|at| at.0))));
            Ok::<(), Error>(())
        });
        assert_eq!(truncated.unwrap(), Vec::<PathBuf>::new());
        let later = 4_995_000;
        let expected = [
            (1, 10 + later, 50 + later, Some(40 + later)),
            (1, 10 + later, 90 + later, None),
            // Zeros that differ by less than that are one.
            (2, 10, 50, Some(40)),
            (2, 10, 90, None),
        ];
        assert_eq!(found, expected);
    }
}
