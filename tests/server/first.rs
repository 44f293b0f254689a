//! The calls of 0.3: a blog written by 0.3 clients and read by later ones and the reverse, and calls that later
//! releases have under the same name.

use std::io::Read;

use crate::support;
use support::calls::{self, ONE};
use support::client::{Client, Style};
use support::first::*;
use support::server::{Server, storage_conf};
use support::value::{Value, fields, map, structs, text, texts};
use wire::thrift::TType;
use wire::thrift::frame::Transport;

const BLOG: &str = "BloggyAppy";
const KS: &str = "Keyspace1";
const NOW: i64 = 1_250_558_004_000;

/// Time UUIDs of two comments, the earlier first. They contain no colon, which separates the names of a path.
const COMMENTS: [&[u8; 16]; 2] = [
    b"\xed\xec\xf2\0\x8a\x7c\x11\xde\x80\0\0\0\0\0\0\x01",
    b"\xff\x73\xee\0\x8b\x91\x11\xde\x80\0\0\0\0\0\0\x01",
];

fn column(name: &str, value: &str, timestamp: i64) -> Value {
    calls::column(name.as_bytes(), value.as_bytes(), timestamp)
}

/// A superColumn_t.
fn super_column(name: impl AsRef<[u8]>, columns: Vec<Value>) -> Value {
    fields([(1, text(name)), (2, structs(columns))])
}

/// Joins names to a path.
fn path(names: &[&[u8]]) -> Vec<u8> {
    names.join(&b':')
}

/// Inserts a value into the row `row` of Keyspace1.
fn put(client: &mut Client, path: &str, value: &str, timestamp: i64) {
    client.call("insert", &insert_args(KS, b"row", path, (value.as_bytes(), timestamp), true)).void();
}

#[test]
fn a_blog_written_by_0_3_is_read_by_0_6() {
    for style in Style::ALL {
        let (server, _directory) = Server::ephemeral(&[]);
        let (mut first, mut later) = (server.client(style), server.client(Style::UNFRAMED));
        first.call("insert", &insert_args(BLOG, b"Zoe", "Authors:twitter", (b"zoe", NOW), true)).void();
        first.call("insert", &insert_args(BLOG, b" Zoe\t", "Authors:email", (b"z@b.c", NOW), false)).void();
        let entry = vec![column("title", "Scream", NOW), column("body", "boo", NOW)];
        let batch = batch_args(BLOG, b"scream", vec![("BlogEntries", entry)], true);
        first.call("batch_insert", &batch).void();
        let comment = |text: &str| vec![column("comment", text, NOW), column("commenter", "me", NOW)];
        let comments = COMMENTS.iter().zip(["early", "late"]).rev();
        let comments = comments.map(|(uuid, text)| super_column(uuid, comment(text))).collect();
        let batch = batch_args(BLOG, b"scream", vec![("Comments", comments)], true);
        first.call("batch_insert_superColumn", &batch).void();

        let slice = |key: &[u8], parent| calls::get_slice_args(BLOG, key, parent, calls::everything(), ONE);
        let author = later.call("get_slice", &slice(b"Zoe", calls::parent("Authors", None)));
        assert_eq!(calls::values(author.value()), ["z@b.c", "zoe"]);
        let entry = later.call("get_slice", &slice(b"scream", calls::parent("BlogEntries", None)));
        assert_eq!(calls::column_names(entry.value()), ["body", "title"]);
        let found = later.call("get_slice", &slice(b"scream", calls::parent("Comments", None)));
        let supers: Vec<&Value> = found.value().items().iter().map(|item| item.field(2)).collect();
        assert_eq!(supers.len(), 2);
        for (found, uuid) in supers.iter().zip(COMMENTS) {
            assert_eq!(found.field(1).bytes(), uuid);
            assert_eq!(names(found.field(2)), ["comment", "commenter"]);
        }

        // The 0.3 client removes one comment, and one column of the other.
        let gone = path(&[b"Comments", COMMENTS[0]]);
        first.call("remove", &remove_args(BLOG, b"scream", gone, NOW + 1, true)).void();
        let gone = path(&[b"Comments", COMMENTS[1], b"commenter"]);
        first.call("remove", &remove_args(BLOG, b"scream", gone, NOW + 1, false)).void();
        let found = later.call("get_slice", &slice(b"scream", calls::parent("Comments", None)));
        let [only] = found.value().items() else { panic!("one comment is left: {found:?}") };
        assert_eq!(columns(only.field(2).field(2)), [("comment", "late")]);
        first.call("remove", &remove_args(BLOG, b"scream", "BlogEntries", NOW + 1, true)).void();
        let entry = later.call("get_slice", &slice(b"scream", calls::parent("BlogEntries", None)));
        assert_eq!(entry.value().items(), []);
        server.stop();
    }
}

