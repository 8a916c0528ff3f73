//! Signals by which NICs of each transport inform a congestion control, and which a control needs.

/// A transport on which congestion controls run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// `RoCEv2` reliable connections.
    Roce,
    /// Connections of Ultra Ethernet.
    UltraEthernet,
}

/// Something that a NIC tells a control, or does for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Acknowledgements say whether packets were marked.
    Mark,
    /// Receivers notify senders of marks in packets of their own, at most once in a time.
    Notification,
    /// Acknowledgements give the round-trip time.
    Delay,
    /// Acknowledgements return what switches wrote into the packet.
    Telemetry,
    /// The NIC spaces packets at a rate.
    Rate,
    /// Receivers report packets that a switch has trimmed.
    Trim,
    /// Receivers grant credit.
    Grant,
    /// The transport has a key for the window of a new connection.
    FirstWindow,
}

impl Signal {
    /// Returns what a NIC without it lacks.
    fn name(self) -> &'static str {
        match self {
            Signal::Mark => "acknowledgements that say what was marked",
            Signal::Notification => "congestion notification packets",
            Signal::Delay => "round-trip times",
            Signal::Telemetry => "in-band telemetry",
            Signal::Rate => "rates by which they space packets",
            Signal::Trim => "reports of trimmed packets",
            Signal::Grant => "credit from receivers",
            Signal::FirstWindow => "a window for new connections",
        }
    }
}

impl On {
    /// Returns what NICs of the transport tell.
    pub(crate) const fn tells(self) -> &'static [Signal] {
        match self {
            On::Roce => &[
                Signal::Mark,
                Signal::Notification,
                Signal::Delay,
                Signal::Telemetry,
                Signal::Rate,
            ],
            On::UltraEthernet => &[
                Signal::Mark,
                Signal::Delay,
                Signal::Trim,
                Signal::Grant,
                Signal::FirstWindow,
            ],
        }
    }

    fn word(self) -> &'static str {
        match self {
            On::Roce => "roce",
            On::UltraEthernet => "ultra-ethernet",
        }
    }
}

/// A line in the list of controls.
pub(crate) struct Line {
    /// The control's name in scenarios.
    pub(crate) word: &'static str,
    /// Transports on which it runs.
    pub(crate) on: &'static [On],
    /// Signals that it needs of NICs.
    pub(crate) needs: &'static [Signal],
}

/// Returns why `word` is refused on a transport, and the remedy, if it names one of `controls` that
/// runs on another transport.
pub(crate) fn elsewhere(controls: &[Line], word: &str, on: On) -> Option<(String, String)> {
    let line = controls.iter().find(|line| line.word == word)?;
    if line.on.contains(&on) {
        return None;
    }
    let lacks = line.needs.iter().find(|need| !on.tells().contains(need))?;
    let what = format!(
        "cannot be `{word}`: NICs with `transport: {}` have no {}",
        on.word(),
        lacks.name()
    );
    let here = controls.iter().filter(|line| line.on.contains(&on));
    let here: Vec<String> = here.map(|line| format!("`{}`", line.word)).collect();
    let other = match line.on.first()? {
        On::Roce => format!("`transport: roce` and `congestion_control: {word}` beside it"),
        On::UltraEthernet => {
            format!("`transport: {{kind: ultra-ethernet, congestion_control: {word}}}`")
        }
    };
    Some((what, format!("set {other}, or choose {}", here.join(", "))))
}
