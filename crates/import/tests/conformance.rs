//! What holds for every format, tried on every sample of `samples/`: a folder for each format, and `refused` for those
//! that hold no starts (a file there begins with the name of its format). Beside a sample, a file of the same name and
//! `.format` or `.columns` holds the option that it needs.

use headway_base::Record;
use headway_import::formats::{self, refused};
use headway_import::source::Progress;
use headway_import::{Error, Facts, File, Finished, Format, Options, Rows, Unreadable};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Bytes by which formats are recognised.
const HEAD: usize = 64 << 10;
/// No sample has so many rows.
const MOST_ROWS: usize = 1_000_000;
/// Where a sample is read byte by byte, so much of it is.
const SLOWLY: usize = 8 << 10;

struct Sample {
    path: PathBuf,
    format: &'static dyn Format,
    options: Options,
    /// Decompressed.
    bytes: Vec<u8>,
}

impl Sample {
    fn head(&self) -> &[u8] {
        &self.bytes[..self.bytes.len().min(HEAD)]
    }

    fn is_text(&self) -> bool {
        std::str::from_utf8(&self.bytes).is_ok() && !self.bytes.contains(&0)
    }

    fn name(&self) -> std::path::Display<'_> {
        self.path.display()
    }
}

static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    let all = |format: &&'static dyn Format| {
        files(&folder().join(format.name())).map(|path| sample(path, *format)).collect()
    };
    formats::ALL.iter().flat_map(|format| -> Vec<Sample> { all(format) }).collect()
});

/// Samples that are read from bytes.
fn streamed() -> impl Iterator<Item = &'static Sample> {
    SAMPLES.iter().filter(|sample| !sample.format.opens_itself())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

/// The samples in a folder; none if there is no such folder.
fn files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().filter(|path| !path.extension().is_some_and(|e| e == "format" || e == "columns"))
}

fn sample(path: PathBuf, format: &'static dyn Format) -> Sample {
    let beside = |kind: &str| {
        let mut name = path.clone().into_os_string();
        name.push(kind);
        fs::read_to_string(name).ok().map(|text| text.trim_end().to_owned())
    };
    let options =
        Options { log_format: beside(".format"), columns: beside(".columns"), ..Options::default() };
    let packed = fs::read(&path).unwrap();
    let mut bytes = Vec::new();
    match path.extension().and_then(|e| e.to_str()) {
        Some("gz") => drop(flate2::read::MultiGzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap()),
        Some("zst") => bytes = zstd::decode_all(&packed[..]).unwrap(),
        _ => bytes = packed,
    }
    Sample { path, format, options, bytes }
}

/// All that a file comes to.
#[derive(PartialEq, Debug)]
struct Came {
    records: Vec<Record>,
    labels: Vec<String>,
    users: Vec<String>,
    unreadable: u64,
    examples: Vec<Unreadable>,
    left_out: Vec<(&'static str, u64)>,
    facts: Facts,
}

/// What does not depend on how much of the file was there.
fn words(error: &Error) -> String {
    match error {
        Error::Broken { at, .. } => format!("{}: {}", at.line, at.expected),
        other => other.to_string(),
    }
}

/// Hands `bytes` to a reader in blocks that end at `cuts`, as a file does: what is not taken comes again.
fn feed(sample: &Sample, bytes: &[u8], cuts: impl IntoIterator<Item = usize>) -> Result<Came, String> {
    let mut reader = sample.format.reader(&sample.path, &sample.options).map_err(|e| words(&e))?;
    let mut rows = Rows::default();
    let mut begin = 0;
    for end in cuts.into_iter().chain([bytes.len()]) {
        let end = end.clamp(begin, bytes.len());
        let last = end == bytes.len();
        let taken = reader.read(&bytes[begin..end], last, &mut rows).map_err(|e| words(&e))?;
        assert!(taken <= end - begin, "{}: more taken than there was", sample.name());
        begin += taken;
        if last {
            break;
        }
    }
    assert_eq!(begin, bytes.len(), "{}: the end was not taken", sample.name());
    assert_eq!(rows.examples.len() as u64, rows.unreadable.min(5), "{}", sample.name());
    for r in &rows.records {
        assert!(usize::from(r.step) < rows.tables.labels.len(), "{}: a label without a name", sample.name());
    }
    Ok(Came {
        records: rows.records,
        labels: rows.tables.labels.as_slice().to_vec(),
        users: rows.tables.users.as_slice().to_vec(),
        unreadable: rows.unreadable,
        examples: rows.examples,
        left_out: rows.left_out,
        facts: reader.facts(),
    })
}

fn whole(sample: &Sample) -> Came {
    feed(sample, &sample.bytes, []).unwrap()
}

/// Reads a file as the audit does.
fn read_file(path: &Path, options: &Options) -> Result<(Vec<Record>, Finished), Error> {
    let mut file = File::open(path, options, Progress::default())?;
    let (mut rows, mut records) = (Rows::default(), Vec::new());
    while file.next(&mut rows)? {
        records.append(&mut rows.records);
        assert!(records.len() < MOST_ROWS, "{}: rows without an end", path.display());
    }
    Ok((records, file.finish(&mut rows, true)?))
}

fn read_bytes(bytes: &[u8], options: &Options) -> Result<(Vec<Record>, Finished), Error> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    read_file(file.path(), options)
}

