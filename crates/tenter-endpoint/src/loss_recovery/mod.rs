//! What senders and receivers do about lost packets.

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
