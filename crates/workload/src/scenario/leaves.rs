//! Single values: times, rates, sizes, counts, laws, texts and words, each with its place, its errors and its schema.

use super::read::{Read, Reader};
use super::source::{Problem, Span};
use super::tree::{Kind, Scalar, Tree, Typed};
use crate::arrivals::Arriving;
use crate::connect::{ConnectTo, Proxy, Resolve};
use crate::model::words::Worded;
use crate::target::HttpVersion;
use headway_base::dist::{self, Dist, MOST_BYTES_OF_TIMES};
use headway_base::units::{self, MOST_ECHOED, UnitError, echoed, nearest};
use headway_base::{Answer, Nanos, Rate, TimeScale};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// A value and its place.
macro_rules! leaf {
    ($(#[doc = $doc:literal])* $name:ident($value:ty), $wanted:literal, $example:literal, $types:tt, $examples:tt, $read:expr) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        #[allow(dead_code, clippy::allow_attributes, reason = "nobody has to say where a flag stands")]
        pub(super) struct $name {
            pub value: $value,
            pub span: Span,
        }

        impl Read for $name {
            fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<$name> {
                let scalar = tree.scalar(reader, $wanted, $example)?;
                let read: fn(&Scalar, &mut Reader<'_>) -> Result<$value, Problem> = $read;
                match read(scalar, reader) {
                    Ok(value) => Some($name { value, span: tree.span }),
                    Err(problem) => reader.complain(problem),
                }
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": $types, "examples": $examples })
            }
        }
    };
}

leaf!(
    /// A span of time, not negative.
    Time(Nanos), "a time", "30s", ["string", "integer"], ["250us", "10ms", "1.5s", "2m", "1h"],
    |scalar, _| bare(scalar, "time", &["s", "ms"])
        .map_or_else(|| units::parse_time(&scalar.text).map_err(|e| unit(scalar, &e)), Err)
);

leaf!(
    /// A time scale at which lateness is judged.
    Scale(TimeScale), "a time scale", "5ms", ["string"], ["1ms", "2ms", "5ms", "10ms", "20ms", "50ms", "100ms"],
    |scalar, _| scalar.text.parse().map_err(|e| unit(scalar, &e))
);

leaf!(
    /// A share of all, from 0 to 1.
    Portion(f64), "a share", "5%", ["string", "number"], ["5%", 0.05],
    |scalar, _| units::parse_share(&scalar.text).map_err(|e| unit(scalar, &e))
);

leaf!(
    /// A version of HTTP.
    Version(HttpVersion), "a version of HTTP", "2", ["string", "number"], ["any", "1.1", "2"],
    |scalar, _| HttpVersion::parse(&scalar.text).map_err(|e| unit(scalar, &e))
);

leaf!(
    /// Another place to connect to.
    OtherPlace(ConnectTo), "a place to connect to", "example.org:443:127.0.0.1:8443", ["string"], ["example.org:443:127.0.0.1:8443"],
    |scalar, _| ConnectTo::parse(&scalar.text).map_err(|e| unit(scalar, &e))
);

leaf!(
    /// Addresses of a host.
    GivenAddress(Resolve), "an address of a host", "example.org:443:127.0.0.1", ["string"], ["example.org:443:127.0.0.1"],
    |scalar, _| Resolve::parse(&scalar.text).map_err(|e| unit(scalar, &e))
);

leaf!(
    /// A proxy.
    ProxyUrl(Proxy), "a proxy", "http://proxy:3128", ["string"], ["http://proxy:3128", "http://${PROXY_LOGIN}@proxy:3128"],
    |scalar, _| Proxy::parse(&scalar.text).map_err(|e| unit(scalar, &e))
);

leaf!(
    /// Where an answer of plain bytes ends.
    AnswerEnd(Answer), "where a response ends", "\"until:\\r\\n\"", ["string"],
    ["until:\\r\\n", "bytes:16", "length:4", "close", "match:0+8", "next", "none"],
    |scalar, _| Answer::parse(&scalar.text).map_err(|e| unit(scalar, &e))
);

leaf!(
    /// A rate per second; may be zero.
    PerSecond(Rate), "a rate", "20/s", ["string"], ["20/s", "10k/s", "30/1m"],
    |scalar, _| rate(scalar)
);

leaf!(
    /// A size in bytes.
    Size(u64), "a size", "10KiB", ["string"], ["512B", "10KiB", "4MiB"],
    |scalar, _| bare(scalar, "size", &["B", "KiB"])
        .map_or_else(|| units::parse_size(&scalar.text).map_err(|e| unit(scalar, &e)), Err)
);

leaf!(
    /// A whole number.
    Count(u64), "a whole number", "200", ["integer", "string"], [200, "10k"],
    |scalar, _| units::parse_count(&scalar.text).map_err(|e| unit(scalar, &e))
);

leaf!(
    /// A whole number below 2^53, of which every reader of JSON keeps the digits.
    Seed(u64), "a whole number", "7", ["integer", "string"], [7],
    |scalar, _| scalar.text.parse().ok().filter(|&seed: &u64| seed < 1 << 53).ok_or_else(|| {
        Problem::new(scalar.span, format!("{} is no seed", scalar.describe()))
            .help("write a whole number from 0 to 9007199254740991 (2^53 - 1)".to_owned())
    })
);

leaf!(
    /// A number above zero.
    Positive(f64), "a number above zero", "2.5", ["number", "string"], [3, 0.5],
    |scalar, _| match units::parse_number(&scalar.text) {
        Ok(number) if number > 0.0 => Ok(number),
        Ok(_) => Err(Problem::new(scalar.span, format!("{} is not above zero", scalar.describe()))
            .help("write a number above 0, for example 2.5")),
        Err(e) => Err(unit(scalar, &e)),
    }
);

leaf!(
    /// A number.
    Plain(f64), "a number", "0.5", ["number", "string"], [0.5, 10],
    |scalar, _| units::parse_number(&scalar.text).map_err(|e| unit(scalar, &e))
);

leaf!(
    /// Yes or no.
    Flag(bool), "true or false", "true", ["boolean", "string"], [true],
    |scalar, _| match scalar.text.as_str() {
        "true" | "True" | "TRUE" => Ok(true),
        "false" | "False" | "FALSE" => Ok(false),
        _ => Err(Problem::new(scalar.span, format!("{} is neither true nor false", scalar.describe())).help("write true or false")),
    }
);

leaf!(
    /// A distribution of times.
    Law(Dist), "a time or a distribution", "exp(1s)", ["string", "integer"],
    ["500ms", "exp(1s)", "uniform(0s, 2s)", "lognormal(5ms,2)", "empirical(times.txt)"],
    |scalar, reader| law(scalar, reader)
);

leaf!(
    /// An arrival process.
    Arrivals(Arriving), "an arrival process", "poisson", ["string"],
    ["poisson", "constant", "uniform", "gamma(2.5)", "poisson-fixed-n", "batch(poisson,geometric(3))", "trace(access.log,speed=2)"],
    |scalar, _| Arriving::parse(&scalar.text).map_err(|e| unit(scalar, &e))
);

leaf!(
    /// Any text; numbers and truth values count as written.
    Text(Scalar), "a text", "'some text'", ["string", "number", "boolean"], [],
    |scalar, _| Ok(scalar.clone())
);

leaf!(
    /// A rate (`20/s`) where users arrive, a number of users (`20`) where they stay.
    Amount(Scalar), "a rate or a number of users", "20/s or 50", ["string", "integer"], ["20/s", 50],
    |scalar, _| Ok(scalar.clone())
);

impl Amount {
    /// As a rate, for groups that arrive.
    pub fn rate(&self) -> Result<f64, Problem> {
        rate(&self.value).map(|r| r.0)
    }

    /// As a number of users, for closed groups.
    pub fn users(&self) -> Result<f64, Problem> {
        if self.value.text.contains('/') {
            let title = format!("{} is a rate, and this group is closed", self.value.describe());
            return Err(Problem::new(self.span, title)
                .help("its phases say how many users there are: write for example 50"));
        }
        match units::parse_count(&self.value.text) {
            Ok(users) if users <= super::MOST_USERS => Ok(users as f64),
            Ok(_) => Err(Problem::new(self.span, format!("more than {} users", super::MOST_USERS))),
            Err(e) => Err(unit(&self.value, &e)),
        }
    }
}

/// Any value at all, for JSON.
#[derive(Clone, Debug)]
pub(super) struct Any(pub Tree);

impl Read for Any {
    fn read(tree: &Tree, _: &mut Reader<'_>) -> Option<Any> {
        Some(Any(tree.clone()))
    }
}

impl JsonSchema for Any {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Any".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}

/// One of several words.
macro_rules! word {
    ($(#[doc = $about:literal])* $name:ident { $($variant:ident = $word:literal,)+ }) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(in crate::scenario) enum $name { $(
            #[doc = concat!("`", $word, "`.")]
            $variant,
        )+ }

        impl $crate::scenario::read::Read for $name {
            fn read(
                tree: &$crate::scenario::tree::Tree,
                reader: &mut $crate::scenario::read::Reader<'_>,
            ) -> Option<$name> {
                match $crate::scenario::leaves::one_word(tree, &[$($word),+], reader)? {
                    $($word => Some($name::$variant),)+
                    _ => None,
                }
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "enum": [$($word),+] })
            }
        }
    };
}
pub(super) use word;

