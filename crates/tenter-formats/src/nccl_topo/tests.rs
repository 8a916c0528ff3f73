use tenter_language::units::{Budget, Rate};

use super::*;
use crate::error::{ImportError, Place};
use crate::fabric::{FabricReading, FabricText};
use crate::imported::Source;

/// Four GPUs in pairs on a PCIe switch with a NIC each, all on `NVSwitch`es, and a NIC for storage.
const SERVER: &str = r#"<system version="1">
  <cpu numaid="0">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">7
      <pci busid="0000:11:00.0" class="0x030200">
        <gpu dev="0" sm="90"><nvlink target="0000:c1:00.0" count="9" tclass="0x068000"/><nvlink target="0000:c2:00.0" count="9" tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:12:00.0" class="0x030200">
        <gpu dev="1" sm="90"><nvlink target="0000:c1:00.0" count="18" tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:13:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_0" dev="0" speed="400000" port="1"/></nic>
      </pci>
    </pci>
    <pci busid="0000:1f:00.0" class="0x020000"><nic><net name="eth0" speed="100000"/></nic></pci>
  </cpu>
  <cpu numaid="1">
    <pci busid="0000:20:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:23:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_1" dev="1" speed="400000" port="1"/></nic>
      </pci>
      <pci busid="0000:21:00.0" class="0x030200">
        <gpu dev="2" sm="90"><nvlink target="0000:c1:00.0" count="18" tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:22:00.0" class="0x030200">
        <gpu dev="3" sm="90"><nvlink target="0000:c1:00.0" count="18" tclass="0x068000"/></gpu>
      </pci>
    </pci>
  </cpu>
</system>
"#;

fn reading(servers: Option<u32>) -> FabricReading {
    FabricReading {
        servers,
        ..FabricReading::default()
    }
}

fn import(text: &str, servers: Option<u32>) -> Result<FabricText, ImportError> {
    let bytes = text.as_bytes();
    read(
        Source { name: "t", bytes },
        &reading(servers),
        &Budget::unlimited(),
    )
}

#[test]
fn servers_have_their_nics_and_domains() {
    let read = import(SERVER, Some(4)).expect("it is a server");
    // 18 links of 20.6 GB/s.
    for line in [
        "servers: 4",
        "nics_per_server: 2",
        "host_rate: 400Gbps",
        "npus_per_nic: 2",
        "scale_up: {npus_per_host: 4, rate: 2966400Mbps}",
        "pcie: {generation: 4, lanes: 16}",
    ] {
        let other = line
            .replace("2966400Mbps", "2966.4Gbps")
            .replace("2966.4Gbps", "2.9664Tbps");
        assert!(
            read.yaml.contains(line) || read.yaml.contains(&other),
            "{line}\n{}",
            read.yaml
        );
    }
    let says = |what: &str| read.notes.iter().any(|note| note.contains(what));
    assert!(
        says("mlx5_0 of GPU 0, 1; mlx5_1 of GPU 2, 3"),
        "{:?}",
        read.notes
    );
    assert!(
        says("eth0 are nearest to no GPU") && says("slot of the slowest"),
        "{:?}",
        read.notes
    );
    let alone = import(SERVER, None).expect("it is a server");
    assert!(!alone.yaml.contains("fabric:"), "{}", alone.yaml);
}

#[test]
fn what_is_not_in_a_file_is_said() {
    let without = SERVER
        .replace("nvlink", "other")
        .replace(r#" speed="400000""#, "");
    let read = import(&without, None).expect("it is a server");
    assert!(
        read.yaml.contains("scale_up: {npus_per_host: 4}"),
        "{}",
        read.yaml
    );
    assert!(
        read.notes
            .iter()
            .any(|note| note.contains("no NVLinks are in it"))
    );
    let error = import(&without, Some(2)).expect_err("there is no rate");
    assert!(
        error.to_string().contains("`--set rate=400Gbps`"),
        "{error}"
    );
    let of_rate = FabricReading {
        rate: Some(Rate::from_gbps(200)),
        ..reading(Some(2))
    };
    let bytes = without.as_bytes();
    let read = read::read(Source { name: "t", bytes }, &of_rate, &Budget::unlimited())
        .expect("it is a server");
    assert!(read.yaml.contains("host_rate: 200Gbps"), "{}", read.yaml);
    // Pairs of GPUs that are joined with each other.
    let pairs = SERVER.replace("tclass=\"0x068000\"", "tclass=\"0x030200\"");
    let pairs = pairs.replace("0000:c1:00.0", "0000:12:00.0").replacen(
        "0000:12:00.0\" count=\"18",
        "0000:11:00.0\" count=\"18",
        1,
    );
    let (head, tail) = pairs.split_at(pairs.find("numaid=\"1\"").expect("it is there"));
    let pairs = format!(
        "{head}{}",
        tail.replace("target=\"0000:12:00.0\"", "target=\"0000:21:00.0\"")
    );
    let pairs = pairs.replacen("0000:21:00.0\" count", "0000:22:00.0\" count", 1);
    let read = import(&pairs, None).expect("it is a server");
    assert!(read.yaml.contains("npus_per_host: 2"), "{}", read.yaml);
}

#[test]
fn what_is_no_server_is_refused_with_its_line() {
    for (from, to, line, what) in [
        ("<system", "<graphs", 31, "no XML"),
        ("</cpu>\n</system>", "</cpu>\n</sys>", 31, "no XML"),
        (
            "<system version",
            "\n<!DOCTYPE a>\n<system version",
            2,
            "no XML",
        ),
    ] {
        let error = import(&SERVER.replacen(from, to, 1), None).expect_err(to);
        assert!(error.what.contains(what), "{to}: {error}");
        assert!(
            matches!(error.place, Place::Line(at) if at.abs_diff(line) <= 2),
            "{to}: {error}"
        );
    }
    for (text, what) in [
        ("<graphs version='1'/>", "this is a graph file of NCCL"),
        ("<graph version='1'/>", "the root is `graph`"),
        ("<system version='1'><cpu/></system>", "there are 0 GPUs"),
    ] {
        let error = import(text, None).expect_err(what);
        assert!(error.what.contains(what), "{error}");
        assert_eq!(error.place, Place::Line(1), "{error}");
    }
    for end in (0..SERVER.len()).filter(|end| SERVER.is_char_boundary(*end)) {
        let _ = import(&SERVER[..end], None);
    }
}
