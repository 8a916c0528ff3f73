//! The `impairments` section: what bad cables, or a traffic tester in their place, do to frames.

use std::fmt;
use std::str::FromStr;

use tenter_fabric::net::PacketKind;
use tenter_fabric::net::impairment::{HOLD_MAX, Strikes, TesterAction};
use tenter_fabric::topology::{CableEnd, Topology};
use tenter_language::config::{Chance, Reader, choice, component, parsed};
use tenter_language::notation::decode::Read;
use tenter_language::notation::diagnostics::{Path, Problems};
use tenter_sim::plan::{LinkImpairment, RulePlan};

use crate::resolve::links::{Cable, LinkName, find_host};

component! {
    /// Impairment of the frames on some links.
    pub struct Impairment as "`impairments[]`", derive(Clone, Debug, PartialEq) {
        /// The link between two nodes (`leaf0-spine1`), or `all`, `fabric-links` or `host-links`;
        /// of several entries for one link the last holds.
        link: String, in WORD_MAX;
        /// Which of several parallel cables.
        cable: Cable = "all", in 0..=65_535;
        /// The node whose frames are impaired, or `both` ends of the link.
        sender: String = "both", in WORD_MAX;
        /// The probability of losing a frame, of any kind and size: `1e-6`.
        frame_loss: Chance = "0";
        /// The probability of receiving a bit wrong; a frame with such a bit is lost.
        bit_error_rate: Chance = "0";
        /// Rules for single frames, as of a traffic tester; the first rule that matches a frame
        /// applies to it.
        rules: Vec<Rule> = "[]";
    }
}

component! {
    /// Action of a tester on some frames.
    pub struct Rule as "`impairments[].rules[]`", derive(Clone, Debug, PartialEq) {
        /// Kinds of frames that the rule matches; the first four are those of data.
        opcodes: Vec<Opcode> = "[first, middle, last, only]";
        /// The host the frames come from.
        from: Option<String> = absent "any", in WORD_MAX;
        /// The host the frames go to.
        to: Option<String> = absent "any", in WORD_MAX;
        /// With `every`: frames that pass before the count begins.
        skip: u64 = "0", in 0..=u64::MAX >> 1;
        /// With `every` and `psn`: the most frames that the rule matches.
        count: Option<u64> = "none", in 1..=u64::MAX >> 1;
        /// Fate of these frames: they are lost, or held back until others have passed.
        action: Action = "drop";
        /// With `reorder`: further frames of the link that pass first.
        behind: u16 = "1", in 1..=HOLD_MAX;
        /// The rule matches one frame in this many.
        every: Option<u64> = absent "one of the three", in 1..=u64::MAX >> 1;
        /// The rule matches packets with these sequence numbers, counted from 0 in each queue pair,
        /// such as `10-20`.
        psn: Option<Sequences> = absent "one of the three";
        /// The rule matches each frame with this probability.
        probability: Option<Chance> = absent "one of the three";
        check strikes_in_one_way;
    }
}

/// Longest link or node name, in characters.
const WORD_MAX: usize = 200;
/// Most entries that a scenario may have.
const ENTRIES_MAX: usize = 10_000;

/// A tester's action on a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Loses the frame without replacement.
    Drop,
    /// Holds the frame back until others have passed.
    Reorder,
}

choice!(Action { "drop" => Drop, "reorder" => Reorder });

/// Kinds of frames that rules tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// First data packet of a message.
    First,
    /// Data packet between first and last.
    Middle,
    /// Last data packet of a message.
    Last,
    /// Only data packet of a message.
    Only,
    /// Acknowledgement, cumulative or selective.
    Ack,
    /// Negative acknowledgement, of any loss recovery.
    Nak,
    /// Congestion notification packet (CNP).
    Cnp,
    /// Congestion signal of a switch to a sender.
    Signal,
    /// Request or reply of connection set-up.
    Connect,
    /// Packet that ends a data stream.
    EndOfData,
    /// Data packet whose payload a switch has trimmed.
    Trimmed,
    /// Grant of receiver credit (PULL).
    Pull,
    /// Request for receiver credit, or a probe.
    Request,
}