#[test]
fn a_blog_written_by_0_6_is_read_by_0_3() {
    let (server, _directory) = Server::ephemeral(&[]);
    let (mut first, mut later) = (server.client(Style::UNFRAMED), server.client(Style::UNFRAMED));
    let uuid = COMMENTS[0];
    for name in ["title", "body", "author"] {
        let path = calls::path("BlogEntries", None, Some(name.as_bytes()));
        later.call("insert", &calls::insert_args(BLOG, b"post", path, (name.as_bytes(), NOW), ONE)).void();
        let path = calls::path("Comments", Some(uuid), Some(name.as_bytes()));
        later.call("insert", &calls::insert_args(BLOG, b"post", path, (name.as_bytes(), NOW), ONE)).void();
    }
    let found = first.call("get_column", &args(BLOG, b"post", "BlogEntries:title"));
    let expected = column("title", "title", NOW);
    assert_eq!(found.value(), &expected);
    let in_super = path(&[b"Comments", uuid, b"title"]);
    assert_eq!(first.call("get_column", &args(BLOG, b"post", in_super)).value(), &expected);

    let all = ["author", "body", "title"];
    let entry = first.call("get_slice", &slice_args(BLOG, b"post", "BlogEntries", -1, -1));
    assert_eq!(names(entry.value()), all);
    let parent = path(&[b"Comments", uuid]);
    let comment = first.call("get_slice", &slice_args(BLOG, b"post", &parent, 1, 5));
    assert_eq!(names(comment.value()), all[1..]);
    let named =
        first.call("get_slice_by_names", &names_args(BLOG, b"post", &parent, &["title", "x", "body"]));
    assert_eq!(names(named.value()), ["body", "title"]);
    let whole = first.call("get_superColumn", &args(BLOG, b"post", &parent));
    assert_eq!((whole.value().field(1).bytes(), names(whole.value().field(2))), (&uuid[..], all.to_vec()));
    let supers =
        first.call("get_slice_super", &fields([(1, text(BLOG)), (2, text("post")), (3, text("Comments"))]));
    assert_eq!(supers.value().items(), [whole.value().clone()], "start and count have defaults");
    let mut by_names = names_args(BLOG, b"post", "Comments", &[]);
    if let Value::Struct(fields) = &mut by_names {
        fields.insert(4, texts(&[&COMMENTS[1][..], &uuid[..]]));
    }
    let supers = first.call("get_slice_super_by_names", &by_names);
    assert_eq!(supers.value().items(), [whole.value().clone()]);
    for (parent, count) in [("BlogEntries", 3), ("Comments", 1)] {
        assert_eq!(first.call("get_column_count", &args(BLOG, b"post", parent)).value().int(), count);
    }
    let absent = first.call("get_slice", &slice_args(BLOG, b"nowhere", "BlogEntries", -1, -1));
    assert_eq!(absent.value().items(), []);
}

