//! Counters that the operating system keeps for the host's network interface.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;

use nix::ifaddrs::getifaddrs;
use tenter_sim::real_time::{Counter, PortCounts};

/// FCS bytes per Ethernet frame, which interfaces do not count.
const FCS_BYTES: u64 = 4;

/// One interface's counters at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct InterfaceCounts {
    name: String,
    /// Frames and bytes sent; interfaces count bytes without the FCS.
    tx: (u64, u64),
    /// Frames and bytes received, as for `tx`.
    rx: (u64, u64),
    dropped: u64,
    /// Counters by the driver and the RDMA device, by name.
    others: Vec<(String, u64)>,
}

/// Reads the counters at the interface with `address`; `None` if none has it.
pub(super) fn read(address: Ipv4Addr) -> Option<InterfaceCounts> {
    let interfaces = getifaddrs().ok()?;
    let found = interfaces.into_iter().find(|interface| {
        let own = interface
            .address
            .as_ref()
            .and_then(|of| of.as_sockaddr_in());
        own.is_some_and(|own| own.ip() == address)
    });
    let name = found?.interface_name;
    let folder = Path::new("/sys/class/net").join(&name).join("statistics");
    // A missing file counts as 0: not every driver has all counters.
    let number = |of: &str| -> u64 {
        let text = fs::read_to_string(folder.join(of)).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    };
    Some(InterfaceCounts {
        tx: (number("tx_packets"), number("tx_bytes")),
        rx: (number("rx_packets"), number("rx_bytes")),
        dropped: number("tx_dropped"),
        others: [ethtool(&name), infiniband(&name)].concat(),
        name,
    })
}

/// Returns the driver's statistics (`ethtool -S`); empty if `ethtool` is missing.
fn ethtool(name: &str) -> Vec<(String, u64)> {
    let answer = Command::new("ethtool").args(["-S", name]).output();
    let Ok(answer) = answer else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let pairs = text.lines().filter_map(|line| {
        let (key, value) = line.split_once(':')?;
        Some((key.trim().to_owned(), value.trim().parse().ok()?))
    });
    pairs.collect()
}

/// Returns the hardware counters of the interface's RDMA device; empty if it has none.
fn infiniband(name: &str) -> Vec<(String, u64)> {
    let listed = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let devices = Path::new("/sys/class/net").join(name);
    let mut counters = Vec::new();
    for device in listed(&devices.join("device/infiniband")) {
        for port in listed(&device.join("ports")) {
            for file in listed(&port.join("hw_counters")) {
                let text = fs::read_to_string(&file).unwrap_or_default();
                let value = text.trim().parse();
                if let (Ok(value), Some(counter)) = (value, file.file_name()) {
                    counters.push((counter.to_string_lossy().into_owned(), value));
                }
            }
        }
    }
    counters
}

impl InterfaceCounts {
    /// Returns the growth since `before` as counters for port 0 of `node`.
    pub(super) fn since(&self, before: &InterfaceCounts, node: u32) -> PortCounts {
        // A driver that is reset starts at 0 again.
        let less = |now: u64, then: u64| now.saturating_sub(then);
        let sent = less(self.tx.0, before.tx.0);
        let received = less(self.rx.0, before.rx.0);
        let own = [
            (Counter::TxFrames, sent),
            (
                Counter::TxBytes,
                less(self.tx.1, before.tx.1) + sent * FCS_BYTES,
            ),
            (Counter::RxFrames, received),
            (
                Counter::RxBytes,
                less(self.rx.1, before.rx.1) + received * FCS_BYTES,
            ),
            (Counter::DroppedFrames, less(self.dropped, before.dropped)),
        ];
        PortCounts {
            node,
            port: 0,
            own: own.into_iter().collect(),
            ..PortCounts::default()
        }
    }

    /// Returns the other counters that have grown since `before`, named `interface.counter`.
    pub(super) fn others_since(&self, before: &InterfaceCounts) -> Vec<(String, u64)> {
        let then = |name: &str| {
            let found = before.others.iter().find(|(other, _)| other == name);
            found.map_or(0, |(_, value)| *value)
        };
        let grown = self.others.iter().filter_map(|(name, value)| {
            let more = value.saturating_sub(then(name));
            (more > 0).then(|| (format!("{}.{name}", self.name), more))
        });
        grown.collect()
    }
}
