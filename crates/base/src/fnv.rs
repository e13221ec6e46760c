//! A sum of bytes that tells whether they are the same: 64-bit FNV-1a (Fowler, Noll and Vo). It is not cryptographic.

/// The sum of the bytes so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Fnv1a {
        Fnv1a::new()
    }
}

impl Fnv1a {
    /// Of no bytes.
    pub const fn new() -> Fnv1a {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }

    /// With these bytes after those before.
    pub const fn with(self, bytes: &[u8]) -> Fnv1a {
        let mut sum = self.0;
        let mut i = 0;
        while i < bytes.len() {
            sum = (sum ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            i += 1;
        }
        Fnv1a(sum)
    }

    /// The sum.
    pub const fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of the authors' test suite (Fowler, Noll, Vo and Eastlake, "The FNV Non-Cryptographic Hash Algorithm").
    #[test]
    fn sums_are_those_of_its_authors() {
        for (bytes, sum) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(Fnv1a::new().with(bytes.as_bytes()).value(), sum, "{bytes}");
        }
    }
}
