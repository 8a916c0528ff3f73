//! Who is paused: by what came in, by the queue it goes to, by all that the pool holds.

use tenter_fabric::net::{ClassSpec, Level, Levels, Limit};

use crate::lone_switch::{LoneSwitch, wire_ps};
use crate::trial::Trial;

/// Hosts 1 to 4 send 1 MiB each to host 0, whose queue grows; host 1 sends as much to host 6 at the
/// same time, and host 5 to host 7, where nothing waits.
const INCAST: &str = "
fabric:
  kind: single-switch
  hosts: 8
  switch:
    pipeline_latency: 600ns
    buffer: {size: 16MB}
    classes: [{class: 3, limit: 400kB, lossless: {xon_offset: 8kB}}]
endpoint: {nic: {transmit_latency: 7ns, receive_latency: 11ns, message_size: 4KiB}}
jobs:
  - {name: incast, ranks: [0, 1, 2, 3, 4], collectives: [{collective: incast, size: 5MiB}]}
  - {name: victim, ranks: [6, 1], collectives: [{collective: incast, size: 2MiB}]}
  - {name: apart, ranks: [7, 5], collectives: [{collective: incast, size: 2MiB}]}
observe: {samples: false}
";
const TRIGGER: &str = "fabric.switch.classes[0].lossless.trigger";

/// XOFFs that the switch has sent to each host.
fn xoffs(trial: &Trial, hosts: u32) -> Vec<u64> {
    let to = |host| trial.port("leaf0", &format!("host{host}")).tx_xoff_frames;
    (0..hosts).map(to).collect()
}

fn run(scenario: &str, trigger: &str) -> Trial {
    let trial = Trial::run(scenario, &[&format!("{TRIGGER}={trigger}")]);
    let totals = &trial.outcome.summary.totals;
    assert_eq!(totals.dropped_frames, 0, "{trigger}");
    trial
}

#[test]
fn a_full_output_queue_pauses_those_who_send_into_it_and_all_of_them_alike() {
    // While the queue drains from 400 kB to 392 kB nothing reaches it, so the senders go on
    // together; the frames of each come at the same pace, so the queue is too long for each within
    // a frame of the others. What is left when the last is paused is the headroom of the model at
    // most: 20 frames each (see `headroom`), on top of the queue.
    let trial = run(INCAST, "egress");
    let sent = xoffs(&trial, 8);
    assert!(sent[1] > 0, "{sent:?}");
    let spread = sent[2..5].iter().max().zip(sent[2..5].iter().min());
    assert!(
        spread.is_some_and(|(most, least)| most - least <= 1),
        "{sent:?}"
    );
    // Nobody else is: who sends nothing into that queue, and who receives.
    assert_eq!((sent[0], &sent[5..]), (0, &[0, 0, 0][..]));
    let queue = trial.port("leaf0", "host0").queue_high_water_bytes;
    assert!(
        (400_000..400_000 + 4 * 21 * 4_174).contains(&queue),
        "{queue}"
    );
    // 392 kB last 7.9 us, longer than an XON takes, so the line to host 0 is never idle while all
    // four send nothing else: 1,024 frames of 4,194 bytes on the wire, at 20 ps, and 668 ns.
    let alone = "jobs=[{ranks: [0, 1, 2, 3, 4], collectives: [{collective: incast, size: 5MiB}]}]";
    let trial = Trial::run(INCAST, &[&format!("{TRIGGER}=egress"), alone]);
    assert!(xoffs(&trial, 8)[1] > 0);
    assert_eq!(trial.completion(0), 1_024 * 4_194 * 20 + 668_000);
}

#[test]
fn who_is_paused_depends_on_the_trigger() {
    let apart = 512 * 4_194 * 20 / 2 + 668_000;
    for (trigger, stops_all) in [("ingress", false), ("egress", false), ("pool", true)] {
        // So that the pool, too, passes it.
        let scenario = INCAST.replace("limit: 400kB", "limit: 200kB");
        let trial = run(&scenario, trigger);
        let sent = xoffs(&trial, 8);
        assert!(sent[2] > 0, "{trigger}: {sent:?}");
        let others = [sent[0], sent[5], sent[6], sent[7]];
        assert_eq!(others.iter().all(|&count| count > 0), stops_all, "{sent:?}");
        assert_eq!(others.iter().any(|&count| count > 0), stops_all, "{sent:?}");
        let flow = trial.flows_of(2)[0].fct().ps();
        assert_eq!(flow > apart, stops_all, "{trigger}: {flow} for {apart}");
    }
}

