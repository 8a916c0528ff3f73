//! One thread's share of the nodes: their inputs, their outputs, and when they have work.

mod leap;

use std::collections::BTreeMap;

use tenter_units::Instant;

use crate::arrival::Arrival;
use crate::calendar::Calendar;
use crate::event_list::{BUCKET_PS_MAX, EventList, Inbox};
use crate::home::LocalNode;
use crate::prefetch::prefetch_at;

pub use leap::UnderWay;

/// The model of one thread's nodes.
pub trait Nodes: Send {
    /// What travels between nodes.
    type Item: Arrival;

    /// Brings a node to the end of the visit's window.
    ///
    /// The node must handle everything that happens to it before [`Visit::end`], in the order
    /// *departures, arrivals by input, timers* at equal times; whatever it sends must arrive at or
    /// after the end; and it must ask for its next visit with [`Visit::wake`] where it has work of
    /// its own (a queue, a timer) then.
    fn visit(
        &mut self,
        node: LocalNode,
        arrivals: &EventList<Self::Item>,
        visit: &mut Visit<'_, Self::Item>,
    );

    /// Prefetches the memory in which a node begins, for a visit in a little while.
    fn prefetch(&self, _node: LocalNode) {}

    /// Prefetches what a node will need for what arrives in its next visit.
    fn prefetch_for<'i>(&self, _node: LocalNode, _arrivals: impl Iterator<Item = &'i Self::Item>) {}
}

/// Where an output of a node leads: an input of a node of some part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// The part (thread) that owns the receiving node.
    pub part: u16,
    /// The input's index among the node's inputs; ties in time are broken by it.
    pub input: u16,
    /// The node's number within that part.
    pub node: LocalNode,
}

/// An item for a node of another part.
pub(crate) type Outgoing<T> = (LocalNode, u16, T);

/// Sizes of nodes: the bits of their number of inputs.
const SIZES: usize = 17;

/// At most so many inboxes per node; what arrives later than that many buckets ahead waits
/// elsewhere.
const SLOTS_MAX: u64 = 64;

/// So many nodes do not stay in the cache from one visit to the next. Tests prefetch for any.
const MANY_NODES: usize = if cfg!(debug_assertions) { 1 } else { 1_000 };

/// Offsets are below 2²⁷ ps (64 slots of 2²¹ ps), and a reciprocal rounded up by less than one is
/// too large by less than `bucket_ps` / 2⁴⁸; so a product errs by less than a unit and its whole
/// part is the exact quotient.
const RECIPROCAL_SHIFT: u32 = 48;

/// The engine's side of one part: inboxes, calendar and outboxes.
#[derive(Debug)]
pub struct Lane<T> {
    part: u16,
    bucket_ps: u64,
    /// Inboxes per node, a power of two: one for each of the buckets in which what is sent now may
    /// arrive.
    slots: u64,
    /// How far ahead of the bucket's start an item may arrive to be put straight into its inbox;
    /// zero where that is not enough.
    span_ps: u64,
    /// One over `bucket_ps`, in units of 2⁻⁴⁸, rounded up.
    reciprocal: u64,
    inboxes: Vec<Inbox<T>>,
    /// For each node which of its inboxes hold something, one bit per slot.
    filled: Vec<u64>,
    /// Items that arrive beyond the slots, by bucket.
    later: BTreeMap<u64, Vec<Outgoing<T>>>,
    /// Empty inboxes with room, the one used last on top: its memory is still in the cache. Nodes
    /// share them by the size of their inputs' number, so that a host does not end up with the
    /// memory of a switch.
    spare: [Vec<Inbox<T>>; SIZES],
    /// The size of each node.
    sizes: Vec<u8>,
    /// The size of the node whose inbox is in the event list.
    event_list_size: u8,
    /// Items for other parts.
    pub(crate) outboxes: Vec<Vec<Outgoing<T>>>,
    /// Earliest arrival among the items in the outboxes.
    pub(crate) earliest_outgoing: Instant,
    pub(crate) calendar: Calendar,
    /// The bucket of the current window and its start.
    bucket: u64,
    bucket_start: Instant,
    /// Whether the calendar must know the exact instant of each node's next arrival, not only its
    /// bucket.
    exact: bool,
    /// Whether there are so many nodes that they leave the cache from one visit to the next.
    is_large: bool,
    event_list: EventList<T>,
    /// The nodes of the current window, in the order of their visits.
    due: Vec<LocalNode>,
    visits: u64,
    windows: u64,
    /// Visits and arrivals: what a window costs goes by them.
    pub(crate) work: u64,
}

