//! Definitions of keyspaces and column families by Thrift clients: what each release refuses and what it returns.

use std::collections::BTreeMap;

use crate::support;
use support::client::{Client, Style};
use support::server::Server;
use support::value::{Value, fields, map, structs, text};
use wire::thrift::TType;

const MARSHAL: &str = "org.apache.cassandra.db.marshal";

fn pairs(options: &[(&str, &str)]) -> Value {
    map(TType::String, options.iter().map(|(name, value)| (*name, text(value))).collect())
}

fn keyspace(name: &str, strategy: &str, options: &[(&str, &str)]) -> Value {
    let keyspace = fields([
        (1, text(name)),
        (2, text(strategy)),
        (3, pairs(options)),
        (4, Value::I32(1)),
        (5, structs(vec![])),
    ]);
    fields([(1, keyspace)])
}

fn family<const N: usize>(name: &str, more: [(i16, Value); N]) -> Value {
    let mut family = BTreeMap::from(more);
    family.extend([(1, text("Made")), (2, text(name))]);
    fields([(1, Value::Struct(family.into_iter().collect()))])
}

/// Creates the keyspace `Made`, and returns a client that uses it.
fn client_of(server: &Server) -> Client {
    let mut client = server.client(Style::FRAMED);
    client
        .call("system_add_keyspace", &keyspace("Made", "SimpleStrategy", &[("replication_factor", "1")]))
        .value();
    client.call("set_keyspace", &fields([(1, text("Made"))])).void();
    client
}

/// Returns the definition of the only column family of the keyspace.
fn described(client: &mut Client) -> Value {
    let made = client.call("describe_keyspace", &fields([(1, text("Made"))])).value().clone();
    made.field(5).items()[0].clone()
}

#[test]
fn a_strategy_only_accepts_its_own_options() {
    let (server, _directory) = Server::ephemeral(&["--compat", "2.1"]);
    let mut client = server.client(Style::FRAMED);
    let mut why = |strategy: &str, options: &[(&str, &str)]| {
        client.call("system_add_keyspace", &keyspace("K", strategy, options)).why().to_owned()
    };
    assert_eq!(
        why("SimpleStrategy", &[("replication_factor", "1"), ("dc1", "1")]),
        "Unrecognized strategy option {dc1} passed to SimpleStrategy for keyspace K"
    );
    assert_eq!(
        why("NetworkTopologyStrategy", &[("replication_factor", "1")]),
        "replication_factor is an option for SimpleStrategy, not NetworkTopologyStrategy"
    );
    assert_eq!(why("NetworkTopologyStrategy", &[("dc1", "x")]), "For input string: \"x\"");
}

#[test]
fn a_comparator_may_change_to_one_that_accepts_more_names() {
    let (server, _directory) = Server::ephemeral(&["--compat", "2.1"]);
    let mut client = client_of(&server);
    client.call("system_add_column_family", &family("C", [(5, text("AsciiType"))])).value();
    client.call("system_update_column_family", &family("C", [(5, text("UTF8Type"))])).value();
    assert_eq!(described(&mut client).field(5).str(), format!("{MARSHAL}.UTF8Type"));
    let why = client.call("system_update_column_family", &family("C", [(5, text("AsciiType"))]));
    assert_eq!(why.why(), "comparators do not match or are not compatible.");
}

#[test]
fn composites_of_unknown_types_are_invalid_definitions() {
    let (server, _directory) = Server::ephemeral(&["--compat", "2.1"]);
    let mut client = client_of(&server);
    for class in ["CompositeType(NopeType)", "CompositeType(UTF8Type", "CompositeType(UTF8Type;LongType)"] {
        let why = client.call("system_add_column_family", &family("C", [(5, text(class))]));
        assert_eq!(
            why.why(),
            format!("Invalid definition for comparator {MARSHAL}.CompositeType."),
            "{class}"
        );
    }
    let why = client.call("system_add_column_family", &family("C", [(5, text("NopeType"))]));
    assert_eq!(why.why(), format!("Unable to find abstract-type class '{MARSHAL}.NopeType'"));
}

#[test]
fn a_custom_index_needs_a_class_name() {
    let (server, _directory) = Server::ephemeral(&["--compat", "2.1"]);
    let mut client = client_of(&server);
    let custom = fields([(1, text("c")), (2, text("UTF8Type")), (3, Value::I32(1))]);
    let why = client.call("system_add_column_family", &family("C", [(13, structs(vec![custom]))]));
    assert_eq!(why.why(), "Required index option missing: class_name");
}

#[test]
fn a_subcomparator_of_a_standard_column_family_is_refused_up_to_1_2() {
    for (release, is_refused) in [("1.2", true), ("2.1", false)] {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = client_of(&server);
        let reply = client.call("system_add_column_family", &family("C", [(6, text("LongType"))]));
        if is_refused {
            let why =
                format!("Subcolumn comparator ({MARSHAL}.LongType) is invalid for standard column family C");
            assert_eq!(reply.why(), why, "{release}");
        } else {
            reply.value();
        }
    }
}

