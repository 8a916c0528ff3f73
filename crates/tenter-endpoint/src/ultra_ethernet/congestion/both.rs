//! NSCC and RCCC together: data needs both a window and credit.

use tenter_config::component;

use super::credit::Rccc;
use super::nscc::Nscc;

component! {
    /// The parameters of windows and of credit.
    pub struct NsccWithCredit {
        ..windows: Nscc, "The keys of windows.";
        ..credit: Rccc, "The keys of receiver credit.";
    }
}
