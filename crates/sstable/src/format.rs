//! The versions of the SSTable format, as letters in the names of files.
//!
//! ```text
//!   letters        releases       what changed for a reader of the Data file
//!   none           0.4 to 0.6     keys are text: "<token>:<key>", or the key alone with an order-preserving partitioner
//!   a to d         0.7 betas      (d) the size of a row has eight bytes
//!   e, f           0.7            keys are bytes without a token
//!   g              0.8            counters
//!   h, hb to hf    1.0, 1.1       compression
//!   ia, ib, ic     1.2            no Bloom filter and column index in front of a row; range tombstones
//!   ja, jb         2.0            no size and count of a row; super columns are composites; (jb) Adler-32 of chunks
//!   ka             2.1            another Statistics file
//!   la, lb         2.2            another form of file names
//!   ma to me       3.0 to 3.11    the rows of the new storage engine
//!   na, nb         4.0, 4.1       chunks that do not compress are stored as they are; checksums in the Statistics file
//!   oa             5.0            times of deletion and expiry up to 2106
//!   da             5.0            the same, with tries in the place of the Index file (BTI)
//! ```

/// The ways in which a Data file stores row keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyForm {
    /// Java's modified UTF-8; the partitioner may have put its token and a colon in front.
    TokenAndText,
    /// Bytes; the partitioner may have put its token and a colon in front.
    TokenAndBytes,
    /// The bytes of the key.
    Bytes,
}

/// The ways in which the size of a row is stored before the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowSize {
    /// Four bytes.
    Int,
    /// Eight bytes.
    Long,
    /// The size and the number of columns are not stored: an empty name ends the row.
    Absent,
}

/// The algorithm of checksums that have four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumKind {
    /// CRC-32.
    Crc32,
    /// Adler-32.
    Adler32,
}

/// The properties of a version of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// The letters in names of files; empty up to 0.6.
    pub letters: &'static str,
    /// The releases that write it.
    pub releases: &'static str,
    /// The stored form of row keys.
    pub keys: KeyForm,
    /// The stored form of a row's size.
    pub row_size: RowSize,
    /// Whether a Bloom filter and an index of columns are stored in front of the columns of a row.
    pub has_row_index: bool,
    /// The bits that the flags of a column may have.
    pub column_flags: u8,
    /// Whether the columns of a super column family are super columns, and not composite names.
    pub has_super_columns: bool,
    /// The checksum of compressed chunks.
    pub chunk_checksum: ChecksumKind,
    /// Whether that checksum is of the compressed bytes, and not of the content.
    pub checks_compressed_bytes: bool,
    /// The checksum of blocks in the CRC component of uncompressed files.
    pub block_checksum: ChecksumKind,
    /// Whether each Data file has a CRC file or a CompressionInfo file (2.0 and later).
    pub has_block_sums: bool,
    /// Whether the Statistics component has a table of contents.
    pub has_statistics_contents: bool,
    /// Whether rows have the form of the new storage engine.
    pub has_modern_rows: bool,
    /// Whether chunks that do not compress well are stored without compression, and the Statistics component has checksums
    /// (4.0 and later).
    pub has_stored_chunks: bool,
    /// Whether times of deletion and expiry are unsigned, so that they end in 2106 and not in 2038 (5.0).
    pub has_unsigned_times: bool,
    /// Whether tries in other components take the place of the Index component (5.0).
    pub has_tries: bool,
}

/// Flags of a column.
pub(crate) mod flags {
    /// A tombstone.
    pub(crate) const DELETED: u8 = 0x01;
    /// An expiring column.
    pub(crate) const EXPIRING: u8 = 0x02;
    /// A counter.
    pub(crate) const COUNTER: u8 = 0x04;
    /// A range tombstone.
    pub(crate) const RANGE: u8 = 0x10;
}

/// The format without letters, from which the later ones are derived.
const BASE: Format = Format {
    letters: "",
    releases: "0.4 to 0.6",
    keys: KeyForm::TokenAndText,
    row_size: RowSize::Int,
    has_row_index: true,
    column_flags: flags::DELETED,
    has_super_columns: true,
    chunk_checksum: ChecksumKind::Crc32,
    checks_compressed_bytes: false,
    block_checksum: ChecksumKind::Crc32,
    has_block_sums: false,
    has_statistics_contents: false,
    has_modern_rows: false,
    has_stored_chunks: false,
    has_unsigned_times: false,
    has_tries: false,
};

const OF_0_7_BETA: Format = Format {
    letters: "b",
    releases: "0.7 betas",
    keys: KeyForm::TokenAndBytes,
    column_flags: flags::DELETED | flags::EXPIRING,
    ..BASE
};

