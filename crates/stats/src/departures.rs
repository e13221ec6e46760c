//! How long requests stayed in the generator's machine after they were handed to its kernel, over the measured phase.
//!
//! A request that lies in the queue of the machine's own uplink was not sent when its stamp says so. One that waits because the
//! target does not read (a full TCP window) was.

use crate::intervals::SEGMENTS;
use crate::phase::{Measured, Ranges};
use crate::setup::DepartureBin;
use crate::summary::Departures;
use headway_base::Nanos;

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
