//! The memory that this machine has left.

use std::fs;
use std::path::Path;

/// Returns the bytes that this process may still take: the system's available memory, the rest
/// below its control groups' limits, or the rest below its own limits (`ulimit -v` and `-d`),
/// whichever is least. `None` on systems that do not report them.
pub fn available_memory_bytes() -> Option<u64> {
    let text = |path: &str| fs::read_to_string(path).ok();
    let system = text("/proc/meminfo").as_deref().and_then(available);
    let own = text("/proc/self/cgroup").unwrap_or_default();
    let groups = [Hierarchy::V2, Hierarchy::V1].map(|hierarchy| hierarchy.left(&own));
    let limits = text("/proc/self/limits").unwrap_or_default();
    let status = text("/proc/self/status").unwrap_or_default();
    let limits = LIMITS.map(|limit| left_of_limit(&limit, &limits, &status));
    let all = groups.into_iter().chain(limits).chain([system]);
    all.flatten().min()
}

/// A resource limit on a process.
struct Limit {
    /// Name in `/proc/self/limits`.
    name: &'static str,
    /// Line in `/proc/self/status` with the use that counts against the limit.
    used: &'static str,
}

const LIMITS: [Limit; 2] = [
    Limit {
        name: "Max address space",
        used: "VmSize:",
    },
    Limit {
        name: "Max data size",
        used: "VmData:",
    },
];

/// Returns what is left below a limit on this process, in bytes; `None` if it is unlimited.
fn left_of_limit(limit: &Limit, limits: &str, status: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix(limit.name))?;
    // The soft limit comes first; `unlimited` does not parse as a number.
    let bytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(bytes.saturating_sub(kibibytes(status, limit.used)?))
}

/// Returns a value from lines like `VmSize:   8192 kB` in bytes; the unit is 1,024 bytes although
/// it says kB.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1_024)
}

/// Returns the system's available memory, by `/proc/meminfo`.
fn available(text: &str) -> Option<u64> {
    kibibytes(text, "MemAvailable:")
}

/// The two control group versions.
#[derive(Clone, Copy)]
enum Hierarchy {
    /// One hierarchy for all resources.
    V2,
    /// A hierarchy for memory alone.
    V1,
}

impl Hierarchy {
    /// Returns the hierarchy's mount point.
    fn root(self) -> &'static Path {
        Path::new(match self {
            Hierarchy::V2 => "/sys/fs/cgroup",
            Hierarchy::V1 => "/sys/fs/cgroup/memory",
        })
    }

    /// Returns the files with a group's limit and use, and the `memory.stat` line for file pages
    /// that have not been used for a while: the use contains them, but the system gives them up at
    /// once.
    fn files(self) -> [&'static str; 3] {
        match self {
            Hierarchy::V2 => ["memory.max", "memory.current", "inactive_file "],
            Hierarchy::V1 => [
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file ",
            ],
        }
    }

    /// Returns the path to this process's group, by `/proc/self/cgroup`.
    fn group(self, own: &str) -> Option<&str> {
        own.lines().find_map(|line| match self {
            Hierarchy::V2 => line.strip_prefix("0::"),
            Hierarchy::V1 => {
                let mut fields = line.splitn(3, ':').skip(1);
                let mut kinds = fields.next()?.split(',');
                // A version 1 line is `number:controllers:path`, and a hierarchy may have several
                // controllers.
                kinds.any(|kind| kind == "memory").then(|| fields.next())?
            }
        })
    }

    /// Returns the least rest below all limits that apply: the group's own and those on all groups
    /// above it.
    fn left(self, own: &str) -> Option<u64> {
        let group = self.group(own).unwrap_or("/");
        let folder = self.root().join(group.trim_start_matches('/'));
        // In a container, the path may be one of the host, whose folders do not exist here; then
        // only the root itself is found.
        let folders = folder.ancestors();
        let folders = folders.take_while(|folder| folder.starts_with(self.root()));
        folders
            .filter_map(|folder| self.left_in_group(folder))
            .min()
    }

    /// Returns what is left below a group's limit, if it has one.
    fn left_in_group(self, folder: &Path) -> Option<u64> {
        let [limit, current, inactive] = self.files();
        let text = |file: &str| fs::read_to_string(folder.join(file)).ok();
        // Without a limit, version 2 has the word `max`, which does not parse; version 1 has a
        // number that no machine reaches.
        let limit: u64 = text(limit)?.trim().parse().ok()?;
        let current: u64 = text(current)?.trim().parse().ok()?;
        let idle = text("memory.stat").and_then(|text| line(&text, inactive));
        Some(limit.saturating_sub(current.saturating_sub(idle.unwrap_or(0))))
    }
}

/// Returns the number behind `name`.
fn line(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_says() {
        let text = "MemTotal:  2000 kB\nMemFree:  5 kB\nMemAvailable:    1500 kB\n";
        assert_eq!(available(text), Some(1_500 * 1_024));
        assert_eq!(available("MemTotal: 2000 kB\n"), None);
        let own = "5:cpu,memory:/x/y\n4:memory-like:/z\n0::/user/app\n";
        assert_eq!(Hierarchy::V2.group(own), Some("/user/app"));
        assert_eq!(Hierarchy::V1.group(own), Some("/x/y"));
        assert_eq!(Hierarchy::V1.group("1:cpu:/x\n"), None);
        assert_eq!(
            line("anon 5\ninactive_file 77\n", "inactive_file "),
            Some(77)
        );
        assert_eq!(Hierarchy::V1.left_in_group(Path::new("/nowhere")), None);
    }

    #[test]
    fn what_is_left_of_ulimits() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max data size             unlimited            unlimited            bytes\n\
                      Max address space         4096000              unlimited            bytes\n";
        let status = "Name:\ttenter\nVmSize:\t    1000 kB\nVmData:\t     500 kB\n";
        let [space, data] = LIMITS.map(|limit| left_of_limit(&limit, limits, status));
        assert_eq!(space, Some(4_096_000 - 1_024_000));
        assert_eq!(data, None);
    }

    #[test]
    fn a_group_of_either_version_says_what_is_left() {
        let folder = std::env::temp_dir().join(format!("tenter-memory-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder can be made");
        for (hierarchy, stat) in [
            (Hierarchy::V2, "anon 1\ninactive_file 50\n"),
            (Hierarchy::V1, "inactive_file 1\ntotal_inactive_file 50\n"),
        ] {
            let [limit, current, _] = hierarchy.files();
            let files = [(limit, "1000\n"), (current, "400\n"), ("memory.stat", stat)];
            for (name, text) in files {
                fs::write(folder.join(name), text).expect("a file can be written");
            }
            assert_eq!(hierarchy.left_in_group(&folder), Some(650));
        }
        fs::remove_dir_all(&folder).expect("it can be removed");
    }
}
