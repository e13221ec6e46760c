//! What came to a receiver: headways, arrivals in a millisecond, the queue, what was dropped, and how long the receiver stood still.

use super::super::poisson::mean_and_variance;
use headway_base::Nanos;
use headway_base::station::{Admission, Station};
use headway_live::senders::{Arrival, Reception};

const MS: i64 = 1_000_000;

/// What came; nothing, of fewer than three that were taken in.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Traffic {
    /// Datagrams, those that were dropped too.
    pub came: u64,
    pub dropped: u64,
    /// A second, from the first to the last.
    pub rate: f64,
    /// Of the headways of those that were not dropped.
    pub cov: f64,
    /// In any one millisecond.
    pub most_in_ms: u64,
    /// The most that were in the system: waiting, or being worked on.
    pub queue: u64,
    /// The longest that one of them lay before a receiver that had nothing else to do, in seconds: what the host did, and not the pattern.
    pub stalled_s: f64,
    /// Share of its time for which the receiver was ready and had no processor, where it is a real one and the system says so.
    pub waited: Option<f64>,
}

/// One that was taken in: when, until when it was in the system, and how many were dropped after it.
#[derive(Clone, Copy, Debug)]
struct Taken {
    at: Nanos,
    left: Nanos,
    dropped: u64,
}

impl Traffic {
    /// Of a real receiver that works so long on each; its stamps count from `zero`.
    pub fn of(seen: &Reception, work: Nanos, zero: Nanos) -> Traffic {
        let of = |(i, arrival): (usize, &Arrival)| {
            // Drops happen while the buffer is full: after the last one that found room.
            let next = seen.arrivals.get(i + 1).map_or(seen.dropped as u32, |next| next.dropped);
            let before = if i == 0 { u64::from(arrival.dropped) } else { 0 };
            let dropped = before + u64::from(next.wrapping_sub(arrival.dropped));
            Taken { at: arrival.at - zero, left: arrival.read - zero + work, dropped }
        };
        let mut taken: Vec<Taken> = seen.arrivals.iter().enumerate().map(of).collect();
        let free = |pair: &[Arrival]| pair[1].read - (pair[0].read + work).max(pair[1].at);
        let stalled = seen.arrivals.windows(2).map(free).max().unwrap_or_default();
        // Senders on several processors are stamped a little before they are queued.
        taken.sort_by_key(|one| one.at);
        let stalled_s = stalled.max(Nanos::ZERO).as_secs_f64();
        Traffic { waited: seen.waited, stalled_s, ..Traffic::over(&taken) }
    }

    /// Of instants before a server of `work` with room for `room` that wait; none: of no limit.
    pub fn modelled(instants: &[Nanos], work: Nanos, room: Option<usize>) -> Traffic {
        let mut station = Station::new(1, room, None);
        let mut taken: Vec<Taken> = Vec::with_capacity(instants.len());
        for &at in instants {
            match (station.arrive(at, work), taken.last_mut()) {
                (Admission::Departs(left), _) => taken.push(Taken { at, left, dropped: 0 }),
                (Admission::Rejected, Some(last)) => last.dropped += 1,
                (Admission::Rejected, None) => {}
            }
        }
        Traffic::over(&taken)
    }

    fn over(taken: &[Taken]) -> Traffic {
        let [first, _, .., last] = taken else { return Traffic::default() };
        let dropped: u64 = taken.iter().map(|one| one.dropped).sum();
        let came = taken.len() as u64 + dropped;
        let headways: Vec<f64> =
            taken.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs_f64()).collect();
        let (mean, variance) = mean_and_variance(&headways);
        Traffic {
            came,
            dropped,
            rate: (came - 1) as f64 / (last.at - first.at).as_secs_f64(),
            cov: variance.sqrt() / mean,
            most_in_ms: most_in_ms(taken),
            queue: queue(taken),
            stalled_s: 0.0,
            waited: None,
        }
    }

    /// Share of what came that was dropped.
    pub fn lost(&self) -> f64 {
        self.dropped as f64 / self.came.max(1) as f64
    }
}

/// The most that came in one millisecond.
fn most_in_ms(taken: &[Taken]) -> u64 {
    let together = taken.chunk_by(|a, b| a.at.0.div_euclid(MS) == b.at.0.div_euclid(MS));
    together.map(|ms| ms.iter().map(|one| 1 + one.dropped).sum()).max().unwrap_or(0)
}

/// The most that were in the system as one came, itself among them.
fn queue(taken: &[Taken]) -> u64 {
    let (mut gone, mut most) = (0, 0);
    for (i, one) in taken.iter().enumerate() {
        while gone < i && taken[gone].left <= one.at {
            gone += 1;
        }
        most = most.max((i - gone + 1) as u64);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(x: i64) -> Nanos {
        Nanos::from_micros(x)
    }

    /// Ten at one instant before a server of 10 us with room for four: five are taken in; ten more after it is idle.
    #[test]
    fn a_burst_fills_the_room_and_one_more() {
        let instants: Vec<Nanos> = (0..20).map(|i| us(2_000 * (i / 10))).collect();
        let traffic = Traffic::modelled(&instants, us(10), Some(4));
        assert_eq!((traffic.came, traffic.dropped, traffic.queue, traffic.most_in_ms), (20, 10, 5, 10));
        let roomy = Traffic::modelled(&instants, us(10), None);
        assert_eq!((roomy.dropped, roomy.queue), (0, 10));
        // 18 gaps of zero and one of 2 ms: mean 2/19 ms, variance 4/19 (n - 1).
        assert!((roomy.cov - (4.0 / 19.0_f64).sqrt() / (2.0 / 19.0)).abs() < 1e-9, "{}", roomy.cov);
        assert_eq!(Traffic::modelled(&[], us(10), Some(4)), Traffic::default());
    }

    /// Stamps of a receiver by hand: three came together and were read one by one, two were dropped after the second, and one after
    /// the last.
    #[test]
    fn a_reception_is_read_from_its_stamps() {
        let arrival = |at, read, dropped| Arrival { at: us(at), read: us(read), dropped };
        let seen = Reception {
            received: 4,
            dropped: 3,
            arrivals: vec![
                arrival(1_000, 1_010, 0),
                arrival(1_000, 1_020, 0),
                arrival(1_005, 1_030, 2),
                arrival(3_000, 3_010, 2),
            ],
            ..Reception::default()
        };
        let traffic = Traffic::of(&seen, Nanos::ZERO, us(1_000));
        assert_eq!((traffic.came, traffic.dropped, traffic.queue, traffic.most_in_ms), (7, 3, 3, 5));
        // The third was read 10 us after the second although nothing was worked on; the last one 10 us after it came.
        assert!((traffic.stalled_s - 10e-6).abs() < 1e-12, "{}", traffic.stalled_s);
        assert!((traffic.rate - 6.0 / 2e-3).abs() < 1e-6 && (traffic.lost() - 3.0 / 7.0).abs() < 1e-12);
        // One that is worked on is still in the system.
        let worked = Traffic::of(&seen, us(3_000), us(1_000));
        assert_eq!(worked.queue, 4);
    }
}
