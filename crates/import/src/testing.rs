//! For tests: a reader over text, cut into blocks anywhere.

use crate::{Error, Facts, Format, Options, Rows};
use std::path::Path;

/// Reads `text` in blocks that end at `cuts`, as a file does: what is not taken comes again.
pub(crate) fn read_with(
    format: &dyn Format,
    options: &Options,
    text: &[u8],
    cuts: &[usize],
) -> Result<(Rows, Facts), Error> {
    let mut reader = format.reader(Path::new("test"), options)?;
    let mut rows = Rows::default();
    let mut begin = 0;
    for &end in cuts.iter().chain([&text.len()]) {
        let end = end.clamp(begin, text.len());
        let last = end == text.len();
        begin += reader.read(&text[begin..end], last, &mut rows)?;
    }
    assert_eq!(begin, text.len(), "the end was not taken");
    Ok((rows, reader.facts()))
}

/// The same in one block, with no options, that is read without an error.
pub(crate) fn read(format: &dyn Format, text: &str) -> (Rows, Facts) {
    read_with(format, &Options::default(), text.as_bytes(), &[]).expect("it is read")
}
