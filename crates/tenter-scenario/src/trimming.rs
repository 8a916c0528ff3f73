//! What Ultra Ethernet hears of full queues: its senders and receivers expect switches that trim or
//! mark.

use tenter_net::{ClassSpec, SwitchSpec, Switches};
use tenter_units::{Bytes, Time};

use crate::buffer::Around;

const TRANSPORT: &str = "endpoint.nic.transport";
const CLASSES: &str = "fabric.switch.classes";

/// The longest that a queue takes to drain before it is noted that its trimming comes late: five
/// times the longest of the published settings, whose queues drain in 8 to 41 us.
const DRAIN_MAX: Time = Time::from_us(200);

/// Warns where the transport hears of full queues late or never.
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
    let hosts = around.topology.host_ids();
    let rates = hosts.map(|host| around.topology.cable(host, 0).rate);
    let Some(rate) = rates.min() else {
        return;
    };
    let trimmed = classes.iter().filter(|(_, class)| class.trim.is_some());
    let late = trimmed.filter_map(|(spec, class)| {
        let bytes = class.limit.of_all(spec.pool_of(class.pool));
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
