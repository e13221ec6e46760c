//! `headway doctor`, as typed: the arguments of `run`, of which the target may be left out, and one of its own.

use super::RunArgs;
use clap::error::Result;
use clap::{ArgMatches, Args as ClapArgs, Command, FromArgMatches};
use headway_base::Nanos;
use headway_base::units::parse_time;

/// `headway doctor`.
#[derive(Debug, Clone)]
pub struct DoctorArgs {
    /// What `headway run` would be given; an empty target: no plan.
    pub run: RunArgs,
    /// The response time that is expected.
    pub response: Option<Nanos>,
}

/// What only this verb has.
#[derive(ClapArgs, Debug, Clone)]
struct Own {
    /// The mean response time that is expected of the target. It says how many connections a rate takes, and how late requests may be
    #[arg(help_heading = "Machine", long, value_parser = parse_time, value_name = "TIME")]
    response: Option<Nanos>,
}

impl ClapArgs for DoctorArgs {
    fn augment_args(command: Command) -> Command {
        let command = Own::augment_args(RunArgs::augment_args(command));
        command.mut_arg("target", |target| target.required(false).default_value("").hide_default_value(true))
    }

    fn augment_args_for_update(command: Command) -> Command {
        DoctorArgs::augment_args(command)
    }
}

impl FromArgMatches for DoctorArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<DoctorArgs> {
        let Own { response } = Own::from_arg_matches(matches)?;
        Ok(DoctorArgs { run: RunArgs::from_arg_matches(matches)?, response })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<()> {
        *self = DoctorArgs::from_arg_matches(matches)?;
        Ok(())
    }
}
