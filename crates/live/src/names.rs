//! The addresses that connections go to, in turn; and a name that is read again while a run goes on, on a thread of its own, since
//! that may take seconds.

use crate::address::Address;
use headway_base::Nanos;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How a name is read: its addresses, or why there are none.
#[derive(Clone)]
pub struct Resolver(Arc<dyn Fn() -> Result<Vec<Address>, String> + Send + Sync>);

impl Resolver {
    /// One that calls this, which may take as long as it likes.
    pub fn new(read: impl Fn() -> Result<Vec<Address>, String> + Send + Sync + 'static) -> Resolver {
        Resolver(Arc::new(read))
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

/// A name that is read again.
#[derive(Clone, Debug)]
pub struct Refresh {
    /// From one reading to the next; where one takes longer, the next follows at once.
    pub every: Nanos,
    /// How.
    pub resolver: Resolver,
}

/// What came of reading a name again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Readings {
    /// How often that was done to the end.
    pub n: u64,
    /// How often it failed: the addresses stayed what they were.
    pub failed: u64,
    /// How often it gave other addresses than before.
    pub changed: u64,
    /// Why it failed, the last time that it did.
    pub why: Option<String>,
}

impl Readings {
    /// Those of two names together.
    pub(crate) fn and(self, other: Readings) -> Readings {
        Readings {
            n: self.n + other.n,
            failed: self.failed + other.failed,
            changed: self.changed + other.changed,
            why: self.why.or(other.why),
        }
    }
}

/// The addresses of an origin.
#[derive(Debug)]
pub(crate) struct Places {
    now: Mutex<Arc<[Address]>>,
    /// How often they have changed.
    changes: AtomicU64,
    turn: AtomicUsize,
    readings: Mutex<Readings>,
}

/// Nothing that these locks protect can be left half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Places {
    /// These addresses, of which there must be one.
    pub(crate) fn new(addresses: &[Address]) -> Places {
        Places {
            now: Mutex::new(addresses.into()),
            changes: AtomicU64::new(0),
            turn: AtomicUsize::new(0),
            readings: Mutex::default(),
        }
    }

    /// What came of reading the name again, until now.
    pub(crate) fn readings(&self) -> Readings {
        locked(&self.readings).clone()
    }

    /// The name was read again. Connections go on to addresses of the kind that they went to, IPv4 or IPv6.
    fn take(&self, read: Result<Vec<Address>, String>) {
        let mut now = locked(&self.now);
        let kind = now.first().map(Address::is_ipv4);
        let read = read.and_then(|mut all| {
            all.retain(|address| kind.is_none_or(|kind| address.is_ipv4() == kind));
            match all.is_empty() {
                true if kind == Some(Some(true)) => Err("it has no address of IPv4 any more".to_owned()),
                true => Err("it has no address of IPv6 any more".to_owned()),
                false => Ok(all),
            }
        });
        let mut readings = locked(&self.readings);
        readings.n += 1;
        match read {
            Err(why) => {
                readings.failed += 1;
                readings.why = Some(why);
            }
            // Servers of DNS give the same addresses in another order each time.
            Ok(all) if all.iter().collect::<BTreeSet<_>>() == now.iter().collect() => {}
            Ok(all) => {
                readings.changed += 1;
                *now = all.into();
                self.changes.fetch_add(1, Ordering::Release);
            }
        }
    }

    /// A worker's view of them.
    pub(crate) fn seen(&self) -> Seen<'_> {
        Seen { changes: self.changes.load(Ordering::Acquire), known: locked(&self.now).clone(), places: self }
    }
}

/// What a worker knows of the addresses: it waits for a lock only after they have changed.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    places: &'a Places,
    changes: u64,
    known: Arc<[Address]>,
}

