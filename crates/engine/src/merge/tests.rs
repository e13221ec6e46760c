//! Shards that are made up: real plans, responses that nobody sent.

use super::destination::{ALIVE, Destination, SoFar, Standing, Watch};
use super::*;
use crate::destination::bucket::Bucket;
use crate::destination::folder::Folder;
use crate::destination::layout::{
    CLAIM, Claim, DONE, PROGRESS, PlaysProgress, Progress, RUN, RunDocument, SCHEMA, START, StartAt,
    StartDocument, Timing, Whole, json, of_shard, parse, part,
};
use crate::destination::{LONGEST_MEETING, Store};
use headway_base::{EventKind, Outcome, Rate, ResponseEvent, Stamp};
use headway_records::{EventReader, EventWriter, LogWriter, folder};
use headway_stats::summary::RuleId;
use headway_workload::Process;
use headway_workload::journey::{Journey, Node, no_think};
use headway_workload::plan::{Connections, Group, LONGEST, Source};
use headway_workload::redact::clear;
use headway_workload::users::Level;
use std::fs;
use std::sync::Arc;
use tempfile::TempDir;

/// How many shards the plan has.
pub(super) const COUNT: u32 = 3;

pub(super) fn plan() -> Plan {
    let zero = Nanos::ZERO;
    Plan::ramp_and_hold(11, Process::Poisson, Rate(300.0), zero, zero, Nanos::from_secs(4))
}

pub(super) fn manifest(index: u32) -> Manifest {
    let plan = Plan { shard: Shard::new(index, COUNT).unwrap(), ..plan() };
    let spec = crate::RunSpec::new("made-up", plan, 1_000);
    Manifest::new(&spec, Some(&"http://127.0.0.1/".into()), Some(1), 1_700_000_000_000_000_000)
}

/// The records of a shard, in the order in which they ended.
pub(super) fn rows(index: u32) -> Vec<Record> {
    of_plan(&plan(), index)
}

/// Those of a shard of that plan: of closed users one each tenth of a second.
fn of_plan(plan: &Plan, index: u32) -> Vec<Record> {
    let row = |arrival: headway_workload::arrivals::Arrival| {
        let at = |us: u64| arrival.intended + Nanos::from_micros(us as i64);
        let done = at(400 + arrival.k * 7_919 % 90_000);
        Record {
            started: Stamp::from(at(9)),
            sent: Stamp::from(at(11)),
            first_byte: Stamp::from(done),
            status: 200,
            shard: index as u16,
            ..Record::never_started(arrival.k, arrival.intended, done, Outcome::Ok)
        }
    };
    let shard = Shard::new(index, COUNT).unwrap();
    let burst = matches!(plan.groups[0].source, Source::AtOnce { .. });
    let mut rows: Vec<Record> = match burst || plan.groups[0].arrives() {
        true => plan.arrivals_of(shard).map(row).collect(),
        false => {
            let user = |k: u64| Arrival { k, intended: Nanos::from_millis(k as i64 * 50) };
            let of_user =
                |k: u64| Record { due: Trigger::User, user: 3 * (k % 2) as u32 + index, ..row(user(k)) };
            (0..398).map(of_user).collect()
        }
    };
    rows.sort_by_key(|row| row.done);
    rows
}

/// The folder of a shard, with these records in batches of so many.
pub(super) fn write(at: &Path, own: &Manifest, rows: &[Record], batch: usize) {
    write_stopped(at, own, rows, batch, None);
}

/// The same of a shard that was stopped then.
fn write_stopped(at: &Path, own: &Manifest, rows: &[Record], batch: usize, stopped_at: Option<Nanos>) {
    fs::create_dir_all(at).unwrap();
    fs::write(at.join(folder::PLAN), own.json().unwrap()).unwrap();
    let mut log = LogWriter::create(&at.join(folder::RECORDS), &own.log_metadata().unwrap()).unwrap();
    for batch in rows.chunks(batch) {
        log.append(batch).unwrap();
        log.flush().unwrap();
    }
    if let Some(at) = stopped_at {
        log.stopped(at);
    }
    log.finish().unwrap();
}

/// The log and the summary that they are merged to.
fn merged(shards: Shards, at: &Path, limits: Limits) -> (Vec<u8>, Summary) {
    let folder = RunFolder::create_exact(at).unwrap();
    let merged = shards.merge_within(&folder, limits).unwrap();
    assert_eq!(merged.incomplete(), 0);
    (fs::read(folder.records()).unwrap(), merged.summary)
}

