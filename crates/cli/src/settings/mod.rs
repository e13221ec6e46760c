//! Arguments resolved and checked: everything a run needs, nothing left to guess.

mod audit;
mod bounds;
mod flags;
mod load;
mod outputs;
mod scenario;
mod sim;
mod study;

pub use audit::AuditSettings;
pub use bounds::{DEFAULT_CONNECT_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_TIMEOUT};
pub use load::{Lengths, Load};
pub use outputs::{Output, Subject, outputs_fit, reports_fit};
pub use scenario::{File, is_named, planned};
pub use sim::{SimCommand, SimSettings, asked, document as simulated_scenario, simulated};
pub use study::StudySettings;

use crate::args::{OutputArgs, RunArgs};
use crate::repeat;
use anyhow::{Context as _, Result, anyhow, bail};
use headway_engine::{Keep, Live, RunSpec, Start};
use headway_stats::Threshold;
use headway_workload::content::Script;
use headway_workload::redact::Redactor;
use headway_workload::target::Endpoint;
use headway_workload::{Limits, Target};
use std::sync::Arc;

/// A seed that nobody chose.
pub fn new_seed() -> u64 {
    headway_base::random::seed_from(
        headway_live::clock::unix_now() as u64 ^ u64::from(std::process::id()) << 48,
    )
}

/// A run, resolved.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// A short name.
    pub name: String,
    /// Where to.
    pub target: Target,
    /// What the steps ask for, and what their answers mean.
    pub script: Arc<Script>,
    /// Labels of the steps.
    pub labels: Vec<String>,
    /// Who comes when.
    pub load: Load,
    /// Bounds of the whole run.
    pub limits: Limits,
    /// Largest body of an answer, bytes.
    pub max_body: u64,
    /// Worker threads; none: one if the target is this machine, else cores - 1.
    pub threads: Option<u32>,
    /// Whether any certificate will do.
    pub insecure: bool,
    /// When to begin; none: at once.
    pub start: Option<Start>,
    /// What is demanded of the numbers.
    pub thresholds: Vec<Threshold>,
    /// What becomes of the results.
    pub output: OutputArgs,
    /// The command line, secrets replaced.
    pub words: Vec<String>,
    /// The scenario file as written, secrets replaced, where the run comes from one: a copy goes into the run folder.
    pub scenario: Option<String>,
    /// The target as it is shown.
    pub shown_target: String,
    /// What hides secrets in all that is shown and written.
    pub redactor: Redactor,
    /// The scenario behind it, for `--print-scenario`.
    pub file: File,
}

impl RunSettings {
    /// Resolves what `headway run` was given.
    ///
    /// # Errors
    /// Whatever the user can mend, in words.
    pub fn resolve(args: &RunArgs, words: &[String]) -> Result<RunSettings> {
        let target = match is_named(&args.target) {
            true => None,
            false => Some(Target::parse(&args.target)?),
        };
        let mut file = scenario::asked(args, target.as_ref())?;
        let (mut load, mut scenario) = Load::resolve(&mut file, &args.load)?;
        let Some(target) = target.or(scenario.target.take()) else {
            bail!(
                "{}: a run needs `target: http://host:port` (only `headway sim` goes without)",
                args.target
            );
        };
        let limits = bounds::live(&scenario.settings, &mut load)?;
        let max_body = scenario.settings.max_body.unwrap_or(DEFAULT_MAX_BODY);
        let thresholds = scenario::demands(&scenario)?;
        let script = scenario.script.with_seed(load.plan.seed).with_max_body(max_body);
        let settings = RunSettings {
            name: if file.is_made() { target.short_name() } else { scenario.name },
            threads: threads(args.threads, limits.connections)?,
            thresholds,
            labels: scenario.labels,
            script: Arc::new(script),
            load,
            limits,
            max_body,
            insecure: scenario.settings.insecure.unwrap_or(false),
            start: args.start_at.as_deref().map(start).transpose()?,
            output: args.output.clone(),
            words: hidden(words, &scenario.redactor),
            scenario: (!file.is_made()).then_some(scenario.redacted),
            shown_target: scenario.redactor.hide_url(&target.url()).into_owned(),
            redactor: scenario.redactor,
            target,
            file,
        };
        // What HTTP does not allow is found now, not when the run begins.
        settings.requests().map_err(|error| anyhow!("{}", settings.redactor.hide(&format!("{error:#}"))))?;
        Ok(settings)
    }

