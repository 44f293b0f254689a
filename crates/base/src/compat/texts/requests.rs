//! Messages about the keys, names, values and consistency levels of requests.

use super::{V0_7, V0_8, V1_1, V1_2, V2_0, V2_2, V3_0, V3_11, texts};
use crate::compat::features::ConsistencyLevel;

texts! {
    /// An empty row key (`ThriftValidation.validateKey`).
    empty_key() {
        "Key may not be empty"
    }

    /// A row key that is too long. Up to 0.6, its length is counted in Java's encoding.
    long_key(length: usize, max: usize) {
        "Encoded key length of {length} is longer than maximum of {max}";
        V0_7: "Key length of {length} is longer than maximum of {max}"
    }

    /// The start token of a KeyRange is after its end token (`ThriftValidation.validateKeyRange`).
    crossed_tokens() {
        "start key's md5 sorts after end key's md5.  this is not allowed; you probably should not specify end key at \
         all, under RandomPartitioner";
        V1_2: "start key's token sorts after end key's token.  this is not allowed; you probably should not specify \
               end key at all except with an ordered partitioner"
    }

    /// A value that is not valid for its type (`ThriftValidation.validateColumnData`). To 0.7, the message has name and
    /// value in hex, as `[6e] = [76]`; later the name in the text form of its type.
    invalid_value(place: &str, name: &str, in_hex: &str, why: &str) {
        "{place}{in_hex} failed validation ({why})";
        V0_8: "({why}) {place}[{name}] failed validation"
    }

    /// The index of a value that is too long for it: a part of the message.
    index_of_value(family: &str, index: &str) {
        "{index}";
        V2_0: "{family}.{index}"
    }

    /// The deletion of a super column in a Standard column family: a clause of the message.
    deletion_of_super() {
        "deletion of super_column";
        V0_8: "Deletion of super columns"
    }

    /// A read at a consistency level that only writes may have. To 1.0, ANY is the only one.
    level_of_writes(level: ConsistencyLevel) {
        "Consistency level any may not be applied to read operations";
        V1_1: "{level} ConsistencyLevel is only supported for writes"
    }

    /// Counters are written to a column family without counters (`non` is `"non "`), or other columns to one of counters
    /// (`ThriftValidation.validateColumnFamily`).
    not_for_counters(non: &str, family: &str) {
        "invalid operation for {non}commutative columnfamily {family}";
        V2_2: "invalid operation for {non}commutative table {family}"
    }

    /// A column parent of a Standard column family has a super column (`ThriftValidation.validateColumnParent`).
    super_in_parent(family: &str) {
        "columnfamily alone is required for standard CF {family}";
        V2_2: "table alone is required for standard CF {family}"
    }

    /// Names of columns in a super column of a Standard column family (`ThriftValidation.validateColumnNames`).
    super_of_standard(family: &str) {
        "supercolumn specified to ColumnFamily {family} containing normal columns";
        V2_2: "supercolumn specified to table {family} containing normal columns"
    }

    /// A deletion in a batch without a timestamp (`ThriftValidation.validateDeletion`).
    deletion_without_timestamp(family: &str) {
        "Deletion timestamp is not optional for non commutative column family {family}";
        V2_2: "Deletion timestamp is not optional for non commutative table {family}"
    }

    /// A deletion in a batch names a super column of a Standard column family: the begin of the message.
    deletion_on_standard(what: &str, keyspace: &str, family: &str) {
        "{what} is not possible on a standard ColumnFamily (KeySpace={keyspace} ColumnFamily={family}";
        V2_2: "{what} is not possible on a standard table (KeySpace={keyspace} Table={family}"
    }

    /// A counter update at ANY (`CFMetaData.validateForWrite`, later `ConsistencyLevel.validateCounterForWrite`).
    counter_at_any(family: &str) {
        "Consistency level ANY is not yet supported for counter columnfamily {family}";
        V2_2: "Consistency level ANY is not yet supported for counter table {family}"
    }

    /// A read of many rows at a serial consistency level (`StorageProxy.read`).
    serial_read_of_rows() {
        "SERIAL/LOCAL_SERIAL consistency may only be requested for one row at a time";
        V3_0: "SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time"
    }

    /// A time to live that is too short (`ThriftValidation.validateTtl`). 3.11 takes 0 as none.
    short_ttl() {
        "ttl must be positive";
        V3_11: "ttl must be greater or equal to 0"
    }

    /// A conditional update whose serial consistency level is not a serial one.
    not_serial() {
        "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL"
    }
}
