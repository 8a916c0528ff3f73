//! Limits on the process of trials, by Linux: resource limits, system calls (seccomp) and files
//! (Landlock).

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};
use nix::libc;
use nix::sys::resource::{RLIM_INFINITY, Resource, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// Newest rules of Landlock that are asked for; older kernels enforce what they know.
const RULES: ABI = ABI::V6;
/// Folders with what the system tells about processors and memory.
const READABLE: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Confines the process for good, before it has other threads.
pub(super) fn process() -> io::Result<()> {
    // The kernel ends a process of trials before the program that has started it.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    // A core file would hold gigabytes.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    system_calls().map_err(io::Error::other)
}

/// Confines the calling thread, and those that it starts, to `folder`, and the process to `memory`
/// bytes.
pub(super) fn trial(folder: Option<&Path>, memory: Option<u64>) -> io::Result<()> {
    // The hard limit stays, so that the next trial may have more.
    let (_, hard) = nix::sys::resource::getrlimit(Resource::RLIMIT_DATA)?;
    let soft = memory.unwrap_or(RLIM_INFINITY).min(hard);
    setrlimit(Resource::RLIMIT_DATA, soft, hard)?;
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)?;
    }
    rules(folder).map(drop).map_err(io::Error::other)
}

fn rules(folder: Option<&Path>) -> Result<RulesetStatus, Box<dyn std::error::Error + Send + Sync>> {
    let mut created = ruleset()?;
    let mut allow = |path: &Path, access: BitFlags<AccessFs>| match PathFd::new(path) {
        Ok(file) => {
            (&mut created).add_rule(PathBeneath::new(file, access))?;
            Ok::<(), RulesetError>(())
        }
        // A system without `/sys` has nothing there to read.
        Err(_) => Ok(()),
    };
    for path in READABLE {
        allow(Path::new(path), AccessFs::from_read(RULES))?;
    }
    if let Some(folder) = folder {
        allow(folder, AccessFs::from_all(RULES))?;
    }
    Ok(created.restrict_self()?.ruleset)
}

fn ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(RULES))?
        .handle_access(AccessNet::from_all(RULES))?
        .scope(Scope::from_all(RULES))?
        .create()
}

/// Ends the process at calls that no trial makes: sockets, programs and other processes.
fn system_calls() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let never = [
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_ptrace,
        libc::SYS_mount,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_fork,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_vfork,
    ];
    let mut calls: BTreeMap<i64, Vec<SeccompRule>> =
        never.into_iter().map(|call| (call, Vec::new())).collect();
    let thread = libc::CLONE_THREAD as u64;
    let no_thread = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Qword,
        SeccompCmpOp::MaskedEq(thread),
        0,
    )?;
    calls.insert(libc::SYS_clone, vec![SeccompRule::new(vec![no_thread])?]);
    apply(calls, SeccompAction::KillProcess)?;
    // A filter cannot see the flags of `clone3`. The C library takes `clone` where there is none.
    let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    apply(clone3, SeccompAction::Errno(libc::ENOSYS as u32))
}

fn apply(
    calls: BTreeMap<i64, Vec<SeccompRule>>,
    action: SeccompAction,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let machine = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, action, machine)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(seccompiler::apply_filter(&program)?)
}

/// Lists the limits that this system does not enforce on trials in processes of their own, for
/// people; empty if it enforces all.
pub fn confinement_gaps() -> Vec<String> {
    // A rule set that cannot be made without older rules to fall back to is not enforced whole.
    let status = std::thread::spawn(|| rules(None)).join();
    let gap = match status {
        Ok(Ok(RulesetStatus::FullyEnforced)) => return Vec::new(),
        Ok(Ok(RulesetStatus::PartiallyEnforced)) => {
            "only in part by Landlock, whose rules are older"
        }
        _ => "not, since the kernel has no Landlock",
    };
    vec![format!(
        "the files of trials are protected {gap}: a damaged trial may write outside of its folder"
    )]
}
