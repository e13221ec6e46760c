//! How the workers wait for the next intended instant, and what is done to this machine so that they wake on time.
//!
//! A sleeper is late for two reasons: its core is in an idle state that takes long to leave (in a virtual machine the host
//! must run the core again, which takes milliseconds), or another process has the core. Against the first, [`Held`] keeps
//! `/dev/cpu_dma_latency` at zero for the length of a run; where that cannot be had, loops of idle priority keep the cores
//! awake. Against the second, real-time priority helps, on request. All of it ends with [`Held`], and with the process.
//!
//! Deliberately absent: sentences about it (`report` has them), and the wait itself, which is the worker's.

mod device;
mod loops;
pub mod policy;
mod realtime;
mod waiter;

pub use device::DmaLatency;
pub(crate) use realtime::Watchdog;
pub(crate) use waiter::Waiter;
pub use waiter::Wakeups;

use crate::host::{self, Groups};
use headway_base::Nanos;
use loops::Loops;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use thiserror::Error;

/// How to wait for the next intended instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// Sleep until shortly before it, then poll; keep the cores awake by what this machine allows.
    #[default]
    Auto,
    /// Sleep until shortly before it, then poll; leave the machine as it is.
    Sleep,
    /// Never sleep: a whole core per worker.
    Spin,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How to wait.
    pub strategy: Strategy,
    /// Whether workers have real-time priority.
    pub realtime: bool,
    /// The time scale L: [`Strategy::Auto`] counts wake-ups that are later than a quarter of it.
    pub lateness: Nanos,
    /// Where this machine says what it has.
    pub machine: Machine,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            strategy: Strategy::Auto,
            realtime: false,
            lateness: Nanos::from_millis(1),
            machine: Machine::default(),
        }
    }
}

impl Settings {
    /// Sleeping, with nothing done to the machine.
    pub fn sleeping() -> Settings {
        Settings { strategy: Strategy::Sleep, ..Settings::default() }
    }
}

/// The files in which this machine says what it has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The device that bounds how long a core may take to wake up.
    pub dma_latency: PathBuf,
    /// The name of the driver of idle states.
    pub idle_driver: PathBuf,
    /// The control groups of this process.
    pub cgroups: PathBuf,
    /// What is mounted where.
    pub mounts: PathBuf,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine {
            dma_latency: "/dev/cpu_dma_latency".into(),
            idle_driver: "/sys/devices/system/cpu/cpuidle/current_driver".into(),
            cgroups: "/proc/self/cgroup".into(),
            mounts: "/proc/self/mountinfo".into(),
        }
    }
}

/// Whether threads of this process may have real-time priority.
pub fn may_be_realtime() -> bool {
    realtime::permitted().is_ok()
}

/// Why real-time priority cannot be had.
#[derive(Debug, Error)]
pub enum Refused {
    /// Workers would keep everything else from running.
    #[error(
        "real-time priority needs two cores or more, and this process may use one: workers would keep everything else from \
         running on it"
    )]
    OneCore,
    /// A worker that never sleeps would keep its core for good.
    #[error("real-time priority goes without spinning: a worker that never sleeps would freeze its core")]
    Spin,
    /// The system does not allow it.
    #[error(
        "the system refuses real-time priority ({0}): run as root, give the program the right once (`sudo setcap \
         cap_sys_nice+ep` with its path), or raise the limit (`ulimit -r 1`)"
    )]
    Rights(io::Error),
}

/// What became of the loops of idle priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdleLoops {
    /// Not asked for, or the device does better.
    NotUsed,
    /// Ready, but wake-ups were on time.
    NotNeeded,
    /// They ran on that number of cores.
    Running {
        /// Cores.
        cores: u32,
        /// Since when, on the clock of the run.
        from: Nanos,
    },
    /// A CPU quota of a control group would have been used up by them.
    Quota,
    /// They could not be started.
    Unavailable,
}

/// What was done so that workers woke on time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waited {
    /// What was asked for.
    pub strategy: Strategy,
    /// What became of `/dev/cpu_dma_latency`.
    pub dma_latency: DmaLatency,
    /// What became of the loops.
    pub idle_loops: IdleLoops,
    /// Whether workers had real-time priority.
    pub realtime: bool,
    /// Workers that had to give it up, for they had hardly slept.
    pub realtime_lost: u32,
    /// The lateness from which on a wake-up counts as late.
    pub late_after: Nanos,
}

