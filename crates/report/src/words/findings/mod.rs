//! What findings say: effect and cause as sentences, from their evidence, and what to do next.
//!
//! One file for each group of evidence. The first sentence of each piece of evidence is its cause, and fits on two lines of the first
//! screen; the statistics behind it follow in others, which the first screen leaves out whole. What to do next stands apart; where it
//! depends on the kind of run `reasons` has it.

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

/// What a piece of evidence says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// Effect and cause in the first sentence, the numbers behind them in others.
    pub text: String,
    /// What to do next, the first sentence on one line of the first screen; none where it depends on the kind of run.
    pub next: Option<String>,
}

impl From<String> for Told {
    fn from(text: String) -> Told {
        Told { text, next: None }
    }
}

impl Told {
    fn and_next(self, next: impl Into<String>) -> Told {
        Told { next: Some(next.into()), ..self }
    }

    fn whole(self) -> String {
        self.next.map_or(self.text.clone(), |next| format!("{} {next}", self.text))
    }
}

/// The sentences of a finding: from its evidence, or as its document has them where there is none that this version knows.
pub fn text(finding: &Finding) -> String {
    told(finding).whole()
}

/// The sentences of a finding, with what to do next apart from them.
pub fn told(finding: &Finding) -> Told {
    if finding.evidence.is_empty() {
        return finding.text.to_string().into();
    }
    let all: Vec<Told> = finding.evidence.iter().map(of).collect();
    let next: Vec<&str> = all.iter().filter_map(|told| told.next.as_deref()).collect();
    Told {
        text: all.iter().map(|told| told.text.as_str()).collect::<Vec<_>>().join(" "),
        next: (!next.is_empty()).then(|| next.join(" ")),
    }
}

/// The sentences of remarks: from what they are made from, or as their document has them where there is none that this version knows.
pub fn remarks(remarks: &[Evidence], written: &[Text]) -> Vec<String> {
    if remarks.is_empty() {
        return written.iter().map(Text::to_string).collect();
    }
    remarks.iter().map(sentence).collect()
}

/// One sentence, or the few that belong together, and what to do next.
pub fn sentence(evidence: &Evidence) -> String {
    of(evidence).whole()
}

fn of(evidence: &Evidence) -> Told {
    match evidence {
        Evidence::Load(of) => load::told(of),
        Evidence::Loop(of) => loops::told(of),
        Evidence::Starts(of) => starts::sentence(of).into(),
        Evidence::Model(of) => model::told(of),
        Evidence::Cause(of) => causes::told(of),
        Evidence::Run(of) => run::told(of),
        Evidence::Remark(of) => remarks::sentence(of).into(),
    }
}
