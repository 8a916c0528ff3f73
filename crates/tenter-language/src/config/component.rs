//! Components: structs that declare how their fields are written in a scenario.

use crate::config::{Choice, Key, KeyTable, Reader, Texts, Value, Written};

/// A struct whose fields are keys in a scenario; [`component!`](crate::config::component) makes
/// one.
pub trait Component: Sized {
    /// The component's keys in the order of its fields, then those of the components that it holds.
    const KEYS: &'static [Key];

    /// The keys as a table, titled as the section.
    const TABLE: KeyTable;

    /// Reads all keys from `reader`; returns `None` if one is wrong.
    fn read(reader: &mut dyn Reader) -> Option<Self>;

    /// Returns the keys with their values in written form.
    fn written(&self) -> Vec<(&'static str, Written)>;
}

/// An enum whose members are chosen by keys, which may stand among another component's keys.
pub trait Chosen: Component {
    /// Returns the members with the words that choose them.
    fn members() -> Vec<Choice>;
}

/// A value that was read in part: the correct fields are there although others are wrong.
pub trait Part: Default {
    /// The type when it is complete.
    type Whole;

    /// Returns the complete value if no field is missing.
    fn whole(self) -> Option<Self::Whole>;
}

impl<T> Part for Option<T> {
    type Whole = T;

