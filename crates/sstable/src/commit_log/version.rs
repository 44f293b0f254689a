//! The versions of commit logs, as the names of files and their beginnings show them.
//!
//! ```text
//!   CommitLog-<id>.log             0.4 to 0.6, with a header in front of the records; 0.7 to 1.1 without one
//!   CommitLog-<version>-<id>.log   2 is 1.2, 3 is 2.0, 4 is 2.1, 5 is 2.2, 6 is 3.0 to 3.11, 7 is 4.0 and 4.1, 8 is 5.0
//! ```

use std::path::Path;

use super::super::error::SstableError;
use super::super::input::Input;

/// The start of a serialized Java object, with which the header of 0.4 to 0.6 begins.
const JAVA_OBJECT: u32 = 0xaced_0005;

/// The versions of commit logs, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LogVersion {
    /// 0.4: the file has a header, and the records have no checksums. Only the records show the difference to the next one.
    Unchecked,
    /// 0.5 and 0.6: the file has a header.
    Headed,
    /// 0.7 to 1.1.
    Bare,
    /// 1.2.
    Two,
    /// 2.0.
    Three,
    /// 2.1: the file has sections.
    Four,
    /// 2.2: sections may be compressed.
    Five,
    /// 3.0 to 3.11: mutations have the form of the new storage engine.
    Six,
    /// 4.0 and 4.1, and 5.0 as long as it is compatible with them (`storage_compatibility_mode`).
    Seven,
    /// 5.0: times of deletion are unsigned.
    Eight,
}

impl LogVersion {
    /// Returns the version and the id of a file.
    pub(super) fn of(path: &Path, input: &mut Input) -> Result<(LogVersion, i64), SstableError> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let numbers = name.strip_prefix("CommitLog-").and_then(|name| name.strip_suffix(".log"));
        let numbers: Vec<&str> = numbers.unwrap_or_default().split('-').collect();
        let version = match numbers[..] {
            [_] if has_header(input)? => Some(LogVersion::Headed),
            [_] => Some(LogVersion::Bare),
            ["2", _] => Some(LogVersion::Two),
            ["3", _] => Some(LogVersion::Three),
            ["4", _] => Some(LogVersion::Four),
            ["5", _] => Some(LogVersion::Five),
            ["6", _] => Some(LogVersion::Six),
            ["7", _] => Some(LogVersion::Seven),
            ["8", _] => Some(LogVersion::Eight),
            _ => None,
        };
        let id = numbers.last().and_then(|id| id.parse().ok());
        version.zip(id).ok_or_else(|| {
            SstableError::unsupported(path, "not named like a commit log of Cassandra 0.4 to 5.0")
        })
    }

    /// Returns the number of the version, which headers have from 2.1 on.
    pub(super) fn number(self) -> u32 {
        match self {
            LogVersion::Unchecked | LogVersion::Headed | LogVersion::Bare => 1,
            LogVersion::Two => 2,
            LogVersion::Three => 3,
            LogVersion::Four => 4,
            LogVersion::Five => 5,
            LogVersion::Six => 6,
            LogVersion::Seven => 7,
            LogVersion::Eight => 8,
        }
    }

    /// Whether the records of a file are in sections.
    pub(super) fn has_sections(self) -> bool {
        self >= LogVersion::Four
    }
}

fn has_header(input: &mut Input) -> Result<bool, SstableError> {
    if input.length() < 16 {
        return Ok(false);
    }
    let (length, object) = (input.u64()?, input.u32()?);
    let is_header = object == JAVA_OBJECT && length < input.length();
    input.seek(0)?;
    Ok(is_header)
}
