//! What `headway audit` is given, resolved.

use anyhow::{Result, bail};
use clap::Parser;
use headway_base::Nanos;
use headway_cli::args::{Args, Command};
use headway_cli::repeat::Typed;
use headway_cli::settings::AuditSettings;
use headway_engine::audit::Begin;
use headway_stats::summary::Stream;

fn resolve(line: &str) -> Result<AuditSettings> {
    let words: Vec<String> =
        ["headway", "audit"].into_iter().chain(line.split(' ')).map(str::to_owned).collect();
    let args = Args::try_parse_from(&words)?;
    let Command::Audit(audit) = args.command else { bail!("not an audit") };
    AuditSettings::resolve(&audit, &Typed { words, ..Typed::default() })
}

fn error(line: &str) -> String {
    format!("{:#}", resolve(line).expect_err(line))
}

#[test]
fn flags_become_settings() {
    let s = resolve(
        "a.csv b.csv --from 120s --for 1200s --stamps end --requests --by-threads 50,1,5,5 --json y.json --seed 3",
    )
    .unwrap()
    .spec;
    assert_eq!((s.from, s.span), (Begin::After(Nanos::from_secs(120)), Some(Nanos::from_secs(1200))));
    let dated = resolve("a.csv --from 2026-11-28T14:05 --for 10m").unwrap().spec;
    assert_eq!(
        (dated.from, dated.span),
        (Begin::parse("2026-11-28 14:05:00").unwrap(), Some(Nanos::from_secs(600)))
    );
    assert_eq!((s.stamps, s.stream), (Some(headway_import::Stamps::End), Some(Stream::Requests)));
    assert_eq!((s.by_threads.as_slice(), s.seed), (&[1, 5, 50][..], 3));
    assert_eq!(s.percentiles, [90.0, 95.0, 99.0]);
    assert_eq!(
        s.command,
        "headway audit a.csv b.csv --from 120s --for 1200s --stamps end --requests --by-threads 50,1,5,5 --seed 3"
    );
    assert!(s.selects() && !resolve("-").unwrap().spec.selects());
}

#[test]
fn what_cannot_be_says_what_could() {
    assert!(error("a.csv ./a.csv Cargo.toml ./Cargo.toml").contains("the same file"));
    assert!(error("- -").contains("every request would count twice"));
    assert!(error("a.csv --for 0s").contains("above zero"));
    assert!(error("a.csv --from 5").contains("a time"));
    assert!(error("a.csv --from 28.11.2026T14:05").contains("2026-11-28T14:05"));
    assert!(error("a.csv --json Cargo.toml").contains("never overwritten"));
    assert!(error("a.csv --html Cargo.toml").contains("never overwritten"));
    assert!(error("a.csv --csv src").contains("not empty"));
    assert!(error("a.csv --json x --html ./x").contains("--json x and --html ./x are the same place"));
    assert!(error("a.csv --failures x/f.csv --csv x").contains("lies within --csv x"));
    assert!(error("a.csv --failures -").contains("only reports in terminal, json, "));
    assert!(error("a.csv --histograms src").contains("not empty"));
    assert!(error("a.csv --cells 10ms").contains("--histograms"));
    assert!(error("a.csv --histograms x --cells 0s").contains("above zero"));
    assert!(error("a.csv --expect poisson").contains("the rate is missing"));
    assert!(error("a.csv --percentiles 90,101").contains("below 100"));
    assert!(error("a.csv --percentiles 50,90,50.0").contains("50 is named twice"));
    assert!(error("a.csv --sessions --requests").contains("cannot be used with"));
    assert!(error("a.csv --stamps middle").contains("start"));
}
