//! What a scenario that is one reads as.

use crate::common::scenario;
use headway_base::{Nanos, Phase, Profile, Rate};
use headway_workload::client::RequestKey;
use headway_workload::content::{Memory, RenderContext};
use headway_workload::model::{Kind, Model, Part, Station};
use headway_workload::plan::{Connections, LONGEST, OnFailure, Plan, Source};
use headway_workload::users::UserPhase;
use headway_workload::{Process, Shard};

const STEP: &str = "journey: [{ get: / }]\n";

fn seconds(s: i64) -> Nanos {
    Nanos::from_secs(s)
}

/// Lengths and values of an arriving group's phases.
fn rates(source: &Source) -> Vec<(i64, f64, f64)> {
    let Source::Arrivals { profile, .. } = source else { panic!("{source:?}") };
    profile.phases().map(|p| (p.length.0 / 1_000_000_000, p.from.0, p.to.0)).collect()
}

/// Lengths and values of a closed group's phases.
fn users(source: &Source) -> Vec<(i64, f64, f64)> {
    let Source::Users { level, requests: None } = source else { panic!("{source:?}") };
    let phase = |p: &UserPhase| (p.length.0 / 1_000_000_000, p.from_users, p.to_users);
    level.phases().iter().map(phase).collect()
}

#[test]
fn an_open_scenario_of_one_step_is_the_plan_of_the_command_line() {
    let text = format!(
        "target: http://h\nusers:\n  arrive: {{ rate: 123.4/s, process: gamma(2.5) }}\n  phases:\n    \
         - {{ ramp: 3s, to: 123.4/s, warmup: true }}\n    - {{ hold: 2s, warmup: true }}\n    - {{ hold: 5s }}\n{STEP}"
    );
    let ours = scenario(&text).plan(7, Shard::new(1, 3).unwrap());
    let process = Process::Gamma { cov: 2.5 };
    let mut theirs = Plan::ramp_and_hold(7, process, Rate(123.4), seconds(3), seconds(2), seconds(5));
    theirs.shard = Shard::new(1, 3).unwrap();
    assert_eq!(ours, theirs);
    assert_eq!(ours.arrivals().collect::<Vec<_>>(), theirs.arrivals().collect::<Vec<_>>());
    assert_eq!(ours.document(), theirs.document());
}

/// A trace has the instants of its log, from the first and in order; shards divide it, and a session is a journey as ever.
#[test]
fn a_log_says_when_sessions_arrive() {
    let read = scenario(
        "users: { arrive: { process: \"trace(access.log, speed=2)\" } }\njourney: [{ get: /a }, { get: /b }]\n",
    );
    let plan = read.plan(3, Shard::WHOLE);
    let all: Vec<i64> = plan.arrivals().map(|a| a.intended.0 / 1_000_000).collect();
    assert_eq!(all, [0, 750, 2_000, 4_000]);
    assert_eq!((plan.end(), plan.measured_from), (Nanos::from_secs(4), Nanos::ZERO));
    assert!(plan.groups[0].arrives() && !plan.is_open() && plan.process().is_none());
    assert_eq!(read.files, ["access.log"]);
    assert!((plan.profile().unwrap().total() - 4.0).abs() < 1e-9);
    let mut union: Vec<_> = (0..3).flat_map(|i| plan.arrivals_of(Shard::new(i, 3).unwrap())).collect();
    union.sort_unstable_by_key(|arrival| arrival.k);
    assert_eq!(union, plan.arrivals().collect::<Vec<_>>());
    // Written down it has all but the instants.
    let written = plan.document().plan().unwrap();
    assert_eq!(written.trace().unwrap().as_ref(), &plan.trace().unwrap().without_instants());
}

/// With requests=own each arrival is a request of the step of its label, wherever that stands in the journey.
#[test]
fn a_log_says_what_is_asked_for() {
    let read = scenario(
        "users: { arrive: { process: \"trace(named.log,requests=own)\" } }\njourney: [{ get: /l, name: look, repeat: 3 }, { post: /b, name: buy }]\n",
    );
    let plan = read.plan(3, Shard::WHOLE);
    assert!(plan.is_open() && plan.groups[0].journey.is_single());
    let next = |k| plan.groups[0].journey.next(&mut Default::default(), plan.draws(0), k);
    let steps: Vec<_> = (0..5)
        .map(|k| match next(k) {
            headway_workload::journey::Next::Ask(ask) => Some(ask.step),
            headway_workload::journey::Next::Over(_) => None,
        })
        .collect();
    // In the order of time: look, buy, look, look; no fifth.
    assert_eq!(steps, [Some(0), Some(1), Some(0), Some(0), None]);
    let written = serde_json::to_string(&plan.document()).unwrap();
    assert!(written.contains("\"logged\":\""), "{written}");
}

