//! The run around the load: cut short, stalled, saturated, failed, unanswered, incomplete.

use super::Next::{By, Nothing, Shown};
use super::{Around, Told, says};
use crate::format::{chosen_time, count, instant, plural, rate, share, share_of, time};
use headway_stats::summary::evidence::{LostShard, OpenRule, Run, ShortShard};

pub(super) fn told(of: &Run) -> Told {
    match of {
        Run::Aborted { threshold, at_s, complete, of } => says!(
            Nothing,
            "The threshold {threshold} was crossed after {} and ended the run. {}",
            time(*at_s),
            until_then(*complete, *of)
        ),
        Run::Interrupted { at_s, complete, of } => {
            says!(Nothing, "The run was cut short after {}. {}", time(*at_s), until_then(*complete, *of))
        }
        Run::Stall { n, over_s, total_s, longest_s, at_s, cause } => says!(
            Nothing,
            "The generator's threads stood still {}, the longest for {} at {}. They did so for more \
                than {} each, {} in all{}. Response times are counted from when requests were due and \
                include it.",
            plural(*n, "time"),
            time(*longest_s),
            instant(*at_s),
            chosen_time(*over_s),
            time(*total_s),
            cause.as_ref().map_or(String::new(), |cause| format!(" ({cause})"))
        ),
        Run::Saturated { n, of, busiest } => says!(
            "Add threads or machines.",
            "{} of {} worker threads were saturated: the generator, not the target, sets the pace. \
                {} of the busiest one's time went into handling requests.",
            count(*n),
            count(*of),
            share(*busiest)
        ),
        Run::LocalLimit { n, lacked } => says(local_limit(*n, lacked), raise(lacked)),
        Run::Unaccounted { n } => says!(
            Nothing,
            "{} requests started and no record says how they ended: the log breaks off. Response \
                times lack them, most likely the slowest.",
            count(*n)
        ),
        Run::Disordered { n } => says!(
            Nothing,
            "{} starts were reported out of order and counted as simultaneous with their neighbour.",
            count(*n)
        ),
        Run::Undecided { rules } => {
            let first = rules.first().map_or_else(|| "the load".to_owned(), open);
            let more = match rules.len().saturating_sub(1) {
                0 => String::new(),
                n => format!(" and {}", plural(n as u64, "more rule")),
            };
            let all: Vec<String> =
                rules.iter().map(|rule| format!("{} (n = {})", open(rule), count(rule.n))).collect();
            let all = if all.is_empty() { String::new() } else { format!(" Open: {}.", all.join(", ")) };
            says!(
                "Run longer. An interval shrinks with the square root of the length.",
                "Too few arrivals, or too uneven ones, to decide {first}{more}.{all}"
            )
        }
        Run::Censored { n, of, bounds } => says!(
            Nothing,
            "{} of {} requests ({}) got no complete response. They count as longer than the time \
                until they were given up, so these response times are lower bounds: {}.",
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
            says!(
                Nothing,
                "{} of {} requests ({}) did not end as expected: {}.{read}",
                count(*n),
                count(*of),
                share_of(*n, *of),
                kinds.join(", ")
            )
        }
        Run::Unreachable { n } => says!(
            By(after_nothing_listened),
            "{} met a port at which nothing listens (ICMP).",
            plural(*n, "datagram")
        ),
        Run::Surplus { n, of } => says!(
            Shown("Say by --answer where a response ends, as in `resp` for Redis."),
            "{} of {} connections were replaced: bytes came beyond the end of a response.",
            count(*n),
            count(*of)
        ),
        Run::SentAgain { n, of, times } => says!(
            Nothing,
            "The target gave {} of {} requests back unread (HTTP/2). They were sent again on other \
                connections, {} in all, and their time went on.",
            count(*n),
            count(*of),
            plural(*times, "time")
        ),
        Run::Redirects { n, of } => says!(
            Shown("Follow them by -L (`redirects: 10` in a scenario)."),
            "{} of {} requests ({}) ended with a redirect, which was not followed.",
            count(*n),
            count(*of),
            share_of(*n, *of)
        ),
        Run::NamesNotRead { n, of, why } => says!(
            Shown("Look into the resolver of this machine: `getent ahosts NAME` asks it."),
            "The name that connections go to was read again {}, and {} of these failed ({why}). \
                Connections went on to the addresses that were known.",
            plural(*of, "time"),
            count(*n)
        ),
        Run::InPause { n } => says!(
            Nothing,
            "{} arrivals started within a pause of the plan and were counted as its beginning.",
            count(*n)
        ),
        Run::SameHost => says(
            "Generator and target share this machine and compete for its processors. Response times \
                include that.",
            Shown("Put the generator on another machine, or pin each to its own cores."),
        ),
        Run::Ports {
            needed,
            attempts_per_s,
            sockets,
            held_s,
            ports,
            addresses,
            time_wait,
            time_wait_after,
        } => {
            let of = match attempts_per_s {
                Some(per_s) => format!(
                    "attempts at {}, each with a port for up to {}",
                    rate(*per_s),
                    chosen_time(*held_s)
                ),
                None => format!("{} held at once", plural(sockets.unwrap_or(0), "connection")),
            };
            let after =
                time_wait_after.map_or(String::new(), |n| format!(", and {} after the run", count(n)));
            says!(
                "Connect from more addresses (--local-addr A,B), or lower the load. Or widen \
                net.ipv4.ip_local_port_range.",
                "Local ports may run out: up to {} are needed at once, and {} lead to one target. They \
                are for {of}, from {}. Ended connections held {} before{after} (TIME_WAIT, to any \
                target).",
                count(*needed),
                count(ports.saturating_mul(*addresses)),
                if *addresses == 1 {
                    "1 address".to_owned()
                } else {
                    format!("{} addresses", count(*addresses))
                },
                count(*time_wait)
            )
        }
        Run::ProxyNotUsed { variable, target } => says!(
            Nothing,
            "{variable} is set and not used: the target, {target}, is connected to directly. To go \
                through a proxy, give --proxy http://HOST:PORT."
        ),
        Run::JoinedLate { late_s, missed } => {
            let missed = match missed {
                0 => "No arrival had fallen due.".to_owned(),
                n => format!("{} had fallen due by then and ended as unsent.", plural(*n, "arrival")),
            };
            says!(
                Nothing,
                "The run joined its plan {} after it had begun (--start-at). {missed}",
                time(*late_s)
            )
        }
        Run::ClockOff { from, least_s, most_s } => {
            let (least, most, where_) = match *least_s >= 0.0 {
                true => (*least_s, *most_s, "ahead of"),
                false => (-most_s, -least_s, "behind"),
            };
            says!(
                "Synchronise the machines' clocks (NTP).",
                "The clock of this machine was {} to {} {where_} that of {from}. Shards begin together \
                by their clocks: ramps and phases smear by as much, and evenly paced arrivals are no \
                longer even.",
                time(least),
                time(most)
            )
        }
        Run::ClockFree => says(
            "The system says that nothing keeps this machine's clock right (STA_UNSYNC of \
                adjtimex). Shards begin together by their clocks.",
            "Synchronise the machines' clocks (NTP).",
        ),
        Run::StoreFailed { place, failures, last } => says!(
            Nothing,
            "The destination failed {}, and was tried again. What was to go there waited on this \
                machine's disk. At last {place} said: {last}.",
            plural(*failures, "time")
        ),
        Run::LogLost { lost, written, error } => says!(
            Nothing,
            "The log has lost {} and holds {}: {error}. The statistics have all of them.",
            plural(*lost, "row"),
            count(*written)
        ),
        Run::LogCutShort { folder } => says!(
            Nothing,
            "The log in {folder} has no end mark: the process was killed or the disk was full. What \
                was in flight, and up to a second of records before, is missing."
        ),
        Run::ShardsApart { apart_s, outside, of } => says!(
            Nothing,
            "Shards began {} apart: {} of {} requests are outside the merged phase. They are in no \
                number. Records are merged by the machines' clocks. Unless arrivals are Poisson at a \
                constant rate, the load is another one than planned.",
            time(*apart_s),
            count(*outside),
            count(*of)
        ),
        Run::MissingShards { n, shards } => says(
            incomplete(
                *n,
                "planned arrivals are in missing shards",
                &format!("These are {}. ", listed(shards, lost)),
            ),
            Nothing,
        ),
        Run::MissingRecords { n, shards } => {
            let of = listed(shards, short);
            let of = if of.is_empty() { of } else { format!("By shard: {of}. ") };
            says(incomplete(*n, "planned arrivals left no record", &of), Nothing)
        }
    }
}

