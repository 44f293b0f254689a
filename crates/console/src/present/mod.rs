//! Shows names, values and cells on pages, whatever bytes they have.
//!
//! ```text
//!   bytes  --type-->  Reading          the whole text: decoded by the type, or hex
//!                       ShownBytes     the beginning of the text, and the length
//!   Cell              ShownCell        name, value, timestamp and time to live, and whether reads return the cell
//! ```
//!
//! A text on a page is unambiguous: two values of a type that differ have different texts.
//!
//! | bytes | text |
//! |---|---|
//! | a letter, a sign, a blank, an emoji | itself |
//! | a backslash | `\\` |
//! | a line break in a text that is valid otherwise | itself |
//! | other control characters, invisible characters, characters that change the direction of a text | `\n`, `\u{202e}` |
//! | bytes in a text type that are not UTF-8 | `\xff` |
//! | bytes of another type that are not valid for it | `0x00ff`, with a note |
//! | bytes of BytesType | their text if all of it but line breaks and tabs can be printed and it does not begin with `0x`, else `0x00ff` |

mod classes;
mod escape;
mod reading;
mod shown_bytes;
mod shown_cell;
mod time;

pub(crate) use classes::{key_class, name_class};
pub(crate) use escape::escaped;
pub(crate) use reading::{read_as, read_as_type};
pub(crate) use shown_bytes::ShownBytes;
pub(crate) use shown_cell::{CellParts, ShownCell};
pub(crate) use time::{ShownTime, countdown, date_of_seconds};
