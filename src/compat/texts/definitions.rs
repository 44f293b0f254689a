//! Messages about keyspaces, column families and their definitions.

use super::{V0_4, V0_7, V0_8, V1_0, V1_1, V2_0, V2_1, V2_2, texts};

texts! {
    /// A keyspace that is not defined (`ThriftValidation.validateKeyspace`).
    unknown_keyspace(name: &str) {
        "Table {name} does not exist in this schema.";
        V0_4: "Keyspace {name} does not exist in this schema.";
        V0_7: "Keyspace {name} does not exist"
    }

    /// An undefined keyspace that a session selects (`ClientState.setKeyspace`).
    unknown_keyspace_to_use(name: &str) {
        "Keyspace {name} does not exist";
        V1_0: "Keyspace '{name}' does not exist"
    }

    /// A keyspace that is not defined and is to be dropped (`CassandraServer.system_drop_keyspace`, later
    /// `MigrationManager`).
    unknown_keyspace_to_drop(name: &str) {
        "Keyspace does not exist.";
        V0_8: "Cannot drop non existing keyspace '{name}'."
    }

    /// A keyspace whose ring is described and that has none (`CassandraServer.describe_ring`).
    no_ring(name: &str) {
        "There is no ring for the keyspace: {name}"
    }

    /// describe_ring of a keyspace that is not defined. Releases before 2.1 answer as for a keyspace without a ring.
    unknown_keyspace_of_ring(name: &str) {
        "There is no ring for the keyspace: {name}";
        V2_1: "No such keyspace: {name}"
    }

    /// A call without a keyspace before one was chosen (`ClientState.getKeyspace`).
    no_keyspace() {
        "You have not set a keyspace for this session";
        V1_1: "no keyspace has been specified";
        V2_0: "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename"
    }

    /// A change of one of the server's own keyspaces.
    own_keyspace(name: &str) {
        "{name} keyspace is not user-modifiable"
    }

    /// The same if CQL creates it, alters it or writes to it.
    own_keyspace_in_cql(name: &str) {
        "{name} keyspace is not user-modifiable."
    }

    /// A new keyspace that already exists (`AlreadyExistsException`).
    existing_keyspace(name: &str) {
        "Cannot add existing keyspace \"{name}\""
    }

    /// A column family that is not defined (`ThriftValidation.validateColumnFamily`).
    unknown_table(name: &str) {
        "Column Family {name} is invalid.";
        V0_4: "unconfigured columnfamily {name}";
        V2_2: "unconfigured table {name}"
    }

    /// A column family that is not defined and is to be dropped (`CassandraServer.system_drop_column_family`).
    unknown_table_to_drop(name: &str) {
        "CF is not defined in that keyspace.";
        V0_8: "unconfigured columnfamily {name}"
    }

    /// A new column family that already exists (`AlreadyExistsException`).
    existing_table(keyspace: &str, name: &str) {
        "Cannot add already existing column family \"{name}\" to keyspace \"{keyspace}\""
    }

    /// A column family of a keyspace that is not defined (`MigrationManager`).
    table_without_keyspace(keyspace: &str, name: &str) {
        "Cannot add column family '{name}' to non existing keyspace '{keyspace}'."
    }

    /// A change to an incompatible comparator (`CFMetaData.apply`).
    other_comparator() {
        "comparators do not match or are not compatible."
    }

    /// The same of subcomparators; from 2.0 on both are one.
    other_subcomparator() {
        "subcolumncomparators do not match or are note compatible.";
        V2_0: "comparators do not match or are not compatible."
    }

    /// An index that does not exist in the keyspace (`DropIndexStatement`).
    unknown_index(name: &str, keyspace: &str) {
        "Index '{name}' could not be found in any of the column families of keyspace '{keyspace}'";
        V2_1: "Index '{name}' could not be found in any of the tables of keyspace '{keyspace}'"
    }

    /// A second index of a column.
    existing_index() {
        "Index already exists"
    }

    /// A second index of a name.
    duplicate_index(name: &str) {
        "Duplicate index names {name}";
        V0_8: "Duplicate index name {name}"
    }

    /// A column that is to be indexed and not defined.
    unknown_indexed_column(name: &str) {
        "No column definition found for column {name}"
    }

    /// An option that a strategy of replication does not know (`AbstractReplicationStrategy`).
    unknown_strategy_option(option: &str, strategy: &str, keyspace: &str) {
        "Unrecognized strategy option {{{option}}} passed to {strategy} for keyspace {keyspace}"
    }

    /// A replication factor of NetworkTopologyStrategy.
    factor_of_other_strategy() {
        "replication_factor is an option for SimpleStrategy, not NetworkTopologyStrategy"
    }

    /// A class that is not a compressor (`CompressionParameters`).
    unknown_compressor(class: &str) {
        "Could not create Compression for type {class}"
    }

    /// A class that is not a compaction strategy (`CFMetaData.createCompactionStrategy`).
    unknown_compaction(class: &str) {
        "Unable to find compaction strategy class '{class}'"
    }
}
