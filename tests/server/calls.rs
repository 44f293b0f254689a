//! Thrift calls to a running server: calls that describe the cluster, consistency levels, differences between releases,
//! and malformed calls.

use crate::support;

use support::calls::*;
use support::client::{Reply, Style};
use support::server::{Server, storage_conf};
use support::value::{Value, fields, map, structs, text, texts};
use wire::thrift::frame::Transport;
use wire::thrift::{MessageKind, TType};

const KS: &str = "Keyspace1";
const BLOG: &str = "BloggyAppy";

#[test]
fn the_cluster_describes_itself() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    let none = fields([]);
    let keyspace = |name: &str| fields([(1, text(name))]);
    let keyspaces = client.call("describe_keyspaces", &none);
    assert!(matches!(keyspaces.value(), Value::Set(TType::String, _)));
    let mut names: Vec<&str> = keyspaces.value().items().iter().map(Value::str).collect();
    names.sort_unstable();
    assert_eq!(names, ["BloggyAppy", "FiveTimes", "Keyspace1", "system"]);
    let listed = client.call("get_string_list_property", &keyspace("keyspaces"));
    assert_eq!(listed.value().items().len(), 4);
    assert_eq!(client.call("get_string_list_property", &keyspace("x")).value().items().len(), 0);

    let described = client.call("describe_keyspace", &keyspace(BLOG));
    let comments = described.value().at("Comments");
    assert_eq!(comments.at("Type").str(), "Super");
    assert_eq!(comments.at("CompareWith").str(), "org.apache.cassandra.db.marshal.TimeUUIDType");
    assert_eq!(comments.at("CompareSubcolumnsWith").str(), "org.apache.cassandra.db.marshal.BytesType");
    assert_eq!(described.value().at("Authors").pairs().len(), 3, "no subcolumns, no flush period");
    assert_eq!(client.call("describe_keyspace", &keyspace("Nowhere")).thrown(1), "");
    assert_eq!(client.call("describe_keyspace", &keyspace("system")).value().pairs().len(), 2);

    assert_eq!(client.call("describe_cluster_name", &none).value().str(), "Test Cluster");
    assert_eq!(client.call("describe_version", &none).value().str(), "2.2.0");
    let partitioner = client.call("describe_partitioner", &none);
    assert_eq!(partitioner.value().str(), "org.apache.cassandra.dht.RandomPartitioner");

    let mut property = |name: &str| {
        let found = client.call("get_string_property", &keyspace(name));
        found.value().str().to_owned()
    };
    assert_eq!(property("cluster name"), "Test Cluster");
    assert_eq!(property("version"), "2.2.0");
    assert_eq!(property("config file"), storage_conf(""), "the whole file, letter by letter");
    assert_eq!(property("anything else"), "?");
    let tokens: serde_json::Value = serde_json::from_str(&property("token map")).unwrap();
    let ring = client.call("describe_ring", &keyspace(KS));
    let [range] = ring.value().items() else { panic!("one node has one range: {ring:?}") };
    assert_eq!(range.field(1), range.field(2));
    assert_eq!(range.field(3).items(), [text("127.0.0.1")]);
    assert_eq!(tokens[range.field(1).str()], "127.0.0.1");
    for unknown in ["Nowhere", "system"] {
        let ring = client.call("describe_ring", &keyspace(unknown));
        assert_eq!(ring.why(), format!("There is no ring for the keyspace: {unknown}"));
    }
}

#[test]
fn splits_begin_and_end_at_the_requested_tokens() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    for row in 0..40u8 {
        let path = path("Standard2", None, Some(b"c"));
        client.call("insert", &insert_args(KS, &[b's', row + 40], path, (b"v", 1), ONE)).void();
    }
    let mut splits = |start: &str, end: &str, keys: i32| {
        client.call("describe_splits", &fields([(1, text(start)), (2, text(end)), (3, Value::I32(keys))]))
    };
    let (start, end) = ("0", "170141183460469231731687303715884105728");
    let found = splits(start, end, 10);
    let tokens: Vec<u128> = found.value().items().iter().map(|token| token.str().parse().unwrap()).collect();
    assert!(tokens.len() > 3, "{tokens:?}");
    assert!(tokens.is_sorted(), "{tokens:?}");
    assert_eq!((tokens[0], tokens[tokens.len() - 1]), (0, 1 << 127));
    assert_eq!(splits(start, end, 1_000_000).value().items().len(), 2);
    assert!(splits("no number", end, 10).application(6).contains("no number"));
    splits(start, end, 0).application(6);
    splits(start, end, -1).application(6);
}

