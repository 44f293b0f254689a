//! Reads the API's structs into the request types of `db`.

use bytes::Bytes;

use super::failure::Failure;
use crate::thrift::failure::Result;
use base::compat::Behaviour;
use base::compat::features::releases::NEWEST;
use base::util::{KeyMap, Release, in_buffer_order, in_java_order, meter};
use db::{
    ColumnOrSuper, ColumnParent, ColumnPath, CounterColumn, CounterSuper, Credential, Deletion, IndexClause,
    IndexExpression, IndexOperator, KeyRange, MultiSliceRequest, MutationRequest, NewColumn, NewSuper,
    RequestedRange, SlicePredicate,
};
use wire::thrift::{Reader, TType};

/// In a map of at most this many pairs repeated keys are found by linear search, in a larger one by hash.
const FEW_PAIRS: usize = 16;

/// Capacity reserved for a list before its elements are read: the announced count may be false.
const FIRST_ROOM: usize = 1024;

/// Reads the fields of a struct. Each arm matches the id and the type of a field, and a field without an arm is skipped,
/// as in generated code.
macro_rules! fields {
    ($reader:ident, { $($arms:tt)* }) => {
        while let Some((ttype, id)) = $reader.field_begin()? {
            match (id, ttype) {
                $($arms)*
                _ => $reader.skip(ttype)?,
            }
        }
    };
}
pub(super) use fields;

/// Returns the error for an absent required number.
fn missing_number<T>(field: &str, holder: &str) -> Result<T> {
    Err(Failure::missing_number(field, holder))
}

pub(super) fn missing<T>(field: &str, holder: &str) -> Result<T> {
    Err(Failure::missing(field, holder))
}

/// Factor for the copies of an argument during a call: as an argument, and as a part of what is read or written.
const ARGUMENT_COPIES: usize = 3;

/// Charges the memory of the next elements of a list: `announced` elements are to come.
fn charge<T>(announced: usize) -> Result<()> {
    Ok(meter::charge(ARGUMENT_COPIES * size_of::<T>() * announced.min(FIRST_ROOM))?)
}

/// Reads a list.
///
/// # Errors
///
/// If the list is not empty and its elements are of another type.
pub(super) fn list<'a, T>(
    reader: &mut Reader<'a>,
    element: TType,
    read: impl Fn(&mut Reader<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    let (found, count) = reader.list_begin()?;
    if found != element && count > 0 {
        return Err(Failure::Protocol(format!("list of {found:?} where {element:?} is declared")));
    }
    let mut items = Vec::with_capacity(count.min(FIRST_ROOM));
    for at in 0..count {
        if at % FIRST_ROOM == 0 {
            charge::<T>(count - at)?;
        }
        items.push(read(reader)?);
    }
    Ok(items)
}

/// Reads the pairs of a map, in the order sent. A repeated key replaces the value of the first, as in a Java map.
pub(super) fn map<'a, T>(
    reader: &mut Reader<'a>,
    value: TType,
    read: impl Fn(&mut Reader<'a>) -> Result<T>,
) -> Result<Vec<(Bytes, T)>> {
    let (key_type, value_type, count) = reader.map_begin()?;
    if count > 0 && (key_type != TType::String || value_type != value) {
        return Err(Failure::Protocol(format!(
            "map of {key_type:?} to {value_type:?} where String to {value:?} is declared"
        )));
    }
    let mut pairs: Vec<(Bytes, T)> = Vec::with_capacity(count.min(FIRST_ROOM));
    let mut places: KeyMap<Bytes, usize> = KeyMap::default();
    for at in 0..count {
        if at % FIRST_ROOM == 0 {
            charge::<(Bytes, Bytes, T)>(count - at)?;
        }
        let key = reader.bytes()?;
        let item = read(reader)?;
        if pairs.len() == FEW_PAIRS && places.is_empty() {
            places.extend(pairs.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)));
        }
        let place = if places.is_empty() {
            pairs.iter().position(|(other, _)| *other == key)
        } else {
            places.get(&key).copied()
        };
        match place {
            Some(at) => pairs[at].1 = item,
            None => {
                if !places.is_empty() {
                    places.insert(key.clone(), pairs.len());
                }
                pairs.push((key, item));
            }
        }
    }
    Ok(pairs)
}

/// Reads a list of binaries or strings.
pub(super) fn byte_strings(reader: &mut Reader<'_>) -> Result<Vec<Bytes>> {
    list(reader, TType::String, |reader| Ok(reader.bytes()?))
}

