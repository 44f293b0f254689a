//! Sorts the pairs of maps like `java.util.HashMap`.
//!
//! Batches are maps, and the server reports the first error that it finds. Old servers iterated over a
//! `java.util.HashMap`, so this server uses the same order: by hash of the key, in a table of the size that Thrift's
//! generated code allocates.

use bytes::Bytes;

/// Sorts pairs in the iteration order of a Java map with text keys.
pub(super) fn in_java_order<T>(pairs: Vec<(Bytes, T)>) -> Vec<(Bytes, T)> {
    by_bucket(pairs, string_hash)
}

/// Sorts pairs in the iteration order of a Java map with `ByteBuffer` keys.
pub(super) fn in_buffer_order<T>(pairs: Vec<(Bytes, T)>) -> Vec<(Bytes, T)> {
    by_bucket(pairs, buffer_hash)
}

fn by_bucket<T>(mut pairs: Vec<(Bytes, T)>, hash: fn(&[u8]) -> u32) -> Vec<(Bytes, T)> {
    if pairs.len() > 1 {
        // Generated code allocates twice the number of pairs, so the table never grows. Keys of one bucket stay in the
        // order in which they were added.
        let table = (2 * pairs.len()).next_power_of_two();
        pairs.sort_by_cached_key(|(key, _)| spread(hash(key)) as usize & (table - 1));
    }
    pairs
}

/// Returns `String.hashCode`, over UTF-16 code units.
fn string_hash(text: &[u8]) -> u32 {
    let text = String::from_utf8_lossy(text);
    text.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)))
}

/// Returns `ByteBuffer.hashCode`, from the last byte to the first.
fn buffer_hash(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(1, |hash: u32, byte| hash.wrapping_mul(31).wrapping_add_signed(i32::from(byte.cast_signed())))
}

/// Mixes the upper half of a hash into the lower, as `HashMap` does.
fn spread(hash: u32) -> u32 {
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_hashes_equal_those_of_java() {
        assert_eq!(string_hash(b""), 0);
        assert_eq!(string_hash(b"Hello"), 69_609_650);
        assert_eq!(string_hash("😀".as_bytes()), 1_772_899);
    }

    #[test]
    fn pairs_are_sorted_by_bucket() {
        let pairs = ["b", "a", "c"].map(|key| (Bytes::from(key), ()));
        let keys: Vec<Bytes> = in_java_order(pairs.to_vec()).into_iter().map(|(key, ())| key).collect();
        assert_eq!(keys, ["a", "b", "c"]);
    }
}
