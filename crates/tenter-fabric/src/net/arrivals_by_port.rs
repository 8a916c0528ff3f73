//! Arrivals of a visit, sorted by their output ports.

/// Lists, for each output port, a visit's arrivals in time order; kept from visit to visit for its
/// memory.
#[derive(Clone, Debug, Default)]
pub struct ArrivalsByPort {
    /// Each arrival's output port, in time order.
    ports: Vec<u16>,
    /// Next arrival for the same port, by arrival.
    next: Vec<u32>,
    /// First arrival for each port, or [`ArrivalsByPort::NONE`].
    first: Vec<u32>,
    /// Ports with arrivals, one bit each.
    fresh: Vec<u64>,
    /// An empty list that keeps its memory.
    busy: Vec<u16>,
}

impl ArrivalsByPort {
    /// Place that stands for no arrival.
    pub(crate) const NONE: u32 = u32::MAX;

    /// Starts a visit to a switch with `ports` ports. `of_arrivals` are the arrivals' output ports,
    /// in time order.
    #[inline]
    pub(crate) fn begin(&mut self, ports: usize, of_arrivals: impl Iterator<Item = u16>) {
        self.ports.clear();
        self.ports.extend(of_arrivals);
        if self.first.len() < ports {
            self.first.resize(ports, ArrivalsByPort::NONE);
            self.fresh.resize(ports.div_ceil(64), 0);
        }
    }

    /// Returns the output port for the arrival at `place` in time order.
    #[inline]
    pub(crate) fn port(&self, place: usize) -> u16 {
        self.ports[place]
    }

    /// Links each port's arrivals to a list, in time order.
    #[inline]
    pub(crate) fn link(&mut self) {
        let count = self.ports.len();
        if self.next.len() < count {
            self.next.resize(count, ArrivalsByPort::NONE);
        }
        // From the last to the first, so that each is put before its successor.
        for (place, (&port, next)) in self.ports.iter().zip(&mut self.next).enumerate().rev() {
            let port = usize::from(port);
            *next = std::mem::replace(&mut self.first[port], place as u32);
            self.fresh[port / 64] |= 1 << (port % 64);
        }
    }

    /// Takes the ports that have something to do, in ascending order: those with arrivals, and
    /// those in `active` (one bit each), which is cleared.
    #[inline]
    pub(crate) fn take_busy(&mut self, active: &mut [u64]) -> Vec<u16> {
        let mut busy = std::mem::take(&mut self.busy);
        for (word, active) in active.iter_mut().enumerate() {
            let mut ports = std::mem::take(active) | self.take_fresh(word);
            // The lowest bit first: ports are served in ascending order.
            while ports != 0 {
                busy.push((word * 64) as u16 + ports.trailing_zeros() as u16);
                ports &= ports - 1;
            }
        }
        busy
    }

    /// Takes an emptied list back, to reuse its memory.
    #[inline]
    pub(crate) fn keep(&mut self, busy: Vec<u16>) {
        self.busy = busy;
    }

    /// Takes 64 bits that are set for ports with arrivals.
    #[inline]
    fn take_fresh(&mut self, word: usize) -> u64 {
        std::mem::take(&mut self.fresh[word])
    }

    /// Takes a port's first arrival, or [`ArrivalsByPort::NONE`].
    #[inline]
    pub(crate) fn take_first(&mut self, port: usize) -> u32 {
        std::mem::replace(&mut self.first[port], ArrivalsByPort::NONE)
    }

    /// Returns the next arrival for the same port, or [`ArrivalsByPort::NONE`].
    #[inline]
    pub(crate) fn after(&self, place: u32) -> u32 {
        self.next[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::ArrivalsByPort;

    #[test]
    fn each_port_gets_its_arrivals_in_order() {
        let mut turns = ArrivalsByPort::default();
        for _ in 0..2 {
            turns.begin(70, [3, 69, 3, 0, 69, 3].into_iter());
            turns.link();
            // Those with arrivals and those that were active, each once, and none is left active.
            let mut active = [0b1010, 1 << 5 | 1];
            let mut busy = turns.take_busy(&mut active);
            assert_eq!((&busy[..], active), (&[0, 1, 3, 64, 69][..], [0, 0]));
            busy.clear();
            turns.keep(busy);
            let of = |turns: &mut ArrivalsByPort, port| {
                let first = turns.take_first(port);
                let some = |place: u32| (place != ArrivalsByPort::NONE).then_some(place);
                let rest = |&place: &u32| some(turns.after(place));
                std::iter::successors(some(first), rest).collect::<Vec<_>>()
            };
            assert_eq!(of(&mut turns, 0), [3]);
            assert_eq!(of(&mut turns, 3), [0, 2, 5]);
            assert_eq!(of(&mut turns, 69), [1, 4]);
            assert!(of(&mut turns, 7).is_empty());
        }
    }
}
