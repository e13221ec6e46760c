//! A part of a study: the plays of one shard, and the study that all parts make, to the bit that of one machine.
//!
//! Play j of points x replications is shard j mod N's. Each play is one line of JSON: it is written when it has ended, so that a shard
//! that was killed has given what it had. The folder of a part says in `part.json` what it is a part of, and holds the lines in
//! `plays.jsonl`. It is in the destination that all shards share, or is published there. Deliberately absent: how a command becomes a study.

use super::PointResult;
use super::grid::{Studied, StudySpec, document};
use crate::destination::layout::{RunDocument, SCHEMA as DESTINATION, Whole};
use crate::destination::{Address, Ending, OnWait, Publisher, Seat};
use crate::simulate::course::OutputSeries;
use crate::simulate::point::PointBuilder;
use crate::simulate::replication::{Replication, seed};
use crate::{Error, jobs, merge};
use anyhow::{Context as _, anyhow};
use headway_live::Control;
use headway_records::RunFolder;
use headway_stats::summary::Finding;
use headway_workload::Shard;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// The file of a part's folder that says what it is a part of.
pub(crate) const DOCUMENT: &str = "part.json";
/// The file of its plays.
pub(crate) const PLAYS: &str = "plays.jsonl";
/// Version of both.
const SCHEMA: &str = "headway.part/1";

/// What a part is a part of: `part.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartOf {
    schema: String,
    /// Version of the program.
    headway: String,
    /// Which shard, from 0.
    shard: u32,
    /// How many there are.
    shards: u32,
    /// The words of the command without shard and folder, secrets replaced.
    pub words: Vec<String>,
    /// The scenario as written, secrets replaced.
    pub scenario: String,
    /// Of all that is played and judged ([`fingerprint`]).
    study: String,
}

impl PartOf {
    /// Shard `shard` of that study, which these words and that scenario describe.
    pub fn new(spec: &StudySpec, shard: Shard, words: Vec<String>, scenario: String) -> PartOf {
        PartOf {
            schema: SCHEMA.to_owned(),
            headway: env!("CARGO_PKG_VERSION").to_owned(),
            shard: shard.index(),
            shards: shard.count(),
            words,
            scenario,
            study: fingerprint(spec),
        }
    }

    /// The shard that it is.
    fn own(&self) -> Result<Shard, Error> {
        Shard::new(self.shard, self.shards).map_err(Error::usage)
    }

    /// What the destination of the parts of that study is of.
    pub(crate) fn whole(&self, spec: &StudySpec) -> RunDocument {
        RunDocument {
            schema: DESTINATION.to_owned(),
            version: self.headway.clone(),
            shards: self.shards,
            seed: spec.seed,
            fingerprint: self.study.clone(),
            of: Whole::Study { points: spec.places.len() as u64, replications: spec.replications },
        }
    }

    /// What is otherwise in a part of another study, with its value there and here, as far as both say.
    pub(crate) fn otherwise(&self, other: &PartOf) -> Option<(&'static str, String, String)> {
        let mut lines = other.scenario.lines().zip(self.scenario.lines());
        let line = lines.find(|(there, here)| there != here);
        let line = line.map(|(there, here)| ("a line of the scenario", there.to_owned(), here.to_owned()));
        let command = ("the command", other.words.join(" "), self.words.join(" "));
        line.or_else(|| (command.1 != command.2).then_some(command))
    }

    /// What the folder at `path` is a part of, which people know as `place`.
    ///
    /// # Errors
    /// It is none of a part, or of another version.
    pub(crate) fn read(path: &Path, place: &Path) -> anyhow::Result<PartOf> {
        let shown = || place.join(DOCUMENT).display().to_string();
        let text = fs::read(path.join(DOCUMENT))
            .with_context(shown)
            .context("the parts of a study are merged with nothing but parts of it")?;
        let of: PartOf = serde_json::from_slice(&text).with_context(shown)?;
        let own = env!("CARGO_PKG_VERSION");
        if of.schema != SCHEMA || of.headway != own {
            return Err(anyhow!(
                "{}: it is by headway {} ({}), and this is {own} ({SCHEMA}): merge by the version that played",
                shown(),
                of.headway,
                of.schema
            ));
        }
        Shard::new(of.shard, of.shards).with_context(shown)?;
        Ok(of)
    }

    /// Holds it to the destination that it was found in, where it is in the folder of shard `index`: what differs, with the value there and
    /// its own.
    pub(crate) fn differs(&self, run: &RunDocument, index: u32) -> Option<(&'static str, String, String)> {
        let shard = |index: u32, count: u32| format!("{index}/{count}");
        let all = [
            ("the shard", shard(index, run.shards), shard(self.shard, self.shards)),
            ("the version of headway", run.version.clone(), self.headway.clone()),
            ("the fingerprint of the study", run.fingerprint.clone(), self.study.clone()),
        ];
        all.into_iter().find(|(_, there, own)| there != own)
    }
}

