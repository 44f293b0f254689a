//! Messages about the keys, names, values and consistency levels of requests.

use super::{V0_7, V0_8, V1_1, V1_2, V2_0, texts};
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

    /// A conditional update whose serial consistency level is not a serial one.
    not_serial() {
        "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL"
    }
}
