//! Control groups (cgroups(7)): what the groups of this process and all above them allow, as far as it can see. What lies
//! above the root of its namespace it cannot.

use headway_base::machine::Quota;
use std::fs;
use std::path::{Path, PathBuf};

/// A controller: its name, and the files in which its limit stands in the second version and in the first.
struct Controller {
    name: &'static str,
    two: &'static str,
    one: &'static str,
}

const CPU: Controller = Controller { name: "cpu", two: "cpu.max", one: "cpu.cfs_quota_us" };
const MEMORY: Controller = Controller { name: "memory", two: "memory.max", one: "memory.limit_in_bytes" };

/// Where the groups of this process stand, and what is mounted where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Groups {
    cgroups: String,
    mounts: String,
}

impl Groups {
    /// As these files have it (`/proc/self/cgroup`, `/proc/self/mountinfo`); no groups where they cannot be read.
    pub fn read(cgroups: &Path, mounts: &Path) -> Groups {
        let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        Groups { cgroups: text(cgroups), mounts: text(mounts) }
    }

    /// The tightest CPU quota.
    pub fn quota(&self) -> Option<Quota> {
        let of = |file: PathBuf| {
            let text = fs::read_to_string(&file).ok()?;
            let period = fs::read_to_string(file.with_file_name("cpu.cfs_period_us")).unwrap_or_default();
            let (cores, period_s) = quota(&format!("{text} {period}"))?;
            Some(Quota { cores, period_s, file: file.display().to_string() })
        };
        self.files(&CPU).into_iter().filter_map(of).min_by(|a, b| a.cores.total_cmp(&b.cores))
    }

    /// Bytes of memory that the tightest group has left.
    pub fn memory(&self) -> Option<u64> {
        let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
        let of = |file: PathBuf| {
            let used = if file.ends_with(MEMORY.two) { "memory.current" } else { "memory.usage_in_bytes" };
            // Version 1 writes a number near 2^63 where there is no limit.
            let limit = number(file.clone()).filter(|&limit| limit < 1 << 60)?;
            Some(limit.saturating_sub(number(file.with_file_name(used)).unwrap_or(0)))
        };
        self.files(&MEMORY).into_iter().filter_map(of).min()
    }

    /// The files in which a limit may stand: of the groups of this process, and of all above, up to where they are mounted.
    fn files(&self, controller: &Controller) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for line in self.cgroups.lines() {
            // cgroups(7): hierarchy, controllers, path. Version 2 is hierarchy 0 and names none.
            let mut parts = line.splitn(3, ':');
            let (Some(hierarchy), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let (version, file) = match hierarchy == "0" {
                true => (Version::Two, controller.two),
                false if controllers.split(',').any(|name| name == controller.name) => {
                    (Version::One(controller.name), controller.one)
                }
                false => continue,
            };
            for (root, mounted) in self.mounts.lines().filter_map(|line| mount(line, version)) {
                // What is mounted may be a part: the container's own group and those under it. A group outside of it is
                // seen as the part's root.
                let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(""));
                let group = Path::new(mounted).join(below);
                files.extend(
                    group.ancestors().take_while(|group| group.starts_with(mounted)).map(|g| g.join(file)),
                );
            }
        }
        files
    }
}

