//! Values put in place of the file's: where paths lead, and what a person sees who mistyped one.

use crate::common::{env, read};
use headway_workload::plan::Source;
use headway_workload::scenario::{Diagnostics, Override, Scenario, Surroundings, parse_with};

const TEXT: &str = "\
users:
  - name: buyers
    arrive: { rate: 20/s }
    phases: [{ ramp: 5s, to: 20/s, warmup: true }, { hold: 10s }]
    think: 1s
  - { name: clerks.night, closed: { count: 5 } }
journey: [{ get: /a, name: a.b, headers: { Authorization: Bearer literal-5ecre7 } }, { get: /b }]
model: { service: 1ms, steps: { a.b: { service: 2ms } } }
";

const ONE: &str = "\
users:
  arrive: { rate: 20/s }
  phases: [{ ramp: 5s, from: 0/s, to: 20/s, warmup: true }, { hold: 10s }]
journey: [{ get: / }]
model: { servers: 4, service: 1ms }
";

fn overridden(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, Diagnostics> {
    let overrides: Vec<Override> =
        overrides.iter().map(|(path, value)| Override::swept(path, value)).collect();
    parse_with(
        "a.yaml",
        text,
        &Surroundings { read: &read, env: &env, log: &headway_workload::scenario::no_logs },
        &overrides,
    )
}

#[track_caller]
fn scenario(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    overridden(text, overrides).unwrap_or_else(|e| panic!("{e}"))
}

/// What is shown of each pair of a path and a value that is wrong.
fn mistakes(text: &str, cases: &[(&str, &str)]) -> String {
    let one = |case: &(&str, &str)| match overridden(text, &[*case]) {
        Ok(_) => panic!("{case:?} is taken"),
        Err(shown) => format!("{}={}\n-----\n{shown}\n", case.0, case.1),
    };
    cases.iter().map(one).collect::<Vec<_>>().join("\n=====\n")
}

fn rates(scenario: &Scenario) -> Vec<(f64, f64)> {
    let Source::Arrivals { profile, .. } = &scenario.groups[0].source else { panic!() };
    profile.phases().map(|phase| (phase.from.0, phase.to.0)).collect()
}

#[test]
fn a_path_leads_through_keys_numbers_and_names() {
    let read = scenario(
        TEXT,
        &[
            ("users.buyers.think", "exp(2s)"),
            ("users.1.closed.count", "7"),
            ("users.clerks.night.pace", "9s"),
            ("users.buyers.phases.0.to", "8/s"),
            ("model.steps.a.b.service", "uniform(0s, 2s)"),
            ("model.servers", "3"),
            ("model.stalls", "{ every: 60s, for: 2s }"),
            ("model.stalls.for", "1s"),
        ],
    );
    assert_eq!(read.groups[0].journey.think().to_string(), "exp(2s)");
    let Source::Users { level, .. } = &read.groups[1].source else { panic!() };
    assert_eq!(
        (level.most(), read.groups[1].pace.as_ref().unwrap().to_string()),
        (7, "const(9s)".to_owned())
    );
    assert_eq!(rates(&read), [(0.0, 8.0), (8.0, 8.0)]);
    let headway_workload::model::Kind::Station(station) = &read.model().unwrap().parts[0].kind else {
        panic!()
    };
    assert_eq!((station.servers, station.steps[0].1.to_string()), (3, "uniform(0s,2s)".to_owned()));
    assert_eq!(station.stalls, headway_base::station::Stalls::parse("every=60s,for=1s").ok());
}

#[test]
fn rate_and_users_are_those_of_the_only_group_in_its_phases_too() {
    assert_eq!(rates(&scenario(ONE, &[("rate", "35")])), [(0.0, 35.0), (35.0, 35.0)]);
    assert_eq!(rates(&scenario(ONE, &[("rate", "60/1m")])), [(0.0, 1.0), (1.0, 1.0)]);
    assert_eq!(rates(&scenario(ONE, &[("users.arrive.rate", "7.5")])), [(0.0, 20.0), (20.0, 20.0)]);
    let least = "users: { arrive: {} }\njourney: [{ get: / }]\n";
    assert_eq!(rates(&scenario(least, &[("rate", "3")])), [(3.0, 3.0)]);
    let closed = ONE.replace("arrive: { rate: 20/s }", "closed: { count: 20 }").replace("/s", "");
    let read = scenario(&closed, &[("users", "50")]);
    let Source::Users { level, .. } = &read.groups[0].source else { panic!() };
    assert_eq!(level.most(), 50);
    let listed = "users: [{ name: a, arrive: { rate: 1/s } }]\njourney: [{ get: / }]\n";
    assert_eq!(rates(&scenario(listed, &[("rate", "3")])), [(3.0, 3.0)]);
}

#[test]
fn what_was_put_in_is_said_in_the_copy_and_secrets_are_not() {
    let read = scenario(
        TEXT,
        &[
            ("headers", "{ X-Api-Key: other-5ecre7, Accept: text/html }"),
            ("journey.a.b.headers.Authorization", "Bearer third-5ecre7"),
            ("variables", "{ x: \"${DB_PASSWORD}\", token: ab }"),
            ("timeout", "9s"),
        ],
    );
    assert!(!read.redacted.contains("5ecre7"), "{}", read.redacted);
    let copy = &read.redacted;
    assert!(copy.starts_with("users:\n") && copy.contains("\n#   timeout=9s\n"), "{copy}");
    assert!(copy.contains("\n#   headers={ X-Api-Key: \"<redacted>\", Accept: text/html }\n"), "{copy}");
    assert!(copy.contains("\"${DB_PASSWORD}\"") && copy.contains("token: \"<redacted>\""), "{copy}");
    for secret in ["literal-5ecre7", "other-5ecre7", "third-5ecre7", "hunter2-5ecre7"] {
        assert_eq!(read.redactor.hide(secret), "<redacted>");
    }
    let wrong = overridden(TEXT, &[("headers", "{ X-Api-Key: other-5ecre7, X Y: 1 }")]).err().unwrap();
    assert!(!wrong.to_string().contains("5ecre7") && wrong.to_string().contains("headers={"), "{wrong}");
    assert_eq!(wrong.places().next(), Some((0, 36)));
}

#[test]
fn paths_that_lead_nowhere_and_values_that_do_not_fit() {
    let shown = mistakes(
        TEXT,
        &[
            ("users.buyer.think", "1s"),
            ("users.2.think", "1s"),
            ("modl.servers", "3"),
            ("model.server", "3"),
            ("model.cold.factor", "3"),
            ("model.service.mean", "3"),
            ("model.servers", "0"),
            ("model.servers", "many"),
            ("model.servers", ""),
            ("model.stalls", "{ every: 1s, for: 2s }"),
            ("model.stalls", "{ every: 1s"),
            ("users.buyers.arrive.rate", "-3"),
            ("users.buyers.think", "${NOWHERE}"),
            ("seed", "1\n2"),
            ("", "1"),
            ("rate", "30"),
            ("users", "30"),
        ],
    ) + "\n=====\n"
        + &mistakes(
            &ONE.replace("hold: 10s", "hold: 10s, at: 35/s"),
            &[("rate", "30"), ("users", "30"), ("rate", "soon")],
        )
        + "\n=====\n"
        + &mistakes(&ONE.replace("  arrive:", "  name: visitors\n  arrive:"), &[("users", "30")])
        + "\n=====\n"
        + &mistakes(&ONE.replace("arrive: { rate: 20/s }", "closed: { count: 20 }"), &[("rate", "30")]);
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(shown) });
}

