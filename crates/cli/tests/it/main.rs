//! The command line as a library: what it is given, what that comes to, and what it writes.

mod audit;
mod audit_flags;
mod dry_run;
mod exit;
mod folders;
mod interrupt;
mod lab;
mod merge;
mod named;
mod outputs;
mod planted;
mod recompute;
mod repeat;
mod search_flags;
mod settings;
mod sim_flags;
mod sim_outputs;
mod simulate;
mod sweeps;
mod tools;
mod trace;
mod usage;
mod wanted;
