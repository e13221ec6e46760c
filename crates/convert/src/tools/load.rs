//! What the options of a command amount to as a load: flags of `headway run`, and what is to be said of them.

use super::value::time;
use super::{Part, Style, Takes, Tool};
use anyhow::{Context as _, Result, anyhow, bail};
use headway_base::units::{self, parse_count, parse_rate};
use headway_base::{Nanos, Rate};

/// The parts of the load that a command names, in its own terms.
#[derive(Default)]
pub(super) struct Asked {
    users: Option<u64>,
    rate: Option<Total>,
    rate_each: Option<f64>,
    requests: Option<u64>,
    duration: Option<String>,
    warmup: Option<String>,
    streams: Option<u64>,
    http1: bool,
    http2: bool,
    /// As phases of a scenario.
    stages: Vec<String>,
    spawn: Option<f64>,
    cap: Option<u64>,
    rate_of_requests: bool,
    /// The base URL.
    pub(super) base: Option<String>,
    /// A file of targets.
    pub(super) targets: Option<String>,
}

/// A rate in total, as typed and as a number; no number where it stands for "as fast as possible".
struct Total {
    text: String,
    per_second: Option<f64>,
}

/// The most requests of ab where it has a time limit.
const AB_MOST: u64 = 50_000;

impl Asked {
    /// Takes up a part.
    ///
    /// # Errors
    /// What is no number, time or rate.
    pub(super) fn take(&mut self, tool: &Tool, part: Part, text: &str) -> Result<()> {
        let count = || parse_count(text).map_err(anyhow::Error::from);
        match part {
            Part::Users => self.users = Some(count()?),
            Part::Cap => self.cap = Some(count()?),
            Part::Streams => self.streams = Some(count()?),
            Part::Http1 => self.http1 = true,
            Part::Http2 => self.http2 = true,
            Part::Stages => {
                for stage in text.split(',') {
                    self.stages.push(phase(stage)?);
                }
            }
            Part::Requests => self.requests = Some(count()?),
            Part::Rate => self.rate = Some(total(text)?),
            Part::RateEach => self.rate_each = Some(units::parse_number(text)?),
            Part::Spawn => self.spawn = Some(units::parse_number(text)?),
            Part::Duration => {
                self.duration = Some(time(text)?);
                // As its source has it: -n counts where it comes behind -t.
                if tool.name == "ab" {
                    self.requests = Some(AB_MOST);
                }
            }
            Part::Warmup => self.warmup = Some(time(text)?),
            Part::RateOfRequests => self.rate_of_requests = true,
            Part::Base => self.base = Some(text.to_owned()),
            Part::Targets => self.targets = Some(text.to_owned()),
        }
        Ok(())
    }

    /// The flags of the load, and remarks.
    ///
    /// # Errors
    /// What the tool needs and lacks, or what has no end.
    pub(super) fn flags(mut self, tool: &Tool) -> Result<(Vec<String>, Vec<String>)> {
        let mut notes = Vec::new();
        self.defaults(tool, &mut notes)?;
        if matches!(tool.takes, Takes::Script(_)) {
            return Ok((self.of_script(&mut notes), notes));
        }
        if tool.name == "curl" {
            notes.push(
                "curl sends once: the load is yours to choose (-R 50 -d 10s unless you say otherwise)"
                    .to_owned(),
            );
            return Ok((Vec::new(), notes));
        }
        if self.http1 {
            self.streams = None;
        }
        if tool.name == "oha" && !self.http2 && self.streams.take().is_some_and(|streams| streams > 1) {
            notes.push("-p of oha does nothing without --http2, and is left out".to_owned());
        }
        let users = self.users.unwrap_or(1).saturating_mul(self.streams.unwrap_or(1));
        let mut flags = Vec::new();
        let mut flag = |name: &str, value: String| flags.extend([name.to_owned(), value]);
        match self.rate(tool, &mut notes)? {
            Some(rate) => {
                flag("-R", rate);
                flag("--arrivals", "constant".to_owned());
                // With streams the cap stands beside them, below.
                let cap = self.cap.or(self.users.map(|_| users)).filter(|_| self.streams.is_none());
                if let Some(cap) = cap {
                    flag("-c", cap.to_string());
                    notes.push(format!(
                        "-c {cap} caps the connections; unlike in {}, requests are due whether or not one is free, and their wait counts",
                        tool.name
                    ));
                }
                notes.push(format!(
                    "--arrivals constant: {} paces requests evenly; without it they arrive like independent users (Poisson)",
                    tool.name
                ));
            }
            None => {
                flag("-u", users.to_string());
                notes.push(format!(
                    "{} without a rate is a closed workload: each of {users} users waits for its response before the next request, and a slow \
                     target gets fewer requests. -u {users} is that; -R RATE in its place is a load that does not depend on responses",
                    tool.name
                ));
            }
        }
        if let Some(streams) = self.streams {
            flag("-c", self.users.unwrap_or(1).to_string());
            flag("--streams", streams.to_string());
            flag("--pool", "shared".to_owned());
        }
        if let Some(requests) = self.requests {
            flag("-n", requests.to_string());
        }
        if let Some(warmup) = self.warmup {
            flag("--warmup", warmup);
        }
        if let Some(duration) = self.duration {
            flag("-d", duration);
        }
        if self.http2 {
            flags.push("--http2".to_owned());
        }
        if tool.name == "h2load" {
            flags.push(if self.http1 { "--http1.1" } else { "--http2" }.to_owned());
        }
        Ok((flags, notes))
    }

