//! `headway plan`: the intended arrivals, so that anyone can check them.

use crate::args::PlanArgs;
use crate::exit::{FINE, Failure};
use crate::rundoc::STEP;
use crate::settings::Load;
use std::io::{self, BufWriter, Write};
use workload::Target;

pub(super) fn plan(args: &PlanArgs) -> Result<u8, Failure> {
    if let Some(url) = &args.target {
        Target::parse(url).map_err(Failure::usage)?;
    }
    let load = Load::resolve(&args.load).map_err(Failure::usage)?;
    let plan = &load.plan;
    let _ = writeln!(io::stderr(), "headway: {} at {}, seed {}", plan.process, load.rate, plan.seed);
    match print(plan, BufWriter::new(io::stdout().lock())) {
        // Whoever reads has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(FINE),
        other => Ok(other.map(|()| FINE)?),
    }
}

fn print(plan: &workload::Plan, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "arrival,intended_s,step")?;
    for arrival in plan.arrivals() {
        let ns = arrival.intended.0;
        writeln!(out, "{},{}.{:09},{STEP}", arrival.k, ns / 1_000_000_000, ns % 1_000_000_000)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Nanos, Rate};
    use workload::{Plan, Process, Shard};

    fn csv(shard: Shard) -> Vec<String> {
        let zero = Nanos::ZERO;
        let mut plan = Plan::ramp_and_hold(7, Process::Poisson, Rate(100.0), zero, zero, Nanos::from_secs(2));
        plan.shard = shard;
        let mut out = Vec::new();
        print(&plan, &mut out).unwrap();
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