/// [Of](crate::fingerprint) what is played and judged. Threads, the command, notes and a run beside are not in it.
fn fingerprint(spec: &StudySpec) -> String {
    let StudySpec {
        name,
        command: _,
        seed,
        replications,
        parameters,
        places,
        threads: _,
        thresholds,
        not_judged,
        labels,
        beside: _,
        notes: _,
    } = spec;
    crate::fingerprint::fingerprint(&(
        name,
        seed,
        replications,
        parameters,
        places,
        thresholds,
        not_judged,
        labels,
    ))
}

/// A play as it is written down.
#[derive(Serialize, Deserialize)]
struct Line {
    /// Point x replications + replication.
    job: u64,
    replication: Replication,
    course: OutputSeries,
}

/// How many plays of the study are this shard's.
pub fn plays_of(spec: &StudySpec, shard: Shard) -> u64 {
    shard.split_u64(spec.plays())
}

/// A part of a study that has been played.
#[derive(Debug)]
pub struct PlayedPart {
    /// How many plays ended.
    pub ended: u64,
    /// That the store of the destination failed meanwhile, if it did.
    pub findings: Vec<Finding>,
    /// Its destination, which waits for [`Ending::finish`]. Until then merging finds the shard unfinished.
    pub destination: Ending,
}

/// Plays that part of the study into the destination of all parts, until `control` is asked to stop. `on_wait` is called when a wait for the
/// destination begins, `progress` for every play that has ended.
///
/// # Errors
/// [`Error::Usage`] if the destination is of another study, or refuses to be used, or for a model that cannot be; [`Error::NotPlayed`] if another
/// process has claimed the shard; [`Error::Failed`] if the store fails or a file cannot be written.
pub fn play_into(
    spec: &StudySpec,
    part: &PartOf,
    destination: &Address,
    control: &Control,
    on_wait: OnWait,
    progress: impl FnMut(),
) -> Result<PlayedPart, Error> {
    let store = destination.open()?;
    store.heed(control, on_wait);
    let seat = Seat::of_study(store, part, part.whole(spec), part.own()?)?;
    let folder = seat.run_folder(&spec.name)?;
    play_seated(spec, part, seat, &folder, control, progress)
}

/// The same, of a part that has its seat and its folder.
pub(super) fn play_seated(
    spec: &StudySpec,
    part: &PartOf,
    seat: Seat,
    folder: &RunFolder,
    control: &Control,
    mut progress: impl FnMut(),
) -> Result<PlayedPart, Error> {
    let mut text = serde_json::to_vec_pretty(part).map_err(Error::failed)?;
    text.push(b'\n');
    folder.write_new(DOCUMENT, &text)?;
    let path = folder.path().join(PLAYS);
    let mut file = File::create_new(&path).with_context(|| path.display().to_string())?;
    let publisher = Publisher::of_study(seat, folder)?;
    let mut so_far = 0;
    let one_more = || {
        so_far += 1;
        publisher.played(so_far);
        progress();
    };
    let ended = play_part(spec, part.own()?, &|| control.asked() > 0, one_more, &mut file)?;
    file.sync_all().with_context(|| path.display().to_string())?;
    let findings = publisher.finding().into_iter().collect();
    Ok(PlayedPart { ended, findings, destination: publisher.end(ended, folder) })
}

/// Plays what is that shard's, and writes each play to `to` as it ends; how many ended. `stop` is polled often, and ends it early.
///
/// # Errors
/// A model that cannot be ([`Error::Usage`]), or `to` takes no more.
pub(super) fn play_part(
    spec: &StudySpec,
    shard: Shard,
    stop: &(dyn Fn() -> bool + Sync),
    mut progress: impl FnMut(),
    to: &mut dyn Write,
) -> Result<u64, Error> {
    let (mut ended, mut wrong) = (0, None);
    let failed = AtomicBool::new(false);
    let stop = || failed.load(Ordering::Relaxed) || stop();
    let once = |own: u64| {
        let job = u64::from(shard.index()) + own * u64::from(shard.count());
        let place = &spec.places[(job / spec.replications) as usize];
        let played = Replication::play(&place.play, seed(spec.seed, job % spec.replications), &stop);
        played.map(|played| played.map(|(replication, course)| Line { job, replication, course }))
    };
    jobs::each(plays_of(spec, shard), spec.threads, stop, once, |_, played| {
        let written = match played {
            Ok(None) => return,
            Ok(Some(line)) => write(&line, to).map_err(Error::failed),
            Err(error) => Err(Error::usage(error)),
        };
        match written {
            Ok(()) => {
                ended += 1;
                progress();
            }
            Err(error) => {
                failed.store(true, Ordering::Relaxed);
                wrong = wrong.take().or(Some(error));
            }
        }
    });
    wrong.map_or(Ok(ended), Err)
}