#[test]
fn a_level_of_none_is_blamed_where_it_was_put_and_not_the_phases_that_follow_it() {
    let hold = "users: { arrive: { rate: 20/s }, phases: [{ hold: 10s }] }\njourney: [{ get: / }]\n";
    for (text, path) in [(hold, "rate"), (hold, "users.arrive.rate"), (ONE, "rate")] {
        let shown = mistakes(text, &[(path, "0")]);
        assert!(shown.contains("no users would come: it is 0 throughout"), "{shown}");
        assert!(shown.contains(&format!("| {path}=0\n")) && !shown.contains("phases:"), "{shown}");
        assert!(shown.contains("write a value above 0"), "{shown}");
    }
    let phases = mistakes(hold, &[("users.phases.0.at", "0/s")]);
    assert!(phases.contains("phases: ["), "{phases}");
}

#[test]
fn a_file_of_times_has_its_limit() {
    let shown = mistakes(ONE, &[("model.service", "empirical(endless.txt)")]);
    assert!(shown.contains("'endless.txt'") && shown.contains("longer than 256 MiB"), "{shown}");
}

/// Lengths of the phases of the first group, in seconds, and whether they are warm-up.
fn lengths(scenario: &Scenario) -> Vec<i64> {
    let Source::Arrivals { profile, .. } = &scenario.groups[0].source else { panic!() };
    let mut all: Vec<i64> = profile.phases().map(|phase| phase.length.0 / 1_000_000_000).collect();
    all.push(scenario.measured_from.0 / 1_000_000_000);
    all
}

