//! The rows of a Data file of 0.4 to 2.2.
//!
//! ```text
//!   row            key | size | Bloom filter, index of columns | deletion | count | columns     up to 1.1
//!                  key | size | deletion | count | columns                                      1.2
//!                  key | deletion | columns | empty name                                        2.0 to 2.2
//!   super column   name | deletion | count | columns                                            up to 1.2
//! ```
//!
//! A file does not say whether its columns are super columns. Up to 1.2 the sizes of rows show it: only one of the two
//! readings ends where the row ends.

use bytes::Bytes;

use super::super::atom::{Atom, Unit, read_deletion};
use super::super::error::SstableError;
use super::super::format::{Format, RowSize};
use super::super::input::Input;
use super::super::key_order::KeyReader;
use super::column::read_column;
use base::model::DeletionTime;

/// So many units of a row that can be read in one way show that it is the right one: a row can have millions.
const UNITS_THAT_DECIDE: u64 = 10_000;

/// Reads the rows of a file, one unit at a time.
#[derive(Debug)]
pub(in super::super) struct OldRows {
    input: Input,
    format: Format,
    keys: KeyReader,
    /// Whether columns are super columns in the file.
    has_supers: bool,
    row: Option<OpenOldRow>,
}

/// The row that is being read.
#[derive(Debug)]
struct OpenOldRow {
    key: Bytes,
    /// Where the row ends, if the file has its size.
    end: Option<u64>,
    /// Columns that are not yet read, if the file has their number.
    columns_left: Option<i32>,
    super_column: Option<OpenSuper>,
}

/// The super column that is being read.
#[derive(Debug)]
struct OpenSuper {
    name: Bytes,
    columns_left: i32,
}

impl OldRows {
    /// Returns the rows from the position of the input on. Reads rows ahead to find out whether they have super columns,
    /// if `has_supers` is `None`.
    pub(crate) fn new(
        input: Input,
        format: Format,
        keys: KeyReader,
        has_supers: Option<bool>,
    ) -> Result<OldRows, SstableError> {
        let mut rows = OldRows { input, format, keys, has_supers: false, row: None };
        if format.has_super_columns {
            rows.has_supers = match has_supers {
                Some(known) => known,
                None => rows.find_supers()?,
            };
        }
        Ok(rows)
    }

    /// Moves to the start of a row.
    pub(crate) fn seek(&mut self, position: u64) -> Result<(), SstableError> {
        self.row = None;
        self.input.seek(position)
    }

    /// Returns the content of the file.
    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    /// Returns the content of the file. Reading from it ends the present row: see [`OldRows::seek`].
    pub(crate) fn input_mut(&mut self) -> &mut Input {
        &mut self.input
    }

    /// Reads the key of the row at the position of the input.
    pub(crate) fn read_key(&mut self) -> Result<Bytes, SstableError> {
        self.keys.read(&mut self.input)
    }

    /// Returns the next unit. `None` at the end of the file.
    pub(crate) fn next_unit(&mut self) -> Result<Option<Unit>, SstableError> {
        match self.row.take() {
            None => self.begin_row(),
            Some(mut row) => {
                let read = self.in_row(&mut row).map_err(|error| error.in_row(&row.key));
                if !matches!(read, Ok(Unit::EndOfRow) | Err(_)) {
                    self.row = Some(row);
                }
                read.map(Some)
            }
        }
    }

    fn begin_row(&mut self) -> Result<Option<Unit>, SstableError> {
        if self.input.remaining() == 0 {
            return Ok(None);
        }
        let key = self.read_key()?;
        let started = self.read_head(&key).map_err(|error| error.in_row(&key))?;
        Ok(Some(Unit::Row { key, deletion: started }))
    }

    /// Reads the data between the key and the columns.
    fn read_head(&mut self, row_key: &Bytes) -> Result<DeletionTime, SstableError> {
        let end = match self.read_size()? {
            None => None,
            Some(size) => match u64::try_from(size) {
                Ok(size) if size <= self.input.remaining() => Some(self.input.position() + size),
                _ => {
                    let why = format!("a row of {size} bytes, and {} follow", self.input.remaining());
                    return Err(self.input.damaged(why));
                }
            },
        };
        if self.format.has_row_index {
            // The Bloom filter and the index of columns, each after its length.
            for _ in 0..2 {
                let length = self.input.i32()?;
                let length = u64::try_from(length)
                    .map_err(|_| self.input.damaged(format!("an index of {length} bytes in a row")))?;
                self.input.skip(length)?;
            }
        }
        let deletion = read_deletion(&mut self.input)?;
        let columns_left = match self.format.row_size {
            RowSize::Absent => None,
            _ => Some(self.count()?),
        };
        self.row = Some(OpenOldRow { key: row_key.clone(), end, columns_left, super_column: None });
        Ok(deletion)
    }

    /// Reads the size of a row, if the file has it.
    fn read_size(&mut self) -> Result<Option<i64>, SstableError> {
        Ok(match self.format.row_size {
            RowSize::Int => Some(self.input.i32()?.into()),
            RowSize::Long => Some(self.input.i64()?),
            RowSize::Absent => None,
        })
    }

    fn count(&mut self) -> Result<i32, SstableError> {
        match self.input.i32()? {
            count @ 0.. => Ok(count),
            count => Err(self.input.damaged(format!("{count} columns"))),
        }
    }