/// Four hosts of one leaf send to one of the other, over one link that is four times as fast.
const TIERS: &str = "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 5
  spines: 1
  host_rate: 100Gbps
  uplink_rate: 400Gbps
  switch:
    pipeline_latency: 600ns
    buffer: {size: 24MB, pools: [{name: all, size: 2MB}]}
    classes: [{class: 3, limit: 400kB, lossless: {trigger: pool}}]
endpoint: {nic: {message_size: 4KiB}}
jobs: [{ranks: [0, 5, 6, 7, 8], collectives: [{collective: incast, size: 20MiB}]}]
observe: {samples: false}
";

#[test]
fn a_pool_may_pause_hosts_only() {
    let scope = |scope: &str| {
        let set = format!("fabric.switch.classes[0].lossless.scope={scope}");
        let trial = Trial::run(TIERS, &[&set]);
        assert_eq!(trial.outcome.summary.totals.dropped_frames, 0, "{scope}");
        let sent = |peer| trial.port("leaf0", peer).tx_xoff_frames;
        let pool = trial.outcome.counts.switches[0].pool_high_water_bytes;
        let pool = pool.expect("the pool has an end");
        ((sent("host1"), sent("spine0")), pool)
    };
    // All ports of leaf 0 are paused above 400 kB; what is on its way then stays far below 2 MB.
    let ((host, spine), pool) = scope("all");
    assert!(host > 0 && spine > 0, "{host}, {spine}");
    assert!((400_000..1_000_000).contains(&pool), "{pool}");
    // Only its hosts are, who send nothing: the spine's frames fill the pool to the last frame, and
    // it is paused by the headroom that they need then.
    let ((host, spine), pool) = scope("hosts");
    assert!(host > 0 && spine > 0, "{host}, {spine}");
    assert!((2_000_000 - 4_174..=2_000_000).contains(&pool), "{pool}");
}

#[test]
fn a_pool_that_goes_by_alpha_pauses_where_its_fill_is_alpha_times_what_is_free() {
    // Alpha 1/4 of 2 MB: 400 kB are a quarter of the 1.6 MB that are free then.
    let by_limit = Trial::run(TIERS, &[]);
    let classes = "fabric.switch.classes=[{class: 3, alpha: 1/4, lossless: {trigger: pool}}]";
    let by_alpha = Trial::run(TIERS, &[classes]);
    let digest = |trial: &Trial| trial.outcome.digest;
    assert_eq!(digest(&by_limit), digest(&by_alpha));
}

#[test]
fn an_account_holds_what_the_level_of_its_pool_allows() {
    let level = |pool_bytes, account_bytes| Level {
        pool_bytes,
        account_bytes,
    };
    // Above 100 kB of the pool a queue may hold 90 kB, above 300 kB 40 kB, above 500 kB nothing.
    let list = [
        level(100_000, 90_000),
        level(300_000, 40_000),
        level(500_000, 0),
    ];
    let levels = Levels::new(&list).expect("they are in order");
    // A queue alone passes 100 kB by a frame, for below that there is no limit. Four hold 90 kB
    // each, and then 40 kB is what a further frame needs, so they stay there. Eight pass 300 kB
    // with 38 kB each and go on to 41 kB; 20 reach 500 kB together, whatever each holds.
    for (queues, least, most) in [
        (1_u64, 100_000, 101_000),
        (4, 75_000, 91_000),
        (8, 38_000, 41_000),
        (20, 25_000, 26_000),
    ] {
        let sharing = ClassSpec {
            limit: Limit::Levels(levels),
            ..ClassSpec::without_end(0)
        };
        let mut lone = LoneSwitch::new(queues as u16, 1_000_000, vec![sharing]);
        for slot in 0..400 {
            for port in (0..queues).chain(0..queues) {
                lone.offer(slot * wire_ps(1_000), port as u16, 0, 1_000);
            }
        }
        for port in lone.switch.ports() {
            let held = port.queue_bytes();
            assert!((least..=most).contains(&held), "{queues} queues: {held}");
        }
    }
}
