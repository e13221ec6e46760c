//! `headway compare`: recorded runs, studies and other tools' files beside each other, or live targets in rounds.

use crate::args::{Args, BaselineArgs, Beside, Command, CompareArgs, DemandArgs, RunArgs};
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::{self, Shown};
use crate::progress::Bar;
use crate::repeat;
use crate::repeat::Typed;
use crate::said::{self, say};
use crate::settings::{Output, RunSettings, Subject, new_seed, outputs_fit, reports_fit};
use crate::usage;
use anyhow::{Context as _, Result, anyhow, bail};
use clap::Parser as _;
use headway_engine::compare::{
    Across, CompareSpec, Loaded, Recorded, compare_loaded, compare_recorded, differences,
};
use headway_engine::experiment::rounds::{Contender, Going, RoundsSpec, rounds};
use headway_engine::{Backend, Plan, RunSpec};
use headway_live::Control;
use headway_records::RunFolder;
use headway_report::{Document, Material, Style, words};
use headway_stats::Summary;
use headway_stats::comparison::Comparison;
use headway_stats::summary::LoadVerdict;
use headway_workload::redact::{Cleared, clear};

/// Rounds of a live comparison by default.
const ROUNDS: u64 = 10;

const SUBJECT: Subject<'_> = Subject {
    name: "a comparison",
    document: Material::Comparison,
    no_records: Some("a comparison keeps none"),
    no_log: Some("a comparison keeps none"),
};

pub(super) fn compare(args: &CompareArgs, words: &Typed) -> Result<u8, Failure> {
    let wanted = args.reports.wanted();
    reports_fit(&wanted, SUBJECT).map_err(Failure::usage)?;
    let out = Output::folder("--out", args.out.as_ref());
    outputs_fit(&out.into_iter().chain(wanted.iter().map(Output::report)).collect::<Vec<_>>())
        .map_err(Failure::usage)?;
    if let Some(flag) = args.only_live() {
        return Err(Failure::usage(anyhow!(
            "{flag} is for a live comparison: name the targets by --live URL URL, or leave it out"
        )));
    }
    let (comparison, interrupted) = match args.live.is_empty() {
        true => (recorded(args, words)?, false),
        false => live(args, words)?,
    };
    let shown = Shown { details: args.details, ..Shown::comparison(&comparison, None) };
    let failed = output::complain(output::deliver(shown, &wanted, args.quiet));
    Ok(match (failed, interrupted) {
        (true, _) => exit::FAILED,
        (false, true) => exit::INTERRUPTED,
        (false, false) => exit::of_comparison(&comparison, args.strict),
    })
}

fn spec(demands: &DemandArgs, command: Cleared) -> CompareSpec {
    CompareSpec {
        paths: Vec::new(),
        conditions: demands.fail_if.clone(),
        across: Across(demands.across.clone()),
        command,
    }
}

fn recorded(args: &CompareArgs, words: &Typed) -> Result<Comparison, Failure> {
    if args.runs.len() < 2 {
        return Err(Failure::usage(anyhow!(
            "{}: one run is not compared with itself: name two or more, as in headway compare BEFORE AFTER",
            args.runs[0].display()
        )));
    }
    let spec =
        CompareSpec { paths: args.runs.clone(), ..spec(&args.demands, repeat::command_as_it_was(words)) };
    Ok(compare_recorded(&spec, &mut Bar::new(args.quiet))?)
}

/// Says which run goes on.
struct Lines {
    rounds: u64,
    quiet: bool,
}

impl Going for Lines {
    fn begins(&mut self, round: u64, name: &str) {
        if !self.quiet {
            said::piece(&said::cleared(&format!(
                "headway: round {} of {}, {name}: ",
                round + 1,
                self.rounds
            )));
        }
    }

