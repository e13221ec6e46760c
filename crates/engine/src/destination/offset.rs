//! How far this machine's clock is off another one: bounds, by when something was written and what the other's clock said of it.

use headway_base::Nanos;

/// Clocks that surely differ by more are a finding.
pub(crate) const WARNED: Nanos = Nanos::from_millis(100);
/// Shards whose clocks surely differ by more do not begin together.
pub(crate) const REFUSED: Nanos = Nanos::from_secs(5);

/// One clock minus another: somewhere between these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Offset {
    /// At least.
    pub(crate) least: Nanos,
    /// At most.
    pub(crate) most: Nanos,
}

impl Offset {
    /// Of this clock, by which something was written between `before` and `after`, minus the one by which that was at `stamp`, rounded down to a multiple of
    /// `resolution`; all in nanoseconds since the Unix epoch. The true difference is within, however long the request took on its way.
    pub(crate) fn of(before: i128, after: i128, stamp: i128, resolution: Nanos) -> Offset {
        let whole = |ns: i128| Nanos(ns.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64);
        Offset { least: whole(before - stamp - i128::from(resolution.0)), most: whole(after - stamp) }
    }

    /// What is left of this clock minus a third one, where that is `other` minus the same.
    pub(crate) fn minus(self, other: Offset) -> Offset {
        Offset {
            least: Nanos(self.least.0.saturating_sub(other.most.0)),
            most: Nanos(self.most.0.saturating_sub(other.least.0)),
        }
    }

    /// By how much they surely differ, at least.
    pub(crate) fn surely(self) -> Nanos {
        Nanos(self.least.0.max(0_i64.saturating_sub(self.most.0)).max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(i64) -> Nanos = Nanos::from_millis;

    proptest! {
        /// A store whose clock is off, which takes its time and rounds: the truth is within, and no narrower bounds would do.
        #[test]
        fn the_truth_is_within_the_bounds(
            off in -10_000_000_000_i64..10_000_000_000,
            there in 0i64..2_000_000_000,
            back in 0i64..2_000_000_000,
            resolution in prop_oneof![Just(1i64), Just(10_000_000), Just(1_000_000_000)],
            at in 1_700_000_000_000_000_000_i128..1_700_000_010_000_000_000,
        ) {
            let written = at + i128::from(there) - i128::from(off);
            let stamp = written.div_euclid(i128::from(resolution)) * i128::from(resolution);
            let after = at + i128::from(there) + i128::from(back);
            let offset = Offset::of(at, after, stamp, Nanos(resolution));
            prop_assert!(offset.least.0 <= off && off <= offset.most.0, "{offset:?}");
            prop_assert_eq!(offset.most.0 - offset.least.0, there + back + resolution);
            prop_assert!(offset.surely().0 <= off.abs());
        }
    }

    #[test]
    fn what_is_sure_is_what_both_bounds_say() {
        let surely = |least: i64, most: i64| Offset { least: MS(least), most: MS(most) }.surely();
        assert_eq!((surely(-50, 300), surely(120, 300), surely(-300, -150)), (MS(0), MS(120), MS(150)));
        let (here, there) =
            (Offset { least: MS(10), most: MS(20) }, Offset { least: MS(-400), most: MS(-300) });
        assert_eq!(here.minus(there), Offset { least: MS(310), most: MS(420) });
        assert_eq!(there.minus(here).surely(), MS(310));
    }
}
