//! Several simulated runs ([`Study`]) in, bytes out: one function for each document.
//!
//! A study is not a run: it has no verdict, so it is no [`Output`](crate::Output) either. Absent: CSV and JUnit; the points are a
//! list in the JSON document.

pub(crate) mod sweep;

use crate::{ReadError, Style};
use headway_stats::study::{SCHEMA, Study};

/// File name of the JSON document in a folder.
pub const JSON_FILE: &str = "study.json";

/// The study for a terminal, in at most [`crate::terminal::WIDTH`] columns.
pub fn terminal(study: &Study, style: &Style) -> Vec<u8> {
    crate::terminal::study::render(study, style)
}

/// The study as one page that opens offline.
pub fn html(study: &Study, style: &Style) -> Vec<u8> {
    crate::html::study::page(study, style)
}

/// The document itself.
pub fn json(study: &Study) -> Vec<u8> {
    // Only a map with keys that are no strings can fail, and a study has none.
    let mut bytes = serde_json::to_vec_pretty(study).expect("a study is plain data");
    bytes.push(b'\n');
    bytes
}

/// Reads back what [`json`] wrote; fields that are missing take their defaults and unknown ones are skipped.
///
/// # Errors
/// Not JSON, numbers where texts belong, or another schema.
pub fn parse(bytes: &[u8]) -> Result<Study, ReadError> {
    let value: serde_json::Value = serde_json::from_slice(bytes)?;
    let found = value.get("schema").and_then(|schema| schema.as_str()).unwrap_or("");
    if found != SCHEMA {
        return Err(ReadError::Schema { found: found.to_owned(), read: SCHEMA });
    }
    Ok(serde_json::from_slice(bytes)?)
}