/// A word of the model, and what it stands for.
#[derive(Clone, Debug)]
pub(super) struct WordOf<T> {
    pub value: T,
    pub span: Span,
}

impl<T: Worded> Read for WordOf<T> {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<WordOf<T>> {
        let words: Vec<&str> = T::WORDS.iter().map(|word| word.name).collect();
        let name = one_word(tree, &words, reader)?;
        let word = T::WORDS.iter().find(|word| word.name == name)?;
        Some(WordOf { value: word.value.clone(), span: tree.span })
    }
}

impl<T: Worded> JsonSchema for WordOf<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        T::WORDS.iter().map(|word| word.name).collect::<Vec<_>>().join("-or-").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // YAML reads two words as truth values.
        let words = T::WORDS.iter().map(|word| match word.name {
            "true" => true.into(),
            "false" => false.into(),
            name => name.into(),
        });
        let words: Vec<serde_json::Value> = words.collect();
        json_schema!({ "enum": words })
    }
}

/// The word that stands here, which must be one of these.
pub(super) fn one_word(tree: &Tree, words: &[&'static str], reader: &mut Reader<'_>) -> Option<&'static str> {
    let all = words.join(" | ");
    let scalar = tree.scalar(reader, "a word", &all)?;
    // YAML has the two truth values in capitals too.
    let same = |word: &str| {
        word == scalar.text || (matches!(word, "true" | "false") && word.eq_ignore_ascii_case(&scalar.text))
    };
    match words.iter().find(|word| same(word)) {
        Some(word) => Some(word),
        None => {
            let problem = Problem::new(scalar.span, format!("{} is not known here", scalar.describe()));
            let guess = nearest(&scalar.text, words.iter().copied());
            reader.complain(problem.guess(guess).help(format!("write one of {all}")))
        }
    }
}

