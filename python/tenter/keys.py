"""Sections of scenarios as typed mappings, for editors and type checkers.

Written by `generate_keys.py` from the JSON Schema of scenarios. Quantities are text with a unit.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

Quantity: TypeAlias = str


class EndpointAddressesOverride(TypedDict, total=False):
    address: str
    """Address of the NIC. Default: from the pool."""
    dscp: int
    """DSCP of its data packets. Default: from above."""
    gateway: str
    """Gateway of the NIC, which must be within its prefix: packets to other prefixes go there.
    Default: from the pool.
    """
    host: float | str
    """The NIC, by its name or counted from 0."""
    prefix: int
    """Prefix length of its subnet. Default: from the pool."""


class EndpointAddresses(TypedDict, total=False):
    dscp: int
    """DSCP of the data packets of every NIC; shifted right by 3 it is their class. Origin: port
    settings in AI Fabric Test Methodology (Keysight). Default: 26.
    """
    overrides: list[EndpointAddressesOverride]
    """Single NICs that differ. Default: []."""
    pool: str
    """The addresses to share out: each switch with hosts gets the next subnet, its gateway the
    first address in it, its hosts the following ones. Origin: RFC 1918. Default: 10.0.0.0/8.
    """
    prefix: int | Literal["auto"]
    """Prefix length of those subnets; `auto` is 16, or longer where the pool has not enough of
    them (10.leaf.0.host/16 with the default pool). Default: auto.
    """


class EndpointHostScaleUpNcclKernels(TypedDict, total=False):
    all_to_all_copy_rate: Quantity
    """Rate at which an all-to-all with Simple copies a rank's own block. Default: that of `gpu`."""
    all_to_all_ll_peer: Quantity
    """Time for each peer of an all-to-all with LL. Default: that of `gpu`."""
    all_to_all_ll_peer_rate: Quantity
    """Rate to each peer, all at once, of an all-to-all with LL. Default: that of `gpu`."""
    all_to_all_ll_start: Quantity
    """Launch of an all-to-all with LL. Default: that of `gpu`."""
    all_to_all_simple_peer: Quantity
    """Time for each peer of an all-to-all with Simple. Default: that of `gpu`."""
    all_to_all_simple_rate: Quantity
    """Rate to all peers together of an all-to-all with Simple. Default: that of `gpu`."""
    all_to_all_simple_start: Quantity
    """Launch of an all-to-all with Simple. Default: that of `gpu`."""
    copy_rate: Quantity
    """Rate at which a ring copies a rank's own share, the buffer over the ranks. Default: that
    of `gpu`.
    """
    gpu: Literal["a100", "h100", "b200", "rtx-pro-6000", "l40s"]
    """The measured GPU whose times are the defaults of all other keys. Default: h100."""
    ll128_rate: Quantity
    """Rate of a ring with LL128. Default: that of `gpu`."""
    ll128_start: Quantity
    """Launch of a ring with LL128. Default: that of `gpu`."""
    ll128_step: Quantity
    """Time of a ring's step with LL128; the domain's latency at least. Default: that of `gpu`."""
    ll_rate: Quantity
    """Rate of a ring with LL. Default: that of `gpu`."""
    ll_start: Quantity
    """Launch of a ring with LL. Default: that of `gpu`."""
    ll_step: Quantity
    """Time of a ring's step with LL; the domain's latency at least. Default: that of `gpu`."""
    nvls_rate: Quantity | Literal["none"]
    """Buffer over the time that its bytes take with NVLS, in an all-reduce of 4 ranks or more;
    `none`: the switch adds nothing up. Default: that of `gpu`.
    """
    nvls_start: Quantity
    """Launch of NVLS. Default: that of `gpu`."""
    pair_rate: Quantity | Literal["none"]
    """Rate between two ranks alone with Simple, where it is another: GPUs on one PCIe switch.
    Default: that of `gpu`.
    """
    simple_rate: Quantity
    """Rate of a ring with Simple. Default: that of `gpu`."""
    simple_start: Quantity
    """Launch of a ring with Simple. Default: that of `gpu`."""
    simple_step: Quantity
    """Time of a ring's step with Simple; the domain's latency at least. Default: that of `gpu`."""


class EndpointHostScaleUp(TypedDict, total=False):
    expert_kernels: Literal["h100", "b200", "gb200", "none"]
    """GPU on which the launch and the rates of the kernels were measured that dispatch tokens to
    experts and combine results. Default: none.
    """
    generation: Literal["ampere", "hopper", "blackwell", "none"]
    """Generation of the NPUs: with one, collectives have NCCL's choice of algorithms by default.
    Default: none.
    """
    latency: Quantity
    """From the last byte sent within a host to its use at the receiver. Origin: assumed.
    Default: 1us.
    """
    nccl_kernels: EndpointHostScaleUpNcclKernels | Literal["none"]
    """Times of NCCL's kernels, for collectives of NCCL among NPUs of one host; `none`: the
    tuning model of NCCL and the domain's rate. Default: none.
    """
    npus_per_host: int
    """NPUs of a host: the NICs of the first `npus_per_host` NPUs are those of the first host,
    and so on. Origin: usual servers. Default: 8.
    """
    rate: Quantity
    """Rate at which an NPU sends into its host, one transfer after the other. Origin: NVIDIA
    H100 data sheet: NVLink with 900 GB/s both ways together. Default: 3600Gbps.
    """


class EndpointHost(TypedDict, total=False):
    npus_per_nic: int
    """NPUs that share a NIC: as many ranks of a job run behind each port of the fabric and
    exchange data in their `scale_up` domain, whose `npus_per_host` it divides. Default: 1.
    """
    scale_up: EndpointHostScaleUp | Literal["none"]
    """NPUs of a host that exchange data among themselves, past their NICs; `none`: all data pass
    the NICs. Default: none.
    """
    start_up: Quantity
    """From the start of a collective to its first sends. Default: 0ns."""
    step_delay: Quantity
    """From the arrival that releases a send (or the start of the collective) to the send.
    Default: 0ns.
    """


class EndpointNicAcknowledge1(TypedDict, total=False):
    every: int
    """Packets that one acknowledgement covers."""


class EndpointNicCongestionControl1Dcqcn(TypedDict, total=False):
    additive_increase: Quantity
    """Step by which the target rises then. Default: by `preset`."""
    alpha_initial: int
    """Alpha when the first notification arrives, in 1024ths. Default: by `preset`."""
    alpha_interval: Quantity
    """Alpha falls once in this time; where the rate falls in intervals it also rises then, if
    there was a notification. Default: by `preset`.
    """
    base_round_trip: Quantity
    """The round-trip time of an idle network: the longest there is. Default: with `window`."""
    clamp_target: Literal[True, False]
    """`true` always lowers the target to the rate before the cut; with `false` it falls only
    where the rate has risen since it fell last. Default: by `preset`.
    """
    cnp: Literal["packet", "in-acknowledgement"]
    """The carrier of notifications: a packet of its own (CNP), or the next acknowledgement or
    NAK of the QP. Origin: RoCEv2 (InfiniBand Architecture Specification, Annex A17); HPCC's
    simulator has `in-acknowledgement`. Default: packet.
    """
    cnp_dscp: int
    """DSCP of notifications, and with it their class, which is the DSCP shifted right by 3.
    Default: by `preset`: `48`.
    """
    cnp_interval: Quantity
    """A receiver sends at most one notification (CNP) in this time for each QP, or for what
    `cnp_limit` says. Default: by `preset`.
    """
    cnp_limit: Literal["queue-pair", "address", "port"]
    """The scope of `cnp_interval`: each QP, all QPs of a sending address together, or all that
    the port notifies. With several planes and `planes: spray` the ports of a NIC are one.
    Origin: what the simulator of HPCC does; the InfiniBand Architecture Specification leaves
    it to the device. Default: queue-pair.
    """
    decrease_interval: Quantity | Literal["none"]
    """The rate falls at most once in this time, at the end of an interval in which there was a
    notification, and alpha rises once in its own; `none`: both with each notification, at
    once. Default: by `preset`.
    """
    decrease_max_percent: int
    """The most that the rate falls at once. Default: by `preset`."""
    first_rate: Quantity | Literal["none"]
    """The rate at the first notification; `none`: it falls as with any other. Default: by
    `preset`.
    """
    gain: int
    """Gain g of alpha, the estimate of congestion, in 1024ths. Default: by `preset`."""
    hyper_increase: Quantity
    """Step by which the target rises when timer and byte counter are both beyond
    `recovery_steps`. Default: by `preset`.
    """
    increase_bytes: Quantity | Literal["none"]
    """The rate also rises after this many frame bytes sent. Default: by `preset`."""
    increase_interval: Quantity
    """The rate rises once in this time. Default: by `preset`."""
    kind: Literal["dcqcn"]
    """Which congestion control; the other keys belong to it."""
    min_rate: Quantity
    """The rate never falls below. Default: by `preset`."""
    preset: Literal["nvidia", "kai", "hpcc", "paper-2015", "tester"]
    """Origin of the values of all other keys; `tester` sends notifications and does not react to
    them. Origin: what is in use; the page of the model has the origin of every constant.
    Default: nvidia.
    """
    reaction: Literal[True, False]
    """`true` slows senders down when they are notified; the keys from `gain` on are for those
    that do. Default: by `preset`: `false` for `tester`.
    """
    recovery_steps: int
    """How often the rate rises half of the way to its target before the target rises too.
    Default: by `preset`.
    """
    scale_from: Quantity | Literal["none"]
    """The line rate that `min_rate`, `additive_increase` and `hyper_increase` are meant for: on
    other lines they are in proportion. Default: none.
    """
    window: Literal["none", "fixed", "scaled"]
    """Limit of the bytes that a QP may have under way: none, what its line carries in
    `base_round_trip` (`fixed`), or what its rate carries in that time (`scaled`). Origin:
    HPCC's simulator has `scaled` (HAS_WIN and VAR_WIN) for all its congestion controls.
    Default: none.
    """


class EndpointNicCongestionControl1Timely(TypedDict, total=False):
    additive_increase: Quantity
    """Additive increase. Origin: TIMELY (2015), section 5, at 10 Gb/s. Default: 10Mbps."""
    base_round_trip: Quantity
    """Unit of gradients: the round-trip time of an idle network. Origin: TIMELY (2015), section
    5. Default: 20us.
    """
    beta: float | str
    """Multiplicative decrease. Origin: TIMELY (2015), section 5. Default: 0.8."""
    high: Quantity
    """Above this round-trip time the rate falls whatever the gradient. Origin: TIMELY (2015),
    section 5. Default: 500us.
    """
    hyper_after: int
    """After this many times in a row without a rising round-trip time, the rate rises
    `hyper_factor` times as much. Origin: TIMELY (2015), section 4.4. Default: 5.
    """
    hyper_factor: int
    """Factor of this faster increase over `additive_increase`. Origin: TIMELY (2015), section
    4.4. Default: 5.
    """
    kind: Literal["timely"]
    """Which congestion control; the other keys belong to it."""
    low: Quantity
    """Below this round-trip time the rate rises whatever the gradient. Origin: TIMELY (2015),
    section 5. Default: 50us.
    """
    min_rate: Quantity
    """The rate never falls below. Origin: assumed: the paper has none. Default: 10Mbps."""
    scale_from: Quantity | Literal["none"]
    """The line rate that `additive_increase` and `min_rate` are meant for: on other lines they
    are in proportion. Default: 10Gbps.
    """
    weight: float | str
    """Weight of a new difference of round-trip times in their average. Origin: TIMELY (2015),
    section 5. Default: 0.875.
    """


class EndpointNicCongestionControl1Swift(TypedDict, total=False):
    additive_increase: int
    """Growth of a window in a round trip, in packets. Origin: Swift (2020), algorithm 1.
    Default: 1.
    """
    base_target: Quantity
    """The round-trip time that large windows aim at. Origin: Swift (2020), what it shows for its
    own fabric; it depends on the network. Default: 25us.
    """
    beta: float | str
    """Multiplicative decrease. Origin: Swift (2020), algorithm 1. Default: 0.8."""
    initial_window: int
    """The window of a new QP, in packets. Origin: assumed. Default: 100."""
    kind: Literal["swift"]
    """Which congestion control; the other keys belong to it."""
    max_decrease: float | str
    """The most that a window falls at once. Origin: Swift (2020), algorithm 1. Default: 0.5."""
    max_window: int
    """The largest window, in packets. Origin: assumed. Default: 1024."""
    scaling_range: Quantity
    """The most that small windows add to the target, so that many flows share a link fairly.
    Origin: assumed: four times the base target. Default: 100us.
    """


class EndpointNicCongestionControl1Hpcc(TypedDict, total=False):
    additive_increase: Quantity
    """`W_AI`: growth of a window in a round trip, in wire bytes. Origin: HPCC (2019), section
    5.1, at 100 Gb/s. Default: 80B.
    """
    base_round_trip: Quantity
    """T, the round-trip time of an idle network: the longest there is, or a little more.
    Default: that of the fabric, for a full packet and its acknowledgement.
    """
    hops: int
    """Switches for which packets have room; each takes 8 bytes of every data packet and its
    answer, and 2 more are taken for all. Switches beyond write nothing. Origin: HPCC (2019),
    section 4.1. Default: 5.
    """
    kind: Literal["hpcc"]
    """Which congestion control; the other keys belong to it."""
    max_stage: int
    """After this many additive increases in a row a window follows the utilisation again.
    Origin: HPCC (2019), section 5.1. Default: 5.
    """
    scale_from: Quantity | Literal["none"]
    """The line rate that `additive_increase` is meant for: on other lines it is in proportion.
    Origin: HPCC (2019), section 3.3: W_AI is a share of what the line carries in a round
    trip. Default: 100Gbps.
    """
    target: float | str
    """Eta, the utilisation of the busiest link that windows aim at; at least 0.01. Origin: HPCC
    (2019), section 5.1. Default: 0.95.
    """


class EndpointNicCongestionControl1Dctcp(TypedDict, total=False):
    kind: Literal["dctcp"]
    """Which congestion control; the other keys belong to it."""


class EndpointNicEntropyRandom(TypedDict, total=False):
    in_order_nics: Literal["refuse", "allow"]
    """Treatment of NICs that need packets in order: refused, or allowed. Default: refuse."""
    kind: Literal["random", "oblivious", "bitmap", "reps", "mixed"]
    """How the port is chosen: any for each run of `packets`, one after the other, or by marks
    and losses, which answers to each packet tell of. Default: random.
    """
    packets: int
    """Packets in a row that keep the port; 32 are a message of 128 KiB. Default: 1."""
    values: int
    """Number of source ports of a QP; a power of two unless any is chosen. Default: 64."""


class EndpointNicLossRecoverySelectiveRepeat(TypedDict, total=False):
    kind: Literal["selective-repeat"]
    """The loss recovery that has further keys."""
    reorder: int
    """A packet counts as lost once one that was sent this many packets later has arrived; more
    than 1 where packets overtake each other. Default: 1.
    """
    window: int
    """Number of packets that a receiver keeps track of beyond the first missing one, and so the
    most that a QP may have unacknowledged. Origin: 16 MiB of full packets: more than a link
    of 400 Gb/s carries in 300 us. Default: 4096.
    """


class EndpointNicPcie(TypedDict, total=False):
    generation: int
    """Generation of PCIe: 2.5, 5, 8, 16, 32 or 64 GT/s a lane, less 8b/10b (1 and 2), 128b/130b
    (3 to 5) or the 20 bytes of a flit of 256 that carry no packets (6). Default: this, or
    `peak`.
    """
    lanes: int
    """Lanes of the link: 1, 2, 4, 8 or 16. Origin: the slot of a NIC for 400 Gb/s. Default: `16`
    with `generation`.
    """
    max_payload: Quantity
    """Payload of a transaction layer packet at most: 128, 256, 512, 1024, 2048 or 4096 bytes.
    Origin: usual in servers; what RDMA NICs are delivered with. Default: 256B.
    """
    peak: Quantity
    """Rate of the link each way, headers of its packets included. Default: this, or
    `generation`.
    """
    tlp_overhead: Quantity
    """Overhead of such a packet: header of 12 or 16 bytes, framing, sequence number and CRC.
    Origin: PCI Express Base Specification: 20 to 28 bytes. Default: 24B.
    """


class EndpointNicReceiveBuffer(TypedDict, total=False):
    capacity: Quantity
    """Frame bytes it holds, a whole frame at least; what does not fit is dropped. Origin:
    assumed: no vendor publishes the buffers of its NICs. Default: 2MiB.
    """
    drain_rate: Quantity
    """Frame bytes leave the buffer at this rate, into host memory; with `pcie` payload leaves it
    by DMA, and NICs whose PCIe keeps up with the wire have no buffer. Default: by `pcie`.
    """
    quanta: int
    """Pause time that an XOFF asks for, in units of 512 bit times. Origin: the largest that IEEE
    802.1Qbb has. Default: 65535.
    """
    xoff: Quantity | Literal["none"]
    """The NIC pauses the leaf above this many bytes; `none` never pauses it. Default: half the
    capacity.
    """
    xon: Quantity
    """The NIC lets the leaf resume at this many bytes or fewer. Default: half of `xoff`."""


class EndpointNicTransportUltraEthernetCongestionControl1Nscc(TypedDict, total=False):
    decrease: float | str
    """Share of the delay above the target by which a window falls. Origin: the Ultra Ethernet
    Consortium's simulator. Default: 0.8.
    """
    delay_weight: float | str
    """The weight of a sample in the mean delay. Origin: the Ultra Ethernet Consortium's
    simulator. Default: 0.0125.
    """
    kind: Literal["nscc"]
    """Which congestion control; the other keys belong to it."""
    quick_adapt_gate: int
    """A window is cut to what got through in a round trip if that is less than the largest
    window over two to the power of this. Origin: the Ultra Ethernet Consortium's simulator.
    Default: 3.
    """
    target_delay: Quantity
    """The queueing delay that windows aim at. Default: 0.75 round trips where switches trim,
    else one.
    """


class EndpointNicTransportUltraEthernetCongestionControl1Rccc(TypedDict, total=False):
    kind: Literal["rccc"]
    """Which congestion control; the other keys belong to it."""
    oversubscription_control: Literal[True, False]
    """`true` makes a receiver grant less while its packets are marked, or trimmed before the
    last hop: oversubscription control. Origin: the Ultra Ethernet Consortium's simulator.
    Default: where tiers are oversubscribed and senders have no window.
    """
    packets_per_pull: int
    """Full packets that a grant (PULL) is for. Origin: the Ultra Ethernet Consortium's
    simulator. Default: 4.
    """
    pull_rate: float | str
    """The rate at which a receiver grants, as a share of its line. Origin: the Ultra Ethernet
    Consortium's simulator. Default: 0.99.
    """


class EndpointNicTransportUltraEthernetCongestionControl1NsccRccc(TypedDict, total=False):
    decrease: float | str
    """Share of the delay above the target by which a window falls. Origin: the Ultra Ethernet
    Consortium's simulator. Default: 0.8.
    """
    delay_weight: float | str
    """The weight of a sample in the mean delay. Origin: the Ultra Ethernet Consortium's
    simulator. Default: 0.0125.
    """
    kind: Literal["nscc+rccc"]
    """Which congestion control; the other keys belong to it."""
    oversubscription_control: Literal[True, False]
    """`true` makes a receiver grant less while its packets are marked, or trimmed before the
    last hop: oversubscription control. Origin: the Ultra Ethernet Consortium's simulator.
    Default: where tiers are oversubscribed and senders have no window.
    """
    packets_per_pull: int
    """Full packets that a grant (PULL) is for. Origin: the Ultra Ethernet Consortium's
    simulator. Default: 4.
    """
    pull_rate: float | str
    """The rate at which a receiver grants, as a share of its line. Origin: the Ultra Ethernet
    Consortium's simulator. Default: 0.99.
    """
    quick_adapt_gate: int
    """A window is cut to what got through in a round trip if that is less than the largest
    window over two to the power of this. Origin: the Ultra Ethernet Consortium's simulator.
    Default: 3.
    """
    target_delay: Quantity
    """The queueing delay that windows aim at. Default: 0.75 round trips where switches trim,
    else one.
    """


class EndpointNicTransportUltraEthernetCongestionControl1Constant(TypedDict, total=False):
    kind: Literal["constant"]
    """Which congestion control; the other keys belong to it."""


class EndpointNicTransportUltraEthernetCongestionControl1Ndp(TypedDict, total=False):
    first_window: int
    """Packets that a new connection sends without a pull. Origin: the simulator of NDP. Default:
    15.
    """
    kind: Literal["ndp"]
    """Which congestion control; the other keys belong to it."""


class EndpointNicTransportUltraEthernetCongestionControl1Eqds(TypedDict, total=False):
    kind: Literal["eqds"]
    """Which congestion control; the other keys belong to it."""
    pull_rate: float | str
    """The rate at which a receiver grants, as a share of its line. Origin: the simulators of
    EQDS. Default: 0.99.
    """


class EndpointNicTransportUltraEthernetCongestionControl1Smartt(TypedDict, total=False):
    kind: Literal["smartt"]
    """Which congestion control; the other keys belong to it."""
    target_delay: Quantity
    """The queueing delay that windows aim at. Origin: the simulator of SMaRTT's authors.
    Default: 7us.
    """


class EndpointNicTransportUltraEthernetEntropy(TypedDict, total=False):
    kind: Literal["random", "oblivious", "bitmap", "reps", "mixed"]
    """Which choice. Origin: the Ultra Ethernet Consortium's simulator. Default: mixed."""
    values: int
    """Number of entropy values of a connection: a power of two. Origin: the Ultra Ethernet
    Consortium's simulator. Default: 64.
    """


