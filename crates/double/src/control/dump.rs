//! `GET /dump`.

use std::sync::Arc;

use super::call::{ControlCall, NoBody};
use super::error::{ControlError, ErrorKind};
use super::json::{Json, Replied};
use super::operations::Control;
use crate::control::Result;
use crate::limits::CONTROL_BODY_BYTES_MAX;
use base::schema::CfDef;
use json_rows::{BytesForm, JsonData, JsonFamily, JsonRow};
use store::DumpCommand;

/// Bytes that are read at a time.
const PIECE_BYTES: usize = 1024 * 1024;

pub(super) async fn dump(call: ControlCall<NoBody>) -> Replied<JsonData> {
    call.control.dump().await.map(Json)
}

impl Control {
    /// Returns all rows of all column families that have some, with their tombstones. Clients may write
    /// meanwhile.
    pub async fn dump(&self) -> Result<JsonData> {
        let _permit = self.database.admit().await;
        let catalog = self.database.catalog().clone();
        let mut data = JsonData { column_families: Vec::new() };
        let mut bytes = 0;
        for cf in catalog.column_families() {
            let rows = self.rows_of(cf, &mut bytes).await?;
            if !rows.is_empty() {
                let (keyspace, name) = (cf.keyspace.clone(), cf.name.clone());
                data.column_families.push(JsonFamily { keyspace, name, rows });
            }
        }
        Ok(data)
    }

    async fn rows_of(&self, cf: &Arc<CfDef>, bytes: &mut usize) -> Result<Vec<JsonRow>> {
        let mut rows: Vec<(bytes::Bytes, JsonRow)> = Vec::new();
        let mut after = None;
        loop {
            let command = DumpCommand { cf: cf.clone(), after, max_bytes: PIECE_BYTES };
            let Some(piece) = self.database.store().dump(command) else {
                return Err(ControlError::invalid("this store has no dumps"));
            };
            let piece = piece.await.map_err(db::Error::from)?;
            for row in piece.rows {
                *bytes += row.changes.iter().map(store::weight).sum::<usize>();
                if rows.last().is_none_or(|(key, _)| *key != row.key) {
                    let json = JsonRow::new(&row.key, BytesForm::Plain);
                    rows.push((row.key, json));
                }
                if let Some((_, json)) = rows.last_mut() {
                    row.changes.into_iter().for_each(|change| json.add(change, BytesForm::Plain));
                }
            }
            if *bytes > CONTROL_BODY_BYTES_MAX {
                return Err(ControlError::new(
                    ErrorKind::Limit,
                    format!(
                        "the data has more than {} MB, which one reply may not have: use a snapshot instead",
                        CONTROL_BODY_BYTES_MAX >> 20
                    ),
                ));
            }
            match piece.place {
                Some(place) => after = Some(place),
                None => return Ok(rows.into_iter().map(|(_, json)| json).collect()),
            }
        }
    }
}