#[test]
fn slices_select_by_position_or_timestamp() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    for (name, timestamp) in [("a", 3), ("b", 1), ("c", 2), ("d", 2), ("gone", 1)] {
        put(&mut client, &format!("Standard1:{name}"), name, timestamp);
        put(&mut client, &format!("Super1:s:{name}"), name, timestamp);
        put(&mut client, &format!("Super1:{name}:x"), name, timestamp);
    }
    for path in ["Standard1:gone", "Super1:s:gone", "Super1:gone"] {
        client.call("remove", &remove_args(KS, b"row", path, 1, true)).void();
    }
    let mut slice = |parent: &str, start, count| -> String {
        let method = if parent == "Super1" { "get_slice_super" } else { "get_slice" };
        let found = client.call(method, &slice_args(KS, b"row", parent, start, count));
        names(found.value()).concat()
    };
    assert_eq!(slice("Standard1", -1, -1), "abcd", "a row has its comparator's order");
    assert_eq!(slice("Standard1", 0, 2), "ab");
    assert_eq!(slice("Standard1", 1, 2), "bc");
    assert_eq!(slice("Standard1", 3, i32::MAX), "d");
    assert_eq!(slice("Standard1", 2, 0), "");
    assert_eq!(
        slice("Super1:s", -1, -1),
        "acdb",
        "columns of a super column are ordered by time, newest first"
    );
    assert_eq!(slice("Super1:s", 1, 2), "cd");
    assert_eq!(slice("Super1", -1, -1), "abcds");
    assert_eq!(slice("Super1", 3, 7), "ds");
    let mut since = |parent: &str, time| -> String {
        let found = client.call("get_columns_since", &since_args(KS, b"row", parent, time));
        names(found.value()).concat()
    };
    assert_eq!((since("Standard1", 2).as_str(), since("Super1:s", 2).as_str()), ("acd", "acd"));
    assert_eq!((since("Standard1", 1).as_str(), since("Standard1", 4).as_str()), ("abcd", ""));
    let mut count = |parent: &str| {
        let found = client.call("get_column_count", &args(KS, b"row", parent));
        found.value().int()
    };
    assert_eq!(count("Standard1"), 5, "a deleted column counts");
    assert_eq!(count("Super1:s"), 5);
}

#[test]
fn an_empty_super_column_does_not_count_in_a_slice() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    for name in ["a", "b", "c"] {
        put(&mut client, &format!("Super1:{name}:x"), "v", 1);
    }
    client.call("remove", &remove_args(KS, b"row", "Super1:a:x", 2, true)).void();
    for (place, name) in ["b", "c"].into_iter().enumerate() {
        let window = slice_args(KS, b"row", "Super1", i32::try_from(place).unwrap(), 1);
        assert_eq!(names(client.call("get_slice_super", &window).value()), [name]);
    }
    client.call("get_superColumn", &args(KS, b"row", "Super1:a")).thrown(2);
    put(&mut client, "Super1:a:y", "again", 3);
    let found = client.call("get_superColumn", &args(KS, b"row", "Super1:a"));
    assert_eq!(columns(found.value().field(2)), [("y", "again")]);
}

