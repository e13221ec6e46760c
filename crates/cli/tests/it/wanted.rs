//! The values of `--output`.

use headway_cli::args::Wanted;

#[test]
fn a_format_and_a_file_or_a_file_that_says_it_by_its_ending() {
    for (text, output, path) in [
        ("html=x", "html", "x"),
        ("json=-", "json", "-"),
        ("junit=a=b", "junit", "a=b"),
        ("runs/a=1/report.HTML", "html", "runs/a=1/report.HTML"),
        ("x.parquet", "parquet", "x.parquet"),
        ("terminal=", "terminal", ""),
    ] {
        let wanted = Wanted::parse(text).unwrap();
        assert_eq!((wanted.output.name(), wanted.path.to_str()), (output, Some(path)), "{text}");
    }
}

#[test]
fn what_is_no_format_names_those_that_are() {
    for (text, told) in [
        ("htm=x", "there is no format 'htm'; did you mean html? (formats: terminal, json, html"),
        ("a=1.html", "there is no format 'a'"),
        ("-", "write json=-"),
        ("report", "write FORMAT=FILE (formats: terminal, json, html"),
        ("report.doc", "ends in one of .txt .json .html .htm"),
    ] {
        let said = Wanted::parse(text).unwrap_err();
        assert!(said.contains(told), "{text}: {said}");
    }
}
