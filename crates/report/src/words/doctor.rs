//! What a machine allows, what is wrong with it, and the commands that change it, in words.
//!
//! A command stands alone, so that it can be copied. Lasting settings are in `docs/machines.md`.

use crate::format::{chosen, chosen_share, chosen_time, count, number, rate, share, size, time};
use crate::words::Tone;
use headway_base::Machine;
use headway_stats::Summary;
use headway_stats::doctor::{Bound, Change, Diagnosis, Finding, Fitness, Measured, Problem, Resource, Unit};
use headway_stats::summary::{DmaLatency, FindingId, LoadVerdict, Severity, Source, WaitStrategy};
use std::borrow::Cow;

/// Whether the machine is fit, as a word, and what that means as a sentence without a capital.
pub fn fitness(diagnosis: &Diagnosis) -> (&'static str, Tone, String) {
    let planned = diagnosis.demand.is_some();
    let (word, tone, remarks) = match diagnosis.fitness() {
        Fitness::Fit => ("FIT", Tone::Good, ""),
        Fitness::Remarks => ("FIT", Tone::Warn, "; see the remarks below"),
        Fitness::Unfit => ("NOT FIT", Tone::Bad, ""),
    };
    let late = diagnosis.findings.iter().any(|finding| {
        matches!(finding.problem, Problem::Late { .. }) && finding.severity == Severity::Error
    });
    let meaning = match diagnosis.first().filter(|_| planned) {
        Some(bound) if late && !bound.ends() => {
            "this machine wakes too late for it, whatever it sends".into()
        }
        Some(bound) if bound.ends() => {
            format!("first to run out: {} ({})", resource(bound.resource), against(bound))
        }
        Some(bound) => format!(
            "nothing that is known runs out; closest: {} ({} used)",
            resource(bound.resource),
            used(bound).unwrap_or_default()
        ),
        None if planned => "nothing that is known runs out".into(),
        None => "no plan is given: add a URL or a scenario with the flags of `headway run`".into(),
    };
    (word, tone, meaning + remarks)
}

/// What runs out.
pub fn resource(of: Resource) -> &'static str {
    match of {
        Resource::Cap => "connection cap (-c)",
        Resource::Descriptors => "file descriptors",
        Resource::SystemDescriptors => "system file descriptors",
        Resource::Ports => "local ports",
        Resource::PortsInTimeWait => "local ports in TIME_WAIT",
        Resource::Conntrack => "connection tracking",
        Resource::Memory => "memory",
        Resource::Processor => "worker cores",
        Resource::Quota => "CPU quota",
        Resource::ReceiveBuffer => "receive buffer",
        Resource::Timing => "late wake-ups",
    }
}

/// A quantity of a bound.
pub fn amount(x: f64, unit: Unit) -> String {
    match unit {
        Unit::Connections => count(x.max(0.0).round() as u64),
        Unit::ConnectionsPerSecond | Unit::RequestsPerSecond => rate(x),
        Unit::Share => share(x),
    }
}

/// What is counted, behind a quantity.
pub fn unit(of: Unit) -> &'static str {
    match of {
        Unit::Connections => "connections",
        Unit::ConnectionsPerSecond => "new connections",
        Unit::RequestsPerSecond => "requests",
        Unit::Share => "of the instants",
    }
}

/// The share that the plan uses.
pub fn used(bound: &Bound) -> Option<String> {
    bound.used().map(|used| if used.is_finite() { format!("{:.0} %", 100.0 * used) } else { "all".into() })
}

/// What is asked for beside what there is: `300 connections of 250`.
pub fn against(bound: &Bound) -> String {
    let asks = bound.asks.map_or_else(|| "-".to_owned(), |asks| amount(asks, bound.unit));
    format!("{asks} {} asked for, {} possible", unit(bound.unit), amount(bound.allows, bound.unit))
}

/// What a bound says of a plan whose response time is not known.
pub fn full(bound: &Bound) -> Option<String> {
    bound.full_at_s.map(|s| format!("full at {}", time(s)))
}

