//! Data sets from their files.

use crate::content::{AtEnd, Data, Take};
use crate::scenario::read::Reader;
use crate::scenario::source::{Problem, Span};
use crate::scenario::written::{self, AtEndWord, TakeWord};

/// A data set and where its name stands.
pub(super) struct Set {
    pub data: Data,
    pub span: Span,
}

/// Reads the files of all data sets.
pub(super) fn sets(file: &written::File, reader: &mut Reader<'_>) -> Vec<Set> {
    let mut sets = Vec::new();
    for (name, set) in file.data.iter().flat_map(|data| &data.0) {
        sets.extend(read(&name.text, set, reader).map(|data| Set { data, span: name.span }));
    }
    sets
}

fn read(name: &str, set: &written::DataSet, reader: &mut Reader<'_>) -> Option<Data> {
    let kind = set
        .keys
        .one_of("a data set", &["csv", "jsonl"])
        .map_err(|problem| reader.problems.push(problem))
        .ok()?;
    let take = match set.take {
        None | Some(TakeWord::Sequential) => Take::Sequential,
        Some(TakeWord::Random) => Take::Random,
        Some(TakeWord::Unique) => Take::Unique,
    };
    let at_end = match set.at_end {
        None | Some(AtEndWord::Fail) => AtEnd::Fail,
        Some(AtEndWord::Stop) => AtEnd::Stop,
        Some(AtEndWord::Skip) => AtEnd::Skip,
        Some(AtEndWord::Wrap) => AtEnd::Wrap,
    };
    if set.at_end.is_some() && take != Take::Unique {
        let problem = Problem::new(
            set.keys.at("at-end"),
            "only unique rows come to an end; others are taken again and again",
        );
        return reader.complain(problem.help("add take: unique, or leave at-end out"));
    }
    let path = if kind == "csv" { set.csv.as_ref()? } else { set.jsonl.as_ref()? };
    let bytes = match reader.file(&path.value.text) {
        Ok(bytes) => bytes,
        Err(e) => {
            let title = format!("the file cannot be read: {e}");
            return reader
                .complain(Problem::new(path.span, title).help("paths are relative to the scenario file"));
        }
    };
    let parsed = match kind {
        "csv" => Data::csv(name, &bytes, take, at_end),
        _ => Data::json_lines(name, &bytes, take, at_end),
    };
    parsed
        .map_err(|e| reader.problems.push(Problem::new(path.span, format!("{}: {e}", path.value.text))))
        .ok()
}
