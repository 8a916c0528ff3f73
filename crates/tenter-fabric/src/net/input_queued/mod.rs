//! Switches whose frames wait at their inputs, in front of a crossbar that is no faster than a
//! port: at any time an input sends one frame, and an output takes one.
//!
//! ```text
//!  input 0  ─▶ FIFO, or a queue for each output ─┐ ┌─────────┐
//!  input 1  ─▶ …                                 ├▶│crossbar │─▶ output 0
//!                                                ┘ └─────────┘─▶ output 1
//!                                   matching: iSLIP
//! ```
//!
//! Sources: M. Karol, M. Hluchyj, S. Morgan, "Input versus output queueing on a space-division
//! packet switch" (1987); N. `McKeown`, "The iSLIP scheduling algorithm for input-queued switches"
//! (1999).

mod allocator;

use std::collections::VecDeque;

use allocator::{Allocator, Requests};
use tenter_language::units::Instant;

use crate::net::buffer::Place;

/// Queues at the inputs, and the effort that matching takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputQueuedSpec {
    /// Queues in which frames wait at an input.
    pub queues: InputQueues,
    /// Most rounds (requests, grants, acceptances) in a matching, at least one.
    pub iterations: u16,
}

impl InputQueuedSpec {
    /// Returns the crossbar's size in bytes for `ports` ports and `queues` classes, before a frame
    /// waits.
    pub fn memory_bytes(&self, ports: usize, queues: usize) -> u64 {
        // Each pair of input and output has a count and a bit for its request.
        let pairs = ports * ports;
        let channels = ports * self.queues.channels() * size_of::<VecDeque<u16>>();
        let lane = pairs * size_of::<u32>() + pairs / 8 + channels;
        (lane * queues) as u64
    }
}

/// Queues in which a class waits at an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputQueues {
    /// A number of virtual channels (at least one), each in arrival order; a frame that arrives
    /// takes the shortest.
    Fifo(u8),
    /// A queue for each output (virtual output queues).
    PerOutput,
}

impl InputQueues {
    /// Returns an input's virtual channels; 0 with a queue for each output.
    fn channels(self) -> usize {
        match self {
            InputQueues::Fifo(channels) => usize::from(channels),
            InputQueues::PerOutput => 0,
        }
    }
}

/// Counters for frames that wait at a switch's inputs, and the inputs that send.
///
/// The frames themselves are in the queues of the ports that they leave by. Frames from one input
/// and class for one output leave in arrival order, whatever their channels.
#[derive(Clone, Debug)]
pub(crate) struct Crossbar {
    spec: InputQueuedSpec,
    ports: usize,
    /// Instant until which each input sends.
    busy_until: Vec<Instant>,
    /// Waiting frames by class, as each class is matched on its own.
    lanes: Vec<Lane>,
    /// Instant at which inputs and outputs are next matched; [`Instant::NEVER`] if nothing waits.
    next: Instant,
    allocator: Allocator,
}

/// Frames in one class that wait.
#[derive(Clone, Debug)]
struct Lane {
    /// Waiting frames, by input, then output.
    waiting: Vec<u32>,
    /// Frames that wait, by input.
    of_input: Vec<u32>,
    /// Inputs that have a frame for each output; with channels it is filled for each matching, from
    /// the first frames.
    requests: Requests,
    /// With channels, by input and channel: the outputs of the frames, in order.
    channels: Vec<VecDeque<u16>>,
    /// Input that each output grants first (its pointer).
    grant: Vec<u16>,
    /// Output that each input accepts first (its pointer).
    accept: Vec<u16>,
}

impl Crossbar {
    pub(crate) fn new(spec: InputQueuedSpec, ports: usize, queues: usize) -> Crossbar {
        let channels = spec.queues.channels();
        let lane = Lane {
            waiting: vec![0; ports * ports],
            of_input: vec![0; ports],
            requests: Requests::new(ports),
            channels: vec![VecDeque::new(); ports * channels],
            grant: vec![0; ports],
            accept: vec![0; ports],
        };
        Crossbar {
            spec,
            ports,
            busy_until: vec![Instant::START; ports],
            lanes: vec![lane; queues],
            next: Instant::NEVER,
            allocator: Allocator::new(ports),
        }
    }

    /// Returns when inputs and outputs are next matched.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Plans a matching at `now`, after a change that may let frames leave.
    pub(crate) fn wake(&mut self, now: Instant) {
        self.next = self.next.min(now);
    }

    /// Counts a frame that has come at `now`.
    pub(crate) fn push(&mut self, place: Place, now: Instant) {
        let Place {
            input,
            output,
            queue,
        } = place;
        let channels = self.channels();
        let lane = &mut self.lanes[queue];
        let (from, to) = (usize::from(input), usize::from(output));
        lane.waiting[from * self.ports + to] += 1;
        lane.of_input[from] += 1;
        if channels == 0 {
            lane.requests.set(input, output);
        } else {
            let own = &mut lane.channels[from * channels..][..channels];
            // The first among equally short channels.
            if let Some(shortest) = own.iter_mut().min_by_key(|channel| channel.len()) {
                shortest.push_back(output);
            }
        }
        self.wake(now);
    }

