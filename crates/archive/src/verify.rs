//! Reads a whole archive, and reports which moments can be restored and which objects are damaged.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::bucket::Bucket;
use crate::inventory::{full_of, numbers_of, runs_of};
use crate::log_part::LogPart;
use crate::names::{LINES, RunName, RunObject, TableObject, number_in};
use crate::replay::{check_follows, part_of};
use crate::time::format_time;
use crate::{ArchiveError, ArchiveLocation, Result};

/// The result of a verification.
#[derive(Debug, Clone, Default)]
pub struct ArchiveVerified {
    /// Full backups that were read.
    pub full_backups: u64,
    /// Parts of the log that were read.
    pub parts: u64,
    /// Tables that were read.
    pub tables: u64,
    /// Their bytes.
    pub table_bytes: u64,
    /// The moments that can be restored: lines such as `line A, run 1: from ... to ...`.
    pub moments: Vec<String>,
    /// Missing and damaged objects.
    pub damages: Vec<String>,
}

/// A verification that is running.
struct ArchiveReading {
    bucket: Bucket,
    found: ArchiveVerified,
    /// Whether each table that was read is undamaged.
    tables: HashMap<TableObject, bool>,
}

/// The times of a run that can be restored, in microseconds since 1970.
type Spans = Vec<MomentSpan>;

struct MomentSpan {
    /// The first of the parts that follow each other without a break.
    first_part: u64,
    from_us: i64,
    to_us: i64,
}

/// The parts of a run without a break between them.
struct PartChain {
    first: u64,
    last: u64,
    /// The last moment.
    last_us: Option<i64>,
}

/// Reads all objects of an archive. Damage is not an error.
///
/// # Errors
/// If the archive cannot be read.
pub async fn verify(location: &ArchiveLocation, progress: &mut dyn FnMut(&str)) -> Result<ArchiveVerified> {
    let bucket = Bucket::for_reader(location.clone());
    let mut verification =
        ArchiveReading { bucket, found: ArchiveVerified::default(), tables: HashMap::new() };
    for line in verification.bucket.folders(&LINES.into()).await? {
        for run in runs_of(&verification.bucket, &line).await? {
            progress(&format!("reading run {} of line {line}", run.run));
            verification.read_run(&run).await?;
        }
    }
    Ok(verification.found)
}

impl ArchiveReading {
    async fn read_run(&mut self, run: &RunName) -> Result<()> {
        let chains = self.read_parts(run).await?;
        let mut spans = Spans::new();
        for number in numbers_of(&self.bucket, run, RunObject::Full).await? {
            self.found.full_backups += 1;
            let Some(full) = self.unless_damaged(full_of(&self.bucket, run, number).await)? else { continue };
            let name = self.bucket.object(&run.numbered(RunObject::Full, number));
            let mut is_whole = true;
            for table in &full.header.tables {
                is_whole &= self.read_table(table.name(&name)?).await?;
            }
            let needed = full.header.first_part..=full.header.last_part;
            let chain =
                chains.iter().find(|chain| chain.first <= *needed.start() && *needed.end() <= chain.last);
            if chains.first().is_none_or(|chain| chain.first > *needed.start()) {
                let first = self.bucket.object(&run.numbered(RunObject::Log, *needed.start()));
                self.found.damages.push(ArchiveError::Missing(first).to_string());
            }
            let Some(chain) = chain.filter(|_| is_whole) else {
                self.found.damages.push(format!(
                    "{name} cannot be restored, because an object that it needs is damaged or missing"
                ));
                continue;
            };
            let from_us = full.header.at_us;
            let to_us = chain.last_us.map_or(from_us, |last| last.max(from_us));
            // If nothing was written, a full backup may be later than the last moment before it.
            match spans.last_mut() {
                Some(span) if span.first_part == chain.first => span.to_us = span.to_us.max(to_us),
                _ => spans.push(MomentSpan { first_part: chain.first, from_us, to_us }),
            }
        }
        let moments = spans.iter().map(|span| {
            let [from, to] = [span.from_us, span.to_us].map(format_time);
            format!("line {}, run {}: from {from} to {to}", run.line, run.run)
        });
        self.found.moments.extend(moments);
        Ok(())
    }

    /// Reads all parts of a run. Returns those that follow each other without a break.
    async fn read_parts(&mut self, run: &RunName) -> Result<Vec<PartChain>> {
        let mut listed: Option<RangeInclusive<u64>> = None;
        let folder = run.numbered_folder(RunObject::Log);
        let list = self.bucket.list(&folder, None, |meta| {
            let Some(number) = number_in(&meta.location) else { return };
            listed = Some(
                listed
                    .as_ref()
                    .map_or(number..=number, |all| number.min(*all.start())..=number.max(*all.end())),
            );
        });
        list.await?;
        let Some(listed) = listed else { return Ok(Vec::new()) };
        let mut chains: Vec<PartChain> = Vec::new();
        let mut before: Option<LogPart> = None;
        // A list that is late lacks the newest parts, so reading continues until there is none.
        for number in *listed.start().. {
            let name = self.bucket.object(&run.numbered(RunObject::Log, number));
            let read = match part_of(&self.bucket, run, number).await {
                Ok(None) if number > *listed.end() => break,
                Ok(None) => Err(ArchiveError::Missing(name.clone())),
                Ok(Some(part)) => check_follows(&name, before.as_ref(), &part).map(|()| part),
                Err(error) => Err(error),
            };
            let Some(mut part) = self.unless_damaged(read)? else {
                before = None;
                continue;
            };
            self.found.parts += 1;
            let last_us = part.header.moments.last().map(|moment| moment.at_us);
            match chains.last_mut().filter(|_| before.is_some()) {
                Some(chain) => {
                    chain.last = number;
                    chain.last_us = last_us.or(chain.last_us);
                }
                None => chains.push(PartChain { first: number, last: number, last_us }),
            }
            (part.log, part.manifests) = (Vec::new(), Vec::new());
            before = Some(part);
        }
        Ok(chains)
    }

    /// Reads a table unless it was read before. Returns whether it is undamaged.
    async fn read_table(&mut self, table: TableObject) -> Result<bool> {
        if let Some(is_undamaged) = self.tables.get(&table) {
            return Ok(*is_undamaged);
        }
        let read = self.bucket.get_table(table, None).await;
        let is_undamaged = self.unless_damaged(read)?.is_some();
        self.tables.insert(table, is_undamaged);
        self.found.tables += 1;
        self.found.table_bytes += table.bytes;
        Ok(is_undamaged)
    }

    /// Records damage. `None` if there was any.
    fn unless_damaged<T>(&mut self, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(found) => Ok(Some(found)),
            Err(error @ (ArchiveError::Missing(_) | ArchiveError::Damaged { .. })) => {
                self.found.damages.push(error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
