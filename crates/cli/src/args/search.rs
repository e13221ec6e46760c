//! The flags of `headway search`, as typed: those of a run, but for the load, which the search chooses.

use super::{Given, RunArgs, given};
use clap::Args as ClapArgs;
use headway_base::units::{self, UnitError};
use headway_base::{Nanos, Rate};

const OUT: &str = "The folder of the search, with a run folder for each trial; must not exist, or be empty [default: \
                   headway-runs/<time>-<name>; with --sim none]";
const THRESHOLD: &str = "Find the highest rate at which this threshold holds (repeatable: all must). A percentile of the response time, \
                         'p(99)<100ms', 'response_ok: p(95)<50ms', or the share of failures, 'failed: rate<0.1%'";
const TARGET: &str = "Where to, or a scenario file, as for headway run; its rate is chosen by the search";

/// `headway search`.
#[derive(ClapArgs, Debug, Clone)]
#[command(mut_arg("out", |arg| arg.help(OUT)), mut_arg("thresholds", |arg| arg.help(THRESHOLD)), mut_arg("target", |arg| arg.help(TARGET)))]
#[command(mut_args(hide))]
pub struct SearchArgs {
    /// A run, whose load is chosen here.
    #[command(flatten)]
    pub run: RunArgs,
    /// The first rate that is tried, and the lowest: arrivals per second (sessions, where a scenario has several requests each)
    /// [default: 10/s, and lower if that does not hold]
    #[arg(help_heading = "Search", long, value_parser = given(units::parse_rate), value_name = "RATE")]
    pub from: Option<Given<Rate>>,
    /// The highest rate that is tried [default: as far as the generator goes]
    #[arg(help_heading = "Search", long, value_parser = given(units::parse_rate), value_name = "RATE")]
    pub to: Option<Given<Rate>>,
    /// Half the width of the interval of the knee over its middle, at which the search ends: 1 % to 50 %
    #[arg(help_heading = "Search", long, value_parser = parse_precision, default_value = "5%", value_name = "SHARE")]
    pub precision: f64,
    /// Longest time for all trials together; with --sim virtual time
    #[arg(help_heading = "Search", long, value_parser = units::parse_time, default_value = "20m", value_name = "TIME")]
    pub budget: Nanos,
    /// Search the scenario's model, in virtual time, and send nothing
    #[arg(help_heading = "Search", long)]
    pub sim: bool,
    /// With --sim: this one of the file's models
    #[arg(help_heading = "Search", long, value_name = "NAME", requires = "sim")]
    pub model: Option<String>,
}

/// Flags of a run that the search sets, or that do not go with it: `settings` refuses them with the reason.
const HIDDEN: [&str; 18] = [
    "rate",
    "duration",
    "requests",
    "users",
    "think",
    "at_once",
    "ramp",
    "warmup",
    "shard",
    "abort_on_crossed",
    "dry_run",
    "start_at",
    "interval",
    "no_log",
    "strict",
    "print_scenario",
    "percentiles",
    "histogram",
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
    pub fn out_of_place(&self) -> Option<(&'static str, &'static str)> {
        let RunArgs { load, abort_on_crossed, dry_run, start_at, interval, output, set, .. } = &self.run;
        let rates = "a search chooses the rates: write --from and --to";
        let length = "trials are as long as they need to be: write --budget for all of them together";
        let open = "a search sends open load";
        let each = "this is for a single run";
        let flags = [
            (load.rate.is_some(), "-R", rates),
            (load.duration.is_some(), "-d", length),
            (load.requests.is_some(), "-n", length),
            (load.users.is_some(), "-u", open),
            (load.think.is_some(), "--think", open),
            (load.at_once.is_some(), "--at-once", open),
            (load.ramp.is_some(), "--ramp", "each trial has a warm-up of its own"),
            (load.warmup.is_some(), "--warmup", "each trial has a warm-up of its own"),
            (load.shard != headway_workload::Shard::WHOLE, "--shard", "a search runs on one machine"),
            (abort_on_crossed.is_some(), "--abort-on-crossed", "a trial ends when its threshold is decided"),
            (*dry_run, "--dry-run", each),
            (start_at.is_some(), "--start-at", each),
            (interval.is_some(), "--interval", each),
            (output.no_log, "--no-log", "the trials' records are read when they end"),
            (output.strict, "--strict", each),
            (set.print_scenario, "--print-scenario", each),
        ];
        flags.into_iter().find(|(is, ..)| *is).map(|(_, flag, why)| (flag, why))
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
