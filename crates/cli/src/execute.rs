//! Plays resolved settings live: resolves the name, makes the run folder, runs workers and collector, and returns the
//! summary. Knows neither the terminal nor how it was called.

use crate::exit::Failure;
use crate::output::render;
use crate::settings::{RunSettings, Start};
use anyhow::{Context as _, anyhow};
use headway_base::Nanos;
use headway_engine::collect::{Observer, collector};
use headway_engine::{Manifest, analysis_setup};
use headway_live::tls::TlsSetup;
use headway_live::{Clock, Control, RunReport};
use headway_records::{LogWriter, RunFolder};
use headway_stats::Facts;
use headway_stats::Summary;
use headway_stats::summary::{Finding, Generator, Severity, Source, Stall, WorkerTime};
use headway_workload::redact::Redactor;
use std::path::Path;
use std::thread;

/// How long after everything is ready the plan's zero lies, so that no worker is late for it.
const LEAD: Nanos = Nanos::from_millis(20);

/// A run that has ended.
#[derive(Debug)]
pub struct Executed {
    /// What it came to.
    pub summary: Summary,
    /// Where its results are.
    pub folder: RunFolder,
    /// What of its results could not be written, if anything.
    pub failures: Vec<headway_records::Error>,
}

/// Plays the run to its end.
///
/// # Errors
/// What keeps the run from taking place: an unknown name, no roots for TLS, a run folder that is taken (exit 2 where
/// the user can mend it). Requests that fail are records.
pub fn execute(
    settings: &RunSettings,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Executed, Failure> {
    let requests = settings.requests().map_err(Failure::usage)?;
    let address = headway_live::address::reachable(headway_live::resolve(&settings.target.endpoint)?);
    let tls =
        settings.target.tls.then(|| TlsSetup::new(settings.target.host(), settings.insecure)).transpose()?;
    let local = address.is_local();
    let threads = headway_live::run::workers(
        settings.threads.unwrap_or_else(|| default_threads(local)),
        settings.load.plan.shard.split(settings.limits.connections),
    );
    let folder = run_folder(settings.output.out.as_deref(), &settings.name)?;
    let clock = clock(settings.start).map_err(Failure::usage)?;
    let document = Manifest::new(settings.spec(), Some(threads), clock.unix_nanos(Nanos::ZERO));
    folder.write_new(headway_records::folder::PLAN, &document.json()?)?;
    if let Some(text) = &settings.scenario {
        folder.write_new(headway_records::folder::SCENARIO, text.as_bytes())?;
    }
    let log = match settings.output.no_log {
        true => None,
        false => Some(LogWriter::create(&folder.records(), &document.log_metadata()?)?),
    };

    let plan = &settings.load.plan;
    let analysis = headway_stats::Analysis::new(analysis_setup(plan, &settings.labels, threads as usize))
        .judging(settings.thresholds.clone());
    let (intake, collector) = collector(analysis, log);
    let config = headway_live::Config {
        plan: plan.clone(),
        address,
        tls,
        requests,
        answer_limits: headway_wire::Limits {
            body_bytes: settings.max_body,
            ..headway_wire::Limits::DEFAULT
        },
        limits: settings.limits,
        threads,
        clock,
        control: control.clone(),
    };
    let (report, collected) = thread::scope(|scope| {
        let collecting = scope.spawn(|| collector.run(|| clock.now(), observer, control));
        let report = headway_live::run(&config, |worker| intake.sink(worker));
        drop(intake);
        (report, collecting.join())
    });
    let (report, collected) = (report?, collected.map_err(|_| anyhow!("the collector panicked"))?);

    let stopped_early = control.asked() > 0 && report.ended < plan.end();
    let facts = Facts {
        source: Source::Live,
        name: document.name.clone(),
        seed: Some(plan.seed),
        command: Some(document.command.clone()),
        started_at: Some(document.started_at.clone()),
        plan: Some(document.asked.clone()),
        generator: Some(generator(&report, local)),
        interrupted_at: stopped_early.then(|| control.asked_at().map_or(report.ended, |at| clock.at(at))),
        resolution: Some(Nanos(1)),
        send_cost: send_cost(&report),
        finer: None,
        departures: departures(&report),
        simulation: None,
    };
    let mut summary = collected.analysis.finish(facts);
    name_causes(&mut summary, &report, &settings.redactor);
    if let Some(error) = &collected.log_failure {
        summary.verdict.findings.push(log_finding(error, collected.rows_lost, collected.rows_written));
    }
    let style = headway_report::Style::default();
    let files = [(headway_records::folder::SUMMARY, "json"), (headway_records::folder::REPORT, "html")];
    // A full disk must not keep the report from being shown.
    let written = files.map(|(name, output)| folder.write_new(name, &render(output, &summary, &style)));
    let failures =
        collected.log_failure.into_iter().chain(written.into_iter().filter_map(Result::err)).collect();
    Ok(Executed { summary, folder, failures })
}

fn default_threads(local: bool) -> u32 {
    if local { 1 } else { headway_live::host::cores().saturating_sub(1).max(1) }
}

/// The folder for the results: as named, else one of its own under `headway-runs`.
pub(crate) fn run_folder(out: Option<&Path>, name: &str) -> Result<RunFolder, Failure> {
    match out {
        // A folder that is taken is the user's to name anew.
        Some(path) => RunFolder::create_exact(path).map_err(|error| match error {
            headway_records::Error::Exists { .. } => Failure::usage(anyhow!(error).context("--out")),
            other => other.into(),
        }),
        None => {
            let stamp = jiff::Zoned::now().strftime("%Y%m%dT%H%M%S").to_string();
            Ok(RunFolder::create(Path::new("headway-runs"), name, &stamp)?)
        }
    }
}

fn clock(start: Option<Start>) -> anyhow::Result<Clock> {
    let ahead = match start {
        None => LEAD,
        Some(Start::In(ahead)) => ahead,
        Some(Start::AtUnix(at)) => {
            let ahead = at - headway_live::clock::unix_now();
            if ahead < 0 {
                return Err(anyhow!("--start-at lies {} in the past", Nanos(-(ahead as i64))));
            }
            Nanos(i64::try_from(ahead).context("--start-at lies too far ahead")?)
        }
    };
    Ok(Clock::starting_in(ahead))
}

fn send_cost(report: &RunReport) -> Option<Nanos> {
    let sends: u64 = report.workers.iter().map(|w| w.sends).sum();
    let time: Nanos = report.workers.iter().map(|w| w.send_time).sum();
    (sends > 0).then(|| Nanos(time.0 / sends as i64))
}

fn generator(report: &RunReport, local: bool) -> Generator {
    let seconds = Nanos::as_secs_f64;
    let polling: Nanos = report.workers.iter().map(|w| w.polling).sum();
    let all: Nanos = report.workers.iter().map(|w| w.polling + w.handling + w.sleeping).sum();
    let stalls = report.workers.iter().enumerate().flat_map(|(i, w)| {
        w.stalls.iter().map(move |s| Stall {
            at_s: seconds(s.at),
            length_s: seconds(s.length),
            worker: i as u32,
            cause: Some(
                match s.doing {
                    headway_live::watch::Doing::Handling => "while handling",
                    headway_live::watch::Doing::Polling => "while polling",
                    headway_live::watch::Doing::Sleeping => "woken late",
                }
                .to_owned(),
            ),
        })
    });
    Generator {
        workers: report
            .workers
            .iter()
            .map(|w| WorkerTime {
                handling: seconds(w.handling),
                polling: seconds(w.polling),
                sleeping: seconds(w.sleeping),
                runqueue_wait: w.runqueue_wait.map(seconds),
            })
            .collect(),
        stalls: stalls.collect(),
        steal_s: report.stolen.map(seconds),
        same_host_as_target: Some(local),
        send_cost_s: send_cost(report).map(seconds),
        lacked: lacked(report),
        connections_opened: Some(report.workers.iter().map(|w| w.connections).sum()),
        waiting: Some(format!(
            "sleeping until {} before the due time, then polling: {:.1} % of a core",
            headway_live::clock::UP_BEFORE,
            100.0 * seconds(polling) / (seconds(all) / report.workers.len() as f64).max(1e-9)
        )),
        ..Generator::default()
    }
}

/// Requests that were not sent for want of something on this machine, by what it was.
fn lacked(report: &RunReport) -> std::collections::BTreeMap<String, u64> {
    let mut all = std::collections::BTreeMap::new();
    for (&what, &n) in report.workers.iter().flat_map(|worker| &worker.lacked) {
        *all.entry(what.to_owned()).or_default() += n;
    }
    all
}

fn departures(report: &RunReport) -> Vec<headway_stats::DepartureBin> {
    let workers = report.workers.iter().map(|worker| &worker.departures);
    let bins = workers.flat_map(|d| d.bins.iter().enumerate().map(|(i, bin)| (d.width, i as i64, bin)));
    let of = |(width, i, bin): (Nanos, i64, &headway_live::departures::Bin)| headway_stats::DepartureBin {
        at: Nanos(i * width.0 + width.0 / 2),
        watched: u64::from(bin.watched),
        over: headway_live::departures::LEVELS.into_iter().zip(bin.over.map(u64::from)).collect(),
        by_target: u64::from(bin.by_target),
    };
    bins.map(of).collect()
}

/// Says in the summary what lay behind each kind of failure: the first message of each.
fn name_causes(summary: &mut Summary, report: &RunReport, redactor: &Redactor) {
    let mut messages = std::collections::BTreeMap::new();
    for worker in &report.workers {
        for (outcome, text) in &worker.messages {
            messages.entry(*outcome).or_insert(text);
        }
    }
    for (outcome, text) in messages {
        let n = summary.outcomes.get(outcome.name()).copied().unwrap_or(0);
        if n > 0 {
            summary.verdict.findings.push(Finding {
                id: format!("cause-{}", outcome.name()),
                severity: Severity::Info,
                text: format!("The first request that ended as {}: {}.", outcome.name(), redactor.hide(text)),
                n,
                ..Finding::default()
            });
        }
    }
}

pub(crate) fn log_finding(error: &headway_records::Error, rows_lost: u64, rows_written: u64) -> Finding {
    Finding {
        id: "log-lost".to_owned(),
        severity: Severity::Warning,
        text: format!(
            "The log has lost {}, and holds {} ({error}); the statistics have all of them.",
            headway_report::format::plural(rows_lost, "row"),
            headway_report::format::count(rows_written)
        ),
        value: Some(rows_lost as f64),
        n: rows_lost,
        ..Finding::default()
    }
}