/// Shards of a minute that were stopped after a second, each a little later than the one before: the end marks say when.
#[test]
fn shards_that_were_stopped_are_a_run_that_was_stopped() {
    let (at, zero) = (TempDir::new().unwrap(), Nanos::ZERO);
    let plan = Plan::ramp_and_hold(11, Process::Poisson, Rate(300.0), zero, zero, Nanos::from_secs(60));
    let own = |index: u32| {
        let plan = Plan { shard: Shard::new(index, COUNT).unwrap(), ..plan.clone() };
        let spec = crate::RunSpec::new("made-up", plan, 1_000);
        Manifest::new(&spec, Some(&"http://127.0.0.1/".into()), Some(1), 1_700_000_000_000_000_000)
    };
    let stop = |index: u32| Nanos::from_millis(1_000 + 20 * i64::from(index));
    let folders =
        |name: &str| -> Vec<PathBuf> { (0..COUNT).map(|i| at.path().join(format!("{name}-{i}"))).collect() };
    let open = |name: &str, marked: &dyn Fn(u32) -> bool| {
        for (i, folder) in (0..).zip(&folders(name)) {
            let rows: Vec<Record> =
                of_plan(&plan, i).into_iter().filter(|row| row.intended < stop(i)).collect();
            write_stopped(folder, &own(i), &rows, 10, marked(i).then(|| stop(i)));
        }
        Shards::open(&folders(name)).unwrap()
    };
    let due: usize =
        (0..COUNT).map(|i| of_plan(&plan, i).iter().filter(|row| row.intended < stop(i)).count()).sum();
    let roomy = Limits { same_zero: SAME_ZERO, ..Limits::default() };
    let check = |summary: &Summary| {
        assert!(summary.measured.interrupted && summary.measured.to_s == 1.02, "{:?}", summary.measured);
        assert_eq!(summary.measured.n, due as u64);
        for rate in [summary.rate.offered, summary.rate.started] {
            let rate = rate.unwrap();
            assert!((rate - due as f64 / 1.02).abs() < 1.0, "{rate} of {due}");
        }
        assert!(summary.verdict.load != Some(LoadVerdict::Invalid), "{:?}", summary.verdict);
        let missing = |finding: &Finding| finding.id == FindingId::RecordsMissing;
        assert!(!summary.verdict.findings.iter().any(missing), "{:?}", summary.verdict.findings);
    };
    let (log, summary) = merged(open("marked", &|_| true), &at.path().join("one"), roomy);
    check(&summary);
    for shard in &summary.shards {
        assert!(shard.without_record == 0 && shard.planned == Some(shard.sent), "{shard:?}");
    }
    // From the merged log alone, and from one read in a pass of its own.
    let one = at.path().join("one");
    let manifest = Manifest::read(&one.join(folder::PLAN)).unwrap_or_else(|error| panic!("{error:#}"));
    check(&crate::recompute(&one.join(folder::RECORDS), manifest, Vec::new(), Told::default()).unwrap());
    let tight = Limits { rows_in_memory: 0, runs_at_once: 2, ..roomy };
    assert!((log, summary) == merged(open("again", &|_| true), &at.path().join("two"), tight));
    // Logs that are older than the note: the summaries beside them tell.
    let old = open("old", &|_| false);
    for (i, folder) in (0..).zip(&folders("old")) {
        let told = Told { stopped_at: Some(stop(i)), ..Told::default() };
        let alone = crate::recompute(&folder.join(folder::RECORDS), own(i), Vec::new(), told).unwrap();
        fs::write(folder.join(folder::SUMMARY), crate::render("json", &alone, &Default::default())).unwrap();
    }
    drop(old);
    check(&merged(Shards::open(&folders("old")).unwrap(), &at.path().join("three"), roomy).1);
    // Where one shard does not say that it was stopped, its records are missing, and the whole plan is looked at.
    let some = RunFolder::create_exact(&at.path().join("four")).unwrap();
    let merged = open("some", &|i| i > 0).merge_within(&some, roomy).unwrap();
    assert_eq!(merged.incomplete(), 3);
    assert!(!merged.summary.measured.interrupted);
}

#[test]
fn logs_out_of_order_are_merged_to_the_same_bytes_and_numbers() {
    let at = TempDir::new().unwrap();
    let open = |name: &str, change: &dyn Fn(u32, &mut Vec<Record>)| {
        let folders: Vec<PathBuf> = (0..COUNT).map(|i| at.path().join(format!("{name}-{i}"))).collect();
        for (i, folder) in (0..).zip(&folders) {
            let mut rows = rows(i);
            change(i, &mut rows);
            write(folder, &manifest(i), &rows, 10);
        }
        Shards::open(&folders).unwrap()
    };
    let roomy = Limits { same_zero: SAME_ZERO, ..Limits::default() };
    let tight = Limits { rows_in_memory: 0, runs_at_once: 2, ..roomy };
    let expected = merged(open("plain", &|_, _| {}), &at.path().join("one"), roomy);
    assert_eq!(expected.1.measured.n, plan().arrivals_of(Shard::WHOLE).count() as u64);
    // One log backwards, or all, sorted on disk; the others in passing, with ten rows at a time and with all.
    for (name, which, limits) in [("two", Some(1), tight), ("three", Some(1), roomy), ("four", None, tight)] {
        let backwards = |i: u32, rows: &mut Vec<Record>| {
            if which.is_none_or(|which| which == i) {
                rows.reverse();
            }
        };
        let found = merged(open(name, &backwards), &at.path().join(format!("{name}-out")), limits);
        assert!(found == expected, "{name}");
    }
}