#[test]
fn each_consistency_level_is_accepted_where_the_release_accepts_it() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    let column = || path("Standard1", None, Some(b"level"));
    for level in 0..=6 {
        client.call("insert", &insert_args(KS, b"levels", column(), (b"v", 1), level)).void();
    }
    let mut get = |level| client.call("get", &get_args(KS, b"levels", column(), level));
    assert_eq!(get(ZERO).why(), "Consistency level zero may not be applied to read operations");
    assert_eq!(get(ANY).why(), "Consistency level any may not be applied to read operations");
    for level in [ONE, QUORUM, 3, 4, ALL] {
        assert_eq!(get(level).value().field(1).field(2).str(), "v");
    }
    for unknown in [-1, 7, i32::MAX] {
        assert!(get(unknown).application(7).contains("consistency_level"));
    }
    // The default is ONE.
    let mut args = get_args(KS, b"levels", column(), ONE);
    if let Value::Struct(fields) = &mut args {
        fields.remove(&4);
    }
    client.call("get", &args).value();
    let scan =
        |level| range_slices_args(KS, parent("Standard1", None), everything(), key_range("", "", 9), level);
    client.call("get_range_slices", &scan(ANY)).value();
}

#[test]
fn reads_of_five_replicas_are_unavailable_at_quorum() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    let column = || path("Standard1", None, Some(b"c"));
    for level in [ZERO, ONE, QUORUM, ALL, ANY] {
        client.call("insert", &insert_args("FiveTimes", b"k", column(), (b"v", 1), level)).void();
    }
    let mut get = |level| client.call("get", &get_args("FiveTimes", b"k", column(), level));
    get(ONE).value();
    for level in [QUORUM, 3, 4, ALL] {
        assert_eq!(get(level).thrown(3), "", "UnavailableException is field 3 of get");
    }
    let parent = || parent("Standard1", None);
    let args = range_slices_args("FiveTimes", parent(), everything(), key_range("", "", 9), QUORUM);
    assert_eq!(client.call("get_range_slices", &args).thrown(2), "");
    let args = get_slice_args("FiveTimes", b"k", parent(), everything(), QUORUM);
    assert_eq!(client.call("get_slice", &args).thrown(2), "");
}

#[test]
fn compat_0_4_answers_as_0_4() {
    let (server, _directory) = Server::ephemeral(&["--compat", "0.4"]);
    let mut client = server.client(Style::FRAMED);
    let version = client.call("get_string_property", &fields([(1, text("version"))]));
    assert_eq!(version.value().str(), "0.4.2");
    let described = client.call("describe_keyspace", &fields([(1, text(BLOG))]));
    let authors = described.value().at("Authors");
    assert_eq!(
        authors.at("Desc").str(),
        "BloggyAppy.Authors(ROW_KEY, COLUMN_MAP(COLUMN_KEY, COLUMN_VALUE, COLUMN_TIMESTAMP))"
    );
    assert!(authors.at("FlushPeriodInMinutes").str().parse::<u32>().is_ok());
    // The later of two writes with equal timestamps wins. Level 3 is ALL in 0.4, which refuses it for reads.
    let column = || path("Standard1", None, Some(b"c"));
    for value in [b"z", b"a"] {
        client.call("insert", &insert_args(KS, b"k", column(), (value, 1), 3)).void();
    }
    assert_eq!(value_of(&mut client, b"k", b"c"), Some(b"a".to_vec()));
    let refused = client.call("get", &get_args(KS, b"k", column(), 3));
    assert_eq!(refused.why(), "Consistency level all is not yet supported on read operations");
    // UnavailableException is field 3 of `get_slice` and field 2 of `insert`.
    let args = get_slice_args("FiveTimes", b"k", parent("Standard1", None), everything(), QUORUM);
    assert_eq!(client.call("get_slice", &args).thrown(3), "");
    let args = insert_args("FiveTimes", b"k", column(), (b"v", 1), QUORUM);
    assert_eq!(client.call("insert", &args).thrown(2), "");
    // Counts include tombstones.
    client.call("remove", &remove_args(KS, b"k", column(), 2, ONE)).void();
    let count = client.call("get_count", &get_args(KS, b"k", parent("Standard1", None), ONE));
    assert_eq!(count.value().int(), 1);
}

