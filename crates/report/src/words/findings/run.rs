//! The run around the load: cut short, stalled, saturated, failed, unanswered, incomplete.

use crate::format::{chosen_time, count, instant, plural, share, share_of, time};
use headway_stats::summary::evidence::{LostShard, OpenRule, Run};

pub(super) fn sentence(of: &Run) -> String {
    match of {
        Run::Aborted { threshold, at_s, complete, of } => format!(
            "The threshold {threshold} was crossed after {} and ended the run: the numbers cover what fell due until then, their \
             intervals the {complete} of {of} segments of the measured phase that were complete.",
            time(*at_s)
        ),
        Run::Interrupted { at_s, complete, of } => format!(
            "The run was cut short after {}: the numbers cover what fell due until then, their intervals the {complete} of {of} \
             segments of the measured phase that were complete.",
            time(*at_s)
        ),
        Run::Stall { n, over_s, total_s, longest_s, at_s, cause } => format!(
            "The generator's threads stood still {} for more than {}, {} in all, the longest for {} at {}{}. Response times are \
             counted from when requests were due and include it.",
            plural(*n, "time"),
            chosen_time(*over_s),
            time(*total_s),
            time(*longest_s),
            instant(*at_s),
            cause.as_ref().map_or(String::new(), |cause| format!(" ({cause})"))
        ),
        Run::Saturated { n, of, busiest } => format!(
            "{} of {} worker threads were saturated: {} of the busiest one's time went into handling requests. Beyond this the \
             generator, not the target, sets the pace: add threads or machines.",
            count(*n),
            count(*of),
            share(*busiest)
        ),
        Run::LocalLimit { n, lacked } => local_limit(*n, lacked),
        Run::Unaccounted { n } => format!(
            "{} requests started and no record tells how they ended: the log breaks off. Response times lack them, most likely the \
             slowest.",
            count(*n)
        ),
        Run::Disordered { n } => {
            format!(
                "{} starts were reported out of order and counted as simultaneous with their neighbour.",
                count(*n)
            )
        }
        Run::Undecided { rules } => format!(
            "Too few arrivals, or too uneven ones, to decide {}. Run longer; an interval shrinks with the root of the length.",
            rules.iter().map(open).collect::<Vec<_>>().join(", ")
        ),
        Run::Censored { n, of, bounds } => format!(
            "{} of {} requests ({}) got no complete response. They count as longer than the time until they were given up, so these \
             response times are lower bounds: {}.",
            count(*n),
            count(*of),
            share_of(*n, *of),
            bounds.join(", ")
        ),
        Run::Errors { n, of, outcomes, many } => {
            let kinds: Vec<String> =
                outcomes.iter().map(|(name, count_of)| format!("{} {name}", count(*count_of))).collect();
            let read = match many {
                true => " Failures are often fast: read `response` and `response_ok` side by side.",
                false => "",
            };
            format!(
                "{} of {} requests ({}) did not end as expected: {}.{read}",
                count(*n),
                count(*of),
                share_of(*n, *of),
                kinds.join(", ")
            )
        }
        Run::InPause { n } => format!(
            "{} arrivals started within a pause of the plan and were counted as its beginning.",
            count(*n)
        ),
        Run::SameHost => {
            "Generator and target share this machine and compete for its processors: response times include that."
                .into()
        }
        Run::ProxyNotUsed { variable, target } => {
            format!("{variable} is set and not used: Headway connects to {target} directly, never through a proxy.")
        }
        Run::LogLost { lost, written, error } => format!(
            "The log has lost {}, and holds {} ({error}); the statistics have all of them.",
            plural(*lost, "row"),
            count(*written)
        ),
        Run::LogCutShort { folder } => format!(
            "The log in {folder} has no end mark: the process was killed or the disk was full. What was in flight, and up to a second \
             of records before, is missing."
        ),
        Run::ShardsApart { apart_s } => format!(
            "The shards began {} apart by their machines' clocks: their records are laid over each other as those clocks have it, and \
             together they are another load than the plan.",
            time(*apart_s)
        ),
        Run::MissingShards { n, shards } => incomplete(
            *n,
            &format!(
                "planned arrivals are in shards which are missing: {}",
                shards.iter().map(lost).collect::<Vec<_>>().join(", ")
            ),
        ),
        Run::MissingRecords { n } => incomplete(*n, "planned arrivals left no record"),
    }
}

fn incomplete(n: u64, what: &str) -> String {
    format!("The run is incomplete: {} {what}. The numbers are of the records that are there.", count(n))
}

fn lost(shard: &LostShard) -> String {
    match shard.planned {
        Some(n) => format!("{} ({} planned arrivals)", shard.shard, count(n)),
        None => shard.shard.clone(),
    }
}

fn open(rule: &OpenRule) -> String {
    let window = rule.window_s.map_or(String::new(), |window| format!(" at {}", chosen_time(window)));
    format!("{}{window} (n = {})", rule.rule, count(rule.n))
}

/// What a machine may lack, and what to do about it.
const LACKS: [(&str, &str, &str); 6] = [
    ("descriptors", "file descriptor left for the process", "raise `ulimit -n`, or lower -c"),
    ("system-descriptors", "file descriptor left on the whole system", "raise fs.file-max"),
    (
        "ports",
        "local port left to this target",
        "widen net.ipv4.ip_local_port_range, keep connections open, or send from several addresses",
    ),
    ("memory", "memory left for sockets", "raise net.ipv4.tcp_mem, or lower -c"),
    ("watches", "epoll watch left for the user", "raise fs.epoll.max_user_watches"),
    ("permission", "permission to connect", "look for a local firewall rule or a sandbox"),
];

fn local_limit(n: u64, lacked: &[String]) -> String {
    let named: Vec<_> = LACKS.iter().filter(|(what, ..)| lacked.iter().any(|lacks| lacks == what)).collect();
    let (what, next) = match &named[..] {
        [] => (
            "file descriptor, local port or memory left".to_owned(),
            "raise the limit (`ulimit -n`, net.ipv4.ip_local_port_range), or keep connections open"
                .to_owned(),
        ),
        named => {
            let join = |part: fn(&(&str, &str, &str)) -> String, by: &str| {
                named.iter().map(|lack| part(lack)).collect::<Vec<_>>().join(by)
            };
            (join(|lack| lack.1.to_owned(), ", or no "), join(|lack| lack.2.to_owned(), "; "))
        }
    };
    format!(
        "{} requests were not sent, because the generator had no {what}. They say nothing about the target: {next}.",
        count(n)
    )
}
