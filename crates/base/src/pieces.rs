//! Responses that come in pieces: when the pieces of each come, by laws.
//!
//! The draws of a response are a function of its number, so that the live target and the simulator send the same pieces under the same seed,
//! whatever came in between. Deliberately absent: who serves the request first, and what the pieces hold.

use crate::dist::{self, Constant, Dist, Law, Resolve};
use crate::random::{Draws, Stream};
use crate::time::Nanos;
use crate::units::UnitError;

/// Most pieces of a response.
pub const MOST: u64 = 1_000_000;

/// How a response comes, once its request has been served.
#[derive(Clone, PartialEq, Debug)]
pub struct Pieces {
    /// Until the first piece.
    pub first: Dist,
    /// From each piece to the next.
    pub gap: Dist,
    /// How many there are: 1 to [`MOST`].
    pub count: u32,
}

/// The pieces of one response that are still to come.
#[derive(Clone, Debug)]
pub struct Coming {
    draws: Draws,
    left: u32,
    begun: bool,
}

impl Pieces {
    /// Those of the response of that number.
    pub fn of(&self, stream: Stream, number: u64) -> Coming {
        Coming { draws: stream.item(number), left: self.count, begun: false }
    }

    /// Until the last piece of that response.
    pub fn whole(&self, mut coming: Coming) -> Nanos {
        let mut all = Nanos::ZERO;
        while let Some(wait) = coming.next(self) {
            all = all.saturating_add(wait);
        }
        all
    }

    /// Reads `gap=exp(20ms),count=5`, with `first=5ms` where the first piece comes later.
    ///
    /// # Errors
    /// A part that is missing, there twice or not known, a law that cannot be read or that misleads, a number out of range.
    pub fn parse(text: &str, resolve: &Resolve<'_>) -> Result<Pieces, UnitError> {
        let bad = || {
            let what = format!(
                "events: write for example gap=exp(20ms),count=5 (a number from 1 to {MOST}), and first=5ms"
            );
            UnitError::new(text, what)
        };
        let (mut first, mut gap, mut count) = (None, None, None);
        let law = |text: &str| match dist::parse(text, resolve) {
            Ok(law) => match law.misleads() {
                Some(why) => Err(UnitError::new(text, why)),
                None => Ok(law),
            },
            Err(error) => Err(error),
        };
        for part in parts(text) {
            let (name, value) = part.split_once('=').ok_or_else(bad)?;
            let twice = match name.trim() {
                "first" => first.replace(law(value)?).is_some(),
                "gap" => gap.replace(law(value)?).is_some(),
                "count" => count.replace(value.trim().parse().map_err(|_| bad())?).is_some(),
                _ => return Err(bad()),
            };
            if twice {
                return Err(bad());
            }
        }
        let (Some(gap), Some(count)) = (gap, count) else { return Err(bad()) };
        if !(1..=MOST).contains(&u64::from(count)) {
            return Err(bad());
        }
        Ok(Pieces { first: first.unwrap_or_else(none), gap, count })
    }
}

/// No time.
pub fn none() -> Dist {
    Constant::new(Nanos::ZERO).into()
}

/// What stands between commas that are in no brackets.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        c == ',' && depth == 0
    })
}

impl Coming {
    /// How long after the one before it the next piece comes, the first after the request was served; none after the last.
    pub fn next(&mut self, laws: &Pieces) -> Option<Nanos> {
        self.left = self.left.checked_sub(1)?;
        let law = if std::mem::replace(&mut self.begun, true) { &laws.gap } else { &laws.first };
        Some(law.sample_time(&mut self.draws).max(Nanos::ZERO))
    }

    /// Nothing more is to come.
    pub fn end(&mut self) {
        self.left = 0;
    }

    /// Whether all have come.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }
}

/// As it is read.
impl std::fmt::Display for Pieces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Pieces { first, gap, count } = self;
        if first.mean() > 0.0 {
            write!(f, "first={first},")?;
        }
        write!(f, "gap={gap},count={count}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Pieces, UnitError> {
        Pieces::parse(text, &|_| Err(String::new()))
    }

    #[test]
    fn pieces_come_after_the_times_of_their_laws() {
        let pieces = read("first=const(30ms),gap=10ms,count=4").unwrap();
        let coming = pieces.of(Stream::new(1, "event"), 7);
        let mut one = coming.clone();
        let waits: Vec<Nanos> = std::iter::from_fn(|| one.next(&pieces)).collect();
        assert_eq!(waits, [30, 10, 10, 10].map(Nanos::from_millis));
        assert!(one.is_over());
        assert_eq!(pieces.whole(coming), Nanos::from_millis(60));
    }

    #[test]
    fn each_response_has_draws_of_its_own_and_the_same_ones_each_time() {
        let pieces = read("gap=exp(10ms),count=20").unwrap();
        let of = |number| pieces.whole(pieces.of(Stream::new(3, "event"), number));
        assert_eq!(of(5), of(5));
        assert!(of(5) != of(6));
        // 400 responses of 19 gaps: the mean of all is within five standard errors.
        let mean = (0..400).map(|number| of(number).as_secs_f64()).sum::<f64>() / (400.0 * 19.0);
        assert!((mean / 0.010 - 1.0).abs() < 5.0 / (400.0_f64 * 19.0).sqrt(), "{mean}");
    }

    #[test]
    fn laws_with_commas_are_read_and_mistakes_say_what_would_do() {
        let text = "first=exp(5ms),gap=lognormal(20ms,0.5),count=128";
        let pieces = read(text).unwrap();
        assert_eq!(pieces.count, 128);
        assert_eq!(read(&pieces.to_string()).unwrap(), pieces);
        assert_eq!(read("count=1,gap=1ms").unwrap().to_string(), "gap=const(1ms),count=1");
        for bad in [
            "",
            "gap=1ms",
            "count=3",
            "gap=1ms,count=0",
            "gap=1ms,count=2000000",
            "gap=1ms,gap=2ms,count=3",
            "gap=soon,count=3",
            "gap=1ms,count=3,last=1ms",
        ] {
            let error = read(bad).unwrap_err().to_string();
            assert!(error.contains("write for example") || error.contains("soon"), "{bad}: {error}");
        }
    }
}