#[test]
fn compat_0_5_answers_as_0_5() {
    let (server, _directory) = Server::ephemeral(&["--compat", "0.5"]);
    let mut client = server.client(Style::FRAMED);
    let version = client.call("get_string_property", &fields([(1, text("version"))]));
    assert_eq!(version.value().str(), "0.5.1");
    let column = || path("Standard1", None, Some(b"c"));
    for value in [b"z", b"a"] {
        client.call("insert", &insert_args(KS, b"k", column(), (value, 1), ALL)).void();
    }
    assert_eq!(value_of(&mut client, b"k", b"c"), Some(b"a".to_vec()));
    let refused = client.call("get", &get_args(KS, b"k", column(), ALL));
    assert_eq!(refused.why(), "Consistency level all is not yet supported on read operations");
    client.call("get", &get_args(KS, b"k", column(), ANY)).application(7);
    client.call("insert", &insert_args("FiveTimes", b"k", column(), (b"v", 1), QUORUM)).void();
    client.call("remove", &remove_args(KS, b"k", column(), 2, ONE)).void();
    let count = client.call("get_count", &get_args(KS, b"k", parent("Standard1", None), ONE));
    assert_eq!(count.value().int(), 0);
    let args = fields([
        (1, text(KS)),
        (2, text("Standard1")),
        (3, text("")),
        (4, text("")),
        (5, Value::I32(10)),
        (6, Value::I32(ONE)),
    ]);
    let why = client.call("get_key_range", &args);
    assert_eq!(why.why(), "range queries may only be performed against an order-preserving partitioner");
}

/// Removes arguments by their ids.
fn without<const N: usize>(mut args: Value, absent: [i16; N]) -> Value {
    if let Value::Struct(fields) = &mut args {
        fields.retain(|id, _| !absent.contains(id));
    }
    args
}

fn key_range_args(level: i32) -> Value {
    fields([
        (1, text(KS)),
        (2, text("Standard1")),
        (3, text("")),
        (4, text("")),
        (5, Value::I32(10)),
        (6, Value::I32(level)),
    ])
}

#[test]
fn numeric_arguments_are_required_up_to_0_5() {
    let unordered = "range queries may only be performed against an order-preserving partitioner";
    for release in ["0.4", "0.5"] {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = server.client(Style::UNFRAMED);
        let column = || path("Standard1", None, Some(b"c"));
        let mut refused = |method, args, absent: i16, name: &str| {
            let why = client.call(method, &without(args, [absent])).application(7).to_owned();
            assert!(
                why.starts_with(&format!("Required field '{name}' was not found in serialized data!")),
                "{why}"
            );
        };
        refused("insert", insert_args(KS, b"k", column(), (b"v", 1), ONE), 5, "timestamp");
        refused("insert", insert_args(KS, b"k", column(), (b"v", 1), ONE), 6, "consistency_level");
        refused("remove", remove_args(KS, b"k", column(), 1, ONE), 4, "timestamp");
        refused("get", get_args(KS, b"k", column(), ONE), 4, "consistency_level");
        refused("get_key_range", key_range_args(ONE), 5, "count");
        refused("get_key_range", key_range_args(ONE), 6, "consistency_level");
        client.call("get_key_range", &key_range_args(7)).application(7);
        // The keys of a range have defaults, and the consistency level of `remove` has one too.
        let range = without(key_range_args(ONE), [3, 4]);
        assert_eq!(client.call("get_key_range", &range).why(), unordered);
        client.call("remove", &without(remove_args(KS, b"k", column(), 1, ONE), [5])).void();
    }
}

