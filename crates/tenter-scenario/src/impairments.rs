//! The `impairments` section: what bad cables, or a tester in their place, do to frames.

use tenter_net::PacketKind;
use tenter_net::impairment::{HOLD_MAX, Probability, Strikes, TesterAction};
use tenter_topology::{CableEnd, Topology};

use crate::links::{LinkName, find_host};
use tenter_config::Presence::{Default, Depends, Required};
use tenter_config::{KeyTable, key};
use tenter_notation::decode::{Field, Read, Section, suggestion};
use tenter_plan::{LinkImpairment, RulePlan};

const IMPAIRMENT: KeyTable = KeyTable {
    title: "`impairments[]`",
    keys: &[
        key(
            "link",
            "text",
            Required,
            "The link between two nodes (`leaf0-spine1`), or `all`, `fabric-links` or `host-links`; of several entries for one link the last holds",
        ),
        key(
            "cable",
            "number, or `all`",
            Default("all"),
            "Which of several parallel cables",
        ),
        key(
            "sender",
            "text",
            Default("both"),
            "The node whose frames suffer, or `both` ends of the link",
        ),
        key(
            "frame_loss",
            "0 to 1",
            Default("0"),
            "The probability of losing a frame, of any kind and size: `1e-6`",
        ),
        key(
            "bit_error_rate",
            "0 to 1",
            Default("0"),
            "The probability of receiving a bit wrong; a frame with such a bit is lost",
        ),
        key(
            "rules",
            "list",
            Default("[]"),
            "What a tester does to some frames; each suffers from the first rule that strikes it",
        ),
    ],
};

const RULE: KeyTable = KeyTable {
    title: "`impairments[].rules[]`",
    keys: &[
        key(
            "opcodes",
            "list of `first`, `middle`, `last`, `only`, `ack`, `nak`, `cnp`, `signal`, `connect` or `end-of-data`",
            Default("[first, middle, last, only]"),
            "Kinds of frames it is for; the first four are those of data",
        ),
        key(
            "from",
            "text",
            Depends("any"),
            "The host the frames come from",
        ),
        key("to", "text", Depends("any"), "The host the frames go to"),
        key(
            "every",
            "count",
            Depends("one of the three"),
            "It strikes one frame in this many",
        ),
        key(
            "psn",
            "text",
            Depends("one of the three"),
            "It strikes those with these packet sequence numbers, counted from 0 in each queue pair; `10-20`",
        ),
        key(
            "probability",
            "0 to 1",
            Depends("one of the three"),
            "It strikes each with this probability",
        ),
        key(
            "skip",
            "number",
            Default("0"),
            "With `every`: frames that pass before it begins to count",
        ),
        key(
            "count",
            "count, or `none`",
            Default("none"),
            "With `every` and `psn`: how often it strikes at most",
        ),
        key(
            "action",
            "`drop` or `reorder`",
            Default("drop"),
            "Whether they are lost, or held back until others have passed",
        ),
        key(
            "behind",
            "1 to 511",
            Default("1"),
            "With `reorder`: further frames of the link that pass first",
        ),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 2] = [&IMPAIRMENT, &RULE];

/// The most entries, and the most rules of one.
const ENTRIES_MAX: usize = 10_000;

/// An entry, read; names are looked up when the fabric is known.
pub(crate) struct ImpairmentDraft<'p> {
    links: Links<'p>,
    sender: Option<Field<'p>>,
    frame_loss: Probability,
    bit_errors: Probability,
    rules: Vec<RuleDraft<'p>>,
}

enum Links<'p> {
    All,
    Fabric,
    Hosts,
    Named(Box<LinkName<'p>>),
}

struct RuleDraft<'p> {
    kinds: u16,
    from: Option<Field<'p>>,
    to: Option<Field<'p>>,
    strikes: Strikes,
    action: TesterAction,
}

/// Reads `impairments`.
pub(crate) fn read<'p>(scenario: &mut Section<'p>) -> Read<Vec<ImpairmentDraft<'p>>> {
    let field = scenario.take("impairments")?;
    if field.count().is_some_and(|count| count > ENTRIES_MAX) {
        let help = "name many links at once: `all`, `fabric-links`, `host-links`";
        field.problem("has more than 10000 entries", help.to_owned());
        return None;
    }
    let (drafts, node) = field.each(|_, item| {
        let mut section = item.section(&IMPAIRMENT);
        let draft = read_one(&mut section);
        (draft, section.finish())
    });
    scenario.put("impairments", node);
    drafts
}

