//! Transactions of JMeter beside the samples they consist of, in any order of rows.
//!
//! A transaction controller adds a sample of its own that begins when the first of its samples does and lasts, with its pauses, until
//! the last. It is no request, unless it is set to write only itself. JMeter writes it after its samples; sorted by stamp it comes
//! before them. So a transaction waits, and what follows it with it, until a row of its thread shows which it is. Deliberately absent:
//! samples inside of samples (XML), which show it themselves.

use crate::rows::Rows;
use headway_base::{Nanos, Record};
use std::collections::VecDeque;

/// Rows that wait behind a transaction, at most: after so many it is a request.
const MOST: usize = 200_000;

/// What stands in its place in the order of the file.
#[derive(Debug)]
enum Waiting {
    Row(Record),
    /// A transaction with its label, until it is known what it is; then a request, or nothing.
    Open(Box<(Record, Vec<u8>)>),
    Request(Box<(Record, Vec<u8>)>),
    Left,
}

/// Transactions that wait, and the rows behind them.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    waiting: VecDeque<Waiting>,
    /// How many have gone from its front.
    gone: usize,
    /// Open ones of each thread: when they begin and end, and their places.
    open: Vec<Vec<(Nanos, Nanos, usize)>>,
}

impl Transactions {
    /// A transaction whose samples have not been seen, that lasts until then.
    pub fn hold(&mut self, record: Record, label: &[u8], until: Nanos) {
        let user = record.user as usize;
        if user >= self.open.len() {
            self.open.resize(user + 1, Vec::new());
        }
        self.settle(user, record.intended);
        self.open[user].push((record.intended, until, self.gone + self.waiting.len()));
        self.waiting.push_back(Waiting::Open(Box::new((record, label.to_vec()))));
    }

    /// A sample; how many transactions of its thread it shows to be none of their own.
    pub fn sample(&mut self, record: Record) -> usize {
        let (at, user) = (record.intended, record.user as usize);
        let mut parts = 0;
        if user < self.open.len() && !self.open[user].is_empty() {
            self.settle(user, at);
            let (waiting, gone) = (&mut self.waiting, self.gone);
            self.open[user].retain(|&(begins, _, place)| {
                if begins > at {
                    return true;
                }
                waiting[place - gone] = Waiting::Left;
                parts += 1;
                false
            });
        }
        self.waiting.push_back(Waiting::Row(record));
        parts
    }

    /// Those of a thread that end before then are requests.
    fn settle(&mut self, user: usize, at: Nanos) {
        let (waiting, gone) = (&mut self.waiting, self.gone);
        self.open[user].retain(|&(_, until, place)| {
            if until >= at {
                return true;
            }
            settled(&mut waiting[place - gone]);
            false
        });
    }

    /// The next row whose place in the order is known. At the `end` all are.
    pub fn next(&mut self, end: bool, rows: &mut Rows) -> Option<Record> {
        loop {
            if let Some(Waiting::Open(record)) = self.waiting.front() {
                if !end && self.waiting.len() <= MOST {
                    return None;
                }
                let (user, place) = (record.0.user as usize, self.gone);
                self.open[user].retain(|open| open.2 != place);
            }
            self.gone += usize::from(!self.waiting.is_empty());
            match self.waiting.pop_front()? {
                Waiting::Row(record) => return Some(record),
                Waiting::Open(held) | Waiting::Request(held) => {
                    let (record, label) = *held;
                    return Some(Record { step: rows.step(&label), ..record });
                }
                Waiting::Left => {}
            }
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

fn settled(waiting: &mut Waiting) {
    *waiting = match std::mem::replace(waiting, Waiting::Left) {
        Waiting::Open(held) => Waiting::Request(held),
        other => other,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Outcome;

    fn record(user: u32, at: i64) -> Record {
        Record { user, ..Record::never_started(0, Nanos(at), Nanos(at), Outcome::Ok) }
    }

    fn came(transactions: &mut Transactions, end: bool) -> Vec<i64> {
        let mut rows = Rows::default();
        std::iter::from_fn(|| transactions.next(end, &mut rows)).map(|r| r.intended.0).collect()
    }

    #[test]
    fn a_sample_within_a_transaction_shows_that_it_is_none() {
        let mut transactions = Transactions::default();
        // Two that are nested, and one of another thread.
        transactions.hold(record(0, 10), b"t", Nanos(50));
        transactions.hold(record(0, 10), b"t", Nanos(30));
        transactions.hold(record(1, 12), b"t", Nanos(90));
        assert!(came(&mut transactions, false).is_empty());
        assert_eq!(transactions.sample(record(0, 11)), 2);
        assert_eq!((came(&mut transactions, false), transactions.is_empty()), (vec![], false));
        assert_eq!(transactions.sample(record(1, 91)), 0);
        assert_eq!((came(&mut transactions, false), transactions.is_empty()), (vec![12, 11, 91], true));
    }

    #[test]
    fn one_without_samples_is_a_request() {
        let mut transactions = Transactions::default();
        for at in [10, 20, 30] {
            transactions.hold(record(0, at), b"t", Nanos(at + 5));
        }
        assert_eq!(came(&mut transactions, false), [10, 20]);
        assert_eq!(came(&mut transactions, true), [30]);
        assert!(transactions.is_empty());
        // An earlier sample is none of a later transaction.
        transactions.hold(record(0, 50), b"t", Nanos(60));
        assert_eq!(transactions.sample(record(0, 49)), 0);
        assert_eq!(came(&mut transactions, true), [50, 49]);
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut transactions = Transactions::default();
        transactions.hold(record(0, 0), b"t", Nanos(i64::MAX));
        for at in 0..MOST as i64 {
            transactions.sample(record(1, at));
        }
        assert_eq!(came(&mut transactions, false).len(), MOST + 1);
        assert_eq!(transactions.sample(record(0, 5)), 0);
    }
}