    fn ended(&mut self, summary: &Summary) {
        if self.quiet {
            return;
        }
        let word = words::load(summary).word;
        let text = match summary.verdict.load {
            // What keeps the load from being sent is the same in the rounds to come: it is said while they can still be stopped.
            Some(LoadVerdict::Invalid) if summary.is_another_load() => {
                let why = words::reasons(summary).into_iter().next();
                let next = why.as_ref().and_then(|why| why.next.as_deref()).unwrap_or_default();
                let text = why.as_ref().map_or("", |why| why.text.as_str());
                format!("{word}, the round is left out: {text} {next}")
            }
            _ => word.to_owned(),
        };
        said::bare(&said::cleared(&text));
    }
}

fn live(args: &CompareArgs, words: &Typed) -> Result<(Comparison, bool), Failure> {
    if !args.demands.across.is_empty() {
        return Err(Failure::usage(anyhow!(
            "--across is about recorded runs: live ones have one plan; leave it out"
        )));
    }
    let seed = args.seed.unwrap_or_else(new_seed);
    let rounds_asked = args.rounds.unwrap_or(ROUNDS);
    let settings: Vec<RunSettings> =
        args.live.iter().map(|url| resolved(args, url, seed, words)).collect::<Result<_, Failure>>()?;
    let first = &settings[0];
    let steps = &first.spec.labels;
    for condition in &args.demands.fail_if {
        if let Some(step) = condition.step.as_ref().filter(|step| !steps.contains(step)) {
            let known = steps.iter().map(Cleared::as_str).collect::<Vec<_>>().join(", ");
            return Err(Failure::usage(anyhow!(
                "--fail-if '{}': there is no step '{step}' (steps: {known})",
                condition.text
            )));
        }
    }
    let mut shown: Vec<Cleared> = settings.iter().map(|of| of.live.shown_target.clone()).collect();
    for i in 1..shown.len() {
        if shown[..i].contains(&shown[i]) {
            shown[i] = clear(&format!("{} ({})", shown[i], i + 1));
        }
    }
    let contender = |(of, name): (&RunSettings, Cleared)| Contender {
        name,
        target: Some(of.live.shown_target.clone()),
        backend: Backend::Live(Box::new(of.live.clone())),
    };
    let run = |seed: u64| {
        let plan = Plan { seed, ..first.spec.plan.clone() };
        Ok(RunSpec { plan, ..first.spec.clone() })
    };
    let spec = RoundsSpec {
        sides: settings.iter().zip(shown).map(contender).collect(),
        run: &run,
        rounds: rounds_asked,
        seed,
        conditions: &args.demands.fail_if,
        folder: args.out.clone(),
        command: repeat::command(words, seed),
    };
    if !args.quiet {
        say!("{}, {} rounds of {} targets, seed {seed}", first.load.headline, rounds_asked, settings.len());
    }
    let control = Control::default();
    interrupt::steer(&control)?;
    settings.iter().for_each(|of| said::also(&of.live.redactor));
    let mut lines = Lines { rounds: rounds_asked, quiet: args.quiet };
    let played = rounds(&spec, &control, &mut lines);
    let played = played.map_err(|error| Failure::from(error).hiding(&first.live.redactor))?;
    Ok((played.comparison, played.interrupted))
}

/// What `headway run` would do with one of the targets.
fn resolved(args: &CompareArgs, url: &str, seed: u64, words: &Typed) -> Result<RunSettings, Failure> {
    let mut flags = vec!["headway".to_owned(), "run".to_owned()];
    let mut flag = |name: &str, value: Option<String>| {
        flags.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    };
    let of_urls = |default: &str| args.scenario.is_none().then(|| default.to_owned());
    flag("-R", args.rate.clone().or_else(|| of_urls("50/s")));
    flag("-d", args.each.map(|time| time.to_string()).or_else(|| of_urls("20s")));
    flag("--warmup", args.warmup.map(|time| time.to_string()).or_else(|| of_urls("2s")));
    flag("-c", args.connections.clone());
    flag("--seed", Some(seed.to_string()));
    match &args.scenario {
        Some(file) => {
            flag("--set", Some(format!("target={url}")));
            flags.push(file.clone());
        }
        None => flags.push(url.to_owned()),
    }
    flags.extend(args.flags.iter().cloned());
    let parsed = Args::try_parse_from(&flags)
        .map_err(|error| Failure::usage(anyhow!("behind --: {}", usage::told(&error, &flags[1..]))))?;
    let Command::Run(run) = parsed.command else { unreachable!("these are flags of headway run") };
    let run: RunArgs = *run;
    if let Some((flag, why)) = run.out_of_place(Beside::Rounds) {
        return Err(Failure::usage(anyhow!("behind --: {flag} does not go with --live: {why}")));
    }
    RunSettings::resolve(&run, words).with_context(|| format!("--live {url}")).map_err(Failure::usage)
}

