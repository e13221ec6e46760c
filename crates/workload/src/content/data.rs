//! Data for templates: tables from CSV or JSON lines, and which row a session takes.
//!
//! All steps of a session see the same row of a set. Which one is a function of the seed and the session's number, so
//! that shards need not speak to each other.
//!
//! A table is one text and the ends of its cells: as small as its file.

use super::encode::Kind;
use super::shown::counted;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Which row session k takes of n.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Take {
    /// Row k mod n.
    #[default]
    Sequential,
    /// Any, drawn for each session.
    Random,
    /// Row k: no two sessions share one. [`AtEnd`] says what happens beyond the last.
    Unique,
}

/// What a session does for which there is no row of its own left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AtEnd {
    /// Its steps that need one fail (outcome check), nothing is sent for them.
    #[default]
    Fail,
    /// It ends, and its group begins no other (outcome unsent).
    Stop,
    /// It ends (outcome unsent).
    Skip,
    /// It takes row k mod n.
    Wrap,
}

/// A table, and how sessions take its rows.
#[derive(Clone)]
pub struct Data {
    name: String,
    columns: Vec<String>,
    text: String,
    /// Where each cell ends in `text`, row by row.
    ends: Vec<u32>,
    /// What each cell is in JSON; empty where all are text.
    kinds: Vec<Kind>,
    rows: u64,
    take: Take,
    at_end: AtEnd,
}

/// Why a file of data cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{message}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct DataError {
    /// The line that it is about, from 1.
    pub line: Option<u64>,
    /// What is wrong, and what would be accepted.
    pub message: String,
}

impl DataError {
    fn new(line: impl Into<Option<u64>>, message: impl Into<String>) -> DataError {
        DataError { line: line.into(), message: message.into() }
    }
}

