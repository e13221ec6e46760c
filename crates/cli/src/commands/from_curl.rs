//! `headway from-curl`: a curl command as a scenario.

use super::converted;
use crate::args::FromCurlArgs;
use crate::exit::Failure;
use anyhow::Context as _;
use headway_convert::curl;
use std::io::{self, Read as _};

pub(super) fn from_curl(args: &FromCurlArgs) -> Result<u8, Failure> {
    let mut words = args.command.clone();
    if words == ["-"] {
        words[0].clear();
        io::stdin().read_to_string(&mut words[0]).context("standard input cannot be read as text")?;
    }
    converted(curl::scenario(&words), None)
}