/// What keeps the machine awake; dropping it ends that, and so does the end of the process, however it comes.
#[derive(Debug)]
pub struct Held {
    settings: Settings,
    dma_latency: DmaLatency,
    /// Open as long as idle states are to be held off.
    _device: Option<File>,
    loops: Result<Loops, IdleLoops>,
    loops_asked: OnceLock<Nanos>,
    _limit: Option<realtime::TimeLimit>,
}

impl Held {
    /// Prepares this machine for a run; to be called while the process is small and before the run's clock counts.
    ///
    /// # Errors
    /// Real-time priority was asked for and cannot be had. Everything else is done as far as it can be.
    pub fn begin(settings: &Settings) -> Result<Held, Refused> {
        let limit = match settings.realtime {
            true if settings.strategy == Strategy::Spin => return Err(Refused::Spin),
            true if host::cores() < 2 => return Err(Refused::OneCore),
            true => {
                realtime::permitted().map_err(Refused::Rights)?;
                Some(realtime::TimeLimit::set().map_err(Refused::Rights)?)
            }
            false => None,
        };
        let machine = &settings.machine;
        let auto = settings.strategy == Strategy::Auto;
        let (dma_latency, device) = if auto { device::hold(machine) } else { (DmaLatency::NotUsed, None) };
        let loops = match auto && device.is_none() {
            false => Err(IdleLoops::NotUsed),
            true if Groups::read(&machine.cgroups, &machine.mounts).quota().is_some() => {
                Err(IdleLoops::Quota)
            }
            true => Loops::prepare().map_err(|_| IdleLoops::Unavailable),
        };
        Ok(Held {
            settings: settings.clone(),
            dma_latency,
            _device: device,
            loops,
            loops_asked: OnceLock::new(),
            _limit: limit,
        })
    }

    /// What was asked for.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether loops could be started, and have not been.
    #[inline]
    fn may_start_loops(&self) -> bool {
        self.loops.is_ok() && self.loops_asked.get().is_none()
    }

    /// Starts the loops; a second call does nothing.
    #[cold]
    fn start_loops(&self, now: Nanos) {
        if let Ok(loops) = &self.loops
            && self.loops_asked.set(now).is_ok()
        {
            loops.start();
        }
    }

