//! Measures resets, snapshots and restores of a server in memory.
//!
//! usage: cargo run --release --example control_speed [CELLS [BYTES]]
//!
//! A reset is measured with 100 column families and CELLS cells (a million) of 10 bytes, a snapshot and its restore with
//! BYTES bytes (100,000,000) in values of 1,000 bytes. Before each measurement something was written.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on should stop")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use thriftstore::compat::features::ConsistencyLevel;
use thriftstore::db::Database;
use thriftstore::model::{Cell, Change, Mutation};
use thriftstore::testing::Server;

const FAMILIES: usize = 100;
const CELLS_OF_ROW: usize = 100;
const ROUNDS: usize = 21;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<usize>().unwrap());
    let cells = numbers.next().unwrap_or(1_000_000);
    let bytes = numbers.next().unwrap_or(100_000_000);
    let families =
        (0..FAMILIES).map(|at| format!("<ColumnFamily Name=\"Cf{at}\" CompareWith=\"BytesType\"/>"));
    let server = Server::builder().config_text(format!(
        "<Storage><ClusterName>speed</ClusterName><Keyspaces><Keyspace Name=\"Speed\">{}
         <ReplicaPlacementStrategy>org.apache.cassandra.locator.RackUnawareStrategy</ReplicaPlacementStrategy>
         <ReplicationFactor>1</ReplicationFactor><EndPointSnitch>org.apache.cassandra.locator.EndPointSnitch\
         </EndPointSnitch></Keyspace></Keyspaces></Storage>",
        families.collect::<String>()
    ));
    let server = server.start().unwrap();
    let database = server.control().database().clone();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let fill = |cells: usize, value: usize| runtime.block_on(fill(&database, cells, value));

    fill(cells, 10);
    let full = server.snapshot().unwrap();
    let (mut of_data, mut of_everything) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        of_data.push(time(|| server.reset_data().unwrap()));
        server.restore(&full).unwrap();
        fill(FAMILIES * CELLS_OF_ROW, 10);
        of_everything.push(time(|| server.reset().unwrap()));
        server.restore(&full).unwrap();
        fill(FAMILIES * CELLS_OF_ROW, 10);
    }
    println!("{FAMILIES} column families, {cells} cells");
    report("reset of the data", of_data);
    report("reset of everything", of_everything);

    drop(full);
    server.reset().unwrap();
    fill(bytes / 1_000, 1_000);
    let (mut takes, mut restores) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut taken = None;
        takes.push(time(|| taken = Some(server.snapshot().unwrap())));
        fill(FAMILIES * CELLS_OF_ROW, 10);
        restores.push(time(|| server.restore(taken.as_ref().unwrap()).unwrap()));
        fill(CELLS_OF_ROW, 10);
    }
    println!("{FAMILIES} column families, {bytes} bytes of values");
    report("snapshot", takes);
    report("restore", restores);
}

/// Writes cells to all column families in turn.
async fn fill(database: &Arc<Database>, cells: usize, value: usize) {
    let catalog = database.catalog().clone();
    let families: Vec<_> = catalog.column_families().cloned().collect();
    let value = Bytes::from(vec![b'v'; value]);
    for row in 0..cells / CELLS_OF_ROW {
        let cell = |column: usize| Change::Cell {
            super_column: None,
            cell: Cell::live(format!("column{column}").into(), value.clone(), database.next_micros()),
        };
        let changes = (0..CELLS_OF_ROW).map(cell).collect();
        let mutation = Mutation::of(format!("row{row}").into(), families[row % FAMILIES].clone(), changes);
        database.restore().write(vec![mutation], ConsistencyLevel::One).await.unwrap();
    }
}

fn time(run: impl FnOnce()) -> Duration {
    let began = Instant::now();
    run();
    began.elapsed()
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    println!("  {what}: median {:?}, most {:?}", times[times.len() / 2], times[times.len() - 1]);
}
