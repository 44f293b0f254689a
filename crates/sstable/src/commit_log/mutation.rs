//! The mutation in a record: the changes of one row.
//!
//! ```text
//!   0.4          keyspace | key | count | families:  name | type | comparator | subcomparator | deletion | columns
//!   0.5, 0.6     keyspace | key | count | families:  name | name | type | comparator | subcomparator | deletion | columns
//!   0.7 to 1.1   keyspace | key | count | families:  number (4) | 1 | number (4) | deletion | columns
//!   1.2          keyspace | key | count | families:  1 | id (16) | deletion | ranges | columns
//!   2.0 to 2.2   key | count | families:  1 | id (16) | deletion | ranges | columns
//!   3.0 to 5.0   count | families:  id (16) | changes of a partition, as `modern::update` describes them
//! ```
//!
//! Names and keys up to 0.6 are texts. Columns are a count and columns as in SSTables; in a super column family up to
//! 1.2 they are super columns:  name | deletion | count | columns. 0.7 may write zeros behind a mutation.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::super::atom::{Atom, read_deletion};
use super::super::error::SstableError;
use super::super::format::{Format, format_of};
use super::super::input::Input;
use super::super::modern::{LogTable, Update, UpdateForms, read_update};
use super::super::old::{in_super_columns, read_column};
use super::version::LogVersion;
use base::model::{DeletionTime, RangeTombstone};

/// Stands for the path in errors, which the reader of the file adds.
const RECORD: &str = "a record of a commit log";

/// Most unknown column families of a mutation for which the reader tries whether they have super columns.
const UNKNOWN_MAX: usize = 4;

/// A column family as a commit log names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LogFamily {
    /// By its names (0.4 to 0.6).
    Named {
        /// The keyspace.
        keyspace: String,
        /// The column family.
        name: String,
    },
    /// By its number in the schema of the keyspace's cluster (0.7 to 1.1).
    Numbered {
        /// The keyspace.
        keyspace: String,
        /// The number, which the schema has.
        number: i32,
    },
    /// By its id (1.2 and later).
    Id([u8; 16]),
}

/// Changes of a row in one column family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRow {
    /// The column family.
    pub family: LogFamily,
    /// The row's key.
    pub key: Bytes,
    /// The deletion of the whole row; `LIVE` if there is none.
    pub deletion: DeletionTime,
    /// The other changes.
    pub atoms: Vec<Atom>,
}

/// Finds the definition of a column family in the schema.
pub(super) type FindTable<'f> = dyn Fn(&LogFamily) -> Option<Arc<LogTable>> + 'f;

/// Decodes the mutation of a record. Of a mutation of 3.x only the column family is returned if it is not known. Up to 2.2 a
/// column family that is not known can have super columns or not: one of both readings ends where the record ends.
pub(super) fn decode(
    record: &Bytes,
    version: LogVersion,
    tables: &FindTable<'_>,
) -> Result<Vec<LogRow>, SstableError> {
    if version >= LogVersion::Six {
        return decode_modern(record, tables, version >= LogVersion::Eight);
    }
    let letters = match version {
        LogVersion::Unchecked | LogVersion::Headed => "",
        LogVersion::Bare => "hf",
        LogVersion::Two => "ic",
        LogVersion::Three => "jb",
        _ => "ka",
    };
    let input = Input::of_memory(Path::new(RECORD), record.to_vec());
    let format = format_of(letters).ok_or_else(|| input.damaged("of no known release"))?;
    decode_old(record, format, version, tables)
}

