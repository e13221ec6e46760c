//! What is said of a command line that cannot be read, in the form of every error: `headway: what, where, found, accepted`.
//!
//! The parser says what is wrong; the words are made here, with the flag, verb or value that may have been meant. Deliberately
//! absent: what options of other tools mean (`headway_convert::tools::advice`), and what a value must be beyond its one word
//! ([`crate::settings`]).

mod words;

use crate::args::{self, Args};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory as _};
use headway_base::units::{echoed, nearest};
use headway_convert::tools::advice;
use std::error::Error as _;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use words::VERBS;

/// What to say of an error of the parser, without the program's name before it. Secrets are to be hidden in it. `words` are those
/// behind the program's name.
pub fn told(error: &clap::Error, words: &[String]) -> String {
    of_other_tools(error, words).unwrap_or_else(|| Told::new(words).text(error))
}

/// What to write in place of a command that was not understood: where the verb is missing, or a flag of `run` is one of other tools.
fn of_other_tools(error: &clap::Error, words: &[String]) -> Option<String> {
    if words.first().is_some_and(|verb| verb != "run") {
        let no_verb = matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument);
        let known = words.first().is_some_and(|verb| args::is_verb(verb));
        return (no_verb && !known).then(|| advice::no_verb(words)).flatten();
    }
    let flag = context(error, ContextKind::InvalidArg)?;
    let prior = context(error, ContextKind::PriorArg);
    match (error.kind(), error.get(ContextKind::InvalidValue)) {
        (ErrorKind::ArgumentConflict, _) if prior == Some(flag) => advice::twice(words, flag),
        (ErrorKind::UnknownArgument, _) => advice::unknown(words, flag),
        (ErrorKind::ValueValidation, Some(ContextValue::String(value))) => {
            let cause = error.source().map(ToString::to_string).unwrap_or_default();
            advice::misread(words, flag, value, &cause)
        }
        _ => None,
    }
}

/// The first word of what an error is about: `--seed` of `--seed <N>`.
fn context(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    let text = match error.get(kind)? {
        ContextValue::String(text) => text,
        ContextValue::Strings(all) => all.first()?,
        _ => return None,
    };
    Some(text.split(' ').next().unwrap_or(text))
}

/// The verb that was typed, with its flags.
struct Told<'a> {
    words: &'a [String],
    all: Command,
    verb: Option<Command>,
}

impl<'a> Told<'a> {
    fn new(words: &'a [String]) -> Told<'a> {
        let mut all = Args::command();
        all.build();
        let verb = words.first().and_then(|name| all.find_subcommand(name)).cloned();
        Told { words, all, verb }
    }

    /// What the command is called: `headway run`.
    fn place(&self) -> String {
        self.verb.as_ref().map_or("headway".to_owned(), |verb| format!("headway {}", verb.get_name()))
    }

    /// Where the mistake is: the verb.
    fn verb(&self) -> &str {
        self.verb.as_ref().map_or("the command", Command::get_name)
    }

    fn text(&self, error: &clap::Error) -> String {
        let about = context(error, ContextKind::InvalidArg).unwrap_or_default();
        let value = match error.get(ContextKind::InvalidValue) {
            Some(ContextValue::String(value)) => value.as_str(),
            _ => "",
        };
        match error.kind() {
            ErrorKind::UnknownArgument => self.unknown(about),
            ErrorKind::InvalidSubcommand => {
                self.no_such_verb(context(error, ContextKind::InvalidSubcommand).unwrap_or_default())
            }
            ErrorKind::MissingRequiredArgument => self.missing(about),
            ErrorKind::InvalidValue if value.is_empty() => {
                format!("{about} has no value behind it; {}", self.accepted(about))
            }
            ErrorKind::InvalidValue => {
                let known = match error.get(ContextKind::ValidValue) {
                    Some(ContextValue::Strings(known)) => &known[..],
                    _ => &[],
                };
                let guess = nearest(value, known.iter().map(String::as_str));
                let guess = guess.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
                let value = echoed(value);
                format!(
                    "{}: '{value}' is none of its values; {guess}write one of {}",
                    self.named(about),
                    known.join(", ")
                )
            }
            ErrorKind::ValueValidation => self.misread(about, value, error),
            ErrorKind::ArgumentConflict => match context(error, ContextKind::PriorArg) {
                Some(prior) if prior != about => {
                    format!("{about} and {prior} exclude each other; give one of the two")
                }
                _ => format!("{about} is given twice; give it once"),
            },
            ErrorKind::TooManyValues => {
                format!("{about} takes no value, and '{}' is one; write {about} alone", echoed(value))
            }
            ErrorKind::NoEquals => format!("{about}: its value stands behind a =; {}", self.accepted(about)),
            ErrorKind::InvalidUtf8 => {
                format!("{}: a word is not UTF-8 text; write paths and values in UTF-8", self.verb())
            }
            _ => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default();
                format!("{}; {}", first.strip_prefix("error: ").unwrap_or(first), self.help())
            }
        }
    }

