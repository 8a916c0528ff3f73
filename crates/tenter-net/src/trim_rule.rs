//! How ports trim: what the classes say, queue by queue.

use crate::class::{ClassSpec, queue_of_class};

/// What becomes of data of a queue that find no room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrimRule {
    /// The class of what is left, and its queue.
    pub(crate) class: u8,
    pub(crate) queue: u8,
    /// The bytes that are left.
    pub(crate) bytes: u16,
}

/// The rules of all queues.
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
