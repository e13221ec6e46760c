//! What all outputs of a study share: its file's name, how its document is read, what its sweep shows.
//!
//! Deliberately absent: rendering, which each [`Output`](crate::Output) does.

pub(crate) mod sweep;

use crate::json::read;
use crate::{ReadError, v1};
use headway_stats::study::{SCHEMA, Study};

/// File name of the JSON document in a folder.
pub const JSON_FILE: &str = "study.json";

/// Reads back what [`Json`](crate::json::Json) wrote; fields that are missing take their defaults and unknown ones are skipped.
///
/// # Errors
/// Not JSON, numbers where texts belong, or another schema.
pub fn parse(bytes: &[u8]) -> Result<Study, ReadError> {
    read(bytes, SCHEMA, v1::STUDY, v1::study)
}
