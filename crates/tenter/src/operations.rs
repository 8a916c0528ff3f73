//! Operation graphs: from other programs' files and from jobs, and for other programs.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::resolve::{read_operations, read_workload};
use tenter_fabric::topology::HostId;
use tenter_formats::flow_list::{Flows, write_htsim, write_ns3};
use tenter_formats::{chakra, graph_file};
use tenter_language::units::{Budget, Time};
use tenter_results::FlowRow;
use tenter_workload::graph::{Graph, OperationKind};

use crate::other_format::other_format;
use crate::scenario::open_named;
use crate::{Error, Plan, Run};

/// Operation graph: what a job's ranks compute, send and receive, and which operation waits for
/// which.
#[derive(Clone, Debug)]
pub struct OperationGraph {
    graph: Arc<Graph>,
    /// Notes on the import or export, a sentence each: what was left out, and what is noteworthy.
    pub notes: Vec<String>,
}

/// Size of an operation graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationCounts {
    /// Ranks of the graph, also those without operations.
    pub ranks: u32,
    /// Operations that compute.
    pub computes: u64,
    /// Operations that wait for an instant, as flows with start times do.
    pub timed_waits: u64,
    /// Operations that send a message to another rank.
    pub sends: u64,
    /// Operations that receive a message.
    pub receives: u64,
    /// Collectives, counted once for each rank that takes part.
    pub collectives: u64,
    /// Dependencies: waits of one operation for another, the order of collectives in a group
    /// included.
    pub waits: u64,
    /// Payload of all sends between two ranks, in bytes.
    pub sent_bytes: u64,
}

/// A flow file for ns-3, with what a caller tells its user about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ns3Flows {
    /// The flow file's content.
    pub text: String,
    /// Hosts in the fabric, by whose numbers the flows go.
    pub hosts: u32,
    /// Flows in the file.
    pub flows: usize,
    /// Notes on what was left out or is noteworthy, a sentence each.
    pub notes: Vec<String>,
}

impl OperationCounts {
    /// Adds up the five kinds; dependencies do not count.
    pub fn operations(&self) -> u64 {
        self.computes + self.timed_waits + self.sends + self.receives + self.collectives
    }
}

impl OperationGraph {
    /// Reads `file` as the given kind from `jobs[].workload`. `settings` are further keys for that
    /// kind, each `PATH=VALUE`. Relative paths, also those that the file names, start at the
    /// working folder.
    ///
    /// # Errors
    /// When the kind or a setting is unknown, a file cannot be read or violates its format (the
    /// first violation is reported), or reading would take more than `budget` has.
    pub fn import(
        kind: &str,
        file: &Path,
        settings: &[String],
        budget: &Budget,
    ) -> Result<OperationGraph, Error> {
        let files = |name: &str| {
            let read = open_named(Path::new(name));
            read.map_err(|error| format!("{error}; check the path"))
        };
        let file = file.to_string_lossy();
        let (workload, mut notes) = read_workload(kind, &file, settings, &files, budget)?;
        let read = read_operations(&workload, &files, budget);
        match read {
            Ok(Some(imported)) => {
                notes.extend(imported.notes);
                Ok(OperationGraph {
                    graph: Arc::new(imported.graph),
                    notes,
                })
            }
            Ok(None) => Err(Error::Asked(format!("`{kind}` is no graph of operations"))),
            Err(error) => {
                let hint = other_format(Path::new(&*file), kind);
                let (what, remedy) = (error.what, hint.unwrap_or(error.remedy));
                Err(Error::Asked(format!("{what}; {remedy}")))
            }
        }
    }

    /// Returns the index of the job with the given name, or 0 without a name. A job without traffic
    /// is an error.
    fn find(plan: &Plan, job: Option<&str>) -> Result<usize, Error> {
        let jobs = &plan.resolved().jobs;
        let found = match job {
            Some(name) => jobs.iter().position(|job| job.name == name),
            None => Some(0),
        };
        let with_traffic = found.filter(|&index| !jobs[index].sequence.is_empty());
        with_traffic.ok_or_else(|| {
            let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
            let known = names.join("`, `");
            let asked = job.unwrap_or_default();
            Error::Asked(format!(
                "there is no job `{asked}` with traffic; there are `{known}`"
            ))
        })
    }

    /// Returns a job's operations (the first job's without a name): its graph, or the sends and
    /// receives in its first collective, for each rank in posting order.
    ///
    /// # Errors
    /// When there is no such job with traffic, or the job draws its flows while it runs.
    pub fn of_job(plan: &Plan, job: Option<&str>) -> Result<OperationGraph, Error> {
        let job = &plan.resolved().jobs[OperationGraph::find(plan, job)?];
        // `find` returns jobs with traffic only.
        let run = &job.sequence[0];
        if let Some(of) = run.traffic.operations() {
            return Ok(OperationGraph {
                graph: Arc::clone(&of.graph),
                notes: Vec::new(),
            });
        }
        if run.traffic.is_endless() || run.traffic.flow_workload().is_some() {
            let message = format!(
                "the flows of job `{}` are drawn while it runs; export a collective, a pattern or a graph",
                job.name
            );
            return Err(Error::Asked(message));
        }
        let schedule = run.traffic.schedule(job.ranks(), run.size_bytes);
        let schedule = schedule.map_err(|error| Error::Asked(error.to_string()))?;
        let graph = Graph::of_schedule(schedule.as_ref());
        let graph = graph.map_err(|error| Error::Asked(error.to_string()))?;
        let mut notes = Vec::new();
        if job.sequence.len() > 1 || job.iterations + job.warm_up > 1 {
            notes.push(format!(
                "the first of {} collectives of job `{}` is written, once",
                job.sequence.len(),
                job.name
            ));
        }
        Ok(OperationGraph {
            graph: Arc::new(graph),
            notes,
        })
    }

