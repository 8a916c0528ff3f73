//! Finding the RDMA port that has an address: device, port number and GID.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

/// Folder in which Linux lists RDMA devices.
pub(super) const DEVICES: &str = "/sys/class/infiniband";

/// Type of `RoCEv2` GIDs, as `gid_attrs/types` shows it.
const ROCE_V2: &str = "RoCE v2";

/// A port on an RDMA device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Device name, for instance `mlx5_0`.
    pub(super) device: String,
    /// Port number at the device, from 1.
    pub(super) port: u8,
    /// Index of the GID in the port's table.
    pub(super) gid: u8,
}

/// Finds the port that has `address` as a `RoCEv2` GID.
///
/// # Errors
/// Returns a sentence that says why there is none, and what to do.
pub(super) fn of_address(devices: &Path, address: Ipv4Addr) -> Result<Place, String> {
    let mut seen = 0;
    for device in names(devices) {
        let ports = devices.join(&device).join("ports");
        for port in names(&ports) {
            seen += 1;
            let own = ports.join(&port);
            let found = gid_of(&own, address);
            if let (Some(gid), Ok(port)) = (found, port.parse()) {
                return Ok(Place { device, port, gid });
            }
        }
    }
    if seen == 0 {
        return Err(format!(
            "the host at {address} has no RDMA device (`{}` is empty): leave `data_path: rdma` out of the lab file, and packets go by UDP",
            devices.display()
        ));
    }
    Err(format!(
        "no RDMA device of this host has {address} with RoCE v2 (`{}/*/ports/*/gids`): give the address to the interface of the device, or correct `address` of the lab file",
        devices.display()
    ))
}

/// Returns the names in a folder, sorted; none if it cannot be read.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns the index at which a port has the `RoCEv2` GID for `address`.
fn gid_of(port: &Path, address: Ipv4Addr) -> Option<u8> {
    // A port may list an address once for RoCE v1 and once for v2, so the type is looked at, too.
    let wanted = address.to_ipv6_mapped();
    let mut places: Vec<u8> = names(&port.join("gids"))
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    places.sort_unstable();
    places.into_iter().find(|place| {
        let read = |folder: &str| fs::read_to_string(port.join(folder).join(place.to_string()));
        let gid = read("gids").ok().and_then(|text| text.trim().parse().ok());
        let is_roce = read("gid_attrs/types").is_ok_and(|kind| kind.trim() == ROCE_V2);
        gid == Some(wanted) && is_roce
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_with_an_address_is_found_by_its_gid_for_roce_v2() {
        let folder = std::env::temp_dir().join(format!("tenter-gids-{}", std::process::id()));
        let put = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        let address = Ipv4Addr::new(10, 0, 0, 1);
        let none = of_address(&folder, address).expect_err("there is no device");
        assert!(none.contains("has no RDMA device"), "{none}");
        for (place, gid, kind) in [
            (0, "fe80:0000:0000:0000:0000:0000:0000:0001", "RoCE v2"),
            (2, "0000:0000:0000:0000:0000:ffff:0a00:0001", "IB/RoCE v1"),
            (10, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2"),
        ] {
            put(&format!("mlx5_1/ports/1/gids/{place}"), &format!("{gid}\n"));
            put(
                &format!("mlx5_1/ports/1/gid_attrs/types/{place}"),
                &format!("{kind}\n"),
            );
        }
        let found = of_address(&folder, address).expect("it is there");
        let expected = Place {
            device: "mlx5_1".to_owned(),
            port: 1,
            gid: 10,
        };
        assert_eq!(found, expected);
        let other = of_address(&folder, Ipv4Addr::new(10, 0, 0, 2)).expect_err("it is not");
        assert!(other.contains("has 10.0.0.2 with RoCE v2"), "{other}");
        fs::remove_dir_all(&folder).expect("it was there");
    }
}
