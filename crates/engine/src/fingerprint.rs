//! A fingerprint of what is played: whether two shards mean the same, in sixteen characters.

use headway_base::Fnv1a;
use std::fmt::{self, Debug, Write as _};

/// 64-bit FNV-1a of the debug text of a value, in hexadecimal digits: the same for the same value by the same version of the program.
pub(crate) fn fingerprint(of: &impl Debug) -> String {
    struct Hash(Fnv1a);
    impl fmt::Write for Hash {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 = self.0.with(text.as_bytes());
            Ok(())
        }
    }
    let mut hash = Hash(Fnv1a::new());
    // A hash takes whatever comes.
    let _ = write!(hash, "{of:?}");
    format!("{:016x}", hash.0.value())
}