class EndpointNicTransportUltraEthernet(TypedDict, total=False):
    acknowledge_after: Quantity
    """A receiver acknowledges what it has got after this many bytes; at once where a packet is
    marked, the first, a duplicate, or asks for it. Origin: the Ultra Ethernet Consortium's
    simulator. Default: 16KiB.
    """
    congestion_control: EndpointNicTransportUltraEthernetCongestionControl1Nscc | EndpointNicTransportUltraEthernetCongestionControl1Rccc | EndpointNicTransportUltraEthernetCongestionControl1NsccRccc | EndpointNicCongestionControl1Dctcp | EndpointNicTransportUltraEthernetCongestionControl1Constant | EndpointNicTransportUltraEthernetCongestionControl1Ndp | EndpointNicTransportUltraEthernetCongestionControl1Eqds | EndpointNicTransportUltraEthernetCongestionControl1Smartt | Literal["nscc", "rccc", "nscc+rccc", "dctcp", "constant", "ndp", "eqds", "smartt"]
    """How senders slow down. Default: nscc."""
    control_frame: Quantity
    """Frame bytes of acknowledgements, reports of trimmed packets, grants and requests. Origin:
    the Ultra Ethernet Consortium's simulator. Default: 64B.
    """
    entropy: EndpointNicTransportUltraEthernetEntropy
    """How senders choose paths. Default: {}."""
    give_up_after: Quantity
    """A connection gives up when nothing has been acknowledged for this long. Origin: assumed.
    Default: 100ms.
    """
    header: Quantity
    """Frame bytes of a data packet beside its payload. Origin: the Ultra Ethernet Consortium's
    simulator. Default: 64B.
    """
    initial_window: int
    """Full packets that a new connection may have under way, where windows limit it. Default:
    1.5 times what fills the longest round trip.
    """
    kind: Literal["ultra-ethernet"]
    """The transport that has further keys."""
    loss_detection: Literal["timeout", "sleek"]
    """How lost packets are noticed, where switches do not trim them. Default: timeout."""
    payload: Quantity
    """Payload bytes of a full packet. Origin: the largest that usual Ultra Ethernet profiles
    have. Default: 4096B.
    """
    retransmission_timeout: Quantity
    """A packet that is not acknowledged for this long is sent again. Origin: the Ultra Ethernet
    Consortium's simulator. Default: 15 us, and six times what a full queue takes to drain.
    """
    round_trip: Quantity
    """The longest round trip of the network without load, by which windows are measured.
    Default: that of the fabric, for a full packet and its acknowledgement.
    """


class EndpointNic(TypedDict, total=False):
    acknowledge: EndpointNicAcknowledge1 | Literal["per-message", "per-packet"]
    """When the receiver acknowledges; `every` counts packets, and the last packet of a message
    is always acknowledged. Default: per-message.
    """
    clock_offset_max_ppm: int
    """Each NIC's clock is off by a random amount of at most this, in parts per million; IEEE
    802.3 allows 100. Default: 0.
    """
    congestion_control: EndpointNicCongestionControl1Dcqcn | EndpointNicCongestionControl1Timely | EndpointNicCongestionControl1Swift | EndpointNicCongestionControl1Hpcc | EndpointNicCongestionControl1Dctcp | Literal["dcqcn", "timely", "swift", "hpcc", "dctcp", "none"]
    """How senders slow down when the network is congested. Default: none."""
    connection_set_up: Literal[True, False]
    """`true` sends one request and its reply across the fabric before the first packet of each
    QP. Default: false.
    """
    control_dscp: int | Literal["none"]
    """DSCP of acknowledgements and of connection set-up, and with it their class, which is the
    DSCP shifted right by 3; `none` is that of the data, and that of trimmed frames with
    `fabric.flow_control: trim`. Default: none.
    """
    entropy: EndpointNicEntropyRandom | Literal["none"]
    """Choice of UDP source ports for the data packets of a QP, so that switches that hash them
    spread the QP; with `none` all packets have one. Default: none.
    """
    interleave: Quantity | Literal["packet", "message"]
    """End of a QP's turn, where several have something to send: after each packet, after each
    message, or after the packet with which its turn has this number of frame bytes. Origin:
    the fairest there is; schedulers of NICs are not published. Default: packet.
    """
    loss_recovery: EndpointNicLossRecoverySelectiveRepeat | Literal["go-back-n", "selective-repeat", "none"]
    """The recovery of lost packets; `none` sends nothing again and counts missing packets, as a
    traffic tester does. Origin: the InfiniBand Architecture Specification. Default: go-
    back-n.
    """
    message_gap: Quantity
    """Idle wire after the last packet of each message. Default: 0ns."""
    message_size: Quantity
    """Payload of one RDMA write message. Origin: AI Fabric Test Methodology (Keysight), every
    case with RoCEv2. Default: 128KiB.
    """
    mtu: Literal[256, 512, 1024, 2048, 4096]
    """Payload bytes of a full packet (the RoCE path MTU). Origin: the largest the InfiniBand
    architecture has; usual on jumbo-frame Ethernet. Default: 4096.
    """
    outstanding_messages: int | Literal["none"]
    """Messages a QP may have begun that are not acknowledged whole: its outstanding requests, as
    each message is one. Default: none.
    """
    pause_response: Quantity | Literal["standard"]
    """Time after the arrival of a pause frame in which the NIC may still start frames of the
    class. Default: that of `fabric.switch`.
    """
    pcie: EndpointNicPcie | Literal["none"]
    """PCIe between the NIC and host memory: the limit of DMA, both ways. Default: none."""
    planes: Literal["spray", "hash"]
    """How a NIC with a port on each of several planes chooses among them: `spray` sends each
    packet by the next free port, in turn; `hash` keeps each QP on the plane that its 5-tuple
    hashes to. Default: `spray` where NICs take packets out of order, else `hash`.
    """
    port_mtu: int
    """Ethernet MTU of the port instead of `mtu`, in bytes: the largest path MTU that fits with
    60 bytes of headers (IPv4, UDP, BTH, RETH, ICRC). Default: unset.
    """
    receive_buffer: EndpointNicReceiveBuffer | Literal["none"]
    """A receive side slower than the wire, and the buffer before it; `none` takes frames as fast
    as they arrive. Default: `none`, or `{}` with `pcie`.
    """
    receive_latency: Quantity
    """From the wire to the QP. Default: 0ns."""
    resume_delay: Quantity
    """From the end of a pause, by an XON or because its time has passed, until the NIC starts
    frames of the class again; an XON acts after `pause_response`, and this comes on top.
    Default: 0ns.
    """
    retransmission_timeout: Quantity
    """Time for which the oldest packet may stay unacknowledged before the QP sends it again.
    Origin: timeout exponent 14 of the InfiniBand Architecture Specification: 4.096 us x 2^14.
    Default: 67.108864ms.
    """
    retry_count: int
    """Timeouts in a row without progress after which the QP gives up. Origin: the largest the
    InfiniBand Architecture Specification allows, and what collective libraries set. Default:
    7.
    """
    retry_on_nak: Literal[True, False]
    """`true` lets NAKs of go-back-N use up retries as well: those since the last acknowledgement
    proper, together with timeouts, as the InfiniBand Architecture Specification has it.
    Default: false.
    """
    start_skew_max: Quantity
    """Each rank starts each collective of its job later by a random time up to this. Default:
    0ns.
    """
    timeout_exponent: int
    """The timeout as queue pairs have it instead of `retransmission_timeout`: n for 4.096 us x
    2^n; perftest has 14, and NCCL has had 14, 18 and, since 2.23, 20. Default: unset.
    """
    transmit_latency: Quantity
    """From the QP to the wire. Default: 0ns."""
    transport: EndpointNicTransportUltraEthernet | Literal["roce", "ultra-ethernet"]
    """The transport: `roce` is RoCEv2 reliable connections, whose keys the others here are; with
    `ultra-ethernet` those of sizes, windows, acknowledgements and losses have no meaning.
    Default: roce.
    """
    window: int | Literal["none"]
    """Packets a QP may have unacknowledged. Default: none."""


class EndpointNicImpairment(TypedDict, total=False):
    dma_read: float | str
    """Share of the peak of PCIe for DMA out of host memory, `1%` to `100%`: it limits what a NIC
    sends. Default: 100%.
    """
    dma_write: float | str
    """Share of the peak of PCIe for DMA into host memory, `1%` to `100%`: it limits what a NIC
    receives. Default: 100%.
    """
    host: float | str
    """The host (name or number) or stretch of hosts (`16-23`) whose NICs are impaired. Default:
    all NICs.
    """
    job: str | float | bool
    """The job whose NICs are impaired. Default: all NICs."""


class Endpoint(TypedDict, total=False):
    addresses: EndpointAddresses
    """Addresses and DSCP of the NICs: the addresses feed the ECMP hash, the DSCP gives the
    class, prefix and gateway decide who is reachable. Default: {}.
    """
    host: EndpointHost
    """Delays of the host, and how its NPUs share data. Default: {}."""
    nic: EndpointNic
    """The NIC model; all NICs of a trial share it. Default: {}."""
    nic_impairments: list[EndpointNicImpairment]
    """NICs that cannot use their PCIe to the full; of several entries for one NIC the last
    holds. Default: [].
    """


class Engine(TypedDict, total=False):
    fidelity: Literal["packet", "flow", "auto"]
    """Units that move through the fabric: packets one by one, or flows at max–min fair rates,
    which takes less time and is less exact; `auto` is packets where these are estimated to
    cost no more than `packets_time` and `packets_memory` allow, else flows. Default: packet.
    """
    packets_memory: Quantity
    """With `fidelity: auto`: the most memory of packets, as estimated. Default: 8GB."""
    packets_time: Quantity
    """With `fidelity: auto`: the longest wall time of packets, estimated for one thread.
    Default: 600s.
    """
    ring_transfers: int
    """At flow level, in a trial of rings that share links: the most transfers of the largest
    collectives of all jobs that are simulated one by one. Where they have more, all are run
    as a whole, each rank at its share of its links: with all that are in step with it, and
    with the others in the mean. Default: 1000000.
    """
    steady_state: Literal["simulate", "jump"]
    """Treatment of a steady state, in which all transfers are long under way and the network
    comes back to the same state again and again: it is simulated, or whole periods of it are
    jumped over. The choice changes no result; a note says where nothing can be jumped over.
    Default: simulate.
    """
    tolerance: float | str
    """At flow level: the part of its rate by which a link may carry more or less than it can.
    Rates are the max–min fair ones of links that are so much faster or slower; among
    thousands of unequal flows `0.001` takes a fraction of the time. Default: 0.
    """
    window: Quantity | Literal["none"]
    """The longest window; `none` is as long as the delays of the fabric allow, which is fastest.
    It changes no result. Default: none.
    """


class CircuitsChangeCircuit(TypedDict, total=False):
    dark: list[int]
    """Ports that lose their circuit and get no other. Default: []."""
    pairs: list[list[int]]
    """Ports that are joined, counted from 0: `[[0, 1], [4, 5]]`; a port that was joined with one
    of them is dark unless it is in a pair too. Default: [].
    """
    switch: int
    """The optical switch, counted from 0."""


class CircuitsChange(TypedDict, total=False):
    at: Quantity
    """When the change is announced; it waits while its switch still carries out an earlier one."""
    circuits: list[CircuitsChangeCircuit]
    """New circuits, optical switch by optical switch."""


class CircuitsSteering(TypedDict, total=False):
    controller: Literal["estimate", "greedy"]
    """The rule for circuits: `estimate` sets them only if the resulting routes are less loaded,
    `greedy` always sets the complete heaviest matching of each optical switch. Origin:
    `greedy` is the rule that is published (Bandwidth Steering in HPC Using Silicon
    Nanophotonics). Default: estimate.
    """
    demand: Literal["jobs", "counters"]
    """Origin of the traffic matrix: the description of jobs, whenever one starts or ends, or the
    counters of NICs, at fixed intervals. Origin: traffic estimation or observation (Bandwidth
    Steering in HPC Using Silicon Nanophotonics). Default: jobs.
    """
    interval: Quantity
    """Interval at which counters are read; without effect for `demand: jobs`. Default: 1ms."""
    threshold: int
    """Circuits change where that shortens the time of the busiest link by this share, or
    shortens paths by this share while no link's time grows. Origin: assumed: no change for
    what noise may be. Default: 5.
    """


class Circuits(TypedDict, total=False):
    cabling: Literal["rotated", "straight"]
    """The leaves that share an optical switch of a `fat-tree`. `straight`: those of the same
    number in each pod, over every cable. `rotated`: for each cable of a leaf another choice
    of one leaf of each pod. Origin: not published; with `straight` it is always the same
    leaves that can be joined. Default: rotated.
    """
    changes: list[CircuitsChange]
    """Changes of circuits at given times; after each change all hosts reach each other. Default:
    [].
    """
    convergence: Quantity
    """Time from the change of a circuit until routing knows: after circuits have come up, and
    with `on_change: lose` also after they have gone. No longer than `reconfiguration`.
    Default: 0us.
    """
    delay: Quantity
    """Delay of light through an optical switch, without its fibres. Origin: 2 m of fibre at
    1.98·10⁸ m/s. Default: 10ns.
    """
    initial: list[CircuitsChangeCircuit]
    """Circuits from the beginning that differ from the cables of the tree, or from those that
    spread over all pairs of leaves. Default: [].
    """
    on_change: Literal["drain", "lose"]
    """Treatment of frames under way: ports stop beforehand and the frames arrive first
    (`drain`), or the light goes at once and frames on the fibre and in its queue are lost
    (`lose`). Default: drain.
    """
    radix: int
    """The most ports of an optical switch, an even number. Origin: 16 × 16 silicon photonic
    switches (Bandwidth Steering in HPC Using Silicon Nanophotonics). Default: 16.
    """
    reconfiguration: Quantity
    """Time for which the ports whose circuits change are dark. Origin: about 20 µs with silicon
    photonics, a few ms with commercial switches (Bandwidth Steering in HPC Using Silicon
    Nanophotonics). Default: 20us.
    """
    spill: Quantity | Literal["none"]
    """A packet that would wait for longer at every circuit to its leaf takes the tree of a `fat-
    tree`, where load balancing chooses for each packet and looks at no table. Origin:
    assumed: the direct way first, and the queue of 17 full frames at 100G. Default: 2us.
    """
    steering: CircuitsSteering | Literal["none"]
    """Steering of circuits by the traffic of jobs. Default: none."""


class FabricSingleSwitchLoadBalancingEcmp(TypedDict, total=False):
    fields: list[Literal["source_address", "destination_address", "protocol", "source_port", "destination_port"]]
    """The header fields that enter the hash; RoCEv2's UDP destination port is always 4791
    (IANA), its source port differs from QP to QP. Default: [source_address,
    destination_address, protocol, source_port, destination_port].
    """
    hash: Literal["crc16", "crc32", "xor", "toeplitz", "linux"]
    """The hash function of the switches; `linux` is that of the Linux kernel with
    `fib_multipath_hash_policy` 1 and `fib_multipath_hash_seed` 1, without any `seeding`.
    Default: crc32.
    """
    kind: Literal["ecmp"]
    """Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}`
    one that is not named is `destination`. Default: ecmp.
    """
    seeding: Literal["mixed", "raw"]
    """`mixed` goes through a non-linear mix with a seed of each switch; `raw` is the bare hash,
    with which leaf and spine choose alike (polarisation). Default: mixed.
    """


class FabricSingleSwitchLoadBalancingWeightedEcmp(TypedDict, total=False):
    fields: list[Literal["source_address", "destination_address", "protocol", "source_port", "destination_port"]]
    """The header fields that enter the hash; RoCEv2's UDP destination port is always 4791
    (IANA), its source port differs from QP to QP. Default: [source_address,
    destination_address, protocol, source_port, destination_port].
    """
    hash: Literal["crc16", "crc32", "xor", "toeplitz", "linux"]
    """The hash function of the switches; `linux` is that of the Linux kernel with
    `fib_multipath_hash_policy` 1 and `fib_multipath_hash_seed` 1, without any `seeding`.
    Default: crc32.
    """
    kind: Literal["weighted-ecmp"]
    """Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}`
    one that is not named is `destination`. Default: ecmp.
    """
    seeding: Literal["mixed", "raw"]
    """`mixed` goes through a non-linear mix with a seed of each switch; `raw` is the bare hash,
    with which leaf and spine choose alike (polarisation). Default: mixed.
    """


class FabricSingleSwitchLoadBalancingRandomSpray(TypedDict, total=False):
    in_order_nics: Literal["refuse", "allow"]
    """Treatment of NICs that need the packets of a queue pair in order: they take an overtaken
    packet for lost. `allow` shows the effect. Default: refuse.
    """
    kind: Literal["random-spray"]
    """Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}`
    one that is not named is `destination`. Default: ecmp.
    """


class FabricSingleSwitchLoadBalancingRoundRobinSpray(TypedDict, total=False):
    in_order_nics: Literal["refuse", "allow"]
    """Treatment of NICs that need the packets of a queue pair in order: they take an overtaken
    packet for lost. `allow` shows the effect. Default: refuse.
    """
    kind: Literal["round-robin-spray"]
    """Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}`
    one that is not named is `destination`. Default: ecmp.
    """


class FabricSingleSwitchLoadBalancingQueueAwareSpray(TypedDict, total=False):
    in_order_nics: Literal["refuse", "allow"]
    """Treatment of NICs that need the packets of a queue pair in order: they take an overtaken
    packet for lost. `allow` shows the effect. Default: refuse.
    """
    kind: Literal["queue-aware-spray"]
    """Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}`
    one that is not named is `destination`. Default: ecmp.
    """
    remember: Literal[True, False]
    """`true` compares them with the link that the packet before found best. Origin: DRILL: one
    unit of memory, the second of its two parameters. Default: true.
    """
    samples: int
    """Links drawn at random for each packet; it takes the one with the shortest queue. Origin:
    DRILL: two random choices, the first of its two parameters. Default: 2.
    """


class FabricSingleSwitchLoadBalancingAdaptive(TypedDict, total=False):
    in_order_nics: Literal["refuse", "allow"]
    """Treatment of NICs that need the packets of a queue pair in order: they take an overtaken
    packet for lost. `allow` shows the effect. Default: refuse.
    """
    kind: Literal["adaptive"]
    """Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}`
    one that is not named is `destination`. Default: ecmp.
    """
    refresh: Quantity
    """Interval at which a switch takes the levels of its ports; `0ns` means at every packet,
    which is slower to simulate. Origin: assumed: switch chips do it in hardware at intervals
    from a quarter of a microsecond on. Default: 500ns.
    """
    step: Quantity
    """A port is one level busier, of eight, for each such time that a frame would wait at it.
    Origin: eight quality bands as in dynamic load balancing; their width is assumed, three
    frames of 4 KiB at 400G. Default: 250ns.
    """


class FabricSingleSwitchLoadBalancingFlowlet(TypedDict, total=False):
    buckets: int
    """Entries of a switch's table of flows; flows of one entry count as one. Origin: a common
    default of the flow set size in dynamic load balancing. Default: 256.
    """
    delta: int
    """The number of levels, of eight, by which another link must be better for that. Origin: the
    quality delta of reactive path rebalancing; its value is assumed. Default: 2.
    """
    gap: Quantity
    """A flow takes the least busy link after it has sent nothing for this time. Origin: a common
    default of the inactivity interval in dynamic load balancing. Default: 256us.
    """
    in_order_nics: Literal["refuse", "allow"]
    """Treatment of NICs that need the packets of a queue pair in order: they take an overtaken
    packet for lost. `allow` shows the effect. Default: refuse.
    """
    kind: Literal["flowlet"]
    """Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}`
    one that is not named is `destination`. Default: ecmp.
    """
    probability: int
    """Probability with which a packet of a flow without a gap moves it, if another link is
    better by `delta`; packets may then overtake each other. Origin: the probability threshold
    of reactive path rebalancing; with 0 there is none. Default: 0.
    """
    refresh: Quantity
    """Interval at which a switch takes the levels of its ports; `0ns` means at every packet,
    which is slower to simulate. Origin: assumed: switch chips do it in hardware at intervals
    from a quarter of a microsecond on. Default: 500ns.
    """
    step: Quantity
    """A port is one level busier, of eight, for each such time that a frame would wait at it.
    Origin: eight quality bands as in dynamic load balancing; their width is assumed, three
    frames of 4 KiB at 400G. Default: 250ns.
    """


class FabricSingleSwitchLoadBalancingTelemetry(TypedDict, total=False):
    buckets: int
    """Entries of a switch's table of flows; flows of one entry count as one. Origin: assumed: so
    many that flows of a leaf seldom share one. Default: 4096.
    """
    delta: int
    """The number of levels, of eight, by which another link must be better. Origin: the quality
    delta of dynamic load balancing; its value is assumed. Default: 1.
    """
    gap: Quantity
    """With `move: at-gap`: a flow moves after it has sent nothing for this time. Origin: a
    common default of the inactivity interval in dynamic load balancing. Default: 256us.
    """
    growth: Quantity
    """A long queue grows when it has this much more than at the last check, or when the sender
    has been paused since; a move would not help a queue of constant length. Origin: assumed:
    3 % of what a link of 400G carries in `notice_interval`. Default: 16KiB.
    """
    hold_down: Quantity
    """A flow that has moved stays where it is for this time. Origin: assumed: long enough for
    the queue that it left to drain. Default: 100us.
    """
    in_order_nics: Literal["refuse", "allow"]
    """Treatment of NICs that need the packets of a queue pair in order: they take an overtaken
    packet for lost. `allow` shows the effect. Default: refuse.
    """
    kind: Literal["telemetry"]
    """Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}`
    one that is not named is `destination`. Default: ecmp.
    """
    memory: Quantity
    """A notice about the way behind a link counts for this time. Origin: assumed: as
    `hold_down`. Default: 100us.
    """
    move: Literal["at-once", "at-gap"]
    """When a flow moves: with its next packet, which may overtake those before it, or when it
    has sent nothing for `gap`. Default: at-once.
    """
    notice_interval: Quantity
    """Interval at which a switch checks a port, with at most one notice each time. Origin:
    assumed: as long as notice and response take, so that one move is seen before the next is
    asked for. Default: 10us.
    """
    notify: Literal["leaf", "host"]
    """The part that moves a flow: the switch before the long queue, to the least busy of its
    links; or the NIC that sends it, by another UDP source port, for which ECMP may take any
    link. Notices to hosts are packets of class 7. Default: leaf.
    """
    refresh: Quantity
    """Interval at which a switch takes the levels of its ports; `0ns` means at every packet,
    which is slower to simulate. Origin: assumed: switch chips do it in hardware at intervals
    from a quarter of a microsecond on. Default: 500ns.
    """
    response: Quantity
    """From the arrival of a notice to the first packet that may take another link, or at the
    host to its new source port. Origin: assumed: hardware that changes an entry of a table.
    Default: 5us.
    """
    step: Quantity
    """A port is one level busier, of eight, for each such time that a frame would wait at it.
    Origin: eight quality bands as in dynamic load balancing; their width is assumed, three
    frames of 4 KiB at 400G. Default: 250ns.
    """
    threshold: Quantity
    """A queue towards another switch is long beyond this. If it also grows, the previous switch
    is notified, or this one if a host sent the packet. Origin: assumed: under three
    microseconds at 400G, and below the queues at which ECN marks. Default: 128KiB.
    """