fn write(line: &Line, to: &mut dyn Write) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    Ok(to.write_all(&text)?)
}

/// The lines of one part, which come nearly in the order of their numbers.
struct Part<'a> {
    lines: &'a mut dyn BufRead,
    name: &'a str,
    /// Which shard of how many.
    index: u64,
    n: u64,
    read: u64,
    ahead: BTreeMap<u64, Line>,
}

impl Part<'_> {
    /// The play of that number; none where the part does not have it.
    fn take(&mut self, job: u64) -> anyhow::Result<Option<Line>> {
        loop {
            if let Some(line) = self.ahead.remove(&job) {
                return Ok(Some(line));
            }
            let mut text = Vec::new();
            self.lines.read_until(b'\n', &mut text).with_context(|| self.name.to_owned())?;
            // What a killed shard was about to write is no play.
            if text.pop() != Some(b'\n') {
                return Ok(None);
            }
            self.read += 1;
            let at = format!("{}: line {}", self.name, self.read);
            let line: Line = serde_json::from_slice(&text).map_err(|wrong| {
                let column = wrong.column();
                anyhow!(
                    "{at}: no play, from column {column} on: the file is not as the shard wrote it. Remove the shard's folder and play it again"
                )
            })?;
            if line.job % self.n != self.index {
                return Err(anyhow!("{at}: play {} is not one of shard {}/{}", line.job, self.index, self.n));
            }
            if line.job < job || self.ahead.contains_key(&line.job) {
                return Err(anyhow!("{at}: play {} is there twice, or is none of the study's", line.job));
            }
            self.ahead.insert(line.job, line);
        }
    }
}

/// The study that these parts make, and how many plays each has. Each is a name for messages and its lines; part i is shard i of as many as there are. Points of which a
/// play is missing are the document's `missing`.
///
/// # Errors
/// A line that cannot be read, or that is not the part's: names part and line.
pub(super) fn study_of_parts(
    spec: &StudySpec,
    parts: &mut [(String, &mut dyn BufRead)],
) -> Result<(Studied, Vec<u64>), Error> {
    let (r, n) = (spec.replications, parts.len() as u64);
    let mut parts: Vec<Part<'_>> = (0..n)
        .zip(parts)
        .map(|(index, (name, lines))| Part {
            name,
            lines: &mut **lines,
            index,
            n,
            read: 0,
            ahead: BTreeMap::new(),
        })
        .collect();
    let mut done: Vec<Option<PointResult>> = Vec::with_capacity(spec.places.len());
    for (at, place) in spec.places.iter().enumerate() {
        let mut point = PointBuilder::new(r, &place.play, &spec.thresholds);
        for own in 0..r {
            let job = at as u64 * r + own;
            if let Some(line) = parts[(job % n) as usize].take(job).map_err(Error::usage)? {
                point.take(own, line.replication, line.course);
            }
        }
        done.push(point.is_whole().then(|| point.finish(&place.values, &place.play)));
    }
    for part in &mut parts {
        part.take(u64::MAX).map_err(Error::usage)?;
        if let Some(job) = part.ahead.keys().next() {
            return Err(Error::usage(anyhow!("{}: play {job} is beyond the study's last", part.name)));
        }
    }
    let read = parts.iter().map(|part| part.read).collect();
    Ok((document(spec, &spec.places, done), read))
}

/// Folders of parts of one study.
#[derive(Debug)]
pub struct Parts {
    /// The folder of each shard that is there, by its number.
    folders: BTreeMap<u32, PartFolder>,
    /// What the first of them is.
    of: PartOf,
    /// The machines that claimed shards of which there is no folder.
    hosts: BTreeMap<u32, String>,
    /// Where the folders are that were fetched; kept until they are merged.
    _fetched: Option<TempDir>,
}

/// The folder of a part.
#[derive(Debug)]
pub(crate) struct PartFolder {
    pub(crate) path: PathBuf,
    /// Where it is for people: the folder, or what it was fetched from.
    pub(crate) place: PathBuf,
}

/// A study out of its parts.
#[derive(Debug)]
pub struct Merged {
    /// Of the points of which all plays are there.
    pub studied: Studied,
    /// The shards of which plays are missing.
    pub missing: Vec<Missing>,
}

/// A shard of which plays are missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// Which one.
    pub shard: Shard,
    /// How many plays it has.
    pub has: u64,
    /// How many are its own.
    pub of: u64,
    /// Whether there is a folder of it.
    pub is_there: bool,
    /// The machine that claimed it, if there is none.
    pub host: Option<String>,
}

impl Parts {
    /// Whether that is the folder of a part.
    pub fn is_one(path: &Path) -> bool {
        path.join(DOCUMENT).is_file()
    }

