//! `headway from-jmx`: a test plan of JMeter as a scenario.

use super::{converted, text_of};
use crate::args::FromJmxArgs;
use crate::exit::Failure;
use headway_convert::jmx::{self, Choices};

pub(super) fn from_jmx(args: &FromJmxArgs) -> Result<u8, Failure> {
    let text = text_of(&args.file, "a test plan of JMeter (.jmx)")?;
    let choices = Choices { target: args.target.clone(), group: args.group.clone() };
    converted(jmx::scenario(&args.file.display().to_string(), &text, &choices), args.output.as_deref())
}
