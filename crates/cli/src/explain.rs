//! What a word of the reports means: the paragraph or the row of a table that the documents have on it.
//!
//! The documents are the one source; they are part of the program. A word is explained where it is the first cell of a row in a
//! table of terms, begins an item of a list of terms, or is a heading. Deliberately absent: any text of its own, but for the exit codes, which the help has too.

use crate::exit::TABLE;
use headway_base::units::nearest;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The documents that explain words, in the order in which they are asked.
const DOCUMENTS: &[(&str, &str)] = &[
    ("docs/glossary.md", include_str!("../docs/glossary.md")),
    ("docs/verdict.md", include_str!("../docs/verdict.md")),
    ("docs/causes.md", include_str!("../docs/causes.md")),
    ("docs/thresholds.md", include_str!("../docs/thresholds.md")),
    ("docs/reference.md", include_str!("../docs/reference.md")),
    ("docs/scenarios.md", include_str!("../docs/scenarios.md")),
    ("docs/outputs.md", include_str!("../docs/outputs.md")),
    ("docs/compare.md", include_str!("../docs/compare.md")),
    ("docs/search.md", include_str!("../docs/search.md")),
    ("docs/simulations.md", include_str!("../docs/simulations.md")),
    ("docs/machines.md", include_str!("../docs/machines.md")),
    ("docs/overload.md", include_str!("../docs/overload.md")),
    ("docs/datagrams.md", include_str!("../docs/datagrams.md")),
    ("docs/http.md", include_str!("../docs/http.md")),
    ("docs/scale.md", include_str!("../docs/scale.md")),
    (KEYS, include_str!("../docs/keys.md")),
];

/// The keys of a scenario, some of which are words that the other documents explain.
const KEYS: &str = "docs/keys.md";

/// First columns of tables whose rows each explain a word.
const COLUMNS: &[&str] = &[
    "term",
    "stamp",
    "span",
    "id",
    "rule",
    "measure",
    "cause",
    "exit code",
    "code",
    "process",
    "distribution",
    "metric",
    "lab",
    "outcome",
];

/// Columns of a terminal that no line of an explanation goes beyond.
const WIDTH: usize = 80;

/// Of what kind a passage is: of those that explain a word, the first kind does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A row of a table or list of terms.
    Row,
    /// A key of a scenario.
    Key,
    /// What follows a heading.
    Heading,
}

/// What a document says of some words.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Passage {
    /// The words, as they are compared.
    words: Vec<String>,
    /// Where it stands: the document, and the heading above it.
    place: String,
    kind: Kind,
    /// Its paragraphs.
    text: Vec<String>,
}

static PASSAGES: LazyLock<Vec<Passage>> = LazyLock::new(|| {
    let mut all = exit_codes();
    all.extend(DOCUMENTS.iter().flat_map(|(name, text)| passages(name, text)));
    all
});

/// The exit codes as the help has them, under the words `exit-98` and `98`.
fn exit_codes() -> Vec<Passage> {
    let passage = |(code, meaning): (u8, &str)| Passage {
        words: vec![format!("exit-{code}"), code.to_string()],
        place: "headway --help, Exit codes".to_owned(),
        kind: Kind::Row,
        text: vec![meaning.to_owned()],
    };
    TABLE.into_iter().map(passage).collect()
}

/// What a document explains.
fn passages(name: &str, text: &str) -> Vec<Passage> {
    let (mut all, mut heading, mut fenced) = (Vec::new(), String::new(), false);
    let lines: Vec<&str> = text.lines().collect();
    let mut columns: Option<Vec<String>> = None;
    for (at, line) in lines.iter().enumerate() {
        fenced ^= line.starts_with("```");
        if fenced {
            continue;
        }
        if let Some(title) = line.strip_prefix('#') {
            heading = plain(title.trim_start_matches('#').trim());
            let place = format!("{name}, {heading}");
            let text = following(&lines[at + 1..]);
            if !text.is_empty() {
                all.push(Passage { words: vec![word(&heading)], place, kind: Kind::Heading, text });
            }
        }
        let Some(cells) = cells(line) else {
            columns = None;
            if let Some((first, rest)) = item(&lines[at..]) {
                let columns = [String::new(), String::new()];
                let kind = if name == KEYS { Kind::Key } else { Kind::Row };
                all.push(Passage {
                    kind,
                    ..row(&format!("{name}, {heading}"), &columns, &[first, rest], false)
                });
            }
            continue;
        };
        match &columns {
            None => columns = Some(cells),
            Some(_) if cells.iter().all(|cell| cell.trim_matches(['-', ':', '|', ' ']).is_empty()) => {}
            Some(columns) => {
                let first = columns.first().map(|column| column.to_lowercase()).unwrap_or_default();
                if COLUMNS.contains(&first.as_str()) {
                    let is_code = first.ends_with("code");
                    all.push(row(&format!("{name}, {heading}"), columns, &cells, is_code));
                }
            }
        }
    }
    all
}