#[test]
fn ramp_warm_up_and_duration_are_phases_of_the_only_group() {
    let bare = "users: { arrive: { rate: 20/s } }\njourney: [{ get: / }]\n";
    let of = |text: &str, overrides: &[(&str, &str)]| lengths(&scenario(text, overrides));
    assert_eq!(of(bare, &[("duration", "4s")]), [4, 0]);
    assert_eq!(of(bare, &[("warmup", "2s"), ("ramp", "3s"), ("duration", "4s")]), [3, 2, 4, 5]);
    assert_eq!(of(bare, &[("ramp", "0s"), ("warmup", "0s")]), [10, 0]);
    assert_eq!(of(ONE, &[("ramp", "3s"), ("duration", "4s")]), [3, 4, 3]);
    assert_eq!(of(ONE, &[("warmup", "2s")]), [5, 2, 10, 7]);
    assert_eq!(of(ONE, &[("ramp", "0s")]), [10, 0]);
    let warm = ONE.replace("{ hold: 10s }", "{ hold: 1s, warmup: true }, { hold: 10s }");
    assert_eq!(of(&warm, &[("warmup", "2s")]), [5, 2, 10, 7]);
    assert_eq!(of(&warm, &[("warmup", "0")]), [5, 10, 5]);
    let set = [Override::flag("-R", "rate", "30"), Override::flag("--ramp", "ramp", "2s")];
    let read = parse_with(
        "a.yaml",
        bare,
        &Surroundings { read: &read, env: &env, log: &headway_workload::scenario::no_logs },
        &set,
    )
    .unwrap();
    assert_eq!(rates(&read), [(0.0, 30.0), (30.0, 30.0)]);
    let copy = &read.redacted;
    assert!(copy.ends_with("#   -R 30\n#   --ramp 2s\n"), "{copy}");
}

#[test]
fn the_only_group_of_a_list_needs_no_name_and_a_list_grows() {
    let listed = "users: [{ name: a, arrive: { rate: 1/s } }]\njourney: [{ get: /a }, { get: /b }]\n";
    let read = scenario(
        listed,
        &[
            ("users.think", "2s"),
            ("users.arrive.process", "constant"),
            ("journey.+", "{ get: /c }"),
            ("thresholds.+", "p(99)<100"),
            ("thresholds.+", "p(50)<10"),
        ],
    );
    assert_eq!(read.groups[0].journey.think().to_string(), "const(2s)");
    assert_eq!((read.labels.len(), read.thresholds.len()), (3, 2));
}

