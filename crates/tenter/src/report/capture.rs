//! Writes `capture.pcapng`: captured frames for Wireshark and other capture readers.

mod headers;
mod pcapng;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tenter_results::{Capture, CapturedFrame, CapturedPort, FrameContent};

use crate::report::TrialError;
use pcapng::{Interface, Kept};

/// FCS length in bytes; captures leave the FCS out.
const FCS_BYTES: u16 = 4;

/// Writes captured frames to the file `path`.
pub(crate) fn write_capture(path: &Path, capture: &Capture) -> Result<(), TrialError> {
    let write = || {
        let mut out = BufWriter::new(File::create(path)?);
        write(&mut out, capture)?;
        out.flush()
    };
    write().map_err(TrialError::io("write", path))
}

/// Writes a section header, a description for each port, and a block for each frame.
fn write(out: &mut impl Write, capture: &Capture) -> io::Result<()> {
    out.write_all(&pcapng::section(concat!(
        "Tenter ",
        env!("CARGO_PKG_VERSION")
    )))?;
    for port in &capture.ports {
        out.write_all(&described(port, capture.snap_bytes))?;
    }
    for frame in &capture.frames {
        out.write_all(&kept(frame, capture.snap_bytes))?;
    }
    Ok(())
}

fn described(port: &CapturedPort, snap_bytes: u32) -> Vec<u8> {
    pcapng::interface(&Interface {
        name: &port.name,
        description: &format!("{} of a simulation, to {}", port.name, port.peer),
        address: port.address,
        bits_per_second: port.bits_per_second,
        snap_bytes,
    })
}

fn kept(frame: &CapturedFrame, snap_bytes: u32) -> Vec<u8> {
    let original_bytes = u32::from(frame.frame_bytes.saturating_sub(FCS_BYTES));
    let mut bytes = headers::bytes(frame, original_bytes as usize);
    // The whole frame is made first: its ICRC covers bytes that are cut off here.
    bytes.truncate(snap_bytes as usize);
    pcapng::packet(&Kept {
        interface: frame.port,
        at: frame.at.ps(),
        bytes: &bytes,
        original_bytes,
        is_outbound: frame.is_outbound,
        comment: match &frame.content {
            FrameContent::Other(words) => Some(words),
            FrameContent::Roce(packet) => packet.remark.as_deref(),
            FrameContent::Pause { .. } => None,
        },
    })
}
