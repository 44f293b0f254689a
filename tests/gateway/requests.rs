//! Which work a gateway leaves to the cluster, and which requests it sends: against a cluster in memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::remote_support;
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Row, RowColumns};
use base::schema::{Catalog, IndexKind};
use base::util::Release;
use bytes::Bytes;
use cluster::limits::CLUSTER_ROWS_AT_ONCE;
use db::{
    CasOutcome, CasRequest, CfRequest, ColumnOrSuper, ColumnParent, ColumnPath, ColumnRequest, Database,
    Error, IndexClause, IndexExpression, IndexOperator, KeyRange, KsRequest, MutationRequest, NewColumn,
    RequestedRange, RowBatch, SlicePredicate,
};
use remote_support::Cluster;
use store::StoreError;

const KS: &[u8] = b"Ks";
const CF: &str = "People";
const ONE: ConsistencyLevel = ConsistencyLevel::One;
const QUORUM: ConsistencyLevel = ConsistencyLevel::Quorum;

fn level() -> &'static Behaviour {
    Behaviour::of(Release::V2_1)
}

fn family(indexed: &[&'static str]) -> CfRequest {
    let column = |name: &'static str| ColumnRequest {
        name: Bytes::from(name),
        validation_class: "UTF8Type".to_owned(),
        index_kind: indexed.contains(&name).then_some(IndexKind::Keys),
        index_name: None,
        index_options: None,
    };
    CfRequest {
        keyspace: "Ks".to_owned(),
        name: CF.to_owned(),
        comparator_type: Some("UTF8Type".to_owned()),
        columns: vec![column("state"), column("born")],
        ..CfRequest::default()
    }
}

/// Starts a gateway with a keyspace of three replicas and an indexed column family.
pub async fn gateway(cluster: &Arc<Cluster>) -> Arc<Database> {
    let database = cluster.gateway(Catalog::default()).await;
    let keyspace = KsRequest {
        name: "Ks".to_owned(),
        strategy_class: "SimpleStrategy".to_owned(),
        strategy_options: BTreeMap::from([("replication_factor".to_owned(), "3".to_owned())]),
        column_families: vec![family(&["state"])],
        ..KsRequest::default()
    };
    database.schema_changes(level()).add_keyspace(keyspace).await.unwrap();
    cluster.take_log();
    database
}

fn parent() -> ColumnParent {
    ColumnParent { column_family: Bytes::from(CF), super_column: None }
}

fn column(name: &'static str, value: &'static str) -> NewColumn {
    NewColumn { name: Bytes::from(name), value: Some(Bytes::from(value)), timestamp: Some(1), ttl_s: None }
}

fn everything() -> SlicePredicate {
    let range = RequestedRange { start: Bytes::new(), finish: Bytes::new(), reversed: false, count: 100 };
    SlicePredicate { column_names: None, slice_range: Some(range) }
}

pub async fn insert(database: &Database, key: &str, name: &'static str, value: &'static str) {
    let key = Bytes::copy_from_slice(key.as_bytes());
    database
        .request(KS, QUORUM, level())
        .writes()
        .insert_column(key, parent(), column(name, value))
        .await
        .unwrap();
}

fn batch(key: &'static str) -> RowBatch {
    let insert = ColumnOrSuper { column: Some(column("state", "UT")), ..ColumnOrSuper::default() };
    let mutation = MutationRequest { insert: Some(insert), deletion: None };
    RowBatch { key: Bytes::from(key), families: vec![(Bytes::from(CF), vec![mutation])] }
}

fn keys_of(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| String::from_utf8_lossy(&row.key).into_owned()).collect()
}

fn is(column: &'static str, value: &'static str) -> IndexExpression {
    IndexExpression {
        column_name: Bytes::from(column),
        operator: IndexOperator::Eq,
        value: Bytes::from(value),
    }
}

