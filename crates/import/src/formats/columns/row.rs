//! The record that a row's fields make, wherever they stand, and what the rows of a file came to.

use super::layout::{Cut, Layout};
use super::spec::{Key, Part, Spec, Written, wrong};
use super::table::{NONE, Places};
use crate::lines::Fields;
use crate::numbers::{decimal, int, places, with_point};
use crate::outcome;
use crate::stamps::{EXPECTED, Shape, StampReader, Unit, span};
use crate::{Clock, Error, Facts, Outcomes, Rows, Stamps};
use headway_base::{Nanos, Outcome, Record};
use jiff::tz::TimeZone;
use memchr::memchr;
use std::borrow::Cow;

/// What rows are read by, and what they came to.
pub(super) struct State {
    /// Of a known format: what it may be, and what it is as soon as that is known.
    pub layouts: &'static [Layout],
    pub layout: Option<&'static Layout>,
    pub zone: TimeZone,
    pub spec: Spec,
    pub places: Places,
    /// Whether there are ends and no starts, so that a start is as fine as the coarser of end and time taken.
    by_end: bool,
    /// Whether what few formats have is among them.
    rare: bool,
    /// How many columns a row has, one of these; or more than that.
    pub widths: Vec<usize>,
    pub more: bool,
    /// Whether a comma in a number is a decimal one.
    pub comma: bool,
    /// Once their first values are there.
    start: Option<StampReader>,
    end: Option<StampReader>,
    intended: Option<StampReader>,
    /// Unit of the times taken, if it is known, and the most digits behind their points.
    pub elapsed: Option<Unit>,
    places_behind: u32,
    k: u64,
    /// Whether any row has a status.
    statuses: bool,
    /// Arrivals stamped by the clock after the read, not by the kernel.
    by_clock: u64,
    label: Vec<u8>,
}

/// Why a row gives no record.
enum Wrong {
    /// It cannot be read; what was expected.
    Row(String),
    /// No row can be read this way.
    Option(Error),
}

impl State {
    /// Of rows that nothing is known of but the spec.
    pub(super) fn new(layouts: &'static [Layout], spec: Spec, zone: TimeZone) -> State {
        let elapsed = unit(&spec, Key::Elapsed);
        State {
            layouts,
            layout: None,
            zone,
            spec,
            places: Places::nowhere(),
            by_end: false,
            rare: false,
            widths: Vec::new(),
            more: false,
            comma: false,
            start: None,
            end: None,
            intended: None,
            elapsed,
            places_behind: 0,
            k: 0,
            statuses: false,
            by_clock: 0,
            label: Vec::new(),
        }
    }

    pub(super) fn place(&mut self, places: Places) {
        const RARE: [Key; 6] =
            [Key::Connection, Key::FirstByte, Key::Delay, Key::Connect, Key::Stamp, Key::Generator];
        self.places = places;
        self.by_end = !places.has(Key::Start);
        self.rare = RARE.iter().any(|key| places.has(*key));
    }