/// The quota that a text names, in cores, and its period in seconds: that of `cpu.max` (`50000 100000`, or `max 100000`), or of
/// `cpu.cfs_quota_us` (`50000`, or `-1`) with that of `cpu.cfs_period_us` behind it. Both are in microseconds; none: no quota.
fn quota(text: &str) -> Option<(f64, f64)> {
    const USUAL_PERIOD_US: f64 = 100_000.0;
    let mut words = text.split_whitespace();
    let quota = words.next()?.parse::<i64>().ok().filter(|&quota| quota > 0)?;
    let period = words.next().and_then(|word| word.parse().ok()).filter(|&us: &f64| us > 0.0);
    let period = period.unwrap_or(USUAL_PERIOD_US);
    Some((quota as f64 / period, period / 1e6))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One(&'static str),
    Two,
}

/// Which part of the hierarchy that line mounts, and where; none if it is of another one.
fn mount(line: &str, version: Version) -> Option<(&str, &str)> {
    // proc(5): number, parent, device, root, mount point, options, any optional fields, "-", type, source, options.
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, mounted) = (place.next()?, place.next()?);
    let mut kind = kind.split(' ');
    let (name, options) = (kind.next()?, kind.nth(1).unwrap_or(""));
    let matches = match version {
        Version::One(controller) => name == "cgroup" && options.split(',').any(|option| option == controller),
        Version::Two => name == "cgroup2",
    };
    matches.then_some((root, mounted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_numbers_above_zero() {
        for text in [
            "max 100000
",
            "-1
",
            "",
            "max",
            "0 100000",
            "nonsense",
        ] {
            assert_eq!(quota(text), None, "{text:?}");
        }
        for (text, cores) in [
            (
                "50000 100000
",
                0.5,
            ),
            (
                "200000
", 2.0,
            ),
            ("1000 100000", 0.01),
            (
                "20000
 10000
",
                2.0,
            ),
        ] {
            assert_eq!(quota(text).unwrap().0, cores, "{text:?}");
        }
    }

    #[test]
    fn the_tightest_group_counts_and_memory_is_what_is_left_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("cgroup/a/b")).unwrap();
        for (name, text) in [
            (
                "cgroup/a/b/cpu.max",
                "max 100000
",
            ),
            (
                "cgroup/a/cpu.max",
                "150000 100000
",
            ),
            (
                "cgroup/cpu.max",
                "200000 100000
",
            ),
            (
                "cgroup/a/b/memory.max",
                "max
",
            ),
            (
                "cgroup/a/memory.max",
                "1000
",
            ),
            (
                "cgroup/a/memory.current",
                "400
",
            ),
        ] {
            fs::write(at(name), text).unwrap();
        }
        let mounts = format!(
            "41 31 0:38 / {} rw - cgroup2 cgroup2 rw
",
            at("cgroup").display()
        );
        let groups = Groups {
            cgroups: "0::/a/b
"
            .into(),
            mounts,
        };
        let quota = groups.quota().unwrap();
        assert_eq!((quota.cores, quota.period_s), (1.5, 0.1));
        assert!(quota.file.ends_with("cgroup/a/cpu.max"));
        assert_eq!(groups.memory(), Some(600));
    }

    fn names(cgroups: &str, mounts: &str) -> Vec<String> {
        let groups = Groups { cgroups: cgroups.into(), mounts: mounts.into() };
        groups.files(&CPU).iter().map(|file| file.display().to_string()).collect()
    }

    #[test]
    fn every_group_above_is_asked() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n\
                      22 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
        assert_eq!(
            names("0::/user.slice/run.scope\n", mounts),
            [
                "/sys/fs/cgroup/user.slice/run.scope/cpu.max",
                "/sys/fs/cgroup/user.slice/cpu.max",
                "/sys/fs/cgroup/cpu.max",
            ]
        );
        assert_eq!(names("0::/\n", mounts), ["/sys/fs/cgroup/cpu.max"]);
    }

    #[test]
    fn the_first_version_names_its_controller() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
                      34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        assert_eq!(
            names("9:cpuset:/x\n4:cpu,cpuacct:/docker/ab\n1:name=systemd:/y\n0::/\n", mounts),
            [
                "/sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_quota_us",
                "/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us",
                "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us",
                "/sys/fs/cgroup/unified/cpu.max",
            ]
        );
    }

    #[test]
    fn a_container_that_sees_only_its_own_group_finds_it_at_the_mount() {
        let mounts = "32 31 0:29 /docker/ab /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
        let own = ["/sys/fs/cgroup/cpu/cpu.cfs_quota_us"];
        assert_eq!(names("4:cpu:/docker/ab\n", mounts), own);
        assert_eq!(names("4:cpu:/elsewhere\n", mounts), own);
        assert_eq!(
            names("4:cpu:/docker/ab/c\n", mounts),
            ["/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"]
        );
    }

    #[test]
    fn no_groups_are_no_quota() {
        assert_eq!(names("", ""), [""; 0]);
        assert_eq!(names("not a line\n0::/a\n", "nor this\n"), [""; 0]);
    }
}