#[test]
fn caching_and_key_alias_are_described() {
    let (server, _directory) = Server::ephemeral(&["--compat", "2.1"]);
    let mut client = client_of(&server);
    client.call("system_add_column_family", &family("C", [(28, text("id"))])).value();
    let shown = described(&mut client);
    assert_eq!((shown.field(34).str(), shown.field(44).str()), ("KEYS_ONLY", "0"));
    assert_eq!(shown.field(28).str(), "key", "without the key type, the default alias is returned");
    let all = [(26, text("UTF8Type")), (28, text("id")), (34, text("all")), (42, text("99percentile"))];
    client.call("system_update_column_family", &family("C", all)).value();
    let shown = described(&mut client);
    assert_eq!((shown.field(34).str(), shown.field(44).str()), ("ALL", "100"));
    assert_eq!((shown.field(28).str(), shown.field(42).str()), ("id", "99.0PERCENTILE"));
}

#[test]
fn times_to_live_beyond_the_maximum_are_refused_in_2_1() {
    for (release, is_refused) in [("1.2", false), ("2.1", true)] {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = client_of(&server);
        client.call("system_add_column_family", &family("C", [])).value();
        let twenty_years = 20 * 365 * 24 * 60 * 60;
        let column =
            fields([(1, text("c")), (2, text("v")), (3, Value::I64(1)), (4, Value::I32(twenty_years))]);
        let args = fields([(1, text("k")), (2, fields([(3, text("C"))])), (3, column), (4, Value::I32(1))]);
        let reply = client.call("insert", &args);
        if is_refused {
            let expected = "Request on table Made.C with ttl of 630720000 seconds exceeds maximum supported";
            assert!(reply.why().starts_with(expected), "{release}");
        } else {
            reply.void();
        }
    }
}

#[test]
fn unknown_options_of_a_strategy_are_refused_from_2_0_on() {
    let options = [("replication_factor", "1"), ("dc1", "1")];
    for (release, is_refused) in [("1.2", false), ("2.0", true)] {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = client_of(&server);
        let reply = client.call("system_add_keyspace", &keyspace("Other", "SimpleStrategy", &options));
        let expected = "Unrecognized strategy option {dc1} passed to SimpleStrategy for keyspace Other";
        if is_refused {
            assert_eq!(reply.why(), expected, "{release}");
        } else {
            reply.value();
        }
    }
}

#[test]
fn a_drop_without_a_name_is_refused_in_the_words_of_the_release() {
    for (release, why) in
        [("1.1", "unconfigured columnfamily "), ("1.2", "non-empty columnfamily is required")]
    {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = client_of(&server);
        let reply = client.call("system_drop_column_family", &fields([(1, text(""))]));
        assert_eq!(reply.why(), why, "{release}");
    }
}

#[test]
fn the_length_of_names_is_limited() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = client_of(&server);
    let (longest, longer) = ("n".repeat(48), "n".repeat(49));
    let one = [("replication_factor", "1")];
    client.call("system_add_keyspace", &keyspace(&longest, "SimpleStrategy", &one)).value();
    client.call("system_add_column_family", &family(&longest, [])).value();
    let why = "name must not be empty, more than 48 characters long, or contain";
    let refused = client.call("system_add_keyspace", &keyspace(&longer, "SimpleStrategy", &one));
    assert!(refused.why().contains(why), "{refused:?}");
    let refused = client.call("system_add_column_family", &family(&longer, []));
    assert!(refused.why().contains(why), "{refused:?}");
    described(&mut client);
}

#[test]
fn index_names_are_unique_in_the_keyspace_from_0_8_on() {
    let column = |name: &str| {
        fields([(1, text(name)), (2, text("UTF8Type")), (3, Value::I32(0)), (4, text("birthdate_index"))])
    };
    for (release, second) in [("0.7", None), ("0.8", Some("Duplicate index name birthdate_index"))] {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = client_of(&server);
        let mut add = |name: &str, columns: Vec<Value>| {
            client.call("system_add_column_family", &family(name, [(13, structs(columns))]))
        };
        add("First", vec![column("a")]).value();
        let reply = add("Second", vec![column("a")]);
        match second {
            Some(why) => assert_eq!(reply.why(), why),
            None => drop(reply.value()),
        }
        let words = if release == "0.7" { "Duplicate index names" } else { "Duplicate index name" };
        assert_eq!(add("Third", vec![column("a"), column("b")]).why(), format!("{words} birthdate_index"));
    }
}

#[test]
fn the_last_of_two_column_families_with_one_name_is_created() {
    let (server, _directory) = Server::ephemeral(&["--compat", "1.1"]);
    let mut client = server.client(Style::FRAMED);
    let family = |comparator: &str| fields([(1, text("Twice")), (2, text("Cf")), (5, text(comparator))]);
    let keyspace = fields([
        (1, text("Twice")),
        (2, text("SimpleStrategy")),
        (3, pairs(&[("replication_factor", "1")])),
        (5, structs(vec![family("UTF8Type"), family("LongType")])),
    ]);
    client.call("system_add_keyspace", &fields([(1, keyspace)])).value();
    let made = client.call("describe_keyspace", &fields([(1, text("Twice"))])).value().clone();
    let families = made.field(5);
    assert_eq!(families.items().len(), 1);
    assert_eq!(families.items()[0].field(5).str(), format!("{MARSHAL}.LongType"));
}