    /// Uncounts a waiting frame that leaves otherwise than by the crossbar.
    pub(crate) fn take_away(&mut self, place: Place) {
        let Place {
            input,
            output,
            queue,
        } = place;
        let channels = self.channels();
        let lane = &mut self.lanes[queue];
        // Any entry for the output will do: its frames leave in the order of arrival.
        for channel in lane.channels_of(input, channels) {
            if let Some(place) = channel.iter().position(|&to| to == output) {
                channel.remove(place);
                break;
            }
        }
        lane.count_off(input, output, self.ports);
    }

    /// Uncounts all frames that wait for an output.
    pub(crate) fn clear(&mut self, output: u16) {
        for lane in &mut self.lanes {
            for channel in &mut lane.channels {
                channel.retain(|&to| to != output);
            }
            for input in 0..self.ports as u16 {
                let place = usize::from(input) * self.ports + usize::from(output);
                let count = std::mem::take(&mut lane.waiting[place]);
                lane.of_input[usize::from(input)] -= count;
                lane.requests.unset(input, output);
            }
        }
    }

    /// Matches inputs and outputs for one class, to send from `now` on; the pairs are ordered by
    /// output. `is_free` is true for an output that may send a frame of the class.
    pub(crate) fn allocate(
        &mut self,
        queue: usize,
        now: Instant,
        is_free: impl Fn(u16) -> bool,
    ) -> Vec<(u16, u16)> {
        let channels = self.channels();
        let lane = &mut self.lanes[queue];
        let free = |of: &Vec<Instant>, input: u16| of[usize::from(input)] <= now;
        let ready =
            |input: &u16| lane.of_input[usize::from(*input)] > 0 && free(&self.busy_until, *input);
        let inputs: Vec<u16> = (0..self.ports as u16).filter(ready).collect();
        if inputs.is_empty() {
            return Vec::new();
        }
        if channels > 0 {
            // Only the first frame of a channel requests: those behind it are blocked.
            lane.requests.clear();
            for &input in &inputs {
                let own = &lane.channels[usize::from(input) * channels..][..channels];
                for &output in own.iter().filter_map(VecDeque::front) {
                    lane.requests.set(input, output);
                }
            }
        }
        let matched = self.allocator.allocate(
            &lane.requests,
            &inputs,
            is_free,
            &mut lane.grant,
            &mut lane.accept,
            self.spec.iterations,
        );
        for &(input, output) in &matched {
            if let Some(channel) = lane
                .channels_of(input, channels)
                .iter_mut()
                .find(|channel| channel.front() == Some(&output))
            {
                channel.pop_front();
            }
            lane.count_off(input, output, self.ports);
        }
        matched
    }

    /// Returns true if frames may wait behind others that leave through other ports.
    pub(crate) fn is_in_order(&self) -> bool {
        self.channels() > 0
    }

    /// Returns the outputs of the first frames in an input's channels.
    pub(crate) fn heads(&self, input: u16, queue: usize) -> impl Iterator<Item = u16> {
        let channels = self.channels();
        let own = &self.lanes[queue].channels[usize::from(input) * channels..][..channels];
        own.iter().filter_map(|channel| channel.front().copied())
    }

    /// Notes that an input sends until `until`.
    pub(crate) fn occupy(&mut self, input: u16, until: Instant) {
        self.busy_until[usize::from(input)] = until;
    }

    /// Plans the matching that follows one at `now`: when an input with frames becomes free, or an
    /// output for which frames wait. `freed` returns the instant from which an output may send a
    /// class.
    ///
    /// Pairs that are free now were left over by the last round. They are matched again as soon as
    /// any input becomes free, as in the next slot of a slotted switch.
    pub(crate) fn plan(&mut self, now: Instant, freed: impl Fn(u16, usize) -> Instant) {
        self.next = Instant::NEVER;
        let busy = self.busy_until.iter().copied().filter(|&until| until > now);
        // The first input that becomes free, for pairs that the last matching has left over.
        let any = busy.min().unwrap_or(Instant::NEVER);
        for (queue, lane) in self.lanes.iter().enumerate() {
            for (input, &count) in lane.of_input.iter().enumerate() {
                if count == 0 {
                    continue;
                }
                let busy = self.busy_until[input];
                if busy > now {
                    self.next = self.next.min(busy);
                    continue;
                }
                let own = &lane.waiting[input * self.ports..][..self.ports];
                for (output, _) in (0..).zip(own).filter(|(_, count)| **count > 0) {
                    let at = freed(output, queue);
                    self.next = self.next.min(if at > now { at } else { any });
                }
            }
        }
    }

    fn channels(&self) -> usize {
        self.spec.queues.channels()
    }
}

impl Lane {
    fn channels_of(&mut self, input: u16, channels: usize) -> &mut [VecDeque<u16>] {
        &mut self.channels[usize::from(input) * channels..][..channels]
    }

    /// Uncounts a frame from an input to an output.
    fn count_off(&mut self, input: u16, output: u16, ports: usize) {
        let (from, to) = (usize::from(input), usize::from(output));
        let count = &mut self.waiting[from * ports + to];
        *count -= 1;
        self.of_input[from] -= 1;
        if *count == 0 {
            self.requests.unset(input, output);
        }
    }
}

#[cfg(test)]
mod tests;
