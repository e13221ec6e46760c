//! How the workers waited for the next intended time, what that cost, and what more rights would give.

use crate::format::{plural, share, time};
use headway_stats::Summary;
use headway_stats::summary::{DmaLatency, Generator, IdleLoops, Text, Wait, WaitStrategy};

/// What to do where other processes made the generator late.
pub const NEIGHBOURS: &str = "Other processes had the cores: stop them, or use another machine.";

/// How the workers waited, and what it cost, in one sentence; none where nothing says.
pub fn waited(generator: &Generator) -> Option<String> {
    let Some(wait) = &generator.wait else {
        // As documents of 0.1.0 have it.
        return generator.waiting.as_ref().map(Text::to_string);
    };
    let mut parts = vec![how(wait)];
    parts.extend(awake(wait));
    if wait.realtime {
        parts.push(match wait.realtime_lost {
            0 => "real-time priority".into(),
            lost => format!(
                "real-time priority, which {} lost, having hardly slept",
                plural(lost.into(), "worker")
            ),
        });
    }
    parts.extend(cost(generator));
    if generator.same_host_as_target == Some(true) && is_awake(wait) {
        parts.push("so the target, on the same machine, was measured warm".into());
    }
    Some(parts.join("; "))
}

fn how(wait: &Wait) -> String {
    match (wait.strategy, wait.horizon_s) {
        (WaitStrategy::Spin, _) => "never sleeping".into(),
        (_, None) => "never idle long enough to sleep".into(),
        (_, Some([least, most])) if least == most => {
            format!("sleeping until {} before, then polling", time(least))
        }
        (_, Some([least, most])) => {
            format!(
                "sleeping until {} to {} before, by the lateness seen, then polling",
                time(least),
                time(most)
            )
        }
    }
}

/// What kept the processors of this machine awake, if anything did.
pub fn awake(wait: &Wait) -> Option<String> {
    match (wait.dma_latency, wait.idle_loops) {
        (DmaLatency::Held, _) => Some("idle states held off (/dev/cpu_dma_latency)".into()),
        (_, IdleLoops::Running) => {
            let on =
                wait.idle_loop_cores.map_or(String::new(), |n| format!(" on {}", plural(n.into(), "core")));
            let from =
                wait.idle_loops_from_s.map_or(String::new(), |s| format!(" from {} on", time(s.max(0.0))));
            Some(format!("loops of idle priority{on}{from}, since wake-ups came late"))
        }
        _ => None,
    }
}

/// Whether the cores of this machine were kept from halting.
pub fn is_awake(wait: &Wait) -> bool {
    wait.dma_latency == DmaLatency::Held || wait.idle_loops == IdleLoops::Running
}

/// What the workers used of a core, on the mean over their time.
fn cost(generator: &Generator) -> Option<String> {
    let time =
        |worker: &headway_stats::summary::WorkerTime| worker.handling + worker.polling + worker.sleeping;
    let longest = generator.workers.iter().map(time).fold(0.0, f64::max);
    let used: Option<f64> = generator.workers.iter().map(|worker| worker.processor).sum();
    let used = used.filter(|_| longest > 0.0)?;
    Some(format!("worker CPU {} of a core", share(used / longest)))
}

/// In a line, what more rights would give, where wake-ups came late and this machine does not allow what would help most.
pub fn rights(generator: &Generator) -> Option<&'static str> {
    let wait = generator.wait.as_ref()?;
    let running = wait.idle_loops == IdleLoops::Running;
    // One in a thousand moves no percentile that is looked at.
    let late = wait.late_wakeups * 1000 > wait.wakeups;
    match wait.dma_latency {
        _ if !late && !running => None,
        DmaLatency::Refused if running => {
            Some("/dev/cpu_dma_latency would do without loops: docs/machines.md")
        }
        DmaLatency::Refused | DmaLatency::Missing | DmaLatency::Failed if !running => {
            Some("/dev/cpu_dma_latency would wake it on time: docs/machines.md")
        }
        DmaLatency::NoIdleStates if wait.idle_loops == IdleLoops::Quota => {
            Some("a CPU quota forbids what would wake it on time: docs/machines.md")
        }
        _ => None,
    }
}

