//! JUnit XML for the test page of a CI system: one test case per threshold, one per load rule, one for the pattern.
//!
//! The dialect is what Jenkins, GitLab and GitHub's actions read alike: `testsuites`, `testsuite`, `testcase` with
//! `failure` or `skipped`. What does not apply is left out; what is not decided is skipped, with the reason: a rule that is open, and a threshold of an INVALID
//! load (whose broken rules are the failures). Deliberately absent: the numbers beyond what was judged; JSON has those.

use crate::format::{hidden, visible};
use crate::words::why::why;
use crate::words::{self, thresholds};
use crate::{Material, Output, Style};
use headway_stats::Summary;
use headway_stats::summary::{Open, Pattern, RuleOutcome, RuleResult, ThresholdOutcome, ThresholdResult};

/// The test cases.
pub struct Junit;

impl Output for Junit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn about(&self) -> &'static str {
        "thresholds and load rules as JUnit XML, for a CI system"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["xml"]
    }

    fn made_of(&self) -> &'static [Material] {
        &[Material::Summary]
    }

    /// A CI system reads it from a file.
    fn prints(&self) -> bool {
        false
    }

    fn recognises(&self, start: &str) -> bool {
        start.starts_with("<?xml") && start.contains("<testsuites name=\"headway ")
    }

    fn summary(&self, summary: &Summary, _: &Style) -> Option<Vec<u8>> {
        let judged = summary.thresholds.iter().map(threshold).collect();
        let applies = |rule: &&RuleResult| rule.outcome != RuleOutcome::NotApplicable;
        let mut load: Vec<Case> = summary.verdict.rules.iter().filter(applies).map(rule).collect();
        load.extend(pattern(summary));
        let suites = [("thresholds", judged), ("load", load)];
        let name = if summary.name.is_empty() { "unnamed" } else { &summary.name };
        let all: Vec<&Case> = suites.iter().flat_map(|(_, cases)| cases).collect();
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        out.push_str(&format!("<testsuites name=\"headway {}\" {}>\n", escaped(name), counts(&all)));
        for (suite, cases) in &suites {
            let all: Vec<&Case> = cases.iter().collect();
            out.push_str(&format!("  <testsuite name=\"{suite}\" {}>\n", counts(&all)));
            for case in cases {
                case.write(&mut out, &format!("headway.{name}.{suite}"));
            }
            out.push_str("  </testsuite>\n");
        }
        out.push_str("</testsuites>\n");
        Some(out.into_bytes())
    }
}

/// What became of a case.
enum Came {
    Passed,
    Failed(&'static str),
    Skipped,
}

struct Case {
    name: String,
    result: Came,
    text: String,
}

impl Case {
    fn write(&self, out: &mut String, class: &str) {
        let (name, text) = (escaped(&self.name), escaped(&self.text));
        out.push_str(&format!("    <testcase classname=\"{}\" name=\"{name}\">", escaped(class)));
        match self.result {
            Came::Passed => out.push_str(&format!("<system-out>{text}</system-out>")),
            Came::Failed(kind) => {
                out.push_str(&format!("<failure type=\"{kind}\" message=\"{text}\">{text}</failure>"));
            }
            Came::Skipped => out.push_str(&format!("<skipped message=\"{text}\"/>")),
        }
        out.push_str("</testcase>\n");
    }
}

fn counts(cases: &[&Case]) -> String {
    let failures = cases.iter().filter(|case| matches!(case.result, Came::Failed(_))).count();
    let skipped = cases.iter().filter(|case| matches!(case.result, Came::Skipped)).count();
    format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"", cases.len())
}

fn threshold(threshold: &ThresholdResult) -> Case {
    let open_for_generator = threshold.open == Some(Open::Generator);
    let result = match threshold.outcome {
        ThresholdOutcome::Passed => Came::Passed,
        ThresholdOutcome::Crossed => Came::Failed("crossed"),
        ThresholdOutcome::NotJudged if open_for_generator => Came::Skipped,
        // Of several runs only, which have no test cases.
        ThresholdOutcome::Inconclusive => Came::Skipped,
        ThresholdOutcome::NotJudged => Came::Failed("not-judged"),
    };
    Case { name: threshold.text.to_string(), result, text: thresholds::sentence(threshold) }
}

fn rule(rule: &RuleResult) -> Case {
    let result = match rule.outcome {
        RuleOutcome::Pass => Came::Passed,
        RuleOutcome::Fail => Came::Failed("load"),
        RuleOutcome::Undecided | RuleOutcome::NotApplicable => Came::Skipped,
    };
    let (word, _) = words::rule_outcome(rule.outcome);
    let reason = rule.reason.as_ref().map_or(String::new(), |reason| format!(" ({})", why(reason)));
    let text = format!(
        "{word}{reason}: {}; tolerated: {}; n = {}",
        words::rule_value(rule),
        words::rule_limits(rule),
        rule.n
    );
    let title = words::rule_title(rule);
    Case { name: format!("load: {title}"), result, text }
}

/// A pattern fails only where it is another than the plan asks for: a metronome that was asked for is no defect.
/// None where no pattern is asked for, as of loops.
fn pattern(summary: &Summary) -> Option<Case> {
    let answer = words::pattern(summary);
    let asked = match summary.plan.as_ref()?.gap_cov? {
        cov if cov > 1.05 => Pattern::Bunched,
        cov if cov < 0.95 => Pattern::Even,
        _ => Pattern::Independent,
    };
    let result = match summary.verdict.pattern {
        Pattern::NotApplicable => return None,
        Pattern::Undecided => Came::Skipped,
        seen if seen == asked => Came::Passed,
        _ => Came::Failed("pattern"),
    };
    Some(Case {
        name: "pattern of the starts".into(),
        result,
        text: format!("{}: {}", answer.word, answer.meaning),
    })
}

/// Text for an attribute or an element. XML has no way to write most control characters, nor the two last code points.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if hidden(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_from_outside_stays_text() {
        assert_eq!(escaped("a<b>&\"'\x1b\u{ffff}]]>"), "a&lt;b&gt;&amp;&quot;&#39;\u{fffd}\u{fffd}]]&gt;");
    }
}
