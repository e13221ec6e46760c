//! Sorting places by instant. Logs are written in the order of ends, so by start they are nearly sorted but hold no long
//! runs for a comparison sort to find; a radix sort (LSD; Knuth, The Art of Computer Programming 3, 5.2.5) takes the
//! same few passes whatever the order, and is stable.

use headway_base::Nanos;

/// Bits sorted by at a time: 2,048 counters fit the first-level cache.
const BITS: u32 = 11;
const DIGITS: usize = 1 << BITS;

/// Sorts by instant, those of one instant in their order. `spare` is room to work in.
pub(super) fn sort(places: &mut Vec<(Nanos, u32)>, spare: &mut Vec<(Nanos, u32)>) {
    if places.is_sorted_by_key(|p| p.0) {
        return;
    }
    let Some(least) = places.iter().map(|p| p.0).min() else { return };
    let above = |at: Nanos| at.0.wrapping_sub(least.0) as u64;
    let most = places.iter().map(|p| above(p.0)).max().unwrap_or(0);
    spare.resize(places.len(), (Nanos::ZERO, 0));
    let mut counts = vec![0_u32; DIGITS];
    for shift in (0..u64::BITS - most.leading_zeros()).step_by(BITS as usize) {
        let digit = |at: Nanos| (above(at) >> shift) as usize & (DIGITS - 1);
        counts.fill(0);
        for place in places.iter() {
            counts[digit(place.0)] += 1;
        }
        let mut begin = 0;
        for count in &mut counts {
            begin += std::mem::replace(count, begin);
        }
        for place in places.iter() {
            let to = &mut counts[digit(place.0)];
            spare[*to as usize] = *place;
            *to += 1;
        }
        std::mem::swap(places, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_a_stable_sort(
            instants in proptest::collection::vec(prop_oneof![-5_i64..5, 0..1_i64 << 40, any::<i64>()], 0..200),
        ) {
            let mut places: Vec<_> = instants.iter().enumerate().map(|(i, &at)| (Nanos(at), i as u32)).collect();
            let mut expected = places.clone();
            expected.sort_by_key(|p| p.0);
            sort(&mut places, &mut Vec::new());
            prop_assert_eq!(places, expected);
        }
    }
}