fn read_one<'p>(section: &mut Section<'p>) -> Option<ImpairmentDraft<'p>> {
    let link = section.take("link");
    let cable = section.take("cable");
    let sender = section.take("sender");
    let frame_loss = section
        .take("frame_loss")
        .and_then(|field| read_chance(&field));
    let bit_errors = section
        .take("bit_error_rate")
        .and_then(|field| read_chance(&field));
    let rules_field = section.take("rules")?;
    let (rules, node) = rules_field.each(|_, item| {
        let mut section = item.section(&RULE);
        let rule = read_rule(&mut section);
        (rule, section.finish())
    });
    section.put("rules", node);
    let link = link?;
    let links = match link.word() {
        Some("all") => Links::All,
        Some("fabric-links") => Links::Fabric,
        Some("host-links") => Links::Hosts,
        _ => Links::Named(Box::new(LinkName::new(link, cable?)?)),
    };
    Some(ImpairmentDraft {
        links,
        sender: sender.filter(|field| field.word() != Some("both")),
        frame_loss: frame_loss?,
        bit_errors: bit_errors?,
        rules: rules?,
    })
}

fn read_rule<'p>(section: &mut Section<'p>) -> Option<RuleDraft<'p>> {
    let kinds = section
        .take("opcodes")
        .and_then(|field| read_opcodes(&field));
    let (from, to) = (section.take("from"), section.take("to"));
    let chosen = ["every", "psn", "probability"];
    let chosen: Vec<&str> = chosen
        .into_iter()
        .filter(|name| section.has(name))
        .collect();
    let skip = section.integer::<u64>("skip", 0..=u64::MAX >> 1);
    let count = section
        .take("count")
        .and_then(|field| field.or_none(|field| field.integer::<u64>(1..=u64::MAX >> 1)));
    let action = section.choice("action", &[("drop", false), ("reorder", true)]);
    let behind = section.integer::<u16>("behind", 1..=u64::from(HOLD_MAX));
    let [name] = chosen.as_slice() else {
        for name in chosen {
            section.take(name);
        }
        let help = "give it one of `every`, `psn` and `probability`".to_owned();
        section.problem("does not say in one way which frames it strikes", help);
        return None;
    };
    let field = section.take(name)?;
    let (skip, most) = (skip?, count?.unwrap_or(u64::MAX));
    let strikes = match *name {
        "every" => Strikes::Every {
            skip,
            period: field.integer(1..=u64::MAX >> 1)?,
            most,
        },
        "psn" => {
            let (first, last) = read_sequences(&field)?;
            Strikes::Sequences { first, last, most }
        }
        _ => Strikes::Chance(read_chance(&field)?),
    };
    let behind = behind?;
    Some(RuleDraft {
        kinds: kinds?,
        from,
        to,
        strikes,
        action: if action? {
            TesterAction::Hold(behind)
        } else {
            TesterAction::Drop
        },
    })
}

/// The words for kinds of frames.
const OPCODES: [(&str, &[PacketKind]); 10] = [
    ("first", &[PacketKind::First]),
    ("middle", &[PacketKind::Middle]),
    ("last", &[PacketKind::Last]),
    ("only", &[PacketKind::Only]),
    ("ack", &[PacketKind::Ack]),
    ("nak", &[PacketKind::Nak, PacketKind::SelectiveNak]),
    ("cnp", &[PacketKind::Cnp]),
    ("signal", &[PacketKind::Signal]),
    (
        "connect",
        &[PacketKind::ConnectRequest, PacketKind::ConnectReply],
    ),
    ("end-of-data", &[PacketKind::EndOfData]),
];

fn read_opcodes(field: &Field<'_>) -> Option<u16> {
    let mut kinds = 0;
    for item in field.items()? {
        let word = item.word().unwrap_or_default();
        let Some((_, of)) = OPCODES.iter().find(|(name, _)| *name == word) else {
            let help = suggestion(word, OPCODES.iter().map(|(name, _)| *name));
            item.problem(&format!("cannot be {}", item.node.describe()), help);
            return None;
        };
        kinds |= of.iter().fold(0, |bits, kind| bits | 1 << *kind as u8);
    }
    Some(kinds)
}

fn read_sequences(field: &Field<'_>) -> Option<(u32, u32)> {
    let word = field.word().unwrap_or_default();
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let range = first.trim().parse().ok().zip(last.trim().parse().ok());
    let range = range.filter(|(first, last)| first <= last);
    if range.is_none() {
        let help = "write a packet sequence number, or the first and the last: `10-20`";
        field.problem(
            &format!("cannot be {}", field.node.describe()),
            help.to_owned(),
        );
    }
    range
}

