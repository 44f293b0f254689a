//! The names of the objects of an archive.

use object_store::path::Path;

/// A table: its contents decide its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TableObject {
    /// 128 bits of XXH3 of the file.
    pub checksum: u128,
    /// Its length.
    pub bytes: u64,
}

/// A run of a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunName {
    pub line: String,
    pub run: u32,
}

/// The two numbered kinds of objects of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunObject {
    Full,
    Log,
}

/// The directory of tables.
pub(crate) const TABLES: &str = "tables";
/// The directory of lines.
pub(crate) const LINES: &str = "lines";

impl TableObject {
    pub(crate) fn path(self) -> Path {
        Path::from(format!("{TABLES}/{:032x}-{}", self.checksum, self.bytes))
    }

    pub(crate) fn parse(path: &Path) -> Option<TableObject> {
        let (checksum, bytes) = path.filename()?.split_once('-')?;
        let name =
            TableObject { checksum: u128::from_str_radix(checksum, 16).ok()?, bytes: bytes.parse().ok()? };
        (name.path() == *path).then_some(name)
    }
}

impl RunName {
    pub(crate) fn folder(&self) -> Path {
        Path::from(format!("{LINES}/{}/{:06}", self.line, self.run))
    }

    pub(crate) fn begin(&self) -> Path {
        self.folder().join("begin")
    }

    /// Returns the directory of full backups or of parts of the log.
    pub(crate) fn numbered_folder(&self, kind: RunObject) -> Path {
        self.folder().join(match kind {
            RunObject::Full => "full",
            RunObject::Log => "log",
        })
    }

    pub(crate) fn numbered(&self, kind: RunObject, number: u64) -> Path {
        self.numbered_folder(kind).join(format!("{number:012}"))
    }

    pub(crate) fn next(&self) -> RunName {
        RunName { line: self.line.clone(), run: self.run + 1 }
    }
}

/// Returns the number in the name of a full backup or a part of the log.
pub(crate) fn number_in(path: &Path) -> Option<u64> {
    path.filename().filter(|name| name.len() == 12)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_read_back() {
        let table = TableObject { checksum: 0xabc, bytes: 17 };
        assert_eq!(table.path().as_ref(), "tables/00000000000000000000000000000abc-17");
        assert_eq!(TableObject::parse(&table.path()), Some(table));
        assert_eq!(TableObject::parse(&Path::from("tables/abc-17")), None);
        let run = RunName { line: "20261126T101500Z-0a1b2c3d".to_owned(), run: 3 };
        let part = run.numbered(RunObject::Log, 42);
        assert_eq!(part.as_ref(), "lines/20261126T101500Z-0a1b2c3d/000003/log/000000000042");
        assert_eq!((number_in(&part), number_in(&run.begin())), (Some(42), None));
    }
}
