//! Whether a control group of this process or one above it has a CPU quota: what keeps cores awake would use it up, and the
//! workers would be stopped for it.

use super::Machine;
use std::fs;
use std::path::{Path, PathBuf};

/// Whether this process runs under a CPU quota, as far as it can see: what lies above the root of its namespace it cannot.
pub fn is_limited(machine: &Machine) -> bool {
    let text = |path: &Path| fs::read_to_string(path).ok();
    let (cgroups, mounts) = (text(&machine.cgroups), text(&machine.mounts));
    let (cgroups, mounts) = (cgroups.unwrap_or_default(), mounts.unwrap_or_default());
    files(&cgroups, &mounts).iter().any(|file| text(file).is_some_and(|text| says_quota(&text)))
}

/// Whether the text of `cpu.max` (cgroup2: `50000 100000`, or `max 100000`) or of `cpu.cfs_quota_us` (version 1: `50000`, or
/// `-1`) names a quota.
pub fn says_quota(text: &str) -> bool {
    let quota = text.split_whitespace().next().and_then(|word| word.parse::<i64>().ok());
    quota.is_some_and(|quota| quota > 0)
}

/// The files in which a quota may stand: of the groups in `/proc/self/cgroup`, and of all above, up to where they are mounted
/// by `/proc/self/mountinfo`.
pub fn files(cgroups: &str, mounts: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in cgroups.lines() {
        // cgroups(7): hierarchy, controllers, path. Version 2 is hierarchy 0 and names none.
        let mut parts = line.splitn(3, ':');
        let (Some(hierarchy), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let (version, file) = match hierarchy == "0" {
            true => (Version::Two, "cpu.max"),
            false if controllers.split(',').any(|controller| controller == "cpu") => {
                (Version::One, "cpu.cfs_quota_us")
            }
            false => continue,
        };
        for (root, mounted) in mounts.lines().filter_map(|line| mount(line, version)) {
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
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
        Version::One => name == "cgroup" && options.split(',').any(|option| option == "cpu"),
        Version::Two => name == "cgroup2",
    };
    matches.then_some((root, mounted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_numbers_above_zero() {
        for text in ["max 100000\n", "-1\n", "", "max", "0 100000", "nonsense"] {
            assert!(!says_quota(text), "{text:?}");
        }
        for text in ["50000 100000\n", "200000\n", "1000 100000"] {
            assert!(says_quota(text), "{text:?}");
        }
    }

    fn names(cgroups: &str, mounts: &str) -> Vec<String> {
        files(cgroups, mounts).iter().map(|file| file.display().to_string()).collect()
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
