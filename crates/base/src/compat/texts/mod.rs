//! Messages to clients, by topic. Each error is a row with its texts.
//!
//! A row has a name, typed arguments and texts. The first text holds from the first release on; each later text begins
//! with the line of releases that introduced it. To change the message of 1.2, change its text or add one:
//!
//! ```text
//! unknown_keyspace(name: &str) {
//!     "Table {name} does not exist in this schema.";
//!     V0_4: "Keyspace {name} does not exist in this schema.";
//!     V0_7: "Keyspace {name} does not exist"
//! }
//! ```
//!
//! becomes the function `unknown_keyspace(line, name)`, where `line` is a `Release`, a `&Behaviour`, or the later
//! `Line` that the server reports. A message that only one place uses, and that is the same in all releases, is written
//! at that place.

mod cql;
mod definitions;
mod logins;
mod requests;

pub use cql::*;
pub use definitions::*;
pub use logins::*;
pub use requests::*;

use super::Line;
use crate::util::Release;

const V0_4: Line = Line::of(Release::V0_4);
const V0_7: Line = Line::of(Release::V0_7);
const V0_8: Line = Line::of(Release::V0_8);
const V1_0: Line = Line::of(Release::V1_0);
const V1_1: Line = Line::of(Release::V1_1);
const V1_2: Line = Line::of(Release::V1_2);
const V2_0: Line = Line::of(Release::V2_0);
const V2_1: Line = Line::of(Release::V2_1);
const V2_2: Line = Line::of(Release::V2_2);
const V3_0: Line = Line::of(Release::V3_0);
const V3_10: Line = Line(3, 10);
const V3_11: Line = Line::of(Release::V3_11);

/// Returns the last of the eras, given in order, that does not begin after a line; `None` if all do.
fn era_of(line: Line, eras: &[Line]) -> Option<Line> {
    debug_assert!(eras.is_sorted_by(|one, next| one < next), "a text would never be used");
    eras.iter().rev().find(|era| **era <= line).copied()
}

/// Makes a function for each row.
macro_rules! texts {
    ($(
        $(#[$about:meta])*
        $name:ident($($argument:ident: $kind:ty),*) { $first:literal $(; $era:ident: $text:literal)* }
    )*) => {
        $(
            $(#[$about])*
            pub fn $name(line: impl Into<$crate::compat::Line>, $($argument: $kind),*) -> String {
                match super::era_of(line.into(), &[$($era),*]) {
                    $( Some(era) if era == $era => format!($text), )*
                    _ => format!($first),
                }
            }
        )*
    };
}
use texts;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_holds_until_the_line_of_the_next_text() {
        let text = |release| unknown_keyspace(release, "K");
        assert_eq!(text(Release::V0_3), "Table K does not exist in this schema.");
        assert_eq!(text(Release::V0_4), text(Release::V0_6));
        assert_eq!(text(Release::V0_6), "Keyspace K does not exist in this schema.");
        assert_eq!(text(Release::V2_1), "Keyspace K does not exist");
        assert_eq!(unknown_table(Line(2, 1), "T"), "unconfigured columnfamily T");
        assert_eq!(unknown_table(Line(3, 11), "T"), "unconfigured table T");
    }
}
