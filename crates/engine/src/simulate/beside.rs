//! A recorded run that simulated ones are shown beside (`--beside`): what is kept of it, and how it compares.
//!
//! What was asked of it is taken from its `plan.json` where there is one; of a summary alone, from what that tells. Deliberately
//! absent: reading the summary, which is the command's.

use super::differs::{of_patience, of_plans, of_summaries};
use crate::Manifest;
use crate::plan_summary;
use headway_report::beside::{of_point, of_run, recorded};
use headway_report::format::count;
use headway_stats::Summary;
use headway_stats::study::{Point, Study};
use headway_stats::summary::evidence::Remark;
use headway_stats::summary::{Against, Beside, Differs, Evidence, PlanSummary, Recorded};
use headway_workload::{Limits, Plan};
use std::path::Path;

/// A recorded run.
#[derive(Clone, Debug)]
pub struct RecordedRun {
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
pub struct SimulatedRun<'a> {
    /// Name of the scenario.
    pub scenario: &'a str,
    /// Who comes when.
    pub plan: &'a Plan,
    /// Labels of the steps.
    pub steps: &'a [String],
    /// Bounds of the whole run.
    pub limits: &'a Limits,
}

impl SimulatedRun<'_> {
    /// Its plan, as in the summary of a run.
    pub fn asked(&self) -> PlanSummary {
        let seconds = |span: headway_base::Nanos| Some(span.as_secs_f64());
        PlanSummary {
            steps: self.steps.to_vec(),
            timeout_s: seconds(self.limits.timeout),
            connect_timeout_s: seconds(self.limits.connect_timeout),
            max_wait_s: seconds(self.limits.max_wait),
            ..plan_summary(self.plan)
        }
    }
}

impl RecordedRun {
    /// The run with that summary; `path` is its folder, or the summary itself.
    pub fn new(path: &Path, summary: &Summary) -> RecordedRun {
        let of_folder = path.file_name().is_some_and(|name| name == headway_records::folder::SUMMARY);
        let path = if of_folder { path.parent().unwrap_or(path) } else { path };
        let name = path.file_name().map_or(summary.name.clone(), |name| name.to_string_lossy().into_owned());
        let mut run = recorded(name, summary);
        let at = path.join(headway_records::folder::PLAN);
        let plan = at.is_file().then(|| {
            let document = Manifest::read(&at).map_err(|error| format!("{error:#}"))?;
            document.plan_beside(&at).map_err(|error| format!("{}: {error:#}", at.display()))
        });
        let unreadable = |error: String| Evidence::from(Remark::PlanUnreadable { error });
        let plan = plan.and_then(|plan| plan.map_err(|error| run.remarks.push(unreadable(error))).ok());
        if plan.is_none() && summary.plan.is_none() {
            run.remarks.push(Remark::LoadNotKnown { run: run.name.clone() }.into());
        }
        let reached =
            summary.generator.as_ref().and_then(|generator| generator.cap_hits).filter(|&hits| hits > 0);
        RecordedRun {
            held: summary.plan.as_ref().and_then(|plan| plan.connections).zip(reached),
            scenario: path.join(headway_records::folder::SCENARIO).is_file().then(|| summary.name.clone()),
            asked: summary.plan.clone(),
            plan,
            run,
        }
    }

    /// How a single run compares.
    pub fn beside(&self, own: &SimulatedRun<'_>, summary: &Summary) -> Beside {
        let compared = of_run(&self.run, summary);
        Beside { run: self.run.clone(), against: Against { differs: self.differs(own), compared } }
    }

    /// How a point of a study compares.
    pub fn against(&self, own: &SimulatedRun<'_>, point: &Point, replications: u64) -> Against {
        Against { differs: self.differs(own), compared: of_point(&self.run, point, replications) }
    }

    /// Puts what is kept of the run into the study.
    pub fn into_study(&self, study: &mut Study) {
        study.beside = Some(self.run.clone());
    }

    fn differs(&self, own: &SimulatedRun<'_>) -> Vec<Differs> {
        let mut all = Vec::new();
        if let Some(scenario) = self.scenario.as_ref().filter(|name| *name != own.scenario) {
            let (recorded, simulated) = (scenario.clone(), own.scenario.to_owned());
            all.push(Differs { what: "scenario".into(), recorded, simulated });
        }
        let simulated = own.asked();
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
