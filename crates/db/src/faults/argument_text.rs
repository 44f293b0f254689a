//! Arguments of a request as JSON of a limited size, for the journal.

use serde_json::Value;

use super::key_text::bytes_text;
use crate::limits::{JOURNAL_ARGUMENTS_CHARS_MAX, JOURNAL_ELEMENTS_MAX, JOURNAL_TEXT_CHARS_MAX};
use base::marshal::TypeRef;

/// Makes the texts of a request's arguments. Texts are cut, and elements left out, when there are too many.
#[derive(Debug)]
pub struct ArgumentText {
    chars_left: usize,
    elements_left: usize,
}

impl Default for ArgumentText {
    /// Returns the room of one request.
    fn default() -> ArgumentText {
        ArgumentText { chars_left: JOURNAL_ARGUMENTS_CHARS_MAX, elements_left: JOURNAL_ELEMENTS_MAX }
    }
}

impl ArgumentText {
    /// Returns a text. A long one is cut, and its length in bytes appended.
    pub fn text(&mut self, text: &str) -> String {
        self.cut(text, JOURNAL_TEXT_CHARS_MAX, text.len())
    }

    /// Returns the text of a statement, which may take all the room.
    pub fn statement(&mut self, text: &str) -> String {
        self.cut(text, JOURNAL_ARGUMENTS_CHARS_MAX, text.len())
    }

    /// Returns bytes in the text of a type, else as UTF-8, else in hexadecimal digits. A long text is cut, and the
    /// number of bytes appended.
    pub fn bytes(&mut self, of_type: Option<&TypeRef>, bytes: &[u8]) -> String {
        let read = 4 * JOURNAL_TEXT_CHARS_MAX;
        let text = if bytes.len() > read {
            // More than will be shown. Its end may be within a character.
            bytes_text(None, utf8_prefix(&bytes[..read]))
        } else {
            bytes_text(of_type, bytes)
        };
        self.cut(&text, JOURNAL_TEXT_CHARS_MAX, bytes.len())
    }

    /// Returns how many elements of a list or map are shown, and takes the room for them.
    pub fn take_elements(&mut self, count: usize) -> usize {
        debug_assert!(self.elements_left <= JOURNAL_ELEMENTS_MAX);
        let shown = count.min(self.elements_left);
        self.elements_left -= shown;
        shown
    }

    /// Returns the elements of a list, each shown by `show` from its index, as far as there is room for them.
    pub fn list(
        &mut self,
        count: usize,
        mut show: impl FnMut(&mut ArgumentText, usize) -> Value,
    ) -> Vec<Value> {
        let shown = self.take_elements(count);
        let mut elements: Vec<Value> = (0..shown).map(|at| show(self, at)).collect();
        if shown < count {
            elements.push(ArgumentText::left_out(count).into());
        }
        elements
    }

    /// Returns the text in the place of elements that are left out.
    pub fn left_out(count: usize) -> String {
        format!("… ({count} in all)")
    }

    fn cut(&mut self, text: &str, chars_max: usize, bytes: usize) -> String {
        let room = self.chars_left.min(chars_max);
        match text.char_indices().nth(room) {
            None => {
                self.chars_left -= text.chars().count();
                text.to_owned()
            }
            Some((end, _)) => {
                self.chars_left -= room;
                format!("{}… ({bytes} bytes)", &text[..end])
            }
        }
    }
}

/// Cuts a text to a number of characters, and marks the cut.
pub(crate) fn cut(mut text: String, chars_max: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(chars_max) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns the bytes without an incomplete character at their end.
fn utf8_prefix(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::Types;

    #[test]
    fn bytes_have_the_text_of_their_type() {
        let mut arguments = ArgumentText::default();
        let long = Types::builtin().resolve("LongType").unwrap();
        assert_eq!(arguments.bytes(Some(&long), &7i64.to_be_bytes()), "7");
        assert_eq!(arguments.bytes(Some(&long), b"seven"), "seven");
        assert_eq!(arguments.bytes(None, &[0, 7]), "0007");
        assert_eq!(arguments.bytes(None, "jé".as_bytes()), "jé");
        assert_eq!(arguments.bytes(Some(&long), b""), "");
    }

    #[test]
    fn long_texts_are_cut_and_their_length_is_shown() {
        let text = "é".repeat(5 * JOURNAL_TEXT_CHARS_MAX);
        let shown = ArgumentText::default().bytes(None, text.as_bytes());
        let expected = format!("{}… ({} bytes)", "é".repeat(JOURNAL_TEXT_CHARS_MAX), text.len());
        assert_eq!(shown, expected);
        // Together they have a limit, too.
        let mut arguments = ArgumentText::default();
        let sum: usize = (0..100).map(|_| arguments.text(&"a".repeat(900)).matches('a').count()).sum();
        assert_eq!(sum, JOURNAL_ARGUMENTS_CHARS_MAX);
    }

    #[test]
    fn elements_are_limited_in_number() {
        let mut arguments = ArgumentText::default();
        assert_eq!(arguments.take_elements(60), 60);
        assert_eq!(arguments.take_elements(60), JOURNAL_ELEMENTS_MAX - 60);
        assert_eq!(arguments.take_elements(1), 0);
    }
}