/// A day is mean (1 + (peak - 1) cos(2 pi (t - peak-at)/day)): at every second within 0.06 % of the mean, its integral over whole days
/// exactly, and over a part of one within the same share.
#[test]
fn a_day_has_its_mean_and_its_peak() {
    let phases = |phases: &str| {
        scenario(&format!(
            "users: {{ arrive: {{ rate: 50/s }}, phases: [{phases}] }}\njourney: [{{ get: / }}]\n"
        ))
    };
    let profile = |text: &str| {
        let read = phases(text);
        let Source::Arrivals { profile, .. } = &read.groups[0].source else { panic!("{text}") };
        (**profile).clone()
    };
    let day = profile("{ daily: 24h, mean: 200/s, peak: 1.5, peak-at: 14h }");
    let rate = |hours: f64| 200.0 * (1.0 + 0.5 * (std::f64::consts::TAU * (hours - 14.0) / 24.0).cos());
    for second in (0..86_400).step_by(61) {
        let (seen, law) = (day.rate_at(seconds(second)).0, rate(second as f64 / 3600.0));
        assert!((seen - law).abs() < 0.0006 * 200.0, "{second} s: {seen}, not {law}");
    }
    assert!((day.rate_at(seconds(14 * 3600)).0 - 300.0).abs() < 1e-9);
    assert!((day.rate_at(seconds(2 * 3600)).0 - 100.0).abs() < 1e-9);
    assert!((day.total() - 200.0 * 86_400.0).abs() < 1e-3, "{}", day.total());
    assert_eq!(day.end(), seconds(86_400));
    // The integral of the course from 0 to 6 h.
    let sine =
        |hours: f64| 24.0 / std::f64::consts::TAU * (std::f64::consts::TAU * (hours - 14.0) / 24.0).sin();
    let law = 200.0 * 3600.0 * (6.0 + 0.5 * (sine(6.0) - sine(0.0)));
    assert!((day.cumulative(seconds(6 * 3600)) / law - 1.0).abs() < 0.0006);
    // A day of ten minutes, of which a quarter is played: without more it begins and ends at the lowest, around the group's rate.
    let short = profile("{ daily: 150s, day: 10m, peak: 2 }");
    assert_eq!((short.end(), short.rate_at(Nanos::ZERO).0), (seconds(150), 0.0));
    assert!((short.phases().last().unwrap().to.0 - 50.0).abs() < 1e-9);
    // What follows goes on from where it ended.
    let then = profile("{ daily: 24h, mean: 20/s, peak: 2, peak-at: 0s }, { hold: 1s }");
    assert!((then.phases().last().unwrap().to.0 - 40.0).abs() < 1e-9);
    // Users come and go with the day too.
    let closed = scenario(
        "users: { closed: { count: 80 }, phases: [{ daily: 24h, peak: 1.25 }] }\njourney: [{ get: / }]\n",
    );
    let highest = users(&closed.groups[0].source).iter().map(|p| p.2).fold(0.0, f64::max);
    assert!((highest - 100.0).abs() < 1e-9);
}

#[test]
fn phases_of_arrivals_follow_each_other() {
    let text = "users:\n  arrive: { rate: 20/s }\n  phases:\n    - { ramp: 1s, to: 10/s, warmup: true }\n    - { hold: 2s }\n    \
                - { step: 3s, by: 5/s, times: 2 }\n    - { spike: 4s, to: 100/s }\n    - { hold: 5s }\n    - { pause: 6s }\n    \
                - { ramp: 7s, from: 1/s, to: 0/s }\n    - { hold: 8s, at: 3/s }\njourney: [{ get: / }]\n";
    let read = scenario(text);
    let expected = [
        (1, 0.0, 10.0),
        (2, 10.0, 10.0),
        (3, 15.0, 15.0),
        (3, 20.0, 20.0),
        (4, 100.0, 100.0),
        (5, 20.0, 20.0),
        (6, 0.0, 0.0),
        (7, 1.0, 0.0),
        (8, 3.0, 3.0),
    ];
    assert_eq!(rates(&read.groups[0].source), expected);
    assert_eq!((read.measured_from, read.end), (seconds(1), seconds(39)));
    let default = scenario(&format!("users: {{ arrive: {{ rate: 20/s }} }}\n{STEP}"));
    assert_eq!(rates(&default.groups[0].source), [(10, 20.0, 20.0)]);
    // A hold at the start is at the rate, a ramp begins at 0, a spike at the start leaves nothing behind.
    let text = "users: { arrive: { rate: 2/s }, phases: [{ spike: 1s, to: 9/s }, { hold: 1s }, { ramp: 1s, to: 4/s }] }\n";
    let read = scenario(&format!("{text}{STEP}"));
    assert_eq!(rates(&read.groups[0].source), [(1, 9.0, 9.0), (1, 2.0, 2.0), (1, 2.0, 4.0)]);
}