class FabricSingleSwitchLoadBalancingDestination(TypedDict, total=False):
    kind: Literal["destination"]
    """Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}`
    one that is not named is `destination`. Default: ecmp.
    """


class FabricSingleSwitchLoadBalancingValiant(TypedDict, total=False):
    draw: Literal["packet", "flow"]
    """Unit that draws a region: each packet, or all packets with the same hash together. Origin:
    Valiant and Brebner (1981): each packet by itself. Default: packet.
    """
    in_order_nics: Literal["refuse", "allow"]
    """Treatment of NICs that need the packets of a queue pair in order: they take an overtaken
    packet for lost. `allow` shows the effect. Default: refuse.
    """
    kind: Literal["valiant"]
    """Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}`
    one that is not named is `destination`. Default: ecmp.
    """


class FabricSingleSwitchLoadBalancingUgal(TypedDict, total=False):
    bias: Quantity
    """A packet leaves the shortest path only if the wait there exceeds twice that of the detour
    by more than this. Origin: Kim et al. (2008): queues are compared without an offset.
    Default: 0ns.
    """
    in_order_nics: Literal["refuse", "allow"]
    """Treatment of NICs that need the packets of a queue pair in order: they take an overtaken
    packet for lost. `allow` shows the effect. Default: refuse.
    """
    kind: Literal["ugal"]
    """Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}`
    one that is not named is `destination`. Default: ecmp.
    """


class Power(TypedDict, total=False):
    cable_bit_fj: int
    """A bit that passes a cable, both ends together, in femtojoules. Default: that of the
    profile.
    """
    cable_end_mw: int
    """Each end of a cable, its transceiver or what an active cable has there, in milliwatts.
    Default: that of the profile.
    """
    optical_element_mw: int
    """A 2×2 element of an optical switch that is held, in milliwatts. Default: that of the
    profile.
    """
    profile: Literal["edr-100g"]
    """The profile with the constants that this mapping leaves out."""
    switch_base_mw: int
    """An electrical switch without its ports, in milliwatts; one without any cable is not there.
    Default: that of the profile.
    """
    switch_bit_fj: int
    """A bit that passes a switch, in femtojoules. Default: that of the profile."""
    switch_port_mw: int
    """Each of its ports that has a cable, in milliwatts. Default: that of the profile."""


SourceFlowControl = TypedDict("SourceFlowControl", {
    "at": "Literal[\"last-hop\", \"any\"]",
    "cache_entries": "int",
    "class": "int",
    "mode": "Literal[\"remote-pfc\", \"nic\", \"none\"]",
    "repeat": "Literal[\"when-longer\", \"after-pause\"]",
    "target": "Quantity",
    "threshold": "Quantity",
}, total=False)


class SwitchBufferPool(TypedDict, total=False):
    name: str | float | bool
    """A name no other pool has."""
    size: Quantity
    """Size of the pool, as a part of the buffer."""


class SwitchBuffer(TypedDict, total=False):
    headroom_pool: Quantity | Literal["none"]
    """Headroom that all ports share: a port has no more than its own, and all together no more
    than this; with `none` each port has all of its own. Default: none.
    """
    partitions: int
    """Number of equal partitions of pools and shared headroom; neighbouring ports take space
    from the same one. Default: 1.
    """
    pools: list[SwitchBufferPool]
    """The shared parts. Without any there is one, `shared`: all that is neither reserved nor
    headroom in the switch that needs most of both. Default: [].
    """
    size: Quantity
    """The whole buffer of a switch: reserved space, all headroom and all pools."""


class SwitchClassEcn1(TypedDict, total=False):
    at_hosts: Literal[True, False]
    """`true` marks frames at ports to hosts, too. Default: true."""
    kmax: Quantity
    """Beyond this queue length everything is marked."""
    kmin: Quantity
    """Up to this queue length nothing is marked."""
    mark: Literal["enqueue", "dequeue"]
    """Instant at which a frame is marked: when it enters its queue, by the length of the queue
    with it, or when it leaves, by the length that it leaves behind. Default: enqueue.
    """
    pmax: float | str
    """Probability of a mark at `kmax`; from `kmin` on it rises to it linearly."""
    scale_from: Quantity | Literal["none"]
    """The line rate that `kmin` and `kmax` are meant for: at ports of other rates they are in
    proportion. Default: none.
    """


class SwitchClassLevel(TypedDict, total=False):
    above: Quantity
    """The level holds above this fill of the pool; more than in the level before."""
    limit: Quantity
    """A queue or priority group may hold this much; no more than in the level before. `0B` stops
    all of them.
    """


class SwitchClassLossless1(TypedDict, total=False):
    headroom: Quantity | Literal["model", "sonic"]
    """Bytes kept at each port for frames that arrive after XOFF: by the delays of the model,
    which never drops, by SONiC's formula, or as given. Default: model.
    """
    quanta: int
    """Pause time that an XOFF asks for, in units of 512 bit times. Origin: the largest that IEEE
    802.1Qbb has, and what switches send. Default: 65535.
    """
    refresh: int
    """The share of its pause time after which an XOFF is repeated while it lasts. Origin: half
    is early enough for the repetition to arrive; devices differ. Default: 50.
    """
    scope: Literal["all", "hosts"]
    """The senders that `trigger: pool` pauses: those at all ports, or hosts only; other switches
    are then paused when their frames need headroom. Default: all.
    """
    trigger: Literal["ingress", "egress", "pool"]
    """The bytes that are compared with the threshold: those that came in through one port, whose
    sender is then paused; those in an output queue, whose senders are then paused; or those
    in the whole pool: every sender is then paused. Default: ingress.
    """
    xon_offset: Quantity
    """Senders resume (XON) when the bytes that `trigger` compares are this far below the
    threshold, or there are none. Default: 0B.
    """


class SwitchClassTrim(TypedDict, total=False):
    size: Quantity
    """Frame bytes of what is left. Origin: the Ultra Ethernet Consortium's simulator. Default:
    64B.
    """
    to: int
    """The class of what is left, which a listed one has to be."""


SwitchClass = TypedDict("SwitchClass", {
    "alpha": "float | str",
    "class": "int",
    "ecn": "SwitchClassEcn1 | Literal[\"none\", \"hpcc-25g\", \"hpcc-50g\", \"hpcc-100g\", \"hpcc-400g\", \"astra-200g\", \"astra-400g\", \"sonic\"]",
    "levels": "list[SwitchClassLevel]",
    "limit": "Quantity",
    "limit_floor": "Quantity",
    "limit_scale_from": "Quantity | Literal[\"none\"]",
    "lossless": "SwitchClassLossless1 | Literal[True, False]",
    "next_region": "int",
    "pool": "str | float | bool",
    "reserved": "Quantity",
    "scheduling": "Literal[\"strict\"]",
    "trim": "SwitchClassTrim | Literal[\"none\"]",
    "weight": "int",
}, total=False)


class SwitchPfcWatchdog(TypedDict, total=False):
    action: Literal["drop", "forward"]
    """Treatment of the frames of a stuck queue until then: they are dropped, or sent in spite of
    the pause. Origin: `pfcwd start_default` of SONiC (sonic-utilities), for switches of up to
    32 ports. Default: drop.
    """
    detection_time: Quantity
    """A queue with waiting frames is stuck when it has been paused for this time without
    interruption. Origin: `pfcwd start_default` of SONiC (sonic-utilities), for switches of up
    to 32 ports. Default: 200ms.
    """
    poll_interval: Quantity
    """Interval at which it looks at the queues. Origin: `pfcwd start_default` of SONiC (sonic-
    utilities), for switches of up to 32 ports. Default: 200ms.
    """
    restoration_time: Quantity
    """The storm is over when no pause has been in force for this time. Origin: `pfcwd
    start_default` of SONiC (sonic-utilities), for switches of up to 32 ports. Default: 200ms.
    """


class SwitchTier(TypedDict, total=False):
    buffer: SwitchBuffer | Literal["none"]
    """The buffer that all ports share; one that is given takes nothing from `fabric.switch`.
    Default: as in `fabric.switch`.
    """
    classes: list[SwitchClass]
    """The treatment of each traffic class; the same classes as in `fabric.switch`. Default: as
    in `fabric.switch`.
    """
    forwarding: Literal["cut-through", "store-and-forward"]
    """Forwarding of a frame, before or after all of it has come in. Default: as in
    `fabric.switch`.
    """
    pipeline_latency: Quantity
    """From the input to the output of an idle switch. Default: as in `fabric.switch`."""
    profile: Literal["none", "tomahawk5", "tomahawk5-sonic", "tofino2", "generic-32mb", "jericho3-ramon3", "quantum2"]
    """Profile of the tier's device; its constants come before those of `fabric.switch`. Default:
    as in `fabric.switch`.
    """
    queue_capacity: Quantity | Literal["none"]
    """Frame bytes one output queue holds before it drops the tail. Default: as in
    `fabric.switch`.
    """
    tier: int
    """The tier: 0 for leaves, 1 for the switches above them, and so on."""


class Switch(TypedDict, total=False):
    buffer: SwitchBuffer | Literal["none"]
    """The buffer that all ports share; without one each queue has `queue_capacity` of its own.
    Default: none.
    """
    classes: list[SwitchClass]
    """The treatment of each traffic class. Default: one for everything; with `flow_control` that
    of the data.
    """
    forwarding: Literal["cut-through", "store-and-forward"]
    """Forwarding of a frame: it may leave before all of it has come in (`cut-through`), or is
    stored first; a frame from a slower input is always stored first. Origin: usual in low-
    latency Ethernet switches. Default: cut-through.
    """
    pause_response: Quantity | Literal["standard"]
    """Time after the arrival of a pause frame in which a port of a switch may still start frames
    of the class, and a NIC unless `endpoint.nic.pause_response` says otherwise; `standard`
    depends on the rate, `0s` stops it at once. Origin: IEEE 802.3, Annex 31B, as SONiC's
    headroom calculation tabulates it. Default: standard.
    """
    pfc_watchdog: SwitchPfcWatchdog | Literal["none"]
    """The watchdog that frees queues of lossless classes that stay paused. Default: none."""
    pipeline_latency: Quantity
    """From the input to the output of an idle switch, without the frame time of store-and-
    forward; half of it before the output queue, half after. Origin: published figures of
    comparable switch chips are 300 to 800 ns a hop; AI Fabric Test Methodology (Keysight)
    measures 795 ns through one ToR and about 2.1 us through three switches with frames of
    4,158 bytes. Default: 600ns.
    """
    profile: Literal["none", "tomahawk5", "tomahawk5-sonic", "tofino2", "generic-32mb", "jericho3-ramon3", "quantum2"]
    """The device whose constants fill in omitted keys, here and in `classes`; the folder
    `profiles/` has the origin of each. Default: `none`; with `flow_control` `generic-32mb`,
    or `jericho3-ramon3` if the fabric is scheduled.
    """
    queue_capacity: Quantity | Literal["none"]
    """Frame bytes one output queue holds before it drops the tail; `none` never drops. Origin:
    what one queue of a 51.2 Tb/s switch chip can take of its 165-MB shared buffer with alpha
    = 1, rounded down. Default: `64MiB` without `buffer`.
    """
    tiers: list[SwitchTier]
    """Tiers whose switches differ from the others, for example by deeper buffers. Default: []."""


class FabricSingleSwitchSwitchingOutputQueued(TypedDict, total=False):
    kind: Literal["output-queued"]
    """The place where frames wait: at the outputs of every switch; at its inputs, in front of a
    crossbar; at their first leaf until their destination port grants them credit; or at every
    switch until the next one has room for them. The further keys depend on it. Default:
    output-queued.
    """


class FabricSingleSwitchSwitchingInputQueued(TypedDict, total=False):
    channels: int
    """With `queues: fifo`: virtual channels of an input, each in the order of arrival; a frame
    takes the shortest. Origin: 1 is the textbook's FIFO switch; BookSim has 16 unless told
    otherwise. Default: 1.
    """
    iterations: int
    """The most rounds of requests, grants and acceptances when inputs and outputs are matched
    (iSLIP). Origin: log₂ of 16 ports (McKeown: The iSLIP Scheduling Algorithm for Input-
    Queued Switches). Default: 4.
    """
    kind: Literal["input-queued"]
    """The place where frames wait: at the outputs of every switch; at its inputs, in front of a
    crossbar; at their first leaf until their destination port grants them credit; or at every
    switch until the next one has room for them. The further keys depend on it. Default:
    output-queued.
    """
    queues: Literal["fifo", "per-output"]
    """How frames of a class wait at an input: in the order of arrival, or in a queue for each
    output (virtual output queues). Default: per-output.
    """


class FabricSingleSwitchSwitchingScheduledCell(TypedDict, total=False):
    bundle: int
    """Cells of a packet that travel together: the same bytes, fewer events, a coarser spray. The
    bundles of a packet differ by one cell at most. Default: 1.
    """
    overhead: Quantity
    """Overhead of a cell on the wire, in place of preamble and gap. Origin: the largest cell of
    the format VSC256 has 272 bytes (OpenBCM SDK), read as 256 of data and 16 of header.
    Default: 16B.
    """
    payload: Quantity
    """The most bytes of a packet in one cell; the last cell is as long as it must be. Origin:
    the largest cell of the format VSC256 has 272 bytes (OpenBCM SDK), read as 256 of data and
    16 of header. Default: 256B.
    """


class FabricSingleSwitchSwitchingScheduledIndication(TypedDict, total=False):
    hold: Quantity
    """A port takes at most one step in this time, of eight of its credit rate, and gives one
    back after this time without a mark. Origin: assumed: several times the way through the
    fabric; eight levels are those of Broadcom's SDK. Default: 10us.
    """
    threshold: Quantity
    """A cell that makes a queue of the fabric longer than this is marked. Origin: assumed;
    Broadcom's SDK has three thresholds, without values. Default: 32KiB.
    """


class FabricSingleSwitchSwitchingScheduled(TypedDict, total=False):
    cell: FabricSingleSwitchSwitchingScheduledCell | Literal["none"]
    """Cells into which a packet is cut between leaves; with `none` it travels whole. Default:
    none.
    """
    control: Quantity
    """Wire bytes of a request and a credit together on the links between switches, for each
    credit; packets carry them in proportion, and they are a quarter of `credit` at most.
    Messages on control links take none. Origin: not published: 0 leaves it out. Default: 0B.
    """
    credit: Quantity
    """Worth of one credit, in bytes on the wire of the destination port. Origin: the size of a
    DRAM buffer of Jericho 3 (FBOSS, Jericho3Asic.h) and the resolution of its credit balance
    (OpenBCM SDK); the SDK takes 256 to 8,192 bytes. Default: 4096B.
    """
    egress_buffer: Quantity
    """A port grants no credit while this many frame bytes wait at it. Origin: assumed: what a
    port of 400G sends in two round trips of 5 us, rounded up. Default: 512KiB.
    """
    indication: FabricSingleSwitchSwitchingScheduledIndication | Literal["none"]
    """Congestion indication: cells that meet a long queue in the fabric slow the credits of
    their port down. Default: none.
    """
    kind: Literal["scheduled"]
    """The place where frames wait: at the outputs of every switch; at its inputs, in front of a
    crossbar; at their first leaf until their destination port grants them credit; or at every
    switch until the next one has room for them. The further keys depend on it. Default:
    output-queued.
    """
    over_speed: int
    """By how much credits are granted faster than the port sends. Origin: assumed: enough to
    cover what is lost to rounding. Default: 2.
    """
    reassembly_timeout: Quantity
    """A packet is given up when it is not whole after this time; only where links fail or lose
    frames. Origin: assumed: longer than anything waits in the fabric. Default: 100us.
    """
    spray: Literal["round-robin", "random"]
    """How cells, or packets, are spread over the links that lead to their leaf. Default: round-
    robin.
    """


class FabricSingleSwitchSwitchingCreditBased(TypedDict, total=False):
    kind: Literal["credit-based"]
    """The place where frames wait: at the outputs of every switch; at its inputs, in front of a
    crossbar; at their first leaf until their destination port grants them credit; or at every
    switch until the next one has room for them. The further keys depend on it. Default:
    output-queued.
    """
    lane_buffer: Quantity
    """The input buffer that each port, of a switch or of a NIC, has for each class (virtual
    lane); in blocks of 64 bytes, rounded down. Origin: 2,048 blocks are the most that the
    credit counters of InfiniBand, of 12 bits, can grant; what devices have is not published.
    Default: 128KiB.
    """
    update: Quantity
    """A flow-control packet is sent when this much of an input buffer has become free since the
    last one. Origin: assumed: about one for each full packet; the standard asks for one every
    65,536 symbol times at least. Default: 4096B.
    """
    update_delay: Quantity
    """From the end of a flow-control packet to the instant at which the other end applies it,
    without the delay of the cable. Origin: assumed: the part of a switch's pipeline that it
    passes. Default: 100ns.
    """


class FabricSingleSwitch(TypedDict, total=False):
    circuits: Circuits | Literal["none"]
    """Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in
    place of the spines of a `leaf-spine` fabric. Default: none.
    """
    flow_control: Literal["none", "pfc", "ecn", "pfc+ecn", "trim"]
    """Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
    or both, with the constants of `switch.profile`; or marks and trims its packets, with the
    queues of the Ultra Ethernet Consortium's simulator (`trim`). Default: `none`, or as
    `switch.classes` has it.
    """
    host_delay: Quantity
    """Propagation delay of host links. Origin: a copper cable of 5 m at 1.98·10⁸ m/s. Default:
    25ns.
    """
    hosts: int
    """Number of hosts; a host is one NIC with one port."""
    kind: Literal["single-switch"]
    """The topology; the further keys depend on it."""
    load_balancing: FabricSingleSwitchLoadBalancingEcmp | FabricSingleSwitchLoadBalancingWeightedEcmp | FabricSingleSwitchLoadBalancingRandomSpray | FabricSingleSwitchLoadBalancingRoundRobinSpray | FabricSingleSwitchLoadBalancingQueueAwareSpray | FabricSingleSwitchLoadBalancingAdaptive | FabricSingleSwitchLoadBalancingFlowlet | FabricSingleSwitchLoadBalancingTelemetry | FabricSingleSwitchLoadBalancingDestination | FabricSingleSwitchLoadBalancingValiant | FabricSingleSwitchLoadBalancingUgal
    """How a switch chooses one of several equal-cost ports; not with `switching: {kind:
    scheduled}`. Default: `{}`, but in a scheduled fabric.
    """
    power: Power | Literal["edr-100g", "none"]
    """Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
    mapping with a profile and some constants of its own; they change no result. Default:
    none.
    """
    rate: Quantity
    """Line rate of every link. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs and
    switch ports. Default: 400Gbps.
    """
    source_flow_control: SourceFlowControl
    """Congestion signals of switches to senders: Remote PFC, or source flow control in the NIC;
    it works with any `flow_control`. Default: {}.
    """
    switch: Switch
    """The switch model; all switches share it, except where its `tiers` differ. Default: `{}`."""
    switching: FabricSingleSwitchSwitchingOutputQueued | FabricSingleSwitchSwitchingInputQueued | FabricSingleSwitchSwitchingScheduled | FabricSingleSwitchSwitchingCreditBased
    """The place where frames wait: at the outputs of every switch, at the first leaf until they
    have credit, or at every switch until the next one has room. Default: {}.
    """


class FabricLeafSpineOverride(TypedDict, total=False):
    leaf: int
    """The leaf, counted from 0."""
    links: int
    """Parallel cables between the two; 0 for none. Default: `links_per_pair`."""
    rate: Quantity
    """Line rate of these cables. Default: `uplink_rate`."""
    spine: int
    """The spine, counted from 0."""


class FabricLeafSpine(TypedDict, total=False):
    cabling: list[int] | Literal["regular"]
    """The leaf of every host, in the order of the hosts, counted from 0; at most
    `hosts_per_leaf` on each. `regular` fills leaf after leaf, and a shorter list leaves host
    ports empty. Default: regular.
    """
    circuits: Circuits | Literal["none"]
    """Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in
    place of the spines of a `leaf-spine` fabric. Default: none.
    """
    fabric_delay: Quantity
    """Propagation delay of leaf-spine links. Origin: a fibre of 40 m at 1.98·10⁸ m/s. Default:
    200ns.
    """
    flow_control: Literal["none", "pfc", "ecn", "pfc+ecn", "trim"]
    """Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
    or both, with the constants of `switch.profile`; or marks and trims its packets, with the
    queues of the Ultra Ethernet Consortium's simulator (`trim`). Default: `none`, or as
    `switch.classes` has it.
    """
    host_delay: Quantity
    """Propagation delay of host links. Origin: a copper cable of 5 m at 1.98·10⁸ m/s. Default:
    25ns.
    """
    host_rate: Quantity
    """Line rate of host links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs and
    switch ports. Default: 400Gbps.
    """
    hosts_per_leaf: int
    """Host ports of each leaf."""
    kind: Literal["leaf-spine"]
    """The topology; the further keys depend on it."""
    leaves: int
    """Number of leaves in the fabric."""
    links_per_pair: int
    """Parallel cables between each leaf and each spine. Default: 1."""
    load_balancing: FabricSingleSwitchLoadBalancingEcmp | FabricSingleSwitchLoadBalancingWeightedEcmp | FabricSingleSwitchLoadBalancingRandomSpray | FabricSingleSwitchLoadBalancingRoundRobinSpray | FabricSingleSwitchLoadBalancingQueueAwareSpray | FabricSingleSwitchLoadBalancingAdaptive | FabricSingleSwitchLoadBalancingFlowlet | FabricSingleSwitchLoadBalancingTelemetry | FabricSingleSwitchLoadBalancingDestination | FabricSingleSwitchLoadBalancingValiant | FabricSingleSwitchLoadBalancingUgal
    """How a switch chooses one of several equal-cost ports; not with `switching: {kind:
    scheduled}`. Default: `{}`, but in a scheduled fabric.
    """
    overrides: list[FabricLeafSpineOverride]
    """Pairs of leaf and spine that differ from the rest. Default: []."""
    planes: float | str
    """Planes of a multi-plane fabric: each is all the switches and cables that the other keys
    describe, and has one port of every NIC. Default: 1.
    """
    power: Power | Literal["edr-100g", "none"]
    """Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
    mapping with a profile and some constants of its own; they change no result. Default:
    none.
    """
    source_flow_control: SourceFlowControl
    """Congestion signals of switches to senders: Remote PFC, or source flow control in the NIC;
    it works with any `flow_control`. Default: {}.
    """
    spines: int
    """Number of spines in the fabric."""
    switch: Switch
    """The switch model; all switches share it, except where its `tiers` differ. Default: `{}`."""
    switching: FabricSingleSwitchSwitchingOutputQueued | FabricSingleSwitchSwitchingInputQueued | FabricSingleSwitchSwitchingScheduled | FabricSingleSwitchSwitchingCreditBased
    """The place where frames wait: at the outputs of every switch, at the first leaf until they
    have credit, or at every switch until the next one has room. Default: {}.
    """
    uplink_rate: Quantity
    """Line rate of leaf-spine links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs
    and switch ports. Default: 400Gbps.
    """


