//! The manifest's file of changes: one line for each change since `MANIFEST` was written as a whole.
//!
//! ```text
//!   1a2b3c4d {"log":[7,8],"families":[{"keyspace":"Blog","name":"Posts",...}],"records":{"family/Blog/Posts":"..."}}
//!   CRC-32   the change, as JSON without line feeds (`document.rs`)
//! ```
//!
//! With 10,000 column families the manifest has some megabytes. If each change wrote all of it, the cost of creating
//! column families would be quadratic. A change is appended and synced before it is visible in memory, so a crash can
//! only leave the last line incomplete, and that change was not acknowledged: the line is ignored. A line with a wrong
//! checksum before the last line is damage.

use super::contents::Contents;
use super::document::Document;

/// Returns the line of a change. The error says why the change cannot be written as text.
pub fn encode_change(before: &Contents, after: &Contents) -> Result<Vec<u8>, String> {
    let text =
        serde_json::to_string(&Document::of_change(before, after)).map_err(|error| error.to_string())?;
    Ok(format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes())).into_bytes())
}

/// Applies the changes of a file to `contents`. Returns whether the last line is complete. The error names the damaged
/// line.
pub fn apply_changes(bytes: &[u8], contents: &mut Contents) -> Result<bool, String> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        match decode_change(line) {
            Some(change) => change.apply(contents),
            // The server crashed before the change was on the disk, so it was not acknowledged.
            None if lines.peek().is_none() => return Ok(false),
            None => return Err(format!("line {} has a wrong checksum", number + 1)),
        }
    }
    Ok(true)
}

fn decode_change(line: &[u8]) -> Option<Document> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = line.split_once(' ')?;
    if sum != format!("{:08x}", crc32fast::hash(text.as_bytes())) {
        return None;
    }
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::schema::CfDef;
    use crate::storage::embedded::manifest::{FamilyRecord, LogSpan};

    /// Returns the contents after each of some changes, and the line of each change.
    fn history() -> (Vec<Contents>, Vec<Vec<u8>>) {
        let mut now = Contents { partitioner: "P".to_owned(), ..Contents::default() };
        let mut all = vec![now.clone()];
        let family = |name: &str| ("K\n".to_owned(), name.to_owned());
        for name in ["One", "Two", "Three"] {
            let id = now.next_id();
            now.families.insert(family(name), FamilyRecord::new(id, &CfDef::new("K\n", name)));
            now.records.insert(format!("family/{name}"), Bytes::from_static(b"a line\nand \xff"));
            all.push(now.clone());
        }
        now.tables.insert("1.1".to_owned(), None);
        now.tables.insert("2.1".to_owned(), Some(7));
        now.log = Some(LogSpan { first: 3, last: 4 });
        all.push(now.clone());
        now.families.remove(&family("Two"));
        now.tables.remove("1.1");
        now.records.remove("family/Two");
        now.token = Some("t".to_owned());
        all.push(now.clone());
        let lines = all.windows(2).map(|pair| encode_change(&pair[0], &pair[1]).unwrap()).collect();
        (all, lines)
    }

    #[test]
    fn a_truncated_file_has_the_changes_that_are_complete() {
        let (all, lines) = history();
        let bytes = lines.concat();
        let ends: Vec<usize> = (0..=lines.len()).map(|count| lines[..count].concat().len()).collect();
        for cut in 0..=bytes.len() {
            let mut contents = all[0].clone();
            let is_whole = apply_changes(&bytes[..cut], &mut contents).unwrap();
            let whole = ends.iter().rposition(|end| *end <= cut).unwrap();
            assert_eq!(is_whole, ends.contains(&cut));
            assert_eq!(contents, all[whole], "cut at {cut}");
        }
    }

    #[test]
    fn damage_is_an_error_except_in_the_last_line_which_is_ignored() {
        let (all, lines) = history();
        let bytes = lines.concat();
        let last = bytes.len() - lines.last().unwrap().len();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            let mut contents = all[0].clone();
            let outcome = apply_changes(&damaged, &mut contents);
            if at + 1 < last {
                assert!(outcome.is_err(), "byte {at}");
            } else if at >= last {
                // In the last line, damage looks the same as a crash.
                assert_eq!((outcome, contents), (Ok(false), all[all.len() - 2].clone()), "byte {at}");
            }
        }
    }
}
