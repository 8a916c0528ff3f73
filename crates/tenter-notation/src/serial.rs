//! Components as serde has them: written as a scenario has them, and read with all their checks.

use std::rc::Rc;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use tenter_config::{Component, Written};

use crate::decode::Section;
use crate::diagnostics::{Diagnostics, Problems};
use crate::tree::Node;

/// A component of any kind, for serde.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serial<T>(pub T);

impl<T: Component> Serialize for Serial<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Written::mapping(self.0.written()).serialize(to)
    }
}

impl<'de, T: Component> Deserialize<'de> for Serial<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Serial<T>, D::Error> {
        let read = component(Written::deserialize(from)?);
        read.map(Serial)
            .map_err(|problems| D::Error::custom(listed(&problems)))
    }
}

/// Reads a component from values.
///
/// # Errors
/// Every problem of the values, by their paths.
pub fn component<T: Component>(values: Written) -> Result<T, Diagnostics> {
    let problems = Problems::default();
    let root = Node::written(values);
    problems.know(&Rc::new(root.clone()));
    let mut section = Section::root(root, &T::TABLE, &problems);
    let read = T::read(&mut section);
    section.finish();
    match read.filter(|_| problems.is_empty()) {
        Some(read) => Ok(read),
        None => Err(problems.into_diagnostics(Vec::new())),
    }
}

/// Problems on one line, for errors that have but one.
pub fn listed(problems: &Diagnostics) -> String {
    let problems = problems.problems().iter();
    let problems = problems.map(|problem| match &problem.help {
        Some(help) => format!("{}: {help}", problem.message),
        None => problem.message.clone(),
    });
    problems.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use serde::de::value::{Error, MapDeserializer};
    use tenter_config::component;
    use tenter_units::Time;

    use super::*;

    component! {
        /// A pause.
        struct Pause {
            /// How long.
            time: Time = "1us", in Time::ZERO..=Time::from_us(9);
            /// How often.
            count: u32 = "2", in 1..=4;
        }
    }

    fn read(entries: &[(&str, &str)]) -> Result<Serial<Pause>, Error> {
        Serial::deserialize(MapDeserializer::new(entries.iter().copied()))
    }

    #[test]
    fn components_are_read_with_all_their_checks() {
        let read_time = read(&[("time", "3us")]).map(|pause| pause.0);
        let expected = Pause {
            time: Time::from_us(3),
            count: 2,
        };
        assert_eq!(read_time, Ok(expected));
        let wrong = read(&[("time", "3"), ("cuont", "1")]).expect_err("it is wrong");
        let wrong = wrong.to_string();
        for part in ["`time`: ", "; unknown key `cuont`", "did you mean `count`?"] {
            assert!(wrong.contains(part), "{wrong}");
        }
    }
}
