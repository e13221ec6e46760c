//! At which time scale lateness is judged: the scale of the target, by its service times.
//!
//! The 10th percentile of service time of the fastest step that makes at least 5 % of the requests, less the time for which answers lay
//! unread, which is the generator's. Of sockets that are kept connecting it is the scale of an attempt, by the connect timeout. Deliberately
//! absent: the ladder (`base`), and what is forgiven (`streams`).

use crate::cells::Labelled;
use crate::requests::Requests;
use crate::summary::TimeScaleFrom;
use headway_base::{Nanos, TimeScale};

/// Fewest requests that make a step count, as a share of all.
const SHARE: f64 = 0.05;

/// The share of service times below the one that is looked at.
const LOW: f64 = 0.1;

/// The time scale, and how it came about; `set` is the user's; `attempt`: how long an attempt to connect may last, where sockets are kept
/// connecting.
pub(crate) fn of(
    requests: &Requests,
    labels: &[String],
    set: Option<TimeScale>,
    attempt: Option<Nanos>,
) -> (TimeScale, TimeScaleFrom) {
    if let Some(scale) = set {
        return (scale, TimeScaleFrom::Set);
    }
    if let Some(attempt) = attempt {
        let timeout_s = attempt.as_secs_f64();
        return (TimeScale::of_service(attempt), TimeScaleFrom::ConnectTimeout { timeout_s });
    }
    let counts = requests.by_label();
    let least = SHARE * counts.iter().sum::<u64>() as f64;
    let steps = requests.at_target.iter().zip(&counts).enumerate().filter(|(_, (_, n))| **n as f64 >= least);
    let p10 = |(step, (kept, _)): (usize, (&Labelled, &u64))| {
        Some((Nanos(Labelled::quantile_of(&[kept], LOW, kept.n)? as i64), step, kept.n))
    };
    match steps.filter_map(p10).min() {
        None => (TimeScale::SHORTEST, TimeScaleFrom::Default),
        Some((p10, step, n)) => {
            let step = labels.get(step).cloned().unwrap_or_default();
            (TimeScale::of_service(p10), TimeScaleFrom::Measured { step, p10_s: p10.as_secs_f64(), n })
        }
    }
}
