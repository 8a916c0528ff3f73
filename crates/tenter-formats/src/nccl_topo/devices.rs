//! GPUs and NICs of a file, and their distances.

use roxmltree::{Node, NodeId};

use crate::decimal;

/// Most NICs of a server.
pub(super) const NICS_MAX: usize = 1_024;

/// A GPU of the server.
pub(super) struct Gpu<'d> {
    pub(super) element: Node<'d, 'd>,
    pub(super) bus: String,
    /// CUDA's number for it, if the file has it.
    pub(super) dev: Option<u32>,
    /// Compute capability times ten, such as 80, if the file has it.
    pub(super) capability: Option<u32>,
}

/// One port of a NIC.
pub(super) struct Nic<'d> {
    pub(super) element: Node<'d, 'd>,
    pub(super) name: String,
    /// Line rate in Mbit/s, if the file has it.
    pub(super) speed: Option<u64>,
}

/// The kind of a device on a PCIe bus.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gpu,
    Nic,
    Bridge,
    Other,
}

/// Guesses the kind of a device. Dumps have elements `gpu` and `nic`, which are certain. Files for
/// virtual machines have only PCI classes: 02 for networks, 03 for displays and accelerators, 06
/// for bridges.
fn kind(element: Node<'_, '_>) -> Kind {
    let has = |name| element.children().any(|child| child.has_tag_name(name));
    let class = element.attribute("class").unwrap_or_default();
    let class = class.trim_start_matches("0x");
    match class.get(..2) {
        _ if has("gpu") => Kind::Gpu,
        _ if has("nic") => Kind::Nic,
        Some("03") => Kind::Gpu,
        Some("02") => Kind::Nic,
        Some("06") => Kind::Bridge,
        _ if has("pci") => Kind::Bridge,
        _ => Kind::Other,
    }
}

/// GPUs and NICs, and the number of other devices.
pub(super) struct Devices<'d> {
    pub(super) gpus: Vec<Gpu<'d>>,
    pub(super) nics: Vec<Nic<'d>>,
    pub(super) others: usize,
}

impl<'d> Devices<'d> {
    /// Finds GPUs and NICs anywhere below the element `system`.
    pub(super) fn of(system: Node<'d, 'd>) -> Devices<'d> {
        let mut own = Devices {
            gpus: Vec::new(),
            nics: Vec::new(),
            others: 0,
        };
        for element in system.descendants() {
            // Elements in nested NICs are counted for each NIC around them, so the bound is checked
            // here.
            if own.nics.len() > NICS_MAX {
                break;
            }
            let of_bus = element
                .parent()
                .is_some_and(|parent| parent.has_tag_name("pci"));
            if element.has_tag_name("pci") {
                match kind(element) {
                    Kind::Gpu => own.gpu(element),
                    Kind::Nic => own.nic(element),
                    Kind::Bridge => {}
                    Kind::Other => own.others += 1,
                }
            } else if element.has_tag_name("nic") && !of_bus {
                own.nic(element);
            }
        }
        // Ranks on a server follow CUDA's numbers; without them the order in the file has to do.
        if own.gpus.iter().all(|gpu| gpu.dev.is_some()) {
            own.gpus.sort_by_key(|gpu| gpu.dev);
        }
        own
    }

    fn gpu(&mut self, element: Node<'d, 'd>) {
        let gpu = element.children().find(|child| child.has_tag_name("gpu"));
        let number = |name| gpu.and_then(|gpu| gpu.attribute(name)?.parse().ok());
        self.gpus.push(Gpu {
            element,
            bus: element
                .attribute("busid")
                .unwrap_or_default()
                .to_lowercase(),
            dev: number("dev"),
            capability: number("sm"),
        });
    }

    /// Adds a NIC's ports, or one port of unknown speed if the file names none.
    fn nic(&mut self, element: Node<'d, 'd>) {
        let nets: Vec<Node<'_, '_>> = element
            .descendants()
            .filter(|inner| inner.has_tag_name("net"))
            .collect();
        if nets.is_empty() {
            let bus = element.attribute("busid").unwrap_or("without a bus");
            self.nics.push(Nic {
                element,
                name: bus.to_owned(),
                speed: None,
            });
        }
        for net in nets {
            let speed = net.attribute("speed").and_then(|speed| speed.parse().ok());
            self.nics.push(Nic {
                element,
                name: net.attribute("name").unwrap_or("without a name").to_owned(),
                speed: speed.filter(|speed| *speed > 0),
            });
        }
    }

    /// Returns the nearest NICs of each GPU, by their places.
    pub(super) fn nearest(&self) -> Vec<Vec<usize>> {
        let nics: Vec<Vec<NodeId>> = self.nics.iter().map(|nic| chain(nic.element)).collect();
        let of_gpu = |gpu: &Gpu<'d>| {
            let own = chain(gpu.element);
            let depths = nics.iter().map(|nic| shared(&own, nic));
            let depths: Vec<usize> = depths.collect();
            let nearest = depths.iter().max().copied();
            let places = depths.iter().enumerate();
            let places = places.filter(|(_, depth)| Some(**depth) == nearest);
            places.map(|(place, _)| place).collect()
        };
        self.gpus.iter().map(of_gpu).collect()
    }
}

/// Returns the elements around an element, outermost first.
fn chain(element: Node<'_, '_>) -> Vec<NodeId> {
    let mut chain: Vec<_> = element.ancestors().map(|of| of.id()).collect();
    chain.reverse();
    chain
}

/// Returns the number of elements around both.
fn shared(a: &[NodeId], b: &[NodeId]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Returns PCIe generation and lanes of an element; `None` if the file does not have them.
pub(super) fn pcie(element: Node<'_, '_>) -> Option<(u8, u8)> {
    let speed = element.attribute("link_speed")?.split_whitespace().next()?;
    // Transfer rates are compared in tenths of GT/s: 2.5, 5, 8, 16, 32 and 64.
    let generation = match decimal::times(speed, 10)? {
        25 => 1,
        50 => 2,
        80 => 3,
        160 => 4,
        320 => 5,
        640 => 6,
        _ => return None,
    };
    let lanes = element.attribute("link_width")?.parse::<u8>().ok()?;
    (lanes.is_power_of_two() && lanes <= 16).then_some((generation, lanes))
}