class FabricFatTreeCore(TypedDict, total=False):
    cores_per_agg: int
    """Core switches above each aggregation switch."""
    delay: Quantity
    """Propagation delay of the links to the cores. Origin: a fibre of 40 m at 1.98·10⁸ m/s.
    Default: 200ns.
    """
    links_per_agg_core: int
    """Parallel cables between an aggregation switch and each of its cores. Default: 1."""
    links_per_pod: int
    """The cables from each pod to the cores, as a count in place of `taper`. Default: as `taper`
    has it.
    """
    pods: int
    """Number of pods below the core tier."""
    rate: Quantity
    """Line rate of the links to the cores. Origin: AI Fabric Test Methodology (Keysight): 400GE
    NICs and switch ports. Default: 400Gbps.
    """
    taper: float | str
    """Factor by which tapering divides the cables from each pod to the cores; cores without any
    are left out. Default: 1.
    """


class FabricFatTree(TypedDict, total=False):
    aggs_per_pod: int
    """Aggregation switches of each pod; the spines where there is no core tier."""
    circuits: Circuits | Literal["none"]
    """Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in
    place of the spines of a `leaf-spine` fabric. Default: none.
    """
    core: FabricFatTreeCore | Literal["none"]
    """The third tier; without it the tree has two tiers and one pod. Default: none."""
    flow_control: Literal["none", "pfc", "ecn", "pfc+ecn", "trim"]
    """Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
    or both, with the constants of `switch.profile`; or marks and trims its packets, with the
    queues of the Ultra Ethernet Consortium's simulator (`trim`). Default: `none`, or as
    `switch.classes` has it.
    """
    host_delay: Quantity
    """Propagation delay of host links. Origin: a copper cable of 5 m at 1.98·10⁸ m/s. Default:
    25ns.
    """
    host_rate: Quantity
    """Line rate of host links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs and
    switch ports. Default: 400Gbps.
    """
    hosts_per_leaf: int
    """Number of hosts on each leaf."""
    kind: Literal["fat-tree"]
    """The topology; the further keys depend on it."""
    leaf_delay: Quantity
    """Propagation delay of the links above the leaves. Origin: a fibre of 40 m at 1.98·10⁸ m/s.
    Default: 200ns.
    """
    leaf_rate: Quantity
    """Line rate of the links above the leaves. Origin: AI Fabric Test Methodology (Keysight):
    400GE NICs and switch ports. Default: 400Gbps.
    """
    leaves_per_pod: int
    """Number of leaves in each pod."""
    links_per_leaf_agg: int
    """Parallel cables between each leaf and each aggregation switch of its pod. Default: 1."""
    load_balancing: FabricSingleSwitchLoadBalancingEcmp | FabricSingleSwitchLoadBalancingWeightedEcmp | FabricSingleSwitchLoadBalancingRandomSpray | FabricSingleSwitchLoadBalancingRoundRobinSpray | FabricSingleSwitchLoadBalancingQueueAwareSpray | FabricSingleSwitchLoadBalancingAdaptive | FabricSingleSwitchLoadBalancingFlowlet | FabricSingleSwitchLoadBalancingTelemetry | FabricSingleSwitchLoadBalancingDestination | FabricSingleSwitchLoadBalancingValiant | FabricSingleSwitchLoadBalancingUgal
    """How a switch chooses one of several equal-cost ports; not with `switching: {kind:
    scheduled}`. Default: `{}`, but in a scheduled fabric.
    """
    planes: float | str
    """Planes of a multi-plane fabric: each is all the switches and cables that the other keys
    describe, and has one port of every NIC. Default: 1.
    """
    power: Power | Literal["edr-100g", "none"]
    """Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
    mapping with a profile and some constants of its own; they change no result. Default:
    none.
    """
    source_flow_control: SourceFlowControl
    """Congestion signals of switches to senders: Remote PFC, or source flow control in the NIC;
    it works with any `flow_control`. Default: {}.
    """
    switch: Switch
    """The switch model; all switches share it, except where its `tiers` differ. Default: `{}`."""
    switching: FabricSingleSwitchSwitchingOutputQueued | FabricSingleSwitchSwitchingInputQueued | FabricSingleSwitchSwitchingScheduled | FabricSingleSwitchSwitchingCreditBased
    """The place where frames wait: at the outputs of every switch, at the first leaf until they
    have credit, or at every switch until the next one has room. Default: {}.
    """


class FabricRail(TypedDict, total=False):
    cabling: list[int] | Literal["regular"]
    """The leaf of every NIC, server by server, counted from 0; at most `servers_per_group` on
    each. `regular` puts NIC i on the leaf of rail i. Default: regular.
    """
    circuits: Circuits | Literal["none"]
    """Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in
    place of the spines of a `leaf-spine` fabric. Default: none.
    """
    fabric_delay: Quantity
    """Propagation delay of leaf-spine links. Origin: a fibre of 40 m at 1.98·10⁸ m/s. Default:
    200ns.
    """
    flow_control: Literal["none", "pfc", "ecn", "pfc+ecn", "trim"]
    """Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
    or both, with the constants of `switch.profile`; or marks and trims its packets, with the
    queues of the Ultra Ethernet Consortium's simulator (`trim`). Default: `none`, or as
    `switch.classes` has it.
    """
    host_delay: Quantity
    """Propagation delay of host links. Origin: a copper cable of 5 m at 1.98·10⁸ m/s. Default:
    25ns.
    """
    host_rate: Quantity
    """Line rate of host links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs and
    switch ports. Default: 400Gbps.
    """
    kind: Literal["rail"]
    """The topology; the further keys depend on it."""
    links_per_pair: int
    """Parallel cables between each leaf and each spine. Default: 1."""
    load_balancing: FabricSingleSwitchLoadBalancingEcmp | FabricSingleSwitchLoadBalancingWeightedEcmp | FabricSingleSwitchLoadBalancingRandomSpray | FabricSingleSwitchLoadBalancingRoundRobinSpray | FabricSingleSwitchLoadBalancingQueueAwareSpray | FabricSingleSwitchLoadBalancingAdaptive | FabricSingleSwitchLoadBalancingFlowlet | FabricSingleSwitchLoadBalancingTelemetry | FabricSingleSwitchLoadBalancingDestination | FabricSingleSwitchLoadBalancingValiant | FabricSingleSwitchLoadBalancingUgal
    """How a switch chooses one of several equal-cost ports; not with `switching: {kind:
    scheduled}`. Default: `{}`, but in a scheduled fabric.
    """
    nics_per_server: int
    """NICs of each server, which is the number of rails; each NIC is a host."""
    power: Power | Literal["edr-100g", "none"]
    """Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
    mapping with a profile and some constants of its own; they change no result. Default:
    none.
    """
    servers: int
    """Number of servers in the fabric."""
    servers_per_group: int
    """Servers that share their leaves: one leaf per group and rail; the last group may have
    fewer. Default: `servers`.
    """
    source_flow_control: SourceFlowControl
    """Congestion signals of switches to senders: Remote PFC, or source flow control in the NIC;
    it works with any `flow_control`. Default: {}.
    """
    spines: int
    """Number of spines in the fabric."""
    switch: Switch
    """The switch model; all switches share it, except where its `tiers` differ. Default: `{}`."""
    switching: FabricSingleSwitchSwitchingOutputQueued | FabricSingleSwitchSwitchingInputQueued | FabricSingleSwitchSwitchingScheduled | FabricSingleSwitchSwitchingCreditBased
    """The place where frames wait: at the outputs of every switch, at the first leaf until they
    have credit, or at every switch until the next one has room. Default: {}.
    """
    uplink_rate: Quantity
    """Line rate of leaf-spine links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs
    and switch ports. Default: 400Gbps.
    """


class FabricRailOnly(TypedDict, total=False):
    circuits: Circuits | Literal["none"]
    """Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in
    place of the spines of a `leaf-spine` fabric. Default: none.
    """
    fabric_delay: Quantity
    """Propagation delay of leaf-spine links. Origin: a fibre of 40 m at 1.98·10⁸ m/s. Default:
    200ns.
    """
    flow_control: Literal["none", "pfc", "ecn", "pfc+ecn", "trim"]
    """Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
    or both, with the constants of `switch.profile`; or marks and trims its packets, with the
    queues of the Ultra Ethernet Consortium's simulator (`trim`). Default: `none`, or as
    `switch.classes` has it.
    """
    host_delay: Quantity
    """Propagation delay of host links. Origin: a copper cable of 5 m at 1.98·10⁸ m/s. Default:
    25ns.
    """
    host_rate: Quantity
    """Line rate of host links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs and
    switch ports. Default: 400Gbps.
    """
    kind: Literal["rail-only"]
    """The topology; the further keys depend on it."""
    links_per_pair: int
    """Parallel cables between each leaf and each spine of a rail. Default: 1."""
    load_balancing: FabricSingleSwitchLoadBalancingEcmp | FabricSingleSwitchLoadBalancingWeightedEcmp | FabricSingleSwitchLoadBalancingRandomSpray | FabricSingleSwitchLoadBalancingRoundRobinSpray | FabricSingleSwitchLoadBalancingQueueAwareSpray | FabricSingleSwitchLoadBalancingAdaptive | FabricSingleSwitchLoadBalancingFlowlet | FabricSingleSwitchLoadBalancingTelemetry | FabricSingleSwitchLoadBalancingDestination | FabricSingleSwitchLoadBalancingValiant | FabricSingleSwitchLoadBalancingUgal
    """How a switch chooses one of several equal-cost ports; not with `switching: {kind:
    scheduled}`. Default: `{}`, but in a scheduled fabric.
    """
    nics_per_server: int
    """NICs of each server, which is the number of rails; each NIC is a host."""
    power: Power | Literal["edr-100g", "none"]
    """Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
    mapping with a profile and some constants of its own; they change no result. Default:
    none.
    """
    servers: int
    """Number of servers in the fabric."""
    servers_per_leaf: int
    """Servers whose NICs share a leaf of each rail; the last leaf may have fewer. Default:
    `servers`.
    """
    source_flow_control: SourceFlowControl
    """Congestion signals of switches to senders: Remote PFC, or source flow control in the NIC;
    it works with any `flow_control`. Default: {}.
    """
    spines_per_rail: int
    """Spines of each rail; without any a rail has one leaf. Default: 0."""
    switch: Switch
    """The switch model; all switches share it, except where its `tiers` differ. Default: `{}`."""
    switching: FabricSingleSwitchSwitchingOutputQueued | FabricSingleSwitchSwitchingInputQueued | FabricSingleSwitchSwitchingScheduled | FabricSingleSwitchSwitchingCreditBased
    """The place where frames wait: at the outputs of every switch, at the first leaf until they
    have credit, or at every switch until the next one has room. Default: {}.
    """
    uplink_rate: Quantity
    """Line rate of leaf-spine links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs
    and switch ports. Default: 400Gbps.
    """


class FabricDragonfly(TypedDict, total=False):
    circuits: Circuits | Literal["none"]
    """Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in
    place of the spines of a `leaf-spine` fabric. Default: none.
    """
    flow_control: Literal["none", "pfc", "ecn", "pfc+ecn", "trim"]
    """Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
    or both, with the constants of `switch.profile`; or marks and trims its packets, with the
    queues of the Ultra Ethernet Consortium's simulator (`trim`). Default: `none`, or as
    `switch.classes` has it.
    """
    global_delay: Quantity
    """Propagation delay of the cables between groups. Origin: a fibre of 40 m at 1.98·10⁸ m/s.
    Default: 200ns.
    """
    global_links_per_router: int
    """Ports of each router for cables to other groups."""
    global_rate: Quantity
    """Line rate of the cables between groups. Origin: AI Fabric Test Methodology (Keysight):
    400GE NICs and switch ports. Default: 400Gbps.
    """
    groups: int
    """Number of groups: at most one more than a group has global ports. Each two groups have the
    same number of cables between them, as many as their global ports are enough for.
    """
    host_delay: Quantity
    """Propagation delay of host links. Origin: a copper cable of 5 m at 1.98·10⁸ m/s. Default:
    25ns.
    """
    host_rate: Quantity
    """Line rate of host links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs and
    switch ports. Default: 400Gbps.
    """
    hosts_per_router: int
    """Host ports of each router."""
    kind: Literal["dragonfly"]
    """The topology; the further keys depend on it."""
    load_balancing: FabricSingleSwitchLoadBalancingEcmp | FabricSingleSwitchLoadBalancingWeightedEcmp | FabricSingleSwitchLoadBalancingRandomSpray | FabricSingleSwitchLoadBalancingRoundRobinSpray | FabricSingleSwitchLoadBalancingQueueAwareSpray | FabricSingleSwitchLoadBalancingAdaptive | FabricSingleSwitchLoadBalancingFlowlet | FabricSingleSwitchLoadBalancingTelemetry | FabricSingleSwitchLoadBalancingDestination | FabricSingleSwitchLoadBalancingValiant | FabricSingleSwitchLoadBalancingUgal
    """How a switch chooses one of several equal-cost ports; not with `switching: {kind:
    scheduled}`. Default: `{}`, but in a scheduled fabric.
    """
    local_delay: Quantity
    """Propagation delay of the cables within groups. Origin: a copper cable of 5 m at 1.98·10⁸
    m/s. Default: 25ns.
    """
    local_rate: Quantity
    """Line rate of the cables within groups. Origin: AI Fabric Test Methodology (Keysight):
    400GE NICs and switch ports. Default: 400Gbps.
    """
    power: Power | Literal["edr-100g", "none"]
    """Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
    mapping with a profile and some constants of its own; they change no result. Default:
    none.
    """
    routers_per_group: int
    """Routers of each group; each two of them have a cable."""
    source_flow_control: SourceFlowControl
    """Congestion signals of switches to senders: Remote PFC, or source flow control in the NIC;
    it works with any `flow_control`. Default: {}.
    """
    switch: Switch
    """The switch model; all switches share it, except where its `tiers` differ. Default: `{}`."""
    switching: FabricSingleSwitchSwitchingOutputQueued | FabricSingleSwitchSwitchingInputQueued | FabricSingleSwitchSwitchingScheduled | FabricSingleSwitchSwitchingCreditBased
    """The place where frames wait: at the outputs of every switch, at the first leaf until they
    have credit, or at every switch until the next one has room. Default: {}.
    """


class FabricDragonflyPlus(TypedDict, total=False):
    circuits: Circuits | Literal["none"]
    """Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in
    place of the spines of a `leaf-spine` fabric. Default: none.
    """
    flow_control: Literal["none", "pfc", "ecn", "pfc+ecn", "trim"]
    """Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
    or both, with the constants of `switch.profile`; or marks and trims its packets, with the
    queues of the Ultra Ethernet Consortium's simulator (`trim`). Default: `none`, or as
    `switch.classes` has it.
    """
    global_delay: Quantity
    """Propagation delay of the cables between groups. Origin: a fibre of 40 m at 1.98·10⁸ m/s.
    Default: 200ns.
    """
    global_links_per_spine: int
    """Ports of each spine for cables to other groups."""
    global_rate: Quantity
    """Line rate of the cables between groups. Origin: AI Fabric Test Methodology (Keysight):
    400GE NICs and switch ports. Default: 400Gbps.
    """
    groups: int
    """Number of groups: at most one more than a group has global ports. Each two groups have the
    same number of cables between them, as many as their global ports are enough for.
    """
    host_delay: Quantity
    """Propagation delay of host links. Origin: a copper cable of 5 m at 1.98·10⁸ m/s. Default:
    25ns.
    """
    host_rate: Quantity
    """Line rate of host links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs and
    switch ports. Default: 400Gbps.
    """
    hosts_per_leaf: int
    """Host ports of each leaf."""
    kind: Literal["dragonfly-plus"]
    """The topology; the further keys depend on it."""
    leaves_per_group: int
    """Number of leaves in each group."""
    links_per_pair: int
    """Parallel cables between each leaf and each spine of its group. Default: 1."""
    load_balancing: FabricSingleSwitchLoadBalancingEcmp | FabricSingleSwitchLoadBalancingWeightedEcmp | FabricSingleSwitchLoadBalancingRandomSpray | FabricSingleSwitchLoadBalancingRoundRobinSpray | FabricSingleSwitchLoadBalancingQueueAwareSpray | FabricSingleSwitchLoadBalancingAdaptive | FabricSingleSwitchLoadBalancingFlowlet | FabricSingleSwitchLoadBalancingTelemetry | FabricSingleSwitchLoadBalancingDestination | FabricSingleSwitchLoadBalancingValiant | FabricSingleSwitchLoadBalancingUgal
    """How a switch chooses one of several equal-cost ports; not with `switching: {kind:
    scheduled}`. Default: `{}`, but in a scheduled fabric.
    """
    local_delay: Quantity
    """Propagation delay of the cables between leaves and spines. Origin: a copper cable of 5 m
    at 1.98·10⁸ m/s. Default: 25ns.
    """
    local_rate: Quantity
    """Line rate of the cables between leaves and spines. Origin: AI Fabric Test Methodology
    (Keysight): 400GE NICs and switch ports. Default: 400Gbps.
    """
    power: Power | Literal["edr-100g", "none"]
    """Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
    mapping with a profile and some constants of its own; they change no result. Default:
    none.
    """
    source_flow_control: SourceFlowControl
    """Congestion signals of switches to senders: Remote PFC, or source flow control in the NIC;
    it works with any `flow_control`. Default: {}.
    """
    spines_per_group: int
    """Number of spines in each group."""
    switch: Switch
    """The switch model; all switches share it, except where its `tiers` differ. Default: `{}`."""
    switching: FabricSingleSwitchSwitchingOutputQueued | FabricSingleSwitchSwitchingInputQueued | FabricSingleSwitchSwitchingScheduled | FabricSingleSwitchSwitchingCreditBased
    """The place where frames wait: at the outputs of every switch, at the first leaf until they
    have credit, or at every switch until the next one has room. Default: {}.
    """


class FabricSlimFly(TypedDict, total=False):
    circuits: Circuits | Literal["none"]
    """Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in
    place of the spines of a `leaf-spine` fabric. Default: none.
    """
    flow_control: Literal["none", "pfc", "ecn", "pfc+ecn", "trim"]
    """Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
    or both, with the constants of `switch.profile`; or marks and trims its packets, with the
    queues of the Ultra Ethernet Consortium's simulator (`trim`). Default: `none`, or as
    `switch.classes` has it.
    """
    global_delay: Quantity
    """Propagation delay of the cables between groups. Origin: a fibre of 40 m at 1.98·10⁸ m/s.
    Default: 200ns.
    """
    host_delay: Quantity
    """Propagation delay of host links. Origin: a copper cable of 5 m at 1.98·10⁸ m/s. Default:
    25ns.
    """
    host_rate: Quantity
    """Line rate of host links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs and
    switch ports. Default: 400Gbps.
    """
    hosts_per_router: int
    """Host ports of each router. About half as many as it has ports to others are as many as the
    cables are enough for.
    """
    kind: Literal["slim-fly"]
    """The topology; the further keys depend on it."""
    link_rate: Quantity
    """Line rate of the cables between routers. Origin: AI Fabric Test Methodology (Keysight):
    400GE NICs and switch ports. Default: 400Gbps.
    """
    load_balancing: FabricSingleSwitchLoadBalancingEcmp | FabricSingleSwitchLoadBalancingWeightedEcmp | FabricSingleSwitchLoadBalancingRandomSpray | FabricSingleSwitchLoadBalancingRoundRobinSpray | FabricSingleSwitchLoadBalancingQueueAwareSpray | FabricSingleSwitchLoadBalancingAdaptive | FabricSingleSwitchLoadBalancingFlowlet | FabricSingleSwitchLoadBalancingTelemetry | FabricSingleSwitchLoadBalancingDestination | FabricSingleSwitchLoadBalancingValiant | FabricSingleSwitchLoadBalancingUgal
    """How a switch chooses one of several equal-cost ports; not with `switching: {kind:
    scheduled}`. Default: `{}`, but in a scheduled fabric.
    """
    local_delay: Quantity
    """Propagation delay of the cables within groups. Origin: a copper cable of 5 m at 1.98·10⁸
    m/s. Default: 25ns.
    """
    power: Power | Literal["edr-100g", "none"]
    """Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
    mapping with a profile and some constants of its own; they change no result. Default:
    none.
    """
    q: int
    """The order of the field: a power of a prime that is no more than 1 away from a multiple of
    4. There are `2 · q²` routers.
    """
    source_flow_control: SourceFlowControl
    """Congestion signals of switches to senders: Remote PFC, or source flow control in the NIC;
    it works with any `flow_control`. Default: {}.
    """
    switch: Switch
    """The switch model; all switches share it, except where its `tiers` differ. Default: `{}`."""
    switching: FabricSingleSwitchSwitchingOutputQueued | FabricSingleSwitchSwitchingInputQueued | FabricSingleSwitchSwitchingScheduled | FabricSingleSwitchSwitchingCreditBased
    """The place where frames wait: at the outputs of every switch, at the first leaf until they
    have credit, or at every switch until the next one has room. Default: {}.
    """


