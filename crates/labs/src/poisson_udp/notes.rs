//! What is to be said of the numbers; each sentence is chosen by them.

use super::lived::{Clients, Lived, Sourced};
use super::published::{EACH, QUEUED, ROOMS, ROUNDING, SLEEPING, SLEPT, YIELDED};
use super::source::{At, MODELLED, PLAYED, Source};
use super::traffic::{CLASSES, Class};
use super::{Queues, Range};
use crate::words::{listed, single, too_few, within};
use headway_report::format::{count, number, share, time};

/// A tick of a clock, at least: that of the fastest of the author's systems.
const TICK_S: f64 = 1e-3;
/// A CoV this far from that of the instants, relative to it (or to 1, if that is more), is another.
const SAME: f64 = 0.1;
/// A receiver that waits for a processor for more of its time than this may lose by that.
const WAITED: f64 = 0.01;

/// Losses by class, of all sources with the smaller buffer.
pub fn by_class(sources: &[Sourced]) -> [Class; CLASSES.len()] {
    let mut all = [Class::default(); CLASSES.len()];
    for sourced in sources {
        for (sum, class) in all.iter_mut().zip(&sourced.worked[1].classes) {
            sum.milliseconds += class.milliseconds;
            sum.came += class.came;
            sum.dropped += class.dropped;
        }
    }
    all
}

/// Of the live part.
pub fn live(lived: &Lived) -> Vec<String> {
    let [yielding, sleeping] = &lived.clients;
    let mut notes = vec![rates(sleeping), losses(yielding, sleeping)];
    notes.extend([yielding, sleeping].into_iter().filter_map(processor));
    notes.extend([headways(&lived.clients), arrived(&lived.sources), dropped(lived), bursts(lived)]);
    notes
}

/// Whether sleeps end on ticks.
fn rates(sleeping: &Clients) -> String {
    let each = sleeping.each();
    let published = SLEPT.iter().map(|(sent, _)| sent).sum::<f64>() / SLEPT.len() as f64;
    let published = f64::from(SLEEPING) * super::RUN_S / published;
    let loop_s = 1.0 / each;
    let judged = if loop_s < TICK_S {
        "shorter than any tick of 1 ms or more, so here sleeps do not end on such ticks"
    } else {
        "which a tick of 1 ms or more would explain, and a lack of processors too"
    };
    format!(
        "The clients that sleep were to send {}/s each, one every {}. Here they sent {}/s each, one every {}: {judged}. The post's \
         sent one every {}.",
        number(EACH),
        time(1.0 / EACH),
        number(each),
        time(loop_s),
        time(published),
    )
}

/// Whether those that sleep lose more.
fn losses(yielding: &Clients, sleeping: &Clients) -> String {
    let lost = |clients: &Clients| clients.over(|ran| 100.0 * ran.lost_share());
    let (Some(yielded), Some(slept)) = (lost(yielding), lost(sleeping)) else { return single() };
    let post = |all: &[(f64, f64)]| {
        all.iter().map(|(_, lost)| lost).sum::<f64>() / all.iter().map(|(sent, _)| sent).sum::<f64>()
    };
    let judged = if yielded.ci.is_none() {
        "of a single run nothing is known of another"
    } else if slept.exceeds(&yielded) {
        "as in the post, those that sleep lose more"
    } else if yielded.exceeds(&slept) {
        "unlike in the post, those that yield lose more"
    } else {
        "no difference is shown"
    };
    format!(
        "Lost, in percent with 95 % CI: {} of those that yield ({} in the post), {} of those that sleep ({}): {judged}.",
        within(&yielded, 3),
        number(100.0 * post(&YIELDED)),
        within(&slept, 3),
        number(100.0 * post(&SLEPT)),
    )
}