/// A slice returns a super column that was deleted and written again, but `get_key_range` of 0.4 ignores it.
#[test]
fn key_ranges_of_0_4_ignore_rewritten_super_columns() {
    let ordered = "<Partitioner>org.apache.cassandra.dht.OrderPreservingPartitioner</Partitioner>";
    for (release, expected) in [("0.4", vec![text("b")]), ("0.5", vec![text("a"), text("b")])] {
        let directory = tempfile::tempdir().unwrap();
        let more = ["--ephemeral", "--compat", release];
        let server = Server::start(directory.path(), &storage_conf(ordered), &more);
        let mut client = server.client(Style::UNFRAMED);
        let cell = |name: &[u8]| path("Super1", Some(name), Some(b"c"));
        for key in [b"a", b"b"] {
            let gone = path("Super1", Some(b"s"), None);
            client.call("remove", &remove_args(KS, key, gone, 2, ONE)).void();
            client.call("insert", &insert_args(KS, key, cell(b"s"), (b"v", 7), ONE)).void();
        }
        client.call("insert", &insert_args(KS, b"b", cell(b"t"), (b"v", 7), ONE)).void();
        let args = get_slice_args(KS, b"a", parent("Super1", None), everything(), ONE);
        assert_eq!(client.call("get_slice", &args).value().items().len(), 1);
        let mut range = key_range_args(ONE);
        if let Value::Struct(fields) = &mut range {
            fields.insert(2, text("Super1"));
        }
        assert_eq!(client.call("get_key_range", &range).value().items(), expected);
    }
}

/// A super column whose only column is a tombstone newer than the row's deletion counts towards the limit of a slice in
/// 0.4, but not in later releases.
#[test]
fn slices_of_0_4_count_super_columns_with_newer_tombstones() {
    for (release, expected) in [("0.4", 0), ("0.5", 1), ("0.6", 1)] {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = server.client(Style::UNFRAMED);
        let cell = |name: &[u8]| path("Super1", Some(name), Some(b"c"));
        let row = path("Super1", None, None);
        client.call("remove", &remove_args(KS, b"k", row, 4, ONE)).void();
        client.call("remove", &remove_args(KS, b"k", cell(b"a"), 5, ONE)).void();
        client.call("insert", &insert_args(KS, b"k", cell(b"z"), (b"v", 8), ONE)).void();
        let first = slice(b"", b"", false, 1);
        let args = get_slice_args(KS, b"k", parent("Super1", None), first, ONE);
        assert_eq!(client.call("get_slice", &args).value().items().len(), expected, "{release}");
    }
}

fn batch_insert_args(keyspace: &str, key: &str, family: &str, inserts: Vec<Value>) -> Value {
    let families = map(TType::List, vec![(family, structs(inserts))]);
    fields([(1, text(keyspace)), (2, text(key)), (3, families), (4, Value::I32(ONE))])
}

#[test]
fn batches_up_to_0_6_accept_empty_super_columns() {
    let nothing = || fields([(2, fields([(1, text("s")), (2, structs(vec![]))]))]);
    let both = || fields([(1, column(b"c", b"v", 5)), (2, fields([(1, text("s")), (2, structs(vec![]))]))]);
    for release in ["0.4", "0.5", "0.6"] {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = server.client(Style::UNFRAMED);
        client.call("batch_insert", &batch_insert_args(KS, "k", "Nowhere", vec![nothing()])).void();
        let elsewhere =
            client.call("batch_insert", &batch_insert_args("Nowhere", "k", "Nowhere", vec![nothing()]));
        if release == "0.6" {
            assert_eq!(elsewhere.why(), "Keyspace Nowhere does not exist in this schema.");
        } else {
            elsewhere.void();
        }
        let refused = client.call("batch_insert", &batch_insert_args(KS, "k", "Standard1", vec![both()]));
        assert!(refused.why().contains("not both"));
        // 0.4 and 0.5 trim the key, 0.6 does not.
        let written = || fields([(1, column(b"c", b"v", 5))]);
        client.call("batch_insert", &batch_insert_args(KS, " k\t", "Standard1", vec![written()])).void();
        let (bare, whole) = (value_of(&mut client, b"k", b"c"), value_of(&mut client, b" k\t", b"c"));
        assert_eq!((bare.is_some(), whole.is_some()), (release != "0.6", release == "0.6"), "{release}");
    }
}

