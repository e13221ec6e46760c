//! `headway from-openapi`: an OpenAPI document as a scenario.

use super::converted;
use crate::args::FromOpenapiArgs;
use crate::exit::Failure;
use anyhow::anyhow;
use headway_convert::openapi::{self, Choices};
use headway_engine::files;

/// Most bytes that are read of a document.
const MOST: u64 = 32 << 20;

pub(super) fn from_openapi(args: &FromOpenapiArgs) -> Result<u8, Failure> {
    let name = args.file.display().to_string();
    let read = files::read(&args.file, MOST);
    let bytes = read.map_err(|error| {
        Failure::usage(anyhow!(
            "{name} cannot be read: {error}; name an OpenAPI 3.0 or 3.1 document (YAML or JSON)"
        ))
    })?;
    let text = str::from_utf8(&bytes)
        .map_err(|e| Failure::usage(anyhow!("{name} is no OpenAPI document, which is UTF-8: {e}")))?;
    let choices = Choices { target: args.target.clone(), all_methods: args.all_methods };
    converted(openapi::scenario(&name, text, &choices), args.output.as_deref())
}
