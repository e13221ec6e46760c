//! Arrivals whose instants a log tells: `trace(access.log,speed=2)`.
//!
//! The plan is a function of the file: instants are counted from the first, in order, and divided by the speed. Stamps of whole seconds
//! (or coarser) hold all arrivals of a second at one instant, which is the clock's doing; unless told otherwise each is moved to a
//! random place within its step, drawn by the file itself.
//!
//! Deliberately absent: how a log is read ([`Logged`] is what that comes to), and what is asked for at an arrival.

use headway_base::random::{Stream, streams};
use headway_base::units::{UnitError, nearest, parse_number, parse_time, split_outside_brackets};
use headway_base::{Fnv1a, Nanos, Phase, Profile, Rate};
use std::fmt;
use std::sync::Arc;

/// Most arrivals of a log: each takes 8 bytes in the plan, and 26 to 50 while the log is read.
pub const MOST_LOGGED: usize = 20_000_000;

/// From this step of a log's stamps on, arrivals are spread over the step unless told otherwise.
pub const SPREAD_FROM: Nanos = Nanos::from_secs(1);

/// A trace as it is typed. Displays so.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceOf {
    /// The file, as it is named.
    pub file: String,
    /// How many times as fast as it was logged: from 0.001 to 1,000,000.
    pub speed: f64,
    /// The part of the log that is repeated: what arrives from this instant on, on the log's clock from its first arrival.
    pub from: Nanos,
    /// And before this one; none: to its end.
    pub to: Option<Nanos>,
    /// Length of the warm-up, on the run's clock.
    pub warmup: Nanos,
    /// Whether arrivals are spread over the step of the log's stamps; none: if that is a second or more.
    pub spread: Option<bool>,
    /// Whether each arrival is a request of the step that has the name of its label, and not a session of the journey.
    pub own: bool,
}

/// What a log came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Logged {
    /// When each arrival was due, or started where the log knows no more; on any clock, in any order.
    pub instants: Vec<Nanos>,
    /// Step of its stamps.
    pub resolution: Nanos,
    /// Rows that could not be read.
    pub unreadable: u64,
    /// Rows left out on purpose: those of sessions, and requests within sessions.
    pub left_out: u64,
    /// Number of the label of each arrival, or of its step; empty where these are not kept.
    pub steps: Vec<u16>,
    /// Labels by number.
    pub labels: Vec<String>,
    /// When arrivals were due that are left out since no step has the name of their label.
    pub no_step: Vec<Nanos>,
}

impl Logged {
    /// The arrivals whose label is the name of a step, which `step` gives; the others are counted.
    #[must_use = "the log itself stays as it was"]
    pub fn of_steps(&self, step: impl Fn(&str) -> Option<u16>) -> Logged {
        let by_label: Vec<Option<u16>> = self.labels.iter().map(|label| step(label)).collect();
        let named = |label: u16| by_label.get(usize::from(label)).copied().flatten();
        let (mut instants, mut steps, mut no_step) = (Vec::new(), Vec::new(), Vec::new());
        for (at, label) in self.instants.iter().zip(&self.steps) {
            match named(*label) {
                Some(step) => {
                    instants.push(*at);
                    steps.push(step);
                }
                None => no_step.push(*at),
            }
        }
        Logged {
            instants,
            steps,
            no_step,
            labels: Vec::new(),
            resolution: self.resolution,
            unreadable: self.unreadable,
            left_out: self.left_out,
        }
    }
}

const EXAMPLE: &str = "trace(access.log,speed=2)";

/// What may stand behind the name of a log, each once: the name of an option, and what is accepted as its value.
const OPTIONS: [(&str, &str); 6] = [
    ("speed", "NUMBER"),
    ("from", "TIME"),
    ("to", "TIME"),
    ("warmup", "TIME"),
    ("spread", "yes|no"),
    ("requests", "own"),
];

