//! Data about switch devices that their models do not need.

use tenter_language::units::Rate;

/// The devices that the switches are, by tier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Devices {
    /// Device in all tiers without their own entry.
    pub usual: Option<Device>,
    /// Tiers (0 for leaves, none twice) with their devices.
    pub tiers: Vec<(u8, Option<Device>)>,
}

impl Devices {
    /// Returns the device in tier `tier`, if it is known.
    pub fn of_tier(&self, tier: u8) -> Option<&Device> {
        let own = self.tiers.iter().find(|(own, _)| *own == tier);
        own.map_or(&self.usual, |(_, device)| device).as_ref()
    }

    /// Iterates over all entries, the usual one first.
    pub fn iter(&self) -> impl Iterator<Item = Option<&Device>> {
        let tiers = self.tiers.iter().map(|(_, device)| device.as_ref());
        std::iter::once(self.usual.as_ref()).chain(tiers)
    }
}

/// Data about a switch device that its model does not need; its profile states the origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The name of the device's profile.
    pub name: String,
    /// Most ports at each rate; empty if that is not known.
    pub ports: Vec<(u32, Rate)>,
    /// The chip's power in watts; `None` if it is not published.
    pub power_watts: Option<u32>,
}
