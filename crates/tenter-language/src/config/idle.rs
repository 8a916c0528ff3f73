//! Idle keys, which mean nothing beside their component's other keys, and keys with default values.

use crate::config::default::value_of;
use crate::config::{Key, Reader, Written};

/// A key that means nothing beside its component's other keys, with the message for its use.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// The key's name; for a key in a mapping that the component holds, the path (`pattern.steps`).
    pub key: &'static str,
    /// Problem that is reported if the key was written.
    pub what: &'static str,
    /// Remedy that is shown with the problem.
    pub remedy: &'static str,
}

impl Idle {
    /// Lists several keys with the same reason.
    pub fn all(keys: &[&'static str], what: &'static str, remedy: &'static str) -> Vec<Idle> {
        let idle = |&key: &&'static str| Idle { key, what, remedy };
        keys.iter().map(idle).collect()
    }
}

/// Refuses the idle keys that were written, and leaves all idle keys out of the effective
/// configuration.
pub fn refuse_idle(reader: &mut dyn Reader, keys: &[Idle]) {
    for idle in keys {
        if reader.was_given(idle.key) {
            reader.refuse(idle.key, idle.what, idle.remedy);
        }
        reader.leave_out(idle.key);
    }
}

/// Removes idle keys from a component's written keys. An idle key with another value than its
/// default stays, so that it is refused when the text is read.
pub fn without_idle(
    mut written: Vec<(&'static str, Written)>,
    idle: &[Idle],
    keys: &[Key],
) -> Vec<(&'static str, Written)> {
    let is_idle = |path: &str| idle.iter().any(|idle| idle.key == path);
    // Defaults may follow from any key, so they are judged by the keys before removal.
    let all = written.clone();
    let beside = |name: &str| value_of(&all, name).cloned();
    written.retain(|(name, value)| !(is_idle(name) && is_default(keys, name, value, &beside)));
    for (name, value) in &mut written {
        let key = keys.iter().find(|key| key.name == *name);
        if let (Written::Map(entries), Some(key)) = (value, key) {
            let tables = (key.shape)().tables_of(entries);
            let all = entries.clone();
            let beside = |name: &str| value_of(&all, name).cloned();
            entries.retain(|(inner, value)| {
                let mut keys = tables.iter().map(|table| table.keys);
                !(is_idle(&format!("{name}.{inner}"))
                    && keys.any(|keys| is_default(keys, inner, value, &beside)))
            });
        }
    }
    written
}

/// Returns true if `value` is the default for the key `name` in `keys`.
fn is_default(
    keys: &[Key],
    name: &str,
    value: &Written,
    beside: &dyn Fn(&str) -> Option<Written>,
) -> bool {
    let key = keys.iter().find(|key| key.name == name);
    key.is_some_and(|key| key.has_as_default(value, beside))
}

/// Removes the key `name` from a component's written keys if its value is `default`.
pub fn without_default(
    mut written: Vec<(&'static str, Written)>,
    name: &str,
    default: Option<&Written>,
) -> Vec<(&'static str, Written)> {
    written.retain(|(own, value)| *own != name || Some(value) != default);
    written
}

#[cfg(test)]
mod tests {
    use crate::units::Time;

    use crate::config::{Idle, component};

    fn idle(pump: &Pump) -> Vec<Idle> {
        let keys: &[&str] = if pump.runs {
            &[]
        } else {
            &["strokes", "valve.delay", "speed"]
        };
        Idle::all(keys, "has no effect", "leave it out")
    }

    component! {
        /// A valve.
        struct Valve {
            /// Whether it is open.
            open: bool = "true";
            /// How long it takes.
            delay: Time = "0ns", in Time::ZERO..=Time::from_us(9);
        }
    }

    component! {
        /// What drives it.
        struct Motor {
            /// Its speed.
            speed: u32 = "5", in 1..=9;
        }
    }

    component! {
        /// A pump.
        struct Pump, derive(Clone, Copy) {
            idle idle;
            /// Whether it runs.
            runs: bool = "false";
            /// How often.
            strokes: u32 = "2", in 1..=9;
            /// Its valve.
            valve: Valve = "{}";
            /// A second one.
            spare: Valve = "{}", omit default;
            ..motor: Motor, "What drives it.";
        }
    }

    fn written(pump: Pump) -> String {
        crate::config::Value::written(&pump).to_string()
    }

    #[test]
    fn keys_without_a_meaning_are_not_written_with_their_defaults() {
        let usual: Pump = crate::config::default_of();
        assert_eq!(written(usual), "{runs: false, valve: {open: true}}");
        let runs = Pump {
            runs: true,
            ..usual
        };
        let all = "{runs: true, strokes: 2, valve: {open: true, delay: 0s}, speed: 5}";
        assert_eq!(written(runs), all);
    }

    #[test]
    fn keys_without_a_meaning_are_written_to_be_refused() {
        let mut pump: Pump = crate::config::default_of();
        pump.strokes = 3;
        pump.valve.delay = Time::from_us(1);
        pump.motor.speed = 6;
        let expected = "{runs: false, strokes: 3, valve: {open: true, delay: 1us}, speed: 6}";
        assert_eq!(written(pump), expected);
        pump.spare.open = false;
        assert!(written(pump).ends_with("spare: {open: false, delay: 0s}, speed: 6}"));
    }
}