#[test]
fn calls_of_all_generations_work_on_one_connection() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text(KS))])).void();
    let standard = || calls::parent("Standard1", None);
    let level = || Value::I32(ONE);
    for round in 1..3 {
        put(&mut client, "Standard1:a", "0.3", round);
        let path = || calls::path("Standard1", None, Some(b"b"));
        client.call("insert", &calls::insert_args(KS, b"row", path(), (b"0.6", round), ONE)).void();
        let written = column("c", "0.7", round);
        let modern = fields([(1, text("row")), (2, standard()), (3, written), (4, level())]);
        client.call("insert", &modern).void();

        let found = client.call("get_slice", &slice_args(KS, b"row", "Standard1", -1, -1));
        assert_eq!(columns(found.value()), [("a", "0.3"), ("b", "0.6"), ("c", "0.7")]);
        let old = calls::get_slice_args(KS, b"row", standard(), calls::everything(), ONE);
        let modern = fields([(1, text("row")), (2, standard()), (3, calls::everything()), (4, level())]);
        for args in [old, modern] {
            let found = client.call("get_slice", &args);
            assert_eq!(calls::values(found.value()), ["0.3", "0.6", "0.7"]);
        }
    }
    let of_four = fields([
        (1, text(KS)),
        (2, text("row")),
        (3, map(TType::List, vec![("Standard1", structs(vec![fields([(1, column("d", "0.4", 1))])]))])),
        (4, level()),
    ]);
    client.call("batch_insert", &of_four).void();
    let of_three = batch_args(KS, b"row", vec![("Standard1", vec![column("e", "0.3", 1)])], true);
    client.call("batch_insert", &of_three).void();
    client.call("remove", &remove_args(KS, b"row", "Standard1:a", 9, true)).void();
    let path = |name| calls::path("Standard1", None, Some(name));
    client.call("remove", &calls::remove_args(KS, b"row", path(b"b"), 9, ONE)).void();
    let modern = fields([(1, text("row")), (2, path(b"c")), (3, Value::I64(9)), (4, level())]);
    client.call("remove", &modern).void();
    let found = client.call("get_slice", &slice_args(KS, b"row", "Standard1", -1, -1));
    assert_eq!(columns(found.value()), [("d", "0.4"), ("e", "0.3")]);
}

/// A call of 0.3 does not show whether the client is of 0.4 to 0.6 or of 0.7 and later, so the reply to
/// `describe_keyspace` has the results of both.
#[test]
fn describe_keyspace_after_a_call_of_0_3_has_both_results() {
    let (server, _directory) = Server::ephemeral(&[]);
    for style in [Style::UNFRAMED, Style::FRAMED] {
        let mut client = server.client(style);
        put(&mut client, "Standard1:a", "v", 1);
        client.begin("describe_keyspace", &fields([(1, text(KS))])).unwrap();
        // The reader of the tests keeps only the last of two fields with the same id, so the test looks at the bytes.
        let mut bytes = vec![0; 64 * 1024];
        let (mut end, keyspace) = (0, [&[0x0c, 0, 0, 0x0b, 0, 1, 0, 0, 0, 9], KS.as_bytes()].concat());
        let families = [0x0d, 0, 0, 0x0b, 0x0d, 0, 0, 0, 4];
        let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        while !(has(&bytes[..end], &keyspace) && has(&bytes[..end], &families)) {
            let count = client.stream.read(&mut bytes[end..]).unwrap();
            assert!(count > 0, "both results should be in the reply");
            end += count;
        }
    }
}