    /// Reads what each is a part of.
    ///
    /// # Errors
    /// A folder that is none of a part; parts of different studies, by different versions, or by another than this one; a shard that is
    /// there twice.
    pub fn open(paths: &[PathBuf]) -> Result<Parts, Error> {
        let mut parts: Vec<(PartOf, PartFolder)> = Vec::with_capacity(paths.len());
        for path in paths {
            let of = PartOf::read(path, path).map_err(Error::usage)?;
            let refused = |other: &PartFolder, why: String| {
                Error::usage(anyhow!("{} and {}{why}", other.place.display(), path.display()))
            };
            if let Some((first, other)) = parts.first() {
                alike(first, &of).map_err(|why| refused(other, format!(": {why}")))?;
            }
            if let Some((_, other)) = parts.iter().find(|(other, _)| other.shard == of.shard) {
                let why = format!(" are both shard {}/{}: name each shard once", of.shard, of.shards);
                return Err(refused(other, why));
            }
            parts.push((of, PartFolder { path: path.clone(), place: path.clone() }));
        }
        let parts = Parts::of(parts, BTreeMap::new(), None);
        parts.ok_or_else(|| Error::usage(anyhow!("name the folders of the parts")))
    }

    /// Those parts, if there are any, which are of one study; and the machines that claimed others. `fetched` is kept until they are merged.
    pub(crate) fn of(
        parts: Vec<(PartOf, PartFolder)>,
        hosts: BTreeMap<u32, String>,
        fetched: Option<TempDir>,
    ) -> Option<Parts> {
        let of = parts.first()?.0.clone();
        let folders = parts.into_iter().map(|(of, folder)| (of.shard, folder)).collect();
        Some(Parts { folders, of, hosts, _fetched: fetched })
    }

    /// What they are parts of.
    pub fn study(&self) -> &PartOf {
        &self.of
    }

    /// How many shards the study has, those that are missing included.
    pub fn count(&self) -> u32 {
        self.of.shards
    }

    /// Refuses a study of another number of shards than is expected.
    ///
    /// # Errors
    /// [`merge::Error::OtherCount`].
    pub fn expect(&self, expected: Option<u32>) -> Result<(), merge::Error> {
        let place = || self.folders.values().map(|folder| folder.place.display().to_string()).next();
        merge::counted(expected, self.count(), "study", || place().unwrap_or_default())
    }

    /// The study out of them; `spec` is what their words and their scenario come to.
    ///
    /// # Errors
    /// `spec` is not what was played, or a line that is not the part's.
    pub fn merge(&self, spec: &StudySpec) -> Result<Merged, Error> {
        if fingerprint(spec) != self.of.study {
            return Err(Error::usage(anyhow!(
                "the command and the scenario in {DOCUMENT} do not come to the study that was played: files and environment variables \
                 which the scenario names must be here as they were there, and a secret must not change what is played"
            )));
        }
        let mut readers: Vec<(String, Box<dyn BufRead>)> = Vec::with_capacity(self.of.shards as usize);
        for index in 0..self.of.shards {
            let folder = self.folders.get(&index);
            let name = folder.map_or(PathBuf::new(), |folder| folder.place.join(PLAYS)).display().to_string();
            let lines: Box<dyn BufRead> = match folder.map(|folder| folder.path.join(PLAYS)) {
                // A part that was stopped before it had a file.
                Some(path) if path.exists() => {
                    let file = File::open(path).with_context(|| name.clone());
                    Box::new(BufReader::new(file.map_err(Error::usage)?))
                }
                _ => Box::new(io::empty()),
            };
            readers.push((name, lines));
        }
        let mut parts: Vec<(String, &mut dyn BufRead)> = readers
            .iter_mut()
            .map(|(name, lines)| (name.clone(), &mut **lines as &mut dyn BufRead))
            .collect();
        let (studied, read) = study_of_parts(spec, &mut parts)?;
        let mut missing = Vec::new();
        for (index, has) in (0..self.of.shards).zip(read) {
            let shard = Shard::new(index, self.of.shards).map_err(Error::usage)?;
            let (of, is_there) = (plays_of(spec, shard), self.folders.contains_key(&index));
            if has < of {
                missing.push(Missing { shard, has, of, is_there, host: self.hosts.get(&index).cloned() });
            }
        }
        Ok(Merged { studied, missing })
    }
}

/// Whether two are parts of one study; else why not.
fn alike(one: &PartOf, other: &PartOf) -> Result<(), String> {
    match () {
        () if one.shards != other.shards => Err(format!(
            "one is a shard of {}, and the other of {}: merge shards of one division",
            one.shards, other.shards
        )),
        () if one.study != other.study => Err(
            "they are parts of different studies: scenario, sweeps, replications, thresholds and seed must be the same".to_owned(),
        ),
        () => Ok(()),
    }
}
