//! What a plan is made of, where a word or a number does not say it: many phases, the log that it repeats.

use crate::format::{chosen, chosen_time, plural, time, visible};
use headway_stats::summary::{PlanLog, PlanPhase};

/// Phases that are too many to be listed.
pub fn many_phases(phases: &[PlanPhase]) -> String {
    let values = || phases.iter().flat_map(|phase| [phase.from, phase.to]);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let length: f64 = phases.iter().map(|phase| phase.length_s).sum();
    format!(
        "{} over {}, between {} and {}",
        plural(phases.len() as u64, "piece"),
        time(length),
        chosen(least),
        chosen(most)
    )
}

/// Stamps as coarse as this hold several arrivals at one instant.
const COARSE: f64 = 1.0;

/// A log that says when each arrives: `access.log: stamps of 1.00 s, each arrival at a random place within its step; 3 rows could not be read`.
pub fn log(log: &PlanLog) -> String {
    let step = chosen_time(log.resolution_s);
    let stamps = match log.spread {
        true => format!(
            "stamps of {step}, each arrival at a random place within its step (spread=no leaves them at its beginning)"
        ),
        false if log.resolution_s >= COARSE => {
            format!(
                "stamps of {step}, so that all arrivals of a step are due at its beginning (spread=yes spreads them)"
            )
        }
        false => format!("stamps of {step}"),
    };
    let parts: Vec<String> = [stamps].into_iter().chain(left_out(log)).collect();
    format!("{}: {}", visible(&log.file), parts.join("; "))
}

/// What of a log does not arrive, if anything.
pub fn left_out(log: &PlanLog) -> Option<String> {
    let of = |n: u64, thing: &str, what: &str| (n > 0).then(|| format!("{} {what}", plural(n, thing)));
    let parts = [
        of(log.unreadable, "row", "could not be read"),
        of(log.no_step, "arrival", "left out, which no step can send as they are logged"),
        of(log.left_out, "row", "left out, which are sessions or follow responses"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_says_what_its_stamps_are_and_what_is_missing() {
        let plain = PlanLog { file: "a.log".into(), resolution_s: 1.0, spread: true, ..PlanLog::default() };
        assert!(
            log(&plain).starts_with("a.log: stamps of 1 s, each arrival at a random place"),
            "{}",
            log(&plain)
        );
        let kept = PlanLog { spread: false, unreadable: 3, left_out: 1, no_step: 2, ..plain.clone() };
        let words = log(&kept);
        assert!(words.contains("due at its beginning (spread=yes"), "{words}");
        assert!(
            words.ends_with(
                "; 3 rows could not be read; 2 arrivals left out, which no step can send as they are logged; 1 row left out, which are sessions or follow responses"
            ),
            "{words}"
        );
        let fine = PlanLog { spread: false, resolution_s: 1e-3, ..plain };
        assert_eq!(log(&fine), "a.log: stamps of 1 ms");
    }

    #[test]
    fn many_phases_are_not_listed() {
        let phase = |from, to| PlanPhase { length_s: 900.0, from, to, warmup: false };
        let words = many_phases(&[phase(0.0, 50.0), phase(50.0, 200.0), phase(200.0, 3.0)]);
        assert!(words.starts_with("3 pieces over ") && words.ends_with("between 0 and 200"), "{words}");
    }
}