fn after_nothing_listened(around: &Around) -> Option<&'static str> {
    Some(match around.has_answered() {
        true => "Look into the log of the target: it answered, and at other times did not listen.",
        false => "Check the port of the URL, and that the target listens.",
    })
}

/// What the numbers of a run that was cut short cover.
fn until_then(complete: usize, of: usize) -> String {
    format!(
        "The numbers cover what fell due until then; their intervals cover the complete segments of the measured phase, {complete} of {of}."
    )
}

fn incomplete(n: u64, what: &str, more: &str) -> String {
    format!(
        "The run is incomplete: {} {what}. {more}The numbers come from the records that are there.",
        count(n)
    )
}

/// Shards that a sentence names; the table of shards has more of them.
const MOST_NAMED: usize = 20;

fn listed<T>(shards: &[T], named: fn(&T) -> String) -> String {
    let mut all: Vec<String> = shards.iter().take(MOST_NAMED).map(named).collect();
    let more = shards.len().saturating_sub(MOST_NAMED) as u64;
    all.extend((more > 0).then(|| format!("and {} more", count(more))));
    all.join(", ")
}

fn lost(shard: &LostShard) -> String {
    match shard.planned {
        Some(n) => format!("{} ({} planned arrivals)", shard.shard, count(n)),
        None => shard.shard.clone(),
    }
}

