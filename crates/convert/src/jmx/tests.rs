use super::*;
use headway_base::Nanos;
use headway_workload::client::RequestKey;
use headway_workload::content::{Memory, RenderContext};
use headway_workload::plan::Source;
use headway_workload::request::Request;
use headway_workload::scenario::{Scenario, Surroundings, parse};

/// The templates of JMeter, and what becomes of each with a target: none where it has no HTTP request.
const TEMPLATES: &[(&str, &str)] = &[
    ("BeanShellSampler", include_str!("../../tests/samples/jmx/BeanShellSampler.jmx")),
    ("GroovyJSR223Sampler", include_str!("../../tests/samples/jmx/GroovyJSR223Sampler.jmx")),
    ("ThinkTime", include_str!("../../tests/samples/jmx/ThinkTime.jmx")),
    ("build-adv-web-test-plan", include_str!("../../tests/samples/jmx/build-adv-web-test-plan.jmx")),
    ("build-ftp-test-plan", include_str!("../../tests/samples/jmx/build-ftp-test-plan.jmx")),
    ("build-ldap-ext-test-plan", include_str!("../../tests/samples/jmx/build-ldap-ext-test-plan.jmx")),
    ("build-ldap-test-plan", include_str!("../../tests/samples/jmx/build-ldap-test-plan.jmx")),
    ("build-web-test-plan", include_str!("../../tests/samples/jmx/build-web-test-plan.jmx")),
    ("build-webservice-test-plan", include_str!("../../tests/samples/jmx/build-webservice-test-plan.jmx")),
    (
        "functional-testing-01-test-plan",
        include_str!("../../tests/samples/jmx/functional-testing-01-test-plan.jmx"),
    ),
    ("jdbc", include_str!("../../tests/samples/jmx/jdbc.jmx")),
    ("recording", include_str!("../../tests/samples/jmx/recording.jmx")),
    ("recording-with-think-time", include_str!("../../tests/samples/jmx/recording-with-think-time.jmx")),
    (
        "simple-http-request-test-plan",
        include_str!("../../tests/samples/jmx/simple-http-request-test-plan.jmx"),
    ),
];

const SHOP: &str = include_str!("../../tests/samples/jmx/shop.jmx");

/// What a run reads of it. Every file of rows has the columns login and password; variables of the environment are set.
fn read(made: &Converted) -> Scenario {
    let around = Surroundings {
        read: &|name| {
            let rows = b"login,password\nann,pw\n".to_vec();
            Ok(if name.ends_with(".csv") { rows } else { name.as_bytes().to_vec() })
        },
        log: &headway_workload::scenario::no_logs,
        env: &|name| name.starts_with("HEADWAY_").then(|| format!("<{name}>")),
    };
    parse("made.yaml", &made.scenario, &around).unwrap_or_else(|e| panic!("{e}\n{}", made.scenario))
}

/// The scenario and the list as a person gets them.
fn told(made: &Converted) -> String {
    format!("{}\n--- told\n{}\n", made.scenario, made.notes.join("\n"))
}

fn refused(text: &str) -> String {
    format!("{:#}", scenario("p.jmx", text, &Choices::default()).unwrap_err())
}

/// A plan with these elements in a thread group of one thread and one loop.
fn plan(inside: &str) -> String {
    group("", inside)
}

