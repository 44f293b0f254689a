//! Two gateways of a ring: the requests of the database layer, and a schema that both change.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cluster_support;
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Cell, Row, RowColumns};
use base::partitioner::Murmur3Partitioner;
use base::schema::{Catalog, IndexKind};
use base::util::{Clock, Release};
use bytes::Bytes;
use cluster_support::{options, own_name, runtime, store};
use db::{
    CasOutcome, CasRequest, CfRequest, ColumnOrSuper, ColumnParent, ColumnRequest, Database, DatabaseParts,
    Error, IndexClause, IndexExpression, IndexOperator, KeyRange, KsRequest, MutationRequest, NewColumn,
    RequestedRange, RowBatch, SlicePredicate,
};

const QUORUM: ConsistencyLevel = ConsistencyLevel::Quorum;
const PEOPLE: &str = "People";
const ROWS: usize = 90;

fn level() -> &'static Behaviour {
    Behaviour::of(Release::V2_1)
}

async fn gateway() -> Arc<Database> {
    let store = Arc::new(store(&options()).await);
    let clock = Arc::new(Clock::system());
    let parts = DatabaseParts::new(Arc::new(Catalog::default()), store, Arc::new(Murmur3Partitioner), clock);
    let database = Arc::new(Database::new(parts));
    database.stored_schema().load().await.unwrap();
    database
}

fn people(keyspace: &str) -> CfRequest {
    let column = |name: &'static str, is_indexed: bool| ColumnRequest {
        name: Bytes::from(name),
        validation_class: "UTF8Type".to_owned(),
        index_kind: is_indexed.then_some(IndexKind::Keys),
        index_name: None,
        index_options: None,
    };
    CfRequest {
        comparator_type: Some("UTF8Type".to_owned()),
        default_validation_class: Some("UTF8Type".to_owned()),
        columns: vec![column("state", true), column("born", false)],
        ..family(keyspace, PEOPLE)
    }
}

fn family(keyspace: &str, name: &str) -> CfRequest {
    CfRequest { keyspace: keyspace.to_owned(), name: name.to_owned(), ..CfRequest::default() }
}

fn keyspace(name: &str) -> KsRequest {
    KsRequest {
        name: name.to_owned(),
        strategy_class: "SimpleStrategy".to_owned(),
        strategy_options: BTreeMap::from([("replication_factor".to_owned(), "3".to_owned())]),
        column_families: vec![people(name)],
        ..KsRequest::default()
    }
}

fn parent() -> ColumnParent {
    ColumnParent { column_family: Bytes::from(PEOPLE), super_column: None }
}

fn everything() -> SlicePredicate {
    let range = RequestedRange { start: Bytes::new(), finish: Bytes::new(), reversed: false, count: 100 };
    SlicePredicate { column_names: None, slice_range: Some(range) }
}

fn column(name: &'static str, value: &'static str) -> NewColumn {
    NewColumn { name: Bytes::from(name), value: Some(Bytes::from(value)), timestamp: Some(1), ttl_s: None }
}

fn batch(key: &Bytes, columns: &[NewColumn]) -> RowBatch {
    let write = |column: &NewColumn| MutationRequest {
        insert: Some(ColumnOrSuper { column: Some(column.clone()), ..ColumnOrSuper::default() }),
        deletion: None,
    };
    RowBatch { key: key.clone(), families: vec![(Bytes::from(PEOPLE), columns.iter().map(write).collect())] }
}

fn cells(columns: &RowColumns) -> &[Cell] {
    match columns {
        RowColumns::Cells(cells) => cells,
        RowColumns::Supers(_) => panic!("a Super row"),
    }
}

fn value(row: &Row, name: &str) -> Option<Bytes> {
    cells(&row.columns).iter().find(|cell| cell.name == name).map(|cell| cell.value.clone())
}