impl TraceOf {
    /// How it is written, for help texts.
    pub fn usage() -> String {
        let options = OPTIONS.map(|(name, value)| format!(", {name}={value}"));
        format!("trace(FILE{})", options.concat())
    }

    /// Reads what stands between the brackets.
    fn parse(inner: &str) -> Result<TraceOf, UnitError> {
        let mut of = TraceOf {
            file: String::new(),
            speed: 1.0,
            from: Nanos::ZERO,
            to: None,
            warmup: Nanos::ZERO,
            spread: None,
            own: false,
        };
        let (mut file, mut options) = (None, Vec::<(&str, (&str, &str))>::new());
        for part in split_outside_brackets(inner) {
            match (file, part.trim().split_once('=')) {
                (Some(_), Some((name, value))) => {
                    let name = name.trim();
                    if options.iter().any(|(_, (before, _))| *before == name) {
                        let wanted = format!("the only {name}=: write it once");
                        return Err(UnitError::new(part.trim(), wanted));
                    }
                    options.push((part.trim(), (name, value.trim())));
                }
                (Some(_), None) => {
                    let wanted = format!("an option of a log: write {}", TraceOf::usage());
                    return Err(UnitError::new(part.trim(), wanted));
                }
                (None, _) => file = Some(part.trim()),
            }
        }
        for (part, (name, value)) in options {
            let time = |text| {
                let wanted = format!("a time: write for example {name}=10m");
                parse_time(text).map_err(|_| UnitError::new(part, wanted))
            };
            match (name, value) {
                ("speed", number) => {
                    let speed = parse_number(number).ok().filter(|speed| (0.001..=1e6).contains(speed));
                    let wanted = "a speed from 0.001 to 1000000: write for example speed=2";
                    of.speed = speed.ok_or_else(|| UnitError::new(part, wanted))?;
                }
                ("from", text) => of.from = time(text)?,
                ("to", text) => of.to = Some(time(text)?),
                ("warmup", text) => of.warmup = time(text)?,
                ("spread", "yes") => of.spread = Some(true),
                ("spread", "no") => of.spread = Some(false),
                ("requests", "own") => of.own = true,
                ("requests", _) => return Err(UnitError::new(part, "requests=own, or leave it out")),
                ("spread", _) => return Err(UnitError::new(part, "spread=yes or spread=no")),
                (name, _) => {
                    let names = OPTIONS.map(|(name, _)| name);
                    let guess = nearest(name, names);
                    let guess = guess.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
                    let wanted = format!("one of {}={guess}", names.join("=, "));
                    return Err(UnitError::new(part, wanted));
                }
            }
        }
        of.file = file.unwrap_or_default().to_owned();
        if of.file.is_empty() {
            let wanted = format!("the name of a log: write for example {EXAMPLE}");
            return Err(UnitError::new(inner, wanted));
        }
        if let Some(to) = of.to.filter(|to| *to <= of.from) {
            let wanted = format!("a part of the log that ends after from={}", of.from);
            return Err(UnitError::new(&format!("to={to}"), wanted));
        }
        Ok(of)
    }

    /// Limits the part that is repeated to this length on the run's clock.
    pub fn limit(&mut self, length: Nanos) {
        let to = self.from + Nanos::from_secs_f64(length.as_secs_f64() * self.speed);
        self.to = Some(self.to.map_or(to, |own| own.min(to)));
    }
}

impl fmt::Display for TraceOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trace({}", self.file)?;
        if self.speed != 1.0 {
            write!(f, ",speed={}", self.speed)?;
        }
        for (name, time) in [
            ("from", Some(self.from).filter(|from| *from > Nanos::ZERO)),
            ("to", self.to),
            ("warmup", Some(self.warmup).filter(|warmup| *warmup > Nanos::ZERO)),
        ] {
            if let Some(time) = time {
                write!(f, ",{name}={time}")?;
            }
        }
        if let Some(spread) = self.spread {
            write!(f, ",spread={}", if spread { "yes" } else { "no" })?;
        }
        f.write_str(if self.own { ",requests=own)" } else { ")" })
    }
}

