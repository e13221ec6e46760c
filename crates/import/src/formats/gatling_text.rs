//! Gatling's `simulation.log` as text, up to 3.12: rows of fields between tabs, the kind of row first.
//!
//! ```text
//! 3.4 to 3.12   USER scenario START|END at                 REQUEST groups name start end status message
//! 3.0 to 3.3    USER scenario user START|END start end     REQUEST user groups name start end status message
//! 2.x           USER scenario user START|END start end     REQUEST scenario user groups name start end status message ...
//! ```
//!
//! Files of 2.x say `2.0` whatever their version, so layouts are distinguished row by row: a request's status stands behind
//! two stamps (in 2.0 and 2.1 behind four), a user's event before one or two.

use super::gatling::{self, BETWEEN, ERRORS, GROUPS};
use crate::lines::Lines;
use crate::numbers::int;
use crate::stamps::span;
use crate::{Error, Facts, Format, Options, Reader, Rows};
use headway_base::{Nanos, Outcome, Stamp};
use memchr::memchr_iter;
use std::collections::HashMap;
use std::path::Path;

/// Gatling's text log.
pub struct GatlingText;

impl Format for GatlingText {
    fn name(&self) -> &'static str {
        "gatling-text"
    }

    fn about(&self) -> &'static str {
        "simulation.log of Gatling 2 to 3.12"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        // Assertions come before the run, each a line of base64.
        let mut lines = Lines::new(head, false, 0);
        while let Some(line) = lines.next() {
            if !line.starts_with(b"ASSERTION\t") {
                return line.starts_with(b"RUN\t") && memchr_iter(b'\t', line).count() >= 4;
            }
        }
        head.starts_with(b"ASSERTION\t")
    }

    fn reader(&self, _: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::<GatlingTextReader>::default())
    }
}

#[derive(Default)]
struct GatlingTextReader {
    passed: u64,
    tabs: Vec<usize>,
    label: Vec<u8>,
    version: Option<String>,
    /// Users that came and have not left: their number, and when.
    open: HashMap<Box<[u8]>, (u16, Nanos)>,
    sessions: bool,
    /// Whether users have numbers, by the first row that tells.
    users: Option<bool>,
}

/// The fields of a row.
#[derive(Clone, Copy)]
struct Row<'a> {
    line: &'a [u8],
    tabs: &'a [usize],
}

impl<'a> Row<'a> {
    #[inline]
    fn get(&self, i: usize) -> &'a [u8] {
        let begin = if i == 0 { Some(0) } else { self.tabs.get(i - 1).map(|tab| tab + 1) };
        let end = self.tabs.get(i).copied().unwrap_or(self.line.len());
        begin.map_or(&[], |begin| &self.line[begin..end])
    }

    fn len(&self) -> usize {
        self.tabs.len() + 1
    }
}

/// Where the status of a request may stand, with the layout's first stamp, group, and user.
const LAYOUTS: [Layout; 4] = [
    Layout { status: 5, start: 3, groups: 1, user: None },
    Layout { status: 6, start: 4, groups: 2, user: Some(1) },
    Layout { status: 7, start: 5, groups: 3, user: Some(2) },
    Layout { status: 9, start: 5, groups: 3, user: Some(2) },
];

struct Layout {
    status: usize,
    start: usize,
    groups: usize,
    user: Option<usize>,
}

const REQUEST: &str = "REQUEST [[scenario] user] groups name start end OK|KO message, in Unix milliseconds";
const USER: &str = "USER scenario [user] START|END and one stamp or two, in Unix milliseconds";

#[inline]
fn stamp(text: &[u8]) -> Option<Nanos> {
    gatling::millis(int(text)?)
}

impl GatlingTextReader {
    #[inline]
    fn request(&mut self, row: Row<'_>, rows: &mut Rows) -> Option<()> {
        let is_status = |at: usize| matches!(row.get(at), b"OK" | b"KO");
        let layout = LAYOUTS.iter().find(|l| is_status(l.status) && int(row.get(l.status - 1)).is_some())?;
        let (started, done) = (stamp(row.get(layout.start))?, stamp(row.get(layout.status - 1))?);
        span((done - started).0)?;
        self.label.clear();
        for group in row.get(layout.groups).split(|&b| b == b',').filter(|group| !group.is_empty()) {
            self.label.extend_from_slice(group);
            self.label.extend_from_slice(BETWEEN);
        }
        self.label.extend_from_slice(row.get(layout.groups + 1));
        let (ok, message) = (row.get(layout.status) == b"OK", row.get(layout.status + 1));
        let mut record = gatling::request((started, done), &self.label, ok, message, rows);
        self.users.get_or_insert(layout.user.is_some());
        if let Some(user) = layout.user {
            record.user = rows.user(row.get(user));
        }
        if layout.status - layout.start == 4 {
            record.first_byte = first_byte(row, layout, (started, done));
        }
        rows.records.push(record);
        Some(())
    }

