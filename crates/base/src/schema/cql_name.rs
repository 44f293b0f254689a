//! Names and texts in CQL, and the reserved words, which need quotes to be used as names.

const RESERVED: &str = "\
    ADD ALLOW ALTER AND APPLY ASC AUTHORIZE BATCH BEGIN BY COLUMNFAMILY CREATE DELETE DESC DESCRIBE DROP \
    ENTRIES EXECUTE FROM FULL GRANT IF IN INDEX INFINITY INSERT INTO KEYSPACE LIMIT MODIFY NAN \
    NORECURSIVE NOT NULL OF ON OR ORDER PRIMARY RENAME REPLACE REVOKE SCHEMA SELECT SET TABLE TO TOKEN \
    TRUNCATE UNLOGGED UPDATE USE USING WHERE WITH";

/// Returns whether a word needs quotes to be a name.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.split(' ').any(|reserved| reserved.eq_ignore_ascii_case(word))
}

/// Returns a name, in quotes if CQL could not parse it without them.
pub fn name_text(name: &str) -> String {
    let is_plain = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !is_reserved(name);
    if is_plain { name.to_owned() } else { quoted_name(name) }
}

/// Returns a name in quotes, which preserve upper case and all other characters.
pub fn quoted_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a text as a constant.
pub fn quoted_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