const OF_0_7: Format =
    Format { letters: "e", releases: "0.7", keys: KeyForm::Bytes, row_size: RowSize::Long, ..OF_0_7_BETA };

const OF_0_8: Format = Format {
    letters: "g",
    releases: "0.8",
    column_flags: flags::DELETED | flags::EXPIRING | flags::COUNTER,
    ..OF_0_7
};

const OF_1_0: Format = Format { letters: "h", releases: "1.0", ..OF_0_8 };

const OF_1_2: Format = Format {
    letters: "ia",
    releases: "1.2",
    has_row_index: false,
    column_flags: OF_0_8.column_flags | flags::RANGE,
    ..OF_0_8
};

const OF_2_0: Format = Format {
    letters: "ja",
    releases: "2.0",
    row_size: RowSize::Absent,
    has_super_columns: false,
    has_block_sums: true,
    ..OF_1_2
};

const OF_2_0_1: Format =
    Format { letters: "jb", chunk_checksum: ChecksumKind::Adler32, checks_compressed_bytes: true, ..OF_2_0 };

const OF_2_1: Format = Format {
    letters: "ka",
    releases: "2.1",
    block_checksum: ChecksumKind::Adler32,
    has_statistics_contents: true,
    ..OF_2_0_1
};

const OF_3_0: Format = Format {
    letters: "ma",
    releases: "3.0",
    chunk_checksum: ChecksumKind::Crc32,
    block_checksum: ChecksumKind::Crc32,
    has_modern_rows: true,
    ..OF_2_1
};

const OF_4_0: Format = Format { letters: "na", releases: "4.0 betas", has_stored_chunks: true, ..OF_3_0 };

const OF_5_0: Format = Format { letters: "oa", releases: "5.0", has_unsigned_times: true, ..OF_4_0 };

/// All versions of the format that can be read. Those with tries are last.
pub const FORMATS: [Format; 31] = [
    BASE,
    Format { letters: "a", ..OF_0_7_BETA },
    OF_0_7_BETA,
    Format { letters: "c", ..OF_0_7_BETA },
    Format { letters: "d", row_size: RowSize::Long, ..OF_0_7_BETA },
    OF_0_7,
    Format { letters: "f", ..OF_0_7 },
    OF_0_8,
    OF_1_0,
    Format { letters: "hb", ..OF_1_0 },
    Format { letters: "hc", ..OF_1_0 },
    Format { letters: "hd", releases: "1.0, 1.1", ..OF_1_0 },
    Format { letters: "he", releases: "1.1", ..OF_1_0 },
    Format { letters: "hf", releases: "1.1", ..OF_1_0 },
    OF_1_2,
    Format { letters: "ib", ..OF_1_2 },
    Format { letters: "ic", ..OF_1_2 },
    OF_2_0,
    OF_2_0_1,
    OF_2_1,
    Format { letters: "la", releases: "2.2", ..OF_2_1 },
    Format { letters: "lb", releases: "2.2", ..OF_2_1 },
    OF_3_0,
    Format { letters: "mb", releases: "3.0, 3.7", ..OF_3_0 },
    Format { letters: "mc", releases: "3.0 to 3.11", ..OF_3_0 },
    Format { letters: "md", releases: "3.0 to 3.11", ..OF_3_0 },
    Format { letters: "me", releases: "3.0 to 3.11", ..OF_3_0 },
    OF_4_0,
    Format { letters: "nb", releases: "4.0, 4.1", ..OF_4_0 },
    OF_5_0,
    Format { letters: "da", has_tries: true, ..OF_5_0 },
];

