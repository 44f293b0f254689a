//! Loads a place into a database in memory, as data of tests.

use std::sync::Arc;

use super::families::Work;
use super::open::{CONSISTENCY, OpenOptions, open};
use super::place::Place;
use super::progress_file::ProgressFile;
use super::run::Interruption;
use super::schema::{self, Selection};
use super::side::Side;
use super::store_pages::StorePages;
use super::tally::Tally;
use super::{CopyError, DEFAULT_PARALLEL, DEFAULT_ROWS};
use crate::db::Database;

/// What was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    pub column_families: usize,
    pub rows: u64,
    pub cells: u64,
}

/// Copies all column families of a place into a database, which gets those that it lacks.
///
/// # Errors
/// If the place cannot be read, or if a column family of the same name has other names or values.
pub async fn load(
    place: &Place,
    into: &Arc<Database>,
    options: &OpenOptions<'_>,
) -> Result<Loaded, CopyError> {
    let from = Arc::new(open(place, options).await?);
    let to = Arc::new(Side {
        name: "memory".to_owned(),
        pages: Arc::new(StorePages::new(into.store().clone(), options.clock.clone(), CONSISTENCY)),
        database: Some(into.clone()),
        described: Vec::new(),
        partitioner: Some(into.partitioner().clone()),
    });
    let loaded = load_from(from.clone(), to, options).await;
    let closed = from.close().await;
    let loaded = loaded?;
    closed.map(|()| loaded)
}

async fn load_from(from: Arc<Side>, to: Arc<Side>, options: &OpenOptions<'_>) -> Result<Loaded, CopyError> {
    let pairs = schema::prepare(&from, &to, &Selection::default()).await?;
    let mut file = ProgressFile::open(None, &from.name, &to.name)?;
    let work = Work {
        from,
        to,
        clock: options.clock.clone(),
        rows_at_a_time: DEFAULT_ROWS.into(),
        parallel: DEFAULT_PARALLEL.into(),
        interruption: Interruption::default(),
    };
    let mut total = Tally::default();
    for pair in &pairs {
        total.add(work.copy(pair, &mut file, pair.name()).await?);
    }
    Ok(Loaded { column_families: pairs.len(), rows: total.rows, cells: total.cells })
}
