//! Pages of a Thrift server of 0.6, or of 0.7 and later.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::client::ThriftClient;
use crate::endpoint::{PageFuture, Pages, ThriftAddress};
use base::model::{Cell, CellKind, Predicate, Row, RowColumns, SliceRange, SuperColumn};
use base::schema::CfDef;
use base::util::{Clock, Password, password_of};
use db::{ColumnOrSuper, CounterColumn, NewColumn};
use server::thrift::replies;
use wire::thrift::{Reader, TType, Writer};

/// The number of QUORUM.
const CONSISTENCY: i32 = 2;

/// Seconds by which the clock of a server or client may be ahead.
const AHEAD_S: i64 = 60;

/// Reads pages from a server, with a connection for each concurrent call.
pub struct ThriftPages {
    pub place: ThriftAddress,
    login: Option<(String, Password)>,
    clock: Arc<Clock>,
    /// Idle connections.
    idle: Mutex<Vec<ThriftClient>>,
}

impl ThriftPages {
    /// Creates the pages of a server. Reads the password file.
    pub fn new(place: ThriftAddress, clock: Arc<Clock>) -> Result<ThriftPages, String> {
        let login = match &place.login {
            Some((user, file)) => Some((user.clone(), password_of("the server's password", file)?)),
            None => None,
        };
        Ok(ThriftPages { place, login, clock, idle: Mutex::default() })
    }

    /// Calls a method. `keyspace` is the keyspace of the call, if it has one.
    pub async fn call<T>(
        &self,
        keyspace: Option<&str>,
        name: &str,
        write: impl FnOnce(&mut Writer<'_>) + Send,
        ttype: TType,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T, String> + Send,
    ) -> Result<T, String> {
        let idle = self.idle.lock().pop();
        let mut client = match idle {
            Some(client) => client,
            None => ThriftClient::connect(&self.place, self.login.clone()).await?,
        };
        if let Some(keyspace) = keyspace {
            client.use_keyspace(keyspace).await?;
        }
        // A connection whose call failed may still receive its reply, and is not used again.
        let answer = client.call(name, write, ttype, read).await?;
        self.idle.lock().push(client);
        Ok(answer)
    }

    /// Writes the keyspace if calls have it as an argument. Returns the id of the next argument.
    fn first_id(&self, writer: &mut Writer<'_>, keyspace: &str) -> i16 {
        if self.place.is_keyed {
            writer.field_string(1, keyspace.as_bytes());
            2
        } else {
            1
        }
    }

    async fn slice(
        &self,
        cf: &CfDef,
        key: &[u8],
        super_column: Option<&Bytes>,
        predicate: &Predicate,
    ) -> Result<RowColumns, String> {
        let write = |writer: &mut Writer<'_>| {
            let id = self.first_id(writer, &cf.keyspace);
            writer.field_string(id, key);
            write_parent(writer, id + 1, cf, super_column);
            write_predicate(writer, id + 2, predicate);
            writer.field_i32(id + 3, CONSISTENCY);
        };
        let columns =
            self.call(Some(&cf.keyspace), "get_slice", write, TType::List, replies::columns).await?;
        let is_super = cf.is_super() && super_column.is_none();
        Ok(self.columns_of(is_super, columns))
    }

    fn columns_of(&self, is_super: bool, columns: Vec<ColumnOrSuper>) -> RowColumns {
        if !is_super {
            return RowColumns::Cells(
                columns.into_iter().filter_map(|column| self.cell_of(column)).collect(),
            );
        }
        RowColumns::Supers(columns.into_iter().filter_map(|column| self.super_of(column)).collect())
    }

    fn cell_of(&self, either: ColumnOrSuper) -> Option<Cell> {
        match (either.column, either.counter) {
            (Some(column), _) => Some(self.cell(column)),
            (None, Some(counter)) => Some(self.counter(*counter)),
            (None, None) => None,
        }
    }

    fn super_of(&self, either: ColumnOrSuper) -> Option<SuperColumn> {
        let deletion = base::model::DeletionTime::LIVE;
        match (either.super_column, either.counter_super) {
            (Some(held), _) => {
                let cells = held.columns.into_iter().map(|column| self.cell(column)).collect();
                Some(SuperColumn { name: held.name, deletion, cells })
            }
            (None, Some(held)) => {
                let cells = held.columns.into_iter().map(|counter| self.counter(counter)).collect();
                Some(SuperColumn { name: held.name, deletion, cells })
            }
            (None, None) => None,
        }
    }

    fn cell(&self, column: NewColumn) -> Cell {
        let NewColumn { name, value, timestamp, ttl_s } = column;
        let (value, timestamp) = (value.unwrap_or_default(), timestamp.unwrap_or_default());
        let mut cell = Cell::live(name, value, timestamp);
        if let Some(ttl_s) = ttl_s.filter(|ttl_s| *ttl_s > 0) {
            let expires_at_s = expiry(timestamp, ttl_s, self.clock.now_s());
            cell.kind = CellKind::Expiring { ttl_s, expires_at_s };
        }
        cell
    }