/// How arrivals come: by a law, or as a log tells.
#[derive(Clone, PartialEq, Debug)]
pub enum Arriving {
    /// By a process, at a rate.
    Process(super::Process),
    /// As in a log.
    Trace(TraceOf),
}

impl Arriving {
    /// Reads either: `poisson`, `trace(access.log,speed=2)`.
    ///
    /// # Errors
    /// As [`super::Process::parse`], or what of a trace cannot be read.
    pub fn parse(text: &str) -> Result<Arriving, UnitError> {
        let trimmed = text.trim();
        let (name, rest) = trimmed.split_once('(').unwrap_or((trimmed, ""));
        if !name.trim().eq_ignore_ascii_case("trace") {
            return super::Process::parse(text).map(Arriving::Process);
        }
        let inner = rest.strip_suffix(')').filter(|inner| !inner.trim().is_empty());
        let wanted = || UnitError::new(text, format!("the arrivals of a log: write for example {EXAMPLE}"));
        TraceOf::parse(inner.ok_or_else(wanted)?).map(Arriving::Trace)
    }
}

impl fmt::Display for Arriving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arriving::Process(process) => process.fmt(f),
            Arriving::Trace(trace) => trace.fmt(f),
        }
    }
}

/// Why a log gives no arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoTrace {
    /// Fewer than two of them, or all at one instant.
    #[error("it has {0} arrivals at one instant: a trace needs two that are apart")]
    NoLength(usize),
    /// So few in the part that is repeated.
    #[error(
        "of its {length} from the first arrival to the last, the part that is repeated has {left} arrivals, and a trace needs two that are apart: write other times for from= and to="
    )]
    NothingLeft {
        /// Arrivals of the part.
        left: usize,
        /// From the first arrival of the log to the last.
        length: Nanos,
    },
    /// It would last longer than a year.
    #[error("at this speed it lasts longer than a year, the most that a plan may: write a higher speed")]
    TooLong,
}

/// The arrivals of a log.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// As it is typed.
    pub of: TraceOf,
    /// How many.
    pub arrivals: u64,
    /// When the last one is due.
    pub end: Nanos,
    /// CoV of the gaps after the warm-up.
    pub gap_cov: f64,
    /// Tells the instants from others: FNV-1a of the nanoseconds, 64 bits.
    pub fingerprint: u64,
    /// Step of the log's stamps.
    pub resolution: Nanos,
    /// Whether arrivals were spread over that.
    pub spread: bool,
    /// Rows that could not be read.
    pub unreadable: u64,
    /// Rows left out on purpose.
    pub left_out: u64,
    /// Arrivals left out since no step has the name of their label.
    pub no_step: u64,
    pub(crate) instants: Arc<[Nanos]>,
}

/// Longest trace.
const MOST_TIME: Nanos = Nanos::from_secs(366 * 24 * 3600);

impl Trace {
    /// The arrivals of a log that was read.
    ///
    /// # Errors
    /// A [`NoTrace`].
    pub fn new(of: &TraceOf, logged: &Logged) -> Result<Trace, NoTrace> {
        Trace::with_steps(of, logged).map(|(trace, _)| trace)
    }