    fn user(&mut self, row: Row<'_>, rows: &mut Rows) -> Option<()> {
        let scenario = row.get(1);
        match (row.get(2), row.get(3)) {
            (b"START", at) if row.len() == 4 => {
                let at = stamp(at)?;
                self.sessions = true;
                self.users.get_or_insert(false);
                let record = gatling::session((at, at), scenario, rows);
                rows.records.push(record);
            }
            (b"END", at) if row.len() == 4 => {
                stamp(at)?;
            }
            (user, b"START") => {
                let started = stamp(row.get(4))?;
                self.sessions = true;
                self.users.get_or_insert(true);
                self.open.insert(user.into(), (rows.step(scenario), started));
            }
            (user, b"END") => {
                let (started, done) = (stamp(row.get(4))?, stamp(row.get(5))?);
                (done >= started).then_some(())?;
                self.sessions = true;
                self.users.get_or_insert(true);
                self.open.remove(user);
                let mut record = gatling::session((started, done), scenario, rows);
                record.user = rows.user(user);
                rows.records.push(record);
            }
            _ => return None,
        }
        Some(())
    }

    /// Users that never left: they were there until the run was over.
    fn unfinished(&mut self, rows: &mut Rows) {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_by(|(a, (_, a_started)), (b, (_, b_started))| (a_started, a).cmp(&(b_started, b)));
        for (user, (step, started)) in open {
            let mut record = gatling::session((started, started), b"", rows);
            record.step = step;
            record.user = rows.user(&user);
            record.outcome = Outcome::Unfinished;
            rows.records.push(record);
        }
    }

    fn run(&mut self, row: Row<'_>) {
        let version = String::from_utf8_lossy(row.get(row.len() - 1)).trim().to_owned();
        // The number of a log's layout, not of the version that wrote it.
        self.version =
            (!version.is_empty()).then(|| if version == "2.0" { "2.x".to_owned() } else { version });
    }
}

/// In 2.0 and 2.1: request begun, request sent, answer begun, answer complete; -1 where it never came to that.
fn first_byte(row: Row<'_>, layout: &Layout, (started, done): (Nanos, Nanos)) -> Stamp {
    stamp(row.get(layout.start + 2)).filter(|&at| at >= started && at <= done).into()
}