#[test]
fn multiget_without_keys_fails_up_to_0_5() {
    for release in ["0.4", "0.5", "0.6"] {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = server.client(Style::UNFRAMED);
        let wanted = path("Standard1", None, Some(b"c"));
        let args = fields([(1, text(KS)), (2, texts::<&str>(&[])), (3, wanted), (4, Value::I32(ONE))]);
        let found = client.call("multiget", &args);
        if release == "0.6" {
            assert_eq!(found.value().pairs().len(), 0);
        } else {
            assert!(found.why().contains("one key at least"));
        }
    }
}

#[test]
fn removes_of_0_6_check_the_consistency_level_last() {
    let (server, _directory) = Server::ephemeral(&["--compat", "0.6"]);
    let mut client = server.client(Style::UNFRAMED);
    let mut remove =
        |family| client.call("remove", &remove_args(KS, b"k", path(family, None, Some(b"c")), 1, 100));
    assert_eq!(remove("Nowhere").why(), "unconfigured columnfamily Nowhere");
    remove("Standard1").application(7);
}

#[test]
fn compat_0_6_answers_as_0_6() {
    let (server, _directory) = Server::ephemeral(&["--compat", "0.6"]);
    let mut client = server.client(Style::FRAMED);
    let version = client.call("get_string_property", &fields([(1, text("version"))]));
    assert_eq!(version.value().str(), "2.2.0");
    // The larger of two values with equal timestamps wins.
    for value in [b"z", b"a"] {
        let column = path("Standard1", None, Some(b"c"));
        client.call("insert", &insert_args(KS, b"k", column, (value, 1), ALL)).void();
    }
    assert_eq!(value_of(&mut client, b"k", b"c"), Some(b"z".to_vec()));
    let described = client.call("describe_keyspace", &fields([(1, text(BLOG))]));
    let desc = described.value().at("Authors").at("Desc").str();
    assert!(desc.starts_with("BloggyAppy.Authors\nColumn Family Type: Standard\n"), "{desc}");
}

#[test]
fn errors_of_2_1_name_the_missing_object() {
    let (server, _directory) = Server::ephemeral(&["--compat", "2.1"]);
    let mut client = server.client(Style::FRAMED);
    let mut why = |call: &str, argument| client.call(call, &fields([(1, argument)])).why().to_owned();
    assert_eq!(why("describe_ring", text("Nope")), "No such keyspace: Nope");
    assert_eq!(why("describe_ring", text("system")), "There is no ring for the keyspace: system");
    assert_eq!(why("system_drop_keyspace", text("System")), "system keyspace is not user-modifiable");
    assert_eq!(why("system_drop_keyspace", text("Nope")), "Cannot drop non existing keyspace 'Nope'.");
    let family = |keyspace: &str, name: &str| fields([(1, text(keyspace)), (2, text(name))]);
    assert_eq!(why("system_update_column_family", family("Nope", "Cf")), "Keyspace Nope does not exist");
    assert_eq!(why("system_update_column_family", family(KS, "Nope")), "unconfigured columnfamily Nope");
}

#[test]
fn multiget_and_batch_insert_still_work() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    let written = fields([(1, column(b"c", b"v", 5))]);
    let families = map(TType::List, vec![("Standard1", structs(vec![written]))]);
    let args = fields([(1, text(KS)), (2, text("old")), (3, families), (4, Value::I32(ONE))]);
    client.call("batch_insert", &args).void();
    let wanted = path("Standard1", None, Some(b"c"));
    let args = fields([(1, text(KS)), (2, texts(&["old", "absent"])), (3, wanted), (4, Value::I32(ONE))]);
    let found = client.call("multiget", &args);
    assert_eq!(found.value().at("old").field(1).field(2).str(), "v");
    assert_eq!(found.value().at("absent"), &fields([]));
    let args = fields([
        (1, text(KS)),
        (2, parent("Standard1", None)),
        (3, names(&["c"])),
        (4, text("old")),
        (5, text("old")),
        (6, Value::I32(5)),
        (7, Value::I32(ONE)),
    ]);
    let found = client.call("get_range_slice", &args);
    assert_eq!(found.value().items().len(), 1);
    assert_eq!(found.value().items()[0].field(1).str(), "old");
}

