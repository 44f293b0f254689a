//! Scans of a ring, and reads of one's own writes at ONE. The ring has the release in which scans for keys fail after some
//! deletions.
// ring: --release 5.0.5
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::{cluster_support, gateway, reference_model};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::marshal::Types;
use base::model::{
    Bounds, Cell, Change, DeletionTime, Mutation, Predicate, RangeCommand, ReadCommand, Row, RowColumns,
    SliceRange,
};
use base::partitioner::Murmur3Partitioner;
use base::schema::{CfDef, ColumnType};
use base::util::{Clock, Release};
use cluster::ClusterLink;
use cluster_support::{SchemaCalls, catalog, options, own_name, runtime, store};
use reference_model::ReferenceModel;
use store::Store;

fn behaviour() -> &'static Behaviour {
    Behaviour::of(Release::V2_1)
}

fn all_rows(cf: &Arc<CfDef>, start: Bytes, rows: usize, columns: usize) -> RangeCommand {
    let read = ReadCommand {
        cf: cf.clone(),
        super_column: None,
        predicate: Predicate::Range(SliceRange { count: columns, ..SliceRange::all() }),
        behaviour: behaviour(),
        with_tombstones: false,
        gc_before: i32::MIN,
        now_s: 0,
    };
    RangeCommand { bounds: Bounds::Keys { start, end: Bytes::new() }, max_rows: rows, read, skip_empty: true }
}

fn row_of(cf: &Arc<CfDef>, number: usize, columns: usize) -> Mutation {
    let change = |column: usize| {
        let name = Bytes::from(format!("{:05}", column));
        let super_column = cf.subcomparator().map(|_| Bytes::from(format!("{:03}", column / 4)));
        Change::Cell { super_column, cell: Cell::live(name, Bytes::from(vec![b'v'; 40]), 1) }
    };
    Mutation::of(Bytes::from(format!("row{number}")), cf.clone(), (0..columns).map(change).collect())
}

async fn write(store: &dyn Store, mutations: Vec<Mutation>) {
    store.apply(mutations, behaviour(), ConsistencyLevel::All).await.unwrap();
}

async fn scan(store: &dyn Store, command: RangeCommand, consistency: ConsistencyLevel) -> Vec<Row> {
    store.scan(command, consistency).await.unwrap()
}

/// Rows from one to 1,500 columns: pages end in the middle of rows, and wide rows are followed by narrow ones.
#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn rows_that_are_wider_than_the_limit_are_cut() {
    let keyspace = own_name("wide");
    let supers = ColumnType::Super { subcomparator: Types::builtin().parse("UTF8Type").unwrap() };
    let families =
        [CfDef::new(&keyspace, "Cf"), CfDef { column_type: supers, ..CfDef::new(&keyspace, "Su") }];
    let schema = catalog(&keyspace, families);
    runtime().block_on(async {
        let ring = store(&options()).await;
        ring.alter(schema.clone()).await.unwrap();
        let model = ReferenceModel::new(Arc::new(Murmur3Partitioner), Arc::new(Clock::system()));
        for cf in schema.column_families() {
            let rows: Vec<Mutation> =
                (0..60).map(|row| row_of(cf, row, [1, 2, 1_500, 3, 300, 1, 40][row % 7] + row)).collect();
            for store in [&ring as &dyn Store, &model] {
                write(store, rows.clone()).await;
            }
            for (rows, columns) in [(100, 3), (100, 1), (7, 100), (33, 1_510), (60, 2_000), (1, 1), (100, 20)]
            {
                let mut start = Bytes::new();
                for _ in 0..3 {
                    let command = || all_rows(cf, start.clone(), rows, columns);
                    let found = scan(&ring, command(), ConsistencyLevel::Quorum).await;
                    let expected = scan(&model, command(), ConsistencyLevel::Quorum).await;
                    assert!(seen(&found) == seen(&expected), "{}: {rows} rows of {columns}", cf.name);
                    start = found.last().unwrap().key.clone();
                }
            }
            ring.drop_family(cf.clone()).await.unwrap();
        }
    });
}

/// Returns the keys with the names of their columns.
fn seen(rows: &[Row]) -> Vec<(Bytes, Vec<Bytes>)> {
    let names = |columns: &RowColumns| match columns {
        RowColumns::Cells(cells) => cells.iter().map(|cell| cell.name.clone()).collect(),
        RowColumns::Supers(supers) => supers
            .iter()
            .flat_map(|of| std::iter::once(of.name.clone()).chain(of.cells.iter().map(|c| c.name.clone())))
            .collect(),
    };
    rows.iter().map(|row| (row.key.clone(), names(&row.columns))).collect()
}