    /// What rows are said to be, known or not.
    pub(super) fn about(&self) -> Option<&'static Layout> {
        self.layout.or(self.layouts.first())
    }

    pub(super) fn title(&self) -> &'static str {
        self.about().map_or("CSV", |layout| layout.title)
    }

    pub(super) fn facts(&self) -> Facts {
        let has = |key| self.places.has(key) || (self.layouts.is_empty() && self.spec.find(key).is_some());
        let by_end = self.spec.find(Key::Start).is_none();
        let times = if by_end { &self.end } else { &self.start };
        let mut resolution = times.as_ref().map_or(Nanos::from_millis(1), StampReader::resolution);
        if let Some(unit) = self.elapsed.filter(|_| by_end) {
            resolution = resolution.max(unit.resolution(self.places_behind));
        }
        let told = has(Key::Success) || has(Key::Exception) || self.statuses;
        let facts = Facts {
            stamps: if by_end { Stamps::End } else { Stamps::Start },
            users: has(Key::Thread),
            intended: has(Key::Intended),
            ends: has(Key::Elapsed) || (has(Key::End) && has(Key::Start)),
            bytes: has(Key::Bytes),
            ..Facts::default()
        };
        let Some(layout) = self.about() else {
            let missing =
                if told { Vec::new() } else { vec!["Which requests failed is not said.".to_owned()] };
            return Facts {
                format: self.words(),
                resolution,
                clock: times.as_ref().map_or(Clock::Unix, StampReader::clock),
                outcomes: if told { Outcomes::All } else { Outcomes::None },
                missing,
                ..facts
            };
        };
        let mut missing: Vec<String> = layout.missing.iter().map(|&what| what.to_owned()).collect();
        if self.by_clock > 0 {
            let (n, all) = (self.by_clock, self.k);
            missing.push(format!(
                "{n} of {all} arrivals have no stamp of the kernel's, but the time when they were read."
            ));
        }
        Facts {
            format: layout.title.to_owned(),
            tool: layout.tool.map(str::to_owned),
            resolution: layout.resolution.unwrap_or(resolution),
            clock: layout.clock,
            outcomes: if told { layout.outcomes } else { Outcomes::None },
            missing,
            ..facts
        }
    }

    /// What was found or said.
    fn words(&self) -> String {
        let mut words = "CSV by --columns".to_owned();
        for (key, stamps) in [("start", &self.start), ("end", &self.end), ("intended", &self.intended)] {
            if let Some(stamps) = stamps {
                words.push_str(&format!(", {key} in {}", stamps.words()));
            }
        }
        if let Some(unit) = self.elapsed {
            words.push_str(&format!(", elapsed in {}", unit.name()));
        }
        words
    }

    /// Adds the record of a row with that number of columns.
    pub(super) fn push_wide(
        &mut self,
        row: Fields<'_>,
        width: usize,
        line: u64,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let fits = match self.more {
            true => self.widths.iter().any(|&least| width >= least),
            false => self.widths.contains(&width),
        };
        if fits {
            return self.push(row, line, rows);
        }
        let widths: Vec<_> = self.widths.iter().map(usize::to_string).collect();
        let widths = widths.join(" or ");
        let expected = match self.about().map(|layout| layout.rows) {
            None => format!("{widths} columns as in the first line, not {width}"),
            Some(Cut::W3c { .. }) if self.layout.is_none() => "a #Fields line with the time first".to_owned(),
            Some(Cut::W3c { .. }) => format!("{widths} columns as in the #Fields line, not {width}"),
            Some(_) if self.more => format!("{widths} columns or more, not {width}"),
            Some(_) => format!("{widths} columns, not {width}"),
        };
        rows.bad(line, row.raw(), expected);
        Ok(())
    }

    #[inline]
    pub(super) fn push(&mut self, row: Fields<'_>, line: u64, rows: &mut Rows) -> Result<(), Error> {
        match self.record(row, rows) {
            Ok(record) => {
                self.k += 1;
                if self.rare {
                    self.by_clock += u64::from(row.get(self.places.one(Key::Stamp)) == Some(b"user"));
                }
                rows.records.push(record);
            }
            Err(Wrong::Row(expected)) => rows.bad(line, row.raw(), expected),
            Err(Wrong::Option(error)) => return Err(error),
        }
        Ok(())
    }

    /// The record of a row.
    fn record(&mut self, row: Fields<'_>, rows: &mut Rows) -> Result<Record, Wrong> {
        let start = self.instant(Key::Start, row)?;
        let end = self.instant(Key::End, row)?;
        let intended = self.instant(Key::Intended, row)?;
        let took = match self.number(Key::Elapsed, row) {
            None => None,
            // A cache that answers at once writes a dash.
            Some(text) if text.is_empty() && self.is_w3c() => None,
            Some(text) => Some(self.took(&text)?),
        };
        let (started, done) = match (start, end, took) {
            (Some(start), Some(end), _) if end < start => {
                return Err(self.wrong(Key::End, "an instant after the start"));
            }
            (Some(start), Some(end), _) => (start, end),
            (Some(start), None, took) => (start, start + took.unwrap_or_default()),
            (None, Some(end), took) => (end - took.unwrap_or_default(), end),
            (None, None, _) => return Err(self.wrong(Key::Start, EXPECTED)),
        };
        span((done - started).0)
            .ok_or_else(|| self.wrong(Key::End, "an instant at most a day after the start"))?;
        let (status, error) = self.status(row)?;
        let success = self.success(row)?;
        let outcome = outcome(success, status, error);
        self.statuses |= status.is_some_and(|status| status > 0 || self.layout.is_some());
        let k = self.whole(Key::Number, row)?.unwrap_or(self.k);
        let mut record = Record::never_started(k, intended.unwrap_or(started), done, outcome);
        record.started = started.into();
        if self.layouts.is_empty() {
            record.sent = started.into();
        }
        record.status = status.unwrap_or(0);
        record.bytes_received = self.whole(Key::Bytes, row)?.unwrap_or(0);
        record.bytes_sent = self.whole(Key::Sent, row)?.unwrap_or(0);
        record.shard = rows.generator;
        if self.rare {
            self.fill_rare(row, &mut record, rows)?;
        }
        if let Some(thread) = row.get(self.places.one(Key::Thread)) {
            record.user = rows.user(thread);
        }
        if outcome != Outcome::Ok {
            record.repeat = rows.message(error.unwrap_or_default());
        }
        record.step = self.step(row, rows);
        Ok(record)
    }

    /// What few formats have.
    fn fill_rare(&self, row: Fields<'_>, record: &mut Record, rows: &mut Rows) -> Result<(), Wrong> {
        let (started, done) = (record.started.get().unwrap_or(record.done), record.done);
        if let Some(connection) = self.whole(Key::Connection, row)? {
            record.connection = u32::try_from(connection).unwrap_or(u32::MAX);
        }
        if let Some(first_byte) = self.span(Key::FirstByte, row)? {
            record.first_byte = (started + first_byte).into();
        }
        if let Some(delay) = self.span(Key::Delay, row)? {
            let came = delay > Nanos::ZERO && delay <= done - started;
            record.first_byte = came.then_some(started + delay).into();
        }
        if let Some(connect) = self.span(Key::Connect, row)? {
            record.reused = connect == Nanos::ZERO;
            record.connect = (!record.reused).then_some(connect).into();
        }
        if !matches!(row.get(self.places.one(Key::Stamp)), None | Some(b"kernel" | b"user")) {
            return Err(self.wrong(Key::Stamp, "kernel or user"));
        }
        record.shard = match row.get(self.places.one(Key::Generator)) {
            None | Some(b"") => rows.generator,
            Some(name) => rows.shard(name),
        };
        Ok(())
    }

    fn is_w3c(&self) -> bool {
        matches!(self.layout, Some(Layout { rows: Cut::W3c { .. }, .. }))
    }

    /// That what stands under the key is not what it should be.
    #[cold]
    fn wrong(&self, key: Key, expected: &str) -> Wrong {
        let part = self.spec.find(key).map_or("", |part| &part.text);
        let (name, column) = part.split_once('=').unwrap_or((part, ""));
        let name = name.split(':').next().unwrap_or_default();
        Wrong::Row(match (self.layouts, column.parse::<usize>()) {
            ([], _) => format!("{expected} as {name}"),
            (_, Ok(number)) => format!("{expected} as {name} (column {number})"),
            (_, Err(_)) => format!("{expected} as {column}"),
        })
    }

    /// The field of a number, with a point where it has a decimal comma.
    #[inline]
    fn number<'a>(&self, key: Key, row: Fields<'a>) -> Option<Cow<'a, [u8]>> {
        row.get(self.places.one(key)).map(|text| self.pointed(text))
    }

    #[inline]
    fn pointed<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.comma {
            return Cow::Borrowed(text);
        }
        with_point(text).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// A time in the unit of its key, if there is one.
    #[inline]
    fn span(&self, key: Key, row: Fields<'_>) -> Result<Option<Nanos>, Wrong> {
        match self.number(key, row) {
            None => Ok(None),
            Some(text) if text.is_empty() => Ok(None),
            Some(text) => {
                let span = unit(&self.spec, key).unwrap_or(Unit::Ms).span(&text);
                Ok(Some(span.ok_or_else(|| self.wrong(key, "a span from 0 to a day"))?))
            }
        }
    }

    fn took(&mut self, text: &[u8]) -> Result<Nanos, Wrong> {
        let pointed = || if text.contains(&b'.') { Unit::S } else { Unit::Ms };
        let unit = *self.elapsed.get_or_insert_with(pointed);
        if self.by_end {
            self.places_behind = self.places_behind.max(places(text));
        }
        unit.span(text).ok_or_else(|| {
            self.wrong(
                Key::Elapsed,
                match unit {
                    Unit::S => "seconds from 0 to a day",
                    Unit::Ms => "milliseconds from 0 to a day",
                    Unit::Us => "microseconds from 0 to a day",
                    Unit::Ns => "nanoseconds from 0 to a day",
                },
            )
        })
    }

    /// A whole number, zero where there is none of it; none if nothing is said.
    #[inline]
    fn whole(&self, key: Key, row: Fields<'_>) -> Result<Option<u64>, Wrong> {
        match row.get(self.places.one(key)) {
            None => Ok(None),
            Some(b"" | b"-") if matches!(key, Key::Bytes | Key::Sent) => Ok(Some(0)),
            Some(text) => match int(text).and_then(|n| u64::try_from(n).ok()) {
                Some(n) => Ok(Some(n)),
                None => Err(self.wrong(key, "a whole number")),
            },
        }
    }

    fn may_lack_status(&self) -> bool {
        self.layout.is_some_and(|layout| matches!(layout.rows, Cut::W3c { .. } | Cut::Json { .. }))
    }

    /// The status, 0 where there was no answer, and what is said of a failure.
    #[inline]
    fn status<'a>(&self, row: Fields<'a>) -> Result<(Option<u16>, Option<&'a [u8]>), Wrong> {
        let get = |key| row.get(self.places.one(key));
        if let Some(details) = get(Key::Details) {
            let code = int(details).filter(|_| details.len() == 3).and_then(|n| u16::try_from(n).ok());
            return Ok((code, Some(details)));
        }
        let error = get(Key::Exception).or(get(Key::Error));
        let known = self.layout.is_some();
        let status = match get(Key::Status) {
            None => None,
            Some(b"") if self.may_lack_status() => None,
            Some(b"" | b"-") => Some(0),
            Some(b"-1") if known => Some(0),
            Some(text) => {
                let code = int(text).and_then(|n| u16::try_from(n).ok());
                let possible = |code: &u16| *code < 1000 && (!known || *code == 0 || *code >= 100);
                Some(
                    code.filter(possible)
                        .ok_or_else(|| self.wrong(Key::Status, "a status code, or nothing"))?,
                )
            }
        };
        Ok((status, error))
    }

    #[inline]
    fn success(&self, row: Fields<'_>) -> Result<Option<bool>, Wrong> {
        if let Some(exception) = row.get(self.places.one(Key::Exception)) {
            return Ok(Some(exception.is_empty()));
        }
        match row.get(self.places.one(Key::Success)) {
            None => Ok(None),
            Some(text) => match truth(text) {
                Some(success) => Ok(Some(success)),
                None => Err(self.wrong(Key::Success, "true or false, 1 or 0, ok or ko, yes or no")),
            },
        }
    }

    /// The step of the row's label: what is in the label's column, or columns; or method and path.
    #[inline]
    fn step(&mut self, row: Fields<'_>, rows: &mut Rows) -> u16 {
        let unlabelled = self.about().map_or("", |layout| layout.unlabelled).as_bytes();
        let get = |at: usize| row.get(at).unwrap_or_default();
        let [first, second] = self.places.both(Key::Label);
        let (first, second) = match (first, second) {
            (first, NONE) if first != NONE => return rows.step(get(first)),
            (NONE, _) => {
                let mut words = get(self.places.one(Key::Request)).splitn(3, |&b| b == b' ');
                let mut word =
                    |key| words.next().filter(|word| !word.is_empty()).unwrap_or(get(self.places.one(key)));
                let (method, path) = (word(Key::Method), word(Key::Path));
                (method, &path[..memchr(b'?', path).unwrap_or(path.len())])
            }
            (first, second) => (get(first), get(second)),
        };
        self.label.clear();
        self.label.extend_from_slice(first);
        if !first.is_empty() && !second.is_empty() {
            self.label.push(b' ');
        }
        self.label.extend_from_slice(second);
        rows.step(if self.label.is_empty() { unlabelled } else { &self.label })
    }

    /// The instant in a field, or two, if there is such a column.
    fn instant(&mut self, key: Key, row: Fields<'_>) -> Result<Option<Nanos>, Wrong> {
        let [first, second] = self.places.both(key);
        if first == NONE {
            return Ok(None);
        }
        let get = |at: usize| row.get(at).unwrap_or_default();
        let mut text = self.pointed(get(first));
        if second != NONE && !get(second).is_empty() {
            text = Cow::Owned([&text, &b" "[..], &self.pointed(get(second))].concat());
        }
        let known = match key {
            Key::Start => &mut self.start,
            Key::End => &mut self.end,
            _ => &mut self.intended,
        };
        if let Some(stamps) = known
            && let Some(at) = stamps.read(&text)
        {
            return Ok(Some(at));
        }
        self.first_instant(key, &text).map(Some)
    }

    /// The first instant of a column, by which all are read; of others, what is wrong with it.
    #[cold]
    fn first_instant(&mut self, key: Key, text: &[u8]) -> Result<Nanos, Wrong> {
        let of_known = !self.layouts.is_empty();
        let Some(part) = self.spec.find(key) else { return Err(self.wrong(key, EXPECTED)) };
        let known = match key {
            Key::Start => &mut self.start,
            Key::End => &mut self.end,
            _ => &mut self.intended,
        };
        let stamps = match known {
            Some(stamps) => stamps,
            None => match stamps(part, text, self.zone.clone(), self.layouts) {
                Ok(stamps) => known.insert(stamps),
                Err(Wrong::Row(_)) if of_known => return Err(self.wrong(key, EXPECTED)),
                Err(wrong) => return Err(wrong),
            },
        };
        match stamps.read(text) {
            Some(at) => Ok(at),
            None if of_known => Err(self.wrong(key, EXPECTED)),
            None => {
                let words = stamps.words();
                let hint = if stamps.is_guessed() {
                    "; KEY:dmy=COLUMN reads dates day first, KEY:mdy=COLUMN month first"
                } else {
                    ""
                };
                Err(Wrong::Row(format!("{EXPECTED}, {words}, as {}{hint}", part.text)))
            }
        }
    }
}