fn short(shard: &ShortShard) -> String {
    format!("{} ({} of {})", shard.shard, count(shard.n), count(shard.planned))
}

fn open(rule: &OpenRule) -> String {
    let window = rule.window_s.map_or(String::new(), |window| format!(" at {}", chosen_time(window)));
    format!("{}{window}", rule.rule)
}

/// What a machine may lack, and what to do about it.
const LACKS: [(&str, &str, &str); 6] = [
    ("descriptors", "file descriptor left for the process", "Raise `ulimit -n`, or lower -c."),
    ("system-descriptors", "file descriptor left on the whole system", "Raise fs.file-max."),
    (
        "ports",
        "local port left to this target",
        "Connect from more addresses (--local-addr), or keep connections open. Or widen net.ipv4.ip_local_port_range.",
    ),
    ("memory", "memory left for sockets", "Raise net.ipv4.tcp_mem, or lower -c."),
    ("watches", "epoll watch left for the user", "Raise fs.epoll.max_user_watches."),
    ("permission", "permission to connect", "Look for a local firewall rule or a sandbox."),
];

fn lacks<'a>(
    lacked: &'a [String],
) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> + 'a {
    LACKS.iter().filter(move |(what, ..)| lacked.iter().any(|lacks| lacks == what))
}

fn local_limit(n: u64, lacked: &[String]) -> String {
    let named: Vec<&str> = lacks(lacked).map(|lack| lack.1).collect();
    let (what, more) = match &named[..] {
        [] => ("no file descriptor, local port or memory left".to_owned(), String::new()),
        [what] => (format!("no {what}"), String::new()),
        all => {
            ("reached several limits".to_owned(), format!(" At times it had no {}.", all.join(", or no ")))
        }
    };
    let had = if named.len() > 1 { "" } else { "had " };
    format!(
        "{} requests were not sent: the generator {had}{what}.{more} They say nothing about the target.",
        count(n)
    )
}

/// What to do about what was lacking.
fn raise(lacked: &[String]) -> String {
    let next: Vec<&str> = lacks(lacked).map(|lack| lack.2).collect();
    match next.is_empty() {
        true => {
            "Raise the limit (`ulimit -n`, net.ipv4.ip_local_port_range). Or keep connections open.".into()
        }
        false => next.join(" "),
    }
}