/// One-way messages get no reply, also if they are wrong, and later replies belong to their calls.
#[test]
fn oneway_messages_get_no_reply() {
    let (server, _directory) = Server::ephemeral(&[]);
    for style in Style::ALL {
        let mut client = server.client(style);
        let column = path("Standard1", None, Some(b"oneway"));
        let insert = insert_args(KS, b"oneway", column, (b"v", 1), ONE);
        client.send(&style.message("insert", &insert, MessageKind::Oneway, 1000));
        client.send(&style.message("no_such_method", &fields([]), MessageKind::Oneway, 1001));
        client.send(&style.message("get", &fields([]), MessageKind::Oneway, 1002));
        if style.transport == Transport::Framed {
            // A field of an unknown type: the message is malformed, but its frame ends where it should.
            let mut broken = style.message("get", &fields([]), MessageKind::Oneway, 1003);
            broken.truncate(broken.len() - 1);
            broken.extend_from_slice(b"\x07");
            client.send(&broken);
        }
        assert_eq!(value_of(&mut client, b"oneway", b"oneway"), Some(b"v".to_vec()));
        check_alive(&mut client);
    }
}

#[test]
fn a_hundred_calls_in_one_write_are_answered_in_order() {
    let (server, _directory) = Server::ephemeral(&[]);
    for style in Style::ALL {
        let mut client = server.client(style);
        let mut all = Vec::new();
        for number in 0..100i32 {
            let name = number.to_string();
            let path = path("Standard1", None, Some(name.as_bytes()));
            let (method, args) = match number % 3 {
                0 => ("insert", insert_args(KS, b"pipe", path, (b"v", 1), ONE)),
                1 => ("get", get_args(KS, b"pipe", path, ONE)),
                _ => ("no_such_method", fields([])),
            };
            all.extend_from_slice(&style.message(method, &args, MessageKind::Call, 5000 - number));
        }
        client.send(&all);
        for number in 0..100i32 {
            let (name, seqid, reply) = client.reply();
            assert_eq!(seqid, 5000 - number);
            match (number % 3, reply) {
                (0, reply) => reply.void(),
                (1, Reply::Result(_)) => assert_eq!(name, "get"),
                (_, reply) => assert_eq!(reply.application(1), "Invalid method name: 'no_such_method'"),
            }
        }
    }
}

#[test]
fn replies_before_a_broken_message_are_still_sent() {
    let (server, _directory) = Server::ephemeral(&[]);
    for style in Style::ALL {
        let mut client = server.client(style);
        let mut all = style.message("describe_version", &fields([]), MessageKind::Call, 1).to_vec();
        all.extend_from_slice(&[0xff; 64]);
        client.send(&all);
        let (_, _, reply) = client.reply();
        assert!(["2.2.0", "19.39.0"].contains(&reply.value().str()));
        assert!(client.is_closed());
    }
}

#[test]
fn calls_with_wrong_arguments_fail_and_the_connection_stays_open() {
    let (server, _directory) = Server::ephemeral(&[]);
    for style in Style::ALL {
        let mut client = server.client(style);
        let reply = client.call("get_keyspaces", &fields([(1, text(KS))]));
        assert_eq!(reply.application(1), "Invalid method name: 'get_keyspaces'");
        // Without arguments, and without each of the arguments.
        assert!(client.call("insert", &fields([])).application(7).contains("Required field"));
        let whole = || insert_args(KS, b"k", path("Standard1", None, Some(b"c")), (b"v", 1), ONE);
        for missing in [1, 2, 3, 4, 5] {
            let mut args = whole();
            if let Value::Struct(fields) = &mut args {
                fields.remove(&missing);
            }
            assert!(client.call("insert", &args).application(7).contains("Required field"));
        }
        // With an argument of another type.
        for mistyped in 1..=5 {
            let mut args = whole();
            if let Value::Struct(fields) = &mut args {
                fields.insert(mistyped, Value::Bool(true));
            }
            client.call("insert", &args).application(7);
        }
        // A struct without its required field, a list with elements of another type, and a map with keys and values of
        // other types.
        let args = get_args(KS, b"k", fields([(5, text("c"))]), ONE);
        assert!(client.call("get", &args).application(7).contains("column_family"));
        let numbers = fields([(1, Value::List(TType::I32, vec![Value::I32(1)]))]);
        let args = get_slice_args(KS, b"k", parent("Standard1", None), numbers, ONE);
        client.call("get_slice", &args).application(7);
        let odd = Value::Map(TType::I32, TType::I32, vec![(Value::I32(1), Value::I32(2))]);
        client.call("batch_mutate", &batch_mutate_args(KS, odd, ONE)).application(7);
        check_alive(&mut client);
    }
}

