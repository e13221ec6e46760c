//! What holds for all copies of a station that acts by events.

use headway_base::Nanos;
use headway_base::station::Stalls;
use headway_base::units::UnitError;
use headway_workload::model::{Discipline, Station};

/// Who is served next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// Who came first.
    First,
    /// Who came last.
    Last,
    /// Who came first of the lowest class.
    Class,
    /// Nobody waits.
    Sharing,
}

/// The rules of a station part.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub servers: u32,
    pub order: Order,
    pub preemptive: bool,
    /// How many may wait (under sharing: beyond the servers).
    pub limit: Option<usize>,
    pub stalls: Option<Stalls>,
    /// Speed of the whole with 1, 2, ... in it; empty: each server's is 1.
    speed: Vec<f64>,
    /// By step.
    classes: Vec<u8>,
    /// The class of steps that have none.
    last: u8,
}

impl Rules {
    /// The rules of that station.
    ///
    /// # Errors
    /// A speed that is not above zero.
    pub(crate) fn new(station: &Station) -> Result<Rules, UnitError> {
        if let Some(speed) = station.speed.iter().find(|s| !(s.is_finite() && **s > 0.0)) {
            return Err(UnitError::new(&speed.to_string(), "a speed: above 0"));
        }
        let (order, preemptive, classes) = match &station.discipline {
            Discipline::Fifo => (Order::First, false, Vec::new()),
            Discipline::Lifo => (Order::Last, false, Vec::new()),
            Discipline::Sharing => (Order::Sharing, false, Vec::new()),
            Discipline::Priority { classes, preemptive } => (Order::Class, *preemptive, classes.clone()),
        };
        let last = classes.iter().max().map_or(0, |class| class.saturating_add(1));
        Ok(Rules {
            servers: station.servers,
            order,
            preemptive,
            limit: station.queue,
            stalls: station.stalls,
            speed: station.speed.clone(),
            classes,
            last,
        })
    }

    /// The class of a step.
    pub(crate) fn class(&self, step: u16) -> u8 {
        self.classes.get(usize::from(step)).copied().unwrap_or(self.last)
    }

    /// How many classes there are.
    pub(crate) fn classes(&self) -> usize {
        usize::from(self.last) + 1
    }

    /// Busy servers at that number in service.
    pub(crate) fn busy(&self, in_service: u32) -> u32 {
        in_service.min(self.servers)
    }

    /// How many servers each of those in service has to itself.
    #[inline]
    pub(crate) fn share(&self, in_service: u32) -> f64 {
        if in_service <= self.servers { 1.0 } else { f64::from(self.servers) / f64::from(in_service) }
    }

    /// Rate at which each request in service is served, at that number waiting.
    #[inline]
    pub(crate) fn rate(&self, in_service: u32, waiting: usize) -> f64 {
        if in_service == 0 {
            return 1.0;
        }
        let each = f64::from(in_service);
        if self.speed.is_empty() {
            return if self.order == Order::Sharing {
                (f64::from(self.servers) / each).min(1.0)
            } else {
                1.0
            };
        }
        let inside = (in_service as usize + waiting).min(self.speed.len());
        self.speed[inside - 1] / each
    }

    /// The station's own time, which stands still while it is stalled.
    #[inline]
    pub(crate) fn own(&self, now: Nanos) -> Nanos {
        self.stalls.map_or(now, |stalls| stalls.worked(now))
    }

    /// When its own time is that.
    #[inline]
    pub(crate) fn real(&self, own: Nanos) -> Nanos {
        self.stalls.map_or(own, |stalls| stalls.instant(own))
    }
}