pub(super) fn column_parent(reader: &mut Reader<'_>) -> Result<ColumnParent> {
    let (mut column_family, mut super_column) = (None, None);
    fields!(reader, {
        (3, TType::String) => column_family = Some(reader.bytes()?),
        (4, TType::String) => super_column = Some(reader.bytes()?),
    });
    let Some(column_family) = column_family else { return missing("column_family", "ColumnParent") };
    Ok(ColumnParent { column_family, super_column })
}

pub(super) fn column_path(reader: &mut Reader<'_>) -> Result<ColumnPath> {
    let (mut column_family, mut super_column, mut column) = (None, None, None);
    fields!(reader, {
        (3, TType::String) => column_family = Some(reader.bytes()?),
        (4, TType::String) => super_column = Some(reader.bytes()?),
        (5, TType::String) => column = Some(reader.bytes()?),
    });
    let Some(column_family) = column_family else { return missing("column_family", "ColumnPath") };
    Ok(ColumnPath { column_family, super_column, column })
}

/// Reads a SliceRange. Java clients send all fields; other clients may omit `reversed` and `count`.
fn slice_range(reader: &mut Reader<'_>) -> Result<RequestedRange> {
    let (mut start, mut finish, mut reversed, mut count) = (None, None, false, 100);
    fields!(reader, {
        (1, TType::String) => start = Some(reader.bytes()?),
        (2, TType::String) => finish = Some(reader.bytes()?),
        (3, TType::Bool) => reversed = reader.bool()?,
        (4, TType::I32) => count = reader.i32()?,
    });
    let Some(start) = start else { return missing("start", "SliceRange") };
    let Some(finish) = finish else { return missing("finish", "SliceRange") };
    Ok(RequestedRange { start, finish, reversed, count })
}

pub(super) fn slice_predicate(reader: &mut Reader<'_>) -> Result<SlicePredicate> {
    let mut predicate = SlicePredicate::default();
    fields!(reader, {
        (1, TType::List) => predicate.column_names = Some(byte_strings(reader)?),
        (2, TType::Struct) => predicate.slice_range = Some(slice_range(reader)?),
    });
    Ok(predicate)
}

pub(super) fn key_range(reader: &mut Reader<'_>) -> Result<KeyRange> {
    let mut range = KeyRange {
        start_key: None,
        end_key: None,
        start_token: None,
        end_token: None,
        count: 100,
        row_filter: Vec::new(),
    };
    fields!(reader, {
        (1, TType::String) => range.start_key = Some(reader.bytes()?),
        (2, TType::String) => range.end_key = Some(reader.bytes()?),
        (3, TType::String) => range.start_token = Some(reader.bytes()?),
        (4, TType::String) => range.end_token = Some(reader.bytes()?),
        (5, TType::I32) => range.count = reader.i32()?,
        (6, TType::List) => range.row_filter = list(reader, TType::Struct, index_expression)?,
    });
    Ok(range)
}

fn index_expression(reader: &mut Reader<'_>) -> Result<IndexExpression> {
    let (mut column_name, mut operator, mut value) = (None, None, None);
    fields!(reader, {
        (1, TType::String) => column_name = Some(reader.bytes()?),
        (2, TType::I32) => operator = IndexOperator::from_repr(reader.i32()?),
        (3, TType::String) => value = Some(reader.bytes()?),
    });
    let Some(column_name) = column_name else { return missing("column_name", "IndexExpression") };
    let Some(operator) = operator else { return missing("op", "IndexExpression") };
    let Some(value) = value else { return missing("value", "IndexExpression") };
    Ok(IndexExpression { column_name, operator, value })
}

pub(super) fn index_clause(reader: &mut Reader<'_>) -> Result<IndexClause> {
    let (mut expressions, mut start_key, mut count) = (None, None, 100);
    fields!(reader, {
        (1, TType::List) => expressions = Some(list(reader, TType::Struct, index_expression)?),
        (2, TType::String) => start_key = Some(reader.bytes()?),
        (3, TType::I32) => count = reader.i32()?,
    });
    let Some(expressions) = expressions else { return missing("expressions", "IndexClause") };
    let Some(start_key) = start_key else { return missing("start_key", "IndexClause") };
    Ok(IndexClause { expressions, start_key, count })
}

