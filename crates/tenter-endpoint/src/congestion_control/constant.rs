//! Windows that keep their first value, `endpoint.nic.transport.initial_window`.

use tenter_language::config::component;
use tenter_language::units::Instant;

use super::{Control, Link, Window};

component! {
    /// It has no keys.
    pub struct ConstantWindow;
}

impl Control for ConstantWindow {
    type Flow = ();
    const FROM_START: bool = true;

    fn start(&self, _: &Link, _: Instant) {}

    fn window(&self, (): &(), link: &Link) -> Window {
        Window::Bytes(link.first_window())
    }
}
