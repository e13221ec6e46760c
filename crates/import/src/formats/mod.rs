//! The formats, one file each.
//!
//! Adding one = copy a neighbour, add its module and one line to [`ALL`], add a sample to `tests/samples`.

pub mod jmeter_csv;

mod jmeter_row;

use crate::format::Format;
use crate::options::Options;

/// Every format, the pickiest first.
pub static ALL: &[&dyn Format] = &[
    &jmeter_csv::JmeterCsv,
];

/// The format of a file that begins with `head`.
pub(crate) fn find(head: &[u8], _options: &Options) -> Option<&'static dyn Format> {
    ALL.iter().copied().find(|format| format.recognise(head))
}

/// What is known, for an error message.
pub(crate) fn known() -> String {
    let names: Vec<_> = ALL.iter().map(|f| f.name()).collect();
    format!(
        "Known are: {}. For other CSV files say which column holds what (--columns start=...,elapsed=...), for access logs give \
         the server's --log-format.",
        names.join(", ")
    )
}
