//! Mappings in which one key chooses the others.

/// Declares an enum whose members are components, chosen by a key in the same mapping.
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
/// Without a default the key must be given. [`Value`](crate::config::Value) makes the enum a
/// mapping; as a [`Component`](crate::config::Component) it is read from a section with further
/// keys.
///
/// With `derive(…), or word of "`its.path`"` a member's word may replace the mapping, whose other
/// keys then have their defaults. The members' tables are titled with that path. With
/// `except(|word| …)` behind it a word that another enum has is refused with a reason: the
/// expression gives what is wrong and the remedy, or `None`.
#[macro_export]
macro_rules! variants {
    (
        $(#[doc = $about:literal])*
        $vis:vis enum $name:ident as $title:literal, derive($($derived:ident),*)
        $(, or word of $path:literal $(, except(|$word_of:ident| $except:expr))?)? {
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
            /// The words that choose a member.
            $vis const WORDS: &'static [&'static str] = &[$($word),+];

            /// The choosing key, and each member's keys.
            $vis const VARIANTS: $crate::config::Variants = $crate::config::Variants {
                own: &$crate::config::KeyTable {
                    title: $title,
                    keys: &[$crate::config::Key {
                        name: stringify!($tag),
                        shape: || $crate::config::Shape::Choice($name::WORDS),
                        presence: $crate::config::component!(
                            @presence $name [stringify!($tag)] [$($default)?] [] [] []
                        ),
                        meaning: concat!($($meaning),+),
                        origin: concat!($($origin)?),
                    }],
                },
                members: $crate::config::variants!(
                    @members [$($path)?] $tag $([$word $($type)?])+
                ),
                are_told_apart: false,
            };

            /// Returns the word that chooses this member.
            $vis fn word(&self) -> &'static str {
                match self {
                    $($crate::config::variants!(@pattern $name $member $($type)?) => $word,)+
                }
            }

            /// Reads the choosing key, then the keys that its member has.
            $vis fn read_keys(reader: &mut dyn $crate::config::Reader) -> Option<$name> {
                let Some(place) = reader.choice(stringify!($tag), $name::WORDS) else {
                    // The word is wrong, but the keys beside it suggest a member, whose problems
                    // are reported in the same round.
                    let tables: Vec<_> =
                        $name::VARIANTS.members.iter().map(|(_, table)| *table).collect();
                    reader.guess(&tables, &mut |place, reader| {
                        $name::read_member(place, reader);
                    });
                    return None;
                };
                $name::read_member(place, reader)
            }

            fn read_member(place: usize, reader: &mut dyn $crate::config::Reader) -> Option<$name> {
                let (word, table) = $name::VARIANTS.members[place];
                reader.extend(table);
                // By word, because a macro cannot number the members.
                match word {
                    $($word => $crate::config::variants!(@read reader $name $member $($type)?),)+
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

        /// The choosing key and the member's keys stand beside those of the component that holds
        /// the enum.
        impl $crate::config::Component for $name {
            const KEYS: &'static [$crate::config::Key] = $name::VARIANTS.own.keys;
            const TABLE: $crate::config::KeyTable = *$name::VARIANTS.own;

            fn read(reader: &mut dyn $crate::config::Reader) -> Option<$name> {
                $name::read_keys(reader)
            }

            fn written(&self) -> Vec<(&'static str, $crate::config::Written)> {
                let mut keys = vec![(stringify!($tag), $crate::config::Written::word(self.word()))];
                match self {
                    $($crate::config::variants!(@held held $name $member $($type)?) => {
                        $crate::config::variants!(@write keys held $($type)?);
                    })+
                }
                keys
            }
        }

        impl $crate::config::Chosen for $name {
            fn members() -> Vec<$crate::config::Choice> {
                $name::VARIANTS.choices()
            }
        }

        impl $name {
            fn read_mapping(reader: &mut dyn $crate::config::Reader, key: &str) -> Option<$name> {
                let mut read = None;
                reader.mapping(key, $name::VARIANTS.own, &mut |keys| {
                    read = $name::read_keys(keys);
                });
                read
            }
        }

        impl $crate::config::Value for $name {
            type Bounds = ();

            fn shape((): ()) -> $crate::config::Shape {
                let mapping = $crate::config::Shape::Variants(&$name::VARIANTS);
                $crate::config::variants!(@shape mapping $name [$($path)?])
            }

            fn read(reader: &mut dyn $crate::config::Reader, key: &str, (): ()) -> Option<$name> {
                $($(
                    let except = |$word_of: &str| $except;
                    let chosen = reader.peek(key);
                    let chosen = chosen.as_ref().and_then(|own| own.choice(stringify!($tag)));
                    if let Some((what, remedy)) = chosen.and_then(except) {
                        reader.any(key);
                        reader.refuse(key, &what, &remedy);
                        return None;
                    }
                )?)?
                $crate::config::variants!(
                    @value reader key $name [$($path)?] $([$word $member $($type)?])+
                )
            }

            fn written(&self) -> $crate::config::Written {
                $crate::config::Written::mapping($crate::config::Component::written(self))
            }
        }
    };
    (@members [] $tag:ident $([$word:literal $($type:ty)?])+) => {
        &[$(($word, $crate::config::variants!(@table $($type)?))),+]
    };
    (@members [$path:literal] $tag:ident $([$word:literal $type:ty])+) => {
        &[$(($word, &$crate::config::KeyTable {
            title: concat!($path, " with `", stringify!($tag), ": ", $word, "`"),
            keys: <$type as $crate::config::Component>::KEYS,
        })),+]
    };
    (@shape $mapping:ident $name:ident []) => { $mapping };
    (@shape $mapping:ident $name:ident [$path:literal]) => {
        $crate::config::Shape::Either(
            Box::new($crate::config::Shape::Choice($name::WORDS)),
            Box::new($mapping),
        )
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
        // Functions, so that only the chosen member is made.
        let usual: &[fn() -> $name] = &[$(|| $name::$member(<$type>::default())),+];
        // The effective configuration shows the mapping that the word stands for.
        let own = usual[$reader.choice($key, $name::WORDS)?]();
        $reader.write($key, $crate::config::Value::written(&own));
        Some(own)
    }};
    (@table) => { &$crate::config::NO_KEYS };
    (@table $type:ty) => { &<$type as $crate::config::Component>::TABLE };
    (@pattern $name:ident $member:ident) => { $name::$member };
    (@pattern $name:ident $member:ident $type:ty) => { $name::$member(_) };
    (@held $held:ident $name:ident $member:ident) => { $name::$member };
    (@held $held:ident $name:ident $member:ident $type:ty) => { $name::$member($held) };
    (@read $reader:ident $name:ident $member:ident) => { Some($name::$member) };
    (@read $reader:ident $name:ident $member:ident $type:ty) => {
        <$type as $crate::config::Component>::read($reader).map($name::$member)
    };
    (@write $keys:ident $held:ident) => {};
    (@write $keys:ident $held:ident $type:ty) => {
        $keys.extend($crate::config::Component::written($held));
    };
}

#[cfg(test)]
mod tests {
    use crate::config::{Texts, Value, component};

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
        let holder: Holder = crate::config::default_of();
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
        assert_eq!(<Deed as crate::config::Component>::KEYS[0].name, "kind");
        assert_eq!(pause.written().to_string(), "{kind: pause, count: 3}");
        assert_eq!(Deed::shape(()).tables().len(), 3);
    }
}
