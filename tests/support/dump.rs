//! Reads all rows of a column family from a store, with their tombstones.

use std::sync::Arc;

use base::schema::CfDef;
use store::{DumpCommand, RowPiece, Store};

/// Returns the rows as `Store::dump` returns them, in pages of this many bytes. The pieces of a row are joined.
pub async fn dumped(store: &dyn Store, cf: &Arc<CfDef>, max_bytes: usize) -> Vec<RowPiece> {
    let mut rows: Vec<RowPiece> = Vec::new();
    let mut after = None;
    loop {
        let command = DumpCommand { cf: cf.clone(), after: after.take(), max_bytes };
        let dump = store.dump(command).expect("a store that supports dumps").await.unwrap();
        for piece in dump.rows {
            match rows.last_mut() {
                Some(last) if last.key == piece.key => last.changes.extend(piece.changes),
                _ => rows.push(piece),
            }
        }
        match dump.place {
            Some(place) => after = Some(place),
            None => return rows,
        }
    }
}