/// Numbers without pattern, the same in every run (SplitMix64; Steele, Lea and Flood 2014).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn sorted(&mut self, count: usize, below: usize) -> Vec<usize> {
        let mut cuts: Vec<_> = (0..count).map(|_| self.below(below)).collect();
        cuts.sort_unstable();
        cuts
    }
}

#[test]
fn every_format_has_a_sample_and_every_sample_a_format() {
    let named: BTreeSet<&str> = formats::ALL.iter().map(|format| format.name()).collect();
    let sampled: BTreeSet<&str> = SAMPLES.iter().map(|sample| sample.format.name()).collect();
    assert_eq!(named, sampled);
    assert_eq!(named.len(), formats::ALL.len(), "two formats of one name");
    for entry in fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let known =
            named.contains(name.as_str()) || ["make", "refused", "README.md"].contains(&name.as_str());
        assert!(known, "samples/{name} is of no format");
    }
}

#[test]
fn each_sample_is_recognised_by_its_format_and_by_no_other() {
    for sample in SAMPLES.iter() {
        let found: Vec<_> =
            formats::ALL.iter().filter(|f| f.recognise(sample.head())).map(|f| f.name()).collect();
        let needs_an_option = sample.options.log_format.is_some() || sample.options.columns.is_some();
        match found[..] {
            [] => assert!(needs_an_option, "{}: recognised by none", sample.name()),
            _ => assert_eq!(found, [sample.format.name()], "{}", sample.name()),
        }
        let refused: Vec<_> =
            refused::ALL.iter().filter(|f| f.recognise(sample.head())).map(|f| f.name()).collect();
        assert!(refused.is_empty(), "{}: refused as {refused:?}", sample.name());
    }
}

#[test]
fn each_sample_is_read_whole() {
    for sample in SAMPLES.iter() {
        let (records, finished) = read_file(&sample.path, &sample.options).unwrap();
        assert_eq!(finished.format, sample.format.name(), "{}", sample.name());
        assert_eq!(finished.unreadable, 0, "{}: {:?}", sample.name(), finished.examples);
        assert!(!records.is_empty() && finished.rows > 0, "{}: no rows", sample.name());
        assert!(finished.facts.resolution.0 > 0 && !finished.facts.format.is_empty(), "{}", sample.name());
        for r in &records {
            let started = r.started.get().expect("it was sent");
            assert!(started <= r.done && r.intended <= r.done, "{}: {r:?}", sample.name());
            assert!(finished.facts.users || r.user == 0, "{}: {r:?}", sample.name());
            assert!(finished.facts.bytes || r.bytes_received == 0, "{}: {r:?}", sample.name());
            assert!(finished.facts.ends || r.done == started, "{}: {r:?}", sample.name());
        }
    }
}

#[test]
fn where_blocks_end_does_not_matter() {
    for sample in streamed() {
        let expected = whole(sample);
        let cuts = Numbers(1).sorted(64, sample.bytes.len());
        assert!(feed(sample, &sample.bytes, cuts).unwrap() == expected, "{}: in 65 blocks", sample.name());
        let some = &sample.bytes[..sample.bytes.len().min(SLOWLY)];
        let expected = feed(sample, some, []).unwrap();
        assert!(feed(sample, some, 1..some.len()).unwrap() == expected, "{}: byte by byte", sample.name());
    }
}

#[test]
fn files_that_break_off_are_read_up_to_there() {
    for sample in streamed() {
        let expected = whole(sample).records;
        let mut numbers = Numbers(2);
        for _ in 0..200 {
            let end = numbers.below(sample.bytes.len().min(4 * SLOWLY));
            // All but the last row; or a beginning of which there is nothing to be had.
            let Ok(came) = feed(sample, &sample.bytes[..end], []) else { continue };
            let same = came.records.iter().zip(&expected).take_while(|(a, b)| a == b).count();
            assert!(came.records.len() <= same + MOST_CHANGED, "{} up to byte {end}", sample.name());
        }
    }
}

/// Rows at a file's end that can come out otherwise if it breaks off there.
const MOST_CHANGED: usize = 1;

