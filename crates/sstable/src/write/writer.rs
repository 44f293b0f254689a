//! Writes all components of a table.
//!
//! ```text
//!   Data         partitions in the order of their tokens, not compressed
//!   Index        where each begins
//!   Statistics   types and baselines
//!   CRC          the checksum of each block of 64 KiB of the Data file
//!   Digest       the checksum of the whole Data file
//!   TOC          the names of these
//! ```
//!
//! Bloom filter and summary are missing. A server builds both when it loads the table.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::output::FileOutput;
use super::partition::{Lengths, Partition, Unfiltered};
use super::statistics::Baselines;
use crate::error::SstableError;
use crate::statistics::fixed_length;
use base::model::CellKind;
use base::partitioner::PartitionerRef;
use base::util::hex;

/// Bytes of a block with a checksum.
const BLOCK_BYTES: usize = 64 * 1024;
/// Longest row key, whose length is stored in two bytes.
const KEY_BYTES_MAX: usize = u16::MAX as usize;

/// The columns of a table, by the class names of their types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenColumns {
    /// The partition key.
    pub key: String,
    /// The clustering columns: one or two.
    pub clustering: Vec<String>,
    /// The regular column `value`.
    pub value: String,
}

/// Writes the SSTables of a table into its directory, one after the other.
#[derive(Debug)]
pub struct SstableWriter {
    directory: PathBuf,
    columns: WrittenColumns,
    lengths: Lengths,
    partitioner: PartitionerRef,
    generation: u64,
}

impl SstableWriter {
    /// Begins in a directory, which exists.
    pub fn new(directory: &Path, columns: WrittenColumns, partitioner: PartitionerRef) -> SstableWriter {
        let clustering = columns.clustering.iter().map(|class| fixed_length(class)).collect();
        let lengths = Lengths { clustering, value: fixed_length(&columns.value) };
        SstableWriter { directory: directory.to_owned(), columns, lengths, partitioner, generation: 0 }
    }

    /// Writes an SSTable with partitions, which are sorted by their tokens and keys, and returns its Data file. The files
    /// are on the disk when it returns.
    ///
    /// # Errors
    ///
    /// If a key or a value cannot be stored in the columns, or the disk fails.
    pub fn write(&mut self, partitions: &[Partition]) -> Result<PathBuf, SstableError> {
        self.generation += 1;
        let data_path = self.path("Data.db");
        for partition in partitions {
            self.check(partition).map_err(|why| SstableError::unsupported(&data_path, why))?;
        }
        let baselines = Baselines::of(partitions);
        let (mut data, mut index) = (FileOutput::default(), FileOutput::default());
        let mut sizes = Vec::with_capacity(partitions.len());
        for partition in partitions {
            let start = data.bytes.len();
            partition.put(&baselines, &self.lengths, &mut data, &mut index);
            sizes.push((data.bytes.len() - start) as u64);
        }
        let statistics = baselines.statistics(&self.columns, self.partitioner.class_name(), &sizes);
        let mut sums = FileOutput::default();
        sums.i32(i32::try_from(BLOCK_BYTES).unwrap_or_default());
        data.bytes.chunks(BLOCK_BYTES).for_each(|block| sums.u32(crc32fast::hash(block)));
        let digest = crc32fast::hash(&data.bytes).to_string();
        let names = ["CRC.db", "Data.db", "Digest.crc32", "Index.db", "Statistics.db", "TOC.txt"];
        let contents = names.join("\n") + "\n";
        let files: [(&str, &[u8]); 6] = [
            ("Data.db", &data.bytes),
            ("Index.db", &index.bytes),
            ("Statistics.db", &statistics.bytes),
            ("CRC.db", &sums.bytes),
            ("Digest.crc32", digest.as_bytes()),
            // Last: a server takes a table without it for one that is not finished.
            ("TOC.txt", contents.as_bytes()),
        ];
        for (name, content) in files {
            let path = self.path(name);
            let written = File::create_new(&path).and_then(|mut file| {
                file.write_all(content)?;
                file.sync_all()
            });
            written.map_err(SstableError::io_at(&path))?;
        }
        Ok(data_path)
    }

    fn path(&self, component: &str) -> PathBuf {
        self.directory.join(format!("me-{}-big-{component}", self.generation))
    }

    /// Returns why a partition cannot be stored.
    fn check(&self, partition: &Partition) -> Result<(), String> {
        let row = || format!("the row with the key 0x{}", hex(&partition.key));
        if partition.key.len() > KEY_BYTES_MAX {
            let length = partition.key.len();
            return Err(format!("a row key of {length} bytes; at most {KEY_BYTES_MAX} can be stored"));
        }
        let fits = |value: &[u8], length: Option<u64>| {
            value.is_empty() || length.is_none_or(|length| value.len() as u64 == length)
        };
        for item in &partition.items {
            let (Unfiltered::Row { clustering, .. } | Unfiltered::Bound { clustering, .. }) = item;
            for (value, (length, class)) in
                clustering.iter().zip(self.lengths.clustering.iter().zip(&self.columns.clustering))
            {
                if !fits(value, *length) {
                    return Err(format!("{}: the name 0x{} is not of {class}", row(), hex(value)));
                }
            }
            if let Unfiltered::Row { cell, .. } = item
                && matches!(cell.kind, CellKind::Live | CellKind::Expiring { .. })
                && !fits(&cell.value, self.lengths.value)
            {
                let class = &self.columns.value;
                let (name, value) = (hex(&cell.name), hex(&cell.value));
                return Err(format!("{}: the value 0x{value} of 0x{name} is not of {class}", row()));
            }
        }
        Ok(())
    }
}