#[test]
fn mistakes_get_the_texts_of_0_3() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    let mut why = |method: &str, table: &str, key: &[u8], path: &str| -> String {
        let all = match method {
            "insert" => insert_args(table, key, path, (b"v", 1), true),
            "remove" => remove_args(table, key, path, 1, true),
            "get_slice" | "get_slice_super" => slice_args(table, key, path, -1, -1),
            _ => args(table, key, path),
        };
        client.call(method, &all).why().to_owned()
    };
    assert_eq!(why("insert", KS, b" ", "Standard1:c"), "Key may not be empty");
    assert_eq!(why("get_column", KS, b"", "Standard1:c"), "Key may not be empty");
    for method in ["insert", "remove", "get_column", "get_slice", "get_column_count", "get_slice_super"] {
        let unknown = why(method, "Nowhere", b"k", "Standard1:c");
        assert_eq!(unknown, "Table Nowhere does not exist in this schema.", "{method}");
        assert_eq!(why(method, KS, b"k", "Nothing:c"), "Column Family Nothing is invalid.", "{method}");
    }
    for parts in ["Standard1", "Standard1:a:b", "Standard1:a:b:c", "Standard1::"] {
        assert_eq!(
            why("get_column", KS, b"k", parts),
            "get_column requires both parts of columnfamily:column for standard CF Standard1"
        );
    }
    assert_eq!(
        why("get_column", KS, b"k", "Super1:s"),
        "get_column requires all parts of columnfamily:supercolumn:subcolumn for super CF Super1"
    );
    for parts in ["Standard1", "Super1:a:b:c"] {
        assert_eq!(
            why("insert", KS, b"k", parts),
            format!("Column Family {parts} in invalid format. Must be in <column family>:<column> format.")
        );
    }
    assert!(why("insert", KS, b"k", "Super1:s").contains("supercolumn parameter is not optional"));
    assert!(why("insert", KS, b"k", "Standard1:s:c").contains("supercolumn parameter is invalid"));
    assert!(why("insert", KS, b"k", "StandardLong1:c").contains("A long is exactly 8 bytes"));
    assert!(why("remove", KS, b"k", "Standard1:s:c").contains("standard CF Standard1"));
    assert!(why("get_superColumn", KS, b"k", "Standard1:c").contains("has no super columns"));
    assert!(why("get_superColumn", KS, b"k", "Super1").contains("columnfamily:supercolumn"));
    assert!(why("get_slice", KS, b"k", "Super1").contains("get_slice_super"));
    assert!(why("get_slice", KS, b"k", "Standard1:c").contains("columnfamily alone is required"));
    assert!(why("get_slice", KS, b"k", "Super1:a:b").contains("Super1:a:b is in invalid format"));
    assert!(why("get_slice_super", KS, b"k", "Super1:s").contains("columnfamily alone"));
    assert!(why("get_key_range", KS, b"", "").contains("order-preserving partitioner"));
    assert_eq!(client.call("get_column", &args(KS, b"k", "Standard1:c")).thrown(2), "");
    client.call("insert", &fields([(1, text(KS)), (3, text("Standard1:c"))])).application(7);
    calls::check_alive(&mut client);
}

#[test]
fn a_blocking_write_needs_a_quorum() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    let write = |block| insert_args("FiveTimes", b"k", "Standard1:c", (b"v", 1), block);
    assert_eq!(client.call("insert", &write(true)).thrown(2), "", "UnavailableException is field 2");
    client.call("insert", &write(false)).void();
    let found = client.call("get_column", &args("FiveTimes", b"k", "Standard1:c"));
    assert_eq!(found.value().field(2).str(), "v", "reads need only one replica");
    let mut bare = write(true);
    if let Value::Struct(fields) = &mut bare {
        fields.remove(&6);
        fields.remove(&5);
    }
    client.call("insert", &bare).void();
}

#[test]
fn batches_split_joined_names_of_super_columns() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    let both = vec![
        ("Super1", vec![column("s:a", "in a super column", 1), column("s:b", "too", 1)]),
        ("Standard1", vec![column("c", "v", 1), fields([(1, text("d")), (2, text("timeless"))])]),
    ];
    client.call("batch_insert", &batch_args(KS, b" row ", both, true)).void();
    let found = client.call("get_superColumn", &args(KS, b"row", "Super1:s"));
    assert_eq!(columns(found.value().field(2)), [("a", "in a super column"), ("b", "too")]);
    let found = client.call("get_slice", &slice_args(KS, b"row", "Standard1", -1, -1));
    assert_eq!(columns(found.value()), [("c", "v"), ("d", "timeless")]);
    assert_eq!(found.value().items()[1].field(3).int(), 0);
    // One mistake in the batch, and nothing of the row is written.
    let wrong = vec![("Standard1", vec![column("e", "v", 1), column("x:y", "v", 1)])];
    let refused = client.call("batch_insert", &batch_args(KS, b"row", wrong, true));
    assert_eq!(refused.why(), "supercolumn parameter is invalid for standard CF Standard1");
    client.call("get_column", &args(KS, b"row", "Standard1:e")).thrown(2);
    let empty = vec![("Super1", vec![super_column("none", Vec::new())])];
    client.call("batch_insert_superColumn", &batch_args(KS, b"row", empty, true)).void();
    client.call("get_superColumn", &args(KS, b"row", "Super1:none")).thrown(2);
}

