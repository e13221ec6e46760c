//! What findings say: effect and cause as sentences, from their evidence, and what to do next.
//!
//! One file for each group of evidence, one row for each of its variants, which no wildcard stands for. The first sentence of each piece of
//! evidence is its cause, and fits on two lines of the first screen; the statistics behind it follow in others, which the first screen leaves
//! out whole. What to do next stands beside them ([`Next`]); where it depends on the run the row has a function of what is [`Around`].

/// The row of a piece of evidence: what to do next, and its sentences as `format!` makes them.
macro_rules! says {
    ($next:expr, $($text:tt)+) => { says(format!($($text)+), $next) };
}

mod causes;
mod load;
mod loops;
mod model;
mod remarks;
mod run;
mod starts;

pub(super) use load::LIGHTEN;
pub use remarks::KEPT_BY_A_STUDY;
pub(super) use starts::longest_gaps;

use super::around::{Around, Next, Sender};
use super::asked::Kind;
use headway_stats::summary::{Evidence, Finding, Text};
use std::borrow::Cow;

/// What a piece of evidence, or a finding, says.
#[derive(Debug)]
pub struct Told {
    /// Effect and cause in the first sentence, the numbers behind them in others.
    pub text: String,
    /// What to do next, the first sentence on one line of the first screen; of each piece of evidence.
    next: Vec<Next>,
}

/// The row of a piece of evidence: its sentences, and what to do next.
fn says(text: impl Into<String>, next: impl Into<Next>) -> Told {
    Told { text: text.into(), next: vec![next.into()] }
}

impl Told {
    /// What to do next, if something is; of several pieces of evidence what all of them say whatever the run, else what the first says of
    /// this one.
    pub(super) fn next(&self, around: &Around) -> Option<Cow<'static, str>> {
        let written = self.written();
        let shown = || self.next.iter().find_map(|next| next.shown(around)).map(Cow::from);
        if written.is_empty() { shown() } else { Some(written.into()) }
    }

    /// What documents have behind the text.
    fn written(&self) -> String {
        let all = self.next.iter().filter_map(|next| match next {
            Next::Do(text) => Some(text.as_ref()),
            Next::Nothing | Next::Shown(_) | Next::By(_) => None,
        });
        all.collect::<Vec<_>>().join(" ")
    }

    fn whole(self) -> String {
        let written = self.written();
        if written.is_empty() { self.text } else { format!("{} {written}", self.text) }
    }
}

/// The sentences of a finding: from its evidence, or as its document has them where there is none that this version knows.
pub fn text(finding: &Finding) -> String {
    told(finding).whole()
}

/// The sentences of a finding, with what to do next apart from them.
pub fn told(finding: &Finding) -> Told {
    if finding.evidence.is_empty() {
        return says(finding.text.to_string(), Next::Nothing);
    }
    let all: Vec<Told> = finding.evidence.iter().map(of).collect();
    Told {
        text: all.iter().map(|told| told.text.as_str()).collect::<Vec<_>>().join(" "),
        next: all.into_iter().flat_map(|told| told.next).collect(),
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
        Evidence::Starts(of) => starts::told(of),
        Evidence::Model(of) => model::told(of),
        Evidence::Cause(of) => causes::told(of),
        Evidence::Run(of) => run::told(of),
        Evidence::Remark(of) => remarks::told(of),
    }
}