#[test]
fn phases_of_closed_groups_are_numbers_of_users() {
    let text = "users:\n  closed: { count: 5 }\n  pace: exp(10s)\n  phases:\n    - { ramp: 1s, to: 5, warmup: true }\n    - { hold: 2s }\n    \
                - { step: 3s, by: 1, times: 2 }\n    - { pause: 4s }\n    - { hold: 1s }\njourney: [{ get: / }]\n";
    let group = scenario(text).groups.swap_remove(0);
    let expected = [(1, 0.0, 5.0), (2, 5.0, 5.0), (3, 6.0, 6.0), (3, 7.0, 7.0), (4, 0.0, 0.0), (1, 7.0, 7.0)];
    assert_eq!(users(&group.source), expected);
    assert_eq!(group.connections, Connections::PerUser);
    assert_eq!(group.pace.unwrap().to_string(), "exp(10s)");
}

#[test]
fn fixed_work_ends_by_itself() {
    let once = scenario(&format!("users: {{ at-once: 1k, connections: shared }}\n{STEP}"));
    assert_eq!(once.groups[0].source, Source::AtOnce { sessions: 1000 });
    assert_eq!((once.end, once.groups[0].connections), (LONGEST, Connections::Shared));
    let work = scenario(&format!("users: {{ work: {{ requests: 10000, users: 50 }} }}\n{STEP}"));
    let Source::Users { level, requests } = &work.groups[0].source else { panic!() };
    assert_eq!((level.most(), *requests, work.end), (50, Some(10_000), LONGEST));
    assert!(work.plan(1, Shard::WHOLE).is_fixed_work());
}

#[test]
fn several_groups_are_measured_from_the_latest_warm_up_to_the_end_of_the_longest() {
    let text = "users:\n  - name: a\n    arrive: { rate: 1/s }\n    phases: [{ hold: 5s, warmup: true }, { hold: 20s }]\n    \
                journey: one\n    on-failure: end-session\n  - name: b\n    closed: { count: 3 }\n    \
                phases: [{ hold: 8s, warmup: true }, { hold: 4s }]\n    journey: two\n  - name: c\n    \
                arrive: { rate: 1/s }\n    phases: [{ hold: 3s }]\n    journey: [{ delete: /c }]\n\
                journeys:\n  one: [{ get: /a }]\n  unused: [{ get: /nobody }]\n  two: [{ get: /b1 }, { get: /b2, repeat: 2 }]\n";
    let read = scenario(text);
    assert_eq!((read.measured_from, read.end), (seconds(8), seconds(25)));
    assert_eq!(read.labels, ["GET /a", "GET /b1", "GET /b2", "DELETE /c"]);
    let names: Vec<&str> = read.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(read.groups[0].on_failure, OnFailure::EndSession);
    let longest: Vec<u64> = read.groups.iter().map(|group| group.journey.longest()).collect();
    assert_eq!(longest, [1, 3, 1]);
}

#[test]
fn journeys_have_choices_blocks_pauses_and_think_times_of_their_own() {
    use headway_workload::journey::Node;
    let text = "users: { closed: { count: 1 }, think: \"uniform(0s, 2s)\" }\njourney:\n  - get: /a\n    repeat: 3\n    think: exp(1s)\n  \
                - choose:\n      - { weight: 3, steps: [{ get: /b }] }\n      - steps: []\n  - repeat: 2\n    steps:\n      - pause: 1s\n      \
                - get: /c\n";
    let journey = scenario(text).groups.swap_remove(0).journey;
    let law = |text: &str| headway_base::dist::parse(text, &|_| Err(String::new())).unwrap();
    let ask = |step| Node::Ask { step, repeat: 1, think: None };
    let expected = [
        Node::Ask { step: 0, repeat: 3, think: Some(law("exp(1s)")) },
        Node::Choose(vec![(3.0, vec![ask(1)]), (1.0, vec![])]),
        Node::Repeat(2, vec![Node::Pause(law("1s")), ask(2)]),
    ];
    assert_eq!(journey.nodes(), expected);
    assert_eq!(journey.think(), &law("uniform(0s,2s)"));
}

