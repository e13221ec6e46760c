//! ARCHITECTURE.md, held to the tree: what it names in "I want to add" is there, row by row, and it stays short.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn architecture() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// The words of a row that stand between back quotes.
fn quoted(row: &str) -> impl Iterator<Item = &str> {
    row.split('`').skip(1).step_by(2)
}

fn is_path(word: &str) -> bool {
    !word.contains(' ')
        && (word.contains('/') || [".rs", ".md", ".txt", ".py"].iter().any(|end| word.ends_with(end)))
}

/// Where `word` is: from the root, from the folder of the crates, or beside what the row named before it.
fn find(word: &str, before: &[PathBuf]) -> Option<PathBuf> {
    // `model*` and `NAME` stand for several: their folder has to be there.
    let word = match word.split_once(['*', 'N']) {
        Some((folder, rest)) if rest.is_empty() || rest == "AME/" => {
            folder.rsplit_once('/').map_or(folder, |(to, _)| to)
        }
        _ => word,
    };
    let near = before.iter().flat_map(|path| path.ancestors()).map(Path::to_owned);
    let places = [root(), root().join("crates")].into_iter().chain(near);
    places.map(|place| place.join(word)).find(|path| path.exists())
}

/// Whether a Rust file at or under `path` has this word.
fn mentions(path: &Path, word: &str) -> bool {
    if path.is_dir() {
        return fs::read_dir(path).unwrap().any(|entry| mentions(&entry.unwrap().path(), word));
    }
    let is_word = |text: &str| {
        text.match_indices(word).any(|(at, _)| {
            let rest = &text[at + word.len()..];
            let part = |c: char| c.is_alphanumeric() || c == '_';
            !text[..at].ends_with(part) && !rest.starts_with(part)
        })
    };
    path.extension().is_some_and(|end| end == "rs")
        && fs::read_to_string(path).is_ok_and(|text| is_word(&text))
}

#[test]
fn what_a_newcomer_is_sent_to_is_there() {
    let text = architecture();
    let table =
        text.split("## I want to add a ...").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() > 20, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        let mut paths = Vec::new();
        for word in quoted(row).filter(|word| is_path(word)) {
            match find(word, &paths) {
                Some(path) => paths.push(path),
                None => wrong.push(format!("no {word}: {row}")),
            }
        }
        for word in quoted(row).filter(|word| !is_path(word) && word.starts_with(char::is_uppercase)) {
            let name = word.rsplit("::").next().unwrap_or(word);
            if !paths.iter().any(|path| mentions(path, name)) {
                wrong.push(format!("{word} is in none of its files: {row}"));
            }
        }
        if paths.is_empty() {
            wrong.push(format!("names no file: {row}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the table says of findings: of those whose number no other part of a report reads, two files of code know their name.
#[test]
fn a_finding_stands_in_two_files() {
    let files = rust_files(&root().join("crates"));
    let is_source = |path: &&PathBuf| path.components().any(|part| part.as_os_str() == "src");
    let knows = |path: &&PathBuf, name: &str| {
        let text = code(path);
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
    };
    for (name, group) in [
        ("Disordered", "run.rs"),
        ("SentAgain", "run.rs"),
        ("NamesNotRead", "run.rs"),
        ("Surplus", "run.rs"),
        ("TargetWindow", "load.rs"),
        ("UnsentSteps", "load.rs"),
    ] {
        let found: Vec<&PathBuf> = files.iter().filter(is_source).filter(|path| knows(path, name)).collect();
        let expected = [format!("report/src/words/findings/{group}"), format!("stats/src/findings/{group}")];
        assert_eq!(found.len(), 2, "{name}: {found:?}");
        assert!(expected.iter().all(|end| found.iter().any(|path| path.ends_with(end))), "{name}: {found:?}");
    }
}

#[test]
fn it_is_short() {
    assert!(architecture().lines().count() <= 150);
}

/// Words that only a crate for one system has.
const OF_LINUX: [&str; 8] =
    ["target_os", "std::os::linux", "libc::", "rustix::", "socket2::", "epoll_", "\"/proc", "\"/sys/"];

/// The code of a Rust file up to its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| match path.is_dir() {
        true => rust_files(&path),
        false => Vec::from_iter(path.extension().is_some_and(|end| end == "rs").then_some(path)),
    };
    entries.flat_map(of).collect()
}

#[test]
fn only_live_knows_the_system() {
    let names = |path: &Path| -> Vec<String> {
        let code = code(path);
        let all = OF_LINUX.iter().filter(|word| code.contains(**word));
        all.map(|word| format!("{}: {word}", path.display())).collect()
    };
    let (mut wrong, mut of_live) = (Vec::new(), 0);
    for folder in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()) {
        let found: Vec<String> =
            rust_files(&folder.join("src")).iter().flat_map(|path| names(path)).collect();
        match folder.ends_with("live") {
            true => of_live += found.len(),
            false => wrong.extend(found),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(of_live > 10, "the words are those that are used: {of_live}");
}

/// Files of `stats` which build a text from parts, outside of their tests: paths of numbers in a document, labels, and messages on a
/// threshold that cannot be read. None of them is a sentence on a result.
const TEXTS_IN_STATS: [(&str, &str); 12] = [
    ("audit/extent.rs", "a row as a line of another tool, to be sorted as text"),
    ("audit/threads.rs", "the name of a group of users: 1-20"),
    ("comparison/condition.rs", "errors on conditions as typed"),
    ("events/mod.rs", "paths in `not_computed`"),
    ("metric/mod.rs", "paths in `not_computed`"),
    ("metric/number.rs", "names of numbers in documents: connect.p95"),
    ("responses.rs", "paths in `not_computed`"),
    ("summary/percentiles.rs", "names of percentiles in the document, and paths in `not_computed`"),
    ("summary/series.rs", "names of kinds of failure in the document: status 503"),
    ("summary/withhold.rs", "paths in `not_computed`"),
    ("thresholds/mod.rs", "errors on thresholds as typed"),
    ("thresholds/parse.rs", "errors on thresholds as typed"),
];

/// What findings and remarks say is typed evidence, until `report` makes a sentence of it. A finding takes no `String`; what makes
/// its text is called in `report` alone.
#[test]
fn only_the_report_makes_sentences() {
    let calls = |path: &Path| code(path).matches("Text::by_report").count();
    let (mut wrong, mut of_report) = (Vec::new(), 0);
    for folder in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()) {
        let files = rust_files(&folder.join("src"));
        let found = files.into_iter().filter(|path| !path.ends_with("stats/src/summary/text.rs"));
        let found: Vec<(PathBuf, usize)> = found.map(|path| (path.clone(), calls(&path))).collect();
        match folder.ends_with("report") {
            true => of_report += found.iter().map(|(_, n)| n).sum::<usize>(),
            false => wrong.extend(found.into_iter().filter(|(_, n)| *n > 0)),
        }
    }
    assert!(wrong.is_empty() && of_report >= 3, "{wrong:?}, {of_report} in report");

    let stats = root().join("crates/stats/src");
    let builds = |path: &PathBuf| code(path).contains("format!(");
    let all = rust_files(&stats).into_iter().filter(builds);
    let mut building: Vec<String> =
        all.map(|path| path.strip_prefix(&stats).unwrap().to_string_lossy().into_owned()).collect();
    building.sort();
    assert_eq!(building, TEXTS_IN_STATS.map(|(path, _)| path));
}