/// A plan with one thread group that has these properties.
fn group(properties: &str, inside: &str) -> String {
    format!(
        r#"<jmeterTestPlan><hashTree><TestPlan testname="T"/><hashTree><ThreadGroup testname="G">
        <elementProp name="ThreadGroup.main_controller"><stringProp name="LoopController.loops">1</stringProp></elementProp>
        <stringProp name="ThreadGroup.num_threads">1</stringProp>{properties}</ThreadGroup><hashTree>
        {inside}</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

/// A sampler with these properties and these elements below it.
fn sampler(name: &str, properties: &str, below: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy testname="{name}"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>{properties}</HTTPSamplerProxy>
        <hashTree>{below}</hashTree>"#
    )
}

fn prop(name: &str, value: &str) -> String {
    let value = value.replace('&', "&amp;").replace('<', "&lt;");
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

fn made(text: &str) -> (Converted, Scenario) {
    let converted = scenario("p.jmx", text, &Choices::default()).unwrap();
    let scenario = read(&converted);
    (converted, scenario)
}

fn requests(scenario: &Scenario) -> Vec<Request> {
    let request = |step: usize| {
        let sending = RequestKey { step: step as u16, ..RequestKey::default() };
        let context = RenderContext { sending: &sending, now_unix_ns: 0 };
        scenario.script.render(&context, &Memory::default()).unwrap()
    };
    (0..scenario.labels.len()).map(request).collect()
}

#[test]
fn the_templates_of_jmeter_become_scenarios_or_say_why_not() {
    let mut all = String::new();
    let mut scenarios = Vec::new();
    for (name, text) in TEMPLATES {
        let file = format!("{name}.jmx");
        let made = scenario(&file, text, &Choices::default());
        // A plan of which JMeter asks the host has none.
        let made = made.or_else(|error| {
            let target = Choices { target: Some("http://127.0.0.1:8080/".to_owned()), group: None };
            if error.to_string().contains("--target") { scenario(&file, text, &target) } else { Err(error) }
        });
        match &made {
            Ok(made) => {
                read(made);
                scenarios.push(*name);
                all += &format!("=== {name}\n{}\n", told(made));
            }
            Err(error) => all += &format!("=== {name}\nrefused: {error:#}\n\n"),
        }
    }
    assert_eq!(scenarios, ["build-adv-web-test-plan", "build-web-test-plan", "build-webservice-test-plan"]);
    insta::assert_snapshot!("templates", all);
}

#[test]
fn a_plan_of_everything_is_a_scenario_and_a_list() {
    let (made, scenario) = made(SHOP);
    insta::assert_snapshot!("shop", told(&made));
    for secret in ["abc-4711", "k-4712", "secret-4713", "hunter2"] {
        assert!(!told(&made).contains(secret), "{secret}");
    }
    assert_eq!(scenario.groups.len(), 4);
    let setup = Choices { group: Some("Prepare".to_owned()), ..Choices::default() };
    let made = super::scenario("shop.jmx", SHOP, &setup).unwrap();
    assert_eq!(read(&made).labels.iter().filter(|label| !label.contains("redirected")).count(), 1);
    let none = Choices { group: Some("None".to_owned()), ..Choices::default() };
    let error = super::scenario("shop.jmx", SHOP, &none).unwrap_err().to_string();
    assert!(error.contains("thread groups are Prepare, Browse & buy, API, Batch, Burst"), "{error}");
}

#[test]
fn users_come_as_threads_do() {
    let one = sampler("a", "", "") + &sampler("b", "", "");
    let threads =
        |n: &str, ramp: &str| prop("ThreadGroup.num_threads", n) + &prop("ThreadGroup.ramp_time", ramp);
    let group = |properties: &str, loops: &str| {
        let text = super::tests::group("", &one)
            .replace(r#"<stringProp name="ThreadGroup.num_threads">1</stringProp>"#, properties)
            .replace(r#"loops">1<"#, &format!(r#"loops">{loops}<"#));
        made(&text)
    };
    let scheduled = |seconds: &str, delay: &str| {
        prop("ThreadGroup.scheduler", "true")
            + &prop("ThreadGroup.duration", seconds)
            + &prop("ThreadGroup.delay", delay)
    };
    // Thread i of n starts at i R / n: 10 a second over 2 s.
    let (_, scenario) = group(&threads("20", "2"), "1");
    let Source::Arrivals { profile, .. } = &scenario.groups[0].source else { panic!("no arrivals") };
    assert!((profile.total() - 20.0).abs() < 1e-9 && scenario.end == Nanos::from_secs(2), "{profile:?}");
    let (_, scenario) = group(&threads("20", "0"), "1");
    assert!(matches!(scenario.groups[0].source, Source::AtOnce { sessions: 20 }));
    let (_, scenario) = group(&threads("20", "0"), "5");
    assert!(
        matches!(&scenario.groups[0].source, Source::Users { requests: Some(200), level } if level.most() == 20)
    );
    let (_, scenario) = group(&(threads("20", "10") + &scheduled("60", "5")), "-1");
    let Source::Users { requests: None, level } = &scenario.groups[0].source else { panic!("not closed") };
    assert_eq!((level.most(), scenario.end), (20, Nanos::from_secs(65)));
    // A ramp that is longer than the test gets to a part of the threads.
    let (_, scenario) = group(&(threads("20", "100") + &scheduled("50", "")), "-1");
    let Source::Users { level, .. } = &scenario.groups[0].source else { panic!("not closed") };
    assert_eq!((level.most(), scenario.end), (10, Nanos::from_secs(50)));
    let (converted, _) = group(&threads("3", "0"), "-1");
    assert!(
        converted.notes.iter().any(|n| n.contains("p.jmx:1: 'G' (ThreadGroup): it loops without end")),
        "{:?}",
        converted.notes
    );
}

#[test]
fn an_open_model_is_one() {
    let schedule = "rate(0) random_arrivals(10 s) rate(${__P(rate,6)}/sec) pause(5 s) random_arrivals(20 s)";
    let text = plan(&sampler("a", "", "")).replace("<ThreadGroup ", "<OpenModelThreadGroup ").replace(
        "</ThreadGroup>",
        &(prop("OpenModelThreadGroup.schedule", schedule) + "</OpenModelThreadGroup>"),
    );
    let (_, scenario) = made(&text);
    let Source::Arrivals { profile, .. } = &scenario.groups[0].source else { panic!("no arrivals") };
    // 10 s at 3/s in the mean, 5 s of none, 20 s at 6/s.
    assert!((profile.total() - 150.0).abs() < 1e-9 && scenario.end == Nanos::from_secs(35), "{profile:?}");
}

#[test]
fn a_throughput_timer_makes_the_load_open() {
    let timer = |kind: &str, mode: &str| {
        format!(
            r#"<{kind} testname="t"><doubleProp><name>throughput</name><value>120</value></doubleProp>
            <intProp name="calcMode">{mode}</intProp><intProp name="throughputPeriod">60</intProp></{kind}><hashTree/>"#
        )
    };
    let two = sampler("a", "", "") + &sampler("b", "", "");
    let threads = prop("ThreadGroup.scheduler", "true") + &prop("ThreadGroup.duration", "100");
    // 120 requests a minute are 2 a second, and with two requests to a session one session a second.
    for (kind, mode, arrivals) in [
        ("ConstantThroughputTimer", "2", 100.0),
        ("PreciseThroughputTimer", "0", 100.0),
        ("ConstantThroughputTimer", "0", 100.0),
    ] {
        let (converted, scenario) = made(&group(&threads, &(timer(kind, mode) + &two)));
        let Source::Arrivals { profile, .. } = &scenario.groups[0].source else { panic!("no arrivals") };
        assert!((profile.total() - arrivals).abs() < 1e-6, "{kind} {mode}: {}", profile.total());
        assert!(converted.notes.iter().any(|n| n.contains("the load becomes open")), "{:?}", converted.notes);
    }
    // Below one of the samplers it paces that alone: two sessions a second.
    let below = sampler("a", "", &timer("ConstantThroughputTimer", "2")) + &sampler("b", "", "");
    let (_, scenario) = made(&group(&threads, &below));
    let Source::Arrivals { profile, .. } = &scenario.groups[0].source else { panic!("no arrivals") };
    assert!((profile.total() - 200.0).abs() < 1e-6);
}

#[test]
fn requests_are_sent_as_jmeter_sends_them() {
    let argument = |name: &str, value: &str, encode: bool| {
        format!(
            r#"<elementProp name="">{}{}<boolProp name="HTTPArgument.always_encode">{encode}</boolProp></elementProp>"#,
            prop("Argument.name", name),
            prop("Argument.value", value)
        )
    };
    let arguments = |list: &[String]| {
        format!(
            r#"<elementProp name="HTTPsampler.Arguments"><collectionProp name="Arguments.arguments">{}</collectionProp></elementProp>"#,
            list.concat()
        )
    };
    let request = |method: &str, path: &str, list: &[String], more: &str| {
        prop("HTTPSampler.method", method) + &prop("HTTPSampler.path", path) + &arguments(list) + more
    };
    let list =
        [argument("a b", "1 & 2", true), argument("c", "x%20y", false), argument("d", "{{z}}${none}", true)];
    let raw = r#"<boolProp name="HTTPSampler.postBodyRaw">true</boolProp>"#;
    let samplers = [
        sampler("get", &request("GET", "/p?q=é", &list, ""), ""),
        sampler("post", &request("POST", "p/{{x}} y", &list, ""), ""),
        sampler("raw", &request("PURGE", "/", &[argument("", "<a>{{b}} ${__P(n,7)}", false)], raw), ""),
        sampler("whole", &request("GET", "http://127.0.0.1/w?x=1#f", &[], ""), ""),
        sampler(
            "twice",
            &request("POST", "/t", &[argument("a", "1 2", true), argument("a", "3", true)], ""),
            "",
        ),
        sampler("head", &request("HEAD", "/h", &list, ""), ""),
    ];
    let (converted, scenario) = made(&plan(&samplers.concat()));
    let sent = requests(&scenario);
    let shown: Vec<(&str, &str, String)> = sent
        .iter()
        .map(|r| (r.method.as_str(), r.path.as_str(), String::from_utf8_lossy(&r.body).into_owned()))
        .collect();
    let of = |method, path, body: &str| (method, path, body.to_owned());
    assert_eq!(
        shown,
        [
            of("GET", "/p?q=%C3%A9&a%20b=1%20%26%202&c=x%20y&d=%7B%7Bz%7D%7D%24%7Bnone%7D", ""),
            of("POST", "/p/%7B%7Bx%7D%7D%20y", "a+b=1+%26+2&c=x+y&d=%7B%7Bz%7D%7D%24%7Bnone%7D"),
            of("PURGE", "/", "<a>{{b}} 7"),
            of("GET", "/w?x=1", ""),
            of("POST", "/t", "a=1%202&a=3"),
            of("HEAD", "/h", ""),
        ]
    );
    for part in [
        "nothing that is carried over sets ${none} before",
        "'head' (HTTPSamplerProxy): left out: its arguments",
    ] {
        assert!(converted.notes.iter().any(|note| note.contains(part)), "{part}: {:?}", converted.notes);
    }
}

/// HTTP Request Defaults with these properties.
fn defaults(properties: &str) -> String {
    format!(
        r#"<ConfigTestElement guiclass="HttpDefaultsGui" testname="d">{properties}</ConfigTestElement><hashTree/>"#
    )
}

/// A header manager with one header.
fn header(name: &str, value: &str) -> String {
    format!(
        r#"<HeaderManager testname="h"><collectionProp name="HeaderManager.headers"><elementProp name="">{}{}</elementProp></collectionProp></HeaderManager><hashTree/>"#,
        prop("Header.name", name),
        prop("Header.value", value)
    )
}

#[test]
fn hosts_besides_the_most_frequent_are_origins_of_their_steps() {
    let at = |name: &str, value: &str| prop(&format!("HTTPSampler.{name}"), value);
    let request = |name: &str, properties: &str, below: &str| {
        format!(
            r#"<HTTPSamplerProxy testname="{name}">{properties}</HTTPSamplerProxy><hashTree>{below}</hashTree>"#
        )
    };
    let take = r#"<RegexExtractor testname="r"><stringProp name="RegexExtractor.refname">link</stringProp>
        <stringProp name="RegexExtractor.regex">(a)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp></RegexExtractor><hashTree/>"#;
    let inner = defaults(&(at("domain", "api.example") + &at("protocol", "HTTPS") + &at("port", "443")))
        + &header("Authorization", "Bearer abc-4711")
        + &request("api", &at("path", "items?id=${n}"), "")
        + &request("port", &(at("path", "/p") + &at("port", "8443")), "");
    let text = plan(
        &(defaults(&(at("domain", "shop.example") + &at("port", "${__P(port,8080)}")))
            + &header("X-Tag", "all")
            + &request("home", &(at("path", "/") + &prop("HTTPSampler.follow_redirects", "true")), take)
            + &request("again", &at("path", "/again"), "")
            + &request("whole", &at("path", "http://cdn.example/x//y?z=1#f"), "")
            + &request(
                "link",
                &(at("domain", "cdn.example") + &at("port", "80") + &at("path", "${link}")),
                "",
            )
            + &request("unknown", &(at("domain", "${none}") + &at("path", "/u")), "")
            + &format!(r#"<GenericController testname="c"/><hashTree>{inner}</hashTree>"#)),
    );
    let (converted, scenario) = made(&text);
    let paths: Vec<&str> =
        converted.scenario.lines().filter_map(|line| line.trim().strip_prefix("- get: ")).collect();
    assert_eq!(
        paths,
        [
            "/",
            "/again",
            "http://cdn.example/x//y?z=1",
            r#""https://api.example/items?id=$${n}""#,
            "https://api.example:8443/p"
        ]
    );
    assert!(
        converted
            .scenario
            .contains("target: http://shop.example:8080\nredirects: 20\nheaders:\n  X-Tag: all\nusers:"),
        "{}",
        converted.scenario
    );
    let others: Vec<String> = scenario.origins.iter().map(ToString::to_string).collect();
    assert_eq!(others, ["http://cdn.example/", "https://api.example/", "https://api.example:8443/"]);
    for part in [
        "'link' (HTTPSamplerProxy): left out: its path is one value of a run, which is a path of the target alone",
        "'unknown' (HTTPSamplerProxy): left out: its host 'http://${none}:${PORT}' is not known before a run",
        "'api' (HTTPSamplerProxy): its header Authorization, a secret, goes to https://api.example too",
        "'home' (HTTPSamplerProxy): the property PORT is taken at its default, 8080",
        "p.jmx: a redirect from one origin to another takes no header with a secret along; in JMeter it does",
        "Steps also go to http://cdn.example (1), https://api.example (1), https://api.example:8443 (1).",
    ] {
        assert!(converted.notes.iter().any(|note| note.contains(part)), "{part}: {:?}", converted.notes);
    }
    let given = Choices { target: Some("http://127.0.0.1:9/base".to_owned()), group: None };
    let given = super::scenario("p.jmx", &text, &given).unwrap().scenario;
    assert!(
        given.contains("target: http://127.0.0.1:9/base\n") && given.contains("- get: /again\n"),
        "{given}"
    );
    assert!(given.contains("- get: http://cdn.example/x//y?z=1\n"), "{given}");
}

#[test]
fn what_is_no_plan_of_requests_is_refused() {
    for (text, says) in [
        (plan(""), "p.jmx: the plan has no HTTP request in an enabled thread group"),
        (plan(r#"<JDBCSampler testname="q"/><hashTree/>"#), "; its samplers are JDBCSampler (1)"),
        (
            plan(&sampler("a", "", "")).replace("127.0.0.1", ""),
            "name the target, as in --target http://127.0.0.1:8080",
        ),
        (
            plan(&sampler("a", "", "")).replace("127.0.0.1", "${__groovy(x)}"),
            "name the target, as in --target",
        ),
        (
            plan(&sampler("a", "", "")).replace("<ThreadGroup ", "<ThreadGroup enabled=\"false\" "),
            "no thread group that is enabled",
        ),
        ("<jmeterTestPlan><hashTree/></jmeterTestPlan>".to_owned(), "p.jmx: the plan has no thread group"),
    ] {
        assert!(refused(&text).contains(says), "{says}: {}", refused(&text));
    }
}

#[test]
fn controllers_of_shares_leave_no_session_without_a_request() {
    let share = |inside: &str| {
        format!(
            r#"<ThroughputController testname="c"><intProp name="ThroughputController.style">1</intProp>
            <FloatProperty><name>ThroughputController.percentThroughput</name><value>25</value></FloatProperty></ThroughputController>
            <hashTree>{inside}</hashTree>"#
        )
    };
    let (converted, _) = made(&plan(&(share(&sampler("a", "", "")) + &sampler("b", "", ""))));
    assert!(converted.scenario.contains("- weight: 25\n"), "{}", converted.scenario);
    let (converted, _) = made(&plan(&share(&sampler("a", "", ""))));
    assert!(
        converted.notes.iter().any(|n| n.contains("a session may send nothing")),
        "{:?}",
        converted.notes
    );
}

#[test]
fn repeats_nest_as_deep_as_a_scenario_has_them() {
    let mut inside = sampler("a", "", "");
    for i in 0..6 {
        inside = format!(
            r#"<LoopController testname="l{i}"><stringProp name="LoopController.loops">2</stringProp></LoopController><hashTree>{inside}</hashTree>"#
        );
    }
    let (converted, scenario) = made(&plan(&inside));
    assert_eq!(scenario.groups[0].journey.longest(), 16);
    assert_eq!(
        converted.notes.iter().filter(|n| n.contains("carried over 4 deep")).count(),
        2,
        "{:?}",
        converted.notes
    );
}

/// A step with an unknown host does not go to the target, which would get its secrets.
#[test]
fn a_host_that_is_not_known_is_not_the_target() {
    let secrets = r#"<HeaderManager testname="h"><collectionProp name="HeaderManager.headers"><elementProp name="">
        <stringProp name="Header.name">Authorization</stringProp><stringProp name="Header.value">Bearer pay-4711</stringProp>
        </elementProp></collectionProp></HeaderManager><hashTree/>"#;
    let pay = |domain: &str, path: &str| {
        sampler("pay", &prop("HTTPSampler.path", path), secrets).replace("127.0.0.1", domain)
    };
    for (domain, path, host) in [
        ("${payhost}", "/charge", "http://${payhost}"),
        ("${__P(pay)}", "/charge", "http://${PAY}"),
        ("", "https://${payhost}/charge", "https://${payhost}"),
        ("", "https://${__property(pay)}/charge?x=1", "https://${PAY}"),
        ("", "https://p.test:${__P(port)}/charge", "https://p.test:${PORT}"),
    ] {
        let text = plan(&(sampler("a", "", "") + &sampler("b", "", "") + &pay(domain, path)));
        let (converted, scenario) = made(&text);
        assert_eq!(scenario.target.as_ref().unwrap().to_string(), "http://127.0.0.1/", "{host}");
        assert_eq!(scenario.labels, ["a", "b"], "{host}");
        let says = format!("'pay' (HTTPSamplerProxy): left out: its host '{host}' is not known before a run");
        assert!(told(&converted).contains(&says) && !converted.scenario.contains("HEADWAY_SECRET"), "{says}");
    }
    // Of the host with the most requests --target says where it is.
    let text = plan(&(sampler("a", "", "") + &pay("${payhost}", "/x") + &pay("${payhost}", "/y")));
    let choices = Choices { target: Some("http://127.0.0.1:8".to_owned()), group: None };
    let scenario = read(&super::scenario("p.jmx", &text, &choices).unwrap());
    let sent = requests(&scenario);
    assert_eq!((scenario.script.origin(0, &Memory::default()), sent[1].path.as_str()), (1, "/x"));
    assert!(sent[1].headers.iter().any(|(name, _)| name == "Authorization"), "{sent:?}");
}

/// JMeter's own default of a property, `1` or its name, is no host.
#[test]
fn a_property_without_a_default_is_no_host() {
    for (domain, port, host) in [
        ("${__P(host)}", "", "http://${HOST}"),
        ("${__property(host)}", "80", "http://${HOST}:80"),
        ("127.0.0.1", "${__P(port)}", "http://127.0.0.1:${PORT}"),
    ] {
        let one = sampler("a", &prop("HTTPSampler.port", port), "").replace("127.0.0.1", domain);
        let text = plan(&one);
        let says =
            format!("the plan's host '{host}' is not known before a run: name the target, as in --target");
        assert!(refused(&text).contains(&says), "{}", refused(&text));
        let choices = Choices { target: Some("http://127.0.0.1:8".to_owned()), group: None };
        let converted = super::scenario("p.jmx", &text, &choices).unwrap();
        assert_eq!(read(&converted).target.unwrap().to_string(), "http://127.0.0.1:8/");
        let says = format!("its host '{host}' is not known before a run: it goes to the target");
        assert!(told(&converted).contains(&says), "{}", told(&converted));
    }
    let own = sampler("a", "", "").replace("127.0.0.1", "${__P(host,127.0.0.2)}");
    assert_eq!(made(&plan(&own)).1.target.unwrap().to_string(), "http://127.0.0.2/");
}

#[test]
fn cookies_of_a_plan_are_listed() {
    let cookie = |name: &str, domain: &str| {
        format!(
            r#"<elementProp name="{name}" elementType="Cookie" testname="{name}">
            <stringProp name="Cookie.value">s-4711</stringProp><stringProp name="Cookie.domain">{domain}</stringProp>
            <stringProp name="Cookie.path">/</stringProp></elementProp>"#
        )
    };
    let manager = format!(
        r#"<CookieManager testname="C"><collectionProp name="CookieManager.cookies">{}{}</collectionProp></CookieManager><hashTree/>"#,
        cookie("sid", "shop.test"),
        cookie("lang", "")
    );
    let (converted, _) = made(&plan(&(manager + &sampler("a", "", ""))));
    let says =
        "'C' (CookieManager): left out: its own cookies (sid of shop.test, lang): write a header Cookie";
    assert!(told(&converted).contains(says) && !told(&converted).contains("s-4711"), "{}", told(&converted));
}

/// Also in a header of which a value of the run is a part.
#[test]
fn secrets_within_headers_are_not_written() {
    let header = |value: &str| {
        format!(
            r#"<HeaderManager testname="h"><collectionProp name="HeaderManager.headers"><elementProp name="">
            <stringProp name="Header.name">Referer</stringProp><stringProp name="Header.value">{value}</stringProp>
            </elementProp></collectionProp></HeaderManager><hashTree/>"#
        )
    };
    for value in ["http://h/?token=t-4711", "http://h/?token=t-4711&amp;id=${__threadNum}"] {
        let (converted, _) = made(&plan(&sampler("a", "", &header(value))));
        let scenario = &converted.scenario;
        assert!(
            !scenario.contains("t-4711") && scenario.contains("token=${HEADWAY_SECRET_REFERER}"),
            "{scenario}"
        );
    }
}

#[test]
fn threads_that_come_in_steps_are_phases() {
    let plan = |loops: &str, more: &str| {
        let properties: String = [
            ("ThreadGroup.num_threads", "30"),
            ("Threads initial delay", "0"),
            ("Start users count", "10"),
            ("Start users count burst", "0"),
            ("Start users period", "30"),
            ("Stop users count", "10"),
            ("Stop users period", "1"),
            ("flighttime", "60"),
            ("rampUp", "5"),
        ]
        .map(|(name, value)| prop(name, value))
        .concat();
        let kind = "kg.apc.jmeter.threads.SteppingThreadGroup";
        format!(
            r#"<jmeterTestPlan><hashTree><TestPlan testname="T"/><hashTree><{kind} testname="steps">{properties}{more}
            <elementProp name="ThreadGroup.main_controller"><stringProp name="LoopController.loops">{loops}</stringProp></elementProp>
            </{kind}><hashTree>{}</hashTree></hashTree></hashTree></jmeterTestPlan>"#,
            sampler("home", &prop("HTTPSampler.path", "/"), "")
        )
    };
    let (forever, scenario) = made(&plan("-1", ""));
    let Source::Users { level, requests: None } = &scenario.groups[0].source else { panic!("users") };
    let shape: Vec<(f64, f64, f64)> = level
        .phases()
        .iter()
        .map(|phase| (phase.length.as_secs_f64(), phase.from_users, phase.to_users))
        .collect();
    let expected = [
        (5.0, 0.0, 10.0),
        (30.0, 10.0, 10.0),
        (5.0, 10.0, 20.0),
        (30.0, 20.0, 20.0),
        (5.0, 20.0, 30.0),
        (60.0, 30.0, 30.0),
        (3.0, 30.0, 0.0),
    ];
    assert_eq!(shape, expected, "{}", forever.scenario);
    assert!(forever.notes.is_empty(), "{:?}", forever.notes);
    let (once, scenario) = made(&plan("1", ""));
    assert!(matches!(scenario.groups[0].source, Source::Users { .. }));
    assert!(once.notes.iter().any(|note| note.contains("not 1 times")), "{:?}", once.notes);
}

/// What an element says beside what is carried over is listed, if it is set.
#[test]
fn properties_that_are_not_read_are_listed() {
    let inside = [
        r#"<CSVDataSet testname="rows">"#,
        &prop("filename", "a.csv"),
        &prop("variableNames", "login"),
        &prop("fileEncoding", "UTF-16"),
        "</CSVDataSet><hashTree/>",
        &sampler(
            "s",
            &[
                prop("HTTPSampler.path", "/${login}"),
                prop("HTTPSampler.ipSource", "10.0.0.7"),
                prop("HTTPSampler.contentEncoding", "UTF-8"),
                prop("HTTPSampler.implementation", "HttpClient4"),
                prop("HTTPSampler.concurrentDwn", "false"),
                prop("Some.plugin", "x"),
                prop("Other.plugin", "false"),
                r#"<collectionProp name="Some.list"><stringProp name="1">x</stringProp></collectionProp>"#
                    .to_owned(),
            ]
            .concat(),
            "",
        ),
    ];
    let (converted, _) = made(&group(&prop("ThreadGroup.of_a_later_version", "7"), &inside.concat()));
    let notes = converted.notes.join("\n");
    for (element, property) in [
        ("rows", "fileEncoding"),
        ("s", "HTTPSampler.ipSource"),
        ("s", "Some.plugin"),
        ("s", "Some.list"),
        ("G", "ThreadGroup.of_a_later_version"),
    ] {
        let of = |line: &&str| line.contains(&format!("'{element}' (")) && line.contains(property);
        assert_eq!(notes.lines().filter(of).count(), 1, "{property}: {notes}");
    }
    for silent in ["contentEncoding", "implementation", "concurrentDwn", "Other.plugin"] {
        assert!(!notes.contains(silent), "{notes}");
    }
}
