//! The memory that is left on this machine.

use std::fs;
use std::path::Path;

/// Bytes that this process may still take: what the system has available, or what is left of the
/// limit of its control group, whichever is less. `None` on systems that do not say.
pub fn available_memory_bytes() -> Option<u64> {
    let system = fs::read_to_string("/proc/meminfo").ok();
    let system = system.as_deref().and_then(available);
    let own = fs::read_to_string("/proc/self/cgroup").ok();
    let own = own.as_deref().and_then(group).unwrap_or("/");
    let folder = Path::new("/sys/fs/cgroup").join(own.trim_start_matches('/'));
    // A group has the limits of all groups that it is in. In a container the names of the groups
    // above may be those of another root, where nothing is found but at the root itself.
    let groups = folder
        .ancestors()
        .take_while(|folder| folder.starts_with("/sys/fs/cgroup"));
    groups.filter_map(left_in_group).chain(system).min()
}

/// The path of the control group in `/proc/self/cgroup`, of version 2.
fn group(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::"))
}

/// `MemAvailable` of `/proc/meminfo`, which is in units of 1,024 bytes although it says kB.
fn available(text: &str) -> Option<u64> {
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kibibytes * 1_024)
}

/// What is left of the limit of a control group, if it has one: of the pages it has, those that
/// hold files nobody has used for a while can be had at once.
fn left_in_group(folder: &Path) -> Option<u64> {
    let text = |file: &str| fs::read_to_string(folder.join(file)).ok();
    // `max` is no number: then there is no limit.
    let limit: u64 = text("memory.max")?.trim().parse().ok()?;
    let current: u64 = text("memory.current")?.trim().parse().ok()?;
    let idle = text("memory.stat").as_deref().and_then(inactive_file);
    Some(limit.saturating_sub(current.saturating_sub(idle.unwrap_or(0))))
}

/// Bytes of files that have not been used for a while, in `memory.stat`.
fn inactive_file(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix("inactive_file "))?;
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
        assert_eq!(group("1:cpu:/x\n0::/user/app\n"), Some("/user/app"));
        assert_eq!(inactive_file("anon 5\ninactive_file 77\n"), Some(77));
        assert_eq!(left_in_group(Path::new("/nowhere")), None);
    }
}
