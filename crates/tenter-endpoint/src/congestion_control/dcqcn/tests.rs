use tenter_engine::Stream;
use tenter_language::config::Words as _;
use tenter_language::units::{Instant, Rate, Time};

use super::super::{self as controls, Feedback, Link};
use super::{Control, Dcqcn, Flow, ONE, Preset, Reaction, Window};

const GBPS: u64 = 1_000_000_000;
const US: u64 = 1_000_000;

/// A notification at `at`, after all that timers do before.
fn notify(control: &Dcqcn, flow: &mut Flow, at: Instant) {
    control.notified(flow, false, at);
}

fn first(control: &Dcqcn, line: u64, at: Instant) -> Flow {
    let mut flow = control.reaction.start(line, at);
    control.notified(&mut flow, true, at);
    flow
}

/// A preset with something changed.
fn with(preset: Preset, change: impl FnOnce(&mut Reaction)) -> Dcqcn {
    let mut control = preset.of_both();
    change(&mut control.reaction);
    control
}

#[test]
fn all_presets_but_the_tester_react() {
    for &preset in Preset::ALL {
        assert_eq!(preset.of_both().reacts(), preset != Preset::Tester);
    }
}

/// 400G, one notification at 0, and nothing more: what the rate is at each step, in bits per
/// second, and when.
#[test]
fn a_400g_flow_recovers_after_one_notification_as_its_timers_say() {
    let control = Preset::Nvidia.of_both();
    let mut flow = first(&control, 400 * GBPS, Instant::START);
    // Alpha begins at 1023/1024 and falls by 1019/1024 at 1, 2, 3 and 4 us. At 4 us the rate falls
    // by half of it.
    let mut alpha = 1023 * ONE / 1024;
    for _ in 0..4 {
        alpha = alpha * 1019 / 1024;
    }
    let low = 400 * GBPS - (u128::from(400 * GBPS) * u128::from(alpha) / (2 << 30)) as u64;
    assert_eq!(
        control.rate(&mut flow, Instant::from_ps(4 * US)),
        400 * GBPS
    );
    assert_eq!(control.rate(&mut flow, Instant::from_ps(4 * US + 1)), low);
    // 300 us later it rises half of the way (fast recovery has one step), another 300 us later the
    // same: the target is the line already.
    assert_eq!(control.rate(&mut flow, Instant::from_ps(304 * US)), low);
    let mut rate = low;
    for step in 1..=40 {
        rate = (rate + 400 * GBPS).div_ceil(2);
        let at = (4 + 300 * step) * US;
        assert_eq!(
            control.rate(&mut flow, Instant::from_ps(at + 1)),
            rate,
            "step {step}"
        );
        assert_eq!(control.is_over(&flow), rate == 400 * GBPS, "step {step}");
    }
    // 196 Gb/s are missing; halved 38 times it is less than a bit per second: 4 + 38 * 300 us.
    assert_eq!(rate, 400 * GBPS);
    let mut flow = first(&control, 400 * GBPS, Instant::START);
    assert!(control.rate(&mut flow, Instant::from_ps(11_404 * US)) < 400 * GBPS);
    assert_eq!(
        control.rate(&mut flow, Instant::from_ps(11_404 * US + 1)),
        400 * GBPS
    );
}

#[test]
fn a_preset_with_a_rate_for_the_first_notification_takes_it_and_climbs() {
    let control = Preset::Kai.of_both();
    let mut flow = first(&control, 400 * GBPS, Instant::START);
    assert_eq!(control.rate(&mut flow, Instant::from_ps(1)), 10 * GBPS);
    // The first expiry is fast recovery, to a target that is the rate itself; the second adds
    // 5 Mb/s to the target, all later ones 50, and half of what is missing to the rate. By then
    // the byte counter has not run out once, so there is no hyper increase.
    assert_eq!(
        control.rate(&mut flow, Instant::from_ps(300 * US + 1)),
        10 * GBPS
    );
    assert_eq!(
        control.rate(&mut flow, Instant::from_ps(600 * US + 1)),
        10 * GBPS + 2_500_000
    );
    assert_eq!(
        control.rate(&mut flow, Instant::from_ps(900 * US + 1)),
        10 * GBPS + 6_250_000
    );
}

