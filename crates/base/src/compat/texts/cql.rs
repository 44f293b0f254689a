//! Messages about CQL statements.

use super::{V1_1, V2_0, V2_1, V2_2, V3_0, V3_10, texts};
use crate::compat::Line;

/// Returns a type's message about a text that it cannot read, in the words of a line. They changed with 2.2.
pub fn value_mistake(line: Line, message: &str) -> String {
    if line.is_before(V2_2) { message.to_owned() } else { later_value_mistake(message) }
}

/// Returns the same message in the words of 2.2 and later.
pub fn later_value_mistake(message: &str) -> String {
    const CHANGED: [(&str, &str); 3] = [
        ("unable to make inetaddress", "Unable to make inet address"),
        ("unable to ", "Unable to "),
        ("a  formatted", "a formatted"),
    ];
    CHANGED.iter().fold(message.to_owned(), |text, (old, new)| text.replacen(old, new, 1))
}

texts! {
    /// The number of values of an unprepared statement differs from the number of its markers (`QueryProcessor`).
    wrong_value_count() {
        "Cannot execute query with bind variables";
        V2_0: "Invalid amount of bind variables"
    }

    /// The number of values of a prepared statement differs from the number of its markers
    /// (`QueryProcessor.processPrepared`).
    wrong_bound_count(markers: usize, values: usize) {
        "there were {markers} markers(?) in CQL but {values} bound variables"
    }

    /// A constant does not have the type of its column (`Constants.Literal`).
    wrong_constant(kind: &str, constant: &str, column: &str, of: &str) {
        "Invalid {kind} constant ({constant}) for {column} of type {of}";
        V2_1: "Invalid {kind} constant ({constant}) for \"{column}\" of type {of}"
    }

    /// A text for an ASCII column has other characters (`AsciiType.fromString`). `why` is the validator's message, and
    /// `length` the number of UTF-16 code units of the first such character.
    not_ascii(why: &str, length: usize) {
        "{why}";
        V2_0: "Invalid ASCII character in string literal: java.nio.charset.UnmappableCharacterException: Input length = \
               {length}"
    }

    /// A text of CQL 2 for a TimeUUIDType that is neither a UUID nor a point in time (`TimeUUIDType.fromString` to 1.1,
    /// later `fromStringCQL2`).
    not_time_of_time_uuid(constant: &str) {
        "unable to coerce '{constant}' to version 1 UUID";
        V1_1: "unable to coerce '{constant}' to a  formatted date (long)"
    }

    /// A text of CQL 2 for a UUIDType that is neither a UUID nor a point in time (`UUIDType.fromString`).
    not_time_of_uuid(constant: &str) {
        "unable to coerce '{constant}' to version 1 UUID";
        V2_0: "unable to make version 1 UUID from '{constant}'"
    }

    /// A text for a timestamp that is not a date (`DateType` to 1.2, later `TimestampSerializer`).
    unreadable_date(constant: &str) {
        "unable to coerce '{constant}' to a  formatted date (long)";
        V2_2: "Unable to coerce '{constant}' to a formatted date (long)"
    }

    /// A timestamp of more milliseconds than a long has (`DateType` to 1.2, later `TimestampSerializer`).
    too_long_date(constant: &str) {
        "unable to coerce '{constant}' to a  formatted date (long)";
        V2_0: "unable to make long (for date) from: '{constant}'";
        V2_2: "Unable to make long (for date) from: '{constant}'"
    }

    /// ALTER TABLE DROP of a COMPACT STORAGE table (`AlterTableStatement`).
    drop_of_compact_table() {
        "Cannot drop columns from a compact CF";
        V2_0: "Cannot drop columns from a COMPACT STORAGE table";
        V2_1: "Cannot drop columns from a non-CQL3 table"
    }

    /// Milliseconds of CQL 2 for a TimeUUIDType that are more than a long (`TimeUUIDType.fromString`).
    too_many_ms_of_time_uuid(constant: &str) {
        "unable to make version 1 UUID from '{constant}'";
        V1_1: "unable to make long (for date) from: '{constant}'"
    }

    /// A condition on a clustering column after one that is not restricted by an equality (`SelectStatement`). `why` is
    /// only in the message of 2.0 and later.
    clustering_gap(name: &str, before: &str, why: &str) {
        "PRIMARY KEY part {name} cannot be restricted (preceding part {before} is either not restricted or by a non-EQ \
         relation)";
        V2_0: "PRIMARY KEY column \"{name}\" cannot be restricted (preceding column \"{before}\" {why})"
    }

    /// IN on a clustering column that is not the last (`SelectStatement`).
    in_before_last_clustering(name: &str) {
        "PRIMARY KEY part {name} cannot be restricted by IN relation";
        V2_0: "Clustering column \"{name}\" cannot be restricted by an IN relation"
    }

    /// IN on a clustering column while a collection is selected (`SelectStatement`).
    in_with_collection(name: &str) {
        "Cannot restrict PRIMARY KEY part {name} by IN relation as a collection is selected by the query";
        V2_0: "Cannot restrict column \"{name}\" by IN relation as a collection is selected by the query"
    }

    /// A SELECT by a part of the partition key, or by a range of it, without ALLOW FILTERING (`StatementRestrictions`).
    partial_key(missing: &str) {
        "Partition key parts: {missing} must be restricted as other parts are";
        V3_10: "Cannot execute this query as it might involve data filtering and thus may have unpredictable performance. If \
                you want to execute this query despite the performance unpredictability, use ALLOW FILTERING"
    }

    /// A condition on a column that the table does not have (`Relation`, later `ColumnDefinition.Raw`).
    unknown_in_where(name: &str, relation: &str) {
        "Undefined name {name} in where clause ('{relation}')";
        V3_0: "Undefined column name {name}"
    }

    /// A column to write or to delete, which the table does not have (`UpdateStatement`, later `ColumnDefinition.Raw`).
    unknown_column(name: &str) {
        "Unknown identifier {name}";
        V3_10: "Undefined column name {name}"
    }

    /// A condition of IF on a column that the table does not have (`ModificationStatement`, later `ColumnDefinition.Raw`).
    unknown_in_if(name: &str) {
        "Unknown identifier {name}";
        V3_0: "Unknown identifier {name} in IF conditions";
        V3_10: "Undefined column name {name}"
    }

    /// A selected column that the table does not have (`Selectable`, later `ColumnDefinition.Raw`).
    unknown_in_selection(name: &str) {
        "Undefined name {name} in selection clause";
        V3_10: "Undefined column name {name}"
    }

    /// ORDER BY on a column that the table does not have (`SelectStatement`, later `ColumnDefinition.Raw`).
    unknown_in_order(name: &str) {
        "Order by on unknown column {name}";
        V3_10: "Undefined column name {name}"
    }

    /// ALTER of the type of a column or a field (3.0.11 and later, `AlterTableStatement`, `AlterTypeStatement`).
    fixed_types() {
        "Altering of types is not allowed"
    }

    /// A negative TTL (`Attributes.getTimeToLive`).
    negative_ttl(ttl_s: i32) {
        "A TTL must be greater or equal to 0";
        V2_2: "A TTL must be greater or equal to 0, but was {ttl_s}"
    }

    /// CONTAINS on a clustering column without an index (`StatementRestrictions`).
    contains_on_clustering() {
        "Cannot restrict clustering columns by a CONTAINS relation without a secondary index";
        V3_0: "Clustering columns can only be restricted with CONTAINS with a secondary index or filtering"
    }

    /// Null in WHERE for a column that is not in the key (`SelectStatement`, later `RowFilter`).
    null_for_column(column: &str) {
        "Unsupported null value for indexed column {column}";
        V3_0: "Unsupported null value for column {column}"
    }

    /// SELECT DISTINCT with a condition on columns outside of the partition key (`SelectStatement`).
    distinct_rows() {
        "SELECT DISTINCT with WHERE clause only supports restriction by partition key.";
        V3_0: "SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns."
    }

    /// An operator of one column in a condition on several columns (`SelectStatement`, later `MultiColumnRelation`).
    not_multi_column(operator: &str, relation: &str) {
        "Unsupported \"{operator}\" relation: {relation}";
        V2_2: "{operator} cannot be used for Multi-column relations";
        V3_0: "{operator} cannot be used for multi-column relations"
    }

    /// `!=` in WHERE (`SelectStatement`, later `Relation`).
    unequal(column: &str, relation: &str) {
        "Unsupported \"!=\" relation: {relation}";
        V2_1: "Unsupported \"!=\" relation on column \"{column}\"";
        V2_2: "Unsupported \"!=\" relation: {relation}"
    }

    /// CONTAINS on a column that is not a collection (`SelectStatement`, later `SingleColumnRelation`).
    contains_on_single_value(column: &str) {
        "Cannot use CONTAINS relation on non collection column {column}";
        V2_2: "Cannot use CONTAINS on non-collection column {column}"
    }

    /// CONTAINS with another kind of relation on the same column (`SelectStatement`, later
    /// `SingleColumnRestriction.ContainsRestriction`).
    only_contains(column: &str) {
        "Collection column {column} can only be restricted by CONTAINS or CONTAINS KEY";
        V2_2: "Collection column {column} can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality"
    }

    /// Null in WHERE for a column of the partition key (`SelectStatement`, later `SingleColumnRestriction`).
    null_in_partition_key(column: &str) {
        "Invalid null value for partition key part {column}";
        V2_2: "Invalid null value in condition for column {column}"
    }

    /// Null for a clustering column in the WHERE of a change (`ModificationStatement`, later `SingleColumnRestriction`).
    null_in_clustering(column: &str) {
        "Invalid null value for clustering key part {column}";
        V2_2: "Invalid null value in condition for column {column}"
    }

    /// A condition on several columns, one of which is not a clustering column (`MultiColumnRelation`).
    not_clustering(name: &str) {
        "Multi-column relations can only be applied to clustering columns: {name}";
        V2_2: "Multi-column relations can only be applied to clustering columns but was applied to: {name}"
    }

    /// A DELETE of a column without a clustering column in WHERE (`DeleteStatement`).
    deleted_column_without_row(part: &str, column: &str) {
        "Missing mandatory PRIMARY KEY part {part} since {column} specified";
        V2_1: "Primary key column '{part}' must be specified in order to delete column '{column}'"
    }

    /// A write to a dense table without a clustering column (`UpdateStatement`).
    missing_clustering(column: &str) {
        "Invalid empty value for clustering column of COMPACT TABLE";
        V2_1: "Missing PRIMARY KEY part {column}";
        V3_0: "Invalid empty or null value for column {column}"
    }

    /// A call of CQL 2 (`CassandraServer` of 2.2 and later).
    cql2_removed() {
        "CQL2 has been removed in Cassandra 2.2. Please use CQL3 instead";
        V3_0: "CQL2 has been removed in Cassandra 3.0. Please use CQL3 instead"
    }

    /// A batch with USING TTL (`BatchStatement`).
    batch_with_ttl() {
        "Global TTL on the BATCH statement is not supported."
    }
}
