//! Sorts the pairs of maps like `java.util.HashMap`.
//!
//! Batches are maps, and the server reports the first error that it finds. Old servers iterated over a
//! `java.util.HashMap`, so this server uses the same order: by hash of the key, in a table of the size that Thrift's
//! generated code allocates. Options of a column family are such maps too.

use bytes::Bytes;

/// Sorts pairs in the iteration order of a Java map with text keys.
pub fn in_java_order<T>(pairs: Vec<(Bytes, T)>) -> Vec<(Bytes, T)> {
    let table = table_of_generated_code(pairs.len());
    by_bucket(pairs, table, |key| string_hash(&String::from_utf8_lossy(key)))
}

/// Sorts pairs in the iteration order of a Java map with `ByteBuffer` keys.
pub fn in_buffer_order<T>(pairs: Vec<(Bytes, T)>) -> Vec<(Bytes, T)> {
    let table = table_of_generated_code(pairs.len());
    by_bucket(pairs, table, |key| buffer_hash(key))
}

/// Sorts the options of a class in the iteration order of a Java map that is the copy of another one, which had one entry
/// more: the class.
pub fn in_order_of_options<'a>(
    options: impl Iterator<Item = (&'a String, &'a String)>,
) -> Vec<(&'a str, &'a str)> {
    let mut pairs: Vec<(&str, &str)> = options.map(|(name, value)| (&**name, &**value)).collect();
    // Options of one bucket are in the order of the statement, which is not stored: their names mostly go down, as in
    // min_threshold, max_threshold.
    pairs.sort_by(|left, right| right.cmp(left));
    let table = ((pairs.len() + 1) * 4 / 3 + 1).next_power_of_two();
    by_bucket(pairs, table, |name| string_hash(name))
}

/// Returns the bucket of a pair of binary values, the second of which may be absent, in a table of Guava's HashMultimap.
pub fn bucket_of_pair(first: &[u8], second: Option<&[u8]>) -> u32 {
    const TABLE: u32 = 16;
    let of_first = buffer_hash(first).wrapping_add(31).wrapping_mul(31);
    spread(of_first.wrapping_add(second.map_or(0, buffer_hash))) & (TABLE - 1)
}

/// Sorts values by their binary keys, in the iteration order of a Java map that grew to this number of keys.
pub fn sort_in_grown_map<T>(values: &mut [T], key: impl Fn(&T) -> &[u8]) {
    let mut table = 16;
    while values.len() * 4 > table * 3 {
        table *= 2;
    }
    values.sort_by_cached_key(|value| spread(buffer_hash(key(value))) as usize & (table - 1));
}

/// Sorts values by their binary keys, in the iteration order of a Java map that was made for this number of keys.
pub fn sort_in_copied_map<T>(values: &mut [T], key: impl Fn(&T) -> &[u8]) {
    let table = (values.len() * 4 / 3 + 1).next_power_of_two();
    values.sort_by_cached_key(|value| spread(buffer_hash(key(value))) as usize & (table - 1));
}

/// Returns the size of the table that generated code allocates: twice the number of pairs, so the table never grows.
fn table_of_generated_code(pairs: usize) -> usize {
    (2 * pairs).next_power_of_two()
}

/// Sorts pairs by their buckets in a table of a size that is a power of two. Keys of one bucket stay in their order.
fn by_bucket<K, T>(mut pairs: Vec<(K, T)>, table: usize, hash: fn(&K) -> u32) -> Vec<(K, T)> {
    if pairs.len() > 1 {
        pairs.sort_by_cached_key(|(key, _)| spread(hash(key)) as usize & (table - 1));
    }
    pairs
}

/// Returns `String.hashCode`, over UTF-16 code units.
fn string_hash(text: &str) -> u32 {
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
        assert_eq!(string_hash(""), 0);
        assert_eq!(string_hash("Hello"), 69_609_650);
        assert_eq!(string_hash("😀"), 1_772_899);
    }

    #[test]
    fn columns_have_the_order_of_0_7_10_and_2_1_22() {
        let mut names = ["Zed", "aa", "age", "b", "m1", "m10", "m2", "name", "zeta"];
        sort_in_grown_map(&mut names, |name| name.as_bytes());
        assert_eq!(names, ["aa", "b", "zeta", "Zed", "m10", "name", "m2", "m1", "age"]);
        let longs = || [1i64, 2, 5, 70, 300].map(i64::to_be_bytes);
        let (mut copied, mut grown) = (longs(), longs());
        sort_in_copied_map(&mut copied, |name| &name[..]);
        sort_in_grown_map(&mut grown, |name| &name[..]);
        assert_eq!(copied.map(i64::from_be_bytes), [300, 2, 1, 70, 5]);
        assert_eq!(grown.map(i64::from_be_bytes), [1, 5, 300, 2, 70]);
    }

    #[test]
    fn pairs_are_in_the_buckets_of_2_1_22() {
        let index = |at: i32| bucket_of_pair(b"l", Some(&at.to_be_bytes()));
        assert_eq!([index(5), index(0), index(-1), bucket_of_pair(b"v", None)], [2, 9, 10, 12]);
    }

    #[test]
    fn options_have_the_order_of_2_1_22() {
        let of = |names: &[&str]| -> Vec<String> {
            let options: Vec<(String, String)> =
                names.iter().map(|name| ((*name).to_owned(), String::new())).collect();
            let sorted = in_order_of_options(options.iter().map(|(name, value)| (name, value)));
            sorted.into_iter().map(|(name, _)| name.to_owned()).collect()
        };
        assert_eq!(of(&["max_threshold", "min_threshold"]), ["min_threshold", "max_threshold"]);
        assert_eq!(of(&["bucket_low", "min_threshold"]), ["min_threshold", "bucket_low"]);
        let leveled = ["sstable_size_in_mb", "tombstone_compaction_interval"];
        assert_eq!(of(&leveled), ["tombstone_compaction_interval", "sstable_size_in_mb"]);
    }

    #[test]
    fn pairs_are_sorted_by_bucket() {
        let pairs = ["b", "a", "c"].map(|key| (Bytes::from(key), ()));
        let keys: Vec<Bytes> = in_java_order(pairs.to_vec()).into_iter().map(|(key, ())| key).collect();
        assert_eq!(keys, ["a", "b", "c"]);
    }
}
