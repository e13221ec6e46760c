//! `/dev/cpu_dma_latency`: while a process holds it open, no core enters an idle state that takes longer to leave than the
//! bound that it wrote (Linux, Documentation/power/pm_qos_interface.rst). It is what cyclictest does.

use super::Machine;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};

/// What became of `/dev/cpu_dma_latency`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DmaLatency {
    /// Held at zero: no idle state but polling.
    Held,
    /// Not asked for.
    NotUsed,
    /// No driver of idle states here heeds it.
    NoIdleStates,
    /// The device is not there, as in most containers.
    Missing,
    /// This user may not open it.
    Refused,
    /// It is there and does not work.
    Failed,
}

/// Bounds the wake-up latency of all cores to zero, for as long as the file stays open.
pub(super) fn hold(machine: &Machine) -> (DmaLatency, Option<File>) {
    let driver = fs::read_to_string(&machine.idle_driver).unwrap_or_default();
    if matches!(driver.trim(), "" | "none") {
        return (DmaLatency::NoIdleStates, None);
    }
    let zero = 0i32.to_ne_bytes();
    let held = OpenOptions::new()
        .write(true)
        .open(&machine.dma_latency)
        .and_then(|mut device| device.write_all(&zero).map(|()| device));
    match held {
        Ok(device) => (DmaLatency::Held, Some(device)),
        Err(error) => match error.kind() {
            ErrorKind::NotFound => (DmaLatency::Missing, None),
            ErrorKind::PermissionDenied => (DmaLatency::Refused, None),
            _ => (DmaLatency::Failed, None),
        },
    }
}