    /// What it is.
    pub fn spec(&self) -> RunSpec {
        RunSpec {
            name: self.name.clone(),
            command: repeat::command(&self.words, self.load.plan.seed),
            plan: self.load.plan.clone(),
            shown: self.load.summary(),
            labels: self.labels.clone(),
            limits: self.limits,
            thresholds: self.thresholds.clone(),
            scenario: self.scenario.clone(),
            keep: Some(Keep { folder: self.output.out.clone(), log: !self.output.no_log }),
        }
    }

    /// What plays it.
    pub fn live(&self) -> Live {
        Live {
            target: self.target.clone(),
            shown_target: self.shown_target.clone(),
            script: self.script.clone(),
            max_body: self.max_body,
            threads: self.threads,
            insecure: self.insecure,
            start: self.start,
            redactor: self.redactor.clone(),
        }
    }

    /// The requests as the wire protocol has them.
    ///
    /// # Errors
    /// A method, header or path that HTTP does not allow.
    pub fn requests(&self) -> Result<headway_live::Requests> {
        self.live().requests()
    }
}

/// The words of a command without secrets that were found when it was read.
fn hidden(words: &[String], redactor: &Redactor) -> Vec<String> {
    words.iter().map(|word| redactor.hide(word).into_owned()).collect()
}

fn threads(asked: Option<u32>, connections: u32) -> Result<Option<u32>> {
    match asked {
        Some(0) => bail!("--threads 0 sends nothing: write a number from 1 up"),
        Some(t) if t > connections => {
            bail!("--threads {t} is more than -c {connections}: each needs a connection")
        }
        Some(t) if t > 1024 => bail!("--threads {t} is too many: write at most 1024"),
        threads => Ok(threads),
    }
}

/// Reads `+5s` or an RFC 3339 time.
fn start(text: &str) -> Result<Start> {
    if let Some(ahead) = text.strip_prefix('+') {
        let ahead = headway_base::units::parse_time(ahead).context("--start-at")?;
        return Ok(Start::In(ahead));
    }
    let at: jiff::Timestamp = text.parse().map_err(|_| {
        anyhow!("--start-at '{text}' is not a time: write for example +5s or 2026-01-31T12:00:00Z")
    })?;
    Ok(Start::AtUnix(at.as_nanosecond()))
}

