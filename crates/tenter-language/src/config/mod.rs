//! How a scenario's component declares its keys: once, in its own file.
//!
//! ```text
//!   component! { struct with ranges, defaults, origins }
//!        ├──▶ the struct that the model works with
//!        ├──▶ reading it, with a place for each problem   (a Reader: the scenario's sections)
//!        ├──▶ its table in the reference                  (KeyTable::markdown)
//!        ├──▶ its part of the JSON Schema                 (Shape)
//!        └──▶ its defaults, and its keys as written again (Default, Component::written)
//! ```
//!
//! ```
//! use tenter_language::config::{Component, component};
//! use tenter_language::units::Time;
//!
//! component! {
//!     /// A pause that is obeyed after a while.
//!     pub struct Pause {
//!         /// How long a port takes to obey.
//!         response: Time = "1us", in Time::ZERO..=Time::from_us(100), from "IEEE 802.1Qbb";
//!         /// Whether it obeys at all.
//!         obeys: bool = "true";
//!     }
//! }
//!
//! assert_eq!(Pause::KEYS[0].name, "response");
//! assert_eq!(Pause::KEYS[0].form(), "time, at most 100us");
//! ```
//!
//! [`Written`] is the form in which serde sees components.
//!
//! **Architecture invariant.** Nothing here knows a component, a notation or a file.

mod chance;
mod component;
mod default;
mod follow;
mod idle;
mod key;
mod reader;
mod serial;
mod shape;
mod share;
mod told_apart;
mod value;
mod variants;
mod word_or;
mod written;

pub use crate::choice;
pub use crate::component;
pub use crate::parsed;
pub use crate::told_apart;
pub use crate::variants;
pub use crate::word_or;
pub use chance::Chance;
pub use component::{Chosen, Component, Part, default_of, default_value, default_with};
pub use follow::{Keyed, followed};
pub use idle::{Idle, refuse_idle, without_default, without_idle};
pub use key::{Choice, Follow, Key, KeyTable, NO_KEYS, Presence, Shape, Variants, joined, key};
pub use reader::{Reader, Texts};
pub use share::{NoShare, Share};
pub use value::{Absent, KeptAs, Named, Percent, Value, Words};
pub use word_or::WordOr;
pub use written::Written;
