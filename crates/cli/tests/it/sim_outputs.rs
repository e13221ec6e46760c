//! Outputs of `headway sim` that meet.

use clap::Parser as _;
use headway_cli::args::Args;
use headway_cli::commands::dispatch;
use headway_cli::exit::USAGE;
use headway_cli::repeat::Typed;
use std::fs;

#[test]
fn outputs_that_meet_are_refused_before_anything_is_played_or_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let text = "users: { arrive: { rate: 20/s }, phases: [{ hold: 1s }] }\njourney: [{ get: / }]\n\
        model: { service: 1ms }\n";
    fs::write(at("s.yaml"), text).unwrap();
    for (several, [(one, one_at), (other, other_at)]) in [
        (false, [("--json", "x"), ("--html", "x")]),
        (false, [("--junit", "x"), ("--json", "x")]),
        (false, [("--out", "d"), ("--html", "d/report.html")]),
        (true, [("--out", "d"), ("--json", "d/study.json")]),
        (true, [("--out", "d"), ("--json", "d")]),
        (true, [("--html", "x"), ("--json", "x")]),
    ] {
        let (scenario, one_at, other_at) = (at("s.yaml"), at(one_at), at(other_at));
        let mut words = vec!["headway", "sim", &scenario, "--quiet", one, &one_at, other, &other_at];
        words.extend(several.then_some("--replications=2"));
        let failure = dispatch(Args::parse_from(&words), &Typed::default()).expect_err("they meet");
        let said = failure.said().to_string();
        assert_eq!(failure.code, USAGE, "{said}");
        assert!(said.contains(&format!("{one} {one_at}")), "{said}");
        assert!(said.contains(&format!("{other} {other_at}")), "{said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{said}");
    }
}
