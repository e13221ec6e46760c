//! Audits of loads whose truth is known.

mod auditing;
mod causes;
mod estimated;
mod said;
mod traffic;
