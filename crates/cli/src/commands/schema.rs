//! `headway schema`: the JSON Schema of scenario files, for editors.

use crate::exit::{FINE, Failure};
use crate::output;

pub(super) fn schema() -> Result<u8, Failure> {
    output::print(headway_workload::scenario::schema().as_bytes())?;
    Ok(FINE)
}
