//! Entries in a job's `collectives`: collective, algorithm, ranks and sizes.

use tenter_language::config::{Idle, Reader, component, default_with};
use tenter_language::units::{Bytes, Time};

use super::limits::{SIZES, TIMES};
use super::sizes::Sizes;
use crate::collective::CollectiveKind;
use crate::{CollectiveRun, Compute, Groups, Traffic};

component! {
    /// One collective of a job, of one size or several.
    pub struct CollectiveSpec as "`jobs[].collectives[]`", derive(Clone, Debug, PartialEq) {
        fill ask_for_size;
        either "size", "sizes";
        idle idle;
        first ..kind: CollectiveKind, "Which collective, and by which algorithm.";
        /// Groups of ranks that each run the collective by itself, all at the same time (tensor,
        /// data or pipeline parallel ranks); `none`: all ranks run it together.
        groups: Option<Groups> = "none";
        /// One size, as nccl-tests counts it.
        size: Option<Bytes> = absent "this or `sizes`", in SIZES;
        /// Several sizes, run in this order.
        sizes: Option<Sizes> = absent "this or `size`";
        /// Computing time of all ranks before each of these collectives, on top of `gap`.
        compute: Time = "0ns", in TIMES;
        /// Each computing time is drawn from `compute` ± this; at most `compute`.
        compute_spread: Time = "0ns", in TIMES;
        check complete;
    }
}

/// Lists the keys without effect: steps and tokens state their own sizes.
fn idle(spec: &CollectiveSpec) -> Vec<Idle> {
    let keys: &[&str] = match spec.kind.own_size() {
        Some(_) => &["size", "sizes"],
        None => &[],
    };
    let remedy = "leave it out: `steps` say their bytes, and `tokens` theirs";
    Idle::all(keys, "has no effect on steps, and beside `tokens`", remedy)
}

/// Reports a missing size. It is asked before the other checks, so that the user sees this error
/// along with theirs.
fn ask_for_size(reader: &mut dyn Reader) {
    let is_steps = reader.peek_word("collective").as_deref() == Some("steps");
    let says_size = is_steps || reader.peek("tokens").is_some();
    if !says_size && !reader.is_there("size") && !reader.is_there("sizes") {
        let remedy = "add for example `size: 16MiB`, or `sizes: {start: 16MiB, end: 256MiB}`";
        reader.refuse_all("lacks `size` or `sizes`", remedy);
    }
}

/// Checks the computing times, and that each size has an algorithm.
fn complete(spec: &CollectiveSpec, reader: &mut dyn Reader) -> bool {
    let has_size = spec.count() > 0;
    check_spread(spec.compute(), reader) && has_size && check_files(spec, reader)
}

/// Refuses sizes for which none among several algorithm files is meant.
fn check_files(spec: &CollectiveSpec, reader: &mut dyn Reader) -> bool {
    let CollectiveKind::FromFile(files) = &spec.kind else {
        return true;
    };
    // Drawn sizes may take any value from the least on, so a file must be there for each.
    let least = |size: u64| spec.drawn_from().unwrap_or(size).min(size);
    let gap = |size: u64| files.gap(least(size)..=size);
    let Some(gap) = spec.sizes().into_iter().find_map(gap) else {
        return true;
    };
    let key = if spec.size.is_some() { "size" } else { "sizes" };
    let what = format!(
        "has {gap} bytes, and the files are meant for {} bytes",
        files.ranges()
    );
    let remedy = "give another size, or one `file`, which runs at all sizes";
    reader.refuse(key, &what, remedy);
    false
}

/// Refuses a spread by which a computing time could become negative.
pub(super) fn check_spread(compute: Compute, reader: &mut dyn Reader) -> bool {
    let holds = compute.spread <= compute.mean;
    if !holds {
        let Compute { mean, spread } = compute;
        let what = format!("is `{spread}`, and `compute` only {mean}");
        reader.refuse("compute_spread", &what, "no time is less than nothing");
    }
    holds
}

impl CollectiveSpec {
    /// Creates a collective with one size; all other keys have their defaults.
    pub fn new(kind: impl Into<CollectiveKind>, size: Bytes) -> CollectiveSpec {
        CollectiveSpec {
            kind: kind.into(),
            size: Some(size),
            // A valid entry from which the remaining keys take their defaults.
            ..default_with(&[("collective", "all-to-all"), ("size", "1B")])
        }
    }

    /// Returns the computing time before each collective.
    fn compute(&self) -> Compute {
        Compute {
            mean: self.compute,
            spread: self.compute_spread,
        }
    }

    /// Returns the collective as traffic that a job can run.
    pub fn traffic(&self) -> Traffic {
        Traffic::Collective {
            kind: self.kind.clone(),
            groups: self.groups,
        }
    }

    /// Lists the sizes in bytes. Sizes that are drawn for each run appear as the largest one.
    pub fn sizes(&self) -> Vec<u64> {
        let one = self.kind.own_size().or(self.size.map(Bytes::count));
        let one = one.map(|size| vec![size]);
        let several = || self.sizes.as_ref().map(Sizes::expand);
        one.or_else(several).unwrap_or_default()
    }

    /// Counts the sizes without listing drawn ones.
    pub(crate) fn count(&self) -> usize {
        let one = self.size.is_some() || self.kind.own_size().is_some();
        let several = || self.sizes.as_ref().map(Sizes::count);
        one.then_some(1).or_else(several).unwrap_or(0)
    }

    /// Returns true if sizes are drawn anew for each run.
    pub(crate) fn draws_sizes(&self) -> bool {
        self.drawn_from().is_some()
    }

    fn drawn_from(&self) -> Option<u64> {
        self.sizes.as_ref().and_then(Sizes::drawn_from)
    }

    /// Makes one run for each size.
    pub fn runs(&self) -> Vec<CollectiveRun> {
        let run = |size_bytes| CollectiveRun {
            traffic: self.traffic(),
            size_bytes,
            drawn_from_bytes: self.drawn_from(),
            compute: self.compute(),
        };
        self.sizes().into_iter().map(run).collect()
    }
}
