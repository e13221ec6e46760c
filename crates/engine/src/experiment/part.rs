//! A part of a study: the plays of one shard, and the study that all parts make, to the bit that of one machine.
//!
//! Play j of points x replications is shard j mod N's. Each play is one line of JSON: it is written when it has ended, so that a shard
//! that was killed has given what it had. The folder of a part says in `part.json` what it is a part of, and holds the lines in
//! `plays.jsonl`. Deliberately absent: how a command becomes a study.

use super::PointResult;
use super::grid::{Studied, StudySpec, document};
use crate::simulate::course::OutputSeries;
use crate::simulate::point::PointBuilder;
use crate::simulate::replication::{Replication, seed};
use crate::{Error, jobs};
use anyhow::{Context as _, anyhow};
use headway_records::RunFolder;
use headway_workload::Shard;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The file of a part's folder that says what it is a part of.
const DOCUMENT: &str = "part.json";
/// The file of its plays.
const PLAYS: &str = "plays.jsonl";
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

/// Plays that part of the study into a new folder, as [`play_part`]; how many plays ended.
///
/// # Errors
/// As [`play_part`], or the folder takes no file.
pub fn play_into(
    spec: &StudySpec,
    part: &PartOf,
    folder: &RunFolder,
    stop: &(dyn Fn() -> bool + Sync),
    progress: impl FnMut(),
) -> Result<u64, Error> {
    let shard = Shard::new(part.shard, part.shards).map_err(Error::usage)?;
    let mut text = serde_json::to_vec_pretty(part).map_err(Error::failed)?;
    text.push(b'\n');
    folder.write_new(DOCUMENT, &text)?;
    let path = folder.path().join(PLAYS);
    let mut file = File::create_new(&path).with_context(|| path.display().to_string())?;
    let ended = play_part(spec, shard, stop, progress, &mut file)?;
    file.sync_all().with_context(|| path.display().to_string())?;
    Ok(ended)
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
            let line: Line = serde_json::from_slice(&text).with_context(|| at.clone())?;
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
    folders: BTreeMap<u32, PathBuf>,
    /// What the first of them is.
    of: PartOf,
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
    /// Whether its folder was named.
    pub is_there: bool,
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
        let mut folders = BTreeMap::new();
        let mut first: Option<(&PathBuf, PartOf)> = None;
        for path in paths {
            let of = part_of(path).map_err(Error::usage)?;
            if let Some((other, first)) = &first {
                alike(first, &of).map_err(|why| {
                    Error::usage(anyhow!("{} and {}: {why}", other.display(), path.display()))
                })?;
            }
            if let Some(other) = folders.insert(of.shard, path.clone()) {
                return Err(Error::usage(anyhow!(
                    "{} and {} are both shard {}/{}: name each shard once",
                    other.display(),
                    path.display(),
                    of.shard,
                    of.shards
                )));
            }
            first.get_or_insert((path, of));
        }
        let (_, of) = first.ok_or_else(|| Error::usage(anyhow!("name the folders of the parts")))?;
        Ok(Parts { folders, of })
    }

    /// What they are parts of.
    pub fn of(&self) -> &PartOf {
        &self.of
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
        let none = Path::new("");
        let mut readers: Vec<(String, Box<dyn BufRead>)> = Vec::with_capacity(self.of.shards as usize);
        for index in 0..self.of.shards {
            let path = self.folders.get(&index).map(|folder| folder.join(PLAYS));
            let lines: Box<dyn BufRead> = match &path {
                // A part that was stopped before it had a file.
                Some(path) if path.exists() => {
                    let file = File::open(path).with_context(|| path.display().to_string());
                    Box::new(BufReader::new(file.map_err(Error::usage)?))
                }
                _ => Box::new(io::empty()),
            };
            readers.push((path.as_deref().unwrap_or(none).display().to_string(), lines));
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
                missing.push(Missing { shard, has, of, is_there });
            }
        }
        Ok(Merged { studied, missing })
    }
}

/// What the folder of a part says of itself.
fn part_of(folder: &Path) -> anyhow::Result<PartOf> {
    let path = folder.join(DOCUMENT);
    let shown = || path.display().to_string();
    let text = fs::read(&path)
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
