//! The macro that makes the controls of each transport from one list.

/// Declares the list of congestion controls. A line has the control's word, its variant, the type
/// of its keys, the transports that it runs on and the signals that it needs.
macro_rules! controls {
    ($(
        $(#[doc = $about:literal])+
        $word:literal => $name:ident($spec:ident) on [$($on:ident),+] needs [$($need:ident),+],
    )+) => {
        /// All controls, with what they need.
        pub(crate) const CONTROLS: &[Line] = &[$(Line {
            word: $word,
            on: &[$(On::$on),+],
            needs: &[$(Signal::$need),+],
        }),+];

        controls!(@sort [] [] $([$(#[doc = $about])+ $word => $name($spec),] [$($on)+])+);
    };
    // Sorts the lines by the transports that they name.
    (@sort [$($roce:tt)*] [$($uet:tt)*] [$($line:tt)+] [Roce] $($rest:tt)*) => {
        controls!(@sort [$($roce)* $($line)+] [$($uet)*] $($rest)*);
    };
    (@sort [$($roce:tt)*] [$($uet:tt)*] [$($line:tt)+] [UltraEthernet] $($rest:tt)*) => {
        controls!(@sort [$($roce)*] [$($uet)* $($line)+] $($rest)*);
    };
    (@sort [$($roce:tt)*] [$($uet:tt)*] [$($line:tt)+] [Roce UltraEthernet] $($rest:tt)*) => {
        controls!(@sort [$($roce)* $($line)+] [$($uet)* $($line)+] $($rest)*);
    };
    (@sort [$($roce:tt)*] [$($uet:tt)*]) => {
        controls!(@roce $($roce)*);
        controls!(@uet $($uet)*);
    };
    (@roce $($(#[doc = $about:literal])+ $word:literal => $name:ident($spec:ident),)+) => {
        variants! {
            /// The congestion control of all NICs of a trial.
            pub enum CongestionControl as "`endpoint.nic.congestion_control`, written as a mapping",
            derive(Clone, Debug, PartialEq, Eq),
            or word of "`endpoint.nic.congestion_control`",
            except(|word| elsewhere(CONTROLS, word, On::Roce)) {
                /// Which congestion control; the other keys belong to it.
                kind;
                $($(#[doc = $about])+ $word => $name($spec),)+
            }
        }

        impl CongestionControl {
            /// Returns false if senders ignore notifications. Receivers send them all the same.
            pub fn reacts(&self) -> bool {
                match self {
                    $(CongestionControl::$name(control) => control.reacts(),)+
                }
            }

            /// Returns the acknowledgements that the control requires from receivers.
            pub(crate) fn answers(&self) -> Answers {
                match self {
                    $(CongestionControl::$name(control) => control.answers(),)+
                }
            }

            /// Returns how receivers report marked packets, or `None` if the control ignores marks.
            pub fn notification(&self) -> Option<NotificationSpec> {
                match self {
                    $(CongestionControl::$name(control) => control.notification(),)+
                }
            }

            /// Returns true if the control uses the longest round trip of the unloaded fabric.
            pub fn uses_round_trip(&self) -> bool {
                match self {
                    $(CongestionControl::$name(control) => control.uses_round_trip(),)+
                }
            }

            /// Returns the number of telemetry hops for which data packets reserve room, or `None`
            /// without telemetry.
            pub fn telemetry_hops(&self) -> Option<u8> {
                match self {
                    $(CongestionControl::$name(control) => control.telemetry_hops(),)+
                }
            }

            /// Returns the frame bytes that telemetry adds to each data packet and to its answer.
            pub fn telemetry_bytes(&self) -> u32 {
                match self {
                    $(CongestionControl::$name(control) => control.telemetry_bytes(),)+
                }
            }
        }

        /// The congestion control of one NIC, with the state of its limited queue pairs.
        // One enum around the tables, not one in each flow: a NIC has a single control, so each
        // call takes one branch and flows stay as small as their member's state.
        #[derive(Clone, Debug)]
        pub(crate) enum Congestion {
            $($name(Table<$spec>),)+
        }

        /// Evaluates one expression for the table of whichever member is in use.
        macro_rules! on_table {
            ($congestion:expr, $table:ident => $do:expr) => {
                match $congestion {
                    $(Congestion::$name($table) => $do,)+
                }
            };
        }

        impl Congestion {
            /// Creates the state for a NIC with `slots` send queue pairs.
            pub(crate) fn new(
                control: &CongestionControl,
                link: &Link,
                slots: usize,
            ) -> Congestion {
                match control {
                    $(CongestionControl::$name(control) => {
                        Congestion::$name(Table::new(*control, link, slots))
                    })+
                }
            }
        }
    };
    (@uet $($(#[doc = $about:literal])+ $word:literal => $name:ident($spec:ident),)+) => {
        variants! {
            /// The congestion control of all connections of a trial.
            pub enum UetControl as "`endpoint.nic.transport.congestion_control`, written as a mapping",
            derive(Clone, Copy, Debug, PartialEq, Eq),
            or word of "`endpoint.nic.transport.congestion_control`",
            except(|word| elsewhere(CONTROLS, word, On::UltraEthernet)) {
                /// Which congestion control; the other keys belong to it.
                kind;
                $($(#[doc = $about])+ $word => $name($spec),)+
            }
        }

        /// The state of one connection, by member.
        // A connection holds its state itself: it is at hand wherever the connection is.
        #[derive(Clone, Debug)]
        pub(crate) enum Flow {
            $($name(<$spec as Control>::Flow),)+
        }

        /// Evaluates one expression for a control and the state of one of its connections.
        macro_rules! on_flow {
            ($control:expr, $flow:expr, ($own:ident, $state:ident) => $do:expr) => {
                match ($control, $flow) {
                    $((UetControl::$name($own), Flow::$name($state)) => $do,)+
                    _ => unreachable!("a connection's state is made by its control"),
                }
            };
        }

        impl UetControl {
            /// Returns the rules for credit, if receivers grant any.
            pub(crate) fn credit(&self, link: &Link) -> Option<CreditRules> {
                match self {
                    $(UetControl::$name(control) => control.credit(link),)+
                }
            }

            /// Returns the control for a NIC on a link.
            pub(crate) fn on_link(self, link: &Link) -> UetControl {
                match self {
                    $(UetControl::$name(control) => UetControl::$name(control.on_link(link)),)+
                }
            }

            /// Creates the state for a new connection, if the control limits senders by more than
            /// credit.
            pub(crate) fn start(&self, link: &Link) -> Option<Flow> {
                match self {
                    $(UetControl::$name(control) => <$spec as Control>::FROM_START
                        .then(|| Flow::$name(control.start(link, Instant::START))),)+
                }
            }
        }
    };
}

pub(super) use controls;
