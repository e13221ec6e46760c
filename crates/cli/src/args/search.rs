//! The flags of `headway search`, as typed: those of a run, but for the load, which the search chooses.

use super::place::{Beside, OutOfPlace};
use super::{Given, RunArgs, given};
use clap::Args as ClapArgs;
use clap::builder::ArgPredicate;
use headway_base::units::{self, UnitError};
use headway_base::{Nanos, Rate};
use std::path::PathBuf;

const OUT: &str = "The folder of the search, with a run folder for each trial; must not exist, or be empty [default: \
                   headway-runs/<time>-<name>; with --sim none]";
const THRESHOLD: &str = "Find the highest rate at which this threshold holds (repeatable: all must). A percentile of the response time, \
                         'p(99)<100ms', 'response_ok: p(95)<50ms', or the share of failures, 'failed: rate<0.1%'";
const BASELINE: &str = "Show the knee beside that of an earlier search that asked the same (its folder): below the report, and in search.json";
const TARGET: &str = "Where to, or a scenario file, as for headway run; its rate is chosen by the search. With --target: a scenario file, \
                      or nothing";

/// `headway search`.
#[derive(ClapArgs, Debug, Clone)]
#[command(mut_arg("out", |arg| arg.help(OUT)), mut_arg("thresholds", |arg| arg.help(THRESHOLD)), mut_arg("target", target), mut_arg("baseline", |arg| arg.help(BASELINE).value_name("DIR")))]
#[command(mut_args(hide))]
pub struct SearchArgs {
    /// A run, whose load is chosen here.
    #[command(flatten)]
    pub run: RunArgs,
    /// The lowest rate, and the first that is tried where no probes tell a better one: arrivals per second (sessions, where a scenario has several requests each), or
    /// the number of closed users [default: 10/s, or 10 users, and lower if that does not hold]
    #[arg(help_heading = "Search", long, allow_negative_numbers = true, value_parser = given(units::parse_rate), value_name = "RATE")]
    pub from: Option<Given<Rate>>,
    /// The highest rate, or number of users, that is tried [default: as far as the generator goes]
    #[arg(help_heading = "Search", long, allow_negative_numbers = true, value_parser = given(units::parse_rate), value_name = "RATE")]
    pub to: Option<Given<Rate>>,
    /// Half the width of the interval of the knee over its middle, at which the search ends: 1 % to 50 %
    #[arg(help_heading = "Search", long, value_parser = parse_precision, default_value = "10%", value_name = "SHARE")]
    pub precision: f64,
    /// Longest time for all trials together, without what the target still answers after each; with --sim virtual time
    #[arg(help_heading = "Search", long, allow_negative_numbers = true, value_parser = units::parse_time, default_value = "3m", value_name = "TIME")]
    pub budget: Nanos,
    /// Send no closed probes: 1, 2, 4, ... users without think time until throughput stops growing, which tell where trials begin. With
    /// --from and --to, and of closed users, there are none
    #[arg(help_heading = "Search", long)]
    pub no_probe: bool,
    /// Search the scenario's model, in virtual time, and send nothing
    #[arg(help_heading = "Search", long)]
    pub sim: bool,
    /// With --sim: this one of the file's models
    #[arg(help_heading = "Search", long, value_name = "NAME", requires = "sim")]
    pub model: Option<String>,
    /// Search this target too (repeatable): one trial of each in turn, until the knee of each is known; a table with one row for each
    #[arg(help_heading = "Search", long = "target", id = "targets", value_parser = Named::parse, value_name = "NAME=URL")]
    pub targets: Vec<Named>,
    /// Go on with a search that was interrupted, or whose budget ended: its folder. The same flags are needed, but for --budget,
    /// --precision and --seed
    #[arg(help_heading = "Search", long, value_name = "DIR", conflicts_with = "out")]
    pub resume: Option<PathBuf>,
}

/// The target, which --target may take the place of.
fn target(arg: clap::Arg) -> clap::Arg {
    let arg = arg.help(TARGET).required(false).required_unless_present("targets");
    arg.default_value_if("targets", ArgPredicate::IsPresent, "")
}

/// One of several targets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// What it is called: also the name of its folder.
    pub name: String,
    /// Where to.
    pub url: String,
}

/// Most characters of the name of a target.
const MOST_OF_A_NAME: usize = 32;

impl Named {
    /// Reads `NAME=URL`.
    ///
    /// # Errors
    /// No name, or one that is no name of a folder.
    pub fn parse(text: &str) -> Result<Named, UnitError> {
        const WANTED: &str = "a target: write NAME=URL, such as spring=http://127.0.0.1:8080/; a name has at most 32 letters, digits, - and _";
        let plain = |name: &str| {
            (1..=MOST_OF_A_NAME).contains(&name.len())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        };
        match text.split_once('=') {
            Some((name, url)) if plain(name) && !url.is_empty() => {
                Ok(Named { name: name.to_owned(), url: url.to_owned() })
            }
            // The text may hold a secret.
            _ => Err(UnitError::new(text.split('=').next().unwrap_or_default(), WANTED)),
        }
    }
}

/// Flags of a run that the search sets, or that do not go with it: [`SearchArgs::out_of_place`] refuses them with the reason.
const HIDDEN: [&str; 22] = [
    "sweep",
    "rate",
    "duration",
    "requests",
    "phases",
    "at_once",
    "connecting",
    "ramp",
    "warmup",
    "shard",
    "abort_on_crossed",
    "dry_run",
    "start_at",
    "late",
    "interval",
    "no_log",
    "strict",
    "print_scenario",
    "percentiles",
    "histogram",
    "details",
    "fail_if",
];

fn hide(arg: clap::Arg) -> clap::Arg {
    let hidden = HIDDEN.contains(&arg.get_id().as_str());
    if hidden { arg.hide(true) } else { arg }
}

fn parse_precision(text: &str) -> Result<f64, UnitError> {
    let wanted = || UnitError::new(text, "a precision: write a share from 1% to 50%, such as 5%");
    let number = text.trim();
    let value = match number.strip_suffix('%') {
        Some(percent) => units::parse_number(percent.trim()).map(|x| x / 100.0),
        None => units::parse_number(number),
    };
    value.ok().filter(|x| (0.01..=0.5).contains(x)).ok_or_else(wanted)
}

impl SearchArgs {
    /// The first flag of a run that a search has no use for, and what to do instead.
    pub fn out_of_place(&self) -> Option<OutOfPlace> {
        self.run.out_of_place(if self.sim { Beside::SearchOfModel } else { Beside::Search }).or_else(|| {
            let both = self.sim && !self.targets.is_empty();
            both.then_some((
                "--target",
                "--sim sends nothing: leave one of the two out; --model NAME names a model",
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_is_a_share() {
        assert_eq!(parse_precision("5%").ok(), Some(0.05));
        assert_eq!(parse_precision("0.1").ok(), Some(0.1));
        for bad in ["0%", "5", "51%", "x", "-5%"] {
            assert!(parse_precision(bad).is_err(), "{bad}");
        }
    }
}
