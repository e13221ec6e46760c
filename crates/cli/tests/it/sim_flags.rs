//! What `headway sim` is given and cannot do.

use clap::Parser as _;
use headway_cli::args::{Args, Command};
use headway_cli::repeat::Typed;
use headway_cli::settings::asked;
use std::fs;

/// The error for a scenario with that model and these flags.
fn error(model: &str, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.yaml");
    let load = "users: { arrive: { rate: 20/s }, phases: [{ hold: 1s }] }\njourney: [{ get: / }]\n";
    fs::write(&path, format!("{load}model: {model}\n")).unwrap();
    let words = ["headway", "sim", path.to_str().unwrap()];
    let args = match Args::try_parse_from(words.iter().chain(flags)) {
        Ok(args) => args,
        Err(error) => return error.to_string(),
    };
    let Command::Sim(args) = args.command else { unreachable!() };
    format!("{:#}", asked(&args, &Typed::default()).expect_err("it is refused"))
}

#[test]
fn a_sweep_is_blamed_for_its_values_and_not_for_mistakes_of_the_file() {
    for spec in ["rate=0..100/10", "rate=100,0"] {
        let said = error("{ service: 1ms }", &["--sweep", spec]);
        assert!(said.starts_with("--sweep rate=0: no users would come"), "{said}");
        assert!(said.contains("| rate=0\n") && said.contains("write a value above 0"), "{said}");
    }
    let said = error("{ servise: 1ms }", &["--sweep", "rate=10,20"]);
    assert!(said.contains(" has no key 'servise'") && said.contains("did you mean service?"), "{said}");
}

#[test]
fn what_never_ends_is_not_read() {
    let said = error("{ service: empirical(/dev/zero) }", &[]);
    assert!(said.contains("/dev/zero") && said.contains("it is a device"), "{said}");
    let args = Args::parse_from(["headway", "sim", "/dev/zero"]);
    let Command::Sim(args) = args.command else { unreachable!() };
    let said = format!("{:#}", asked(&args, &Typed::default()).expect_err("it is refused"));
    assert!(said.contains("the scenario /dev/zero cannot be read: it is a device"), "{said}");
}

#[test]
fn a_seed_below_zero_is_told_what_a_seed_is() {
    let said = error("{ service: 1ms }", &["--seed", "-1"]);
    assert!(said.contains("a whole number from 0 to 9007199254740991 (2^53 - 1)"), "{said}");
    assert!(!said.contains("-- -1"), "{said}");
}
