//! What `headway run` says of a flag that it does not have, or whose value it cannot read, where other tools have it: their
//! meanings, and what says the same here.

use super::{ALL, Meaning, Part, Row, Style, Value};
use crate::quoted;

/// Flags by their first names, for those that have several.
const SAME: &[(&str, &str)] = &[
    ("--connections", "-c"),
    ("--data", "--body"),
    ("--duration", "-d"),
    ("--header", "-H"),
    ("--insecure", "-k"),
    ("--method", "-m"),
    ("--qps", "-R"),
    ("--rate", "-R"),
    ("--request", "-m"),
    ("--requests", "-n"),
    ("--rps", "-R"),
    ("--users", "-u"),
    ("--vus", "-u"),
    ("-X", "-m"),
    ("-b", "--body"),
    ("-q", "-R"),
    ("-z", "-d"),
];

fn first_name(flag: &str) -> &str {
    SAME.iter().find(|(name, _)| *name == flag).map_or(flag, |(_, first)| first)
}

/// Says what a flag is in the tools that have it; nothing if none has. `flag` is as the command line's parser names it,
/// `words` are those of the command line, without secrets.
pub fn unknown(words: &[String], flag: &str) -> Option<String> {
    let flag = flag.split('=').next().unwrap_or(flag);
    let (flag, value) = match whole(words) {
        Some((flag, value)) => (flag, value),
        None => (flag.to_owned(), behind(words, flag)),
    };
    let lines = lines(&flag, value.as_deref(), |_| true)?;
    Some(format!(
        "{flag} is no flag of headway run. It is one of other tools:\n{lines}A whole command: headway translate -- COMMAND"
    ))
}

/// Says what a flag whose value cannot be read is in other tools; nothing if it is the same in all that have it. `cause` says
/// what is wrong with the value.
pub fn misread(words: &[String], flag: &str, value: &str, cause: &str) -> Option<String> {
    if let Some((flag, value)) = whole(words) {
        let lines = lines(&flag, value.as_deref(), |_| true)?;
        return Some(format!(
            "{flag} is no flag of headway run, whose long flags have two dashes. It is one of other tools:\n{lines}A whole command: headway translate -- COMMAND"
        ));
    }
    let typed = typed_before(words, value).unwrap_or_else(|| flag.to_owned());
    // A number without a unit is a time or a rate that was meant as such.
    if value.trim().parse::<f64>().is_ok() {
        return None;
    }
    let other = |here: &Meaning| match here {
        Meaning::Flag(name, _) => first_name(name) != first_name(&typed),
        Meaning::Load(part) => part_flag(*part) != first_name(&typed),
        Meaning::Nothing(_) | Meaning::Cannot(_) | Meaning::Curl(_) => false,
    };
    let lines = lines(&typed, Some(value), other)?;
    Some(format!("{typed}: {cause}\n{typed} is something else in other tools:\n{}", lines.trim_end()))
}

/// Says what to write where the first word is no verb of headway, but a target, a flag before one, or another tool; nothing for anything
/// else. `words` are those behind the program's name, without secrets.
pub fn no_verb(words: &[String]) -> Option<String> {
    let first = words.first()?;
    let all = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    if let Some(tool) = ALL.iter().find(|tool| tool.name == *first || tool.verb == Some(first)) {
        let name = if tool.name == *first { String::new() } else { format!("{} ", tool.name) };
        return Some(format!(
            "{first} is no verb of headway. It is one of {}; this prints what says the same here:\n  headway translate -- {name}{all}",
            tool.name
        ));
    }
    let is_target = |word: &String| {
        let local = word.split(':').nth(1).is_some_and(|port| port.starts_with(|c: char| c.is_ascii_digit()));
        word.contains("://") || word.ends_with(".yaml") || word.ends_with(".yml") || local
    };
    let any = words.iter().any(is_target) && (is_target(first) || first.starts_with('-'));
    any.then(|| format!("a verb is missing before {first}. To send load:\n  headway run {all}"))
}

/// Says that a flag was given twice, by which names, and what these are in other tools; nothing where each is the same everywhere.
/// `flag` is as the command line's parser names it.
pub fn twice(words: &[String], flag: &str) -> Option<String> {
    let same = |word: &str| first_name(word) == first_name(flag);
    let typed: Vec<&String> =
        words.iter().filter(|word| same(word.split('=').next().unwrap_or(word))).collect();
    let (first, last) = (typed.first()?, typed.last()?);
    let name = |word: &str| word.split('=').next().unwrap_or(word).to_owned();
    let (first, last) = (name(first), name(last));
    if first != last {
        return Some(format!("{first} and {last} are one flag, {flag}, and it is given twice"));
    }
    let value = words.iter().rposition(|word| *word == last).and_then(|at| words.get(at + 1));
    let other = |here: &Meaning| match here {
        Meaning::Flag(name, _) => !same(name),
        Meaning::Load(part) => !same(part_flag(*part)),
        Meaning::Nothing(_) | Meaning::Cannot(_) | Meaning::Curl(_) => false,
    };
    let lines = lines(&last, value.map(String::as_str), other)?;
    Some(format!(
        "{last} is {flag} here, and it is given twice\n{last} is something else in other tools:\n{}",
        lines.trim_end()
    ))
}