    /// The same with the step of each arrival, in their order, where the log has them.
    ///
    /// # Errors
    /// A [`NoTrace`].
    pub fn with_steps(of: &TraceOf, logged: &Logged) -> Result<(Trace, Arc<[u16]>), NoTrace> {
        let spread = of.spread.unwrap_or(logged.resolution >= SPREAD_FROM) && logged.resolution > Nanos(1);
        let step = spread.then_some(logged.resolution);
        let mut steps = Vec::new();
        let mut instants = match of.own && !logged.steps.is_empty() {
            false => {
                let mut instants = logged.instants.clone();
                in_order(&mut instants, step);
                instants
            }
            true => {
                let arrivals = logged.instants.iter().copied().zip(logged.steps.iter().copied());
                let mut arrivals: Vec<(Nanos, u16)> = arrivals.collect();
                in_order(&mut arrivals, step);
                steps = arrivals.iter().map(|(_, step)| *step).collect();
                arrivals.into_iter().map(|(at, _)| at).collect()
            }
        };
        let first = instants.first().copied().unwrap_or(Nanos::ZERO);
        let length = instants.last().map_or(Nanos::ZERO, |last| Nanos(last.0.saturating_sub(first.0)));
        let begin = Nanos(first.0.saturating_add(of.from.0));
        let end = of.to.map(|to| Nanos(first.0.saturating_add(to.0)));
        let played =
            |at: &&Nanos| (of.from == Nanos::ZERO || **at >= begin) && end.is_none_or(|end| **at < end);
        let no_step = logged.no_step.iter().filter(played).count() as u64;
        let kept = instants.partition_point(|at| *at < begin)
            ..end.map_or(instants.len(), |end| instants.partition_point(|at| *at < end));
        instants.truncate(kept.end);
        instants.drain(..kept.start);
        if !steps.is_empty() {
            steps.truncate(kept.end);
            steps.drain(..kept.start);
        }
        for at in &mut instants {
            *at = Nanos(at.0.saturating_sub(begin.0));
            if of.speed != 1.0 {
                *at = Nanos::from_secs_f64(at.as_secs_f64() / of.speed);
            }
        }
        let end = instants.last().copied().unwrap_or(Nanos::ZERO);
        let part = of.from > Nanos::ZERO || of.to.is_some();
        match instants.first() {
            Some(first) if *first < end => {}
            _ if part => return Err(NoTrace::NothingLeft { left: instants.len(), length }),
            _ => return Err(NoTrace::NoLength(instants.len())),
        }
        if end > MOST_TIME {
            return Err(NoTrace::TooLong);
        }
        let trace = Trace {
            of: of.clone(),
            arrivals: instants.len() as u64,
            end,
            gap_cov: gap_cov(&instants[instants.partition_point(|at| *at < of.warmup)..]),
            fingerprint: fingerprint(instants.iter().copied()),
            resolution: logged.resolution,
            spread,
            unreadable: logged.unreadable,
            left_out: logged.left_out,
            no_step,
            instants: instants.into(),
        };
        Ok((trace, steps.into()))
    }

    /// When each arrival is due, in order, from 0 on. Empty where a plan was read back without its arrivals.
    pub fn instants(&self) -> &Arc<[Nanos]> {
        &self.instants
    }

    /// The same with these instants.
    ///
    /// # Errors
    /// They are others than this trace has.
    #[must_use = "the trace itself stays as it was"]
    pub fn with_instants(&self, instants: Vec<Nanos>) -> Option<Trace> {
        let same = fingerprint(instants.iter().copied()) == self.fingerprint
            && instants.len() as u64 == self.arrivals;
        same.then(|| Trace { instants: instants.into(), ..self.clone() })
    }

    /// The same without its instants, as a document has it.
    #[must_use = "the trace itself stays as it was"]
    pub fn without_instants(&self) -> Trace {
        Trace { instants: Arc::new([]), ..self.clone() }
    }

    /// The most arrivals within any stretch of that length.
    pub fn most_in(&self, window: Nanos) -> u64 {
        let mut first = 0;
        let mut most = 0;
        for (last, at) in self.instants.iter().enumerate() {
            while *at - self.instants[first] >= window {
                first += 1;
            }
            most = most.max(last + 1 - first);
        }
        most as u64
    }

    /// Its mean rates: of the warm-up, and of the rest up to the last arrival. Where a plan was read back without its arrivals, the same
    /// for both.
    pub fn profile(&self) -> Profile {
        let mean = |n: u64, length: Nanos| Phase::hold(length, Rate(n as f64 / length.as_secs_f64()));
        let warmup = self.of.warmup.min(self.end);
        let before = self.instants.partition_point(|at| *at < warmup) as u64;
        if self.instants.is_empty() || warmup == Nanos::ZERO || warmup == self.end {
            return Profile::new(&[mean(self.arrivals, self.end)]);
        }
        Profile::new(&[mean(before, warmup), mean(self.arrivals - before, self.end - warmup)])
    }
}