/// Returns the error of a slice at a consistency level.
async fn refused_slice(database: &Database, consistency: ConsistencyLevel) -> Error {
    let request = database.request(KS, consistency, level());
    let slice = request.reads().get_slice(&Bytes::from("anna"), &parent(), &everything()).await;
    slice.unwrap_err()
}

/// Returns the keys of the rows that meet all conditions.
async fn keys_where(
    database: &Database,
    expressions: Vec<IndexExpression>,
    (start_key, count): (&str, i32),
) -> Vec<String> {
    let clause = IndexClause { expressions, start_key: Bytes::copy_from_slice(start_key.as_bytes()), count };
    let rows = database
        .request(KS, ONE, level())
        .index_reads()
        .get_indexed_slices(&parent(), &clause, &everything())
        .await;
    keys_of(&rows.unwrap())
}

#[tokio::test]
async fn writes_add_no_index_entries_and_do_not_count_replicas() {
    let cluster = Cluster::new();
    let database = gateway(&cluster).await;
    insert(&database, "anna", "state", "UT").await;
    assert_eq!(cluster.take_log(), ["apply People at QUORUM"]);
    database.request(KS, ONE, level()).writes().batch_mutate(vec![batch("bert")]).await.unwrap();
    assert_eq!(cluster.take_log(), ["apply People at ONE"]);
    database
        .request(KS, QUORUM, level())
        .writes()
        .atomic_batch_mutate(vec![batch("carl"), batch("dora")])
        .await
        .unwrap();
    assert_eq!(cluster.take_log(), ["logged People People at QUORUM"]);
    database.request(KS, QUORUM, level()).writes().atomic_batch_mutate(Vec::new()).await.unwrap();
    assert_eq!(cluster.take_log(), [""; 0]);
    // The cluster decides how many replicas are up.
    let unavailable = StoreError::Unavailable { why: "one is down".to_owned(), required: 3, alive: 2 };
    cluster.fail_with(unavailable);
    let error = refused_slice(&database, ConsistencyLevel::All).await;
    assert!(matches!(error, Error::Unavailable { required: 3, alive: 2, .. }), "{error:?}");
    // A level that reads cannot have is still refused by the gateway.
    let error = refused_slice(&database, ConsistencyLevel::Any).await;
    assert_eq!(error.to_string(), "ANY ConsistencyLevel is only supported for writes");
}

#[tokio::test]
async fn a_gateway_does_not_build_truncate_or_drop_indexes() {
    let cluster = Cluster::new();
    let database = gateway(&cluster).await;
    insert(&database, "anna", "born", "1970").await;
    cluster.take_log();
    database.schema_changes(level()).update_column_family(family(&["born"])).await.unwrap();
    assert_eq!(cluster.take_log(), ["alter People"]);
    assert_eq!(cluster.record_names(), ["keyspace/Ks"]);
    assert_eq!(keys_where(&database, vec![is("born", "1970")], ("", 10)).await, ["anna"]);
    cluster.take_log();
    database.schema_changes(level()).truncate(KS, CF.as_bytes()).await.unwrap();
    assert_eq!(cluster.take_log(), ["truncate People"]);
    database.schema_changes(level()).drop_column_family("Ks", CF).await.unwrap();
    assert_eq!(cluster.take_log(), ["drop People", "alter "]);
    assert_eq!(cluster.record_names(), ["keyspace/Ks"]);
}

