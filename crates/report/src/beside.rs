//! A recorded run's response times next to simulated ones: a prediction next to its measurement, and whether they agree
//! within what their intervals allow.
//!
//! The interval of a ratio follows from those of its parts by the method of variance estimates recovery on the logarithms
//! (Zou and Donner 2008): the two are taken for independent. Where both saw the same arrivals (one seed) they go together,
//! and the interval is wider than it need be.
//!
//! Absent: what was asked of both, which the caller knows and puts into `Against::differs`; and the words, which are in
//! [`crate::words::beside`].

use crate::words::why::{unsteady, why};
use headway_stats::Summary;
use headway_stats::study::Point;
use headway_stats::summary::{Compared, Interval, Recorded, Side, Spread};

/// Names of the numbers that are compared.
pub const NUMBERS: [&str; 4] = ["mean", "p50", "p90", "p99"];

/// What is kept of a run, to be shown beside another.
pub fn recorded(name: impl Into<String>, summary: &Summary) -> Recorded {
    let response = &summary.response;
    let reasons = NUMBERS.iter().filter(|of| value(response, of).1.is_none()).map(|of| {
        let path = format!("response.ci95.{of}");
        let reason = summary.not_computed.get(&path).or_else(|| summary.not_computed.get("response"));
        ((*of).to_owned(), reason.map_or_else(|| UNTOLD.to_owned(), why))
    });
    Recorded {
        name: name.into(),
        source: summary.source,
        load: summary.verdict.load,
        interrupted: summary.measured.interrupted,
        response: response.clone(),
        no_interval: reasons.collect(),
        curve: summary.curves.percentiles.response.clone(),
        notes: Vec::new(),
        remarks: Vec::new(),
    }
}

/// Where a document does not say why.
const UNTOLD: &str = "its document does not tell one";

/// The numbers of a single simulated run next to those of the recorded one.
pub fn of_run(run: &Recorded, simulated: &Summary) -> Vec<Compared> {
    let own = recorded("", simulated);
    NUMBERS.map(|of| compared(of, side(run, of), side(&own, of))).into()
}

/// The numbers of a point of a study next to those of the recorded run.
pub fn of_point(run: &Recorded, point: &Point, replications: u64) -> Vec<Compared> {
    let own = |of: &str| {
        let Some(estimate) = point.response.get(of) else {
            return Side { no_interval: Some("nothing was counted".into()), ..Side::default() };
        };
        Side {
            value: Some(estimate.mean),
            ci95: estimate.ci95,
            lower_bound: estimate.lower_bound,
            no_interval: estimate
                .ci95
                .is_none()
                .then(|| no_interval(point, of, replications, estimate.lower_bound)),
        }
    };
    NUMBERS.map(|of| compared(of, side(run, of), own(of))).into()
}

/// Why a number of a point has none.
fn no_interval(point: &Point, of: &str, replications: u64, lower_bound: bool) -> String {
    if let Some(stated) = point.not_computed.get(&format!("response.{of}.ci95")) {
        return why(stated);
    }
    match (&point.why_not, replications) {
        _ if lower_bound => "some of it got no answer, so that it is a lower bound".into(),
        (Some(reason), 0 | 1) => format!("no steady state: {}", unsteady(reason)),
        (None, 0 | 1) => "one run of this length is too short for one; --replications gives one".into(),
        _ => "the replications do not tell one".into(),
    }
}

/// A number of a spread and its interval.
fn value(spread: &Spread, of: &str) -> (Option<f64>, Option<Interval>) {
    let ci = &spread.ci95;
    match of {
        "mean" => (spread.mean, ci.mean),
        "p50" => (spread.p50, ci.p50),
        "p90" => (spread.p90, ci.p90),
        _ => (spread.p99, ci.p99),
    }
}

fn side(run: &Recorded, of: &str) -> Side {
    let (value, ci95) = value(&run.response, of);
    Side {
        value,
        ci95,
        lower_bound: run.response.lower_bound.contains_key(of),
        no_interval: run.no_interval.get(of).cloned(),
    }
}

fn compared(of: &str, recorded: Side, simulated: Side) -> Compared {
    let ratio = exact(&recorded).zip(exact(&simulated)).map(|(a, b)| a / b);
    let ratio_ci95 = ratio.and_then(|ratio| ratio_interval(ratio, [&recorded, &simulated]));
    let agree = ratio_ci95.map(|[low, high]| low <= 1.0 && 1.0 <= high);
    let why_not = agree.is_none().then(|| why_not(&recorded, &simulated));
    Compared { of: of.to_owned(), recorded, simulated, ratio, ratio_ci95, agree, why_not }
}

/// A number by which can be divided.
fn exact(side: &Side) -> Option<f64> {
    side.value.filter(|&value| !side.lower_bound && value > 0.0)
}

/// The 95 % interval of a over b: on the logarithms, each end as far from the difference as the root of the sum of the
/// squares of the distances that the intervals of the two allow in that direction.
fn ratio_interval(ratio: f64, [a, b]: [&Side; 2]) -> Option<Interval> {
    let arms = |side: &Side| -> Option<[f64; 2]> {
        let (value, [low, high]) = (side.value?, side.ci95?);
        // An interval that reaches down to nothing lets the ratio be anything.
        (low > 0.0).then(|| [(value / low).ln().max(0.0), (high / value).ln().max(0.0)])
    };
    let ([a_down, a_up], [b_down, b_up]) = (arms(a)?, arms(b)?);
    Some([ratio * (-a_down.hypot(b_up)).exp(), ratio * a_up.hypot(b_down).exp()])
}

