//! `--shard auto`: which shard this process is, by the environment that Kubernetes, Slurm, Open MPI or AWS Batch gave it.
//!
//! A pure function of the environment. That all shards draw one plan is up to the seed, and not looked at here.

use crate::args::Part;
use anyhow::{Result, anyhow, bail};
use headway_workload::Shard;

/// The variable that says how many shards there are where the engine does not; where it does, both must say the same.
const SHARDS: &str = "SHARDS";

/// The variables by which an engine numbers its processes.
#[derive(Debug)]
struct Engine {
    /// As in "a task of ...".
    name: &'static str,
    /// The number of this process.
    index: &'static str,
    /// How many there are.
    count: &'static str,
    /// The numbers of the first and the last, and the step between two, where numbers need not be 0, 1, 2, ...
    range: Option<[&'static str; 3]>,
}

const ALL: [Engine; 5] = [
    Engine { name: "a Kubernetes Indexed Job", index: "JOB_COMPLETION_INDEX", count: SHARDS, range: None },
    Engine {
        name: "a Slurm array",
        index: "SLURM_ARRAY_TASK_ID",
        count: "SLURM_ARRAY_TASK_COUNT",
        range: Some(["SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP"]),
    },
    Engine { name: "srun", index: "SLURM_PROCID", count: "SLURM_NTASKS", range: None },
    Engine { name: "Open MPI", index: "OMPI_COMM_WORLD_RANK", count: "OMPI_COMM_WORLD_SIZE", range: None },
    Engine {
        name: "an AWS Batch array",
        index: "AWS_BATCH_JOB_ARRAY_INDEX",
        count: "AWS_BATCH_JOB_ARRAY_SIZE",
        range: None,
    },
];

/// A shard that the environment names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Which one.
    pub shard: Shard,
    /// The variables that say so: `JOB_COMPLETION_INDEX=3, SHARDS=8`.
    pub by: String,
}

/// The shard that the flag names, and by which variables of the environment, if they named it: `JOB_COMPLETION_INDEX=3, SHARDS=8`. Without
/// a seed each would draw a plan of its own.
///
/// # Errors
/// One that the environment does not name, or a shard without a seed; in words for the user.
pub fn asked(part: Part, seed: Option<u64>) -> Result<(Shard, Option<String>)> {
    let (shard, by) = match part {
        Part::Shard(shard) => (shard, None),
        Part::Auto => {
            let found = find(&|name| std::env::var(name).ok())?;
            (found.shard, Some(found.by))
        }
    };
    if shard != Shard::WHOLE && seed.is_none() {
        bail!("--shard {shard} needs --seed (or `seed:` in the file): all shards must draw the same plan");
    }
    Ok((shard, by))
}

/// The shard that the environment names; `env` looks a variable up.
///
/// An engine that has one process alone says nothing where another has several: a task of a Slurm array has rank 0 of 1 in itself.
///
/// # Errors
/// No engine's variables are there; a value is no whole number, or out of range; or two of them say different things.
pub fn find(env: &dyn Fn(&str) -> Option<String>) -> Result<Found> {
    let mut all = Vec::new();
    let mut incomplete = None;
    for engine in &ALL {
        let Some(index) = number(env, engine.index)? else { continue };
        match number(env, engine.count)? {
            Some(count) => all.push(engine.found(env, index, count)?),
            None => incomplete = incomplete.or(Some(engine)),
        }
    }
    let several: Vec<&Found> = all.iter().filter(|found| found.shard != Shard::WHOLE).collect();
    let found = match (&several[..], &all[..], incomplete) {
        ([first, rest @ ..], ..) => {
            if let Some(other) = rest.iter().find(|other| other.shard != first.shard) {
                bail!(
                    "--shard auto: {} is shard {}, and {} is shard {}: write --shard i/N",
                    first.by,
                    first.shard,
                    other.by,
                    other.shard
                );
            }
            *first
        }
        // This engine has an index and no count. A single process of another engine does not tell the count.
        ([], _, Some(engine)) => {
            let index = env(engine.index).unwrap_or_default();
            bail!(
                "--shard auto: {}={index} says which shard, and {} how many is not set: set it to the number of shards",
                engine.index,
                engine.count
            )
        }
        ([], [one, ..], None) => one,
        ([], [], None) => {
            let accepted =
                ALL.map(|engine| format!("{} and {} ({})", engine.index, engine.count, engine.name));
            bail!(
                "--shard auto: no variable of the environment says which shard this is: set {}, or write --shard i/N",
                accepted.join("; ")
            )
        }
    };
    match number(env, SHARDS)? {
        Some(count) if count != u64::from(found.shard.count()) => bail!(
            "--shard auto: {} is one of {}, and {SHARDS}={count}: set {SHARDS} to what the engine starts, leave it out, or write --shard i/N",
            found.by,
            found.shard.count()
        ),
        _ => Ok(found.clone()),
    }
}

