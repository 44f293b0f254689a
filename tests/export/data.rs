//! Data directories to export, and running the program.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::copy_support;
use copy_support::{conf, cql, fill, fill_made, open, runtime};

/// Creates `from` with the column families of the tests of copies, and a table with a column of each type.
pub fn source() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let conf = conf("Murmur3Partitioner");
    std::fs::write(directory.path().join("storage-conf.xml"), &conf).unwrap();
    runtime().block_on(async {
        let side = open(&directory.path().join("from"), &conf).await;
        fill(&side).await;
        fill_made(&side).await;
        for statement in EVERYTHING.lines().filter(|line| !line.is_empty()) {
            cql(&side, statement).await;
        }
        side.close().await.unwrap();
    });
    directory
}

/// A table with a column of each type, and values at the ends of their ranges.
const EVERYTHING: &str = r#"
CREATE TYPE address (street text, zip int)
CREATE TABLE everything (k ascii, c decimal, s text static, b bigint, bl blob, bo boolean, da date, de decimal, dbl double, f float, i inet, n int, si smallint, t text, ti time, ts timestamp, tu timeuuid, ty tinyint, u uuid, v varint, du duration, l list<text>, se set<int>, m map<text, frozen<list<int>>>, tp frozen<tuple<int, text>>, ad frozen<address>, PRIMARY KEY (k, c))
INSERT INTO everything (k, c, s, b, bl, bo, da, de, dbl, f, i, n, si, t, ti, ts, tu, ty, u, v, du) VALUES ('a', 1, 'static', 9223372036854775807, 0x00ff, true, '2013-05-02', -12.50, 1e300, 0.1, '127.0.0.1', -2147483648, 32767, 'it''s \ Ü,', '08:15:30.000000001', '2013-05-02 08:15:30.123+0000', 4f8a6eb0-b2d4-11e2-9e96-0800200c9a66, -128, 4f8a6eb0-b2d4-41e2-9e96-0800200c9a66, 18446744073709551616, 1y2mo3d4h)
INSERT INTO everything (k, c, l, se, m, tp, ad) VALUES ('a', 2, ['x', 'y', 'x'], {3, 1, 2}, {'one': [1], '': []}, (1, null), {street: 'A "b"', zip: 1})
INSERT INTO everything (k, c, dbl, f, t, b, bo) VALUES ('a', 3, NaN, -Infinity, '', -9223372036854775808, false)
INSERT INTO everything (k, c, t, dbl) VALUES ('b', -0.5, 'a "quote", and a comma', 5)
INSERT INTO everything (k, s) VALUES ('only static', 'ß')
INSERT INTO everything (k, c, t) VALUES ('ttl', 1, 'later') USING TTL 100000
INSERT INTO everything (k, c) VALUES ('only keys', 1)
UPDATE everything SET t = 'no marker' WHERE k = 'no marker' AND c = 1
CREATE TABLE hits (k text, c int, n counter, PRIMARY KEY (k, c))
UPDATE hits SET n = n + 5 WHERE k = 'a' AND c = 1
UPDATE hits SET n = n - 7 WHERE k = 'a' AND c = 2
"#;

/// Runs the program in a directory. Returns whether it succeeds, and what it prints.
pub fn run(directory: &Path, words: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    let output = command.args(words).current_dir(directory).stdin(Stdio::null()).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// Runs the program, which must succeed.
pub fn succeed(directory: &Path, words: &[&str]) -> String {
    let (succeeded, text) = run(directory, words);
    assert!(succeeded, "{words:?}: {text}");
    text
}

/// Runs a script in Python. `None` if there is no Python here.
pub fn python(directory: &Path, script: &str, words: &[&str]) -> Option<String> {
    let output = Command::new("python3").arg("-c").arg(script).args(words).current_dir(directory).output();
    let output = match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => output.unwrap(),
    };
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{text}");
    Some(text)
}