fn why_not(recorded: &Side, simulated: &Side) -> String {
    let why_not = |name: &str, side: &Side| {
        let Side { value, ci95, lower_bound, no_interval } = side;
        Some(match (value, ci95) {
            (None, _) => format!("there is no {name} one"),
            _ if *lower_bound => format!("the {name} one is a lower bound: some requests got no answer"),
            (_, None) => {
                let reason = no_interval.as_deref().unwrap_or(UNTOLD);
                format!("the {name} one has no interval ({reason})")
            }
            (Some(value), Some([low, _])) if *value <= 0.0 || *low <= 0.0 => {
                format!("the interval of the {name} one reaches down to nothing")
            }
            _ => return None,
        })
    };
    let both = [why_not("recorded", recorded), why_not("simulated", simulated)];
    both.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::beside::{ratio_cell, value_cell, word};
    use headway_stats::study::Estimate;
    use headway_stats::summary::Intervals;
    use headway_stats::summary::Stated;

    /// A p99 with an interval of so many percent to either side.
    fn of(p99: f64, percent: f64) -> Summary {
        let [low, high] = [-percent, percent].map(|off| p99 * (1.0 + off / 100.0));
        let ci95 = Intervals { p99: Some([low, high]), ..Intervals::default() };
        Summary {
            response: Spread { n: 900, p99: Some(p99), ci95, ..Spread::default() },
            ..Summary::default()
        }
    }

    fn p99(recorded_: &Summary, simulated: &Summary) -> Compared {
        of_run(&recorded("live", recorded_), simulated).pop().unwrap()
    }

    #[test]
    fn a_ratio_has_the_interval_that_those_of_its_parts_allow() {
        // Small ones: 3 % and 4 % make 5 %.
        let both = p99(&of(0.102, 0.3), &of(0.1, 0.4));
        let [low, high] = both.ratio_ci95.unwrap();
        assert!((low / (1.02 * 0.995) - 1.0).abs() < 1e-4 && (high / (1.02 * 1.005) - 1.0).abs() < 1e-4);
        assert_eq!((both.agree, word(&both)), (Some(false), "differ"));
        assert_eq!(ratio_cell(&both), "1.02 [1.01, 1.03]");
        // The same numbers, known less well.
        let wide = p99(&of(0.102, 3.0), &of(0.1, 4.0));
        assert_eq!((wide.agree, word(&wide), wide.why_not), (Some(true), "agree", None));
        // An interval with unequal arms: above 1 it is the recorded one's lower and the simulated one's upper that count.
        let mut low_arm = of(0.12, 1.0);
        low_arm.response.ci95.p99 = Some([0.119, 0.5]);
        assert_eq!(p99(&low_arm, &of(0.1, 1.0)).agree, Some(false));
        assert_eq!(p99(&of(0.1, 1.0), &low_arm).agree, Some(false));
        assert_eq!(p99(&of(0.14, 1.0), &low_arm).agree, Some(true), "0.14 over something up to 0.5");
    }

    #[test]
    fn what_cannot_be_told_says_why() {
        let whole = of(0.1, 1.0);
        let mut unsteady = of(0.1, 1.0);
        unsteady.response.ci95.p99 = None;
        unsteady.not_computed.insert("response.ci95.p99".into(), Stated::other("no steady state"));
        let compared = p99(&whole, &unsteady);
        assert_eq!((compared.ratio, compared.agree, word(&compared)), (Some(1.0), None, "n/a"));
        assert_eq!(compared.why_not.as_deref(), Some("the simulated one has no interval (no steady state)"));
        assert_eq!(compared.simulated.no_interval.as_deref(), Some("no steady state"));
        let mut bounded = of(0.1, 1.0);
        bounded.response.lower_bound.insert("p99".into(), true);
        let compared = p99(&bounded, &whole);
        assert_eq!(
            (compared.ratio, compared.agree, value_cell(&compared.recorded)),
            (None, None, "> 100 ms".into())
        );
        assert!(compared.why_not.unwrap().contains("the recorded one is a lower bound"));
        let compared = p99(&Summary::default(), &whole);
        assert_eq!(compared.why_not.as_deref(), Some("there is no recorded one"));
        let neither = p99(&Summary::default(), &unsteady).why_not.unwrap();
        assert_eq!(neither, "there is no recorded one; the simulated one has no interval (no steady state)");
        let compared = p99(&of(0.1, 100.0), &whole);
        assert!(compared.agree.is_none() && compared.why_not.unwrap().contains("reaches down to nothing"));
    }

    #[test]
    fn a_point_without_an_interval_says_what_would_give_one() {
        let run = recorded("live", &of(0.1, 1.0));
        let estimate = Estimate { mean: 0.1, ..Estimate::default() };
        let mut point = Point { response: [("p99".to_owned(), estimate)].into(), ..Point::default() };
        let why = |point: &Point, r| of_point(&run, point, r).pop().unwrap().simulated.no_interval.unwrap();
        assert!(why(&point, 1).contains("--replications"));
        point.why_not = Some(Stated::other("the plan varies"));
        assert_eq!(why(&point, 1), "no steady state: the plan varies");
        point.response.get_mut("p99").unwrap().ci95 = Some([0.099, 0.101]);
        let compared = of_point(&run, &point, 5);
        assert_eq!((compared[3].agree, &compared[3].simulated.no_interval), (Some(true), &None));
        assert_eq!(compared[0].simulated.no_interval.as_deref(), Some("nothing was counted"));
    }
}