    /// What was done so far.
    pub(crate) fn waited(&self, watchdog: Option<&Watchdog>) -> Waited {
        let idle_loops = match (&self.loops, self.loops_asked.get()) {
            (Err(why), _) => *why,
            (Ok(_), None) => IdleLoops::NotNeeded,
            (Ok(loops), Some(&from)) => match loops.running() {
                Some(cores) => IdleLoops::Running { cores, from },
                None => IdleLoops::Unavailable,
            },
        };
        Waited {
            strategy: self.settings.strategy,
            dma_latency: self.dma_latency,
            idle_loops,
            realtime: watchdog.is_some(),
            realtime_lost: watchdog.map_or(0, Watchdog::lost),
            late_after: policy::late_after(self.settings.lateness),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A machine whose files lie in a folder.
    fn machine(folder: &tempfile::TempDir, driver: Option<&str>, device: bool, quota: &str) -> Machine {
        let at = |name: &str| folder.path().join(name);
        if let Some(driver) = driver {
            fs::write(at("driver"), driver).unwrap();
        }
        if device {
            fs::write(at("device"), "").unwrap();
        }
        fs::create_dir_all(at("cgroup/a")).unwrap();
        fs::write(at("cgroup/a/cpu.max"), quota).unwrap();
        fs::write(at("cgroups"), "0::/a/b\n").unwrap();
        let mounts = format!("41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n", at("cgroup").display());
        fs::write(at("mounts"), mounts).unwrap();
        Machine {
            dma_latency: at("device"),
            idle_driver: at("driver"),
            cgroups: at("cgroups"),
            mounts: at("mounts"),
        }
    }

    fn waited(strategy: Strategy, machine: Machine) -> (DmaLatency, IdleLoops) {
        let settings = Settings { strategy, machine, ..Settings::default() };
        let waited = Held::begin(&settings).unwrap().waited(None);
        (waited.dma_latency, waited.idle_loops)
    }

    #[test]
    fn what_the_machine_has_decides_what_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let having = |driver, device, quota| machine(&folder, driver, device, quota);
        let limited = "50000 100000\n";
        assert_eq!(
            waited(Strategy::Auto, having(None, true, limited)),
            (DmaLatency::NoIdleStates, IdleLoops::Quota)
        );
        assert_eq!(
            waited(Strategy::Auto, having(Some("none\n"), true, limited)),
            (DmaLatency::NoIdleStates, IdleLoops::Quota)
        );
        assert_eq!(
            waited(Strategy::Auto, having(Some("haltpoll\n"), true, limited)),
            (DmaLatency::Held, IdleLoops::NotUsed)
        );
        assert_eq!(fs::read(folder.path().join("device")).unwrap(), [0; 4], "a bound of 0 us");
        fs::remove_file(folder.path().join("device")).unwrap();
        assert_eq!(
            waited(Strategy::Auto, having(Some("haltpoll\n"), false, limited)),
            (DmaLatency::Missing, IdleLoops::Quota)
        );
        assert_eq!(
            waited(Strategy::Auto, having(Some("haltpoll\n"), false, "max 100000\n")),
            (DmaLatency::Missing, IdleLoops::NotNeeded)
        );
        for strategy in [Strategy::Sleep, Strategy::Spin] {
            let machine = having(Some("haltpoll\n"), true, limited);
            assert_eq!(waited(strategy, machine), (DmaLatency::NotUsed, IdleLoops::NotUsed));
        }
        assert_eq!(fs::read(folder.path().join("device")).unwrap(), b"", "left alone");
    }

    #[test]
    fn real_time_goes_without_spinning() {
        let settings = Settings { strategy: Strategy::Spin, realtime: true, ..Settings::default() };
        assert!(matches!(Held::begin(&settings), Err(Refused::Spin)));
    }

    /// Processes of that name whose parent is `parent`, and theirs.
    fn descendants(parent: u32) -> Vec<(u32, String)> {
        let mut all = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
            let (head, tail) = stat.rsplit_once(')').unwrap();
            let fields: Vec<&str> = tail.split_whitespace().collect();
            if fields[1].parse() == Ok(parent) && fields[0] != "Z" {
                all.push((pid, head.split_once('(').unwrap().1.to_owned()));
                all.extend(descendants(pid));
            }
        }
        all
    }

    #[test]
    fn loops_run_on_every_core_at_idle_priority_and_end_with_what_holds_them() {
        let folder = tempfile::tempdir().unwrap();
        let machine = machine(&folder, None, false, "max 100000\n");
        let held = Held::begin(&Settings { machine, ..Settings::default() }).unwrap();
        // Other tests of this process have helpers too: this one's is known by its number.
        let helper = held.loops.as_ref().unwrap().helper();
        assert_eq!(descendants(helper), [], "nothing runs before it is needed");
        held.start_loops(Nanos::from_millis(7));
        held.start_loops(Nanos::from_millis(9));
        let cores = host::cores();
        let running = loop {
            match held.waited(None).idle_loops {
                // The helper needs a moment.
                IdleLoops::Unavailable => std::thread::yield_now(),
                other => break other,
            }
        };
        assert_eq!(running, IdleLoops::Running { cores, from: Nanos::from_millis(7) });
        let loops = descendants(helper);
        assert_eq!(loops.len(), cores as usize, "{loops:?}");
        let on = fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled");
        let grouped = on.is_ok_and(|on| on.trim() == "1");
        for (pid, name) in &loops {
            assert_eq!(name, "headway-awake");
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
            // proc(5): field 41 is the policy, field 6 the session; the first two are pid and name.
            assert_eq!(fields[41 - 3], libc::SCHED_IDLE.to_string());
            assert_eq!(fields[6 - 3], loops[0].0.to_string(), "a session of their own, led by the first");
            if grouped {
                let group = fs::read_to_string(format!("/proc/{pid}/autogroup")).unwrap();
                assert!(group.trim_end().ends_with("nice 19"), "{group}");
            }
        }
        drop(held);
        // They were killed; on a busy machine a process of idle priority is long in dying.
        let began = std::time::Instant::now();
        while loops.iter().any(|(pid, _)| fs::exists(format!("/proc/{pid}")).unwrap()) {
            assert!(began.elapsed() < std::time::Duration::from_secs(20), "{loops:?}");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
