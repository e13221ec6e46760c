//! `headway from-openapi`: an OpenAPI document as a scenario.

use super::{converted, text_of};
use crate::args::FromOpenapiArgs;
use crate::exit::Failure;
use headway_convert::openapi::{self, Choices};

pub(super) fn from_openapi(args: &FromOpenapiArgs) -> Result<u8, Failure> {
    let text = text_of(&args.file, "an OpenAPI 3.0 or 3.1 document (YAML or JSON)")?;
    let choices = Choices { target: args.target.clone(), all_methods: args.all_methods };
    converted(openapi::scenario(&args.file.display().to_string(), &text, &choices), args.output.as_deref())
}