    fn whole(self) -> Option<T> {
        self
    }
}

/// Returns the component whose keys all have their defaults.
///
/// # Panics
/// If a default is not a valid value for its key, which a test of each component excludes, or if a
/// key has no default.
pub fn default_of<T: Component>() -> T {
    default_with(&[])
}

/// Returns the component with defaults; `given` has (key, text as written) for the keys without
/// one.
///
/// # Panics
/// As [`default_of`], and if a given text is not a valid value for its key.
pub fn default_with<T: Component>(given: &[(&str, &str)]) -> T {
    let given = given.iter().map(|&(key, text)| (key, text.to_owned()));
    let given: Vec<(&str, String)> = given.collect();
    let read = T::read(&mut Texts::new(T::KEYS, &given));
    read.expect("the defaults of a component hold")
}

/// Returns the default of `key` among `keys` in written form.
pub fn default_value<T: Value<Bounds = ()>>(keys: &'static [Key], key: &str) -> Option<Written> {
    let read = T::read(&mut Texts::new(keys, &[]), key, ());
    read.map(|value| value.written())
}

/// Declares a component: a struct whose fields are keys. Each key has its default as it would be
/// written, its bounds, a check for other errors, and the default's origin.
///
/// ```text
/// /// What the section is about.
/// pub struct Name as "`its.path`" {
///     /// What the key means.
///     name: Type = "default", in BOUNDS, unless CHECK, from "origin";
///     /// A key that must be given.
///     required: Type, in BOUNDS;
///     /// A key whose default depends on those before it.
///     other: Type = by FUNCTION | name | "half of `name`", in BOUNDS;
///     /// A key whose default is filled in before the component is read.
///     filled: Type = filled "that of the profile", in BOUNDS;
/// }
/// ```
///
/// A key that may be absent is an `Option` without the word `none`:
/// `name: Option<Type> = absent "what holds then"`. `either one, other;` before the fields declares
/// two keys as two ways to say one thing: if both are given, an override wins. `fill RULE;` there
/// names a function that gets the reader and gives values to keys that were not written.
/// `instead "other": Type, of "key" by FUNCTION | "words", in BOUNDS, "meaning";` declares another
/// way to give a key's value: the function computes it, and no field holds the other.
///
/// A field that is a plain number is read as its key's type: `name: u64 as Bytes`
/// ([`KeptAs`](crate::config::KeptAs)).
///
/// A component with lists or texts lists its derived traits: `struct Name, derive(Clone, Debug)`.
/// Without that list it is `Copy`, and `Default` follows from the defaults.
///
/// `idle RULE;` before the fields names a function of the component that lists the keys that mean
/// nothing beside the others ([`Idle`](crate::config::Idle)): they are refused if they were
/// written, and left out when the component is written. `first ..field: Type, "what it is";` there
/// holds an enum whose keys choose further keys ([`Chosen`](crate::config::Chosen)), as in
/// [`variants!`].
///
/// A key whose name is not valid in Rust follows its field: `moves as "move": Type`. `CHECK` is a
/// function that returns what is wrong with a value and the remedy. `check RULE;` behind the fields
/// names a function that gets the whole component and the reader, refuses contradictions between
/// keys, and returns whether the component is valid. Last lines `..field: Type, "what it is";` hold
/// other components, whose keys stand beside the component's.
///
/// `omit default` at the end drops a key with its default value from the effective configuration
/// and from written components; its field has its name, and its type no bounds.
///
/// `struct Name, derive(…), partly Parts` makes a second struct, for the fields that could be read
/// when some are wrong. The rule gets that struct, so contradictions between keys are reported in
/// the same round. A field with such a component is `name: Type, partly Parts`. Such a component
/// has no `idle RULE`, which would need all fields:
///
/// ```compile_fail
/// use tenter_language::config::{Idle, component};
///
/// fn idle(_: &Pump) -> Vec<Idle> {
///     Vec::new()
/// }
///
/// component! {
///     /// A pump.
///     struct Pump, derive(Clone, Debug), partly PumpParts {
///         idle idle;
///         /// How often.
///         strokes: u32 = "2", in 1..=9;
///     }
/// }
/// ```
///
/// A component is also a [`Value`](crate::config::Value): a field with its type is a mapping. A
/// component without keys is written `struct Name;`.
///
/// [`variants!`]: crate::config::variants
#[macro_export]
macro_rules! component {
    (
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident $(as $title:literal)? { $($body:tt)* }
    ) => {
        $crate::config::component! {
            @make [Clone, Copy, Debug, PartialEq, Eq] [] [$($about)*] [$vis] $name [$($title)?]
            $($body)*
        }

        impl Default for $name {
            fn default() -> $name {
                $crate::config::default_of()
            }
        }
    };
    (
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident $(as $title:literal)?, derive($($derived:ident),*)
        $(, partly $parts:ident)? {
            $($body:tt)*
        }
    ) => {
        $crate::config::component! {
            @make [$($derived),*] [$($parts)?] [$($about)*] [$vis] $name [$($title)?] $($body)*
        }
    };
    (
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident;
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $vis struct $name;

        impl $crate::config::Component for $name {
            const KEYS: &'static [$crate::config::Key] = &[];
            const TABLE: $crate::config::KeyTable = $crate::config::NO_KEYS;

            fn read(_: &mut dyn $crate::config::Reader) -> Option<$name> {
                Some($name)
            }

            fn written(&self) -> Vec<(&'static str, $crate::config::Written)> {
                Vec::new()
            }
        }
    };
    (
        @make [$($derived:ident),*] [$($parts:ident)?] [$($about:literal)*] [$vis:vis]
        $name:ident [$($title:literal)?]
        $(fill $fill:path;)?
        $(either $one:literal, $other:literal;)*
        $(idle $idle:path;)?
        $(first ..$first:ident: $first_type:ty, $about_first:literal;)?
        $(
            instead $instead:literal: $instead_type:ty, of $instead_of:literal
                by $convert:path | $instead_words:literal, in $instead_bounds:expr,
                $instead_meaning:literal;
        )*
        $(
            $(#[doc = $meaning:literal])+
            $field:ident $(as $key:literal)?: $type:ty $(as $unit:ty)?
                $(= $default:literal)?
                $(= by $by:path | $($of:ident),+ | $words:literal)?
                $(= filled $filled:literal)?
                $(= absent $absent:literal)?
                $(, in $bounds:expr)? $(, unless $check:path)? $(, from $origin:literal)?
                $(, partly $part:ident)? $(, omit $omitted:ident)?;
        )*
        $(check $rule:path;)?
        $(..$held:ident: $held_type:ty, $about_held:literal;)*
    ) => {
        $(#[doc = $about])*
        #[derive($($derived),*)]
        $vis struct $name {
            $(#[doc = $about_first] $vis $first: $first_type,)?
            $($(#[doc = $meaning])+ $vis $field: $type,)*
            $(#[doc = $about_held] $vis $held: $held_type,)*
        }

        $crate::config::component! {
            @parts [$($parts)?] [$vis] $name
            $($first [$first_type] [],)?
            $($field [$type] [$($part)?],)*
            $($held [$held_type] [],)*
        }

        impl $name {
            /// The component's keys without those of the components that it holds.
            const OWN_KEYS: &'static [$crate::config::Key] = &[$(
                $crate::config::Key {
                    name: $crate::config::component!(@key $field $($key)?),
                    shape: || {
                        type Read =
                            $crate::config::component!(@type [$type] [$($unit)?] $(, $absent)?);
                        <Read as $crate::config::Value>::shape(
                            $crate::config::component!(@bounds $($bounds)?),
                        )
                    },
                    presence: $crate::config::component!(
                        @presence $name [$crate::config::component!(@key $field $($key)?)]
                        [$($default)?] [$($words, $($of)+)?] [$($filled)?] [$($absent)?]
                    ),
                    meaning: concat!($($meaning),+),
                    origin: concat!($($origin)?),
                },
            )* $(
                $crate::config::Key {
                    name: $instead,
                    shape: || {
                        <$instead_type as $crate::config::Value>::shape($instead_bounds)
                    },
                    presence: $crate::config::Presence::Depends($instead_words),
                    meaning: $instead_meaning,
                    origin: "",
                },
            )*];

            /// Reads all keys; fields whose values are wrong are missing.
            $vis fn read_parts(
                reader: &mut dyn $crate::config::Reader,
            ) -> $crate::config::component!(@part [$name] $($parts)?) {
                // First of all, because the next steps ask which keys are there.
                $($fill(reader);)?
                $(reader.either($one, $other);)*
                $(
                    // The other way is converted into the key's value before any key is read, so
                    // that bounds and checks apply to one form.
                    reader.either($instead_of, $instead);
                    if reader.is_there($instead) {
                        let bounds = $instead_bounds;
                        let value = <$instead_type as $crate::config::Value>::read(
                            reader, $instead, bounds,
                        );
                        if let Some(value) = value.map($convert) {
                            reader.fill($instead_of, $crate::config::Value::written(&value));
                        }
                        reader.leave_out($instead);
                    }
                )*
                // Every key is read even after an error, so that all problems are reported at once.
                // The effective configuration lists the keys in the order in which they are read.
                $(let $first = <$first_type as $crate::config::Component>::read(reader);)?
                $(
                    let key = $crate::config::component!(@key $field $($key)?);
                    let bounds = $crate::config::component!(@bounds $($bounds)?);
                    $crate::config::component!(@read [$($part)?] reader key bounds $field $type
                        [$($unit)?] [$($by | $($of)+)?] [$($absent)?]);
                    $(let $field = match $field.map(|value| (value, $check(value))) {
                        Some((value, None)) => Some(value),
                        Some((_, Some((what, remedy)))) => {
                            reader.refuse(key, &what, &remedy);
                            None
                        }
                        None => None,
                    };)?
                    // The word behind `omit` names an arm of this macro: `@default`.
                    $($crate::config::component!(@$omitted reader key $field $name [$type]);)?
                )*
                $(let $held = <$held_type as $crate::config::Component>::read(reader);)*
                $crate::config::component!(@made [$($parts)?] $name reader [$($rule)?] [$($idle)?]
                    $($first)? $($field)* $($held)*)
            }
        }

        impl $crate::config::Component for $name {
            const KEYS: &'static [$crate::config::Key] = &$crate::config::joined::<{
                $(<$first_type as $crate::config::Component>::KEYS.len() +)?
                $name::OWN_KEYS.len() $(+ <$held_type as $crate::config::Component>::KEYS.len())*
            }>(&[
                $(<$first_type as $crate::config::Component>::KEYS,)?
                $name::OWN_KEYS,
                $(<$held_type as $crate::config::Component>::KEYS,)*
            ]);

            const TABLE: $crate::config::KeyTable = $crate::config::KeyTable {
                title: concat!($($title)?),
                keys: <$name as $crate::config::Component>::KEYS,
            };

            fn read(reader: &mut dyn $crate::config::Reader) -> Option<$name> {
                $crate::config::Part::whole($name::read_parts(reader))
            }

            fn written(&self) -> Vec<(&'static str, $crate::config::Written)> {
                // An absent key is `None` here, and is not written.
                type Pair = (&'static str, $crate::config::Written);
                let own: Vec<Option<Pair>> = vec![$($crate::config::component!(
                    @written $crate::config::component!(@key $field $($key)?), self.$field, $type,
                    [$($unit)?] $($absent)?
                ),)*];
                let own: Vec<Pair> = own.into_iter().flatten().collect();
                $($(
                    let own = $crate::config::component!(
                        @$omitted own stringify!($field), $name [$type]
                    );
                )?)*
                $(let own = [$crate::config::Component::written(&self.$first), own].concat();)?
                $(let own = [own, $crate::config::Component::written(&self.$held)].concat();)*
                $(let own = $crate::config::without_idle(
                    own, &$idle(self), <$name as $crate::config::Component>::KEYS,
                );)?
                own
            }
        }

        impl $crate::config::Value for $name {
            type Bounds = ();

            fn shape((): ()) -> $crate::config::Shape {
                $crate::config::component!(@shape $name $($first_type)?)
            }

            fn read(reader: &mut dyn $crate::config::Reader, key: &str, (): ()) -> Option<$name> {
                let mut read = None;
                let table = &<$name as $crate::config::Component>::TABLE;
                reader.mapping(key, table, &mut |keys| {
                    read = <$name as $crate::config::Component>::read(keys);
                });
                read
            }

            fn written(&self) -> $crate::config::Written {
                $crate::config::Written::mapping($crate::config::Component::written(self))
            }
        }
    };
    (@shape $name:ident) => {
        $crate::config::Shape::Mapping(&<$name as $crate::config::Component>::TABLE)
    };
    (@shape $name:ident $first:ty) => {
        $crate::config::Shape::Led(
            &<$name as $crate::config::Component>::TABLE,
            <$first as $crate::config::Chosen>::members,
        )
    };
    (@parts [] $($rest:tt)*) => {};
    (
        @parts [$parts:ident] [$vis:vis] $name:ident
        $($field:ident [$type:ty] [$($part:ident)?],)*
    ) => {
        #[doc = concat!("What could be read of [`", stringify!($name), "`].")]
        #[derive(Debug, Default)]
        $vis struct $parts {
            $(
                #[doc = concat!("Its `", stringify!($field), "`, where nothing is wrong with it.")]
                $vis $field: $crate::config::component!(@part [$type] $($part)?),
            )*
        }

        impl $crate::config::Part for $parts {
            type Whole = $name;

            fn whole(self) -> Option<$name> {
                Some($name { $($field: $crate::config::Part::whole(self.$field)?,)* })
            }
        }
    };
    (@part [$type:ty]) => { Option<$type> };
    (@part [$type:ty] $part:ident) => { $part };
    (
        @made [] $name:ident $reader:ident [$($rule:path)?] [$($idle:path)?] $($field:ident)*
    ) => {{
        // Rules get a complete component only: they may combine all fields.
        let read = $name { $($field: $field?,)* };
        $($crate::config::refuse_idle($reader, &$idle(&read));)?
        $(if !$rule(&read, $reader) {
            return None;
        })?
        Some(read)
    }};
    (
        @made [$parts:ident] $name:ident $reader:ident [$($rule:path)?] [$idle:path]
        $($field:ident)*
    ) => {
        compile_error!("a component that is read partly has no `idle` rule")
    };
    (
        @made [$parts:ident] $name:ident $reader:ident [$($rule:path)?] [] $($field:ident)*
    ) => {{
        let read = $parts { $($field,)* };
        $($rule(&read, $reader);)?
        read
    }};
    (@default $reader:ident $key:ident $field:ident $name:ident [$type:ty]) => {
        // Values are compared, not texts: one quantity has several spellings.
        let usual = $crate::config::default_value::<$type>($name::OWN_KEYS, $key);
        let is_usual = |value: &$type| Some($crate::config::Value::written(value)) == usual;
        if $field.as_ref().is_some_and(is_usual) {
            $reader.leave_out($key);
        }
    };
    (@default $own:ident $key:expr, $name:ident [$type:ty]) => {
        $crate::config::without_default(
            $own,
            $key,
            $crate::config::default_value::<$type>($name::OWN_KEYS, $key).as_ref(),
        )
    };
    (@type [$type:ty] []) => { $type };
    (@type [$type:ty] [$unit:ty]) => { $unit };
    (@type [$type:ty] [], $absent:literal) => { <$type as $crate::config::Absent>::Inner };
    (@written $key:expr, $value:expr, $type:ty, []) => {
        Some(($key, $crate::config::Value::written(&$value)))
    };
    (@written $key:expr, $value:expr, $type:ty, [$unit:ty]) => {
        Some(($key, <$unit as $crate::config::KeptAs<$type>>::written_of(&$value)))
    };
    (@written $key:expr, $value:expr, $type:ty, [] $absent:literal) => {
        $value.as_ref().map(|value| ($key, $crate::config::Value::written(value)))
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@bounds) => { () };
    (@bounds $bounds:expr) => { $bounds };
    (@presence $name:ident [$key:expr] [$default:literal] [] [] []) => {
        $crate::config::Presence::Default($default)
    };
    (@presence $name:ident [$key:expr] [] [$words:literal, $($of:ident)+] [] []) => {
        // A constant holds the function, so it must not capture anything.
        $crate::config::Presence::Follows($words, |beside| {
            let component = $crate::config::Keyed {
                keys: <$name as $crate::config::Component>::KEYS,
                rewrite: |reader| {
                    let own = <$name as $crate::config::Component>::read(reader)?;
                    Some($crate::config::Component::written(&own))
                },
            };
            $crate::config::followed(component, $key, &[$(stringify!($of)),+], beside)
        })
    };
    (@presence $name:ident [$key:expr] [] [] [$words:literal] []) => {
        $crate::config::Presence::Follows($words, |_| None)
    };
    (@presence $name:ident [$key:expr] [] [] [] [$words:literal]) => {
        $crate::config::Presence::Depends($words)
    };
    (@presence $name:ident [$key:expr] [] [] [] []) => { $crate::config::Presence::Required };
    (
        @read [$part:ident] $reader:ident $key:ident $bounds:ident $field:ident $type:ty [] [] []
    ) => {
        // Mappings have no bounds; others than `()` do not compile.
        let () = $bounds;
        let mut $field = $part::default();
        let table = &<$type as $crate::config::Component>::TABLE;
        $reader.mapping($key, table, &mut |keys| {
            $field = <$type>::read_parts(keys);
        });
    };
    (
        @read [] $reader:ident $key:ident $bounds:ident $field:ident $type:ty
        [] [] [$absent:literal]
    ) => {
        let $field: Option<$type> = if $reader.is_there($key) {
            type Inner = <$type as $crate::config::Absent>::Inner;
            <Inner as $crate::config::Value>::read($reader, $key, $bounds).map(Some)
        } else {
            Some(None)
        };
    };
    (@read [] $reader:ident $key:ident $bounds:ident $field:ident $type:ty [$unit:ty] [] []) => {
        let $field = <$unit as $crate::config::Value>::read($reader, $key, $bounds);
        let $field: Option<$type> = $field.map(<$unit as $crate::config::KeptAs<$type>>::kept);
    };
    (@read [] $reader:ident $key:ident $bounds:ident $field:ident $type:ty [] [] []) => {
        let $field = <$type as $crate::config::Value>::read($reader, $key, $bounds);
    };
    (
        @read [] $reader:ident $key:ident $bounds:ident $field:ident $type:ty
        [] [$by:path | $($of:ident)+] []
    ) => {
        let $field = if $reader.is_there($key) {
            <$type as $crate::config::Value>::read($reader, $key, $bounds)
        } else {
            match ($($of.as_ref(),)+) {
                ($(Some($of),)+) => {
                    let value: $type = $by($($of),+);
                    $reader.write($key, $crate::config::Value::written(&value));
                    Some(value)
                }
                #[allow(unreachable_patterns)]
                _ => None,
            }
        };
    };
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use crate::units::{Bytes, Rate, Time};

    use super::{Component, Reader};
    use crate::config::{KeyTable, Percent, Presence, Share, Written, default_of};

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

    component! {
        /// Holds others.
        struct Outer as "`outer`", derive(Clone, Debug, PartialEq) {
            /// It must be given.
            count: u64, in 0..=9;
            /// Depends on it.
            double: u64 = by twice | count | "twice `count`", in 0..=18;
            /// A mapping.
            inner: Held = "{}";
            /// A list of mappings.
            all: Vec<Held> = "[]";
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "defaults are made from references"
    )]
    fn twice(count: &u64) -> u64 {
        count * 2
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

        fn is_word(&mut self, key: &str, word: &str) -> bool {
            self.asked.push(format!("{key} {word}?"));
            self.number > 6
        }

        fn word(&mut self, _: &str, _: [&str; 2], _: &mut dyn FnMut(&str) -> bool) {}

        fn extend(&mut self, _: &'static KeyTable) {}

        fn guess(&mut self, _: &[&'static KeyTable], _: &mut dyn FnMut(usize, &mut dyn Reader)) {}

        fn either(&mut self, _: &str, _: &str) {}

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

        fn text(&mut self, _: &str, _: usize) -> Option<String> {
            None
        }

        fn mapping(
            &mut self,
            _: &str,
            _: &'static KeyTable,
            read: &mut dyn FnMut(&mut dyn Reader),
        ) {
            read(self);
        }

        fn list(&mut self, key: &str, read: &mut dyn FnMut(&mut dyn Reader)) -> bool {
            self.asked.push(format!("items of {key}"));
            (0..self.number).for_each(|_| read(self));
            true
        }

        fn names(&mut self, _: &str, read: &mut dyn FnMut(&str, &mut dyn Reader)) -> bool {
            read("a", self);
            true
        }

        fn any(&mut self, _: &str) -> Option<Written> {
            Some(Written::word("any"))
        }

        fn is_there(&self, _: &str) -> bool {
            self.number > 6
        }

        fn write(&mut self, key: &str, value: Written) {
            self.asked.push(format!("{key} is {value}"));
        }

        fn was_given(&self, _: &str) -> bool {
            true
        }

        fn leave_out(&mut self, _: &str) {}

        fn refuse_all(&mut self, _: &str, _: &str) {}

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
        let forms = [after, even, share, rate, last].map(crate::config::Key::form);
        assert_eq!(
            forms,
            [
                "time, at most 9us",
                "0 to 8",
                "percent, 0 to 100",
                "rate or `none`",
                "`true` or `false`"
            ]
        );
        let shape = <u8 as crate::config::Value>::shape(0..=8);
        assert_eq!(shape.text(), "0 to 8");
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
        let written = made.written().into_iter();
        let texts: Vec<(&str, String)> = written
            .map(|(key, value)| (key, value.to_string()))
            .collect();
        let expected = [
            ("after", "1us"),
            ("even", "2"),
            ("move", "5"),
            ("rate", "none"),
            ("last", "true"),
        ];
        assert_eq!(texts, expected.map(|(key, text)| (key, text.to_owned())));
    }

    #[test]
    fn mappings_lists_and_dependent_defaults_are_read() {
        let mut reader = Fixed {
            number: 2,
            ..Fixed::default()
        };
        let outer = Outer::read(&mut reader).expect("all values are right");
        assert_eq!((outer.double, outer.all.len()), (4, 2));
        let asked = ["count 0..=9", "double is 4", "last", "items of all"];
        assert_eq!(reader.asked[..4], asked);
        let presence = Outer::KEYS.iter().map(|key| key.presence);
        let presence: Vec<Presence> = presence.collect();
        assert!(matches!(presence[0], Presence::Required));
        assert!(matches!(presence[1], Presence::Follows("twice `count`", _)));
        let forms = Outer::KEYS.iter().map(crate::config::Key::form);
        let forms: Vec<_> = forms.collect();
        assert_eq!(forms, ["0 to 9", "0 to 18", "mapping", "list"]);
        assert_eq!(Outer::TABLE.title, "`outer`");
        let written = crate::config::Value::written(&outer).to_string();
        let all = "{last: false}, {last: false}";
        let expected = format!("{{count: 2, double: 4, inner: {{last: false}}, all: [{all}]}}");
        assert_eq!(written, expected);
        assert!(default_of::<Held>().last);
    }
}
