//! What findings and remarks rest on, apart from the value, interval, limit and n that findings have: the numbers and names of their
//! sentences, one variant for each sentence.
//!
//! Deliberately absent: the variants, which stand with what finds them (`findings`, `audit::causes`); and the sentences, which the report
//! makes from these.

mod remarks;

pub use crate::audit::causes::{Cause, FirstStamp, Reading};
pub use crate::findings::{
    FailedStep, GeneratorCause, HeldBackBy, Load, Loop, LostShard, Model, MovedNumber, Moving, Off, OpenLoad,
    OpenRule, Reference, Remedy, Run, ShortShard, Starts, VariesLess,
};
pub use remarks::{NoSteadyState, NotCompared, Remark};

use serde::{Deserialize, Deserializer, Serialize};

/// What one sentence of a finding or a remark is made from. In documents an object with the tag `kind`, which is unique among all groups.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Evidence {
    /// How the load left.
    Load(Load),
    /// What responses did to the load.
    Loop(Loop),
    /// The pattern of the starts.
    Starts(Starts),
    /// The model of a simulation.
    Model(Model),
    /// The cause of an arrival pattern, and what else only an audit tells.
    Cause(Cause),
    /// The run around the load.
    Run(Run),
    /// A study, or a recorded run.
    Remark(Remark),
}

macro_rules! groups {
    ($($group:ident)*) => {
        $(impl From<$group> for Evidence {
            fn from(of: $group) -> Evidence {
                Evidence::$group(of)
            }
        })*
    };
}

groups!(Load Loop Starts Model Cause Run Remark);

/// Reads evidence; none of it where some is of another version, whose text is then all there is.
pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Evidence>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Known(Box<Evidence>),
        Other(serde::de::IgnoredAny),
    }
    let all = Vec::<Written>::deserialize(deserializer)?;
    let known = all.into_iter().map(|written| match written {
        Written::Known(evidence) => Some(*evidence),
        Written::Other(_) => None,
    });
    Ok(known.collect::<Option<Vec<Evidence>>>().unwrap_or_default())
}
