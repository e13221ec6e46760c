//! Rows with fields by name or by number: the one reader of all formats that have them ([`layout`]), and of files of no known tool, of
//! which the user says the same with `--columns` ([`spec`]).
//!
//! Delimiter, header and, where nobody says it, how times are written are read off the first rows. What `--columns` describes is never
//! recognised by content.

mod json;
pub(super) mod layout;
mod reader;
mod row;
mod spec;
mod table;
mod words;

use crate::{Error, Format, Options, Reader};
use reader::TableReader;
use std::path::Path;

/// CSV by `--columns`.
pub struct Columns;

impl Format for Columns {
    fn name(&self) -> &'static str {
        "columns"
    }

    fn about(&self) -> &'static str {
        "any CSV or JSON lines, --columns start=COLUMN,elapsed=COLUMN,label=COLUMN"
    }

    fn recognise(&self, _: &[u8]) -> bool {
        false
    }

    fn reader(&self, path: &Path, options: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(TableReader::asked(path, options)?))
    }
}

#[cfg(test)]
mod tests;