    fn in_row(&mut self, row: &mut OpenOldRow) -> Result<Unit, SstableError> {
        if row.end.is_some_and(|end| self.input.position() > end) {
            return Err(self.input.damaged("the columns are longer than the row"));
        }
        if let Some(open) = &mut row.super_column {
            if open.columns_left > 0 {
                open.columns_left -= 1;
                let name = self.name()?;
                let holder = Some(open.name.clone());
                return read_column(&mut self.input, &self.format, name, holder).map(Unit::Atom);
            }
            row.super_column = None;
        }
        loop {
            let Some(name) = self.next_name(row)? else { return Ok(Unit::EndOfRow) };
            if !self.has_supers {
                return read_column(&mut self.input, &self.format, name, None).map(Unit::Atom);
            }
            let deletion = read_deletion(&mut self.input)?;
            let columns_left = self.count()?;
            row.super_column = Some(OpenSuper { name: name.clone(), columns_left });
            if deletion.is_deleted() {
                return Ok(Unit::Atom(Atom::SuperDeletion { name, deletion }));
            }
            if columns_left > 0 {
                return self.in_row(row);
            }
        }
    }

    /// Reads the name of the next column of the row. `None` at the end of the row, which is checked.
    fn next_name(&mut self, row: &mut OpenOldRow) -> Result<Option<Bytes>, SstableError> {
        match &mut row.columns_left {
            None => {
                let name = self.input.short_bytes()?;
                Ok(Some(name).filter(|name| !name.is_empty()))
            }
            Some(0) => {
                if let Some(end) = row.end {
                    self.check_row_end(end)?;
                }
                Ok(None)
            }
            Some(left) => {
                *left -= 1;
                self.name().map(Some)
            }
        }
    }

    /// Checks that a row whose columns end here has no more bytes, but for the padding that its format can have.
    fn check_row_end(&mut self, end: u64) -> Result<(), SstableError> {
        let position = self.input.position();
        let more = end.checked_sub(position);
        if more == Some(0) {
            return Ok(());
        }
        // A column that was not read would have a name.
        if let Some(more) = more.filter(|_| self.format.has_padded_rows())
            && self.input.bytes(more)?.iter().all(|byte| *byte == 0)
        {
            return Ok(());
        }
        let why = format!("the columns end at {position}, and the row ends at {end}");
        Err(self.input.damaged(why))
    }

    fn name(&mut self) -> Result<Bytes, SstableError> {
        let name = self.input.short_bytes()?;
        if name.is_empty() {
            return Err(self.input.damaged("a column without a name"));
        }
        Ok(name)
    }

    /// Returns whether the columns of the file are super columns: reads rows in both ways until only one of them is
    /// possible.
    fn find_supers(&mut self) -> Result<bool, SstableError> {
        let start = self.input.position();
        let mut is_super = false;
        while self.input.remaining() > 0 {
            let position = self.input.position();
            let as_supers = self.reads_row(position, true);
            let as_columns = self.reads_row(position, false);
            let end = self.input.position();
            match (as_columns, as_supers) {
                (false, true) => {
                    is_super = true;
                    break;
                }
                // A row without columns can be read in both ways.
                (true, true) if self.row.is_none() => self.input.seek(end)?,
                (true, true) => break,
                (true, false) => break,
                // A damaged row is reported when it is read. The next one may show it.
                (false, false) => match self.end_of_row(position).filter(|end| *end > position) {
                    Some(end) => self.seek(end)?,
                    None => break,
                },
            }
        }
        self.has_supers = false;
        self.seek(start)?;
        Ok(is_super)
    }

    /// Reads the row at a position in one of the two ways, and returns whether it can be read.
    fn reads_row(&mut self, position: u64, has_supers: bool) -> bool {
        self.has_supers = has_supers;
        if self.seek(position).is_err() {
            return false;
        }
        for _ in 0..UNITS_THAT_DECIDE {
            match self.next_unit() {
                Ok(Some(Unit::EndOfRow)) => return true,
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return false,
            }
        }
        true
    }

    /// Returns where the row ends that begins at a position, if the file has its size.
    pub(crate) fn end_of_row(&mut self, position: u64) -> Option<u64> {
        self.seek(position).ok()?;
        self.read_key().ok()?;
        let size = u64::try_from(self.read_size().ok()??).ok()?;
        let end = self.input.position().checked_add(size)?;
        Some(end).filter(|end| *end <= self.input.length())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::format::format_of;

    /// Reads a row of the key `k`, with the column `a` and bytes behind it. Returns the units of the row.
    fn read(letters: &str, behind: &[u8]) -> Result<Vec<Unit>, SstableError> {
        let head = [&[0; 8][..], &i32::MIN.to_be_bytes(), &i64::MIN.to_be_bytes()].concat();
        let column = [&[0, 0, 0, 1, 0, 1, b'a', 0][..], &5_i64.to_be_bytes(), &[0, 0, 0, 1, b'v']].concat();
        let row = [&head, &column, behind].concat();
        let size = u32::try_from(row.len()).unwrap().to_be_bytes();
        let content = [&[0, 1, b'k'][..], &size, &row].concat();
        let input = Input::of_memory(Path::new("memory"), content);
        let format = format_of(letters).unwrap();
        let mut rows = OldRows::new(input, format, KeyReader::new(format.keys), None)?;
        let mut units = Vec::new();
        while let Some(unit) = rows.next_unit()? {
            units.push(unit);
        }
        Ok(units)
    }

    #[test]
    fn zeros_follow_the_columns_of_a_beta() {
        let whole = read("b", &[]).unwrap();
        assert_eq!(whole.len(), 3);
        assert_eq!(read("b", &[0; 22]).unwrap(), whole);
        for (letters, behind) in [("b", &[0, 0, 1][..]), ("c", &[0; 22])] {
            read(letters, behind).expect_err("the row is longer than its columns");
        }
    }
}