    /// Counts the operations by kind, their dependencies and their bytes.
    pub fn counts(&self) -> OperationCounts {
        let of_kind = self.graph.counts();
        let count = |kind: OperationKind| of_kind.get(&kind).copied().unwrap_or(0);
        OperationCounts {
            ranks: self.graph.ranks(),
            computes: count(OperationKind::Compute),
            timed_waits: count(OperationKind::Wait),
            sends: count(OperationKind::Send),
            receives: count(OperationKind::Receive),
            collectives: count(OperationKind::Collective),
            waits: self.graph.edges(),
            sent_bytes: self.graph.sends().map(|(_, _, bytes)| bytes).sum(),
        }
    }

    /// The graph itself, as the workload crate has it.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Writes the file format that `kind: graph` reads.
    ///
    /// # Errors
    /// When writing to `to` fails.
    pub fn write_file(&self, to: &mut dyn io::Write) -> io::Result<()> {
        graph_file::write_to(&self.graph, to)
    }

    /// Writes the graph as GOAL text, in whole nanoseconds. The second value counts computing times
    /// that were rounded down to them.
    ///
    /// # Errors
    /// When the graph has collectives, which GOAL cannot express.
    pub fn to_goal(&self) -> Result<(String, u64), Error> {
        if self.counts().collectives > 0 {
            let message = "GOAL has no collectives; export to Chakra, or keep the graph";
            return Err(Error::Asked(message.to_owned()));
        }
        let mut text = String::new();
        let cut = tenter_formats::goal::write(&self.graph, &mut text);
        let cut = cut.map_err(|error| Error::Internal(error.to_string()))?;
        Ok((text, cut))
    }

    /// Writes the graph's flows as an htsim connection matrix.
    ///
    /// # Errors
    /// When flows and triggers cannot express the graph.
    pub fn to_htsim(&self) -> Result<String, Error> {
        let text = Flows::of(&self.graph).and_then(|flows| write_htsim(&flows));
        text.map_err(|what| Error::Asked(format!("{what}, which htsim cannot say; export to GOAL")))
    }

    /// Runs the plan and writes a job's flows as an ns-3 flow file: hosts by number, start times as
    /// posted in that run, from the job's first flow on. Flows that stay within a server are left
    /// out.
    ///
    /// # Errors
    /// When there is no such job with traffic, or the run fails.
    pub fn run_for_ns3(plan: &Plan, job: Option<&str>) -> Result<Ns3Flows, Error> {
        let index = OperationGraph::find(plan, job)?;
        let trial = Run::new(plan).keep_flows().run()?;
        let resolved = plan.resolved();
        let (domain, npus) = (resolved.scale_up, resolved.npus_per_nic);
        let of_network = |row: &FlowRow| {
            let [a, b] = [row.src_host, row.dst_host].map(HostId::new);
            a != b && !domain.is_some_and(|domain| domain.joins_nics(npus, a, b))
        };
        let of_job = |row: &&FlowRow| row.job == index as u32;
        // A transfer is one flow, whose payload is split over its queue pairs.
        let key = |row: &FlowRow| (row.iteration, row.collective, row.transfer);
        let mut payloads: BTreeMap<(u32, u32, u32), u64> = BTreeMap::new();
        for row in trial.flows().iter().filter(of_job) {
            *payloads.entry(key(row)).or_default() += row.payload_bytes;
        }
        let mut rows: Vec<&FlowRow> = trial.flows().iter().filter(of_job).collect();
        rows.retain(|row| row.queue_pair == 0);
        // Rows come as flows end; ns-3 starts flows in the order of its file.
        rows.sort_by_key(|row| (row.posted, row.src_rank, row.transfer));
        let first = rows.first().map_or(Time::ZERO, |row| row.posted);
        let all = rows.len();
        rows.retain(|row| of_network(row));
        let mut notes = vec![format!(
            "starts are those of a run with seed {}",
            plan.seed()
        )];
        if rows.len() < all {
            let within = all - rows.len();
            notes.push(format!("{within} flows within hosts are left out"));
        }
        if rows.iter().any(|row| row.src_rank != row.src_host) {
            let what = "flows are from host to host, whose numbers are not those of the ranks";
            notes.push(what.to_owned());
        }
        let flows = rows.iter().map(|row| {
            let start = row.posted.saturating_sub(first);
            (row.src_host, row.dst_host, payloads[&key(row)], start)
        });
        let hosts = resolved.topology.hosts as u32;
        let text = write_ns3(&Flows::timed(hosts, flows));
        Ok(Ns3Flows {
            text: text.map_err(Error::Internal)?,
            hosts,
            flows: rows.len(),
            notes,
        })
    }

    /// Writes the graph as Chakra execution traces.
    ///
    /// # Errors
    /// When the format cannot express the graph.
    pub fn to_chakra(&self) -> Result<chakra::Written, Error> {
        let written = chakra::write(&self.graph);
        written.map_err(|what| {
            Error::Asked(format!("{what}, which Chakra cannot say; export to GOAL"))
        })
    }
}

/// Quotes a text for YAML. A JSON string is also a double-quoted YAML scalar.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
