//! What `headway doctor` found, on one screen: whether the machine is fit, what each resource allows, what is wrong and what changes it.
//! With details all that the machine says of itself, and every remedy.

use super::grid::Grid;
use super::layout::Page;
use super::verdict::answer;
use crate::Style;
use crate::format::plural;
use crate::words::{self, Answer, Tone, doctor, waiting};
use headway_stats::doctor::{Bound, Diagnosis, Finding, Resource};
use headway_stats::summary::Severity;

/// Problems on the first screen, the worst ones.
const MOST_FINDINGS: usize = 3;

/// The page; `plan`: the load and its target in words, where there is one.
pub fn render(diagnosis: &Diagnosis, plan: Option<&str>, style: &Style) -> Vec<u8> {
    let mut page = Page::new(style.colour);
    let (word, tone, meaning) = doctor::fitness(diagnosis);
    answer(&mut page, "MACHINE", &Answer { word, meaning, tone });
    if let Some(plan) = plan {
        page.labelled("plan", Tone::Plain, plan);
    }
    page.blank();
    bounds(&mut page, diagnosis, style.details);
    page.blank();
    page.labelled("wake-ups", Tone::Plain, &doctor::lateness(&diagnosis.measured, diagnosis.demand.as_ref()));
    if let Some((name, cost)) = doctor::cost(&diagnosis.measured) {
        page.labelled(name, Tone::Plain, &cost);
    }
    let wanted = |finding: &&Finding| style.details || finding.severity > Severity::Info;
    let findings: Vec<&Finding> = diagnosis.findings.iter().filter(wanted).collect();
    if !findings.is_empty() {
        page.blank();
    }
    let most = if style.details { findings.len() } else { MOST_FINDINGS };
    findings.iter().take(most).for_each(|of| finding(&mut page, of, style.details));
    if findings.len() > most {
        let more = format!("and {}: --details", plural((findings.len() - most) as u64, "more problem"));
        page.marked(3, "", Tone::Faint, &more);
    }
    if style.details {
        machine(&mut page, diagnosis);
    }
    page.finish()
}

/// Bounds of which something is known for the plan, or all.
fn bounds(page: &mut Page, diagnosis: &Diagnosis, all: bool) {
    let first = diagnosis.first().map(|bound| bound.resource);
    let planned = diagnosis.demand.is_some();
    let told = |bound: &&Bound| {
        let known = bound.asks.is_some() || bound.full_at_s.is_some() || !planned;
        bound.resource != Resource::Timing && (all || known)
    };
    let mut grid = Grid::new(["what", "allows", "plan asks", "used"]).whole(1);
    for bound in diagnosis.bounds.iter().filter(told) {
        let tone = match bound.used() {
            Some(used) if used > 1.0 => Tone::Bad,
            Some(used) if used > 0.8 => Tone::Warn,
            _ if first == Some(bound.resource) => Tone::Strong,
            _ => Tone::Plain,
        };
        let asks = bound.asks.map(|asks| doctor::amount(asks, bound.unit));
        let asks = asks.or_else(|| doctor::full(bound)).unwrap_or_else(|| "-".into());
        let allows = format!("{} {}", doctor::amount(bound.allows, bound.unit), doctor::unit(bound.unit));
        let used = doctor::used(bound).unwrap_or_else(|| "-".into());
        grid.row(tone, vec![doctor::resource(bound.resource).into(), allows, asks, used]);
    }
    grid.print(page);
    let full = |bound: &Bound| bound.asks.is_none() && bound.full_at_s.is_some();
    if diagnosis.bounds.iter().any(full) {
        page.marked(
            2,
            "",
            Tone::Faint,
            "full at: mean response time at which all are in use; --response TIME says what to expect",
        );
    }
}

/// What is wrong, and what changes it.
fn finding(page: &mut Page, finding: &Finding, all: bool) {
    let (word, tone) = words::severity(finding.severity);
    let mark = if finding.severity == Severity::Error { "  !! " } else { "   ! " };
    page.marked(0, mark, tone, &format!("{word}: {}", doctor::finding(finding)));
    let shown = if all { finding.changes.len() } else { 1 };
    for (i, change) in finding.changes.iter().take(shown).enumerate() {
        page.marked(5, if i == 0 { "do: " } else { "or: " }, Tone::Strong, &doctor::change(change));
    }
}