/// A finding as a sentence or two.
pub fn finding(of: &Finding) -> String {
    match &of.problem {
        Problem::Exceeded { bound } => exceeded(bound),
        Problem::NearlyExceeded { bound } => {
            format!(
                "The plan nearly uses up this machine's {}: {}.",
                resource(bound.resource),
                against(bound)
            )
        }
        Problem::SlowPorts { bound } => format!(
            "The plan uses more than half of the local ports to one address of a target ({}). From there on Linux takes milliseconds to \
             open a connection.",
            against(bound)
        ),
        Problem::Late { share: of, tolerated, scale_s, p99_s, max_s, n, neighbours } => format!(
            "{} of {} instants were met more than {} late, and {} is tolerated; p99 {}, longest {}. {}.",
            share(*of),
            count(*n),
            chosen_time(*scale_s),
            chosen_share(*tolerated),
            time(*p99_s),
            time(*max_s),
            if *neighbours {
                "Other processes had the cores"
            } else {
                "The cores were asleep, or taken by the host"
            }
        ),
        Problem::Quota { cores, period_s, file } => format!(
            "A CPU quota of {} cores: used up, it stops the generator for the rest of {} ({file}).",
            number(*cores),
            chosen_time(*period_s)
        ),
        Problem::Governor { name } => {
            format!("The frequency governor is {name}: a core that was idle is slow at first.")
        }
        Problem::Steal { share: of } => {
            format!("The host took {} of the processor time for other machines.", share(*of))
        }
        Problem::NotSynchronised => {
            "The clock is not synchronised. Shards on several machines would start apart.".into()
        }
        Problem::SlowClock { source, read_s } => {
            format!("The clock source is {source}: one reading takes {}.", time(*read_s))
        }
        Problem::ShortQueue { most } => format!(
            "At most {} connections wait to be accepted on this machine, the target's too; further ones retry after 1 s.",
            count(*most)
        ),
    }
}

fn exceeded(bound: &Bound) -> String {
    let asks = amount(bound.asks.unwrap_or(0.0), bound.unit);
    let allows = amount(bound.allows, bound.unit);
    match bound.resource {
        Resource::Cap => {
            format!("The plan needs {asks} connections at once, and its cap is {allows}: the rest wait.")
        }
        Resource::Descriptors => {
            format!("The plan asks for {asks} connections, and this process may open {allows} (ulimit -n).")
        }
        Resource::SystemDescriptors => {
            format!(
                "The plan asks for {asks} connections, and the whole system may open {allows} more files."
            )
        }
        Resource::Ports => format!(
            "The plan asks for {asks} connections, and there are {allows} local ports to one address of a target."
        ),
        Resource::PortsInTimeWait => format!(
            "The plan opens {asks} connections, and ports that wait after their connections allow {allows}."
        ),
        Resource::Conntrack => format!(
            "The plan asks for {asks} tracked connections, and there is room for {allows}: packets of others are dropped."
        ),
        Resource::Memory => {
            format!("The plan asks for {asks} connections, and the memory is enough for some {allows}.")
        }
        Resource::Processor => format!(
            "The plan asks for {asks} {}, and its workers handle some {allows} before they are saturated (measured here).",
            unit(bound.unit)
        ),
        Resource::Quota => format!(
            "The plan asks for {asks} {}, and the CPU quota is enough for some {allows} (measured here).",
            unit(bound.unit)
        ),
        Resource::ReceiveBuffer => format!(
            "Answers to {asks} requests come, and what waits while the worker stands still fits up to {allows}: the rest is dropped."
        ),
        Resource::Timing => "Instants are met too late.".into(),
    }
}

/// What the user does: a command, or a sentence where no command does it.
pub fn change(of: &Change) -> Cow<'static, str> {
    Cow::from(match of {
        Change::Descriptors { to, hard, .. } if to <= hard => format!("ulimit -n {to}"),
        Change::Descriptors { to, most: Some(most), .. } if to > most => {
            format!("sudo sysctl -w fs.nr_open={to} && sudo prlimit --pid $$ --nofile={to}:{to}")
        }
        Change::Descriptors { to, .. } => format!("sudo prlimit --pid $$ --nofile={to}:{to}"),
        Change::SystemDescriptors { to } => format!("sudo sysctl -w fs.file-max={to}"),
        Change::PortRange { first, last } => {
            format!("sudo sysctl -w net.ipv4.ip_local_port_range='{first} {last}'")
        }
        Change::ReuseTimeWait => "sudo sysctl -w net.ipv4.tcp_tw_reuse=1".into(),
        Change::KeepAlive => "Keep connections open: one for several requests.".into(),
        Change::Cap { to } => format!("headway run ... -c {to}"),
        Change::Threads { to } => format!("headway run ... --threads {to}"),
        Change::Shards { to } => format!("Send it from {to} machines: --shard 0/{to} to {}/{to}.", to - 1),
        Change::Conntrack { to } => format!("sudo sysctl -w net.netfilter.nf_conntrack_max={to}"),
        Change::ReceiveBuffer { to } => {
            format!("sudo sysctl -w net.core.rmem_max={to} net.core.rmem_default={to}")
        }
        Change::Quota { cores, file } => format!("Raise the quota to {} cores ({file}).", chosen(*cores)),
        Change::Governor => "sudo cpupower frequency-set -g performance".into(),
        Change::DmaLatency => "sudo setfacl -m u:$USER:rw /dev/cpu_dma_latency".into(),
        Change::WaitAuto => "headway run ... --wait auto".into(),
        Change::Realtime { permitted: true } => "headway run ... --realtime".into(),
        Change::Realtime { permitted: false } => {
            "sudo setcap cap_sys_nice+ep \"$(command -v headway)\" && headway run ... --realtime".into()
        }
        Change::OtherMachine => "Free the cores, or use a machine whose cores are its own.".into(),
        Change::Synchronise => "sudo timedatectl set-ntp true".into(),
        Change::ClockSource => {
            "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource".into()
        }
        Change::Somaxconn { to } => format!("sudo sysctl -w net.core.somaxconn={to}"),
    })
}

