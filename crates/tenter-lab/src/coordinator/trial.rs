//! What is to be run: the scenario, on the hosts of a lab.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use tenter::{HostId, Plan, Rate, Scenario};
use tenter_sim::real_time::refusal_of_real_hosts;

use crate::data_path_kind::DataPathKind;
use crate::error::LabError;
use crate::lab_file::{FORWARDING, LabFile};

/// Constants of hosts that are stated in scenarios; real hosts have their own.
const STATED: [&str; 4] = [
    "endpoint.host.start_up=0ns",
    "endpoint.host.step_delay=0ns",
    "endpoint.nic.message_gap=0ns",
    "endpoint.nic.start_skew_max=0ns",
];

/// What RDMA hardware does by itself; the model must not do it, too.
const OF_HARDWARE: [&str; 7] = [
    "endpoint.nic.window=none",
    "endpoint.nic.outstanding_messages=none",
    "endpoint.nic.acknowledge=per-message",
    "endpoint.nic.congestion_control=none",
    "endpoint.nic.loss_recovery=go-back-n",
    "endpoint.nic.retransmission_timeout=10s",
    "endpoint.nic.retry_count=255",
];

/// A scenario on the hosts of a lab.
#[derive(Clone, Debug)]
pub struct LabTrial {
    /// The lab.
    pub lab: LabFile,
    /// The scenario with the lab's fabric, as it is simulated.
    pub simulated: Plan,
    /// The same without constants of hosts, as agents run it.
    pub measured: Plan,
    /// The scenario of [`LabTrial::simulated`], to be changed further.
    pub(crate) scenario: Scenario,
}

impl LabTrial {
    /// The rate of the link of its first host.
    pub(crate) fn host_rate(&self) -> Rate {
        let topology = &self.measured.resolved().topology;
        topology.cable(HostId::new(0), 0).rate
    }
}

/// The scenario of a file on the hosts of a lab, with settings, each `PATH=VALUE`.
///
/// # Errors
/// Every problem of the scenario, or why it is not for these hosts.
pub fn load(lab: &LabFile, file: &PathBuf, settings: &[String]) -> Result<LabTrial, LabError> {
    of_scenario(lab, &Scenario::read(file)?, settings)
}

/// As [`load`], of a scenario that has been read.
///
/// # Errors
/// As [`load`].
pub(crate) fn of_scenario(
    lab: &LabFile,
    scenario: &Scenario,
    settings: &[String],
) -> Result<LabTrial, LabError> {
    let mut scenario = scenario.clone();
    if let Some(fabric) = lab.scenario_fabric(FORWARDING) {
        scenario = scenario.with_keys("the fabric of the lab file", fabric);
    } else {
        let hosts = lab.agents().into_iter().enumerate().map(|(host, agent)| {
            let gateway = u32::from(agent.address) ^ 1;
            format!(
                "{{host: {host}, address: {}, prefix: 8, gateway: {}}}",
                agent.address,
                Ipv4Addr::from(gateway)
            )
        });
        let list = hosts.collect::<Vec<_>>().join(", ");
        scenario = scenario.with_setting(format!("endpoint.addresses.overrides=[{list}]"));
    }
    for setting in settings {
        scenario = scenario.with_setting(setting);
    }
    let simulated = scenario.resolve()?;
    let with_stated = scenario.clone();
    for setting in STATED {
        scenario = scenario.with_setting(setting);
    }
    if lab.keys.data_path == DataPathKind::Rdma {
        for setting in OF_HARDWARE {
            scenario = scenario.with_setting(setting);
        }
    }
    let measured = scenario.resolve()?;
    let hosts = measured.resolved().topology.hosts;
    let agents = lab.agents();
    if hosts != agents.len() {
        return Err(LabError::Input(format!(
            "the scenario has {hosts} hosts, and the lab has {}: give the scenario the fabric of the lab",
            agents.len()
        )));
    }
    for (agent, nic) in agents.iter().zip(measured.resolved().addresses.iter()) {
        if u32::from(agent.address) != nic.address {
            return Err(LabError::Input(format!(
                "the scenario gives another address to the host that is {} in the lab: leave `endpoint.addresses` out",
                agent.address
            )));
        }
    }
    if let Some(why) = refusal_of_real_hosts(measured.resolved()) {
        return Err(LabError::Input(why));
    }
    Ok(LabTrial {
        lab: lab.clone(),
        simulated,
        measured,
        scenario: with_stated,
    })
}
