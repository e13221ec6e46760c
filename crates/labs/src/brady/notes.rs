//! What is to be said about the numbers: each sentence is chosen by the intervals of the replications.

use super::cases::{Observed, Part};
use super::published::{COV_2100, ROUNDING, T2100, TESTS};
use super::slope;
use crate::Range;
use crate::words::{listed, too_few};
use std::fmt::Write as _;

/// A CoV whose mean is known to be above this is called bunched: what many independent users give is below 1.
const BUNCHED: f64 = 1.01;

/// Every sentence.
pub fn notes(observed: &[Observed]) -> Vec<String> {
    let of = |part: Part| observed.iter().filter(|o| o.case.part == part).collect::<Vec<_>>();
    let (independent, paused) = (of(Part::Independent), of(Part::Paused));
    let mut models: Vec<&Observed> = independent.iter().chain(&paused).copied().collect();
    models.retain(|o| o.case.name == TESTS[T2100].name);
    let named = ["independent response times", "generator pauses, 100 ms"];
    let mut named: Vec<(&str, &Observed)> = named.into_iter().zip(models).collect();
    named.extend(of(Part::Model).into_iter().map(|o| (o.case.name.as_str(), o)));
    let notes = [
        alone(&independent),
        printed("Independent response times", &independent),
        printed("With generator pauses of 100 ms, as many a second as the square of the rate", &paused),
        busiest(&named),
        growth(&named),
        think(&of(Part::Think)),
        after(&of(Part::After)),
    ];
    notes.into_iter().flatten().collect()
}

fn interval(range: &Range) -> String {
    let spread = range.spread().map_or(String::new(), |[low, high]| format!(" [{low:.3}, {high:.3}]"));
    format!("{:.3}{spread}", range.mean)
}

/// Whether independent response times bunch.
fn alone(independent: &[&Observed]) -> Option<String> {
    let all: Vec<(&str, Range)> =
        independent.iter().filter_map(|o| Some((o.case.name.as_str(), o.cov(200)?))).collect();
    let means = || all.iter().map(|(_, range)| range.mean);
    let (least, most) = (means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max));
    let bunched: Vec<&str> = all.iter().filter(|(_, r)| r.above(BUNCHED)).map(|(name, _)| *name).collect();
    let open = all.iter().any(|(_, range)| !range.above(BUNCHED) && !range.below(BUNCHED));
    Some(match (bunched.is_empty(), open) {
        _ if all.is_empty() => return None,
        (true, false) => format!(
            "Response times that are independent of each other do not bunch the arrivals, however long they are: the CoV \
             of all 200 users is {least:.3} to {most:.3} in the {} tests, in none above {BUNCHED}.",
            all.len()
        ),
        (true, true) => format!(
            "Whether independent response times bunch is not decided by so few replications: the CoV of all 200 users is \
             {least:.3} to {most:.3}, and its interval reaches above {BUNCHED} in some tests."
        ),
        (false, _) => format!(
            "Here the response times bunch the arrivals in {} of {} tests ({}): the CoV of all 200 users goes up to \
             {most:.3}.",
            bunched.len(),
            all.len(),
            listed(&bunched)
        ),
    })
}

/// Which printed values a model explains.
fn printed(model: &str, tests: &[&Observed]) -> Option<String> {
    if let Some(few) = tests.first().and_then(|test| too_few(test.all.len() as u64, "replication")) {
        return Some(format!("{model}: whether the printed CoV are among replications is not known: {few}."));
    }
    let (mut explained, mut others) = (Vec::new(), Vec::new());
    for test in tests {
        let (range, printed) = (test.cov(200)?, test.case.published?);
        let name = test.case.name.as_str();
        if range.holds_within(printed, ROUNDING)? {
            explained.push(name);
        } else {
            let side = if printed > range.mean { "above" } else { "below" };
            others.push(format!("{name} ({printed:.2}, {side} {})", interval(&range)));
        }
    }
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    Some(match (explained.is_empty(), others.is_empty()) {
        (true, true) => return None,
        (false, true) => {
            format!("{model}: the printed CoV of every test lies within 5-95 % of replications.")
        }
        _ => format!(
            "{model}: the printed CoV lies within 5-95 % of replications in tests {}; not in {}.",
            listed(&explained),
            listed(&others)
        ),
    })
}

