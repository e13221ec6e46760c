//! What the first screen holds, in how many lines.

use super::{columns, samples, screen, well};
use headway_stats::Summary;
use headway_stats::summary::{FailureReason, PlanLog};

#[test]
fn a_run_that_went_well_takes_22_lines_and_each_thing_to_know_takes_few_more() {
    let base = screen(&well());
    assert!(base.lines().count() <= 22, "{base}");
    for needed in [
        "VALID",
        "independent",
        "all ok",
        "offered 197/s",
        "95 % interval",
        "p99.9",
        "send lag p99",
        "report.html",
        "--details",
    ] {
        assert!(base.contains(needed), "{needed}: {base}");
    }
    let lines = |change: &dyn Fn(&mut Summary)| {
        let mut summary = well();
        change(&mut summary);
        screen(&summary).lines().count() - base.lines().count()
    };
    let threshold = samples::thresholds().thresholds[0].clone();
    assert_eq!(lines(&|s| s.thresholds = vec![threshold.clone(); 3]), 3);
    let fail = |s: &mut Summary, names: &[&str]| {
        s.outcomes.extend(names.iter().map(|&name| (name.to_owned(), 5)));
    };
    assert_eq!(lines(&|s| fail(s, &["status"])), 1);
    assert_eq!(lines(&|s| fail(s, &["status", "protocol", "too-large", "tls", "check", "shed"])), 4 + 1);
    // What a log has and the run has not; of a log that is played whole there is nothing to know.
    let log = |s: &mut Summary, unreadable, no_step| {
        let log = PlanLog { file: "a.log".into(), unreadable, no_step, ..PlanLog::default() };
        s.plan.get_or_insert_default().log = Some(log);
    };
    assert_eq!([lines(&|s| log(s, 0, 0)), lines(&|s| log(s, 0, 7)), lines(&|s| log(s, 3, 0))], [0, 1, 1]);
    let mut partly = well();
    log(&mut partly, 0, 7);
    let said = "  log         7 arrivals left out, which no step can send as they are logged\n";
    assert!(screen(&partly).contains(said), "{}", screen(&partly));
    // Advice takes two more.
    assert_eq!(lines(&|s| fail(s, &["timeout"])), 3);
    assert_eq!(lines(&|s| fail(s, &["timeout", "reset", "connect-timeout", "dns", "tls"])), 4 * 3 + 1);
    // So do reasons, however many and long they are.
    let reasons = |s: &mut Summary, n: usize| {
        fail(s, &["check"]);
        let reason = |i: usize| FailureReason {
            outcome: "check".into(),
            reason: format!("{i} {}", "long ".repeat(60)),
            example: format!("{i} {}", "long ".repeat(90)),
            n: 5 / n.min(5) as u64,
            ..FailureReason::default()
        };
        s.failure_reasons.rows = (0..n).map(reason).collect();
    };
    assert_eq!([1, 2, 16].map(|n| lines(&|s| reasons(s, n))), [3, 3, 3]);
    let mut many = well();
    reasons(&mut many, 16);
    assert!(screen(&many).contains("... and 14 more reasons"), "{}", screen(&many));
    // A blank line, the heading, and what one step had no need of.
    let steps = |s: &mut Summary, n: usize| {
        let label = s.by_label["list"].clone();
        s.by_label = (0..n).map(|i| (format!("step {i}"), label.clone())).collect();
    };
    assert_eq!(lines(&|s| steps(s, 8)), 2 + 8);
    assert_eq!(lines(&|s| steps(s, 80)), 2 + 8 + 1);
}

/// Lines that the first screen of that run may take.
fn most_lines(summary: &Summary) -> usize {
    use headway_report::words::{self, ReasonId};
    use headway_stats::summary::{FindingId, Severity};
    // A heading, a blank line, a line for each, and one for the rest.
    let table = |rows: usize| if rows == 0 { 0 } else { 2 + rows.min(8) + usize::from(rows > 8) };
    let steps = summary.by_label.len();
    let kinds = if words::tells_outcomes(summary) { words::brief::failures(summary).len() } else { 0 };
    // Lines of their own say these two.
    let said = [ReasonId::Finding(FindingId::Errors), ReasonId::Finding(FindingId::Censored)];
    let reasons = words::reasons(summary);
    let findings = reasons.iter().filter(|of| of.severity > Severity::Info && !said.contains(&of.id)).count();
    let model = summary.simulation.as_ref().map_or(0, |simulation| table(simulation.parts.len()) + 2);
    let open = summary.thresholds.iter().filter(|of| of.open.is_some() || of.reason.is_some()).count();
    // What leaves a threshold open, and what would decide it, or why it is certain, takes two lines more at most.
    22 + summary.thresholds.len()
        + 2 * open
        + 4 * kinds.min(4)
        + usize::from(kinds > 4)
        + 3 * findings
        // That times are of another load, or that the run was cut short, is something to know too.
        + usize::from(words::caveat(summary).is_some())
        + if words::interruption(summary).is_some() { 3 } else { 0 }
        + usize::from(findings > 0)
        + if steps > 1 { table(steps) } else { 0 }
        + model
}

#[test]
fn the_first_screen_of_every_sample_keeps_to_its_lines() {
    let (mut seen, mut long) = (0, String::new());
    for (name, make) in samples::ALL {
        let summary = make();
        if summary.audit.is_some() {
            continue;
        }
        let shown = screen(&summary);
        let (lines, most) = (shown.lines().count(), most_lines(&summary));
        if lines > most {
            long += &format!("{name}: {lines} lines of at most {most}\n{shown}\n");
        }
        assert!(shown.lines().all(|line| columns(line) <= 80), "{name}:\n{shown}");
        seen += 1;
    }
    assert!(seen > 15 && long.is_empty(), "{seen}\n{long}");
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

#[test]
fn each_finding_takes_at_most_three_lines_of_the_first_screen() {
    for (name, make) in samples::ALL {
        let summary = make();
        if summary.audit.is_some() {
            continue;
        }
        let shown = screen(&summary);
        let (mut lines, mut within) = (Vec::new(), false);
        for line in shown.lines() {
            let begins = line.starts_with("  !! ") || line.starts_with("   ! ");
            within = begins || within && line.starts_with("     ");
            match (begins, within) {
                (true, _) => lines.push(1),
                (_, true) => *lines.last_mut().expect("one has begun") += 1,
                _ => {}
            }
        }
        assert!(lines.iter().all(|&n| n <= 3), "{name}: {lines:?}\n{shown}");
        for line in shown.lines() {
            assert!(columns(line) <= 80 && line.trim_end() == line, "{name}: {line}");
        }
    }
}
