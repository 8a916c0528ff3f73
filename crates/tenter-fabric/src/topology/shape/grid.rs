//! Grid arrangement: switches with coordinates, as in a torus, a mesh or a `HyperX`.

use crate::topology::ids::SwitchId;

/// Cables among switches that differ in one coordinate only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joint {
    /// Every two switches are cabled.
    Full,
    /// Each is cabled to the next one, and the last to the first.
    Ring,
    /// Each is cabled to the next one.
    Line,
}

/// One dimension in a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dimension {
    /// Number of coordinates in the dimension.
    pub(crate) size: u32,
    /// Cables that run along the dimension.
    pub(crate) joint: Joint,
}

/// Switches with a coordinate in each dimension. The first coordinate runs fastest in switch
/// numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) dimensions: Vec<Dimension>,
    /// True if packets correct one coordinate after the other, dimension by dimension. Otherwise
    /// they may take any shortest path.
    pub(crate) in_order: bool,
}

impl Dimension {
    /// Lists the coordinates cabled to `at`, ascending and without repetition.
    pub(crate) fn beside(self, at: u32) -> Vec<u32> {
        let last = self.size - 1;
        let mut beside: Vec<u32> = match self.joint {
            Joint::Full => (0..self.size).filter(|&other| other != at).collect(),
            Joint::Line | Joint::Ring => {
                let (below, above) = (at.checked_sub(1), (at < last).then_some(at + 1));
                below.into_iter().chain(above).collect()
            }
        };
        // In a ring of two the first and the last switch have one cable, not two.
        if self.joint == Joint::Ring && self.size > 2 {
            beside.extend((at == 0).then_some(last));
            beside.extend((at == last).then_some(0));
            beside.sort_unstable();
        }
        beside
    }

    /// Counts the coordinate pairs that are cabled.
    pub(crate) fn joints(self) -> u128 {
        let size = u128::from(self.size);
        match self.joint {
            Joint::Full => size * (size - 1) / 2,
            Joint::Ring if size > 2 => size,
            Joint::Ring | Joint::Line => size - 1,
        }
    }

    /// Counts the links between two coordinates.
    fn links(self, from: u32, to: u32) -> u32 {
        let apart = from.abs_diff(to);
        match self.joint {
            Joint::Full => apart.min(1),
            Joint::Ring => apart.min(self.size - apart),
            Joint::Line => apart,
        }
    }

    /// Iterates over the coordinates next to `from` that are one link nearer to a different
    /// coordinate `to`.
    fn nearer(self, from: u32, to: u32) -> impl Iterator<Item = u32> {
        let up = (from + 1) % self.size;
        let down = from.checked_sub(1).unwrap_or(self.size - 1);
        let steps = match self.joint {
            Joint::Full => [Some(to), None],
            Joint::Line => [Some(if to > from { up } else { down }), None],
            // In a ring of two both directions are the same cable.
            Joint::Ring if up == down => [Some(up), None],
            // Halfway round the ring both directions are equally short.
            Joint::Ring => {
                let links = self.links(from, to);
                let is_nearer = |step: u32| self.links(step, to) < links;
                [up, down].map(|step| is_nearer(step).then_some(step))
            }
        };
        steps.into_iter().flatten()
    }

    /// Returns the most links between two coordinates.
    pub(crate) fn longest(self) -> u32 {
        match self.joint {
            Joint::Full => (self.size - 1).min(1),
            Joint::Ring => self.size / 2,
            Joint::Line => self.size - 1,
        }
    }

    /// Returns true if packets may follow each other all the way round, so that pauses can form a
    /// cycle. In a three-switch ring no path has two links.
    pub(crate) fn goes_round(self) -> bool {
        self.joint == Joint::Ring && self.size > 3
    }
}

impl Grid {
    /// Counts the switches in the grid.
    pub(crate) fn switches(&self) -> u32 {
        self.dimensions
            .iter()
            .map(|dimension| dimension.size)
            .product()
    }

    /// Returns a switch's coordinates, by dimension.
    pub(crate) fn coordinates(&self, switch: u32) -> Vec<u32> {
        let mut rest = switch;
        let one = |dimension: &Dimension| {
            let at = rest % dimension.size;
            rest /= dimension.size;
            at
        };
        self.dimensions.iter().map(one).collect()
    }

    /// See [`Shape::paths`](super::Shape::paths).
    pub(super) fn paths(&self, from: SwitchId, mut found: impl FnMut(SwitchId, u32, &[SwitchId])) {
        let mut next = Vec::new();
        for to in SwitchId::new(0).run(self.switches()) {
            next.clear();
            let links = self.towards(from, to, &mut next);
            if links > 0 {
                found(to, links, &next);
            }
        }
    }

    /// Appends the next switches towards `to`, and returns the link count on the way there.
    pub(super) fn towards(&self, from: SwitchId, to: SwitchId, next: &mut Vec<SwitchId>) -> u32 {
        let (mut here, mut there) = (from.number(), to.number());
        let (mut stride, mut links) = (1, 0);
        for dimension in &self.dimensions {
            let (at, goal) = (here % dimension.size, there % dimension.size);
            if at != goal {
                // In order, a packet corrects the first dimension that differs, and no other one
                // yet.
                if links == 0 || !self.in_order {
                    let steps = dimension.nearer(at, goal);
                    let base = from.number() - at * stride;
                    next.extend(steps.map(|step| SwitchId::new(base + step * stride)));
                }
                links += dimension.links(at, goal);
            }
            here /= dimension.size;
            there /= dimension.size;
            stride *= dimension.size;
        }
        links
    }
}
