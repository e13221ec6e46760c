//! What a user does: steps, repeats, choices and think times, compiled to a short program that a session steps through
//! with a few words of state.
//!
//! A journey knows its steps by number only; what a step asks for is [`crate::content`]'s. Its draws are a function of
//! (seed, session, ordinal), so that the same session takes the same way live and simulated.
//!
//! Deliberately absent: requests, answers, clocks.

mod cursor;

pub use cursor::{Ask, Cursor, Draws, Next};

use headway_base::Nanos;
use headway_base::dist::{Constant, Dist, Law as _};
use std::sync::Arc;

/// A journey as it is described, before it is compiled.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// One request of that step, `repeat` times (at least 1).
    Ask {
        /// Number of the step.
        step: u16,
        /// How often.
        repeat: u32,
        /// Time that the user thinks before each of them; none: the journey's own.
        think: Option<Dist>,
    },
    /// All of these, so often (at least 1).
    Repeat(u32, Vec<Node>),
    /// One of these ways, with the probability of its weight (above zero) among their sum.
    Choose(Vec<(f64, Vec<Node>)>),
    /// An additional think time before the next step.
    Pause(Dist),
    /// One request, of the step that stands here at the session's number: as a log names it.
    Logged(Arc<[u16]>),
}

impl Node {
    /// The numbers of the steps that these may ask for, in their order.
    pub fn steps(nodes: &[Node]) -> Vec<u16> {
        fn each(nodes: &[Node], all: &mut Vec<u16>) {
            for node in nodes {
                match node {
                    Node::Ask { step, .. } => all.push(*step),
                    Node::Repeat(_, inside) => each(inside, all),
                    Node::Choose(ways) => ways.iter().for_each(|(_, inside)| each(inside, all)),
                    Node::Logged(logged) => all.extend(logged.iter()),
                    Node::Pause(_) => {}
                }
            }
        }
        let mut all = Vec::new();
        each(nodes, &mut all);
        all
    }
}

/// No think time at all.
pub fn no_think() -> Dist {
    Constant::new(Nanos::ZERO).into()
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
enum Op {
    /// A request, after the think time of that number.
    Ask { step: u16, think: u16, counter: Option<u8> },
    /// Sets a counter to zero.
    Enter { counter: u8 },
    /// Counts one more round; jumps back to `to` until there were `times`.
    Again { counter: u8, times: u32, to: u16 },
    /// Jumps to the first of these whose cumulated share exceeds a uniform draw.
    Choose(Box<[(f64, u16)]>),
    /// Jumps.
    Jump(u16),
    /// An additional think time.
    Pause { think: u16 },
    /// A request of the step at the session's number.
    Logged(Arc<[u16]>),
    /// The journey is over.
    End,
}

/// A compiled journey.
#[derive(Clone, Debug, PartialEq)]
pub struct Journey {
    nodes: Vec<Node>,
    ops: Vec<Op>,
    /// Laws by number; 0 is the journey's own.
    thinks: Vec<Dist>,
    longest: u64,
    mean_asks: f64,
    mean_think_s: f64,
    single: bool,
    /// Where redirects are followed: how many steps there are, of which none is made because of one.
    written: Option<u16>,
    /// By step: the number of the origin that it goes to. Those that are not here go to the target, number 0.
    origins: Arc<[u16]>,
}

/// Repeats may lie within one another so deep, the repeat of a step included.
pub const MOST_NESTED: usize = 4;
/// Requests of one session, at most.
pub const MOST_ASKS: u64 = 10_000_000;

/// Why a journey cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JourneyError {
    /// It holds no request.
    #[error("a journey needs at least one request")]
    Empty,
    /// A choice may leave a session without any request.
    #[error(
        "a session may come out without any request: a way of a choice holds none, and nothing else of the journey does for sure"
    )]
    MayBeEmpty,
    /// Repeats lie within one another too deep.
    #[error("repeats lie within one another more than {MOST_NESTED} deep")]
    Nested,
    /// A repeat of zero.
    #[error("a repeat of 0 is nothing: write a number from 1 up")]
    NoRepeat,
    /// A weight that is no probability, or no way to choose.
    #[error("a choice needs ways with weights above zero")]
    Weights,
    /// More requests than a session can have, or too long a program.
    #[error("a session would send more than {MOST_ASKS} requests, or the journey has more than 60,000 parts")]
    TooLong,
}