#[test]
fn work_has_requests_users_and_a_limit() {
    let work = "users: { work: { requests: 10, users: 2 } }\njourney: [{ get: / }]\n";
    let read = scenario(work, &[("requests", "100"), ("users", "5"), ("duration", "3s")]);
    let Source::Users { level, requests: Some(100) } = &read.groups[0].source else { panic!() };
    assert_eq!((level.most(), read.end.0), (5, 3_000_000_000));
}

#[test]
fn what_a_flag_says_is_blamed_on_the_flag() {
    let given = |text: &str, flag: Override| {
        let around = Surroundings { read: &read, env: &env, log: &headway_workload::scenario::no_logs };
        match parse_with("a.yaml", text, &around, std::slice::from_ref(&flag)) {
            Ok(_) => panic!("{} is taken", flag.shown()),
            Err(shown) => format!("{}\n-----\n{shown}\n", flag.shown()),
        }
    };
    let once = "users: { at-once: 5 }\njourney: [{ get: / }]\n";
    let ramp = ONE.replace(", { hold: 10s }", ", { ramp: 10s, to: 5/s }");
    let shown = [
        given(TEXT, Override::flag("-R", "rate", "30/s")),
        given(TEXT, Override::flag("--think", "users.think", "2s")),
        given(ONE, Override::flag("-R", "rate", "0/s")),
        given(ONE, Override::flag("-u", "users", "30")),
        given(ONE, Override::flag("-n", "requests", "30")),
        given(ONE, Override::flag("--think", "users.think", "soon")),
        given(ONE, Override::flag("-d", "duration", "0s")),
        given(&ramp, Override::flag("-d", "duration", "5s")),
        given(once, Override::flag("-d", "duration", "5s")),
        given(once, Override::flag("--arrivals", "users.arrive.process", "constant")),
        given(ONE, Override::set("users.arrive.rat", "3")),
        given(ONE, Override::set("timout", "3s")),
        given(ONE, Override::set("duration", "soon")),
        given(ONE, Override::text("-H", "headers", "X Y", "1")),
    ];
    let shown = shown.join("\n=====\n");
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(shown) });
}

/// What `--phases` says.
fn phases(entries: &str) -> Override {
    Override::phases("--phases", entries)
}

fn flagged(text: &str, flags: &[Override]) -> Result<Scenario, Diagnostics> {
    parse_with(
        "a.yaml",
        text,
        &Surroundings { read: &read, env: &env, log: &headway_workload::scenario::no_logs },
        flags,
    )
}

const NO_RATE: &str = "users: { arrive: {} }\njourney: [{ get: / }]\n";

