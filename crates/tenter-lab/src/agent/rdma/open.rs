//! Choosing and opening the RDMA device.

use std::net::Ipv4Addr;
use std::path::Path;

use tenter_sim::real_time::Slot;

use super::place::{self, Place};
use super::verbs::{Attributes, Verbs};

/// Opens the device that has `address`, with a queue pair for each of `slots`.
///
/// # Errors
/// Returns a sentence that says why there is no such device, and what to do.
pub(in crate::agent) fn open(
    address: Ipv4Addr,
    slots: &[Slot],
    attributes: &Attributes,
) -> Result<Box<dyn Verbs>, String> {
    let place = place::of_address(Path::new(place::DEVICES), address)?;
    opened(&place, address, slots, attributes)
}

#[cfg(feature = "rdma")]
fn opened(
    place: &Place,
    address: Ipv4Addr,
    slots: &[Slot],
    attributes: &Attributes,
) -> Result<Box<dyn Verbs>, String> {
    let gid = address.to_ipv6_mapped().octets();
    let device = super::device::open(place.clone(), gid, slots, attributes)?;
    Ok(Box::new(device))
}

#[cfg(not(feature = "rdma"))]
fn opened(
    place: &Place,
    address: Ipv4Addr,
    _slots: &[Slot],
    _attributes: &Attributes,
) -> Result<Box<dyn Verbs>, String> {
    Err(format!(
        "port {} of `{}` has {address}, and this build of Tenter has no binding of libibverbs: build it with `--features rdma`, or leave `data_path: rdma` out of the lab file, and packets go by UDP",
        place.port, place.device
    ))
}
