use proptest::prelude::*;

use crate::units::{Bytes, Rate, Time, UnitError};

fn time(text: &str) -> Result<u64, UnitError> {
    text.parse().map(Time::ps)
}
fn rate(text: &str) -> Result<u64, UnitError> {
    text.parse().map(Rate::bits_per_second)
}
fn bytes(text: &str) -> Result<u64, UnitError> {
    text.parse().map(Bytes::count)
}
fn message<T: std::fmt::Debug>(read: Result<T, UnitError>) -> String {
    read.unwrap_err().to_string()
}

#[test]
fn reads_times_exactly() {
    for (text, ps) in [
        ("12ps", 12),
        ("800ns", 800_000),
        ("5us", 5_000_000),
        ("5\u{b5}s", 5_000_000),
        ("5\u{3bc}s", 5_000_000),
        ("1.5ms", 1_500_000_000),
        (" 2 s ", 2_000_000_000_000),
        ("0.1us", 100_000),
        ("0.0010ns", 1),
        ("18446744.073709551615s", u64::MAX),
        ("0s", 0),
    ] {
        assert_eq!(time(text), Ok(ps), "{text}");
    }
}

#[test]
fn reads_rates_and_sizes() {
    assert_eq!(rate("400Gbps"), Ok(400_000_000_000));
    assert_eq!(rate("1.6Tbps"), Ok(1_600_000_000_000));
    assert_eq!(rate("10Mbps"), Ok(10_000_000));
    assert_eq!(rate("100kbps"), Ok(100_000));
    assert_eq!(rate("7bps"), Ok(7));
    assert_eq!(bytes("64B"), Ok(64));
    assert_eq!(bytes("3kB"), Ok(3_000));
    assert_eq!(bytes("3KB"), Ok(3_000));
    assert_eq!(bytes("128KiB"), Ok(131_072));
    assert_eq!(bytes("512MB"), Ok(512_000_000));
    assert_eq!(bytes("8GiB"), Ok(8_589_934_592));
    assert_eq!(bytes("1.5KiB"), Ok(1_536));
    // 2⁻⁴⁰ has forty decimals, and all of them count.
    assert_eq!(
        bytes("0.0000000000009094947017729282379150390625TiB"),
        Ok(1)
    );
}

#[test]
fn a_bare_number_is_told_which_unit_fits() {
    assert_eq!(
        message(rate("400")),
        "`400` has no unit; write for example `400Gbps`"
    );
    assert_eq!(
        message(time("1.5")),
        "`1.5` has no unit; write for example `1.5us`"
    );
    assert_eq!(
        message(bytes("0")),
        "`0` has no unit; write for example `0B`"
    );
}

#[test]
fn rates_are_read_as_they_are_displayed() {
    for text in ["400Gbps", "400 Gb/s", "400Gbit/s", "0.4 Tb/s"] {
        assert_eq!(rate(text), Ok(400_000_000_000), "{text}");
    }
}

#[test]
fn an_unknown_unit_gets_a_suggestion() {
    assert_eq!(
        message(rate("400gbps")),
        "`400gbps`: `gbps` is not a unit of rate; did you mean `400Gbps`?"
    );
    for (text, near) in [
        ("40 Gpbs", "`40Gbps`"),
        ("40gb/s", "`40Gbps`"),
        ("4gbit/s", "`4Gbps`"),
    ] {
        assert!(
            message(rate(text)).contains(near),
            "{text}: {}",
            message(rate(text))
        );
    }
    assert!(message(bytes("512mb")).contains("`512MB`"));
    assert!(message(bytes("1kib")).contains("`1KiB`"));
    assert!(message(time("5Us")).contains("`5us`"));
    assert_eq!(
        message(time("5parsec")),
        "`5parsec`: `parsec` is not a unit of time; use one of ps, ns, us, ms, s"
    );
}

#[test]
fn a_unit_of_another_dimension_says_so() {
    assert_eq!(
        message(rate("5us")),
        "`5us` is a time, but a rate is wanted here; write for example `400Gbps`"
    );
    assert!(message(time("64KiB")).contains("is a size, but a time is wanted"));
    assert!(message(bytes("1Gbps")).contains("is a rate, but a size is wanted"));
    assert!(message(bytes("1GB/s")).contains("is a rate, but a size is wanted"));
    assert_eq!(
        message(rate("50GB/s")),
        "`50GB/s` counts bytes per second, but a rate is in bits per second; write `400Gbps`"
    );
    assert!(message(rate("50GBps")).contains("write `400Gbps`"));
}

#[test]
fn refuses_fractions_negatives_and_overflow() {
    assert_eq!(
        message(time("0.5ps")),
        "`0.5ps` is not a whole number of picoseconds; write for example `1ps`"
    );
    assert!(message(time("0.0001ns")).contains("whole number of picoseconds"));
    assert!(message(rate("0.3bps")).contains("whole number of bits per second"));
    assert!(message(bytes("1.5B")).contains("write for example `2B`"));
    assert!(matches!(time("-5us"), Err(UnitError::Negative { .. })));
    assert_eq!(
        message(time("18446745s")),
        "`18446745s` is too large; a time is at most `18446744.073709551615s`"
    );
    assert!(matches!(
        bytes("99999999999999999999999B"),
        Err(UnitError::TooLarge { .. })
    ));
    assert!(matches!(
        rate("18446744073709551615.5bps"),
        Err(UnitError::TooLarge { .. })
    ));
}

#[test]
fn refuses_what_is_no_number() {
    for text in ["", "us", ".5us", "5.us", "1,000ns", "5%", "+5us", "0x10B"] {
        assert!(time(text).is_err(), "{text}");
    }
    assert_eq!(
        message(time("fast")),
        "`fast` is not a time: a number followed by a unit; write for example `5us`"
    );
}

#[test]
fn prints_what_a_person_would_write() {
    for text in ["0s", "12ps", "800ns", "1.5ms", "100ns", "83.56ns", "213s"] {
        assert_eq!(text.parse::<Time>().unwrap().to_string(), text);
    }
    for text in ["0bps", "400Gbps", "1.6Tbps", "10Mbps", "100kbps"] {
        assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
    }
    for text in [
        "0B", "64B", "1536B", "4KiB", "128KiB", "512MB", "8GiB", "2129152B", "3kB",
    ] {
        assert_eq!(text.parse::<Bytes>().unwrap().to_string(), text);
    }
    assert_eq!(format!("{:>6}", Time::from_us(5)), "   5us");
}

proptest! {
    #[test]
    fn printing_reads_back(count: u64, zeros in 0_u32..20) {
        let count = count / 10_u64.pow(zeros.min(19)) * 10_u64.pow(zeros % 7);
        prop_assert_eq!(time(&Time::from_ps(count).to_string()), Ok(count));
        prop_assert_eq!(rate(&Rate::from_bits_per_second(count).to_string()), Ok(count));
        prop_assert_eq!(bytes(&Bytes::new(count).to_string()), Ok(count));
        let binary = (count >> 44) << (zeros % 41);
        prop_assert_eq!(bytes(&Bytes::new(binary).to_string()), Ok(binary));
    }

    #[test]
    fn reading_never_panics(text in "[-+]?[0-9]{0,25}[.]?[0-9]{0,25} ?[A-Za-zµ/%]{0,6}") {
        let _ = (time(&text), rate(&text), bytes(&text));
    }
}