fn machine(page: &mut Page, diagnosis: &Diagnosis) {
    page.heading("Machine");
    for (name, text) in doctor::machine(&diagnosis.machine) {
        page.labelled(name, Tone::Plain, &text);
    }
    page.labelled("idle states", Tone::Plain, doctor::dma_latency(&diagnosis.measured));
    if let Some(awake) = waiting::awake(&diagnosis.measured.wait) {
        page.labelled("kept awake", Tone::Plain, &awake);
    }
    if let Some(steal) = diagnosis.measured.steal {
        page.labelled("steal", Tone::Plain, &crate::format::share(steal));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Machine;
    use headway_base::machine::{Conntrack, Descriptors, Ports, Quota};
    use headway_stats::doctor::{Carrier, Cost, Demand, Lateness, Measured};

    fn diagnosis(demand: Option<Demand>) -> Diagnosis {
        let machine = Machine {
            cores: 2,
            quota: Some(Quota { cores: 1.5, period_s: 0.1, file: "/sys/fs/cgroup/a/cpu.max".into() }),
            governors: vec!["powersave".into()],
            descriptors: Descriptors {
                soft: 1_024,
                hard: 524_288,
                most: Some(1 << 20),
                system: Some((1 << 20, 1_000)),
            },
            ports: Ports {
                range: Some((32_768, 60_999)),
                reuse: Some(2),
                waiting: Some(3),
                ..Ports::default()
            },
            conntrack: Some(Conntrack { tracked: 5, most: 262_144, closed_s: Some(120) }),
            memory: Some(8 << 30),
            somaxconn: Some(4_096),
            ..Machine::default()
        };
        let lateness = Lateness {
            n: 1_004,
            over_s: 2.0,
            p99: 2.1e-3,
            max: 8e-3,
            scale_s: 1e-3,
            beyond: 0.03,
            ..Lateness::default()
        };
        let request = Some(Cost { worker_s: 8e-6, process_s: 11e-6, n: 21_000, disturbed: 0.0 });
        Diagnosis::new(
            machine,
            Measured { lateness, request, steal: Some(0.03), ..Measured::default() },
            demand,
        )
    }

    fn page(demand: Option<Demand>, details: bool) -> String {
        let plan = demand.as_ref().map(|_| "2000/s for 60s, poisson at http://10.0.0.1:8080/");
        let style = Style { details, ..Style::default() };
        String::from_utf8(render(&diagnosis(demand), plan, &style)).unwrap()
    }

    fn users() -> Demand {
        Demand {
            rate: Some(200.0),
            held: 2_000.0,
            cap: 2_000,
            streams: 1,
            workers: 1,
            sources: 1,
            ..Demand::default()
        }
    }

    #[test]
    fn it_is_one_screen_of_eighty_columns() {
        let datagrams =
            Demand { carrier: Carrier::Datagrams, tls: true, sharded: true, local: true, ..users() };
        let open = Demand { held: 0.0, flow: 2_000.0, rate: Some(2_000.0), ..users() };
        for demand in [None, Some(users()), Some(open), Some(datagrams)] {
            for details in [false, true] {
                let page = page(demand.clone(), details);
                let widest = page.lines().map(|line| line.chars().count()).max();
                assert!(widest <= Some(super::super::WIDTH), "{page}");
                assert!(details || page.lines().count() <= 40, "{page}");
            }
        }
    }

    #[test]
    fn what_ends_the_plan_comes_first_with_its_remedy() {
        let page = page(Some(users()), false);
        assert!(page.lines().next().unwrap().contains("NOT FIT"), "{page}");
        assert!(page.contains("ulimit -n 3000"), "{page}");
        let error = page.find("!! error").unwrap();
        assert!(error < page.find("! warning").unwrap(), "{page}");
        assert!(!page.contains(" or: "), "alternatives are details: {page}");
    }
}