/// Reads a list of columns (2.0 and later). Missing values and timestamps are checked later.
pub(super) fn columns(reader: &mut Reader<'_>) -> Result<Vec<NewColumn>> {
    list(reader, TType::Struct, |reader| column(reader, NEWEST))
}

/// Reads a CounterColumn.
pub(super) fn counter_column(reader: &mut Reader<'_>) -> Result<CounterColumn> {
    let (mut name, mut delta) = (None, None);
    fields!(reader, {
        (1, TType::String) => name = Some(reader.bytes()?),
        (2, TType::I64) => delta = Some(reader.i64()?),
    });
    let Some(delta) = delta else { return missing_number("value", "CounterColumn") };
    let Some(name) = name else { return missing("name", "CounterColumn") };
    Ok(CounterColumn { name, delta })
}

fn counter_super(reader: &mut Reader<'_>) -> Result<CounterSuper> {
    let (mut name, mut columns) = (None, None);
    fields!(reader, {
        (1, TType::String) => name = Some(reader.bytes()?),
        (2, TType::List) => columns = Some(list(reader, TType::Struct, counter_column)?),
    });
    let Some(name) = name else { return missing("name", "CounterSuperColumn") };
    let Some(columns) = columns else { return missing("columns", "CounterSuperColumn") };
    Ok(CounterSuper { name, columns })
}

fn column_slice(reader: &mut Reader<'_>) -> Result<(Bytes, Bytes)> {
    let (mut start, mut finish) = (Bytes::new(), Bytes::new());
    fields!(reader, {
        (1, TType::String) => start = reader.bytes()?,
        (2, TType::String) => finish = reader.bytes()?,
    });
    Ok((start, finish))
}

/// Reads a MultiSliceRequest. Returns the request and the number of its consistency level.
pub(super) fn multi_slice_request(reader: &mut Reader<'_>) -> Result<(MultiSliceRequest, i32)> {
    let (mut key, mut parent, mut slices) = (None, None, None);
    let (mut reversed, mut count, mut consistency) = (false, 1000, 1);
    fields!(reader, {
        (1, TType::String) => key = Some(reader.bytes()?),
        (2, TType::Struct) => parent = Some(column_parent(reader)?),
        (3, TType::List) => slices = Some(list(reader, TType::Struct, column_slice)?),
        (4, TType::Bool) => reversed = reader.bool()?,
        (5, TType::I32) => count = reader.i32()?,
        (6, TType::I32) => consistency = reader.i32()?,
    });
    // All fields are optional there. A missing key is refused as an empty one.
    let key = key.unwrap_or_default();
    let Some(column_parent) = parent else { return missing("column_parent", "MultiSliceRequest") };
    let Some(slices) = slices else { return missing("column_slices", "MultiSliceRequest") };
    Ok((MultiSliceRequest { key, column_parent, slices, reversed, count }, consistency))
}

/// Reads a Column to write. Up to 0.7 its value and timestamp are required.
pub(super) fn column(reader: &mut Reader<'_>, release: Release) -> Result<NewColumn> {
    let rules = &Behaviour::of(release).wire;
    let (mut name, mut value, mut timestamp, mut ttl_s) = (None, None, None, None);
    fields!(reader, {
        (1, TType::String) => name = Some(reader.bytes()?),
        (2, TType::String) => value = Some(reader.bytes()?),
        (3, TType::I64) => timestamp = Some(reader.i64()?),
        (4, TType::I32) if rules.columns_expire => ttl_s = Some(reader.i32()?),
    });
    // Generated code checks required numbers first.
    if rules.column_fields_are_required && timestamp.is_none() {
        return missing_number("timestamp", "Column");
    }
    let Some(name) = name else { return missing("name", "Column") };
    if rules.column_fields_are_required && value.is_none() {
        return missing("value", "Column");
    }
    Ok(NewColumn { name, value, timestamp, ttl_s })
}

fn super_column(reader: &mut Reader<'_>, release: Release) -> Result<NewSuper> {
    let (mut name, mut columns) = (None, None);
    fields!(reader, {
        (1, TType::String) => name = Some(reader.bytes()?),
        (2, TType::List) => {
            columns = Some(list(reader, TType::Struct, |reader| column(reader, release))?)
        }
    });
    let Some(name) = name else { return missing("name", "SuperColumn") };
    let Some(columns) = columns else { return missing("columns", "SuperColumn") };
    Ok(NewSuper { name, columns })
}

