//! Imports fabrics from other programs' files, and exports them.

use std::fmt::Write as _;
use std::path::Path;

use crate::resolve::{Format, read_document};
use tenter_formats::fabric::{FabricReading, FabricText};
use tenter_formats::{Form, Source, infragraph, nccl_topo, netbox, ns3_topology, topo};
use tenter_language::units::Budget;

use crate::operations::quoted;
use crate::other_format::other_format;
use crate::scenario::open_named;
use crate::{Error, Plan};

/// File format of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricFormat {
    /// `InfraGraph` 3 infrastructures, YAML or JSON.
    InfraGraph,
    /// NCCL topology files, which describe one server; import only.
    NcclTopo,
    /// Topology files for ns-3 HPCC and its descendants.
    Ns3Topology,
    /// `NetBox` cables as CSV; import only.
    NetBox,
    /// Fat trees of htsim.
    Topo,
}

impl FabricFormat {
    /// Lists the settings that an import in this format takes.
    fn settings(self) -> &'static [&'static str] {
        match self {
            FabricFormat::InfraGraph => &["hosts", "switches", "rate", "delay", "annotations"],
            FabricFormat::NcclTopo => &["servers", "rate"],
            FabricFormat::NetBox => &[
                "hosts",
                "switches",
                "rate",
                "host_rate",
                "delay",
                "devices",
                "interfaces",
            ],
            FabricFormat::Ns3Topology | FabricFormat::Topo => &[],
        }
    }

    fn name(self) -> &'static str {
        match self {
            FabricFormat::InfraGraph => "infragraph",
            FabricFormat::NcclTopo => "nccl-topo",
            FabricFormat::Ns3Topology => "ns3-topology",
            FabricFormat::NetBox => "netbox",
            FabricFormat::Topo => "topo",
        }
    }

    /// Parses settings, each `KEY=VALUE`.
    fn reading(self, settings: &[String]) -> Result<FabricReading, Error> {
        // An empty document would be null in YAML, and not a mapping without keys.
        let mut text = String::from("{}\n");
        if !settings.is_empty() {
            text.clear();
        }
        for setting in settings {
            let known = self.settings();
            let Some((key, value)) = setting.split_once('=') else {
                let message = format!("the setting `{setting}` has no value; give `KEY=VALUE`");
                return Err(Error::Asked(message));
            };
            if !known.contains(&key.trim()) {
                let name = self.name();
                let takes = match known {
                    [] => "it takes none".to_owned(),
                    known => format!("give one of `{}`", known.join("`, `")),
                };
                let message = format!("`{name}` has no setting `{key}`; {takes}");
                return Err(Error::Asked(message));
            }
            let _ = writeln!(text, "{key}: {}", quoted_word(value));
        }
        Ok(read_document(&text, "the import", Format::Yaml)?)
    }
}

/// Returns the value as it is, or quoted if YAML might read it as something else.
fn quoted_word(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"./_-+".contains(&byte);
    if value.bytes().all(is_plain) {
        value.to_owned()
    } else {
        quoted(value)
    }
}

