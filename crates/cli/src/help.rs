//! What help shows at first: the overview of `headway` alone, and the flags of `headway run -h` that most runs need.
//!
//! Deliberately absent: what flags mean, which stands at each of them ([`crate::args`]).

use crate::args::Args;
use clap::{Arg, Command, CommandFactory as _};

/// What `headway` alone prints: the verbs in five groups, and where to read on. A first screen: 24 lines of 80 columns at most.
pub const OVERVIEW: &str = "\
Headway: load tests whose load is what it claims to be

Send a load
  run URL|SCENARIO       send it, judge it, report response times
  search URL|SCENARIO    find the highest rate at which every threshold holds
  demo, serve            start here: try it on a target; serve that target
Judge and compare
  audit FILE             was the load of another tool what it claims to be?
  report RUN             a recorded run again, or its records in another format
  merge DEST             the shards of a run as one
  compare RUN RUN        is it slower? with confidence intervals
Simulate and plan
  sim SCENARIO           play it against a model of the target, in virtual time
  plan, lab NAME         the arrivals of a load; published experiments again
Convert
  from-curl, from-har, from-openapi, from-jmx   a scenario of what you have
  translate -- COMMAND   what another tool's command is here
This machine and this program
  doctor URL             can this machine send that load?
  explain WORD           what a word, a finding or an exit code means
  completions, man, schema    for shells, man and editors

headway VERB -h: its usual flags; --help: all of them; docs: README.md and docs/
";

/// Flags of `run` that `-h` shows; `--help` shows all.
const USUAL: &[&str] = &[
    "target",
    "rate",
    "duration",
    "requests",
    "users",
    "think",
    "connections",
    "arrivals",
    "warmup",
    "seed",
    "headers",
    "method",
    "body",
    "user",
    "insecure",
    "http2",
    "timeout",
    "thresholds",
    "dry_run",
    "out",
    "json",
    "html",
    "details",
    "quiet",
    "strict",
    "watch",
];

/// Short forms of what `--help` says at length.
const SHORT: &[(&str, &str)] = &[
    (
        "target",
        "http://host/path, https://, h2c://, unix:, tcp://, udp://, dns://; or a scenario file, NAME.yaml",
    ),
    ("think", "Think time of each user before each request, such as exp(2s) [default: none]"),
    ("arrivals", "The arrival process: poisson, constant, gamma(COV), ... [default: poisson]"),
    ("thresholds", "Exit with code 99 unless this holds (repeatable): 'p(99)<100', 'failed: rate<1%'"),
];

/// Below the usual flags of `run`.
const EXAMPLES: &str = "\
Examples:
  headway run http://127.0.0.1:8080/ -R 200 -d 30s              200 requests/s, Poisson, open
  headway run http://127.0.0.1:8080/ -u 50 --think 'exp(2s)'    50 users who wait, closed
  headway run http://127.0.0.1:8080/ -n 10000 -c 50             10,000 requests, fast as they go
  headway run shop.yaml --threshold 'p(99)<100ms'               a scenario, exit 99 if slower

headway run --help shows all flags; headway explain WORD what a word of the report means";

/// The command line with the short help of `run`.
pub fn command() -> Command {
    Args::command()
        .mut_subcommand("run", |run| run.mut_args(usual).after_help(EXAMPLES).after_long_help(EXAMPLES))
}

fn usual(arg: Arg) -> Arg {
    let id = arg.get_id().as_str().to_owned();
    if !USUAL.contains(&id.as_str()) {
        return arg.hide_short_help(true);
    }
    match SHORT.iter().find(|(name, _)| *name == id) {
        Some((_, short)) => {
            let long = arg.get_long_help().or(arg.get_help()).cloned().unwrap_or_default();
            arg.help(*short).long_help(long)
        }
        None => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_is_one_screen_and_has_every_verb_once() {
        assert!(OVERVIEW.lines().count() <= 24);
        assert_eq!(OVERVIEW.lines().find(|line| line.chars().count() > 80), None);
        let groups = OVERVIEW.lines().skip(2).take_while(|line| !line.is_empty());
        let rows: Vec<&str> = groups.filter(|line| line.starts_with("  ")).collect();
        assert_eq!(
            OVERVIEW.lines().skip(2).take_while(|line| !line.is_empty()).count() - rows.len(),
            5,
            "groups"
        );
        let named: Vec<&str> = rows
            .iter()
            .flat_map(|row| row.trim_start().split("  ").next().unwrap_or_default().split(", "))
            .map(|name| name.split(' ').next().unwrap_or_default())
            .collect();
        let all = command();
        for verb in all.get_subcommands().filter(|verb| !verb.is_hide_set()).map(Command::get_name) {
            assert_eq!(named.iter().filter(|name| **name == verb).count(), 1, "{verb} in {named:?}");
        }
    }

    #[test]
    fn the_short_help_of_run_is_short_and_the_long_one_has_every_flag() {
        let mut all = command().term_width(100);
        all.build();
        let run = all.find_subcommand_mut("run").unwrap();
        let flags: Vec<String> = run
            .get_arguments()
            .filter(|arg| !arg.is_hide_set())
            .filter_map(|arg| arg.get_long().map(str::to_owned))
            .collect();
        let (short, long) = (run.render_help().to_string(), run.render_long_help().to_string());
        assert!(short.lines().count() <= 80, "{} lines:\n{short}", short.lines().count());
        assert_eq!(short.lines().find(|line| line.chars().count() > 100), None);
        assert_eq!(short.lines().filter(|line| line.starts_with("  headway run ")).count(), 4, "{short}");
        for flag in &flags {
            assert!(long.contains(&format!("--{flag}")), "{flag}");
        }
        for id in USUAL {
            assert!(run.get_arguments().any(|arg| arg.get_id() == id), "run has no {id}");
        }
        assert!(flags.len() > 60 && long.contains("batch(PROCESS,SIZE)"));
    }
}
