//! The manifest's file of changes: what has changed since `MANIFEST` was written as a whole, a line for each change.
//!
//! ```text
//!   1a2b3c4d {"log":[7,8],"families":[{"keyspace":"Blog","name":"Posts",...}],"records":{"family/Blog/Posts":"..."}}
//!   CRC-32   the change, as JSON without line feeds (`document.rs`)
//! ```
//!
//! With 10,000 column families the manifest has some megabytes, and to write all of it for each change would make the
//! schema's growth cost its square. A change is appended and synced before it is in memory, so a crash can leave only the
//! last line incomplete: one that nobody was told of. It is left out. A line that does not fit its checksum and has others
//! behind it is damage.

use super::contents::Contents;
use super::document::Document;

/// The line of a change.
pub fn encode_change(before: &Contents, after: &Contents) -> Result<Vec<u8>, String> {
    let text =
        serde_json::to_string(&Document::of_change(before, after)).map_err(|error| error.to_string())?;
    Ok(format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes())).into_bytes())
}

/// Makes the changes of a file. Returns whether the last line is whole; the error says which line is damaged.
pub fn apply_changes(bytes: &[u8], contents: &mut Contents) -> Result<bool, String> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        match decode_change(line) {
            Some(change) => change.apply(contents),
            // A crash came before the change was on the disk, and so before anybody was told of it.
            None if lines.peek().is_none() => return Ok(false),
            None => return Err(format!("line {} does not fit its checksum", number + 1)),
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

    /// Contents after each of some changes, and the lines of these.
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
    fn a_file_that_is_cut_anywhere_has_the_changes_that_are_whole() {
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
    fn damage_before_the_last_line_is_an_error_and_in_it_undoes_it() {
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
                // Whether a crash or damage has changed the last line cannot be told.
                assert_eq!((outcome, contents), (Ok(false), all[all.len() - 2].clone()), "byte {at}");
            }
        }
    }
}
