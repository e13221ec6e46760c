//! Where a session stands in its journey.

use super::{Journey, MOST_NESTED, Op};
use headway_base::Nanos;
use headway_base::dist::Dist;
use headway_base::random::{Stream, open01, streams};

/// The streams that journeys of one group draw from.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    think: Stream,
    way: Stream,
}

impl Draws {
    /// The streams of that seed.
    pub fn new(seed: u64) -> Draws {
        Draws { think: Stream::new(seed, streams::THINK), way: Stream::new(seed, streams::WAY) }
    }

    /// For laws that draw nothing.
    #[inline]
    fn constant(&self) -> headway_base::random::Draws {
        self.think.item(0)
    }

    /// The pace of session `k`.
    pub fn pace(&self, k: u64) -> headway_base::random::Draws {
        self.think.item(self.think.bits(k, u64::MAX))
    }

    /// The think time of session `k` numbered `ordinal`.
    #[inline]
    pub fn think(&self, k: u64, ordinal: u32) -> headway_base::random::Draws {
        self.think.item(self.think.bits(k, u64::from(ordinal)))
    }
}

/// The next request of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ask {
    /// Number of the step.
    pub step: u16,
    /// Which repeat of the step, from 0.
    pub repeat: u32,
    /// How long the user thinks before it. For the first request of a session that arrived the caller drops it.
    pub think: Nanos,
}

/// What comes next in a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// A request.
    Ask(Ask),
    /// Nothing: the journey is over. A user that begins another one thinks for this time before it (pauses after the last
    /// request).
    Over(Nanos),
}

/// Where a session stands: some words that can be copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cursor {
    at: u16,
    /// Draws so far: the ordinal of the next one.
    drawn: u32,
    rounds: [u32; MOST_NESTED],
}

impl Journey {
    /// What comes next in session `k`. `cursor` begins as the default.
    #[inline]
    pub fn next(&self, cursor: &mut Cursor, draws: Draws, k: u64) -> Next {
        let mut pause = Nanos::ZERO;
        loop {
            match &self.ops[usize::from(cursor.at)] {
                Op::Ask { step, think, counter } => {
                    cursor.at += 1;
                    let think = self.draw(*think, cursor, draws, k);
                    let repeat = counter.map_or(0, |c| cursor.rounds[usize::from(c)]);
                    return Next::Ask(Ask { step: *step, repeat, think: pause + think });
                }
                Op::Enter { counter } => {
                    cursor.rounds[usize::from(*counter)] = 0;
                    cursor.at += 1;
                }
                Op::Again { counter, times, to } => {
                    let rounds = &mut cursor.rounds[usize::from(*counter)];
                    *rounds += 1;
                    cursor.at = if *rounds < *times { *to } else { cursor.at + 1 };
                }
                Op::Choose(ways) => {
                    let u = open01(draws.way.bits(k, u64::from(cursor.drawn)));
                    cursor.drawn = cursor.drawn.wrapping_add(1);
                    let way = ways.iter().find(|way| u < way.0).or(ways.last());
                    cursor.at = way.map_or(cursor.at + 1, |way| way.1);
                }
                Op::Jump(to) => cursor.at = *to,
                Op::Pause { think } => {
                    cursor.at += 1;
                    pause += self.draw(*think, cursor, draws, k);
                }
                Op::Logged(steps) => {
                    cursor.at += 1;
                    if let Some(&step) = steps.get(k as usize) {
                        return Next::Ask(Ask { step, repeat: 0, think: pause });
                    }
                }
                Op::End => return Next::Over(pause),
            }
        }
    }

    #[inline]
    fn draw(&self, think: u16, cursor: &mut Cursor, draws: Draws, k: u64) -> Nanos {
        let ordinal = cursor.drawn;
        cursor.drawn = cursor.drawn.wrapping_add(1);
        let law = &self.thinks[usize::from(think)];
        match law {
            Dist::Constant(_) => law.sample_time(&mut draws.constant()),
            _ => law.sample_time(&mut draws.think(k, ordinal)),
        }
    }
}
