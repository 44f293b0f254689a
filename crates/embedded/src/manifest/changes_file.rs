//! The manifest's file of changes: one line for each change since `MANIFEST` was written as a whole.
//!
//! ```text
//!   00000200 1a2b3c4d {"log":[7,8],"families":[{"keyspace":"Blog","name":"Posts",...}],"records":{...}}      \n
//!   length   CRC-32   the change, as JSON without line feeds (`document.rs`)                           spaces
//! ```
//!
//! With 10,000 column families the manifest has some megabytes. If each change wrote all of it, the cost of creating
//! column families would be quadratic. A change is appended and synced before it is visible in memory. So the file is
//! durable up to the beginning of its last line, and only a last line can be torn, which was not acknowledged.
//!
//! A disk writes whole sectors, in any order. After a power failure each sector of a torn line has its new content or
//! zeros, and the file may end anywhere in the line. A line fills its sectors, so that no sector of an acknowledged line
//! is ever written again. Therefore bytes that are not a line are torn if they reach the end of the file and
//!
//! - the file ends before the line feed, or
//! - a whole sector of them is zero: no line has a zero byte.
//!
//! All other bytes are damage, such as a flipped bit in a complete last line. Only a complete last line that lost a whole
//! sector later, or its end, looks like a torn one.
//!
//! Manifests of format 2 have lines of another form: the CRC-32, a space, the change and a line feed. They are read, and
//! never written: the first change after a start begins a new file.

use super::contents::Contents;
use super::document::ManifestDocument;
use crate::limits::MANIFEST_LINE_SHOWN_CHARS;

/// The unit in which disks write, in bytes. Larger units are multiples of it.
const SECTOR: usize = 512;

/// The length of the head of a line: length and checksum, each of eight hexadecimal digits and a space.
const HEAD: usize = 18;

/// The form of the lines of a file of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineForm {
    /// In manifests of format 2.
    Unpadded,
    /// In manifests of format 3: each line has a length, and fills sectors.
    Sectors,
}

/// Returns the line of a change. The error says why the change cannot be written as text.
pub(super) fn encode_change(before: &Contents, after: &Contents) -> Result<Vec<u8>, String> {
    let mut text =
        serde_json::to_vec(&ManifestDocument::of_change(before, after)).map_err(|error| error.to_string())?;
    assert!(
        !text.contains(&b'\n') && !text.contains(&0),
        "a change would be taken for several, or for a torn one"
    );
    let length = (HEAD + text.len() + 1).next_multiple_of(SECTOR);
    text.resize(length - HEAD - 1, b' ');
    text.push(b'\n');
    let line = [head(length, &text).into_bytes(), text].concat();
    assert!(line.len() == length, "a line of {} bytes says that it has {length}", line.len());
    debug_assert!(
        is_read_back(&line, before, after),
        "a start would read another change than the one that was made"
    );
    Ok(line)
}

/// Returns whether a line leads from one state to the other.
fn is_read_back(line: &[u8], before: &Contents, after: &Contents) -> bool {
    let mut read = before.clone();
    apply_changes(line, LineForm::Sectors, &mut read) == Ok(true) && read == *after
}

/// Applies the changes of a file to `contents`. Returns whether the last line is complete. The error names the damaged
/// line, and says what can be done.
pub(super) fn apply_changes(bytes: &[u8], form: LineForm, contents: &mut Contents) -> Result<bool, String> {
    let (mut at, mut number) = (0, 1);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        match first_line(rest, form) {
            Some((change, length)) => {
                change.apply(contents);
                at += length;
                number += 1;
            }
            None if is_torn(rest, at, form) => return Ok(false),
            None => return Err(damage(rest, at, number)),
        }
    }
    Ok(true)
}

fn head(length: usize, text: &[u8]) -> String {
    format!("{length:08x} {:08x} ", crc32fast::hash(text))
}

/// Returns the length that the head of a line contains, if the bytes begin with a head and a change. No part of a
/// change looks like that: quotes in its texts follow a backslash.
fn length_in_head(bytes: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(bytes.get(..HEAD + 2)?).ok()?;
    let (length, rest) = head.split_once(' ')?;
    let (sum, begin) = rest.split_once(' ')?;
    u32::from_str_radix(sum, 16).ok()?;
    (begin == "{\"").then(|| usize::from_str_radix(length, 16).ok())?
}