choice!(Opcode {
    "first" => First,
    "middle" => Middle,
    "last" => Last,
    "only" => Only,
    "ack" => Ack,
    "nak" => Nak,
    "cnp" => Cnp,
    "signal" => Signal,
    "connect" => Connect,
    "end-of-data" => EndOfData,
    "trimmed" => Trimmed,
    "pull" => Pull,
    "request" => Request,
});

impl Opcode {
    fn kinds(self) -> &'static [PacketKind] {
        match self {
            Opcode::First => &[PacketKind::First],
            Opcode::Middle => &[PacketKind::Middle],
            Opcode::Last => &[PacketKind::Last],
            Opcode::Only => &[PacketKind::Only],
            Opcode::Ack => &[PacketKind::Ack, PacketKind::SelectiveAck],
            Opcode::Nak => &[
                PacketKind::Nak,
                PacketKind::SelectiveNak,
                PacketKind::TrimNak,
            ],
            Opcode::Cnp => &[PacketKind::Cnp],
            Opcode::Signal => &[PacketKind::Signal],
            Opcode::Connect => &[PacketKind::ConnectRequest, PacketKind::ConnectReply],
            Opcode::EndOfData => &[PacketKind::EndOfData],
            Opcode::Trimmed => &[PacketKind::Trimmed],
            Opcode::Pull => &[PacketKind::Pull],
            Opcode::Request => &[PacketKind::RequestToSend, PacketKind::Probe],
        }
    }
}

/// Packet sequence numbers: the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequences(u32, u32);

impl FromStr for Sequences {
    type Err = ();

    fn from_str(word: &str) -> Result<Sequences, ()> {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let range = first.trim().parse().ok().zip(last.trim().parse().ok());
        let range = range.filter(|(first, last)| first <= last);
        range.map(|(first, last)| Sequences(first, last)).ok_or(())
    }
}

impl fmt::Display for Sequences {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.0, self.1)
    }
}

parsed!(Sequences {
    "text",
    "cannot be",
    "write a packet sequence number, or the first and the last: `10-20`"
});

fn strikes_in_one_way(rule: &Rule, reader: &mut dyn Reader) -> bool {
    let ways = [
        rule.every.is_some(),
        rule.psn.is_some(),
        rule.probability.is_some(),
    ];
    let one = ways.iter().filter(|given| **given).count() == 1;
    if !one {
        let help = "give it one of `every`, `psn` and `probability`";
        reader.refuse_all("does not say in one way which frames it strikes", help);
    }
    one
}

/// Refuses more entries than make sense.
pub(crate) fn check(entries: &[Impairment], scenario: &mut dyn Reader) {
    if entries.len() > ENTRIES_MAX {
        let help = "name many links at once: `all`, `fabric-links`, `host-links`";
        scenario.refuse("impairments", "has more than 10000 entries", help);
    }
}

/// Turns the entries into impairments by link direction; `None` after noting a problem.
pub(crate) fn bind(
    entries: Read<&[Impairment]>,
    topology: &Topology,
    problems: &Problems,
) -> Option<Vec<LinkImpairment>> {
    let entries = entries?;
    let path = Path::new(problems, "impairments");
    // For each direction of each cable the last entry that names it; at first none.
    let mut by_sender = vec![None; 2 * topology.cables.len()];
    let mut complete = true;
    for (index, entry) in entries.iter().enumerate() {
        let path = path.item(index);
        complete &= entry.mark(topology, index, &path, &mut by_sender).is_some();
    }
    // Rules are read even if a link is wrong, so that problems of both show at once.
    let of_entry = |(index, entry): (usize, &Impairment)| entry.plan(topology, &path.item(index));
    let rules: Option<Vec<Vec<RulePlan>>> = entries.iter().enumerate().map(of_entry).collect();
    let rules = rules.filter(|_| complete)?;
    let found = (0..).zip(by_sender);
    let found = found.filter_map(|(link, index): (u32, Option<usize>)| Some((link, index?)));
    let impairments = found.map(|(link, index)| LinkImpairment {
        sender: topology.link_ends(link).0,
        frame_loss: entries[index].frame_loss.probability(),
        bit_errors: entries[index].bit_error_rate.probability(),
        rules: rules[index].clone(),
    });
    Some(impairments.collect())
}