#[test]
fn settings_are_what_is_written_and_nothing_else() {
    let text = "name: a.b_c-d\ntarget: https://h:1/base\nseed: 9007199254740991\nconnections: 10k\ntimeout: 1m30s\n\
                connect-timeout: 2s\nmax-wait: 0\ndrain: 5s\nmax-body: 64MiB\ninsecure: true\ntolerances: { lateness: 0.02s, effect: 7% }\n\
                thresholds: ['p(99) < 100ms', { threshold: 'failed: rate < 0.1', abort: true, delay: 10s }, { threshold: x, abort: true }]\n";
    let read = scenario(&format!("{text}users: {{ arrive: {{ rate: 1/s }} }}\n{STEP}"));
    assert_eq!((read.name.as_str(), read.seed), ("a.b_c-d", Some((1 << 53) - 1)));
    assert_eq!(read.target.unwrap().path, "/base");
    let s = read.settings;
    assert_eq!(
        (s.connections, s.timeout, s.connect_timeout),
        (Some(10_000), Some(seconds(90)), Some(seconds(2)))
    );
    assert_eq!(
        (s.max_wait, s.drain, s.max_body, s.insecure),
        (Some(Nanos::ZERO), Some(seconds(5)), Some(64 << 20), Some(true))
    );
    assert_eq!(s.lateness.map(|lateness| lateness.length()), Some(Nanos::from_millis(20)));
    assert_eq!(s.effect, Some(0.07));
    let thresholds: Vec<_> = read.thresholds.iter().map(|t| (t.text.as_str(), t.abort)).collect();
    assert_eq!(
        thresholds,
        [("p(99) < 100ms", None), ("failed: rate < 0.1", Some(seconds(10))), ("x", Some(Nanos::ZERO))]
    );
    let least = scenario(&format!("users: {{ arrive: {{ rate: 1/s }} }}\n{STEP}"));
    assert_eq!((least.name.as_str(), least.target, least.seed), ("a", None, None));
    assert_eq!(least.settings, Default::default());
}

/// The station of a model that is one.
#[track_caller]
fn only_station(model: &Model) -> &Station {
    match &model.parts[..] {
        [Part { kind: Kind::Station(station), .. }] => station,
        parts => panic!("{parts:?}"),
    }
}

#[test]
fn the_model_is_data() {
    let text = "users: { arrive: { rate: 1/s } }\njourney: [{ get: /a, name: add }]\nmodel:\n  servers: 4\n  service: exp(8ms)\n  queue: 100\n  \
                stalls: { every: 60s, for: 2s }\n  accept: 200/s\n  cold: { factor: 2.4, requests: 4000 }\n  \
                steps: { add: { service: empirical(times.txt) } }\n  pauses: { every: exp(4s), for: const(100ms) }\n";
    let read = scenario(text);
    let model = read.model().unwrap();
    let station = only_station(model);
    assert_eq!((station.servers, station.queue, model.accept), (4, Some(100), Some(Rate(200.0))));
    assert_eq!(station.stalls, headway_base::station::Stalls::new(seconds(60), seconds(2)).ok());
    let cold = station.cold.unwrap();
    assert_eq!((cold.factor, cold.requests), (2.4, 4000));
    let (step, law) = &station.steps[0];
    assert_eq!((*step, law.to_string()), (0, "empirical(times.txt)".to_owned()));
    assert_eq!(model.pauses.as_ref().unwrap().every.to_string(), "exp(4s)");
    assert_eq!(read.files, ["times.txt"]);
    let once = scenario(&text.replace("every: 60s, for: 2s", "at: 20s, for: 2s"));
    assert_eq!(
        only_station(once.model().unwrap()).stalls,
        headway_base::station::Stalls::once(seconds(20), seconds(2)).ok()
    );
}

