//! What is known of switch devices beside their models.

use tenter_units::Rate;

/// The devices of the switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Devices {
    /// That of all tiers without a model of their own.
    pub usual: Option<Device>,
    /// The others, each with its tier, 0 for leaves; no tier twice.
    pub tiers: Vec<(u8, Option<Device>)>,
}

impl Devices {
    /// The device of the switches of a tier.
    pub fn of_tier(&self, tier: u8) -> Option<&Device> {
        let own = self.tiers.iter().find(|(own, _)| *own == tier);
        own.map_or(&self.usual, |(_, device)| device).as_ref()
    }

    /// All of them, the usual one first.
    pub fn iter(&self) -> impl Iterator<Item = Option<&Device>> {
        let tiers = self.tiers.iter().map(|(_, device)| device.as_ref());
        std::iter::once(self.usual.as_ref()).chain(tiers)
    }
}

/// What is known of a switch device beside its model; the origins are in its profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The name of its profile.
    pub name: String,
    /// The most ports it has of each rate; empty where that is not known.
    pub ports: Vec<(u32, Rate)>,
    /// Power of the chip alone, in watts; `None` where nobody has published it.
    pub power_watts: Option<u32>,
}