/// How late wake-ups were, in one sentence.
pub fn lateness(measured: &Measured) -> String {
    let lateness = &measured.lateness;
    let strategy = match measured.wait.strategy {
        WaitStrategy::Auto => "auto",
        WaitStrategy::Sleep => "sleep",
        WaitStrategy::Spin => "spin",
    };
    let realtime = if measured.wait.realtime { " --realtime" } else { "" };
    format!(
        "{} by --wait {strategy}{realtime}: p50 {}, p99 {}, longest {}; {} later than {}",
        time(lateness.over_s),
        time(lateness.p50),
        time(lateness.p99),
        time(lateness.max),
        share(lateness.beyond),
        chosen_time(lateness.scale_s)
    )
}

/// What a request costs, or of sockets that are kept connecting an attempt: its name and a sentence; none where it was not measured.
pub fn cost(measured: &Measured) -> Option<(&'static str, String)> {
    let (name, cost, how) = match measured.attempt {
        Some(attempt) => ("one attempt", attempt, "given up, over loopback"),
        None => ("one request", measured.request?, "HTTP/1.1 over loopback"),
    };
    let disturbed = match cost.is_disturbed() {
        true => format!(
            ". Others had the cores for {} of even the calmest piece of this measurement: it may cost less, and the worker cores and a CPU \
             quota allow more",
            share(cost.disturbed)
        ),
        false => String::new(),
    };
    let text = format!(
        "{} of a worker's core, {} of the whole process ({how}, n = {}){disturbed}",
        time(cost.worker_s),
        time(cost.process_s),
        count(cost.n)
    );
    Some((name, text))
}

/// What became of `/dev/cpu_dma_latency`.
pub fn dma_latency(measured: &Measured) -> &'static str {
    match measured.wait.dma_latency {
        DmaLatency::Held => "/dev/cpu_dma_latency can be held at 0",
        DmaLatency::NoIdleStates => "none that /dev/cpu_dma_latency could hold off (no cpuidle driver)",
        DmaLatency::Missing => "/dev/cpu_dma_latency is missing, as in most containers",
        DmaLatency::Refused => "/dev/cpu_dma_latency may not be opened by this user",
        DmaLatency::Failed => "/dev/cpu_dma_latency does not work",
        DmaLatency::NotUsed => "left as they are (--wait sleep or spin)",
    }
}

/// What the machine says of itself: names and texts.
pub fn machine(of: &Machine) -> Vec<(&'static str, String)> {
    const NOT_TOLD: &str = "not reported";
    let or = |text: Option<String>| text.unwrap_or_else(|| NOT_TOLD.into());
    let limit = |n: u64| if n == u64::MAX { "no limit".to_owned() } else { count(n) };
    let d = of.descriptors;
    let system = d.system.map(|(most, open)| format!(", system {} with {} open", limit(most), count(open)));
    let range = of.ports.range.map(|(first, last)| format!("{first} to {last}"));
    let reuse = of.ports.reuse.map_or(String::new(), |reuse| format!(", tcp_tw_reuse {reuse}"));
    let waiting = of.ports.waiting.map_or(String::new(), |n| format!(", {} in TIME_WAIT now", count(n)));
    let bytes = |x: Option<u64>| or(x.map(|x| size(x as f64)));
    let quota =
        of.quota.as_ref().map(|quota| format!(", quota {} cores ({})", number(quota.cores), quota.file));
    let clock = &of.clock;
    let error = clock.error_s.map_or(String::new(), |s| format!(" within {}", time(s)));
    let synchronised = match clock.synchronised {
        Some(true) => format!("synchronised{error}"),
        Some(false) => "not synchronised".into(),
        None => NOT_TOLD.into(),
    };
    let source = clock.source.as_deref().unwrap_or(NOT_TOLD);
    let governors = if of.governors.is_empty() { NOT_TOLD.to_owned() } else { of.governors.join(", ") };
    let conntrack = of.conntrack.map(|c| format!("{} of {} tracked", count(c.tracked), count(c.most)));
    vec![
        ("cores", format!("{}{}", of.cores, quota.unwrap_or_default())),
        ("governor", governors),
        (
            "descriptors",
            format!(
                "soft {}, hard {}, fs.nr_open {}{}",
                limit(d.soft),
                limit(d.hard),
                or(d.most.map(limit)),
                system.unwrap_or_default()
            ),
        ),
        ("ports", format!("{}{reuse}{waiting}", or(range))),
        (
            "buffers",
            format!(
                "rmem {} (at most {}), wmem {} (at most {})",
                bytes(of.buffers.receive),
                bytes(of.buffers.receive_most),
                bytes(of.buffers.send),
                bytes(of.buffers.send_most)
            ),
        ),
        ("somaxconn", or(of.somaxconn.map(count))),
        ("conntrack", conntrack.unwrap_or_else(|| "not in the kernel".into())),
        ("memory", or(of.memory.map(|bytes| format!("{} available", size(bytes as f64))))),
        ("clock", format!("{source}, {} a reading, {synchronised}", time(clock.read_s))),
    ]
}