/// The shard `i` begins `i` times `apart` later than the first.
fn merged_apart(plan: &Plan, apart: Nanos) -> (Summary, Manifest) {
    let at = TempDir::new().unwrap();
    let folders: Vec<PathBuf> = (0..COUNT).map(|i| at.path().join(i.to_string())).collect();
    for (i, folder) in (0..COUNT).zip(&folders) {
        let mut own = manifest(i);
        own.zero_unix_ns += i64::from(i) * apart.0;
        own.plan = Plan { shard: Shard::new(i, COUNT).unwrap(), ..plan.clone() }.document();
        write(folder, &own, &of_plan(plan, i), 500);
    }
    let out = RunFolder::create_exact(&at.path().join("out")).unwrap();
    let summary = Shards::open(&folders).unwrap().merge(&out).unwrap().summary;
    let manifest = Manifest::read(&out.plan()).unwrap();
    // Its records tell the same again.
    let again = crate::recompute(&out.records(), manifest.clone(), Vec::new(), Told::default()).unwrap();
    assert_eq!((&again.verdict.load, &again.rate), (&summary.verdict.load, &summary.rate));
    (summary, manifest)
}

/// What is planned and not within the merged run's measured phase was not sent in it.
#[test]
fn shards_that_began_apart_are_held_to_the_whole_plan() {
    let zero = Nanos::ZERO;
    let plan = |warmup: Nanos| {
        let end = warmup + Nanos::from_secs(20);
        Plan {
            measured_from: warmup,
            ..Plan::ramp_and_hold(11, Process::Poisson, Rate(600.0), zero, zero, end)
        }
    };
    let all = plan(zero).arrivals_of(Shard::WHOLE).count() as f64;
    let share = |summary: &Summary| summary.verdict.rules.iter().find(|r| r.rule == RuleId::SentShare)?.value;
    let (summary, manifest) = merged_apart(&plan(zero), Nanos::from_secs(20));
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
    let apart = manifest.apart.unwrap();
    assert_eq!((apart.requests as f64, apart.outside), (all, apart.lacking));
    assert_eq!(summary.measured.n + apart.outside, apart.requests);
    assert!((share(&summary).unwrap() - 1.0 / 3.0).abs() < 0.02, "{:?}", share(&summary));
    assert!((summary.rate.offered.unwrap() - all / 20.0).abs() < 1e-6, "{:?}", summary.rate);
    let found: Vec<_> = summary.verdict.findings.iter().map(|f| &f.id).collect();
    assert!(found.contains(&&FindingId::ShardsApart), "{found:?}");
    // By little.
    let (summary, manifest) = merged_apart(&plan(zero), Nanos::from_millis(50));
    let load = |summary: &Summary| (summary.verdict.load, share(summary));
    assert_eq!(load(&summary).0, Some(LoadVerdict::Valid), "{:?}", summary.verdict.rules);
    assert!(manifest.apart.unwrap().lacking > 0 && share(&summary).unwrap() < 1.0);
    // A warm-up at the same rate stands in for what is outside.
    let (summary, manifest) = merged_apart(&plan(Nanos::from_secs(4)), Nanos::from_secs(2));
    let apart = manifest.apart.unwrap();
    assert!(apart.outside > 1_000 && apart.lacking < apart.outside / 10, "{apart:?}");
    assert_eq!(load(&summary).0, Some(LoadVerdict::Valid), "{apart:?}, {:?}", summary.verdict.rules);
}

/// Of closed users one shard in three is there at a time, if they come one after the other.
#[test]
fn users_of_shards_that_began_apart_are_not_all_held() {
    let level = Level::hold(6, Nanos::from_secs(20));
    let source = Source::Users { level: level.into(), requests: None };
    let journey = Journey::new(&[Node::Ask { step: 0, repeat: 1, think: None }], no_think()).unwrap();
    let plan =
        Plan::of(1, Group::of(source, journey, Connections::PerUser), Nanos::ZERO, Nanos::from_secs(20));
    let held = |apart: Nanos| {
        let (summary, _) = merged_apart(&plan, apart);
        summary.verdict.rules.iter().find(|r| r.rule == RuleId::UsersHeld).unwrap().value.unwrap()
    };
    // The measured phase ends a nanosecond after the plan.
    assert!((held(Nanos::from_secs(20)) - 1.0 / 3.0).abs() < 1e-9);
    assert!((held(Nanos::from_millis(20)) - 0.999).abs() < 1e-6);
}

