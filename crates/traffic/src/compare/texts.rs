//! Texts of errors without the parts that differ from run to run.

use std::borrow::Cow;

/// Returns a text without the printed fields of Java objects and their addresses. As recordings are compared, the text
/// is cut off where the fields of an object begin.
pub(super) fn without_java_objects(text: &str) -> Cow<'_, str> {
    let cut = [" Struct: ", "Deletion=Deletion("]
        .into_iter()
        .filter_map(|marker| text.find(marker).map(|at| at + marker.len()))
        .min()
        .map_or(text, |end| &text[..end]);
    without_addresses(cut)
}

/// Removes addresses: `LongType@1f2a` becomes `LongType`.
fn without_addresses(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    let mut out = String::new();
    while let Some(at) = rest.find('@') {
        let (before, after) = rest.split_at(at);
        let digits = after[1..].bytes().take_while(u8::is_ascii_hexdigit).count();
        let is_address = digits > 0 && before.ends_with(|last: char| last.is_ascii_alphanumeric());
        out += before;
        if is_address {
            rest = &after[1 + digits..];
        } else {
            out.push('@');
            rest = &after[1..];
        }
    }
    if out.is_empty() { Cow::Borrowed(rest) } else { Cow::Owned(out + rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_fields_of_objects_are_removed() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a LongType@1f2a b", "a LongType b"),
            (
                "Required field 'x' was not present! Struct: y(z:1)",
                "Required field 'x' was not present! Struct: ",
            ),
            ("mail a@xyz or @5", "mail a@xyz or @5"),
            ("Mutation(Deletion=Deletion(ts:1@2", "Mutation(Deletion=Deletion("),
        ] {
            assert_eq!(without_java_objects(text), expected);
        }
    }
}
