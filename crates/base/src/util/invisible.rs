//! Invisible characters.

/// Returns whether a character looks like a blank or is invisible, except XML's four blanks.
pub fn is_invisible(character: char) -> bool {
    match character {
        ' ' | '\t' | '\n' | '\r' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' => true,
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => true,
        '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_whitespace() || other.is_control(),
    }
}
