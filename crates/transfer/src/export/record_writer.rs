//! The trait of formats.

use std::io;

use super::record_maker::Record;

/// Writes the records of one table into a file.
pub(super) trait RecordWriter: Send {
    /// Writes a record.
    fn write(&mut self, record: Record) -> io::Result<()>;

    /// Ends the file. Returns remarks about values that the format cannot have.
    fn finish(self: Box<Self>) -> io::Result<Vec<String>>;
}