/// A recorded run that a new one will be compared with, read before anything is sent.
pub(super) struct Baseline<'a> {
    loaded: Loaded,
    args: &'a BaselineArgs,
}

impl Baseline<'_> {
    /// Reads it, and refuses a plan that will not be comparable.
    ///
    /// # Errors
    /// There is no such run, or it has another plan.
    pub(super) fn open<'a>(args: &'a BaselineArgs, settings: &RunSettings) -> Result<Option<Baseline<'a>>> {
        let Some(path) = &args.baseline else {
            if let Some(flag) = [
                (!args.demands.fail_if.is_empty(), "--fail-if"),
                (!args.demands.across.is_empty(), "--across"),
            ]
            .into_iter()
            .find_map(|(given, flag)| given.then_some(flag))
            {
                bail!("{flag} is about a comparison: name the run to compare with by --baseline RUN");
            }
            return Ok(None);
        };
        let name =
            path.file_name().map_or_else(|| "baseline".into(), |name| name.to_string_lossy().into_owned());
        let conditions = &args.demands.fail_if;
        let loaded = Loaded::open(path, clear(&name), conditions, &mut ())
            .map_err(anyhow::Error::from)
            .context("--baseline")?;
        if loaded.run.is_another_load {
            bail!(
                "--baseline {}: not comparable: its load was INVALID, so its times are those of another load; name a VALID run",
                path.display()
            );
        }
        let own = Recorded { plan: Some(settings.spec.plan.clone()), ..Recorded::default() };
        let differ = loaded.recorded.as_ref().map(|before| differences(before, &own)).unwrap_or_default();
        let other: Vec<String> = differ
            .into_iter()
            .filter(|d| !args.demands.across.iter().any(|own| d.what == **own))
            .map(|d| format!("{} ({} there, {} here)", d.what, d.base, d.other))
            .collect();
        if !other.is_empty() {
            bail!(
                "--baseline {}: not comparable, another plan: {}; if that is what you compare, add --across",
                path.display(),
                other.join("; ")
            );
        }
        Ok(Some(Baseline { loaded, args }))
    }

    /// Compares it with the run in that folder: prints the comparison, and puts it into the folder. The exit code, if it is not that of
    /// the run.
    pub(super) fn compare(self, folder: &RunFolder, quiet: bool) -> Result<u8> {
        let name = folder
            .path()
            .file_name()
            .map_or_else(|| "this run".into(), |name| name.to_string_lossy().into_owned());
        let conditions = &self.args.demands.fail_if;
        let own =
            Loaded::open(folder.path(), clear(&name), conditions, &mut ()).map_err(anyhow::Error::from)?;
        let comparison = compare_loaded(&[self.loaded, own], &spec(&self.args.demands, Cleared::default()))?;
        if !quiet {
            let text = render("terminal", &comparison);
            output::print(b"\n")?;
            output::print(&text)?;
        }
        for (file, form) in [("comparison.json", "json"), ("comparison.html", "html")] {
            folder.write_new(file, &render(form, &comparison))?;
        }
        Ok(exit::of_comparison(&comparison, false))
    }
}

fn render(form: &str, comparison: &Comparison) -> Vec<u8> {
    let output = headway_report::find(form);
    output
        .and_then(|output| output.render(Document::Comparison(comparison), &Style::default()))
        .unwrap_or_default()
}
