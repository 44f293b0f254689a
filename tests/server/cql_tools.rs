//! The subcommands `thriftstore explain` and `thriftstore cells`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::path::Path;
use std::process::Command;

const LIBRARY: &str = "-- the schema
CREATE KEYSPACE library WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
USE library;
CREATE TABLE books (author text, year int, title text, PRIMARY KEY (author, year));
INSERT INTO books (author, year, title) VALUES ('austen', 1815, 'Emma') USING TIMESTAMP 7;
";

/// Runs the program. Returns whether it succeeded, and all that it printed.
fn run(directory: &Path, words: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    let output = command.args(words).current_dir(directory).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("library.cql"), LIBRARY).unwrap();
    directory
}

#[test]
fn explain_prints_cells_and_writes_none() {
    let directory = directory();
    let update = "UPDATE books USING TIMESTAMP 9 SET title = 'Ema' WHERE author = 'austen' AND year = 1815";
    let (succeeded, text) = run(directory.path(), &["explain", "--schema", "library.cql", update]);
    assert!(succeeded, "{text}");
    assert_eq!(
        text,
        "write library.books row 61757374656e  author='austen'\n  \
         0004|00000717|00 0005|7469746c65|00 = 456d61 @9  year=1815 title='Ema'\n"
    );
}

#[test]
fn explain_warns_of_the_direction() {
    let directory = directory();
    let select = "SELECT * FROM books WHERE author = 'austen' ORDER BY year DESC LIMIT 10";
    let (succeeded, text) = run(directory.path(), &["explain", "--schema", "library.cql", select]);
    assert!(succeeded, "{text}");
    assert_eq!(
        text,
        "read library.books row 61757374656e  author='austen'\n  \
         backwards all cells\n\
         until there are 10 rows\n\
         it reads at most 1 partition, 10 rows and 22 cells\n\
         on this data it reads 2 cells\n\
         warning: it reads backwards, which is slower: WITH CLUSTERING ORDER BY (year DESC) would store the rows in \
         this order\n"
    );
}

#[test]
fn cells_prints_a_row_as_cql_and_as_thrift() {
    let directory = directory();
    let words = ["cells", "library", "books", "austen", "--schema", "library.cql"];
    let (succeeded, text) = run(directory.path(), &words);
    assert!(succeeded, "{text}");
    assert_eq!(
        text,
        "row key 61757374656e  author='austen'\n  \
         year=1815 (marker)      => (name=1815:, value=, timestamp=7)\n  \
         year=1815 title='Emma'  => (name=1815:title, value=456d6d61, timestamp=7)\n"
    );
    let hex = ["cells", "library", "books", "0x61757374656e", "--schema", "library.cql"];
    assert_eq!(run(directory.path(), &hex), (true, text));
}

/// As in the console: cassandra-cli reads texts of BytesType as hex, but a person has the key as text.
#[test]
fn cells_reads_a_key_of_bytes_as_text() {
    let directory = directory();
    let schema =
        "CREATE KEYSPACE blog WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
        CREATE TABLE blog.posts (key blob PRIMARY KEY, hits int);
        INSERT INTO blog.posts (key, hits) VALUES (textAsBlob('popcorn'), 7) USING TIMESTAMP 7;
        CREATE TABLE blog.years (key int PRIMARY KEY, hits int);";
    fs::write(directory.path().join("blog.cql"), schema).unwrap();
    let (succeeded, text) =
        run(directory.path(), &["cells", "blog", "posts", "popcorn", "--schema", "blog.cql"]);
    assert!(succeeded && text.starts_with("row key 706f70636f726e"), "{text}");
    let (succeeded, text) =
        run(directory.path(), &["cells", "blog", "years", "popcorn", "--schema", "blog.cql"]);
    assert!(
        !succeeded && text.contains("specify the row key as text of its type, or its bytes as 0x..."),
        "{text}"
    );
}

#[test]
fn errors_show_the_position_in_the_statement() {
    let directory = directory();
    let select = "SELECT * FROM books WHERE author = 'austen' LIMIT one";
    let (succeeded, text) = run(directory.path(), &["explain", "--schema", "library.cql", select]);
    assert!(!succeeded);
    let caret = format!("{select}\n{}^", " ".repeat(select.find("one").unwrap()));
    assert!(text.starts_with("error: line 1:50 ") && text.contains(&caret), "{text}");

    fs::write(directory.path().join("library.cql"), format!("{LIBRARY}\nSELEC 1;")).unwrap();
    let (succeeded, text) = run(directory.path(), &["explain", "--schema", "library.cql", select]);
    assert!(!succeeded);
    assert!(text.starts_with("error: library.cql: the statement at line 7: line 1:0 no viable"), "{text}");

    let nowhere = ["cells", "library", "books", "austen", "--data-dir", "nowhere"];
    let (succeeded, text) = run(directory.path(), &nowhere);
    assert!(!succeeded && text.starts_with("error: no data directory at nowhere"), "{text}");
}
