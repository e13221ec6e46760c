//! What is to be said of the numbers; each sentence is chosen by them.

use super::lived::{Clients, Lived, Ran, Sourced};
use super::published::{EACH, QUEUED, ROOMS, ROUNDING, SLEEPING, SLEPT, YIELDED};
use super::source::{EVEN, MODELLED, PLAYED, POISSON, SLOWEST, Source};
use super::{Queues, Range};
use crate::words::{listed, single, too_few, within};
use headway_report::format::{number, share, time};

/// A pattern that loses at most this share loses nothing to speak of,
const NOTHING: f64 = 1e-3;
/// and one that loses at least this much loses by itself.
const MUCH: f64 = 0.1;
/// A receiver that waits for a processor for more of its time than this may lose by that.
const WAITED: f64 = 0.01;

/// Of the live part: the post's question first, in three sentences.
pub fn live(lived: &Lived) -> Vec<String> {
    let [yielding, sleeping] = &lived.clients;
    let mut notes = vec![pattern(lived), slept(sleeping), open(sleeping), losses(yielding, sleeping)];
    notes.extend([yielding, sleeping].into_iter().filter_map(processor));
    notes
}

/// Whether the pattern is enough to lose datagrams.
fn pattern(lived: &Lived) -> String {
    let at = |i: usize| lived.sources.get(i).map_or(0.0, Sourced::usual_loss);
    let modelled = |i: usize| {
        let all = Range::over(&lived.modelled, |all| all.get(i).map_or(0.0, Sourced::usual_loss));
        all.map_or_else(|| "nothing known".to_owned(), |lost| share(lost.mean))
    };
    let (even, poisson, ticks) = (at(EVEN), at(POISSON), at(SLOWEST));
    let seen = format!(
        "at {}/s, 15 us each and room for {}, Poisson arrivals lost {} and even ones {}, and the same rate released by {} lost {} (modelled: {}, \
         {} and {})",
        number(PLAYED[EVEN].rate),
        lived.room,
        share(poisson),
        share(even),
        PLAYED[SLOWEST].name(),
        share(ticks),
        modelled(POISSON),
        modelled(EVEN),
        modelled(SLOWEST)
    );
    if even.max(poisson) <= NOTHING && ticks >= MUCH {
        format!("Poisson arrivals as such do not lose datagrams, and batches do: {seen}.")
    } else {
        let stalled = lived.sources.iter().map(Sourced::stalled_s).fold(0.0, f64::max);
        format!(
            "This host hid what the pattern does: {seen}; a receiver with nothing else to do left a datagram lying for up to {}.",
            time(stalled)
        )
    }
}

/// Whether the post's clients sent what it calls Poisson.
fn slept(sleeping: &Clients) -> String {
    let published = SLEPT.iter().map(|(sent, _)| sent).sum::<f64>() / SLEPT.len() as f64;
    let published_s = f64::from(SLEEPING) * super::RUN_S / published;
    format!(
        "The post's clients did not send Poisson traffic of the rate they were meant to: a loop that was to take {} took {}, as sleeps do that \
         end on a clock's ticks, so that many end together; here it took {} and the headways had a CoV of {:.2} (independent ones: 1).",
        time(1.0 / EACH),
        time(published_s),
        time(1.0 / sleeping.each()),
        sleeping.traffic.cov
    )
}

/// What stays open.
fn open(sleeping: &Clients) -> String {
    let lost = sleeping.over(Ran::lost_share).map_or(0.0, |lost| lost.mean);
    let here = match &sleeping.first {
        Some(first) => format!(
            "here {} instead of {} is lost when it goes first",
            share(first.lost_share()),
            share(lost)
        ),
        None => "it may not go first here, so that this is not known of this machine either".to_owned(),
    };
    format!(
        "What stays open is whether batches or a receiver without a processor lost the post's datagrams, since it gives neither its instants nor \
         its buffer: {here}."
    )
}

/// Of a share in percent: no end of its interval is beyond what a share can be.
fn of_hundred(share: &Range) -> Range {
    Range { ci: share.ci.map(|[low, high]| [low.max(0.0), high.min(100.0)]), ..*share }
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
        within(&of_hundred(&yielded), 3),
        number(100.0 * post(&YIELDED)),
        within(&of_hundred(&slept), 3),
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