/// A burst of which shards come one after the other is no burst, and work that shards do in turn was not done by all together.
#[test]
fn fixed_work_of_shards_that_began_apart_is_not_the_work_that_was_asked_for() {
    let journey = Journey::new(&[Node::Ask { step: 0, repeat: 1, think: None }], no_think()).unwrap();
    let of = |source| {
        let group = Group::of(source, journey.clone(), Connections::PerUser);
        Plan::of(1, group, Nanos::ZERO, LONGEST)
    };
    // All responses of the burst are there within 92 ms; those of the users take 20 s.
    let burst = of(Source::AtOnce { sessions: 600 });
    let users = of(Source::Users { level: Level::hold(6, LONGEST).into(), requests: Some(3 * 398) });
    let ms = Nanos::from_millis;
    for (plan, apart, expected) in [
        (&burst, ms(1_000), LoadVerdict::Invalid),
        (&burst, ms(3), LoadVerdict::Invalid),
        (&burst, Nanos::from_micros(400), LoadVerdict::Valid),
        (&users, ms(20_000), LoadVerdict::Invalid),
        (&users, ms(200), LoadVerdict::Invalid),
        (&users, ms(50), LoadVerdict::Valid),
    ] {
        let (summary, manifest) = merged_apart(plan, apart);
        let rules = &summary.verdict.rules;
        assert_eq!(summary.verdict.load, Some(expected), "{apart}: {rules:?}");
        let rule = rules.iter().find(|r| r.rule == RuleId::ShardsTogether);
        // Zeros that differ by less than clocks do are one.
        assert_eq!(rule.is_some(), manifest.apart.is_some(), "{apart}");
        if let Some(value) = rule.and_then(|rule| rule.value) {
            let spread = 2.0 * apart.as_secs_f64();
            assert!((value - (1.0 - spread / summary.measured.to_s)).abs() < 1e-9, "{apart}: {value}");
        }
    }
}

/// What run a destination is of.
fn run() -> RunDocument {
    let own = manifest(0);
    RunDocument {
        schema: SCHEMA.to_owned(),
        version: own.headway.clone(),
        shards: COUNT,
        seed: own.plan.seed,
        fingerprint: own.fingerprint(),
        of: timed(|_| {}),
    }
}

/// When the shards of the run begin and end, as `change` leaves it.
fn timed(change: impl Fn(&mut Timing)) -> Whole {
    let own = manifest(0);
    let start_at = Some(StartAt::Unix(i128::from(own.zero_unix_ns)));
    let mut timing = Timing { start_at, plan_end_ns: own.plan.end_ns, timeout_s: 30.0 };
    change(&mut timing);
    Whole::Run(timing)
}

fn put<T: serde::Serialize>(at: &Path, name: &str, document: &T) {
    let path = at.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, json(document)).unwrap();
}

fn claim(index: u32) -> Claim {
    Claim { host: format!("node-{index}"), pid: 7, at_unix_ns: 1_699_999_999_000_000_000 }
}

/// What a shard says when it has ended, of what it has left.
fn done(at: &Path, index: u32, records: u64) {
    let bytes = fs::metadata(at.join(format!("{index}/{}", folder::RECORDS))).unwrap().len();
    let done = Done { records, bytes, parts: None, exit_code: 0 };
    put(at, &format!("{index}/done.json"), &done);
}

/// A destination in which the shards that `ended` names have ended.
fn destination(ended: impl IntoIterator<Item = u32>) -> TempDir {
    let at = TempDir::new().unwrap();
    put(at.path(), RUN, &run());
    for index in ended {
        put(at.path(), &format!("{index}/{CLAIM}"), &claim(index));
        write(&at.path().join(index.to_string()), &manifest(index), &rows(index), 100);
        done(at.path(), index, rows(index).len() as u64);
    }
    at
}

fn store(at: &Path) -> Arc<dyn Store> {
    Arc::new(Folder::new(at))
}

fn shards(at: &Path) -> Result<Shards, Error> {
    Destination::open(store(at))?.shards()
}

fn merge(shards: Shards) -> Result<Merged, Error> {
    let out = TempDir::new().unwrap();
    let merged = shards.merge(&RunFolder::create_exact(out.path()).unwrap());
    if merged.is_err() {
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "a refusal leaves nothing behind");
    }
    merged
}

#[test]
fn a_destination_gives_what_its_folders_give_and_says_what_each_shard_left() {
    let at = destination(0..COUNT);
    let folders: Vec<PathBuf> = (0..COUNT).map(|i| at.path().join(i.to_string())).collect();
    let by_name = merge(Shards::open(&folders).unwrap()).unwrap().summary;
    let mut merged = merge(shards(at.path()).unwrap()).unwrap();
    assert_eq!(merged.incomplete(), 0);
    for (index, shard) in (0..).zip(&merged.summary.shards) {
        let n = rows(index).len() as u64;
        let expected = ShardCoverage {
            shard: format!("{index}/{COUNT}"),
            host: Some(format!("node-{index}")),
            planned: Some(n),
            sent: n,
            records: n,
            without_record: 0,
            log: ShardLog::Complete,
            done: Some(true),
        };
        assert_eq!(*shard, expected);
    }
    for shard in &mut merged.summary.shards {
        (shard.host, shard.done) = (None, None);
    }
    assert_eq!(merged.summary, by_name);
}