class FabricHyperx(TypedDict, total=False):
    circuits: Circuits | Literal["none"]
    """Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in
    place of the spines of a `leaf-spine` fabric. Default: none.
    """
    flow_control: Literal["none", "pfc", "ecn", "pfc+ecn", "trim"]
    """Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
    or both, with the constants of `switch.profile`; or marks and trims its packets, with the
    queues of the Ultra Ethernet Consortium's simulator (`trim`). Default: `none`, or as
    `switch.classes` has it.
    """
    host_delay: Quantity
    """Propagation delay of host links. Origin: a copper cable of 5 m at 1.98·10⁸ m/s. Default:
    25ns.
    """
    host_rate: Quantity
    """Line rate of host links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs and
    switch ports. Default: 400Gbps.
    """
    hosts_per_switch: int
    """Host ports of each switch."""
    kind: Literal["hyperx"]
    """The topology; the further keys depend on it."""
    link_delay: Quantity
    """Propagation delay of the cables between switches. Origin: a fibre of 40 m at 1.98·10⁸ m/s.
    Default: 200ns.
    """
    link_rate: Quantity
    """Line rate of the cables between switches. Origin: AI Fabric Test Methodology (Keysight):
    400GE NICs and switch ports. Default: 400Gbps.
    """
    links: list[int]
    """Parallel cables between two switches that differ in a coordinate, for each dimension; 1 in
    all of them if the list is empty. Default: [].
    """
    load_balancing: FabricSingleSwitchLoadBalancingEcmp | FabricSingleSwitchLoadBalancingWeightedEcmp | FabricSingleSwitchLoadBalancingRandomSpray | FabricSingleSwitchLoadBalancingRoundRobinSpray | FabricSingleSwitchLoadBalancingQueueAwareSpray | FabricSingleSwitchLoadBalancingAdaptive | FabricSingleSwitchLoadBalancingFlowlet | FabricSingleSwitchLoadBalancingTelemetry | FabricSingleSwitchLoadBalancingDestination | FabricSingleSwitchLoadBalancingValiant | FabricSingleSwitchLoadBalancingUgal
    """How a switch chooses one of several equal-cost ports; not with `switching: {kind:
    scheduled}`. Default: `{}`, but in a scheduled fabric.
    """
    paths: Literal["all", "dimension-order"]
    """The shortest paths that packets may take. In `dimension-order` pauses do not wait for each
    other in a cycle. Default: all.
    """
    power: Power | Literal["edr-100g", "none"]
    """Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
    mapping with a profile and some constants of its own; they change no result. Default:
    none.
    """
    sizes: list[int]
    """Number of coordinates of each dimension; their product is the number of switches."""
    source_flow_control: SourceFlowControl
    """Congestion signals of switches to senders: Remote PFC, or source flow control in the NIC;
    it works with any `flow_control`. Default: {}.
    """
    switch: Switch
    """The switch model; all switches share it, except where its `tiers` differ. Default: `{}`."""
    switching: FabricSingleSwitchSwitchingOutputQueued | FabricSingleSwitchSwitchingInputQueued | FabricSingleSwitchSwitchingScheduled | FabricSingleSwitchSwitchingCreditBased
    """The place where frames wait: at the outputs of every switch, at the first leaf until they
    have credit, or at every switch until the next one has room. Default: {}.
    """


class FabricTorus(TypedDict, total=False):
    circuits: Circuits | Literal["none"]
    """Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in
    place of the spines of a `leaf-spine` fabric. Default: none.
    """
    flow_control: Literal["none", "pfc", "ecn", "pfc+ecn", "trim"]
    """Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
    or both, with the constants of `switch.profile`; or marks and trims its packets, with the
    queues of the Ultra Ethernet Consortium's simulator (`trim`). Default: `none`, or as
    `switch.classes` has it.
    """
    host_delay: Quantity
    """Propagation delay of host links. Origin: a copper cable of 5 m at 1.98·10⁸ m/s. Default:
    25ns.
    """
    host_rate: Quantity
    """Line rate of host links. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs and
    switch ports. Default: 400Gbps.
    """
    hosts_per_switch: int
    """Host ports of each switch. Default: 1."""
    kind: Literal["torus"]
    """The topology; the further keys depend on it."""
    link_delay: Quantity
    """Propagation delay of the cables between switches. Origin: a copper cable of 5 m at
    1.98·10⁸ m/s. Default: 25ns.
    """
    link_rate: Quantity
    """Line rate of the cables between switches. Origin: AI Fabric Test Methodology (Keysight):
    400GE NICs and switch ports. Default: 400Gbps.
    """
    links: list[int]
    """Parallel cables between neighbours, for each dimension; 1 in all of them if the list is
    empty. Default: [].
    """
    load_balancing: FabricSingleSwitchLoadBalancingEcmp | FabricSingleSwitchLoadBalancingWeightedEcmp | FabricSingleSwitchLoadBalancingRandomSpray | FabricSingleSwitchLoadBalancingRoundRobinSpray | FabricSingleSwitchLoadBalancingQueueAwareSpray | FabricSingleSwitchLoadBalancingAdaptive | FabricSingleSwitchLoadBalancingFlowlet | FabricSingleSwitchLoadBalancingTelemetry | FabricSingleSwitchLoadBalancingDestination | FabricSingleSwitchLoadBalancingValiant | FabricSingleSwitchLoadBalancingUgal
    """How a switch chooses one of several equal-cost ports; not with `switching: {kind:
    scheduled}`. Default: `{}`, but in a scheduled fabric.
    """
    paths: Literal["all", "dimension-order"]
    """The shortest paths that packets may take. In `dimension-order`, with enough lossless
    classes, pauses do not wait for each other in a cycle. Origin: Dally and Seitz (1987).
    Default: dimension-order.
    """
    power: Power | Literal["edr-100g", "none"]
    """Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
    mapping with a profile and some constants of its own; they change no result. Default:
    none.
    """
    sizes: list[int]
    """Number of coordinates of each dimension; their product is the number of switches."""
    source_flow_control: SourceFlowControl
    """Congestion signals of switches to senders: Remote PFC, or source flow control in the NIC;
    it works with any `flow_control`. Default: {}.
    """
    switch: Switch
    """The switch model; all switches share it, except where its `tiers` differ. Default: `{}`."""
    switching: FabricSingleSwitchSwitchingOutputQueued | FabricSingleSwitchSwitchingInputQueued | FabricSingleSwitchSwitchingScheduled | FabricSingleSwitchSwitchingCreditBased
    """The place where frames wait: at the outputs of every switch, at the first leaf until they
    have credit, or at every switch until the next one has room. Default: {}.
    """
    wrap_around: Literal[True, False]
    """`true` cables the last switch of each dimension to the first; with `false` the fabric is a
    mesh. In a dimension of two the one cable between them is all there is. Default: true.
    """


class FabricExplicitLink(TypedDict, total=False):
    a: str | float | bool
    """The node at one end."""
    b: str | float | bool
    """The node at the other end."""
    count: int
    """Number of parallel cables between the two nodes. Default: 1."""
    delay: Quantity
    """Propagation delay of each cable. Origin: a copper cable of 5 m at 1.98·10⁸ m/s. Default:
    25ns.
    """
    rate: Quantity
    """Line rate of each cable. Origin: AI Fabric Test Methodology (Keysight): 400GE NICs and
    switch ports. Default: 400Gbps.
    """


class FabricExplicitNode(TypedDict, total=False):
    kind: Literal["host", "switch"]
    """Kind of node: a host or a switch. Default: host."""
    name: str | float | bool
    """A name no other node has."""
    tier: int
    """Of a switch: how far it is from the hosts, 0 for a leaf. Default: 0."""


class FabricExplicitRoute(TypedDict, total=False):
    at: str | float | bool
    """The switch that takes this route."""
    to: str | float | bool
    """The switch to whose hosts it leads."""
    via: str | float | bool
    """The neighbour that it goes to next; of several cables all are equal."""


class FabricExplicit(TypedDict, total=False):
    circuits: Circuits | Literal["none"]
    """Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in
    place of the spines of a `leaf-spine` fabric. Default: none.
    """
    flow_control: Literal["none", "pfc", "ecn", "pfc+ecn", "trim"]
    """Short form of `switch.classes`: makes the class of the data lossless, marks its packets,
    or both, with the constants of `switch.profile`; or marks and trims its packets, with the
    queues of the Ultra Ethernet Consortium's simulator (`trim`). Default: `none`, or as
    `switch.classes` has it.
    """
    kind: Literal["explicit"]
    """The topology; the further keys depend on it."""
    links: list[FabricExplicitLink]
    """The cables between them."""
    load_balancing: FabricSingleSwitchLoadBalancingEcmp | FabricSingleSwitchLoadBalancingWeightedEcmp | FabricSingleSwitchLoadBalancingRandomSpray | FabricSingleSwitchLoadBalancingRoundRobinSpray | FabricSingleSwitchLoadBalancingQueueAwareSpray | FabricSingleSwitchLoadBalancingAdaptive | FabricSingleSwitchLoadBalancingFlowlet | FabricSingleSwitchLoadBalancingTelemetry | FabricSingleSwitchLoadBalancingDestination | FabricSingleSwitchLoadBalancingValiant | FabricSingleSwitchLoadBalancingUgal
    """How a switch chooses one of several equal-cost ports; not with `switching: {kind:
    scheduled}`. Default: `{}`, but in a scheduled fabric.
    """
    nodes: list[FabricExplicitNode]
    """Hosts and switches; hosts are numbered in this order."""
    power: Power | Literal["edr-100g", "none"]
    """Constants for the fabric's power, in `tenter explain` and for a run: a profile, or a
    mapping with a profile and some constants of its own; they change no result. Default:
    none.
    """
    routes: list[FabricExplicitRoute]
    """Routes that switches take instead of the shortest. Default: []."""
    source_flow_control: SourceFlowControl
    """Congestion signals of switches to senders: Remote PFC, or source flow control in the NIC;
    it works with any `flow_control`. Default: {}.
    """
    switch: Switch
    """The switch model; all switches share it, except where its `tiers` differ. Default: `{}`."""
    switching: FabricSingleSwitchSwitchingOutputQueued | FabricSingleSwitchSwitchingInputQueued | FabricSingleSwitchSwitchingScheduled | FabricSingleSwitchSwitchingCreditBased
    """The place where frames wait: at the outputs of every switch, at the first leaf until they
    have credit, or at every switch until the next one has room. Default: {}.
    """


class FaultsEvent(TypedDict, total=False):
    at: Quantity
    """Instant from which the rate is reduced."""
    cable: int | Literal["all"]
    """Which of several parallel cables. Default: all."""
    link: str | float | bool
    """The link between two nodes that is degraded: `leaf0-spine1`."""
    rate: Quantity
    """The rate it is degraded to."""
    until: Quantity | Literal["none"]
    """When the rate is again what it was. Default: none."""


class FaultsEvent1Flap(TypedDict, total=False):
    count: int
    """How often it goes down."""
    down_time: Quantity
    """Time for which it is down each time; shorter than `period`."""
    period: Quantity
    """From one time it goes down to the next."""


class FaultsEvent1(TypedDict, total=False):
    cable: int | Literal["all"]
    """Which of several parallel cables. Default: all."""
    down: Quantity
    """When it goes down for the first time."""
    flap: FaultsEvent1Flap
    """Repetition in place of `up`: it goes down again and again. Default: it goes down once."""
    link: str | float | bool
    """The link between two nodes that goes down: `leaf0-spine1`."""
    up: Quantity | Literal["none"]
    """When it comes up again. Default: none."""


class FaultsEvent2(TypedDict, total=False):
    at: Quantity
    """Instant from which the rate is reduced."""
    rate: Quantity
    """The rate it is degraded to."""
    switch: str | float | bool
    """A switch: all its links are degraded, but those whose cables are slower."""
    until: Quantity | Literal["none"]
    """When the rate is again what it was. Default: none."""


class FaultsEvent3(TypedDict, total=False):
    down: Quantity
    """When it goes down for the first time."""
    flap: FaultsEvent1Flap
    """Repetition in place of `up`: it goes down again and again. Default: it goes down once."""
    switch: str | float | bool
    """A switch: all its links go down, and what it holds is lost."""
    up: Quantity | Literal["none"]
    """When it comes up again. Default: none."""


class FaultsEvent4(TypedDict, total=False):
    nic: str | float | bool
    """A host whose NIC has a pause storm."""
    pause_storm: Quantity
    """When the storm starts: the NIC pauses all lossless classes again and again."""
    until: Quantity
    """Instant at which the storm ends."""


FaultsEvent5 = TypedDict("FaultsEvent5", {
    "count": "int",
    "down_time": "Quantity | Literal[\"none\"]",
    "from": "Quantity",
    "random": "Literal[\"links\", \"fabric-links\", \"host-links\"]",
    "to": "Quantity",
}, total=False)


class Faults(TypedDict, total=False):
    convergence: Quantity
    """Time from a link's failure or repair until routing knows; until then frames for a link
    that is down are lost. Origin: what fast reroute is designed for (Fast Convergence, VPP
    documentation); BGP without it takes up to seconds. Default: 50ms.
    """
    events: list[FaultsEvent | FaultsEvent1 | FaultsEvent2 | FaultsEvent3 | FaultsEvent4 | FaultsEvent5]
    """The faults; each names a `link`, a `switch`, a `nic` or `random` ones. Default: []."""


ImpairmentRule = TypedDict("ImpairmentRule", {
    "action": "Literal[\"drop\", \"reorder\"]",
    "behind": "int",
    "count": "int | Literal[\"none\"]",
    "every": "int",
    "from": "str | float | bool",
    "opcodes": "list[Literal[\"first\", \"middle\", \"last\", \"only\", \"ack\", \"nak\", \"cnp\", \"signal\", \"connect\", \"end-of-data\", \"trimmed\", \"pull\", \"request\"]]",
    "probability": "float | str",
    "psn": "float | str",
    "skip": "int",
    "to": "str | float | bool",
}, total=False)


class Impairment(TypedDict, total=False):
    bit_error_rate: float | str
    """The probability of receiving a bit wrong; a frame with such a bit is lost. Default: 0."""
    cable: int | Literal["all"]
    """Which of several parallel cables. Default: all."""
    frame_loss: float | str
    """The probability of losing a frame, of any kind and size: `1e-6`. Default: 0."""
    link: str | float | bool
    """The link between two nodes (`leaf0-spine1`), or `all`, `fabric-links` or `host-links`; of
    several entries for one link the last holds.
    """
    rules: list[ImpairmentRule]
    """Rules for single frames, as of a traffic tester; the first rule that matches a frame
    applies to it. Default: [].
    """
    sender: str | float | bool
    """The node whose frames are impaired, or `both` ends of the link. Default: both."""


class JobCollectiveParallelGroups(TypedDict, total=False):
    size: int
    """Number of ranks in each group."""
    stride: int
    """From a rank of a group to the next: with 1 a group are ranks that follow each other; with
    8 ranks 0, 8, 16, … are one, ranks 1, 9, 17, … the next. Default: 1.
    """


class JobCollectiveParallelSizes1(TypedDict, total=False):
    end: Quantity
    """No size is larger than this; the last one when the multiplication hits it."""
    multiplier: int
    """Factor from one size to the next. Default: 2."""
    start: Quantity
    """The first size, and the smallest."""


class JobCollectiveParallelSizes11(TypedDict, total=False):
    count: int
    """Number of sizes drawn each time. Default: 1."""
    least: Quantity
    """No size is smaller than this."""
    most: Quantity
    """No size is larger than this."""


