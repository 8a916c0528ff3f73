//! A partition's nodes as the engine sees them: their inboxes, their outputs, and when they have
//! work.

mod leap;

use std::collections::BTreeMap;

use tenter_language::units::Instant;

use crate::arrival::Arrival;
use crate::calendar::Calendar;
use crate::event_list::{BUCKET_PS_MAX, EventList, Inbox};
use crate::home::LocalNode;
use crate::prefetch::prefetch_at;

pub use leap::UnderWay;

/// The model of a partition's nodes.
pub trait Nodes: Send {
    /// The item type that travels between nodes.
    type Item: Arrival;

    /// Advances `node` to the end of the visit's window.
    ///
    /// The node must handle everything that happens to it before [`Visit::end`], at equal times in
    /// the order *departures, arrivals by input, timers*. The items that it sends must arrive at or
    /// after the end. If it then still has own work (a queue, a timer), it must ask for its next
    /// visit with [`Visit::wake`].
    fn visit(
        &mut self,
        node: LocalNode,
        arrivals: &EventList<Self::Item>,
        visit: &mut Visit<'_, Self::Item>,
    );

    /// Prefetches the cache lines in which a node's state begins, some visits ahead.
    fn prefetch(&self, _node: LocalNode) {}

    /// Prefetches the state that a node needs to handle `arrivals` in its next visit.
    fn prefetch_for<'i>(&self, _node: LocalNode, _arrivals: impl Iterator<Item = &'i Self::Item>) {}
}

/// An output's destination: an input at a node in some partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Index of the partition (thread) that owns the receiving node.
    pub part: u16,
    /// Index among the receiving node's inputs. At equal times arrivals are ordered by it.
    pub input: u16,
    /// The receiving node's number within its partition.
    pub node: LocalNode,
}

/// An item on its way to another partition: receiving node, input, item.
pub(crate) type Outgoing<T> = (LocalNode, u16, T);

/// Number of size classes: a node's class is the bit length that its input count has, 0 to 16.
const SIZES: usize = 17;

/// Most inboxes per node: one bit each in a word of `filled`. Items that arrive later wait in
/// `later`.
const SLOTS_MAX: u64 = 64;

/// Nodes in a partition from which their data leaves the cache between visits. Debug builds
/// prefetch for any number, so that tests cover it.
const MANY_NODES: usize = if cfg!(debug_assertions) { 1 } else { 1_000 };

/// Binary digits in the reciprocal that replaces division by `bucket_ps`. An offset is below 2²⁷ ps
/// (64 slots, each below 2²¹ ps). The reciprocal is rounded up by less than 2⁻⁴⁸, so the product
/// exceeds the true quotient by less than 2⁻²¹. Since `bucket_ps` is below 2²¹, that never reaches
/// the next integer, and the integer part is the exact quotient.
const RECIPROCAL_SHIFT: u32 = 48;