/// An arrival with or without its step.
trait Placed {
    fn at(&self) -> Nanos;
    fn put(&mut self, at: Nanos);
}

impl Placed for Nanos {
    fn at(&self) -> Nanos {
        *self
    }
    fn put(&mut self, at: Nanos) {
        *self = at;
    }
}

impl Placed for (Nanos, u16) {
    fn at(&self) -> Nanos {
        self.0
    }
    fn put(&mut self, at: Nanos) {
        self.0 = at;
    }
}

/// Puts arrivals into the order of time, those of one instant in that of the log; each at a random place within its `step`, if there is
/// one.
fn in_order<T: Placed>(arrivals: &mut [T], step: Option<Nanos>) {
    arrivals.sort_by_key(Placed::at);
    let Some(Nanos(step)) = step else { return };
    let place = Stream::new(fingerprint(arrivals.iter().map(Placed::at)), streams::DITHER);
    for (k, arrival) in (0..).zip(arrivals.iter_mut()) {
        let within = (place.item(k).open01() * step as f64) as i64;
        arrival.put(Nanos(arrival.at().0.div_euclid(step) * step + within.min(step - 1)));
    }
    arrivals.sort_by_key(Placed::at);
}

fn fingerprint(instants: impl Iterator<Item = Nanos>) -> u64 {
    instants.fold(Fnv1a::new(), |sum, at| sum.with(&at.0.to_le_bytes())).value()
}

