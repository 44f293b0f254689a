//! A CQL statement as a program of each driver of the native protocol.

use super::language::{escape, utf16_literal};
use super::{Snippet, cql};

/// Returns a statement as code for cqlsh and for the drivers of Python, Java, Node and Go.
pub fn driver_snippets(keyspace: Option<&str>, statement: &str) -> Vec<Snippet> {
    let text = statement.trim().trim_end_matches(';');
    vec![
        Snippet { language: "cqlsh", text: cqlsh(keyspace, text) },
        Snippet { language: "Python (cassandra-driver)", text: python(keyspace, text) },
        Snippet { language: "Java (DataStax driver 4)", text: java(keyspace, text) },
        Snippet { language: "Node (cassandra-driver)", text: node(keyspace, text) },
        Snippet { language: "Go (gocql)", text: go(keyspace, text) },
    ]
}

/// Returns the name of a keyspace as CQL writes it: in quotes, unless it is in lower case.
fn name(keyspace: &str) -> String {
    let is_plain = |at: usize, letter: char| {
        letter.is_ascii_lowercase() || at > 0 && (letter == '_' || letter.is_ascii_digit())
    };
    if keyspace.char_indices().all(|(at, letter)| is_plain(at, letter)) {
        return keyspace.to_owned();
    }
    format!("\"{}\"", keyspace.replace('"', "\"\""))
}

fn cqlsh(keyspace: Option<&str>, text: &str) -> String {
    let switch = keyspace.map_or(String::new(), |keyspace| format!("USE {};\n", name(keyspace)));
    switch + &cql::statement(text, &[])
}

fn python(keyspace: Option<&str>, text: &str) -> String {
    let keyspace = keyspace.map_or(String::new(), |keyspace| long_literal(&name(keyspace)));
    let connect = if keyspace.is_empty() { "connect()".to_owned() } else { format!("connect({keyspace})") };
    format!(
        "from cassandra.cluster import Cluster\n\ncluster = Cluster([\"localhost\"], port=9042)\n\
         session = cluster.{connect}\nfor row in session.execute({}):\n    print(row)\ncluster.shutdown()\n",
        long_literal(text)
    )
}

fn java(keyspace: Option<&str>, text: &str) -> String {
    let keyspace = keyspace.map_or(String::new(), |keyspace| {
        format!("\n                .withKeyspace({})", utf16_literal(&name(keyspace)))
    });
    format!(
        "import com.datastax.oss.driver.api.core.CqlSession;\nimport com.datastax.oss.driver.api.core.cql.Row;\n\
         import java.net.InetSocketAddress;\n\npublic class Ask {{\n    public static void main(String[] arguments) {{\n        \
         try (CqlSession session = CqlSession.builder()\n                \
         .addContactPoint(new InetSocketAddress(\"localhost\", 9042))\n                \
         .withLocalDatacenter(\"datacenter1\"){keyspace}\n                .build()) {{\n            \
         for (Row row : session.execute({})) {{\n                System.out.println(row.getFormattedContents());\n            \
         }}\n        }}\n    }}\n}}\n",
        utf16_literal(text)
    )
}

fn node(keyspace: Option<&str>, text: &str) -> String {
    let keyspace = keyspace
        .map_or(String::new(), |keyspace| format!("\n    keyspace: {},", utf16_literal(&name(keyspace))));
    format!(
        "const cassandra = require('cassandra-driver');\n\nconst client = new cassandra.Client({{\n    \
         contactPoints: ['localhost:9042'],\n    localDataCenter: 'datacenter1',{keyspace}\n}});\n\n\
         client.execute({})\n    .then((result) => console.log(result.rows))\n    .finally(() => client.shutdown());\n",
        utf16_literal(text)
    )
}

fn go(keyspace: Option<&str>, text: &str) -> String {
    let keyspace = keyspace.map_or(String::new(), |keyspace| {
        format!("\tcluster.Keyspace = {}\n", long_literal(&name(keyspace)))
    });
    format!(
        "package main\n\nimport (\n\t\"fmt\"\n\n\t\"github.com/gocql/gocql\"\n)\n\nfunc main() {{\n\t\
         cluster := gocql.NewCluster(\"localhost:9042\")\n{keyspace}\tsession, err := cluster.CreateSession()\n\t\
         if err != nil {{\n\t\tpanic(err)\n\t}}\n\tdefer session.Close()\n\t\
         rows, err := session.Query({}).Iter().SliceMap()\n\tfmt.Println(rows, err)\n}}\n",
        long_literal(text)
    )
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
