//! Names and keys that are easily confused or sorted wrongly.

use base::marshal;
use base::util::Release;
use bytes::Bytes;

use super::support;

/// Short keys and names: prefixes of each other, bytes that differ in sign, letters that differ in case.
pub const SHORT: [&[u8]; 16] = [
    b"a",
    b"A",
    b"ab",
    b"aB",
    b"b",
    b"\0",
    b"\0\0",
    b"a\0",
    b"a\0b",
    b"a\xff",
    b"\xff",
    b"\xff\xff",
    b"\x01",
    b"\x7f",
    b"\x80",
    b"a\0\xff",
];

/// Returns names that the comparator accepts.
pub fn names_for(compare_with: &str, release: Release) -> Vec<Bytes> {
    let mut names: Vec<Vec<u8>> = SHORT.iter().map(|name| name.to_vec()).collect();
    let edges = [0x00u8, 0x01, 0x7f, 0x80, 0xff];
    names.extend(edges.iter().map(|byte| vec![*byte, 0, 0, 0, 0, 0, 0, 1]));
    for (high, low) in edges.iter().flat_map(|high| edges.map(|low| (*high, low))) {
        let mut uuid = vec![0; 16];
        (uuid[0], uuid[6], uuid[8], uuid[15]) = (high & 1, 0x10, low, high);
        names.push(uuid);
    }
    names.extend(["\u{e000}", "\u{ffff}", "\u{10000}", "é"].map(|text| text.as_bytes().to_vec()));
    if compare_with.starts_with("CompositeType") {
        names = composites();
    }
    let comparator = support::comparator(compare_with);
    let comparator = marshal::at(&*comparator, release);
    names.retain(|name| comparator.validate(name).is_ok());
    names.into_iter().map(Bytes::from).collect()
}

/// Returns names of one and of two components, with each end-of-component byte.
fn composites() -> Vec<Vec<u8>> {
    let component = |value: &[u8], end: u8| [&[0, value.len() as u8], value, &[end]].concat();
    let mut names = Vec::new();
    for value in [&b""[..], b"a", b"ab", b"b"] {
        for end in [0, 1, 0xff] {
            names.push(component(value, end));
            names.push([component(b"a", 0), component(value, end)].concat());
        }
    }
    names
}

/// Returns names with lengths around those at which the storage changes.
pub fn long_names() -> Vec<Bytes> {
    let mut names =
        vec![Bytes::from_static(b"a"), Bytes::from_static(b"\0"), Bytes::from_static(b"\xff\xff")];
    for length in [29_990, 59_990, 59_999, 60_000, 60_001, 65_534, 65_535] {
        names.push(Bytes::from(vec![b'a'; length]));
        names.push(Bytes::from([&vec![b'a'; length - 1][..], b"b"].concat()));
    }
    for byte in [0, 0xff] {
        names.push(Bytes::from(vec![byte; 30_000]));
        names.push(Bytes::from(vec![byte; 65_535]));
        names.push(Bytes::from([&vec![byte; 65_534][..], b"\x01"].concat()));
    }
    names
}
