//! The command line, as a library: what is typed becomes settings, settings become a run, a run becomes a report.
//!
//! Arguments come in two steps: as typed ([`args`]), then resolved and checked ([`settings`]). `headway_engine` plays what
//! they come to.
//!
//! Deliberately absent: what a run, a study or an audit is, statistics, protocols, formats of records. This crate is glue, and no other crate imports it.

pub mod args;
pub mod commands;
pub mod exit;
pub mod explain;
pub mod help;
pub mod interrupt;
pub mod output;
pub mod progress;
pub mod repeat;
pub mod said;
pub mod settings;
pub mod usage;
pub mod watching;

use clap::FromArgMatches as _;
use std::ffi::OsString;
use std::io::{self, Write as _};

/// Runs the command line `argv` and returns the exit code.
pub fn main(argv: impl IntoIterator<Item = OsString>) -> u8 {
    headway_live::host::outlive_file_size_limit();
    let argv: Vec<OsString> = argv.into_iter().collect();
    let typed = repeat::read(&argv);
    said::past(&typed.redactor);
    if argv.len() < 2 {
        // Nothing is asked for, and nothing is wrong; the output may meet a closed pipe.
        let _ = io::stdout().write_all(help::OVERVIEW.as_bytes());
        return exit::FINE;
    }
    let parsed = help::command().try_get_matches_from(&argv);
    let args = match parsed.and_then(|matches| args::Args::from_arg_matches(&matches)) {
        Ok(args) => args,
        Err(error) if error.use_stderr() => {
            let words: Vec<String> =
                argv.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            let text = usage::told(&error, &words);
            said::line(&said::cleared(&text));
            return exit::USAGE;
        }
        Err(help) => {
            // Help and version are no errors; their output may meet a closed pipe.
            let _ = help.print();
            return exit::FINE;
        }
    };
    match commands::dispatch(args, &typed) {
        Ok(code) => code,
        Err(failure) => {
            said::line(&failure.said());
            failure.code
        }
    }
}
