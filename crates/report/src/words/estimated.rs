//! By how much the p99 of an audited load is off, estimated; or why there is no estimate.
//!
//! Absent: response times as they are.

use super::why;
use crate::format::{count, rate, share, time};
use headway_stats::Summary;
use headway_stats::summary::{DependsOn, P99Off, Stated, Why};

/// Where the reason stands why there is no estimate.
const PATH: &str = "audit.estimated";

/// On one line of the first screen, or two where there is much to name; nothing where there is nothing to estimate.
pub fn brief(summary: &Summary) -> Option<String> {
    match summary.audit.as_ref()?.estimated.as_ref() {
        Some(off) => Some(short(off)),
        None => summary
            .not_computed
            .get(PATH)
            .map(|reason| format!("p99 off by an unknown amount: {}", because(reason))),
    }
}

fn short(off: &P99Off) -> String {
    let [low, high] = off.ci95.map(percent);
    let (servers, plural) = servers(off);
    let if_fifo = format!("if FIFO, {servers} server{plural}");
    match off.ci95 {
        [low_off, high_off] if low_off <= 0.0 && high_off >= 0.0 => {
            format!("p99 off by {low} to {high} % (95 % CI), {if_fifo}")
        }
        [_, high_off] if high_off < 0.0 => {
            let [low, high] = off.ci95.map(|off| percent(-off));
            format!("p99 is {} % too low (95 % CI {high} to {low} %), {if_fifo}", percent(-off.off))
        }
        _ => format!("p99 is {} % too high (95 % CI {low} to {high} %), {if_fifo}", percent(off.off)),
    }
}

/// Numbers of servers that fit, and whether they are several.
fn servers(off: &P99Off) -> (String, &'static str) {
    let (least, most) = (off.servers.iter().min(), off.servers.iter().max());
    match (least, most) {
        (Some(least), Some(most)) if least < most => (format!("{} to {}", count(*least), count(*most)), "s"),
        (Some(1), _) => ("1".into(), ""),
        (Some(n), _) => (count(*n), "s"),
        _ => ("some".into(), "s"),
    }
}

/// Two digits are enough of an estimate.
fn percent(of: f64) -> String {
    let x = 100.0 * of;
    if x.abs() < 10.0 { format!("{x:.1}") } else { format!("{x:.0}") }
}

/// All there is to the estimate; nothing where there is none.
pub fn whole(off: &P99Off) -> String {
    let [low, high] = off.ci95.map(share);
    let (servers, plural) = servers(off);
    format!(
        "under independent starts at the same rate ({}) the p99 would be {} instead of {}: it is off by {} (95 % CI {low} to {high}). \
         Assumed: the target serves in order with {servers} server{plural}, whose service times (mean {}) depend on nothing else. They \
         would be busy for {} of the time. Replayed through that model the file's own starts give p50 {} and p99 {}; the file has {} \
         and {} (n = {}, {} replications)",
        rate(off.rate),
        time(off.p99_independent),
        time(off.p99_replayed),
        share(off.off),
        time(off.service_mean),
        share(off.busy),
        time(off.p50_replayed),
        time(off.p99_replayed),
        time(off.p50_observed),
        time(off.p99_observed),
        count(off.n),
        count(off.replications)
    )
}

/// The reason in a few words.
fn because(reason: &Stated<Why>) -> String {
    let short = match &reason.why {
        Why::EndsNotTold => "the rows have no ends",
        Why::FewRequests { .. } => "too few requests",
        Why::ServersBusy { .. } => "independent starts would pile up",
        Why::NoQueue { .. } => "hardly any request had to wait",
        Why::ServersUnknown => "the number of servers does not show",
        Why::NoShortHeadways => "no request came soon after another",
        Why::TiedStarts => "starts share stamps",
        Why::CoarseForServices { .. } => "the stamps are too coarse",
        Why::NoStation { depends_on: DependsOn::Others } => "the target does not serve in order",
        Why::NoStation { depends_on: DependsOn::Time } => "the target's speed changes",
        Why::NoStation { depends_on: DependsOn::Rate } => "its speed depends on the starts",
        Why::ReplayMisses { .. } => "no FIFO target gives back the times",
        Why::RequestsFailed { .. } => "too many requests failed",
        Why::RateChanges => "the rate itself changes",
        Why::OfSessions => "sessions are judged",
        _ => return why::why(reason),
    };
    short.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::Audit;

    /// Columns of a fact on the first screen.
    const ROOM: usize = 66;

    fn of(off: f64, ci95: [f64; 2], servers: &[u64]) -> String {
        let off = P99Off { off, ci95, servers: servers.to_vec(), ..P99Off::default() };
        let audit = Audit { estimated: Some(off), ..Audit::default() };
        brief(&Summary { audit: Some(audit), ..Summary::default() }).unwrap()
    }

    #[test]
    fn an_estimate_names_its_direction_its_interval_and_its_assumption() {
        assert_eq!(
            of(0.29, [0.18, 0.4], &[4]),
            "p99 is 29 % too high (95 % CI 18 to 40 %), if FIFO, 4 servers"
        );
        assert_eq!(
            of(-0.29, [-0.4, -0.018], &[1]),
            "p99 is 29 % too low (95 % CI 1.8 to 40 %), if FIFO, 1 server"
        );
        assert_eq!(
            of(0.01, [-0.02, 0.04], &[8, 7]),
            "p99 off by -2.0 to 4.0 % (95 % CI), if FIFO, 7 to 8 servers"
        );
        // One line as a rule, two at most.
        assert!(of(2.52, [2.05, 2.87], &[4]).len() <= ROOM);
        assert!(of(123.4, [98.7, 234.5], &[256, 255, 257]).len() <= 2 * (ROOM - 10));
    }

    #[test]
    fn a_reason_fits_on_the_line_and_each_has_a_sentence() {
        let depend = [DependsOn::Others, DependsOn::Time, DependsOn::Rate];
        let reasons = [
            Why::ServersBusy { busy: 0.99 },
            Why::NoQueue { waited: 3 },
            Why::ServersUnknown,
            Why::NoShortHeadways,
            Why::TiedStarts,
            Why::CoarseForServices { grid_s: 1.0 },
            Why::ReplayMisses { percentile: 99.0, observed_s: 0.5, replayed_s: 0.9 },
            Why::RequestsFailed { failed: 30, n: 100 },
            Why::RateChanges,
            Why::OfSessions,
        ];
        for why in reasons.into_iter().chain(depend.map(|depends_on| Why::NoStation { depends_on })) {
            let text = why::why(&why.clone().into());
            assert!(text.len() > 20 && !text.ends_with('.'), "{why:?}: {text}");
            let mut summary = Summary { audit: Some(Audit::default()), ..Summary::default() };
            assert_eq!(brief(&summary), None);
            summary.not_computed.insert(PATH.into(), why.clone().into());
            let text = brief(&summary).unwrap();
            assert!(text.len() <= ROOM && text.starts_with("p99 off by an unknown amount: "), "{text}");
        }
    }
}