/// Whether the loss is the receiver's lack of a processor; none where nothing was lost.
fn processor(clients: &Clients) -> Option<String> {
    let lost = clients.over(|ran| ran.lost_share())?.mean;
    if lost <= 0.0 {
        return None;
    }
    let name = clients.kind.name();
    let waited = clients.runs.iter().filter_map(|ran| ran.waited).collect();
    let waited = Range::of(waited).map_or("a time that the system does not tell".to_owned(), |w| {
        format!("{} of the time", share(w.mean))
    });
    let Some(first) = &clients.first else {
        return Some(format!(
            "While the clients that {name} sent, the receiver waited for a processor for {waited}. What is lost when it does not have to wait \
             is not known: a higher priority is not permitted here."
        ));
    };
    let without = first.lost_share();
    let judged = if without < 0.1 * lost {
        "here most of the loss is the receiver's lack of a processor, not the pattern of what came".to_owned()
    } else if let Some(still) = first.waited.filter(|still| *still > WAITED) {
        format!(
            "but it still waited for {} of the time, so it is not known what it would lose without",
            share(still)
        )
    } else {
        "the receiver's lack of a processor does not explain the loss".to_owned()
    };
    Some(format!(
        "While the clients that {name} sent, the receiver waited for a processor for {waited}. Before all others in priority it lost {} \
         instead of {}: {judged}.",
        share(without),
        share(lost),
    ))
}

/// The clients' headways.
fn headways(clients: &[Clients; 2]) -> String {
    let of = |clients: &Clients| {
        let traffic = &clients.traffic;
        let like = if (traffic.cov - 1.0).abs() <= SAME {
            "like independent ones"
        } else if traffic.cov > 1.0 {
            "bunched"
        } else {
            "more even than independent ones"
        };
        format!(
            "those of the clients that {} had a CoV of {:.2} ({like}), up to {} in a millisecond",
            clients.kind.name(),
            traffic.cov,
            count(traffic.most_in_ms)
        )
    };
    format!("Headways at the receiver: {}; {}.", of(&clients[0]), of(&clients[1]))
}

/// Whether what came is what was to be sent.
fn arrived(sources: &[Sourced]) -> String {
    let other = |(source, sourced): (&At, &Sourced)| {
        let cov = source.cov()?;
        let far = (sourced.fast.cov - cov).abs() > SAME * cov.max(1.0);
        far.then(|| format!("{} ({:.2} for {cov:.2})", source.name(), sourced.fast.cov))
    };
    let others: Vec<String> = PLAYED.iter().zip(sources).filter_map(other).collect();
    match others.as_slice() {
        [] => {
            "From the sources of one rate the CoV at the receiver is that of their instants, within a tenth."
                .to_owned()
        }
        some => format!(
            "From the sources of one rate the CoV at the receiver is that of their instants within a tenth, except from {}.",
            listed(some)
        ),
    }
}

/// Which sources lose, live and modelled.
fn dropped(lived: &Lived) -> String {
    let losing = |sources: &[Sourced], which: usize| -> Vec<String> {
        let those = PLAYED.iter().zip(sources).filter(|(_, sourced)| sourced.worked[which].dropped > 0);
        those.map(|(source, _)| source.name()).collect()
    };
    let of = |which: usize| {
        let live = losing(&lived.sources, which);
        let modelled = lived.modelled.first().map(|all| losing(all, which)).unwrap_or_default();
        let model = if modelled == live {
            "in the model too".to_owned()
        } else {
            format!("in the model from {}", listed(&modelled))
        };
        format!("with room for {} from {} ({model})", lived.rooms[which], listed(&live))
    };
    let waits =
        lived.sources.iter().flat_map(|sourced| sourced.worked.iter().filter_map(|traffic| traffic.waited));
    let busy = match waits.fold(0.0, f64::max) {
        most if most > WAITED => format!(
            " The receiver waited for a processor for up to {} of its time: this machine is busy, and what the model does not lose may be lost by \
             that.",
            share(most)
        ),
        _ => String::new(),
    };
    format!("At one rate, 15 us for each, datagrams were lost {}; {}.{busy}", of(0), of(1))
}

