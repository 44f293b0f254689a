//! Reads the parts of the log that a restore needs, in order.

use futures_util::{StreamExt, stream};

use crate::bucket::Bucket;
use crate::full_backup::FullBackupHeader;
use crate::inventory::Chosen;
use crate::log_part::{LogPart, Moment};
use crate::names::{RunName, RunObject, number_in};
use crate::time::format_time;
use crate::{ArchiveError, Result};

/// Parts that are read at the same time. One has up to some 16 MB.
const PARTS_AT_ONCE: usize = 6;

/// The state that the parts lead to.
pub(crate) struct ReplayedLog {
    pub moment: Moment,
    /// The manifest after the last change in the parts up to the moment. `None` if there is none.
    pub manifest: Option<Vec<u8>>,
    pub parts: u64,
    pub log_bytes: u64,
}

/// A replay that is running.
struct LogReplay<'a> {
    full: &'a FullBackupHeader,
    until_us: Option<i64>,
    moment: Option<Moment>,
    manifest: Option<Vec<u8>>,
    /// Changes of the manifest behind the moment, with their numbers.
    later: Vec<(u64, Vec<u8>)>,
    before: Option<LogPart>,
}

/// Reads the parts that lead from a full backup to the last moment that is not later than `until_us`, in microseconds since
/// 1970. Calls `each` with every part.
///
/// # Errors
/// `Missing` or `Damaged` if a part is. A missing part at the end, behind all moments that are needed, is not an error.
pub(crate) async fn replay(
    bucket: &Bucket,
    chosen: &Chosen,
    until_us: Option<i64>,
    mut each: impl FnMut(&LogPart) -> Result<()>,
) -> Result<ReplayedLog> {
    let (run, full) = (&chosen.run, &chosen.full.header);
    let mut replay =
        LogReplay { full, until_us, moment: None, manifest: None, later: Vec::new(), before: None };
    let (mut parts, mut log_bytes) = (0, 0);
    let mut reads =
        stream::iter(full.first_part..).map(|number| part_of(bucket, run, number)).buffered(PARTS_AT_ONCE);
    while let Some(part) = reads.next().await {
        let Some(part) = part? else { break };
        each(&part)?;
        parts += 1;
        log_bytes += part.header.bytes;
        let name = bucket.object(&run.numbered(RunObject::Log, part.header.number));
        if replay.add(&name, part)? {
            return replay
                .end(parts, log_bytes)
                .ok_or_else(|| ArchiveError::damaged(&name, "it is too early"));
        }
    }
    drop(reads);
    let next = full.first_part + parts;
    let missing = bucket.object(&run.numbered(RunObject::Log, next));
    let last = replay.moment;
    if let Some(later) = first_after(bucket, run, next).await? {
        return Err(ArchiveError::Refused(format!(
            "{missing} is missing in the archive, but a later part {later} is there; {}",
            last_before(last)
        )));
    }
    replay.end(parts, log_bytes).ok_or(ArchiveError::Missing(missing))
}

fn last_before(moment: Option<Moment>) -> String {
    match moment {
        Some(moment) => {
            format!("the last moment before it is {}: use --at with that time", format_time(moment.at_us))
        }
        None => "use --at with a time of an earlier full backup".to_owned(),
    }
}

/// Reads a part. `None` if it does not exist.
pub(crate) async fn part_of(bucket: &Bucket, run: &RunName, number: u64) -> Result<Option<LogPart>> {
    let path = run.numbered(RunObject::Log, number);
    let name = bucket.object(&path);
    let Some(object) = bucket.get(&path).await? else { return Ok(None) };
    let part = LogPart::decode(&name, &object)?;
    if part.header.number != number {
        return Err(ArchiveError::damaged(&name, format!("it is part {}", part.header.number)));
    }
    Ok(Some(part))
}

/// Returns the first part after a missing one. `None` if there is none.
async fn first_after(bucket: &Bucket, run: &RunName, number: u64) -> Result<Option<u64>> {
    let mut first: Option<u64> = None;
    let after = run.numbered(RunObject::Log, number);
    let folder = run.numbered_folder(RunObject::Log);
    bucket
        .list(&folder, Some(&after), |meta| {
            let later = number_in(&meta.location).filter(|later| *later > number);
            first = first.into_iter().chain(later).min();
        })
        .await?;
    Ok(first)
}

/// Checks that a part follows another.
///
/// # Errors
/// `Damaged` if it does not.
pub(crate) fn check_follows(name: &str, before: Option<&LogPart>, part: &LogPart) -> Result<()> {
    let Some(before) = before else { return Ok(()) };
    let (expected, begin) = (before.header.next, part.header.begin);
    // The part before may have ended where its segment was full, before that was known.
    let is_next_segment = begin.offset == 0 && begin.segment == expected.segment + 1;
    let changes = before.header.first_change + before.header.changes.len() as u64;
    if begin != expected && !is_next_segment || part.header.first_change != changes {
        return Err(ArchiveError::damaged(name, "it does not continue the part before"));
    }
    Ok(())
}

impl LogReplay<'_> {
    /// Adds a part. Returns whether the next one is not needed.
    fn add(&mut self, name: &str, mut part: LogPart) -> Result<bool> {
        check_follows(name, self.before.as_ref(), &part)?;
        let manifests = std::mem::take(&mut part.manifests);
        let first = part.header.first_change;
        let later = (first..).zip(manifests).filter(|(number, _)| *number > self.full.point.changes);
        self.later.extend(later);
        let mut is_past = false;
        if part.header.number == self.full.last_part {
            self.moment = Some(Moment { at_us: self.full.at_us, point: self.full.point });
        }
        for moment in &part.header.moments {
            is_past |= self.until_us.is_some_and(|until| moment.at_us > until);
            let (point, reached) = (moment.point, self.full.point);
            if !is_past && point.place >= reached.place && point.changes >= reached.changes {
                self.moment = Some(*moment);
            }
        }
        if let Some(moment) = self.moment {
            let reached = moment.point.changes;
            while self.later.first().is_some_and(|(number, _)| *number <= reached) {
                self.manifest = Some(self.later.remove(0).1);
            }
        }
        part.log = Vec::new();
        let number = part.header.number;
        self.before = Some(part);
        Ok(is_past && number >= self.full.last_part)
    }

    fn end(self, parts: u64, log_bytes: u64) -> Option<ReplayedLog> {
        let (moment, manifest) = (self.moment?, self.manifest);
        Some(ReplayedLog { moment, manifest, parts, log_bytes })
    }
}