impl Engine {
    fn found(&self, env: &dyn Fn(&str) -> Option<String>, index: u64, count: u64) -> Result<Found> {
        let mut by = format!("{}={index}, {}={count}", self.index, self.count);
        let mut place = index;
        if let Some([first, last, step]) = self.range {
            let value = |name| Ok::<_, anyhow::Error>(number(env, name)?.map(|value| (name, value)));
            let range = [value(first)?, value(last)?, value(step)?];
            for (name, value) in range.iter().flatten() {
                by = format!("{by}, {name}={value}");
            }
            let [low, high, step] = range.map(|found| found.map(|(_, value)| value));
            let (low, step) = (low.unwrap_or(0), step.unwrap_or(1));
            let wanted =
                || anyhow!("--shard auto: {by}: {} must be without holes: write --array=0-7", self.name);
            let at = |number: u64| {
                let ahead = number.checked_sub(low).ok_or_else(wanted)?;
                let holds = step > 0 && ahead % step == 0 && ahead / step < count;
                if holds { Ok(ahead / step) } else { Err(wanted()) }
            };
            place = at(index)?;
            if high.map(at).transpose()?.is_some_and(|last| last + 1 != count) {
                return Err(wanted());
            }
        }
        let shard = u32::try_from(place).ok().zip(u32::try_from(count).ok());
        let shard = shard.and_then(|(place, count)| Shard::new(place, count).ok()).ok_or_else(|| {
            anyhow!(
                "--shard auto: {by} is not a shard: {} must be from 0 to below {}, and that at most 65536",
                self.index,
                self.count
            )
        })?;
        Ok(Found { shard, by })
    }
}

