//! The command line as it is written down and shown: secrets replaced, seed added, quoted so that a shell takes it.

use headway_convert::quoted;
use headway_workload::Shard;
use headway_workload::redact::{Cleared, Place, REDACTED, Redactor, SecretNames, clear};
use std::ffi::OsString;

/// A command line as it may be shown, and what hides the secrets that were typed.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    /// The words, secrets replaced.
    pub words: Vec<String>,
    /// Knows the names that the user added, and the secrets among the words.
    pub redactor: Redactor,
}

/// What a word is to the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Other,
    Header,
    Body,
    Name,
    Set,
    Login,
    /// NAME=URL.
    Target,
    /// Its `@` is none of a URL with a password.
    Phases,
    /// A URL. Its query may hold keys under any name.
    Collector,
}

/// Short flags that take a value: what follows one of them in the same word is that.
const VALUED: &str = "RqdznucHmXbl";

/// The flag that begins a word, as far as it matters here, and the value behind it in the same word, if it is there.
fn flag(word: &str) -> Option<(&str, Kind, Option<&str>)> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let kind = match name {
            "header" => Kind::Header,
            "body" | "data" => Kind::Body,
            "user" => Kind::Login,
            "redact" => Kind::Name,
            "set" | "note" => Kind::Set,
            "target" => Kind::Target,
            "phases" => Kind::Phases,
            "otlp" => Kind::Collector,
            _ => Kind::Other,
        };
        return Some((&word[..2 + name.len()], kind, value));
    }
    let short = word.strip_prefix('-').filter(|short| !short.is_empty())?;
    let at = short.find(|c| VALUED.contains(c))?;
    let kind = match &short[at..at + 1] {
        "H" => Kind::Header,
        "b" => Kind::Body,
        // As curl writes it. It is a mistake here, and the message must not show the value.
        "u" => Kind::Login,
        _ => Kind::Other,
    };
    let rest = &short[at + 1..];
    Some((&word[..at + 2], kind, (!rest.is_empty()).then(|| rest.strip_prefix('=').unwrap_or(rest))))
}

/// Each word with what it is, and where in it the value begins.
fn kinds(words: &[String]) -> Vec<(Kind, usize)> {
    let mut next = Kind::Other;
    let mut all = Vec::with_capacity(words.len());
    for word in words {
        let (kind, from) = match std::mem::replace(&mut next, Kind::Other) {
            Kind::Other => match flag(word) {
                Some((_, kind, Some(value))) => (kind, word.len() - value.len()),
                Some((_, kind, None)) => {
                    next = kind;
                    (Kind::Other, 0)
                }
                None => (Kind::Other, 0),
            },
            of_flag => (of_flag, 0),
        };
        all.push((kind, from));
    }
    all
}