#[test]
fn a_lost_shard_is_named_and_one_that_was_killed_gives_what_it_had() {
    let at = destination([0]);
    // Shard 1 was killed: half a log, without an end mark, and no word that it had ended.
    let half = rows(1).len() / 2;
    put(at.path(), &format!("1/{CLAIM}"), &claim(1));
    let killed = at.path().join("1");
    write(&killed, &manifest(1), &rows(1)[..half], 10);
    let log = fs::File::options().write(true).open(killed.join(folder::RECORDS)).unwrap();
    log.set_len(log.metadata().unwrap().len() - 300).unwrap();
    // Of shard 2 there is nothing but its claim.
    put(at.path(), &format!("2/{CLAIM}"), &claim(2));
    let merged = merge(shards(at.path()).unwrap()).unwrap();
    assert_eq!(merged.incomplete(), 2);
    let [whole, killed, lost] = &merged.summary.shards[..] else { panic!("{:?}", merged.summary.shards) };
    assert!(!whole.is_incomplete() && whole.records == rows(0).len() as u64);
    let planned = rows(1).len() as u64;
    assert_eq!((killed.log, killed.done, killed.planned), (ShardLog::CutShort, Some(false), Some(planned)));
    assert_eq!(killed.host.as_deref(), Some("node-1"));
    assert!(killed.records > 0 && killed.records <= half as u64);
    assert_eq!(killed.records + killed.without_record, planned);
    let planned = rows(2).len() as u64;
    assert_eq!((lost.log, lost.planned, lost.records), (ShardLog::Missing, Some(planned), 0));
    assert_eq!(lost.host.as_deref(), Some("node-2"));
    // Nothing is scaled up, and the load is not shown to be VALID.
    assert_eq!(merged.summary.measured.n, whole.records + killed.records);
    assert_ne!(merged.summary.verdict.load, Some(LoadVerdict::Valid));
    let said = |evidence: RunEvidence| {
        let all = merged.summary.verdict.findings.iter().flat_map(|finding| &finding.evidence);
        assert!(all.into_iter().any(|found| *found == evidence.clone().into()), "{evidence:?}");
    };
    let short =
        ShortShard { shard: "1/3".into(), n: killed.without_record, planned: killed.planned.unwrap() };
    said(RunEvidence::MissingRecords { n: killed.without_record, shards: vec![short] });
    let lost = LostShard { shard: "2/3".into(), planned: Some(planned) };
    said(RunEvidence::MissingShards { n: planned, shards: vec![lost] });
    said(RunEvidence::LogCutShort { folder: clear(&at.path().join("1").display().to_string()) });
}