/// The whole number that a variable holds, if it is set.
fn number(env: &dyn Fn(&str) -> Option<String>, name: &str) -> Result<Option<u64>> {
    let Some(text) = env(name) else { return Ok(None) };
    let number = text.trim().parse();
    let shown = headway_base::units::echoed(&text);
    number.map(Some).map_err(|_| anyhow!("--shard auto: {name}='{shown}' is not a whole number from 0 up"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &str) -> Result<Found> {
        let set: Vec<(&str, &str)> =
            variables.split_whitespace().map(|one| one.split_once('=').unwrap()).collect();
        find(&|name| set.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned()))
    }

    fn shard(variables: &str) -> String {
        of(variables).unwrap().shard.to_string()
    }

    fn refused(variables: &str) -> String {
        of(variables).unwrap_err().to_string()
    }

    #[test]
    fn each_engine_is_found_by_its_variables() {
        for (variables, expected) in [
            ("JOB_COMPLETION_INDEX=3 SHARDS=8", "3/8"),
            ("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=8", "0/8"),
            ("SLURM_PROCID=5 SLURM_NTASKS=6", "5/6"),
            ("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "1/2"),
            ("AWS_BATCH_JOB_ARRAY_INDEX=9 AWS_BATCH_JOB_ARRAY_SIZE=10", "9/10"),
        ] {
            let found = of(variables).unwrap();
            assert_eq!(
                (found.shard.to_string(), found.by),
                (expected.to_owned(), variables.replace(' ', ", "))
            );
            // The engine's number of shards and the user's are one.
            assert_eq!(shard(&format!("{variables} SHARDS={}", found.shard.count())), expected);
        }
    }

    #[test]
    fn an_array_of_slurm_begins_where_it_likes_and_has_a_step() {
        let array = |id: u32, count: u32, min: u32, max: u32, step: u32| {
            format!(
                "SLURM_ARRAY_TASK_ID={id} SLURM_ARRAY_TASK_COUNT={count} SLURM_ARRAY_TASK_MIN={min} \
                 SLURM_ARRAY_TASK_MAX={max} SLURM_ARRAY_TASK_STEP={step}"
            )
        };
        for (task, expected) in
            [((8, 8, 1, 8, 1), "7/8"), ((4, 4, 0, 6, 2), "2/4"), ((11, 3, 3, 11, 4), "2/3")]
        {
            let (id, count, min, max, step) = task;
            assert_eq!(shard(&array(id, count, min, max, step)), expected);
        }
        // --array=1,2,9: every task is refused, and not the last one alone.
        for task in [
            (1, 3, 1, 9, 1),
            (2, 3, 1, 9, 1),
            (9, 3, 1, 9, 1),
            (3, 4, 0, 6, 2),
            (0, 8, 1, 8, 1),
            (1, 2, 1, 2, 0),
        ] {
            let (id, count, min, max, step) = task;
            let why = refused(&array(id, count, min, max, step));
            assert!(
                why.contains(&format!("SLURM_ARRAY_TASK_ID={id}")) && why.contains("--array=0-7"),
                "{why}"
            );
        }
    }

    #[test]
    fn one_process_in_itself_says_nothing_beside_several() {
        let array = "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8";
        assert_eq!(shard(&format!("{array} SLURM_PROCID=0 SLURM_NTASKS=1")), "3/8");
        assert_eq!(shard(&format!("{array} SLURM_PROCID=0")), "3/8");
        assert_eq!(
            shard("SLURM_PROCID=2 SLURM_NTASKS=4 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4"),
            "2/4"
        );
        assert_eq!(shard("SLURM_PROCID=0 SLURM_NTASKS=1"), "0/1");
    }

    #[test]
    fn what_contradicts_is_refused_with_both() {
        let why = refused("SLURM_PROCID=2 SLURM_NTASKS=4 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4");
        assert!(
            why.contains("SLURM_NTASKS=4 is shard 2/4")
                && why.contains("OMPI_COMM_WORLD_SIZE=4 is shard 1/4"),
            "{why}"
        );
        // One task of an array, started again by itself, would be the whole plan.
        let why = refused("SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=3 SHARDS=8");
        assert!(why.contains("is one of 1, and SHARDS=8"), "{why}");
    }

    #[test]
    fn what_is_missing_or_no_number_is_said_with_what_would_be_accepted() {
        for nothing in ["", "SHARDS=8", "SLURM_NTASKS=8"] {
            let why = refused(nothing);
            assert!(
                ALL.iter().all(|engine| why.contains(engine.index) && why.contains(engine.count)),
                "{why}"
            );
            assert!(why.contains("--shard i/N"), "{why}");
        }
        let why = refused("JOB_COMPLETION_INDEX=3");
        assert!(
            why.contains("JOB_COMPLETION_INDEX=3") && why.contains("SHARDS how many is not set"),
            "{why}"
        );
        // Each pod would send the whole plan.
        let why = refused("JOB_COMPLETION_INDEX=3 SLURM_PROCID=0 SLURM_NTASKS=1");
        assert!(why.contains("SHARDS how many is not set"), "{why}");
        for (variables, named) in [
            ("JOB_COMPLETION_INDEX=8 SHARDS=8", "JOB_COMPLETION_INDEX=8, SHARDS=8"),
            ("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=0", "OMPI_COMM_WORLD_SIZE=0"),
            ("SLURM_PROCID=1 SLURM_NTASKS=65537", "SLURM_NTASKS=65537"),
            ("JOB_COMPLETION_INDEX=x SHARDS=8", "JOB_COMPLETION_INDEX='x'"),
            ("JOB_COMPLETION_INDEX=1 SHARDS=eight", "SHARDS='eight'"),
            ("JOB_COMPLETION_INDEX=-1 SHARDS=8", "JOB_COMPLETION_INDEX='-1'"),
        ] {
            assert!(refused(variables).contains(named), "{}", refused(variables));
        }
    }
}
