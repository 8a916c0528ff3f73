//! A device through libibverbs, which is loaded at program start if it is installed.
//!
//! **Untried on hardware.** The workspace has no other unsafe code: each call to the library is
//! here, and [`Owned`] owns what it makes.
#![expect(unsafe_code, reason = "libibverbs is a C library")]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_int};
use std::io;
use std::mem::zeroed;
use std::ptr::{NonNull, null_mut};

use rdma_mummy_sys as sys;
use rdma_mummy_sys::{ibv_access_flags as Access, ibv_qp_attr_mask as Mask};
use tenter_fabric::net::{ReceiveSlot, SendSlot};
use tenter_sim::real_time::Slot;

use super::offer::QueuePairOffer;
use super::path::RECEIVES;
use super::place::Place;
use super::verbs::{Attributes, Completion, Posted, Status, Verbs, Write};

/// Writes that a queue pair has room for.
const WRITES: u32 = 128;
/// Completions per call to `ibv_poll_cq`.
const BATCH: c_int = 32;
/// Bit in a work request's number that marks receives.
const RECEIVE: u64 = 1 << 63;
/// Attributes of connections (`InfiniBand` Architecture Specification, volume 1, 9.7.6 and
/// 11.2.5.2).
///
/// The first retry follows after 4.096 µs × 2¹⁴ = 67 ms, and there are 7. The value 7 for a
/// receiver that is not ready means retries without end, 0.64 ms apart (code 12).
const TIMEOUT: u8 = 14;
const RETRIES: u8 = 7;
const NOT_READY_RETRIES: u8 = 7;
const NOT_READY_TIMER: u8 = 12;
const HOP_LIMIT: u8 = 64;

/// A library object, destroyed when dropped.
struct Owned<T> {
    object: NonNull<T>,
    destroy: unsafe extern "C" fn(*mut T) -> c_int,
}

impl<T> Owned<T> {
    /// Takes ownership of an object that the library has just made. If `object` is null, the error
    /// starts with `what`.
    fn new(
        object: *mut T,
        destroy: unsafe extern "C" fn(*mut T) -> c_int,
        what: &str,
    ) -> Result<Owned<T>, String> {
        let object = NonNull::new(object);
        let failed = || format!("{what}: {}", io::Error::last_os_error());
        Ok(Owned {
            object: object.ok_or_else(failed)?,
            destroy,
        })
    }

    fn get(&self) -> *mut T {
        self.object.as_ptr()
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the object was made by the library for this function, nobody else destroys it,
        // and those that were made of it are gone: fields are dropped in their order.
        unsafe { (self.destroy)(self.object.as_ptr()) };
    }
}

/// A queue pair on the device.
struct QueuePair {
    own: Owned<sys::ibv_qp>,
    /// First packet sequence number that it sends, 24 bits.
    first: u32,
    /// Writes that have not completed; receives are not counted.
    under_way: u32,
    /// The peer's offer, once connected.
    peer: Option<QueuePairOffer>,
}

/// An open device. The order of its fields matters: each object is dropped before those that it was
/// made from.
pub(super) struct Device {
    queue_pairs: BTreeMap<Slot, QueuePair>,
    completions: Owned<sys::ibv_cq>,
    memory: Owned<sys::ibv_mr>,
    /// Memory that all messages are read from and written to; its content has no meaning.
    _bytes: Vec<u8>,
    domain: Owned<sys::ibv_pd>,
    _context: Owned<sys::ibv_context>,
    place: Place,
    gid: [u8; 16],
    attributes: Attributes,
}