fn is(column: &'static str, value: &'static str) -> IndexExpression {
    IndexExpression {
        column_name: Bytes::from(column),
        operator: IndexOperator::Eq,
        value: Bytes::from(value),
    }
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn two_gateways_share_rows_conditions_and_schema() {
    let name = own_name("Gateways");
    runtime().block_on(async {
        let (one, other) = (gateway().await, gateway().await);
        one.schema_changes(level()).add_keyspace(keyspace(&name)).await.unwrap();
        other.stored_schema().refresh().await.unwrap();
        assert_eq!(one.schema_version(), other.schema_version());
        write_and_read(&one, &other, name.as_bytes()).await;
        conditions(&one, &other, name.as_bytes()).await;
        change_both(&one, &other, &name).await;

        other.schema_changes(level()).truncate(name.as_bytes(), PEOPLE.as_bytes()).await.unwrap();
        let all = KeyRange::of_keys(Bytes::new(), Bytes::new(), 1000);
        let (parent, predicate) = (parent(), everything());
        let left = one
            .request(name.as_bytes(), QUORUM, level())
            .ranges()
            .get_range_slices(&parent, &predicate, &all)
            .await;
        assert_eq!(left.unwrap().len(), 0);
        other.schema_changes(level()).drop_keyspace(&name).await.unwrap();
        one.stored_schema().refresh().await.unwrap();
        assert!(one.catalog().keyspace(&name).is_none());
        for gateway in [one, other] {
            gateway.store().close().await.unwrap();
        }
    });
}

/// Writes batches through one gateway, and reads many rows in all ways through the other.
async fn write_and_read(one: &Database, other: &Database, name: &[u8]) {
    let keys: Vec<Bytes> = (0..ROWS).map(|at| Bytes::from(format!("row{at:03}"))).collect();
    for (at, key) in keys.iter().enumerate() {
        let state = if at % 3 == 0 { "CA" } else { "UT" };
        let born = if at % 2 == 0 { "1970" } else { "1980" };
        let row = batch(key, &[column("state", state), column("born", born)]);
        one.request(name, QUORUM, level()).writes().atomic_batch_mutate(vec![row]).await.unwrap();
    }
    let (parent, predicate) = (parent(), everything());
    let rows = other
        .request(name, QUORUM, level())
        .reads()
        .multiget_slice(&keys, &parent, &predicate)
        .await
        .unwrap();
    assert!(rows.iter().map(|(key, _)| key).eq(&keys), "the rows are in another order");
    assert!(rows.iter().all(|(_, columns)| columns.len() == 2), "a write is missing");

    let all = KeyRange::of_keys(Bytes::new(), Bytes::new(), 1000);
    let scanned = other
        .request(name, QUORUM, level())
        .ranges()
        .get_range_slices(&parent, &predicate, &all)
        .await
        .unwrap();
    assert_eq!(scanned.len(), ROWS);
    let meets = |row: &&Row| {
        value(row, "state").is_some_and(|state| state == "UT")
            && value(row, "born").is_some_and(|born| born == "1970")
    };
    let expected: Vec<Bytes> = scanned.iter().filter(meets).map(|row| row.key.clone()).collect();
    assert_eq!(expected.len(), ROWS / 3);
    // Each page begins with the last row of the page before.
    let mut found: Vec<Bytes> = Vec::new();
    loop {
        let expressions = vec![is("born", "1970"), is("state", "UT")];
        let start_key = found.last().cloned().unwrap_or_default();
        let clause = IndexClause { expressions, start_key, count: 7 };
        let rows = other
            .request(name, QUORUM, level())
            .index_reads()
            .get_indexed_slices(&parent, &clause, &predicate)
            .await;
        let keys: Vec<Bytes> = rows.unwrap().into_iter().map(|row| row.key).collect();
        let more = if found.is_empty() { &keys[..] } else { &keys[1..] };
        if more.is_empty() {
            break;
        }
        found.extend_from_slice(more);
    }
    assert_eq!(found, expected);
    let filtered = KeyRange { row_filter: vec![is("state", "UT"), is("born", "1970")], ..all };
    let rows = other
        .request(name, QUORUM, level())
        .ranges()
        .get_range_slices(&parent, &predicate, &filtered)
        .await
        .unwrap();
    assert!(rows.iter().map(|row| &row.key).eq(&expected));
}

/// Runs conditional updates of one row through both gateways at the same time. Each sees the result of the one before.
async fn conditions(one: &Arc<Database>, other: &Arc<Database>, name: &[u8]) {
    let request = |key: &Bytes, expected: Vec<NewColumn>, value| CasRequest {
        key: key.clone(),
        column_family: Bytes::from(PEOPLE),
        expected,
        updates: vec![column("state", value)],
        serial_consistency: ConsistencyLevel::Serial,
    };
    let cas = async |database: &Arc<Database>, request| {
        database.request(name, QUORUM, level()).writes().cas(request).await
    };
    // Of two updates at the same time one may time out with an unknown outcome. Such a row is skipped.
    let mut rows = (0..20).map(|number| Bytes::from(format!("locked{number}")));
    let (key, outcomes) = loop {
        let key = rows.next().unwrap();
        let (first, second) = tokio::join!(
            cas(one, request(&key, Vec::new(), "first")),
            cas(other, request(&key, Vec::new(), "second")),
        );
        match (first, second) {
            (Ok(first), Ok(second)) => break (key, [first, second]),
            (first, second) => [first, second].into_iter().filter_map(Result::err).for_each(|error| {
                assert!(matches!(error, Error::TimedOut(_)), "{error:?}");
            }),
        }
    };
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == CasOutcome::Applied).count(), 1, "{outcomes:?}");
    let (winner, loser) =
        if outcomes[0] == CasOutcome::Applied { ("first", "second") } else { ("second", "first") };
    let refused = cas(other, request(&key, vec![column("state", loser)], "third")).await.unwrap();
    let CasOutcome::Refused(current) = refused else { panic!("{loser} was written") };
    assert_eq!(current[0].value, winner);
    let applied = cas(one, request(&key, vec![column("state", winner)], "third")).await.unwrap();
    assert_eq!(applied, CasOutcome::Applied);
}

/// Changes the keyspace through both gateways at the same time.
async fn change_both(one: &Arc<Database>, other: &Arc<Database>, name: &str) {
    let (of_one, of_other) = (one.schema_changes(level()), other.schema_changes(level()));
    let (first, second) = tokio::join!(
        of_one.add_column_family(family(name, "First")),
        of_other.add_column_family(family(name, "Second")),
    );
    first.unwrap();
    second.unwrap();
    one.schema_changes(level()).drop_column_family(name, "Second").await.unwrap();
    other.stored_schema().refresh().await.unwrap();
    for gateway in [one, other] {
        let catalog = gateway.catalog();
        let families = &catalog.keyspace(name).unwrap().column_families;
        assert!(families.keys().eq(["First", PEOPLE]), "{:?}", families);
    }
    assert_eq!(one.schema_version(), other.schema_version());
}
