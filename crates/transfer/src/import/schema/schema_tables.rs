//! The tables in which servers of 1.1 and later keep their schema.

/// A table with a part of the schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemaTable {
    pub name: &'static str,
    /// The number of its key columns after the keyspace.
    pub clustering: usize,
    /// Whether its cells have plain names.
    pub is_compact: bool,
}

/// The tables of some releases, which are in one keyspace.
#[derive(Debug)]
pub(crate) struct SchemaTables {
    pub keyspace: &'static str,
    /// Those that define keyspaces and tables. Each of the releases has all of them.
    pub of_all_releases: &'static [SchemaTable],
    /// The others, of which each release has only some.
    pub of_some_releases: &'static [SchemaTable],
}

/// The tables of 3.0 and later.
pub(crate) const NEW_TABLES: SchemaTables = SchemaTables {
    keyspace: "system_schema",
    of_all_releases: &[
        table("keyspaces", 0),
        table("tables", 1),
        table("columns", 2),
        table("types", 1),
        table("indexes", 2),
        table("dropped_columns", 2),
    ],
    of_some_releases: &[
        table("triggers", 2),
        table("functions", 2),
        table("aggregates", 2),
        table("views", 1),
        table("column_masks", 2),
    ],
};

/// The tables of 1.1 to 2.2.
pub(crate) const OLD_TABLES: SchemaTables = SchemaTables {
    keyspace: "system",
    of_all_releases: &[
        SchemaTable { is_compact: true, ..table("schema_keyspaces", 0) },
        table("schema_columnfamilies", 1),
        table("schema_columns", 2),
    ],
    of_some_releases: &[
        OLD_USER_TYPES,
        table("schema_triggers", 2),
        table("schema_functions", 2),
        table("schema_aggregates", 2),
    ],
};

/// The table of 2.1 and 2.2 with user types.
pub(crate) const OLD_USER_TYPES: SchemaTable = table("schema_usertypes", 1);

const fn table(name: &'static str, clustering: usize) -> SchemaTable {
    SchemaTable { name, clustering, is_compact: false }
}
