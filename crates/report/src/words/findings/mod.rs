//! What findings say: effect and cause as sentences, from their evidence.
//!
//! One file for each group of evidence, with one sentence for each variant. Absent: what to do next, where the sentence does not say
//! it itself (`reasons`).

mod causes;
mod load;
mod loops;
mod model;
mod remarks;
mod run;
mod starts;

pub use remarks::KEPT_BY_A_STUDY;
pub(super) use starts::longest_gaps;

use headway_stats::summary::{Evidence, Finding, Text};

/// The sentences of a finding: from its evidence, or as its document has them where there is none that this version knows.
pub fn text(finding: &Finding) -> String {
    if finding.evidence.is_empty() {
        return finding.text.to_string();
    }
    finding.evidence.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

/// The sentences of remarks: from what they are made from, or as their document has them where there is none that this version knows.
pub fn remarks(remarks: &[Evidence], written: &[Text]) -> Vec<String> {
    if remarks.is_empty() {
        return written.iter().map(Text::to_string).collect();
    }
    remarks.iter().map(sentence).collect()
}

/// One sentence, or the few that belong together.
pub fn sentence(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Load(of) => load::sentence(of),
        Evidence::Loop(of) => loops::sentence(of),
        Evidence::Starts(of) => starts::sentence(of),
        Evidence::Model(of) => model::sentence(of),
        Evidence::Cause(of) => causes::sentence(of),
        Evidence::Run(of) => run::sentence(of),
        Evidence::Remark(of) => remarks::sentence(of),
    }
}
