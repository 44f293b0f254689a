//! Lines of releases, given by the first two numbers of a version.

use std::fmt;

use crate::util::Release;

/// A line of releases: its major and minor number, such as 2.1 or 3.11.
///
/// A [`Release`] is a line whose behaviour the server implements. Later lines have no behaviour of their own here,
/// but they introduced messages and features of CQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line(pub u16, pub u16);

impl Line {
    /// Returns the line of a release.
    pub const fn of(release: Release) -> Line {
        match release {
            Release::V0_3 => Line(0, 3),
            Release::V0_4 => Line(0, 4),
            Release::V0_5 => Line(0, 5),
            Release::V0_6 => Line(0, 6),
            Release::V0_7 => Line(0, 7),
            Release::V0_8 => Line(0, 8),
            Release::V1_0 => Line(1, 0),
            Release::V1_1 => Line(1, 1),
            Release::V1_2 => Line(1, 2),
            Release::V2_0 => Line(2, 0),
            Release::V2_1 => Line(2, 1),
            Release::V2_2 => Line(2, 2),
            Release::V3_0 => Line(3, 0),
            Release::V3_11 => Line(3, 11),
        }
    }

    /// Reads a line as it is written: `2.1`. `None` if the text is not two numbers.
    pub fn read(text: &str) -> Option<Line> {
        let (major, minor) = text.split_once('.')?;
        Some(Line(major.parse().ok()?, minor.parse().ok()?))
    }

    /// Returns whether this line was released before another. `<` does the same, but not in constants.
    pub const fn is_before(self, other: Line) -> bool {
        self.0 < other.0 || self.0 == other.0 && self.1 < other.1
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl From<Release> for Line {
    fn from(release: Release) -> Line {
        Line::of(release)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_and_ordered_as_their_releases() {
        for release in Release::ALL {
            assert_eq!(Line::of(release).to_string(), release.name());
        }
        for pair in Release::ALL.map(Line::of).windows(2) {
            assert!(pair[0] < pair[1] && pair[0].is_before(pair[1]) && !pair[1].is_before(pair[0]));
        }
        assert!(!Line(2, 1).is_before(Line(2, 1)) && Line(2, 1).is_before(Line(3, 0)));
    }
}