/// Reads the mutation with each combination of column families with and without super columns among those that are not known.
fn decode_old(
    record: &Bytes,
    format: Format,
    version: LogVersion,
    tables: &FindTable<'_>,
) -> Result<Vec<LogRow>, SstableError> {
    let unknown: RefCell<Vec<LogFamily>> = RefCell::default();
    let read = |supers: u32| {
        let is_super = |family: &LogFamily| match tables(family) {
            Some(table) => table.is_super(),
            None => {
                let mut unknown = unknown.borrow_mut();
                let at = unknown.iter().position(|known| known == family).unwrap_or_else(|| {
                    unknown.push(family.clone());
                    unknown.len() - 1
                });
                at < UNKNOWN_MAX && supers >> at & 1 == 1
            }
        };
        let input = Input::of_memory(Path::new(RECORD), record.to_vec());
        let mut mutation = MutationReader { input, format, version };
        let rows = mutation.rows(&is_super)?;
        Ok((rows, mutation.is_over()?))
    };
    let plain = read(0);
    let mut supers = 1;
    while !matches!(plain, Ok((_, true))) && supers < 1 << unknown.borrow().len().min(UNKNOWN_MAX) {
        if let Ok((rows, true)) = read(supers) {
            return Ok(rows);
        }
        supers += 1;
    }
    plain.map(|(rows, _)| rows)
}

/// Whether a record is a mutation of 0.4 from its beginning to its end.
pub(super) fn is_mutation_of_0_4(record: &Bytes) -> bool {
    let input = Input::of_memory(Path::new(RECORD), record.to_vec());
    let Some(format) = format_of("") else { return false };
    let mut mutation = MutationReader { input, format, version: LogVersion::Unchecked };
    mutation.rows(&|_| false).is_ok_and(|rows| !rows.is_empty()) && mutation.input.remaining() == 0
}

/// 3.0 freezes all user types, and the schema does not always show it. Only one of both readings ends where the record ends.
fn decode_modern(
    record: &Bytes,
    tables: &FindTable<'_>,
    has_unsigned_times: bool,
) -> Result<Vec<LogRow>, SstableError> {
    let forms = UpdateForms { freezes_user_types: false, has_unsigned_times };
    let has_user_types = Cell::new(false);
    let seen = |family: &LogFamily| {
        let table = tables(family)?;
        has_user_types.set(has_user_types.get() || table.has_user_types());
        Some(table)
    };
    match read_modern(record, &seen, forms) {
        Err(SstableError::Damaged(damage)) if has_user_types.get() => {
            let forms = UpdateForms { freezes_user_types: true, ..forms };
            read_modern(record, tables, forms).map_err(|_| SstableError::Damaged(damage))
        }
        read => read,
    }
}

fn read_modern(
    record: &Bytes,
    tables: &FindTable<'_>,
    forms: UpdateForms,
) -> Result<Vec<LogRow>, SstableError> {
    let mut input = Input::of_memory(Path::new(RECORD), record.to_vec());
    let mut rows = Vec::new();
    for _ in 0..input.vint()? {
        let family = LogFamily::Id(input.bytes(16)?.as_ref().try_into().unwrap_or_default());
        let Some(table) = tables(&family) else {
            // Without the types the rest cannot be read. The server leaves such a mutation out as a whole, too.
            let (key, deletion, atoms) = (Bytes::new(), DeletionTime::LIVE, Vec::new());
            return Ok(vec![LogRow { family, key, deletion, atoms }]);
        };
        let (Update { key, deletion, atoms }, rest) = read_update(input, &table, forms)?;
        input = rest;
        rows.push(LogRow { family, key, deletion, atoms });
    }
    match input.remaining() {
        0 => Ok(rows),
        more => Err(input.damaged(format!("{more} bytes follow the mutation"))),
    }
}

/// A mutation that is read.
struct MutationReader {
    input: Input,
    format: Format,
    version: LogVersion,
}

impl MutationReader {
    /// Whether nothing but zeros follows: 0.7 writes its whole buffer.
    fn is_over(&mut self) -> Result<bool, SstableError> {
        let rest = self.input.remaining();
        Ok(self.input.bytes(rest)?.iter().all(|byte| *byte == 0))
    }

