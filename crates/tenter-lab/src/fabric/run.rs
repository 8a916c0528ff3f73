//! Setting a fabric of namespaces up, taking it down, and stepping into it.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use tenter::Scenario;
use tenter_plan::Plan;

use super::commands::{run, run_with};
use super::wiring::{Wiring, control_namespace, namespace};
use crate::control::Secret;
use crate::error::LabError;
use crate::lab_file::{FORWARDING, LabFile};

/// How long agents may take to end before they are killed.
const TIME_TO_END: Duration = Duration::from_secs(2);

/// The seed of the hash by which the kernel chooses among routes.
const HASH_SEED_SETTING: &str = "/proc/sys/net/ipv4/fib_multipath_hash_seed";

/// The command that gives agents precedence: they share the processors of one machine, and are
/// measured by how late they are.
fn precedence(lab: &LabFile) -> [&'static str; 3] {
    let fabric = lab.keys.fabric.as_ref();
    if fabric.is_some_and(|fabric| fabric.realtime) {
        ["chrt", "--rr", "1"]
    } else {
        ["nice", "-n", "-10"]
    }
}

/// A fabric that is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabState {
    /// Its namespaces.
    pub namespaces: Vec<String>,
    /// Processes of its agents.
    pub agents: Vec<u32>,
}

/// Why the namespaces of a lab cannot be made here, if so: a sentence.
pub fn missing_tools(lab: &str) -> Option<String> {
    if !Uid::effective().is_root() {
        return Some("only root can make network namespaces: run it with `sudo`".to_owned());
    }
    for (tool, arguments) in [("ip", ["-V"]), ("tc", ["-V"]), ("sysctl", ["-V"])] {
        if run(tool, &arguments).is_err() {
            return Some(format!(
                "`{tool}` is missing: install iproute2 and procps (Debian: `apt-get install iproute2 procps`)"
            ));
        }
    }
    if !Path::new(HASH_SEED_SETTING).exists() {
        return Some(
            "the kernel has no `fib_multipath_hash_seed`, without which its choice of links is another each time: use Linux 6.11 or newer"
                .to_owned(),
        );
    }
    // A namespace of the lab, so that `down` removes it where this process is killed meanwhile;
    // such a one is in the way of the next.
    let probe = namespace(lab, "probe");
    let _ = run("ip", &["netns", "del", &probe]);
    if let Err(error) = run("ip", &["netns", "add", &probe]) {
        return Some(format!("network namespaces cannot be made here: {error}"));
    }
    // A probe: whether veth and tbf are there is asked of it.
    let cable = [
        "-n", &probe, "link", "add", "p0", "type", "veth", "peer", "name", "p1",
    ];
    let shaped = [
        "-n", &probe, "qdisc", "add", "dev", "p0", "root", "tbf", "rate", "1mbit", "burst", "10kb",
        "limit", "100kb",
    ];
    let answer = run("ip", &cable).and_then(|_| run("tc", &shaped));
    let removed = run("ip", &["netns", "del", &probe]);
    let answer = answer.and(removed);
    answer
        .err()
        .map(|error| format!("the kernel lacks a part of a lab: {error}"))
}

/// Sets up the fabric of a lab, and starts an agent in each of its hosts: `program` is the command
/// `tenter`.
///
/// # Errors
/// When it is up already, the file has no fabric, or a part cannot be set up; what had been set up
/// is removed again.
pub fn up(lab: &LabFile, program: &Path) -> Result<LabState, LabError> {
    let Some(fabric) = &lab.keys.fabric else {
        return Err(LabError::Input(
            "the lab file has no `fabric`: its hosts are machines, on which you start `tenter agent`".to_owned(),
        ));
    };
    if let Some(why) = missing_tools(&lab.keys.name) {
        return Err(LabError::Input(why));
    }
    let plan = &plan_of(lab)?;
    let name = &lab.keys.name;
    if !existing(name)?.is_empty() {
        return Err(LabError::Input(format!(
            "lab `{name}` is up already: take it down with `tenter lab down`"
        )));
    }
    let wiring = Wiring::new(name, fabric, plan).map_err(tenter_sim::SimulationError::from)?;
    let made = set_up(&wiring).and_then(|()| start_agents(lab, plan, program));
    match made {
        Ok(agents) => Ok(LabState {
            namespaces: wiring.namespaces,
            agents,
        }),
        Err(error) => {
            // The first error is the one to tell.
            let _ = down(name);
            Err(error)
        }
    }
}

/// The plan of a scenario on the fabric of a lab.
fn plan_of(lab: &LabFile) -> Result<Plan, LabError> {
    let fabric = lab.scenario_fabric(FORWARDING).unwrap_or_default();
    let scenario = Scenario::from_yaml(ANY_JOB).with_keys("the fabric of the lab file", fabric);
    Ok(scenario.resolve()?.resolved().clone())
}

/// Fabrics do not depend on jobs, and scenarios have some.
const ANY_JOB: &str = "
fabric: {kind: single-switch, hosts: 2}
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
";

