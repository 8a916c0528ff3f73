//! The types that keys may have.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::RangeInclusive;

use crate::units::{Bytes, Rate, Time};

use crate::config::parsed;
use crate::config::{Reader, Shape, Share, Written};

/// A type that a key may have.
pub trait Value: Sized {
    /// Bounds for the values; `()` if there are none.
    type Bounds;

    /// Returns the values that may be written.
    fn shape(bounds: Self::Bounds) -> Shape;

    /// Reads the value for `key`.
    fn read(reader: &mut dyn Reader, key: &str, bounds: Self::Bounds) -> Option<Self>;

    /// Returns the value in written form.
    fn written(&self) -> Written;
}

/// Implements `Value` for quantities with a unit.
macro_rules! quantities {
    ($($type:ident by $method:ident;)+) => {
        $(impl Value for $type {
            type Bounds = RangeInclusive<$type>;

            fn shape(bounds: RangeInclusive<$type>) -> Shape {
                let (least, most) = bounds.into_inner();
                Shape::$type { least, most }
            }

            fn read(
                reader: &mut dyn Reader,
                key: &str,
                bounds: RangeInclusive<$type>,
            ) -> Option<$type> {
                reader.$method(key, bounds)
            }

            fn written(&self) -> Written {
                Written::Word(self.to_string())
            }
        })+
    };
}

quantities! {
    Time by time;
    Rate by rate;
    Bytes by size;
}

impl Value for bool {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Flag
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<bool> {
        reader.flag(key)
    }

    fn written(&self) -> Written {
        Written::Word(self.to_string())
    }
}

impl Value for Share {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Share
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Share> {
        reader.share(key)
    }

    fn written(&self) -> Written {
        Written::Word(self.to_string())
    }
}

/// Implements `Value` for integer types.
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
                // The range lies within the type, so the conversion cannot fail.
                reader.integer(key, range)?.try_into().ok()
            }

            fn written(&self) -> Written {
                Written::Word(self.to_string())
            }
        })+
    };
}

integers!(u8, u16, u32, u64);

/// A whole percentage; 100 is the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(pub u32);

impl Percent {
    /// Returns the share in parts per million.
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

    fn written(&self) -> Written {
        Written::Word(self.0.to_string())
    }
}

/// A value, or the word `none`.
impl<T: Value> Value for Option<T> {
    type Bounds = T::Bounds;

    fn shape(bounds: T::Bounds) -> Shape {
        Shape::OrWord(Box::new(T::shape(bounds)), "none")
    }

    fn read(reader: &mut dyn Reader, key: &str, bounds: T::Bounds) -> Option<Option<T>> {
        if reader.is_word(key, "none") {
            return Some(None);
        }
        T::read(reader, key, bounds).map(Some)
    }

    fn written(&self) -> Written {
        let none = || Written::word("none");
        self.as_ref().map_or_else(none, T::written)
    }
}

parsed!(Ipv4Addr {
    "IPv4 address",
    "must be an IPv4 address, not",
    "write for example `10.3.0.7`"
});

parsed!(SocketAddrV4 {
    "IPv4 address and port",
    "must be an IPv4 address and a port, not",
    "write for example `192.0.2.7:7471`, with both parts"
});

/// A key's type whose value the component stores as a plain number.
pub trait KeptAs<T>: Value {
    /// Returns the number to store.
    fn kept(self) -> T;

    /// Writes a stored number exactly. A number that the key's type cannot express is refused when
    /// it is read again.
    fn written_of(number: &T) -> Written;
}

impl KeptAs<u64> for Bytes {
    fn kept(self) -> u64 {
        self.count()
    }

    fn written_of(number: &u64) -> Written {
        Bytes::new(*number).written()
    }
}

/// The cast is safe: the bounds of a key with this type fit 32 bits.
impl KeptAs<u32> for Bytes {
    fn kept(self) -> u32 {
        self.count() as u32
    }

    fn written_of(number: &u32) -> Written {
        Bytes::new(u64::from(*number)).written()
    }
}

/// The stored number is in parts per million.
impl KeptAs<u32> for Percent {
    fn kept(self) -> u32 {
        self.ppm()
    }

