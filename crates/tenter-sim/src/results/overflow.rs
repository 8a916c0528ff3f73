//! Warns if queues at flow level grow beyond what packets would find.

use tenter_fabric::net::{ClassSpec, SwitchSpec, Switches};
use tenter_language::units::Bytes;
use tenter_results::{NoteCode, NoteRow};

use crate::network::Driver;

/// Returns a warning if more bytes wait for a link at flow level than its queue holds.
pub(super) fn warning<D: Driver>(driver: &D) -> Option<NoteRow> {
    let queued = driver.queued_bytes();
    let holds = queue_bytes(&driver.context().switches);
    (queued > holds).then(|| {
        let text = format!(
            "at flow level {} wait in one queue, and queues hold {}: some packets would be dropped and sent again \
             after timeouts, so times are a lower bound",
            rounded_up(queued),
            Bytes::new(holds)
        );
        NoteRow::new(NoteCode::FlowLevelQueue, text)
    })
}

/// Rounds up to whole MiB; smaller sizes stay exact.
fn rounded_up(bytes: u64) -> Bytes {
    const MIB: u64 = 1 << 20;
    if bytes < MIB {
        return Bytes::new(bytes);
    }
    Bytes::new(bytes.div_ceil(MIB) * MIB)
}

/// Returns the bytes that every queue can hold in the class with most room.
fn queue_bytes(switches: &Switches) -> u64 {
    let of_class = |spec: &SwitchSpec, class: &ClassSpec| {
        let pool = spec.pool_bytes.get(usize::from(class.pool));
        let shared = class.limit.of_all(pool.copied().unwrap_or(0));
        class.reserved_bytes.saturating_add(shared)
    };
    let of_switch = |spec: &SwitchSpec| {
        let classes = spec.classes.iter().map(|class| of_class(spec, class));
        classes.max().unwrap_or(u64::MAX)
    };
    switches.iter().map(of_switch).min().unwrap_or(u64::MAX)
}