#[test]
fn anchors_and_merge_keys_are_resolved() {
    let text = "users:\n  - &group\n    name: a\n    arrive: { rate: 1/s }\n  - <<: *group\n    name: b\njourney: [{ get: / }]\n";
    let read = scenario(text);
    assert_eq!(read.groups.len(), 2);
    assert_eq!((read.groups[1].name.as_str(), &read.groups[1].source), ("b", &read.groups[0].source));
}

#[test]
fn variables_of_the_environment_stand_for_any_value() {
    let text = "target: http://${HOST}/$${x}\nusers: { arrive: { rate: \"${RATE}\" } }\n\
                journey: [{ get: /, repeat: \"${COUNT}\" }]\n";
    let read = scenario(text);
    assert_eq!(read.target.as_ref().unwrap().authority, "127.0.0.1:8080");
    assert_eq!(read.target.unwrap().path, "/$%7Bx%7D");
    assert_eq!(rates(&read.groups[0].source), [(10, 20.0, 20.0)]);
    assert_eq!(read.groups[0].journey.longest(), 12);
    assert_eq!(read.redacted, text);
}

#[test]
fn what_urls_bodies_and_added_names_hold_stands_in_no_copy() {
    let text = "redact: [door]\ntarget: http://127.0.0.1/base # http://me:pass-5ecre7@h/?sig=sig-5ecre7\nvariables: { door: door-5ecre7, plain: p }\n\
                users: { arrive: { rate: 1/s } }\njourney:\n\
                - { get: '/a?token=tok&page=2' }\n\
                - { post: /b, json: { user: u, password: json-5ecre7, keys: { api_key: [nested-5ecre7] } } }\n\
                - { post: /c, form: { code: form-5ecre7, x: y }, query: { access_token: query-5ecre7 } }\n\
                - { post: /d, text: '<password>xml-5ecre7</password>', name: of door-5ecre7 }\n\
                - { post: /e, multipart: [ { name: secret, text: part-5ecre7 } ] } # not json-5ecre7\n";
    let read = scenario(text);
    assert!(!read.redacted.contains("5ecre7") && !read.redacted.contains("token=tok&"), "{}", read.redacted);
    for kept in [
        "token=<redacted>&page=2",
        "user: u, password: \"<redacted>\"",
        "plain: p",
        "//<redacted>@h/?sig=<redacted>",
    ] {
        assert!(read.redacted.contains(kept), "{kept}: {}", read.redacted);
    }
    assert_eq!(read.labels[0], "GET /a");
    assert_eq!(read.labels[3], "of <redacted>");
    let wrong = crate::common::mistakes(&text.replace("page=2", "page={{pge}}"));
    assert!(wrong.contains("pge") && !wrong.contains("5ecre7") && !wrong.contains("=tok&"), "{wrong}");
}

#[test]
fn a_file_that_is_not_yaml_shows_its_lines_without_secrets() {
    // A plain text cannot begin with @.
    let broken = |line: &str| crate::common::mistakes(&format!("target: http://h\nheaders:\n{line}\n"));
    for line in ["  Authorization: @abc-5ecre7", "  password: @abc-5ecre7", "  get: @/x?token=abc-5ecre7"] {
        let wrong = broken(line);
        assert!(!wrong.contains("5ecre7") && wrong.contains("<redacted>"), "{wrong}");
    }
}

#[test]
fn secrets_are_known_and_stand_in_no_copy_and_no_message() {
    let text = "headers: { Authorization: Bearer literal-secret }\nvariables: { pass_key: 'other-secret', plain: p }\n\
                users: { arrive: { rate: 1/s } }\n\
                journey: [{ get: '/${API_TOKEN}/x' }, { get: /y, headers: { X-Api-Key: '${DB_PASSWORD}' } }]\n";
    let read = scenario(text);
    for secret in ["Bearer literal-secret", "literal-secret", "other-secret", "tok-5ecre7", "hunter2-5ecre7"]
    {
        assert_eq!(read.redactor.hide(secret), "<redacted>");
        assert!(!read.redacted.contains(secret), "{secret}");
    }
    assert!(read.redacted.contains("'/${API_TOKEN}/x'") && read.redacted.contains("plain: p"));
    assert_eq!(read.labels, ["GET /<redacted>/x", "GET /y"]);
    let wrong = crate::common::mistakes(&text.replace("'/${API_TOKEN}/x'", "'${API_TOKEN}/x#'"));
    assert!(!wrong.contains("5ecre7") && !wrong.contains("literal-secret"), "{wrong}");
    assert!(!format!("{read:?}").contains("literal-secret"));
}

