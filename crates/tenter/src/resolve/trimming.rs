//! Signals of full queues to Ultra Ethernet, whose senders and receivers expect switches that trim
//! or mark.

use tenter_endpoint::NicAddress;
use tenter_fabric::net::{ClassSpec, SwitchSpec, Switches};
use tenter_fabric::topology::HostId;
use tenter_language::notation::tree::Node;
use tenter_language::units::{ById, Bytes, Time};
use tenter_workload::Job;

use crate::resolve::buffer::Around;
use crate::resolve::endpoint::Endpoint;
use crate::resolve::switch_model::trimmed_class;

const CONTROL: &str = "endpoint.nic.control_dscp";
const TRANSPORT: &str = "endpoint.nic.transport";
const CLASSES: &str = "fabric.switch.classes";

/// Drain time above which a warning says that a queue's trimming comes late: five times the longest
/// in published settings, whose queues drain in 8 to 41 µs.
const DRAIN_MAX: Time = Time::from_us(200);

/// Puts acknowledgements, reports and grants into the trimmed packets' class under `flow_control:
/// trim`, as in the consortium's simulator, unless their class is given. In the data's queues they
/// would be dropped wherever data are trimmed.
pub(crate) fn place_control(
    endpoint: &mut Endpoint,
    addresses: &ById<HostId, NicAddress>,
    jobs: &[Job],
    effective: &mut Node,
) {
    let of_jobs = jobs.iter().filter_map(|job| job.class);
    let data = addresses.iter().map(NicAddress::class).chain(of_jobs).max();
    let nic = &mut endpoint.nic;
    let is_open = nic.control_dscp.is_none() && nic.ultra_ethernet().is_some();
    // Data in class 7 leave no class for trimmed packets, which is refused elsewhere.
    if let Some(data) = data.filter(|&data| is_open && data < 7) {
        let dscp = trimmed_class(data) << 3;
        nic.control_dscp = Some(dscp);
        let path: Vec<&str> = CONTROL.split('.').collect();
        effective.put(&path, Node::plain(dscp.to_string()));
    }
}

/// Warns if the transport learns of full queues late or never.
pub(crate) fn check(around: &Around<'_>, switches: &Switches) {
    if around.endpoint.nic.ultra_ethernet().is_none() {
        return;
    }
    let queues = switches.usual.queue_of_class();
    let mut classes: Vec<(&SwitchSpec, &ClassSpec)> = Vec::new();
    let data = around.data_classes();
    let data = data.iter().copied();
    for class in data.flat_map(|class| switches.classes_in_regions(class)) {
        let queue = usize::from(queues[usize::from(class.class)]);
        classes.extend(switches.iter().map(|spec| (spec, &spec.classes[queue])));
    }
    let is_told =
        |class: &ClassSpec| class.trim.is_some() || class.ecn.is_some() || class.lossless.is_some();
    if !classes.iter().any(|(_, class)| is_told(class)) {
        let message = "`endpoint.nic.transport: ultra-ethernet` runs over switches that neither trim nor mark its data: full queues show in delays and timeouts alone";
        let help = "set `fabric.flow_control: trim`, or give its class a `trim` and `ecn` of its own; limit and marks are about one bandwidth-delay product";
        around.warnings.note(TRANSPORT, message, help);
        return;
    }
    let control = around.endpoint.nic.control_class();
    let control = control.map(|class| queues[usize::from(class)]);
    // Without a class of their own, control packets follow their data.
    let shares = |class: &ClassSpec| {
        let own = queues[usize::from(class.class)];
        control.is_none_or(|control| control == own)
    };
    let trimming = || classes.iter().filter(|(_, class)| class.trim.is_some());
    if let Some((class, trim)) = trimming()
        .filter(|(_, class)| shares(class))
        .find_map(|(_, class)| Some((class.class, class.trim?)))
    {
        let message = format!(
            "acknowledgements, reports and grants share class {class} with data that is trimmed: they are dropped where its queues are full, and senders wait for timeouts"
        );
        let help = format!(
            "set `{CONTROL}: {}`, the class of what is trimmed",
            trim.to << 3
        );
        around.warnings.note(CLASSES, &message, &help);
    }
    // The slowest host's port has the longest drain time for the same bytes.
    let hosts = around.topology.host_ids();
    let rates = hosts.map(|host| around.topology.cable(host, 0).rate);
    let Some(rate) = rates.min() else {
        return;
    };
    let late = trimming().filter_map(|(spec, class)| {
        let of_pool = || class.limit.of_all(spec.pool_of(class.pool));
        let bytes = class.limit.at_port(rate).unwrap_or_else(of_pool);
        let time = rate.time_of_bits(u128::from(bytes) * 8);
        (time > DRAIN_MAX).then_some((class.class, bytes, time))
    });
    if let Some((class, bytes, time)) = late.max_by_key(|(_, bytes, _)| *bytes) {
        let message = format!(
            "class {class} is trimmed when a queue holds {}, which takes {} to drain at {rate}: the transport hears of a full queue that late",
            Bytes::new(bytes),
            time.rounded()
        );
        let help = "set its `limit` to about one bandwidth-delay product: published settings have 8 to 41 us";
        around.warnings.note(CLASSES, message, help);
    }
}
