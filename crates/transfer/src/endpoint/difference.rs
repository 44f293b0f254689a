//! The differences between two endpoints.

use std::fmt;

use bytes::Bytes;

use base::schema::CfDef;
use base::util::hex;
use base::util::output::print_line;

/// The number of differences that are printed.
const SHOWN_MAX: u64 = 20;

/// The kinds of differences of a cell or tombstone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DifferenceKind {
    /// The target lacks a cell or tombstone of the source.
    OnlyInSource,
    /// The source lacks a cell or tombstone of the target.
    OnlyInTarget,
    /// Both have the cell, with different values.
    Value,
    /// Both have the cell, with different timestamps.
    Timestamp,
    /// The cell expires at different times, or only at one endpoint.
    Expiry,
    /// Both have the tombstone, with different times.
    Deletion,
}

impl fmt::Display for DifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DifferenceKind::OnlyInSource => "only in the source",
            DifferenceKind::OnlyInTarget => "only in the target",
            DifferenceKind::Value => "another value",
            DifferenceKind::Timestamp => "another timestamp",
            DifferenceKind::Expiry => "another time to live",
            DifferenceKind::Deletion => "another time of deletion",
        })
    }
}

/// A difference and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub key: Bytes,
    pub super_column: Option<Bytes>,
    /// `None` for the tombstone of a row, of a super column, or of a range.
    pub column: Option<Bytes>,
    pub kind: DifferenceKind,
}

/// Counts the differences of a comparison and prints the first ones.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    /// All differences, also those that were not printed.
    pub count: u64,
}

impl Differences {
    /// Counts differences of a column family, and prints those among the first `SHOWN_MAX`.
    pub(crate) fn add_all(&mut self, cf: &CfDef, differences: &[Difference]) {
        differences.iter().for_each(|difference| self.add(cf, difference));
    }

    /// Counts a difference, and prints it if it is among the first `SHOWN_MAX`. `cf` tells how its names are shown.
    pub(crate) fn add(&mut self, cf: &CfDef, difference: &Difference) {
        self.count += 1;
        if self.count <= SHOWN_MAX {
            print_line!("{}", text_of(cf, difference));
        } else if self.count == SHOWN_MAX + 1 {
            print_line!("further differences are counted, but not printed");
        }
    }
}

fn text_of(cf: &CfDef, difference: &Difference) -> String {
    let mut place = format!("{}.{} row {}", cf.keyspace, cf.name, key_text(cf, &difference.key));
    if let Some(name) = &difference.super_column {
        place += &format!(" super column {}", cf.comparator.to_text(name));
    }
    let comparator = match cf.subcomparator() {
        Some(subcomparator) => subcomparator,
        None => &cf.comparator,
    };
    match &difference.column {
        Some(name) => place += &format!(" column {}", comparator.to_text(name)),
        None => place += " tombstone",
    }
    format!("{place}: {}", difference.kind)
}

fn key_text(cf: &CfDef, key: &[u8]) -> String {
    match (&cf.key_validator, std::str::from_utf8(key)) {
        (Some(validator), _) => validator.to_text(key),
        (None, Ok(text)) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => format!("0x{}", hex(key)),
    }
}
