//! The choice between bucket windows and central windows.

use crate::plan::{CENTRAL_BELOW, WINDOW_MAX};
use tenter_engine::Windows;
use tenter_language::units::Time;

/// Bucket length under central windows.
const CENTRAL_BUCKET: Time = Time::from_ns(50);

/// Chooses the windows for a lookahead, at most `cap` long, and returns the bucket length in ps.
pub(super) fn windows(lookahead: Time, cap: Option<Time>) -> (Windows, u64) {
    // A window of no length would never end.
    let cap = cap.unwrap_or(WINDOW_MAX).min(WINDOW_MAX).max(Time::LEAST);
    if lookahead < CENTRAL_BELOW {
        (Windows::Central(lookahead.min(cap)), CENTRAL_BUCKET.ps())
    } else {
        (Windows::Buckets, lookahead.min(cap).ps())
    }
}
