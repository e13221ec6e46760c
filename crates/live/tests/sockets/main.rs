//! The live world over real sockets, all of them this machine's: against the calibrated target, against targets that
//! misbehave, with TLS, and interrupted.
//!
//! No test asserts how long anything took, only that waiting was not cut short; each is ended by a watchdog should it
//! hang.

mod bad_answers;
mod bad_connections;
mod bytes;
mod datagrams;
mod harness;
mod http2;
mod interrupts;
mod limits;
mod many;
mod names;
mod pieces;
mod proxies;
mod reactor;
mod scripted;
mod serial;
mod served;
mod served_raw;
mod served_state;
mod tls;
mod tls_bad;
mod tls_server;
mod toy;
