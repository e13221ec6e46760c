//! The binary: arguments in, exit code out. Everything else is the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(headway_cli::main(std::env::args_os()))
}