/// In Cassandra 5.0.5, `SELECT DISTINCT` and `PER PARTITION LIMIT` fail on the files of such a row. A node that stops flushes.
#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_super_column_that_was_deleted_and_written_again_is_scanned_after_a_flush() {
    let keyspace = own_name("flushed");
    let supers = ColumnType::Super { subcomparator: Types::builtin().parse("UTF8Type").unwrap() };
    let schema = catalog(&keyspace, [CfDef { column_type: supers, ..CfDef::new(&keyspace, "Su") }]);
    runtime().block_on(async {
        let ring = store(&options()).await;
        ring.alter(schema.clone()).await.unwrap();
        let cf = schema.column_family(&keyspace, "Su").unwrap();
        let deletion = DeletionTime { marked_for_delete_at: 20, local_deletion_time: 0 };
        let delete = Change::DeleteSuper { name: Bytes::from_static(b"000"), deletion };
        let cell = Cell::live(Bytes::from_static(b"again"), Bytes::from_static(b"v"), 30);
        let again = Change::Cell { super_column: Some(Bytes::from_static(b"000")), cell };
        let key = Bytes::from_static(b"row0");
        write(&ring, vec![row_of(cf, 0, 6), row_of(cf, 1, 2)]).await;
        write(&ring, vec![Mutation::of(key.clone(), cf.clone(), vec![delete])]).await;
        write(&ring, vec![Mutation::of(key.clone(), cf.clone(), vec![again])]).await;
    });
    for node in ["1", "2", "3"] {
        gateway::ring(&["stop-node", node]);
        gateway::ring(&["start-node", node]);
    }
    runtime().block_on(async {
        let link = ClusterLink::open(&options()).await.unwrap();
        let keys = format!("SELECT DISTINCT key FROM \"{keyspace}\".\"Su\"");
        assert!(link.session.query_unpaged(keys, ()).await.is_err(), "this release has no such defect");
        let ring = store(&options()).await;
        ring.alter(schema.clone()).await.unwrap();
        let cf = schema.column_family(&keyspace, "Su").unwrap();
        for columns in [1, 100, usize::MAX] {
            let found = scan(&ring, all_rows(cf, Bytes::new(), 10, columns), ConsistencyLevel::Quorum).await;
            let keys: Vec<&Bytes> = found.iter().map(|row| &row.key).collect();
            assert_eq!(keys.len(), 2, "{keys:?}");
        }
        ring.drop_family(cf.clone()).await.unwrap();
    });
}

/// At QUORUM a limit of columns for each row once made scans forty times as slow as at ONE.
#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn scans_at_quorum_are_not_much_slower_than_at_one() {
    const ROWS: usize = 20_000;
    let keyspace = own_name("scanned");
    let schema = catalog(&keyspace, [CfDef::new(&keyspace, "Cf")]);
    runtime().block_on(async {
        let ring = store(&options()).await;
        ring.alter(schema.clone()).await.unwrap();
        let cf = schema.column_family(&keyspace, "Cf").unwrap();
        for first in (0..ROWS).step_by(500) {
            write(&ring, (first..first + 500).map(|row| row_of(cf, row, 2)).collect()).await;
        }
        let mut took = Vec::new();
        for consistency in [ConsistencyLevel::One, ConsistencyLevel::Quorum] {
            let (begun, mut start, mut found) = (Instant::now(), Bytes::new(), 1);
            while found < ROWS {
                let page = scan(&ring, all_rows(cf, start, 256, 100), consistency).await;
                found += page.len() - 1;
                start = page.last().unwrap().key.clone();
            }
            assert_eq!(found, ROWS);
            let rate = ROWS as f64 / begun.elapsed().as_secs_f64();
            println!("{consistency:?}: {rate:.0} rows a second, 256 in a page");
            took.push(begun.elapsed());
        }
        assert!(took[1] < took[0] * 8 + Duration::from_secs(1), "{took:?}");
        ring.drop_family(cf.clone()).await.unwrap();
    });
}

/// All replicas are sent a write, and another one may acknowledge it before the coordinator has applied it.
#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn nearly_all_own_writes_are_seen_at_one() {
    let keyspace = own_name("own");
    let schema = catalog(&keyspace, [CfDef::new(&keyspace, "Cf")]);
    runtime().block_on(async {
        let ring = store(&options()).await;
        ring.alter(schema.clone()).await.unwrap();
        let cf = schema.column_family(&keyspace, "Cf").unwrap();
        let mut missing = 0;
        for number in 0..800 {
            let row = row_of(cf, number, 1);
            let key = row.key.clone();
            ring.apply(vec![row], behaviour(), ConsistencyLevel::One).await.unwrap();
            let read = all_rows(cf, Bytes::new(), 1, 10).read;
            let found = ring.read(key, read, ConsistencyLevel::One).await.unwrap();
            missing += usize::from(matches!(found, RowColumns::Cells(cells) if cells.is_empty()));
        }
        println!("{missing} of 800 writes were not seen by the read after them");
        assert!(missing < 40);
        ring.drop_family(cf.clone()).await.unwrap();
    });
}
