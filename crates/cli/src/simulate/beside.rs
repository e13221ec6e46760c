//! A recorded run that simulated ones are shown beside (`--beside`): what is kept of it, and how it compares.
//!
//! What was asked of it is taken from its `plan.json` where there is one; of a summary alone, from what that tells. Deliberately
//! absent: reading the summary, which is the command's.

use super::differs::{of_patience, of_plans, of_summaries};
use crate::settings::plan_summary;
use headway_engine::Manifest;
use headway_report::beside::{of_point, of_run, recorded};
use headway_report::format::count;
use headway_stats::Summary;
use headway_stats::study::{Point, Study};
use headway_stats::summary::{Against, Beside, Differs, PlanSummary, Recorded};
use headway_workload::{Limits, Plan};
use std::path::Path;

/// A recorded run.
#[derive(Clone, Debug)]
pub struct Other {
    run: Recorded,
    /// Name of its scenario, if its folder holds one.
    scenario: Option<String>,
    plan: Option<Plan>,
    asked: Option<PlanSummary>,
    /// Connection cap, and how often it was reached, if it was.
    held: Option<(u64, u64)>,
}

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    /// Name of the scenario.
    pub scenario: &'a str,
    /// Who comes when.
    pub plan: &'a Plan,
    /// Labels of the steps.
    pub steps: &'a [String],
    /// Bounds of the whole run.
    pub limits: &'a Limits,
}

impl Other {
    /// The run with that summary; `path` is its folder, or the summary itself.
    pub fn new(path: &Path, summary: &Summary) -> Other {
        let of_folder = path.file_name().is_some_and(|name| name == headway_records::folder::SUMMARY);
        let path = if of_folder { path.parent().unwrap_or(path) } else { path };
        let name = path.file_name().map_or(summary.name.clone(), |name| name.to_string_lossy().into_owned());
        let mut run = recorded(name, summary);
        let at = path.join(headway_records::folder::PLAN);
        let plan = at.is_file().then(|| {
            let document = Manifest::read(&at).map_err(|error| format!("{error:#}"))?;
            document.plan.plan().map_err(|error| format!("{}: {error}", at.display()))
        });
        let plan = plan.and_then(|plan| plan.map_err(|error| run.notes.push(unread(&error))).ok());
        if plan.is_none() && summary.plan.is_none() {
            run.notes.push(format!(
                "What was asked of {} is not known, so that it may be another load.",
                run.name
            ));
        }
        let reached =
            summary.generator.as_ref().and_then(|generator| generator.cap_hits).filter(|&hits| hits > 0);
        Other {
            held: summary.plan.as_ref().and_then(|plan| plan.connections).zip(reached),
            scenario: path.join(headway_records::folder::SCENARIO).is_file().then(|| summary.name.clone()),
            asked: summary.plan.clone(),
            plan,
            run,
        }
    }

    /// How a single run compares.
    pub fn beside(&self, own: &Own<'_>, summary: &Summary) -> Beside {
        let compared = of_run(&self.run, summary);
        Beside { run: self.run.clone(), against: Against { differs: self.differs(own), compared } }
    }

    /// How a point of a study compares.
    pub fn against(&self, own: &Own<'_>, point: &Point, replications: u64) -> Against {
        Against { differs: self.differs(own), compared: of_point(&self.run, point, replications) }
    }

    /// Puts what is kept of the run into the study.
    pub fn into_study(&self, study: &mut Study) {
        study.beside = Some(self.run.clone());
    }

    fn differs(&self, own: &Own<'_>) -> Vec<Differs> {
        let mut all = Vec::new();
        if let Some(scenario) = self.scenario.as_ref().filter(|name| *name != own.scenario) {
            let (recorded, simulated) = (scenario.clone(), own.scenario.to_owned());
            all.push(Differs { what: "scenario".into(), recorded, simulated });
        }
        let seconds = |span: headway_base::Nanos| Some(span.as_secs_f64());
        let simulated = PlanSummary {
            steps: own.steps.to_vec(),
            timeout_s: seconds(own.limits.timeout),
            connect_timeout_s: seconds(own.limits.connect_timeout),
            max_wait_s: seconds(own.limits.max_wait),
            ..plan_summary(own.plan)
        };
        let steps = self.asked.as_ref().map_or(&[][..], |asked| &asked.steps);
        match (&self.plan, &self.asked) {
            (Some(plan), _) => {
                // Written down and read back as the other was, so that laws from files look the same.
                let own_plan = own.plan.document().plan();
                all.extend(of_plans([plan, own_plan.as_ref().unwrap_or(own.plan)], [steps, own.steps]));
            }
            (None, Some(asked)) => all.extend(of_summaries([asked, &simulated])),
            (None, None) => {}
        }
        all.extend(self.asked.iter().flat_map(|asked| of_patience(asked, &simulated)));
        let cap = u64::from(own.limits.connections);
        if let Some((connections, times)) = self.held.filter(|(connections, _)| *connections != cap) {
            all.push(Differs {
                what: "connections".into(),
                recorded: format!("at most {}, reached {} times", count(connections), count(times)),
                simulated: format!("at most {}", count(cap)),
            });
        }
        all
    }
}

