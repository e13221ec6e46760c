//! The rows of oha's table, in batches.

use crate::formats::answered_csv::{LABEL, OUTCOMES, SUCCESSES_ONLY};
use crate::formats::request;
use crate::outcome;
use crate::stamps::{span, unix};
use crate::{Clock, Error, Facts, Reader, Rows};
use headway_base::Nanos;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use std::path::{Path, PathBuf};

/// Rows taken at a time.
const BATCH: usize = 16 << 10;

struct OhaSqliteReader {
    path: PathBuf,
    database: Connection,
    query: String,
    /// Number of the row read last.
    row: i64,
    /// Unix second of the first run.
    run: Option<i64>,
    several_runs: bool,
    intended: bool,
}

fn failed(path: &Path, e: &rusqlite::Error) -> Error {
    let why = match e.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "a compressed database cannot be read: unpack it first".to_owned(),
        _ => e.to_string(),
    };
    Error::Database { path: path.to_path_buf(), why }
}

/// Opens the database at `path`.
///
/// # Errors
/// [`Error::Database`].
pub(super) fn reader(path: &Path) -> Result<Box<dyn Reader>, Error> {
    let reader = open(path).map_err(|e| failed(path, &e))?;
    Ok(Box::new(reader))
}

fn open(path: &Path) -> rusqlite::Result<OhaSqliteReader> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags)?;
    let columns: Vec<String> = database
        .prepare("SELECT name FROM pragma_table_info('oha')")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let optional = |name: &'static str| if columns.iter().any(|c| c == name) { name } else { "NULL" };
    let query = format!(
        "SELECT rowid, start, {}, \"end\", status, len_bytes, {}, {} FROM oha WHERE rowid > ?1 ORDER BY rowid LIMIT {BATCH}",
        optional("start_latency_correction"),
        optional("url"),
        optional("run"),
    );
    // Whether the columns are there shows now and not after other files have been read.
    drop(database.prepare_cached(&query)?);
    Ok(OhaSqliteReader {
        path: path.to_path_buf(),
        database,
        query,
        row: i64::MIN,
        run: None,
        several_runs: false,
        intended: false,
    })
}

const EXPECTED: &str =
    "start and end, in seconds from 0 and at most a day apart, a status and a number of bytes";

/// Seconds since the run's start.
fn seconds(row: &Row<'_>, column: usize) -> Option<Nanos> {
    let seconds = match row.get_ref(column).ok()? {
        ValueRef::Real(seconds) => seconds,
        ValueRef::Integer(seconds) => seconds as f64,
        _ => return None,
    };
    // A test does not run for longer than a year.
    (0.0..366.0 * 86_400.0).contains(&seconds).then(|| Nanos::from_secs_f64(seconds))
}

fn whole(row: &Row<'_>, column: usize) -> Option<i64> {
    row.get_ref(column).ok()?.as_i64().ok()
}

/// What a row tells.
struct Found {
    started: Nanos,
    done: Nanos,
    intended: Option<Nanos>,
    status: u16,
    bytes: u64,
    run: Option<i64>,
}

impl Found {
    fn of(row: &Row<'_>) -> Option<Found> {
        let (started, done) = (seconds(row, 1)?, seconds(row, 3)?);
        span((done - started).0)?;
        Some(Found {
            started,
            done,
            intended: seconds(row, 2),
            status: u16::try_from(whole(row, 4)?).ok()?,
            bytes: u64::try_from(whole(row, 5)?).ok()?,
            run: whole(row, 7)
                .filter(|&run| run.checked_mul(1_000_000_000).is_some_and(|ns| unix(ns).is_some())),
        })
    }
}

impl Reader for OhaSqliteReader {
    fn read(&mut self, _: &[u8], _: bool, rows: &mut Rows) -> Result<usize, Error> {
        let failed = |e: rusqlite::Error| failed(&self.path, &e);
        let mut statement = self.database.prepare_cached(&self.query).map_err(failed)?;
        let mut found = statement.query([self.row]).map_err(failed)?;
        let mut taken = 0;
        while let Some(row) = found.next().map_err(failed)? {
            taken += 1;
            let number: i64 = row.get(0).map_err(failed)?;
            // Of a damaged tree they need not rise, and rows would come without end.
            if number <= self.row {
                let why = "its rows are out of order: it is damaged".to_owned();
                return Err(Error::Database { path: self.path.clone(), why });
            }
            self.row = number;
            let Some(found) = Found::of(row) else {
                let shown: Vec<String> =
                    (1..6).map(|i| row.get_ref(i).map_or_else(|_| String::new(), shown)).collect();
                rows.bad(u64::try_from(number).unwrap_or(0), shown.join("|").as_bytes(), EXPECTED);
                continue;
            };
            let first = *self.run.get_or_insert(found.run.unwrap_or(0));
            let later = Nanos::from_secs(found.run.map_or(0, |run| run - first));
            self.several_runs |= later != Nanos::ZERO;
            let mut record = request::between(rows.generator, found.started + later, found.done + later);
            if let Some(intended) = found.intended {
                self.intended = true;
                record.intended = intended + later;
                record.arrived = record.intended;
            }
            record.status = found.status;
            record.outcome = outcome::from_status(found.status);
            record.bytes_received = found.bytes;
            let url = row.get_ref(6).ok().and_then(|url| url.as_bytes().ok());
            record.step = rows.step(url.unwrap_or(LABEL));
            rows.records.push(record);
        }
        Ok(taken)
    }

