//! Components: structs that know how they are written.

use std::ops::RangeInclusive;

use tenter_units::Time;

use crate::{Key, Shape};

/// Where a component is read from: a section of a scenario. Each method takes one key; what is
/// wrong is noted with its place, and reading goes on.
pub trait Reader {
    /// A time within bounds.
    fn time(&mut self, key: &str, range: RangeInclusive<Time>) -> Option<Time>;

    /// A whole number within bounds.
    fn integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64>;

    /// `true` or `false`.
    fn flag(&mut self, key: &str) -> Option<bool>;

    /// One of several words: its position.
    fn choice(&mut self, key: &str, words: &[&str]) -> Option<usize>;

    /// A list of some of several words, each at most once and one at least: their positions. `why`
    /// is the remedy where the list is empty.
    fn words(&mut self, key: &str, words: &[&str], why: &str) -> Option<Vec<usize>>;

    /// Refuses the value of the key that was read last: what is wrong with it, and the remedy.
    fn refuse(&mut self, key: &str, what: &str, remedy: &str);
}

/// A type that a key may have.
pub trait Value: Sized {
    /// What bounds its values; `()` where nothing does.
    type Bounds;

    /// What may be written.
    fn shape(bounds: Self::Bounds) -> Shape;

    /// Reads the value of a key.
    fn read(reader: &mut dyn Reader, key: &str, bounds: Self::Bounds) -> Option<Self>;
}

impl Value for Time {
    type Bounds = RangeInclusive<Time>;

    fn shape(bounds: RangeInclusive<Time>) -> Shape {
        let (least, most) = bounds.into_inner();
        Shape::Time { least, most }
    }

    fn read(reader: &mut dyn Reader, key: &str, bounds: RangeInclusive<Time>) -> Option<Time> {
        reader.time(key, bounds)
    }
}

impl Value for bool {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Flag
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<bool> {
        reader.flag(key)
    }
}

/// Whole numbers of these types.
macro_rules! integers {
    ($($type:ty),+) => {
        $(impl Value for $type {
            type Bounds = RangeInclusive<$type>;

            fn shape(bounds: RangeInclusive<$type>) -> Shape {
                let (least, most) = (u64::from(*bounds.start()), u64::from(*bounds.end()));
                Shape::Integer { least, most }
            }

            fn read(
                reader: &mut dyn Reader,
                key: &str,
                bounds: RangeInclusive<$type>,
            ) -> Option<$type> {
                let range = u64::from(*bounds.start())..=u64::from(*bounds.end());
                reader.integer(key, range)?.try_into().ok()
            }
        })+
    };
}

integers!(u8, u16, u32, u64);

/// A whole number of per cent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(pub u32);

impl Percent {
    /// In parts per million.
    pub fn ppm(self) -> u32 {
        self.0 * 10_000
    }
}

impl Value for Percent {
    type Bounds = RangeInclusive<u32>;

    fn shape(bounds: RangeInclusive<u32>) -> Shape {
        let (least, most) = (u64::from(*bounds.start()), u64::from(*bounds.end()));
        Shape::Percent { least, most }
    }

    fn read(reader: &mut dyn Reader, key: &str, bounds: RangeInclusive<u32>) -> Option<Percent> {
        u32::read(reader, key, bounds).map(Percent)
    }
}

/// Lets an enum be the value of a key, by the word of each of its members.
#[macro_export]
macro_rules! choice {
    ($type:ident { $($word:literal => $member:ident),+ $(,)? }) => {
        impl $crate::Value for $type {
            type Bounds = ();

            fn shape((): ()) -> $crate::Shape {
                $crate::Shape::Choice(&[$($word),+])
            }

            fn read(reader: &mut dyn $crate::Reader, key: &str, (): ()) -> Option<$type> {
                let place = reader.choice(key, &[$($word),+])?;
                Some([$($type::$member),+][place])
            }
        }
    };
}

/// A struct whose fields are keys of a scenario; [`component!`](crate::component) makes one.
pub trait Component: Sized {
    /// Its keys, in the order of its fields, then those of the component that it holds.
    const KEYS: &'static [Key];

    /// Reads all of its keys; `None` where one of them is wrong.
    fn read(reader: &mut dyn Reader) -> Option<Self>;
}

/// Declares a component: a struct whose fields are keys, each with its default as it would be
/// written, its bounds, what else makes a value wrong, and the origin of the default.
///
/// ```text
///     /// What the key means.
///     name: Type = "default", in BOUNDS, unless CHECK, from "origin";
/// ```
///
/// `CHECK` is a function from the value to what is wrong with it and the remedy. A last line
/// `..field: Type, "what it is";` holds another component, whose keys stand beside its own.
#[macro_export]
macro_rules! component {
    (
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $meaning:literal])+
                $field:ident: $type:ty = $default:literal
                    $(, in $bounds:expr)? $(, unless $check:path)? $(, from $origin:literal)?;
            )*
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
                    name: stringify!($field),
                    form: $crate::Form::Typed(|| {
                        <$type as $crate::Value>::shape($crate::component!(@bounds $($bounds)?))
                    }),
                    presence: $crate::Presence::Default($default),
                    meaning: concat!($($meaning),+),
                    origin: concat!($($origin)?),
                },
            )*];
        }

        impl $crate::Component for $name {
            const KEYS: &'static [$crate::Key] = &$crate::joined::<{
                $name::OWN_KEYS.len() $(+ <$held_type as $crate::Component>::KEYS.len())?
            }>(&[$name::OWN_KEYS, $(<$held_type as $crate::Component>::KEYS)?]);

            fn read(reader: &mut dyn $crate::Reader) -> Option<$name> {
                // All are read, so that all problems are told.
                $(
                    let key = stringify!($field);
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
                Some($name {
                    $($field: $field?,)*
                    $($held: $held?,)?
                })
            }
        }
    };
    (@bounds) => { () };
    (@bounds $bounds:expr) => { $bounds };
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use tenter_units::Time;

    use super::{Component, Percent, Reader};
    use crate::{Presence, Shape};

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
            share: Percent = "5", in 0..=100;
            ..held: Held, "What it holds.";
        }
    }

    fn odd(value: u8) -> Option<(String, String)> {
        (value % 2 == 1).then(|| ("is odd".to_owned(), "add one".to_owned()))
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

        fn refuse(&mut self, key: &str, what: &str, remedy: &str) {
            self.refused.push(format!("{key} {what}: {remedy}"));
        }
    }

    #[test]
    fn keys_follow_from_the_fields() {
        let names: Vec<&str> = Made::KEYS.iter().map(|key| key.name).collect();
        assert_eq!(names, ["after", "even", "share", "last"]);
        let [after, even, share, last] = Made::KEYS else {
            panic!("there are four keys");
        };
        assert_eq!(after.sentence(), "A time, over two lines");
        assert_eq!((after.origin, even.origin), ("nowhere", ""));
        assert!(matches!(after.presence, Presence::Default("1us")));
        let forms = [after, even, share, last].map(|key| key.form.text());
        assert_eq!(
            forms,
            ["time", "0 to 8", "percent, 0 to 100", "`true` or `false`"]
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
            ["after", "even 0..=8", "share 0..=100", "last"]
        );
        let mut reader = Fixed {
            number: 5,
            ..Fixed::default()
        };
        assert_eq!(Made::read(&mut reader), None);
        assert_eq!(reader.refused, ["even is odd: add one"]);
        assert_eq!(reader.asked.len(), 4);
    }
}