#[test]
fn each_release_has_its_own_methods_and_cql_versions() {
    let (server, _directory) = Server::ephemeral(&["--compat", "1.1"]);
    let mut client = client_of(&server);
    let batch = fields([(1, map(TType::Map, vec![])), (2, Value::I32(1))]);
    assert_eq!(
        client.call("atomic_batch_mutate", &batch).application(1),
        "Invalid method name: 'atomic_batch_mutate'"
    );
    client.call("batch_mutate", &batch).void();
    let beta = fields([(1, text("3.0.0-beta1"))]);
    client.call("set_cql_version", &beta).void();
    let (server, _directory) = Server::ephemeral(&["--compat", "1.2"]);
    let mut client = client_of(&server);
    client.call("atomic_batch_mutate", &batch).void();
    let why = client.call("set_cql_version", &beta).why().to_owned();
    assert!(why.ends_with("3.0.0-beta1  is not supported; please upgrade to 3.0.0"), "{why}");
}

#[test]
fn system_traces_exists_from_1_2_on() {
    let name = || fields([(1, text("system_traces"))]);
    for (release, is_there) in [("1.1", false), ("1.2", true), ("2.1", true)] {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = server.client(Style::FRAMED);
        let listed = client.call("describe_keyspaces", &fields([])).value().clone();
        let found = listed.items().iter().find(|keyspace| keyspace.field(1).str() == "system_traces");
        assert_eq!(found.is_some(), is_there, "{release}");
        let Some(found) = found else {
            client.call("describe_keyspace", &name()).thrown(1);
            client.call("set_keyspace", &name()).why();
            continue;
        };
        assert_eq!(found.field(2).str(), "org.apache.cassandra.locator.SimpleStrategy");
        assert_eq!((found.field(3).at("replication_factor").str(), found.field(5).items().len()), ("2", 0));
        assert_eq!(client.call("describe_keyspace", &name()).value(), found);
        client.call("set_keyspace", &name()).void();
    }
}

#[test]
fn only_2_1_returns_reversed_slices_of_indexed_rows_in_ascending_order() {
    for (release, expected) in [("1.2", ["c", "b", "a"]), ("2.0", ["c", "b", "a"]), ("2.1", ["a", "b", "c"])]
    {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = client_of(&server);
        let column = fields([(1, text("a")), (2, text("UTF8Type")), (3, Value::I32(0)), (4, text("a_idx"))]);
        let family = family("Cf", [(5, text("UTF8Type")), (13, structs(vec![column]))]);
        client.call("system_add_column_family", &family).value();
        for name in ["a", "b", "c"] {
            let column = fields([(1, text(name)), (2, text("v")), (3, Value::I64(1))]);
            let parent = fields([(3, text("Cf"))]);
            let insert = fields([(1, text("k")), (2, parent), (3, column), (4, Value::I32(1))]);
            client.call("insert", &insert).void();
        }
        let condition = fields([(1, text("a")), (2, Value::I32(0)), (3, text("v"))]);
        let clause = fields([(1, structs(vec![condition])), (2, text("")), (3, Value::I32(10))]);
        let slice = fields([(1, text("")), (2, text("")), (3, Value::Bool(true)), (4, Value::I32(10))]);
        let predicate = fields([(2, slice)]);
        let parent = fields([(3, text("Cf"))]);
        let asked = fields([(1, parent), (2, clause), (3, predicate), (4, Value::I32(1))]);
        let rows = client.call("get_indexed_slices", &asked).value().clone();
        let columns = rows.items()[0].field(2).items();
        let names: Vec<&str> = columns.iter().map(|column| column.field(1).field(1).str()).collect();
        assert_eq!(names, expected, "{release}");
    }
}

#[test]
fn counters_without_replication_are_written_at_one_up_to_2_0() {
    for (release, is_refused) in [("2.0", true), ("2.1", false)] {
        let (server, _directory) = Server::ephemeral(&["--compat", release]);
        let mut client = client_of(&server);
        let counters = [(15, text("CounterColumnType")), (24, Value::Bool(false))];
        client.call("system_add_column_family", &family("C", counters)).value();
        let add = |level| {
            let column = fields([(1, text("c")), (2, Value::I64(1))]);
            fields([(1, text("k")), (2, fields([(3, text("C"))])), (3, column), (4, Value::I32(level))])
        };
        client.call("add", &add(1)).void();
        let reply = client.call("add", &add(2));
        if is_refused {
            let expected = "cannot achieve CL > CL.ONE without replicate_on_write on columnfamily C";
            assert_eq!(reply.why(), expected, "{release}");
        } else {
            reply.void();
        }
    }
}