/// Whether other processes kept the workers waiting, and real-time priority could be had against that.
pub fn neighbours_can_be_passed(summary: &Summary) -> bool {
    let wait = summary.generator.as_ref().and_then(|generator| generator.wait.as_ref());
    wait.is_some_and(|wait| {
        let may = !wait.realtime && wait.strategy != WaitStrategy::Spin;
        may && wait.busy_neighbours && wait.cores > 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::WorkerTime;

    fn generator(wait: Wait) -> Generator {
        let worker = WorkerTime {
            handling: 1.0,
            polling: 1.0,
            sleeping: 8.0,
            processor: Some(0.7),
            ..WorkerTime::default()
        };
        Generator { workers: vec![worker; 2], wait: Some(wait), ..Generator::default() }
    }

    #[test]
    fn the_wait_is_one_sentence_with_its_cost() {
        let held = Wait { dma_latency: DmaLatency::Held, horizon_s: Some([5e-5, 5e-5]), ..Wait::default() };
        let mut generator = generator(held);
        assert_eq!(
            waited(&generator).unwrap(),
            "sleeping until 50.0 us before, then polling; idle states held off (/dev/cpu_dma_latency); worker CPU 14.0 % of a core"
        );
        generator.same_host_as_target = Some(true);
        assert!(
            waited(&generator).unwrap().ends_with("so the target, on the same machine, was measured warm")
        );
        generator.wait = Some(Wait {
            idle_loops: IdleLoops::Running,
            idle_loop_cores: Some(2),
            idle_loops_from_s: Some(1.25),
            horizon_s: Some([5e-5, 4e-4]),
            ..Wait::default()
        });
        let loops = waited(&generator).unwrap();
        assert!(loops.contains("loops of idle priority on 2 cores from 1.25 s on"), "{loops}");
        assert!(loops.contains("50.0 us to 400 us before"), "{loops}");
        generator.wait = Some(Wait { strategy: WaitStrategy::Spin, ..Wait::default() });
        assert_eq!(waited(&generator).unwrap(), "never sleeping; worker CPU 14.0 % of a core");
        generator.wait = None;
        assert_eq!((waited(&generator), rights(&generator)), (None, None));
    }

    #[test]
    fn rights_are_named_where_they_would_help() {
        let late = Wait { wakeups: 1000, late_wakeups: 2, ..Wait::default() };
        let said = |wait: Wait| rights(&generator(wait));
        let refused = Wait { dma_latency: DmaLatency::Refused, ..late.clone() };
        assert!(said(refused.clone()).unwrap().contains("would wake it on time"));
        assert_eq!(said(Wait { late_wakeups: 1, ..refused.clone() }), None, "on time");
        let running = Wait { idle_loops: IdleLoops::Running, ..refused.clone() };
        assert!(said(running.clone()).unwrap().contains("without loops"));
        assert_eq!(said(Wait { dma_latency: DmaLatency::Missing, ..running }), None, "nothing better");
        assert!(said(Wait { idle_loops: IdleLoops::Quota, ..refused }).is_some());
        assert_eq!(said(Wait { dma_latency: DmaLatency::Held, ..late.clone() }), None);
        assert_eq!(said(late), None, "not asked for");
    }

    #[test]
    fn real_time_priority_is_advised_against_neighbours() {
        let advised = |wait: Wait| {
            let generator = Some(generator(wait));
            neighbours_can_be_passed(&Summary { generator, ..Summary::default() })
        };
        let busy = Wait { busy_neighbours: true, cores: 2, ..Wait::default() };
        assert!(advised(busy.clone()));
        assert!(!advised(Wait { cores: 1, ..busy.clone() }));
        assert!(!advised(Wait { realtime: true, ..busy.clone() }));
        assert!(!advised(Wait { busy_neighbours: false, ..busy }));
    }
}