fn unread(error: &str) -> String {
    format!("Its plan cannot be read, so that only what its summary tells is compared: {error}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use crate::settings::{Asked, asked, simulated};
    use crate::simulate::{simulate, study};
    use clap::Parser as _;
    use std::fs;

    const TEXT: &str = "name: shop\nseed: 7\nusers: { arrive: { rate: 60/s }, phases: [ { hold: 20s } ] }\n\
        journey: [ { get: / } ]\nmodel: { servers: 2, service: exp(10ms) }\n";

    /// A simulation of that text, its results in a folder of that name, beside another if there is one.
    fn run(folder: &Path, name: &str, text: &str, beside: Option<Other>) -> Summary {
        let (file, out) = (folder.join(format!("{name}.yaml")), folder.join(name));
        fs::write(&file, text).unwrap();
        let words = ["headway", "sim", file.to_str().unwrap(), "--no-log", "--out", out.to_str().unwrap()];
        let Command::Sim(args) = Args::parse_from(words).command else { unreachable!() };
        let settings = crate::settings::SimSettings { beside, ..simulated(&args, &[]).unwrap() };
        let summary = simulate(&settings, &|| false).unwrap().summary;
        let stored =
            headway_report::parse(&fs::read(out.join(headway_records::folder::SUMMARY)).unwrap()).unwrap();
        assert_eq!(stored, summary);
        summary
    }

    fn told(beside: &Beside) -> Vec<String> {
        let one = |d: &Differs| format!("{}: {} | {}", d.what, d.recorded, d.simulated);
        beside.against.differs.iter().map(one).collect()
    }

    #[test]
    fn the_same_run_agrees_and_another_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let first = run(folder.path(), "first", TEXT, None);
        let other = || Other::new(&folder.path().join("first"), &first);
        let same =
            run(folder.path(), "same", &TEXT.replace("seed: 7", "seed: 8"), Some(other())).beside.unwrap();
        assert_eq!(told(&same), Vec::<String>::new());
        assert_eq!(same.run.name, "first");
        // Twelve of 1,200 requests lie beyond p99, which has no interval.
        let agree = same.against.compared.iter().map(|of| of.agree).collect::<Vec<_>>();
        assert_eq!(agree, [Some(true), Some(true), Some(true), None], "{:?}", same.against.compared);
        let text = TEXT.replace("60/s", "70/s").replace("hold: 20s", "hold: 200s").replace("shop", "kiosk");
        let text = format!("{}timeout: 2s\n", text.replace("exp(10ms)", "exp(20ms)"));
        let apart = run(folder.path(), "apart", &text, Some(other())).beside.unwrap();
        let named = [
            "scenario: shop | kiosk",
            "rate: 60.0/s | 70.0/s",
            "duration: 20 s | 3.33 min",
            "time-out: 30 s | 2 s",
            "longest wait: 30 s | 2 s",
        ];
        assert_eq!(told(&apart), named);
        let p50 = &apart.against.compared[1];
        assert_eq!((p50.of.as_str(), p50.agree), ("p50", Some(false)), "twice the service time: {p50:?}");
        assert!(p50.ratio.unwrap() < 0.7);
        // Of a summary alone less is known, and what is known is compared.
        let file = folder.path().join("kept.json");
        fs::copy(folder.path().join("first").join(headway_records::folder::SUMMARY), &file).unwrap();
        let less = run(folder.path(), "less", &text, Some(Other::new(&file, &first))).beside.unwrap();
        assert_eq!(told(&less), named[1..]);
    }

    #[test]
    fn each_point_of_a_study_is_compared() {
        let folder = tempfile::tempdir().unwrap();
        let first = run(folder.path(), "first", TEXT, None);
        let file = folder.path().join("first.yaml");
        let words =
            ["headway", "sim", file.to_str().unwrap(), "--sweep", "rate=60,90", "--replications", "5"];
        let Command::Sim(args) = Args::parse_from(words).command else { unreachable!() };
        let Ok(Asked::Study(mut settings)) = asked(&args, &[]) else { unreachable!() };
        settings.beside = Some(Other::new(&folder.path().join("first"), &first));
        let study = study(&settings, &|| false, || {}).unwrap().study;
        assert_eq!(study.beside.as_ref().map(|run| run.name.as_str()), Some("first"));
        let against: Vec<&Against> = study.points.iter().filter_map(|point| point.beside.as_ref()).collect();
        assert_eq!((against.len(), against[0].differs.len()), (2, 0));
        assert_eq!(against[1].differs[0].what, "rate");
        assert_eq!(
            against.iter().map(|a| a.compared[1].agree).collect::<Vec<_>>(),
            [Some(true), Some(false)]
        );
    }

    #[test]
    fn what_is_not_known_of_the_other_run_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let foreign = Summary { name: "results.jtl".into(), ..Summary::default() };
        let other = Other::new(&folder.path().join("audit.json"), &foreign);
        let beside = run(folder.path(), "sim", TEXT, Some(other)).beside.unwrap();
        assert!(
            beside.run.notes[0].contains("What was asked of audit.json is not known"),
            "{:?}",
            beside.run.notes
        );
        assert!(beside.against.compared.iter().all(|of| of.agree.is_none() && of.why_not.is_some()));
        // A plan that cannot be read is no reason to do without what the summary tells.
        fs::write(folder.path().join(headway_records::folder::PLAN), "{}").unwrap();
        let asked = run(folder.path(), "again", TEXT, None);
        let beside =
            run(folder.path(), "third", TEXT, Some(Other::new(folder.path(), &asked))).beside.unwrap();
        assert!(beside.run.notes[0].contains("Its plan cannot be read"), "{:?}", beside.run.notes);
        assert_eq!(told(&beside), Vec::<String>::new());
    }
}
