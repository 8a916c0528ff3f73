use tenter_language::units::{Budget, Rate};

use super::*;
use crate::error::{ImportError, Place};
use crate::fabric::{FabricReading, FabricText};
use crate::imported::Source;

/// As the list of cables is exported, with some columns that mean nothing here.
const VIEW: &str = "ID,Label,Termination A,Device A,Termination B,Device B,Status,Type,Length\n\
    1,,eth0,gpu-2,Ethernet2,leaf-1,Connected,DAC,5 m\n\
    2,,eth0,gpu-10,Ethernet3,leaf-1,Connected,DAC,5 m\n\
    3,,Ethernet9,leaf-1,Ethernet1,spine-1,Planned,SMF,0.1 km\n\
    4,,Ethernet1,leaf-2,Ethernet2,spine-1,Connected,SMF,\n\
    5,,eth0,gpu-11,Ethernet1,leaf-2,Decommissioning,DAC,5 m\n\
    6,,eth0,gpu-12,Ethernet3,leaf-2,Connected,DAC,5 m\n";
/// As cables are imported.
const FORM: &str = "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,length,length_unit,rate\n\
    h0,dcim.interface,p0,sw,dcim.interface,1,3,m,400Gbps\n\
    h1,dcim.interface,p0,sw,dcim.interface,2,3,m,100Gbps\n\
    pdu,dcim.poweroutlet,1,sw,dcim.powerport,2,,,\n";
const INTERFACES: &str = "Device,Name,Type,Speed (Kbps)\n\
    gpu-2,eth0,QSFP-DD (400GE),\ngpu-10,eth0,400gbase-x-qsfpdd,\ngpu-12,eth0,Other,200000000\n\
    leaf-1,Ethernet2,QSFP-DD (400GE),\nleaf-1,Ethernet3,QSFP28 (100GE),\nleaf-1,Ethernet9,OSFP (800GE),\n\
    leaf-2,Ethernet1,OSFP (800GE),\n";

fn further<'a>(name: &'a str, text: &'a str) -> Option<Source<'a>> {
    let bytes = text.as_bytes();
    (!text.is_empty()).then_some(Source { name, bytes })
}

fn import(
    [cables, devices, interfaces]: [&str; 3],
    reading: &FabricReading,
) -> Result<FabricText, ImportError> {
    let files = Files {
        cables: Source {
            name: "cables",
            bytes: cables.as_bytes(),
        },
        devices: further("devices", devices),
        interfaces: further("interfaces", interfaces),
    };
    read(files, reading, &Budget::unlimited())
}

#[test]
fn exported_cables_have_the_rates_of_their_interfaces() {
    let read = import([VIEW, "", INTERFACES], &FabricReading::default()).expect("it is a fabric");
    for line in [
        "- {name: gpu-2}\n    - {name: gpu-10}\n    - {name: gpu-12}\n",
        "- {name: spine-1, kind: switch, tier: 1}",
        "- {a: gpu-2, b: leaf-1, rate: 400Gbps, delay: 25ns}",
        "- {a: gpu-10, b: leaf-1, rate: 100Gbps, delay: 25ns}",
        "- {a: leaf-1, b: spine-1, rate: 800Gbps, delay: 500ns}",
        "- {a: leaf-2, b: spine-1, rate: 800Gbps, delay: 200ns}",
        "- {a: gpu-12, b: leaf-2, rate: 200Gbps, delay: 25ns}",
    ] {
        assert!(read.yaml.contains(line), "{line}\n{}", read.yaml);
    }
    let says = |what: &str| read.notes.iter().any(|note| note.contains(what));
    assert!(says("only planned") && says("decommissioned") && says("lower rate"));
}

#[test]
fn hosts_are_told_by_patterns_and_roles() {
    let error = import([FORM, "", ""], &FabricReading::default()).expect_err("h0 may be anything");
    assert!(error.what.contains("whether `h0`"), "{error}");
    assert_eq!(error.place, Place::Line(2));
    let patterns = FabricReading {
        hosts: Some("h*".to_owned()),
        switches: Some("sw".to_owned()),
        ..FabricReading::default()
    };
    let read = import([FORM, "", ""], &patterns).expect("it is a fabric");
    assert!(
        read.yaml
            .contains("- {a: h1, b: sw, rate: 100Gbps, delay: 15ns}"),
        "{}",
        read.yaml
    );
    assert!(
        read.notes
            .iter()
            .any(|note| note.contains("1 cable(s) that do not join"))
    );
    let roles = "Name,Role\nh0,GPU Server\nh1,GPU Server\nsw,ToR switch\n";
    let by_role = import([FORM, roles, ""], &FabricReading::default()).expect("it is a fabric");
    assert_eq!(by_role.yaml, read.yaml);
    let several = FORM.replace("h1,dcim.interface,p0", "h0,dcim.interface,p1");
    let read = import([&several, roles, ""], &FabricReading::default()).expect("it is a fabric");
    assert!(
        read.yaml.contains("- {name: h0/p0}\n    - {name: h0/p1}\n"),
        "{}",
        read.yaml
    );
}

#[test]
fn rates_are_told_by_types() {
    for (kind, gbps) in [
        ("1.6tbase-cr8", 1_600),
        ("800gbase-x-osfp", 800),
        ("SFP28 (25GE)", 25),
        ("10gbase-t", 10),
        ("1000base-t", 1),
        ("QSFP-DD (400GE)", 400),
    ] {
        assert_eq!(
            interfaces::rate(kind),
            Some(Rate::from_gbps(gbps)),
            "{kind}"
        );
    }
    for kind in ["", "lag", "infiniband-ndr", "QSFP28", "802.11ax"] {
        assert_eq!(interfaces::rate(kind), None, "{kind}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let error = import([VIEW, "", ""], &FabricReading::default()).expect_err("there are no rates");
    assert!(
        error.to_string().contains("`--set rate=400Gbps`"),
        "{error}"
    );
    assert_eq!(error.place, Place::Line(2), "{error}");
    let numbers = "termination_a_type,termination_a_id,termination_b_type,termination_b_id\n\
        dcim.interface,875,dcim.interface,11617\n";
    let error =
        import([numbers, "", ""], &FabricReading::default()).expect_err("there are only numbers");
    assert!(error.remedy.contains("current view"), "{error}");
    for (from, to, line, what) in [
        ("Ethernet3,leaf-1", "Ethernet2,leaf-1", 3, "has two cables"),
        ("0.1 km", "0.1 parsec", 4, "no unit of length"),
        ("0.1 km", "far", 4, "is no length"),
        ("eth0,gpu-2", ",gpu-2", 2, "no interface"),
        ("eth0,gpu-2", "\"eth0,eth1\",gpu-2", 2, "several interfaces"),
        ("Device B", "Gadget B", 1, "no column `device_b`"),
        (
            "4,,Ethernet1,leaf-2",
            "4,,Ethernet1,leaf-3",
            7,
            "no cables lead",
        ),
    ] {
        let error = import(
            [&VIEW.replacen(from, to, 1), "", INTERFACES],
            &FabricReading {
                rate: Some(Rate::from_gbps(100)),
                ..FabricReading::default()
            },
        );
        let error = error.expect_err(to);
        assert!(error.what.contains(what), "{to}: {error}");
        assert_eq!(error.place, Place::Line(line), "{to}: {error}");
    }
    for end in 0..VIEW.len() {
        let _ = import([&VIEW[..end], "", INTERFACES], &FabricReading::default());
    }
}
