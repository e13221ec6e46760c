//! The command line as a library: what it is given, what that comes to, and what it writes.

mod audit;
mod dry_run;
mod exit;
mod folders;
mod merge;
mod outputs;
mod repeat;
mod settings;
mod simulate;
