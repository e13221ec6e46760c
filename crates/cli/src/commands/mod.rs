//! One file per verb.

mod audit;
mod demo;
mod lab;
mod plan;
mod report;
mod run;
mod serve;

use crate::args::{Args, Command};
use crate::exit::Failure;

/// Does what was asked and returns the exit code. `words` is the command line with secrets replaced.
///
/// # Errors
/// What could not be done, with the code to exit with.
pub fn dispatch(args: Args, words: &[String]) -> Result<u8, Failure> {
    match args.command {
        Command::Demo(args) => demo::demo(&args),
        Command::Run(args) => run::run(&args, words),
        Command::Serve(args) => serve::serve(&args),
        Command::Plan(args) => plan::plan(&args),
        Command::Audit(args) => audit::audit(&args, words),
        Command::Report(args) => report::report(&args),
        Command::Lab(args) => lab::lab(&args),
    }
}
