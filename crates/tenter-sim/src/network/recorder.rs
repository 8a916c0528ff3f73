//! The recorder for what a scenario asks to be recorded packet by packet.

use crate::plan::Plan;
use tenter_fabric::net::Event;

use super::capture_log::CaptureLog;
use super::queue_log::QueueLog;
use super::watch::{Captured, PortChanges, Watcher};

/// Records queue changes and captured frames in one partition.
#[derive(Clone, Debug)]
pub struct Recorder {
    queues: Option<QueueLog>,
    capture: Option<CaptureLog>,
}

impl Recorder {
    /// Makes the recorder that a plan asks for; `None` if it asks for none.
    pub(crate) fn of(plan: &Plan) -> Option<Recorder> {
        let recorder = Recorder {
            queues: plan.queue_changes.as_ref().map(QueueLog::new),
            capture: plan
                .capture
                .as_ref()
                .map(|capture| CaptureLog::new(capture, &plan.topology)),
        };
        (recorder.queues.is_some() || recorder.capture.is_some()).then_some(recorder)
    }
}

impl Watcher for Recorder {
    const WATCHED: bool = true;

    fn note(&mut self, event: Event) {
        if let Some(queues) = &mut self.queues {
            queues.note(event);
        }
        if let Some(capture) = &mut self.capture {
            capture.note(event);
        }
    }

    fn queue_changes(&self) -> Vec<PortChanges<'_>> {
        self.queues
            .as_ref()
            .map_or_else(Vec::new, QueueLog::queue_changes)
    }

    fn captured(&self) -> Option<Captured<'_>> {
        self.capture.as_ref().and_then(CaptureLog::captured)
    }
}
