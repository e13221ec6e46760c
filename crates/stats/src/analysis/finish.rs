//! The end of an analysis: from what was kept to the document.

use super::{Analysis, GIVEN_UP, push_least};
use crate::arrivals_summary::{ArrivalsResult, arrivals_result};
use crate::cells::Fine;
use crate::delays::Ended;
use crate::departures;
use crate::effect::{Found, Place, Tolerance};
use crate::findings::{FindingContext, find_all, length_for_intervals, no_mean, unsteady};
use crate::generator_share::{self, shares};
use crate::metric::{Block, Metric};
use crate::pattern::{Apart, Judged, pattern};
use crate::requests::{LabelKept, outcomes};
use crate::responses::Sample;
use crate::rules::{self, Evidence};
use crate::series::Level;
use crate::setup::{Facts, Workload};
use crate::summary::{
    self, LabelSummary, LimitedBy, NotComputed, RateSummary, SeriesRow, Summary, Tail, Why,
};
use crate::thresholds::Known;
use crate::thresholds::measure::MetricsView;
use crate::users::Cycle;
use headway_base::{Nanos, Outcome, Trigger};
use std::collections::BTreeMap;

/// Why something is null, by its path in the document.
type Missing = NotComputed;

impl Analysis {
    /// Sums the run up. Call it after the last batch; what still waits for other sources is taken as it is.
    pub fn finish(mut self, facts: Facts) -> Summary {
        let Analysis { setup, starts, arrivals, delays, effect, requests, thresholds, pauses, .. } =
            &mut self;
        let plan = setup.plan.as_ref();
        let mut take = |ended: &Ended, least| push_least(requests, thresholds, ended, least);
        starts.drain_all(|start| {
            if let Some(delays) = delays {
                delays.started(&start, &mut take);
            }
            if let Some(effect) = effect {
                effect.started(&start);
            }
            if let Some(pauses) = pauses {
                pauses.start(&start, arrivals);
            }
            arrivals.started(&start, plan);
        });
        if let Some(delays) = delays {
            delays.finish(take);
        }
        let mut effect = self.effect(&facts);
        self.streams.drain_all(self.setup.plan.as_ref());

        let until = self.until(&facts);
        self.series.settle(until - self.measured.start, self.setup.resolution);
        self.arrivals.settle(until, self.setup.plan.as_ref());
        if let Some(pauses) = &mut self.pauses {
            pauses.settle(until);
        }
        // Twenty segments of one transient are no twenty samples.
        let filled = if self.is_fixed_work() { 0 } else { self.measured.filled(until) };
        if let (Some(effect), Some(response)) = (&mut effect, self.requests.sample(Metric::RESPONSE, filled))
        {
            effect.leave_bounds(|p| response.is_no_bound(p));
        }
        let stay = departures::forgiven(&self.requests, self.setup.tolerances.lateness).length();
        let mut summary = self.head(&facts, until, stay);
        if self.arrivals.compares {
            summary.verdict.lateness_s = Some(self.arrivals.lateness.length().as_secs_f64());
        }
        let mut missing = BTreeMap::new();
        let arrivals = arrivals_result(
            &self.arrivals,
            &self.streams,
            self.setup.plan.as_ref(),
            &self.setup.labels,
            until,
            &mut missing,
        );
        summary.arrivals = arrivals.block.clone();
        summary.arrivals.resolution = facts.resolution.map(Nanos::as_secs_f64);
        summary.curves.headway = arrivals.curve.clone();
        self.requests_into(&mut summary, filled, effect.as_ref(), &mut missing);
        summary.events = self.events.summary(&self.setup.labels, filled, &mut missing);
        self.rates_into(&mut summary, &facts, until);
        summary.connects =
            self.connects.as_ref().map(|connects| connects.summary(until, filled, facts.plan.as_ref()));
        self.loops_into(&mut summary, &facts, until, filled, &mut missing);
        if !self.arrivals.compares {
            missing.insert("rate.offered".into(), Why::DueNotTold.into());
        }
        summary.not_computed = missing;
        self.verdict_into(&mut summary, &facts, (&arrivals, stay, effect.as_ref()), filled);
        if self.is_fixed_work() {
            summary.explain_missing_intervals(&Why::FixedWork);
        }
        if facts.source == summary::Source::Live {
            let given_up = GIVEN_UP.into_iter().zip(self.given_up).filter(|(_, n)| *n > 0);
            let given_up = given_up.map(|(outcome, n)| (outcome.name().to_owned(), n));
            summary.failure_reasons.others = given_up.collect();
        }
        summary
    }

