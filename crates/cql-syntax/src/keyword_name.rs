//! The names of keywords in messages.

/// Returns the name of a keyword in messages.
pub(crate) fn token_name(keyword: &str) -> String {
    match keyword {
        "TABLE" => "K_COLUMNFAMILY".to_owned(),
        _ => format!("K_{keyword}"),
    }
}
