//! Tests of files of Parquet.

use super::*;
use crate::export::table_shape::{ExportColumn, LineOf};
use base::compat::features::releases::NEWEST;
use base::marshal::{list_to_bytes, map_to_bytes, tuple_to_bytes};
use base::schema::{CfDef, TableDef};
use parquet::file::reader::{FileReader, SerializedFileReader};

fn int(number: i32) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

/// Returns the levels and the number of values of each leaf after some values of a column.
fn levels(of: CqlType, fields: &[Option<Bytes>]) -> Vec<(Vec<i16>, Vec<i16>, usize)> {
    let mut schema = SchemaMaker { leaves: Vec::new() };
    let (node, _) = schema.node("c", &ValueType::Cql(of), false, 1).unwrap();
    let mut group =
        RowGroup { types: Types::builtin(), leaves: schema.leaves, bytes: 0, changed: 0, changed_keys: 0 };
    fields.iter().for_each(|field| group.put(&node, &Field::from(field.clone()), 0, 0));
    let of_leaf = |leaf: Leaf| {
        let LeafValues::Integers(values) = leaf.values else { panic!("another type") };
        (leaf.definition, leaf.repetition, values.len())
    };
    group.leaves.into_iter().map(of_leaf).collect()
}

#[test]
fn levels_say_which_part_of_a_path_is_there() {
    let native = || Box::new(CqlType::Native(Native::Int));
    let list = CqlType::List { element: native(), is_frozen: false };
    let two = list_to_bytes(&[int(1), int(2)], CollectionForm::Long);
    let none = list_to_bytes(&[], CollectionForm::Long);
    let of_lists = levels(list.clone(), &[Some(two.clone()), None, Some(none), Some(Bytes::from("invalid"))]);
    assert_eq!(of_lists, [(vec![3, 3, 0, 1, 0], vec![0, 1, 0, 0, 0], 2)]);
    let map = CqlType::Map { key: native(), value: Box::new(list), is_frozen: false };
    let entries = map_to_bytes(&[(int(1), two.clone()), (int(2), two)], CollectionForm::Long);
    let keys = (vec![2, 2], vec![0, 1], 2);
    let values = (vec![5, 5, 5, 5], vec![0, 2, 1, 2], 4);
    assert_eq!(levels(map, &[Some(entries)]), [keys, values]);
    let pair = CqlType::Tuple(vec![CqlType::Native(Native::Int), CqlType::Native(Native::Int)]);
    let tuples = [Some(tuple_to_bytes(&[Some(int(1)), None])), Some(tuple_to_bytes(&[Some(int(1))])), None];
    let second = (vec![1, 1, 0], vec![0; 3], 0);
    assert_eq!(levels(pair, &tuples), [(vec![2, 2, 0], vec![0; 3], 2), second]);
}

