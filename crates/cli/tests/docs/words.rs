//! Plain words in what users read: documents, help texts, reports and mistakes in scenarios use the field's terms and none of these.

use clap::CommandFactory as _;
use std::path::{Path, PathBuf};

/// What must not be written, as words in any case, and what to write in its place.
const NOT: &[(&str, &str)] = &[
    ("so many", "the number"),
    ("so long", "the time"),
    ("is told", "is shown, reported"),
    ("are told", "are shown, reported"),
    ("he", "it, the user"),
    ("his", "its"),
    ("whoever", "a user which"),
    ("besides", "also"),
    ("time-out", "timeout"),
    ("time-outs", "timeouts"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The documents, and what tests keep of reports and of mistakes in scenarios, by their paths from the root.
fn documents() -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(PathBuf::from).into();
    let folders = [
        "docs",
        "docs/start",
        "docs/do",
        "docs/measured",
        "docs/decisions",
        "crates/report/tests/golden",
        "crates/workload/tests/scenario/snapshots",
    ];
    for folder in folders {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        let pages = entries.map(|name| Path::new(folder).join(name));
        let is_text =
            |path: &PathBuf| path.extension().is_some_and(|e| e == "md" || e == "txt" || e == "snap");
        paths.extend(pages.filter(is_text));
    }
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        (path.display().to_string(), text)
    };
    paths.into_iter().map(read).collect()
}

/// The long help of each verb.
fn helps() -> Vec<(String, String)> {
    let mut all = headway_cli::args::Args::command();
    let verbs = all.get_subcommands_mut();
    verbs
        .map(|verb| (format!("headway {} --help", verb.get_name()), verb.render_long_help().to_string()))
        .collect()
}

/// Where one of the words stands, with its line.
fn found(name: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let words: Vec<String> = line
            .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '\''))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        for (not, instead) in NOT {
            let parts: Vec<&str> = not.split(' ').collect();
            if words.windows(parts.len()).any(|w| w == parts) {
                found.push(format!("{name}:{}: '{not}' (write: {instead}): {}", i + 1, line.trim()));
            }
        }
    }
    found
}

#[test]
fn documents_and_help_are_in_plain_words() {
    let texts: Vec<(String, String)> = documents().into_iter().chain(helps()).collect();
    assert!(texts.len() > 150, "{} texts", texts.len());
    let all: Vec<String> = texts.iter().flat_map(|(name, text)| found(name, text)).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn words_are_found_whole_and_in_any_case() {
    assert_eq!(found("x", "So many\nrequests, the same\nhe  waits").len(), 2);
    assert!(found("x", "then so the many").is_empty());
}
