//! Mappings in which one key chooses the others.

/// Declares an enum whose members are components, chosen by a key of the same mapping.
///
/// ```text
/// variants! {
///     /// What the mapping is about.
///     pub enum Name as "`its.path`", derive(Clone, Debug) {
///         /// What the key means.
///         kind = "default";
///         /// A member, and its component.
///         "word" => Member(Component),
///         /// A member without keys.
///         "other" => Other,
///     }
/// }
/// ```
///
/// Without a default the key must be given. [`Value`](crate::Value) makes it a mapping; as a
/// [`Component`](crate::Component) it is read from a section that has further keys.
///
/// With `derive(…), or word of "`its.path`"` the word of a member stands for the mapping in which
/// all of its other keys have their defaults, and the tables of members have titles of that path.
#[macro_export]
macro_rules! variants {
    (
        $(#[doc = $about:literal])*
        $vis:vis enum $name:ident as $title:literal, derive($($derived:ident),*)
        $(, or word of $path:literal)? {
            $(#[doc = $meaning:literal])+
            $tag:ident $(= $default:literal)? $(, from $origin:literal)?;
            $($(#[doc = $doc:literal])+ $word:literal => $member:ident $(($type:ty))?,)+
        }
    ) => {
        $(#[doc = $about])*
        #[derive($($derived),*)]
        $vis enum $name {
            $($(#[doc = $doc])+ $member $(($type))?,)+
        }

        impl $name {
            /// The words that choose.
            $vis const WORDS: &'static [&'static str] = &[$($word),+];

            /// The key that chooses, and the keys of each member.
            $vis const VARIANTS: $crate::Variants = $crate::Variants {
                own: &$crate::KeyTable {
                    title: $title,
                    keys: &[$crate::Key {
                        name: stringify!($tag),
                        shape: || $crate::Shape::Choice($name::WORDS),
                        presence: $crate::component!(
                            @presence $name [stringify!($tag)] [$($default)?] [] [] []
                        ),
                        meaning: concat!($($meaning),+),
                        origin: concat!($($origin)?),
                    }],
                },
                members: $crate::variants!(
                    @members [$($path)?] $tag $([$word $($type)?])+
                ),
                are_told_apart: false,
            };

            /// The word of this member.
            $vis fn word(&self) -> &'static str {
                match self {
                    $($crate::variants!(@pattern $name $member $($type)?) => $word,)+
                }
            }

            /// Reads the key that chooses, and those of the member.
            $vis fn read_keys(reader: &mut dyn $crate::Reader) -> Option<$name> {
                let Some(place) = reader.choice(stringify!($tag), $name::WORDS) else {
                    let tables: Vec<_> =
                        $name::VARIANTS.members.iter().map(|(_, table)| *table).collect();
                    reader.guess(&tables, &mut |place, reader| {
                        $name::read_member(place, reader);
                    });
                    return None;
                };
                $name::read_member(place, reader)
            }

            fn read_member(place: usize, reader: &mut dyn $crate::Reader) -> Option<$name> {
                let (word, table) = $name::VARIANTS.members[place];
                reader.extend(table);
                match word {
                    $($word => $crate::variants!(@read reader $name $member $($type)?),)+
                    _ => unreachable!("the word is of a member"),
                }
            }
        }

        $($(
            impl From<$type> for $name {
                fn from(own: $type) -> $name {
                    $name::$member(own)
                }
            }
        )?)+

        /// Beside the keys of a component that holds it.
        impl $crate::Component for $name {
            const KEYS: &'static [$crate::Key] = $name::VARIANTS.own.keys;
            const TABLE: $crate::KeyTable = *$name::VARIANTS.own;

            fn read(reader: &mut dyn $crate::Reader) -> Option<$name> {
                $name::read_keys(reader)
            }

            fn written(&self) -> Vec<(&'static str, $crate::Written)> {
                let mut keys = vec![(stringify!($tag), $crate::Written::word(self.word()))];
                match self {
                    $($crate::variants!(@held held $name $member $($type)?) => {
                        $crate::variants!(@write keys held $($type)?);
                    })+
                }
                keys
            }
        }

        impl $crate::Chosen for $name {
            fn members() -> Vec<$crate::Choice> {
                $name::VARIANTS.choices()
            }
        }

        impl $name {
            fn read_mapping(reader: &mut dyn $crate::Reader, key: &str) -> Option<$name> {
                let mut read = None;
                reader.mapping(key, $name::VARIANTS.own, &mut |keys| {
                    read = $name::read_keys(keys);
                });
                read
            }
        }

        impl $crate::Value for $name {
            type Bounds = ();

            fn shape((): ()) -> $crate::Shape {
                let mapping = $crate::Shape::Variants(&$name::VARIANTS);
                $crate::variants!(@shape mapping $name [$($path)?])
            }

            fn read(reader: &mut dyn $crate::Reader, key: &str, (): ()) -> Option<$name> {
                $crate::variants!(
                    @value reader key $name [$($path)?] $([$word $member $($type)?])+
                )
            }

            fn written(&self) -> $crate::Written {
                $crate::Written::mapping($crate::Component::written(self))
            }
        }
    };
    (@members [] $tag:ident $([$word:literal $($type:ty)?])+) => {
        &[$(($word, $crate::variants!(@table $($type)?))),+]
    };
    (@members [$path:literal] $tag:ident $([$word:literal $type:ty])+) => {
        &[$(($word, &$crate::KeyTable {
            title: concat!($path, " with `", stringify!($tag), ": ", $word, "`"),
            keys: <$type as $crate::Component>::KEYS,
        })),+]
    };
    (@shape $mapping:ident $name:ident []) => { $mapping };
    (@shape $mapping:ident $name:ident [$path:literal]) => {
        $crate::Shape::Either(Box::new($crate::Shape::Choice($name::WORDS)), Box::new($mapping))
    };
    (
        @value $reader:ident $key:ident $name:ident []
        $([$word:literal $member:ident $($type:ty)?])+
    ) => {
        $name::read_mapping($reader, $key)
    };
    (
        @value $reader:ident $key:ident $name:ident [$path:literal]
        $([$word:literal $member:ident $type:ty])+
    ) => {{
        if $reader.is_mapping($key) {
            return $name::read_mapping($reader, $key);
        }
        let usual: &[fn() -> $name] = &[$(|| $name::$member(<$type>::default())),+];
        let own = usual[$reader.choice($key, $name::WORDS)?]();
        $reader.write($key, $crate::Value::written(&own));
        Some(own)
    }};
    (@table) => { &$crate::NO_KEYS };
    (@table $type:ty) => { &<$type as $crate::Component>::TABLE };
    (@pattern $name:ident $member:ident) => { $name::$member };
    (@pattern $name:ident $member:ident $type:ty) => { $name::$member(_) };
    (@held $held:ident $name:ident $member:ident) => { $name::$member };
    (@held $held:ident $name:ident $member:ident $type:ty) => { $name::$member($held) };
    (@read $reader:ident $name:ident $member:ident) => { Some($name::$member) };
    (@read $reader:ident $name:ident $member:ident $type:ty) => {
        <$type as $crate::Component>::read($reader).map($name::$member)
    };
    (@write $keys:ident $held:ident) => {};
    (@write $keys:ident $held:ident $type:ty) => {
        $keys.extend($crate::Component::written($held));
    };
}

#[cfg(test)]
mod tests {
    use crate::{Texts, Value, component};

    component! {
        /// A pause.
        struct Pause {
            /// How many.
            count: u32 = "2", in 1..=4;
        }
    }

    variants! {
        /// What is done.
        enum Deed as "`deed`", derive(Clone, Debug, PartialEq) {
            /// Which it is.
            kind = "none-at-all";
            /// Nothing.
            "none-at-all" => Nothing,
            /// A pause.
            "pause" => Pause(Pause),
        }
    }

    variants! {
        /// What is done, by its word or in full.
        enum Short as "`short`, written as a mapping", derive(Clone, Debug, PartialEq),
        or word of "`short`" {
            /// Which it is.
            kind;
            /// A pause.
            "pause" => Pause(Pause),
        }
    }

    component! {
        /// Holds one.
        struct Holder as "`holder`", derive(Clone, Debug, PartialEq) {
            /// A deed by its word.
            deed: Short = "pause";
        }
    }

    #[test]
    fn a_word_stands_for_its_member() {
        let holder: Holder = crate::default_of();
        assert_eq!(holder.deed, Short::Pause(Pause { count: 2 }));
        let tables = Short::shape(()).tables();
        let titles: Vec<&str> = tables.iter().map(|table| table.title).collect();
        let expected = [
            "`short`, written as a mapping",
            "`short` with `kind: pause`",
        ];
        assert_eq!(titles, expected);
    }

    #[test]
    fn a_key_chooses_the_others() {
        let read = Deed::read_keys(&mut Texts::new(Deed::VARIANTS.own.keys, &[]));
        assert_eq!(read, Some(Deed::Nothing));
        let pause = Deed::Pause(Pause { count: 3 });
        assert_eq!(<Deed as crate::Component>::KEYS[0].name, "kind");
        assert_eq!(pause.written().to_string(), "{kind: pause, count: 3}");
        assert_eq!(Deed::shape(()).tables().len(), 3);
    }
}