/// The properties of a version and of all later ones. No other file of this crate compares letters.
impl Format {
    /// Returns the letters by which versions are compared: a version with tries has those of the version with an Index component
    /// that came with it.
    fn rank(&self) -> &'static str {
        if self.has_tries { OF_5_0.letters } else { self.letters }
    }

    /// Returns the last part of the names of files before the component (2.2 and later).
    pub(crate) fn kind(&self) -> &'static str {
        if self.has_tries { "bti" } else { "big" }
    }

    /// Whether the Statistics component has a position in the commit logs (0.8 and later).
    pub(crate) fn has_log_position(&self) -> bool {
        self.rank() >= "g"
    }

    /// Whether segments of the commit log never get an id again after a restart of the machine (1.1.6 and later).
    pub fn has_lasting_log_positions(&self) -> bool {
        self.rank() >= "hf"
    }

    /// Whether the Statistics component has the first position, too (2.2 and some 3.0).
    pub(crate) fn has_lower_bounds(&self) -> bool {
        self.letters == "lb" || self.rank() >= "mb"
    }

    /// Whether the Statistics component has intervals of positions.
    pub(crate) fn has_intervals(&self) -> bool {
        self.rank() >= "mc"
    }

    /// Whether the Statistics component has the node whose positions these are. The betas of 4.0 are older than `me`.
    pub(crate) fn has_node(&self) -> bool {
        self.rank() >= "me" && self.letters != OF_4_0.letters
    }

    /// Whether the Statistics component has ancestors that servers read (1.1.3 to 2.2).
    pub(crate) fn has_ancestors(&self) -> bool {
        self.rank() >= "he" && !self.has_modern_rows
    }

    /// Whether the Statistics component has the least timestamp.
    pub(crate) fn has_least_timestamp(&self) -> bool {
        self.rank() >= "ib"
    }

    /// Whether the Statistics component has the greatest local deletion time and the chance of the Bloom filter.
    pub(crate) fn has_deletion_time(&self) -> bool {
        self.rank() >= "ja"
    }

    /// Whether the names of files do not have the column family, so that only their directory names it (2.2 and later).
    pub fn is_named_by_directory(&self) -> bool {
        self.rank() >= "la"
    }

    /// Whether names of UTF8Type may be in the order of Java's strings: 0.4.2 compares strings, and 0.6.8 bytes.
    pub fn may_sort_texts_as_java(&self) -> bool {
        self.letters.is_empty()
    }

    /// Whether zeros can follow the columns of a row: 22 bytes do in the files of a beta of 0.7 that Cassandra's own tests read
    /// (`test/data/legacy-sstables/b`). Servers skip them, because a row has its size.
    pub(crate) fn has_padded_rows(&self) -> bool {
        self.letters == "b"
    }

    /// Whether counters have shards that add up if they are read twice (0.8 to 2.0).
    pub fn counters_add_up(&self) -> bool {
        self.rank() >= "g" && !self.counter_deletions_are_final()
    }

    /// Whether the digest of a compressed file can leave out the checksums of chunks, as 2.1.0 to 2.1.4 wrote it. From 2.1.5
    /// on it covers the whole file (`DataIntegrityMetadata.ChecksumWriter` of each release).
    pub(crate) fn digest_may_skip_chunk_sums(&self) -> bool {
        self.letters == "ka"
    }

    /// Whether the deletion of a counter wins whatever its timestamp (2.1 and later).
    pub fn counter_deletions_are_final(&self) -> bool {
        self.rank() >= "ka"
    }
}

/// Returns the version with these letters. `None` if there is none that can be read.
pub(crate) fn format_of(letters: &str) -> Option<Format> {
    FORMATS.iter().find(|format| format.letters == letters).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_differ_where_releases_changed_them() {
        let of = |letters: &str| format_of(letters).unwrap();
        assert_eq!(of("c").row_size, RowSize::Int);
        assert_eq!((of("d").row_size, of("d").keys), (RowSize::Long, KeyForm::TokenAndBytes));
        assert_eq!((of("f").row_size, of("f").keys), (RowSize::Long, KeyForm::Bytes));
        assert!(of("hf").has_row_index && !of("ia").has_row_index);
        assert!(of("ic").has_super_columns && !of("ja").has_super_columns);
        assert!(!of("ja").checks_compressed_bytes && of("jb").checks_compressed_bytes);
        assert_eq!(of("jb").block_checksum, ChecksumKind::Crc32);
        assert_eq!(of("lb").block_checksum, ChecksumKind::Adler32);
        assert_eq!((of("me").chunk_checksum, of("lb").has_modern_rows), (ChecksumKind::Crc32, false));
        assert_eq!(format_of("ob"), None);
        assert!(!of("na").has_node() && of("nb").has_node() && of("da").has_node());
        assert!(of("da").counter_deletions_are_final() && !of("nb").has_unsigned_times);
        assert!(FORMATS.is_sorted_by_key(|format| (format.has_tries, format.letters)));
        let mut letters: Vec<&str> = FORMATS.iter().map(|format| format.letters).collect();
        letters.dedup();
        assert_eq!(letters.len(), FORMATS.len());
    }

    #[test]
    fn the_document_has_each_format() {
        let document = include_str!("../../../docs/sstables.md");
        let table = document.split("| releases | letters in file names |").nth(1).unwrap();
        let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
        let ranges: Vec<Vec<&str>> = rows
            .filter_map(|row| row.split('|').nth(2))
            .map(|letters| letters.split('`').skip(1).step_by(2).collect())
            .collect();
        for format in FORMATS.iter().filter(|format| !format.letters.is_empty()) {
            let has = |range: &Vec<&str>| {
                range.first() <= Some(&format.letters) && Some(&format.letters) <= range.last()
            };
            assert!(ranges.iter().any(has), "docs/sstables.md has no version {}", format.letters);
        }
    }
}
