//! The functions, types and properties of CQL 3 by release line.

use crate::compat::Line;
use crate::util::Release;

/// Functions that came after 1.2, in lower case, and when.
const FUNCTIONS: [(&str, Line); 15] = [
    ("uuid", Line(2, 0)),
    ("avg", Line(2, 2)),
    ("count", Line(2, 2)),
    ("currentdate", Line(4, 0)),
    ("currenttime", Line(4, 0)),
    ("currenttimestamp", Line(4, 0)),
    ("currenttimeuuid", Line(4, 0)),
    ("fromjson", Line(2, 2)),
    ("max", Line(2, 2)),
    ("min", Line(2, 2)),
    ("sum", Line(2, 2)),
    ("todate", Line(2, 2)),
    ("tojson", Line(2, 2)),
    ("totimestamp", Line(2, 2)),
    ("tounixtimestamp", Line(2, 2)),
];

/// Types that came after 1.2, and when.
const TYPES: [(&str, Line); 5] = [
    ("date", Line(2, 2)),
    ("time", Line(2, 2)),
    ("smallint", Line(2, 2)),
    ("tinyint", Line(2, 2)),
    ("duration", Line(3, 10)),
];

/// Properties of tables that came after 1.2, and when.
const PROPERTIES: [(&str, Line); 5] = [
    ("default_time_to_live", Line(2, 0)),
    ("speculative_retry", Line(2, 0)),
    ("memtable_flush_period_in_ms", Line(2, 0)),
    ("min_index_interval", Line(2, 1)),
    ("max_index_interval", Line(2, 1)),
];

/// Names that 2.1 reserved: no user type may have them, and later releases have types of these names.
const KEPT_FREE: [&str; 2] = ["date", "smallint"];

/// The language that statements are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// All that this server knows, whichever release had it first.
    #[default]
    Newest,
    /// What this release had.
    Of(Release),
}

impl Language {
    /// Whether there is what came with a release line. CQL 3 begins with 1.2.
    pub fn has(self, since: Line) -> bool {
        match self {
            Language::Newest => true,
            Language::Of(release) => since <= Line::of(release.max(Release::V1_2)),
        }
    }

    /// Whether it is all that this server knows.
    pub fn is_newest(self) -> bool {
        self == Language::Newest
    }

    fn lacks(self, came: &[(&str, Line)], is_meant: impl Fn(&str) -> bool) -> bool {
        came.iter().any(|(known, since)| is_meant(known) && !self.has(*since))
    }

    /// Returns whether a function of this name came later.
    pub fn lacks_function(self, name: &str) -> bool {
        self.lacks(&FUNCTIONS, |known| known.eq_ignore_ascii_case(name))
    }

    /// Returns whether a type of this name came later.
    pub fn lacks_type(self, name: &str) -> bool {
        self.lacks(&TYPES, |known| known == name)
    }

    /// Returns whether a table property of this name came later.
    pub fn lacks_property(self, name: &str) -> bool {
        self.lacks(&PROPERTIES, |known| known == name)
    }

    /// Returns whether the name is reserved, so that no user type may have it.
    pub fn keeps_free(self, type_name: &str) -> bool {
        self.lacks_type(type_name) && KEPT_FREE.contains(&type_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_what_came_before_it() {
        for (release, line) in
            [(Release::V1_2, Line(1, 2)), (Release::V2_0, Line(2, 0)), (Release::V2_1, Line(2, 1))]
        {
            let language = Language::Of(release);
            assert!(language.has(line) && language.has(Line(1, 2)));
            assert!(!language.has(Line(line.0, line.1 + 1)) && !language.has(Line(2, 2)));
            assert!(language.lacks_function("Max") && language.lacks_type("time"));
            assert_eq!(language.lacks_function("uuid"), release == Release::V1_2);
        }
        assert!(Language::Newest.has(Line(5, 0)) && !Language::Newest.lacks_type("date"));
    }
}