impl Journey {
    /// Compiles a journey; `think` is the time before each request but the first of a session, unless its own step says
    /// otherwise.
    ///
    /// # Errors
    /// A [`JourneyError`].
    pub fn new(nodes: &[Node], think: Dist) -> Result<Journey, JourneyError> {
        let mut compiler = Compiler { ops: Vec::new(), thinks: vec![think], depth: 0 };
        let size = compiler.block(nodes)?;
        compiler.push(Op::End)?;
        if size.most == 0 {
            return Err(JourneyError::Empty);
        }
        if size.least == 0 {
            return Err(JourneyError::MayBeEmpty);
        }
        Ok(Journey {
            nodes: nodes.to_vec(),
            single: size.most == 1,
            ops: compiler.ops,
            thinks: compiler.thinks,
            longest: size.most,
            mean_asks: size.mean,
            mean_think_s: size.think_s,
            written: None,
            origins: Arc::default(),
        })
    }

    /// One request of step 0 and nothing else.
    pub fn single() -> Journey {
        Journey {
            nodes: vec![Node::Ask { step: 0, repeat: 1, think: None }],
            ops: vec![Op::Ask { step: 0, think: 0, counter: None }, Op::End],
            thinks: vec![no_think()],
            longest: 1,
            mean_asks: 1.0,
            mean_think_s: 0.0,
            single: true,
            written: None,
            origins: Arc::default(),
        }
    }

    /// The same where the step of each number goes to the origin that stands there; 0 is the target. Steps that it does not take do not count.
    #[must_use]
    pub fn reaching(self, origins: &[u16]) -> Journey {
        let mut own = vec![0; origins.len()];
        for step in Node::steps(&self.nodes) {
            if let Some(origin) = origins.get(usize::from(step)) {
                own[usize::from(step)] = *origin;
            }
        }
        own.truncate(own.iter().rposition(|&origin| origin > 0).map_or(0, |at| at + 1));
        Journey { origins: own.into(), ..self }
    }

    /// How many origins its steps go to.
    pub fn reached(&self) -> usize {
        let mut all: Vec<u16> = Node::steps(&self.nodes).into_iter().map(|step| self.origin(step)).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// The origin by step, as far as any goes elsewhere than to the target.
    pub fn origins(&self) -> &[u16] {
        &self.origins
    }

    /// Whether any step goes to another origin than the target.
    #[inline]
    pub fn leaves_the_target(&self) -> bool {
        !self.origins.is_empty()
    }

    /// The number of the origin that this step goes to. What a redirect leads to goes where that says.
    #[inline]
    pub fn origin(&self, step: u16) -> u16 {
        self.origins.get(usize::from(step)).copied().unwrap_or(0)
    }

    /// The same where redirects are followed: what a redirect of step i leads to is a request of step i + `steps`, `steps` being the number
    /// of steps that are written. A session may then have requests beyond those that [`longest`](Journey::longest) counts.
    #[must_use]
    pub fn following(self, steps: u16) -> Journey {
        Journey { written: Some(steps), single: false, ..self }
    }

    /// Where redirects are followed: the number of the first step whose requests they lead to.
    pub fn redirected_from(&self) -> Option<u16> {
        self.written
    }

    /// The step of the request that a redirect of this one leads to; none where redirects are not followed.
    #[inline]
    pub fn redirected(&self, step: u16) -> Option<u16> {
        self.written.map(|steps| if step < steps { step + steps } else { step })
    }

    /// Whether requests of that step are made because of a redirect.
    #[inline]
    pub fn is_redirected(&self, step: u16) -> bool {
        self.written.is_some_and(|steps| step >= steps)
    }

    /// What it was made from.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether every session is one request, whatever answers say.
    pub fn is_single(&self) -> bool {
        self.single
    }

    /// Most requests of one session, without those that redirects lead to.
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// Requests of a session on average.
    pub fn mean_asks(&self) -> f64 {
        self.mean_asks
    }

    /// Mean time in seconds that a user thinks in one round of the journey, before its first request and after its last
    /// included; infinite where a law has no mean.
    pub fn mean_think_s(&self) -> f64 {
        self.mean_think_s
    }

    /// Mean time in seconds that a user thinks before the first request of a round, as far as every round begins with one.
    pub fn first_think_s(&self) -> f64 {
        fn first(nodes: &[Node], own: &Dist) -> f64 {
            let mut pause_s = 0.0;
            for node in nodes {
                let think_s = match node {
                    Node::Pause(law) => {
                        pause_s += law.mean();
                        continue;
                    }
                    Node::Ask { think, .. } => think.as_ref().unwrap_or(own).mean(),
                    Node::Logged(_) => 0.0,
                    Node::Repeat(_, nodes) => first(nodes, own),
                    Node::Choose(ways) => {
                        let total: f64 = ways.iter().map(|w| w.0).sum();
                        ways.iter().map(|(weight, nodes)| weight / total * first(nodes, own)).sum()
                    }
                };
                return pause_s + think_s;
            }
            pause_s
        }
        first(&self.nodes, self.think())
    }

    /// The think time between requests unless a step has its own.
    pub fn think(&self) -> &Dist {
        &self.thinks[0]
    }
}

/// How many requests a part stands for, and how long users think in it.
#[derive(Clone, Copy, Default)]
struct Size {
    least: u64,
    most: u64,
    mean: f64,
    think_s: f64,
}

struct Compiler {
    ops: Vec<Op>,
    thinks: Vec<Dist>,
    depth: usize,
}

impl Compiler {
    fn push(&mut self, op: Op) -> Result<usize, JourneyError> {
        if self.ops.len() >= 60_000 {
            return Err(JourneyError::TooLong);
        }
        self.ops.push(op);
        Ok(self.ops.len() - 1)
    }