#[tokio::test]
async fn conditional_updates_are_left_to_the_cluster() {
    let cluster = Cluster::new();
    let database = gateway(&cluster).await;
    let request = |expected: &[(&'static str, &'static str)], value| CasRequest {
        key: Bytes::from("anna"),
        column_family: Bytes::from(CF),
        expected: expected.iter().map(|(name, value)| column(name, value)).collect(),
        updates: vec![column("state", value)],
        serial_consistency: ConsistencyLevel::Serial,
    };
    let cas = async |request| database.request(KS, QUORUM, level()).writes().cas(request).await.unwrap();
    assert_eq!(cas(request(&[], "UT")).await, CasOutcome::Applied);
    assert_eq!(cluster.take_log(), ["cas at SERIAL then QUORUM"]);
    let CasOutcome::Refused(found) = cas(request(&[], "CA")).await else { panic!("applied twice") };
    assert_eq!(found[0].value, "UT");
    assert!(found[0].timestamp > 1, "the client's timestamp was used");
    assert_eq!(cas(request(&[("state", "UT")], "CA")).await, CasOutcome::Applied);
    let refused = request(&[], "UT");
    let refused = CasRequest { serial_consistency: QUORUM, ..refused };
    let refused = database.request(KS, QUORUM, level()).writes().cas(refused).await;
    assert!(matches!(refused, Err(Error::InvalidRequest(_))));
}

#[tokio::test]
async fn columns_are_counted_in_pages() {
    let cluster = Cluster::new();
    let database = gateway(&cluster).await;
    let key = Bytes::from_static(b"wide");
    let columns = 4_500;
    let mutations = (0..columns).map(|at| {
        let column = NewColumn { name: Bytes::from(format!("{at:05}")), ..column("", "v") };
        let insert = ColumnOrSuper { column: Some(column), ..ColumnOrSuper::default() };
        MutationRequest { insert: Some(insert), deletion: None }
    });
    let batch = RowBatch { key: key.clone(), families: vec![(Bytes::from(CF), mutations.collect())] };
    database.request(KS, QUORUM, level()).writes().batch_mutate(vec![batch]).await.unwrap();
    let count = async |(start, finish): (&'static str, &'static str), reversed, count| {
        let [start, finish] = [start, finish].map(|name| Bytes::from_static(name.as_bytes()));
        let range = RequestedRange { start, finish, reversed, count };
        let predicate = SlicePredicate { column_names: None, slice_range: Some(range) };
        database.request(KS, ONE, level()).reads().count_slice(&key, &parent(), &predicate).await.unwrap()
    };
    let all = ("", "");
    assert_eq!(count(all, false, i32::MAX).await, columns);
    assert_eq!(count(all, true, i32::MAX).await, columns);
    for asked in [1, 1_999, 2_000, 2_001, 3_999, 4_000, 4_499, 4_500, 4_501] {
        assert_eq!(count(all, false, asked).await, asked.min(columns));
    }
    assert_eq!(count(("00100", "04099"), false, i32::MAX).await, 4_000);
    assert_eq!(count(("04099", "00100"), true, 3_000).await, 3_000);
    assert_eq!(cluster.columns_most.load(Ordering::SeqCst), 2_000);

    let old = Behaviour::of(Release::V0_6);
    assert_eq!(database.request(KS, ONE, old).reads().get_count(&key, &parent()).await.unwrap(), 4_500);
    assert_eq!(cluster.columns_most.load(Ordering::SeqCst), 2_000);
}

#[tokio::test]
async fn many_rows_are_read_at_the_same_time_and_returned_in_order() {
    let cluster = Cluster::new();
    let database = gateway(&cluster).await;
    let mut keys: Vec<Bytes> = (0..300).map(|at| Bytes::from(format!("row{at:03}"))).collect();
    for key in &keys {
        insert(&database, std::str::from_utf8(key).unwrap(), "state", "UT").await;
    }
    let expected = keys.clone();
    keys.reverse();
    let rows = database
        .request(KS, ONE, level())
        .reads()
        .multiget_slice(&keys, &parent(), &everything())
        .await
        .unwrap();
    assert_eq!(rows.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>(), expected);
    assert!(rows.iter().all(|(_, columns)| columns.len() == 1));
    assert_eq!(cluster.reads_most.swap(0, Ordering::SeqCst), CLUSTER_ROWS_AT_ONCE);

    let path =
        ColumnPath { column_family: Bytes::from(CF), super_column: None, column: Some(Bytes::from("state")) };
    let found = database.request(KS, ONE, level()).reads().multiget(&keys, &path).await.unwrap();
    assert!(found.iter().map(|(key, _)| key).eq(&expected) && found.iter().all(|(_, found)| found.is_some()));
    assert_eq!(cluster.reads_most.swap(0, Ordering::SeqCst), CLUSTER_ROWS_AT_ONCE);

    let in_ring_order = keys_where(&database, vec![is("state", "UT")], ("", 1000)).await;
    assert_eq!(in_ring_order.len(), 300);
    assert_eq!(cluster.reads_most.swap(0, Ordering::SeqCst), CLUSTER_ROWS_AT_ONCE);

    cluster.fail_with(StoreError::Overloaded("full".to_owned()));
    let error = database
        .request(KS, ONE, level())
        .reads()
        .multiget_slice(&keys, &parent(), &everything())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Overloaded(_)), "{error:?}");
}

