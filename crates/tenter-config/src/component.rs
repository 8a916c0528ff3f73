//! Components: structs that know how they are written.

use crate::{Defaults, Key, Reader};

/// A struct whose fields are keys of a scenario; [`component!`](crate::component) makes one.
pub trait Component: Sized {
    /// Its keys, in the order of its fields, then those of the component that it holds.
    const KEYS: &'static [Key];

    /// Reads all of its keys; `None` where one of them is wrong.
    fn read(reader: &mut dyn Reader) -> Option<Self>;

    /// Its keys with their values as they are written.
    fn texts(&self) -> Vec<(&'static str, String)>;
}

/// The component whose keys all have their defaults.
///
/// # Panics
/// When a default is no value of its key, which a test of each component excludes.
pub fn default_of<T: Component>() -> T {
    let read = T::read(&mut Defaults(T::KEYS));
    read.expect("the defaults of a component hold")
}

/// Declares a component: a struct whose fields are keys, each with its default as it would be
/// written, its bounds, what else makes a value wrong, and the origin of the default. `Default`
/// follows from it.
///
/// ```text
///     /// What the key means.
///     name: Type = "default", in BOUNDS, unless CHECK, from "origin";
/// ```
///
/// A key that is no name in Rust follows its field: `moves as "move": Type`. `CHECK` is a function
/// from the value to what is wrong with it and the remedy. `check RULE;` behind the fields names a
/// function of the whole component and the reader: it refuses what does not go together, and says
/// whether the component holds. A last line `..field: Type, "what it is";` holds another component,
/// whose keys stand beside its own.
#[macro_export]
macro_rules! component {
    (
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $meaning:literal])+
                $field:ident $(as $key:literal)?: $type:ty = $default:literal
                    $(, in $bounds:expr)? $(, unless $check:path)? $(, from $origin:literal)?;
            )*
            $(check $rule:path;)?
            $(..$held:ident: $held_type:ty, $about_held:literal;)?
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis struct $name {
            $($(#[doc = $meaning])+ $vis $field: $type,)*
            $(#[doc = $about_held] $vis $held: $held_type,)?
        }

        impl $name {
            /// Its keys without those of what it holds.
            const OWN_KEYS: &'static [$crate::Key] = &[$(
                $crate::Key {
                    name: $crate::component!(@key $field $($key)?),
                    form: $crate::Form::Typed(|| {
                        <$type as $crate::Value>::shape($crate::component!(@bounds $($bounds)?))
                    }),
                    presence: $crate::Presence::Default($default),
                    meaning: concat!($($meaning),+),
                    origin: concat!($($origin)?),
                },
            )*];
        }

        impl Default for $name {
            fn default() -> $name {
                $crate::default_of()
            }
        }

        impl $crate::Component for $name {
            const KEYS: &'static [$crate::Key] = &$crate::joined::<{
                $name::OWN_KEYS.len() $(+ <$held_type as $crate::Component>::KEYS.len())?
            }>(&[$name::OWN_KEYS, $(<$held_type as $crate::Component>::KEYS)?]);

            fn read(reader: &mut dyn $crate::Reader) -> Option<$name> {
                // All are read, so that all problems are told.
                $(
                    let key = $crate::component!(@key $field $($key)?);
                    let bounds = $crate::component!(@bounds $($bounds)?);
                    let $field = <$type as $crate::Value>::read(reader, key, bounds);
                    $(let $field = match $field.map(|value| (value, $check(value))) {
                        Some((value, None)) => Some(value),
                        Some((_, Some((what, remedy)))) => {
                            reader.refuse(key, &what, &remedy);
                            None
                        }
                        None => None,
                    };)?
                )*
                $(let $held = <$held_type as $crate::Component>::read(reader);)?
                let read = $name {
                    $($field: $field?,)*
                    $($held: $held?,)?
                };
                $(if !$rule(&read, reader) {
                    return None;
                })?
                Some(read)
            }

            fn texts(&self) -> Vec<(&'static str, String)> {
                let own = [$((
                    $crate::component!(@key $field $($key)?),
                    $crate::Value::text(&self.$field),
                ),)*];
                let texts = Vec::from(own);
                $(let texts = [texts, $crate::Component::texts(&self.$held)].concat();)?
                texts
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@bounds) => { () };
    (@bounds $bounds:expr) => { $bounds };
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use tenter_units::{Bytes, Rate, Time};

    use super::{Component, Reader};
    use crate::{Percent, Presence, Shape, Share};

    component! {
        /// What is held.
        struct Held {
            /// The last key.
            last: bool = "true";
        }
    }

    component! {
        /// A component
        /// of two lines.
        struct Made {
            /// A time,
            /// over two lines.
            after: Time = "1us", in Time::ZERO..=Time::from_us(9), from "nowhere";
            /// An even number.
            even: u8 = "2", in 0..=8, unless odd;
            /// A share.
            share as "move": Percent = "5", in 0..=100;
            /// A rate.
            rate: Option<Rate> = "none", in Rate::from_gbps(1)..=Rate::from_gbps(9);
            check not_five;
            ..held: Held, "What it holds.";
        }
    }

    fn odd(value: u8) -> Option<(String, String)> {
        (value % 2 == 1).then(|| ("is odd".to_owned(), "add one".to_owned()))
    }

    fn not_five(made: &Made, reader: &mut dyn Reader) -> bool {
        let holds = made.share.0 != 6;
        if !holds {
            reader.refuse("move", "is six", "choose another");
        }
        holds
    }

    /// Gives every number this value, and notes what was asked and refused.
    #[derive(Default)]
    struct Fixed {
        number: u64,
        asked: Vec<String>,
        refused: Vec<String>,
    }

    impl Reader for Fixed {
        fn time(&mut self, key: &str, _: RangeInclusive<Time>) -> Option<Time> {
            self.asked.push(key.to_owned());
            Some(Time::from_us(3))
        }

        fn integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
            self.asked.push(format!("{key} {range:?}"));
            range.contains(&self.number).then_some(self.number)
        }

        fn rate(&mut self, key: &str, range: RangeInclusive<Rate>) -> Option<Rate> {
            self.asked.push(key.to_owned());
            Some(*range.end())
        }

        fn size(&mut self, _: &str, _: RangeInclusive<Bytes>) -> Option<Bytes> {
            None
        }

        fn share(&mut self, _: &str) -> Option<Share> {
            None
        }

        fn is_none(&mut self, key: &str) -> bool {
            self.asked.push(format!("{key} none?"));
            self.number > 6
        }

        fn flag(&mut self, key: &str) -> Option<bool> {
            self.asked.push(key.to_owned());
            Some(false)
        }

        fn choice(&mut self, _: &str, _: &[&str]) -> Option<usize> {
            None
        }

        fn words(&mut self, _: &str, _: &[&str], _: &str) -> Option<Vec<usize>> {
            None
        }

        fn was_given(&self, _: &str) -> bool {
            true
        }

        fn leave_out(&mut self, _: &str) {}

        fn refuse(&mut self, key: &str, what: &str, remedy: &str) {
            self.refused.push(format!("{key} {what}: {remedy}"));
        }
    }

    #[test]
    fn keys_follow_from_the_fields() {
        let names: Vec<&str> = Made::KEYS.iter().map(|key| key.name).collect();
        assert_eq!(names, ["after", "even", "move", "rate", "last"]);
        let [after, even, share, rate, last] = Made::KEYS else {
            panic!("there are five keys");
        };
        assert_eq!(after.sentence(), "A time, over two lines");
        assert_eq!((after.origin, even.origin), ("nowhere", ""));
        assert!(matches!(after.presence, Presence::Default("1us")));
        let forms = [after, even, share, rate, last].map(|key| key.form.text());
        assert_eq!(
            forms,
            [
                "time",
                "0 to 8",
                "percent, 0 to 100",
                "rate or `none`",
                "`true` or `false`"
            ]
        );
        assert_eq!(
            <u8 as crate::Value>::shape(0..=8),
            Shape::Integer { least: 0, most: 8 }
        );
    }

    #[test]
    fn all_keys_are_read_and_all_problems_told() {
        let mut reader = Fixed {
            number: 4,
            ..Fixed::default()
        };
        let made = Made::read(&mut reader).expect("all values are right");
        assert_eq!(
            (made.even, made.share.ppm(), made.held.last),
            (4, 40_000, false)
        );
        assert_eq!(
            reader.asked,
            [
                "after",
                "even 0..=8",
                "move 0..=100",
                "rate none?",
                "rate",
                "last"
            ]
        );
        let mut reader = Fixed {
            number: 5,
            ..Fixed::default()
        };
        assert_eq!(Made::read(&mut reader), None);
        assert_eq!(reader.refused, ["even is odd: add one"]);
        assert_eq!(reader.asked.len(), 6);
        let mut reader = Fixed {
            number: 6,
            ..Fixed::default()
        };
        assert_eq!(Made::read(&mut reader), None);
        assert_eq!(reader.refused, ["move is six: choose another"]);
    }

    #[test]
    fn defaults_are_read_from_their_texts_and_written_as_such() {
        let made = Made::default();
        assert_eq!(made.after, Time::from_us(1));
        assert_eq!(
            (made.share, made.rate, made.held.last),
            (Percent(5), None, true)
        );
        let texts = made.texts();
        let texts: Vec<(&str, &str)> = texts
            .iter()
            .map(|(key, text)| (*key, text.as_str()))
            .collect();
        let expected = [
            ("after", "1us"),
            ("even", "2"),
            ("move", "5"),
            ("rate", "none"),
            ("last", "true"),
        ];
        assert_eq!(texts, expected);
    }
}