    fn here(&self) -> u16 {
        self.ops.len() as u16
    }

    fn think(&mut self, think: Option<&Dist>) -> Result<u16, JourneyError> {
        let Some(think) = think else { return Ok(0) };
        let known = self.thinks.iter().position(|t| t == think);
        let at = known.unwrap_or_else(|| {
            self.thinks.push(think.clone());
            self.thinks.len() - 1
        });
        u16::try_from(at).map_err(|_| JourneyError::TooLong)
    }

    fn block(&mut self, nodes: &[Node]) -> Result<Size, JourneyError> {
        let mut size = Size::default();
        for node in nodes {
            let part = self.node(node)?;
            size.least = size.least.saturating_add(part.least);
            size.most = size.most.saturating_add(part.most);
            size.mean += part.mean;
            size.think_s += part.think_s;
            if size.most > MOST_ASKS {
                return Err(JourneyError::TooLong);
            }
        }
        Ok(size)
    }

    fn node(&mut self, node: &Node) -> Result<Size, JourneyError> {
        match node {
            Node::Ask { step, repeat, think } => {
                let (step, think) = (*step, self.think(think.as_ref())?);
                let size =
                    Size { least: 1, most: 1, mean: 1.0, think_s: self.thinks[usize::from(think)].mean() };
                if *repeat == 1 {
                    self.push(Op::Ask { step, think, counter: None })?;
                    return Ok(size);
                }
                self.repeat(*repeat, |c, counter| {
                    c.push(Op::Ask { step, think, counter: Some(counter) })?;
                    Ok(size)
                })
            }
            Node::Repeat(times, nodes) => self.repeat(*times, |c, _| c.block(nodes)),
            Node::Choose(ways) => self.choose(ways),
            Node::Logged(steps) => {
                self.push(Op::Logged(steps.clone()))?;
                Ok(Size { least: 1, most: 1, mean: 1.0, think_s: 0.0 })
            }
            Node::Pause(think) => {
                let think = self.think(Some(think))?;
                self.push(Op::Pause { think })?;
                Ok(Size { think_s: self.thinks[usize::from(think)].mean(), ..Size::default() })
            }
        }
    }

    fn repeat(
        &mut self,
        times: u32,
        body: impl FnOnce(&mut Compiler, u8) -> Result<Size, JourneyError>,
    ) -> Result<Size, JourneyError> {
        if times == 0 {
            return Err(JourneyError::NoRepeat);
        }
        if self.depth == MOST_NESTED {
            return Err(JourneyError::Nested);
        }
        let counter = self.depth as u8;
        self.depth += 1;
        self.push(Op::Enter { counter })?;
        let to = self.here();
        let size = body(self, counter)?;
        self.push(Op::Again { counter, times, to })?;
        self.depth -= 1;
        Ok(Size {
            least: size.least.saturating_mul(u64::from(times)),
            most: size.most.saturating_mul(u64::from(times)),
            mean: size.mean * f64::from(times),
            think_s: size.think_s * f64::from(times),
        })
    }

    fn choose(&mut self, ways: &[(f64, Vec<Node>)]) -> Result<Size, JourneyError> {
        let total: f64 = ways.iter().map(|w| w.0).sum();
        if ways.is_empty() || !total.is_finite() || ways.iter().any(|w| w.0.is_nan() || w.0 <= 0.0) {
            return Err(JourneyError::Weights);
        }
        let choice = self.push(Op::Choose(Box::new([])))?;
        let (mut targets, mut jumps) = (Vec::with_capacity(ways.len()), Vec::new());
        let (mut size, mut least, mut cumulated) = (Size::default(), u64::MAX, 0.0);
        for (weight, nodes) in ways {
            cumulated += weight / total;
            targets.push((cumulated, self.here()));
            let part = self.block(nodes)?;
            least = least.min(part.least);
            size.most = size.most.max(part.most);
            size.mean += part.mean * weight / total;
            size.think_s += part.think_s * weight / total;
            jumps.push(self.push(Op::Jump(0))?);
        }
        size.least = least;
        let end = self.here();
        self.ops[choice] = Op::Choose(targets.into());
        for jump in jumps {
            self.ops[jump] = Op::Jump(end);
        }
        Ok(size)
    }
}

#[cfg(test)]
mod tests;