impl Impairment {
    /// Marks each direction on the links that this entry names with its `index`, over earlier
    /// entries.
    fn mark(
        &self,
        topology: &Topology,
        index: usize,
        path: &Path<'_>,
        by_sender: &mut [Option<usize>],
    ) -> Option<()> {
        let fits = |end: CableEnd| match self.link.as_str() {
            "fabric-links" => !topology.is_host(end.node),
            "host-links" => topology.is_host(end.node),
            _ => true,
        };
        let cables: Vec<u32> = match self.link.as_str() {
            "all" | "fabric-links" | "host-links" => {
                let cables = (0..).zip(&topology.cables);
                let cables = cables
                    .filter(|&(number, cable)| fits(cable.ends[0]) && !topology.is_fibre(number));
                cables.map(|(number, _)| number).collect()
            }
            name => LinkName::new(name, self.cable, path).cables(topology)?,
        };
        let mut any = false;
        for cable in cables {
            for end in 0..2 {
                let node = topology.cables[cable as usize].ends[end].node;
                let name = topology.name(node);
                if self.sender == "both" || self.sender == *name {
                    by_sender[2 * cable as usize + end] = Some(index);
                    any = true;
                }
            }
        }
        if !any && self.sender != "both" {
            let help = "name the node at one end of the link, or `both`";
            path.key("sender").problem("is at no end of the link", help);
            return None;
        }
        Some(())
    }

    fn plan(&self, topology: &Topology, path: &Path<'_>) -> Option<Vec<RulePlan>> {
        let rules = self.rules.iter().enumerate();
        let path = path.key("rules");
        rules
            .map(|(index, rule)| rule.plan(topology, &path.item(index)))
            .collect()
    }
}

impl Rule {
    fn plan(&self, topology: &Topology, path: &Path<'_>) -> Option<RulePlan> {
        let host = |name: &Option<String>, key: &str| match name {
            None => Some(None),
            Some(name) => find_host(name, &path.key(key), topology).map(Some),
        };
        let (from, to) = (host(&self.from, "from"), host(&self.to, "to"));
        let kinds = self.opcodes.iter().flat_map(|opcode| opcode.kinds());
        Some(RulePlan {
            // One bit for each kind: the simulation then matches frames with a mask.
            kinds: kinds.fold(0, |bits, kind| bits | 1 << *kind as u8),
            from: from?,
            to: to?,
            strikes: self.strikes()?,
            action: match self.action {
                Action::Drop => TesterAction::Drop,
                Action::Reorder => TesterAction::Hold(self.behind),
            },
        })
    }

    fn strikes(&self) -> Option<Strikes> {
        let most = self.count.unwrap_or(u64::MAX);
        let every = self.every.map(|period| Strikes::Every {
            skip: self.skip,
            period,
            most,
        });
        let of = |Sequences(first, last)| Strikes::Sequences { first, last, most };
        let chance = |of: Chance| Strikes::Chance(of.probability());
        // `strikes_in_one_way` has checked that exactly one is given.
        every.or(self.psn.map(of)).or(self.probability.map(chance))
    }
}

#[cfg(test)]
mod tests {
    use super::Chance;
    use tenter_fabric::net::impairment::Probability;

    fn parse_chance(word: &str) -> Option<Probability> {
        word.parse().ok().map(Chance::probability)
    }

    #[test]
    fn probabilities_are_read_to_the_last_bit() {
        assert_eq!(parse_chance("0.5"), Some(1 << 63));
        assert_eq!(parse_chance("5e-1"), Some(1 << 63));
        assert_eq!(parse_chance("1"), Some(u64::MAX));
        assert_eq!(parse_chance("1.0e0"), Some(u64::MAX));
        assert_eq!(parse_chance("0"), Some(0));
        // 2^64 / 10^6 = 18446744073709.55…
        assert_eq!(parse_chance("1e-6"), Some(18_446_744_073_709));
        assert_eq!(parse_chance("0.000001"), Some(18_446_744_073_709));
        assert_eq!(parse_chance("1e-60"), Some(0));
        for wrong in [
            "", "1.5", "-1", "1e3", "2", "e-6", ".5", "1e-", "nan", "1e-9999",
        ] {
            assert_eq!(parse_chance(wrong), None, "{wrong}");
        }
    }
}
