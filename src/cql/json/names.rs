//! Names of columns and fields as the keys of JSON objects.

/// A name as a key: one with capitals has quotes of its own, since CQL folds those that have none.
pub(super) fn key_of_name(name: &str) -> String {
    if name == name.to_lowercase() { name.to_owned() } else { format!("\"{name}\"") }
}

/// The name that a key means.
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
        fn names_come_back(name in "[a-zA-Z_]{1,8}") {
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
