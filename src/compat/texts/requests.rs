//! Messages about keys, names, values and levels of requests.

use super::{V0_7, V0_8, V1_1, V1_2, texts};
use crate::compat::features::ConsistencyLevel;

texts! {
    /// An empty row key (`ThriftValidation.validateKey`).
    empty_key() {
        "Key may not be empty"
    }

    /// A row key that is too long. To 0.6 it is measured as Java encodes it.
    long_key(length: usize, max: usize) {
        "Encoded key length of {length} is longer than maximum of {max}";
        V0_7: "Key length of {length} is longer than maximum of {max}"
    }

    /// A range of keys whose tokens are in reverse order (`ThriftValidation.validateKeyRange`).
    crossed_tokens() {
        "start key's md5 sorts after end key's md5.  this is not allowed; you probably should not specify end key at \
         all, under RandomPartitioner";
        V1_2: "start key's token sorts after end key's token.  this is not allowed; you probably should not specify \
               end key at all except with an ordered partitioner"
    }

    /// A value that its type does not take (`ThriftValidation.validateColumnData`). To 0.7 name and value are shown
    /// in hex, as `[6e] = [76]`; later the name is, by its type.
    invalid_value(place: &str, name: &str, in_hex: &str, why: &str) {
        "{place}{in_hex} failed validation ({why})";
        V0_8: "({why}) {place}[{name}] failed validation"
    }

    /// What is refused of a column family without super columns.
    deletion_of_super() {
        "deletion of super_column";
        V0_8: "Deletion of super columns"
    }

    /// A read at a level of writes. To 1.0 only ANY is one.
    level_of_writes(level: ConsistencyLevel) {
        "Consistency level any may not be applied to read operations";
        V1_1: "{level} ConsistencyLevel is only supported for writes"
    }

    /// A conditional update whose read has another level.
    not_serial() {
        "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL"
    }
}