class JobCollectiveParallel(TypedDict, total=False):
    algorithm: Literal["parallel"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["all-to-all"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectivePairwise(TypedDict, total=False):
    algorithm: Literal["pairwise"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["all-to-all"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectivePxn(TypedDict, total=False):
    algorithm: Literal["pxn"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["all-to-all"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    npus_per_host: int
    """NPUs of each host; ranks that follow each other share a host. Default:
    `endpoint.host.scale_up.npus_per_host`.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveRing(TypedDict, total=False):
    algorithm: Literal["ring"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["all-reduce"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveBidirectionalRing(TypedDict, total=False):
    algorithm: Literal["bidirectional-ring"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["all-reduce"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveHalvingDoubling(TypedDict, total=False):
    algorithm: Literal["halving-doubling"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["all-reduce"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    distances: Literal["halving", "doubling"]
    """Distance between the ranks of an exchange while the vector is halved; on the way back the
    order is reversed. `halving`: ranks n/2 apart exchange halves, ranks n/4 apart quarters,
    and so on; `doubling`: neighbours exchange halves, ranks 2 apart quarters, and so on.
    Origin: AI Fabric Test Methodology (Keysight); `doubling` is the order of MPICH and Open
    MPI. Default: halving.
    """
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveDoubleBinaryTree(TypedDict, total=False):
    algorithm: Literal["double-binary-tree"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    chunk_size: Quantity
    """The buffer is passed on in chunks of this size. Origin: NCCL's default buffer of 4 MiB in
    8 slots. Default: 512KiB.
    """
    collective: Literal["all-reduce"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveHierarchical(TypedDict, total=False):
    algorithm: Literal["hierarchical"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["all-reduce"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    npus_per_host: int
    """NPUs of each host; ranks that follow each other share a host. Needed only where
    `endpoint.host` has no `scale_up`. Default: `endpoint.host.scale_up.npus_per_host`.
    """
    scale_up_latency: Quantity
    """From the last byte sent within a host to its use at the receiver. Default:
    `endpoint.host.scale_up.latency`.
    """
    scale_up_rate: Quantity
    """Rate at which an NPU sends and receives within its host, each way. Default:
    `endpoint.host.scale_up.rate`.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveNccl(TypedDict, total=False):
    algorithm: Literal["nccl"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["all-reduce"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    generation: Literal["ampere", "hopper", "blackwell"]
    """Generation of the NPUs; limits of channels and of protocols depend on it. Default:
    `endpoint.host.scale_up.generation`, or else `hopper`.
    """
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    host_cpu: Literal["intel", "amd"]
    """Vendor of the servers' processors; the time of network steps and limits of LL across nodes
    depend on it. Default: intel.
    """
    nic_rate: Quantity
    """Rate of each of these NICs. Default: that of the slowest NIC of the job."""
    nics_per_host: int
    """NICs of each server: as many channels lead from node to node. They divide the NPUs.
    Default: the NICs of these NPUs.
    """
    npus_per_host: int
    """NPUs of each server, a node of NCCL; ranks that follow each other share a server. Needed
    only where `endpoint.host` has no `scale_up`. Default:
    `endpoint.host.scale_up.npus_per_host`.
    """
    nvls: Literal[True, False]
    """`true` if the switch of the scale-up domain adds and copies (NVLink SHARP), as that of
    `hopper` and `blackwell` can. Default: true.
    """
    only_algorithm: Literal["ring", "tree", "nvls", "nvls-tree"]
    """One algorithm in place of NCCL's choice, as with `NCCL_ALGO`. Default: the one with the
    least time.
    """
    only_protocol: Literal["simple", "ll", "ll128"]
    """One protocol in place of NCCL's choice, as with `NCCL_PROTO`. Default: the one with the
    least time.
    """
    plug_in_latency: Quantity
    """Latency that the network plug-in adds to a step over the network; twice as much with
    Simple. Default: 0ns.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveRing2(TypedDict, total=False):
    algorithm: Literal["ring"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["all-gather"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveRecursiveDoubling(TypedDict, total=False):
    algorithm: Literal["recursive-doubling"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["all-gather"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveNccl2(TypedDict, total=False):
    algorithm: Literal["nccl"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["all-gather"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    generation: Literal["ampere", "hopper", "blackwell"]
    """Generation of the NPUs; limits of channels and of protocols depend on it. Default:
    `endpoint.host.scale_up.generation`, or else `hopper`.
    """
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    host_cpu: Literal["intel", "amd"]
    """Vendor of the servers' processors; the time of network steps and limits of LL across nodes
    depend on it. Default: intel.
    """
    nic_rate: Quantity
    """Rate of each of these NICs. Default: that of the slowest NIC of the job."""
    nics_per_host: int
    """NICs of each server: as many channels lead from node to node. They divide the NPUs.
    Default: the NICs of these NPUs.
    """
    npus_per_host: int
    """NPUs of each server, a node of NCCL; ranks that follow each other share a server. Needed
    only where `endpoint.host` has no `scale_up`. Default:
    `endpoint.host.scale_up.npus_per_host`.
    """
    nvls: Literal[True, False]
    """`true` if the switch of the scale-up domain adds and copies (NVLink SHARP), as that of
    `hopper` and `blackwell` can. Default: true.
    """
    only_algorithm: Literal["ring", "tree", "nvls", "nvls-tree"]
    """One algorithm in place of NCCL's choice, as with `NCCL_ALGO`. Default: the one with the
    least time.
    """
    only_protocol: Literal["simple", "ll", "ll128"]
    """One protocol in place of NCCL's choice, as with `NCCL_PROTO`. Default: the one with the
    least time.
    """
    plug_in_latency: Quantity
    """Latency that the network plug-in adds to a step over the network; twice as much with
    Simple. Default: 0ns.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveRing3(TypedDict, total=False):
    algorithm: Literal["ring"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["reduce-scatter"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveRecursiveHalving(TypedDict, total=False):
    algorithm: Literal["recursive-halving"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["reduce-scatter"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveNccl3(TypedDict, total=False):
    algorithm: Literal["nccl"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["reduce-scatter"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    generation: Literal["ampere", "hopper", "blackwell"]
    """Generation of the NPUs; limits of channels and of protocols depend on it. Default:
    `endpoint.host.scale_up.generation`, or else `hopper`.
    """
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    host_cpu: Literal["intel", "amd"]
    """Vendor of the servers' processors; the time of network steps and limits of LL across nodes
    depend on it. Default: intel.
    """
    nic_rate: Quantity
    """Rate of each of these NICs. Default: that of the slowest NIC of the job."""
    nics_per_host: int
    """NICs of each server: as many channels lead from node to node. They divide the NPUs.
    Default: the NICs of these NPUs.
    """
    npus_per_host: int
    """NPUs of each server, a node of NCCL; ranks that follow each other share a server. Needed
    only where `endpoint.host` has no `scale_up`. Default:
    `endpoint.host.scale_up.npus_per_host`.
    """
    nvls: Literal[True, False]
    """`true` if the switch of the scale-up domain adds and copies (NVLink SHARP), as that of
    `hopper` and `blackwell` can. Default: true.
    """
    only_algorithm: Literal["ring", "tree", "nvls", "nvls-tree"]
    """One algorithm in place of NCCL's choice, as with `NCCL_ALGO`. Default: the one with the
    least time.
    """
    only_protocol: Literal["simple", "ll", "ll128"]
    """One protocol in place of NCCL's choice, as with `NCCL_PROTO`. Default: the one with the
    least time.
    """
    plug_in_latency: Quantity
    """Latency that the network plug-in adds to a step over the network; twice as much with
    Simple. Default: 0ns.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveParallel2(TypedDict, total=False):
    algorithm: Literal["parallel"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["broadcast"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    root: int
    """The rank that all others receive from. Default: 0."""
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveRing4(TypedDict, total=False):
    algorithm: Literal["ring"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    chunk_size: Quantity
    """The buffer is passed on in chunks of this size. Origin: NCCL's default buffer of 4 MiB in
    8 slots. Default: 512KiB.
    """
    collective: Literal["broadcast"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    root: int
    """The rank that all others receive from. Default: 0."""
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveTree(TypedDict, total=False):
    algorithm: Literal["tree"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    chunk_size: Quantity
    """The buffer is passed on in chunks of this size. Origin: NCCL's default buffer of 4 MiB in
    8 slots. Default: 512KiB.
    """
    collective: Literal["broadcast"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    root: int
    """The rank that all others receive from. Default: 0."""
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveTree2(TypedDict, total=False):
    algorithm: Literal["tree"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    chunk_size: Quantity
    """The buffer is passed on in chunks of this size. Origin: NCCL's default buffer of 4 MiB in
    8 slots. Default: 512KiB.
    """
    collective: Literal["reduce"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    root: int
    """The rank that all others send to. Default: 0."""
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveParallel3(TypedDict, total=False):
    algorithm: Literal["parallel"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["gather"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    root: int
    """The rank that all others send to. Default: 0."""
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveParallel4(TypedDict, total=False):
    algorithm: Literal["parallel"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["scatter"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    root: int
    """The rank that all others receive from. Default: 0."""
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveRing5(TypedDict, total=False):
    algorithm: Literal["ring"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["send-recv"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveRecursiveDoubling2(TypedDict, total=False):
    algorithm: Literal["recursive-doubling"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["hypercube"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveRandom(TypedDict, total=False):
    algorithm: Literal["random"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["permutation"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    seed: int
    """Which permutation without fixed points. Default: `seeds.arrivals`, or else the `seed`."""
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveParallel5(TypedDict, total=False):
    algorithm: Literal["parallel"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["incast"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    root: int
    """The rank that all others send to. Default: 0."""
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveNormal(TypedDict, total=False):
    algorithm: Literal["normal"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    chunk_size: Quantity
    """Length of the pieces in which a message over the fabric is passed on; messages of more
    than 64 pieces have longer ones. Origin: the order of 32 tokens, DeepEP's piece over RDMA.
    Default: 256KiB.
    """
    collective: Literal["moe-dispatch"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    experts: int
    """Experts, of which each rank holds an equal part; each is chosen equally often. Origin:
    DeepSeek-V3. Default: 256.
    """
    generation: Literal["ampere", "hopper", "blackwell"]
    """Generation of the NPUs; `kernels` follows from it. Default:
    `endpoint.host.scale_up.generation`, or else `hopper`.
    """
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    hidden: int
    """Values of a token; with `tokens` they say its bytes. Origin: DeepSeek-V3. Default: 7168."""
    hosts_per_token: int
    """Hosts among which a token may choose its experts; the router takes the best ones. Default:
    all hosts.
    """
    kernel_rate: Quantity
    """Rate at which the kernel of an NPU copies tokens within its domain, its own included, in
    place of that of `kernels`. Default: that of `kernels`.
    """
    kernels: Literal["h100", "b200", "gb200"]
    """GPU on which the launch and the rates of the kernels were measured. Default:
    `endpoint.host.scale_up.expert_kernels`, or else that of the generation: `b200` of
    `blackwell`, `h100` of others.
    """
    launch: Quantity
    """Time from the start to the first bytes, in place of that of `kernels`. Default: that of
    `kernels` for this number of hosts.
    """
    npus_per_host: int
    """NPUs of each host; ranks that follow each other share a host. Needed only where
    `endpoint.host` has no `scale_up`. Default: `endpoint.host.scale_up.npus_per_host`.
    """
    precision: Literal["bf16", "fp8", "nvfp4"]
    """Numbers in which tokens are sent; with `tokens` they say the bytes of one. Default: `fp8`
    of dispatch, `bf16` of combination.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""
    sms: int
    """Streaming multiprocessors that each NPU gives the kernel. Origin: DeepEP's tests: 24 of
    132. Default: 24.
    """
    tokens: int
    """Tokens of each rank, in place of a size: the size is their bytes, each token once.
    Default: those of the size.
    """
    top_k: int
    """Experts that each token chooses, all of them different. Origin: DeepSeek-V3. Default: 8."""


class JobCollectiveLowLatency(TypedDict, total=False):
    algorithm: Literal["low-latency"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["moe-dispatch"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    experts: int
    """Experts, of which each rank holds an equal part; each is chosen equally often. Origin:
    DeepSeek-V3. Default: 256.
    """
    generation: Literal["ampere", "hopper", "blackwell"]
    """Generation of the NPUs; `kernels` follows from it. Default:
    `endpoint.host.scale_up.generation`, or else `hopper`.
    """
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    hidden: int
    """Values of a token; with `tokens` they say its bytes. Origin: DeepSeek-V3. Default: 7168."""
    kernel_rate: Quantity
    """Rate at which the kernel of an NPU copies tokens within its domain, its own included, in
    place of that of `kernels`. Default: that of `kernels`.
    """
    kernels: Literal["h100", "b200", "gb200"]
    """GPU on which the launch and the rates of the kernels were measured. Default:
    `endpoint.host.scale_up.expert_kernels`, or else that of the generation: `b200` of
    `blackwell`, `h100` of others.
    """
    launch: Quantity
    """Time from the start to the first bytes, in place of that of `kernels`. Default: that of
    `kernels` for this number of hosts.
    """
    npus_per_host: int
    """NPUs of each host; ranks that follow each other share a host. Needed only where
    `endpoint.host` has no `scale_up`. Default: `endpoint.host.scale_up.npus_per_host`.
    """
    precision: Literal["bf16", "fp8", "nvfp4"]
    """Numbers in which tokens are sent; with `tokens` they say the bytes of one. Default: `fp8`
    of dispatch, `bf16` of combination.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""
    tokens: int
    """Tokens of each rank, in place of a size: the size is their bytes, each token once.
    Default: those of the size.
    """
    top_k: int
    """Experts that each token chooses, all of them different. Origin: DeepSeek-V3. Default: 8."""


class JobCollectiveNvlink(TypedDict, total=False):
    algorithm: Literal["nvlink"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["moe-dispatch"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    experts: int
    """Experts, of which each rank holds an equal part; each is chosen equally often. Origin:
    DeepSeek-V3. Default: 256.
    """
    generation: Literal["ampere", "hopper", "blackwell"]
    """Generation of the NPUs; `kernels` follows from it. Default:
    `endpoint.host.scale_up.generation`, or else `hopper`.
    """
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    hidden: int
    """Values of a token; with `tokens` they say its bytes. Origin: DeepSeek-V3. Default: 7168."""
    kernel_rate: Quantity
    """Rate at which the kernel of an NPU copies tokens within its domain, its own included, in
    place of that of `kernels`. Default: that of `kernels`.
    """
    kernels: Literal["h100", "b200", "gb200"]
    """GPU on which the launch and the rates of the kernels were measured. Default:
    `endpoint.host.scale_up.expert_kernels`, or else that of the generation: `b200` of
    `blackwell`, `h100` of others.
    """
    launch: Quantity
    """Time from the start to the first bytes, in place of that of `kernels`. Default: that of
    `kernels` for this number of hosts.
    """
    npus_per_host: int
    """NPUs of each host; ranks that follow each other share a host. Needed only where
    `endpoint.host` has no `scale_up`. Default: `endpoint.host.scale_up.npus_per_host`.
    """
    precision: Literal["bf16", "fp8", "nvfp4"]
    """Numbers in which tokens are sent; with `tokens` they say the bytes of one. Default: `fp8`
    of dispatch, `bf16` of combination.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""
    tokens: int
    """Tokens of each rank, in place of a size: the size is their bytes, each token once.
    Default: those of the size.
    """
    top_k: int
    """Experts that each token chooses, all of them different. Origin: DeepSeek-V3. Default: 8."""


class JobCollectiveNormal2(TypedDict, total=False):
    algorithm: Literal["normal"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    chunk_size: Quantity
    """Length of the pieces in which a message over the fabric is passed on; messages of more
    than 64 pieces have longer ones. Origin: the order of 32 tokens, DeepEP's piece over RDMA.
    Default: 256KiB.
    """
    collective: Literal["moe-combine"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    experts: int
    """Experts, of which each rank holds an equal part; each is chosen equally often. Origin:
    DeepSeek-V3. Default: 256.
    """
    generation: Literal["ampere", "hopper", "blackwell"]
    """Generation of the NPUs; `kernels` follows from it. Default:
    `endpoint.host.scale_up.generation`, or else `hopper`.
    """
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    hidden: int
    """Values of a token; with `tokens` they say its bytes. Origin: DeepSeek-V3. Default: 7168."""
    hosts_per_token: int
    """Hosts among which a token may choose its experts; the router takes the best ones. Default:
    all hosts.
    """
    kernel_rate: Quantity
    """Rate at which the kernel of an NPU copies tokens within its domain, its own included, in
    place of that of `kernels`. Default: that of `kernels`.
    """
    kernels: Literal["h100", "b200", "gb200"]
    """GPU on which the launch and the rates of the kernels were measured. Default:
    `endpoint.host.scale_up.expert_kernels`, or else that of the generation: `b200` of
    `blackwell`, `h100` of others.
    """
    launch: Quantity
    """Time from the start to the first bytes, in place of that of `kernels`. Default: that of
    `kernels` for this number of hosts.
    """
    npus_per_host: int
    """NPUs of each host; ranks that follow each other share a host. Needed only where
    `endpoint.host` has no `scale_up`. Default: `endpoint.host.scale_up.npus_per_host`.
    """
    precision: Literal["bf16", "fp8", "nvfp4"]
    """Numbers in which tokens are sent; with `tokens` they say the bytes of one. Default: `fp8`
    of dispatch, `bf16` of combination.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""
    sms: int
    """Streaming multiprocessors that each NPU gives the kernel. Origin: DeepEP's tests: 24 of
    132. Default: 24.
    """
    tokens: int
    """Tokens of each rank, in place of a size: the size is their bytes, each token once.
    Default: those of the size.
    """
    top_k: int
    """Experts that each token chooses, all of them different. Origin: DeepSeek-V3. Default: 8."""


class JobCollectiveLowLatency2(TypedDict, total=False):
    algorithm: Literal["low-latency"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["moe-combine"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    experts: int
    """Experts, of which each rank holds an equal part; each is chosen equally often. Origin:
    DeepSeek-V3. Default: 256.
    """
    generation: Literal["ampere", "hopper", "blackwell"]
    """Generation of the NPUs; `kernels` follows from it. Default:
    `endpoint.host.scale_up.generation`, or else `hopper`.
    """
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    hidden: int
    """Values of a token; with `tokens` they say its bytes. Origin: DeepSeek-V3. Default: 7168."""
    kernel_rate: Quantity
    """Rate at which the kernel of an NPU copies tokens within its domain, its own included, in
    place of that of `kernels`. Default: that of `kernels`.
    """
    kernels: Literal["h100", "b200", "gb200"]
    """GPU on which the launch and the rates of the kernels were measured. Default:
    `endpoint.host.scale_up.expert_kernels`, or else that of the generation: `b200` of
    `blackwell`, `h100` of others.
    """
    launch: Quantity
    """Time from the start to the first bytes, in place of that of `kernels`. Default: that of
    `kernels` for this number of hosts.
    """
    npus_per_host: int
    """NPUs of each host; ranks that follow each other share a host. Needed only where
    `endpoint.host` has no `scale_up`. Default: `endpoint.host.scale_up.npus_per_host`.
    """
    precision: Literal["bf16", "fp8", "nvfp4"]
    """Numbers in which tokens are sent; with `tokens` they say the bytes of one. Default: `fp8`
    of dispatch, `bf16` of combination.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""
    tokens: int
    """Tokens of each rank, in place of a size: the size is their bytes, each token once.
    Default: those of the size.
    """
    top_k: int
    """Experts that each token chooses, all of them different. Origin: DeepSeek-V3. Default: 8."""


class JobCollectiveNvlink2(TypedDict, total=False):
    algorithm: Literal["nvlink"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["moe-combine"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    experts: int
    """Experts, of which each rank holds an equal part; each is chosen equally often. Origin:
    DeepSeek-V3. Default: 256.
    """
    generation: Literal["ampere", "hopper", "blackwell"]
    """Generation of the NPUs; `kernels` follows from it. Default:
    `endpoint.host.scale_up.generation`, or else `hopper`.
    """
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    hidden: int
    """Values of a token; with `tokens` they say its bytes. Origin: DeepSeek-V3. Default: 7168."""
    kernel_rate: Quantity
    """Rate at which the kernel of an NPU copies tokens within its domain, its own included, in
    place of that of `kernels`. Default: that of `kernels`.
    """
    kernels: Literal["h100", "b200", "gb200"]
    """GPU on which the launch and the rates of the kernels were measured. Default:
    `endpoint.host.scale_up.expert_kernels`, or else that of the generation: `b200` of
    `blackwell`, `h100` of others.
    """
    launch: Quantity
    """Time from the start to the first bytes, in place of that of `kernels`. Default: that of
    `kernels` for this number of hosts.
    """
    npus_per_host: int
    """NPUs of each host; ranks that follow each other share a host. Needed only where
    `endpoint.host` has no `scale_up`. Default: `endpoint.host.scale_up.npus_per_host`.
    """
    precision: Literal["bf16", "fp8", "nvfp4"]
    """Numbers in which tokens are sent; with `tokens` they say the bytes of one. Default: `fp8`
    of dispatch, `bf16` of combination.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""
    tokens: int
    """Tokens of each rank, in place of a size: the size is their bytes, each token once.
    Default: those of the size.
    """
    top_k: int
    """Experts that each token chooses, all of them different. Origin: DeepSeek-V3. Default: 8."""


class JobCollectiveListedStep(TypedDict, total=False):
    after: list[int]
    """The steps that must have arrived at `rank` before it sends, by their places in the list,
    counted from 0. Default: [].
    """
    bytes: Quantity
    """Payload that `rank` sends to `peer`."""
    peer: int
    """The rank that receives, another one."""
    rank: int
    """Index of the rank that sends."""


class JobCollectiveListed(TypedDict, total=False):
    algorithm: Literal["listed"]
    """By which algorithm; a mapping names one from a file. Default: the first of the collective;
    with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`.
    """
    collective: Literal["steps"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    file: str | float | bool
    """A file with a step on each line below `rank,peer,bytes,after`, where `after` has numbers
    with spaces between; its path counts from the folder of the scenario. Default: this or
    `steps`.
    """
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""
    steps: list[JobCollectiveListedStep]
    """The transfers; each starts when those that it waits for have arrived. They have bytes of
    their own, so the collective has no `size`. Default: this or `file`.
    """


class JobCollectiveAllReduceAlgorithm(TypedDict, total=False):
    file: str | float | bool
    """The file; its path counts from the folder of the scenario. It runs at all sizes. Default:
    this, `files` or `programs`.
    """
    files: list[str | float | bool]
    """Several files, of which the first runs that is meant for the size. Default: this, `file`
    or `programs`.
    """
    programs: list[str | float | bool]
    """Algorithms in Tenter's notation, as files hold them. Default: this, `file` or `files`."""
    slice: Quantity | Literal["none"]
    """The most bytes of a chunk that the steps carry at once. The thread blocks run all of their
    steps again for each further slice; `none`: chunks are not sliced. Default: none.
    """


class JobCollectiveAllReduce(TypedDict, total=False):
    algorithm: JobCollectiveAllReduceAlgorithm
    """By which algorithm: one from a file."""
    collective: Literal["all-reduce"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveAllGather(TypedDict, total=False):
    algorithm: JobCollectiveAllReduceAlgorithm
    """By which algorithm: one from a file."""
    collective: Literal["all-gather"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveReduceScatter(TypedDict, total=False):
    algorithm: JobCollectiveAllReduceAlgorithm
    """By which algorithm: one from a file."""
    collective: Literal["reduce-scatter"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveAllToAll(TypedDict, total=False):
    algorithm: JobCollectiveAllReduceAlgorithm
    """By which algorithm: one from a file."""
    collective: Literal["all-to-all"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveBroadcast(TypedDict, total=False):
    algorithm: JobCollectiveAllReduceAlgorithm
    """By which algorithm: one from a file."""
    collective: Literal["broadcast"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


class JobCollectiveReduce(TypedDict, total=False):
    algorithm: JobCollectiveAllReduceAlgorithm
    """By which algorithm: one from a file."""
    collective: Literal["reduce"]
    """Which collective."""
    compute: Quantity
    """Computing time of all ranks before each of these collectives, on top of `gap`. Default:
    0ns.
    """
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    groups: JobCollectiveParallelGroups | Literal["none"]
    """Groups of ranks that each run the collective by itself, all at the same time (tensor, data
    or pipeline parallel ranks); `none`: all ranks run it together. Default: none.
    """
    size: Quantity
    """One size, as nccl-tests counts it. Default: this or `sizes`."""
    sizes: list[Quantity] | JobCollectiveParallelSizes1 | JobCollectiveParallelSizes11
    """Several sizes, run in this order. Default: this or `size`."""


JobFlow = TypedDict("JobFlow", {
    "from": "float | str | list[float | str]",
    "rate": "Quantity | Literal[\"none\"]",
    "to": "float | str | list[float | str]",
}, total=False)


class JobPatternMiniDft(TypedDict, total=False):
    block: Quantity
    """Bytes from a rank to each other one of its row, and of its column. Origin: a grid of 128³
    complex numbers on 64 ranks. Default: 64KiB.
    """
    compute: Quantity
    """Computing time of all ranks before each step. Origin: assumed. Default: 200us."""
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    kind: Literal["mini-dft"]
    """The application; its further keys are below."""
    reduce: Quantity
    """The buffer of the all-reduce. Origin: assumed. Default: 8KiB."""
    rows: int | Literal["auto"]
    """Rows of ranks that follow each other, a divisor of their number; `auto` is the most even
    one, with rows longer than columns. Default: auto.
    """
    steps: int
    """How often the ranks compute and then communicate, in place of `iterations`; at most 100 if
    the steps differ. Default: `4`; none in the background.
    """


class JobPatternMilc(TypedDict, total=False):
    compute: Quantity
    """Computing time of all ranks before each step. Origin: assumed. Default: 150us."""
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    face: Quantity
    """Bytes to each of the eight neighbours, for the sites of one colour. Origin: 16⁴ sites in
    each rank: 16³/2 vectors of 48 bytes in four layers. Default: 384KiB.
    """
    grid: float | str | Literal["auto"]
    """Ranks along each of four dimensions, such as `4x4x2x2`; `auto` is as even as may be.
    Default: auto.
    """
    kind: Literal["milc"]
    """The application; its further keys are below."""
    reduce: Quantity
    """The buffer of each all-reduce. Origin: one number of double precision. Default: 8B."""
    steps: int
    """How often the ranks compute and then communicate, in place of `iterations`; at most 100 if
    the steps differ. Default: `4`; none in the background.
    """


class JobPatternNekbone(TypedDict, total=False):
    compute: Quantity
    """Computing time of all ranks before each step. Origin: assumed. Default: 100us."""
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    corner: Quantity
    """Bytes to a neighbour behind a corner. Origin: one point. Default: 8B."""
    edge: Quantity
    """Bytes to a neighbour behind an edge. Origin: 73 points. Default: 584B."""
    face: Quantity
    """Bytes to a neighbour behind a face. Origin: 8³ elements of order nine in each rank: 73²
    points of 8 bytes. Default: 42632B.
    """
    grid: float | str | Literal["auto"]
    """Ranks along each of three dimensions, such as `4x4x4`; `auto` is as even as may be.
    Default: auto.
    """
    kind: Literal["nekbone"]
    """The application; its further keys are below."""
    reduce: Quantity
    """The buffer of each all-reduce. Origin: one number of double precision. Default: 8B."""
    steps: int
    """How often the ranks compute and then communicate, in place of `iterations`; at most 100 if
    the steps differ. Default: `4`; none in the background.
    """


class JobPatternAmg(TypedDict, total=False):
    compute: Quantity
    """Computing time of all ranks before each step. Origin: assumed. Default: 300us."""
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    grid: float | str | Literal["auto"]
    """Ranks along each of three dimensions, such as `4x4x4`; `auto` is as even as may be.
    Default: auto.
    """
    kind: Literal["amg"]
    """The application; its further keys are below."""
    least_points: int
    """The least points of a rank on a coarser level; a rank with fewer hands them to another.
    Origin: assumed. Default: 16.
    """
    points: int
    """Points of 8 bytes along an edge of a rank's block on the finest level. Origin: assumed.
    Default: 64.
    """
    reduce: Quantity
    """The buffer of each all-reduce. Origin: one number of double precision. Default: 8B."""
    steps: int
    """How often the ranks compute and then communicate, in place of `iterations`; at most 100 if
    the steps differ. Default: `4`; none in the background.
    """


class JobPatternAmr(TypedDict, total=False):
    compute: Quantity
    """Computing time of all ranks before each step. Origin: assumed. Default: 200us."""
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    kind: Literal["amr"]
    """The application; its further keys are below."""
    least: Quantity
    """The least that a pair exchanges, each way. Origin: assumed. Default: 16KiB."""
    most: Quantity
    """The most that a pair exchanges, each way. Origin: assumed. Default: 4MiB."""
    partners: int
    """Partners of a rank, on average; an even number. Origin: assumed. Default: 12."""
    reduce: Quantity
    """The buffer of each all-reduce, which agrees on the time step. Origin: one number of double
    precision. Default: 8B.
    """
    regrid: float | str
    """The share of pairs that is drawn anew before each step but the first. Origin: assumed.
    Default: 0.25.
    """
    steps: int
    """How often the ranks compute and then communicate, in place of `iterations`; at most 100 if
    the steps differ. Default: `4`; none in the background.
    """


class JobPatternGtc(TypedDict, total=False):
    charge: Quantity
    """The buffer that the ranks of a domain add up. Origin: assumed. Default: 256KiB."""
    compute: Quantity
    """Computing time of all ranks before each step. Origin: assumed. Default: 500us."""
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    domains: int | Literal["auto"]
    """Toroidal domains, a divisor of the ranks; `auto` is the greatest one up to 64. Ranks of a
    domain follow each other. Default: auto.
    """
    field: Quantity
    """The field at the border, from a rank to the same one of each neighbouring domain. Origin:
    assumed. Default: 64KiB.
    """
    kind: Literal["gtc"]
    """The application; its further keys are below."""
    particles: Quantity
    """The particles that have crossed the border, from a rank to the same one of each
    neighbouring domain. Origin: assumed. Default: 1MiB.
    """
    steps: int
    """How often the ranks compute and then communicate, in place of `iterations`; at most 100 if
    the steps differ. Default: `4`; none in the background.
    """


class JobPatternDatabasePod(TypedDict, total=False):
    compute: Quantity
    """Computing time of all ranks before each step. Origin: assumed. Default: 0ns."""
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    kind: Literal["database-pod"]
    """The application; its further keys are below."""
    rack: int
    """Ranks of a rack, which follow each other; the last one may be smaller. Origin: assumed.
    Default: 16.
    """
    steps: int
    """How often the ranks compute and then communicate, in place of `iterations`; at most 100 if
    the steps differ. Default: `4`; none in the background.
    """
    transfer: Quantity
    """Payload of each transfer. Origin: assumed. Default: 64KiB."""
    transfers: int
    """Transfers that a rank sends in a step, on average over all racks. Origin: assumed.
    Default: 32.
    """


class JobPatternMatrix(TypedDict, total=False):
    compute: Quantity
    """Computing time of all ranks before each step. Default: 0ns."""
    compute_spread: Quantity
    """Each computing time is drawn from `compute` ± this; at most `compute`. Default: 0ns."""
    file: str | float | bool
    """A communication matrix, `.csv`, `.mtx` or `.txt`; its path counts from the folder of the
    scenario. Default: this or `sends`.
    """
    kind: Literal["matrix"]
    """The application; its further keys are below."""
    sends: str | float | bool
    """Source, destination and bytes of each send, with semicolons between: `0 1 65536; 1 0 128`.
    Default: this or `file`.
    """
    steps: int
    """How often the ranks compute and then communicate, in place of `iterations`; at most 100 if
    the steps differ. Default: `4`; none in the background.
    """


class JobStart1(TypedDict, total=False):
    after: str | float | bool
    """The job that must have ended: any but background load, before or after this one in the
    list.
    """
    delay: Quantity
    """From the end of that job to the start of this one, 2us or more: the end of a job takes
    effect in the whole network, as the barrier of a `gap` does. Default: 10us.
    """


JobWorkloadFlowsPair = TypedDict("JobWorkloadFlowsPair", {
    "from": "float | str | list[float | str]",
    "parallel": "int",
    "to": "float | str | list[float | str]",
}, total=False)


class JobWorkloadFlowsPoints1(TypedDict, total=False):
    cumulative: float | str
    """Share of flows that are no larger."""
    size: Quantity
    """A size of flows, in payload bytes."""


class JobWorkloadFlows(TypedDict, total=False):
    arrivals: Literal["closed-loop", "poisson", "log-normal"]
    """When flows start. In a closed loop each starts when the one before it is acknowledged; in
    an open loop each sender starts flows at intervals of this distribution, to any of its
    receivers, or to each as often as the pattern says. Default: closed-loop.
    """
    between: Literal["steps", "lines"]
    """Sizes that flows have: those of the points alone, or all between them, along a line; only
    with `points`. Default: steps.
    """
    duration: Quantity | Literal["none"]
    """Time from the start of the job after which no flow starts; flows under way are completed.
    Default: none.
    """
    fan_in: int | Literal["none"]
    """In an open loop, flows that start at the same time, each from another sender, to one of
    the receivers. Default: none.
    """
    flows: int | Literal["none"]
    """Flows in all. In a closed loop each QP of each pair starts its share of them, in an open
    one each sender. Default: none.
    """
    kind: Literal["flows"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    load: float | str
    """Offered load: the share of the senders' rate that all flows take in RoCEv2 frames, with
    headers, preamble and gap, but without the additions of a congestion control. With a
    pattern it is the share at the NIC of the rank that sends or receives most, and the others
    have less in proportion; with `senders: alike` it is that of each sender, and receivers
    may get more than their NICs take. Default: required in an open loop.
    """
    pairs: list[JobWorkloadFlowsPair]
    """The pairs of sender and receiver. Default: this or `pattern`."""
    parallel: int
    """QPs from each rank to each of its receivers in the pattern; flows take them in turn. Only
    with `pattern`. Default: 8.
    """
    pattern: JobPatternMiniDft | JobPatternMilc | JobPatternNekbone | JobPatternAmg | JobPatternAmr | JobPatternGtc | JobPatternDatabasePod | JobPatternMatrix
    """How often each pair sends in an open loop: in proportion to the bytes of the first step of
    an application, written as in `jobs[].pattern` without the keys of steps (`steps`,
    `compute`, `compute_spread`, `regrid`). The ranks are those of the job. Default: this or
    `pairs`.
    """
    points: str | float | bool | list[JobWorkloadFlowsPoints1]
    """A distribution of your own by points of its cumulative distribution, both numbers
    ascending; or a file of them, a size in bytes and a probability on each line. Default:
    this or `sizes`.
    """
    senders: Literal["by-bytes", "alike"]
    """Share of each rank of the pattern in the load: in proportion to its bytes, or the same for
    all senders; only with `pattern`. Default: by-bytes.
    """
    sigma: float | str
    """Standard deviation of the logarithm of the times; only with `log-normal`. Default: 1."""
    sizes: Quantity | Literal["facebook-hadoop-homa", "facebook-hadoop-hpcc", "websearch-hpcc", "alistorage-2019", "facebook-cachefollower-homa", "facebook-webserver-homa", "google-all-rpc-homa", "google-search-rpc-homa", "googlerpc-2008"]
    """The distribution that flow sizes are drawn from, by its name, or the size of every flow.
    Default: this or `points`.
    """


class JobWorkloadGraph(TypedDict, total=False):
    compute_scale: float | str
    """How often the time that the file has for it computing takes: 0.5 is a machine that is
    twice as fast. Default: 1.
    """
    eager: Quantity
    """The largest message whose send is done once it is posted. A larger one's is done once the
    receiver's NIC has acknowledged it. Origin: the usual value of S in LogGOPSim. Default:
    65535B.
    """
    file: str | float | bool
    """The file; its path counts from the folder of the scenario."""
    kind: Literal["graph"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    overhead: Quantity
    """Time for which each send occupies its stream before it is posted, and each receive once
    its message is there. Default: 0ns.
    """
    rendezvous: Literal[True, False]
    """`true` sends a message above `eager` by rendezvous: its sender posts a request of 64
    bytes, and the message once the receiver has answered that a receive takes it. Default:
    false.
    """


class JobWorkloadGoal(TypedDict, total=False):
    compute_scale: float | str
    """How often the time that the file has for it computing takes: 0.5 is a machine that is
    twice as fast. Default: 1.
    """
    eager: Quantity
    """The largest message whose send is done once it is posted. A larger one's is done once the
    receiver's NIC has acknowledged it. Origin: the usual value of S in LogGOPSim. Default:
    65535B.
    """
    file: str | float | bool
    """The file, as text or binary; its path counts from the folder of the scenario."""
    kind: Literal["goal"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    overhead: Quantity
    """Time for which each send occupies its stream before it is posted, and each receive once
    its message is there. Default: 0ns.
    """
    rendezvous: Literal[True, False]
    """`true` sends a message above `eager` by rendezvous: its sender posts a request of 64
    bytes, and the message once the receiver has answered that a receive takes it. Default:
    false.
    """


class JobWorkloadChakraAlgorithms(TypedDict, total=False):
    all_gather: str | float | bool | JobCollectiveAllReduceAlgorithm
    """Algorithm of all-gathers, by its name or its file. Default: ring."""
    all_reduce: str | float | bool | JobCollectiveAllReduceAlgorithm
    """The algorithm of all-reduces, and of barriers. Default: ring."""
    all_to_all: str | float | bool | JobCollectiveAllReduceAlgorithm
    """Algorithm of all-to-alls, by its name or its file. Default: parallel."""
    broadcast: str | float | bool | JobCollectiveAllReduceAlgorithm
    """Algorithm of broadcasts, by its name or its file. Default: tree."""
    generation: Literal["ampere", "hopper", "blackwell"]
    """Generation of the NPUs; limits of channels and of protocols depend on it. Default:
    `endpoint.host.scale_up.generation`, or else `hopper`.
    """
    host_cpu: Literal["intel", "amd"]
    """Vendor of the servers' processors; the time of network steps and limits of LL across nodes
    depend on it. Default: intel.
    """
    nic_rate: Quantity
    """Rate of each of these NICs. Default: that of the slowest NIC of the job."""
    nics_per_host: int
    """NICs of each server: as many channels lead from node to node. They divide the NPUs.
    Default: the NICs of these NPUs.
    """
    npus_per_host: int
    """NPUs of each server, a node of NCCL; ranks that follow each other share a server. Needed
    only where `endpoint.host` has no `scale_up`. Default:
    `endpoint.host.scale_up.npus_per_host`.
    """
    nvls: Literal[True, False]
    """`true` if the switch of the scale-up domain adds and copies (NVLink SHARP), as that of
    `hopper` and `blackwell` can. Default: true.
    """
    only_algorithm: Literal["ring", "tree", "nvls", "nvls-tree"]
    """One algorithm in place of NCCL's choice, as with `NCCL_ALGO`. Default: the one with the
    least time.
    """
    only_protocol: Literal["simple", "ll", "ll128"]
    """One protocol in place of NCCL's choice, as with `NCCL_PROTO`. Default: the one with the
    least time.
    """
    plug_in_latency: Quantity
    """Latency that the network plug-in adds to a step over the network; twice as much with
    Simple. Default: 0ns.
    """
    reduce_scatter: str | float | bool | JobCollectiveAllReduceAlgorithm
    """Algorithm of reduce-scatters, by its name or its file. Default: ring."""


class JobWorkloadChakra(TypedDict, total=False):
    algorithms: JobWorkloadChakraAlgorithms
    """Algorithms that carry out the collectives. Default: {}."""
    compute_scale: float | str
    """How often the time that the file has for it computing takes: 0.5 is a machine that is
    twice as fast. Default: 1.
    """
    dependencies: Literal["data", "data-and-control", "stream-order"]
    """Operations' reasons to wait: their data, also what has called them (control), or also the
    operation before them on their recorded stream. Default: data.
    """
    eager: Quantity
    """The largest message whose send is done once it is posted. A larger one's is done once the
    receiver's NIC has acknowledged it. Origin: the usual value of S in LogGOPSim. Default:
    65535B.
    """
    file: str | float | bool
    """The beginning of the files' names: `NAME` stands for `NAME.0.et`, `NAME.1.et` and so on. A
    file of that very name is the trace of one rank.
    """
    groups: str | float | bool | Literal["none"]
    """A JSON file of communicators, `{"NAME": [RANK, …]}`, for traces that do not have them;
    `none`: `NAME.groups.json` or `NAME.json` where there is such a file. Default: none.
    """
    kind: Literal["chakra"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    overhead: Quantity
    """Time for which each send occupies its stream before it is posted, and each receive once
    its message is there. Default: 0ns.
    """
    peak_gflops: int | Literal["none"]
    """Billions of operations in a second, for computing of which the trace has the number of
    operations and no time. Default: none.
    """
    ranks: int | Literal["none"]
    """Ranks that all do what the trace of a single rank says; peers of messages cannot be
    repeated. Default: none.
    """
    rendezvous: Literal[True, False]
    """`true` sends a message above `eager` by rendezvous: its sender posts a request of 64
    bytes, and the message once the receiver has answered that a receive takes it. Default:
    false.
    """


class JobWorkloadSimai(TypedDict, total=False):
    algorithms: JobWorkloadChakraAlgorithms
    """Algorithms that carry out the collectives. Default: {}."""
    all_gather_size: Literal["total", "input"]
    """The size of an all-gather in the file: what all ranks have together, or what one has.
    Default: total.
    """
    compute_scale: float | str
    """How often the time that the file has for it computing takes: 0.5 is a machine that is
    twice as fast. Default: 1.
    """
    eager: Quantity
    """The largest message whose send is done once it is posted. A larger one's is done once the
    receiver's NIC has acknowledged it. Origin: the usual value of S in LogGOPSim. Default:
    65535B.
    """
    file: str | float | bool
    """The file; its path counts from the folder of the scenario."""
    kind: Literal["simai"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    overhead: Quantity
    """Time for which each send occupies its stream before it is posted, and each receive once
    its message is there. Default: 0ns.
    """
    ranks: int
    """Ranks of the job; `auto`: what the file says (`all_gpus`), or as many as its groups need.
    Default: `auto`.
    """
    rendezvous: Literal[True, False]
    """`true` sends a message above `eager` by rendezvous: its sender posts a request of 64
    bytes, and the message once the receiver has answered that a receive takes it. Default:
    false.
    """


class JobWorkloadAicb(TypedDict, total=False):
    algorithms: JobWorkloadChakraAlgorithms
    """Algorithms that carry out the collectives. Default: {}."""
    all_gather_size: Literal["total", "input"]
    """The size of an all-gather in the file: what all ranks have together, or what one has.
    Default: total.
    """
    compute_scale: float | str
    """How often the time that the file has for it computing takes: 0.5 is a machine that is
    twice as fast. Default: 1.
    """
    eager: Quantity
    """The largest message whose send is done once it is posted. A larger one's is done once the
    receiver's NIC has acknowledged it. Origin: the usual value of S in LogGOPSim. Default:
    65535B.
    """
    expert: int
    """Ranks of an expert-parallel group; `auto`: what the file says. Default: `auto`."""
    file: str | float | bool
    """The file (CSV); its path counts from the folder of the scenario."""
    kind: Literal["aicb"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    overhead: Quantity
    """Time for which each send occupies its stream before it is posted, and each receive once
    its message is there. Default: 0ns.
    """
    pipeline: int
    """Stages of the pipeline; `auto`: what the file says. Default: `auto`."""
    ranks: int
    """Ranks of the job, which all do what the recording of a single rank says, or as many as
    there are recordings; `auto`: as many as the recordings say or are. Default: `auto`.
    """
    rendezvous: Literal[True, False]
    """`true` sends a message above `eager` by rendezvous: its sender posts a request of 64
    bytes, and the message once the receiver has answered that a receive takes it. Default:
    false.
    """
    tensor: int
    """Ranks of a tensor-parallel group; `auto`: what the file says. Default: `auto`."""


class JobWorkloadKineto(TypedDict, total=False):
    algorithms: JobWorkloadChakraAlgorithms
    """Algorithms that carry out the collectives. Default: {}."""
    compute_scale: float | str
    """How often the time that the file has for it computing takes: 0.5 is a machine that is
    twice as fast. Default: 1.
    """
    eager: Quantity
    """The largest message whose send is done once it is posted. A larger one's is done once the
    receiver's NIC has acknowledged it. Origin: the usual value of S in LogGOPSim. Default:
    65535B.
    """
    file: str | float | bool
    """The beginning of the files' names, or a name in which `{rank}` stands for the number of
    the rank. A file of that very name is the trace of one rank.
    """
    gaps: Literal["keep", "drop"]
    """Treatment of times in which neither kernels nor collectives run: kept, or left out.
    Default: keep.
    """
    groups: str | float | bool | Literal["none"]
    """A JSON file of process groups, `{"NAME": [RANK, …]}`, for traces that do not have them.
    Default: none.
    """
    kind: Literal["kineto"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    overhead: Quantity
    """Time for which each send occupies its stream before it is posted, and each receive once
    its message is there. Default: 0ns.
    """
    ranks: int
    """Ranks of the job, which all do what the recording of a single rank says, or as many as
    there are recordings; `auto`: as many as the recordings say or are. Default: `auto`.
    """
    rendezvous: Literal[True, False]
    """`true` sends a message above `eager` by rendezvous: its sender posts a request of 64
    bytes, and the message once the receiver has answered that a receive takes it. Default:
    false.
    """
    waits: Literal["exposed", "recorded"]
    """Which computing waits for communication: what began when no kernel had computed since the
    communication was over, or all that began later. Default: exposed.
    """


class JobWorkloadPytorchEt(TypedDict, total=False):
    algorithms: JobWorkloadChakraAlgorithms
    """Algorithms that carry out the collectives. Default: {}."""
    compute_scale: float | str
    """How often the time that the file has for it computing takes: 0.5 is a machine that is
    twice as fast. Default: 1.
    """
    eager: Quantity
    """The largest message whose send is done once it is posted. A larger one's is done once the
    receiver's NIC has acknowledged it. Origin: the usual value of S in LogGOPSim. Default:
    65535B.
    """
    file: str | float | bool
    """The beginning of the files' names, or a name in which `{rank}` stands for the number of
    the rank. A file of that very name is the trace of one rank.
    """
    groups: str | float | bool | Literal["none"]
    """A JSON file of process groups, `{"NAME": [RANK, …]}`, for traces that do not have them.
    Default: none.
    """
    kind: Literal["pytorch-et"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    overhead: Quantity
    """Time for which each send occupies its stream before it is posted, and each receive once
    its message is there. Default: 0ns.
    """
    ranks: int
    """Ranks of the job, which all do what the recording of a single rank says, or as many as
    there are recordings; `auto`: as many as the recordings say or are. Default: `auto`.
    """
    rendezvous: Literal[True, False]
    """`true` sends a message above `eager` by rendezvous: its sender posts a request of 64
    bytes, and the message once the receiver has answered that a receive takes it. Default:
    false.
    """


class JobWorkloadFlightRecorder(TypedDict, total=False):
    algorithms: JobWorkloadChakraAlgorithms
    """Algorithms that carry out the collectives. Default: {}."""
    compute_scale: float | str
    """How often the time that the file has for it computing takes: 0.5 is a machine that is
    twice as fast. Default: 1.
    """
    eager: Quantity
    """The largest message whose send is done once it is posted. A larger one's is done once the
    receiver's NIC has acknowledged it. Origin: the usual value of S in LogGOPSim. Default:
    65535B.
    """
    file: str | float | bool
    """The beginning of the files' names, or a name in which `{rank}` stands for the number of
    the rank. A file of that very name is the dump of one rank.
    """
    gaps: Literal["keep", "drop"]
    """Treatment of times between calls where durations were recorded: kept, or left out.
    Default: keep.
    """
    groups: str | float | bool | Literal["none"]
    """A JSON file of process groups, `{"NAME": [RANK, …]}`, for dumps that do not have them.
    Default: none.
    """
    kind: Literal["flight-recorder"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    overhead: Quantity
    """Time for which each send occupies its stream before it is posted, and each receive once
    its message is there. Default: 0ns.
    """
    ranks: int
    """Ranks of the job, which all do what the recording of a single rank says, or as many as
    there are recordings; `auto`: as many as the recordings say or are. Default: `auto`.
    """
    rendezvous: Literal[True, False]
    """`true` sends a message above `eager` by rendezvous: its sender posts a request of 64
    bytes, and the message once the receiver has answered that a receive takes it. Default:
    false.
    """


class JobWorkloadNcclLog(TypedDict, total=False):
    algorithms: JobWorkloadChakraAlgorithms
    """Algorithms that carry out the collectives. Default: {}."""
    compute_scale: float | str
    """How often the time that the file has for it computing takes: 0.5 is a machine that is
    twice as fast. Default: 1.
    """
    eager: Quantity
    """The largest message whose send is done once it is posted. A larger one's is done once the
    receiver's NIC has acknowledged it. Origin: the usual value of S in LogGOPSim. Default:
    65535B.
    """
    file: str | float | bool
    """The file with the lines of all ranks, what the names of several begin with, or a name in
    which `{rank}` stands for the number of a file.
    """
    kind: Literal["nccl-log"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    overhead: Quantity
    """Time for which each send occupies its stream before it is posted, and each receive once
    its message is there. Default: 0ns.
    """
    ranks: int
    """Ranks of the job, which all do what the recording of a single rank says, or as many as
    there are recordings; `auto`: as many as the recordings say or are. Default: `auto`.
    """
    rendezvous: Literal[True, False]
    """`true` sends a message above `eager` by rendezvous: its sender posts a request of 64
    bytes, and the message once the receiver has answered that a receive takes it. Default:
    false.
    """


class JobWorkloadFlowTable(TypedDict, total=False):
    file: str | float | bool
    """The file, as CSV with a header or as Parquet; its path counts from the folder of the
    scenario.
    """
    kind: Literal["flow-table"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    origin: Literal["file", "first-flow"]
    """The time 0 of the job: that of the file, or the start of the first flow. Default: file."""
    ranks: int
    """Ranks of the job; `auto`: as many as the file says or names. Default: `auto`."""


class JobWorkloadHtsim(TypedDict, total=False):
    file: str | float | bool
    """The file (`.cm`); its path counts from the folder of the scenario."""
    kind: Literal["htsim"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    origin: Literal["file", "first-flow"]
    """The time 0 of the job: that of the file, or the start of the first flow. Default: file."""
    ranks: int
    """Ranks of the job; `auto`: as many as the file says or names. Default: `auto`."""
    start_unit: Literal["auto", "ps", "us"]
    """The unit of starts: `ps` in csg-htsim, `us` in uet-htsim; `auto`: the one in which they
    suit the sizes of the flows, and refused where both do. Default: auto.
    """


class JobWorkloadNs3(TypedDict, total=False):
    file: str | float | bool
    """The file (`flow.txt`); its path counts from the folder of the scenario."""
    kind: Literal["ns3"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    origin: Literal["file", "first-flow"]
    """The time 0 of the job: that of the file, or the start of the first flow. Default: file."""
    ranks: int
    """Ranks of the job; `auto`: as many as the file says or names. Default: `auto`."""


JobWorkloadTrainingAccelerator1MatrixEfficiency = TypedDict("JobWorkloadTrainingAccelerator1MatrixEfficiency", {
    "from": "int",
    "share": "float | str",
}, total=False)


class JobWorkloadTrainingAccelerator1(TypedDict, total=False):
    attention_efficiency: float | str
    """Share of the peak of the matrix units that the fused kernel of attention reaches. Origin:
    assumed. Default: 0.5.
    """
    efficiency: float | str
    """One share of the peak for matrix operators of all sizes, in place of `matrix_efficiency`:
    the number to calibrate. Default: `matrix_efficiency`.
    """
    flops: float | str
    """Peak of the matrix units with 16-bit numbers, without sparsity."""
    fp8_flops: float | str
    """Peak of the matrix units with 8-bit numbers. Default: none: `precision: fp8` is refused."""
    matrix_efficiency: list[JobWorkloadTrainingAccelerator1MatrixEfficiency]
    """Share of the peak that matrix operators reach, by their size; an operator of a size below
    all of them reaches a tenth. Default: [].
    """
    memory: Quantity
    """Capacity of its memory, which `check_memory` compares with what the model needs."""
    memory_bandwidth: Quantity
    """Rate at which it reads and writes its memory."""
    memory_efficiency: list[JobWorkloadTrainingAccelerator1MatrixEfficiency]
    """Share of the bandwidth that the memory reaches, by the bytes of an operator. Default: []."""
    roofline: Literal["sum", "max"]
    """Time of an operator: the `sum` of its times for computing and for memory, or the longer
    one (`max`). Default: max.
    """
    vector_efficiency: list[JobWorkloadTrainingAccelerator1MatrixEfficiency]
    """Share of their peak that vector operators reach, by their size. Default: []."""
    vector_flops: float | str
    """Peak of the vector units with 16-bit numbers. Default: a quarter of `flops`."""


class JobWorkloadTrainingExpertExchange(TypedDict, total=False):
    algorithm: Literal["all-to-all", "normal", "low-latency", "nvlink"]
    """`all-to-all` sends every choice in an all-to-all; the other words are algorithms of `moe-
    dispatch` and `moe-combine`. Default: all-to-all.
    """
    hosts_per_token: int
    """Hosts among which a token may choose its experts. Default: all hosts."""
    sms: int
    """Streaming multiprocessors that each NPU gives the kernels. Origin: DeepEP's tests: 24 of
    132. Default: 24.
    """


class JobWorkloadTrainingModel1(TypedDict, total=False):
    dense_layers: int
    """Layers at the beginning that have no experts. Default: 0."""
    expert_ffn: int
    """Width of an expert's feed-forward part. Default: `ffn`."""
    experts: int
    """Experts of a layer; 0 of a model without experts. Default: 0."""
    ffn: int
    """Width of the feed-forward part of layers without experts."""
    gated: Literal[True, False]
    """`true` gives the feed-forward part three matrices (a gate, as in SwiGLU) and not two.
    Default: true.
    """
    head_size: int
    """Width of an attention head. Default: `hidden` / `heads`."""
    heads: int
    """Attention heads of a layer."""
    hidden: int
    """Width of the residual stream."""
    kv_heads: int
    """Heads of keys and values; as many as `heads` without grouped queries. Default: `heads`."""
    kv_rank: int
    """Rank of keys and values in multi-head latent attention; 0 without it. Default: 0."""
    layers: int
    """Layers of the model, those with experts included."""
    query_rank: int
    """Rank of the queries in multi-head latent attention; 0 without it. Default: 0."""
    rotary_size: int
    """Width that a head of latent attention has more for rotary positions. Default: 0."""
    sequence: int
    """Tokens of a training sequence. Default: 4096."""
    shared_experts: int
    """Experts that every token passes, beside those it is sent to. Default: 0."""
    tied: Literal[True, False]
    """`true` ties embedding and output layer: one matrix for both. Default: false."""
    top_k: int
    """Experts that each token is sent to. Default: 2."""
    vocabulary: int
    """Number of tokens in the vocabulary."""


class JobWorkloadTrainingOverlap(TypedDict, total=False):
    cp: Literal[True, False]
    """Keys and values of the next step of the ring come while this one is computed. Default:
    true.
    """
    ep: Literal[True, False]
    """Dispatch and combination run beside the experts, as with fine chunks. Default: false."""
    gradients: Literal[True, False]
    """Gradients are summed while the backward pass goes on. Default: true."""
    parameters: Literal[True, False]
    """Weights are gathered while the forward pass, or the layer before, goes on. Default: true."""
    pp: Literal[True, False]
    """A stage goes on while it sends to the next one. Default: true."""
    tp: Literal[True, False]
    """Tensor-parallel collectives run beside the matrices that they belong to, as with fine
    chunks. Default: false.
    """


class JobWorkloadTraining(TypedDict, total=False):
    accelerator: JobWorkloadTrainingAccelerator1 | Literal["a100", "h100", "h200", "b200", "mi300x"]
    """An accelerator by its name, or the figures of one. Default: h100."""
    algorithms: JobWorkloadChakraAlgorithms
    """Algorithms of all collectives but tensor-parallel ones. Default: {}."""
    batch: int
    """Sequences of a step, over all ranks."""
    check_memory: Literal[True, False]
    """`true` refuses a model that does not fit into the memory of the accelerator. Default:
    true.
    """
    cp: int
    """Context-parallel ranks: each has a part of the sequence, and keys and values go round.
    Default: 1.
    """
    dp: int
    """Data-parallel ranks. Default: the ranks of the job over `tp`, `cp` and `pp`."""
    ep: int
    """Ranks over which the experts of a layer are spread, of the `tp`, `cp` and `dp` ranks of a
    stage. Default: 1.
    """
    expert_exchange: JobWorkloadTrainingExpertExchange
    """How tokens reach experts, and results come back. Default: {}."""
    expert_skew: float | str
    """How unevenly tokens are spread over experts: the exponent of a Zipf distribution. Experts
    are dealt to ranks by popularity, and each layer begins with the next rank. Default: 0.
    """
    fused_attention: Literal[True, False]
    """`true` runs attention as one kernel that keeps no scores and leaves out what is masked.
    Default: true.
    """
    gradient_bucket: Quantity
    """Gradients that are summed together, at most. Origin: Megatron-LM: 40 million parameters.
    Default: 160MB.
    """
    gradient_precision: Literal["fp32", "bf16"]
    """Numbers of gradients, where they are summed. Origin: Megatron-LM with bf16. Default: fp32."""
    kind: Literal["training"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    layer_backward: Quantity
    """Time of a layer backward. Default: by the roofline."""
    layer_forward: Quantity
    """Time of a layer forward at a rank, in place of the roofline. Default: by the roofline."""
    micro_batches: int
    """Micro-batches of a step at each pipeline. Default: as many as sequences: one in each."""
    model: JobWorkloadTrainingModel1 | Literal["llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "llama-3-405b", "gpt-3-175b", "mixtral-8x7b", "mixtral-8x22b", "deepseek-v3"]
    """A public model by its name, or the dimensions of one."""
    order: float | str
    """The dimensions in the order in which ranks count through them, the fastest first. Origin:
    Megatron-LM, `--order`. Default: tp-cp-dp-pp.
    """
    overlap: JobWorkloadTrainingOverlap
    """Communication that goes on while the rank computes. Default: {}."""
    pp: int
    """Pipeline-parallel ranks: stages. Default: 1."""
    precision: Literal["bf16", "fp8"]
    """Numbers of matrix operators and of what is sent to experts. Default: bf16."""
    recompute: Literal["none", "selective", "full"]
    """Work that is done again before the backward pass: nothing, scores and weights of attention
    (`selective`), or whole layers. Default: none.
    """
    schedule: Literal["gpipe", "1f1b", "interleaved", "zero-bubble"]
    """The order of forward and backward passes in the pipeline; `zero-bubble` is ZB-H1. Default:
    1f1b.
    """
    sequence: int
    """Tokens of a training sequence. Default: that of the model."""
    sequence_parallel: Literal[True, False]
    """`true` shards activations between the parts of a layer over the ranks of a tensor-parallel
    group: an all-gather and a reduce-scatter in place of each all-reduce. Default: true.
    """
    stage_layers: list[int]
    """Layers of each stage, in the order of the model, where they are not all alike; with
    virtual stages of each part. Default: [].
    """
    tp: int
    """Tensor-parallel ranks. Default: 1."""
    tp_algorithms: JobWorkloadChakraAlgorithms
    """Algorithms of tensor-parallel collectives, which `algorithms` leaves out. Default: {}."""
    virtual_stages: int
    """Parts of the model at each stage; only with `schedule: interleaved`. Default: 1."""
    zero: Literal[0, 1, 2, 3, "fsdp"]
    """State that is sharded over data-parallel ranks: nothing (0), that of the optimizer (1),
    gradients too (2), weights too (3; `fsdp` is another word for it). Default: 1.
    """


class JobWorkloadInferencePoolsDecode(TypedDict, total=False):
    dp: int
    """Replicas of the model in this pool. Default: 1."""
    ep: int
    """Ranks over which the experts of a layer are spread. Default: 1."""
    expert_exchange: JobWorkloadTrainingExpertExchange
    """How tokens reach experts, and results come back; kernels of low latency suit decoding.
    Default: that of the workload.
    """
    max_batch: int
    """Requests of a batch, at most. Default: that of the workload."""
    pp: int
    """Pipeline-parallel ranks: stages of a replica. Default: 1."""
    tp: int
    """Tensor-parallel ranks of a stage. Default: 1."""


class JobWorkloadInferencePools(TypedDict, total=False):
    decode: JobWorkloadInferencePoolsDecode
    """The ranks that compute the other tokens."""
    prefill: JobWorkloadInferencePoolsDecode
    """The ranks that compute the prompts of requests, and their first tokens."""


class JobWorkloadInferenceRequestsOutputTokens1(TypedDict, total=False):
    least: int
    """The least number of tokens."""
    most: int
    """The largest number of tokens."""


class JobWorkloadInferenceRequestsOutputTokens11Point(TypedDict, total=False):
    cumulative: float | str
    """The share of the requests with no more."""
    tokens: int
    """A number of tokens of a prompt or of an answer."""


class JobWorkloadInferenceRequestsOutputTokens11(TypedDict, total=False):
    between: Literal["steps", "lines"]
    """Numbers of tokens that occur: those of the points alone, or all between them, along a
    line. Default: lines.
    """
    points: list[JobWorkloadInferenceRequestsOutputTokens11Point]
    """Points of the distribution, in ascending order."""


class JobWorkloadInferenceRequests(TypedDict, total=False):
    concurrency: int
    """Users that each wait for a request before they send the next one (a closed loop). Default:
    this or `rate`.
    """
    count: int
    """Requests in all, over all users."""
    output_tokens: int | JobWorkloadInferenceRequestsOutputTokens1 | JobWorkloadInferenceRequestsOutputTokens11
    """Tokens of an answer, written in the same way."""
    prompt_tokens: int | JobWorkloadInferenceRequestsOutputTokens1 | JobWorkloadInferenceRequestsOutputTokens11
    """Tokens of a prompt: a number, `{least, most}`, each number as likely, or `{points}` of a
    cumulative distribution.
    """
    rate: float | str
    """Requests per second, which arrive at exponentially distributed times whatever becomes of
    those before (an open loop). Default: this or `concurrency`.
    """


class JobWorkloadInference(TypedDict, total=False):
    accelerator: JobWorkloadTrainingAccelerator1 | Literal["a100", "h100", "h200", "b200", "mi300x"]
    """An accelerator by its name, or the figures of one. Default: h100."""
    algorithms: JobWorkloadChakraAlgorithms
    """Algorithms of all collectives but tensor-parallel ones. Default: {}."""
    assumed_latency: Quantity
    """Latency of a message over the network that the scheduler assumes beside its bytes at the
    rate of the NIC, where batches depend on time. Origin: assumed. Default: 5us.
    """
    batch_tokens: int
    """Tokens of an iteration over a batch, of which prompts get what requests that decode leave;
    a whole prompt may exceed it where prompts are not chunked. Origin: assumed. Default:
    8192.
    """
    check_memory: Literal[True, False]
    """`true` refuses a model whose weights, with the keys and values of full batches, do not fit
    into the memory of the accelerator. Default: true.
    """
    chunked_prefill: Literal[True, False]
    """`true` lets an iteration decode and take parts of prompts beside; with `false` it takes
    whole prompts while there are any, and decodes otherwise. Default: true.
    """
    dp: int
    """Replicas of the model, each with batches of its own. Default: the ranks of the job over
    `tp` and `pp`.
    """
    ep: int
    """Ranks over which the experts of a layer are spread, of the `tp` and `dp` ranks of a stage;
    with 1 the `tp` ranks share each expert. Default: 1.
    """
    expert_exchange: JobWorkloadTrainingExpertExchange
    """How tokens reach experts, and results come back, where a pool does not say it itself.
    Default: {}.
    """
    expert_skew: float | str
    """How unevenly tokens are spread over experts: the exponent of a Zipf distribution. Experts
    are dealt to ranks by popularity, and each layer begins with the next rank. Default: 0.
    """
    kind: Literal["inference"]
    """Flows, a graph of operations in one of the formats in which others write it, or the
    training or inference of a model. Default: flows.
    """
    kv_precision: Literal["bf16", "fp8"]
    """Numbers of keys and values in memory. Default: bf16."""
    max_batch: int
    """Requests of a batch, at most. Origin: assumed. Default: 64."""
    model: JobWorkloadTrainingModel1 | Literal["llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "llama-3-405b", "gpt-3-175b", "mixtral-8x7b", "mixtral-8x22b", "deepseek-v3"]
    """A public model by its name, or the dimensions of one."""
    pools: JobWorkloadInferencePools
    """Pools of ranks that prefill and decode apart, in place of one for both. Default: one pool,
    of `tp`, `pp`, `dp` and `ep`.
    """
    pp: int
    """Pipeline-parallel ranks: stages. As many batches as stages are under way. Default: 1."""
    precision: Literal["bf16", "fp8"]
    """Numbers of weights, of matrix operators, and of what is sent to experts. Default: bf16."""
    requests: JobWorkloadInferenceRequests
    """The requests that the model answers."""
    step_overhead: Quantity
    """Time of a stage before each iteration: the scheduler, and the launch of kernels. Default:
    0us.
    """
    tp: int
    """Tensor-parallel ranks, where one pool has all ranks. Default: 1."""
    tp_algorithms: JobWorkloadChakraAlgorithms
    """Algorithms of tensor-parallel collectives, which `algorithms` leaves out. Default: {}."""


Job = TypedDict("Job", {
    "background": "Literal[True, False]",
    "class": "int | Literal[\"nic\"]",
    "collectives": "list[JobCollectiveParallel | JobCollectivePairwise | JobCollectivePxn | JobCollectiveRing | JobCollectiveBidirectionalRing | JobCollectiveHalvingDoubling | JobCollectiveDoubleBinaryTree | JobCollectiveHierarchical | JobCollectiveNccl | JobCollectiveRing2 | JobCollectiveRecursiveDoubling | JobCollectiveNccl2 | JobCollectiveRing3 | JobCollectiveRecursiveHalving | JobCollectiveNccl3 | JobCollectiveParallel2 | JobCollectiveRing4 | JobCollectiveTree | JobCollectiveTree2 | JobCollectiveParallel3 | JobCollectiveParallel4 | JobCollectiveRing5 | JobCollectiveRecursiveDoubling2 | JobCollectiveRandom | JobCollectiveParallel5 | JobCollectiveNormal | JobCollectiveLowLatency | JobCollectiveNvlink | JobCollectiveNormal2 | JobCollectiveLowLatency2 | JobCollectiveNvlink2 | JobCollectiveListed | JobCollectiveAllReduce | JobCollectiveAllGather | JobCollectiveReduceScatter | JobCollectiveAllToAll | JobCollectiveBroadcast | JobCollectiveReduce]",
    "copies": "int",
    "flows": "list[JobFlow]",
    "free_hosts": "Literal[True, False]",
    "gap": "Quantity",
    "group_size": "int",
    "iterations": "int",
    "name": "str | float | bool",
    "pattern": "JobPatternMiniDft | JobPatternMilc | JobPatternNekbone | JobPatternAmg | JobPatternAmr | JobPatternGtc | JobPatternDatabasePod | JobPatternMatrix",
    "placement": "Literal[\"packed\", \"random\", \"random-groups\", \"random-leaves\", \"round-robin\"]",
    "queue_pair_scope": "Literal[\"rank-pair\", \"chunk\"]",
    "queue_pairs": "int",
    "ranks": "int | list[float | str] | Literal[\"all\"]",
    "start": "Quantity | JobStart1",
    "warm_up": "int",
    "workload": "JobWorkloadFlows | JobWorkloadGraph | JobWorkloadGoal | JobWorkloadChakra | JobWorkloadSimai | JobWorkloadAicb | JobWorkloadKineto | JobWorkloadPytorchEt | JobWorkloadFlightRecorder | JobWorkloadNcclLog | JobWorkloadFlowTable | JobWorkloadHtsim | JobWorkloadNs3 | JobWorkloadTraining | JobWorkloadInference",
}, total=False)


class Limits(TypedDict, total=False):
    background: Quantity
    """Time for which background jobs run on after the last of the others has ended; no less than
    the 2us that the end of a job takes to reach the whole network. Default: 10us.
    """
    time: Quantity | Literal["none"]
    """Simulated time at which the trial stops, whether it is done or not; at `8640000s` (100
    days) every trial does. Default: none.
    """


class Observe(TypedDict, total=False):
    baseline: Literal[True, False]
    """`true` also runs each measured job alone on the same fabric, for its slowdown beside the
    others. Default: false.
    """
    capture: list[str | float | bool]
    """Ports, each as `NODE:PORT` or by the name of a NIC, whose frames are captured in both
    directions, in `capture.pcapng`; the run is slower for it. Default: [].
    """
    capture_bytes: Quantity
    """Bytes that are kept of each captured frame, by default all; more than the headers are
    zeros. Default: 9216B.
    """
    capture_from: Quantity
    """Frames are captured from then on. Default: 0ns."""
    capture_limit: int
    """Frames that are captured in all; a warning tells how many were left out. Default: 100000."""
    capture_to: Quantity | Literal["none"]
    """Frames are captured until then. Default: none."""
    operations: Literal["auto", True, False]
    """Record of the operations of graphs one by one, with critical path and exposed
    communication, in `operations.parquet`, `critical_path.parquet` and `rank_times.parquet`;
    `auto`: where there are at most 1,000,000 of them in all. Default: auto.
    """
    queue_changes: list[str | float | bool]
    """Ports of switches, each as `NODE:PORT`, whose queues are recorded change by change, in
    `queue_changes.parquet`; the run is slower for it. Default: [].
    """
    queue_changes_from: Quantity
    """Changes are recorded from then on. Default: 0ns."""
    queue_changes_limit: int
    """Changes of each port that are recorded; a warning tells how many were left out. Default:
    1000000.
    """
    queue_changes_to: Quantity | Literal["none"]
    """Changes are recorded until then. Default: none."""
    sample_interval: Quantity | Literal["auto"]
    """Interval between samples; `auto` is a 500th of the time that the jobs take without
    waiting, or of the time limit if that is shorter, rounded up to two digits; 100us if
    neither is known. Default: auto.
    """
    samples: Literal[True, False]
    """`true` samples queues and rates over time. Default: true."""


class Seeds(TypedDict, total=False):
    arrivals: int
    """Seed of the draws of jobs: sizes and arrivals of flows, permutations, neighbours and
    volumes of applications, the spread of computing times, the skew of starts. Default: the
    `seed`.
    """
    hashing: int
    """Seed of hashes and draws in switches and NICs: paths of flows, UDP source ports, ECN
    marks. Default: the `seed`.
    """
    placement: int
    """Seed of the hosts on which jobs are placed. Default: the `seed`."""


class ScenarioKeys(TypedDict, total=False):
    description: str | float | bool
    """Description of the trial. Default: ""."""
    endpoint: Endpoint
    """NIC, host and addresses. Default: {}."""
    engine: Engine
    """Settings of the simulator. Default: {}."""
    equipment: str | float | bool
    """A YAML file with the `fabric` and `endpoint` of switches and NICs that several scenarios
    share: each of its keys counts where the scenario has none. The path counts from the
    scenario. Default: "".
    """
    fabric: FabricSingleSwitch | FabricLeafSpine | FabricFatTree | FabricRail | FabricRailOnly | FabricDragonfly | FabricDragonflyPlus | FabricSlimFly | FabricHyperx | FabricTorus | FabricExplicit
    """Topology, switches and load balancing."""
    faults: Faults
    """Faults during the trial, and their repair. Default: {}."""
    impairments: list[Impairment]
    """Losses and reordering of frames on links. Default: []."""
    jobs: list[Job]
    """The jobs: which hosts take part, and what they run."""
    limits: Limits
    """Limits that end the trial. Default: {}."""
    name: str | float | bool
    """Name of the trial. Default: ""."""
    observe: Observe
    """Recordings beside the results. Default: {}."""
    schema_version: int
    """The version of this format. Default: 1."""
    seed: int
    """Seed of every random stream. Default: 1."""
    seeds: Seeds
    """Seeds of single kinds of draws in place of `seed`, so that one is varied and others are
    held. Default: {}.
    """