    fn is_fixed_work(&self) -> bool {
        self.setup.workload == Workload::FixedWork
    }

    /// When the measured phase ended: as planned or cut short; of fixed work, with the last answer.
    fn until(&self, facts: &Facts) -> Nanos {
        let done = self.loops.as_ref().filter(|_| self.is_fixed_work()).map(|loops| loops.last_done);
        let end = done.map_or(self.measured.end, |done| done.min(self.measured.end));
        let until = facts.interrupted_at.map_or(end, |at| at.min(end));
        until.max(self.measured.start)
    }

    /// What the generator's delays did to the numbers, where that can be told.
    fn effect(&mut self, facts: &Facts) -> Option<Found> {
        let here = facts.generator.as_ref().and_then(|generator| generator.same_host_as_target);
        let place = if here == Some(false) { Place::Elsewhere } else { Place::PerhapsHere };
        let tolerance = Tolerance { share: self.setup.tolerances.effect, ..Tolerance::default() };
        self.effect.take()?.finish(place, &tolerance)
    }

    /// Why it cannot.
    fn no_effect(&self) -> Why {
        match self.setup.workload {
            Workload::Foreign => Why::DueNotTold,
            _ => Why::NoObservations,
        }
    }

    fn head(&self, facts: &Facts, until: Nanos, stay: Nanos) -> Summary {
        let requests = &self.requests;
        let started: u64 = self.arrivals.segments.iter().map(|s| s.all).sum();
        let seconds = (until - self.measured.start).as_secs_f64();
        let bytes_per_s = (seconds > 0.0).then(|| requests.bytes_sent as f64 / seconds);
        let mut generator = facts.generator.clone();
        if let Some(generator) = &mut generator {
            generator.departures = departures::summary(&facts.departures, &self.measured, stay, bytes_per_s);
            generator.send_cost_s = generator.send_cost_s.or(facts.send_cost.map(Nanos::as_secs_f64));
        }
        Summary {
            schema: summary::SCHEMA.into(),
            source: facts.source,
            name: facts.name.clone(),
            seed: facts.seed,
            command: facts.command.clone(),
            started_at: facts.started_at.clone(),
            workload: Some(self.setup.workload),
            plan: facts.plan.clone(),
            response_kind: self
                .loops
                .as_ref()
                .filter(|_| self.setup.workload != Workload::Connecting)
                .map(|_| requests.kind()),
            measured: summary::Measured {
                from_s: self.measured.start.as_secs_f64(),
                to_s: until.as_secs_f64(),
                n: started + requests.never.iter().sum::<u64>(),
                warmup: requests.warmup,
                after: requests.after,
                interrupted: facts.interrupted_at.is_some(),
                aborted: facts.interrupted_at.is_some() && self.thresholds.ended_run(),
            },
            series: self.series(facts),
            generator,
            simulation: facts.simulation.clone(),
            ..Summary::default()
        }
    }

    fn series(&self, facts: &Facts) -> Vec<SeriesRow> {
        let mut rows = self.series.rows(self.users_level());
        if self.connects.is_none() {
            rows.iter_mut().for_each(|row| row.established = None);
        }
        if self.loops.is_none() {
            // Another tool's rows do not tell.
            rows.iter_mut().for_each(|row| row.waiting = None);
        }
        if self.loops.is_none() || facts.source == summary::Source::Sim {
            rows.iter_mut().for_each(|row| (row.bytes_received, row.time_split) = (None, None));
        }
        rows
    }

    /// What counts as users that are there.
    fn users_level(&self) -> Option<Level> {
        self.loops.as_ref()?.level()
    }

