//! `headway plan`: the intended arrivals, so that anyone can check them.

use crate::args::PlanArgs;
use crate::exit::{FINE, Failure};
use crate::repeat::Typed;
use crate::said::say;
use crate::settings::planned;
use anyhow::anyhow;
use headway_workload::journey::{Cursor, Next};
use headway_workload::plan::Source;
use headway_workload::redact::Cleared;
use std::io::{self, BufWriter, Write};

pub(super) fn plan(args: &PlanArgs, words: &Typed) -> Result<u8, Failure> {
    let (file, load, labels) = planned(args).map_err(Failure::usage)?;
    if args.set.print_scenario {
        crate::output::print(file.document(words).map_err(Failure::usage)?.as_bytes())?;
        return Ok(FINE);
    }
    let plan = &load.plan;
    if plan.is_connecting() {
        return Err(Failure::usage(anyhow!(
            "{}: when sockets connect depends on what the target accepts; only users who arrive (-R, `arrive:`) have a plan of arrivals",
            load.headline
        )));
    }
    if plan.groups.iter().all(|g| matches!(g.source, Source::Users { .. })) {
        return Err(Failure::usage(anyhow!(
            "{}: users who wait for answers have no plan of arrivals; only users who arrive (-R, `arrive:`) do",
            load.headline
        )));
    }
    say!("{}{}, seed {}{}", load.headline, load.part(), plan.seed, load.remarks());
    match print(plan, &labels, BufWriter::new(io::stdout().lock())) {
        // The reader of the pipe has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(FINE),
        other => Ok(other.map(|()| FINE)?),
    }
}

/// Every arrival with the label of its first request. Sessions of several groups are numbered each in its group.
fn print(plan: &headway_workload::Plan, labels: &[Cleared], mut out: impl Write) -> io::Result<()> {
    writeln!(out, "arrival,intended_s,step")?;
    for (group, arrival) in plan.sessions() {
        let ns = arrival.intended.0;
        let (journey, draws) = (&plan.groups[group].journey, plan.draws(group));
        // A session whose journey holds no request for it sends nothing.
        let Next::Ask(first) = journey.next(&mut Cursor::default(), draws, arrival.k) else { continue };
        let label = labels.get(usize::from(first.step)).map_or("", Cleared::as_str);
        let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
        writeln!(out, "{},{seconds}.{rest:09},{}", arrival.k, headway_report::csv::quoted(label))?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::{Nanos, Rate};
    use headway_engine::manifest::STEP;
    use headway_workload::{Plan, Process, Shard};

    fn csv(shard: Shard) -> Vec<String> {
        let zero = Nanos::ZERO;
        let mut plan = Plan::ramp_and_hold(7, Process::Poisson, Rate(100.0), zero, zero, Nanos::from_secs(2));
        plan.shard = shard;
        let mut out = Vec::new();
        print(&plan, &[STEP.into()], &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn shards_print_the_lines_of_the_whole() {
        let whole = csv(Shard::WHOLE);
        assert_eq!(whole[0], "arrival,intended_s,step");
        assert!(whole[1].starts_with("0,0.0") && whole[1].ends_with(",request"), "{}", whole[1]);
        let mut union: Vec<String> =
            (0..3).flat_map(|i| csv(Shard::new(i, 3).unwrap()).split_off(1)).collect();
        union.sort_by_key(|line| line.split(',').next().unwrap().parse::<u64>().unwrap());
        assert_eq!(union, whole[1..]);
    }
}