/// The lanes of all other parts, where one thread has them all: what is sent is delivered at once.
#[derive(Debug)]
pub(crate) struct Peers<'a, T> {
    /// Those of parts with lower numbers, in order, and those with higher ones.
    pub(crate) before: &'a mut [Lane<T>],
    pub(crate) after: &'a mut [Lane<T>],
}

impl<T> Peers<'_, T> {
    /// None: items for other parts go into outboxes.
    pub(crate) fn none() -> Self {
        Peers {
            before: &mut [],
            after: &mut [],
        }
    }

    /// Where the lane of a part is among those before, or else among those after.
    #[inline]
    fn place(&self, part: u16) -> (bool, usize) {
        let part = usize::from(part);
        let before = self.before.len();
        (
            part < before,
            part.wrapping_sub(before + usize::from(part >= before)),
        )
    }

    #[inline]
    fn lane(&self, part: u16) -> Option<&Lane<T>> {
        match self.place(part) {
            (true, _) => self.before.get(usize::from(part)),
            (false, place) => self.after.get(place),
        }
    }

    #[inline]
    fn lane_mut(&mut self, part: u16) -> Option<&mut Lane<T>> {
        match self.place(part) {
            (true, _) => self.before.get_mut(usize::from(part)),
            (false, place) => self.after.get_mut(place),
        }
    }

    fn reborrow(&mut self) -> Peers<'_, T> {
        Peers {
            before: self.before,
            after: self.after,
        }
    }
}

/// Collects the nodes of a part before the run.
#[derive(Debug, Default)]
pub struct LaneBuilder {
    sizes: Vec<u8>,
}

/// What all lanes of a simulation have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneLayout {
    /// How many parts there are.
    pub parts: u16,
    /// Length of a calendar bucket in ps: below 2 097 152 (2²¹).
    pub bucket_ps: u64,
    /// The longest an item is under way, in ps, beyond the visit that sends it; longer is possible
    /// but slower.
    pub flight_ps: u64,
    /// Whether [`Windows::Central`](crate::Windows::Central) will be used.
    pub central: bool,
}

impl LaneBuilder {
    /// Adds a node with this many inputs; returns its number within the part.
    pub fn add_node(&mut self, inputs: u16) -> LocalNode {
        self.sizes.push((u16::BITS - inputs.leading_zeros()) as u8);
        LocalNode::new(self.sizes.len() as u32 - 1)
    }