    fn requests_into(
        &self,
        summary: &mut Summary,
        filled: usize,
        effect: Option<&Found>,
        missing: &mut Missing,
    ) {
        const NS: f64 = 1e9;
        let r = &self.requests;
        let asked = self.setup.percentiles.as_slice();
        let simulated = summary.source == summary::Source::Sim;
        for metric in Metric::all() {
            if let Some(why) = metric.not_simulated.filter(|_| simulated) {
                if !matches!(metric.block, Block::More | Block::Part(..)) {
                    missing.insert(metric.path(), why().into());
                }
                continue;
            }
            let Some(sample) = r.sample(metric, filled) else { continue };
            match metric.block {
                // What a load does not have at all is left out.
                Block::More if sample.n() == 0 => {}
                _ => {
                    let spread = sample.spread_with(asked, metric.scale(), &metric.path(), missing);
                    summary.set_spread(metric, spread);
                }
            }
            match metric {
                _ if metric == Metric::RESPONSE => {
                    summary.curves.percentiles.response = sample.curve(NS);
                }
                _ if metric == Metric::SERVICE => summary.curves.percentiles.service = sample.curve(NS),
                _ => {}
            }
        }
        summary.time_split = (self.loops.is_some() && !simulated).then(|| r.split_time.summary());
        if let Some([open, session]) = r.split(filled) {
            let mut spread = |sample: &Sample, path| sample.spread_with(asked, NS, path, missing);
            summary.response_open = Some(spread(&open, "response_open"));
            summary.response_session = Some(spread(&session, "response_session"));
        }
        if let Some(effect) = effect {
            effect.widen(&mut summary.response, false);
            effect.widen(&mut summary.response_ok, true);
        }
        self.shares_into(summary, NS, missing);
        let nothing = || if self.arrivals.compares { Why::NoObservations } else { Why::DueNotTold };
        summary.lag = tail(&self.arrivals.lag, "lag", nothing(), missing);
        summary.blocked = tail(&r.blocked, "blocked", nothing(), missing);
        summary.outcomes = outcomes(&r.outcomes);
        summary.failures = r.failures_by_kind(&self.setup.labels);
        let answered = Sample::new(&[&r.ok, &r.answered], &[], filled);
        summary.curves.response_histogram = answered.bins();
        summary.curves.response_grid = self.series.grid();
        summary.by_label = match &self.setup.labels[..] {
            [only] => {
                let (n, response) = (r.outcomes.iter().sum(), summary.response.clone());
                let (outcomes, buckets) = (summary.outcomes.clone(), answered.buckets());
                let label = LabelSummary { n, response, outcomes, buckets, ..LabelSummary::default() };
                BTreeMap::from([(only.clone(), label)])
            }
            labels => {
                let of = |(i, kept): (usize, &LabelKept)| LabelSummary {
                    series: self.series.of_label(i),
                    ..kept.summary()
                };
                labels.iter().cloned().zip(r.labels.iter().enumerate().map(of)).collect()
            }
        };
    }

    /// What the generator may have added to response times.
    fn shares_into(&self, summary: &mut Summary, unit: f64, missing: &mut Missing) {
        let r = &self.requests;
        match generator_share::why_not(&self.setup, summary.response.n, r.unread_unknown) {
            _ if summary.response.n == 0 || self.loops.is_none() => {}
            Some(reason) => {
                missing.insert("response.generator_share".into(), reason.into());
            }
            None => {
                for (spread, successes) in [(&mut summary.response, false), (&mut summary.response_ok, true)]
                {
                    spread.generator_share = r.least(successes).map(|least| shares(spread, &least, unit));
                }
            }
        }
    }

    fn rates_into(&self, summary: &mut Summary, facts: &Facts, until: Nanos) {
        let seconds = (until - self.measured.start).as_secs_f64();
        let per_second = |n: u64| (seconds > 0.0).then(|| n as f64 / seconds);
        let goodput = self.loops.as_ref().and_then(|loops| per_second(loops.good_within));
        let told = self.loops.is_some() && facts.source != summary::Source::Sim;
        let bytes = |n: u64| per_second(n).filter(|_| told);
        let (received, sent) = (bytes(self.requests.bytes_received), bytes(self.requests.bytes_sent));
        if let (Workload::Sessions, Some(loops)) = (self.setup.workload, &self.loops) {
            // By when requests started and ended: those of a session are counted to the phase wherever they fall.
            summary.rate = RateSummary {
                n: summary.measured.n,
                offered: loops
                    .sessions
                    .sent_share()
                    .map(|(_, asked)| asked / seconds)
                    .filter(|r| r.is_finite()),
                started: per_second(loops.started_within),
                throughput: per_second(loops.completed_within),
                goodput,
                bytes_received: received,
                bytes_sent: sent,
            };
            return;
        }
        let started: u64 = self.arrivals.segments.iter().map(|s| s.all).sum();
        let answered = Outcome::ALL.iter().zip(&self.requests.outcomes).filter(|(o, _)| o.answered());
        summary.rate = RateSummary {
            n: summary.measured.n,
            // Where instants of being due are copies of the starts, nothing is known of what was offered.
            offered: per_second(summary.measured.n + facts.outside).filter(|_| self.arrivals.compares),
            started: per_second(started - self.requests.all_not_sent().started.min(started)),
            throughput: per_second(answered.map(|(_, &n)| n).sum()),
            goodput,
            bytes_received: received,
            bytes_sent: sent,
        };
    }

