//! How long requests stayed in the generator's machine after they were handed to its kernel, over the measured phase.
//!
//! A request that lies in the queue of the machine's own uplink was not sent when its stamp says so. One that waits because the
//! target does not read (a full TCP window) was.

use crate::cells::Labelled;
use crate::intervals::SEGMENTS;
use crate::phase::{Measured, Ranges};
use crate::requests::Requests;
use crate::setup::DepartureBin;
use crate::summary::Departures;
use headway_base::{Lateness, Nanos};

/// Fewest requests that make a step count, as a share of all.
const SHARE: f64 = 0.05;

/// The share of service times below the one that is looked at.
const LOW: f64 = 0.1;

/// How long a request may stay here: as long as cannot matter to the fastest step of those with at least 5 % of the requests, by the 10th
/// percentile of its service times. Only some requests are watched, so that what their stay did to the numbers cannot be told.
pub(crate) fn forgiven(requests: &Requests, asked: Option<Lateness>) -> Lateness {
    let counts = requests.by_label();
    let least = SHARE * counts.iter().sum::<u64>() as f64;
    let steps = requests.at_target.iter().zip(&counts).filter(|(_, n)| **n as f64 >= least);
    let p10 = |(kept, _): (&Labelled, &u64)| Some(Nanos(Labelled::quantile_of(&[kept], LOW, kept.n)? as i64));
    asked.or_else(|| steps.filter_map(p10).min().map(Lateness::of)).unwrap_or_default()
}

/// Requests that left more than `after` late, and requests watched, by segment.
pub(crate) fn by_segment(bins: &[DepartureBin], measured: &Measured, after: Nanos) -> [(u64, u64); SEGMENTS] {
    let mut segments = [(0, 0); SEGMENTS];
    for bin in bins {
        if let Some(segment) = measured.segment(bin.at) {
            segments[segment].0 += bin.later_than(after);
            segments[segment].1 += bin.watched;
        }
    }
    segments
}

/// The block of the document; none where nothing was watched.
pub(crate) fn summary(
    bins: &[DepartureBin],
    measured: &Measured,
    after: Nanos,
    bytes_per_s: Option<f64>,
) -> Option<Departures> {
    let counted = || bins.iter().filter(|bin| measured.segment(bin.at).is_some() && bin.watched > 0);
    let n = counted().map(|bin| bin.watched).sum();
    let mut at = Ranges::default();
    counted().filter(|bin| bin.later_than(after) > 0).for_each(|bin| at.push(bin.at.0, bin.at.0));
    (n > 0).then(|| Departures {
        n,
        late: counted().map(|bin| bin.later_than(after)).sum(),
        by_target: counted().map(|bin| bin.by_target).sum(),
        after_s: after.as_secs_f64(),
        bytes_per_s,
        at: at.seconds(),
    })
}