#[test]
fn line_ends_do_not_matter() {
    for sample in streamed().filter(|sample| sample.is_text()) {
        let text = String::from_utf8(sample.bytes.clone()).unwrap();
        let plain = text.replace("\r\n", "\n");
        let windows = plain.replace('\n', "\r\n");
        for other in [plain, windows] {
            let (records, finished) = read_bytes(other.as_bytes(), &sample.options).unwrap();
            let (expected, _) = read_bytes(&sample.bytes, &sample.options).unwrap();
            assert!(records == expected, "{}", sample.name());
            assert_eq!(
                (finished.format, finished.unreadable),
                (sample.format.name(), 0),
                "{}",
                sample.name()
            );
        }
    }
}

#[test]
fn a_byte_order_mark_does_not_matter() {
    for sample in streamed().filter(|sample| sample.is_text()) {
        let marked = [b"\xef\xbb\xbf", &sample.bytes[..]].concat();
        let (records, finished) = read_bytes(&marked, &sample.options).unwrap();
        assert!(records == read_bytes(&sample.bytes, &sample.options).unwrap().0, "{}", sample.name());
        assert_eq!((finished.format, finished.unreadable), (sample.format.name(), 0), "{}", sample.name());
    }
}

#[test]
fn damage_is_survived_and_does_not_depend_on_blocks() {
    for sample in streamed() {
        let mut numbers = Numbers(3);
        for _ in 0..50 {
            let mut bytes = sample.bytes[..sample.bytes.len().min(SLOWLY)].to_vec();
            for _ in 0..=numbers.below(8) {
                let at = numbers.below(bytes.len());
                bytes[at] ^= 1 << numbers.below(8);
            }
            let cuts = numbers.sorted(6, bytes.len());
            assert_eq!(feed(sample, &bytes, cuts), feed(sample, &bytes, []), "{}", sample.name());
        }
    }
}

/// A sample cut into pieces and put together in another order.
#[test]
fn disorder_is_survived_and_does_not_depend_on_blocks() {
    for sample in streamed() {
        let mut numbers = Numbers(4);
        for _ in 0..50 {
            let mut bytes = Vec::new();
            for _ in 0..6 {
                let end = sample.bytes.len().min(SLOWLY);
                let begin = numbers.below(end);
                bytes.extend_from_slice(&sample.bytes[begin..end.min(begin + numbers.below(600))]);
            }
            let cuts = numbers.sorted(6, bytes.len().max(1));
            assert_eq!(feed(sample, &bytes, cuts), feed(sample, &bytes, []), "{}", sample.name());
        }
    }
}

#[test]
fn damaged_databases_are_survived() {
    for sample in SAMPLES.iter().filter(|sample| sample.format.opens_itself()) {
        let mut numbers = Numbers(5);
        for _ in 0..50 {
            let mut bytes = sample.bytes.clone();
            for _ in 0..20 {
                let at = numbers.below(bytes.len());
                bytes[at] = numbers.below(256) as u8;
            }
            bytes.truncate(bytes.len() - numbers.below(bytes.len() / 2));
            if let Err(error) = read_bytes(&bytes, &sample.options) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn what_holds_no_starts_or_is_read_elsewhere_is_refused() {
    let mut seen = BTreeSet::new();
    for path in files(&folder().join("refused")) {
        let name = path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap();
        let error = read_file(&path, &Options::default()).unwrap_err();
        assert!(
            matches!(error, Error::NoStarts { .. } | Error::Elsewhere { .. }),
            "{}: {error}",
            path.display()
        );
        let head = fs::read(&path).unwrap();
        let found: Vec<_> = refused::ALL.iter().filter(|f| f.recognise(&head)).map(|f| f.name()).collect();
        assert_eq!(found, [name], "{}", path.display());
        assert!(formats::ALL.iter().all(|f| !f.recognise(&head)), "{}", path.display());
        seen.insert(name.to_owned());
    }
    let named: BTreeSet<String> = refused::ALL.iter().map(|f| f.name().to_owned()).collect();
    assert_eq!(named, seen, "each has a sample");
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..600), cut in 0usize..600) {
        for format in formats::ALL.iter().filter(|format| !format.opens_itself()) {
            format.recognise(&bytes);
            let options = Options { columns: Some("start=1".to_owned()), ..Options::default() };
            let sample = Sample { path: PathBuf::from("any"), format: *format, options, bytes: Vec::new() };
            prop_assert_eq!(feed(&sample, &bytes, [cut]), feed(&sample, &bytes, []), "{}", format.name());
        }
        refused::ALL.iter().for_each(|format| assert!(!format.recognise(&bytes)));
    }
}
