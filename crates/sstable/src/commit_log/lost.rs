//! The parts of a commit log that cannot be read.

/// The parts of a commit log that are lost, besides writes that have their checksum and cannot be decoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LostParts {
    /// Writes with a wrong checksum.
    pub writes: u64,
    /// Damaged sections: the records that the server wrote between two syncs (2.1 and later).
    pub sections: u64,
    /// Where the first of them begins in the file.
    pub first_section: u64,
    /// Where a section, or up to 2.0 a record, begins that is damaged, or was not written completely, and behind which no
    /// other can be found.
    pub end: Option<u64>,
    /// Whether the file is shorter than its last section.
    pub is_cut: bool,
}

impl LostParts {
    /// Adds a damaged section.
    pub(super) fn add_section(&mut self, start: u64) {
        if self.sections == 0 {
            self.first_section = start;
        }
        self.sections += 1;
    }

    /// Returns a sentence for each kind of loss.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        match self.writes {
            0 => {}
            1 => sentences.push("lost: a write with a wrong checksum".to_owned()),
            writes => sentences.push(format!("lost: {writes} writes with wrong checksums")),
        }
        let first = self.first_section;
        match self.sections {
            0 => {}
            1 => sentences.push(format!(
                "lost: writes of the section that begins at byte {first} (what the server wrote between two syncs), which is \
                 damaged"
            )),
            sections => sentences.push(format!(
                "lost: writes of {sections} sections (what the server wrote between two syncs), which are damaged; the first \
                 one begins at byte {first}"
            )),
        }
        if let Some(end) = self.end {
            sentences.push(format!(
                "lost: all writes from byte {end} on, where the log is damaged, or the server was killed while it wrote"
            ));
        }
        if self.is_cut {
            sentences
                .push("lost: the last writes, because the file ends before its last section does".to_owned());
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_loss_has_its_sentence() {
        assert_eq!(LostParts::default().sentences(), [""; 0]);
        let mut lost = LostParts { writes: 2, end: Some(900), is_cut: true, ..LostParts::default() };
        lost.add_section(70);
        let sentences = lost.sentences();
        let words =
            ["2 writes", "section that begins at byte 70", "from byte 900 on", "the file ends before"];
        assert_eq!(sentences.len(), words.len());
        assert!(
            sentences.iter().zip(words).all(|(sentence, words)| sentence.contains(words)),
            "{sentences:?}"
        );
        lost.add_section(80);
        assert!(lost.sentences()[1].contains("2 sections") && lost.sentences()[1].contains("byte 70"));
    }
}