    /// Where the flags are listed.
    fn help(&self) -> String {
        format!("{} -h lists what it takes", self.place())
    }

    /// The argument that messages of the parser call so: `--rate`, `<URL|SCENARIO>`.
    fn argument(&self, about: &str) -> Option<&Arg> {
        let verb = self.verb.as_ref()?;
        let is = |arg: &&Arg| match about.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_value_names().is_some_and(|names| {
                names.iter().any(|name| name.as_str() == about.trim_matches(['<', '>', '[', ']', '.']))
            }),
        };
        verb.get_arguments().find(is)
    }

    /// What a flag or a word stands for, as its help says.
    fn accepted(&self, about: &str) -> String {
        let Some(arg) = self.argument(about) else { return self.help() };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.split(". ").next().unwrap_or_default();
        let names: Vec<&str> = arg.get_value_names().unwrap_or_default().iter().map(|n| n.as_str()).collect();
        format!("accepted is {} ({help})", names.join(" "))
    }

    /// An argument as people type it: without the signs that stand around the name of a word.
    fn named(&self, about: &str) -> String {
        if about.starts_with('-') { about.to_owned() } else { format!("{}: {about}", self.verb()) }
    }

    fn missing(&self, about: &str) -> String {
        if about.starts_with('-') {
            let typed = self
                .words
                .iter()
                .filter(|word| word.starts_with("--"))
                .map(|w| w.split('=').next().unwrap_or(w));
            let typed: Vec<&str> = typed.collect();
            let what = match &typed[..] {
                [one] => (*one).to_owned(),
                _ => "a flag that is given".to_owned(),
            };
            return format!(
                "{}: {what} needs {about}, which is missing; add it, or leave the other out",
                self.verb()
            );
        }
        format!("{}: {about} is missing; {}", self.verb(), self.accepted(about))
    }

    fn misread(&self, about: &str, value: &str, error: &clap::Error) -> String {
        let (named, value) = (self.named(about), echoed(value));
        let Some(cause) = error.source() else {
            return format!("{named}: '{value}' cannot be read; {}", self.accepted(about));
        };
        if let Some(cause) = cause.downcast_ref::<ParseIntError>() {
            let why = match cause.kind() {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                    "is beyond the numbers that it takes"
                }
                _ => "is not a whole number",
            };
            return format!("{named}: '{value}' {why}: write for example 4");
        }
        if cause.is::<ParseFloatError>() {
            return format!("{named}: '{value}' is not a number: write for example 0.5 or 2");
        }
        let cause = cause.to_string();
        // As the parser says of a number out of its range: `0 is not in 1..=1000`.
        if let Some((_, range)) = cause.split_once(" is not in ")
            && let Some((from, to)) = range.split_once("..")
        {
            return format!(
                "{named}: '{value}' is not in its range: write a whole number from {from} to {}",
                to.trim_start_matches('=')
            );
        }
        // What a parser of ours says names the value itself, and what would be accepted.
        match cause.contains(&value) {
            true => format!("{named}: {cause}"),
            false => format!("{named} {value}: {cause}"),
        }
    }

    fn unknown(&self, flag: &str) -> String {
        let Some(verb) = &self.verb else {
            return format!(
                "{} is no verb of headway, and none stands before it; {}",
                echoed(flag),
                "write headway run URL to send load; headway -h lists the verbs"
            );
        };
        let (place, name) = (self.place(), flag.split('=').next().unwrap_or(flag));
        if !name.starts_with('-') || name == "-" {
            let takes: Vec<String> = verb.get_positionals().map(ToString::to_string).collect();
            let takes = match &takes[..] {
                [] => "it takes none".to_owned(),
                some => format!("it takes {}", some.join(" ")),
            };
            return format!(
                "{}: '{}' is one word too many; {takes}, and flags: {}",
                self.verb(),
                echoed(name),
                self.help()
            );
        }
        let lead = format!("{name} is no flag of {place}");
        if let Some(instead) = words::instead(verb.get_name(), name) {
            return format!("{lead}; {}", self.filled(name, instead));
        }
        if let Some(near) = near_flag(verb, name) {
            return format!("{lead}; did you mean {near}? {}", self.help());
        }
        let others: Vec<&str> = self
            .all
            .get_subcommands()
            .filter(|other| has_flag(other, name) && !other.is_hide_set())
            .map(Command::get_name)
            .collect();
        match &others[..] {
            [] => format!("{lead}; {}", self.help()),
            some => format!("{lead}, but of {}; {}", some.join(", "), self.help()),
        }
    }

    /// What to write instead, with a number that was given in the place of N or PORT.
    fn filled(&self, name: &str, instead: &str) -> String {
        let at = self.words.iter().position(|word| word.split('=').next() == Some(name));
        let value = at.and_then(|at| match self.words[at].split_once('=') {
            Some((_, value)) => Some(value),
            None => self.words.get(at + 1).map(String::as_str),
        });
        match value.filter(|value| !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit())) {
            Some(number) => {
                instead.replace(" N", &format!(" {number}")).replace(":PORT", &format!(":{number}"))
            }
            None => instead.to_owned(),
        }
    }

    fn no_such_verb(&self, typed: &str) -> String {
        let verbs = || self.all.get_subcommands().filter(|verb| !verb.is_hide_set()).map(Command::get_name);
        let other = VERBS.iter().find(|(names, _)| names.contains(&typed)).map(|(_, instead)| *instead);
        let lead = format!("'{}' is no verb of headway", echoed(typed));
        match other
            .map(str::to_owned)
            .or_else(|| nearest(typed, verbs()).map(|near| format!("headway {near}")))
        {
            Some(instead) => format!("{lead}; did you mean {instead}? headway -h lists the verbs"),
            None => format!("{lead}; write one of {}", verbs().collect::<Vec<_>>().join(", ")),
        }
    }
}