/// Opens the device at `place`, with a queue pair for each of `slots`.
///
/// # Errors
/// Returns a sentence that says why that fails, and what to do.
pub(super) fn open(
    place: Place,
    gid: [u8; 16],
    slots: &[Slot],
    attributes: &Attributes,
) -> Result<Device, String> {
    let context = context_of(&place.device)?;
    // SAFETY: the context is open.
    let domain = unsafe { sys::ibv_alloc_pd(context.get()) };
    let domain = Owned::new(domain, sys::ibv_dealloc_pd, "no protection domain")?;
    let length = usize::try_from(attributes.message_bytes)
        .map_err(|_| "a message is longer than the memory of this host".to_owned())?;
    let mut bytes = vec![0_u8; length.max(1)];
    let access = Access::IBV_ACCESS_LOCAL_WRITE.0 | Access::IBV_ACCESS_REMOTE_WRITE.0;
    // SAFETY: the memory is owned by the device beside its registration, which is dropped first.
    let memory = unsafe {
        let start = bytes.as_mut_ptr().cast();
        sys::ibv_reg_mr(domain.get(), start, bytes.len(), access.cast_signed())
    };
    let what = "messages cannot be registered as memory of the device (`ulimit -l` may be too low)";
    let memory = Owned::new(memory, sys::ibv_dereg_mr, what)?;
    let room: u64 = slots.iter().map(|slot| u64::from(depth(*slot))).sum();
    let room = c_int::try_from(room.max(1)).unwrap_or(c_int::MAX);
    // SAFETY: the context is open; no channel and no vector is asked for.
    let queue = unsafe { sys::ibv_create_cq(context.get(), room, null_mut(), null_mut(), 0) };
    let what = "the device has no completion queue of the length that all queue pairs need (`ulimit -l` may be too low)";
    let mut device = Device {
        queue_pairs: BTreeMap::new(),
        completions: Owned::new(queue, sys::ibv_destroy_cq, what)?,
        memory,
        _bytes: bytes,
        domain,
        _context: context,
        place,
        gid,
        attributes: *attributes,
    };
    for &slot in slots {
        let queue_pair = device.queue_pair(slot)?;
        device.queue_pairs.insert(slot, queue_pair);
    }
    Ok(device)
}

/// Opens a device by its name.
fn context_of(name: &str) -> Result<Owned<sys::ibv_context>, String> {
    let mut count = 0;
    // SAFETY: the library writes the count; the list is freed below.
    let list = unsafe { sys::ibv_get_device_list(&raw mut count) };
    if list.is_null() {
        return Err(format!(
            "libibverbs shows no devices ({}); install it, with the provider of the NIC",
            io::Error::last_os_error()
        ));
    }
    let mut context = None;
    for place in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: the list has `count` devices, whose names are strings of C.
        let (device, own) = unsafe {
            let device = *list.add(place);
            (device, CStr::from_ptr(sys::ibv_get_device_name(device)))
        };
        if own.to_bytes() == name.as_bytes() {
            // SAFETY: the device is in the list.
            let opened = unsafe { sys::ibv_open_device(device) };
            let what = format!(
                "`{name}` cannot be opened (has this user the rights to `/dev/infiniband`?)"
            );
            context = Some(Owned::new(opened, sys::ibv_close_device, &what));
        }
    }
    // SAFETY: the list is of the library, and is not used again; open contexts stay.
    unsafe { sys::ibv_free_device_list(list) };
    context.unwrap_or_else(|| {
        Err(format!(
            "libibverbs does not show `{name}`: install the provider of the NIC"
        ))
    })
}

/// Returns the work request number for a receive.
fn of_receive(slot: ReceiveSlot) -> u64 {
    RECEIVE | u64::from(slot.number())
}

/// Returns the work request number for a write.
fn of_write(slot: SendSlot, id: u32) -> u64 {
    u64::from(slot.number()) << 32 | u64::from(id)
}

/// Returns the slot that a work request number belongs to.
fn slot_of(number: u64) -> Slot {
    if number & RECEIVE != 0 {
        Slot::Receive(ReceiveSlot::new(number as u32))
    } else {
        Slot::Send(SendSlot::new((number >> 32) as u32))
    }
}

/// Returns the most work requests that `slot` may have posted.
fn depth(slot: Slot) -> u32 {
    match slot {
        Slot::Send(_) => WRITES,
        Slot::Receive(_) => RECEIVES,
    }
}

// The path MTU has five values; it is rounded down, so that a packet fits into every link.
fn mtu(bytes: u32) -> sys::ibv_mtu::Type {
    match bytes {
        0..512 => sys::ibv_mtu::IBV_MTU_256,
        512..1_024 => sys::ibv_mtu::IBV_MTU_512,
        1_024..2_048 => sys::ibv_mtu::IBV_MTU_1024,
        2_048..4_096 => sys::ibv_mtu::IBV_MTU_2048,
        4_096.. => sys::ibv_mtu::IBV_MTU_4096,
    }
}