/// A row of a table of terms.
fn row(place: &str, columns: &[String], cells: &[String], is_code: bool) -> Passage {
    let first = cells.first().map(String::as_str).unwrap_or_default();
    let mut words: Vec<String> =
        first.split([',', ';']).map(|part| part.split('(').next().unwrap_or(part)).map(word).collect();
    words.push(word(first));
    if is_code {
        words.extend(words.clone().iter().map(|code| format!("exit-{code}")));
    }
    words.retain(|word| !word.is_empty());
    let rest = columns.iter().zip(cells).skip(1).filter(|(_, cell)| !cell.is_empty());
    let text = match cells.len() {
        2 => rest.map(|(_, cell)| cell.clone()).collect(),
        _ => rest.map(|(column, cell)| format!("{column}: {cell}")).collect(),
    };
    Passage { words, place: place.to_owned(), kind: Kind::Row, text }
}

/// A word and what it means, of a list that explains words as a table of terms does: `- `word`: text`, or `- **word**: text`.
fn item(lines: &[&str]) -> Option<(String, String)> {
    let (begin, more) = (lines.first()?.strip_prefix("- ")?, &lines[1..]);
    let whole = |first: &str| {
        let is_code =
            first.starts_with('`') && first.ends_with('`') && first.matches('`').count().is_multiple_of(2);
        is_code || (first.starts_with("**") && first.ends_with("**") && first.len() > 4)
    };
    let colon = begin.match_indices(": ").map(|(at, _)| at).find(|at| whole(&begin[..*at]))?;
    let on = more.iter().take_while(|line| line.starts_with("  ") && !line.trim_start().starts_with("- "));
    let text: Vec<&str> = [&begin[colon + 2..]].into_iter().chain(on.map(|line| line.trim())).collect();
    Some((plain(&begin[..colon]), plain(&text.join(" "))))
}

/// The cells of a row of a table, without the marks of their text.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split(" | ").map(|cell| plain(cell.trim())).collect())
}

/// The first paragraph behind a heading, or the list that stands there; nothing where a table, code or another heading does.
fn following(lines: &[&str]) -> Vec<String> {
    let lines = lines.iter().skip_while(|line| line.is_empty());
    let lines: Vec<&str> =
        lines.take_while(|line| !line.is_empty() && !line.starts_with(['#', '|', '`'])).copied().collect();
    let mut text: Vec<String> = Vec::new();
    for line in lines {
        match text.last_mut().filter(|_| !line.trim_start().starts_with("- ")) {
            Some(last) => {
                last.push(' ');
                last.push_str(&plain(line.trim()));
            }
            None => text.push(plain(line.trim())),
        }
    }
    text
}

/// A text of Markdown without the marks of bold, code and links.
fn plain(text: &str) -> String {
    let text = text.replace("**", "").replace('`', "");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(open) = rest.find('[') {
        let inner = &rest[open + 1..];
        match inner.find("](").and_then(|middle| Some((middle, middle + inner[middle..].find(')')?))) {
            Some((middle, end)) => {
                out.push_str(&rest[..open]);
                out.push_str(&inner[..middle]);
                rest = &inner[end + 1..];
            }
            None => {
                out.push_str(&rest[..=open]);
                rest = inner;
            }
        }
    }
    out + rest
}

/// A word as it is compared: in small letters, hyphens for spaces.
fn word(text: &str) -> String {
    let text = text.trim().trim_matches(['\'', '"', '`', '?', '.']).to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join("-")
}

/// The word that the documents have for what was asked.
fn known_as(asked: &str) -> String {
    let word = word(asked);
    let number = word.strip_prefix('p').map(|rest| rest.trim_start_matches('(').trim_end_matches(')'));
    match number.is_some_and(|number| number.parse::<f64>().is_ok()) {
        true => "percentile".to_owned(),
        false => word,
    }
}

fn found(asked: &str) -> Vec<&'static Passage> {
    let asked = known_as(asked);
    let named = |kind: Kind| -> Vec<&'static Passage> {
        PASSAGES.iter().filter(|passage| passage.kind == kind && passage.words.contains(&asked)).collect()
    };
    let found = [Kind::Row, Kind::Key, Kind::Heading].map(named);
    found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// What the documents say of a word; the error says what was asked and what is near it.
///
/// # Errors
/// No document explains it.
pub fn explain(asked: &str) -> Result<String, String> {
    let found = found(asked);
    if found.is_empty() {
        let known = words();
        let near = nearest(&known_as(asked), known.iter().map(String::as_str));
        let guess = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        return Err(format!(
            "'{asked}' is no word that the documents explain; {guess}headway explain lists those that they do"
        ));
    }
    let one = |passage: &&Passage| {
        let text: Vec<String> = passage.text.iter().map(|text| wrapped(text)).collect();
        format!("{} ({})\n{}\n", asked.trim(), passage.place, text.join("\n"))
    };
    Ok(found.iter().map(one).collect::<Vec<_>>().join("\n"))
}

