//! Messages about keyspaces, column families and their definitions.

use super::{V0_4, V0_7, V0_8, V1_0, V1_1, V1_2, V2_0, V2_1, V2_2, texts};

texts! {
    /// A call names an undefined keyspace (`ThriftValidation.validateKeyspace`).
    unknown_keyspace(name: &str) {
        "Table {name} does not exist in this schema.";
        V0_4: "Keyspace {name} does not exist in this schema.";
        V0_7: "Keyspace {name} does not exist"
    }

    /// set_keyspace names an undefined keyspace (`ThriftValidation.validateTable`, later `ClientState.setKeyspace`).
    unknown_keyspace_to_use(name: &str) {
        "Keyspace {name} does not exist";
        V1_2: "Keyspace '{name}' does not exist"
    }

    /// An undefined keyspace in USE (`ClientState.setKeyspace`).
    unknown_keyspace_of_use(name: &str) {
        "Keyspace '{name}' does not exist"
    }

    /// An undefined keyspace is to be dropped (`CassandraServer.system_drop_keyspace`, later `MigrationManager`).
    unknown_keyspace_to_drop(name: &str) {
        "Keyspace does not exist.";
        V0_8: "Cannot drop non existing keyspace '{name}'."
    }

    /// describe_ring names a keyspace without a ring (`CassandraServer.describe_ring`).
    no_ring(name: &str) {
        "There is no ring for the keyspace: {name}"
    }

    /// describe_ring names an undefined keyspace (`StorageService.describeRing`). Releases before 2.0 answer as for a
    /// keyspace without a ring.
    unknown_keyspace_of_ring(name: &str) {
        "There is no ring for the keyspace: {name}";
        V2_0: "No such keyspace: {name}"
    }

    /// A call needs the session's keyspace before set_keyspace (`ClientState.getKeyspace`).
    no_keyspace() {
        "You have not set a keyspace for this session";
        V1_1: "no keyspace has been specified";
        V2_0: "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename"
    }

    /// A Thrift call changes a keyspace of the server, such as `system`.
    own_keyspace(name: &str) {
        "{name} keyspace is not user-modifiable"
    }

    /// A Thrift call or CQL 2 drops a column family of such a keyspace.
    family_of_own_keyspace(name: &str) {
        "{name} keyspace is not user-modifiable";
        V1_1: "{name} keyspace is not user-modifiable."
    }

    /// A CQL statement creates, alters or writes to a keyspace of the server.
    own_keyspace_in_cql(name: &str) {
        "{name} keyspace is not user-modifiable."
    }

    /// A name differs from that of a keyspace only in upper and lower case, or not at all (`ThriftValidation`).
    clashing_keyspace(name: &str, other: &str) {
        "Keyspace names must be case-insensitively unique";
        V1_0: "Keyspace names must be case-insensitively unique (\"{name}\" conflicts with \"{other}\")"
    }

    /// CQL 2 prints the exception of a mistake in a definition as Java does, with its class.
    mistake_in_cql2(why: &str) {
        "org.apache.cassandra.config.ConfigurationException: {why}";
        V1_2: "org.apache.cassandra.exceptions.ConfigurationException: {why}"
    }

    /// The same for a mistake in the definition of an index. To 1.0 it has no class.
    mistake_in_index_of_cql2(why: &str) {
        "{why}";
        V1_1: "org.apache.cassandra.config.ConfigurationException: {why}";
        V1_2: "org.apache.cassandra.exceptions.ConfigurationException: {why}"
    }

    /// The same for a column family that exists.
    existing_table_in_cql2(keyspace: &str, name: &str) {
        "org.apache.cassandra.config.ConfigurationException: {name} already exists in keyspace {keyspace}";
        V1_1: "org.apache.cassandra.config.ConfigurationException: Cannot add already existing column family '{name}' to \
               keyspace '{keyspace}'.";
        V1_2: "org.apache.cassandra.exceptions.AlreadyExistsException: Cannot add already existing column family \
               \"{name}\" to keyspace \"{keyspace}\""
    }

    /// A keyspace to create already exists (`AlreadyExistsException`).
    existing_keyspace(name: &str) {
        "Keyspace already exists.";
        V0_8: "Cannot add existing keyspace \"{name}\""
    }

    /// A call names an undefined column family (`ThriftValidation.validateColumnFamily`).
    unknown_table(name: &str) {
        "Column Family {name} is invalid.";
        V0_4: "unconfigured columnfamily {name}";
        V2_2: "unconfigured table {name}"
    }

    /// A call names a column family with the empty name (`ThriftValidation.validateColumnFamily`).
    empty_table_name() {
        "non-empty columnfamily is required";
        V2_2: "non-empty table is required"
    }

    /// A column family to create already exists (`AlreadyExistsException`).
    existing_table(name: &str, keyspace: &str) {
        "Cannot add already existing column family \"{name}\" to keyspace \"{keyspace}\"";
        V2_2: "Cannot add already existing table \"{name}\" to keyspace \"{keyspace}\""
    }

    /// update_keyspace with column families (`CassandraServer.system_update_keyspace`).
    tables_in_keyspace_update() {
        "Keyspace update must not contain any column family definitions.";
        V2_2: "Keyspace update must not contain any table definitions."
    }

    /// CREATE TABLE with a name that files cannot have (`CFPropDefs`, later `CreateTableStatement`).
    invalid_table_name(name: &str) {
        "\"{name}\" is not a valid column family name (must be alphanumeric character only: [0-9A-Za-z]+)";
        V2_2: "\"{name}\" is not a valid table name (must be alphanumeric character or underscore only: [a-zA-Z_0-9]+)"
    }

    /// An undefined column family is to be dropped (`CassandraServer.system_drop_column_family`).
    unknown_table_to_drop(name: &str) {
        "CF is not defined in that keyspace.";
        V0_8: "unconfigured columnfamily {name}";
        V2_2: "unconfigured table {name}"
    }

    /// A column family is to be created in an undefined keyspace (`MigrationManager`).
    table_without_keyspace(keyspace: &str, name: &str) {
        "Cannot add column family '{name}' to non existing keyspace '{keyspace}'.";
        V2_2: "Cannot add table '{name}' to non existing keyspace '{keyspace}'."
    }

    /// A comparator is changed to an incompatible one (`CFMetaData.apply`).
    other_comparator() {
        "comparators do not match or are not compatible."
    }

    /// A subcomparator is changed to an incompatible one. In 2.0 and later it is part of the comparator.
    other_subcomparator() {
        "subcolumncomparators do not match or are note compatible.";
        V2_0: "comparators do not match or are not compatible."
    }

    /// DROP INDEX names an index that the keyspace does not have (`DropIndexStatement`).
    unknown_index(name: &str, keyspace: &str) {
        "Index '{name}' could not be found in any of the column families of keyspace '{keyspace}'";
        V2_1: "Index '{name}' could not be found in any of the tables of keyspace '{keyspace}'"
    }

    /// A second index on a column.
    existing_index() {
        "Index already exists"
    }

    /// A second index on a column (3.0 and later).
    same_index(name: &str, known: &str) {
        "Index {name} is a duplicate of existing index {known}"
    }

    /// A second index with the same name.
    duplicate_index(name: &str) {
        "Duplicate index names {name}";
        V0_8: "Duplicate index name {name}"
    }

    /// An index on a column that is not defined.
    unknown_indexed_column(name: &str) {
        "No column definition found for column {name}"
    }

    /// An option that the replication strategy does not have (`AbstractReplicationStrategy`).
    unknown_strategy_option(option: &str, strategy: &str, keyspace: &str) {
        "Unrecognized strategy option {{{option}}} passed to {strategy} for keyspace {keyspace}"
    }

    /// The option `replication_factor` with NetworkTopologyStrategy.
    factor_of_other_strategy() {
        "replication_factor is an option for SimpleStrategy, not NetworkTopologyStrategy"
    }

    /// An unknown compressor (`CompressionParameters`).
    unknown_compressor(class: &str) {
        "Could not create Compression for type {class}"
    }

    /// An unknown compaction strategy (`CFMetaData.createCompactionStrategy`).
    unknown_compaction(class: &str) {
        "Unable to find compaction strategy class '{class}'"
    }
}
