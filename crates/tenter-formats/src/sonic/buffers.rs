//! Pools and profiles: the space that a class shares, the space reserved for it, and the threshold
//! at which its senders are paused.

use tenter_fabric::net::headroom::{self, SonicLink};
use tenter_language::units::{Rate, Time};

use crate::config_db::{Id, Reference};
use crate::fragment::{Part, size, word};
use crate::sonic::classes::Class;
use crate::sonic::input::Import;

/// Largest size in a file: 1 TiB.
const SIZE_MAX: i64 = 1 << 40;
/// The pool that `SONiC`'s templates give to lossless traffic; taken where no profile names one.
const LOSSLESS_POOL: &str = "ingress_lossless_pool";

/// The buffer profile of a priority group or a queue.
enum Profile {
    Given(Id),
    /// The switch computes the profile from port speed and cable length.
    Dynamic,
    Missing,
}

impl Import<'_> {
    /// Adds the limits of class `number` in the buffer, and its pauses if it is lossless.
    pub(super) fn space(&self, number: u8, queue: u8, paused: bool, class: &mut Class) {
        let group = self.port.groups.get(&self.group(number)).copied();
        let queue = self.port.buffers.get(&queue).copied();
        let of_group = self.profile(group);
        if paused {
            if let Profile::Given(profile) = self.profile(queue) {
                let reason = "a lossless class is limited where it comes in; its limit at the output has no counterpart";
                self.elsewhere(profile, reason);
            }
            self.lossless(number, &of_group, class);
            return;
        }
        let of_queue = self.profile(queue);
        if let Profile::Given(profile) = of_group {
            if self.is_lossless(profile) {
                let reason = format!(
                    "has headroom for class {number}, which `pfc_enable` does not list: it is lossy"
                );
                self.warn(&self.database.place(profile), &reason);
            }
            if matches!(of_queue, Profile::Given(_)) {
                let reason = "a lossy class is limited at its output queue; its limit where it comes in has no counterpart";
                self.elsewhere(profile, reason);
            }
        }
        // A lossy class without a profile for its queue has that of its priority group.
        match (of_queue, of_group) {
            (Profile::Given(profile), _) | (_, Profile::Given(profile)) => {
                self.limits(profile, 0, class);
            }
            _ if self.nothing_shared() => {}
            _ => {
                let place = format!("BUFFER_QUEUE|{}|{number}", self.port.name);
                let reason = "no buffer profile: the class takes space from the first pool, up to as much as is free there";
                self.warn(&place, reason);
            }
        }
    }

    fn profile(&self, of: Option<Id>) -> Profile {
        let named = of.map(|of| self.database.reference(of, "profile", "BUFFER_PROFILE"));
        match named.flatten() {
            Some(Reference::Object(profile)) => Profile::Given(profile),
            Some(Reference::Null) => Profile::Dynamic,
            // An object without the field and a wrong reference, which has been reported, are alike
            // here.
            None => Profile::Missing,
        }
    }

    fn is_lossless(&self, profile: Id) -> bool {
        self.database.has(profile, "xoff") || self.is_dynamic(profile)
    }

    fn is_dynamic(&self, profile: Id) -> bool {
        self.database.text(profile, "headroom_type") == Some("dynamic")
    }

    /// Warns that a profile has no counterpart here, and marks all of it as read.
    fn elsewhere(&self, profile: Id, reason: &str) {
        self.warn(&self.database.place(profile), reason);
        self.database.read_all(profile);
    }

    /// Adds pauses, headroom and limits of a lossless class.
    fn lossless(&self, number: u8, profile: &Profile, class: &mut Class) {
        let database = self.database;
        let given = match profile {
            Profile::Given(profile) => Some(*profile),
            Profile::Dynamic | Profile::Missing => None,
        };
        let maps = self
            .port
            .maps
            .expect("a priority is paused, so the port has maps");
        let mut parts = Vec::new();
        let offset = given.and_then(|profile| {
            let bytes = database.number(profile, "xon_offset", 0..=SIZE_MAX)?;
            let origin = database.field_place(profile, "xon_offset");
            Some(size("xon_offset", bytes as u64, origin))
        });
        parts.extend(offset);
        let (part, headroom) = self.headroom(number, given, matches!(profile, Profile::Missing));
        parts.push(part);
        class.outside += headroom;
        class.parts.push(Part::Map {
            key: "lossless",
            parts,
            origin: database.field_place(maps, "pfc_enable"),
        });
        match given {
            Some(profile) => self.limits(profile, headroom, class),
            None => self.default_limits(number, class),
        }
    }

    /// Returns the headroom of a lossless class as an entry, and its bytes at each port.
    fn headroom(&self, number: u8, profile: Option<Id>, missing: bool) -> (Part, u64) {
        let database = self.database;
        if let Some(profile) = profile.filter(|&profile| database.has(profile, "xoff")) {
            let bytes = database.number(profile, "xoff", 0..=SIZE_MAX);
            let bytes = bytes.unwrap_or_default() as u64;
            let origin = database.field_place(profile, "xoff");
            if database.has(profile, "xon") {
                let xon = database.number(profile, "xon", 0..=SIZE_MAX);
                if xon.is_some_and(|xon| xon > 0) {
                    let reason = "senders go on where the account is `xon_offset` below its threshold, or empty; a fixed level has no counterpart";
                    self.warn(&database.field_place(profile, "xon"), reason);
                }
            }
            return (size("headroom", bytes, origin), bytes);
        }
        let static_profile = profile.filter(|&profile| !self.is_dynamic(profile));
        if let Some(profile) = static_profile {
            let place = database.place(profile);
            let reason = format!(
                "has no `xoff` for class {number}, which `pfc_enable` lists: without headroom it may lose frames"
            );
            self.warn(&place, &reason);
            return (size("headroom", 0, place), 0);
        }
        if missing {
            let place = format!("BUFFER_PG|{}|{}", self.port.name, self.group(number));
            let reason = "no buffer profile, which SONiC makes from speed and cable: the headroom is by the formula of its dynamic calculation";
            self.warn(&place, reason);
        }
        // Only the buffer size needs a number here; the scenario computes headroom from its own
        // links. A wide guess, as those are not known yet: 800 Gbit/s and 300 m.
        let link = SonicLink::with_defaults(Rate::from_gbps(800), Time::from_ns(1515), 4_174);
        let origin = "SONiC works it out from speed and cable, and so does Tenter";
        (word("headroom", "sonic", origin), headroom::sonic(&link))
    }

    /// Adds pool, threshold and reserved space of a profile.
    fn limits(&self, profile: Id, headroom: u64, class: &mut Class) {
        let database = self.database;
        let place = |field| database.field_place(profile, field);
        let pool = database.reference(profile, "pool", "BUFFER_POOL");
        match pool {
            Some(Reference::Object(pool)) => {
                class.pool = Some(pool);
                let name = database.key(pool);
                class.parts.push(word("pool", name, place("pool")));
            }
            // The reference names no existing pool, which has been reported.
            _ if database.has(profile, "pool") && pool.is_none() => {}
            _ => database.wrong(profile, "pool", "names no pool", "name one of BUFFER_POOL"),
        }
        let (dynamic, fixed) = ("dynamic_th", "static_th");
        match (database.has(profile, dynamic), database.has(profile, fixed)) {
            (true, false) => {
                let exponent = database.number(profile, dynamic, -16..=16);
                let alpha = exponent.map(|exponent| word("alpha", alpha(exponent), place(dynamic)));
                class.parts.extend(alpha);
            }
            (false, true) => {
                let bytes = database.number(profile, fixed, 0..=SIZE_MAX);
                let limit = bytes.map(|bytes| size("limit", bytes as u64, place(fixed)));
                class.parts.extend(limit);
            }
            (true, true) => {
                let help = "keep one of them";
                database.wrong(profile, fixed, "and `dynamic_th` exclude each other", help);
            }
            (false, false) => {
                let help = "give `dynamic_th` or `static_th`";
                database.wrong_object(profile, "has no threshold", help);
            }
        }
        let bytes = database
            .number(profile, "size", 0..=SIZE_MAX)
            .unwrap_or_default() as u64;
        let mut reserved = bytes;
        if headroom > 0 && bytes >= headroom {
            // Guess: on some platforms `size` covers reserved space and headroom together. A `size`
            // that is at least the headroom is taken for such a sum.
            reserved = bytes - headroom;
            let reason = format!(
                "is taken to hold the headroom, as it is no smaller: {reserved} bytes are reserved beside it"
            );
            self.warn(&place("size"), &reason);
        }
        if reserved > 0 {
            class.parts.push(size("reserved", reserved, place("size")));
        }
        class.outside += reserved;
    }

    /// Adds pool and threshold of a lossless class whose profile `SONiC` computes itself.
    fn default_limits(&self, number: u8, class: &mut Class) {
        let database = self.database;
        if self.nothing_shared() {
            return;
        }
        let Some(pool) = database.find("BUFFER_POOL", LOSSLESS_POOL) else {
            let place = format!("BUFFER_PG|{}|{}", self.port.name, self.group(number));
            let reason = "no buffer profile, and no `ingress_lossless_pool`: the class takes space from the first pool, up to as much as is free there";
            self.warn(&place, reason);
            return;
        };
        class.pool = Some(pool);
        class
            .parts
            .push(word("pool", LOSSLESS_POOL, database.place(pool)));
        let mut defaults = database.objects("DEFAULT_LOSSLESS_BUFFER_PARAMETER");
        if let Some((defaults, _)) = defaults.next() {
            let key = "default_dynamic_th";
            let origin = database.field_place(defaults, key);
            let exponent = database.number(defaults, key, -16..=16);
            let alpha = exponent.map(|exponent| word("alpha", alpha(exponent), origin));
            class.parts.extend(alpha);
        }
    }

    /// Makes `buffer` with the pools that classes take space from.
    pub(super) fn buffer(&self, classes: &[Class]) -> Option<Part> {
        let database = self.database;
        let mut total: u64 = 0;
        let mut sides = Vec::new();
        let mut items = Vec::new();
        let mut shared_headroom = None;
        for (pool, name) in database.objects("BUFFER_POOL") {
            if !classes.iter().any(|class| class.pool == Some(pool)) {
                continue;
            }
            if !database.has(pool, "size") {
                let help = "add it: SONiC works it out while it runs, and `show buffer information` tells it";
                database.wrong(pool, "size", "is missing", help);
            }
            let bytes = database
                .number(pool, "size", 1..=SIZE_MAX)
                .unwrap_or_default() as u64;
            total = total.saturating_add(bytes);
            sides.extend(database.text(pool, "type"));
            // Thresholds tell whether they are dynamic, so the mode is read and not needed.
            database.text(pool, "mode");
            if database.has(pool, "xoff") {
                let bytes = database
                    .number(pool, "xoff", 0..=SIZE_MAX)
                    .unwrap_or_default() as u64;
                let place = database.field_place(pool, "xoff");
                if bytes > 0 && shared_headroom.is_none() {
                    shared_headroom = Some((bytes, place));
                } else if bytes > 0 {
                    let reason =
                        "a switch has one pool of headroom here, that of the first pool with one";
                    self.warn(&place, reason);
                }
            }
            items.push(vec![
                word("name", name, database.place(pool)),
                size("size", bytes, database.field_place(pool, "size")),
            ]);
        }
        if items.is_empty() {
            return None;
        }
        if sides.contains(&"ingress") && sides.contains(&"egress") {
            let reason = "pools of ingress and egress count the same memory there, and are parts of the buffer beside each other in a scenario";
            self.warn("BUFFER_POOL", reason);
        }
        let outside = classes
            .iter()
            .fold(0, |sum: u64, class| sum.saturating_add(class.outside));
        let ports = self.port.count;
        // `buffer.size` is no setting of SONiC, but the sum that all ports and pools need.
        let whole = total.saturating_add(outside.saturating_mul(ports));
        let origin = format!("the pools, and {outside} bytes at each of {ports} ports");
        let pools = Part::List {
            key: "pools",
            items,
        };
        let mut parts = vec![size("size", whole, origin), pools];
        parts.extend(shared_headroom.map(|(bytes, place)| size("headroom_pool", bytes, place)));
        Some(Part::Map {
            key: "buffer",
            parts,
            origin: String::new(),
        })
    }
}

/// Returns 2 to the power of `dynamic_th`, as a fraction if that is negative.
fn alpha(exponent: i64) -> String {
    let power = 1_u32 << exponent.unsigned_abs();
    if exponent < 0 {
        format!("1/{power}")
    } else {
        power.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::alpha;

    #[test]
    fn thresholds_are_powers_of_two() {
        let exponents = [(-6, "1/64"), (-1, "1/2"), (0, "1"), (3, "8"), (16, "65536")];
        for (exponent, expected) in exponents {
            assert_eq!(alpha(exponent), expected);
        }
    }
}