#[test]
fn the_server_describes_itself() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    let mut ask = |method: &str, about: &str| client.call(method, &about_args(about)).value().clone();
    assert_eq!(ask("getStringProperty", "version").str(), "0.3.0");
    assert_eq!(ask("getStringProperty", "cluster name").str(), "Test Cluster");
    assert_eq!(ask("getStringProperty", "config file").str(), storage_conf(""));
    assert_eq!(ask("getStringProperty", "token map").str(), "?");
    // In 0.3 the replication factor was one number for the whole cluster. A keyspace with another replication factor
    // than the first cannot come from 0.3 and is not listed.
    assert_eq!(ask("getStringListProperty", "tables"), texts(&[BLOG, KS]));
    assert_eq!(ask("getStringListProperty", "keyspaces").items(), []);
    assert_eq!(ask("describeTable", "system").str(), "Table system not found.");
    let table = ask("describeTable", BLOG);
    let authors = "BloggyAppy.Authors(ROW_KEY, COLUMN_MAP(COLUMN_KEY, COLUMN_VALUE, COLUMN_TIMESTAMP))\n\
                   Column Family Type: Standard\nColumns Sorted By: Name\nflush period: ";
    assert!(table.str().starts_with(authors), "{table:?}");
    let comments = "BloggyAppy.Comments(ROW_KEY, SUPER_COLUMN_MAP(SUPER_COLUMN_KEY, COLUMN_MAP(COLUMN_KEY, \
                    COLUMN_VALUE, COLUMN_TIMESTAMP)))\nColumn Family Type: Super\n";
    assert!(table.str().contains(comments), "{table:?}");
    assert_eq!(table.str().matches(" minutes\n-----\n").count(), 4);
    let query = ask("executeQuery", "SELECT * FROM x");
    assert_ne!(query.field(1).int(), 0);
    assert!(query.field(2).str().contains("query language of 0.3"));
    assert_eq!(query.field(3).items(), []);
}

#[test]
fn key_ranges_of_a_table_are_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let ordered = "<Partitioner>org.apache.cassandra.dht.OrderPreservingPartitioner</Partitioner>";
    let server = Server::start(directory.path(), &storage_conf(ordered), &["--ephemeral"]);
    let mut client = server.client(Style { transport: Transport::Unframed, strict: false });
    for (key, path) in [
        ("d", "Standard1:c"),
        ("b", "Super1:s:c"),
        ("c", "Standard2:c"),
        ("b", "Standard1:c"),
        ("a", "Standard1:c"),
    ] {
        client.call("insert", &insert_args(KS, key.as_bytes(), path, (b"v", 1), true)).void();
    }
    client.call("remove", &remove_args(KS, b"a", "Standard1:c", 2, true)).void();
    let mut keys = |start: &str, stop: &str, count| -> String {
        let found = client.call("get_key_range", &keys_args(KS, start, stop, count));
        found.value().items().iter().map(Value::str).collect()
    };
    assert_eq!(keys("", "", 1000), "bcd", "each key once, and no key without live columns");
    assert_eq!(keys("", "", 2), "bc");
    assert_eq!(keys("b", "c", 10), "bc", "both ends included");
    assert_eq!(keys("ba", "", 10), "cd");
    let defaults = client.call("get_key_range", &fields([(1, text(KS))]));
    assert_eq!(defaults.value().items().len(), 3);
    assert_eq!(client.call("get_key_range", &keys_args(KS, "", "", 0)).why(), "maxResults must be positive");
    let unknown = client.call("get_key_range", &keys_args("Nowhere", "", "", 9));
    assert_eq!(unknown.why(), "Table Nowhere does not exist in this schema.");
    // The call of the same name in 0.4 and 0.5 has a column family.
    let of_family = fields([
        (1, text(KS)),
        (2, text("Standard2")),
        (3, text("")),
        (4, text("")),
        (5, Value::I32(10)),
        (6, Value::I32(ONE)),
    ]);
    assert_eq!(client.call("get_key_range", &of_family).value(), &texts(&["c"]));
}
