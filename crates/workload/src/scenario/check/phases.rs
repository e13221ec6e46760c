//! Phases of a group: rates or numbers of users over time, and where warm-up ends.

use crate::scenario::MOST_USERS;
use crate::scenario::leaves::{Amount, Time};
use crate::scenario::read::Reader;
use crate::scenario::source::{Problem, Span};
use crate::scenario::written;
use crate::users::UserPhase;
use headway_base::Nanos;

/// What the values of phases are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    /// Sessions per second.
    Rate,
    /// Users.
    Users,
    /// Sockets that are kept connecting.
    Sockets,
}

impl Unit {
    /// The key of the group that has it.
    fn key(self) -> &'static str {
        match self {
            Unit::Rate => "arrive",
            Unit::Users => "closed",
            Unit::Sockets => "connecting",
        }
    }
}

/// A stretch of time over which the value goes evenly from one to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Piece {
    pub length: Nanos,
    pub from: f64,
    pub to: f64,
}

impl Piece {
    /// As users.
    pub fn users(&self) -> UserPhase {
        UserPhase { length: self.length, from_users: self.from, to_users: self.to }
    }
}

/// Settled phases.
pub(super) struct Phases {
    pub pieces: Vec<Piece>,
    /// When warm-up is over.
    pub warm: Nanos,
    pub end: Nanos,
}

/// Length of the only phase where none is written.
const DEFAULT_LENGTH: Nanos = Nanos::from_secs(10);
/// A plan may be so long.
const MOST_TIME: Nanos = Nanos::from_secs(366 * 24 * 3600);
/// A group may have so many pieces.
const MOST_PIECES: usize = 10_000;

const KINDS: &[&str] = &["ramp", "hold", "step", "spike", "pause", "daily"];

/// The phases of a group; `base` is its rate or number of users and where that stands.
pub(super) fn settle(
    group: &written::Group,
    base: Option<(f64, Span)>,
    unit: Unit,
    reader: &mut Reader<'_>,
) -> Option<Phases> {
    let before = reader.problems.len();
    let at = group.keys.at(unit.key());
    let mut settling = Settling { unit, base: base.map(|b| b.0), reached: None, pieces: Vec::new() };
    let Some(phases) = &group.phases else {
        let value = settling.start(at, None).map_err(|problem| reader.problems.push(problem)).ok()?;
        let pieces = vec![Piece { length: DEFAULT_LENGTH, from: value, to: value }];
        return finish(pieces, Nanos::ZERO, base.map_or(at, |b| b.1), reader);
    };
    let list = group.keys.at("phases");
    let mut warm = Nanos::ZERO;
    let mut counted = None;
    for phase in phases {
        if let Err(problems) = settling.phase(phase) {
            reader.problems.extend(problems);
            continue;
        }
        let warmup = phase.warmup.as_ref().is_some_and(|w| w.value);
        match (warmup, counted) {
            (true, None) => warm = settling.end(),
            (true, Some(first)) => {
                let problem =
                    Problem::new(phase.keys.at("warmup"), "warm-up comes after a phase that counts");
                reader.problems.push(
                    problem.other(first, "this one").help("warmup: true is for the phases at the beginning"),
                );
            }
            (false, None) => counted = Some(phase.keys.span),
            (false, Some(_)) => {}
        }
        if settling.pieces.len() > MOST_PIECES {
            let title = format!("with this phase the group has more than {MOST_PIECES} stretches");
            return reader.complain(Problem::new(phase.keys.span, title));
        }
        if settling.end() > MOST_TIME {
            let problem = Problem::new(phase.keys.span, "with this phase the plan lasts longer than a year");
            return reader.complain(problem.help("write times such as 30s, 5m or 2h"));
        }
    }
    if reader.problems.len() > before {
        return None;
    }
    if counted.is_none() {
        let title = if phases.is_empty() {
            "a list of no phases"
        } else {
            "nothing would be measured: every phase is warm-up"
        };
        return reader
            .complain(Problem::new(list, title).help("add one that counts, for example - { hold: 1m }"));
    }
    // Phases that follow a base of none say nothing of their own.
    let at = base.filter(|(value, _)| *value <= 0.0).map_or(list, |(_, span)| span);
    finish(settling.pieces, warm, at, reader)
}

/// Checks that somebody comes at all.
fn finish(pieces: Vec<Piece>, warm: Nanos, at: Span, reader: &mut Reader<'_>) -> Option<Phases> {
    if pieces.iter().all(|p| p.from <= 0.0 && p.to <= 0.0) {
        let problem = Problem::new(at, "no users would come: it is 0 throughout");
        return reader.complain(problem.help("write a value above 0"));
    }
    let end = pieces.iter().map(|p| p.length).sum();
    Some(Phases { pieces, warm, end })
}