/// Writes rows, each as a group of its own. Returns them as they are read, and the notes.
fn written(types: Vec<CqlType>, rows: &[Vec<Option<Bytes>>]) -> (Vec<String>, Vec<String>) {
    let cf = Arc::new(CfDef::new("k", "t"));
    let columns = types.into_iter().enumerate();
    let all: Vec<ExportColumn> =
        columns.map(|(at, of)| ExportColumn { name: format!("c{at}"), of: ValueType::Cql(of) }).collect();
    let written = (0..all.len()).collect();
    let def = TableDef::of(&cf, NEWEST);
    let shape = Arc::new(TableShape { cf, def, line: LineOf::Row, all, written, selected: None });
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = Box::new(ParquetWriter::begin(file.reopen().unwrap(), shape, Types::builtin()).unwrap());
    writer.group_bytes = 1;
    for row in rows {
        let fields = row.iter().cloned().map(Field::from).collect();
        writer.write(Record { key: Bytes::new(), fields, changes: Vec::new() }).unwrap();
    }
    let notes = writer.finish().unwrap();
    let reader = SerializedFileReader::new(file.reopen().unwrap()).unwrap();
    assert_eq!(reader.num_row_groups(), rows.len());
    (reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect(), notes)
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let native = |of| Box::new(CqlType::Native(of));
    let value = |bytes: &[u8]| Some(Bytes::copy_from_slice(bytes));
    let list = CqlType::List { element: native(Native::Int), is_frozen: true };
    let map = CqlType::Map { key: native(Native::Text), value: native(Native::Int), is_frozen: false };
    let of_list = list_to_bytes(&[int(1), int(2)], CollectionForm::Long);
    let of_map = map_to_bytes(&[(Bytes::from("a"), int(3))], CollectionForm::Long);
    let pair = CqlType::Tuple(vec![*native(Native::Int), *native(Native::Text)]);
    let columns = [
        (*native(Native::Text), value(b"text")),
        (*native(Native::Blob), value(&[0, 255])),
        (*native(Native::Boolean), value(&[1])),
        (*native(Native::Tinyint), value(&[0xff])),
        (*native(Native::Smallint), value(&[1, 0])),
        (*native(Native::Int), Some(int(-7))),
        (*native(Native::Bigint), value(&8_i64.to_be_bytes())),
        (*native(Native::Float), value(&0.5_f32.to_be_bytes())),
        (*native(Native::Double), value(&0.25_f64.to_be_bytes())),
        (*native(Native::Timestamp), value(&1_000_i64.to_be_bytes())),
        (*native(Native::Date), value(&0x8000_0001_u32.to_be_bytes())),
        (*native(Native::Time), value(&9_i64.to_be_bytes())),
        (*native(Native::Uuid), value(&[1; 16])),
        (*native(Native::Varint), value(&[1, 0])),
        (*native(Native::Inet), value(&[127, 0, 0, 1])),
        (list, Some(of_list)),
        (map, Some(of_map)),
        (pair, Some(tuple_to_bytes(&[Some(int(4)), None]))),
    ];
    let nulls = vec![None; columns.len()];
    let (types, full): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let count = types.len();
    let (rows, notes) = written(types, &[full, nulls]);
    let expected = [
        "\"text\"",
        "[0, 255]",
        "true",
        "-1",
        "256",
        "-7",
        "8",
        "0.5",
        "0.25",
        "1970-01-01 00:00:01.000 +00:00",
        "1970-01-02",
        "9",
        "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]",
        "\"256\"",
        "\"127.0.0.1\"",
        "[1, 2]",
        "{\"a\" -> 3}",
        "{field_1: 4, field_2: null}",
    ];
    let row = |fields: &[&str]| {
        let named = fields.iter().enumerate().map(|(at, field)| format!("c{at}: {field}"));
        format!("{{{}}}", named.collect::<Vec<_>>().join(", "))
    };
    let null_fields = vec!["null"; count];
    assert_eq!(rows, [row(&expected), row(&null_fields)]);
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn keys_of_maps_that_are_invalid_are_counted() {
    let native = || Box::new(CqlType::Native(Native::Int));
    let map = CqlType::Map { key: native(), value: native(), is_frozen: false };
    let entries = [(Bytes::from("abc"), int(1)), (int(2), Bytes::from("abc"))];
    let (rows, notes) = written(vec![map], &[vec![Some(map_to_bytes(&entries, CollectionForm::Long))]]);
    assert_eq!(rows, ["{c0: {0 -> 1, 2 -> null}}"]);
    let said = "instead of bytes that are not of the column's type";
    assert_eq!(
        notes,
        [format!("1 value: NULL {said}"), format!("1 map entry: zero or nothing as the key {said}")]
    );
}

#[test]
fn bytes_are_counted_with_their_place() {
    let mut schema = SchemaMaker { leaves: Vec::new() };
    let of = ValueType::Cql(CqlType::Native(Native::Blob));
    let (node, _) = schema.node("c", &of, false, 1).unwrap();
    let mut group =
        RowGroup { types: Types::builtin(), leaves: schema.leaves, bytes: 0, changed: 0, changed_keys: 0 };
    let page = Bytes::from(vec![1; 1000]);
    group.put(&node, &Field::Bytes(page.slice(..10)), 0, 0);
    assert_eq!(group.bytes, 10 + 44);
    assert!(page.is_unique(), "the page is still held");
}