/// Returns attributes that are all zero.
fn unset() -> sys::ibv_qp_attr {
    // SAFETY: it has numbers and arrays of them alone, for which zero is a value.
    unsafe { zeroed() }
}

impl QueuePair {
    fn modify(&self, attributes: &mut sys::ibv_qp_attr, mask: &[Mask]) -> Result<(), String> {
        let mask = mask.iter().fold(0, |all, of| all | of.0);
        // SAFETY: the queue pair is there, and the attributes outlive the call.
        let error = unsafe { sys::ibv_modify_qp(self.own.get(), attributes, mask.cast_signed()) };
        check(
            error,
            "the device refuses the attributes of a queue pair (is the MTU of its interface large enough for `endpoint.nic.mtu`?)",
        )
    }

    /// Returns the device's number for the queue pair.
    fn number(&self) -> u32 {
        // SAFETY: the queue pair is there, and its number does not change.
        unsafe { (*self.own.get()).qp_num }
    }
}

fn check(error: c_int, what: &str) -> Result<(), String> {
    if error == 0 {
        return Ok(());
    }
    Err(format!("{what}: {}", io::Error::from_raw_os_error(error)))
}

impl Device {
    /// Returns the memory's registration, which does not change.
    fn registered(&self) -> sys::ibv_mr {
        // SAFETY: the memory is registered for as long as the device is there.
        unsafe { *self.memory.get() }
    }

    /// Makes a queue pair that accepts writes but is not connected yet.
    fn queue_pair(&self, slot: Slot) -> Result<QueuePair, String> {
        // SAFETY: it has numbers and pointers alone, for which zero is a value.
        let mut wanted: sys::ibv_qp_init_attr = unsafe { zeroed() };
        wanted.send_cq = self.completions.get();
        wanted.recv_cq = self.completions.get();
        wanted.qp_type = sys::ibv_qp_type::IBV_QPT_RC;
        // Each write shall complete: its completion is its acknowledgement.
        wanted.sq_sig_all = 1;
        // There is no zero-length queue, so the unused direction gets one entry.
        let (writes, receives) = match slot {
            Slot::Send(_) => (WRITES, 1),
            Slot::Receive(_) => (1, RECEIVES),
        };
        wanted.cap.max_send_wr = writes;
        wanted.cap.max_recv_wr = receives;
        wanted.cap.max_send_sge = 1;
        wanted.cap.max_recv_sge = 1;
        // SAFETY: the domain and the completion queue are those of this device.
        let own = unsafe { sys::ibv_create_qp(self.domain.get(), &raw mut wanted) };
        let own = Owned::new(
            own,
            sys::ibv_destroy_qp,
            "the device makes no more queue pairs (`ulimit -l` may be too low)",
        )?;
        let first = crate::control::random_number().map_err(|error| error.to_string())?;
        let queue_pair = QueuePair {
            own,
            first: (first as u32) & 0xff_ffff,
            under_way: 0,
            peer: None,
        };
        let mut attributes = unset();
        attributes.qp_state = sys::ibv_qp_state::IBV_QPS_INIT;
        attributes.port_num = self.place.port;
        attributes.qp_access_flags = Access::IBV_ACCESS_REMOTE_WRITE.0;
        let mask = [
            Mask::IBV_QP_STATE,
            Mask::IBV_QP_PKEY_INDEX,
            Mask::IBV_QP_PORT,
            Mask::IBV_QP_ACCESS_FLAGS,
        ];
        queue_pair.modify(&mut attributes, &mask)?;
        Ok(queue_pair)
    }

    /// Returns the attributes that let a queue pair receive from `peer`.
    fn ready_to_receive(&self, peer: &QueuePairOffer) -> sys::ibv_qp_attr {
        let mut attributes = unset();
        attributes.qp_state = sys::ibv_qp_state::IBV_QPS_RTR;
        attributes.path_mtu = mtu(self.attributes.mtu_bytes);
        attributes.dest_qp_num = peer.number;
        attributes.rq_psn = peer.first;
        attributes.max_dest_rd_atomic = 1;
        attributes.min_rnr_timer = NOT_READY_TIMER;
        attributes.ah_attr.is_global = 1;
        attributes.ah_attr.port_num = self.place.port;
        attributes.ah_attr.grh.dgid = sys::ibv_gid { raw: peer.gid };
        attributes.ah_attr.grh.sgid_index = self.place.gid;
        attributes.ah_attr.grh.hop_limit = HOP_LIMIT;
        attributes.ah_attr.grh.traffic_class = self.attributes.traffic_class;
        attributes
    }
}

