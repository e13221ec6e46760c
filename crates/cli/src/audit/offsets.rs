//! How far the clocks of several generators may be apart.

use super::read::Read;
use crate::exit::Failure;
use import::Clock;
use stats::summary::Offset;

/// One row for each generator after the first.
pub(super) fn offsets(read: &Read) -> Result<Vec<Offset>, Failure> {
    let how = match read.clock {
        Clock::Unix => "unknown: nothing in these files relates their clocks",
        Clock::Relative => {
            "unknown: each file counts from its own beginning, and they are taken to have begun together"
        }
    };
    let unknown = |generator: &String| Offset {
        generator: generator.clone(),
        how: how.to_owned(),
        ..Offset::default()
    };
    Ok(read.generators.as_slice().iter().skip(1).map(unknown).collect())
}
