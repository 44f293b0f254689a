//! The functions, types and properties of CQL 3 by release line.

use crate::compat::Line;
use crate::util::Release;

/// Functions that came after 1.2, in lower case, with the line that introduced them.
const FUNCTIONS: &[(&str, Line)] = &[
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

/// Types that came after 1.2, with the line that introduced them.
const TYPES: &[(&str, Line)] = &[
    ("date", Line(2, 2)),
    ("time", Line(2, 2)),
    ("smallint", Line(2, 2)),
    ("tinyint", Line(2, 2)),
    ("duration", Line(3, 10)),
];

/// Table properties that came after 1.2, with the line that introduced them.
const PROPERTIES: &[(&str, Line)] = &[
    ("default_time_to_live", Line(2, 0)),
    ("index_interval", Line(2, 0)),
    ("speculative_retry", Line(2, 0)),
    ("memtable_flush_period_in_ms", Line(2, 0)),
    ("min_index_interval", Line(2, 1)),
    ("max_index_interval", Line(2, 1)),
    ("id", Line(2, 1)),
];

/// Names that 2.1 reserves for types of later releases: user types must not have them.
const KEPT_FREE: [&str; 2] = ["date", "smallint"];

/// Returns whether a function, given in lower case, came with 2.2 or later. These releases name result columns by the
/// function's full name.
pub fn is_function_of_2_2(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, since)| *known == name && *since >= Line(2, 2))
}

/// The version of CQL 3 that statements may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// Everything that this server supports, from all releases.
    #[default]
    Newest,
    /// Only what this release supports.
    Of(Release),
}

impl Language {
    /// Returns whether the language includes what a release line introduced. CQL 3 begins with 1.2.
    pub fn has(self, since: Line) -> bool {
        match self {
            Language::Newest => true,
            Language::Of(release) => since <= Line::of(release.max(Release::V1_2)),
        }
    }

    /// Returns whether the language is everything that this server supports.
    pub fn is_newest(self) -> bool {
        self == Language::Newest
    }

    fn lacks(self, came: &[(&str, Line)], is_meant: impl Fn(&str) -> bool) -> bool {
        came.iter().any(|(known, since)| is_meant(known) && !self.has(*since))
    }

    /// Returns whether a function of this name was introduced later than the language.
    pub fn lacks_function(self, name: &str) -> bool {
        self.lacks(FUNCTIONS, |known| known.eq_ignore_ascii_case(name))
    }

    /// Returns whether a type of this name was introduced later than the language.
    pub fn lacks_type(self, name: &str) -> bool {
        self.lacks(TYPES, |known| known == name)
    }

    /// Returns whether a table property of this name was introduced later than the language.
    pub fn lacks_property(self, name: &str) -> bool {
        self.lacks(PROPERTIES, |known| known == name)
    }

    /// Returns whether the language reserves the name, so that no user type may have it.
    pub fn keeps_free(self, type_name: &str) -> bool {
        self.lacks_type(type_name) && KEPT_FREE.contains(&type_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_2_2_are_those_that_2_1_lacks() {
        assert!(["todate", "currentdate", "fromjson"].into_iter().all(is_function_of_2_2));
        assert!(!["uuid", "now", "token", "intasblob"].into_iter().any(is_function_of_2_2));
        let of_2_1 = Language::Of(Release::V2_1);
        assert!(FUNCTIONS.iter().all(|(name, _)| is_function_of_2_2(name) == of_2_1.lacks_function(name)));
    }

    #[test]
    fn a_language_includes_what_earlier_releases_introduced() {
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