    fn rows(&mut self, is_super: &dyn Fn(&LogFamily) -> bool) -> Result<Vec<LogRow>, SstableError> {
        let keyspace = if self.version <= LogVersion::Two { self.input.utf()? } else { String::new() };
        let key = match self.version {
            LogVersion::Unchecked | LogVersion::Headed => Bytes::from(self.input.utf()?),
            _ => self.input.short_bytes()?,
        };
        let mut rows = Vec::new();
        for _ in 0..self.count()? {
            let (family, has_supers) = match self.version {
                LogVersion::Unchecked | LogVersion::Headed => self.named(&keyspace)?,
                LogVersion::Bare => {
                    let _again = self.input.i32()?;
                    if self.input.u8()? == 0 {
                        continue;
                    }
                    let number = self.input.i32()?;
                    let family = LogFamily::Numbered { keyspace: keyspace.clone(), number };
                    let has_supers = is_super(&family);
                    (family, has_supers)
                }
                _ => {
                    if self.input.u8()? == 0 {
                        continue;
                    }
                    let id = self.input.bytes(16)?;
                    let family = LogFamily::Id(id.as_ref().try_into().unwrap_or_default());
                    let has_supers = is_super(&family);
                    (family, has_supers)
                }
            };
            let deletion = read_deletion(&mut self.input)?;
            let mut atoms = Vec::new();
            if self.version >= LogVersion::Two {
                self.ranges(&mut atoms)?;
            }
            self.columns(has_supers, &mut atoms)?;
            rows.push(LogRow { family, key: key.clone(), deletion, atoms });
        }
        Ok(rows)
    }

    fn named(&mut self, keyspace: &str) -> Result<(LogFamily, bool), SstableError> {
        if self.version > LogVersion::Unchecked {
            let _again = self.input.utf()?;
        }
        let name = self.input.utf()?;
        let kind = self.input.utf()?;
        let (_comparator, _subcomparator) = (self.input.utf()?, self.input.utf()?);
        Ok((LogFamily::Named { keyspace: keyspace.to_owned(), name }, kind == "Super"))
    }

    fn count(&mut self) -> Result<i32, SstableError> {
        match self.input.i32()? {
            count @ 0.. => Ok(count),
            count => Err(self.input.damaged(format!("a count of {count}"))),
        }
    }

    fn ranges(&mut self, atoms: &mut Vec<Atom>) -> Result<(), SstableError> {
        for _ in 0..self.count()? {
            let (start, finish) = (self.input.short_bytes()?, self.input.short_bytes()?);
            let deletion = read_deletion(&mut self.input)?;
            atoms.push(Atom::Range(RangeTombstone { super_column: None, start, finish, deletion }));
        }
        Ok(())
    }

    fn columns(&mut self, has_supers: bool, atoms: &mut Vec<Atom>) -> Result<(), SstableError> {
        let splits = has_supers && self.version >= LogVersion::Three;
        if splits {
            for atom in atoms.iter_mut() {
                let split = in_super_columns(atom.clone()).map_err(|why| self.input.damaged(why))?;
                *atom = split;
            }
        }
        for _ in 0..self.count()? {
            let name = self.input.short_bytes()?;
            if has_supers && !splits {
                self.super_column(name, atoms)?;
                continue;
            }
            let atom = read_column(&mut self.input, &self.format, name, None)?;
            atoms.push(match splits {
                true => in_super_columns(atom).map_err(|why| self.input.damaged(why))?,
                false => atom,
            });
        }
        Ok(())
    }

    fn super_column(&mut self, name: Bytes, atoms: &mut Vec<Atom>) -> Result<(), SstableError> {
        let deletion = read_deletion(&mut self.input)?;
        if deletion.is_deleted() {
            atoms.push(Atom::SuperDeletion { name: name.clone(), deletion });
        }
        for _ in 0..self.count()? {
            let own = self.input.short_bytes()?;
            atoms.push(read_column(&mut self.input, &self.format, own, Some(name.clone()))?);
        }
        Ok(())
    }
}
