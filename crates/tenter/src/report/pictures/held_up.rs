//! Findings about the chunks that held a collective up.

use std::collections::HashMap;

use tenter_results::PortRow;

use super::held_up_pictures::{DRAWN, name, parts, strip};
use super::plot::Picture;
use super::runs::{runs, slowest, sorted_chunks};
use super::text::{bytes, number, time};
use crate::report::chain::{Chain, Link};
use crate::report::trial_data::{PortSample, TrialData};
use tenter_results::Tiers;

/// A trial's ports, by node.
pub(super) struct Ports<'a> {
    trial: &'a TrialData,
    tiers: &'a Tiers,
    of_node: HashMap<u32, Vec<&'a PortRow>>,
}

impl<'a> Ports<'a> {
    pub(super) fn of(trial: &'a TrialData, tiers: &'a Tiers) -> Ports<'a> {
        let mut of_node: HashMap<u32, Vec<&PortRow>> = HashMap::new();
        for port in &trial.ports {
            of_node.entry(port.node).or_default().push(port);
        }
        Ports {
            trial,
            tiers,
            of_node,
        }
    }

    fn node(&self, node: u32) -> &[&'a PortRow] {
        self.of_node.get(&node).map_or(&[], Vec::as_slice)
    }

    fn nic(&self, host: u32) -> Option<&'a PortRow> {
        self.node(host).first().copied()
    }

    /// Returns the switch port that leads to a NIC.
    fn last_hop(&self, host: u32) -> Option<&'a PortRow> {
        let nic = self.nic(host)?;
        let ports = self.node(self.tiers.node(&nic.peer_name)?);
        ports
            .iter()
            .find(|port| port.peer_name == nic.node_name)
            .copied()
    }

    /// Returns the samples within a span of time, and those at the first instant after it, which
    /// cover its end.
    fn samples(&self, from: f64, to: f64) -> &'a [PortSample] {
        let samples = &self.trial.samples;
        let first = samples.partition_point(|sample| sample.time < from);
        let mut last = samples.partition_point(|sample| sample.time <= to);
        if let Some(next) = samples.get(last) {
            let of_next = &samples[last..];
            last += of_next.partition_point(|sample| sample.time <= next.time);
        }
        &samples[first..last]
    }

    /// Returns the deepest queue at `ports` while the chunk was in transfer, and the port's name
    /// with its paused time.
    fn deepest(&self, link: &Link, ports: &[&PortRow]) -> Option<(f64, String)> {
        let samples = self.samples(link.chunk.first_sent, link.chunk.received);
        let of = |sample: &PortSample| {
            let is_it = |port: &&&PortRow| (port.node, port.port) == (sample.node, sample.port);
            ports.iter().find(is_it).copied()
        };
        // The high-water mark covers the time since the previous sample, so short queues are found
        // too.
        let here = samples
            .iter()
            .filter_map(|sample| Some((of(sample)?, sample.queue_high_water_bytes)));
        let (port, queue) = here.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let paused = if port.paused.is_zero() {
            String::new()
        } else {
            let total = time(port.paused.as_ns());
            format!(" (paused for {total} of the trial)")
        };
        let place = format!("{}:{}{paused}", port.node_name, port.port);
        (queue > 0.0).then_some((queue, place))
    }

    /// Returns findings about the ports on a chunk's path, each a phrase.
    pub(super) fn findings(&self, link: &Link) -> Vec<String> {
        let mut findings = Vec::new();
        let Some((nic, last)) = self
            .nic(link.chunk.src_host)
            .zip(self.last_hop(link.chunk.dst_host))
        else {
            return findings;
        };
        if !nic.paused.is_zero() {
            findings.push(format!(
                "{} paused for {} of the trial",
                nic.node_name,
                time(nic.paused.as_ns())
            ));
        }
        // Only both ends of the path are certain: load balancing may choose any port between them.
        if let Some((queue, name)) = self.deepest(link, &[last]) {
            findings.push(format!("{} queued at the last hop {name}", bytes(queue)));
        }
        if let Some(leaf) = self.tiers.node(&nic.peer_name)
            && self.tiers.node(&last.node_name) != Some(leaf)
        {
            let uplinks: Vec<&PortRow> = self
                .node(leaf)
                .iter()
                .filter(|port| self.tiers.direction(port).is_upward())
                .copied()
                .collect();
            if let Some((queue, name)) = self.deepest(link, &uplinks) {
                findings.push(format!(
                    "up to {} queued on the uplinks of {}, at {name}",
                    bytes(queue),
                    nic.peer_name
                ));
            }
        }
        if link.chunk.retransmitted_frames > 0.0 {
            findings.push(format!(
                "{} frames retransmitted",
                number(link.chunk.retransmitted_frames, 9)
            ));
        }
        findings
    }
}

/// The chain of chunks that held a collective up, in the iteration that took longest.
#[derive(Clone, Debug)]
pub struct HeldUp {
    /// Job index in the trial.
    pub job: u32,
    /// Job name in the scenario.
    pub job_name: String,
    /// Collective index in the job's run order.
    pub collective: u32,
    /// Iteration that took longest, counted from 0.
    pub iteration: u32,
    /// Collective, algorithm, and size in bytes.
    pub operation: (String, String, u64),
    /// Start of the iteration, in ns since the simulation began.
    pub start: f64,
    /// Chain that ends with the last chunk to arrive.
    pub chain: Chain,
    /// Each link's name and findings. Only the links that lost most time have findings, at most
    /// about 64.
    pub links: Vec<(String, Option<Vec<String>>)>,
    /// Pictures for the time's parts and, if the chain has several links, for the chain over time.
    pub pictures: Vec<Picture>,
}

/// Number of links whose ports are examined: those that lost most.
const LOOKED_AT: usize = 64;
/// Approximate limit on marks in all collectives' chains together.
const MARKS: usize = 20_000;

/// Returns what held up each collective in a trial, in the order of jobs and collectives.
pub fn held_up(trial: &TrialData) -> Vec<HeldUp> {
    let tiers = Tiers::of(&trial.ports, &trial.switches);
    let ports = Ports::of(trial, &tiers);
    let chunks = sorted_chunks(trial);
    let runs = runs(trial, &chunks);
    let slowest = slowest(&runs);
    let drawn = (MARKS / slowest.len().max(1)).clamp(20, DRAWN);
    let of = |run: &&super::runs::Run<'_>| {
        let row = run.row;
        let chain = run.chain(trial);
        let mut losses: Vec<f64> = chain.links.iter().map(Link::loss).collect();
        losses.sort_by(|a, b| b.total_cmp(a));
        // Loss of the last link to be examined; in a short chain all links are.
        let least = losses
            .get(LOOKED_AT - 1)
            .copied()
            .unwrap_or(f64::NEG_INFINITY);
        let links = chain.links.iter().map(|link| {
            let findings =
                (link.loss() > 0.0 && link.loss() >= least).then(|| ports.findings(link));
            (name(link), findings)
        });
        let start = row.start.as_ns();
        let pictures = std::iter::once(parts(&chain)).chain(strip(&chain, start, drawn));
        HeldUp {
            pictures: pictures.collect(),
            job: row.job,
            job_name: run.job_name.to_owned(),
            collective: row.index,
            iteration: row.iteration,
            operation: (
                row.collective.clone(),
                row.algorithm.clone(),
                row.size_bytes,
            ),
            start,
            links: links.collect(),
            chain,
        }
    };
    slowest.iter().map(of).collect()
}
