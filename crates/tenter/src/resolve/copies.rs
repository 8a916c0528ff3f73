//! `copies` in a job: equal jobs in its place, each with its own name, and mostly its own hosts.

use tenter_language::notation::diagnostics::Problems;
use tenter_language::notation::tree::{Entry, Node, VALUES_MAX, Value};
use tenter_workload::spec::JOBS_MAX;

/// Replaces each job that has `copies` by that many jobs. A value that is no count stays for the
/// reader to refuse.
pub(crate) fn write_out(root: &mut Node, problems: &Problems) {
    let Some(Value::List(jobs)) = root.entry_mut("jobs").map(|jobs| &mut jobs.value) else {
        return;
    };
    if !jobs.iter_mut().any(|job| job.entry_mut("copies").is_some()) {
        return;
    }
    // Copies multiply a tree that the parser has limited, so its limit applies again here.
    let mut room = VALUES_MAX;
    let mut expanded = Vec::with_capacity(jobs.len());
    for mut job in std::mem::take(jobs) {
        let Some(count) = count(&mut job) else {
            expanded.push(job);
            continue;
        };
        // One copy is the job itself and adds no values.
        let values = if count > 1 {
            count.saturating_mul(values_in(&job))
        } else {
            0
        };
        if expanded.len() + count > JOBS_MAX as usize || values > room {
            let at = job.entry_mut("copies").and_then(|copies| copies.at);
            let message = format!("{count} copies are more than a scenario holds");
            let help = format!("a scenario has at most {JOBS_MAX} jobs; run fewer of them");
            problems.push(at, message, Some(help));
            job.remove(&["copies"]);
            expanded.push(job);
            continue;
        }
        room -= values;
        if count > 1 && has_own_hosts(&job) {
            give_free_hosts(&mut job, problems);
        }
        job.remove(&["copies"]);
        expanded.extend((1..=count).map(|number| copy(&job, number, count)));
    }
    *jobs = expanded;
}

/// Returns `copies` if it is a positive number.
fn count(job: &mut Node) -> Option<usize> {
    match &job.entry_mut("copies")?.value {
        Value::Scalar {
            text,
            quoted: false,
            // A quoted number is a text, which the reader refuses.
        } => text.parse().ok().filter(|&count| count > 0),
        _ => None,
    }
}

/// Returns true if each copy takes separate hosts: not if the job lists hosts, has streams, or has
/// a workload whose pairs name them.
fn has_own_hosts(job: &Node) -> bool {
    let is_list = |node: &Node| matches!(node.value, Value::List(_));
    let listed = job.entry("ranks").is_some_and(|ranks| is_list(&ranks.node));
    let workload = job.entry("workload").map(|workload| &workload.node);
    let paired = workload.is_some_and(|workload| workload.entry("pairs").is_some());
    !listed && !paired && job.entry("flows").is_none()
}

fn give_free_hosts(job: &mut Node, problems: &Problems) {
    if job.word("free_hosts") == Some("false") {
        let at = job.entry("free_hosts").and_then(Entry::place);
        let message =
            "`free_hosts` cannot be `false` beside `copies`: each copy has hosts of its own";
        let help = "leave it out; write the jobs one by one where they are to share hosts";
        problems.push(at, message.to_owned(), Some(help.to_owned()));
    }
    job.fill(&[Entry::unplaced("free_hosts", Node::plain("true"))]);
}

/// Returns copy `number` of `of`: `train-1` of `train`.
fn copy(job: &Node, number: usize, of: usize) -> Node {
    let mut copy = job.clone();
    if of == 1 {
        return copy;
    }
    if let Some(Value::Scalar { text, .. }) = copy.entry_mut("name").map(|name| &mut name.value) {
        *text = format!("{text}-{number}");
    }
    copy
}

/// Counts the values in a tree, containers included.
fn values_in(node: &Node) -> usize {
    match &node.value {
        Value::Scalar { .. } => 1,
        Value::List(items) => 1 + items.iter().map(values_in).sum::<usize>(),
        Value::Map(entries) => {
            let values = entries.iter().map(|entry| values_in(&entry.node));
            1 + values.sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use tenter_workload::Job;

    use crate::resolve::{Format, load};

    const FABRIC: &str = "fabric: {kind: single-switch, hosts: 12}\n";

    fn names(jobs: &str) -> Result<Vec<(String, Vec<u32>)>, String> {
        let text = format!("{FABRIC}{jobs}");
        let loaded = load(&text, "x.yaml", Format::Yaml, &[], None);
        let loaded = loaded.map_err(|errors| errors.to_string())?;
        let jobs = loaded.plan.jobs.into_iter();
        let numbers = |job: &Job| job.hosts.iter().map(|host| host.number()).collect();
        Ok(jobs.map(|job| (job.name.clone(), numbers(&job))).collect())
    }

    #[test]
    fn copies_have_names_and_hosts_of_their_own() {
        let jobs = "jobs:\n  - {name: train, copies: 3, ranks: 4, \
                    collectives: [{collective: all-to-all, size: 1MiB}]}\n";
        let expected = [
            ("train-1".to_owned(), vec![0, 1, 2, 3]),
            ("train-2".to_owned(), vec![4, 5, 6, 7]),
            ("train-3".to_owned(), vec![8, 9, 10, 11]),
        ];
        assert_eq!(names(jobs).expect("it holds"), expected);
    }

    #[test]
    fn copies_of_a_training_have_hosts_of_their_own() {
        let training = "{kind: training, tp: 2, batch: 16, model: {layers: 2, hidden: 128, \
                        heads: 4, kv_heads: 2, ffn: 256, vocabulary: 1000, sequence: 64}}";
        let jobs = format!("jobs:\n  - {{name: t, copies: 2, ranks: 4, workload: {training}}}\n");
        let found = names(&jobs).expect("it holds");
        let hosts: Vec<_> = found.iter().map(|(_, hosts)| hosts.as_slice()).collect();
        assert_eq!(hosts, [[0, 1, 2, 3], [4, 5, 6, 7]]);
    }

    #[test]
    fn one_copy_is_the_job_itself_and_listed_hosts_are_shared() {
        let jobs = "jobs:\n  - {name: a, copies: 1, ranks: [0, 1], \
                    collectives: [{collective: all-to-all, size: 1MiB}]}\n  - {copies: 2, \
                    ranks: [0, 1], collectives: [{collective: all-to-all, size: 1MiB}]}\n";
        let found = names(jobs).expect("it holds");
        let found: Vec<_> = found
            .iter()
            .map(|(name, hosts)| (name.as_str(), hosts.len()))
            .collect();
        assert_eq!(found, [("a", 2), ("job1", 2), ("job2", 2)]);
    }

    #[test]
    fn wrong_counts_are_refused_with_their_place() {
        for (copies, expected) in [
            ("0", "`jobs[0].copies` is `0`, outside its range"),
            ("[2]", "`jobs[0].copies` must be"),
            ("two", "`jobs[0].copies` must be a whole number"),
            ("10001", "10001 copies are more than a scenario holds"),
            (
                "2, free_hosts: false",
                "`free_hosts` cannot be `false` beside `copies`",
            ),
            ("4", "the jobs before leave 0 of 12 free"),
        ] {
            let jobs = format!(
                "jobs:\n  - {{copies: {copies}, ranks: 4, \
                 collectives: [{{collective: all-to-all, size: 1MiB}}]}}\n"
            );
            let refused = names(&jobs).expect_err("it is wrong");
            assert!(refused.contains("x.yaml:3:"), "{copies}: {refused}");
            assert!(refused.contains(expected), "{copies}: {refused}");
        }
    }
}
