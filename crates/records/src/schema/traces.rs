//! The column of traces: a function of session and seed, written where requests named their traces, and of no field of a row.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use headway_base::trace::Traces;
use headway_base::{Kind, Record};

use super::{Cells, Column};
use crate::metadata::{self, Metadata};

pub(super) struct TraceIds;

impl Column for TraceIds {
    fn name(&self) -> &'static str {
        "trace_id"
    }
    fn about(&self) -> &'static str {
        "trace of its session, as in the header traceparent, in hexadecimal; null for a request that was not sent. Only with --traceparent"
    }
    fn data_type(&self) -> DataType {
        DataType::Utf8
    }
    fn nullable(&self) -> bool {
        true
    }
    fn builder(&'static self, _: usize) -> Box<dyn Cells> {
        Box::new(Ids { traces: None, cells: StringBuilder::new() })
    }
    fn builder_for(&'static self, metadata: &Metadata, _: usize) -> Option<Box<dyn Cells>> {
        let traces = Traces::new(metadata.get(metadata::TRACES)?.parse().ok()?);
        Some(Box::new(Ids { traces: Some(traces), cells: StringBuilder::new() }))
    }
    fn fill(&self, cells: &dyn Array, _: &mut [Record]) -> Result<(), String> {
        match cells.data_type() {
            DataType::Utf8 => Ok(()),
            other => Err(format!("unexpected type {other}")),
        }
    }
}

struct Ids {
    traces: Option<Traces>,
    cells: StringBuilder,
}

impl Cells for Ids {
    fn append(&mut self, rows: &[Record]) {
        for row in rows {
            let named = row.sent.is_some() || row.kind == Kind::Session;
            match self.traces.filter(|_| named) {
                Some(traces) => {
                    // Writing to a text does not fail.
                    let _ = write!(self.cells, "{}", traces.id(row.group, row.k));
                    self.cells.append_value("");
                }
                None => self.cells.append_null(),
            }
        }
    }
    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.cells.finish())
    }
}