impl Reader for GatlingTextReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        let mut lines = Lines::new(bytes, last, self.passed);
        let mut tabs = std::mem::take(&mut self.tabs);
        while let Some(line) = lines.next() {
            tabs.clear();
            tabs.extend(memchr_iter(b'\t', line));
            let row = Row { line, tabs: &tabs };
            let expected = match row.get(0) {
                b"REQUEST" => self.request(row, rows).is_none().then_some(REQUEST),
                b"USER" => self.user(row, rows).is_none().then_some(USER),
                // 2.x writes its errors as groups of three fields.
                b"GROUP" => {
                    rows.leave_out(if row.len() == 3 { ERRORS } else { GROUPS });
                    None
                }
                b"ERROR" => {
                    rows.leave_out(ERRORS);
                    None
                }
                b"RUN" => {
                    self.run(row);
                    None
                }
                b"ASSERTION" => None,
                _ => Some("RUN, USER, REQUEST, GROUP, ERROR or ASSERTION, and a tab"),
            };
            if let Some(expected) = expected {
                rows.bad(lines.line(), line, expected);
            }
        }
        self.tabs = tabs;
        if last {
            self.unfinished(rows);
        }
        self.passed = lines.passed();
        Ok(lines.taken())
    }

    fn facts(&self) -> Facts {
        let mut facts = gatling::facts("Gatling text log", self.version.as_deref(), self.sessions);
        facts.users = self.users == Some(true);
        if self.users == Some(false) {
            facts.missing.push(gatling::NO_USER_IDS.to_owned());
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::super::request;
    use super::*;
    use headway_base::{Kind, Record};

    fn read(text: &str) -> (Rows, Facts) {
        assert!(GatlingText.recognise(text.as_bytes()));
        let mut rows = Rows { generator: 1, ..Rows::default() };
        let mut reader = GatlingText.reader(Path::new("simulation.log"), &Options::default()).unwrap();
        assert_eq!(reader.read(text.as_bytes(), true, &mut rows).unwrap(), text.len());
        (rows, reader.facts())
    }

    fn ms(ms: i64) -> Nanos {
        Nanos::from_millis(1_795_252_060_000 + ms)
    }

    fn session(step: u16, user: u32, started: i64, done: i64) -> Record {
        Record { kind: Kind::Session, step, user, ..request::between(1, ms(started), ms(done)) }
    }

    #[test]
    fn from_3_4_on() {
        let (rows, facts) = read(
            "RUN\tcomputerdatabase.Basic\tbasic\t1795252060000\t \t3.10.3\n\
             USER\tbrowse\tSTART\t1795252060001\n\
             REQUEST\t\thome\t1795252060002\t1795252060030\tOK\t \n\
             REQUEST\tshop,cart\tadd\t1795252060031\t1795252060040\tKO\tstatus.find.is(200), but actually found 500\n\
             GROUP\tshop\t1795252060031\t1795252060040\t9\tKO\n\
             ERROR\tNo attribute named 'x' is defined \t1795252060041\n\
             USER\tbrowse\tEND\t1795252060050\n",
        );
        let home = Record { step: 1, ..request::between(1, ms(2), ms(30)) };
        let add = Record {
            step: 2,
            status: 500,
            outcome: Outcome::Status,
            repeat: 1,
            ..request::between(1, ms(31), ms(40))
        };
        assert_eq!(rows.records, [session(0, 0, 1, 1), home, add]);
        assert_eq!(rows.tables.labels.as_slice(), ["browse", "home", "shop / cart / add"]);
        assert_eq!((rows.unreadable, &rows.left_out[..]), (0, &[(GROUPS, 1), (ERRORS, 1)][..]));
        assert_eq!(facts.tool.as_deref(), Some("Gatling 3.10.3"));
        assert!(facts.sessions && !facts.users && facts.missing.len() == 1);
    }

    #[test]
    fn from_3_0_to_3_3() {
        let (rows, facts) = read(
            "RUN\tBasic\tbasic\t1795252060000\t \t3.3.1\n\
             USER\tbrowse\t1\tSTART\t1795252060001\t1795252060001\n\
             USER\tbrowse\t2\tSTART\t1795252060003\t1795252060003\n\
             REQUEST\t1\t\thome\t1795252060002\t1795252060030\tOK\t \n\
             USER\tbrowse\t1\tEND\t1795252060001\t1795252060050\n",
        );
        let home = Record { step: 1, ..request::between(1, ms(2), ms(30)) };
        let left = session(0, 0, 1, 50);
        let stayed = Record { outcome: Outcome::Unfinished, ..session(0, 1, 3, 3) };
        assert_eq!(rows.records, [home, left, stayed]);
        assert_eq!(rows.tables.users.as_slice(), ["1", "2"]);
        assert!(facts.sessions && facts.users && facts.missing.is_empty());
    }

    #[test]
    fn of_2_x() {
        let (rows, facts) = read(
            "ASSERTION\tAAECAA==\n\
             RUN\tBasic\t\tbasic\t1795252060000\t \t2.0\n\
             USER\tbrowse\t7\tSTART\t1795252060001\t0\n\
             REQUEST\tbrowse\t7\tshop\thome\t1795252060002\t1795252060030\tKO\tj.n.ConnectException: Connection refused\textra\n\
             REQUEST\tbrowse\t7\t\told\t1795252060031\t1795252060031\t1795252060035\t1795252060036\tOK\t \n\
             GROUP\tno such thing\t1795252060041\n\
             USER\tbrowse\t7\tEND\t1795252060001\t1795252060050\n",
        );
        let home =
            Record { step: 1, outcome: Outcome::Refused, repeat: 1, ..request::between(1, ms(2), ms(30)) };
        let old = Record { step: 2, first_byte: ms(35).into(), ..request::between(1, ms(31), ms(36)) };
        assert_eq!(rows.records, [home, old, session(0, 0, 1, 50)]);
        assert_eq!(rows.tables.labels.as_slice(), ["browse", "shop / home", "old"]);
        assert_eq!((rows.unreadable, &rows.left_out[..]), (0, &[(ERRORS, 1)][..]));
        assert_eq!(facts.tool.as_deref(), Some("Gatling 2.x"));
    }

    #[test]
    fn what_cannot_be_read_is_counted_with_its_line() {
        let (rows, _) = read(
            "RUN\tBasic\tbasic\t1795252060000\t \t3.10.3\n\
             REQUEST\t\thome\t1795252060030\t1795252060002\tOK\t \n\
             REQUEST\t\thome\t1795252060030\t179525\tOK\t \n\
             USER\tbrowse\tMIDDLE\t1795252060030\n\
             WHAT\tever\n\
             REQUEST\t\thome\t17952520",
        );
        let at: Vec<_> = rows.examples.iter().map(|e| e.line).collect();
        assert_eq!((rows.records.len(), at), (0, vec![2, 3, 4, 5, 6]));
    }
}