    fn written_of(number: &u32) -> Written {
        Written::word(decimal(*number, 10_000))
    }
}

/// The stored number is in parts per million.
impl KeptAs<u32> for Share {
    fn kept(self) -> u32 {
        self.ppm()
    }

    fn written_of(number: &u32) -> Written {
        Written::word(decimal(*number, Share::PARTS))
    }
}

/// Formats `number` / `parts` as a decimal without trailing zeros; `parts` is a power of ten.
fn decimal(number: u32, parts: u32) -> String {
    let (whole, rest) = (number / parts, number % parts);
    let places = parts.ilog10() as usize;
    // With the point, so that only decimals lose their zeros.
    let decimal = format!("{whole}.{rest:0places$}");
    let short = decimal.trim_end_matches('0').trim_end_matches('.');
    short.to_owned()
}

/// A type for a key that may be absent.
pub trait Absent {
    /// The key's type when it is present.
    type Inner: Value;
}

impl<T: Value> Absent for Option<T> {
    type Inner = T;
}

/// A list whose items share one type and its bounds.
impl<T: Value<Bounds: Clone>> Value for Vec<T> {
    type Bounds = T::Bounds;

    fn shape(bounds: T::Bounds) -> Shape {
        Shape::List(Box::new(T::shape(bounds)))
    }

    fn read(reader: &mut dyn Reader, key: &str, bounds: T::Bounds) -> Option<Vec<T>> {
        let mut items = Vec::new();
        let mut complete = true;
        // All items are read even after an error, so that all problems are reported.
        let is_list = reader.list(key, &mut |item| match T::read(item, "", bounds.clone()) {
            Some(value) => items.push(value),
            None => complete = false,
        });
        (is_list && complete).then_some(items)
    }

    fn written(&self) -> Written {
        Written::List(self.iter().map(T::written).collect())
    }
}

/// A value in any shape, which other code interprets.
impl Value for Written {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Any
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Written> {
        reader.any(key)
    }

    fn written(&self) -> Written {
        self.clone()
    }
}

/// Values by names that the user chooses, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T: Value<Bounds: Clone>> Value for Named<T> {
    type Bounds = T::Bounds;

    fn shape(bounds: T::Bounds) -> Shape {
        Shape::Named(Box::new(T::shape(bounds)))
    }

    fn read(reader: &mut dyn Reader, key: &str, bounds: T::Bounds) -> Option<Named<T>> {
        let mut values = Vec::new();
        let mut complete = true;
        // As for lists: reading goes on after an error.
        let is_mapping = reader.names(key, &mut |name, value| match T::read(
            value,
            "",
            bounds.clone(),
        ) {
            Some(value) => values.push((name.to_owned(), value)),
            None => complete = false,
        });
        (is_mapping && complete).then_some(Named(values))
    }

    fn written(&self) -> Written {
        let values = self.0.iter();
        Written::Map(
            values
                .map(|(name, value)| (name.clone(), value.written()))
                .collect(),
        )
    }
}

/// A pair, written as a list with two items.
impl<T: Value<Bounds: Clone> + Copy> Value for (T, T) {
    type Bounds = T::Bounds;

    fn shape(bounds: T::Bounds) -> Shape {
        Shape::List(Box::new(T::shape(bounds)))
    }

    fn read(reader: &mut dyn Reader, key: &str, bounds: T::Bounds) -> Option<(T, T)> {
        let both = Vec::<T>::read(reader, key, bounds)?;
        let &[one, other] = both.as_slice() else {
            reader.refuse(key, "is no pair", "write two numbers: `[0, 1]`");
            return None;
        };
        Some((one, other))
    }

    fn written(&self) -> Written {
        Written::List(vec![self.0.written(), self.1.written()])
    }
}

/// A text; its bound is the largest number of characters.
impl Value for String {
    type Bounds = usize;

    fn shape(_: usize) -> Shape {
        Shape::Text
    }

    fn read(reader: &mut dyn Reader, key: &str, longest: usize) -> Option<String> {
        reader.text(key, longest)
    }

    fn written(&self) -> Written {
        Written::Text(self.clone())
    }
}

