//! One thread's share of the nodes: their inputs, their outputs, and when they have work.

use crate::agenda::Agenda;
use crate::calendar::Calendar;
use crate::ring::Ring;

/// Something that arrives at a node at an instant.
pub trait Arrival: Copy + Send + 'static {
    /// The instant, in ps.
    fn at(&self) -> u64;
}

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
    fn visit(&mut self, node: u32, visit: &mut Visit<'_, Self::Item>);
}

/// Where an output of a node leads: an input of some part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// The part (thread) that owns the receiving node.
    pub part: u16,
    /// The input's number within that part.
    pub input: u32,
}

/// The engine's side of one part: FIFOs, calendar and outboxes.
#[derive(Debug)]
pub struct Lane<T> {
    part: u16,
    inputs: Vec<Ring<T>>,
    /// For each input its node and its index among that node's inputs.
    homes: Vec<(u32, u16)>,
    /// First input of each node, and one past the last.
    first_input: Vec<u32>,
    /// Bitmap of non-empty inputs of each node, `first_word[n]..first_word[n + 1]`.
    occupied: Vec<u64>,
    first_word: Vec<u32>,
    outputs: Vec<Output>,
    /// Items for other parts.
    pub(crate) outboxes: Vec<Vec<(u32, T)>>,
    /// Earliest arrival among the items in the outboxes.
    pub(crate) earliest_outgoing: u64,
    pub(crate) calendar: Calendar,
    agenda: Agenda<T>,
    visits: u64,
    windows: u64,
}

/// Collects nodes, inputs and outputs of a part before the run.
#[derive(Debug, Default)]
pub struct LaneBuilder {
    inputs_per_node: Vec<u16>,
    inputs: u32,
    outputs: Vec<Output>,
}

impl LaneBuilder {
    /// Adds a node with this many inputs; returns its number within the part and the number of its
    /// first input.
    pub fn add_node(&mut self, inputs: u16) -> (u32, u32) {
        let first = self.inputs;
        self.inputs_per_node.push(inputs);
        self.inputs += u32::from(inputs);
        (self.inputs_per_node.len() as u32 - 1, first)
    }

    /// Adds an output; returns its number within the part.
    pub fn add_output(&mut self, output: Output) -> u32 {
        self.outputs.push(output);
        self.outputs.len() as u32 - 1
    }

    /// The lane of part number `part` out of `parts`, with calendar buckets of `bucket_ps`.
    pub fn build<T: Arrival>(self, part: u16, parts: u16, bucket_ps: u64) -> Lane<T> {
        let nodes = self.inputs_per_node.len();
        let mut lane = Lane {
            part,
            inputs: Vec::new(),
            homes: Vec::new(),
            first_input: vec![0],
            occupied: Vec::new(),
            first_word: vec![0],
            outputs: self.outputs,
            outboxes: (0..parts).map(|_| Vec::new()).collect(),
            earliest_outgoing: u64::MAX,
            calendar: Calendar::new(nodes, bucket_ps),
            agenda: Agenda::default(),
            visits: 0,
            windows: 0,
        };
        for (node, &count) in self.inputs_per_node.iter().enumerate() {
            for index in 0..count {
                lane.inputs.push(Ring::default());
                lane.homes.push((node as u32, index));
            }
            lane.first_input.push(lane.inputs.len() as u32);
            lane.occupied
                .resize(lane.occupied.len() + usize::from(count).div_ceil(64), 0);
            lane.first_word.push(lane.occupied.len() as u32);
        }
        lane
    }
}

