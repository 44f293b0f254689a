//! The Rust driver against a server: scenario HOST CQL_PORT

mod everything;
mod queries;

use std::error::Error;
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use scylla::client::Compression;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;

pub const KEYSPACE: &str = "drivers_scylla";
pub const REPLICATION: &str = "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

/// A check that does not hold, or what a driver says that failed.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

static CHECKS: AtomicUsize = AtomicUsize::new(0);

pub fn same<T: PartialEq + Debug>(what: &str, wanted: T, found: T) -> Outcome {
    CHECKS.fetch_add(1, Ordering::Relaxed);
    if wanted != found {
        return Err(format!("{what}: expected {wanted:?}, found {found:?}").into());
    }
    println!("ok: {what}");
    Ok(())
}

pub struct Client {
    pub session: Session,
    address: String,
}

impl Client {
    pub async fn connect(address: &str, compression: Option<Compression>) -> Outcome<Client> {
        let session = SessionBuilder::new()
            .known_node(address)
            .compression(compression)
            .connection_timeout(Duration::from_secs(30))
            .build()
            .await?;
        Ok(Client { session, address: address.to_owned() })
    }

    /// Another session of the same server.
    pub async fn another(&self) -> Outcome<Client> {
        Client::connect(&self.address, None).await
    }

    pub async fn run(&self, statement: &str) -> Outcome {
        self.session.query_unpaged(statement, ()).await.map_err(|error| format!("{statement}: {error}"))?;
        Ok(())
    }

    /// Waits until the driver knows the table with so many columns, or none. Of itself it looks once a minute.
    pub async fn knows(&self, what: &str, table: &str, columns: Option<usize>) -> Outcome {
        self.session.refresh_metadata().await?;
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            let state = self.session.get_cluster_state();
            let keyspace = state.get_keyspace(KEYSPACE);
            let found = keyspace.and_then(|one| one.tables.get(table)).map(|one| one.columns.len());
            if found == columns || Instant::now() > end {
                return same(what, columns, found);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn play(address: &str) -> Outcome {
    for compression in [None, Some(Compression::Lz4), Some(Compression::Snappy)] {
        let client = Client::connect(address, compression).await?;
        let found = client.session.query_unpaged("SELECT key FROM system.local", ()).await?;
        let (key,) = found.into_rows_result()?.single_row::<(String,)>()?;
        same(&format!("a connection with {compression:?}"), "local", &key)?;
    }
    let client = Client::connect(address, Some(Compression::Lz4)).await?;
    same("nodes", 1, client.session.get_cluster_state().get_nodes_info().len())?;
    client.run(&format!("DROP KEYSPACE IF EXISTS {KEYSPACE}")).await?;
    client.run(&format!("CREATE KEYSPACE {KEYSPACE} {REPLICATION}")).await?;
    client.session.use_keyspace(KEYSPACE, false).await?;
    everything::check(&client).await?;
    queries::check(&client).await
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, host, port] = &arguments[..] else {
        eprintln!("usage: scenario HOST CQL_PORT");
        std::process::exit(2);
    };
    let ended = play(&format!("{host}:{port}")).await;
    if let Err(error) = &ended {
        println!("FAILED: {error}");
    }
    println!("{} checks", CHECKS.load(Ordering::Relaxed));
    std::process::exit(i32::from(ended.is_err()));
}