#[test]
fn phases_of_a_flag_take_the_place_of_the_only_groups() {
    let given = "30s@50, { ramp: 10s, to: 100/s }, 1m @ 12000/1m";
    for text in [NO_RATE, ONE, "users: [{ name: a, arrive: { rate: 1/s } }]\njourney: [{ get: / }]\n"] {
        let read = flagged(text, &[phases(given)]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(rates(&read), [(50.0, 50.0), (50.0, 100.0), (200.0, 200.0)]);
        assert_eq!(lengths(&read), [30, 10, 60, 0]);
        assert!(read.redacted.ends_with(&format!("#   --phases {given}\n")), "{}", read.redacted);
    }
    let warm = flagged(NO_RATE, &[phases("{ hold: 5s, at: 7/s, warmup: true }, 10s@1k")]).unwrap();
    assert_eq!((rates(&warm), lengths(&warm)), (vec![(7.0, 7.0), (1000.0, 1000.0)], vec![5, 10, 5]));
    let closed = "users: { closed: {} }\njourney: [{ get: / }]\n";
    let closed = flagged(closed, &[phases("3s@50, 2s@8")]).unwrap_or_else(|e| panic!("{e}"));
    let Source::Users { level, .. } = &closed.groups[0].source else { panic!() };
    let users: Vec<f64> = level.phases().iter().map(|phase| phase.to_users).collect();
    assert_eq!(users, [50.0, 8.0]);
}

#[test]
fn short_phases_in_a_file_are_the_holds_that_they_stand_for() {
    let file = |phases: &str| {
        format!("users: {{ name: a, arrive: {{ rate: 50/s }}, phases: {phases} }}\njourney: [{{ get: / }}]\n")
    };
    let short = scenario(&file("[3s@50, 7s@200/s, '9s@60/1m']"), &[]);
    let long =
        scenario(&file("[{ hold: 3s, at: 50/s }, { hold: 7s, at: 200/s }, { hold: 9s, at: 1/s }]"), &[]);
    assert_eq!((rates(&short), lengths(&short)), (rates(&long), lengths(&long)));
    assert_eq!(rates(&short), [(50.0, 50.0), (200.0, 200.0), (1.0, 1.0)]);
    let written = short.document();
    assert_eq!(rates(&scenario(&written, &[])), rates(&short), "{written}");
    // Flags reach short entries as they reach those that are written out.
    assert_eq!(rates(&scenario(&file("[3s@50]"), &[("rate", "70")])), [(70.0, 70.0)]);
    assert_eq!(rates(&scenario(&file("[3s@50]"), &[("users.phases.0.at", "7/s")])), [(7.0, 7.0)]);
    let more = scenario(&file("[3s@50]"), &[("users.phases.+", "4s@9"), ("duration", "5s")]);
    assert_eq!((rates(&more), lengths(&more)), (vec![(50.0, 50.0), (9.0, 9.0)], vec![3, 5, 0]));
    let refused = mistakes(&file("[3s@50, 7s@200]"), &[("rate", "70")]);
    assert!(refused.contains("does not reach a phase that says otherwise"), "{refused}");
    let refused = flagged(&file("[3s@50]"), &[phases("3s@60"), Override::flag("-R", "rate", "70")]);
    assert!(refused.err().unwrap().to_string().contains("does not reach a phase that says otherwise"));
}

#[test]
fn mistakes_in_phases_are_shown_where_they_were_typed() {
    let given = |text: &str, entries: &str| match flagged(text, &[phases(entries)]) {
        Ok(_) => panic!("{entries} is taken"),
        Err(shown) => format!("--phases {entries}\n-----\n{shown}\n"),
    };
    let entries = [
        "30s@50, 1m@fast",
        "30s@50, 1m@60@70",
        "30@50, soon@60",
        "30s@50, 1m",
        "30s@, 1m@20",
        "30s@50, @20",
        "30s@50, 0s@20",
        "30s@50, ${DB_PASSWORD}@20",
        "30s@50], [1m@20",
        "30s@50, 1m@20 # no more",
        "30s@50,, 1m@20",
        ",",
        "",
        "30s@50\n1m@20",
        "{ hold: 30s }, 1m@20",
        "30s@50, { hold: 1m, too: 20/s }",
        "30s@50, { ramp: 1m, to: 20 }",
        "30s@50, { hold: 1m, at: 20/s, warmup: true }",
        "{ hold: 1m, at: 20/s, warmup: true }",
        "30s@0, 1m@0",
        "30s@50, 9000h@20",
    ];
    let mut shown: Vec<String> = entries.iter().map(|entries| given(NO_RATE, entries)).collect();
    shown.push(given(ONE, "30s@50, 1m@fast"));
    shown.push(given(ONE, "30s@0"));
    shown.push(given(TEXT, "30s@50"));
    shown.push(given("users: { at-once: 5 }\njourney: [{ get: / }]\n", "30s@50"));
    shown.push(given("users: { closed: { count: 5 } }\njourney: [{ get: / }]\n", "30s@50/s"));
    let shown = shown.join("\n=====\n");
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(shown) });
}
