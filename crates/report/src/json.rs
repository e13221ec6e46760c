//! The contract itself: `"schema": "headway.summary/2"`, pretty-printed, and the way back.
//!
//! Keys stand in the order in which the summary declares them (maps are sorted), so that two documents of the same
//! run are the same bytes. Deliberately absent: any number that the summary does not hold.

use crate::{Material, Output, Style, texts, v1};
use headway_stats::Summary;
use headway_stats::comparison::Comparison;
use headway_stats::search::Searched;
use headway_stats::study::Study;
use headway_stats::summary::SCHEMA;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

/// The JSON document.
pub struct Json;

impl Output for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "every number, as a stable and versioned document"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn made_of(&self) -> &'static [Material] {
        &[Material::Summary, Material::Study, Material::Comparison, Material::Search, Material::Lab]
    }

    fn recognises(&self, start: &str) -> bool {
        start.starts_with('{') && start.contains("\"schema\": \"headway.")
    }

    fn summary(&self, summary: &Summary, _: &Style) -> Option<Vec<u8>> {
        Some(document(&texts::of_summary(summary)))
    }

    fn study(&self, study: &Study, _: &Style) -> Option<Vec<u8>> {
        Some(of_study(study))
    }

    fn comparison(&self, comparison: &Comparison, _: &Style) -> Option<Vec<u8>> {
        Some(document(&texts::of_comparison(comparison)))
    }

    fn search(&self, searched: &Searched, _: &Style) -> Option<Vec<u8>> {
        Some(of_search(searched))
    }
}

/// The document of a study.
pub fn of_study(study: &Study) -> Vec<u8> {
    document(&texts::of_study(study))
}

/// The document of a search, or of those of several targets.
pub fn of_search(searched: &Searched) -> Vec<u8> {
    match searched.single() {
        Some(found) => document(found),
        None => document(searched),
    }
}

/// A document as every JSON output has it.
pub fn document(plain: &impl Serialize) -> Vec<u8> {
    // Only a map with keys that are no strings can fail, and no document has one.
    let mut bytes = serde_json::to_vec_pretty(plain).expect("a document is plain data");
    bytes.push(b'\n');
    bytes
}

/// A document that cannot be shown.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Not JSON, or not of this shape.
    #[error("not a headway summary: {0}")]
    Malformed(#[from] serde_json::Error),
    /// JSON of another shape, or of a later version.
    #[error("the document's schema is '{found}'; this version reads '{read}'")]
    Schema {
        /// What the document says, or nothing.
        found: String,
        /// What is read here.
        read: &'static str,
    },
}

/// Reads back what [`Json`] wrote. Fields that are missing take their defaults and unknown ones are skipped, so that
/// documents of other versions with the same schema stay readable.
///
/// # Errors
/// Not JSON, numbers where texts belong, or another schema.
pub fn parse(bytes: &[u8]) -> Result<Summary, ReadError> {
    read(bytes, SCHEMA, v1::SUMMARY, v1::summary)
}

/// Reads a document of the schema `current`, or of `old`, which `translate` turns into one of the current schema.
pub(crate) fn read<T: DeserializeOwned>(
    bytes: &[u8],
    current: &'static str,
    old: &str,
    translate: fn(&mut Value),
) -> Result<T, ReadError> {
    // The schema is looked at first: the error for a document of another kind should not be about its third field.
    let mut value: Value = serde_json::from_slice(bytes)?;
    let found = value.get("schema").and_then(Value::as_str).unwrap_or("").to_owned();
    if found == old {
        translate(&mut value);
        // By way of text, too: reading the document out of a value would be a second copy of that code, 450 KB of the binary.
        return Ok(serde_json::from_slice(&serde_json::to_vec(&value)?)?);
    }
    if found != current {
        return Err(ReadError::Schema { found, read: current });
    }
    // From the text and not from the value, because only then do errors name a line.
    Ok(serde_json::from_slice(bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_last_bit() {
        let mut summary = Summary { schema: SCHEMA.into(), seed: Some(u64::MAX), ..Summary::default() };
        summary.response.mean = Some(0.1 + 0.2);
        summary.response.p50 = Some(1.0 / 3.0);
        summary.response.max = Some(f64::MIN_POSITIVE);
        assert_eq!(parse(&document(&summary)).unwrap(), summary);
    }

    #[test]
    fn other_documents_are_refused_with_a_reason() {
        let error = |text: &str| parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error("{").contains("line 1"), "{}", error("{"));
        assert!(error("{}").contains("schema is ''"), "{}", error("{}"));
        assert!(error(r#"{"schema": "headway.summary/3"}"#).contains("headway.summary/3"));
        let wrong = "{\"schema\": \"headway.summary/2\",\n\"name\": 5}";
        assert!(error(wrong).contains("line 2"), "{}", error(wrong));
    }
}