/// Losses against bursts.
fn bursts(lived: &Lived) -> String {
    let classes = by_class(&lived.sources);
    let losing = classes.iter().position(|class| class.dropped > 0);
    let part = |class: &Class| class.dropped as f64 / class.came.max(1) as f64;
    let Some(first) = losing else {
        return format!(
            "With room for {} nothing was lost, however many came in a millisecond.",
            lived.rooms[1]
        );
    };
    let grows = classes[first..].iter().filter(|class| class.came > 0).map(part).collect::<Vec<f64>>();
    let grows = if grows.len() > 1 && grows.windows(2).all(|pair| pair[1] > pair[0]) {
        ", and the more the larger the burst"
    } else {
        ""
    };
    let from = if first == 0 { 1 } else { CLASSES[first - 1] + 1 };
    format!(
        "With room for {} datagrams were lost in milliseconds in which {from} or more came{grows}.",
        lived.rooms[1]
    )
}

/// Of the modelled part.
pub fn modelled(all: &[Queues]) -> Vec<String> {
    vec![agreement(all), needed(all)]
}

/// Whether the model gives the published numbers.
fn agreement(all: &[Queues]) -> String {
    if let Some(few) = too_few(all.len() as u64, "replication") {
        return format!("How the published numbers of the model rank among others is not known: {few}.");
    }
    let (mut held, mut exact, mut outside) = (0, 0, Vec::new());
    for (i, (source, queued)) in MODELLED.iter().zip(&QUEUED).enumerate() {
        for (j, room) in ROOMS.iter().enumerate() {
            let numbers = [
                ("lost", queued.lost[j], ROUNDING, Range::over(all, |queues| queues[i][j].lost())),
                ("most", queued.most[j], 0.0, Range::over(all, |queues| queues[i][j].queue as f64)),
            ];
            for (what, published, rounding, range) in numbers {
                match range.and_then(|range| range.holds_within(published, rounding)) {
                    Some(true) if source.source == Source::Poisson => held += 1,
                    Some(true) => exact += 1,
                    _ => outside.push(format!(
                        "{what} of {} at {}/s, K = {room}",
                        source.name(),
                        number(source.rate)
                    )),
                }
            }
        }
    }
    let random = 2 * ROOMS.len() * MODELLED.iter().filter(|source| source.source == Source::Poisson).count();
    let fixed = 2 * ROOMS.len() * MODELLED.len() - random;
    let others = if outside.is_empty() { String::new() } else { format!(" Not: {}.", listed(&outside)) };
    format!(
        "Modelled: of the published numbers without chance {exact} of {fixed} are ours, and of those of Poisson sources {held} of {random} lie \
         within 5-95 % of the replications.{others}"
    )
}

/// The room that each source needs, and what follows.
fn needed(all: &[Queues]) -> String {
    let least = |i: usize| {
        (0..ROOMS.len()).find(|&j| all.iter().all(|queues| queues[i][j].dropped == 0)).map(|j| ROOMS[j])
    };
    let need = |i: usize| match least(i) {
        Some(room) => format!("K = {room}"),
        None => format!("more than K = {}", ROOMS[ROOMS.len() - 1]),
    };
    let at_rate = |is: &dyn Fn(Source) -> bool| {
        (0..MODELLED.len())
            .filter(|&i| is(MODELLED[i].source) && MODELLED[i].rate < super::published::YIELDED_RATE)
            .max_by_key(|&i| least(i).unwrap_or(usize::MAX))
    };
    let poisson = at_rate(&|source| source == Source::Poisson);
    let ticks = at_rate(&|source| matches!(source, Source::Ticks(..)));
    let (Some(poisson), Some(ticks)) = (poisson, ticks) else { return String::new() };
    let judged = match (least(poisson), least(ticks)) {
        (Some(few), most) if most.is_none_or(|most| most > few) => {
            "At one rate batches that ticks release need more room than independent arrivals: they are enough to explain a loss that \
             independent arrivals do not have"
        }
        _ => "Batches that ticks release need no more room than independent arrivals",
    };
    format!(
        "No loss in the model: Poisson arrivals at {}/s need {}, {} need {}. {judged}. Whether they were the cause in the post is open: it \
         gives neither its instants nor its buffer.",
        number(MODELLED[poisson].rate),
        need(poisson),
        MODELLED[ticks].name(),
        need(ticks),
    )
}
