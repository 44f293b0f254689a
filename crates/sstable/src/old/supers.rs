//! Super columns of 2.0 to 2.2, whose columns have composite names: the super column's name and their own.

use bytes::Bytes;

use super::super::atom::Atom;
use base::marshal::components;
use base::model::RangeTombstone;

/// Returns an atom of a super column family with its super column, or the reason why its name is not a name in one.
pub(in super::super) fn in_super_columns(atom: Atom) -> Result<Atom, String> {
    match atom {
        Atom::Cell { super_column: None, mut cell } => {
            let (holder, name) = split(&cell.name)?;
            cell.name = name;
            Ok(Atom::Cell { super_column: Some(holder), cell })
        }
        Atom::Counter { super_column: None, mut counter } => {
            let (holder, name) = split(&counter.name)?;
            counter.name = name;
            Ok(Atom::Counter { super_column: Some(holder), counter })
        }
        Atom::Range(range) if range.super_column.is_none() => range_in(range),
        other => Ok(other),
    }
}

fn split(name: &Bytes) -> Result<(Bytes, Bytes), String> {
    match components(name).as_deref() {
        Some([holder, own]) => Ok((name.slice_ref(holder), name.slice_ref(own))),
        _ => Err("a name that is not a super column's name and a column's".to_owned()),
    }
}

/// A range is of super columns if its bounds have one component, or of columns in one super column if they have two.
fn range_in(range: RangeTombstone) -> Result<Atom, String> {
    let wrong = || "a range tombstone whose bounds are in different super columns".to_owned();
    let parts = |bound: &Bytes| -> Result<Vec<Bytes>, String> {
        let parts = components(bound).ok_or_else(wrong)?;
        Ok(parts.into_iter().map(|part| bound.slice_ref(part)).collect())
    };
    let (start, finish) = (parts(&range.start)?, parts(&range.finish)?);
    let deletion = range.deletion;
    match (&start[..], &finish[..]) {
        ([name], [last]) if name == last => Ok(Atom::SuperDeletion { name: name.clone(), deletion }),
        ([start], [finish]) => {
            Ok(Atom::Range(RangeTombstone { start: start.clone(), finish: finish.clone(), ..range }))
        }
        ([holder, start @ ..], [last, finish @ ..])
            if holder == last && start.len() < 2 && finish.len() < 2 =>
        {
            Ok(Atom::Range(RangeTombstone {
                super_column: Some(holder.clone()),
                start: start.first().cloned().unwrap_or_default(),
                finish: finish.first().cloned().unwrap_or_default(),
                deletion,
            }))
        }
        ([], _) | (_, []) => Ok(Atom::Range(RangeTombstone {
            start: start.first().cloned().unwrap_or_default(),
            finish: finish.first().cloned().unwrap_or_default(),
            ..range
        })),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::push_component;
    use base::model::{Cell, DeletionTime};

    fn name(parts: &[&[u8]], end: u8) -> Bytes {
        let mut name = Vec::new();
        parts.iter().for_each(|part| push_component(part, 0, &mut name));
        if let Some(last) = name.last_mut() {
            *last = end;
        }
        name.into()
    }

    #[test]
    fn composite_names_become_super_columns() {
        let deletion = DeletionTime { marked_for_delete_at: 5, local_deletion_time: 1 };
        let range = |start: Bytes, finish: Bytes| {
            in_super_columns(Atom::Range(RangeTombstone { super_column: None, start, finish, deletion }))
        };
        let cell = Atom::Cell { super_column: None, cell: Cell::tombstone(name(&[b"s", b"c"], 0), 1, 1) };
        let Atom::Cell { super_column, cell } = in_super_columns(cell).unwrap() else { panic!() };
        assert_eq!((super_column.as_deref(), &cell.name[..]), (Some(&b"s"[..]), &b"c"[..]));
        let whole = range(name(&[b"s"], 0xFF), name(&[b"s"], 1)).unwrap();
        assert_eq!(whole, Atom::SuperDeletion { name: Bytes::from_static(b"s"), deletion });
        let Atom::Range(columns) = range(name(&[b"s", b"a"], 0xFF), name(&[b"s", b"c"], 1)).unwrap() else {
            panic!()
        };
        assert_eq!((&columns.start[..], &columns.finish[..]), (&b"a"[..], &b"c"[..]));
        assert_eq!(columns.super_column.as_deref(), Some(&b"s"[..]));
        range(name(&[b"s", b"a"], 0), name(&[b"t", b"c"], 1)).expect_err("in two super columns");
        in_super_columns(Atom::Cell { super_column: None, cell: Cell::tombstone(name(&[b"s"], 0), 1, 1) })
            .expect_err("one component");
    }
}
