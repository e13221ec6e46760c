//! Records in, numbers out: headways, dispersion, quantiles with intervals, and the verdict on the load.
//!
//! Deliberately absent: clocks, files, sockets, threads, and any knowledge of where the records came from.

pub mod summary;

pub use summary::Summary;
