//! Ranges of releases: the columns of every table of rules, texts and features.

use super::Line;
use crate::util::Release;

/// Consecutive releases, from the first to the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    first: Line,
    last: Line,
}

impl Span {
    /// The end of all lines; no line is later.
    const END: Line = Line(u16::MAX, u16::MAX);

    /// Every release.
    pub const ALWAYS: Span = Span { first: Line(0, 0), last: Span::END };

    /// No release.
    pub const NEVER: Span = Span { first: Span::END, last: Line(0, 0) };

    /// Returns the releases from `first` to `last`, both included.
    pub const fn between(first: Release, last: Release) -> Span {
        assert!(!Line::of(last).is_before(Line::of(first)), "a span without releases");
        Span { first: Line::of(first), last: Line::of(last) }
    }

    /// Returns the lines from `first` up to `end`, without `end`.
    pub const fn lines(first: Line, end: Line) -> Span {
        let last = if end.1 > 0 { Line(end.0, end.1 - 1) } else { Line(end.0.saturating_sub(1), u16::MAX) };
        Span { first, last }
    }

    /// Returns a line and all later ones.
    pub const fn since_line(first: Line) -> Span {
        Span { first, last: Span::END }
    }

    /// Returns the first line.
    pub const fn first(self) -> Line {
        self.first
    }

    /// Returns whether all of these releases come after a given one.
    pub const fn is_after(self, release: Release) -> bool {
        Line::of(release).is_before(self.first)
    }

    /// Returns whether a release is in the span.
    pub const fn has(self, release: Release) -> bool {
        self.has_line(Line::of(release))
    }

    /// Returns whether a line is in the span.
    pub const fn has_line(self, line: Line) -> bool {
        !line.is_before(self.first) && !self.last.is_before(line)
    }

    /// Returns the releases that are in both spans.
    #[must_use]
    pub fn and(self, other: Span) -> Span {
        Span { first: self.first.max(other.first), last: self.last.min(other.last) }
    }

    /// Returns the release if there is only one.
    pub fn only_release(self) -> Option<Release> {
        let mut all = Release::ALL.into_iter().filter(|release| self.has(*release));
        all.next().filter(|_| all.next().is_none())
    }

    /// Returns whether a rule with this span holds in a line. The tables of rules read their values by this name.
    pub(super) const fn at(self, line: Line) -> bool {
        self.has_line(line)
    }
}

/// Returns a release and all later ones.
pub const fn since(first: Release) -> Span {
    Span { first: Line::of(first), last: Span::END }
}

/// Returns the releases before `end`.
pub const fn before(end: Release) -> Span {
    Span::lines(Line(0, 0), Line::of(end))
}

/// Returns a span of one release.
pub const fn only(release: Release) -> Span {
    Span::between(release, release)
}

/// A value that changed between releases: each value with the first release that had it, in the order of releases.
/// The first value also holds for earlier releases.
#[derive(Debug, Clone, Copy)]
pub struct Eras<T, const N: usize>(pub [(Release, T); N]);

impl<T: Copy, const N: usize> Eras<T, N> {
    /// Returns a line's value.
    pub const fn at(&self, line: Line) -> T {
        let mut found = self.0[0].1;
        let mut index = 1;
        while index < N {
            assert!(
                Line::of(self.0[index - 1].0).is_before(Line::of(self.0[index].0)),
                "an era would never begin"
            );
            if !line.is_before(Line::of(self.0[index].0)) {
                found = self.0[index].1;
            }
            index += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_includes_its_first_and_last_release() {
        let names = |span: Span| -> Vec<&str> {
            Release::ALL.into_iter().filter(|release| span.has(*release)).map(Release::name).collect()
        };
        assert_eq!(names(since(Release::V2_0)), ["2.0", "2.1", "2.2", "3.0", "3.11"]);
        assert_eq!(names(before(Release::V0_5)), ["0.3", "0.4"]);
        assert_eq!(names(before(Release::V1_0)).last(), Some(&"0.8"));
        assert_eq!(names(only(Release::V1_0)), ["1.0"]);
        assert_eq!(names(Span::between(Release::V0_8, Release::V1_1)), ["0.8", "1.0", "1.1"]);
        assert_eq!((names(Span::ALWAYS).len(), names(Span::NEVER).len()), (Release::ALL.len(), 0));
        let lines = Span::lines(Line(2, 2), Line(4, 0));
        assert!([Line(2, 2), Line(3, 11)].into_iter().all(|line| lines.has_line(line)));
        assert!([Line(2, 1), Line(4, 0)].into_iter().all(|line| !lines.has_line(line)));
    }

    #[test]
    fn the_intersection_of_two_spans_may_be_one_release_or_none() {
        let both = since(Release::V0_5).and(before(Release::V0_6));
        assert_eq!(both.only_release(), Some(Release::V0_5));
        assert_eq!(since(Release::V0_5).only_release(), None);
        assert_eq!(only(Release::V0_4).and(only(Release::V0_6)).only_release(), None);
    }

    #[test]
    fn a_value_holds_until_the_release_of_the_next_value() {
        let eras = Eras([(Release::V0_4, 'a'), (Release::V0_7, 'b'), (Release::V2_1, 'c')]);
        let all: String = Release::ALL.into_iter().map(|release| eras.at(Line::of(release))).collect();
        assert_eq!(all, "aaaabbbbbbcccc");
    }
}