/// Stretches of a day.
const PIECES_OF_A_DAY: f64 = 96.0;

/// The course of a day.
struct Day {
    length: Nanos,
    mean: f64,
    /// Highest value less the mean.
    swing: f64,
    peak_at: Nanos,
    /// Where the phase says that it is one.
    at: Span,
}

impl Day {
    /// The value so long after the beginning of the phase.
    fn value(&self, at: Nanos) -> f64 {
        let turns = (at - self.peak_at).as_secs_f64() / self.length.as_secs_f64();
        (self.mean + self.swing * libm::cos(std::f64::consts::TAU * turns)).max(0.0)
    }
}

struct Settling {
    unit: Unit,
    base: Option<f64>,
    /// The value at the end of the phases so far; none at the start.
    reached: Option<f64>,
    pieces: Vec<Piece>,
}

impl Settling {
    fn end(&self) -> Nanos {
        self.pieces.iter().fold(Nanos::ZERO, |sum, p| sum.saturating_add(p.length))
    }

    /// The value that a hold begins with where nothing was reached yet; `at` is what lacks it, and `own` how that could say
    /// it itself.
    fn start(&self, at: Span, own: Option<&str>) -> Result<f64, Problem> {
        let (what, group) = match self.unit {
            Unit::Rate => ("no rate is given", "arrive: { rate: 20/s }"),
            Unit::Users => ("no number of users is given", "closed: { count: 200 }"),
            Unit::Sockets => ("no number of sockets is given", "connecting: { sockets: 972 }"),
        };
        self.base.ok_or_else(|| {
            let own = own.map_or(String::new(), |own| format!("{own}, or for the group "));
            Problem::new(at, what).help(format!("write {own}{group}"))
        })
    }

    fn value(&self, amount: &Amount) -> Result<f64, Problem> {
        match self.unit {
            Unit::Rate => amount.rate(),
            Unit::Users | Unit::Sockets => amount.users(),
        }
    }

    fn hold(&mut self, length: Nanos, value: f64) {
        self.pieces.push(Piece { length, from: value, to: value });
    }

    /// The course of days, as evenly long stretches over each of which the value goes evenly from one instant's to the other's: at
    /// most so long that it differs from the course by no more than 0.06 % of the mean. Over whole days it has the mean exactly.
    fn days(&mut self, length: Nanos, day: &Day) -> Result<(), Problem> {
        let several = (length.as_secs_f64() / day.length.as_secs_f64() * PIECES_OF_A_DAY).ceil();
        if several > MOST_PIECES as f64 {
            let days = MOST_PIECES as f64 / PIECES_OF_A_DAY;
            let title = format!("a phase of more than {days:.0} days has more than {MOST_PIECES} stretches");
            return Err(
                Problem::new(day.at, title).help("shorten the phase, or write day: with a longer time")
            );
        }
        let several = several as i64;
        let instant = |i: i64| Nanos((i128::from(length.0) * i128::from(i) / i128::from(several)) as i64);
        for i in 0..several {
            let (from, to) = (instant(i), instant(i + 1));
            self.pieces.push(Piece { length: to - from, from: day.value(from), to: day.value(to) });
        }
        self.reached = Some(day.value(length));
        Ok(())
    }

    /// What a phase says of its days.
    fn day(&self, phase: &written::Phase) -> Result<Day, Problem> {
        let lacks = || {
            let title = "a daily needs 'peak'";
            let help = "write the highest value of a day over the mean, for example { daily: 24h, mean: 200/s, peak: 2 }";
            Problem::new(phase.keys.at("daily"), title).help(help)
        };
        let peak = phase.peak.as_ref().ok_or_else(lacks)?;
        if !(1.0..=2.0).contains(&peak.value) {
            let title = format!("a peak of {} times the mean is none that a day can have", peak.value);
            return Err(Problem::new(peak.span, title)
                .help("write a number from 1 to 2: at 2 the value falls to 0 half a day later"));
        }
        let length = match &phase.day {
            Some(day) if day.value <= Nanos::ZERO => {
                let problem = Problem::new(day.span, "a day of no length");
                return Err(problem.help("write a time above zero, or leave it out: it is then 24h"));
            }
            Some(day) => day.value,
            None => Nanos::from_secs(24 * 3600),
        };
        let mean = match (&phase.mean, self.reached) {
            (Some(mean), _) => self.value(mean)?,
            (None, Some(reached)) => reached,
            (None, None) => {
                let own = match self.unit {
                    Unit::Rate => "{ daily: 24h, mean: 20/s, peak: 2 }",
                    Unit::Users | Unit::Sockets => "{ daily: 24h, mean: 50, peak: 2 }",
                };
                self.start(phase.keys.span, Some(own))?
            }
        };
        let peak_at = phase.peak_at.as_ref().map_or(Nanos(length.0 / 2), |at| at.value);
        Ok(Day { length, mean, swing: mean * (peak.value - 1.0), peak_at, at: phase.keys.at("daily") })
    }