/// The engine's side of a partition: inboxes, calendar and outboxes.
#[derive(Debug)]
pub struct Lane<T> {
    part: u16,
    bucket_ps: u64,
    /// Inboxes per node, a power of two: one for each bucket in which an item that is sent now may
    /// arrive.
    slots: u64,
    /// Items that arrive less than this after `bucket_start`, in ps, take the fast path into their
    /// inbox. Zero for central windows, which need the exact arrival time in the calendar.
    span_ps: u64,
    /// Reciprocal of `bucket_ps`, in units of 2⁻⁴⁸, rounded up.
    reciprocal: u64,
    /// All inboxes, `slots` for each node in turn; bucket `b` uses slot `b` mod `slots`.
    inboxes: Vec<Inbox<T>>,
    /// Each node's bitmap: a bit is set if the slot's inbox holds items.
    filled: Vec<u64>,
    /// Items that arrive beyond the slots, by bucket number.
    later: BTreeMap<u64, Vec<Outgoing<T>>>,
    /// Empty inboxes with storage, by size class. The one used last is on top, because its memory
    /// is still in the cache. The classes keep a switch's storage from ending up at a host.
    spare: [Vec<Inbox<T>>; SIZES],
    /// Each node's size class, which its input count decides.
    sizes: Vec<u8>,
    /// Size class that the node has whose inbox is in the event list.
    event_list_size: u8,
    /// Items for other partitions, by partition; unused while one thread has all lanes.
    pub(crate) outboxes: Vec<Vec<Outgoing<T>>>,
    /// Earliest arrival time in the outboxes; `NEVER` if they are empty.
    pub(crate) earliest_outgoing: Instant,
    pub(crate) calendar: Calendar,
    /// The current window's bucket: its number and start.
    bucket: u64,
    bucket_start: Instant,
    /// Set for central windows: the calendar then needs the exact instant at which each node's next
    /// item arrives, not only the bucket.
    exact: bool,
    /// Set if there are `MANY_NODES` or more, whose data leaves the cache between visits.
    is_large: bool,
    event_list: EventList<T>,
    /// Nodes that are visited in the current window, in this order.
    due: Vec<LocalNode>,
    /// Node visits since the lane was built.
    visits: u64,
    /// Windows since the lane was built.
    windows: u64,
    /// Visits plus arrivals so far, the measure of a window's cost.
    pub(crate) work: u64,
}

/// All other partitions' lanes while one thread holds them all, so that items are delivered at
/// once.
#[derive(Debug)]
pub(crate) struct Peers<'a, T> {
    /// The lanes with lower partition numbers, in order.
    pub(crate) before: &'a mut [Lane<T>],
    /// The lanes with higher partition numbers, in order.
    pub(crate) after: &'a mut [Lane<T>],
}