/// Which models give test 2100's printed value.
fn busiest(models: &[(&str, &Observed)]) -> Option<String> {
    let printed = TESTS[T2100].cov;
    if let Some(few) = models.first().and_then(|(_, model)| too_few(model.all.len() as u64, "replication")) {
        return Some(format!("Which models give figure 16's {printed:.2} at test 2100 is not known: {few}."));
    }
    let (mut fit, mut not) = (Vec::new(), Vec::new());
    for (name, model) in models {
        let range = model.cov(200)?;
        let said = format!("{name} {}", interval(&range));
        let fits = range.holds_within(printed, ROUNDING)?;
        if fits { &mut fit } else { &mut not }.push(said);
    }
    let lists = |all: &[String]| listed(all);
    let mut text = format!("Figure 16's {printed:.2} at test 2100: ");
    match fit.len() {
        0 => text.push_str("none of the models gives it"),
        1 => write!(text, "only one model gives it: {}", fit[0]).ok()?,
        n => write!(
            text,
            "{n} models give it, so that the figure does not tell which of them was at work: {}",
            lists(&fit)
        )
        .ok()?,
    }
    match not.len() {
        0 => text.push('.'),
        _ => write!(text, "; not {}.", lists(&not)).ok()?,
    }
    Some(text)
}

/// Whether the excess grows with the number of users.
fn growth(models: &[(&str, &Observed)]) -> Option<String> {
    let paper = slope(&COV_2100);
    let (mut grows, mut stays) = (Vec::new(), Vec::new());
    for (name, model) in models {
        let range = model.slope()?;
        let said = format!("{name} {:.2}", range.mean);
        if range.above(0.0) { &mut grows } else { &mut stays }.push(said);
    }
    let lists = |all: &[String]| listed(all);
    let figure = format!(
        "In figure 16 the excess CoV^2 - 1 of test 2100 grows with the number of users, by {paper:.2} thousandths each"
    );
    Some(match (grows.is_empty(), stays.is_empty()) {
        (true, true) => return None,
        (true, false) => format!("{figure}; it is not known to with any of the models ({}).", lists(&stays)),
        (false, true) => format!("{figure}, as with {}.", lists(&grows)),
        (false, false) => {
            format!("{figure}, as with {}; it is not known to with {}.", lists(&grows), lists(&stays))
        }
    })
}

/// What stalls do to users who think for a fixed time and to users that do not.
fn think(cases: &[&Observed]) -> Option<String> {
    let mut said = Vec::new();
    for three in cases.chunks_exact(3) {
        let [fixed, stalled, uniform] = [three[0].cov(200)?, three[1].cov(200)?, three[2].cov(200)?];
        let test = three[1].case.name.split(' ').next().unwrap_or_default();
        let numbers = format!(
            "{} without stalls, {} with; uniform think time with stalls {}",
            interval(&fixed),
            interval(&stalled),
            interval(&uniform)
        );
        let verdict = match (stalled.above(BUNCHED), stalled.exceeds(&uniform)) {
            (true, true) => "a fixed think time bunches with stalls, and more than a uniform one",
            (true, false) => {
                "a fixed think time bunches with stalls, but is not known to do so more than a uniform one"
            }
            (false, _) => "a fixed think time is not known to bunch with stalls",
        };
        said.push(format!("Test {test}: {verdict} ({numbers})."));
    }
    (!said.is_empty()).then(|| said.join(" "))
}

