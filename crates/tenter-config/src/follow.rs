//! Values of keys that follow from others.

use crate::{Key, Presence, Reader, Texts, Written};

/// Keys with their values, as they are written.
type WrittenKeys = Vec<(&'static str, Written)>;

/// A component as a value of a key needs it: its keys, and what it writes of what it has read.
#[derive(Clone, Copy, Debug)]
pub struct Keyed {
    /// All keys.
    pub keys: &'static [Key],
    /// Reads the component, and writes all its keys.
    pub rewrite: fn(&mut dyn Reader) -> Option<WrittenKeys>,
}

/// The value that a component gives to a key of its own which is left out, and which follows from
/// these; `None` where one of them is a mapping, or something beside them is wrong.
pub fn followed(
    component: Keyed,
    key: &str,
    from: &[&str],
    beside: &dyn Fn(&str) -> Option<Written>,
) -> Option<Written> {
    let Keyed { keys, rewrite } = component;
    // One that may be absent is written where it is not.
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
    use tenter_units::Bytes;

    use crate::{Component, Written, component};

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
