//! The handful of numbers that people ask for first, beside each other; which ones depends on the kind of load.

use super::audit;
use super::markup::Markup;
use super::tables::dash;
use crate::format::{count, plural, rate, share, share_of, size, time};
use crate::words::{self, Kind};
use headway_stats::Summary;
use headway_stats::summary::{Connects, Spread};

/// Title, value, and what it is of.
pub(super) type Tile = (&'static str, String, String);

/// The key numbers, and what must be said beside every time of a load that was not sent as specified.
pub(super) fn key_numbers(page: &mut Markup, summary: &Summary) {
    show(page, summary.audit.as_ref().map_or_else(|| of_run(summary), |found| audit::tiles(summary, found)));
    if let Some(caveat) = words::caveat(summary) {
        page.element("p", "caveat", caveat);
    }
}

/// The key numbers of a run that goes on: three rates first, each over what has ended so far.
pub(super) fn so_far(page: &mut Markup, summary: &Summary) {
    let rates = &summary.rate;
    let mut tiles: Vec<Tile> = vec![
        ("Offered rate", dash(rates.offered, rate), "due per second".into()),
        ("Sent rate", dash(rates.started, rate), "started per second".into()),
        ("Completed rate", dash(rates.throughput, rate), "responses per second".into()),
    ];
    // The first of an open load is the sent rate once more.
    let again = usize::from(words::kind(summary) == Kind::Open);
    tiles.extend(of_run(summary).into_iter().skip(again));
    show(page, tiles);
}

fn show(page: &mut Markup, tiles: Vec<Tile>) {
    page.raw("<section aria-label=\"Key numbers\" class=\"tiles\">\n");
    for (title, value, note) in tiles {
        page.raw("<div>").element("p", "tile-title", title).element("p", "tile-value", &value);
        page.element("p", "tile-note", &note).raw("</div>\n");
    }
    page.end_section();
}

fn of_run(summary: &Summary) -> Vec<Tile> {
    let kind = words::kind(summary);
    let mut tiles = match kind {
        Kind::Open => vec![open(summary)],
        Kind::Sessions => sessions(summary),
        Kind::Closed => closed(summary),
        Kind::FixedWork => fixed_work(summary),
        Kind::Connecting => Vec::new(),
    };
    tiles.extend(summary.connects.iter().flat_map(connects));
    let since = match kind {
        Kind::Closed | Kind::FixedWork => "slow responses lower the load",
        Kind::Connecting => "from due to connect to done",
        Kind::Open | Kind::Sessions => "from due to done",
    };
    let response = &summary.response;
    tiles.push(("Response p50", bounded(response, "p50", response.p50), since.into()));
    tiles.push(("Response p99", bounded(response, "p99", response.p99), since.into()));
    let estimated = summary.closed.as_ref().and_then(|closed| closed.estimated.as_ref());
    if let Some(p99) = estimated.and_then(|estimated| estimated.p99) {
        tiles.push(("Open p99, estimated", time(p99), "had the same rate arrived".into()));
    }
    let total = words::total(&summary.outcomes);
    let failed = total - summary.outcomes.get("ok").copied().unwrap_or(0).min(total);
    tiles.push(("Failed", share_of(failed, total), format!("{} of {}", count(failed), count(total))));
    if let Some(received) = summary.rate.bytes_received {
        let sent = dash(summary.rate.bytes_sent, |sent| format!("{}/s", size(sent)));
        tiles.push(("Bytes received", format!("{}/s", size(received)), format!("{sent} sent")));
    }
    tiles.push(("Send lag p99", dash(summary.lag.p99, time), "the generator's own lateness".into()));
    // What nothing watched, as in a simulation, has no worker.
    if summary.generator.is_some() {
        let busiest = words::busiest_worker(summary).map_or("-".into(), |[handling, ..]| share(handling));
        tiles.push(("Busiest worker", busiest, "of its time handling events".into()));
    }
    tiles
}

fn bounded(spread: &Spread, name: &str, value: Option<f64>) -> String {
    let lower = if spread.lower_bound.contains_key(name) { "> " } else { "" };
    value.map_or("-".into(), |value| format!("{lower}{}", time(value)))
}

fn open(summary: &Summary) -> Tile {
    let asked = words::asked_rate(summary).map_or(String::new(), |asked| format!("of {} asked", rate(asked)));
    let started = summary.arrivals.started;
    let share = words::asked(summary).map_or(String::new(), |n| format!(", {}", share_of(started, n)));
    ("Rate sent", dash(summary.rate.started, rate), asked + &share)
}

fn sessions(summary: &Summary) -> Vec<Tile> {
    let block = summary.sessions.as_ref();
    let due = block.map_or("-".into(), |block| count(block.started));
    let of = block.map_or(String::new(), |block| format!("started, of {} due", count(block.n)));
    let sent = block.and_then(|block| block.sent_share);
    let asked = block.and_then(|block| block.requests_offered.filter(|&asked| asked < 1e15));
    let asked = asked.map_or(String::new(), |asked| format!("of {} asked for", count(asked.round() as u64)));
    vec![
        ("Sessions", due, of),
        ("Requests sent in time", dash(sent, share), asked),
        ("Request rate", dash(summary.rate.started, rate), "of all requests".into()),
    ]
}

fn closed(summary: &Summary) -> Vec<Tile> {
    let users = summary.plan.as_ref().and_then(|plan| plan.users);
    let by = users.map_or(String::new(), |users| format!("by {}", plural(users, "user")));
    let rort = summary.closed.as_ref().and_then(|closed| closed.rort);
    vec![
        ("Request rate", dash(summary.rate.started, rate), by),
        ("RoRT", dash(rort, share), "share of a user's cycle spent waiting".into()),
    ]
}

fn connects(connects: &Connects) -> Vec<Tile> {
    let per_s = connects.per_s.unwrap_or_default();
    let expected =
        connects.expected_per_s.map_or(String::new(), |asked| format!("of {} expected", rate(asked)));
    let failed = format!("{} given up, {} refused", rate(per_s.timed_out), rate(per_s.refused));
    vec![
        ("Attempts to connect", rate(per_s.attempts), expected),
        ("Established", rate(per_s.established), failed),
        ("Served", rate(per_s.served), "answered per second".into()),
    ]
}

fn fixed_work(summary: &Summary) -> Vec<Tile> {
    let length = summary.measured.to_s - summary.measured.from_s;
    vec![
        ("Time taken", time(length), format!("for {}", plural(summary.measured.n, "request"))),
        ("Request rate", dash(summary.rate.started, rate), "over that time".into()),
    ]
}