/// Whether users stay bunched long after one stall.
fn after(cases: &[&Observed]) -> Option<String> {
    let said: Option<Vec<String>> = cases
        .iter()
        .map(|case| {
            let range = case.cov(200)?;
            let verdict = match (range.above(BUNCHED), range.below(BUNCHED)) {
                (true, _) => "still bunched",
                (false, true) => "no longer bunched",
                (false, false) => "perhaps still bunched",
            };
            Some(format!("{} {verdict} ({})", case.case.name, interval(&range)))
        })
        .collect();
    let said = said.filter(|said| !said.is_empty())?;
    Some(format!("From 820 to 1,120 s after a single stall of 2 s: {}.", said.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brady::cases::{Case, observe};
    use crate::brady::play::{Setting, Stalls};
    use crate::range::FEWEST;
    use headway_base::Nanos;

    /// A few short replications of a setting.
    fn seen(part: Part, name: &str, published: f64, setting: Setting, replications: u64) -> Observed {
        let case = Case { part, name: name.to_owned(), published: Some(published), setting };
        observe(vec![case], 5, replications).unwrap().remove(0)
    }

    /// The same replications so often that they have a spread.
    fn often(seen: &Observed) -> Observed {
        let all = seen.all.iter().cycle().take(FEWEST as usize).cloned().collect();
        Observed { case: seen.case.clone(), all }
    }

    fn calm() -> Setting {
        Setting::independent(&TESTS[1]).unwrap()
    }

    const MINUTELY: Stalls = Stalls::Random { gap: Nanos::from_secs(60), length: Nanos::from_secs(2) };

    #[test]
    fn whether_response_times_bunch_is_what_the_replications_say() {
        let independent = seen(Part::Independent, "1830", 1.0, calm(), 6);
        let said = alone(&[&independent]).unwrap();
        assert!(said.contains("do not bunch") && said.contains("in none above 1.01"), "{said}");
        let all_at_once =
            seen(Part::Independent, "1830", 1.0, calm().stalled(MINUTELY).fixed_think().unwrap(), 4);
        let said = alone(&[&independent, &all_at_once]).unwrap();
        assert!(said.contains("bunch the arrivals in 1 of 2 tests (1830)"), "{said}");
        let once = seen(Part::Independent, "1830", 1.0, calm().counted(120, 220), 1);
        assert!(alone(&[&once]).unwrap().contains("not decided"));
        assert_eq!(alone(&[]), None);
    }

    #[test]
    fn a_printed_value_is_explained_or_not() {
        let few = seen(Part::Independent, "1830", 1.0, calm(), 6);
        let unknown = "X: whether the printed CoV are among replications is not known: 6 replications are too few \
                       (at least 20).";
        assert_eq!(printed("X", &[&few]).unwrap(), unknown);
        let fits = often(&few);
        let above =
            Observed { case: Case { published: Some(1.17), ..fits.case.clone() }, all: fits.all.clone() };
        let below =
            Observed { case: Case { published: Some(0.9), ..fits.case.clone() }, all: fits.all.clone() };
        assert!(printed("X", &[&fits]).unwrap().contains("every test"));
        let said = printed("X", &[&fits, &above, &below]).unwrap();
        assert!(said.contains("in tests 1830; not in 1830 (1.17, above 0.9"), "{said}");
        assert!(said.contains("and 1830 (0.90, below 0.9"), "{said}");
        assert!(printed("X", &[&above]).unwrap().contains("in tests none"));
    }

    /// Pauses are given to a tenth of the window, so that a few seconds of computing do.
    #[test]
    fn what_gives_the_busiest_test_its_value_is_computed() {
        let busiest_test = || Setting::independent(&TESTS[T2100]).unwrap().counted(120, 420);
        let plain = seen(Part::Model, "plain", 1.17, busiest_test(), 2);
        let paused = seen(Part::Model, "pauses", 1.17, busiest_test().paused(0.2651, 100), 2);
        let wild = seen(Part::Model, "wild", 1.17, busiest_test().paused(2.0, 200), 2);
        // What fits must be so by construction here: the spread of two is narrow.
        let mut fitting = paused.clone();
        fitting.all[0].cov[23] = 1.16;
        fitting.all[1].cov[23] = 1.18;
        let said = |models: &[(&str, &Observed)]| busiest(models).unwrap();
        assert!(said(&[("pauses", &fitting)]).contains("is not known: 2 replications are too few"));
        let (plain, fitting) = (often(&plain), often(&fitting));
        assert!(said(&[("plain", &plain)]).contains("none of the models"));
        assert!(said(&[("plain", &plain), ("pauses", &fitting)]).contains("only one model gives it: pauses"));
        let two = said(&[("pauses", &fitting), ("stalls", &fitting)]);
        assert!(two.contains("2 models give it, so that the figure does not tell") && two.ends_with("."));
        let grown = |models: &[(&str, &Observed)]| growth(models).unwrap();
        assert!(
            grown(&[("plain", &plain)]).contains("not known to with any of the models"),
            "{}",
            grown(&[("plain", &plain)])
        );
        let all = grown(&[("wild", &wild), ("plain", &plain)]);
        assert!(all.contains("as with wild") && all.contains("it is not known to with plain"), "{all}");
    }

    #[test]
    fn stalls_bunch_fixed_think_times_and_the_sentence_follows() {
        let fixed = seen(Part::Think, "1830 fixed", 0.99, calm().fixed_think().unwrap(), 4);
        let stalled =
            seen(Part::Think, "1830 fixed, stalls", 4.39, calm().stalled(MINUTELY).fixed_think().unwrap(), 4);
        let uniform = seen(Part::Think, "1830 uniform, stalls", 0.995, calm().stalled(MINUTELY), 8);
        let said = think(&[&fixed, &stalled, &uniform]).unwrap();
        assert!(said.contains("and more than a uniform one"), "{said}");
        let said = think(&[&fixed, &stalled, &stalled]).unwrap();
        assert!(said.contains("not known to do so more"), "{said}");
        assert!(think(&[&fixed, &uniform, &uniform]).unwrap().contains("is not known to bunch"));
        let said = after(&[&stalled, &uniform]).unwrap();
        assert!(said.contains("fixed, stalls still bunched") && said.contains("no longer bunched"), "{said}");
    }
}