    /// The blocks on users and sessions.
    fn loops_into(
        &mut self,
        summary: &mut Summary,
        facts: &Facts,
        until: Nanos,
        filled: usize,
        missing: &mut Missing,
    ) {
        let (workload, dues) = (self.setup.workload, self.requests.dues);
        let fixed_work = self.is_fixed_work();
        // Sockets that connect wait for no response.
        let waits = !matches!(workload, Workload::Open | Workload::Connecting);
        let Some(loops) = self.loops.as_mut().filter(|_| waits) else { return };
        let n: u64 = dues.iter().sum();
        let cycle = Cycle {
            n,
            thinking: (n - dues[Trigger::Arrival as usize]) as f64 / n.max(1) as f64,
            response: summary.response.mean,
            rate: summary.rate.started,
        };
        let seed = facts.seed.unwrap_or(0);
        summary.closed = Some(loops.closed(&cycle, until, filled, seed, missing));
        if workload == Workload::Sessions || loops.sessions.rows > 0 {
            let unasked = match facts.interrupted_at {
                _ if fixed_work => Some(Why::NoTimeAsked),
                Some(_) => Some(Why::CutShort),
                None => None,
            };
            let labels = &self.setup.labels;
            let block = loops.sessions.summary(labels, until, filled, unasked, missing);
            if workload == Workload::Sessions {
                let seconds = (until - self.measured.start).as_secs_f64();
                // Sessions whose shards began apart ask for as much as the others.
                let arrivals = dues[Trigger::Arrival as usize].max(1) as f64;
                let whole = 1.0 + facts.outside as f64 / arrivals;
                summary.rate.offered =
                    block.requests_offered.filter(|_| seconds > 0.0).map(|asked| asked * whole / seconds);
                if let Some(reason) = missing.get("sessions.requests_offered").cloned() {
                    missing.insert("rate.offered".into(), reason);
                }
            }
            summary.sessions = Some(block);
        }
        if loops.there().is_none() {
            missing.insert("series.users".into(), Why::UsersNotTold.into());
        }
    }

    /// What the connection cap held back, of `n` requests. To let fixed work wait for connections is what its cap is for.
    fn limited_by(&self, facts: &Facts, n: u64) -> Option<LimitedBy> {
        let capped = || self.arrivals.segments.iter().map(|s| s.capped).sum();
        let waited: u64 = if self.is_fixed_work() { 0 } else { capped() };
        let given_up = self.requests.given_up;
        (waited + given_up > 0).then(|| LimitedBy {
            what: "cap".into(),
            limit: facts.plan.as_ref().and_then(|plan| plan.connections),
            share: (waited + given_up) as f64 / n.max(1) as f64,
            tolerated: self.setup.tolerances.capped,
            waited,
            given_up,
            n,
        })
    }

