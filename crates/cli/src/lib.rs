//! The command line, as a library: what is typed becomes settings, settings become a run, a run becomes a report.
//!
//! Arguments come in two steps: as typed ([`args`]), then resolved and checked ([`settings`]). `headway_engine` plays what
//! they come to.
//!
//! Deliberately absent: what a run, a study or an audit is, statistics, protocols, formats of records. This crate is glue, and no other crate imports it.

pub mod args;
pub mod commands;
pub mod exit;
pub mod interrupt;
pub mod output;
pub mod progress;
pub mod repeat;
pub mod settings;
pub mod watching;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use headway_convert::tools::advice;
use std::error::Error as _;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};

/// Runs the command line `argv` and returns the exit code.
pub fn main(argv: impl IntoIterator<Item = OsString>) -> u8 {
    headway_live::host::outlive_file_size_limit();
    let argv: Vec<OsString> = argv.into_iter().collect();
    let typed = repeat::read(&argv);
    let args = match args::Args::try_parse_from(&argv) {
        Ok(args) => args,
        Err(error) if error.use_stderr() => {
            if let Some(advice) = of_other_tools(&error, &argv) {
                let _ = writeln!(io::stderr(), "headway: {}", typed.redactor.hide(&advice));
                return exit::USAGE;
            }
            let shown = error.render();
            let shown = if io::stderr().is_terminal() { shown.ansi().to_string() } else { shown.to_string() };
            let _ = write!(io::stderr(), "{}", typed.redactor.hide(&shown));
            return exit::USAGE;
        }
        Err(help) => {
            // Help and version are no errors; their output may meet a closed pipe.
            let _ = help.print();
            return exit::FINE;
        }
    };
    match commands::dispatch(args, &typed.words) {
        Ok(code) => code,
        Err(failure) => {
            let failure = failure.hiding(&typed.redactor);
            let _ = writeln!(io::stderr(), "headway: {}", exit::in_words(&failure.error));
            failure.code
        }
    }
}

/// What to write in place of a command that was not understood: where the verb is missing, or a flag of `run` is one of other tools.
/// Secrets are to be hidden in it.
fn of_other_tools(error: &clap::Error, argv: &[OsString]) -> Option<String> {
    let words: Vec<String> = argv.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if words.first().is_some_and(|verb| verb != "run") {
        let no_verb = matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument);
        let known = words.first().is_some_and(|verb| args::is_verb(verb));
        return (no_verb && !known).then(|| advice::no_verb(&words)).flatten();
    }
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.split(' ').next().unwrap_or(text)),
        _ => None,
    };
    let flag = of(ContextKind::InvalidArg)?;
    let prior = of(ContextKind::PriorArg);
    match (error.kind(), error.get(ContextKind::InvalidValue)) {
        (ErrorKind::ArgumentConflict, _) if prior == Some(flag) => advice::twice(&words, flag),
        (ErrorKind::UnknownArgument, _) => advice::unknown(&words, flag),
        (ErrorKind::ValueValidation, Some(ContextValue::String(value))) => {
            let cause = error.source().map(ToString::to_string).unwrap_or_default();
            advice::misread(&words, flag, value, &cause)
        }
        _ => None,
    }
}