/// The problem with a value that a parser of units refused: what it is not, and below that what would do.
pub(super) fn unit(scalar: &Scalar, error: &UnitError) -> Problem {
    let (what, help) = match error.wanted.split_once(": ") {
        Some((what, help)) => (what, Some(help)),
        None => (error.wanted.as_str(), None),
    };
    let given = if cuts_a_secret(scalar) { scalar.describe() } else { format!("'{}'", error.given) };
    let problem = Problem::new(scalar.span, format!("{given} is not {what}"));
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// Whether an error would show the beginning of what may be a secret, which is not found again when secrets are taken out of
/// the message.
fn cuts_a_secret(scalar: &Scalar) -> bool {
    scalar.template.is_some() && scalar.text.chars().count() > MOST_ECHOED
}

/// The problem with a number that stands where a unit must. What is a number in another notation (`nan`, `1e3`) has none
/// that could follow it.
fn bare(scalar: &Scalar, what: &str, units: &[&str]) -> Option<Problem> {
    let number = scalar.text.trim();
    let zero_time = what == "time" && number == "0";
    if scalar.typed == Typed::Text && number.parse::<f64>().is_err() || zero_time || number.starts_with('-') {
        return None;
    }
    if !number.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let shown = if cuts_a_secret(scalar) { scalar.describe() } else { echoed(number) };
    // Nobody can write on where a number is cut.
    let own = if shown == number { number } else { "20" };
    let written: Vec<String> = units.iter().map(|u| format!("{own}{u}")).collect();
    let title = format!("{shown} is no {what} without a unit");
    Some(Problem::new(scalar.span, title).help(format!("write for example {}", written.join(" or "))))
}

fn rate(scalar: &Scalar) -> Result<Rate, Problem> {
    if let Some(problem) = bare(scalar, "rate", &["/s", "/1m"]) {
        return Err(problem);
    }
    // Nobody arrives at 0/s, which a phase may say and `parse_rate` refuses.
    if let Some((number, unit)) = scalar.text.split_once('/')
        && number.trim().parse() == Ok(0.0)
        && units::parse_rate(&format!("1/{unit}")).is_ok()
    {
        return Ok(Rate(0.0));
    }
    units::parse_rate(&scalar.text).map_err(|e| unit(scalar, &e))
}

fn law(scalar: &Scalar, reader: &mut Reader<'_>) -> Result<Dist, Problem> {
    if let Some(problem) = bare(scalar, "time", &["s", "ms"]) {
        return Err(problem);
    }
    let shared = std::cell::RefCell::new(reader);
    let times = |name: &str| times(name, &mut shared.borrow_mut());
    let law = dist::parse(&scalar.text, &times).map_err(|e| unit(scalar, &e))?;
    match law.misleads() {
        Some(why) => {
            let (title, help) = why.split_once(": ").unwrap_or((&why, ""));
            Err(Problem::new(scalar.span, title).help(help))
        }
        None => Ok(law),
    }
}

/// The times in a file, one a line; empty lines and those that begin with # are left out.
fn times(name: &str, reader: &mut Reader<'_>) -> Result<Vec<f64>, String> {
    let bytes = reader.file(name).map_err(|e| format!("a file of times: it cannot be read: {e}"))?;
    if bytes.len() > MOST_BYTES_OF_TIMES {
        let most = MOST_BYTES_OF_TIMES >> 20;
        return Err(format!("a file of times: it is longer than {most} MiB, the most that is read"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "a file of times: it is not UTF-8 text".to_owned())?;
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let times = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    times
        .map(|(n, line)| match units::parse_time(line) {
            Ok(time) => Ok(time.as_secs_f64()),
            Err(e) => Err(format!("a file of times: line {n}: {e}")),
        })
        .collect()
}

/// A text, a number or a truth value, or none where it is something else.
pub(super) fn as_scalar(tree: &Tree) -> Option<&Scalar> {
    match &tree.kind {
        Kind::Scalar(scalar) => Some(scalar),
        _ => None,
    }
}
