//! A protocol made for the occasion, to show what adding one takes: a [`ClientConnection`], and a [`Protocol`] that makes it. Each
//! request is a line with its number; each answer is a line that begins with it, in any order; a line without one keeps a quiet
//! connection alive, by a timer of its own.

use crate::harness::{Load, guarded};
use crate::scripted::Scripted;
use headway_base::{Nanos, Outcome};
use headway_live::Protocols;
use headway_wire::{
    ClientConnection, Event, Head, Opened, Payload, Protocol, ProtocolError, ResetReason, Settings, StreamId,
    Unfit,
};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
struct Toy;

/// Requests at once.
const SLOTS: usize = 4;
const QUIET: Nanos = Nanos::from_millis(20);

impl Protocol for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["toy"]
    }

    fn streams(&self, _: &Settings) -> u32 {
        SLOTS as u32
    }

    fn connect(&self, _: &Settings) -> Box<dyn ClientConnection> {
        Box::new(Lines { open: [0; SLOTS], ..Lines::default() })
    }
}

#[derive(Default)]
struct Lines {
    /// Bytes of the request of each slot; 0 where it is free.
    open: [u64; SLOTS],
    to_send: Vec<u8>,
    line: Vec<u8>,
    events: VecDeque<Event<'static>>,
    quiet_from: Option<Nanos>,
    over: bool,
}

impl ClientConnection for Lines {
    fn open(&mut self, payload: &Payload) -> Opened {
        let Ok(request) = payload.http() else { return Opened::Unfit(Unfit::NotHttp) };
        let Some(slot) = self.open.iter().position(|&bytes| bytes == 0) else { return Opened::Blocked };
        let line = format!("{slot} {}\n", request.target());
        self.open[slot] = line.len() as u64;
        self.to_send.extend_from_slice(line.as_bytes());
        Opened::Stream(StreamId(slot as u32))
    }

    fn cancel(&mut self, _: StreamId) {
        self.over = true;
    }

    fn receive<'a, 'b: 'a>(&'a mut self, _: Nanos, bytes: &mut &'b [u8]) -> Option<Event<'a>> {
        for &byte in std::mem::take(bytes) {
            if byte != b'\n' {
                self.line.push(byte);
                continue;
            }
            let line = String::from_utf8(std::mem::take(&mut self.line)).unwrap_or_default();
            let slot = line.split(' ').next().and_then(|slot| slot.parse::<usize>().ok());
            let Some(slot) = slot.filter(|&slot| slot < SLOTS && self.open[slot] > 0) else { continue };
            self.open[slot] = 0;
            let (stream, bytes_received) = (StreamId(slot as u32), line.len() as u64 + 1);
            self.events.extend([
                Event::Begun { stream },
                Event::Head { stream, status: 200, head: Head::EMPTY },
                Event::End { stream, bytes_received },
            ]);
        }
        self.events.pop_front()
    }

    fn receive_end(&mut self, _: Nanos) -> Option<Event<'_>> {
        self.over = true;
        let slot = self.open.iter().position(|&bytes| bytes > 0)?;
        self.open[slot] = 0;
        let reason = ResetReason::Protocol(ProtocolError::Unsolicited);
        Some(Event::Reset { stream: StreamId(slot as u32), reason })
    }

    fn poll_transmit(&mut self, now: Nanos, buffer: &mut Vec<u8>) -> bool {
        let any = !self.to_send.is_empty();
        buffer.append(&mut self.to_send);
        if any {
            self.quiet_from = Some(now);
        }
        any
    }

    fn bytes_sent(&self, stream: StreamId) -> u64 {
        self.open[stream.0 as usize]
    }

    fn poll_timeout(&self) -> Option<Nanos> {
        self.quiet_from.map(|from| from + QUIET)
    }

    fn handle_timeout(&mut self, _: Nanos) {
        self.to_send.extend_from_slice(b"alive\n");
    }

    fn capacity(&self) -> u32 {
        if self.over { 0 } else { SLOTS as u32 }
    }
}

#[test]
fn a_protocol_is_a_connection_and_a_line() {
    guarded(|| {
        let alive = Arc::new(AtomicUsize::new(0));
        let count = alive.clone();
        // Answers in pairs, the later one first.
        let target = Scripted::new(move |_, stream| {
            let (mut held, mut out) = (None, stream.try_clone().unwrap());
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if line == "alive" {
                    count.fetch_add(1, Ordering::SeqCst);
                    continue;
                }
                let Some(first) = held.take() else {
                    held = Some(line);
                    continue;
                };
                let _ = out.write_all(format!("{line} is answered\n{first} is answered\n").as_bytes());
            }
        });
        // Every 40 ms, so that the connection is quiet in between.
        let load = Load { rate: 25.0, length: Nanos::from_millis(480), ..Load::default() };
        let load = Load { protocols: Protocols::only(&Toy, 100), ..load };
        let ran = load.run(&target.address).all(Outcome::Ok);
        assert_eq!(ran.records.len(), 12);
        assert_eq!(ran.report.workers[0].spoke.iter().collect::<Vec<_>>(), [(&"toy", &1)]);
        assert_eq!(target.accepted(), 1);
        assert!(alive.load(Ordering::SeqCst) >= 5, "its timer was not heard");
        // The first of a pair is answered with the second, 40 ms later.
        let service = |k: usize| ran.records[k].done - ran.records[k].sent.get().unwrap();
        assert!(service(0) > Nanos::from_millis(35) && service(2) > Nanos::from_millis(35));
    });
}