/// Reads a command line for its secrets.
pub fn read(argv: &[OsString]) -> Typed {
    let words: Vec<String> = argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let kinds = kinds(&words);
    let of = |wanted: Kind| {
        let all = words.iter().zip(&kinds).filter(move |(_, (kind, _))| *kind == wanted);
        all.map(|(word, (_, from))| word[*from..].to_owned())
    };
    let mut redactor = match words.iter().any(|word| word == "--no-redact") {
        true => Redactor::showing_all(),
        false => Redactor::new(SecretNames::with(&of(Kind::Name).collect::<Vec<_>>())),
    };
    for header in of(Kind::Header) {
        if let Some((name, value)) = header.split_once(':') {
            redactor.know_header(name.trim(), value.trim());
        }
    }
    for set in of(Kind::Set) {
        if let Some((_, value)) = set.split_once('=').filter(|(path, _)| is_secret(&redactor, path)) {
            redactor.know(value);
        }
    }
    of(Kind::Login)
        .filter_map(|login| Some(login.split_once(':')?.1.to_owned()))
        .for_each(|word| redactor.know(&word));
    of(Kind::Body).for_each(|body| redactor.know_in(&body));
    of(Kind::Target)
        .filter_map(|target| Some(target.split_once('=')?.1.to_owned()))
        .for_each(|url| redactor.know_url(&url));
    of(Kind::Collector).for_each(|url| redactor.know_url(&url));
    let sends = words.get(1).is_some_and(|verb| matches!(verb.as_str(), "run" | "plan"));
    let is_url = |word: &str| word.contains("://") || (sends && word.contains(['/', '@', '?', '#']));
    of(Kind::Other).filter(|word| is_url(word)).for_each(|url| redactor.know_url(&url));
    let shown = words.iter().zip(&kinds).enumerate().map(|(i, (word, &(kind, from)))| {
        let (lead, value) = word.split_at(from);
        match kind {
            _ if i == 0 => "headway".to_owned(),
            Kind::Header => match value.split_once(':') {
                Some((name, value)) => {
                    format!("{lead}{}: {}", name.trim(), redactor.hide_header(name.trim(), value.trim()))
                }
                None => format!("{lead}{}", redactor.hide(value)),
            },
            Kind::Set => match value.split_once('=') {
                Some((path, _)) if is_secret(&redactor, path) => format!("{lead}{path}={REDACTED}"),
                _ => redactor.hide(word).into_owned(),
            },
            Kind::Target => match value.split_once('=') {
                Some((name, url)) => format!("{lead}{name}={}", redactor.hide_url(url)),
                None => redactor.hide(word).into_owned(),
            },
            Kind::Login => match value.split_once(':').filter(|_| !redactor.shows_all()) {
                Some((name, _)) => format!("{lead}{name}:{REDACTED}"),
                None => word.clone(),
            },
            Kind::Body if value.starts_with('@') || value == "-" => word.clone(),
            Kind::Body if redactor.shows_all() || is_harmless(value, &redactor) => word.clone(),
            Kind::Body => format!("{lead}{REDACTED}"),
            Kind::Collector => format!("{lead}{}", redactor.hide_query(value)),
            Kind::Other if is_url(word) => redactor.hide_url(word).into_owned(),
            Kind::Other | Kind::Name | Kind::Phases => redactor.hide(word).into_owned(),
        }
    });
    Typed { words: shown.collect(), redactor }
}

/// Whether nothing in a body is secret, as far as names tell: it is an object of JSON or a form, so that each value has a name, no name is
/// that of a secret, and no value looks like a key. Of a text without names nobody knows what it is.
fn is_harmless(body: &str, redactor: &Redactor) -> bool {
    let named = match serde_json::from_str::<serde_json::Value>(body) {
        Ok(value) => value.is_object() && plain_json(&value, redactor),
        Err(_) => plain_form(body, redactor),
    };
    named && redactor.named_in(body).is_empty() && !redactor.finds(body)
}

/// Whether no key in a value of JSON is the name of a secret, and no text in it looks like a key or holds names of its own.
fn plain_json(value: &serde_json::Value, redactor: &Redactor) -> bool {
    use serde_json::Value::{Array, Bool, Null, Number, Object, String};
    match value {
        Null | Bool(_) | Number(_) => true,
        String(text) => is_plain(text, redactor),
        Array(items) => items.iter().all(|item| plain_json(item, redactor)),
        Object(fields) => fields.iter().all(|(name, value)| {
            is_plain(name, redactor) && !is_secret(redactor, name) && plain_json(value, redactor)
        }),
    }
}

/// Whether a text is a form, `a=1&b=2`, in which no name is that of a secret and no value looks like a key.
fn plain_form(body: &str, redactor: &Redactor) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_alphanumeric() || "_-.[]".contains(c))
            && !is_secret(redactor, name)
    };
    // One name without a value is no field, but may be Base64 with its padding.
    let padded = body.ends_with('=') && !body.contains('&');
    !padded
        && body.split('&').all(|field| {
            field.split_once('=').is_some_and(|(name, value)| {
                is_name(name) && !value.contains(['%', '=', '\n', '\r']) && is_plain(value, redactor)
            })
        })
}