    /// Puts in what the tool assumes.
    fn defaults(&mut self, tool: &Tool, notes: &mut Vec<String>) -> Result<()> {
        let endless = |text: &str| units::parse_time(text).is_ok_and(|time| time == Nanos::ZERO);
        let zero = self.duration.as_deref().is_some_and(endless);
        match tool.name {
            "wrk" | "wrk2" => {
                self.users.get_or_insert(10);
                self.duration.get_or_insert_with(|| "10s".to_owned());
                if tool.name == "wrk2" && self.rate.is_none() {
                    bail!("wrk2 needs -R RATE");
                }
            }
            "hey" | "oha" => {
                let users = *self.users.get_or_insert(50);
                if zero {
                    self.duration = None;
                }
                // Of hey -z wins over -n; oha refuses both.
                match (&self.duration, tool.name) {
                    (Some(_), "hey") => self.requests = None,
                    (Some(_), _) if self.requests.is_some() => bail!("oha takes -n or -z, not both"),
                    (Some(_), _) => {}
                    (None, _) => {
                        let n = *self.requests.get_or_insert(200);
                        if tool.name == "hey" && users > 0 && !n.is_multiple_of(users) {
                            notes.push(format!(
                                "hey gives each of {users} workers the same number of requests: {} in all; -n {n} here is {n}",
                                n / users * users
                            ));
                        }
                    }
                }
            }
            "ab" => {
                self.users.get_or_insert(1);
                self.requests.get_or_insert(1);
                if self.duration.is_some() && self.requests == Some(AB_MOST) {
                    notes.push(
                        "ab -t stands for -n 50000 too, which ends the run earlier where the target is fast"
                            .to_owned(),
                    );
                }
            }
            "vegeta" => {
                if zero || self.duration.is_none() {
                    bail!(
                        "vegeta attack without -duration goes on until it is stopped, and a run here has an end: add -duration=10s"
                    );
                }
                let rate =
                    self.rate.get_or_insert_with(|| Total { text: "50".to_owned(), per_second: Some(50.0) });
                if rate.per_second.is_some()
                    && let Some(workers) = self.users.take()
                {
                    self.cap = Some(self.cap.map_or(workers, |cap| cap.min(workers)));
                }
                if self.rate.as_ref().is_some_and(|rate| rate.per_second.is_none()) && self.users.is_none() {
                    bail!("-rate=0 of vegeta needs -max-workers");
                }
            }
            "fortio" => {
                self.users.get_or_insert(4);
                if let Some(0) = self.requests {
                    self.requests = None;
                }
                if self.rate_of_requests {
                    let seconds = self.duration.as_deref().and_then(|text| units::parse_time(text).ok());
                    let (Some(n), Some(seconds)) = (self.requests, seconds.filter(|s| *s > Nanos::ZERO))
                    else {
                        bail!("-calc-qps of fortio needs -n and -t");
                    };
                    let rate = n as f64 / seconds.as_secs_f64();
                    self.rate = Some(Total { text: rate.to_string(), per_second: Some(rate) });
                }
                self.rate.get_or_insert_with(|| Total { text: "8".to_owned(), per_second: Some(8.0) });
                match self.requests {
                    Some(_) => self.duration = None,
                    None if zero => bail!(
                        "fortio -t 0 goes on until it is stopped, and a run here has an end: give -t 10s"
                    ),
                    None => {
                        self.duration.get_or_insert_with(|| "5s".to_owned());
                    }
                }
            }
            "h2load" => {
                self.users.get_or_insert(1);
                if self.warmup.is_some() && self.duration.is_none() {
                    bail!("h2load --warm-up-time needs -D");
                }
                match self.duration {
                    Some(_) => self.requests = None,
                    None => {
                        self.requests.get_or_insert(1);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The rate in total.
    fn rate(&self, tool: &Tool, notes: &mut Vec<String>) -> Result<Option<String>> {
        let users = self.users.unwrap_or(1);
        match (&self.rate, self.rate_each) {
            (Some(Total { per_second: Some(_), text }), _) => Ok(Some(text.clone())),
            (_, Some(each)) if each > 0.0 => {
                let total = Rate(each * users as f64);
                let dashes = if tool.style == Style::Go { "-q" } else { "--rps" };
                notes.push(format!(
                    "{dashes} {each} of {} is for each of {users} connections: {} in total, which is what -R says",
                    tool.name, total
                ));
                Ok(Some(total.0.to_string()))
            }
            _ => Ok(None),
        }
    }

    /// The flags that apply to the scenario which takes the place of a script.
    fn of_script(self, notes: &mut Vec<String>) -> Vec<String> {
        let mut flags = Vec::new();
        let mut flag = |name: &str, value: String| flags.extend([name.to_owned(), value]);
        if let Some(Total { text, per_second: Some(_) }) = &self.rate {
            flag("-R", text.clone());
            notes.push("--rps of k6 bounds the requests of users who wait for their responses; -R is the rate of sessions that arrive, whatever the responses".to_owned());
        } else if let Some(users) = self.users.filter(|_| self.stages.is_empty()) {
            flag("-u", users.to_string());
            notes.push("-u is the load: users who go through the steps again and again, each waiting for its responses (closed: { count: ... } in the scenario)".to_owned());
        }
        if !self.stages.is_empty() {
            flag("--phases", self.stages.join(", "));
            notes.push(format!(
                "--phases are the stages: of users who go through the steps again and again, so write closed: {{ count: {} }} in the scenario",
                self.users.unwrap_or(1)
            ));
        }
        if let Some(n) = self.requests {
            flag("-n", n.to_string());
            notes.push("-n counts requests, and iterations of k6 are rounds of the script (work: { requests: ... } in the scenario)".to_owned());
        }
        let ramp = match (self.users, self.spawn) {
            (Some(users), Some(spawn)) if spawn > 0.0 => Nanos::from_secs_f64(users as f64 / spawn),
            _ => Nanos::ZERO,
        };
        let length = self.duration.as_deref().and_then(|text| units::parse_time(text).ok());
        if ramp > Nanos::ZERO {
            flag("--ramp", ramp.to_string());
            notes.push("requests of the --ramp are sent and not counted".to_owned());
        }
        match (self.duration, length) {
            (Some(_), Some(length)) if ramp > Nanos::ZERO && length > ramp => {
                flag("-d", (length - ramp).to_string());
                notes.push("-d is the time after the ramp; Locust's -t is all of it".to_owned());
            }
            (Some(text), _) => flag("-d", text),
            (None, _) => {}
        }
        flags
    }
}

/// A stage of k6 as a phase: the number of users goes from what it was to that of the stage over its length.
fn phase(stage: &str) -> Result<String> {
    let wrong = || anyhow!("'{stage}' is no stage: a length and a number of users such as 30s:10");
    let (length, users) = stage.trim().split_once(':').ok_or_else(wrong)?;
    let users = parse_count(users)?;
    if units::parse_time(length)? == Nanos::ZERO {
        bail!("'{stage}' is a jump, which phases do not have: a stage of 1s is nearly that");
    }
    Ok(format!("{{ ramp: {length}, to: {users} }}"))
}

/// A rate; zero is as fast as possible in vegeta, fortio and oha.
fn total(text: &str) -> Result<Total> {
    let number = text.split('/').next().unwrap_or(text).trim().parse::<f64>();
    if number == Ok(0.0) || text == "infinity" {
        return Ok(Total { text: text.to_owned(), per_second: None });
    }
    let rate = parse_rate(text).context("the rate")?;
    Ok(Total { text: text.to_owned(), per_second: Some(rate.0) })
}
