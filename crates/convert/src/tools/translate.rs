//! Another tool's command as one of `headway run`.
//!
//! What the options mean is in the rows of the tools; here they are put together. Deliberately absent: reading scripts and
//! plans (k6, JMeter, Gatling, Locust), which only a person can turn into a scenario.

use super::load::Asked;
use super::said::KEPT;
use super::{ALL, Found, Meaning, Part, Style, Takes, Tool, Value, Word, find};
use crate::{quoted, targets, words};
use anyhow::{Context as _, Result, bail};

/// The command of Headway that says the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translated {
    /// Its words, beginning with `headway`.
    pub words: Vec<String>,
    /// What means something else here, or was left out; a line each.
    pub notes: Vec<String>,
    /// Why the command cannot be run as it is, if it cannot.
    pub unready: Option<String>,
}

impl Translated {
    /// The command as a shell takes it.
    pub fn line(&self) -> String {
        self.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// The scenario that is to be written where a script holds the requests.
const SCENARIO: &str = "scenario.yaml";

/// Translates a command, given as one text or as words.
///
/// # Errors
/// A tool or an option that is unknown, or one that has no equivalent; in words for the user.
pub fn command(given: &[String]) -> Result<Translated> {
    let (piped, given) = piped(given)?;
    let Some((program, arguments)) = given.split_first() else {
        bail!(
            "there is no command: give one, for example headway translate -- wrk -c50 -d10s http://127.0.0.1:8080/"
        );
    };
    let program = String::from_utf8_lossy(program).into_owned();
    let Some(mut tool) = Tool::named(&program) else {
        let names: Vec<&str> = ALL.iter().map(|tool| tool.name).collect();
        bail!("{} is no tool whose options are known here: {}", quoted(&program), names.join(", "));
    };
    // The program of wrk2 is called wrk; only it has a rate.
    let rated = |word: &Vec<u8>| word.starts_with(b"-R") || word.starts_with(b"--rate");
    if tool.name == "wrk" && arguments.iter().any(rated) {
        tool = &super::wrk::WRK2;
    }
    let arguments: Vec<Vec<u8>> = match tool.verb {
        None => arguments.to_vec(),
        Some(verb) => match arguments.iter().position(|word| word == verb.as_bytes()) {
            Some(at) => arguments[..at].iter().chain(&arguments[at + 1..]).cloned().collect(),
            None => bail!("{program} {}: only `{program} {verb}` sends load", shown(arguments.first())),
        },
    };
    translated(tool, &arguments, piped)
}

fn shown(word: Option<&Vec<u8>>) -> String {
    word.map_or_else(String::new, |word| String::from_utf8_lossy(word).into_owned())
}

/// What is echoed into the command, and the command: `echo "GET http://host/" | vegeta attack ...`.
fn piped(given: &[String]) -> Result<(Option<String>, Vec<Vec<u8>>)> {
    let [command] = given else {
        return Ok((None, given.iter().map(|word| word.clone().into_bytes()).collect()));
    };
    let mut parts = command.split('|');
    if let (Some(echo), Some(next)) = (parts.next(), parts.next())
        && echo.trim_start().starts_with("echo ")
    {
        let echoed = words::split(echo)?;
        let text = echoed[1..].iter().map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>().join(" ");
        return Ok((Some(text), words::split(next)?));
    }
    Ok((None, words::split(command)?))
}

/// The command in the making.
struct Making {
    tool: &'static Tool,
    asked: Asked,
    flags: Vec<String>,
    notes: Vec<String>,
    others: Vec<String>,
    typed: bool,
    body: bool,
    method: Option<String>,
    /// Whether ab was told to keep its connections.
    kept: bool,
}

fn translated(tool: &'static Tool, arguments: &[Vec<u8>], piped: Option<String>) -> Result<Translated> {
    let mut making = Making {
        tool,
        asked: Asked::default(),
        flags: Vec::new(),
        notes: Vec::new(),
        others: Vec::new(),
        typed: false,
        body: false,
        method: None,
        kept: false,
    };
    let mut behind = false;
    for word in find(tool, arguments)? {
        match word {
            Word::Option(found) => {
                behind |= tool.style == Style::Go && !making.others.is_empty();
                making.option(&found).with_context(|| format!("{} of {}", found.name, tool.name))?;
            }
            Word::Other(other) => making.others.push(text(other)?),
        }
    }
    if behind {
        making.notes.push(format!(
            "{} itself passes over options behind its URL; here they are translated",
            tool.name
        ));
    }
    making.finish(piped)
}

impl Making {
    fn option(&mut self, found: &Found<'_>) -> Result<()> {
        let value = found.value.map(text).transpose()?;
        let switch = !found.row.takes_value();
        let off = switch && matches!(value.as_deref(), Some("false" | "0" | "f" | "F" | "False" | "FALSE"));
        self.kept |= found.row.meaning == KEPT;
        match found.row.here() {
            Meaning::Flag(flag, Value::IfFalse(value)) => {
                if off {
                    self.flag(flag, Some(value.to_owned()));
                }
            }
            _ if off => {}
            Meaning::Flag(flag, value_of) => {
                let value = value.unwrap_or_default();
                self.special(flag, value_of, found)?;
                let value = value_of.of(&value)?;
                if flag.ends_with("timeout") && value.as_deref().is_some_and(is_no_time) {
                    bail!("0 stands for no limit, and here there always is one: give a time above zero");
                }
                self.flag(flag, value);
            }
            Meaning::Load(part) => {
                let value = value.unwrap_or_default();
                if part == Part::Base && matches!(self.tool.takes, Takes::Url) {
                    self.others.push(value);
                } else {
                    self.asked.take(self.tool, part, &value)?;
                }
            }
            Meaning::Nothing(why) => {
                let why = why.strip_prefix("leave it out: ").unwrap_or(why);
                self.notes.push(format!("{} of {} is left out: {why}", found.name, self.tool.name));
            }
            Meaning::Cannot(why) => bail!("{}: {why}", found.row.about),
            Meaning::Curl(_) => {}
        }
        Ok(())
    }

    /// What an option says beside its flag.
    fn special(&mut self, flag: &str, value: Value, found: &Found<'_>) -> Result<()> {
        let tool = self.tool.name;
        match flag {
            "-m" => self.method = Some(String::new()),
            "--data" | "--body-file" if self.body => {
                bail!("a second body: headway from-curl joins those of curl, and other tools have one");
            }
            "--data" | "--body-file" => {
                self.body = true;
                if tool == "ab" && found.row.short == "u" {
                    self.flag("-m", Some("PUT".to_owned()));
                    self.method = Some("PUT".to_owned());
                }
                if tool == "curl" && value == Value::Same && found.value.is_some_and(|v| v.starts_with(b"@"))
                {
                    self.notes.push(
                        "curl -d takes the line breaks out of a file; here it is sent as it is".to_owned(),
                    );
                }
            }
            "-H" => {
                let is_type = |text: &[u8]| text.to_ascii_lowercase().starts_with(b"content-type:");
                self.typed |= value == Value::Header("Content-Type") || found.value.is_some_and(is_type);
            }
            _ => {}
        }
        Ok(())
    }

    fn flag(&mut self, flag: &str, value: Option<String>) {
        match value {
            // A value that looks like a flag stands behind an equals sign.
            Some(value) if value.starts_with('-') && value.len() > 1 => {
                self.flags.push(format!("{flag}={value}"))
            }
            Some(value) => self.flags.extend([flag.to_owned(), value]),
            None => self.flags.push(flag.to_owned()),
        }
    }

    fn finish(mut self, piped: Option<String>) -> Result<Translated> {
        let tool = self.tool;
        self.body_as_the_tool_sends_it();
        if tool.name == "ab" && !self.kept {
            self.flag("-H", Some("Connection: close".to_owned()));
            self.notes
                .push("-H 'Connection: close': ab without -k opens a connection for each request".to_owned());
        }
        let asked = std::mem::take(&mut self.asked);
        let (base, file) = (asked.base.clone(), asked.targets.clone());
        let (load, notes) = asked.flags(tool)?;
        let mut unready = None;
        let target = match tool.takes {
            Takes::Url => match self.others.as_slice() {
                [url] => url.clone(),
                [] => bail!("there is no URL in the command of {}", tool.name),
                _ if tool.name == "curl" => {
                    bail!("several URLs: headway from-curl 'curl ...' makes a scenario of them")
                }
                _ => bail!("several URLs: a file of lines 'GET http://...' is a target (headway run FILE)"),
            },
            Takes::Targets => self.targets(piped, file)?,
            Takes::Script(what) => {
                let named = self.others.first().map_or_else(String::new, |name| format!(" {name}"));
                let way = match tool.name {
                    "jmeter" => {
                        format!("headway from-jmx makes a scenario of it (from-jmx plan.jmx -o {SCENARIO})")
                    }
                    _ => format!(
                        "only a person can translate it: write the steps into {SCENARIO} (docs/scenarios.md); headway from-har and from-curl make scenarios of recordings and commands"
                    ),
                };
                unready = Some(format!("{what}{named} holds the requests, and {way}"));
                if let Some(base) = base {
                    self.flags.extend(["--set".to_owned(), format!("target={base}")]);
                }
                SCENARIO.to_owned()
            }
        };
        let mut words = vec!["headway".to_owned(), "run".to_owned(), target];
        words.extend(load);
        words.append(&mut self.flags);
        let mut all = Vec::from_iter(unready.clone());
        all.extend(notes);
        all.append(&mut self.notes);
        Ok(Translated { words, notes: all, unready })
    }

    /// Method and media type of a body that the tool would send, where Headway would send others.
    fn body_as_the_tool_sends_it(&mut self) {
        if !self.body {
            return;
        }
        let default = match self.tool.name {
            "hey" => Some("text/html"),
            "ab" => Some("text/plain"),
            "curl" | "h2load" => Some("application/x-www-form-urlencoded"),
            "fortio" => Some("application/octet-stream"),
            _ => None,
        };
        // h2load sends no Content-Type of its own.
        match default.filter(|_| !self.typed && self.tool.name != "h2load") {
            Some(kind) => self.flag("-H", Some(format!("Content-Type: {kind}"))),
            None if !self.typed => self.notes.push(format!(
                "{} sends a body without Content-Type; Headway says text/plain or application/octet-stream unless -H says another",
                self.tool.name
            )),
            None => {}
        }
        // Those send a body with GET unless they are told otherwise.
        if self.method.is_none() && matches!(self.tool.name, "hey" | "oha") {
            self.flag("-m", Some("GET".to_owned()));
            self.notes.push(format!(
                "-m GET: {} sends GET, with a body too, unless -m says another",
                self.tool.name
            ));
        }
    }

    /// The target of vegeta.
    fn targets(&mut self, piped: Option<String>, file: Option<String>) -> Result<String> {
        if let Some(other) = self.others.first() {
            bail!(
                "{} takes no {}: its targets come on standard input, or by -targets=FILE",
                self.tool.name,
                quoted(other)
            );
        }
        let url = piped.as_deref().and_then(targets::single);
        let by_file = url.is_none();
        if by_file && self.body {
            bail!("-body of vegeta: write a line @FILE below the target that has that body");
        }
        Ok(match (url, file) {
            (Some(url), _) => url,
            (None, Some(file)) if file != "stdin" => file,
            (None, _) => {
                self.notes.push("the targets come on standard input, as vegeta reads them: echo 'GET http://host/' | headway run - ...".to_owned());
                "-".to_owned()
            }
        })
    }
}

fn is_no_time(text: &str) -> bool {
    headway_base::units::parse_time(text).is_ok_and(|time| time.0 == 0)
}

fn text(bytes: &[u8]) -> Result<String> {
    String::from_utf8(bytes.to_vec()).context("its value is no UTF-8: put a body of bytes into a file")
}
