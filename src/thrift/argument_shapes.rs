//! The meaning of arguments and of their fields, by their names in the interface.
//!
//! A field has the same number in all releases that have it, so one table is enough for all generations. What has no
//! shape here is shown by its type on the wire.

use super::args::Arg;
use super::wire::TType;

/// What a value means, and so how it is shown.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A number, a bool, or a text.
    Plain,
    /// A row key.
    Key,
    /// The name of a column: in a super column, if one was named before.
    Name,
    /// The name of a super column. Names after it are in the super column.
    SuperName,
    /// The value of the column that was named last.
    Value,
    /// The name of a column family, to which everything after it belongs.
    Family,
    /// A consistency level.
    Level,
    /// The number of a constant.
    Constant(&'static [&'static str]),
    /// A map that may have passwords.
    Credentials,
    /// A struct. A super column that is named in it is forgotten at its end.
    Struct(&'static [Field]),
    /// A struct that selects a column family and a super column for the arguments after it.
    Place(&'static [Field]),
    List(&'static Shape),
    /// A map with its keys and values.
    Map(&'static Shape, &'static Shape),
    /// The map of `batch_mutate`, from row key to column family to mutations. The types of a row's keys are those of its
    /// first column family.
    Rows(&'static Shape),
}

/// A field of a struct: its number, name and shape.
pub type Field = (i16, &'static str, Shape);

use Shape::{
    Constant, Credentials, Family, Key, Level, List, Map, Name, Place, Plain, Rows, Struct, SuperName, Value,
};

pub const COLUMN: Shape =
    Struct(&[(1, "name", Name), (2, "value", Value), (3, "timestamp", Plain), (4, "ttl", Plain)]);
const SUPER_COLUMN: Shape = Struct(&[(1, "name", SuperName), (2, "columns", List(&COLUMN))]);
pub const EITHER: Shape = Struct(&[
    (1, "column", COLUMN),
    (2, "super_column", SUPER_COLUMN),
    (3, "counter_column", COLUMN),
    (4, "counter_super_column", SUPER_COLUMN),
]);
/// A row of a result.
pub const KEY_SLICE: Shape = Struct(&[(1, "key", Key), (2, "columns", List(&EITHER))]);
const PARENT: Shape = Place(&[(3, "column_family", Family), (4, "super_column", SuperName)]);
const PATH: Shape =
    Place(&[(3, "column_family", Family), (4, "super_column", SuperName), (5, "column", Name)]);
const SLICE_RANGE: Shape =
    Struct(&[(1, "start", Name), (2, "finish", Name), (3, "reversed", Plain), (4, "count", Plain)]);
const PREDICATE: Shape = Struct(&[(1, "column_names", List(&Name)), (2, "slice_range", SLICE_RANGE)]);
const EXPRESSION: Shape = Struct(&[
    (1, "column_name", Name),
    (2, "op", Constant(&["EQ", "GTE", "GT", "LTE", "LT"])),
    (3, "value", Value),
]);
const INDEX_CLAUSE: Shape =
    Struct(&[(1, "expressions", List(&EXPRESSION)), (2, "start_key", Key), (3, "count", Plain)]);
const KEY_RANGE: Shape = Struct(&[
    (1, "start_key", Key),
    (2, "end_key", Key),
    (3, "start_token", Plain),
    (4, "end_token", Plain),
    (5, "count", Plain),
    (6, "row_filter", List(&EXPRESSION)),
]);
const DELETION: Shape =
    Struct(&[(1, "timestamp", Plain), (2, "super_column", SuperName), (3, "predicate", PREDICATE)]);
const MUTATION: Shape = Struct(&[(1, "column_or_supercolumn", EITHER), (2, "deletion", DELETION)]);
const COLUMN_SLICE: Shape = Struct(&[(1, "start", Name), (2, "finish", Name)]);
const MULTI_SLICE: Shape = Struct(&[
    (1, "key", Key),
    (2, "column_parent", PARENT),
    (3, "column_slices", List(&COLUMN_SLICE)),
    (4, "reversed", Plain),
    (5, "count", Plain),
    (6, "consistency_level", Level),
]);

/// The mutations of 0.3, whose columns have other names.
const FIRST_COLUMN: Shape = Struct(&[(1, "columnName", Name), (2, "value", Value), (3, "timestamp", Plain)]);
const FIRST_SUPER: Shape = Struct(&[(1, "name", SuperName), (2, "columns", List(&FIRST_COLUMN))]);
const FIRST_BATCH: Shape =
    Struct(&[(1, "table", Plain), (2, "key", Plain), (3, "cfmap", Map(&Family, &List(&FIRST_COLUMN)))]);
const FIRST_SUPER_BATCH: Shape =
    Struct(&[(1, "table", Plain), (2, "key", Plain), (3, "cfmap", Map(&Family, &List(&FIRST_SUPER)))]);

const COLUMN_DEF: Shape = Struct(&[
    (1, "name", Plain),
    (2, "validation_class", Plain),
    (3, "index_type", Constant(&["KEYS", "CUSTOM", "COMPOSITES"])),
    (4, "index_name", Plain),
    (5, "index_options", Plain),
]);
/// Its other fields are in `CF_FIELDS`.
const CF_DEF: Shape = Struct(&[
    (1, "keyspace", Plain),
    (2, "name", Plain),
    (3, "column_type", Plain),
    (5, "comparator_type", Plain),
    (6, "subcomparator_type", Plain),
    (8, "comment", Plain),
    (13, "column_metadata", List(&COLUMN_DEF)),
    (14, "gc_grace_seconds", Plain),
    (15, "default_validation_class", Plain),
    (16, "id", Plain),
    (26, "key_validation_class", Plain),
    (28, "key_alias", Plain),
]);
const KS_DEF: Shape = Struct(&[
    (1, "name", Plain),
    (2, "strategy_class", Plain),
    (3, "strategy_options", Plain),
    (4, "replication_factor", Plain),
    (5, "cf_defs", List(&CF_DEF)),
    (6, "durable_writes", Plain),
]);

/// Returns the shape of an argument.
pub fn shape_of(arg: &Arg) -> Shape {
    match (arg.name, arg.ttype) {
        ("key" | "start_key" | "finish_key", TType::String) => Key,
        ("keys", TType::List) => List(&Key),
        ("column_family", TType::String) => Family,
        ("column_path" | "path", TType::Struct) => PATH,
        ("column_parent", TType::Struct) => PARENT,
        ("predicate" | "column_predicate", TType::Struct) => PREDICATE,
        ("start_column", TType::String) => Name,
        ("value", TType::String) => Value,
        ("range", TType::Struct) => KEY_RANGE,
        ("column", TType::Struct) => COLUMN,
        ("expected" | "updates", TType::List) => List(&COLUMN),
        ("cfmap", TType::Map) => Map(&Family, &List(&EITHER)),
        ("mutation_map", TType::Map) => Rows(&Map(&Family, &List(&MUTATION))),
        ("index_clause", TType::Struct) => INDEX_CLAUSE,
        ("request", TType::Struct) => MULTI_SLICE,
        ("batchMutation", TType::Struct) => FIRST_BATCH,
        ("batchMutationSuper", TType::Struct) => FIRST_SUPER_BATCH,
        ("ks_def", TType::Struct) => KS_DEF,
        ("cf_def", TType::Struct) => CF_DEF,
        ("auth_request", TType::Struct) => Struct(&[(1, "credentials", Credentials)]),
        ("compression", TType::I32) => Constant(&["", "GZIP", "NONE"]),
        (
            "consistency_level" | "consistency" | "serial_consistency_level" | "commit_consistency_level",
            TType::I32,
        ) => Level,
        _ => Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbers and names of a struct's fields in an interface.
    fn declared(idl: &str, name: &str) -> Vec<(i16, String)> {
        let body = idl.split_once(&format!("struct {name} {{")).unwrap().1.split_once('}').unwrap().0;
        let field = |line: &str| {
            let (number, rest) = line.trim().split_once(':')?;
            let rest = rest.split("//").next()?.split(['=']).next()?;
            let name = rest.trim().trim_end_matches(',').rsplit(' ').next()?;
            Some((number.parse().ok()?, name.to_owned()))
        };
        body.lines().filter_map(field).collect()
    }

    #[test]
    fn fields_have_the_numbers_and_names_of_the_interface() {
        let (newest, first) =
            (include_str!("../../idl/cassandra-2.1.thrift"), include_str!("../../idl/cassandra-0.3.thrift"));
        for (idl, name, shape) in [
            (newest, "Column", COLUMN),
            (newest, "SuperColumn", SUPER_COLUMN),
            (newest, "ColumnOrSuperColumn", EITHER),
            (newest, "ColumnParent", PARENT),
            (newest, "ColumnPath", PATH),
            (newest, "SliceRange", SLICE_RANGE),
            (newest, "SlicePredicate", PREDICATE),
            (newest, "IndexExpression", EXPRESSION),
            (newest, "IndexClause", INDEX_CLAUSE),
            (newest, "KeyRange", KEY_RANGE),
            (newest, "Deletion", DELETION),
            (newest, "Mutation", MUTATION),
            (newest, "ColumnSlice", COLUMN_SLICE),
            (newest, "MultiSliceRequest", MULTI_SLICE),
            (newest, "ColumnDef", COLUMN_DEF),
            (newest, "KsDef", KS_DEF),
            (first, "column_t", FIRST_COLUMN),
            (first, "superColumn_t", FIRST_SUPER),
            (first, "batch_mutation_t", FIRST_BATCH),
            (first, "batch_mutation_super_t", FIRST_SUPER_BATCH),
        ] {
            let (Struct(fields) | Place(fields)) = shape else { panic!("{name}") };
            let mut declared = declared(idl, name);
            declared.sort();
            let known: Vec<(i16, String)> =
                fields.iter().map(|(id, name, _)| (*id, (*name).to_owned())).collect();
            assert_eq!(known, declared, "{name}");
        }
        // The other fields of CfDef are settings.
        let declared = declared(newest, "CfDef");
        let Struct(fields) = CF_DEF else { panic!() };
        for (id, name, _) in fields {
            assert!(declared.contains(&(*id, (*name).to_owned())), "{name}");
        }
    }
}
