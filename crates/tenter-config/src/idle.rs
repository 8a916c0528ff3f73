//! Keys without a meaning beside the others of their component.

use crate::{Reader, Written};

/// A key without a meaning beside the others of its component.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// The key; in a mapping that the component holds, its path (`pattern.steps`).
    pub key: &'static str,
    /// What is wrong with it where it was written; nothing where it may be.
    pub what: &'static str,
    /// The remedy.
    pub remedy: &'static str,
}

impl Idle {
    /// Several keys for one reason.
    pub fn all(keys: &[&'static str], what: &'static str, remedy: &'static str) -> Vec<Idle> {
        let idle = |&key: &&'static str| Idle { key, what, remedy };
        keys.iter().map(idle).collect()
    }

    /// A key that may be written and need not be.
    pub fn unsaid(key: &'static str) -> Idle {
        Idle {
            key,
            what: "",
            remedy: "",
        }
    }
}

/// Refuses those of these keys that were written, and leaves all out of the effective
/// configuration.
pub fn refuse_idle(reader: &mut dyn Reader, keys: &[Idle]) {
    for idle in keys {
        if !idle.what.is_empty() && reader.was_given(idle.key) {
            reader.refuse(idle.key, idle.what, idle.remedy);
        }
        reader.leave_out(idle.key);
    }
}

/// The keys of a component as they are written, without those that mean nothing.
pub fn without_idle(
    mut written: Vec<(&'static str, Written)>,
    keys: &[Idle],
) -> Vec<(&'static str, Written)> {
    written.retain(|(name, _)| keys.iter().all(|idle| idle.key != *name));
    for (name, value) in &mut written {
        let within = keys
            .iter()
            .filter_map(|idle| idle.key.strip_prefix(*name)?.strip_prefix('.'));
        if let Written::Map(entries) = value {
            let within: Vec<&str> = within.collect();
            entries.retain(|(name, _)| !within.contains(&name.as_str()));
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use crate::{Component, Idle, component};

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "rules take a component of any size"
    )]
    fn idle(pump: &Pump) -> Vec<Idle> {
        let keys: &[&str] = if pump.runs { &[] } else { &["strokes"] };
        Idle::all(keys, "has no effect", "leave it out")
    }

    component! {
        /// A pump.
        struct Pump {
            idle idle;
            /// Whether it runs.
            runs: bool = "false";
            /// How often.
            strokes: u32 = "2", in 1..=9;
        }
    }

    #[test]
    fn keys_without_a_meaning_are_not_written() {
        let names = |pump: Pump| -> Vec<&str> {
            let written = pump.written().into_iter();
            written.map(|(name, _)| name).collect()
        };
        assert_eq!(names(Pump::default()), ["runs"]);
        let runs = Pump {
            runs: true,
            ..Pump::default()
        };
        assert_eq!(names(runs), ["runs", "strokes"]);
    }
}
