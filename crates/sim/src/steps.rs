//! How much work is done: in this crate's own tests, whatever looks at a flight, at an answer or at an entry of a calendar
//! counts it, so that they can tell what grows with the square of a crowd without a clock. Elsewhere nothing is counted.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Something is looked at.
#[inline(always)]
pub(crate) fn step() {
    #[cfg(test)]
    STEPS.set(STEPS.get() + 1);
}

/// How often anything was, by this thread.
#[cfg(test)]
pub(crate) fn steps() -> u64 {
    STEPS.get()
}
