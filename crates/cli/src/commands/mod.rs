//! One file per verb.

mod audit;
mod compare;
mod demo;
mod doctor;
mod explain;
mod from_curl;
mod from_har;
mod from_jmx;
mod from_openapi;
mod lab;
mod merge;
mod plan;
mod report;
mod run;
mod schema;
mod search;
mod serve;
mod shell;
mod sim;
mod sweep;
mod translate;

use crate::args::{Args, Command};
use crate::exit::{FINE, Failure};
use crate::output;
use crate::repeat::Typed;
use crate::said::say;
use anyhow::anyhow;
use headway_convert::Converted;
use headway_engine::files;
use std::path::Path;

/// Does what was asked and returns the exit code. `words` is the command line with secrets replaced.
///
/// # Errors
/// What could not be done, with the code to exit with.
pub fn dispatch(args: Args, words: &Typed) -> Result<u8, Failure> {
    match args.command {
        Command::Demo(args) => demo::demo(&args),
        Command::Run(args) => run::run(&args, words),
        Command::Serve(args) => serve::serve(&args),
        Command::Plan(args) => plan::plan(&args, words),
        Command::Audit(args) => audit::audit(&args, words),
        Command::Report(args) => report::report(&args),
        Command::Compare(args) => compare::compare(&args, words),
        Command::Merge(args) => merge::merge(&args),
        Command::Doctor(args) => doctor::doctor(&args, words),
        Command::Lab(args) => lab::lab(&args),
        Command::FromCurl(args) => from_curl::from_curl(&args),
        Command::FromHar(args) => from_har::from_har(&args),
        Command::FromOpenapi(args) => from_openapi::from_openapi(&args),
        Command::FromJmx(args) => from_jmx::from_jmx(&args),
        Command::Explain { words } => explain::explain(&words),
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { folder } => shell::man(&folder),
        Command::Translate(args) => translate::translate(&args),
        Command::Sim(args) => sim::sim(&args, words),
        Command::Search(args) => search::search_verb(&args, words),
        Command::Schema => schema::schema(),
        Command::DatagramSender { to, pace, seed } => {
            headway_live::senders::send_as_member(to, pace, seed).map_err(anyhow::Error::from)?;
            Ok(FINE)
        }
    }
}

/// Most bytes that are read of a document or a plan.
const MOST_OF_A_DOCUMENT: u64 = 32 << 20;

/// The text of a file that becomes a scenario; `wanted` says what is to be named.
fn text_of(file: &Path, wanted: &str) -> Result<String, Failure> {
    let name = file.display();
    let bytes = files::read(file, MOST_OF_A_DOCUMENT)
        .map_err(|error| Failure::usage(anyhow!("{name} cannot be read: {error}; name {wanted}")))?;
    String::from_utf8(bytes)
        .map_err(|error| Failure::usage(anyhow!("{name} is not UTF-8: {error}; name {wanted}")))
}

/// Prints a scenario that was made of something else, or writes it to a file, and what is to be said of it.
fn converted(made: anyhow::Result<Converted>, to: Option<&Path>) -> Result<u8, Failure> {
    let made = made.map_err(|error| Failure::usage(error).hiding_foreign())?;
    match to {
        None => output::print(made.scenario.as_bytes())?,
        Some(file) => files::replace(file, made.scenario.as_bytes())?,
    }
    for note in &made.notes {
        say!("{note}");
    }
    Ok(FINE)
}