#[test]
fn the_paper_cuts_at_once_and_recovers_in_five_halves() {
    let control = Preset::Paper2015.of_both();
    let mut flow = first(&control, 40 * GBPS, Instant::START);
    assert_eq!(control.rate(&mut flow, Instant::START), 20 * GBPS);
    let mut rate = 20 * GBPS;
    for step in 1..=5 {
        rate = (rate + 40 * GBPS).div_ceil(2);
        assert_eq!(
            control.rate(&mut flow, Instant::from_ps(step * 55 * US + 1)),
            rate
        );
    }
    // Alpha: 1 again after the first, then 55 us periods of 255/256.
    let mut alpha = ONE * 1020 / 1024 + ONE * 4 / 1024;
    for _ in 0..5 {
        alpha = alpha * 1020 / 1024;
    }
    assert_eq!(u64::from(flow.alpha), alpha);
    // A second one: target and rate fall from where they are.
    notify(&control, &mut flow, Instant::from_ps(276 * US));
    assert_eq!(flow.target, rate);
    let cut = (u128::from(rate) * u128::from(alpha) / (2 << 30)) as u64;
    assert_eq!(flow.rate, rate - cut);
}

#[test]
fn the_byte_counter_raises_the_rate_as_the_timer_does() {
    let control = Preset::Paper2015.of_both();
    let mut flow = first(&control, 40 * GBPS, Instant::START);
    control.sent(&mut flow, 9_999_999);
    assert_eq!(flow.rate, 20 * GBPS);
    control.sent(&mut flow, 1);
    assert_eq!((flow.rate, flow.byte_stage), (30 * GBPS, 1));
    // Six of each: the sixth of the second kind is hyper increase, as both are beyond five.
    flow.time_stage = 6;
    flow.byte_stage = 6;
    flow.target = 30 * GBPS;
    control.sent(&mut flow, 10_000_000);
    assert_eq!(flow.target, 30 * GBPS + 400_000_000);
    flow.byte_stage = 5;
    control.sent(&mut flow, 10_000_000);
    assert_eq!(flow.target, 30 * GBPS + 440_000_000);
}

#[test]
fn the_target_falls_only_after_a_rise_unless_it_is_clamped() {
    for clamp_target in [false, true] {
        let control = with(Preset::Nvidia, |own| own.clamp_target = clamp_target);
        let mut flow = first(&control, 400 * GBPS, Instant::START);
        notify(&control, &mut flow, Instant::from_ps(5 * US));
        control.rate(&mut flow, Instant::from_ps(9 * US));
        // Two falls without a rise between them.
        assert!(flow.rate < 110 * GBPS);
        assert_eq!(flow.target == 400 * GBPS, !clamp_target);
    }
}

#[test]
fn rates_do_not_fall_below_the_least() {
    let control = Preset::Hpcc.of_both();
    let mut flow = first(&control, 100 * GBPS, Instant::START);
    for us in 1..2000 {
        notify(&control, &mut flow, Instant::from_ps(us * US));
    }
    assert_eq!(flow.rate, 100_000_000);
    assert_eq!(u64::from(flow.alpha), ONE);
}

#[test]
fn a_window_holds_a_round_trip_of_the_line_or_of_the_rate() {
    // 100 Gb/s for 8.192 us are 102,400 bytes: 25 packets of 4,096.
    let window = |scaled: bool| {
        with(Preset::Hpcc, |own| {
            own.window = if scaled {
                Window::Scaled
            } else {
                Window::Fixed
            };
            own.base_round_trip = Some(Time::from_ns(8_192));
        })
    };
    let link = Link::of_gbps(100);
    let of = controls::Window::Packets;
    assert_eq!(window(true).line_window(&link), of(25));
    let shorter = Link {
        payload: 4095,
        ..link
    };
    assert_eq!(window(true).line_window(&shorter), of(26));
    assert_eq!(
        Preset::Hpcc.of_both().line_window(&link),
        controls::Window::OPEN
    );
    // The first notification halves the rate after 4 us; an acknowledgement shows it.
    for (scaled, packets) in [(true, 13), (false, 25)] {
        let control = window(scaled);
        let mut flow = first(&control, 100 * GBPS, Instant::START);
        assert_eq!(control.window(&flow, &link), of(25));
        let feedback = Feedback {
            now: Instant::from_ps(4 * US + 1),
            ..Feedback::default()
        };
        control.acknowledged(&mut flow, &link, &feedback);
        // Alpha has fallen a little from 1 by then.
        assert!((50 * GBPS..51 * GBPS).contains(&flow.rate), "{}", flow.rate);
        assert_eq!(control.window(&flow, &link), of(packets));
        flow.rate = 1;
        let least = if scaled { 1 } else { 25 };
        assert_eq!(control.window(&flow, &link), of(least));
    }
}

