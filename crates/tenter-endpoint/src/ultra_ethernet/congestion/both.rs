//! NSCC and RCCC together: data need a window and credit.

use tenter_config::{Share, component};
use tenter_units::Time;

use super::credit::Rccc;
use super::nscc::{DELAYS, Nscc};

component! {
    /// The parameters of windows and of credit.
    pub struct NsccWithCredit {
        /// The queueing delay that windows aim at.
        target_delay: Option<Time> = absent "0.75 round trips where switches trim, else one", in DELAYS;
        /// How much of the delay above the target a window falls by.
        decrease: Share = "0.8", from "the Ultra Ethernet Consortium's simulator";
        /// The weight of a sample in the mean delay.
        delay_weight: Share = "0.0125", from "the Ultra Ethernet Consortium's simulator";
        /// A window is cut to what got through in a round trip if that is less than the largest
        /// window over two to the power of this.
        quick_adapt_gate: u8 = "3", in 0..=16, from "the Ultra Ethernet Consortium's simulator";
        ..credit: Rccc, "The keys of receiver credit.";
    }
}

impl NsccWithCredit {
    /// Its windows.
    pub(super) fn nscc(&self) -> Nscc {
        Nscc {
            target_delay: self.target_delay,
            decrease: self.decrease,
            delay_weight: self.delay_weight,
            quick_adapt_gate: self.quick_adapt_gate,
        }
    }

    /// Its credit.
    pub(super) fn rccc(&self) -> Rccc {
        self.credit
    }
}
