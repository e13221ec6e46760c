//! The values of `--sweep`.

use headway_cli::args::{MOST_POINTS, Sweep};

fn values(text: &str) -> Vec<String> {
    Sweep::parse(text).unwrap().values
}

fn error(text: &str) -> String {
    Sweep::parse(text).expect_err(text).to_string()
}

#[test]
fn ranges_are_exact_in_their_own_unit_and_hold_both_ends_where_the_step_leads_there() {
    assert_eq!(values("rate=100..1200/550"), ["100", "650", "1200"]);
    assert_eq!(values("rate = 100/s..200/s/50"), ["100/s", "150/s", "200/s"]);
    assert_eq!(values("users.think=10ms..35ms/10ms"), ["10ms", "20ms", "30ms"]);
    assert_eq!(values("x=0.1..0.5/.1"), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
    assert_eq!(values("x=-1..1/0.5"), ["-1", "-0.5", "0", "0.5", "1"]);
    assert_eq!(values("x=1.50s..2/0.25"), ["1.5s", "1.75s", "2s"]);
    assert_eq!(values("x=3..3/1"), ["3"]);
    assert_eq!(values("x=0..9999/1").len(), MOST_POINTS);
}

#[test]
fn lists_are_taken_apart_at_commas_outside_of_brackets() {
    assert_eq!(
        values("model.service=exp(8ms),gamma(2, 4ms), [1, 2]"),
        ["exp(8ms)", "gamma(2, 4ms)", "[1, 2]"]
    );
    let sweep = Sweep::parse("model=random").unwrap();
    assert_eq!((sweep.name.as_str(), sweep.values.as_slice()), ("model", &["random".to_owned()][..]));
    assert_eq!(values("x={a: 1, b: 2},{a: 2, b: 2}").len(), 2);
}

#[test]
fn what_is_no_sweep_says_what_one_is() {
    for (text, told) in [
        ("rate", "PARAM=from..to/step"),
        ("=1..2/1", "the parameter's name"),
        ("rate=", "none of them empty"),
        ("rate=1,,2", "none of them empty"),
        ("rate=1,2,1", "1 is there twice"),
        ("rate=100..1200", "the step is missing; write 100..1200/STEP"),
        ("rate=100..1200/s", "the step is missing"),
        ("rate=100..1200/0", "its step must be above 0"),
        ("rate=100..1200/-5", "its step must be above 0"),
        ("rate=1200..100/50", "1200 is above 100"),
        ("rate=1..x/5", "it ends with 'x'"),
        ("rate=1ms..2s/1", "its units ms and s differ"),
        ("rate=1..10001/1", "at most 10000 values: it has 10001"),
        ("rate=0..1e9/1", "it ends with '1e9'"),
        ("rate=1.2.3..5/1", "it begins with '1.2.3'"),
    ] {
        let seen = error(text);
        assert!(seen.contains(told), "{text}: {seen}");
    }
    let long = format!("rate={}", "1,".repeat(MOST_POINTS));
    assert!(error(&long).contains("at most 10000 values"));
}