/// Findings that blame this machine.
const OF_MACHINE: [FindingId; 5] =
    [FindingId::Late, FindingId::Bunched, FindingId::Saturated, FindingId::LocalLimit, FindingId::Stall];

/// Share of a limit from which on it is worth a line.
const NEAR: f64 = 0.5;

/// Where to look when a run was not sent as specified and the machine is to blame: the bound that ended it, or would first.
pub fn advice(summary: &Summary) -> Option<String> {
    let judged = matches!(summary.verdict.load, Some(LoadVerdict::Invalid | LoadVerdict::Inconclusive));
    let blamed = summary.verdict.findings.iter().any(|finding| {
        let counts = finding.severity > Severity::Info || finding.id == FindingId::Stall;
        OF_MACHINE.contains(&finding.id) && counts
    });
    let live = summary.source == Source::Live && summary.audit.is_none();
    if !(judged && blamed && live) {
        return None;
    }
    let bound = summary.generator.as_ref()?.first_bound.as_ref();
    // What is far from its limit is not what made the load late.
    let lacked = summary.verdict.findings.iter().any(|finding| finding.id == FindingId::LocalLimit);
    let near = |asks: Option<f64>, allows: f64| asks.is_some_and(|asks| asks >= NEAR * allows);
    let first = bound.filter(|bound| lacked || near(bound.asks, bound.allows));
    let first = match first {
        Some(of) => {
            let asked =
                of.asks.map_or(String::new(), |asks| format!(", {} asked for", amount(asks, of.unit)));
            let (allows, unit) = (amount(of.allows, of.unit), unit(of.unit));
            format!("; first to run out: {} ({allows} {unit} possible{asked})", resource(of.resource))
        }
        None if lacked => String::new(),
        None => return None,
    };
    Some(format!("`headway doctor` with these arguments says what it allows{first}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_as_a_shell_takes_them() {
        let descriptors = |to, hard, most| change(&Change::Descriptors { to, hard, most });
        assert_eq!(descriptors(10_000, 20_000, Some(1 << 20)), "ulimit -n 10000");
        assert_eq!(descriptors(30_000, 20_000, Some(1 << 20)), "sudo prlimit --pid $$ --nofile=30000:30000");
        assert!(
            descriptors(2_000_000, 20_000, Some(1 << 20))
                .starts_with("sudo sysctl -w fs.nr_open=2000000 && ")
        );
        assert_eq!(
            change(&Change::PortRange { first: 1_024, last: 65_535 }),
            "sudo sysctl -w net.ipv4.ip_local_port_range='1024 65535'"
        );
        assert_eq!(change(&Change::Shards { to: 3 }), "Send it from 3 machines: --shard 0/3 to 2/3.");
    }

    #[test]
    fn a_run_that_the_machine_spoilt_names_the_doctor_and_the_bound() {
        use headway_stats::summary::{Finding, Generator};
        let finding = Finding { id: FindingId::LocalLimit, severity: Severity::Error, ..Finding::default() };
        let bound = Bound {
            resource: Resource::Descriptors,
            unit: Unit::Connections,
            allows: 250.0,
            asks: Some(300.0),
            full_at_s: None,
        };
        let generator = Generator { first_bound: Some(bound), ..Generator::default() };
        let mut summary = Summary { source: Source::Live, generator: Some(generator), ..Summary::default() };
        summary.verdict.findings.push(finding);
        summary.verdict.load = Some(LoadVerdict::Invalid);
        assert_eq!(
            advice(&summary).unwrap(),
            "`headway doctor` with these arguments says what it allows; first to run out: file descriptors (250 \
             connections possible, 300 asked for)"
        );
        summary.verdict.load = Some(LoadVerdict::Valid);
        assert_eq!(advice(&summary), None);
        summary.verdict.load = Some(LoadVerdict::Invalid);
        summary.verdict.findings[0].id = FindingId::Feedback;
        assert_eq!(advice(&summary), None, "the target is to blame");
    }
}
