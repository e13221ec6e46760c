//! Requests whose departure is already known but still in the future: a client may time out first, and the run may end.
//!
//! A request is added to the sums only when it is over. The last request of each connection is kept; when the next one starts on
//! that connection, it is over and is added. (Without a client, requests take turns over a thousand places. A single server on
//! its own keeps its requests itself, in their order: `in_order`.) Requests that lost their connection or place,
//! and stays in inner parts, go to lists. When such a list has doubled since the last sweep, everything that is
//! over is added and the rest is kept: constant cost per request, and memory only for requests in flight.

use super::Network;
use super::in_order::Served;
use super::job::NONE;
use super::series::Lane;
use headway_base::Nanos;

/// Entries before the first sweep.
const SWEEP_AT: usize = 64;

/// A request whose response is known: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Request {
    pub came: Nanos,
    /// When it leaves the network; before all instants where there is none.
    pub done: Nanos,
    /// Until when it is in the part where it entered, if that does not serve: earlier if it is rejected at once.
    pub inside: Nanos,
    /// When it came to the station, when its service began and when it ended.
    pub at: Nanos,
    pub begins: Nanos,
    pub departs: Nanos,
    /// The station that served it, if one did, and the part that this is a copy of.
    pub node: u32,
    pub part: u32,
    /// Among the ends that the balancer where it entered waits for, if its answer comes with that end.
    pub end: u32,
    /// Whether the request was abandoned.
    pub for_nobody: bool,
}

impl Request {
    const NONE: Request = Request {
        came: Nanos::ZERO,
        done: Nanos(i64::MIN),
        inside: Nanos::ZERO,
        at: Nanos::ZERO,
        begins: Nanos::ZERO,
        departs: Nanos::ZERO,
        node: NONE,
        part: 0,
        end: NONE,
        for_nobody: false,
    };

    /// One that is nowhere and over as it comes.
    #[inline(always)]
    pub(super) fn at_once(came: Nanos) -> Request {
        Request { came, done: came, inside: came, at: came, begins: came, departs: came, ..Request::NONE }
    }

    fn is_some(&self) -> bool {
        self.done > Request::NONE.done
    }
}

/// A stay in a part that does not serve, behind the one where requests enter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    pub node: u32,
    pub from: Nanos,
    pub to: Nanos,
}

/// All requests whose departures are known.
#[derive(Clone, Debug)]
pub(super) struct PendingDepartures {
    /// The last request of each connection.
    pub last: Vec<Request>,
    /// Requests that lost their connections.
    lost: Vec<Request>,
    stays: Vec<Stay>,
    /// Entries of the last two lists before the next sweep.
    most: usize,
}

impl PendingDepartures {
    pub(super) fn new() -> PendingDepartures {
        PendingDepartures { last: Vec::new(), lost: Vec::new(), stays: Vec::new(), most: SWEEP_AT }
    }

    /// A request was in a part.
    #[inline]
    pub(super) fn stay(&mut self, stay: Stay) {
        self.stays.push(stay);
    }

    /// The response with which an end comes has been delivered.
    #[inline]
    pub(super) fn has_ended(&mut self, slot: u32) {
        self.last[slot as usize].end = NONE;
    }

    /// The request on that connection is abandoned at `now`. Returns the end that its response was to come with, if any.
    pub(super) fn given_up(&mut self, slot: u32, now: Nanos) -> Option<u32> {
        let request = self.last.get_mut(slot as usize).filter(|request| request.done > now)?;
        let request = std::mem::replace(request, Request::NONE);
        self.lost.push(Request { for_nobody: true, ..request });
        Some(request.end).filter(|end| *end != NONE)
    }

    /// Whether a sweep is due.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.lost.len() + self.stays.len() >= self.most
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, slot: usize) {
        self.last.resize(slot + 1, Request::NONE);
    }
}

impl Network {
    /// The response to a request on that connection is known.
    #[inline]
    pub(super) fn record_departure(&mut self, slot: u32, request: Request) {
        let slot = slot as usize;
        if self.pending.last.len() <= slot {
            self.pending.make_room(slot);
        }
        let before = std::mem::replace(&mut self.pending.last[slot], request);
        if before.done > request.came {
            self.pending.lost.push(before);
        } else if before.is_some() {
            self.add_request(&before, request.came);
        }
    }

    /// Adds the requests that are over by `now` to the sums, except for the last of each connection.
    #[inline(never)]
    pub(super) fn settle_told(&mut self, now: Nanos) {
        let mut lost = std::mem::take(&mut self.pending.lost);
        let mut stays = std::mem::take(&mut self.pending.stays);
        lost.retain(|request| {
            if request.done <= now {
                self.add_request(request, now);
            }
            request.done > now
        });
        stays.retain(|stay| {
            if stay.to <= now {
                self.add_stay(stay, now);
            }
            stay.to > now
        });
        self.pending.most = 2 * (lost.len() + stays.len()) + SWEEP_AT;
        (self.pending.lost, self.pending.stays) = (lost, stays);
    }

    /// Adds all requests up to `until`, whether they are over or not.
    pub(super) fn close_told(&mut self, until: Nanos) {
        let PendingDepartures { last, lost, stays, .. } =
            std::mem::replace(&mut self.pending, PendingDepartures::new());
        for request in last.iter().filter(|request| request.is_some()).chain(&lost) {
            self.add_request(request, until);
        }
        for stay in stays {
            self.add_stay(&stay, until);
        }
        for served in std::mem::take(&mut self.in_order.answers) {
            self.add_served(&served, until);
        }
    }

    /// What a request to a single server with nothing around it has done by `until`.
    #[inline(always)]
    pub(super) fn add_served(&mut self, served: &Served, until: Nanos) {
        let Served { came, begins, departs, done, slot } = *served;
        let for_nobody = slot == NONE;
        let request = Request {
            came,
            done,
            inside: done,
            begins,
            departs,
            node: 0,
            for_nobody,
            ..Request::at_once(came)
        };
        self.add_request(&request, until);
    }

    /// What a request has done by `until`.
    #[inline(always)]
    fn add_request(&mut self, request: &Request, until: Nanos) {
        if request.done <= until {
            self.little.left(request.came, request.done);
        } else {
            self.little.is_inside(request.came, until);
        }
        if self.leads_on {
            self.add_stay(&Stay { node: 0, from: request.came, to: request.inside }, until);
        }
        if request.node == NONE || request.at >= until {
            return;
        }
        let part = &mut self.parts[request.part as usize];
        let tally = &mut self.tallies[request.node as usize];
        let departs = request.departs.min(until);
        let begins = request.begins.min(departs);
        tally.served(self.measured, request.at, begins, departs);
        part.series.served(request.at, begins, departs);
        if self.measured.counts(request.came) {
            self.spent.add(departs.0 - begins.0, request.for_nobody);
        }
    }

    #[inline]
    fn add_stay(&mut self, stay: &Stay, until: Nanos) {
        let to = stay.to.min(until);
        if stay.from < to {
            let (part, _) = self.nodes[stay.node as usize];
            self.tallies[stay.node as usize].number(self.measured, stay.from, to);
            self.parts[part as usize].series.spell(Lane::Number, stay.from, to);
        }
    }
}
