//! Assembly of all ranks' traces.

use tenter_language::units::{Budget, Time};
use tenter_workload::spec::PytorchEtSpec;

use super::nodes::Nodes;
use crate::calls::{
    Arrangement, Head, Kept, ProcessGroups, Recorded, Resolving, keep_common, one_after_another,
};
use crate::compressed::plain;
use crate::content::Form;
use crate::error::{ImportError, Place, Wrong};
use crate::imported::{Imported, RankFiles, Source};
use crate::json_text;
use crate::trace::Traces;

/// Reads all ranks' traces in rank order, and the file with process groups if there is one.
///
/// # Errors
/// The first violation of the format, by its file, line or node; groups whose ranks nothing tells,
/// and collectives that differ between ranks.
pub fn read(
    files: &(impl RankFiles + ?Sized),
    groups: Option<Source<'_>>,
    spec: &PytorchEtSpec,
    budget: &Budget,
) -> Result<Imported, ImportError> {
    let given = ProcessGroups::given(groups)?;
    let mut of_files: Vec<Nodes> = Vec::with_capacity(files.count());
    let mut heads: Vec<Head> = Vec::with_capacity(files.count());
    for place in 0..files.count() {
        let name = files.name(place);
        let bytes = files
            .whole(place, Form::Json, budget)
            .map_err(|error| error.in_file(name))?;
        let nodes = nodes(&bytes, budget).map_err(|error| error.in_file(name))?;
        heads.push(Head {
            file: name.to_owned(),
            rank: None,
            world: nodes.world,
            at: Place::Json,
            stored: bytes.len(),
        });
        of_files.push(nodes);
    }
    let arrangement = Arrangement::of(&heads, spec.calls.ranks)?;
    let mut traces = Traces::of_calls(
        arrangement.ranks,
        arrangement.repeats,
        &spec.calls.algorithms,
        budget,
    )?;
    let mut calls: Vec<Vec<Recorded>> = Vec::with_capacity(of_files.len());
    for (rank, (nodes, head)) in (0..).zip(of_files.iter().zip(&heads)) {
        traces.count(
            "operators compute, and take no time: the trace has none",
            nodes.computes,
        );
        let mut resolving = Resolving {
            traces: &mut traces,
            given: &given,
            groups: nodes.groups.clone(),
            rank,
            world: head.world,
        };
        let found = recorded(nodes, &mut resolving);
        let wrong = |wrong: Wrong| wrong.at(Place::Json).in_file(&head.file);
        calls.push(found.map_err(wrong)?);
    }
    // Traces may end at different collectives; only those that all ranks have are kept.
    keep_common(&mut calls, Kept::First, &mut traces);
    for (rank, &place) in (0..).zip(&arrangement.recordings) {
        let trace = one_after_another(&calls[place], |_| Time::ZERO);
        let checked = arrangement.check(trace.nodes.len());
        checked.map_err(|error| error.in_file(&heads[place].file))?;
        let added = traces.add(rank, trace, Place::Json);
        added.map_err(|error| error.in_file(&heads[place].file))?;
    }
    traces.finish()
}

/// Reads a trace, which must have at least one call.
fn nodes(bytes: &[u8], budget: &Budget) -> Result<Nodes, ImportError> {
    let stored = bytes.len();
    let bytes = plain(bytes, budget)?;
    let remedy = "give an execution trace of PyTorch, as JSON";
    let parsed = json_text::parsed(&bytes, stored, remedy, budget)?;
    let list = parsed["nodes"].as_array();
    let list = list.ok_or_else(|| {
        let remedy = json_text::remedy_for_profiles(&parsed).unwrap_or(remedy);
        ImportError::new(Place::Json, "there is no list `nodes`", remedy)
    })?;
    let nodes = Nodes::of(list);
    let nodes = nodes.map_err(|what| ImportError::new(Place::Json, what, remedy))?;
    if nodes.calls.is_empty() {
        let what = "no node records a collective or a message";
        let remedy =
            "trace a job of several ranks, with a version that writes `record_param_comms`";
        return Err(ImportError::new(Place::Json, what, remedy));
    }
    Ok(nodes)
}

/// Resolves the calls of a rank. They have no times.
fn recorded(nodes: &Nodes, resolving: &mut Resolving<'_, '_>) -> Result<Vec<Recorded>, Wrong> {
    let calls = nodes.calls.iter().map(|node| {
        let call = resolving.call(&[&node.described]);
        Ok(Recorded {
            // The trace has no times.
            start: 0,
            end: 0,
            stream: 0,
            sequence: None,
            call: call.map_err(|wrong| wrong.of(&format!("node {}", node.id)))?,
        })
    });
    calls.collect()
}