fn column_or_super(reader: &mut Reader<'_>, release: Release) -> Result<ColumnOrSuper> {
    let mut either = ColumnOrSuper::default();
    fields!(reader, {
        (1, TType::Struct) => either.column = Some(column(reader, release)?),
        (2, TType::Struct) => either.super_column = Some(Box::new(super_column(reader, release)?)),
        (3, TType::Struct) => either.counter = Some(Box::new(counter_column(reader)?)),
        (4, TType::Struct) => either.counter_super = Some(Box::new(counter_super(reader)?)),
    });
    Ok(either)
}

fn deletion(reader: &mut Reader<'_>, release: Release) -> Result<Deletion> {
    let (mut timestamp, mut super_column, mut predicate) = (None, None, None);
    fields!(reader, {
        (1, TType::I64) => timestamp = Some(reader.i64()?),
        (2, TType::String) => super_column = Some(reader.bytes()?),
        (3, TType::Struct) => predicate = Some(slice_predicate(reader)?),
    });
    if Behaviour::of(release).wire.column_fields_are_required && timestamp.is_none() {
        return missing_number("timestamp", "Deletion");
    }
    Ok(Deletion { timestamp, super_column, predicate })
}

fn mutation(reader: &mut Reader<'_>, release: Release) -> Result<MutationRequest> {
    let mut mutation = MutationRequest::default();
    fields!(reader, {
        (1, TType::Struct) => mutation.insert = Some(column_or_super(reader, release)?),
        (2, TType::Struct) => mutation.deletion = Some(Box::new(deletion(reader, release)?)),
    });
    Ok(mutation)
}

/// Reads the map of `batch_insert`, from column family to columns.
pub(super) fn insert_map(
    reader: &mut Reader<'_>,
    release: Release,
) -> Result<Vec<(Bytes, Vec<ColumnOrSuper>)>> {
    let families = map(reader, TType::List, |reader| {
        list(reader, TType::Struct, |reader| column_or_super(reader, release))
    });
    Ok(in_java_order(families?))
}

/// The value of a row key in `batch_mutate`: column families and their mutations.
pub(super) type FamilyMutations = Vec<(Bytes, Vec<MutationRequest>)>;

/// Reads the map of `batch_mutate`, from row key to column family to mutations.
pub(super) fn mutation_map(
    reader: &mut Reader<'_>,
    release: Release,
) -> Result<Vec<(Bytes, FamilyMutations)>> {
    let rows = map(reader, TType::Map, |reader| family_mutations(reader, release))?;
    // Keys are text up to 0.6, and byte buffers later.
    let are_bytes = Behaviour::of(release).writes.keys_are_bytes;
    Ok(if are_bytes { in_buffer_order(rows) } else { in_java_order(rows) })
}

fn family_mutations(reader: &mut Reader<'_>, release: Release) -> Result<FamilyMutations> {
    let families =
        map(reader, TType::List, |reader| list(reader, TType::Struct, |reader| mutation(reader, release)));
    Ok(in_java_order(families?))
}

/// Reads an AuthenticationRequest: a map of text to text.
pub(super) fn credentials(reader: &mut Reader<'_>) -> Result<Vec<Credential>> {
    let mut found = None;
    fields!(reader, {
        (1, TType::Map) => found = Some(map(reader, TType::String, |reader| Ok(reader.bytes()?))?),
    });
    let Some(found) = found else { return missing("credentials", "AuthenticationRequest") };
    Ok(found)
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;
    use wire::thrift::Writer;

    #[test]
    fn a_repeated_key_replaces_the_value_of_the_first() {
        for keys in [1, FEW_PAIRS - 1, FEW_PAIRS, FEW_PAIRS + 1, 5 * FEW_PAIRS] {
            let mut out = BytesMut::new();
            let mut writer = Writer::new(&mut out);
            writer.map_begin(TType::String, TType::String, 2 * keys);
            for round in ["old", "new"] {
                for key in 0..keys {
                    writer.bytes(format!("{key}").as_bytes());
                    writer.bytes(format!("{round} {key}").as_bytes());
                }
            }
            let found = map(&mut Reader::over(&out), TType::String, |reader| Ok(reader.bytes()?)).unwrap();
            let expected = (0..keys).map(|key| (format!("{key}").into(), format!("new {key}").into()));
            assert_eq!(found, expected.collect::<Vec<(Bytes, Bytes)>>());
        }
    }
}