/// 0.7 reads all arguments before it checks for missing ones, so it finds the next call. But it stops reading in a
/// struct that lacks a required field, and takes the rest of the struct for the next call.
#[test]
fn a_missing_argument_in_0_7_loses_the_next_call_only_inside_a_struct() {
    let (server, _directory) = Server::ephemeral(&["--compat", "0.7"]);
    let mut client = server.client(Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text(KS))])).void();
    let args = |path: Value, level: i32| fields([(1, text("k")), (2, path), (3, Value::I32(level))]);
    let column = || path("Standard1", None, Some(b"c"));
    let whole = || args(column(), ONE);
    let without_path = fields([(1, text("k")), (3, Value::I32(ONE))]);
    for (lacking, what) in [(without_path, "'column_path'"), (args(column(), 99), "'consistency_level'")] {
        let reply = client.call("get", &lacking);
        let why = reply.application(7);
        assert!(why.contains(what) && why.contains("get_args"), "{why}");
        client.call("get", &whole()).thrown(2);
    }
    let without_family = args(fields([(5, text("c"))]), ONE);
    assert!(client.call("get", &without_family).application(7).contains("'column_family'"));
    client.call("get", &whole()).application(7);
    client.call("get", &whole()).thrown(2);
}

/// Calls of 0.7 and later fail before `set_keyspace` and succeed after it. Calls with a keyspace argument work on the
/// same connection.
#[test]
fn calls_of_later_releases_need_a_keyspace() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::FRAMED);
    let level = || Value::I32(ONE);
    let parent = || parent("Standard1", None);
    let path = || path("Standard1", None, Some(b"c"));
    let calls = [
        ("insert", fields([(1, text("k")), (2, parent()), (3, column(b"c", b"v", 1)), (4, level())])),
        ("get", fields([(1, text("k")), (2, path()), (3, level())])),
        ("get_slice", fields([(1, text("k")), (2, parent()), (3, everything()), (4, level())])),
        ("get_count", fields([(1, text("k")), (2, parent()), (3, everything()), (4, level())])),
        ("multiget_slice", fields([(1, texts(&["k"])), (2, parent()), (3, everything()), (4, level())])),
        ("batch_mutate", fields([(1, rows(vec![("k", vec![("Standard1", vec![])])])), (2, level())])),
        ("remove", fields([(1, text("k")), (2, path()), (3, Value::I64(0)), (4, level())])),
        (
            "get_range_slices",
            fields([(1, parent()), (2, everything()), (3, key_range("", "", 1)), (4, level())]),
        ),
    ];
    for (method, args) in &calls {
        let reply = client.call(method, args);
        assert!(reply.why().starts_with("No keyspace has been specified."), "{method}");
    }
    client.call("set_keyspace", &fields([(1, text(KS))])).void();
    for (method, args) in &calls {
        let Reply::Result(found) = client.call(method, args) else { panic!("{method} is not answered") };
        assert!(!found.contains_key(&1), "{method}: {found:?}");
    }
    check_alive(&mut client);
    client.call("system_add_keyspace", &fields([])).application(7);
}

#[test]
fn replies_echo_the_method_name_byte_for_byte() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    client.send(b"\x80\x01\0\x01\0\0\0\x02x\xff\0\0\0\x07\0");
    let mut reply = [0; 14];
    std::io::Read::read_exact(&mut client.stream, &mut reply).unwrap();
    assert_eq!(&reply, b"\x80\x01\0\x03\0\0\0\x02x\xff\0\0\0\x07");
}