/// Characters of the shortest word of letters and digits that is taken for a key.
const SHORTEST_KEY: usize = 16;

/// Whether a text holds no word that looks like a key, and no names of secrets before values of its own.
fn is_plain(text: &str, redactor: &Redactor) -> bool {
    let is_key = |word: &str| {
        word.chars().count() >= SHORTEST_KEY
            && word.contains(|c: char| c.is_ascii_digit())
            && word.contains(|c: char| c.is_alphabetic())
    };
    let words = text.split(|c: char| c.is_whitespace() || ",;:()<>\"'".contains(c));
    words.into_iter().all(|word| !is_key(word)) && redactor.named_in(text).is_empty()
}

/// Whether the value at a path of a scenario is a secret by its name.
fn is_secret(redactor: &Redactor, path: &str) -> bool {
    // A path that leads through a secret is none, and the message about it must not show the value.
    path.split('.').any(|name| {
        [Place::Header, Place::Variable, Place::Query, Place::Field]
            .iter()
            .any(|place| redactor.hides(*place, name))
    })
}

/// Flags that say what is written, and where: a repeated run is another, with results of its own.
const WRITTEN: [&str; 13] = [
    "--out",
    "--resume",
    "--output",
    "--json",
    "--html",
    "--junit",
    "--parquet",
    "--csv",
    "--histograms",
    "--cells",
    "--failures",
    "--rows",
    "--unreadable",
];

/// Flags that say when: a repeated run has its own time.
const TIMED: [&str; 2] = ["--start-at", "--late"];

/// The command that repeats the run: with its seed, and without its time and what it has written.
pub fn command(typed: &Typed, seed: u64) -> Cleared {
    let kept = as_it_was(&typed.words);
    if typed.words.iter().any(|w| w == "--seed" || w.starts_with("--seed=")) {
        return typed.redactor.clear(&kept);
    }
    typed.redactor.clear(&format!("{kept} --seed {seed}"))
}

/// The command with the shard in the place of `--shard auto`: where it is repeated, the environment is another.
pub fn with_shard(typed: &Typed, shard: Shard) -> Typed {
    let mut words = typed.words.clone();
    for at in 0..words.len() {
        match words[at].as_str() {
            "--shard=auto" => words[at] = format!("--shard={shard}"),
            "auto" if at > 0 && words[at - 1] == "--shard" => words[at] = shard.to_string(),
            _ => {}
        }
    }
    Typed { words, redactor: typed.redactor.clone() }
}

/// The command without its time and what it has written; of what needs no seed to be repeated.
pub fn command_as_it_was(typed: &Typed) -> Cleared {
    typed.redactor.clear(&as_it_was(&typed.words))
}

fn as_it_was(words: &[String]) -> String {
    let kept = without(&without(words, &WRITTEN), &TIMED);
    let kept: Vec<String> = kept.iter().map(|word| quoted(word)).collect();
    kept.join(" ")
}

/// The command that merges the shards which meet in that place.
pub fn merging(place: &str, shards: u32) -> Cleared {
    clear(&format!("headway merge {} --expect {shards}", quoted(place)))
}

/// The words of the command of all shards together, without what one of them has written.
pub fn of_all_shards(typed: &Typed) -> Typed {
    let words = without(&without(&typed.words, &WRITTEN), &["--shard"]);
    Typed { words, redactor: typed.redactor.clone() }
}

/// Without these flags, which have a value each.
fn without(words: &[String], flags: &[&str]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let with_value = |flag: &&str| word.strip_prefix(*flag).is_some_and(|rest| rest.starts_with('='));
        if flags.contains(&word.as_str()) {
            words.next();
        } else if !flags.iter().any(with_value) {
            kept.push(word.clone());
        }
    }
    kept
}
