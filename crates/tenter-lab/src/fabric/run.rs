//! Setup and removal of a namespace fabric, and the step into its coordinator's namespace.

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
use tenter_sim::plan::Plan;

use super::commands::{run, run_with};
use super::wiring::{Wiring, control_namespace, namespace};
use crate::control::Secret;
use crate::error::LabError;
use crate::lab_file::{FORWARDING, LabFile};

/// Time that agents have to end before they are killed.
const TIME_TO_END: Duration = Duration::from_secs(2);

/// File that exists if the kernel's hash for choosing among routes can have a seed.
const HASH_SEED_SETTING: &str = "/proc/sys/net/ipv4/fib_multipath_hash_seed";

/// Returns the command that gives an agent precedence over other programs. All agents share the
/// processors of one machine, and a late agent distorts the measurement.
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
    /// Names of its namespaces, the coordinator's first.
    pub namespaces: Vec<String>,
    /// Process ids of the agents, in host order.
    pub agents: Vec<u32>,
}

/// Returns a sentence that says why this machine cannot make the lab's namespaces; `None` if it
/// can.
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
    // The probe has a name of this lab, so that `down` removes it if this process is killed. One
    // that was left behind has to go first.
    let probe = namespace(lab, "probe");
    let _ = run("ip", &["netns", "del", &probe]);
    if let Err(error) = run("ip", &["netns", "add", &probe]) {
        return Some(format!("network namespaces cannot be made here: {error}"));
    }
    // Making a cable with a token bucket shows whether the kernel has veth and tbf.
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

/// Sets up a lab's fabric, and starts an agent in each host; `program` is the `tenter` command.
///
/// # Errors
/// Returns an error if the lab is up already, its file has no fabric, or a part cannot be set up.
/// In the last case, the parts that were set up are removed.
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
            // The first error is the one to report.
            let _ = down(name);
            Err(error)
        }
    }
}

/// Returns the plan for a scenario on the lab's fabric.
fn plan_of(lab: &LabFile) -> Result<Plan, LabError> {
    let fabric = lab.scenario_fabric(FORWARDING).unwrap_or_default();
    let scenario = Scenario::from_yaml(ANY_JOB).with_keys("the fabric of the lab file", fabric);
    Ok(scenario.resolve()?.resolved().clone())
}

/// A scenario must have a job; the fabric does not depend on it.
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

/// Starts an agent in each host, and returns their process ids.
///
/// An agent that ends within 10 ms, for instance because it cannot read the secret, is an error.
/// The others may not listen yet when this returns.
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
        // `ip`, `chrt` and `nice` replace themselves by the next program, so the child's id is the
        // agent's.
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

/// Lists the lab's namespaces that exist.
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

/// Returns true if the rest of a name is a node in this lab. A lab with a longer name leaves a rest
/// with a dash.
fn is_of(node: &str) -> bool {
    !node.contains('-')
}

/// Takes a lab's fabric down: ends everything that runs in its namespaces, removes them, and
/// returns how many there were.
///
/// # Errors
/// Returns an error if a process does not end, or if a namespace cannot be removed.
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

/// Returns the processes that run in the lab's namespaces.
fn processes(names: &[String]) -> Result<Vec<i32>, LabError> {
    let mut found = Vec::new();
    for name in names {
        let list = run("ip", &["netns", "pids", name])?;
        let pids = list
            .lines()
            .filter_map(|line| line.trim().parse::<i32>().ok());
        // The caller may itself have entered a namespace, and must not end itself.
        found.extend(pids.filter(|&pid| pid != Pid::this().as_raw() && !is_zombie(pid)));
    }
    Ok(found)
}

/// Returns true if a process has ended, and its parent has not collected it yet.
fn is_zombie(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

fn signal_all(names: &[String], signal: Signal) -> Result<(), LabError> {
    for pid in processes(names)? {
        // The process may have ended meanwhile.
        let _ = kill(Pid::from_raw(pid), signal);
    }
    Ok(())
}

/// Moves the calling thread, and threads that it starts later, into the coordinator's namespace.
///
/// # Errors
/// Returns an error if the lab is not up, or if this user lacks the right.
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