/// Reads where to listen.
///
/// # Errors
/// Neither `host:port` nor `unix:/path`.
pub fn listen_address(text: &str) -> Result<headway_live::Address> {
    let endpoint = match text.strip_prefix("unix:") {
        Some(path) => Endpoint::Unix(path.to_owned()),
        None => {
            let (host, port) = text.rsplit_once(':').ok_or_else(|| {
                anyhow!("--listen '{text}' is not an address: write for example 127.0.0.1:8080 or unix:/tmp/a.sock")
            })?;
            let port = port
                .parse()
                .map_err(|_| anyhow!("--listen '{text}': '{port}' is not a port from 0 to 65535"))?;
            Endpoint::Tcp { host: host.trim_matches(['[', ']']).to_owned(), port }
        }
    };
    let mut addresses = headway_live::resolve(&endpoint)?;
    Ok(addresses.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser;
    use headway_base::Nanos;
    use headway_workload::RequestKey;
    use headway_workload::content::{Memory, RenderContext};
    use headway_workload::plan::{Connections, LONGEST, Source};

    fn resolve(line: &str) -> Result<RunSettings> {
        let args = Args::try_parse_from(["headway", "run"].into_iter().chain(line.split(' ')))?;
        let Command::Run(run) = args.command else { bail!("not a run") };
        RunSettings::resolve(&run, &["headway".to_owned(), "run".to_owned()])
    }

    /// The one request of a run against a URL, as it goes out.
    fn sent(settings: &RunSettings) -> String {
        let visit = RenderContext { sending: &RequestKey::default(), now_unix_ns: 0 };
        let request = settings.script.render(&visit, &Memory::default()).unwrap();
        let bytes = settings.requests().unwrap().wire(&request).unwrap().bytes().to_vec();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn error(line: &str) -> String {
        format!("{:#}", resolve(line).expect_err(line))
    }

    #[test]
    fn a_bare_url_says_what_it_assumes() {
        let settings = resolve("http://127.0.0.1:1/x").unwrap();
        assert_eq!(settings.load.assumed, ["-R 50/s", "-d 10s"]);
        assert_eq!(settings.load.plan.end(), Nanos::from_secs(10));
        assert!(sent(&settings).starts_with("GET /x HTTP/1.1\r\n"));
    }

    #[test]
    fn users_who_stay_and_work_that_ends() {
        let load = resolve("h -u 20 --think exp(1s) --ramp 2s --warmup 1s -d 5s --seed 1").unwrap().load;
        let group = &load.plan.groups[0];
        assert!(matches!(&group.source, Source::Users { level, requests: None } if level.most() == 20));
        assert_eq!((load.plan.measured_from, load.plan.end()), (Nanos::from_secs(3), Nanos::from_secs(8)));
        assert_eq!((group.connections, group.journey.mean_think_s()), (Connections::PerUser, 1.0));
        assert_eq!(load.headline, "20 users for 5s, think exp(1s)");
        let load = resolve("h -n 1000 -c 20").unwrap().load;
        assert!(matches!(
            &load.plan.groups[0].source,
            Source::Users { level, requests: Some(1000) } if level.most() == 20
        ));
        assert_eq!((load.plan.end(), load.requests), (LONGEST, Some(1000)));
        let load = resolve("h --at-once 100 --pool shared").unwrap().load;
        assert_eq!((load.plan.groups[0].connections, load.requests), (Connections::Shared, Some(100)));
        let load = resolve("h -n 1000 -c 20 -d 5s").unwrap().load;
        assert_eq!(load.headline, "1,000 requests by 20 users, 5s at most");
        assert!(error("h -n 1000 -d 0s").contains("-d 0s"));
        // Users who share need no connection each.
        assert!(resolve("h -u 100k --pool shared -c 100").is_ok());
    }

    #[test]
    fn arrivals_are_said_of_users_who_arrive_alone() {
        for line in ["h -u 5", "h --think 1s", "h -n 100 -c 5", "h --at-once 5"] {
            let told = error(&format!("{line} --arrivals constant"));
            assert!(told.contains("--arrivals is for users who arrive"), "{line}: {told}");
        }
        for line in ["h", "h -R 5", "h -R 5 -n 100"] {
            assert!(resolve(&format!("{line} --arrivals constant")).is_ok(), "{line}");
        }
    }

    #[test]
    fn aliases_of_other_tools_are_understood() {
        for line in ["h -R 200 -z 3s", "h -q 200/s -d 3s", "h --qps 200 -d 3s", "h --rps 12k/1m -d 3s"] {
            let load = resolve(line).unwrap().load;
            assert_eq!(load.summary().rate, Some(200.0), "{line}");
            assert_eq!(load.lengths.unwrap().hold, Nanos::from_secs(3), "{line}");
        }
    }

    #[test]
    fn n_requests_at_a_rate_are_exactly_n() {
        for process in ["poisson", "constant", "uniform", "gamma(3)", "poisson-fixed-n"] {
            let line = format!("h -R 100 -n 250 --warmup 1s --seed 4 --arrivals {process}");
            let plan = resolve(&line).unwrap().load.plan;
            let n = plan.arrivals().filter(|a| a.intended >= plan.measured_from).count();
            // Of a fixed number it is the whole plan that is fixed: warm-up and hold.
            let expected = if process == "poisson-fixed-n" { plan.arrivals().count() - 350 + n } else { 250 };
            assert_eq!(n, expected, "{process}");
        }
        assert_eq!(resolve("h -R 100 -n 500 -d 2s").unwrap().load.lengths.unwrap().hold, Nanos::from_secs(2));
    }

    #[test]
    fn what_cannot_be_says_what_could() {
        assert!(error("h -u 10 -R 5").contains("two kinds of load"));
        assert!(error("h -u 0").contains("from 1 up"));
        assert!(error("h -u 10 --think exp(1)").contains("a time"));
        let few = error("h -u 10 -c 9");
        assert!(
            few.contains("no more than 9 connections")
                && few.contains("| -c 9")
                && few.contains("--pool shared")
        );
        assert!(error("h -u 9m").contains("raise ulimit"));
        assert!(error("h -n 10 --warmup 1s").contains("fixed work"));
        assert!(error("h --at-once 10 -n 5").contains("a load of its own"));
        assert!(error("h -R 5 --pool per-user").contains("share the connections"));
        assert!(error("no-such.yaml").contains("no-such.yaml cannot be read"));
        assert!(
            error("h --body-file /dev/zero").contains("--body-file /dev/zero cannot be read: it is a device")
        );
        assert!(error("h -R 0").contains("a rate"));
        assert!(error("h -d 5").contains("a time"));
        assert!(error("h -d 0s").contains("above zero") && error("h -d 0s").contains("| -d 0s"));
        assert!(error("h -c 0").contains("from 1 up"));
        assert!(error("h -c 9m").contains("ulimit"));
        assert!(error("h -c 2 --threads 3").contains("each needs a connection"));
        assert!(error("h -c 1 --shard 1/2 --seed 1").contains("no connection for shard 1/2"));
        assert!(error("h --shard 0/2").contains("needs --seed"));
        assert!(error("h -H nonsense").contains("Name: value"));
        assert!(error("h --start-at noon").contains("+5s"));
        assert!(error("h --seed 9007199254740992").contains("2^53"));
        assert!(error("h --seed x").contains("a whole number"));
        assert!(error("h --arrivals posson").contains("did you mean poisson?"));
        assert!(error("h -R 1g -d 1000h").contains("1e12"));
    }

    #[test]
    fn thresholds_are_read_and_end_the_run_only_if_asked() {
        let line =
            "h --threshold p(99)<100 --threshold failed:rate<1% --threshold response{step:request}:avg<5ms";
        let settings = resolve(line).unwrap();
        let texts: Vec<&str> = settings.thresholds.iter().map(|t| t.text.as_str()).collect();
        assert_eq!(texts, ["p(99)<100", "failed:rate<1%", "response{step:request}:avg<5ms"]);
        assert!(settings.thresholds.iter().all(|t| t.abort_after.is_none()));
        let delay = |flag: &str| {
            let settings = resolve(&format!("--threshold p(99)<100 {flag} h")).unwrap();
            assert_eq!(settings.target.host(), "h");
            settings.thresholds[0].abort_after
        };
        assert_eq!(delay("--abort-on-crossed"), Some(Nanos::ZERO));
        assert_eq!(delay("--abort-on-crossed=10s"), Some(Nanos::from_secs(10)));
        assert!(error("h --abort-on-crossed").contains("--threshold"));
        assert!(error("h --threshold p(99)<x").contains("column 7: 'x' is not a time"));
        assert!(error("h --threshold p99<100").contains("'p99' is written p(99)"));
        assert!(error("h --threshold response{step:requst}:avg<5ms").contains("did you mean request?"));
    }

    #[test]
    fn bodies_and_credentials_shape_the_request() {
        let settings = resolve("http://me:pw@h/ -b x=1 -H X-A:b").unwrap();
        assert!(sent(&settings).starts_with("POST / "));
        let text = sent(&settings);
        assert!(text.contains("Authorization: Basic bWU6cHc="), "{text}");
        assert!(text.contains("X-A: b") && text.ends_with("\r\n\r\nx=1"), "{text}");
        assert!(error("h -m GE,T").contains("GE,T"));
    }

    /// What `--print-scenario` prints for a run against a URL or of a file.
    fn printed(line: &str) -> String {
        resolve(line).unwrap().file.document(&[]).unwrap()
    }

    #[test]
    fn the_printed_scenario_is_the_same_run() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(at("body"), b"\x00\xff{{a}}").unwrap();
        let full = "target: http://h/base\nusers:\n  - name: a\n    arrive: { rate: 20/s }\n    think: 1s\n    phases: [{ ramp: 2s, \
                    to: 20/s, warmup: true }, { hold: 3s }]\n  - { name: b, closed: { count: 5 } }\njourney:\n  - { get: \"/x?a=1\", \
                    name: x, headers: { X-Home: \"${HOME:-none}$${y}\" } }\n  - { post: /y, json: { a: [1, \"1\", true, null, \"{{session}}\"] } }\n";
        std::fs::write(at("full.yaml"), full).unwrap();
        let open = "target: http://h\nusers: { arrive: { rate: 9/s } }\njourney: [{ get: / }]\n";
        std::fs::write(at("open.yaml"), open).unwrap();
        let lines = [
            "h".to_owned(),
            "http://h:81/x?y=%41 -R 33.3333333333 -d 7.123456789s --ramp 1.1s --warmup 700ms".to_owned(),
            "h -R 10k -d 1s --arrivals gamma(3) --shard 1/3".to_owned(),
            "h -R 30/1m -d 2m --arrivals ticks(3) -c 7".to_owned(),
            "h -R 100 -n 250 --warmup 1s".to_owned(),
            "h -R 100 -n 250 -d 1s --arrivals poisson-fixed-n".to_owned(),
            "h -u 20 --think uniform(0s,2s) --ramp 2s --warmup 1s -d 5s --pool shared".to_owned(),
            "h -n 1000 -c 20 -d 5s".to_owned(),
            "h --at-once 100 --timeout 3s --drain 1s --max-wait 2s --connect-timeout 4s --max-body 512"
                .to_owned(),
            "h -m PURGE -H X-A:b${c}{{d}} -H X-A:e -b {\"a\":\"{{b}}${c}\\\"} -k --threshold p(99)<100"
                .to_owned(),
            format!("h --body-file {} --threshold failed:rate<1% --abort-on-crossed=10s", at("body")),
            "unix:/run/a.sock:/x?y -R 5 -d 1s --set connections=50 --set users.phases.0.hold=2s".to_owned(),
            format!("{} -R 30 -d 2s -n 40 -H Accept:x --arrivals constant", at("open.yaml")),
            format!("{} --set users.b.closed.count=7 --set users.0.think=exp(2s) -c 99", at("full.yaml")),
        ];
        for line in lines {
            let line = format!("{line} --seed 11");
            let given = resolve(&line).unwrap();
            let text = printed(&line);
            std::fs::write(at("printed.yaml"), &text).unwrap();
            let shard = if line.contains("--shard") { " --shard 1/3" } else { "" };
            let again = resolve(&format!("{} --seed 11{shard}", at("printed.yaml"))).unwrap();
            assert_eq!(again.load.plan, given.load.plan, "{line}\n{text}");
            if given.load.requests.is_none() || given.load.plan.is_fixed_work() {
                assert_eq!(again.load.headline, given.load.headline, "{line}\n{text}");
            }
            let what = |s: &RunSettings| (s.limits, s.max_body, s.insecure, s.thresholds.clone(), sent(s));
            assert_eq!(what(&again), what(&given), "{line}\n{text}");
            assert_eq!(again.labels, given.labels, "{line}\n{text}");
        }
    }

    #[test]
    fn secrets_are_not_printed_unless_all_is_to_show() {
        let line = "http://me:p4ss@h/?token=abcd1&x=y -H Authorization:Bearer-e5f6 -b pin=g7h8 --set variables.api_key=i9j0";
        let text = printed(line);
        assert!(text.contains("Secrets are replaced by <redacted>") && text.contains("x=y"), "{text}");
        let secrets = ["p4ss", "abcd1", "e5f6", "g7h8", "i9j0"];
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "{text}");
        let all = printed(&format!("{line} --no-redact"));
        assert!(
            secrets[1..].iter().all(|secret| all.contains(secret)) && !all.contains("<redacted>"),
            "{all}"
        );
    }

    #[test]
    fn flags_take_the_place_of_a_files_values_and_the_first_line_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.yaml").display().to_string();
        std::fs::write(&path, "target: http://h\nusers: { arrive: { rate: 9/s } }\njourney: [{ get: / }]\n")
            .unwrap();
        let settings =
            resolve(&format!("{path} -R 30 -d 2s --set timeout=9s -c 8 -H X-Api-Key:s3cret1")).unwrap();
        assert_eq!(settings.load.headline, "30/s for 2s, poisson");
        assert_eq!((settings.limits.timeout, settings.limits.connections), (Nanos::from_secs(9), 8));
        let said = settings.load.remarks();
        assert_eq!(
            said,
            " (in place of the file's values: -H X-Api-Key: <redacted>, -R 30, -d 2s, -c 8, --set timeout=9s)"
        );
        assert_eq!(settings.load.summary().overridden.len(), 5);
        assert!(error(&format!("{path} -u 5")).contains("-u applies to a group that is closed"));
        assert!(error(&format!("{path} -b x")).contains("--set journey.0"));
        assert!(error(&format!("{path} -R 0.000")).contains("a rate"));
        assert!(error(&format!("{path} --at-once 5")).contains("cannot have both 'arrive' and 'at-once'"));
        assert!(
            error("h --set timout=3s").contains("--set timout=3s")
                && error("h --set timout=3s").contains("timeout?")
        );
    }
}