/// Implements `Value` for a type that is parsed from and printed as one word. The arguments are the
/// description for the reference, a message's words before a wrong value, and the remedy.
#[macro_export]
macro_rules! parsed {
    ($type:ty { $form:literal, $wrong:literal, $remedy:literal }) => {
        impl $crate::config::Value for $type {
            type Bounds = ();

            fn shape((): ()) -> $crate::config::Shape {
                $crate::config::Shape::Parsed($form)
            }

            fn read(reader: &mut dyn $crate::config::Reader, key: &str, (): ()) -> Option<$type> {
                let mut read = None;
                reader.word(key, [$wrong, $remedy], &mut |word| {
                    read = word.parse().ok();
                    read.is_some()
                });
                read
            }

            fn written(&self) -> $crate::config::Written {
                $crate::config::Written::word(self.to_string())
            }
        }
    };
}

/// Implements `Value` for an enum that is one of some words, or else a value in another type.
#[macro_export]
macro_rules! word_or {
    ($type:ident { $($word:literal => $member:ident,)+ $other:ident($inner:ty) }) => {
        impl $crate::config::Value for $type {
            type Bounds = <$inner as $crate::config::Value>::Bounds;

            fn shape(bounds: Self::Bounds) -> $crate::config::Shape {
                let inner = <$inner as $crate::config::Value>::shape(bounds);
                // A single word is described behind the value, several before it.
                match [$($word),+].as_slice() {
                    [word] => $crate::config::Shape::OrWord(Box::new(inner), word),
                    _ => $crate::config::Shape::Either(
                        Box::new($crate::config::Shape::Choice(&[$($word),+])),
                        Box::new(inner),
                    ),
                }
            }

            fn read(
                reader: &mut dyn $crate::config::Reader,
                key: &str,
                bounds: Self::Bounds,
            ) -> Option<$type> {
                $(if reader.is_word(key, $word) {
                    return Some($type::$member);
                })+
                <$inner as $crate::config::Value>::read(reader, key, bounds).map($type::$other)
            }

            fn written(&self) -> $crate::config::Written {
                match self {
                    $($type::$member => $crate::config::Written::word($word),)+
                    $type::$other(inner) => $crate::config::Value::written(inner),
                }
            }
        }
    };
}

/// An enum whose members are words; [`choice!`](crate::config::choice) makes one.
pub trait Words: Sized + Copy + 'static {
    /// All members in their declared order.
    const ALL: &'static [Self];

    /// Returns the word for this member.
    fn word(&self) -> &'static str;

    /// Returns the member for `word`, if there is one.
    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|own| own.word() == word)
    }
}

/// Implements `Value` and `Words` for an enum, with a word for each member.
#[macro_export]
macro_rules! choice {
    ($type:ident { $($word:literal => $member:ident),+ $(,)? }) => {
        impl $crate::config::Words for $type {
            const ALL: &'static [$type] = &[$($type::$member),+];

            fn word(&self) -> &'static str {
                match self {
                    $($type::$member => $word,)+
                }
            }
        }

        impl $crate::config::Value for $type {
            type Bounds = ();

            fn shape((): ()) -> $crate::config::Shape {
                $crate::config::Shape::Choice(&[$($word),+])
            }

            fn read(reader: &mut dyn $crate::config::Reader, key: &str, (): ()) -> Option<$type> {
                let place = reader.choice(key, &[$($word),+])?;
                Some([$($type::$member),+][place])
            }

            fn written(&self) -> $crate::config::Written {
                $crate::config::Written::word($crate::config::Words::word(self))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::{KeptAs, Percent};
    use crate::config::Share;

    /// 10,000 parts per million are 1 %; 12,345 are 1.2345 %, which is no whole number.
    #[test]
    fn kept_numbers_are_written_exactly() {
        let percent = |ppm: u32| <Percent as KeptAs<u32>>::written_of(&ppm).to_string();
        assert_eq!((percent(20_000), percent(0)), ("2".into(), "0".into()));
        assert_eq!(percent(12_345), "1.2345");
        let share = |ppm: u32| <Share as KeptAs<u32>>::written_of(&ppm).to_string();
        assert_eq!(
            (share(20_000), share(1_500_000)),
            ("0.02".into(), "1.5".into())
        );
    }
}