/// Reads a fabric, or a server, as scenario sections. `settings`, each `KEY=VALUE`, give what the
/// format lacks, such as rates and delays; what is read is taken from `budget`.
///
/// # Errors
/// When the format has no such setting, a file cannot be read, or a file violates the format (the
/// first violation is reported).
pub fn import_fabric(
    format: FabricFormat,
    file: &Path,
    settings: &[String],
    budget: &Budget,
) -> Result<FabricText, Error> {
    let reading = format.reading(settings)?;
    let bytes = |file: &Path| {
        let wrong = |what: String| {
            let shown = file.display();
            Error::Asked(format!("cannot read {shown}: {what}"))
        };
        let opened = open_named(file).map_err(|what| wrong(format!("{what}; check the path")))?;
        opened.whole(Form::Text, budget).map_err(wrong)
    };
    let (name, content) = (file.display().to_string(), bytes(file)?);
    let source = Source {
        name: &name,
        bytes: &content,
    };
    let further = |named: &Option<String>| {
        let named = named.as_ref();
        let read = named.map(|named| Ok::<_, Error>((named.clone(), bytes(Path::new(named))?)));
        read.transpose()
    };
    let annotations = further(&reading.annotations)?;
    let devices = further(&reading.devices)?;
    let interfaces = further(&reading.interfaces)?;
    let read = match format {
        FabricFormat::InfraGraph => {
            infragraph::read(source, of(annotations.as_ref()), &reading, budget)
        }
        FabricFormat::NcclTopo => nccl_topo::read(source, &reading, budget),
        FabricFormat::Ns3Topology => ns3_topology::read(source, budget),
        FabricFormat::NetBox => {
            let files = netbox::Files {
                cables: source,
                devices: of(devices.as_ref()),
                interfaces: of(interfaces.as_ref()),
            };
            netbox::read(files, &reading, budget)
        }
        FabricFormat::Topo => topo::read(source, budget),
    };
    read.map_err(|error| {
        let mut error = error;
        if let Some(hint) = other_format(file, format.name()) {
            error.remedy = hint;
        }
        Error::Asked(error.to_string())
    })
}

fn of(file: Option<&(String, Vec<u8>)>) -> Option<Source<'_>> {
    file.map(|(name, bytes)| Source { name, bytes })
}

/// Writes a plan's fabric in the given format; returns the text and notes on what it leaves out.
/// `as_json` picks JSON for formats that are YAML or JSON.
///
/// # Errors
/// When the format cannot express the fabric, or can only be imported.
pub fn export_fabric(
    plan: &Plan,
    format: FabricFormat,
    as_json: bool,
) -> Result<(String, Vec<String>), Error> {
    let plan = plan.resolved();
    let topology = &plan.topology;
    let written = match format {
        FabricFormat::InfraGraph => {
            let host = infragraph::Server {
                npus_per_nic: plan.npus_per_nic,
                scale_up: plan.scale_up,
            };
            let written = infragraph::write(topology, host, &plan.name, as_json);
            written.map(|(text, notes)| (text, with_losses(plan, notes.into_iter())))
        }
        FabricFormat::Ns3Topology => {
            let written = ns3_topology::write(topology, &|sender| {
                let mut entries = plan.impairments.iter();
                let found = entries.find(|entry| entry.sender == sender);
                found.map_or(0, |entry| entry.frame_loss)
            });
            written.map(|(text, mut notes)| {
                let others = plan.impairments.iter();
                let others = others.filter(|of| of.bit_errors > 0 || !of.rules.is_empty());
                if others.count() > 0 {
                    notes.push("bit errors and rules of testers are left out".to_owned());
                }
                if !topology.routes.is_empty() {
                    notes.push("static routes are left out".to_owned());
                }
                notes.extend(without_servers(plan));
                (text, notes)
            })
        }
        FabricFormat::Topo => topo::write(topology).map(|(text, notes)| {
            let notes = notes.into_iter().chain(without_servers(plan));
            (text, with_losses(plan, notes))
        }),
        FabricFormat::NcclTopo | FabricFormat::NetBox => Err(format!(
            "`{}` is only read; choose another format",
            format.name()
        )),
    };
    written.map_err(Error::Asked)
}

/// Notes that the file describes no parts within servers, if the plan has any.
fn without_servers(plan: &tenter_sim::plan::Plan) -> Option<String> {
    let any = plan.scale_up.is_some() || plan.npus_per_nic > 1;
    any.then(|| "scale-up domains and NPUs of NICs are left out".to_owned())
}

/// Appends a note that the file describes no lost frames, if the plan has any.
fn with_losses(plan: &tenter_sim::plan::Plan, notes: impl Iterator<Item = String>) -> Vec<String> {
    let any = !plan.impairments.is_empty();
    let left = any.then(|| "impairments are left out".to_owned());
    notes.chain(left).collect()
}
