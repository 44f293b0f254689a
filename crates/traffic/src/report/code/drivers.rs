//! A CQL statement as a program of each driver of the native protocol.

use super::language::{escape, filled, utf16_literal};
use super::{Snippet, cql};
use base::schema::quoted_name;

/// Returns a statement as code for cqlsh and for the drivers of Python, Java, Node and Go.
pub fn driver_snippets(keyspace: Option<&str>, statement: &str) -> Vec<Snippet> {
    let text = statement.trim().trim_end_matches(';');
    let keyspace = keyspace.map(name);
    let program = |language, program: &str, literal: fn(&str) -> String, before: &str, after: &str| {
        let keyspace = keyspace.as_ref().map(|name| format!("{before}{}{after}", literal(name)));
        let values = [("keyspace", keyspace.as_deref().unwrap_or_default()), ("statement", &literal(text))];
        Snippet { language, text: filled(program, &values) }
    };
    vec![
        Snippet { language: "cqlsh", text: cqlsh(keyspace.as_deref(), text) },
        program("Python (cassandra-driver)", include_str!("programs/driver.py.txt"), long_literal, "", ""),
        program(
            "Java (DataStax driver 4)",
            include_str!("programs/driver.java.txt"),
            utf16_literal,
            "\n                .withKeyspace(",
            ")",
        ),
        program(
            "Node (cassandra-driver)",
            include_str!("programs/driver.js.txt"),
            utf16_literal,
            "\n    keyspace: ",
            ",",
        ),
        program(
            "Go (gocql)",
            include_str!("programs/driver.go.txt"),
            long_literal,
            "\tcluster.Keyspace = ",
            "\n",
        ),
    ]
}

/// Returns the name of a keyspace as CQL writes it: in quotes, unless it is in lower case.
fn name(keyspace: &str) -> String {
    let is_plain = keyspace.char_indices().all(|(at, letter)| {
        letter.is_ascii_lowercase() || at > 0 && (letter == '_' || letter.is_ascii_digit())
    });
    if is_plain { keyspace.to_owned() } else { quoted_name(keyspace) }
}

fn cqlsh(keyspace: Option<&str>, text: &str) -> String {
    let switch = keyspace.map_or(String::new(), |name| format!("USE {name};\n"));
    switch + &cql::statement(text, &[])
}

/// Returns a string literal of Python or Go.
fn long_literal(text: &str) -> String {
    let mut out = String::from("\"");
    escape(&mut out, text, |out, letter| out.push_str(&format!("\\U{:08x}", u32::from(letter))));
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_a_literal_of_each_language() {
        let snippets = driver_snippets(Some("Blog"), "SELECT * FROM t\nWHERE k = 'a\"b\u{202e}\\';\n");
        let expected = [
            "USE \"Blog\";\nSELECT * FROM t\nWHERE k = 'a\"b\u{202e}\\';\n",
            r#"cluster.connect("\"Blog\"")"#,
            r#"session.execute("SELECT * FROM t\nWHERE k = 'a\"b\u202e\\'")"#,
            r#"client.execute("SELECT * FROM t\nWHERE k = 'a\"b\u202e\\'")"#,
            r#"session.Query("SELECT * FROM t\nWHERE k = 'a\"b\U0000202e\\'")"#,
        ];
        for (snippet, part) in snippets.iter().zip(expected) {
            assert!(snippet.text.contains(part), "{}: {}", snippet.language, snippet.text);
        }
        let without = driver_snippets(None, "SELECT * FROM k.t");
        assert_eq!(without[0].text, "SELECT * FROM k.t;\n");
        assert!(without[1].text.contains("cluster.connect()\n") && !without[4].text.contains("Keyspace"));
        assert_eq!(name("key_space2"), "key_space2");
    }
}
