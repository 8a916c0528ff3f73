//! Windows that keep their first value, `endpoint.nic.transport.initial_window`.

use tenter_config::component;

component! {
    /// It has no keys.
    pub struct ConstantWindow;
}