impl<T> Peers<'_, T> {
    /// No peers: items for other partitions go into outboxes.
    pub(crate) fn none() -> Self {
        Peers {
            before: &mut [],
            after: &mut [],
        }
    }

    /// Locates a lane: true for `before`, false for `after`, and the index there.
    #[inline]
    fn place(&self, part: u16) -> (bool, usize) {
        let part = usize::from(part);
        let before = self.before.len();
        (
            part < before,
            // The caller's own partition lies between the two; its index underflows or finds no
            // lane.
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

/// Collects a partition's nodes before the run.
#[derive(Debug, Default)]
pub struct LaneBuilder {
    /// The nodes' size classes so far.
    sizes: Vec<u8>,
}

/// Properties that all lanes of a simulation share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneLayout {
    /// Number of partitions, one thread's share each.
    pub parts: u16,
    /// Bucket length in ps, below 2 097 152 (2²¹).
    pub bucket_ps: u64,
    /// Longest time in ps from a visit's end to the arrival of an item that it sent. Longer flights
    /// work, but more slowly.
    pub flight_ps: u64,
    /// Set if the run uses [`Windows::Central`](crate::Windows::Central).
    pub central: bool,
}

impl LaneBuilder {
    /// Adds a node with `inputs` inputs; returns its number within the partition.
    pub fn add_node(&mut self, inputs: u16) -> LocalNode {
        self.sizes.push((u16::BITS - inputs.leading_zeros()) as u8);
        LocalNode::new(self.sizes.len() as u32 - 1)
    }

    /// Builds the lane for partition `part`.
    ///
    /// # Panics
    /// If the layout's `bucket_ps` is 2²¹ or more.
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
        // An item sent at the end of a bucket arrives at most `flight_ps / bucket_ps + 1` buckets
        // later, and the current bucket needs an inbox, too.
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
    /// Moves the lane out, and leaves one without nodes in its place.
    pub(crate) fn take(&mut self) -> Lane<T> {
        let layout = LaneLayout {
            parts: 0,
            bucket_ps: 1,
            flight_ps: 0,
            central: false,
        };
        std::mem::replace(self, LaneBuilder::default().build(0, layout))
    }

    /// Schedules a visit at `at`, unless `node` has an earlier one.
    pub fn wake(&mut self, node: LocalNode, at: Instant) {
        self.calendar.wake(node, at);
    }

    /// Returns the number of node visits so far.
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// Returns the number of windows so far.
    pub fn windows(&self) -> u64 {
        self.windows
    }

    /// Iterates over all items on their way to `node`, each with its input, in no particular order.
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

    /// Removes and returns all items on their way to this input at `node`, in no particular order:
    /// they are lost. Only for sync points.
    pub fn lose(&mut self, node: LocalNode, input: u16) -> Vec<T> {
        let mut lost = Vec::new();
        let first = u64::from(node.number()) * self.slots;
        for slot in 0..self.slots {
            let inbox = &mut self.inboxes[(first + slot) as usize];
            // The calendar keeps the node's entry: a visit without arrivals does no harm.
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

    /// Runs `act` at a sync point with a [`Visit`], through which the model may put items onto
    /// links.
    pub(crate) fn act<R>(&mut self, at: Instant, act: impl FnOnce(&mut Visit<'_, T>) -> R) -> R {
        act(&mut Visit {
            lane: self,
            peers: Peers::none(),
            end: at,
            own_next: Instant::NEVER,
        })
    }

    /// Puts an item into the inbox of a node in this partition.
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

    /// Delivers an item like [`Lane::deliver`], if it arrives beyond the slots or windows are
    /// central.
    #[inline(never)]
    fn deliver_afar(&mut self, node: LocalNode, input: u16, at: Instant, item: T) {
        let bucket = at.ps() / self.bucket_ps;
        if bucket < self.bucket + self.slots {
            self.deliver_first(node, input, bucket, at, item);
        } else {
            self.deliver_later(node, input, bucket, at, item);
        }
    }

    /// Delivers an item like [`Lane::deliver`] into a bucket that has a slot: the slow path, for an
    /// inbox that is empty or must grow, and for central windows.
    ///
    /// `item` is passed by value: without a reference to it the compiler need not assemble it in
    /// memory.
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
            // Storage is handed out at an inbox's first item: most inboxes of a big fabric stay
            // empty.
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

    /// Puts an item for another partition into its outbox.
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
        // Both are moved out of the lane for the window, because a visit borrows the lane, too.
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

    /// Prefetches data for the next visits. A node passes three steps, one visit apart, because
    /// each leads to the next: the addresses at which inbox and state begin, the arrivals, and the
    /// data that these need. A window's first nodes miss some steps; they are few among many.
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
        // In small networks, too: a few NICs may have very many queue pairs.
        if let Some(&next) = due.get(1) {
            let inbox = &self.inboxes[place(next)];
            nodes.prefetch_for(next, inbox.iter().map(|(_, item)| item));
        }
    }

    /// Returns the index of the inbox that an item through `output` enters if it arrives at `at`;
    /// `None` if the inbox is in another partition or the arrival is beyond the fast path.
    #[inline]
    fn inbox_at(&self, output: Output, at: Instant) -> Option<usize> {
        // An instant before the bucket wraps to a huge offset and is rejected with the others.
        let offset = at.ps().wrapping_sub(self.bucket_start.ps());
        if output.part != self.part || offset >= self.span_ps {
            return None;
        }
        Some(self.inbox_after(output.node, offset).1)
    }

    /// Returns the number of buckets from the current one to that at `bucket_start` + `offset` ps,
    /// and the index that the node's inbox for it has. `offset` must be below `span_ps`.
    #[inline]
    fn inbox_after(&self, node: LocalNode, offset: u64) -> (u64, usize) {
        let ahead = (offset * self.reciprocal) >> RECIPROCAL_SHIFT;
        let slot = (self.bucket + ahead) & (self.slots - 1);
        (ahead, self.place(node, slot))
    }

    /// Returns the index at which the node's inbox for `slot` lies.
    #[inline]
    fn place(&self, node: LocalNode, slot: u64) -> usize {
        (u64::from(node.number()) * self.slots + slot) as usize
    }

    /// Returns the index at which the node's inbox for the current bucket lies.
    #[inline]
    fn current_inbox(&self, node: LocalNode) -> usize {
        self.place(node, self.bucket & (self.slots - 1))
    }

    /// Returns when the first item beyond the slots arrives: the start of its bucket, or `now` if
    /// that is later; for central windows the exact instant.
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

    /// Makes the bucket at `start` the current one, and delivers the items from `later` whose
    /// buckets now have slots.
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
        // A visit costs something even without items: hence the one beside their number.
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
        // The event list's previous inbox returns to the pool of its own size class.
        if empty.has_room() {
            self.spare[usize::from(self.event_list_size)].push(empty);
        }
        self.event_list_size = self.sizes[node.index()];
        let offset = (end - self.bucket_start).ps();
        if offset < self.bucket_ps {
            let inbox = &mut self.inboxes[place];
            let filled = &mut self.filled[node.index()];
            // Without a spare inbox, each cut would allocate a new one while the pool grew.
            if let Some(spare) = self.spare[usize::from(self.event_list_size)].pop() {
                *inbox = spare;
            }
            // The window ends inside the bucket, at a sync point or in central windows: the rest
            // goes back.
            event_list.cut(offset, |offset, input, item| {
                inbox.push(offset, input, item);
                *filled |= 1 << slot;
            });
        }
    }

    /// Schedules a visit in the next bucket in which `node` has arrivals.
    #[inline]
    fn wake_for_arrivals(&mut self, node: LocalNode, end: Instant) {
        let filled = self.filled[node.index()];
        if filled == 0 {
            return;
        }
        let slot = (self.bucket & (self.slots - 1)) as u32;
        // Rotated so that bit 0 is the current slot, and the others follow in the order of their
        // buckets.
        // With fewer than 64 slots the copy on the right starts at bit `slots`, hence the mask
        // below.
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

/// A node's access to the engine during one visit.
#[derive(Debug)]
pub struct Visit<'a, T> {
    lane: &'a mut Lane<T>,
    peers: Peers<'a, T>,
    /// The window's end: the node handles what comes before it.
    end: Instant,
    /// Earliest visit that the node has asked for.
    own_next: Instant,
}

impl<T: Arrival> Visit<'_, T> {
    /// Returns the window's end. The node must handle everything before it, and nothing at or after
    /// it.
    #[inline]
    pub fn end(&self) -> Instant {
        self.end
    }

    /// Sends `item` through `output`; it arrives at `at`.
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

    /// Sends an item to a node in another partition.
    #[inline(never)]
    fn send_away(&mut self, output: Output, at: Instant, item: &T) {
        match self.peers.lane_mut(output.part) {
            Some(lane) => lane.deliver(output.node, output.input, at, item),
            None => self.lane.hand_over(output, at, *item),
        }
    }

    /// Returns the lane in which the node at `output` is, if this thread holds it.
    #[inline]
    fn lane_of(&self, output: Output) -> Option<&Lane<T>> {
        if output.part == self.lane.part {
            Some(self.lane)
        } else {
            self.peers.lane(output.part)
        }
    }

    /// Returns true if the partition is so large that nodes leave the cache between visits, so that
    /// prefetching pays.
    #[inline]
    pub fn is_large(&self) -> bool {
        self.lane.is_large
    }

    /// Prefetches the inbox header to which an item arriving at about `at` leads.
    /// [`Visit::prefetch_room`] follows it later.
    #[inline]
    pub fn prefetch_way(&self, output: Output, at: Instant) {
        if let Some(lane) = self.lane_of(output)
            && let Some(place) = lane.inbox_at(output, at)
        {
            prefetch_at(&lane.inboxes, place);
        }
    }

    /// Prefetches the slot that an item arriving at about `at` would fill.
    #[inline]
    pub fn prefetch_room(&self, output: Output, at: Instant) {
        if let Some(lane) = self.lane_of(output)
            && let Some(place) = lane.inbox_at(output, at)
        {
            lane.inboxes[place].prefetch_room();
        }
    }

    /// Asks for the node's next visit at `at`, unless it has asked for an earlier one.
    #[inline]
    pub fn wake(&mut self, at: Instant) {
        self.own_next = self.own_next.min(at);
    }
}