/// A probability in decimals or with an exponent, exactly to 2⁻⁶⁴.
pub(crate) fn read_chance(field: &Field<'_>) -> Option<Probability> {
    let value = parse_chance(field.word().unwrap_or_default());
    if value.is_none() {
        let help = "write a probability from 0 to 1, for example `0.001` or `1e-6`";
        field.problem(
            &format!("cannot be {}", field.node.describe()),
            help.to_owned(),
        );
    }
    value
}

fn parse_chance(word: &str) -> Option<Probability> {
    let (decimal, exponent) = word.split_once(['e', 'E']).unwrap_or((word, "0"));
    let (whole, decimals) = decimal.split_once('.').unwrap_or((decimal, ""));
    let digits = format!("{whole}{decimals}");
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain || whole.is_empty() || digits.len() > 17 || exponent.len() > 3 {
        return None;
    }
    let mantissa = u128::from(digits.parse::<u64>().ok()?);
    let exponent: i32 = exponent.parse().ok()?;
    // The value is mantissa / 10^places.
    let places = i32::try_from(decimals.len()).ok()? - exponent;
    if mantissa == 0 {
        return Some(0);
    }
    if places < 0 {
        return None;
    }
    // Smaller than anything that 2⁻⁶⁴ can tell from 0.
    let Some(divisor) = 10_u128.checked_pow(places as u32) else {
        return Some(0);
    };
    if mantissa > divisor {
        return None;
    }
    Some(u64::try_from((mantissa << 64) / divisor).unwrap_or(u64::MAX))
}

/// The entries by the numbers of a fabric.
pub(crate) fn bind(
    drafts: &[ImpairmentDraft<'_>],
    topology: &Topology,
) -> Option<Vec<LinkImpairment>> {
    let mut by_sender = vec![None; 2 * topology.cables.len()];
    let mut complete = true;
    for (index, draft) in drafts.iter().enumerate() {
        complete &= draft.mark(topology, index, &mut by_sender).is_some();
    }
    let rules: Option<Vec<Vec<RulePlan>>> =
        drafts.iter().map(|draft| draft.rules(topology)).collect();
    let rules = rules.filter(|_| complete)?;
    let found = (0..).zip(by_sender);
    let found = found.filter_map(|(link, index): (u32, Option<usize>)| Some((link, index?)));
    let impairments = found.map(|(link, index)| LinkImpairment {
        sender: topology.link_ends(link).0,
        frame_loss: drafts[index].frame_loss,
        bit_errors: drafts[index].bit_errors,
        rules: rules[index].clone(),
    });
    Some(impairments.collect())
}

impl ImpairmentDraft<'_> {
    /// Notes for each direction of a link that this entry is for that it holds there.
    fn mark(
        &self,
        topology: &Topology,
        index: usize,
        by_sender: &mut [Option<usize>],
    ) -> Option<()> {
        let fits = |end: CableEnd| match self.links {
            Links::Fabric => !topology.is_host(end.node),
            Links::Hosts => topology.is_host(end.node),
            Links::All | Links::Named(_) => true,
        };
        let cables: Vec<u32> = if let Links::Named(name) = &self.links {
            name.cables(topology)?
        } else {
            let cables = (0..).zip(&topology.cables);
            let cables =
                cables.filter(|&(number, cable)| fits(cable.ends[0]) && !topology.is_fibre(number));
            cables.map(|(number, _)| number).collect()
        };
        let mut any = false;
        for cable in cables {
            for end in 0..2 {
                let node = topology.cables[cable as usize].ends[end].node;
                let name = &topology.nodes[node as usize].name;
                let sender = self.sender.as_ref();
                if sender.is_none_or(|field| field.word() == Some(name)) {
                    by_sender[2 * cable as usize + end] = Some(index);
                    any = true;
                }
            }
        }
        if let (Some(sender), false) = (&self.sender, any) {
            let help = "name the node at one end of the link, or `both`".to_owned();
            sender.problem("is at no end of the link", help);
            return None;
        }
        Some(())
    }

    fn rules(&self, topology: &Topology) -> Option<Vec<RulePlan>> {
        let host = |field: &Option<Field<'_>>| match field {
            None => Some(None),
            Some(field) => find_host(field, topology).map(Some),
        };
        let rule = |rule: &RuleDraft<'_>| {
            let (from, to) = (host(&rule.from), host(&rule.to));
            Some(RulePlan {
                kinds: rule.kinds,
                from: from?,
                to: to?,
                strikes: rule.strikes,
                action: rule.action,
            })
        };
        self.rules.iter().map(rule).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::parse_chance;

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