/// Every word that a row of a table or list of terms explains, and every key of a scenario, in alphabetic order.
pub fn words() -> BTreeSet<String> {
    let rows = PASSAGES.iter().filter(|passage| passage.kind != Kind::Heading);
    rows.flat_map(|passage| passage.words.iter().filter(|word| word.len() < 40).cloned()).collect()
}

/// The words, side by side.
pub fn listed() -> String {
    let words: Vec<String> = words().into_iter().collect();
    format!(
        "Words that headway explain WORD explains, and the headings of the documents:\n{}\n",
        wrapped(&words.join("  "))
    )
}

/// A text on lines that begin two columns further in.
fn wrapped(text: &str) -> String {
    let mut out = String::from(" ");
    let mut column = 1;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column + 1 + length > WIDTH && column > 1 {
            out.push_str("\n ");
            column = 1;
        }
        out.push(' ');
        out.push_str(word);
        column += 1 + length;
    }
    out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::{FindingId, RuleId, StampsHow, Unsteady, Why};

    fn explained(word: &str) -> String {
        explain(word).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Every word that stands for a reason or a number in a document: of findings, rules, missing numbers, outcomes, known failures, metrics.
    fn tags() -> impl Iterator<Item = &'static str> {
        let findings = FindingId::ALL.iter().map(FindingId::as_str);
        let rules = RuleId::ALL.iter().map(RuleId::as_str);
        let missing = [Why::ALL, Unsteady::ALL, StampsHow::ALL].into_iter().flatten().map(|(tag, _)| *tag);
        let outcomes = headway_base::Outcome::ALL.iter().map(|outcome| outcome.name());
        let metrics = headway_stats::metric::Metric::all().flat_map(|metric| metric.names());
        let failures = headway_base::KnownFailure::ALL.iter().map(|kind| kind.name());
        findings.chain(rules).chain(missing).chain(outcomes).chain(failures).chain(metrics)
    }

    #[test]
    fn every_tag_is_explained_by_a_row() {
        for tag in tags() {
            let text = explained(tag);
            let said = text.lines().skip(1).map(str::trim).collect::<Vec<_>>().join(" ");
            assert!(said.len() > 10 && text.starts_with(tag), "{tag}: {text}");
            assert!(
                found(tag).iter().all(|passage| passage.kind == Kind::Row),
                "{tag} has no row of its own"
            );
        }
    }

    /// One document may name a finding and a missing number alike; a tag is never that of two of a kind.
    #[test]
    fn no_tag_stands_for_two_reasons_of_a_kind() {
        for all in [Why::ALL, Unsteady::ALL, StampsHow::ALL] {
            let tags: BTreeSet<&str> = all.iter().map(|(tag, _)| *tag).collect();
            assert_eq!(tags.len(), all.len());
        }
    }

    #[test]
    fn words_of_verdicts_numbers_and_exit_codes_are_explained() {
        for (asked, part) in [
            ("VALID", "planned load"),
            ("INVALID", "planned load"),
            ("INCONCLUSIVE", "undecided"),
            ("independent", "independent users"),
            ("p99", "99 of 100"),
            ("p(99.9)", "99 of 100"),
            ("service time", "sent to done"),
            ("coordinated-omission", "does not send while it waits"),
            ("gamma", "gamma"),
            ("stream", "events of the response"),
            ("idle-timeout", "stood still"),
            ("few-independent", "depend on each other"),
            ("exit-98", "INVALID"),
            ("98", "INVALID"),
            ("exit-2", "mistake"),
            ("exit-97", "--strict"),
            ("exit-130", "interrupted"),
            ("The effect of the generator's delays", "undisturbed generator"),
        ] {
            let text = explained(asked);
            assert!(text.contains(part), "{asked}: no {part:?} in {text}");
        }
        for code in [0, 1, 2, 3, 75, 97, 98, 99, 130] {
            assert!(explained(&format!("exit-{code}")).lines().count() > 1);
        }
    }

    #[test]
    fn every_word_that_is_listed_has_its_paragraph_within_the_width() {
        let all = words();
        assert!(all.len() > 200, "{}", all.len());
        for word in &all {
            let text = explained(word);
            assert!(text.lines().skip(1).any(|line| line.trim().len() > 3), "{word}: {text}");
            let wide =
                text.lines().skip(1).find(|line| line.chars().count() > WIDTH && line.trim().contains(' '));
            assert_eq!(wide, None, "{word}");
            assert!(!text.contains("](") && !text.contains("**"), "{word}: {text}");
        }
        assert!(all.iter().all(|word| listed().contains(word.as_str())));
    }

    #[test]
    fn a_word_that_nobody_explains_names_its_neighbour() {
        assert!(explain("bunchd").unwrap_err().contains("did you mean bunched?"));
        let none = explain("zzzzzzzz").unwrap_err();
        assert!(!none.contains("did you mean") && none.contains("headway explain lists"), "{none}");
    }
}
