//! The mistakes that only a YAML file can have.

use crate::xml_reader::{FILE_BYTES_MAX, NESTING_MAX};

/// Why a file is not valid YAML, uses YAML that is not supported, or has a setting of the wrong shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum YamlMistake {
    #[error("the file is empty")]
    Empty,
    #[error("the file has more than {FILE_BYTES_MAX} bytes")]
    TooLarge,
    #[error("{0}")]
    Syntax(String),
    #[error("a tab in the indentation of a line")]
    Tab,
    #[error("the file has no settings, but {found}")]
    NoSettings { found: &'static str },
    #[error("an alias is not supported")]
    Alias,
    #[error("a second YAML document")]
    SecondDocument,
    #[error("the name of a setting is not a single value")]
    KeyOfValues,
    #[error("settings are nested more than {NESTING_MAX} deep")]
    TooDeep,
    #[error("{key} must be {wanted}, and is {found}")]
    WrongShape { key: String, wanted: &'static str, found: &'static str },
    #[error("{what} has no {key}")]
    Missing { what: &'static str, key: &'static str },
    #[error(
        "Batch sync specified, but commitlog_sync_period_in_ms found. Only specify commitlog_sync_batch_window_in_ms when using batch sync"
    )]
    PeriodWithBatch,
    #[error(
        "commitlog_sync_period_in_ms specified, but commitlog_sync_batch_window_in_ms found.  Only specify commitlog_sync_period_in_ms when using periodic sync."
    )]
    WindowWithPeriodic,
    #[error(
        "compare_subcolumns_with is only valid for super column families, and {name} has column_type Standard"
    )]
    SubcomparatorOnStandard { name: String },
}

impl YamlMistake {
    /// Returns the advice for the mistake.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            YamlMistake::Empty | YamlMistake::NoSettings { .. } => {
                "a setting is a line like cluster_name: 'Test Cluster'"
            }
            YamlMistake::TooLarge => "is this really a cassandra.yaml?",
            YamlMistake::Tab => "YAML does not allow it: indent lines with spaces",
            YamlMistake::Alias => "write the value itself instead of *name",
            YamlMistake::SecondDocument => {
                "remove the line --- and the settings after it, or the settings before it"
            }
            YamlMistake::KeyOfValues => "write NAME: VALUE",
            YamlMistake::WrongShape { key, wanted, .. } if *wanted == LIST => {
                return Some(format!("write {key}:\n    - VALUE"));
            }
            YamlMistake::WrongShape { key, wanted, .. } if *wanted == MAP => {
                return Some(format!("write {key}:\n    NAME: VALUE"));
            }
            YamlMistake::WrongShape { key, .. } => return Some(format!("write {key}: VALUE")),
            YamlMistake::Missing { key, .. } => return Some(format!("write {key}: VALUE in it")),
            YamlMistake::PeriodWithBatch => {
                "remove this setting, or set commitlog_sync to periodic to use it"
            }
            YamlMistake::WindowWithPeriodic => {
                "remove this setting, or set commitlog_sync to batch to use it"
            }
            YamlMistake::SubcomparatorOnStandard { .. } => "remove it, or write column_type: Super",
            YamlMistake::Syntax(_) | YamlMistake::TooDeep => return None,
        };
        Some(help.to_owned())
    }
}

/// The shapes of values, in words for messages.
pub(crate) const SCALAR: &str = "a single value";
pub(crate) const LIST: &str = "a list";
pub(crate) const MAP: &str = "a mapping";
