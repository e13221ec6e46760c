//! What `headway run` is given, resolved.

use anyhow::{Result, bail};
use clap::Parser;
use headway_base::Nanos;
use headway_cli::args::{Args, Command};
use headway_cli::repeat::Typed;
use headway_cli::settings::RunSettings;
use headway_workload::RequestKey;
use headway_workload::content::{Memory, RenderContext};
use headway_workload::plan::{Connections, LONGEST, Source};

fn resolve(line: &str) -> Result<RunSettings> {
    resolve_words(&line.split(' ').collect::<Vec<_>>())
}

/// As [`resolve`], of words with spaces in them.
fn resolve_words(words: &[&str]) -> Result<RunSettings> {
    let args = Args::try_parse_from(["headway", "run"].iter().chain(words))?;
    let Command::Run(run) = args.command else { bail!("not a run") };
    RunSettings::resolve(
        &run,
        &Typed { words: vec!["headway".to_owned(), "run".to_owned()], ..Typed::default() },
    )
}

/// The one request of a run against a URL, as it goes out.
fn sent(settings: &RunSettings) -> String {
    let visit = RenderContext { sending: &RequestKey::default(), now_unix_ns: 0 };
    let request = settings.live.script.render(&visit, &Memory::default()).unwrap();
    let payload = settings.live.requests(&settings.spec.plan).unwrap().wire(&request, 0).unwrap();
    let bytes = payload.http().unwrap().http1().to_vec();
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
fn a_tolerance_is_of_the_effect_or_of_lateness_itself() {
    let shown = |line: &str| resolve(line).unwrap().spec.shown;
    let told = |line: &str| (shown(line).time_scale_s, shown(line).tolerated_effect);
    assert_eq!(told("h --tolerance lateness=5ms"), (Some(0.005), None));
    assert_eq!(told("h --tolerance lateness=1ms --tolerance lateness=0.1s"), (Some(0.1), None));
    assert_eq!(told("h --tolerance effect=10%"), (None, Some(0.1)));
    assert_eq!(told("h"), (None, None));
    for wrong in ["lateness=0ms", "lateness=5", "lateness="] {
        let told = error(&format!("h --tolerance {wrong}"));
        assert!(told.contains("write a span of time above 0, as 1ms or 500us"), "{told}");
    }
    let told = error("h --tolerance time-scale=5ms");
    assert!(told.contains("write lateness=1ms to judge lateness itself"), "{told}");
    for wrong in ["late=1%", "5ms"] {
        let told = error(&format!("h --tolerance {wrong}"));
        assert!(told.contains("write effect=5%, lateness=1ms or sent-share=5%"), "{told}");
    }
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
    // Users with a shared pool need no connection each.
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
    // Batches of five: 250 requests are fifty of them, and 252 are none.
    let batches = "h -R 100 --arrivals batch(constant,const(5)) --seed 4";
    let plan = resolve(&format!("{batches} -n 250")).unwrap().load.plan;
    assert_eq!(plan.arrivals().filter(|a| a.intended >= plan.measured_from).count(), 250);
    assert!(error(&format!("{batches} -n 252")).contains("-n 252 ends within a batch"));
    assert_eq!(resolve("h -R 100 -n 500 -d 2s").unwrap().load.lengths.unwrap().hold, Nanos::from_secs(2));
}

#[test]
fn what_cannot_be_says_what_could() {
    assert!(error("h -u 10 -R 5").contains("two kinds of load"));
    assert!(error("h -u 0").contains("from 1 up"));
    assert!(error("h -u 10 --think exp(1)").contains("a time"));
    let few = error("h -u 10 -c 9");
    assert!(
        few.contains("no more than 9 connections") && few.contains("| -c 9") && few.contains("--pool shared")
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
    assert!(error("h -R 5 -c 0").contains("from 1 up"));
    assert!(error("h -R 5 -c 9m").contains("ulimit"));
    assert!(error("h -R 5 -c 2 --threads 3").contains("each needs a connection"));
    assert!(error("h -R 5 -c 1 --shard 1/2 --seed 1").contains("no connection for shard 1/2"));
    assert!(error("h --wait spin --realtime").contains("would freeze its core"));
    assert!(error("h --wait poll").contains("write auto, sleep or spin"));
    assert!(error("h --shard 0/2").contains("needs --seed"));
    let aborts = error("h --seed 1 --shard 0/2 --threshold p(99)<100 --abort-on-crossed");
    assert!(aborts.contains("a shard judges no threshold"), "{aborts}");
    assert!(error("h -H nonsense").contains("Name: value"));
    assert!(error("h --start-at noon").contains("+5s"));
    assert!(error("h --seed 9007199254740992").contains("2^53"));
    assert!(error("h --seed x").contains("a whole number"));
    assert!(error("h --arrivals posson").contains("did you mean poisson?"));
    assert!(error("h -R 1g -d 1000h").contains("1e12"));
}

#[test]
fn phases_are_rates_with_lengths_in_place_of_a_rate_and_a_length() {
    let typed = ["h", "--phases", "30s@50, { ramp: 10s, to: 200/s }, 1m@200", "--arrivals", "constant"];
    let settings = resolve_words(&typed).unwrap();
    let Source::Arrivals { profile, .. } = &settings.load.plan.groups[0].source else { panic!() };
    let phases: Vec<_> = profile.phases().map(|p| (p.length.as_secs_f64(), p.from.0, p.to.0)).collect();
    assert_eq!(phases, [(30.0, 50.0, 50.0), (10.0, 50.0, 200.0), (60.0, 200.0, 200.0)]);
    assert_eq!(
        (settings.load.plan.measured_from, settings.load.plan.end()),
        (Nanos(0), Nanos::from_secs(100))
    );
    // No default is taken that the phases would contradict.
    assert!(settings.load.assumed.is_empty(), "{:?}", settings.load.assumed);
    assert_eq!(settings.load.headline, "requests at up to 200/s, constant for 100s");
    let one = resolve("h --phases 4s@30 -c 9").unwrap().load;
    assert_eq!(one.headline, "30/s for 4s, poisson");
    assert!(one.remarks().starts_with(" (the rate is in total"), "{}", one.remarks());
}

#[test]
fn phases_refuse_the_flags_that_they_stand_for_and_say_why() {
    let refused = [
        ("-R 5", "each phase has its own rate"),
        ("-d 5s", "each phase has its own length"),
        ("-n 5", "not after a number of requests"),
        ("-u 5", "the phases say how many come"),
        ("--think 1s", "do not think"),
        ("--ramp 5s", "a ramp is a phase"),
        ("--warmup 5s", "warm-up is a phase"),
        ("--at-once 5", "all requests are due at the start"),
        ("--connecting 5", "phases of sockets belong to a scenario"),
    ];
    for (flag, why) in refused {
        let said = error(&format!("h --phases 5s@50 {flag}"));
        let (name, _) = flag.split_once(' ').unwrap();
        assert!(said.starts_with(&format!("{name} does not go with --phases: ")), "{said}");
        assert!(said.contains(why), "{said}");
    }
    assert!(error("h --phases 5s@50 --pool per-user").contains("share the connections"));
    let said = error("h --phases 5s@50,1m@fast");
    assert!(said.contains("| --phases 5s@50,1m@fast\n  |                   ^^^^\n"), "{said}");
    assert!(!said.contains("the flags:"), "{said}");
}

#[test]
fn thresholds_are_read_and_end_the_run_only_if_asked() {
    let line =
        "h --threshold p(99)<100 --threshold failed:rate<1% --threshold response{step:request}:avg<5ms";
    let settings = resolve(line).unwrap();
    let texts: Vec<&str> = settings.spec.thresholds.iter().map(|t| t.text.as_str()).collect();
    assert_eq!(texts, ["p(99)<100", "failed:rate<1%", "response{step:request}:avg<5ms"]);
    assert!(settings.spec.thresholds.iter().all(|t| t.abort_after.is_none()));
    let delay = |flag: &str| {
        let settings = resolve(&format!("--threshold p(99)<100 {flag} h")).unwrap();
        assert_eq!(settings.live.target.host(), "h");
        settings.spec.thresholds[0].abort_after
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
    resolve(line).unwrap().file.document(&Typed::default()).unwrap()
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
        "h --phases 3s@50,2s@7/s,4s@20/1m --arrivals gamma(2)".to_owned(),
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
        format!("{} --phases 3s@50,4s@20/1m", at("open.yaml")),
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
        let what = |s: &RunSettings| {
            (s.spec.limits, s.live.max_body, s.live.insecure, s.spec.thresholds.clone(), sent(s))
        };
        assert_eq!(what(&again), what(&given), "{line}\n{text}");
        assert_eq!(again.spec.labels, given.spec.labels, "{line}\n{text}");
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
    assert!(secrets[1..].iter().all(|secret| all.contains(secret)) && !all.contains("<redacted>"), "{all}");
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
    assert_eq!((settings.spec.limits.timeout, settings.spec.limits.connections), (Nanos::from_secs(9), 8));
    let said = settings.load.remarks();
    assert_eq!(
        said,
        " (in place of the file's values: -H X-Api-Key: <redacted>, -R 30, -d 2s, -c 8, --set timeout=9s)"
    );
    assert_eq!(settings.load.summary().overridden.len(), 5);
    let phases = resolve(&format!("{path} --phases 2s@30,3s@50")).unwrap().load;
    assert_eq!(phases.plan.end(), Nanos::from_secs(5));
    assert_eq!(phases.remarks(), " (in place of the file's values: --phases 2s@30,3s@50)");
    assert!(error(&format!("{path} -u 5")).contains("-u applies to a group that is closed"));
    assert!(error(&format!("{path} -b x")).contains("--set journey.0"));
    assert!(error(&format!("{path} -R 0.000")).contains("a rate"));
    assert!(error(&format!("{path} --at-once 5")).contains("cannot have both 'arrive' and 'at-once'"));
    assert!(
        error("h --set timout=3s").contains("--set timout=3s")
            && error("h --set timout=3s").contains("timeout?")
    );
}

/// As [`error`], of words with spaces in them.
fn error_of(words: &[&str]) -> String {
    let typed: Vec<String> = ["headway", "run"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    let args = Args::try_parse_from(&typed).unwrap();
    let Command::Run(run) = args.command else { panic!("not a run") };
    format!(
        "{:#}",
        RunSettings::resolve(&run, &Typed { words: typed, ..Typed::default() }).expect_err("it is refused")
    )
}

#[test]
fn a_cap_alone_is_refused_with_the_command_in_both_ways() {
    let told = error_of(&["http://h/", "-c", "50", "-d", "5s"]);
    assert!(told.contains("  headway run http://h/ -c 50 -d 5s -R 200\n"), "{told}");
    assert!(told.contains("  headway run http://h/ -u 50 -d 5s\n"), "{told}");
    for line in [
        "h -c 5 -R 5",
        "h -c 5 -u 5",
        "h -c 5 -n 5",
        "h -c 5 --at-once 5",
        "h -c 5 --think 1s",
        "h -c 5 --phases 5s@9",
    ] {
        assert!(resolve(line).is_ok(), "{line}");
    }
}

#[test]
fn a_rate_with_a_cap_is_said_to_be_in_total() {
    assert!(resolve("h -q 10 -c 50").unwrap().load.remarks().starts_with(" (the rate is in total"));
    assert!(!resolve("h -q 10").unwrap().load.remarks().contains("total"));
}

#[test]
fn user_and_password_become_a_header_that_does_not_show() {
    let settings = resolve("h --user me:p4ssw0rd").unwrap();
    assert!(sent(&settings).contains("Authorization: Basic bWU6cDRzc3cwcmQ=\r\n"), "{}", sent(&settings));
    let shown = settings.file.document(&Typed::default()).unwrap();
    assert!(!shown.contains("p4ssw0rd") && !shown.contains("bWU6cDRzc3cwcmQ="), "{shown}");
    for line in ["h --user me", "h --user me:p4ssw0rd -H Authorization:x"] {
        assert!(error(line).contains("write NAME:PASSWORD") && !error(line).contains("p4ss"), "{line}");
    }
    assert!(error("h -H http://h/").contains("base URL in Locust"));
}

#[test]
fn a_body_comes_from_the_file_behind_an_at_sign() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("body.json");
    std::fs::write(&path, "{\"a\":1}").unwrap();
    for flag in ["-b", "--data", "--body"] {
        let text = sent(&resolve(&format!("h {flag} @{}", path.display())).unwrap());
        assert!(text.starts_with("POST / ") && text.ends_with("{\"a\":1}"), "{flag}: {text}");
    }
    assert!(error("h -b @no-such-file").contains("-b @no-such-file cannot be read"));
    assert!(sent(&resolve("h --data a=b -X PUT").unwrap()).starts_with("PUT / "));
}

#[test]
fn a_list_of_targets_is_a_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("targets").display().to_string();
    std::fs::write(&path, "GET http://h:81/a\nX-A: b\n\nDELETE http://h:81/c\n").unwrap();
    let settings = resolve(&format!("{path} -R 30 -d 2s")).unwrap();
    assert_eq!(settings.live.target.authority, "h:81");
    assert_eq!(settings.spec.labels, ["GET /a", "DELETE /c"]);
    let closed = resolve(&format!("{path} -u 7 -d 2s")).unwrap();
    assert!(matches!(&closed.load.plan.groups[0].source, Source::Users { level, .. } if level.most() == 7));
    std::fs::write(&path, "GET http://h/a\nGET http://i/a\n").unwrap();
    let two = resolve(&format!("{path} -R 30 -d 2s")).unwrap();
    assert_eq!(two.spec.labels, ["GET /a", "GET http://i/a"]);
}

/// No rate and no target sends these: the error names the flag or the URL, and what would be accepted.
#[test]
fn what_no_datagram_holds_is_refused_before_the_run() {
    let over = std::env::temp_dir().join(format!("headway-over-{}.bin", std::process::id()));
    std::fs::write(&over, vec![0; 65_508]).unwrap();
    let file = over.display();
    for (line, at, wanted) in [
        (&*format!("udp://127.0.0.1:1 -b @{file}"), &*format!("-b @{file}: "), "at most 65507"),
        ("udp://127.0.0.1:1 -b hello --answer match:2+4", "-b: ", "with a sum of at most 5"),
        ("udp://127.0.0.1:1 --answer match:60+8", "udp://127.0.0.1:1: ", "with a sum of at most 64"),
        ("udp://127.0.0.1:1 -b hello --answer match:65500+8", "-b: ", "with a sum of at most 65507"),
        ("dns://127.0.0.1/bad..name", "dns://127.0.0.1/bad..name: ", "labels of 1 to 63"),
    ] {
        let told = error(line);
        assert!(told.starts_with(at) && told.contains(wanted), "{line}: {told}");
    }
    std::fs::remove_file(&over).unwrap();
    for line in ["udp://127.0.0.1:1 -b hello --answer match:1+4", "udp://127.0.0.1:1 --answer match:56+8"] {
        resolve(line).expect(line);
    }
}

#[test]
fn flags_that_would_do_nothing_are_refused() {
    for (line, at, why) in [
        ("udp://127.0.0.1:1 --streams 65537", "--streams 65537", "at most 65536 requests at once"),
        ("udp://127.0.0.1:1 --streams 257 --answer match:0+1", "--streams 257", "at most 256 requests"),
        ("udp://127.0.0.1:1 --streams 5 --answer next", "--streams 5", "one request at a time"),
        ("udp://127.0.0.1:1 --streams 5 -b own", "--streams 5", "one request at a time"),
        ("udp://127.0.0.1:1 --spread --answer next", "--spread", "one request at a time"),
        ("tcp://127.0.0.1:1 --streams 5 -b x --answer close", "--streams 5", "one request at a time"),
        ("tcp://127.0.0.1:1 --spread -b x --answer close", "--spread", "one request at a time"),
        ("h --connecting 5 --max-wait 1s", "--max-wait", "never wait for a free connection"),
    ] {
        let told = error(line);
        assert!(told.starts_with(at) && told.contains(why), "{line}: {told}");
    }
    // The words of a line stand between spaces: this is an empty one.
    let told = error("udp://127.0.0.1:1 -b ");
    assert!(told.starts_with("-b: an empty datagram"), "{told}");
    for line in [
        "udp://127.0.0.1:1 --streams 65536",
        "udp://127.0.0.1:1 -R 9 --streams 5 --spread -c 9",
        "dns://127.0.0.1/a --spread --streams 65536",
        "h --new-connections --max-wait 1s",
    ] {
        resolve(line).expect(line);
    }
}

/// A URL becomes a scenario, which nobody has written: errors show the flag or the URL as it was typed.
#[test]
fn errors_about_flags_show_no_file() {
    for (line, shown) in [
        ("tcp://127.0.0.1:1", "1 | tcp://127.0.0.1:1\n  | ^"),
        ("tcp://127.0.0.1:1 --answer close", "1 | tcp://127.0.0.1:1 \n  | ^"),
        ("tcp://127.0.0.1:1 --answer close -b ", "1 | -b \n  | ^^"),
        ("tcp://127.0.0.1:1 --answer next -b x", "1 | --answer next"),
        ("dns://127.0.0.1", "1 | dns://127.0.0.1 \n  | ^"),
        ("dns://127.0.0.1 -b ", "1 | -b \n  | ^^"),
        ("udp://127.0.0.1:1 --new-connections", "1 | --new-connections"),
        ("udp://127.0.0.1:1 --connecting 5", "1 | --connecting 5"),
        ("h --connecting 5 --http2", "1 | --connecting 5"),
        ("h2c://h --new-connections", "1 | --new-connections"),
        ("h --connecting 100 -c 50", "1 | --connecting 100"),
        ("h --connecting 10m", "--connecting 10000000"),
        ("h -u 50 -c 10", "1 | -u 50"),
    ] {
        let told = error(line);
        assert!(told.contains(shown) && !told.contains("the flags"), "{line}: {told}");
    }
}