impl<T: Arrival> Lane<T> {
    /// Asks for a visit of a node at an instant or earlier.
    pub fn wake(&mut self, node: u32, at: u64) {
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

    /// Everything on its way to a node: (input of the node, item), input by input.
    pub fn in_flight(&self, node: u32) -> impl Iterator<Item = (u16, &T)> {
        let inputs = self.first_input[node as usize]..self.first_input[node as usize + 1];
        inputs.enumerate().flat_map(|(index, input)| {
            self.inputs[input as usize]
                .iter()
                .map(move |item| (index as u16, item))
        })
    }

    /// Puts an item into an input of this part.
    #[inline]
    pub(crate) fn deliver(&mut self, input: u32, item: T) {
        let ring = &mut self.inputs[input as usize];
        let was_empty = ring.is_empty();
        ring.push(item);
        if was_empty {
            let (node, index) = self.homes[input as usize];
            let word = self.first_word[node as usize] as usize + usize::from(index) / 64;
            self.occupied[word] |= 1 << (index % 64);
            self.calendar.wake(node, item.at());
        }
    }

    /// Visits every node that has work in `start..end`.
    pub(crate) fn run_window<N: Nodes<Item = T>>(&mut self, nodes: &mut N, start: u64, end: u64) {
        self.windows += 1;
        self.calendar.begin(start);
        for word in 0..self.calendar.words() {
            let mut due = self.calendar.take_due(start, word, end);
            while due != 0 {
                let node = (word * 64) as u32 + due.trailing_zeros();
                due &= due - 1;
                self.visit(nodes, node, start, end);
            }
        }
    }

    fn visit<N: Nodes<Item = T>>(&mut self, nodes: &mut N, node: u32, start: u64, end: u64) {
        self.visits += 1;
        let next_arrival = self.gather(node, start, end);
        let mut visit = Visit {
            lane: self,
            start,
            end,
            own_next: u64::MAX,
        };
        nodes.visit(node, &mut visit);
        let next = visit.own_next.min(next_arrival);
        debug_assert!(
            next >= end,
            "node {node} left work undone before the end of its window"
        );
        if next < u64::MAX {
            self.calendar.wake(node, next);
        }
    }

    /// Moves the node's arrivals before `end` into the agenda; returns the time of the first one
    /// after it.
    fn gather(&mut self, node: u32, start: u64, end: u64) -> u64 {
        self.agenda.clear();
        let first = self.first_input[node as usize] as usize;
        let words =
            self.first_word[node as usize] as usize..self.first_word[node as usize + 1] as usize;
        let mut next = u64::MAX;
        for (index, place) in words.enumerate() {
            let mut inputs = self.occupied[place];
            while inputs != 0 {
                let bit = inputs & inputs.wrapping_neg();
                inputs ^= bit;
                let input = index * 64 + bit.trailing_zeros() as usize;
                let ring = &mut self.inputs[first + input];
                let agenda = &mut self.agenda;
                ring.drain_while(
                    |item| item.at() < end,
                    |item| {
                        debug_assert!(item.at() >= start, "an item arrives in the past");
                        agenda.add(item.at() - start, input as u16, item);
                    },
                );
                match ring.front() {
                    Some(item) => next = next.min(item.at()),
                    None => self.occupied[place] &= !bit,
                }
            }
        }
        self.agenda.sort(end - start);
        next
    }
}

/// A node's view of the engine during one visit.
#[derive(Debug)]
pub struct Visit<'a, T> {
    lane: &'a mut Lane<T>,
    start: u64,
    end: u64,
    own_next: u64,
}

impl<T: Arrival> Visit<'_, T> {
    /// Start of the window, in ps.
    #[inline]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// End of the window, in ps; the node must do everything before it and nothing at or after it.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// How many items arrive in this window.
    #[inline]
    pub fn arrivals(&self) -> usize {
        self.lane.agenda.len()
    }

    /// The `rank`-th arrival in order, and the input of the node it came through.
    #[inline]
    pub fn arrival(&self, rank: usize) -> (T, u16) {
        self.lane.agenda.get(rank)
    }

    /// Sends an item through an output of the part.
    #[inline]
    pub fn send(&mut self, output: u32, item: T) {
        debug_assert!(
            item.at() >= self.end,
            "an item would arrive within the window that sends it"
        );
        let Output { part, input } = self.lane.outputs[output as usize];
        if part == self.lane.part {
            self.lane.deliver(input, item);
        } else {
            self.lane.earliest_outgoing = self.lane.earliest_outgoing.min(item.at());
            self.lane.outboxes[usize::from(part)].push((input, item));
        }
    }

    /// Asks for the node's next visit at `at` or earlier.
    #[inline]
    pub fn wake(&mut self, at: u64) {
        self.own_next = self.own_next.min(at);
    }
}