impl Verbs for Device {
    fn offer(&self, slot: Slot) -> Vec<u8> {
        let Some(queue_pair) = self.queue_pairs.get(&slot) else {
            return Vec::new();
        };
        let memory = self.registered();
        let offer = QueuePairOffer {
            number: queue_pair.number(),
            first: queue_pair.first,
            key: memory.rkey,
            address: memory.addr.addr() as u64,
            length: self.attributes.message_bytes,
            gid: self.gid,
        };
        offer.to_bytes()
    }

    fn connect(&mut self, slot: Slot, offer: &[u8]) -> Result<(), String> {
        let peer = QueuePairOffer::of(offer)?;
        // A queue pair must be able to receive before it may send: the device refuses any other
        // order.
        let mut attributes = self.ready_to_receive(&peer);
        let queue_pair = self.queue_pairs.get_mut(&slot);
        let queue_pair = queue_pair.ok_or_else(|| format!("there is no {slot:?} to connect"))?;
        let mask = [
            Mask::IBV_QP_STATE,
            Mask::IBV_QP_AV,
            Mask::IBV_QP_PATH_MTU,
            Mask::IBV_QP_DEST_QPN,
            Mask::IBV_QP_RQ_PSN,
            Mask::IBV_QP_MAX_DEST_RD_ATOMIC,
            Mask::IBV_QP_MIN_RNR_TIMER,
        ];
        queue_pair.modify(&mut attributes, &mask)?;
        let mut attributes = unset();
        attributes.qp_state = sys::ibv_qp_state::IBV_QPS_RTS;
        attributes.sq_psn = queue_pair.first;
        attributes.timeout = TIMEOUT;
        attributes.retry_cnt = RETRIES;
        attributes.rnr_retry = NOT_READY_RETRIES;
        attributes.max_rd_atomic = 1;
        let mask = [
            Mask::IBV_QP_STATE,
            Mask::IBV_QP_SQ_PSN,
            Mask::IBV_QP_TIMEOUT,
            Mask::IBV_QP_RETRY_CNT,
            Mask::IBV_QP_RNR_RETRY,
            Mask::IBV_QP_MAX_QP_RD_ATOMIC,
        ];
        queue_pair.modify(&mut attributes, &mask)?;
        queue_pair.peer = Some(peer);
        Ok(())
    }

    fn post_receives(&mut self, slot: ReceiveSlot, count: u32) -> Result<(), String> {
        let Some(queue_pair) = self.queue_pairs.get(&Slot::Receive(slot)) else {
            return Err(format!("there is no {slot:?} to receive by"));
        };
        // Receives need no memory: a write says where its data goes, and only its immediate value
        // is read.
        for _ in 0..count {
            let mut receive = sys::ibv_recv_wr {
                wr_id: of_receive(slot),
                next: null_mut(),
                sg_list: null_mut(),
                num_sge: 0,
            };
            let mut wrong = null_mut();
            // SAFETY: the queue pair is there; the request has no memory, and outlives the call.
            let error = unsafe {
                sys::ibv_post_recv(queue_pair.own.get(), &raw mut receive, &raw mut wrong)
            };
            check(error, "the device takes no receive")?;
        }
        Ok(())
    }