/// What to do with a file that is no scenario but another tool's script or plan; nothing for other names.
pub fn script(path: &str) -> Option<String> {
    let (tool, what) = match path.rsplit_once('.')?.1 {
        "js" | "ts" => ("k6", "script"),
        "jmx" => ("JMeter", "test plan"),
        "lua" => ("wrk", "script"),
        "py" => ("Locust", "locustfile"),
        "scala" | "kt" | "java" => ("Gatling", "simulation"),
        _ => return None,
    };
    let way = match tool {
        "JMeter" => format!("headway from-jmx {} makes a scenario of it", crate::quoted(path)),
        _ => "What it sends is written here as a scenario (docs/scenarios.md); of a recording of it, headway from-har makes one".to_owned(),
    };
    Some(format!("{path} is a {what} of {tool}. {way}"))
}

/// What a text is that was given as a scenario, and what to do with it, where it is another tool's script or plan or another kind of
/// document; nothing where it may be a scenario. Only its beginning is looked at.
pub fn held(text: &str) -> Option<String> {
    const SCENARIO: &str = "what it sends is written here as a scenario (docs/scenarios.md)";
    let is_comment = |line: &&str| {
        let line = line.trim_start();
        line.is_empty() || ["//", "/*", "*", "#", "--"].iter().any(|mark| line.starts_with(mark))
    };
    let first = text.trim_start_matches('\u{feff}').lines().find(|line| !is_comment(line))?.trim();
    let begins = |words: &[&str]| words.iter().any(|word| first.starts_with(word));
    if begins(&[
        "import ",
        "export ",
        "const ",
        "let ",
        "var ",
        "function ",
        "'use strict'",
        "\"use strict\"",
    ]) && !first.contains(" as python")
        && (first.ends_with(';') || first.contains(['\'', '"', '(', '{', '=']))
    {
        return Some(format!("it is a script in JavaScript, as of k6; {SCENARIO}"));
    }
    if begins(&["import ", "from "]) && (text.contains("locust") || first.contains(" import ")) {
        return Some(format!("it is a script in Python, as of Locust; {SCENARIO}"));
    }
    if begins(&["wrk.", "request =", "local "]) {
        return Some(format!("it is a script in Lua, as of wrk; {SCENARIO}"));
    }
    if begins(&["<?xml", "<jmeterTestPlan"]) && text.contains("<jmeterTestPlan") {
        return Some("it is a test plan of JMeter; headway from-jmx FILE makes a scenario of it".to_owned());
    }
    if begins(&["<"]) {
        return Some("it is XML or HTML, and a scenario is YAML (docs/scenarios.md)".to_owned());
    }
    if begins(&["openapi:", "swagger:"]) || first.starts_with('{') && text.contains("\"openapi\"") {
        return Some(
            "it is an OpenAPI document; headway from-openapi FILE makes a scenario of it".to_owned(),
        );
    }
    if first.starts_with('{') && text.contains("\"log\"") && text.contains("\"entries\"") {
        return Some(
            "it is a recording of a browser (HAR); headway from-har FILE makes a scenario of it".to_owned(),
        );
    }
    None
}

/// The first word with one dash and several letters which is an option of a tool that writes them so (`-rate=50`), and its
/// value.
fn whole(words: &[String]) -> Option<(String, Option<String>)> {
    words.iter().enumerate().find_map(|(i, word)| {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let long = name.len() > 2 && name.starts_with('-') && !name.starts_with("--");
        let known = ALL
            .iter()
            .any(|tool| matches!(tool.style, Style::Go | Style::Names) && tool.option(name).is_some());
        (long && known).then(|| (name.to_owned(), value.or_else(|| words.get(i + 1).cloned())))
    })
}

/// The value behind a flag: in the same word or the next one.
fn behind(words: &[String], flag: &str) -> Option<String> {
    let (at, word) = words.iter().enumerate().find(|(_, word)| word.starts_with(flag))?;
    match &word[flag.len()..] {
        "" => words.get(at + 1).filter(|next| !next.starts_with('-')).cloned(),
        rest => Some(rest.strip_prefix('=').unwrap_or(rest).to_owned()),
    }
}

/// The flag as typed that has this value.
fn typed_before(words: &[String], value: &str) -> Option<String> {
    let (at, word) = words.iter().enumerate().skip(1).find(|(_, word)| word.ends_with(value))?;
    let lead = word[..word.len() - value.len()].trim_end_matches('=');
    Some(if lead.is_empty() { words[at - 1].clone() } else { lead.to_owned() })
}

