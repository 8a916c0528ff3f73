//! Arguments of `tenter trials`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::{OutputFormat, TextFormat};

#[derive(Debug, Args)]
pub(crate) struct Trials {
    #[command(subcommand)]
    pub(crate) command: TrialsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrialsCommand {
    /// List the trials of a workspace, the newest first
    List(TrialsList),
    /// Print the results, the tags and the note of a trial
    Show {
        #[command(flatten)]
        of: TrialOf,
        /// Format of standard output
        #[arg(long, value_enum, default_value_t = TextFormat::Text)]
        format: TextFormat,
    },
    /// Add tags to a trial, or remove some
    Tag {
        #[command(flatten)]
        of: TrialOf,
        /// Tags to add
        #[arg(value_name = "TAG")]
        tags: Vec<String>,
        /// A tag to remove; may be repeated
        #[arg(long, value_name = "TAG")]
        remove: Vec<String>,
    },
    /// Replace the note of a trial, or print it
    Note {
        #[command(flatten)]
        of: TrialOf,
        /// The note in Markdown, `-` for standard input; without it the note is printed
        #[arg(value_name = "TEXT")]
        text: Option<String>,
    },
    /// Remove trials with their folders
    Rm {
        /// Numbers or names of trials
        #[arg(required = true, value_name = "TRIAL")]
        trials: Vec<String>,
        #[command(flatten)]
        workspace: WorkspaceFolder,
    },
    /// Compare the files of all trials with the checksums that were written with them
    Check {
        #[command(flatten)]
        workspace: WorkspaceFolder,
        /// Format of standard output
        #[arg(long, value_enum, default_value_t = TextFormat::Text)]
        format: TextFormat,
    },
    /// Replace a damaged or missing ledger by its copy, and find trials in their folders
    Repair {
        #[command(flatten)]
        workspace: WorkspaceFolder,
    },
    /// Write the list with tags and notes, for other programs
    Export {
        #[command(flatten)]
        list: TrialsList,
        /// File to write; standard output unless given
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// Which trials, and how they are shown.
#[derive(Debug, Args)]
pub(crate) struct TrialsList {
    #[command(flatten)]
    pub(crate) workspace: WorkspaceFolder,
    /// A text that name, note, fabric, collective, digest or a tag has
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) search: String,
    /// A tag that they have
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// State of the trials: queued, running, done, incomplete, failed, cancelled or interrupted
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
}

/// One trial of a workspace.
#[derive(Debug, Args)]
pub(crate) struct TrialOf {
    /// Number or name of the trial
    #[arg(value_name = "TRIAL")]
    pub(crate) trial: String,
    #[command(flatten)]
    pub(crate) workspace: WorkspaceFolder,
}

/// The folder of a workspace.
#[derive(Debug, Args)]
pub(crate) struct WorkspaceFolder {
    /// Folder of the workspace
    #[arg(
        short = 'w',
        long = "workspace",
        value_name = "FOLDER",
        default_value = "trials"
    )]
    pub(crate) folder: PathBuf,
}

impl Trials {
    pub(crate) fn wants_json(&self) -> bool {
        match &self.command {
            TrialsCommand::List(list) | TrialsCommand::Export { list, .. } => {
                list.format == OutputFormat::Json
            }
            TrialsCommand::Show { format, .. } | TrialsCommand::Check { format, .. } => {
                *format == TextFormat::Json
            }
            _ => false,
        }
    }
}