/// How the times of a column are read, by what is said of it or by the first of them.
fn stamps(part: &Part, first: &[u8], zone: TimeZone, layouts: &[Layout]) -> Result<StampReader, Wrong> {
    let shape = match shape(part, first) {
        Err(Wrong::Option(_)) if !layouts.is_empty() => return Err(Wrong::Row(EXPECTED.to_owned())),
        shape => shape?,
    };
    Ok(match layouts {
        [Layout { clock, .. }, ..] => StampReader::of_clock(shape, zone, *clock),
        [] if matches!(part.written, Some(Written::Date(_))) => StampReader::new(shape, zone, first),
        [] => StampReader::guessed(shape, zone, first),
    })
}

/// How times are written in a column, by what the user says or by the first of them.
fn shape(part: &Part, text: &[u8]) -> Result<Shape, Wrong> {
    let row = |expected: &str| Wrong::Row(format!("{expected} as {}", part.text));
    match part.written {
        Some(Written::In(unit)) if decimal(text, 0).is_some() => Ok(Shape::Number(unit)),
        Some(Written::In(_)) => Err(row("a number")),
        Some(Written::Date(day)) => match Shape::guess(text) {
            Some(Shape::Date(_)) => Ok(Shape::Date(day)),
            _ => Err(row("a date and time such as 15/03/2012 18:30:03.100")),
        },
        Some(Written::Iso) => match Shape::guess(text) {
            Some(shape @ (Shape::Date(_) | Shape::Time)) => Ok(shape),
            _ => Err(row("a date and time such as 2012-03-15T18:30:03.100Z")),
        },
        Some(Written::Pointed) | None => match Shape::guess(text) {
            Some(shape) => Ok(shape),
            None if decimal(text, 0).is_some() => {
                let what = part.text.split('=').next().unwrap_or_default();
                Err(Wrong::Option(wrong(
                    &part.text,
                    format!(
                        "the unit too, as in {what}:s=...: {} is no time between 1990 and 2200 in s, ms, us or ns",
                        String::from_utf8_lossy(text)
                    ),
                )))
            }
            None => Err(row(EXPECTED)),
        },
    }
}

