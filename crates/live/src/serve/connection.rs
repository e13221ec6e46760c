//! One client's connection to the calibrated target.

use super::state::{Answer, Asked};
use headway_base::Nanos;
use headway_wire::http1;
use std::collections::VecDeque;

/// The response to a request.
#[derive(Debug)]
pub(super) enum Reply {
    Ok,
    State(Answer),
    Failed,
    Full,
    Malformed(u16),
}

#[derive(Debug)]
pub(super) struct Connection {
    /// Number of the connection, from 0.
    pub(super) number: u64,
    pub(super) http: http1::Server,
    /// Answers to come, in order, by number of departure.
    pub(super) replies: VecDeque<(u64, Reply)>,
    pub(super) last_departure: Nanos,
    pub(super) continue_wanted: bool,
    /// What the request under way asks of a target with state.
    pub(super) asked: Option<Asked>,
    /// The client sends no more.
    pub(super) ended: bool,
}

impl Connection {
    pub(super) fn new(number: u64) -> Connection {
        Connection {
            number,
            http: http1::Server::new(headway_wire::Limits::DEFAULT),
            replies: VecDeque::new(),
            last_departure: Nanos::ZERO,
            continue_wanted: false,
            asked: None,
            ended: false,
        }
    }

    /// Appends `100 Continue` if it is wanted.
    pub(super) fn send_continue(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.continue_wanted) {
            self.http.send_continue(out);
        }
    }
}