    /// The lane of part number `part`.
    ///
    /// # Panics
    /// When buckets are longer than the layout allows.
    pub fn build<T: Arrival>(self, part: u16, layout: LaneLayout) -> Lane<T> {
        let LaneLayout {
            parts,
            bucket_ps,
            flight_ps,
            central,
        } = layout;
        assert!(
            bucket_ps < BUCKET_PS_MAX,
            "a bucket lasts less than {BUCKET_PS_MAX} ps"
        );
        let nodes = self.sizes.len();
        // Sent at the end of a bucket, an item arrives so many buckets later.
        let slots = (flight_ps / bucket_ps + 2)
            .next_power_of_two()
            .min(SLOTS_MAX);
        Lane {
            part,
            bucket_ps,
            slots,
            span_ps: if central { 0 } else { slots * bucket_ps },
            reciprocal: (1_u64 << RECIPROCAL_SHIFT).div_ceil(bucket_ps),
            inboxes: (0..nodes * slots as usize)
                .map(|_| Inbox::default())
                .collect(),
            filled: vec![0; nodes],
            later: BTreeMap::new(),
            spare: std::array::from_fn(|_| Vec::new()),
            sizes: self.sizes,
            event_list_size: 0,
            outboxes: (0..parts).map(|_| Vec::new()).collect(),
            earliest_outgoing: Instant::NEVER,
            calendar: Calendar::new(nodes, bucket_ps),
            bucket: 0,
            bucket_start: Instant::START,
            exact: central,
            is_large: nodes >= MANY_NODES,
            event_list: EventList::default(),
            due: Vec::new(),
            visits: 0,
            windows: 0,
            work: 0,
        }
    }
}

impl<T: Arrival> Lane<T> {
    /// Takes the lane, and leaves one without nodes.
    pub(crate) fn take(&mut self) -> Lane<T> {
        let layout = LaneLayout {
            parts: 0,
            bucket_ps: 1,
            flight_ps: 0,
            central: false,
        };
        std::mem::replace(self, LaneBuilder::default().build(0, layout))
    }

    /// Asks for a visit of a node at an instant or earlier.
    pub fn wake(&mut self, node: LocalNode, at: Instant) {
        self.calendar.wake(node, at);
    }

    /// How many node visits there were.
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// How many windows it ran.
    pub fn windows(&self) -> u64 {
        self.windows
    }

    /// Everything on its way to a node: (input of the node, item).
    pub fn in_flight(&self, node: LocalNode) -> impl Iterator<Item = (u16, &T)> {
        let first = u64::from(node.number()) * self.slots;
        let inboxes = &self.inboxes[first as usize..(first + self.slots) as usize];
        let later = self
            .later
            .values()
            .flatten()
            .filter(move |(to, _, _)| *to == node);
        let later = later.map(|(_, input, item)| (*input, item));
        inboxes.iter().flat_map(Inbox::iter).chain(later)
    }

    /// Takes everything out that is on its way to an input of a node, at an edge: it is lost. In no
    /// particular order.
    pub fn lose(&mut self, node: LocalNode, input: u16) -> Vec<T> {
        let mut lost = Vec::new();
        let first = u64::from(node.number()) * self.slots;
        for slot in 0..self.slots {
            let inbox = &mut self.inboxes[(first + slot) as usize];
            inbox.take_out(input, &mut lost);
            if inbox.is_empty() {
                self.filled[node.index()] &= !(1 << slot);
            }
        }
        for items in self.later.values_mut() {
            items.retain(|&(to, through, item)| {
                let is_lost = (to, through) == (node, input);
                if is_lost {
                    lost.push(item);
                }
                !is_lost
            });
        }
        self.later.retain(|_, items| !items.is_empty());
        lost
    }