/// The long flag of a verb that is nearest to what was typed, if it is near enough to be a slip; an alias stands for its flag.
fn near_flag(verb: &Command, typed: &str) -> Option<String> {
    let typed = typed.strip_prefix("--")?;
    let names = |arg: &Arg| -> Vec<String> {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long().into_iter().chain(aliases).map(str::to_owned).collect()
    };
    let all: Vec<(String, String)> = verb
        .get_arguments()
        .filter_map(|arg| Some((arg.get_long()?.to_owned(), names(arg))))
        .flat_map(|(long, names)| names.into_iter().map(move |name| (name, long.clone())))
        .collect();
    let near = nearest(typed, all.iter().map(|(name, _)| name.as_str()))?;
    all.iter().find(|(name, _)| name == near).map(|(_, long)| format!("--{long}"))
}

/// Whether a verb has a flag of that name.
pub(crate) fn has_flag(verb: &Command, name: &str) -> bool {
    verb.get_arguments().any(|arg| match (name.strip_prefix("--"), name.strip_prefix('-')) {
        (Some(long), _) => {
            arg.get_long() == Some(long) || arg.get_all_aliases().is_some_and(|all| all.contains(&long))
        }
        (None, Some(short)) => {
            let short = short.chars().next();
            arg.get_short() == short
                || short.is_some_and(|s| arg.get_all_short_aliases().is_some_and(|all| all.contains(&s)))
        }
        (None, None) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::words::FLAGS;
    use super::*;

    #[test]
    fn what_is_offered_in_place_of_other_words_is_there() {
        let all = Args::command();
        for (verbs, names, instead) in FLAGS {
            for verb in *verbs {
                let command = all.find_subcommand(verb).unwrap_or_else(|| panic!("no verb {verb}"));
                for name in *names {
                    assert!(!has_flag(command, name), "{verb} has {name} itself");
                }
                let offered = instead.split([' ', ':', ',', ';']).filter(|word| word.starts_with('-'));
                let mut any = false;
                for flag in offered {
                    assert!(has_flag(command, flag), "{verb} has no {flag}: {instead}");
                    any = true;
                }
                assert!(any || instead.contains("URL"), "{instead}");
            }
        }
        for (names, instead) in VERBS {
            let verb = instead.split(' ').nth(1).unwrap_or_default();
            assert!(verb.starts_with('-') || args::is_verb(verb), "{instead}");
            assert!(names.iter().all(|name| !args::is_verb(name)), "{names:?}");
        }
    }
}