impl Seen<'_> {
    /// Where the next connection goes.
    pub(crate) fn next(&mut self) -> Option<Address> {
        if self.changes != self.places.changes.load(Ordering::Acquire) {
            *self = self.places.seen();
        }
        let turn = self.places.turn.fetch_add(1, Ordering::Relaxed);
        self.known.get(turn % self.known.len().max(1)).cloned()
    }
}

/// Reads a name again until it is dropped. A reading that is under way then goes on by itself, and comes to nothing.
pub(crate) struct Refreshing {
    _ends: Sender<()>,
}

impl Refreshing {
    pub(crate) fn begin(refresh: &Refresh, places: Arc<Places>) -> Refreshing {
        let (ends, ended) = channel::<()>();
        let Refresh { every, resolver } = refresh.clone();
        let every = Duration::from_nanos(every.0.max(0) as u64);
        thread::spawn(move || {
            crate::host::give_way();
            let mut due = Instant::now() + every;
            while let Err(RecvTimeoutError::Timeout) =
                ended.recv_timeout(due.saturating_duration_since(Instant::now()))
            {
                let read = (resolver.0)();
                places.take(read);
                due = (due + every).max(Instant::now());
            }
        });
        Refreshing { _ends: ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: &[&str]) -> Vec<Address> {
        all.iter().map(|text| Address::Tcp(text.parse().unwrap())).collect()
    }

    fn next(seen: &mut Seen<'_>, n: usize) -> Vec<String> {
        (0..n).map(|_| seen.next().unwrap().to_string()).collect()
    }

    #[test]
    fn connections_go_to_the_addresses_in_turn_over_all_workers() {
        let places = Places::new(&of(&["127.0.0.1:1", "127.0.0.2:1", "127.0.0.3:1"]));
        let (mut a, mut b) = (places.seen(), places.seen());
        assert_eq!(next(&mut a, 2), ["127.0.0.1:1", "127.0.0.2:1"]);
        assert_eq!(next(&mut b, 2), ["127.0.0.3:1", "127.0.0.1:1"]);
        assert_eq!(Places::new(&[]).seen().next(), None);
    }

    #[test]
    fn what_is_read_later_counts_from_then_on_and_failures_change_nothing() {
        let places = Places::new(&of(&["127.0.0.1:1", "127.0.0.2:1"]));
        let mut seen = places.seen();
        places.take(Ok(of(&["127.0.0.2:1", "127.0.0.1:1"])));
        places.take(Err("no answer".into()));
        places.take(Ok(of(&["[::1]:1"])));
        assert_eq!(next(&mut seen, 3), ["127.0.0.1:1", "127.0.0.2:1", "127.0.0.1:1"]);
        places.take(Ok(of(&["[::1]:1", "127.0.0.9:1"])));
        assert_eq!(next(&mut seen, 2), ["127.0.0.9:1", "127.0.0.9:1"]);
        let why = Some("it has no address of IPv4 any more".to_owned());
        assert_eq!(places.readings(), Readings { n: 4, failed: 2, changed: 1, why });
    }

    #[test]
    fn a_name_is_read_until_its_run_ends() {
        let (tell, told) = channel();
        let resolver = Resolver::new(move || {
            let _ = tell.send(());
            Ok(of(&["127.0.0.7:1"]))
        });
        let places = Arc::new(Places::new(&of(&["127.0.0.1:1"])));
        let refresh = Refresh { every: Nanos::from_millis(5), resolver };
        let refreshing = Refreshing::begin(&refresh, places.clone());
        for _ in 0..3 {
            told.recv_timeout(Duration::from_secs(10)).unwrap();
        }
        // The third reading has begun, so that the second is over.
        let readings = places.readings();
        assert!(readings.n >= 2 && readings.changed == 1 && readings.failed == 0, "{readings:?}");
        assert_eq!(next(&mut places.seen(), 1), ["127.0.0.7:1"]);
        drop((refreshing, refresh));
        // Its end drops the sender within the resolver.
        while told.recv_timeout(Duration::from_secs(10)).is_ok() {}
        assert_eq!(told.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected));
    }
}
