//! The machine a measurement belongs to, in one line.

use std::fs;
use std::process::Command;

/// Processor, cores, operating system and compiler, as far as they can be told.
pub(crate) fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let system = field("/etc/os-release", "PRETTY_NAME").unwrap_or_default();
    let system = if system.is_empty() {
        std::env::consts::OS.to_owned()
    } else {
        system
    };
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "processor".to_owned());
    format!(
        "{processor} ({}), {cores} cores, {system}, {}",
        std::env::consts::ARCH,
        compiler()
    )
}

/// The value behind the first `name =` or `name :` of a file.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let (_, value) = line.split_once(['=', ':'])?;
    Some(value.trim().trim_matches('"').to_owned())
}

fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => "an unknown rustc".to_owned(),
    }
}