#[test]
fn steps_scale_with_the_line_on_request() {
    let control = with(Preset::Hpcc, |own| {
        own.scale_from = Some(Rate::from_gbps(100));
    });
    let scaled = control.on_link(&Link::of_gbps(400)).reaction;
    assert_eq!(scaled.additive_increase.bits_per_second(), 200_000_000);
    assert_eq!(scaled.hyper_increase.bits_per_second(), 400_000_000);
    assert_eq!(scaled.min_rate.bits_per_second(), 400_000_000);
    let fixed = Preset::Hpcc.of_both().on_link(&Link::of_gbps(400)).reaction;
    assert_eq!(fixed.additive_increase.bits_per_second(), 50_000_000);
}

/// The same reaction point with an event for every tick of every timer.
fn tick_by_tick(control: &Reaction, flow: &mut Flow, now: Instant) {
    loop {
        let decrease = control
            .decrease_interval
            .map_or(Instant::NEVER, |_| flow.next_decrease);
        let next = flow.next_alpha.min(decrease).min(flow.next_increase);
        if next >= now {
            return;
        }
        if next == flow.next_alpha {
            control.step_alpha(flow);
            flow.next_alpha += control.alpha_interval;
        } else if next == decrease {
            if flow.decrease_notified {
                control.decrease(flow, next);
            }
            flow.next_decrease += control.decrease_interval.unwrap();
        } else {
            flow.next_increase += control.increase_interval;
            if (flow.rate, flow.target) != (flow.line, flow.line) {
                control.increase(flow);
                flow.time_stage += 1;
            }
        }
    }
}

#[test]
fn catching_up_is_the_same_as_ticking() {
    let mut stream = Stream::new(1, "dcqcn", "ticks");
    for case in 0..200 {
        let preset = Preset::ALL[stream.below(4) as usize];
        let interval = |us: u64| Time::from_ps(us * US / 4);
        let control = with(preset, |own| {
            own.alpha_interval = interval(1 + stream.below(40));
            own.increase_interval = interval(1 + stream.below(200));
            if own.decrease_interval.is_some() {
                own.decrease_interval = Some(interval(1 + stream.below(40)));
            }
        });
        let mut lazy = first(&control, 400 * GBPS, Instant::from_ps(7));
        let mut ticked = lazy;
        let mut now = 7;
        for _ in 0..300 {
            now += match stream.below(3) {
                // Often at the same instant as a tick.
                0 => stream.below(40) * US / 4,
                1 => stream.below(US),
                _ => stream.below(2000 * US),
            };
            tick_by_tick(&control.reaction, &mut ticked, Instant::from_ps(now));
            if stream.below(2) == 0 {
                notify(&control, &mut ticked, Instant::from_ps(now));
                notify(&control, &mut lazy, Instant::from_ps(now));
            } else {
                control.rate(&mut lazy, Instant::from_ps(now));
                control.sent(&mut lazy, 4158);
                control.sent(&mut ticked, 4158);
            }
            assert_eq!(lazy, ticked, "case {case}, {preset:?}, at {now}");
        }
    }
}

#[test]
fn a_cut_takes_as_long_to_recover_from_as_its_timers_say() {
    let line = |preset: Preset, gbps: u64| {
        let cut = preset.of_both().recovery(Rate::from_gbps(gbps));
        cut.expect("it recovers")
    };
    // As in the closed form above: 4 us, and 38 times 300 us.
    let cut = line(Preset::Nvidia, 400);
    assert_eq!(cut.line_after, Time::from_us(11_404));
    assert_eq!(cut.nearly_after, Time::from_us(904));
    assert!((0.5..0.52).contains(&cut.share), "{}", cut.share);
    // The paper's falls at once, by half.
    let cut = line(Preset::Paper2015, 40);
    assert!((cut.share - 0.5).abs() < 1e-9);
    assert_eq!(cut.nearly_after, Time::from_us(3 * 55));
    assert!(
        Preset::Tester
            .of_both()
            .recovery(Rate::from_gbps(400))
            .is_none()
    );
}
