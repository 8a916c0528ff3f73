//! Trim rules of a switch's queues, derived from its classes.

use crate::net::class::{ClassSpec, queue_of_class};

/// Rule for a queue's data that finds no room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrimRule {
    /// Class of the trimmed packet.
    pub(crate) class: u8,
    /// Queue of the trimmed packet's class.
    pub(crate) queue: u8,
    /// Frame bytes of the trimmed packet.
    pub(crate) bytes: u16,
}

/// Returns the rule for each queue; `None` if its class does not trim.
pub(crate) fn trim_rules(classes: &[ClassSpec]) -> Vec<Option<TrimRule>> {
    let queue_of = queue_of_class(classes);
    let rule = |class: &ClassSpec| {
        let trim = class.trim?;
        Some(TrimRule {
            class: trim.to,
            queue: queue_of[usize::from(trim.to)],
            bytes: trim.bytes as u16,
        })
    };
    classes.iter().map(rule).collect()
}
