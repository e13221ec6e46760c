//! `headway explain`: what a word of the reports means.

use crate::exit::{FINE, Failure};
use crate::{explain, output};
use anyhow::anyhow;

pub(super) fn explain(words: &[String]) -> Result<u8, Failure> {
    let text = match words {
        [] => explain::listed(),
        words => explain::explain(&words.join(" ")).map_err(|error| Failure::usage(anyhow!("{error}")))?,
    };
    output::print(text.as_bytes())?;
    Ok(FINE)
}
