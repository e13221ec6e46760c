//! Where outputs may go: apart from each other, and over nothing but reports.

use headway_cli::args::Wanted;
use headway_cli::settings::{Output, outputs_fit};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

fn wanted(flag: &'static str, path: &Path) -> Wanted {
    let output = headway_report::find(&flag[2..]).unwrap();
    Wanted { flag, output, path: path.to_owned(), appended: false }
}

enum Placed<'a> {
    Folder(&'static str, &'a PathBuf),
    File(&'static str, &'a PathBuf),
    Report(Wanted),
}

impl Placed<'_> {
    fn output(&self) -> Option<Output<'_>> {
        match self {
            Placed::Folder(flag, path) => Output::folder(flag, Some(path)),
            Placed::File(flag, path) => Output::file(flag, Some(path)),
            Placed::Report(wanted) => Some(Output::report(wanted)),
        }
    }
}

/// The error for these flags and paths within an empty folder that holds the folder `is/empty` and links to it and to
/// nothing.
fn said(given: &[(&'static str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("is/empty")).unwrap();
    symlink("is", folder.path().join("link")).unwrap();
    symlink("gone", folder.path().join("nowhere")).unwrap();
    let paths: Vec<PathBuf> = given
        .iter()
        .map(|(_, name)| match *name {
            "-" => PathBuf::from("-"),
            name => PathBuf::from(format!("{}/{name}", folder.path().display())),
        })
        .collect();
    let outputs: Vec<Placed<'_>> = given
        .iter()
        .zip(&paths)
        .map(|((flag, _), path)| match *flag {
            "--out" | "--csv" | "--histograms" => Placed::Folder(flag, path),
            "--failures" => Placed::File(flag, path),
            flag => Placed::Report(wanted(flag, path)),
        })
        .collect();
    let outputs: Vec<Output<'_>> = outputs.iter().filter_map(Placed::output).collect();
    let said = outputs_fit(&outputs).err().map(|error| error.to_string()).unwrap_or_default();
    let names: Vec<String> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    said.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn outputs_that_meet_are_named_with_their_paths() {
    for (given, told) in [
        ([("--json", "x"), ("--html", "x")], "--json x and --html x are the same place"),
        ([("--json", "x"), ("--junit", "./is/../x")], "--json x and --junit ./is/../x are the same place"),
        ([("--html", "is/x"), ("--junit", "link/x")], "--html is/x and --junit link/x are the same place"),
        (
            [("--out", "is/empty"), ("--html", "link/empty/r.html")],
            "--html link/empty/r.html lies within --out is/empty",
        ),
        (
            [("--out", "is/empty"), ("--json", "is/empty/study.json")],
            "--json is/empty/study.json lies within --out is/empty",
        ),
        ([("--html", "x"), ("--out", "x/y/z")], "--out x/y/z lies within --html x, which is to be a file"),
        ([("--out", "far/x"), ("--json", "far/x/s.json")], "--json far/x/s.json lies within --out far/x"),
        ([("--out", "x"), ("--json", "x")], "--out x and --json x are the same place"),
    ] {
        let seen = said(&given);
        assert!(seen.contains(told), "{given:?}: {seen}");
    }
}

#[test]
fn outputs_apart_are_fine() {
    for given in [
        &[("--json", "-"), ("--html", "x"), ("--out", "y")][..],
        &[("--json", "x"), ("--html", "x.html"), ("--out", "is/empty")],
        &[("--csv", "tables"), ("--histograms", "tables"), ("--failures", "tables.csv")],
        &[("--out", "far/away"), ("--json", "is/x")],
    ] {
        assert_eq!(said(given), "", "{given:?}");
    }
}

/// Files of a run folder or the folder of a study.
const OF_A_RUN: [&str; 6] =
    ["records.arrow", "summary.json", "plan.json", "scenario.yaml", "report.html", "study.json"];

#[test]
fn reports_may_be_replaced_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let said = |flag, path: &PathBuf| {
        outputs_fit(&[Output::report(&wanted(flag, path))])
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    fs::write(at("report"), "{\n  \"schema\": \"headway.summary/2\",").unwrap();
    fs::write(at("mine"), "mine").unwrap();
    fs::create_dir(at("run")).unwrap();
    for name in OF_A_RUN {
        fs::write(at("run").join(name), "{\n  \"schema\": \"headway.summary/2\",").unwrap();
    }
    for name in OF_A_RUN {
        assert!(said("--json", &at("run").join(name)).contains("belongs to a run folder"), "{name}");
    }
    assert_eq!(said("--json", &at("report")), "");
    assert_eq!(said("--json", &PathBuf::from("/dev/full")), "");
    assert!(said("--json", &at("mine")).contains("not a report of headway"));
    assert!(said("--parquet", &at("report")).contains("exists and is never overwritten"));
    symlink("../report", at("run/link")).unwrap();
    assert_eq!(said("--html", &at("run/link")), "");
    symlink("run/summary.json", at("into")).unwrap();
    assert!(said("--html", &at("into")).contains("belongs to a run folder"));
    assert!(said("--html", &PathBuf::from("/proc/self/x/y")).is_empty());
}

#[test]
fn what_cannot_be_made_is_refused_before_it_is_needed() {
    for (flag, path, told) in [
        ("--html", "-", "--html -: this goes to a file, and only reports in terminal, json, "),
        ("--out", "-", "--out -: this goes to a folder, and only reports in terminal, json, "),
        ("--parquet", "-", "--parquet -: this goes to a file"),
        ("--json", "is", "--json is is a folder"),
        ("--json", "nowhere", "--json nowhere is a link that leads nowhere"),
        ("--out", "nowhere", "--out nowhere exists, is not empty"),
        ("--out", "is", "--out is exists, is not empty"),
        ("--junit", "far/x", "--junit far/x: there is no folder far"),
        ("--html", "new/", "--html new/ is the name of a folder"),
    ] {
        let seen = said(&[(flag, path)]);
        assert!(seen.contains(told), "{flag} {path}: {seen}");
    }
    let empty = PathBuf::new();
    let seen = outputs_fit(&[Output::report(&wanted("--json", &empty))]).unwrap_err().to_string();
    assert!(seen.contains("the name of a file is missing"), "{seen}");
}