#[tokio::test]
async fn rows_that_meet_conditions_are_read_by_the_cluster_s_index_in_pages() {
    let cluster = Cluster::new();
    let database = gateway(&cluster).await;
    for at in 0..60 {
        let key = format!("row{at:02}");
        insert(&database, &key, "state", if at % 3 == 0 { "CA" } else { "UT" }).await;
        insert(&database, &key, "born", if at % 2 == 0 { "1970" } else { "1980" }).await;
    }
    let all = KeyRange::of_keys(Bytes::new(), Bytes::new(), 100);
    let scanned = database
        .request(KS, ONE, level())
        .ranges()
        .get_range_slices(&parent(), &everything(), &all)
        .await
        .unwrap();
    let value = |row: &Row, name: &str| match &row.columns {
        RowColumns::Cells(cells) => {
            cells.iter().find(|cell| cell.name == name).map(|cell| cell.value.clone())
        }
        RowColumns::Supers(_) => None,
    };
    let expected = |conditions: &[(&str, &str)]| -> Vec<String> {
        let meets = |row: &&Row| {
            conditions.iter().all(|(name, wanted)| value(row, name).is_some_and(|found| found == *wanted))
        };
        keys_of(&scanned.iter().filter(meets).cloned().collect::<Vec<_>>())
    };
    let (in_utah, of_1970) = (("state", "UT"), ("born", "1970"));
    cluster.take_log();
    assert_eq!(keys_where(&database, vec![is("state", "UT")], ("", 100)).await, expected(&[in_utah]));
    assert_eq!(cluster.take_log(), ["index from key , 100 keys"]);

    // Some of the first 16 rows do not meet the second condition, so another page is read.
    let both = expected(&[in_utah, of_1970]);
    let found = keys_where(&database, vec![is("born", "1970"), is("state", "UT")], ("", 15)).await;
    assert_eq!(found, both[..15]);
    assert_eq!(cluster.take_log(), ["index from key , 16 keys", "index from after a token, 16 keys"]);

    // A later page begins with the last row of the page before.
    let rest = keys_where(&database, vec![is("state", "UT"), is("born", "1970")], (&both[14], 100)).await;
    assert_eq!(rest, both[14..]);
    cluster.take_log();

    let filtered = KeyRange { row_filter: vec![is("state", "UT"), is("born", "1970")], ..all.clone() };
    let rows = database
        .request(KS, ONE, level())
        .ranges()
        .get_range_slices(&parent(), &everything(), &filtered)
        .await
        .unwrap();
    assert_eq!(keys_of(&rows), both);
    assert_eq!(cluster.take_log(), ["index from key , 100 keys"]);

    // Without a condition on an indexed column every row is read.
    let filtered = KeyRange { row_filter: vec![is("born", "1970")], ..all };
    let rows = database
        .request(KS, ONE, level())
        .ranges()
        .get_range_slices(&parent(), &everything(), &filtered)
        .await
        .unwrap();
    assert_eq!(keys_of(&rows), expected(&[of_1970]));
    assert_eq!(cluster.take_log(), [""; 0]);
}
