//! Loss recovery: the reaction of senders and receivers to lost packets.

use tenter_language::config::{Reader, Shape, Value, Written, choice, component};

pub mod go_back_n;
pub mod none;
pub(crate) mod selective_repeat;

pub use selective_repeat::SelectiveRepeat;

/// The loss recovery of all NICs in a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossRecovery {
    /// Receivers accept packets in order only; senders go back to the missing packet and resend
    /// everything from there.
    #[default]
    GoBackN,
    /// Receivers accept packets in any order; senders resend the missing ones alone.
    SelectiveRepeat(SelectiveRepeat),
    /// Nothing is resent; receivers count missing packets.
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

/// Name of a loss recovery that has keys.
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