    /// What the model does at an edge, with a way to send: it may put items onto links.
    pub(crate) fn act<R>(&mut self, at: Instant, act: impl FnOnce(&mut Visit<'_, T>) -> R) -> R {
        act(&mut Visit {
            lane: self,
            peers: Peers::none(),
            end: at,
            own_next: Instant::NEVER,
        })
    }

    /// Puts an item into an inbox of this part.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a quarter of it"
    )]
    #[inline(always)]
    pub(crate) fn deliver(&mut self, node: LocalNode, input: u16, at: Instant, item: &T) {
        let offset = (at - self.bucket_start).ps();
        if offset < self.span_ps {
            let (ahead, place) = self.inbox_after(node, offset);
            let inbox = &mut self.inboxes[place];
            if inbox.push_further(offset - ahead * self.bucket_ps, input, at, item) {
                return;
            }
            self.deliver_first(node, input, self.bucket + ahead, at, *item);
        } else {
            self.deliver_afar(node, input, at, *item);
        }
    }

    /// As [`Lane::deliver`], for what arrives later than the slots reach or must be known exactly.
    #[inline(never)]
    fn deliver_afar(&mut self, node: LocalNode, input: u16, at: Instant, item: T) {
        let bucket = at.ps() / self.bucket_ps;
        if bucket < self.bucket + self.slots {
            self.deliver_first(node, input, bucket, at, item);
        } else {
            self.deliver_later(node, input, bucket, at, item);
        }
    }

    /// As [`Lane::deliver`], into a bucket that has a slot, for the cases that need more than a
    /// push.
    ///
    /// It takes the item itself: one that nobody refers to need not be put together in memory.
    #[inline(never)]
    fn deliver_first(
        &mut self,
        node: LocalNode,
        input: u16,
        bucket: u64,
        at: Instant,
        mut item: T,
    ) {
        item.set_at(at);
        let slot = bucket & (self.slots - 1);
        let place = self.place(node, slot);
        let inbox = &mut self.inboxes[place];
        if !inbox.has_room()
            && let Some(spare) = self.spare[usize::from(self.sizes[node.index()])].pop()
        {
            *inbox = spare;
        }
        if inbox.is_empty() {
            self.filled[node.index()] |= 1 << slot;
            self.calendar
                .wake_in_bucket(node, bucket, self.exact.then_some(at));
        } else if self.exact {
            self.calendar.wake(node, at);
        }
        inbox.push(at.ps() - bucket * self.bucket_ps, input, item);
    }

    /// Puts an item for another part into its outbox.
    fn hand_over(&mut self, output: Output, at: Instant, mut item: T) {
        item.set_at(at);
        self.earliest_outgoing = self.earliest_outgoing.min(at);
        self.outboxes[usize::from(output.part)].push((output.node, output.input, item));
    }

    #[cold]
    fn deliver_later(
        &mut self,
        node: LocalNode,
        input: u16,
        bucket: u64,
        at: Instant,
        mut item: T,
    ) {
        item.set_at(at);
        self.later
            .entry(bucket)
            .or_default()
            .push((node, input, item));
    }

    /// Visits every node that has work in `start..end`.
    pub(crate) fn run_window<N: Nodes<Item = T>>(
        &mut self,
        nodes: &mut N,
        start: Instant,
        end: Instant,
        mut peers: Peers<'_, T>,
    ) {
        self.windows += 1;
        self.begin(start);
        // Beside the lane during the window, for a visit needs both.
        let mut event_list = std::mem::take(&mut self.event_list);
        let mut due = std::mem::take(&mut self.due);
        due.clear();
        for word in 0..self.calendar.words() {
            let mut of_word = self.calendar.take_due(start, word, end);
            while of_word != 0 {
                due.push(LocalNode::new(
                    (word * 64) as u32 + of_word.trailing_zeros(),
                ));
                of_word &= of_word - 1;
            }
        }
        for (place, &node) in due.iter().enumerate() {
            self.prefetch_ahead(nodes, &due[place..]);
            self.visit(nodes, node, end, &mut event_list, peers.reborrow());
        }
        self.event_list = event_list;
        self.due = due;
    }

    /// Prefetches what the visits of the next nodes will need, in three steps of which each leads
    /// to the next. The first node of a window goes without: it is one of many.
    #[inline]
    fn prefetch_ahead<N: Nodes<Item = T>>(&self, nodes: &N, due: &[LocalNode]) {
        let place = |node: LocalNode| self.current_inbox(node);
        if self.is_large {
            if let Some(&third) = due.get(3) {
                prefetch_at(&self.inboxes, place(third));
                nodes.prefetch(third);
            }
            if let Some(&second) = due.get(2) {
                self.inboxes[place(second)].prefetch();
            }
        }
        if let Some(&next) = due.get(1) {
            let inbox = &self.inboxes[place(next)];
            nodes.prefetch_for(next, inbox.iter().map(|(_, item)| item));
        }
    }

    /// Where the inbox is that an item through an output is put into which arrives at `at`, if it
    /// is one of this part.
    #[inline]
    fn inbox_at(&self, output: Output, at: Instant) -> Option<usize> {
        let offset = at.ps().wrapping_sub(self.bucket_start.ps());
        if output.part != self.part || offset >= self.span_ps {
            return None;
        }
        Some(self.inbox_after(output.node, offset).1)
    }

    /// How many buckets after the current one an instant is so long after that one's start, within
    /// the slots, and where the inbox of a node for that bucket is.
    #[inline]
    fn inbox_after(&self, node: LocalNode, offset: u64) -> (u64, usize) {
        let ahead = (offset * self.reciprocal) >> RECIPROCAL_SHIFT;
        let slot = (self.bucket + ahead) & (self.slots - 1);
        (ahead, self.place(node, slot))
    }

    /// Where the inbox of a node for a slot is.
    #[inline]
    fn place(&self, node: LocalNode, slot: u64) -> usize {
        (u64::from(node.number()) * self.slots + slot) as usize
    }

    /// Where the inbox of a node for the current bucket is.
    #[inline]
    fn current_inbox(&self, node: LocalNode) -> usize {
        self.place(node, self.bucket & (self.slots - 1))
    }

    /// When the first item beyond the slots arrives, tight to a bucket unless instants must be
    /// exact.
    pub(crate) fn next_later(&self, now: Instant) -> Instant {
        let Some((bucket, items)) = self.later.first_key_value() else {
            return Instant::NEVER;
        };
        if self.exact {
            let instants = items.iter().map(|(_, _, item)| item.at());
            return instants.min().unwrap_or(Instant::NEVER);
        }
        now.max(Instant::from_ps(bucket * self.bucket_ps))
    }

    /// Makes the bucket of `start` the current one.
    pub(crate) fn begin(&mut self, start: Instant) {
        self.calendar.begin(start);
        self.bucket = start.ps() / self.bucket_ps;
        self.bucket_start = Instant::from_ps(self.bucket * self.bucket_ps);
        while let Some(entry) = self.later.first_entry() {
            if *entry.key() >= self.bucket + self.slots {
                break;
            }
            for (node, input, item) in entry.remove() {
                self.deliver(node, input, item.at(), &item);
            }
        }
    }

    #[inline]
    fn visit<N: Nodes<Item = T>>(
        &mut self,
        nodes: &mut N,
        node: LocalNode,
        end: Instant,
        event_list: &mut EventList<T>,
        peers: Peers<'_, T>,
    ) {
        self.visits += 1;
        self.gather(node, end, event_list);
        self.work += 1 + event_list.len() as u64;
        let mut visit = Visit {
            lane: self,
            peers,
            end,
            own_next: Instant::NEVER,
        };
        nodes.visit(node, event_list, &mut visit);
        let own_next = visit.own_next;
        debug_assert!(
            own_next >= end,
            "node {node} left work undone before the end of its window"
        );
        if !own_next.is_never() {
            self.calendar.wake(node, own_next);
        }
        self.wake_for_arrivals(node, end);
    }

    /// Moves the node's arrivals before `end` into the event list.
    #[inline]
    fn gather(&mut self, node: LocalNode, end: Instant, event_list: &mut EventList<T>) {
        let slot = self.bucket & (self.slots - 1);
        let place = self.current_inbox(node);
        let inbox = std::mem::take(&mut self.inboxes[place]);
        self.filled[node.index()] &= !(1 << slot);
        let empty = event_list.take(inbox, self.bucket_ps);
        if empty.has_room() {
            self.spare[usize::from(self.event_list_size)].push(empty);
        }
        self.event_list_size = self.sizes[node.index()];
        let offset = (end - self.bucket_start).ps();
        if offset < self.bucket_ps {
            let inbox = &mut self.inboxes[place];
            let filled = &mut self.filled[node.index()];
            // Taking a spare one, as deliveries do, keeps their number from growing with time.
            if let Some(spare) = self.spare[usize::from(self.event_list_size)].pop() {
                *inbox = spare;
            }
            event_list.cut(offset, |offset, input, item| {
                inbox.push(offset, input, item);
                *filled |= 1 << slot;
            });
        }
    }

    /// Tells the calendar of the node's next bucket with arrivals.
    #[inline]
    fn wake_for_arrivals(&mut self, node: LocalNode, end: Instant) {
        let filled = self.filled[node.index()];
        if filled == 0 {
            return;
        }
        let slot = (self.bucket & (self.slots - 1)) as u32;
        // Slots from the current one on, in the order of their buckets.
        let from_here = (filled >> slot) | (filled << ((self.slots as u32 - slot) % 64));
        let ahead = u64::from(from_here.trailing_zeros()) & (self.slots - 1);
        if !self.exact && ahead > 0 {
            self.calendar
                .wake_in_bucket(node, self.bucket + ahead, None);
            return;
        }
        let next = (self.bucket + ahead) & (self.slots - 1);
        let inbox = &self.inboxes[self.place(node, next)];
        let earliest = inbox
            .iter()
            .map(|(_, item)| item.at())
            .min()
            .unwrap_or(Instant::NEVER);
        self.calendar.wake(node, earliest.max(end));
    }
}

