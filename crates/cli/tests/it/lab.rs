//! What `headway lab` is given and cannot do.

use clap::Parser as _;
use headway_cli::args::Args;
use headway_cli::repeat::Typed;
use headway_cli::{commands, exit};

#[test]
fn flags_of_one_lab_want_its_name() {
    for flags in [&["--json", "-"][..], &["--replications", "5"], &["--live"]] {
        let args = Args::parse_from(["headway", "lab"].iter().chain(flags));
        let failure = commands::dispatch(args, &Typed::default()).unwrap_err();
        let said = failure.said().to_string();
        assert_eq!(failure.code, exit::USAGE);
        assert!(said.starts_with(&format!("{} is about one lab", flags[0])), "{said}");
        assert!(said.contains("poisson "), "{said}");
    }
}