/// The unit of a span; none where the first of them tells.
pub(super) fn unit(spec: &Spec, key: Key) -> Option<Unit> {
    match spec.find(key)?.written {
        Some(Written::In(unit)) => Some(unit),
        Some(Written::Pointed) => None,
        Some(Written::Iso | Written::Date(_)) | None => Some(Unit::Ms),
    }
}

/// By what is said of success, the status (0: no answer) and the error.
#[inline]
fn outcome(success: Option<bool>, status: Option<u16>, error: Option<&[u8]>) -> Outcome {
    match (success, status) {
        (Some(true), _) | (None, None) => Outcome::Ok,
        (_, Some(code @ 400..)) => outcome::from_status(code),
        (Some(false), Some(1..)) => Outcome::Check,
        (None, Some(code @ 1..)) => outcome::from_status(code),
        (_, Some(0)) | (Some(false), None) => match error {
            Some(error) => outcome::from_error_text(error),
            None if success.is_none() => outcome::from_status(0),
            None => Outcome::Check,
        },
    }
}

/// Words for success and failure.
fn truth(text: &[u8]) -> Option<bool> {
    const YES: [&str; 9] = ["true", "1", "ok", "yes", "success", "pass", "passed", "t", "y"];
    const NO: [&str; 12] =
        ["false", "0", "ko", "no", "failure", "fail", "failed", "error", "nok", "not ok", "f", "n"];
    let among = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()));
    if among(&YES) {
        Some(true)
    } else if among(&NO) {
        Some(false)
    } else {
        None
    }
}
