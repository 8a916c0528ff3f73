//! The scenario as it is run on a lab's hosts.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use tenter::{HostId, Plan, Rate, Scenario};
use tenter_sim::real_time::refusal_of_real_hosts;

use crate::data_path_kind::DataPathKind;
use crate::error::LabError;
use crate::lab_file::{FORWARDING, LabFile};

/// Settings that remove the scenario's delays within hosts: real hosts have delays of their own.
const STATED: [&str; 4] = [
    "endpoint.host.start_up=0ns",
    "endpoint.host.step_delay=0ns",
    "endpoint.nic.message_gap=0ns",
    "endpoint.nic.start_skew_max=0ns",
];

/// Settings that switch off what RDMA hardware does by itself, so that the model does not do it
/// again.
const OF_HARDWARE: [&str; 7] = [
    "endpoint.nic.window=none",
    "endpoint.nic.outstanding_messages=none",
    "endpoint.nic.acknowledge=per-message",
    "endpoint.nic.congestion_control=none",
    "endpoint.nic.loss_recovery=go-back-n",
    "endpoint.nic.retransmission_timeout=10s",
    "endpoint.nic.retry_count=255",
];

/// A scenario on a lab's hosts.
#[derive(Clone, Debug)]
pub struct LabTrial {
    /// The lab file that names the hosts.
    pub lab: LabFile,
    /// The scenario on the lab's fabric, for simulation.
    pub simulated: Plan,
    /// The plan that agents run: as `simulated`, without host constants.
    pub measured: Plan,
    /// The scenario behind [`LabTrial::simulated`], from which calibration makes others.
    pub(crate) scenario: Scenario,
}

impl LabTrial {
    /// Returns the first host's link rate.
    pub(crate) fn host_rate(&self) -> Rate {
        let topology = &self.measured.resolved().topology;
        topology.cable(HostId::new(0), 0).rate
    }
}

/// Reads the scenario `file`, applies `settings` (`PATH=VALUE` each), and puts it on the lab's
/// hosts.
///
/// # Errors
/// Returns all mistakes of the scenario, or the reason why these hosts cannot run it.
pub fn load(lab: &LabFile, file: &PathBuf, settings: &[String]) -> Result<LabTrial, LabError> {
    of_scenario(lab, &Scenario::read(file)?, settings)
}

/// Does as [`load`] with a scenario that has been read.
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
            // A gateway is required and must lie within the prefix; agents leave routing to their
            // machines and do not use it.
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
