//! Reports each ended trial to the observer of a sweep.

use std::path::Path;

use tenter_results::Summary;

use super::pool::{self, Hands};
use super::progress::{SweepObserver, SweepProgress};
use super::session::SweepSession;
use crate::{Control, Error};

/// Runs a session's trials, and reports each ended one to `observer`.
pub(super) fn run(
    session: &SweepSession,
    hands: Hands<'_>,
    observer: &mut dyn SweepObserver,
) -> Result<(), Error> {
    let mut telling = Telling { session, observer };
    let ran = pool::run(session, hands, &mut telling);
    telling.tell();
    ran
}

struct Telling<'s, 'o> {
    session: &'s SweepSession,
    observer: &'o mut dyn SweepObserver,
}

impl Telling<'_, '_> {
    fn tell(&mut self) {
        for place in self.session.take_ended() {
            if let Some(swept) = self.session.swept(place) {
                self.observer.swept(&swept);
            }
        }
    }
}

impl SweepObserver for Telling<'_, '_> {
    fn progress(&mut self, at: &SweepProgress) -> Control {
        self.tell();
        self.observer.progress(at)
    }

    fn trial(&mut self, title: &str, summary: &Summary) {
        self.observer.trial(title, summary);
    }

    fn kept(&mut self, title: &str, folder: &Path) {
        self.observer.kept(title, folder);
    }
}
