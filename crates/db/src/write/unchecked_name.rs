//! Invalid names of super columns, which the oldest releases do not validate but only compare.

use bytes::Bytes;

use super::Writes;
use crate::Result;
use crate::validate::Validation;
use base::compat::Behaviour;
use base::marshal::{AbstractType, PACKAGE};
use base::model::{Change, Mutation, Predicate, SliceRange};
use base::util::Release;

/// The effect of an invalid name in comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The name compares like this one.
    As(Bytes),
    /// The name equals no name.
    Unlike,
    /// The comparison fails if there is a name to compare with.
    Fails,
}

/// Returns the effect of an invalid, non-empty name in a release up to 0.6.
///
/// Java reads a UUID, and in 0.4 and 0.5 a LongType too, from the first bytes, and fails if there are too few. Only a
/// UUID of version 1 has a time. 0.6 compares the first eight bytes of a TimeUUIDType, and the rest if the times are
/// equal. UTF8Type and AsciiType compare the decoded text.
pub(crate) fn compared(comparator: &dyn AbstractType, name: &Bytes, release: Release) -> Compared {
    let is_looked_through = Behaviour::of(release).reads.compares_times_before_names;
    let width = match comparator.class_name().strip_prefix(PACKAGE) {
        Some("LongType") if !is_looked_through => 8,
        Some("TimeUUIDType") if is_looked_through => 8,
        Some("LexicalUUIDType" | "TimeUUIDType") => 16,
        Some("BytesType" | "UTF8Type" | "AsciiType" | "LongType") => return Compared::Unlike,
        _ => return Compared::Fails,
    };
    if name.len() < width {
        return Compared::Fails;
    }
    if is_looked_through && comparator.class_name().ends_with("TimeUUIDType") {
        return Compared::Unlike;
    }
    let head = name.slice(..width);
    match comparator.validate(&head) {
        Ok(()) => Compared::As(head),
        Err(_) => Compared::Fails,
    }
}

/// Returns the super column that a change applies to.
fn super_name(change: &mut Change) -> Option<&mut Bytes> {
    match change {
        Change::Cell { super_column, .. } => super_column.as_mut(),
        Change::DeleteSuper { name, .. } => Some(name),
        Change::DeleteRow { .. } | Change::DeleteRange(_) => None,
    }
}

impl Writes<'_> {
    /// Resolves the deletions of a 0.6 batch under invalid names. 0.6 computes their length and compares them with the
    /// other super columns of the row, both in the batch and in the store.
    pub(super) async fn settle_unchecked_names(
        &self,
        checks: &Validation<'_>,
        Mutation { key, families }: &mut Mutation,
    ) -> Result<()> {
        for family in families.iter_mut().filter(|family| family.cf.is_super()) {
            let cf = &family.cf;
            let count = family.changes.unpacked_mut().filter_map(super_name).count();
            for name in family.changes.unpacked_mut().filter_map(super_name).filter(|name| !name.is_empty()) {
                let Err(why) = checks.super_name(cf, name) else { continue };
                match compared(checks.comparator(cf, false), name, checks.behaviour.release) {
                    Compared::As(head) => *name = head,
                    Compared::Unlike => {}
                    Compared::Fails => {
                        let first = Predicate::Range(SliceRange { count: 1, ..SliceRange::all() });
                        let mut command = self.request.command(cf, None, first);
                        command.with_tombstones = true;
                        let reads = self.request.reads();
                        let consistency = self.request.consistency;
                        if count > 1 || reads.count_columns(key, command, consistency).await? > 0 {
                            return Err(why);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal;
    use base::marshal::Types;

    #[test]
    fn invalid_names_are_compared_by_the_bytes_that_the_release_reads() {
        const TIME: &str = "\0\0\0\0\0\0\x10\0\u{1}2345678";
        const OTHER: &str = "\0\0\0\0\0\0\x40\0\u{1}2345678";
        let of = |class: &str, name: &str, release| {
            let cql_type = Types::builtin().parse(class).unwrap();
            let name = Bytes::copy_from_slice(name.as_bytes());
            compared(marshal::at(&*cql_type, release), &name, release)
        };
        let is = |name: &'static str| Compared::As(Bytes::from_static(name.as_bytes()));
        let longer = |name: &str| format!("{name}x");
        let (old, new) = (Release::V0_4, Release::V0_6);
        for (class, name, in_old, in_new) in [
            ("LongType", "1234567".to_owned(), Compared::Fails, Compared::Unlike),
            ("LongType", "123456789".to_owned(), is("12345678"), Compared::Unlike),
            ("LexicalUUIDType", TIME[..15].to_owned(), Compared::Fails, Compared::Fails),
            ("LexicalUUIDType", longer(OTHER), is(OTHER), is(OTHER)),
            ("TimeUUIDType", TIME[..15].to_owned(), Compared::Fails, Compared::Unlike),
            ("TimeUUIDType", TIME[..7].to_owned(), Compared::Fails, Compared::Fails),
            ("TimeUUIDType", longer(TIME), is(TIME), Compared::Unlike),
            ("TimeUUIDType", longer(OTHER), Compared::Fails, Compared::Unlike),
            ("UTF8Type", "x".to_owned(), Compared::Unlike, Compared::Unlike),
            ("IntegerType", "x".to_owned(), Compared::Fails, Compared::Fails),
        ] {
            assert_eq!(of(class, &name, old), in_old, "{class} {name}");
            assert_eq!(of(class, &name, new), in_new, "{class} {name}");
        }
    }
}
