//! A fingerprint of what is played: whether two shards mean the same, in sixteen characters.

use std::fmt::{self, Debug, Write as _};

/// 64-bit FNV-1a (Fowler, Noll and Vo) of the debug text of a value, in hexadecimal digits: the same for the same value by the same
/// version of the program.
pub(crate) fn fingerprint(of: &impl Debug) -> String {
    struct Hash(u64);
    impl fmt::Write for Hash {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for byte in text.bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            Ok(())
        }
    }
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    // A hash takes whatever comes.
    let _ = write!(hash, "{of:?}");
    format!("{:016x}", hash.0)
}
