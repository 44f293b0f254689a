//! Converts the names of columns and fields to the keys of JSON objects and back.

/// Returns a name as a JSON key. A name with capitals is quoted inside the key, since CQL lowercases unquoted names.
pub(super) fn key_of_name(name: &str) -> String {
    if name == name.to_lowercase() { name.to_owned() } else { format!("\"{name}\"") }
}

/// Returns the name for a JSON key.
pub(super) fn name_of_key(key: &str) -> String {
    match key.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted.to_owned(),
        None => key.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_round_trip(name in "[a-zA-Z_]{1,8}") {
            prop_assert_eq!(name_of_key(&key_of_name(&name)), name);
        }
    }

    #[test]
    fn keys_without_quotes_are_folded() {
        assert_eq!(name_of_key("Foo"), "foo");
        assert_eq!(name_of_key("\"Foo\""), "Foo");
        assert_eq!(key_of_name("foo"), "foo");
        assert_eq!(name_of_key("\""), "\"");
    }
}
