//! The order in which a Java server walks a map.
//!
//! Batches come as maps, and the first mistake found is the one that is told. The old servers looked through
//! them in the order of `java.util.HashMap`, so that is the order here: by the hash of the key's text, in a
//! table of the size that Thrift's generated code asks for.

use bytes::Bytes;

/// Sorts the pairs of a map as Java walks one whose keys are text.
pub fn in_java_order<T>(pairs: Vec<(Bytes, T)>) -> Vec<(Bytes, T)> {
    by_bucket(pairs, string_hash)
}

/// Sorts the pairs of a map as Java walks one whose keys are byte buffers.
pub fn in_buffer_order<T>(pairs: Vec<(Bytes, T)>) -> Vec<(Bytes, T)> {
    by_bucket(pairs, buffer_hash)
}

fn by_bucket<T>(mut pairs: Vec<(Bytes, T)>, hash: fn(&[u8]) -> u32) -> Vec<(Bytes, T)> {
    if pairs.len() > 1 {
        // Generated code makes room for twice the pairs, so the table never grows while it is filled. Keys of
        // one bucket stay in the order in which they came.
        let table = (2 * pairs.len()).next_power_of_two();
        pairs.sort_by_cached_key(|(key, _)| spread(hash(key)) as usize & (table - 1));
    }
    pairs
}

/// `String.hashCode`, over UTF-16 code units.
fn string_hash(text: &[u8]) -> u32 {
    let add = |hash: u32, unit: u16| hash.wrapping_mul(31).wrapping_add(u32::from(unit));
    String::from_utf8_lossy(text).encode_utf16().fold(0, add)
}

/// `ByteBuffer.hashCode`, from the last byte to the first.
fn buffer_hash(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(1, |hash: u32, byte| hash.wrapping_mul(31).wrapping_add_signed(i32::from(byte.cast_signed())))
}

/// `HashMap` mixes the upper half of a hash into the lower.
fn spread(hash: u32) -> u32 {
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_java_s() {
        assert_eq!(string_hash(b""), 0);
        assert_eq!(string_hash(b"Hello"), 69_609_650);
        assert_eq!(string_hash("😀".as_bytes()), 1_772_899);
    }

    #[test]
    fn pairs_come_by_bucket() {
        let pairs = ["b", "a", "c"].map(|key| (Bytes::from(key), ()));
        let keys: Vec<Bytes> = in_java_order(pairs.to_vec()).into_iter().map(|(key, ())| key).collect();
        assert_eq!(keys, ["a", "b", "c"]);
    }
}
