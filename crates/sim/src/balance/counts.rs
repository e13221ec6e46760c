//! What a balancer believes to be outstanding at each target.

/// Outstanding requests by target: its own, which it always knows, and those of other balancers as of when it last heard.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Own and others' together.
    known: Vec<u32>,
    /// Others' alone; empty until the first exchange.
    others: Vec<u32>,
    /// Sum of `known`.
    sum: u64,
    /// Targets at which its own number may be another than at the last exchange, each once; none before the first.
    changed: Option<Changed>,
}

#[derive(Clone, Debug)]
struct Changed {
    targets: Vec<u32>,
    /// By target.
    marked: Vec<bool>,
}

impl Counts {
    pub(super) fn new(targets: u32) -> Counts {
        Counts { known: vec![0; targets as usize], others: Vec::new(), sum: 0, changed: None }
    }

    #[inline]
    fn changes(&mut self, target: u32) {
        if let Some(changed) = &mut self.changed {
            let marked = &mut changed.marked[target as usize];
            if !*marked {
                *marked = true;
                changed.targets.push(target);
            }
        }
    }

    /// Adds the targets at which its own number may have changed since this was last asked to `all`; false: any may have.
    pub(super) fn take_changes(&mut self, all: &mut Vec<u32>) -> bool {
        match &mut self.changed {
            Some(Changed { targets, marked }) => {
                targets.iter().for_each(|&target| marked[target as usize] = false);
                all.append(targets);
                true
            }
            None => {
                self.changed = Some(Changed { targets: Vec::new(), marked: vec![false; self.known.len()] });
                false
            }
        }
    }

    pub(super) fn targets(&self) -> u32 {
        self.known.len() as u32
    }

    #[inline]
    pub(super) fn known(&self, target: u32) -> u32 {
        self.known[target as usize]
    }

    #[inline]
    pub(super) fn own(&self, target: u32) -> u32 {
        self.known(target) - self.others.get(target as usize).copied().unwrap_or(0)
    }

    /// At all targets together.
    #[inline]
    pub(super) fn sum(&self) -> u64 {
        self.sum
    }

    /// One more; how many were known of before.
    #[inline]
    pub(super) fn started(&mut self, target: u32) -> u32 {
        let known = &mut self.known[target as usize];
        let before = *known;
        *known += 1;
        self.sum += 1;
        self.changes(target);
        before
    }

    /// One less; how many are known of afterwards.
    #[inline]
    pub(super) fn ended(&mut self, target: u32) -> u32 {
        debug_assert!(self.own(target) > 0, "nothing of its own is outstanding at target {target}");
        let known = &mut self.known[target as usize];
        *known -= 1;
        self.sum -= 1;
        let after = *known;
        self.changes(target);
        after
    }

    /// What the others have there; how many were known of before, and are.
    pub(super) fn set_others(&mut self, target: u32, others: u32) -> (u32, u32) {
        let own = self.own(target);
        if self.others.is_empty() {
            self.others.resize(self.known.len(), 0);
        }
        let (before, after) = (self.known(target), own + others);
        self.sum = self.sum - u64::from(before) + u64::from(after);
        self.known[target as usize] = after;
        self.others[target as usize] = others;
        (before, after)
    }

    /// What one more request would make of a target's load: (outstanding + 1) / weight.
    #[inline]
    pub(super) fn load(&self, target: u32, weights: &[f64]) -> f64 {
        load(self.known(target), weights[target as usize])
    }
}

/// What one more request would make of the load of a target of that weight with that many outstanding.
#[inline]
pub(super) fn load(known: u32, weight: f64) -> f64 {
    (f64::from(known) + 1.0) / weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_and_others_requests_are_told_apart() {
        let mut counts = Counts::new(3);
        assert_eq!((counts.started(1), counts.started(1)), (0, 1));
        counts.set_others(1, 5);
        counts.set_others(2, 4);
        assert_eq!((counts.known(1), counts.own(1), counts.known(2), counts.own(2)), (7, 2, 4, 0));
        assert_eq!(counts.sum(), 11);
        assert_eq!(counts.ended(1), 6);
        counts.set_others(1, 0);
        assert_eq!((counts.known(1), counts.own(1), counts.sum()), (1, 1, 5));
    }
}