    fn phase(&mut self, phase: &written::Phase) -> Result<(), Vec<Problem>> {
        let one = |problem| vec![problem];
        let kind = phase.keys.one_of("a phase", KINDS).map_err(one)?;
        let others: &[&str] = match kind {
            "ramp" => &["from", "to", "warmup"],
            "hold" => &["at", "warmup"],
            "step" => &["by", "times", "warmup"],
            "spike" => &["to", "warmup"],
            "daily" => &["mean", "peak", "peak-at", "day", "warmup"],
            _ => &["warmup"],
        };
        let odd = phase.keys.only(&format!("a {kind}"), kind, others);
        if !odd.is_empty() {
            return Err(odd);
        }
        self.of_kind(kind, phase).map_err(one)
    }

    fn of_kind(&mut self, kind: &str, phase: &written::Phase) -> Result<(), Problem> {
        let lacks = |key: &str, example: &str| {
            let title = format!("a {kind} needs '{key}'");
            Problem::new(phase.keys.at(kind), title).help(format!("for example {{ {example} }}"))
        };
        let example = |rate: &str, users: &str| match self.unit {
            Unit::Rate => rate.to_owned(),
            Unit::Users | Unit::Sockets => users.to_owned(),
        };
        match kind {
            "ramp" => {
                let length = length(phase.ramp.as_ref())?;
                let example = example("ramp: 30s, to: 20/s", "ramp: 30s, to: 50");
                let to = self.value(phase.to.as_ref().ok_or_else(|| lacks("to", &example))?)?;
                let from = match &phase.from {
                    Some(from) => self.value(from)?,
                    None => self.reached.unwrap_or(0.0),
                };
                self.pieces.push(Piece { length, from, to });
                self.reached = Some(to);
            }
            "hold" => {
                let length = length(phase.hold.as_ref())?;
                let value = match (&phase.at, self.reached) {
                    (Some(at), _) => self.value(at)?,
                    (None, Some(reached)) => reached,
                    (None, None) => {
                        let own = example("{ hold: 30s, at: 20/s }", "{ hold: 30s, at: 50 }");
                        self.start(phase.keys.span, Some(&own))?
                    }
                };
                self.hold(length, value);
                self.reached = Some(value);
            }
            "step" => {
                let length = length(phase.step.as_ref())?;
                let example = example("step: 30s, by: 5/s, times: 4", "step: 30s, by: 10, times: 4");
                let by = self.value(phase.by.as_ref().ok_or_else(|| lacks("by", &example))?)?;
                let times = phase.times.as_ref().ok_or_else(|| lacks("times", &example))?;
                if times.value == 0 || times.value > MOST_PIECES as u64 {
                    let problem = Problem::new(times.span, format!("{} steps cannot be taken", times.value));
                    return Err(problem.help(format!("write a number from 1 to {MOST_PIECES}")));
                }
                let before = self.reached.unwrap_or(0.0);
                let most = if self.unit == Unit::Rate { 1e9 } else { MOST_USERS as f64 };
                if before + by * times.value as f64 > most {
                    return Err(Problem::new(
                        times.span,
                        format!("the last of these steps would be above {most}"),
                    ));
                }
                let values = (1..=times.value).map(|i| before + by * i as f64);
                for value in values {
                    self.hold(length, value);
                    self.reached = Some(value);
                }
            }
            "spike" => {
                let length = length(phase.spike.as_ref())?;
                let example = example("spike: 10s, to: 100/s", "spike: 10s, to: 500");
                let to = self.value(phase.to.as_ref().ok_or_else(|| lacks("to", &example))?)?;
                self.hold(length, to);
            }
            "daily" => {
                let length = length(phase.daily.as_ref())?;
                let day = self.day(phase)?;
                self.days(length, &day)?;
            }
            _ => {
                let length = length(phase.pause.as_ref())?;
                self.hold(length, 0.0);
            }
        }
        Ok(())
    }
}

/// The length of a phase, which must be one.
fn length(time: Option<&Time>) -> Result<Nanos, Problem> {
    match time {
        Some(time) if time.value > Nanos::ZERO => Ok(time.value),
        Some(time) => {
            Err(Problem::new(time.span, "a phase of no length")
                .help("write a time above zero, or leave it out"))
        }
        None => Err(Problem::new(Span::default(), "a phase of no length")),
    }
}
