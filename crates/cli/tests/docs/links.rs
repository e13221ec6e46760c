//! Links lead somewhere, the contents name every page, and pages stay short.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Pages that users read: README.md, CHANGELOG.md, and docs/ with its folders.
pub fn pages() -> BTreeMap<PathBuf, String> {
    let mut paths: Vec<PathBuf> =
        ["README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(PathBuf::from).into();
    for folder in ["docs", "docs/start", "docs/do", "docs/measured", "docs/decisions"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = Path::new(folder).join(entry.unwrap().file_name());
            if path.extension().is_some_and(|e| e == "md") {
                paths.push(path);
            }
        }
    }
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// A page's lines outside of blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

fn anchors(text: &str) -> BTreeSet<String> {
    prose(text)
        .filter_map(|line| Some(anchor(line.strip_prefix('#')?.trim_start_matches('#').trim())))
        .collect()
}

/// Targets of `](...)`, of one line; code between backticks has none.
fn links(line: &str) -> Vec<&str> {
    let parts = line.split('`').step_by(2);
    parts.flat_map(|part| part.split("](").skip(1).filter_map(|rest| rest.split(')').next())).collect()
}

/// A path without `..` and `.`.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                tidy.pop();
            }
            Component::CurDir => {}
            part => tidy.push(part),
        }
    }
    tidy
}

#[test]
fn every_link_leads_somewhere() {
    let pages = pages();
    assert!(pages.len() > 60, "{}", pages.len());
    let (mut broken, mut n) = (Vec::new(), 0);
    for (path, text) in &pages {
        for line in prose(text) {
            for link in links(line).into_iter().filter(|link| !link.contains("://")) {
                n += 1;
                let (file, at) = link.split_once('#').unwrap_or((link, ""));
                let to =
                    if file.is_empty() { path.clone() } else { tidy(&path.parent().unwrap().join(file)) };
                let leads = match pages.get(&to) {
                    Some(page) => at.is_empty() || anchors(page).contains(at),
                    None => at.is_empty() && root().join(&to).exists(),
                };
                if !leads {
                    broken.push(format!("{}: {link}", path.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(n > 300, "{n} links");
}

#[test]
fn the_contents_name_every_page() {
    let contents = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let named: BTreeSet<&str> = contents.lines().flat_map(links).collect();
    for path in pages().keys() {
        let Ok(page) = path.strip_prefix("docs") else { continue };
        let page = page.to_str().unwrap();
        if page != "SUMMARY.md" && !page.starts_with("decisions") {
            assert!(named.contains(page), "docs/SUMMARY.md does not name {page}");
        }
    }
}

/// A page of one task is short enough to be read to its end.
#[test]
fn pages_of_tasks_are_short() {
    for (path, text) in pages() {
        let most = match path.to_str().unwrap() {
            "README.md" => 90,
            page if page.starts_with("docs/do") || page.starts_with("docs/start") => 120,
            _ => continue,
        };
        assert!(text.lines().count() <= most, "{}: {} lines", path.display(), text.lines().count());
    }
}

/// Pages that are derived from the program.
const DERIVED: [&str; 3] = ["docs/flags.md", "docs/keys.md", "docs/reference.md"];
/// Words outside of blocks of code in all pages but those, what was measured, and decisions. It may fall.
const WORDS: usize = 39_400;

/// The book has a limit: what is measured goes to `docs/measured`, and a new page takes words from an old one.
#[test]
fn the_book_is_no_longer_than_it_is() {
    let apart = |path: &Path| {
        path.starts_with("docs/measured")
            || path.starts_with("docs/decisions")
            || DERIVED.iter().any(|derived| path == Path::new(derived))
    };
    let pages = pages();
    let words = pages.iter().filter(|(path, _)| path.starts_with("docs") && !apart(path));
    let words: usize =
        words.flat_map(|(_, text)| prose(text)).map(|line| line.split_whitespace().count()).sum();
    assert!(words <= WORDS && words > WORDS * 9 / 10, "{words} words");
}

/// A cell of a table is read at a glance; what is longer is a paragraph.
#[test]
fn cells_of_tables_are_short() {
    const LONGEST: usize = 160;
    let mut long = Vec::new();
    for (path, text) in
        pages().iter().filter(|(path, _)| path.starts_with("docs") || path.ends_with("README.md"))
    {
        for line in prose(text).filter(|line| line.starts_with('|')) {
            // A bar within a cell is escaped.
            let line = line.replace("\\|", "/");
            for cell in line.split('|').map(str::trim).filter(|cell| cell.chars().count() > LONGEST) {
                long.push(format!("{}: {} characters: {cell}", path.display(), cell.chars().count()));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// What the README says by task is one link away.
#[test]
fn the_readme_leads_to_every_task() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    for page in pages().keys().filter(|path| path.starts_with("docs/do") || path.starts_with("docs/start")) {
        assert!(readme.contains(page.to_str().unwrap()), "README.md does not name {}", page.display());
    }
}
