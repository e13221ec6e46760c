//! Tests through the public interface: goldens of scipy, coverage of the intervals, rules, and conservation.

mod audit;
mod auditor;
mod coarse;
mod comparison;
mod coverage;
mod effect;
mod event_coverage;
mod events;
mod false_findings;
mod goldens;
mod lateness;
mod loops;
mod orders;
mod patterns;
mod rules;
mod runs;
mod simulated;
mod so_far;
mod steady;
mod tails;
mod thresholds;
mod transfer;
mod world;