fn gap_cov(instants: &[Nanos]) -> f64 {
    let gaps = || instants.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64());
    let n = gaps().count() as f64;
    let mean = gaps().sum::<f64>() / n;
    libm::sqrt(gaps().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / n) / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> TraceOf {
        match Arriving::parse(text).unwrap_or_else(|e| panic!("{e}")) {
            Arriving::Trace(of) => of,
            other => panic!("{other}"),
        }
    }

    fn millis(all: &[i64]) -> Logged {
        let instants = all.iter().map(|&ms| Nanos::from_millis(ms)).collect();
        Logged { instants, resolution: Nanos::from_millis(1), ..Logged::default() }
    }

    #[test]
    fn a_trace_reads_what_it_writes() {
        for text in [
            "trace(access.log)",
            "trace(a b.csv,speed=2)",
            "trace(/x/y.jtl,speed=0.5,spread=no)",
            "trace(-,spread=yes)",
            "trace(x,speed=3,requests=own)",
            "trace(x,speed=2,from=60s,to=90.5s,warmup=10s,requests=own)",
            "trace(x,to=1s)",
        ] {
            assert_eq!(of(text).to_string(), text);
        }
        assert_eq!(
            of("trace( runs/a , speed = 2 )"),
            TraceOf { file: "runs/a".into(), speed: 2.0, ..of("trace(x)") }
        );
        assert_eq!(Arriving::parse("poisson").unwrap(), Arriving::Process(super::super::Process::Poisson));
        let error = |text: &str| Arriving::parse(text).unwrap_err().to_string();
        for (text, part) in [
            ("trace", "trace(access.log,speed=2)"),
            ("trace()", "trace(access.log,speed=2)"),
            ("trace(a.log", "trace(access.log,speed=2)"),
            ("trace(,speed=2)", "the name of a log"),
            ("trace(a.log,speed=0)", "from 0.001"),
            ("trace(a.log,sped=2)", "did you mean speed?"),
            ("trace(a.log,spread=maybe)", "spread=yes or spread=no"),
            ("trace(a.log,2)", "write trace(FILE, speed=NUMBER,"),
            ("trace(a.log,speed=2,speed=2)", "'speed=2' is not the only speed=: write it once"),
            ("trace(a.log,from=2s, from =3s)", "'from =3s' is not the only from="),
            ("trace(a.log,from=1m,to=30s)", "ends after from=60s"),
            ("trace(a.log,from=1)", "from=1"),
            ("trace(a.log,requests=all)", "requests=own, or leave it out"),
        ] {
            assert!(error(text).contains(part), "{text}: {}", error(text));
        }
    }

    /// In order, from the first, divided by the speed; rows may come in any order.
    #[test]
    fn instants_count_from_the_first_and_are_divided_by_the_speed() {
        let logged = millis(&[1_700_000_003_500, 1_700_000_000_000, 1_700_000_001_000]);
        let all = |text: &str| Trace::new(&of(text), &logged).unwrap().instants().to_vec();
        assert_eq!(all("trace(x)"), [0, 1_000, 3_500].map(Nanos::from_millis));
        assert_eq!(all("trace(x,speed=2)"), [0, 500, 1_750].map(Nanos::from_millis));
        assert_eq!(all("trace(x,speed=0.5)"), [0, 2_000, 7_000].map(Nanos::from_millis));
        let trace = Trace::new(&of("trace(x)"), &logged).unwrap();
        assert_eq!((trace.arrivals, trace.end), (3, Nanos::from_millis(3_500)));
        assert_eq!([999, 1_000, 1_001, 4_000].map(|ms| trace.most_in(Nanos::from_millis(ms))), [1, 1, 2, 3]);
        // Gaps of 1 and 2.5 s: sd 0.75 about 1.75.
        assert!((trace.gap_cov - 0.75 / 1.75).abs() < 1e-12);
        assert!((trace.profile().total() - 3.0).abs() < 1e-9);
    }

    /// A part of a log begins at its own zero and keeps the labels; it is cut on the log's clock, and its warm-up is on the run's.
    #[test]
    fn a_part_of_a_log_is_a_trace() {
        let labels = ["a", "b"].map(str::to_owned).to_vec();
        let logged =
            Logged { labels, steps: vec![0, 1, 0, 1, 1], ..millis(&[5_000, 6_000, 7_500, 8_000, 9_000]) };
        let cut = |text: &str| Trace::with_steps(&of(text), &logged).unwrap();
        let (trace, steps) = cut("trace(x,from=1s,to=4s,speed=2,requests=own)");
        assert_eq!(trace.instants().to_vec(), [0, 750, 1_000].map(Nanos::from_millis));
        assert_eq!((&*steps, trace.arrivals, trace.end), (&[1, 0, 1][..], 3, Nanos::from_secs(1)));
        // What arrives at its end is left out, and its beginning is its zero even where nothing arrives then.
        assert_eq!(
            cut("trace(x,from=2s)").0.instants().to_vec(),
            [500, 1_000, 2_000].map(Nanos::from_millis)
        );
        let mut limited = of("trace(x,from=1s,speed=2)");
        limited.limit(Nanos::from_millis(1_500));
        assert_eq!(limited.to_string(), "trace(x,speed=2,from=1s,to=4s)");
        limited.limit(Nanos::from_secs(9));
        assert_eq!(limited.to, Some(Nanos::from_secs(4)), "it ended before");
        // One arrival in a second of warm-up, four in the three seconds after; gaps of 1.5, 0.5 and 1 s.
        let warm = cut("trace(x,warmup=1s)").0;
        let profile = warm.profile();
        assert!((profile.cumulative(Nanos::from_secs(1)) - 1.0).abs() < 1e-9);
        assert!((profile.total() - 5.0).abs() < 1e-9);
        assert!((warm.gap_cov - libm::sqrt(0.5 / 3.0)).abs() < 1e-12, "{}", warm.gap_cov);
        for text in ["trace(x,from=1h)", "trace(x,from=3100ms)", "trace(x,to=1s)"] {
            let error = Trace::new(&of(text), &logged).unwrap_err();
            assert!(matches!(error, NoTrace::NothingLeft { length: Nanos(4_000_000_000), .. }), "{error}");
        }
    }

    /// Whole seconds are spread over their second, others not, and what is said counts. The draws are the file's own.
    #[test]
    fn whole_seconds_are_spread_over_their_second() {
        let instants: Vec<Nanos> = (0..5_000).map(|i| Nanos::from_secs(100 + i / 50)).collect();
        let coarse = Logged { instants, resolution: Nanos::from_secs(1), ..Logged::default() };
        let trace = Trace::new(&of("trace(x)"), &coarse).unwrap();
        assert!(trace.spread);
        let all = trace.instants();
        assert_eq!(all[0], Nanos::ZERO);
        assert!(all.windows(2).all(|pair| pair[0] <= pair[1]));
        // Each second of the log keeps its 50, and within it they lie like uniform draws: mean 1/2, sd 1/sqrt(12 n).
        let first = coarse_first(&coarse);
        let place: Vec<f64> = all.iter().map(|at| (at.as_secs_f64() + first).fract()).collect();
        let mean = place.iter().sum::<f64>() / 5_000.0;
        assert!((mean - 0.5).abs() < 4.0 / (12.0f64 * 5_000.0).sqrt(), "{mean}");
        for second in 0..100 {
            let within = all.iter().filter(|at| (at.as_secs_f64() + first).floor() == f64::from(second));
            assert_eq!(within.count(), 50, "second {second}");
        }
        assert_eq!(trace, Trace::new(&of("trace(x)"), &coarse).unwrap());
        let kept = Trace::new(&of("trace(x,spread=no)"), &coarse).unwrap();
        assert_eq!(kept.instants().iter().filter(|at| at.0 % 1_000_000_000 == 0).count(), 5_000);
        assert!(!kept.spread && kept.fingerprint != trace.fingerprint);
        assert!(!Trace::new(&of("trace(x)"), &millis(&[0, 5])).unwrap().spread);
        assert!(Trace::new(&of("trace(x,spread=yes)"), &millis(&[0, 5])).unwrap().spread);
    }

    /// How far into its second the first arrival was put.
    fn coarse_first(logged: &Logged) -> f64 {
        let place = Stream::new(fingerprint(logged.instants.iter().copied()), streams::DITHER);
        (0..50).map(|k| place.item(k).open01()).fold(1.0, f64::min)
    }

    /// Each arrival keeps its label through sorting and spreading; those that name no step are counted.
    #[test]
    fn arrivals_keep_their_steps() {
        let labels = ["a", "b", "c"].map(str::to_owned).to_vec();
        let logged = Logged { labels, steps: vec![2, 0, 1, 0], ..millis(&[400, 100, 300, 200]) };
        let step = |label: &str| match label {
            "a" => Some(7),
            "c" => Some(9),
            _ => None,
        };
        let named = logged.of_steps(step);
        assert_eq!((named.no_step.len(), named.instants.len()), (1, 3));
        for text in ["trace(x,requests=own)", "trace(x,spread=yes,requests=own)"] {
            let (trace, steps) = Trace::with_steps(&of(text), &named).unwrap();
            assert_eq!((&*steps, trace.arrivals, trace.no_step), (&[7, 7, 9][..], 3, 1), "{text}");
        }
    }

    #[test]
    fn what_is_no_trace() {
        for none in [&[][..], &[5], &[5, 5, 5]] {
            let error = Trace::new(&of("trace(x)"), &millis(none)).unwrap_err();
            assert_eq!(error, NoTrace::NoLength(none.len()));
        }
        let year = millis(&[0, 200 * 24 * 3_600_000]);
        assert_eq!(Trace::new(&of("trace(x,speed=0.1)"), &year), Err(NoTrace::TooLong));
        let trace = Trace::new(&of("trace(x)"), &millis(&[0, 5, 9])).unwrap();
        let bare = trace.without_instants();
        assert!(bare.instants().is_empty() && bare.with_instants(vec![Nanos::ZERO]).is_none());
        assert_eq!(bare.with_instants(trace.instants().to_vec()), Some(trace));
    }
}