    fn post(&mut self, write: &Write) -> Result<Posted, String> {
        let memory = self.registered();
        let queue_pair = self.queue_pairs.get_mut(&Slot::Send(write.slot));
        let Some((queue_pair, peer)) = queue_pair.and_then(|own| own.peer.map(|peer| (own, peer)))
        else {
            return Err(format!("{:?} is not connected", write.slot));
        };
        let bytes = u64::from(write.bytes);
        if bytes > peer.length || bytes > self.attributes.message_bytes {
            return Err(format!(
                "a message of {bytes} bytes is longer than the memory for it"
            ));
        }
        if queue_pair.under_way >= WRITES {
            return Ok(Posted::Full);
        }
        let mut part = sys::ibv_sge {
            addr: memory.addr.addr() as u64,
            length: write.bytes,
            lkey: memory.lkey,
        };
        // SAFETY: it has numbers, pointers and unions of them alone, for which zero is a value.
        let mut request: sys::ibv_send_wr = unsafe { zeroed() };
        request.wr_id = of_write(write.slot, write.id);
        request.sg_list = &raw mut part;
        request.num_sge = c_int::from(write.bytes > 0);
        request.opcode = sys::ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM;
        request.imm_data_invalidated_rkey_union.imm_data = write.immediate.to_be();
        request.wr.rdma = sys::rdma_t {
            remote_addr: peer.address,
            rkey: peer.key,
        };
        let mut wrong = null_mut();
        // SAFETY: the queue pair is connected; the request and its part outlive the call, and the
        // memory that they name outlives the queue pair.
        let error =
            unsafe { sys::ibv_post_send(queue_pair.own.get(), &raw mut request, &raw mut wrong) };
        // The device's own queue is full; a completion will make room.
        if io::Error::from_raw_os_error(error).kind() == io::ErrorKind::OutOfMemory {
            return Ok(Posted::Full);
        }
        check(error, "the device takes no write")?;
        queue_pair.under_way += 1;
        Ok(Posted::Taken)
    }

    fn poll(&mut self, out: &mut Vec<Completion>) -> Result<(), String> {
        loop {
            // SAFETY: a completion has numbers alone, for which zero is a value.
            let mut ended: [sys::ibv_wc; BATCH as usize] = unsafe { zeroed() };
            // SAFETY: the completion queue is there, and there is room for so many.
            let count =
                unsafe { sys::ibv_poll_cq(self.completions.get(), BATCH, ended.as_mut_ptr()) };
            let Ok(taken) = usize::try_from(count) else {
                return Err("the completion queue of the device has failed".to_owned());
            };
            for of in ended.iter().take(taken) {
                out.push(self.completion(of));
            }
            if count < BATCH {
                return Ok(());
            }
        }
    }
}

impl Device {
    fn completion(&mut self, of: &sys::ibv_wc) -> Completion {
        let status = status(of.status);
        let slot = slot_of(of.wr_id);
        if let Some(queue_pair) = self.queue_pairs.get_mut(&slot) {
            queue_pair.under_way = queue_pair.under_way.saturating_sub(1);
        }
        // SAFETY: a number in any case; it means something if a receive ended well.
        let immediate = unsafe { of.imm_data_invalidated_rkey_union.imm_data };
        match slot {
            Slot::Receive(slot) => Completion::Received {
                slot,
                immediate: u32::from_be(immediate),
                bytes: of.byte_len,
                status,
            },
            Slot::Send(slot) => Completion::Sent {
                slot,
                id: of.wr_id as u32,
                status,
            },
        }
    }
}

fn status(word: sys::ibv_wc_status::Type) -> Status {
    match word {
        sys::ibv_wc_status::IBV_WC_SUCCESS => Status::Success,
        sys::ibv_wc_status::IBV_WC_RETRY_EXC_ERR => Status::RetryExceeded,
        sys::ibv_wc_status::IBV_WC_RNR_RETRY_EXC_ERR => Status::ReceiverNotReady,
        sys::ibv_wc_status::IBV_WC_WR_FLUSH_ERR => Status::Flushed,
        other => Status::Other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neither hardware nor the library is needed to be told that there is none.
    #[test]
    fn a_device_that_is_not_there_is_told() {
        let why = context_of("no-such-device").err().expect("it is not there");
        let said = [
            "libibverbs shows no devices",
            "`no-such-device` cannot be opened",
        ];
        assert!(said.iter().any(|part| why.contains(part)), "{why}");
    }

    #[test]
    fn work_requests_are_told_apart_by_their_numbers() {
        let (send, receive) = (SendSlot::new(7), ReceiveSlot::new(9));
        let write = of_write(send, 0xffff_fff0);
        assert_eq!(
            (slot_of(write), write as u32),
            (Slot::Send(send), 0xffff_fff0)
        );
        assert_eq!(slot_of(of_receive(receive)), Slot::Receive(receive));
        assert_eq!(mtu(4_096), sys::ibv_mtu::IBV_MTU_4096);
        assert_eq!(mtu(1_500), sys::ibv_mtu::IBV_MTU_1024);
        assert_eq!(status(5), Status::Flushed);
        assert_eq!(status(11), Status::Other(11));
    }
}
