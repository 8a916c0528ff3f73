//! What senders and receivers do about lost packets.

use tenter_config::{Reader, Shape, Value, Written, choice, component};

pub mod go_back_n;
pub mod none;
pub mod selective_repeat;

pub use selective_repeat::SelectiveRepeat;

/// The loss recovery of all NICs of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossRecovery {
    /// Packets are accepted in order; the sender sends everything from the missing one on again.
    #[default]
    GoBackN,
    /// Packets are accepted in any order; the sender sends the missing ones again.
    SelectiveRepeat(SelectiveRepeat),
    /// Nothing is sent again; what is missing is counted.
    None,
}

component! {
    /// The loss recovery that has keys.
    struct WithKeys as "`endpoint.nic.loss_recovery`, written as a mapping", derive(Clone, Copy) {
        /// The loss recovery that has further keys.
        kind: Kind;
        ..repeat: SelectiveRepeat, "Its keys.";
    }
}

/// The word of the loss recovery that has keys.
#[derive(Clone, Copy)]
enum Kind {
    SelectiveRepeat,
}

choice!(Kind { "selective-repeat" => SelectiveRepeat });

impl LossRecovery {
    const WORDS: &'static [&'static str] = &["go-back-n", "selective-repeat", "none"];
}

impl Value for LossRecovery {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        let words = Shape::Choice(LossRecovery::WORDS);
        Shape::Either(Box::new(words), Box::new(WithKeys::shape(())))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<LossRecovery> {
        if reader.is_mapping(key) {
            let read = <WithKeys as Value>::read(reader, key, ());
            return read.map(|own| LossRecovery::SelectiveRepeat(own.repeat));
        }
        let members = [
            LossRecovery::GoBackN,
            LossRecovery::SelectiveRepeat(SelectiveRepeat::default()),
            LossRecovery::None,
        ];
        Some(members[reader.choice(key, LossRecovery::WORDS)?])
    }

    fn written(&self) -> Written {
        match self {
            LossRecovery::GoBackN => Written::word("go-back-n"),
            LossRecovery::None => Written::word("none"),
            LossRecovery::SelectiveRepeat(repeat) => Value::written(&WithKeys {
                kind: Kind::SelectiveRepeat,
                repeat: *repeat,
            }),
        }
    }
}