    /// Returns a counter cell with the current time, because the API has no timestamps of counters.
    fn counter(&self, counter: CounterColumn) -> Cell {
        let value = Bytes::copy_from_slice(&counter.delta.to_be_bytes());
        Cell { name: counter.name, value, timestamp: self.clock.next_micros(), kind: CellKind::Counter }
    }
}

/// Returns when a cell expires. The API only has the time to live. If the timestamp is in microseconds, as with most
/// clients, the cell expires that long after it; else that long after now, which is too late.
fn expiry(timestamp: i64, ttl_s: i32, now_s: i32) -> i32 {
    let written_s = timestamp / 1_000_000;
    let expires_s = written_s.saturating_add(i64::from(ttl_s));
    let now = i64::from(now_s);
    if written_s <= now + AHEAD_S && expires_s >= now {
        i32::try_from(expires_s).unwrap_or(i32::MAX)
    } else {
        now_s.saturating_add(ttl_s)
    }
}

fn write_parent(writer: &mut Writer<'_>, id: i16, cf: &CfDef, super_column: Option<&Bytes>) {
    writer.field_struct(id);
    writer.field_string(3, cf.name.as_bytes());
    if let Some(name) = super_column {
        writer.field_string(4, name);
    }
    writer.stop();
}

fn write_predicate(writer: &mut Writer<'_>, id: i16, predicate: &Predicate) {
    writer.field_struct(id);
    match predicate {
        Predicate::Names(names) => {
            writer.field_list(1, TType::String, names.len());
            names.iter().for_each(|name| writer.bytes(name));
        }
        Predicate::Range(range) => {
            writer.field_struct(2);
            writer.field_string(1, &range.start);
            writer.field_string(2, &range.finish);
            writer.field_bool(3, range.reversed);
            writer.field_i32(4, count_of(range.count));
            writer.stop();
        }
    }
    writer.stop();
}

fn count_of(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn first_columns(start: Bytes, count: usize) -> Predicate {
    Predicate::Range(SliceRange { start, count, ..SliceRange::all() })
}

impl Pages for ThriftPages {
    fn range(&self, cf: &Arc<CfDef>, start: Bytes, rows: usize, columns: usize) -> PageFuture<'_, Vec<Row>> {
        let cf = cf.clone();
        Box::pin(async move {
            let write = |writer: &mut Writer<'_>| {
                let id = self.first_id(writer, &cf.keyspace);
                write_parent(writer, id, &cf, None);
                write_predicate(writer, id + 1, &first_columns(Bytes::new(), columns));
                writer.field_struct(id + 2);
                writer.field_string(1, &start);
                writer.field_string(2, b"");
                writer.field_i32(5, count_of(rows));
                writer.stop();
                writer.field_i32(id + 3, CONSISTENCY);
            };
            let read = replies::key_slices;
            let rows = self.call(Some(&cf.keyspace), "get_range_slices", write, TType::List, read).await?;
            let row = |(key, columns)| Row { key, columns: self.columns_of(cf.is_super(), columns) };
            Ok(rows.into_iter().map(row).collect())
        })
    }

    fn row(&self, cf: &Arc<CfDef>, key: Bytes, start: Bytes, columns: usize) -> PageFuture<'_, RowColumns> {
        let cf = cf.clone();
        Box::pin(async move { self.slice(&cf, &key, None, &first_columns(start, columns)).await })
    }

    fn cells(
        &self,
        cf: &Arc<CfDef>,
        key: Bytes,
        super_column: Option<Bytes>,
        predicate: Predicate,
    ) -> PageFuture<'_, Vec<Cell>> {
        let cf = cf.clone();
        Box::pin(async move {
            match self.slice(&cf, &key, super_column.as_ref(), &predicate).await? {
                RowColumns::Cells(cells) => Ok(cells),
                RowColumns::Supers(_) => Ok(Vec::new()),
            }
        })
    }

    fn may_stop_early(&self, cf: &CfDef) -> bool {
        self.place.is_keyed && cf.is_super()
    }

    fn has_expiry_time(&self) -> bool {
        false
    }

    fn prefers_slices(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_expire_after_their_timestamp_if_it_is_a_time() {
        let now = 1_400_000_000;
        let micros = |seconds: i32| i64::from(seconds) * 1_000_000;
        assert_eq!(expiry(micros(now - 100), 300, now), now + 200);
        assert_eq!(expiry(micros(now + 5), 300, now), now + 305);
        // Milliseconds, a counter, a time too long ago, and one in the far future.
        for timestamp in [i64::from(now) * 1000, 7, micros(now - 1000), micros(now + 100_000)] {
            assert_eq!(expiry(timestamp, 300, now), now + 300, "{timestamp}");
        }
    }
}