fn set_up(wiring: &Wiring) -> Result<(), LabError> {
    for name in &wiring.namespaces {
        run("ip", &["netns", "add", name])?;
    }
    run_with("ip", &["-batch", "-"], &wiring.cables)?;
    for (name, settings) in &wiring.settings {
        for setting in settings {
            let set = run("ip", &["netns", "exec", name, "sysctl", "-qw", setting]);
            // A kernel without IPv6 has nothing to disable.
            if let Err(error) = set
                && !setting.contains("ipv6")
            {
                return Err(error);
            }
        }
    }
    for (name, lines) in &wiring.addresses {
        run_with("ip", &["-n", name, "-batch", "-"], lines)?;
    }
    for (name, lines) in &wiring.queues {
        run_with("tc", &["-n", name, "-batch", "-"], lines)?;
    }
    for (name, rules) in &wiring.marks {
        run_with("ip", &["netns", "exec", name, "nft", "-f", "-"], rules)?;
    }
    Ok(())
}

/// Starts an agent in each host, and waits until all listen.
fn start_agents(lab: &LabFile, plan: &Plan, program: &Path) -> Result<Vec<u32>, LabError> {
    let secret = lab.secret_file();
    if !secret.exists() {
        Secret::make(&secret)?;
    }
    let folder = lab.log_folder();
    fs::create_dir_all(&folder).map_err(LabError::file("make", &folder))?;
    let mut agents = Vec::new();
    for (agent, host) in lab.agents().iter().zip(plan.topology.host_ids()) {
        let node = plan.topology.name(host);
        let log = folder.join(format!("{node}.log"));
        let out = File::create(&log).map_err(LabError::file("write", &log))?;
        let errors = out.try_clone().map_err(LabError::file("write", &log))?;
        let child = Command::new("ip")
            .args(["netns", "exec", &namespace(&lab.keys.name, node)])
            .args(precedence(lab))
            .arg(program)
            .args([
                "agent",
                "--listen",
                &agent.control.to_string(),
                "--secret-file",
            ])
            .arg(&secret)
            .arg("--lab")
            .arg(&lab.path)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(errors)
            .spawn();
        let mut child = child.map_err(LabError::system("cannot start an agent"))?;
        thread::sleep(Duration::from_millis(10));
        if let Ok(Some(status)) = child.try_wait() {
            let said = fs::read_to_string(&log).unwrap_or_default();
            return Err(LabError::Input(format!(
                "the agent of {node} ended with {status}: {said}"
            )));
        }
        agents.push(child.id());
    }
    Ok(agents)
}

/// The namespaces of a lab that there are.
fn existing(lab: &str) -> Result<Vec<String>, LabError> {
    let list = run("ip", &["netns", "list"])?;
    let prefix = namespace(lab, "");
    let names = list
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    Ok(names
        .filter(|name| name.starts_with(&prefix) && is_of(&name[prefix.len()..]))
        .map(str::to_owned)
        .collect())
}

/// Whether what follows the prefix is a node of this lab and not of one with a longer name.
fn is_of(node: &str) -> bool {
    !node.contains('-')
}

/// Takes the fabric of a lab down: ends its agents and all else that runs in its namespaces, and
/// removes these; how many there were.
///
/// # Errors
/// When something cannot be removed.
pub fn down(lab: &str) -> Result<usize, LabError> {
    let names = existing(lab)?;
    signal_all(&names, Signal::SIGTERM)?;
    let began = Instant::now();
    while !processes(&names)?.is_empty() {
        if began.elapsed() > TIME_TO_END {
            signal_all(&names, Signal::SIGKILL)?;
        }
        if began.elapsed() > 3 * TIME_TO_END {
            return Err(LabError::Input(format!(
                "processes of lab `{lab}` do not end"
            )));
        }
        thread::sleep(Duration::from_millis(20));
    }
    for name in &names {
        run("ip", &["netns", "del", name])?;
    }
    Ok(names.len())
}

/// The processes in namespaces of a lab.
fn processes(names: &[String]) -> Result<Vec<i32>, LabError> {
    let mut found = Vec::new();
    for name in names {
        let list = run("ip", &["netns", "pids", name])?;
        let pids = list
            .lines()
            .filter_map(|line| line.trim().parse::<i32>().ok());
        found.extend(pids.filter(|&pid| pid != Pid::this().as_raw() && !is_zombie(pid)));
    }
    Ok(found)
}

/// Whether a process has ended and only waits to be collected by its parent.
fn is_zombie(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

fn signal_all(names: &[String], signal: Signal) -> Result<(), LabError> {
    for pid in processes(names)? {
        // It may have ended meanwhile.
        let _ = kill(Pid::from_raw(pid), signal);
    }
    Ok(())
}

/// Lets the calling thread, and those that it starts, be in the namespace of a lab's coordinator.
///
/// # Errors
/// When the lab is not up, or this user may not.
pub(crate) fn enter(lab: &str) -> Result<(), LabError> {
    let path = Path::new("/run/netns").join(control_namespace(lab));
    let file = File::open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            LabError::Input(format!("lab `{lab}` is not up: `tenter lab up` sets it up"))
        }
        _ => LabError::file("open", &path)(error),
    })?;
    setns(file, CloneFlags::CLONE_NEWNET)
        .map_err(|error| LabError::system("cannot enter the lab's namespace")(error.into()))
}
