//! `headway completions` and `headway man`: made of the definition of the command line.

use crate::args::Args;
use crate::exit::{FINE, Failure};
use crate::output;
use anyhow::Context as _;
use clap::CommandFactory as _;
use std::path::Path;

pub(super) fn completions(shell: clap_complete::Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "headway", &mut script);
    output::print(&script)?;
    Ok(FINE)
}

pub(super) fn man(folder: &Path) -> Result<u8, Failure> {
    let write = || {
        std::fs::create_dir_all(folder)?;
        clap_mangen::generate_to(Args::command(), folder)
    };
    write().with_context(|| format!("{}: man pages cannot be written", folder.display()))?;
    Ok(FINE)
}
