//! `headway from-har`: a browser's recording as a scenario.

use super::converted;
use crate::args::FromHarArgs;
use crate::exit::Failure;
use anyhow::{Context as _, anyhow};
use headway_convert::har::{self, Choices};
use headway_engine::files;

pub(super) fn from_har(args: &FromHarArgs) -> Result<u8, Failure> {
    let name = args.file.display().to_string();
    let read = files::read(&args.file, files::MOST);
    let bytes = read.map_err(|error| {
        Failure::usage(anyhow!("{name} cannot be read: {error}; name a recording that a browser saved (HAR)"))
    })?;
    let text = str::from_utf8(&bytes).map_err(|e| {
        Failure::usage(anyhow!(
            "{name} is no HAR file, which is UTF-8: {e}; name a recording that a browser saved (HAR)"
        ))
    })?;
    let choices = Choices { target: args.target.clone(), origins: args.origin.clone(), all: args.all };
    converted(har::scenario(text, &choices).context(name), None)
}