impl Data {
    /// A table from CSV (RFC 4180) whose first line names the columns. Every cell is text; blank lines are none.
    ///
    /// # Errors
    /// No rows, a row of another length than the first line, names that are empty or given twice, or what is not UTF-8.
    pub fn csv(name: &str, bytes: &[u8], take: Take, at_end: AtEnd) -> Result<Data, DataError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = csv::Reader::from_reader(bytes);
        let columns: Vec<String> = reader.headers().map_err(csv_error)?.iter().map(str::to_owned).collect();
        check_columns(&columns)?;
        let mut data = Data::empty(name, columns, take, at_end);
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(csv_error)? {
            for cell in &record {
                data.push(cell)?;
            }
            data.rows += 1;
        }
        data.filled("the first line names the columns, each further line is a row")
    }

    /// A table from JSON lines: an object on each line, all with the same names. Strings are text, everything else keeps
    /// its JSON type; blank lines are none.
    ///
    /// # Errors
    /// No rows, a line that is no JSON object, or one that has other names than the first.
    pub fn json_lines(name: &str, bytes: &[u8], take: Take, at_end: AtEnd) -> Result<Data, DataError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let line = bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count() as u64 + 1;
            DataError::new(line, "this is not UTF-8")
        })?;
        let mut data: Option<Data> = None;
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let row: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(|e| {
                DataError::new(line, format!("this is no JSON object such as {{\"id\": 1}}: {e}"))
            })?;
            let data =
                data.get_or_insert_with(|| Data::empty(name, row.keys().cloned().collect(), take, at_end));
            if data.rows == 0 {
                check_columns(&data.columns)?;
            }
            data.push_row(&row).map_err(|message| DataError::new(line, message))?;
        }
        data.unwrap_or_else(|| Data::empty(name, Vec::new(), take, at_end))
            .filled("each line is a JSON object such as {\"id\": 1}")
    }

    fn empty(name: &str, columns: Vec<String>, take: Take, at_end: AtEnd) -> Data {
        let (name, text) = (name.to_owned(), String::new());
        Data { name, columns, text, ends: Vec::new(), kinds: Vec::new(), rows: 0, take, at_end }
    }

    fn filled(mut self, wanted: &str) -> Result<Data, DataError> {
        if self.rows == 0 {
            return Err(DataError::new(None, format!("there are no rows: {wanted}")));
        }
        if !self.kinds.contains(&Kind::Json) {
            self.kinds = Vec::new();
        }
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        Ok(self)
    }

    fn push(&mut self, cell: &str) -> Result<(), DataError> {
        self.text.push_str(cell);
        let end = u32::try_from(self.text.len())
            .map_err(|_| DataError::new(None, "the table holds more than 4 GiB: take a part of it"))?;
        self.ends.push(end);
        Ok(())
    }

    fn push_row(&mut self, row: &BTreeMap<String, &RawValue>) -> Result<(), String> {
        if let Some(extra) = row.keys().find(|name| !self.columns.contains(name)) {
            return Err(format!("'{extra}' is not in the first row: give every row the same names"));
        }
        for at in 0..self.columns.len() {
            let Some(value) = row.get(&self.columns[at]) else {
                let missing = &self.columns[at];
                return Err(format!(
                    "'{missing}' is missing, which the first row has: give every row the same names"
                ));
            };
            let value = value.get();
            if value.starts_with('"') {
                let cell: String = serde_json::from_str(value).map_err(|e| e.to_string())?;
                self.push(&cell).map_err(|e| e.message)?;
                self.kinds.push(Kind::Text);
            } else {
                self.push(value).map_err(|e| e.message)?;
                self.kinds.push(Kind::Json);
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// How many rows it has; at least 1.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Which rows sessions take.
    pub fn take(&self) -> Take {
        self.take
    }

    /// What happens where unique rows run out.
    pub fn at_end(&self) -> AtEnd {
        self.at_end
    }

    /// The row of session `k`, with 64 bits drawn for it; none where unique rows ran out.
    #[inline]
    pub(super) fn row(&self, k: u64, bits: impl FnOnce() -> u64) -> Option<u64> {
        match self.take {
            Take::Sequential => Some(k % self.rows),
            Take::Random => Some(((u128::from(bits()) * u128::from(self.rows)) >> 64) as u64),
            Take::Unique if k < self.rows => Some(k),
            Take::Unique => (self.at_end == AtEnd::Wrap).then_some(k % self.rows),
        }
    }

    /// A cell.
    #[inline]
    pub(super) fn cell(&self, row: u64, column: u32) -> (&str, Kind) {
        let at = row as usize * self.columns.len() + column as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        let kind = self.kinds.get(at).copied().unwrap_or_default();
        (&self.text[start as usize..self.ends[at] as usize], kind)
    }
}

/// Rows may hold secrets: they do not show.
impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Data")
            .field("name", &self.name)
            .field("columns", &self.columns)
            .field("rows", &self.rows)
            .field("take", &self.take)
            .field("at_end", &self.at_end)
            .finish()
    }
}

fn check_columns(columns: &[String]) -> Result<(), DataError> {
    for (at, column) in columns.iter().enumerate() {
        if column.trim().is_empty() {
            return Err(DataError::new(1, format!("column {} has no name", at + 1)));
        }
        if column != column.trim() || column.contains("}}") {
            let why = "a name cannot begin or end with a blank or hold '}}'";
            return Err(DataError::new(1, format!("column {} is called '{column}': {why}", at + 1)));
        }
        if columns[..at].contains(column) {
            return Err(DataError::new(1, format!("two columns are called '{column}'")));
        }
    }
    Ok(())
}

