//! What a model repeats: a stall every ten seconds, a fault that comes and goes by the clock. Such a model is steady over whole
//! periods, and within one it is not.
//!
//! Deliberately absent: what is done with whole periods (`headway_stats::steady`).

use headway_base::Nanos;
use headway_base::dist::{Dist, Law as _};
use headway_workload::Plan;
use headway_workload::model::{Kind, Model, When};

/// Several periods count as their least common multiple, where the measured phase has enough of it.
const FEWEST: i64 = 5;

/// From when on a model repeats itself, and how often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Period {
    /// When the first whole period of the measured phase begins.
    pub from: Nanos,
    /// Its length; above zero.
    pub length: Nanos,
}

impl Period {
    /// Of that plan's measured phase and that model; none of a model that does not repeat itself. Where there is no common period
    /// that is short enough, the longest.
    pub fn of(plan: &Plan, model: &Model) -> Option<Period> {
        let measured = plan.end() - plan.measured_from;
        let mut all: Vec<(Nanos, Nanos)> = Vec::new();
        for part in &model.parts {
            if let Kind::Station(station) = &part.kind {
                all.extend(station.stalls.and_then(|stalls| stalls.every()).map(|every| (every, every)));
            }
            if let Some(When::Alternating { up, down, lazy: false }) = part.faults.as_ref().map(|f| &f.when) {
                let length = fixed(up).zip(fixed(down)).map(|(up, down)| up + down);
                all.extend(length.map(|length| (Nanos::ZERO, length)));
            }
        }
        let first = all.iter().map(|(first, _)| *first).max()?;
        let longest = all.iter().map(|(_, length)| length.0).max()?;
        let common = all.iter().try_fold(1, |common, (_, length)| multiple(common, length.0));
        let length = Nanos(common.filter(|common| *common <= measured.0 / FEWEST).unwrap_or(longest));
        (length > Nanos::ZERO).then(|| Period { from: first.max(plan.measured_from), length })
    }

    /// Whole periods until then.
    pub fn whole(&self, until: Nanos) -> i64 {
        ((until - self.from).0 / self.length.0).max(0)
    }
}

/// The only value of a law that has one.
fn fixed(law: &Dist) -> Option<Nanos> {
    (law.variance() == 0.0).then(|| Nanos::from_secs_f64(law.mean()))
}

/// The least common multiple; none if it is too large.
fn multiple(a: i64, b: i64) -> Option<i64> {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::station::Stalls;
    use headway_base::{Phase, Profile, Rate, dist};
    use headway_workload::Process;
    use headway_workload::model::{Faults, Part, Station, UnderWay, WhileDown};
    use headway_workload::plan::Group;

    fn law(text: &str) -> Dist {
        dist::parse(text, &|_| Err(String::new())).unwrap()
    }

    fn part(every_s: i64) -> Part {
        let stalls = Stalls::new(Nanos::from_secs(every_s), Nanos::from_secs(1)).ok();
        Part::new("station", Kind::Station(Station { stalls, ..Station::new(1, law("exp(1ms)")) }))
    }

    fn fault(up: &str, down: &str) -> Part {
        let when = When::Alternating { up: law(up), down: law(down), lazy: false };
        let (while_down, under_way) = (WhileDown::Error, UnderWay::Finish);
        Part { faults: Some(Faults { when, together: false, while_down, under_way }), ..part(1_000) }
    }

    fn of(parts: Vec<Part>, warm_s: i64, length_s: i64) -> Option<(f64, f64)> {
        let end = Nanos::from_secs(warm_s + length_s);
        let group = Group::open(Process::Poisson, Profile::new(&[Phase::hold(end, Rate(1.0))]));
        let plan = Plan::of(1, group, Nanos::from_secs(warm_s), end);
        Period::of(&plan, &Model::of(parts)).map(|p| (p.from.as_secs_f64(), p.length.as_secs_f64()))
    }

    #[test]
    fn several_periods_are_one_where_it_is_short() {
        assert_eq!(of(vec![Part::new("p", Kind::Station(Station::new(1, law("1ms"))))], 0, 100), None);
        assert_eq!(of(vec![part(10)], 0, 100), Some((10.0, 10.0)), "the first stall begins at 10 s");
        assert_eq!(of(vec![part(10)], 20, 100), Some((20.0, 10.0)));
        assert_eq!(of(vec![part(10), part(4)], 0, 100), Some((10.0, 20.0)));
        assert_eq!(of(vec![part(10), part(7)], 0, 100), Some((10.0, 10.0)), "70 s are too long");
        assert_eq!(of(vec![part(10), part(7)], 0, 350), Some((10.0, 70.0)));
        let random = fault("exp(9s)", "1s");
        assert_eq!(of(vec![random], 0, 10_000).unwrap().1, 1_000.0);
        assert_eq!(of(vec![fault("9s", "1s")], 0, 10_000).unwrap().1, 1_000.0);
        assert_eq!(multiple(i64::MAX - 1, i64::MAX - 2), None);
    }
}
