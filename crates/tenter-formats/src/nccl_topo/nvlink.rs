//! Scale-up domains: GPUs that `NVLinks` join directly or over `NVSwitches`.

use std::collections::BTreeMap;

use tenter_language::units::Rate;

use super::devices::Gpu;

/// NCCL's constants for the rate of one `NVLink`: the lowest compute capability, and Mbit/s each
/// way.
const LINKS: [(u32, u64); 7] = [
    (60, 144_000),
    (70, 160_000),
    (80, 160_000),
    (86, 96_000),
    (87, 160_000),
    (90, 164_800),
    (100, 320_800),
];

/// Returns the rate of one link in Mbit/s; `None` for GPUs older than `NVLink`.
fn rate_of_link(capability: u32) -> Option<u64> {
    let known = LINKS.iter().rev().find(|(from, _)| *from <= capability);
    known.map(|(_, rate)| *rate)
}

/// Result of looking for scale-up domains.
pub(super) enum Domain {
    /// The file has no `NVLinks`: NCCL looks for them when it starts.
    Unknown,
    /// Consecutive blocks with this many GPUs each, and a GPU's rate if it is known.
    Blocks(u32, Option<Rate>),
    /// No two GPUs are joined, or the joined ones are no blocks of equal size.
    None,
}

/// Finds the scale-up domains of the GPUs.
pub(super) fn domain(gpus: &[Gpu<'_>]) -> Domain {
    let mut found = false;
    let mut of_bus: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, gpu) in gpus.iter().enumerate() {
        of_bus.insert(&gpu.bus, place);
    }
    // For each GPU the first one in its domain. All NVSwitches are one node behind the GPUs.
    let switch = gpus.len();
    let mut first: Vec<usize> = (0..=switch).collect();
    // Number of NVLinks of each GPU; none if the file does not count one of them.
    let mut links = vec![Some(0_u64); gpus.len()];
    for (place, gpu) in gpus.iter().enumerate() {
        let inner = gpu.element.descendants();
        for link in inner.filter(|inner| inner.has_tag_name("nvlink")) {
            found = true;
            let class = link.attribute("tclass").unwrap_or_default();
            let target = link.attribute("target").unwrap_or_default().to_lowercase();
            let peer = match of_bus.get(target.as_str()) {
                Some(&peer) => peer,
                // The PCI class of a bridge of another kind, by which NCCL knows NVSwitches.
                None if class.trim_start_matches("0x").get(..6) == Some("068000") => switch,
                None => continue,
            };
            if peer != place {
                let count = link.attribute("count");
                let count = count.and_then(|count| count.parse::<u32>().ok());
                let all = links[place].zip(count.filter(|&count| count > 0));
                links[place] = all.map(|(all, count)| all + u64::from(count));
                let (a, b) = (first[place], first[peer]);
                // Joins two domains: members of the later one get the first GPU of the earlier one.
                let others = first.iter_mut().filter(|_| a != b);
                others.for_each(|of| *of = if *of == a.max(b) { a.min(b) } else { *of });
            }
        }
    }
    // The node of the NVSwitches is no GPU.
    first.pop();
    let sizes: Vec<usize> = first.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
    let mut distinct = first;
    distinct.sort_unstable();
    distinct.dedup();
    let size = sizes.first().copied().unwrap_or(0);
    let regular = sizes.iter().all(|other| *other == size) && sizes.len() == distinct.len();
    match u32::try_from(size) {
        _ if !found => Domain::Unknown,
        Ok(size) if size > 1 && regular => Domain::Blocks(size, rate(gpus, &links)),
        _ => Domain::None,
    }
}

/// Returns the rate of the GPU with the least bandwidth.
fn rate(gpus: &[Gpu<'_>], links: &[Option<u64>]) -> Option<Rate> {
    let of = |gpu: &Gpu<'_>| rate_of_link(gpu.capability?);
    let rates: Option<Vec<u64>> = gpus
        .iter()
        .zip(links)
        .map(|(gpu, links)| of(gpu)?.checked_mul((*links)?)?.checked_mul(1_000_000))
        .collect();
    rates?.into_iter().min().map(Rate::from_bits_per_second)
}

#[cfg(test)]
mod tests {
    use super::rate_of_link;

    #[test]
    fn capabilities_between_others_have_the_rate_of_the_one_before() {
        for (capability, rate) in [
            (53, None),
            (61, Some(144_000)),
            (75, Some(160_000)),
            (86, Some(96_000)),
            (89, Some(160_000)),
            (103, Some(320_800)),
            (120, Some(320_800)),
        ] {
            assert_eq!(rate_of_link(capability), rate, "{capability}");
        }
    }
}