fn csv_error(error: csv::Error) -> DataError {
    let line = error.position().map(csv::Position::line);
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let (got, wanted) = (counted(*len, "cell"), counted(*expected_len, "cell"));
            let message = format!("{got} where the first line has {wanted}: quote cells that hold commas");
            DataError::new(line, message)
        }
        csv::ErrorKind::Utf8 { .. } => DataError::new(line, "this is not UTF-8"),
        _ => DataError::new(line, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(text: &str) -> Result<Data, DataError> {
        Data::csv("people", text.as_bytes(), Take::Sequential, AtEnd::Fail)
    }

    fn json(text: &str) -> Result<Data, DataError> {
        Data::json_lines("items", text.as_bytes(), Take::Sequential, AtEnd::Fail)
    }

    #[test]
    fn csv_becomes_a_table() {
        let data = csv("\u{feff}id,full name\n1,\"Ada, Countess\"\n\n2,\r\n").unwrap();
        assert_eq!(data.columns(), ["id", "full name"]);
        assert_eq!(data.rows(), 2);
        assert_eq!(data.cell(0, 0), ("1", Kind::Text));
        assert_eq!(data.cell(0, 1), ("Ada, Countess", Kind::Text));
        assert_eq!((data.cell(1, 0).0, data.cell(1, 1).0), ("2", ""));
    }

    #[test]
    fn json_lines_keep_their_types() {
        let data =
            json("{\"n\": 1.50, \"s\": \"a\\\"\\u00e9\"}\n\n{\"s\":\"5\",\"n\": {\"a\": null}}\n").unwrap();
        assert_eq!(data.columns(), ["n", "s"]);
        assert_eq!(data.rows(), 2);
        assert_eq!((data.cell(0, 0), data.cell(0, 1)), (("1.50", Kind::Json), ("a\"é", Kind::Text)));
        assert_eq!((data.cell(1, 0), data.cell(1, 1)), (("{\"a\": null}", Kind::Json), ("5", Kind::Text)));
    }

    #[test]
    fn what_is_no_table_says_where_and_why() {
        let check = |result: Result<Data, DataError>, line: Option<u64>, part: &str| {
            let error = result.unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.to_string().contains(part), "{error}");
        };
        check(csv(""), None, "there are no rows");
        check(csv("a,b\n"), None, "there are no rows");
        check(csv("a,b\n1,2\n1,2,3\n"), Some(3), "3 cells where the first line has 2 cells");
        check(csv("a,a\n1,2\n"), Some(1), "two columns are called 'a'");
        check(csv("a,\n1,2\n"), Some(1), "column 2 has no name");
        check(csv("a, b\n1,2\n"), Some(1), "column 2 is called ' b'");
        check(Data::csv("x", b"a\n\xff\n", Take::Random, AtEnd::Fail), Some(2), "not UTF-8");
        check(json("\n"), None, "there are no rows");
        check(json("{\"a\":1}\n[1]\n"), Some(2), "no JSON object");
        check(json("{\"a\":1}\n{\"a\":1,\"b\":2}\n"), Some(2), "'b' is not in the first row");
        check(json("{\"a\":1,\"b\":2}\n{\"a\":1}\n"), Some(2), "'b' is missing");
        check(Data::json_lines("x", b"{}\n\xff", Take::Random, AtEnd::Fail), Some(2), "not UTF-8");
    }

    #[test]
    fn sessions_take_rows() {
        let rows = |take, at_end| {
            let data = Data::csv("x", b"a\n0\n1\n2\n", take, at_end).unwrap();
            (0..5).map(|k| data.row(k, || k << 62)).collect::<Vec<_>>()
        };
        let (some, none) = (|row| Some(row), None);
        let wrapped = vec![some(0), some(1), some(2), some(0), some(1)];
        assert_eq!(rows(Take::Sequential, AtEnd::Fail), wrapped);
        assert_eq!(rows(Take::Unique, AtEnd::Wrap), wrapped);
        for at_end in [AtEnd::Fail, AtEnd::Stop, AtEnd::Skip] {
            assert_eq!(rows(Take::Unique, at_end), [some(0), some(1), some(2), none, none]);
        }
        assert_eq!(rows(Take::Random, AtEnd::Fail), [some(0), some(0), some(1), some(2), some(0)]);
    }
}