/// A line for each meaning: the tools, what it is there, and what says it here.
fn lines(flag: &str, value: Option<&str>, wanted: impl Fn(&Meaning) -> bool) -> Option<String> {
    let secret = |row: &Row| matches!(row.here(), Meaning::Flag(_, Value::Secret | Value::Bearer));
    // What is a password in one of them is shown in the line of none.
    let value = value.filter(|_| !ALL.iter().any(|tool| tool.option(flag).is_some_and(secret)));
    let mut all: Vec<(Vec<&str>, &str, String)> = Vec::new();
    for tool in ALL {
        let Some(row) = tool.option(flag).filter(|row| wanted(&row.here())) else { continue };
        let here = equivalent(row, value);
        match all.iter_mut().find(|(_, about, known)| *about == row.about && *known == here) {
            Some((tools, ..)) => tools.push(tool.name),
            None => all.push((vec![tool.name], row.about, here)),
        }
    }
    let names: Vec<String> = all.iter().map(|(tools, ..)| tools.join(", ")).collect();
    let width = names.iter().map(String::len).max()?;
    let line = |(name, (_, about, here)): (&String, &(Vec<&str>, &str, String))| {
        format!("  {name:width$}  {about}: {here}\n")
    };
    Some(names.iter().zip(&all).map(line).collect())
}

fn part_flag(part: Part) -> &'static str {
    match part {
        Part::Users | Part::Streams => "-u",
        Part::Rate | Part::RateEach | Part::RateOfRequests => "-R",
        Part::Requests => "-n",
        Part::Duration => "-d",
        Part::Warmup => "--warmup",
        Part::Spawn => "--ramp",
        Part::Cap => "-c",
        Part::Http1 => "--http1.1",
        Part::Http2 => "--http2",
        Part::Stages => "--phases",
        Part::Base | Part::Targets => "",
    }
}

/// What says the same here, with the value that was given where it can be that.
fn equivalent(row: &Row, given: Option<&str>) -> String {
    let convert = |value: Value| match given.map(|text| value.of(text)) {
        Some(Ok(Some(text))) => text,
        _ => value.of(row.example).ok().flatten().unwrap_or_default(),
    };
    let load = |part: Part| {
        let number = given.filter(|text| headway_base::units::parse_count(text).is_ok());
        let n = number.unwrap_or("N");
        match part {
            Part::Users | Part::Requests | Part::Cap => format!("{} {n}", part_flag(part)),
            Part::Rate => format!(
                "-R {}",
                given.filter(|text| headway_base::units::parse_rate(text).is_ok()).unwrap_or("RATE")
            ),
            Part::RateEach => {
                "-R RATE, which is in total: that rate times the number of connections".to_owned()
            }
            Part::Duration | Part::Warmup => {
                let time = given.and_then(|text| super::value::time(text).ok());
                format!("{} {}", part_flag(part), time.unwrap_or_else(|| "TIME".to_owned()))
            }
            Part::Streams => {
                format!("--streams {n} --pool shared, with -u N, connections times requests in flight")
            }
            Part::Http1 | Part::Http2 => part_flag(part).to_owned(),
            Part::Stages => "--phases '{ ramp: TIME, to: N }', of closed users of a scenario".to_owned(),
            Part::Spawn => "--ramp TIME, in which all of them begin".to_owned(),
            Part::RateOfRequests => "-R RATE".to_owned(),
            Part::Base => "the URL itself".to_owned(),
            Part::Targets => "headway run FILE".to_owned(),
        }
    };
    match row.here() {
        Meaning::Flag(flag, Value::Switch) => flag.to_owned(),
        Meaning::Flag(flag, Value::Secret) => format!("{flag} NAME:PASSWORD"),
        Meaning::Flag(flag, Value::Bearer) => format!("{flag} 'Authorization: Bearer TOKEN'"),
        Meaning::Flag(flag, value) => format!("{flag} {}", quoted(&convert(value))),
        Meaning::Load(part) => load(part),
        Meaning::Nothing(why) => why.to_owned(),
        Meaning::Cannot(why) => format!("not here: {why}"),
        Meaning::Curl(_) => String::new(),
    }
}

/// Says what to write where the connection cap is all that is given of a load. `words` are those of the command line, without
/// secrets.
pub fn cap_alone(words: &[String], cap: &str) -> String {
    let mut found = false;
    let closed = words.iter().map(|word| {
        let rest = word.strip_prefix("--connections").or_else(|| word.strip_prefix("-c"));
        match rest.filter(|rest| {
            rest.is_empty()
                || rest.starts_with('=')
                || rest.trim_end_matches('k') == cap.trim_end_matches('k')
        }) {
            Some(rest) => {
                found = true;
                format!("-u{rest}")
            }
            None => word.clone(),
        }
    });
    let mut closed = closed.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ");
    if !found {
        closed.push_str(&format!(" -u {cap}"));
    }
    let open = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    format!(
        "-c {cap} is the connection cap, and says nothing of the load. Write one of:\n  {open} -R 200\n      open: 200 requests per second in \
         total, whatever the responses, on at most {cap} connections\n  {closed}\n      closed: {cap} users, each waiting for its response, as -c is \
         in wrk, hey, oha and ab"
    )
}