#[test]
fn thresholds_can_be_complained_about_where_they_stand() {
    let text = format!("users: {{ arrive: {{ rate: 1/s }} }}\nthresholds: ['p(99) << 1']\n{STEP}");
    let read = scenario(&text);
    let shown = read.complaint(read.thresholds[0].span, "'<<' compares nothing", Some("write <")).to_string();
    assert!(shown.contains("a.yaml:2:14") && shown.contains("write <"), "{shown}");
}

#[test]
fn a_profile_is_the_one_of_its_phases() {
    let text = format!("users: {{ arrive: {{}}, phases: [{{ ramp: 10s, to: 60/1m }}] }}\n{STEP}");
    let Source::Arrivals { profile, process } = scenario(&text).groups.swap_remove(0).source else {
        panic!()
    };
    assert_eq!(*profile, Profile::new(&[Phase::ramp(seconds(10), Rate(0.0), Rate(1.0))]));
    assert_eq!(process, Process::Poisson);
}

/// Steps that are whole URLs: origins are numbered as they come, the target is 0, and its base path and secrets are its own.
#[test]
fn whole_urls_are_steps_of_other_origins() {
    let text = "target: http://a.test/base\nredirects: 2\norigins: [ http://c.test:81, https://b.test ]\n\
                headers: { Authorization: Bearer planted, X-Tag: all }\nusers: { arrive: { rate: 1/s } }\njourney:\n  \
                - get: /x\n  - get: https://b.test/items/{{user.id}}?q=1\n  - { get: http://A.test, name: own }\n  \
                - { get: https://b.test:443/, name: again, headers: { Host: d.test } }\n";
    let read = scenario(text);
    let others: Vec<String> = read.origins.iter().map(ToString::to_string).collect();
    // The last is the target's own host by https.
    assert_eq!(others, ["https://b.test/", "http://c.test:81/", "https://a.test/"]);
    assert_eq!(read.groups[0].journey.origins(), [0, 1, 0, 1]);
    assert_eq!(read.labels[1], "GET https://b.test/items/{{user.id}}");
    let request = |step: u16| {
        let sending = RequestKey { step, user: 7, ..RequestKey::default() };
        let visit = RenderContext { sending: &sending, now_unix_ns: 0 };
        let request = read.script.render(&visit, &Memory::default()).unwrap();
        let headers: Vec<String> =
            request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        (request.path, headers.join(", "))
    };
    let target = "Authorization: Bearer planted, X-Tag: all".to_owned();
    assert_eq!(request(0), ("/base/x".to_owned(), target.clone()));
    assert_eq!(request(1), ("/items/7?q=1".to_owned(), "X-Tag: all".to_owned()));
    assert_eq!(request(2), ("/".to_owned(), target));
    assert_eq!(request(3), ("/".to_owned(), "Host: d.test, X-Tag: all".to_owned()));
    // However a header of the file comes to its secret, that stays with the target.
    let shared = "variables: { token: '7', plain: x }\nheaders: { X-A: '{{vars.token}}', X-B: 'u:{{vars.token}}', X-C: '{{sid}}', \
                  X-D: '{{my_token}}', X-E: '{{got}}', X-F: '{{vars.plain}}' }\n";
    let steps = "  - { get: /, headers: { X-C: a, X-D: a, X-E: a }, extract: { sid: { regex: 's=(.)' }, my_token: { json: /t }, \
                 got: { cookie: c } } }\n  - get: http://b.test/\n  - { get: http://b.test/, name: own, headers: { X-A: '{{vars.token}}' } }\n";
    let text =
        format!("target: http://a.test\n{shared}users: {{ arrive: {{ rate: 1/s }} }}\njourney:\n{steps}");
    let read = scenario(&text);
    let headers = |step: u16| {
        let sending = RequestKey { step, ..RequestKey::default() };
        let visit = RenderContext { sending: &sending, now_unix_ns: 0 };
        read.script.render(&visit, &Memory::default()).unwrap().headers
    };
    let all = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    assert_eq!(headers(0).len(), 6);
    assert_eq!(headers(1), all(&[("X-F", "x")]));
    assert_eq!(headers(2), all(&[("X-A", "7"), ("X-F", "x")]));
    let one = scenario(
        "target: http://a.test:8080\nredirects: 2\nusers: { arrive: { rate: 1/s } }\njourney: [{ get: / }]\n",
    );
    assert!(one.origins.is_empty() && one.groups[0].journey.origins().is_empty());
}
