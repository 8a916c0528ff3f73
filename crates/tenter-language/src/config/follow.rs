//! Derived defaults: key values that follow from other keys.

use crate::config::{Key, Presence, Reader, Texts, Written};

/// Keys with their values in written form.
type WrittenKeys = Vec<(&'static str, Written)>;

/// A component as the computation of a derived default needs it: keys, and a function that
/// completes them.
#[derive(Clone, Copy, Debug)]
pub struct Keyed {
    /// All keys that the component has.
    pub keys: &'static [Key],
    /// Reads the component, and writes all its keys, derived defaults included.
    pub rewrite: fn(&mut dyn Reader) -> Option<WrittenKeys>,
}

/// Returns the value that `component` gives to `key` if it is left out. The value depends on the
/// keys `from`; the result is `None` if one of them is a mapping or unknown, or if another value is
/// wrong or a list with items, which [`Texts`] does not read.
pub fn followed(
    component: Keyed,
    key: &str,
    from: &[&str],
    beside: &dyn Fn(&str) -> Option<Written>,
) -> Option<Written> {
    let Keyed { keys, rewrite } = component;
    // A key that may be absent is known even if it is not written: then it is absent.
    let may_be_absent = |name: &str| {
        let key = keys.iter().find(|key| key.name == name);
        key.is_some_and(|key| matches!(key.presence, Presence::Depends(_)))
    };
    let is_seen = |from: &&str| match beside(from) {
        None => may_be_absent(from),
        Some(value) => !matches!(value, Written::Map(_)),
    };
    if !from.iter().all(is_seen) {
        return None;
    }
    let others = keys.iter().map(|other| other.name);
    let others = others.filter(|&other| other != key);
    // `Texts` reads no mapping with keys; the default then stands in for it.
    let given = others.filter_map(|other| match beside(other)? {
        Written::Map(_) => None,
        value => Some((other, value.to_string())),
    });
    let given: Vec<(&str, String)> = given.collect();
    let mut written = rewrite(&mut Texts::new(keys, &given))?.into_iter();
    written.find_map(|(name, value)| (name == key).then_some(value))
}

#[cfg(test)]
mod tests {
    use crate::units::Bytes;

    use crate::config::{Component, Written, component};

    component! {
        /// A buffer.
        struct Buffer {
            /// Its size.
            capacity: Bytes = "8KiB", in Bytes::new(0)..=Bytes::new(90_000);
            /// When it is too full.
            xoff: Bytes = by half | capacity | "half the capacity", in Bytes::new(0)..=Bytes::new(90_000);
            /// When it is empty enough.
            xon: Bytes = by half | xoff | "half of `xoff`", in Bytes::new(0)..=Bytes::new(90_000);
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "defaults are made from references"
    )]
    fn half(of: &Bytes) -> Bytes {
        Bytes::new(of.count() / 2)
    }

    #[test]
    fn a_value_follows_from_those_beside_it_and_another_does_not() {
        for (capacity, xoff, xon, follow) in [
            ("8KiB", "4KiB", "2KiB", [true, true]),
            ("8KiB", "4096B", "2048B", [true, true]),
            ("8KiB", "1KiB", "512B", [false, true]),
            ("8KiB", "4KiB", "0B", [true, false]),
            ("64KiB", "4KiB", "2KiB", [false, true]),
        ] {
            let beside = |name: &str| {
                let values = [("capacity", capacity), ("xoff", xoff), ("xon", xon)];
                let mut values = values.into_iter();
                values.find_map(|(key, value)| (key == name).then(|| Written::word(value)))
            };
            for (name, value, follows) in [("xoff", xoff, follow[0]), ("xon", xon, follow[1])] {
                let key = Buffer::TABLE.get(name).expect("it has it");
                let value = Written::word(value);
                let has = key.has_as_default(&value, &beside);
                assert_eq!(has, follows, "{name}: {value} of {capacity}");
            }
        }
    }

    #[test]
    fn nothing_is_said_of_a_value_beside_others_that_are_not_known() {
        let key = Buffer::TABLE.get("xon").expect("it has it");
        assert!(key.has_as_default(&Written::word("3B"), &|_| None));
    }
}
