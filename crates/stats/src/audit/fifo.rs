//! The target of an audited load as a station of c servers, first come first served: c and the service law, as far as starts and ends
//! of the requests show them.
//!
//! In such a station the request that starts as number i (from 0) comes into service when it starts, or when the (i-c+1)-th response
//! ends, whichever is later; the rest of its response time is its service. With the right c these services depend on nothing that was
//! before. With fewer they are the shorter the more requests are in the system, with more the longer: c is where they do not depend on it.
//!
//! Of requests with one start stamp nothing shows which came first. Where some of them had to wait their services are left out.
//!
//! Deliberately absent: other disciplines. Their services depend on what happens meanwhile, which the checks find where it matters.

use crate::summary::{DependsOn, Why};
use headway_base::random::{Stream, streams};
use std::ops::Range;

/// Fewest requests, and fewest services, that tell anything.
const FEWEST: usize = 1_000;
/// Fewest requests that waited: without a queue nothing shows the number of servers.
const FEWEST_WAITED: usize = 100;
const WAITED_SHARE: f64 = 0.05;
/// Share of requests that end before others that they should have waited for, up to which a number of servers is possible.
const OVERTAKING: f64 = 0.002;
/// Mean headways within which a request comes soon after another, and the share of requests that must (of independent ones 26 % do).
const SOON: f64 = 0.3;
const SOON_SHARE: f64 = 0.05;
/// Groups of requests between which services are compared.
const GROUPS: usize = 12;
/// Standard errors by which a difference is told from chance, and the correlation that does not matter.
const CHANCE: f64 = 3.3;
const SMALL: f64 = 0.03;
/// Standard errors within which a number of servers is not told from the best one.
const PLAUSIBLE: f64 = 2.0;
/// Most numbers of servers between which nothing decides, and over which an estimate may be spread.
const MOST_PLAUSIBLE: usize = 4;
/// Shares of the services that are over when it is looked at who is there.
const AFTER: [f64; 3] = [0.1, 0.3, 0.6];
/// Services, or starts, that are looked back at.
const BACK: usize = 32;

/// The requests of a load, in the order of their starts; nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub started: Vec<i64>,
    pub done: Vec<i64>,
}

/// A station that the rows are like.
#[derive(Debug)]
pub(super) struct Fitted {
    /// Numbers of servers between which nothing decides, each with the services that it gives, in nanoseconds.
    pub stations: Vec<(usize, Vec<i64>)>,
}

/// What does not depend on the number of servers.
struct Seen<'a> {
    rows: &'a Rows,
    /// In order.
    ends: Vec<i64>,
    /// Requests in the system when each one started, apart from it and from those that started with it.
    in_system: Vec<usize>,
    /// The requests with the same start stamp.
    group: Vec<Range<usize>>,
    /// What stamps resolve.
    grid: i64,
}

/// Services by one number of servers.
struct Services {
    /// Which requests they are of, in order, and how long they took.
    of: Vec<usize>,
    took: Vec<i64>,
    waited: usize,
    /// Requests that would come into service after they ended.
    overtook: usize,
}

impl Rows {
    /// The station, or why there is none. `grid` is what the stamps resolve, in nanoseconds.
    pub fn fit(&mut self, grid: i64) -> Result<Fitted, Why> {
        let n = self.started.len();
        if n < FEWEST {
            return Err(Why::FewRequests { needed: FEWEST as u64, n: n as u64 });
        }
        self.settle();
        if !self.some_come_soon() {
            return Err(Why::NoShortHeadways);
        }
        let seen = Seen::new(self, grid);
        let best = seen.best().ok_or(Why::ServersUnknown)?;
        let of_best = seen.services(best);
        if of_best.waited < FEWEST_WAITED.max((WAITED_SHARE * n as f64) as usize) {
            return Err(Why::NoQueue { waited: of_best.waited as u64 });
        }
        if of_best.took.len() < FEWEST {
            return Err(Why::TiedStarts);
        }
        let mut typical = of_best.took.clone();
        let middle = typical.len() / 2;
        if 20 * grid > *typical.select_nth_unstable(middle).1 {
            return Err(Why::CoarseForServices { grid_s: grid as f64 / 1e9 });
        }
        seen.independent(&of_best)?;
        let mut stations = vec![(best, of_best.took)];
        let most = seen.in_system.iter().max().map_or(1, |most| most + 1);
        let around = (1..best).rev().map(|c| (c, false)).chain((best + 1..=most).map(|c| (c, true)));
        let mut open = [true; 2];
        for (c, up) in around {
            if !open[usize::from(up)] {
                continue;
            }
            let services = seen.services(c);
            open[usize::from(up)] = seen.is_possible(&services)
                && seen.state(&services).abs() < PLAUSIBLE / (services.took.len() as f64).sqrt();
            if open[usize::from(up)] {
                stations.push((c, services.took));
            }
            if stations.len() > MOST_PLAUSIBLE {
                return Err(Why::ServersUnknown);
            }
        }
        Ok(Fitted { stations })
    }