    fn facts(&self) -> Facts {
        let mut missing = vec![SUCCESSES_ONLY.to_owned()];
        if self.several_runs {
            missing.push(
                "It holds several runs; when each began is known to the second only, so what lies between runs is not \
                 exact."
                    .to_owned(),
            );
        }
        Facts {
            format: "oha SQLite".to_owned(),
            resolution: Nanos(1),
            clock: Clock::Relative,
            intended: self.intended,
            ends: true,
            bytes: true,
            outcomes: OUTCOMES,
            missing,
            ..Facts::default()
        }
    }
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(n) => n.to_string(),
        ValueRef::Real(n) => n.to_string(),
        ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::oha_sqlite::OhaSqlite;
    use crate::{Format, Options};
    use headway_base::{Outcome, Record};
    use std::fs;

    const TABLE: &str = "CREATE TABLE oha (url TEXT NOT NULL, start REAL NOT NULL, start_latency_correction REAL, \
                         end REAL NOT NULL, duration REAL NOT NULL, status INTEGER NOT NULL, len_bytes INTEGER NOT NULL, \
                         run INTEGER NOT NULL);";

    /// A database on disk made by these statements, read to its end.
    fn read(statements: &str) -> (Rows, Facts) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("oha.sqlite");
        Connection::open(&path).unwrap().execute_batch(statements).unwrap();
        assert!(OhaSqlite.recognise(&fs::read(&path).unwrap()));
        let mut rows = Rows { generator: 4, ..Rows::default() };
        let mut reader = OhaSqlite.reader(&path, &Options::default()).unwrap();
        while reader.read(&[], false, &mut rows).unwrap() > 0 {}
        (rows, reader.facts())
    }

    #[test]
    fn rows_become_records() {
        let (rows, facts) = read(&format!(
            "{TABLE} INSERT INTO oha VALUES ('/bad', 0.001380059, 0.001304254, 0.001770361, 0.000466107, 500, 2, 1795265501);
             INSERT INTO oha VALUES ('/', 1.5, NULL, 2.0, 0.5, 200, 11, 1795265511);"
        ));
        let bad = Record {
            intended: Nanos(1_304_254),
            arrived: Nanos(1_304_254),
            status: 500,
            outcome: Outcome::Status,
            bytes_received: 2,
            ..request::between(4, Nanos(1_380_059), Nanos(1_770_361))
        };
        let good = Record {
            step: 1,
            status: 200,
            bytes_received: 11,
            ..request::between(4, Nanos::from_millis(11_500), Nanos::from_secs(12))
        };
        assert_eq!(rows.records, [bad, good]);
        assert_eq!(rows.tables.labels.as_slice(), ["/bad", "/"]);
        assert!(facts.intended && facts.missing.len() == 2, "{facts:?}");
        assert_eq!(facts.clock, Clock::Relative);
    }

    #[test]
    fn older_tables_have_fewer_columns() {
        let (rows, facts) = read(
            "CREATE TABLE oha (start REAL NOT NULL, start_latency_correction REAL, end REAL NOT NULL, duration REAL NOT NULL,
             status INTEGER NOT NULL, len_bytes INTEGER NOT NULL); INSERT INTO oha VALUES (0.25, NULL, 0.5, 0.25, 204, 0);",
        );
        let only =
            Record { status: 204, ..request::between(4, Nanos::from_millis(250), Nanos::from_millis(500)) };
        assert_eq!(rows.records, [only]);
        assert!(!facts.intended && facts.missing.len() == 1, "{facts:?}");
    }

    #[test]
    fn a_long_table_is_read_in_batches() {
        let n = BATCH * 2 + 5;
        let (rows, _) = read(&format!(
            "{TABLE} WITH RECURSIVE s(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM s WHERE value + 1 < {n})
             INSERT INTO oha SELECT '/', value, NULL, value + 0.5, 0.5, 200, 1, 1795265501 FROM s;"
        ));
        assert_eq!(rows.records.len(), n);
        assert!(rows.records.iter().enumerate().all(|(i, r)| r.started == Nanos::from_secs(i as i64).into()));
    }

    #[test]
    fn what_cannot_be_read_is_counted() {
        let (rows, _) = read(&format!(
            "{TABLE} INSERT INTO oha VALUES ('/', 'x', NULL, 1, 1, 200, 2, 1795265501);
             INSERT INTO oha VALUES ('/', 2, NULL, 1, 1, 200, 2, 1795265501);
             INSERT INTO oha VALUES ('/', 1, NULL, 2, 1, 99999, 2, 1795265501);
             INSERT INTO oha VALUES ('/', 1e300, NULL, 2, 1, 200, 2, 1795265501);"
        ));
        let at: Vec<_> = rows.examples.iter().map(|e| (e.line, e.found.as_str())).collect();
        assert_eq!((rows.records.len(), rows.unreadable), (0, 4));
        assert_eq!(at[0], (1, "x|NULL|1|200|2"));
    }

    #[test]
    fn what_is_no_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("oha.sqlite.gz");
        fs::write(&path, [0x1f; 4096]).unwrap();
        let why = |path: &Path| match OhaSqlite.reader(path, &Options::default()) {
            Err(e) => e.to_string(),
            Ok(_) => panic!("opened"),
        };
        assert!(why(&path).contains("unpack it first"), "{}", why(&path));
        assert!(why(Path::new("-")).contains("not from standard input"));
    }
}