/// A node's view of the engine during one visit.
#[derive(Debug)]
pub struct Visit<'a, T> {
    lane: &'a mut Lane<T>,
    peers: Peers<'a, T>,
    end: Instant,
    own_next: Instant,
}

impl<T: Arrival> Visit<'_, T> {
    /// End of the window; the node must do everything before it and nothing at or after it.
    #[inline]
    pub fn end(&self) -> Instant {
        self.end
    }

    /// Sends an item to an input of another node, where it arrives at `at`.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a quarter of it"
    )]
    #[inline(always)]
    pub fn send(&mut self, output: Output, at: Instant, item: &T) {
        debug_assert!(
            at >= self.end,
            "an item would arrive within the window that sends it"
        );
        if output.part == self.lane.part {
            self.lane.deliver(output.node, output.input, at, item);
        } else {
            self.send_away(output, at, item);
        }
    }

    /// Sends an item to a node of another part.
    #[inline(never)]
    fn send_away(&mut self, output: Output, at: Instant, item: &T) {
        match self.peers.lane_mut(output.part) {
            Some(lane) => lane.deliver(output.node, output.input, at, item),
            None => self.lane.hand_over(output, at, *item),
        }
    }

    /// The lane of the node that an output leads to, where this thread has it.
    #[inline]
    fn lane_of(&self, output: Output) -> Option<&Lane<T>> {
        if output.part == self.lane.part {
            Some(self.lane)
        } else {
            self.peers.lane(output.part)
        }
    }

    /// Whether nodes leave the cache from one visit to the next.
    #[inline]
    pub fn is_large(&self) -> bool {
        self.lane.is_large
    }

    /// Prefetches what leads to the memory into which an item will be put that arrives at about
    /// `at`.
    #[inline]
    pub fn prefetch_way(&self, output: Output, at: Instant) {
        if let Some(lane) = self.lane_of(output)
            && let Some(place) = lane.inbox_at(output, at)
        {
            prefetch_at(&lane.inboxes, place);
        }
    }

    /// Prefetches that memory.
    #[inline]
    pub fn prefetch_room(&self, output: Output, at: Instant) {
        if let Some(lane) = self.lane_of(output)
            && let Some(place) = lane.inbox_at(output, at)
        {
            lane.inboxes[place].prefetch_room();
        }
    }

    /// Asks for the node's next visit at `at` or earlier.
    #[inline]
    pub fn wake(&mut self, at: Instant) {
        self.own_next = self.own_next.min(at);
    }
}
