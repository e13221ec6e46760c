//! `headway from-har`: a browser's recording as a scenario.

use super::converted;
use crate::args::FromHarArgs;
use crate::exit::Failure;
use anyhow::Context as _;
use headway_convert::har::{self, Choices};
use headway_engine::files;

pub(super) fn from_har(args: &FromHarArgs) -> Result<u8, Failure> {
    let name = args.file.display().to_string();
    let bytes = files::read(&args.file, files::MOST).with_context(|| format!("{name} cannot be read"))?;
    let text = str::from_utf8(&bytes)
        .map_err(|e| Failure::usage(anyhow::anyhow!("{name} is no HAR file, which is UTF-8: {e}")))?;
    let choices = Choices { origin: args.origin.clone(), all: args.all };
    converted(har::scenario(text, &choices).context(name))
}