/// Returns the change in the line with which the bytes begin, and the length of the line. `None` if it is not complete.
fn first_line(bytes: &[u8], form: LineForm) -> Option<(ManifestDocument, usize)> {
    let (text, length) = match form {
        LineForm::Sectors => {
            let length = length_in_head(bytes)?;
            let (found, text) = bytes.get(..length)?.split_at_checked(HEAD)?;
            (text, (found == head(length, text).as_bytes()).then_some(length)?)
        }
        LineForm::Unpadded => {
            let length = bytes.iter().position(|byte| *byte == b'\n')? + 1;
            (unpadded(bytes.get(..length - 1)?)?, length)
        }
    };
    Some((serde_json::from_slice(text).ok()?, length))
}

/// Returns the change in a line of format 2 without its line feed, if it has its checksum.
fn unpadded(line: &[u8]) -> Option<&[u8]> {
    let (sum, text) = line.split_at_checked(9)?;
    (sum == format!("{:08x} ", crc32fast::hash(text)).as_bytes()).then_some(text)
}

/// Returns whether the rest of a file, from byte `at` on, can be what a crash has left of its last line.
fn is_torn(rest: &[u8], at: usize, form: LineForm) -> bool {
    let ends_as_line = rest.ends_with(b"\n");
    let (is_followed, is_cut) = match form {
        LineForm::Sectors => (
            rest.chunks(SECTOR).skip(1).any(|sector| length_in_head(sector).is_some()),
            !rest.len().is_multiple_of(SECTOR)
                || !ends_as_line && length_in_head(rest).is_some_and(|length| rest.len() < length),
        ),
        LineForm::Unpadded => (
            rest.iter().rev().skip(1).any(|byte| *byte == b'\n'),
            // The line is complete if only the line feed is not as it was written.
            !ends_as_line && rest.split_last().is_none_or(|(_, line)| unpadded(line).is_none()),
        ),
    };
    !is_followed && (is_cut || lacks_sector(rest, at))
}

/// Returns whether a sector of the rest of a file is zero.
fn lacks_sector(rest: &[u8], at: usize) -> bool {
    let (first, others) = rest.split_at(rest.len().min(SECTOR - at % SECTOR));
    std::iter::once(first).chain(others.chunks(SECTOR)).any(|part| part.iter().all(|byte| *byte == 0))
}