    fn verdict_into(
        &self,
        summary: &mut Summary,
        facts: &Facts,
        (arrivals, stay, effect): (&ArrivalsResult, Nanos, Option<&Found>),
        filled: usize,
    ) {
        let tolerances = &self.setup.tolerances;
        let send_cost =
            facts.send_cost.or_else(|| facts.generator.as_ref()?.send_cost_s.map(Nanos::from_secs_f64));
        let evidence = Evidence {
            workload: self.setup.workload,
            tolerances,
            plan: self.setup.plan.as_ref(),
            kept: &self.arrivals,
            streams: &self.streams,
            stay,
            effect,
            no_effect: self.no_effect(),
            arrivals,
            requests: &self.requests,
            loops: self.loops.as_ref(),
            connects: self.connects.as_ref(),
            sources: self.setup.sources,
            requests_asked: self.setup.requests_asked,
            filled,
            outside: facts.outside,
            apart: facts.apart,
            took: self.until(facts) - self.measured.start,
            send_cost,
            workers: facts.generator.as_ref().map_or(1, |generator| generator.workers.len() as u32),
            departures: &facts.departures,
            target_here: facts.generator.as_ref().and_then(|g| g.same_host_as_target) == Some(true),
            simulated: facts.source == summary::Source::Sim,
        };
        summary.verdict.rules = rules::apply(&evidence);
        summary.verdict.effect = effect.map(summary::Effect::from);
        summary.verdict.load = rules::verdict(&summary.verdict.rules);
        summary.verdict.limited_by = self.limited_by(facts, summary.measured.n);
        if summary.verdict.load.is_none() {
            let reason = match self.setup.workload {
                Workload::Foreign => Why::NothingToCompare,
                _ => Why::NoRule,
            };
            summary.not_computed.insert("verdict.load".into(), reason.into());
        }
        let seconds = summary.measured.to_s - summary.measured.from_s;
        let known = match self.known {
            Known::Bound if summary.response.generator_share.is_none() => Known::Nothing,
            known => known,
        };
        let timeout = facts.plan.as_ref().and_then(|plan| plan.timeout_s).map(Nanos::from_secs_f64);
        let sight = MetricsView::new(&self.requests, &self.arrivals, filled, seconds)
            .with_ends(known, summary.vouch(), tolerances.unsent)
            .with_effect(effect)
            .with_timeout(timeout)
            .with_events(&self.events)
            .of_simulation(facts.source == summary::Source::Sim);
        let cut_short = summary.measured.interrupted;
        summary.thresholds = self.thresholds.results(&sight, cut_short, &mut summary.not_computed);
        let apart = self.apart_from_pauses(self.until(facts));
        let mut judged =
            pattern(&self.arrivals, arrivals, tolerances, send_cost, (self.pauses.is_some(), apart.as_ref()));
        // Without a plan of arrivals nothing tells how much of the starts' variation is that of the users' number.
        let users = self.setup.users.as_ref().filter(|_| self.setup.workload == Workload::Closed);
        // When a socket connects again is the target's doing, and the connect timeout's.
        if self.setup.workload == Workload::Connecting {
            judged = Judged::default();
        }
        if users.is_some_and(|users| users.varies(&self.setup.measured)) {
            judged = Judged::default();
        }
        let verdict = &mut summary.verdict;
        (verdict.pattern, verdict.pattern_scale_s) = (judged.pattern, judged.scale);
        (verdict.pattern_scale_end, verdict.pattern_needs) = (judged.ends, judged.needs);
        verdict.pattern_rules.clone_from(&judged.rules);
        verdict.pattern_otherwise = judged.without.as_ref().map(|(pattern, _)| *pattern);
        verdict.pattern_repeats_s = judged.repeats;
        verdict.starts_each_second = self.arrivals.scales.seconds.each();
        let case = FindingContext {
            evidence: &evidence,
            facts,
            summary,
            judged: &judged,
            labels: &self.setup.labels,
            unsent_at: &self.requests.never_at,
            failed_at: &self.requests.failed_at,
            service: std::array::from_fn(|s| self.requests.service(s)),
            response: std::array::from_fn(|s| self.requests.response(s)),
            turned_away: std::array::from_fn(|s| self.requests.answered.mean(s)),
            rows: self.series.responses(summary.measured.from_s, summary.measured.to_s),
            unaccounted: self.started_all.saturating_sub(self.ended_of_started),
        };
        let findings = find_all(&case);
        let (unsteady, no_mean) = (unsteady(&case), no_mean(&case));
        let length = length_for_intervals(&case);
        let skewed = facts.simulation.as_ref().is_some_and(|simulation| simulation.steady.skewed);
        summary.verdict.findings = findings;
        if let Some(reason) = unsteady {
            summary.withhold_intervals(&reason, false);
            summary.unjudge(&reason);
        } else if let Some(reason) = no_mean {
            summary.withhold_intervals(&reason, true);
            summary.unjudge(&reason);
        }
        if length.is_some() || skewed {
            summary.withhold_of_single_run(length, skewed);
        }
    }

    /// What the pattern is judged by with pauses cut out, where there are any.
    fn apart_from_pauses(&self, until: Nanos) -> Option<Apart<'_>> {
        let pauses = self.pauses.as_ref()?;
        let at = pauses.within(&self.arrivals);
        let (kept, until) = pauses.apart(until).filter(|_| !at.is_empty())?;
        let (labels, plan) = (&self.setup.labels, self.setup.plan.as_ref());
        let mut missing = BTreeMap::new();
        let arrivals = arrivals_result(kept, &self.streams, plan, labels, until, &mut missing);
        Some(Apart { kept, arrivals, until, at })
    }
}

fn tail(kept: &Fine, path: &str, nothing: Why, missing: &mut Missing) -> Tail {
    let cells = kept.cells();
    let quantile = |p| cells.quantile(p).map(|x| x.min(kept.max) as f64 / 1e9);
    if cells.n() == 0 {
        missing.insert(path.into(), nothing.into());
    }
    Tail {
        n: cells.n(),
        p50: quantile(0.5),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: (cells.n() > 0).then_some(kept.max as f64 / 1e9),
        ..Tail::default()
    }
}