#[test]
fn what_is_no_destination_of_one_run_is_refused() {
    let refused = |at: &Path, words: &[&str]| {
        let error = shards(at).and_then(merge).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let none = TempDir::new().unwrap();
    refused(&none.path().join("none"), &["none: there is nothing; name the destination"]);
    refused(none.path(), &["it is empty: no shard has come yet"]);
    fs::write(none.path().join("file"), "").unwrap();
    refused(none.path(), &["no run.json in it"]);
    refused(&none.path().join("file"), &["a file, and no destination"]);

    let with = |change: &dyn Fn(&Path)| {
        let at = destination(0..COUNT);
        change(at.path());
        at
    };
    let of_run = |change: fn(&mut RunDocument)| {
        let mut document = run();
        change(&mut document);
        with(&|at| put(at, RUN, &document))
    };
    let expected =
        |at: &Path| Destination::open(store(at)).and_then(|destination| destination.expect(Some(8)));
    let at = with(&|_| {});
    assert_eq!(
        expected(at.path()).unwrap_err().to_string(),
        format!("--expect 8: the run in {} has 3 shards", at.path().display())
    );
    assert!(Destination::open(store(at.path())).unwrap().expect(Some(3)).is_ok());
    refused(of_run(|run| run.shards = 2).path(), &["/2: the run in ", " has 2 shards, 0 to 1"]);
    refused(of_run(|run| run.shards = 4).path(), &["/0: the shard is 0/3, and 0/4 in run.json"]);
    refused(of_run(|run| run.shards = 0).path(), &["0 shards; accepted: schema headway.destination/1"]);
    refused(of_run(|run| run.schema = "headway.destination/9".into()).path(), &["destination/9"]);
    refused(
        of_run(|run| run.seed = 12).path(),
        &["the seed is 11, and 12 in run.json", "a shard of another run is in this destination"],
    );
    refused(
        of_run(|run| run.version = "9.9".into()).path(),
        &["the version of headway is", "9.9 in run.json"],
    );
    refused(of_run(|run| run.fingerprint = "0".into()).path(), &["the fingerprint of the plan is"]);
    let started = |run: &mut RunDocument| {
        run.of = timed(|timing| timing.start_at = Some(StartAt::Unix(5)));
    };
    refused(of_run(started).path(), &["the start, in ns since 1970, is"]);
    refused(of_run(|run| run.shards = 0).path(), &["run.json: schema ", ", 0 shards", "1 to 65,536 shards"]);
    refused(of_run(|run| run.shards = 65_537).path(), &[", 65537 shards", "1 to 65,536 shards"]);
    refused(of_run(|run| run.shards = u32::MAX).path(), &[", 4294967295 shards", "1 to 65,536 shards"]);
    let moved = with(&|at| {
        let path = at.join("1").join(folder::PLAN);
        let zero = manifest(1).zero_unix_ns;
        let text = fs::read_to_string(&path).unwrap();
        let later = text.replace(&zero.to_string(), &(zero + 3_600_000_000_000).to_string());
        assert_ne!(text, later);
        fs::write(path, later).unwrap();
    });
    refused(moved.path(), &["zero_unix_ns in plan.json is ", ", and the log beside it says "]);
    // A folder that was copied is no other shard.
    let twice = with(&|at| {
        fs::remove_dir_all(at.join("1")).unwrap();
        write(&at.join("1"), &manifest(0), &rows(0), 100);
    });
    refused(twice.path(), &["/1: the shard is 0/3, and 1/3 in run.json"]);
    let rows_less = with(&|at| done(at, 1, rows(1).len() as u64 + 1));
    refused(rows_less.path(), &["1/records.arrow: it has ", " rows, and done.json beside it says "]);
    let longer = with(&|at| {
        let log = fs::File::options().append(true).open(at.join("1").join(folder::RECORDS)).unwrap();
        log.set_len(log.metadata().unwrap().len() + 1).unwrap();
    });
    refused(longer.path(), &["1/records.arrow: it has ", " bytes, and done.json beside it says "]);
    refused(
        with(&|at| fs::write(at.join("1/done.json"), "{").unwrap()).path(),
        &["1/done.json is not a document"],
    );
    let only_claims = destination([]);
    put(only_claims.path(), &format!("0/{CLAIM}"), &claim(0));
    refused(only_claims.path(), &["none of the 3 shards of the run has left records"]);
}

#[test]
fn shards_are_watched_until_they_end_or_should_have() {
    const S: i128 = 1_000_000_000;
    let zero = i128::from(manifest(0).zero_unix_ns);
    let end = zero + i128::from(plan().end().0) + 30 * S;
    let at = destination([2]);
    let progress = |index: u32, at_unix_ns: i128, sent: u64| {
        let document = Progress { at_unix_ns, offered: sent + 1, sent, ended: sent, failed: 1 };
        put(at.path(), &format!("{index}/{PROGRESS}"), &document);
    };
    // What a file system stamps is later than these made-up times: what is there at first counts as seen then.
    let destination = Destination::open(store(at.path())).unwrap();
    let mut watch = Watch::new(&destination, Nanos::from_secs(5));
    progress(0, zero + S, 10);
    progress(1, zero - 60 * S, 20);
    let standing = watch.look(zero + 2 * S).unwrap();
    let expected = Standing {
        shards: COUNT,
        done: 1,
        alive: 1,
        so_far: SoFar::Requests { offered: 32, sent: 30, failed: 2 },
        until_unix_ns: end + 5 * S,
    };
    assert_eq!(standing, expected, "the progress of shard 1 is a minute old");
    progress(1, zero + 3 * S, 200);
    let standing = watch.look(zero + 4 * S).unwrap();
    assert_eq!(standing.alive, 2);
    assert_eq!(standing.so_far, SoFar::Requests { offered: 212, sent: 210, failed: 2 });
    let silent = zero + 4 * S + i128::from(ALIVE) * 2 * S;
    assert_eq!(watch.look(silent - 1).unwrap().alive, 1, "that of shard 0 is older than ten seconds");
    assert_eq!(watch.look(silent).unwrap().alive, 0);
    assert!(!standing.is_over(end + 5 * S - 1) && standing.is_over(end + 5 * S));
    for index in 0..2 {
        write(&at.path().join(index.to_string()), &manifest(index), &rows(index), 100);
        done(at.path(), index, rows(index).len() as u64);
    }
    let standing = watch.look(zero + 20 * S).unwrap();
    assert_eq!((standing.done, standing.alive), (3, 0));
    assert!(standing.is_over(zero + 20 * S));
}

#[test]
fn without_an_end_by_the_plan_shards_are_waited_for_while_there_are_signs_of_them() {
    const S: i128 = 1_000_000_000;
    let until = |change: &dyn Fn(&mut RunDocument), start: Option<StartDocument>, claimed: bool| {
        let at = destination([]);
        let mut document = run();
        change(&mut document);
        put(at.path(), RUN, &document);
        if claimed {
            put(at.path(), &format!("1/{CLAIM}"), &claim(1));
        }
        if let Some(start) = start {
            put(at.path(), START, &start);
        }
        let destination = Destination::open(store(at.path())).unwrap();
        let mut watch = Watch::new(&destination, Nanos::from_secs(5));
        // Long before its files were written, so that they count as written now.
        watch.look(0).unwrap().until_unix_ns
    };
    let plan = i128::from(plan().end().0) + 35 * S;
    let starts = |run: &mut RunDocument, at: Option<StartAt>| run.of = timed(|timing| timing.start_at = at);
    let barrier = |run: &mut RunDocument| starts(run, Some(StartAt::Barrier));
    assert_eq!(until(&barrier, Some(StartDocument::ZeroUnixNs(77 * S)), false), 77 * S + plan);
    assert_eq!(until(&barrier, Some(StartDocument::Never), true), 0);
    assert_eq!(until(&barrier, None, true), i128::from(LONGEST_MEETING.0) + 5 * S);
    let by_itself = |run: &mut RunDocument| starts(run, None);
    assert_eq!(until(&by_itself, None, false), i128::from(LONGEST_MEETING.0) + 5 * S);
    assert_eq!(until(&by_itself, None, true), claim(1).at_unix_ns + plan);
    let work = |run: &mut RunDocument| {
        run.of = timed(|timing| {
            (timing.start_at, timing.plan_end_ns) = (Some(StartAt::Unix(0)), LONGEST.0);
        });
    };
    assert_eq!(until(&work, None, true), 35 * S);
    // Nobody knows when plays end: one of three shards of a study has come.
    let study = |run: &mut RunDocument| run.of = Whole::Study { points: 2, replications: 5 };
    assert_eq!(until(&study, None, true), i128::from(LONGEST_MEETING.0) + 5 * S);
}

#[test]
fn shards_of_a_study_are_watched_while_one_is_alive_or_may_come() {
    const S: i128 = 1_000_000_000;
    let at = TempDir::new().unwrap();
    let of = Whole::Study { points: 2, replications: 5 };
    put(at.path(), RUN, &RunDocument { of, ..run() });
    let progress = |index: u32, at_unix_ns: i128, plays: u64| {
        put(at.path(), &format!("{index}/{PROGRESS}"), &PlaysProgress { at_unix_ns, plays });
    };
    let destination = Destination::open(store(at.path())).unwrap();
    let mut watch = Watch::new(&destination, Nanos::from_secs(5));
    put(at.path(), &format!("0/{CLAIM}"), &claim(0));
    progress(0, 0, 2);
    let standing = watch.look(0).unwrap();
    assert_eq!((standing.done, standing.alive), (0, 1));
    assert_eq!(standing.so_far, SoFar::Plays { ended: 2, of: 10 });
    assert_eq!(standing.until_unix_ns, i128::from(LONGEST_MEETING.0) + 5 * S, "two may still come");
    put(at.path(), &format!("1/{CLAIM}"), &claim(1));
    put(at.path(), &format!("2/{CLAIM}"), &claim(2));
    progress(1, 9 * S, 3);
    let done = Done { records: 3, bytes: 0, parts: None, exit_code: 0 };
    put(at.path(), &format!("1/{DONE}"), &done);
    let standing = watch.look(10 * S).unwrap();
    assert_eq!((standing.done, standing.so_far), (1, SoFar::Plays { ended: 5, of: 10 }));
    // All have come: those that have not ended are waited for as long as they count as alive.
    let silent = 10 * S + i128::from(ALIVE) * 2 * S;
    assert_eq!(standing.until_unix_ns, silent + 5 * S);
    assert!(!standing.is_over(silent) && standing.is_over(silent + 5 * S));
}

/// Shards of one target alone are one run, by name and in a destination.
#[test]
fn shards_of_another_target_are_refused() {
    let at = destination(0..COUNT);
    let mut other = manifest(1);
    other.asked.target = Some("http://127.0.0.2/".into());
    fs::remove_dir_all(at.path().join("1")).unwrap();
    write(&at.path().join("1"), &other, &rows(1), 100);
    let folders: Vec<PathBuf> = (0..COUNT).map(|i| at.path().join(i.to_string())).collect();
    let told = Shards::open(&folders).unwrap_err().to_string();
    let expected =
        "the target differs (http://127.0.0.1/ and http://127.0.0.2/): these are shards of different runs";
    assert!(told.contains(expected), "{told}");
    let told = shards(at.path()).unwrap_err().to_string();
    assert!(told.contains("/1: the fingerprint of the plan is "), "{told}");
}

/// The destination in that folder, in a bucket: logs in pieces of so many bytes.
fn in_a_bucket(at: &Path, piece: usize) -> Arc<dyn Store> {
    let (bucket, folder) = (Bucket::in_memory(), Folder::new(at));
    for entry in folder.list("").unwrap() {
        let bytes = folder.get(&entry.name).unwrap().unwrap();
        let Some((index, name)) = entry.name.split_once('/') else {
            bucket.put(&entry.name, &bytes).unwrap();
            continue;
        };
        match (index.parse(), name) {
            (Ok(index), folder::RECORDS) => {
                for (n, piece) in (1..).zip(bytes.chunks(piece)) {
                    bucket.put(&part(index, n), piece).unwrap();
                }
            }
            (Ok(index), DONE) => {
                let done: Done = parse(&entry.name, &bytes).unwrap();
                let parts = Some(done.bytes.div_ceil(piece as u64) as u32);
                bucket.put(&of_shard(index, DONE), &json(&Done { parts, ..done })).unwrap();
            }
            _ => bucket.put(&entry.name, &bytes).unwrap(),
        }
    }
    Arc::new(bucket)
}

#[test]
fn from_a_bucket_shards_are_merged_to_what_their_folders_are_merged_to() {
    let at = destination(0..COUNT);
    let bucket = in_a_bucket(at.path(), 1_000);
    let out = TempDir::new().unwrap();
    let limits = Limits { same_zero: SAME_ZERO, ..Limits::default() };
    let expected = merged(shards(at.path()).unwrap(), &out.path().join("folder"), limits);
    let fetched = || Destination::open(bucket.clone()).unwrap().shards();
    let found = merged(fetched().unwrap(), &out.path().join("bucket"), limits);
    assert!(found == expected);
    // Pieces beyond those that a shard says it has are of a log that it published anew.
    let log = fs::read(at.path().join("1").join(folder::RECORDS)).unwrap();
    bucket.put(&part(1, log.len().div_ceil(1_000) as u32 + 1), b"before").unwrap();
    let found = merged(fetched().unwrap(), &out.path().join("again"), limits);
    assert!(found == expected);
    bucket.put(&part(1, 2), &log[..500]).unwrap();
    let told = fetched().unwrap_err().to_string();
    assert!(
        told.starts_with("s3://memory/run/1/records.arrow: it has ") && told.contains(" bytes"),
        "{told}"
    );
}

#[test]
fn a_shard_that_was_killed_has_given_the_pieces_up_to_the_first_that_lacks() {
    let at = destination(0..COUNT);
    fs::remove_file(at.path().join("1/done.json")).unwrap();
    fs::remove_file(at.path().join("2/done.json")).unwrap();
    let records = |index: u32| at.path().join(index.to_string()).join(folder::RECORDS);
    let log = fs::read(records(1)).unwrap();
    fs::write(records(1), &log[..log.len() / 2]).unwrap();
    fs::remove_file(records(2)).unwrap();
    let bucket = in_a_bucket(at.path(), 1_000);
    bucket.put(&part(1, log.len() as u32), b"far beyond").unwrap();
    let merged = merge(Destination::open(bucket).unwrap().shards().unwrap()).unwrap();
    let of = |i: usize| (merged.summary.shards[i].log, merged.summary.shards[i].done);
    assert_eq!(of(0), (ShardLog::Complete, Some(true)));
    assert_eq!(of(1), (ShardLog::CutShort, Some(false)));
    assert_eq!(of(2), (ShardLog::Missing, Some(false)));
    let half = &merged.summary.shards[1];
    assert!(half.records > 0 && half.without_record > 0, "{half:?}");
    assert_eq!(half.planned, Some(half.records + half.without_record));
    assert_eq!(merged.incomplete(), 2);
    let cut = merged.summary.verdict.findings.iter().find(|f| f.id == FindingId::LogCutShort).unwrap();
    let told = serde_json::to_string(&cut.evidence).unwrap();
    assert!(told.contains("s3://memory/run/1"), "{told}");
}

/// Two pieces and the end of each request, but for every tenth, which has the end alone.
fn events_of(row: &Record) -> Vec<ResponseEvent> {
    let end = ResponseEvent::end_of(row);
    let at = |ms| row.intended + Nanos::from_millis(ms);
    let first = ResponseEvent { kind: EventKind::Chunk, at: at(3), bytes: 5, count: 1, ..end };
    let later = ResponseEvent { at: at(3 + row.k as i64 % 7), before: first.at.into(), ..first };
    match row.k % 10 {
        0 => vec![end],
        _ => vec![first, later, ResponseEvent { before: later.at.into(), bytes: 10, count: 2, ..end }],
    }
}

#[test]
fn events_of_all_shards_are_merged_and_counted_as_the_merged_table_is() {
    let at = TempDir::new().unwrap();
    let folders: Vec<PathBuf> = (0..COUNT).map(|i| at.path().join(i.to_string())).collect();
    let mut all = Vec::new();
    for (i, folder) in (0..).zip(&folders) {
        let (own, rows) = (manifest(i), rows(i));
        write(folder, &own, &rows, 10);
        let mut table =
            EventWriter::create(&folder.join(folder::EVENTS), &own.log_metadata().unwrap()).unwrap();
        let events: Vec<ResponseEvent> = rows.iter().flat_map(events_of).collect();
        table.append(&events).unwrap();
        table.finish().unwrap();
        all.extend(events);
    }
    let limits = Limits { same_zero: SAME_ZERO, ..Limits::default() };
    let out = RunFolder::create_exact(&at.path().join("out")).unwrap();
    let merged = Shards::open(&folders).unwrap().merge_within(&out, limits).unwrap().summary;
    let found = merged.events.as_ref().unwrap();
    let n = merged.measured.n;
    let without = all.iter().filter(|event| event.without().is_some()).count() as u64;
    assert_eq!((found.all.requests, found.all.first.n, found.all.first.censored), (n, n, without));
    let coalesced = all.iter().filter(|event| event.is_coalesced()).count() as u64;
    assert!(coalesced > 0 && found.all.coalesced == coalesced, "{}", found.all.coalesced);
    assert_eq!((found.all.n, found.all.gap.n), (2 * (n - without), n - without - coalesced));
    let table: Vec<ResponseEvent> =
        EventReader::open(&out.events()).unwrap().flat_map(Result::unwrap).collect();
    assert_eq!(table, all, "one shard after the other");
    let manifest = Manifest::read(&out.plan()).unwrap();
    let again = crate::recompute(&out.records(), manifest, Vec::new(), Told::default()).unwrap();
    assert_eq!(again.events, merged.events);

    // A shard whose table has no end mark is said to be cut short.
    let bytes = fs::read(folders[1].join(folder::EVENTS)).unwrap();
    fs::write(folders[1].join(folder::EVENTS), &bytes[..bytes.len() - 500]).unwrap();
    let out = RunFolder::create_exact(&at.path().join("again")).unwrap();
    let merged = Shards::open(&folders).unwrap().merge_within(&out, limits).unwrap().summary;
    let cut_short = merged.verdict.findings.iter().filter(|finding| finding.id == FindingId::LogCutShort);
    assert_eq!(cut_short.count(), 1);
}