/// Describes a damaged line: its place, its text, and how to continue without it.
fn damage(rest: &[u8], at: usize, number: usize) -> String {
    let mut lines = rest.split_inclusive(|byte| *byte == b'\n');
    let text = String::from_utf8_lossy(lines.next().unwrap_or_default());
    let said: String = text.trim_end().chars().take(MANIFEST_LINE_SHOWN_CHARS).collect();
    format!(
        "line {number}, from byte {at} on, is damaged: it does not have its length and checksum. It now reads {}. \
         Restore a backup; or cut the file to {at} bytes, which undoes the change of this line and those of the {} lines \
         after it",
        said.replace(char::is_control, "."),
        lines.count()
    )
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::manifest::{FamilyRecord, LogSpan, TreeIdentity, TreeRecord};
    use base::schema::{CfDef, FamilyName};

    /// Returns the contents after each of some changes. The last change has several sectors.
    fn history() -> Vec<Contents> {
        let mut now = Contents { partitioner: "P".to_owned(), ..Contents::default() };
        let mut all = vec![now.clone()];
        let family = |name: &str| FamilyName { keyspace: "K\n".to_owned(), name: name.to_owned() };
        for name in ["One", "Two", "Three"] {
            let id = now.next_id();
            now.families.insert(family(name), FamilyRecord::new(id, &CfDef::new("K\n", name)));
            now.records.insert(format!("family/{name}"), Bytes::from_static(b"a line\nand \xff"));
            all.push(now.clone());
        }
        now.tables.insert("1.1".to_owned(), TreeRecord::default());
        let identity = Some(TreeIdentity { list: 1, list_sum: 2, tables_sum: 3 });
        now.tables.insert("2.1".to_owned(), TreeRecord { newest: Some(7), identity });
        now.log = Some(LogSpan { first: 3, last: 4 });
        all.push(now.clone());
        now.families.remove(&family("Two"));
        now.tables.remove("1.1");
        now.records.remove("family/Two");
        now.token = Some("t".to_owned());
        let comment = "00000200 1a2b3c4d {\"log\":[7,8]} \n".repeat(60);
        now.records.insert("family/Three".to_owned(), comment.into());
        all.push(now.clone());
        all
    }

    fn lines(all: &[Contents], form: LineForm) -> Vec<Vec<u8>> {
        let line = |pair: &[Contents]| match form {
            LineForm::Sectors => encode_change(&pair[0], &pair[1]).unwrap(),
            LineForm::Unpadded => {
                let text = serde_json::to_string(&ManifestDocument::of_change(&pair[0], &pair[1])).unwrap();
                format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes())).into_bytes()
            }
        };
        all.windows(2).map(line).collect()
    }

    /// Returns the result of reading a file: the number of its changes, and whether the last line is complete.
    fn read(bytes: &[u8], form: LineForm, all: &[Contents]) -> Result<(usize, bool), String> {
        let mut contents = all[0].clone();
        let is_whole = apply_changes(bytes, form, &mut contents)?;
        Ok((all.iter().position(|one| *one == contents).unwrap(), is_whole))
    }

    const FORMS: [LineForm; 2] = [LineForm::Unpadded, LineForm::Sectors];

    #[test]
    fn a_line_fills_sectors() {
        let all = history();
        let lines = lines(&all, LineForm::Sectors);
        assert!(lines.iter().all(|line| line.len() % SECTOR == 0));
        assert!(lines.last().unwrap().len() > 4 * SECTOR);
        assert_eq!(lines[0].len(), SECTOR);
    }

    #[test]
    fn a_truncated_file_has_the_changes_that_are_complete() {
        let all = history();
        for form in FORMS {
            let lines = lines(&all, form);
            let bytes = lines.concat();
            let ends: Vec<usize> = (0..=lines.len()).map(|count| lines[..count].concat().len()).collect();
            for cut in 0..=bytes.len() {
                let whole = ends.iter().rposition(|end| *end <= cut).unwrap();
                // A line of format 2 without its line feed is complete, but it was not acknowledged.
                let expected = Ok((whole, ends.contains(&cut)));
                assert_eq!(read(&bytes[..cut], form, &all), expected, "{form:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn a_last_line_without_any_of_its_sectors_is_torn() {
        let all = history();
        for form in FORMS {
            let lines = lines(&all, form);
            let (bytes, last) = (lines.concat(), lines.concat().len() - lines.last().unwrap().len());
            let sectors: Vec<usize> = (last / SECTOR..bytes.len().div_ceil(SECTOR)).collect();
            assert!(sectors.len() > 4);
            for lost in 1..1_usize << sectors.len() {
                let mut torn = bytes.clone();
                for (bit, sector) in sectors.iter().enumerate().filter(|(bit, _)| lost >> bit & 1 == 1) {
                    assert!(bit < sectors.len());
                    let begin = last.max(sector * SECTOR);
                    torn[begin..bytes.len().min((sector + 1) * SECTOR)].fill(0);
                }
                for cut in [bytes.len(), bytes.len() - 1, bytes.len() - 600, last + 1] {
                    let outcome = read(&torn[..cut], form, &all);
                    assert_eq!(outcome, Ok((all.len() - 2, false)), "{form:?} {lost:b} cut at {cut}");
                }
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_damage() {
        let all = history();
        for form in FORMS {
            let lines = lines(&all, form);
            let bytes = lines.concat();
            let ends: Vec<usize> = (1..=lines.len()).map(|count| lines[..count].concat().len()).collect();
            // All bits of the heads and of the ends of lines, and one of each other byte.
            let is_edge = |at: usize| at < 20 || ends.iter().any(|end| at + 2 >= *end && at < end + 20);
            for bit in (0..bytes.len() * 8).filter(|bit| is_edge(bit / 8) || bit / 8 % 8 == bit % 8) {
                let mut damaged = bytes.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert!(read(&damaged, form, &all).is_err(), "{form:?} bit {bit}");
            }
        }
    }

    #[test]
    fn a_lost_sector_before_the_last_line_is_damage() {
        let all = history();
        let lines = lines(&all, LineForm::Sectors);
        let last = lines[..lines.len() - 1].concat().len();
        for sector in 0..last / SECTOR {
            let mut damaged = lines.concat();
            damaged[sector * SECTOR..][..SECTOR].fill(0);
            let error = read(&damaged, LineForm::Sectors, &all).unwrap_err();
            assert!(
                error.starts_with(&format!("line {}, from byte {}", sector + 1, sector * SECTOR)),
                "{error}"
            );
            // A torn last line does not hide the damage.
            damaged.truncate(last + SECTOR);
            assert!(read(&damaged, LineForm::Sectors, &all).is_err());
        }
    }

    #[test]
    fn damage_is_described() {
        let all = history();
        let mut bytes = lines(&all, LineForm::Sectors).concat();
        bytes[SECTOR + 30] ^= 1;
        let error = read(&bytes, LineForm::Sectors, &all).unwrap_err();
        for part in
            ["line 2, from byte 512 on", "\"Two\"", "cut the file to 512 bytes", "the 3 lines after it"]
        {
            assert!(error.contains(part), "{error}");
        }
        bytes.truncate(SECTOR);
        assert_eq!(read(&bytes, LineForm::Sectors, &all), Ok((1, true)));
    }
}