    /// Whether requests came soon after others: otherwise nothing shows how the target serves such, of which independent starts have many.
    fn some_come_soon(&self) -> bool {
        let n = self.started.len();
        let mean = (self.started[n - 1] - self.started[0]) as f64 / (n - 1) as f64;
        let soon = self.started.windows(2).filter(|pair| ((pair[1] - pair[0]) as f64) < SOON * mean).count();
        soon as f64 >= SOON_SHARE * n as f64
    }

    /// Puts requests of one start stamp into the order of their ends.
    fn settle(&mut self) {
        let mut both: Vec<(i64, i64)> = self.started.iter().copied().zip(self.done.iter().copied()).collect();
        both.sort_unstable();
        (self.started, self.done) = both.into_iter().unzip();
    }
}

impl<'a> Seen<'a> {
    fn new(rows: &'a Rows, grid: i64) -> Seen<'a> {
        let n = rows.started.len();
        let mut ends = rows.done.clone();
        ends.sort_unstable();
        let (mut in_system, mut group) = (Vec::with_capacity(n), Vec::<Range<usize>>::with_capacity(n));
        let mut ended = 0;
        for i in 0..n {
            let at = rows.started[i];
            ended += ends[ended..].iter().take_while(|&&end| end <= at).count();
            let from = match group.last() {
                Some(last) if rows.started[i - 1] == at => last.start,
                _ => i,
            };
            group.push(from..i + 1);
            in_system.push(from.saturating_sub(ended));
        }
        for i in (1..n).rev() {
            if group[i - 1].start == group[i].start {
                group[i - 1].end = group[i].end;
            }
        }
        Seen { rows, ends, in_system, group, grid }
    }

    fn services(&self, servers: usize) -> Services {
        let n = self.rows.started.len();
        let mut services = Services { of: Vec::new(), took: Vec::new(), waited: 0, overtook: 0 };
        for i in 0..n {
            let (at, done) = (self.rows.started[i], self.rows.done[i]);
            let free = i.checked_sub(servers).map_or(at, |before| self.ends[before]);
            let begun = at.max(free);
            services.waited += usize::from(begun > at);
            services.overtook += usize::from(begun > done + self.grid);
            let group = &self.group[i];
            // The last of the group waits the longest.
            let waits = || {
                let last = group.end - 1;
                last.checked_sub(servers).is_some_and(|before| self.ends[before] > at)
            };
            if servers == 1 || group.len() == 1 || !waits() {
                services.of.push(i);
                services.took.push((done - begun).max(0));
            }
        }
        if servers > 1 {
            self.shuffle(&mut services);
        }
        services
    }

    /// Requests of one start stamp stand in the order of their ends, which is not that of their starts: where none of them waited, any
    /// order that does not depend on their services will do.
    fn shuffle(&self, services: &mut Services) {
        let order = Stream::new(0, streams::PICK);
        let mut both: Vec<(usize, i64)> =
            services.of.iter().copied().zip(services.took.iter().copied()).collect();
        for same in both.chunk_by_mut(|a, b| self.group[a.0].start == self.group[b.0].start) {
            same.sort_unstable_by_key(|&(i, _)| order.bits(i as u64, 0));
        }
        (services.of, services.took) = both.into_iter().unzip();
    }

    fn is_possible(&self, services: &Services) -> bool {
        services.overtook as f64 <= OVERTAKING * self.rows.started.len() as f64
    }

    /// How services depend on the number in the system: a rank correlation.
    fn state(&self, services: &Services) -> f64 {
        let state: Vec<i64> = services.of.iter().map(|&i| self.in_system[i] as i64).collect();
        correlation(&ranks(&services.took), &ranks(&state))
    }

    /// The number of servers at which services depend least on the number in the system.
    fn best(&self) -> Option<usize> {
        let most = self.in_system.iter().max()? + 1;
        let too_few = |c| {
            let services = self.services(c);
            !self.is_possible(&services) || self.state(&services) < 0.0
        };
        let (mut low, mut high) = (1, most);
        while low < high {
            let middle = usize::midpoint(low, high);
            if too_few(middle) { low = middle + 1 } else { high = middle }
        }
        let weight = |c: usize| {
            let services = self.services(c);
            if self.is_possible(&services) { self.state(&services).abs() } else { f64::INFINITY }
        };
        (low.saturating_sub(1).max(1)..=(low + 1).min(most)).min_by(|&a, &b| weight(a).total_cmp(&weight(b)))
    }

    /// Requests in the system at an instant.
    fn there(&self, at: i64) -> i64 {
        let started = self.rows.started.partition_point(|&start| start <= at);
        started as i64 - self.ends.partition_point(|&end| end <= at) as i64
    }

    /// Whether services depend on nothing that was before them.
    fn independent(&self, services: &Services) -> Result<(), Why> {
        let depends = |on| Err(Why::NoStation { depends_on: on });
        if !self.is_possible(services) {
            return depends(DependsOn::Others);
        }
        let took = ranks(&services.took);
        let by = |of: &dyn Fn(usize) -> Option<i64>| {
            let pairs = (0..took.len()).filter_map(|k| Some((of(k)?, took[k]))).collect();
            differ(&groups(pairs))
        };
        let starts = &self.rows.started;
        let at = |k: usize| services.of[k];
        let mut ordered = services.took.clone();
        ordered.sort_unstable();
        // What is left of a service that has lasted for so long does not depend on who is there by then.
        let by_those_there = |lasted: i64| {
            by(&|k| {
                let then = self.rows.done[at(k)] - services.took[k] + lasted;
                (services.took[k] > lasted).then(|| self.there(then))
            })
        };
        if AFTER.iter().any(|share| by_those_there(ordered[(share * ordered.len() as f64) as usize])) {
            return depends(DependsOn::Others);
        }
        if by(&|k| Some(self.in_system[at(k)] as i64)) {
            return depends(DependsOn::Others);
        }
        if by(&|k| Some(k as i64)) {
            return depends(DependsOn::Time);
        }
        let mut sums = vec![0.0];
        took.iter().for_each(|x| sums.push(sums[sums.len() - 1] + x));
        let recent = |k: usize| Some((1e3 * (sums[k] - sums[k.checked_sub(BACK)?])) as i64);
        if by(&|k| Some(services.took[k.checked_sub(1)?])) || by(&recent) {
            return depends(DependsOn::Time);
        }
        // Of requests that start together it is the time since those before them.
        let since = |k: usize, back: usize| {
            let from = self.group[at(k)].start;
            Some(starts[from] - starts[from.checked_sub(back)?])
        };
        if by(&|k| since(k, 1)) || by(&|k| since(k, BACK)) {
            return depends(DependsOn::Rate);
        }
        Ok(())
    }
}

/// Ranks by what they may depend on, in groups of about the same size; those of the same value stand in one group.
fn groups(mut pairs: Vec<(i64, f64)>) -> Vec<Vec<f64>> {
    pairs.sort_unstable_by_key(|pair| pair.0);
    let (size, mut groups) = (pairs.len().div_ceil(GROUPS), vec![Vec::new()]);
    for (i, &(value, rank)) in pairs.iter().enumerate() {
        let full = groups.last().is_some_and(|group: &Vec<f64>| group.len() >= size);
        if full && pairs[i - 1].0 != value {
            groups.push(Vec::new());
        }
        if let Some(group) = groups.last_mut() {
            group.push(rank);
        }
    }
    groups
}

/// Whether ranks differ between groups beyond chance (Kruskal and Wallis 1952), and by more than what does not matter.
fn differ(groups: &[Vec<f64>]) -> bool {
    let all = || groups.iter().flatten();
    let n = all().count() as f64;
    let mean = all().sum::<f64>() / n;
    let variance = all().map(|rank| (rank - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let between: f64 = groups
        .iter()
        .filter(|group| !group.is_empty())
        .map(|group| group.len() as f64 * (group.iter().sum::<f64>() / group.len() as f64 - mean).powi(2))
        .sum();
    let degrees = groups.len() as f64 - 1.0;
    if degrees < 1.0 || variance <= 0.0 {
        return false;
    }
    // The quantile of chi^2 (Wilson and Hilferty 1931).
    let spread = 2.0 / (9.0 * degrees);
    let chance = degrees * (1.0 - spread + CHANCE * spread.sqrt()).powi(3);
    between > variance * chance.max(SMALL.powi(2) * n)
}

/// Mid-ranks (Spearman 1904).
fn ranks(values: &[i64]) -> Vec<f64> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by_key(|&i| values[i as usize]);
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let value = values[order[from] as usize];
        let to = from + order[from..].iter().take_while(|&&i| values[i as usize] == value).count();
        for &i in &order[from..to] {
            ranks[i as usize] = (from + to - 1) as f64 / 2.0;
        }
        from = to;
    }
    ranks
}

/// Pearson's correlation; 0 where one of them does not vary.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (ma, mb) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        ab += (x - ma) * (y - mb);
        aa += (x - ma).powi(2);
        bb += (y - mb).powi(2);
    }
    if aa > 0.0 && bb > 0.0 { ab / (aa * bb).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A metronome in which every so manieth request comes a tenth of a mean headway after the one before it.
    fn metronome(every: i64) -> Rows {
        let started: Vec<i64> =
            (0..4_000).map(|k| if k % every == 0 { k * 1_000 - 900 } else { k * 1_000 }).collect();
        let done = started.iter().map(|at| at + 5).collect();
        Rows { started, done }
    }

    #[test]
    fn one_request_in_twenty_must_come_soon_after_another() {
        assert_eq!(metronome(21).fit(1).unwrap_err(), Why::NoShortHeadways);
        assert_eq!(metronome(19).fit(1).unwrap_err(), Why::NoQueue { waited: 0 });
    }
}
