//! Mappings whose kind is revealed by a key that only that kind has.

/// Declares an enum whose members are components; the key that is written reveals the member.
///
/// ```text
/// told_apart! {
///     /// What the mapping is about.
///     pub enum Name as derive(Clone, Debug) {
///         "does not say in one way what it is", "give it one of `key` and `other`";
///         /// The member whose mapping has this key, and its component.
///         "key" => Member(Component), with "second" => Special(OtherComponent);
///         /// …
///         "other" => Other(ThirdComponent);
///     }
/// }
/// ```
///
/// The key is the first in its component. If the second key is written beside it, the special
/// member is meant. The message for none or several such keys, and its remedy, stand before the
/// members.
#[macro_export]
macro_rules! told_apart {
    (
        $(#[doc = $about:literal])*
        $vis:vis enum $name:ident as derive($($derived:ident),*) {
            $wrong:literal, $remedy:literal;
            $($(#[doc = $doc:literal])+ $word:literal => $member:ident($type:ty)
                $(, with $second:literal => $special:ident($special_type:ty))?;)+
        }
    ) => {
        $(#[doc = $about])*
        #[derive($($derived),*)]
        $vis enum $name {
            $($(#[doc = $doc])+ $member($type),
                $(#[doc = concat!("The same with `", $second, "`.")] $special($special_type),)?)+
        }

        impl $name {
            /// The revealing keys, and each member's table.
            $vis const VARIANTS: $crate::config::Variants = $crate::config::Variants {
                own: &$crate::config::KeyTable {
                    title: "",
                    keys: &[$(<$type as $crate::config::Component>::KEYS[0]),+],
                },
                members: &[$(
                    $(($second, &<$special_type as $crate::config::Component>::TABLE),)?
                    ("", &<$type as $crate::config::Component>::TABLE),
                )+],
                are_told_apart: true,
            };

            fn read_keys(reader: &mut dyn $crate::config::Reader) -> Option<$name> {
                let told = [$($word),+].into_iter().filter(|word| reader.has(word));
                if told.count() == 1 {
                    // Members in the order of `VARIANTS`: the special one before the plain one with
                    // the same key.
                    let second = [$($([$word, $second],)? [$word, ""]),+];
                    let is_meant = |[word, second]: &[&str; 2]| {
                        reader.has(word) && (second.is_empty() || reader.has(second))
                    };
                    return $name::read_member(second.iter().position(is_meant)?, reader);
                }
                reader.refuse_all($wrong, $remedy);
                // The most similar member is read all the same, to report its problems in this
                // round.
                let members = $name::VARIANTS.members.iter();
                let tables: Vec<_> = members.map(|(_, table)| *table).collect();
                reader.guess(&tables, &mut |place, reader| {
                    $name::read_member(place, reader);
                });
                None
            }

            fn read_member(place: usize, reader: &mut dyn $crate::config::Reader) -> Option<$name> {
                reader.extend($name::VARIANTS.members[place].1);
                // A macro cannot number the members, so this range counts them until `place` is
                // reached.
                let mut places = 0..=place;
                $(
                    $(if places.next() == Some(place) {
                        let read = <$special_type as $crate::config::Component>::read(reader);
                        return read.map($name::$special);
                    })?
                    if places.next() == Some(place) {
                        return <$type as $crate::config::Component>::read(reader)
                            .map($name::$member);
                    }
                )+
                None
            }
        }

        impl $crate::config::Value for $name {
            type Bounds = ();

            fn shape((): ()) -> $crate::config::Shape {
                $crate::config::Shape::Variants(&$name::VARIANTS)
            }

            fn read(reader: &mut dyn $crate::config::Reader, key: &str, (): ()) -> Option<$name> {
                let mut read = None;
                reader.mapping(key, $name::VARIANTS.own, &mut |keys| {
                    read = $name::read_keys(keys);
                });
                read
            }

            fn written(&self) -> $crate::config::Written {
                $crate::config::Written::mapping(match self {
                    $($name::$member(own) => $crate::config::Component::written(own),
                        $($name::$special(own) => $crate::config::Component::written(own),)?)+
                })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::config::{Value, component};

    component! {
        /// A link that is slow.
        struct Slow, derive(Clone, Debug, PartialEq) {
            /// Which.
            link: u32, in 0..=9;
            /// How fast.
            rate: u32, in 0..=9;
        }
    }

    component! {
        /// A link.
        struct Link as "a link", derive(Clone, Debug, PartialEq) {
            /// Which.
            link: u32, in 0..=9;
        }
    }

    component! {
        /// A NIC.
        struct Nic, derive(Clone, Debug, PartialEq) {
            /// Which.
            nic: u32, in 0..=9;
        }
    }

    told_apart! {
        /// What breaks.
        enum Break as derive(Clone, Debug, PartialEq) {
            "is not one thing", "give `link` or `nic`";
            /// A link.
            "link" => Down(Link), with "rate" => Slow(Slow);
            /// A NIC.
            "nic" => Storm(Nic);
        }
    }

    #[test]
    fn keys_tell_members_apart() {
        let own = Break::VARIANTS.own.keys.iter().map(|key| key.name);
        assert_eq!(own.collect::<Vec<_>>(), ["link", "nic"]);
        assert_eq!(Break::shape(()).tables().len(), 3);
        let slow = Break::Slow(Slow { link: 1, rate: 2 });
        assert_eq!(slow.written().to_string(), "{link: 1, rate: 2}");
        let storm = Break::Storm(Nic { nic: 3 });
        assert_eq!(storm.written().to_string(), "{nic: 3}");
    }
}
