//! Named random streams: every draw is a hash of (seed, stream, k, j), so that it does not depend on which thread draws it, in
//! which order, or on which machine.
//!
//! The hash is two rounds of David Stafford's "mix 13" finaliser (the one of SplitMix64; Steele, Lea and Flood
//! 2014) over Weyl sequences, with two keys per stream. It is not cryptographic. Golden values below fix it: changing
//! them changes every plan, and `plan.version` with it.

use crate::fnv::Fnv1a;

/// The streams in use, one per purpose. A new purpose takes a new name; a name never changes its meaning.
pub mod streams {
    /// Gaps between arrivals.
    pub const GAP: &str = "gap";
    /// Sizes of batches of arrivals.
    pub const BATCH: &str = "batch";
    /// Which shard keeps a session.
    pub const SHARD: &str = "shard";
    /// Think times between the requests of a user.
    pub const THINK: &str = "think";
    /// Which way a session takes where it can choose.
    pub const WAY: &str = "way";
    /// Which row of the data a session takes.
    pub const ROW: &str = "row";
    /// Unique identifiers in requests.
    pub const UUID: &str = "uuid";
    /// Identifiers of traces.
    pub const TRACE: &str = "trace";
    /// Identifiers of requests as parents in traces.
    pub const PARENT: &str = "parent";
    /// The seed of a group of users after the first.
    pub const GROUP: &str = "group";
    /// Arrivals of a replay of what was observed.
    pub const REPLAY: &str = "replay";
    /// When a modelled generator or target is held up.
    pub const PAUSE: &str = "pause";
    /// Service demands of a modelled or calibrated server.
    pub const SERVICE: &str = "service";
    /// Which requests a calibrated server fails.
    pub const ERROR: &str = "error";
    /// When the pieces of a response come.
    pub const EVENT: &str = "event";
    /// Where within its grid step a coarse stamp is taken to lie.
    pub const DITHER: &str = "dither";
    /// Which values of a sequence a sample keeps.
    pub const PICK: &str = "pick";
    /// A seed derived from another one.
    pub const DERIVED: &str = "derived";
}

const WEYL: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 / golden ratio, odd
const WEYL_J: u64 = 0xd1b5_4a32_d192_ed03; // odd, unrelated: steps through the draws of one k

#[inline]
const fn mix13(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of draws addressed by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream {
    key: u64,
    twist: u64,
}

impl Stream {
    /// The stream of that name under that seed.
    pub const fn new(seed: u64, name: &str) -> Stream {
        // The mixing below does the spreading.
        let hash = Fnv1a::new().with(name.as_bytes()).value();
        let key = mix13(mix13(seed.wrapping_add(WEYL)) ^ hash);
        Stream { key, twist: mix13(key ^ WEYL_J) }
    }

    /// Draw `j` of item `k`: 64 uniform bits.
    #[inline]
    pub const fn bits(self, k: u64, j: u64) -> u64 {
        let outer = mix13(self.key.wrapping_add(k.wrapping_mul(WEYL)));
        mix13((outer ^ self.twist).wrapping_add(j.wrapping_mul(WEYL_J)))
    }

    /// The draws of item `k`, one after the other: for samplers that need an unknown number of them.
    #[inline]
    pub const fn item(self, k: u64) -> Draws {
        Draws { state: mix13(self.key.wrapping_add(k.wrapping_mul(WEYL))) ^ self.twist }
    }
}

/// A sequence of uniform draws, finite in practice and cheap to make.
#[derive(Clone, Debug)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// The next 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let out = mix13(self.state);
        self.state = self.state.wrapping_add(WEYL_J);
        out
    }

    /// Uniform on the open interval (0, 1): multiples of 2^-52 shifted by half a step, never 0 or 1.
    #[inline]
    pub fn open01(&mut self) -> f64 {
        open01(self.bits())
    }
}

/// Uniform on (0, 1) from 64 bits: the upper 52 of them, shifted by half a step so that neither 0 nor 1 occurs.
#[inline]
pub fn open01(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}

/// The next seed from entropy: any 64 bits the caller has, spread so that near inputs give far seeds. Seeds shown to
/// people stay below 2^53, so that JSON readers keep every digit.
pub const fn seed_from(entropy: u64) -> u64 {
    Stream::new(entropy, streams::DERIVED).bits(0, 0) >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These fix plans: see the module's head.
    #[test]
    fn the_hash_is_the_one_that_plans_were_made_with() {
        let gap = Stream::new(42, streams::GAP);
        let got: Vec<u64> = (0..4).map(|k| gap.bits(k, 0)).collect();
        assert_eq!(got, GOLDEN, "{got:#x?}");
        let mut item = gap.item(7);
        let drawn: Vec<u64> = (0..4).map(|_| item.bits()).collect();
        assert_eq!(drawn, (0..4).map(|j| gap.bits(7, j)).collect::<Vec<_>>());
    }
    const GOLDEN: [u64; 4] =
        [0x71fa_5e5b_3039_95fa, 0x44fe_e30f_1766_c07d, 0x772a_2d39_1449_ebda, 0x70d7_1107_967e_f3e2];

    #[test]
    fn the_open_interval_stays_open() {
        assert!(open01(0) > 0.0 && open01(u64::MAX) < 1.0);
    }

    /// Chi-square of the top byte over 2^16 consecutive items, and of the joint top nibbles of neighbours and of
    /// streams: within 4 standard errors of its mean (df, variance 2 df).
    #[test]
    fn items_neighbours_and_streams_are_uniform_and_unrelated() {
        let n = 1u64 << 16;
        let chi = |f: &dyn Fn(u64) -> usize| {
            let mut cells = [0u32; 256];
            (0..n).for_each(|k| cells[f(k)] += 1);
            let expected = n as f64 / 256.0;
            cells.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum::<f64>()
        };
        let (gap, shard, near) = (Stream::new(1, "gap"), Stream::new(1, "shard"), Stream::new(2, "gap"));
        let nibble = |s: Stream, k: u64, j: u64| (s.bits(k, j) >> 60) as usize;
        let tests: [(&str, f64); 6] = [
            ("top byte", chi(&|k| (gap.bits(k, 0) >> 56) as usize)),
            ("low byte", chi(&|k| (gap.bits(k, 0) & 255) as usize)),
            ("neighbours", chi(&|k| nibble(gap, k, 0) * 16 + nibble(gap, k + 1, 0))),
            ("draws of one item", chi(&|k| nibble(gap, k, 0) * 16 + nibble(gap, k, 1))),
            ("streams", chi(&|k| nibble(gap, k, 0) * 16 + nibble(shard, k, 0))),
            ("seeds", chi(&|k| nibble(gap, k, 0) * 16 + nibble(near, k, 0))),
        ];
        for (what, chi) in tests {
            assert!((chi - 255.0).abs() < 4.0 * (2.0f64 * 255.0).sqrt(), "{what}: {chi}");
        }
    }
}
