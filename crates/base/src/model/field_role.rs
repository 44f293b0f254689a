//! The roles of the fields of requests and results, by their names in the Thrift interface.
//!
//! The log of requests and the redaction of recordings hide what clients store and show the rest, and the journal shows
//! keys, names and values with the types of their column family. All of them ask this table. Each name in `idl/` has a
//! role, which a test of the interface checks.

use crate::compat::features::CF_FIELDS;

/// The role of a field's value. In a list each element has the role; the fields of a struct have roles of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldRole {
    /// A row key.
    Key,
    /// The token of a row key.
    Token,
    /// The name of a column: in a super column, if one was named before.
    Name,
    /// The name of a super column. Names after it are in the super column.
    SuperName,
    /// The value of the column that was named last.
    Value,
    /// A key, a name or a value: it is bound to a statement, or in the result of one.
    Data,
    /// A column family and names below it, with colons between them: `Posts:super:column` of 0.3.
    Path,
    /// The name of a column family, to which everything after it belongs.
    ColumnFamily,
    /// The name of a keyspace.
    Keyspace,
    /// A map from row keys, in `mutation_map` to maps from column families.
    Rows,
    /// A map from column families.
    ColumnFamilies,
    /// A CQL statement.
    Statement,
    /// A map with passwords.
    Credentials,
    /// A consistency level.
    Consistency,
    /// A part of the schema, or of the description of the server.
    Definition,
    /// The operation of a call: structs, counts, times and options.
    Structure,
}

/// The names of fields and arguments by role. Only the journal has the last two: the statements of a batch, and a bound
/// value that is not set.
const FIELDS: [(FieldRole, &str); 14] = [
    (FieldRole::Key, "key keys start_key end_key finish_key start finish startWith stopAt"),
    (FieldRole::Token, "start_token end_token"),
    (
        FieldRole::Name,
        "name column column_name column_names start_column columnName columnNames name_types \
         variable_names",
    ),
    (FieldRole::SuperName, "super_column superColumnNames"),
    (FieldRole::Value, "value cellData"),
    (FieldRole::Data, "values resultSet errorTxt why"),
    (FieldRole::Path, "columnPath columnParent columnPathOrParent superColumnPath"),
    (FieldRole::ColumnFamily, "column_family cfname cfName columnFamily"),
    (FieldRole::Keyspace, "keyspace table tablename tableName"),
    (FieldRole::Rows, "mutation_map"),
    (FieldRole::ColumnFamilies, "cfmap"),
    (
        FieldRole::Consistency,
        "consistency_level consistency serial_consistency_level commit_consistency_level",
    ),
    (
        FieldRole::Definition,
        "ks_def cf_def cf_defs column_metadata triggers options column_type comparator_type \
         subcomparator_type comment id gc_grace_seconds validation_class default_validation_class \
         key_validation_class key_alias index_type index_name index_options strategy_class \
         strategy_options replication_factor durable_writes endpoints rpc_endpoints endpoint_details \
         host datacenter rack value_types variable_types default_name_type default_value_type \
         property propertyName version",
    ),
    (
        FieldRole::Structure,
        "columns counter_column counter_super_column column_or_supercolumn column_parent column_path \
         path column_slices current_values predicate column_predicate slice_range range request \
         index_clause expressions row_filter op deletion expected updates batchMutation \
         batchMutationSuper auth_request compression itemId rows schema type num count row_count \
         maxResults keys_per_split reversed success timestamp timeStamp ttl block errorCode \
         acknowledged_by acknowledged_by_batchlog paxos_in_progress queries unset",
    ),
];

/// Methods by the role of their results outside of structs.
const RESULTS: [(FieldRole, &str); 5] = [
    (FieldRole::Rows, "multiget multiget_slice multiget_count"),
    (FieldRole::Key, "get_key_range"),
    (FieldRole::Token, "describe_splits"),
    (FieldRole::Structure, "trace_next_query"),
    (
        FieldRole::Definition,
        "describeTable describe_cluster_name describe_keyspace describe_keyspaces \
         describe_partitioner describe_schema_versions describe_snitch describe_token_map \
         describe_version getStringListProperty getStringProperty get_string_list_property \
         get_string_property system_add_column_family system_add_keyspace system_drop_column_family \
         system_drop_keyspace system_update_column_family system_update_keyspace",
    ),
];

/// Returns the role of a name in a table.
fn role_in(table: &[(FieldRole, &str)], name: &str) -> Option<FieldRole> {
    table.iter().find(|(_, names)| names.split(' ').any(|known| known == name)).map(|(role, _)| *role)
}

impl FieldRole {
    /// Returns the role of an argument, or of a field of a struct that is not known; `None` for an unknown name.
    pub fn of_name(name: &str) -> Option<FieldRole> {
        match name {
            "query" => Some(FieldRole::Statement),
            "credentials" => Some(FieldRole::Credentials),
            _ if CF_FIELDS.iter().any(|field| field.name == name) => Some(FieldRole::Definition),
            _ => role_in(&FIELDS, name),
        }
    }

    /// Returns the role of a field of a struct; `None` for an unknown name. Some names have other roles in some structs.
    pub fn of_field(of: &str, name: &str) -> Option<FieldRole> {
        match (of, name) {
            ("SuperColumn" | "CounterSuperColumn" | "superColumn_t", "name") => Some(FieldRole::SuperName),
            ("CfDef", "name") => Some(FieldRole::ColumnFamily),
            ("KsDef", "name") => Some(FieldRole::Keyspace),
            ("ColumnDef" | "TriggerDef", "name") => Some(FieldRole::Definition),
            ("SliceRange" | "ColumnSlice", "start" | "finish") => Some(FieldRole::Name),
            ("CqlRow", "key") => Some(FieldRole::Data),
            _ => FieldRole::of_name(name),
        }
    }

    /// Returns the role of a method's result outside of structs; `None` for a method whose result has no texts there.
    pub fn of_result(method: &str) -> Option<FieldRole> {
        role_in(&RESULTS, method)
    }

    /// Returns the role of the keys of a map.
    #[must_use]
    pub fn of_keys(self) -> FieldRole {
        match self {
            FieldRole::Rows => FieldRole::Key,
            FieldRole::ColumnFamilies => FieldRole::ColumnFamily,
            FieldRole::Credentials => FieldRole::Structure,
            other => other,
        }
    }

    /// Returns the role of the values of a map.
    #[must_use]
    pub fn of_map_values(self) -> FieldRole {
        match self {
            FieldRole::Rows => FieldRole::ColumnFamilies,
            FieldRole::ColumnFamilies => FieldRole::Structure,
            FieldRole::Name => FieldRole::Definition,
            other => other,
        }
    }

    /// Returns whether clients store the field's value. Other values describe the operation.
    pub fn is_stored(self) -> bool {
        let is_key = matches!(self, FieldRole::Key | FieldRole::Token);
        let is_name = matches!(self, FieldRole::Name | FieldRole::SuperName);
        is_key || is_name || matches!(self, FieldRole::Value | FieldRole::Data)
    }
}
