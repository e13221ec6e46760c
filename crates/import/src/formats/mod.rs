//! The formats, one file each.
//!
//! Adding one = copy a neighbour, add its module and one line to [`ALL`], add a sample to `tests/samples`.

pub mod access_log;
pub mod alb_log;
pub mod answered_csv;
pub mod columns;
pub mod fortio_log;
pub mod gatling_binary;
pub mod gatling_text;
pub mod h2load;
pub mod headway_arrivals;
pub mod jmeter_csv;
pub mod jmeter_xml;
pub mod json_log;
pub mod k6_csv;
pub mod k6_json;
pub mod locust_requests;
pub mod oha_sqlite;
pub mod refused;
pub mod vegeta_csv;
pub mod vegeta_gob;
pub mod vegeta_json;
pub mod w3c;

#[cfg(test)]
mod check;
mod gatling;
mod jmeter_row;
mod jmeter_transactions;
mod k6;
mod request;

use crate::format::Format;
use crate::options::Options;

/// Every format, the pickiest first.
pub static ALL: &[&dyn Format] = &[
    &gatling_binary::GatlingBinary,
    &gatling_text::GatlingText,
    &jmeter_csv::JmeterCsv,
    &jmeter_xml::JmeterXml,
    &locust_requests::LOCUST_REQUESTS,
    &headway_arrivals::HEADWAY_ARRIVALS,
    &headway_arrivals::HEADWAY_PLAN,
    &fortio_log::FORTIO_LOG,
    &h2load::H2LOAD,
    &answered_csv::HEY,
    &access_log::AccessLog,
    &w3c::W3C,
    &alb_log::ALB_LOG,
    &json_log::JSON_LOG,
    &k6_csv::K6Csv,
    &k6_json::K6Json,
    &answered_csv::OHA,
    &oha_sqlite::OhaSqlite,
    &vegeta_csv::VEGETA_CSV,
    &vegeta_gob::VegetaGob,
    &vegeta_json::VEGETA_JSON,
    &columns::Columns,
];

/// The format of a file that begins with `head`. `--columns` decides it; `--log-format` does where no tool's format is
/// recognised, so that a tool's file and the target's log can be read together.
pub(crate) fn find(head: &[u8], options: &Options) -> Option<&'static dyn Format> {
    if options.columns.is_some() {
        return Some(&columns::Columns);
    }
    let known = ALL.iter().copied().find(|format| format.recognise(head)).or_else(|| refused::find(head));
    let log = options.log_format.as_ref().map(|_| &access_log::AccessLog as &dyn Format);
    known.or(log)
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
