//! What the first screen holds, in how many lines.

use super::{columns, on_one_screen, samples, screen, text, well};
use headway_report::Style;
use headway_stats::Summary;
use headway_stats::summary::{FailureReason, PlanLog};

type Change<'a> = &'a dyn Fn(&mut Summary);

/// Lines and columns of the smallest terminal in common use.
const LINES: usize = 24;
const COLUMNS: usize = 80;

fn fits(name: &str, shown: &str) {
    let lines = shown.lines().count();
    assert!(lines <= LINES, "{name}: {lines} lines\n{shown}");
    for line in shown.lines() {
        assert!(columns(line) <= COLUMNS && line.trim_end() == line, "{name}: {line}\n{shown}");
    }
}

#[test]
fn a_run_that_went_well_says_what_came_out_and_what_to_type_next() {
    let shown = screen(&well());
    fits("well", &shown);
    assert!(shown.starts_with("  OUTCOME  all ok "), "{shown}");
    for needed in [
        "VALID",
        "independent",
        "offered 197/s",
        "95 % interval",
        "p99.9",
        "send lag p99",
        "seed        42",
        "report.html",
        "--details",
    ] {
        assert!(shown.contains(needed), "{needed}: {shown}");
    }
}

/// Whatever there is to tell: many failures with many reasons, many thresholds, steps and notes.
#[test]
fn no_run_takes_more_than_a_screen() {
    let threshold = samples::thresholds().thresholds[0].clone();
    let fail = |s: &mut Summary, names: &[&str]| {
        s.outcomes.extend(names.iter().map(|&name| (name.to_owned(), 5)));
    };
    let reasons = |s: &mut Summary, n: usize| {
        fail(s, &["check"]);
        let reason = |i: usize| FailureReason {
            outcome: "check".into(),
            reason: headway_redact::Redactor::default().clear(&format!("{i} {}", "long ".repeat(60))),
            example: headway_redact::Redactor::default().clear(&format!("{i} {}", "long ".repeat(90))),
            n: 5 / n.min(5) as u64,
            ..FailureReason::default()
        };
        s.failure_reasons.rows = (0..n).map(reason).collect();
    };
    let steps = |s: &mut Summary, n: usize| {
        let label = s.by_label["list"].clone();
        s.by_label = (0..n).map(|i| (headway_redact::clear(&format!("step {i}")), label.clone())).collect();
    };
    let log = |s: &mut Summary| {
        let log = PlanLog { file: "a.log".into(), unreadable: 3, no_step: 7, ..PlanLog::default() };
        s.plan.get_or_insert_default().log = Some(log);
    };
    for n in [1, 3, 9, 30] {
        for bits in 0..32 {
            let mut summary = well();
            let all: [(&str, Change<'_>); 5] = [
                ("thresholds", &|s| s.thresholds = vec![threshold.clone(); n]),
                ("failures", &|s| {
                    fail(s, &["timeout", "reset", "connect-timeout", "dns", "tls", "status"][..n.min(6)])
                }),
                ("reasons", &|s| reasons(s, n)),
                ("steps", &|s| steps(s, n)),
                ("log", &log),
            ];
            let names: Vec<&str> = all
                .iter()
                .enumerate()
                .filter(|(i, _)| bits >> i & 1 == 1)
                .map(|(_, (name, of))| {
                    of(&mut summary);
                    *name
                })
                .collect();
            let shown = screen(&summary);
            let name = format!("{n} of {names:?}");
            fits(&name, &shown);
            // What was asked stands first, what to type next last; between them the numbers and what they are worth.
            let first = if names.contains(&"thresholds") { "  LIMIT " } else { "  OUTCOME " };
            assert!(shown.starts_with(first), "{name}: {shown}");
            assert!(shown.lines().last().is_some_and(|line| line.starts_with("  next  ")), "{name}: {shown}");
            for needed in ["  OUTCOME ", " p50 ", " p99 ", " max ", "  LOAD     VALID", "report.html"] {
                assert!(shown.contains(needed), "{needed}: {name}: {shown}");
            }
            if names.contains(&"failures") || names.contains(&"reasons") {
                let outcome = shown.lines().find(|line| line.starts_with("  OUTCOME "));
                assert!(outcome.is_some_and(|line| line.contains(" %): ")), "{name}: {shown}");
            }
        }
    }
    let mut many = well();
    reasons(&mut many, 16);
    assert!(screen(&many).contains("... and 14 more reasons"), "{}", screen(&many));
    let mut partly = well();
    log(&mut partly);
    assert!(screen(&partly).contains("  log  "), "{}", screen(&partly));
    let mut long = well();
    steps(&mut long, 80);
    assert!(screen(&long).contains("more steps: --details"), "{}", screen(&long));
}

/// VALID, INVALID and failing ones.
#[test]
fn the_first_screen_of_every_sample_keeps_to_its_lines_and_begins_with_the_answer() {
    let (mut seen, mut words) = (0, std::collections::BTreeSet::new());
    for (name, make) in samples::ALL {
        let summary = make();
        if summary.audit.is_some() {
            continue;
        }
        let shown = screen(&summary);
        fits(name, &shown);
        let top: Vec<&str> = shown.lines().take(3).collect();
        let answers = |line: &&str| line.starts_with("  LIMIT ") || line.starts_with("  OUTCOME ");
        assert!(answers(&top[0]), "{name}:\n{shown}");
        // A crossed threshold comes before those that hold.
        let limits: Vec<&str> = shown.lines().filter(|line| line.starts_with("  LIMIT ")).collect();
        let first_held = limits.iter().position(|line| line.contains(" passed ")).unwrap_or(limits.len());
        assert!(limits[first_held..].iter().all(|line| line.contains(" passed ")), "{name}:\n{shown}");
        if limits.is_empty() && summary.outcomes.len() > 1 {
            assert!(top[0].contains(" failed (") || top[0].contains(" all ok "), "{name}:\n{shown}");
        }
        assert_eq!(shown.matches("  LOAD     ").count(), 1, "{name}:\n{shown}");
        words.extend(headway_report::words::load(&summary).word.split(' ').map(str::to_owned));
        seen += 1;
    }
    assert!(seen > 15, "{seen}");
    for word in ["VALID", "INVALID"] {
        assert!(words.contains(word), "no sample is {word}: {words:?}");
    }
}

#[test]
fn loops_are_not_asked_for_a_pattern_and_an_undecided_one_is_left_to_the_details() {
    let closed = screen(&samples::closed());
    assert!(closed.contains("closed workload: a slow target receives fewer requests"), "{closed}");
    for (name, make) in samples::ALL {
        let summary = make();
        if summary.audit.is_some() {
            continue;
        }
        let shown = screen(&summary);
        assert!(!shown.contains("  PATTERN  undecided") && !shown.contains("would do"), "{name}: {shown}");
        assert!(!shown.contains("periodic:"), "{name}: {shown}");
    }
}

#[test]
fn more_than_one_in_a_hundred_failures_are_red() {
    let coloured = |failed: u64| {
        let mut summary = well();
        let all: u64 = summary.outcomes.values().sum();
        summary.outcomes = [("ok".to_owned(), all - failed), ("timeout".to_owned(), failed)].into();
        text("terminal", &summary, &Style { colour: true, ..on_one_screen() })
    };
    let all: u64 = well().outcomes.values().sum();
    let first = |shown: String| shown.lines().next().unwrap_or_default().to_owned();
    assert!(first(coloured(all / 50)).contains("\x1b[1;31m"), "{}", first(coloured(all / 50)));
    assert!(!first(coloured(all / 200)).contains("\x1b[1;31m"), "{}", first(coloured(all / 200)));
}

/// Texts use the width there is, up to 120 columns; what is copied is never narrower than 80.
#[test]
fn a_wider_terminal_is_used_up_to_120_columns() {
    let at = |width| text("terminal", &samples::saturated(), &Style { width, ..on_one_screen() });
    let widest = |shown: &str| shown.lines().map(columns).max().unwrap_or(0);
    assert_eq!(at(None), at(Some(80)));
    assert_eq!(at(Some(40)), at(Some(80)));
    assert_eq!(at(Some(300)), at(Some(120)));
    assert!(widest(&at(Some(120))) > 80 && widest(&at(Some(120))) <= 120, "{}", at(Some(120)));
}

#[test]
fn the_answer_of_an_audit_takes_22_lines_and_six_where_stamps_are_too_coarse() {
    let audits = samples::ALL.iter().filter(|(_, make)| make().audit.is_some());
    let mut seen = 0;
    for (name, make) in audits {
        let shown = screen(&make());
        let lines = shown.lines().count();
        assert!(lines <= if *name == "audit_coarse" { 6 } else { 22 }, "{name}: {lines} lines\n{shown}");
        assert!(shown.lines().all(|line| columns(line) <= 80 && line.trim_end() == line), "{name}: {shown}");
        assert!(shown.starts_with("  PATTERN "), "{name}: {shown}");
        seen += 1;
    }
    assert!(seen > 8);
}

#[test]
fn the_answer_of_an_audit_names_the_time_scale_and_what_ends_it() {
    let mut summary = samples::audit_1830();
    assert!(!screen(&summary).contains("  scale "));
    let verdict = &mut summary.verdict;
    verdict.pattern_scale_s = Some(0.12);
    verdict.pattern_scale_end = Some(headway_stats::summary::ScaleEnd::More);
    let shown = screen(&summary);
    assert!(shown.starts_with("  PATTERN  independent   like independent users, up to 120 ms\n"), "{shown}");
    assert!(shown.contains("  scale       up to 120 ms; beyond, their number varies"), "{shown}");
    // Nothing is to be cured, and the same rate of independent users is named all the same.
    assert!(!shown.contains("  cure ") && shown.contains("headway run -R 31.7 URL"), "{shown}");
}

#[test]
fn what_cures_a_cause_is_the_flag_of_the_tool_that_wrote_the_file() {
    let mut summary = samples::audit_bunched();
    assert!(screen(&summary).contains("  cure        fortio -uniform"));
    summary.audit.as_mut().expect("it is an audit").files[0].format = "access-log".into();
    assert!(!screen(&summary).contains("  cure "));
}
