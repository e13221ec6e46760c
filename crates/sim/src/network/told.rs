//! What the direct way has told and what may not be over yet: a client may lose patience before its answer comes, and the run
//! may end.
//!
//! Nothing is added to a sum before it is over. What is told is put down, and when as much again has been put down as was
//! left last time, all that is over by now is added and the rest is kept: a constant cost per request, and memory for what
//! is under way.

use super::Network;
use super::flight::NONE;
use super::series::Lane;
use base::Nanos;

/// So many are put down before the first look.
const SWEEP_AT: usize = 64;

/// A request whose answer has been told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub came: Nanos,
    pub done: Nanos,
    /// The station that served it, if one did, and its connection.
    pub node: u32,
    pub on: u32,
    /// When it came to the station, when its service began and when it ended.
    pub at: Nanos,
    pub begins: Nanos,
    pub departs: Nanos,
    /// Whether nobody waits for the answer.
    pub for_nobody: bool,
}

/// A stay in a part that serves nobody.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    pub node: u32,
    pub from: Nanos,
    pub to: Nanos,
}

/// All that has been told.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub requests: Vec<Request>,
    pub stays: Vec<Stay>,
    /// Place of the last request of a connection.
    places: Vec<u32>,
    /// So many of both are put down before they are looked through.
    most: usize,
}

impl Told {
    pub(super) fn new() -> Told {
        Told { requests: Vec::new(), stays: Vec::new(), places: Vec::new(), most: SWEEP_AT }
    }

    #[inline]
    pub(super) fn request(&mut self, request: Request) {
        let on = request.on as usize;
        if self.places.len() <= on {
            self.places.resize(on + 1, NONE);
        }
        self.places[on] = self.requests.len() as u32;
        self.requests.push(request);
    }

    /// Nobody waits at `now` for the answer on that connection.
    pub(super) fn given_up(&mut self, on: u32, now: Nanos) {
        let place = self.places.get(on as usize).copied().unwrap_or(NONE);
        if let Some(request) = self.requests.get_mut(place as usize)
            && request.on == on
            && request.done > now
        {
            request.for_nobody = true;
        }
    }

    /// Whether it is time to look through.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.requests.len() + self.stays.len() >= self.most
    }
}

impl Network {
    /// What was told and is over by `now` is added to the sums.
    #[inline(never)]
    pub(super) fn settle_told(&mut self, now: Nanos) {
        let mut requests = std::mem::take(&mut self.told.requests);
        let mut stays = std::mem::take(&mut self.told.stays);
        let (mut place, mut kept) = (0u32, 0u32);
        requests.retain(|request| {
            let over = request.done <= now;
            if over {
                self.add_request(request, now);
            } else {
                let last = &mut self.told.places[request.on as usize];
                if *last == place {
                    *last = kept;
                }
                kept += 1;
            }
            place += 1;
            !over
        });
        stays.retain(|stay| {
            if stay.to <= now {
                self.add_stay(stay, now);
            }
            stay.to > now
        });
        self.told.most = 2 * (requests.len() + stays.len()) + SWEEP_AT;
        (self.told.requests, self.told.stays) = (requests, stays);
    }

    /// What was told counts up to `until`, whether it is over or not.
    pub(super) fn close_told(&mut self, until: Nanos) {
        self.settle_told(until);
        for request in std::mem::take(&mut self.told.requests) {
            self.add_request(&request, until);
        }
        for stay in std::mem::take(&mut self.told.stays) {
            self.add_stay(&stay, until);
        }
    }

    /// What a request has done by `until`.
    #[inline]
    fn add_request(&mut self, request: &Request, until: Nanos) {
        if request.done <= until {
            self.little.left(request.came, request.done);
        } else {
            self.little.is_inside(request.came, until);
        }
        if request.node == NONE || request.at >= until {
            return;
        }
        let (part, _) = self.nodes[request.node as usize];
        let (part, tally) = (&mut self.parts[part as usize], &mut self.tallies[request.node as usize]);
        let departs = request.departs.min(until);
        tally.number(self.measured, request.at, departs);
        part.series.spell(Lane::Number, request.at, departs);
        if request.begins < departs {
            tally.busy(self.measured, request.begins, departs, 1);
            part.series.spell(Lane::Busy, request.begins, departs);
            if self.measured.counts(request.came) {
                self.spent.add(departs.0 - request.begins.0, request.for_nobody);
            }
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
