//! Pages of a Thrift server of 0.6, or of 0.7 and later.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;

use super::client::ThriftClient;
use super::error::ThriftCallError;
use super::value::{Fields, ThriftValue};
use crate::endpoint::{PageFuture, Pages, ThriftAddress};
use base::model::{Cell, CellKind, DeletionTime, Predicate, Row, RowColumns, SliceRange, SuperColumn};
use base::schema::CfDef;
use base::util::{Clock, Password, password_of};

/// The number of QUORUM.
pub(super) const CONSISTENCY: i32 = 2;

/// The time within which a server may restart: reads are repeated, so a long copy or comparison does not end.
const RESTART_TIME: Duration = Duration::from_secs(30);
const RESTART_PAUSE: Duration = Duration::from_millis(250);

/// Seconds by which the clock of a server or client may be ahead.
const AHEAD_S: i64 = 60;

/// Reads pages from a server, with a connection for each concurrent call.
pub struct ThriftPages {
    /// The server, and how to connect to it.
    pub address: ThriftAddress,
    login: Option<(String, Password)>,
    clock: Arc<Clock>,
    /// Idle connections.
    idle: Mutex<Vec<ThriftClient>>,
}

impl ThriftPages {
    /// Creates the pages of a server. Reads the password file.
    pub fn new(address: ThriftAddress, clock: Arc<Clock>) -> Result<ThriftPages, String> {
        let login = match &address.login {
            Some((user, file)) => Some((user.clone(), password_of("the server's password", file)?)),
            None => None,
        };
        Ok(ThriftPages { address, login, clock, idle: Mutex::default() })
    }

    /// Calls a method. `keyspace` is the keyspace of the call, if it has one.
    pub async fn call(
        &self,
        keyspace: Option<&str>,
        name: &str,
        arguments: Fields,
    ) -> Result<ThriftValue, String> {
        required(name, self.exchange(keyspace, name, arguments).await)
    }

    /// Calls a method. Returns its result, which methods that only write do not have.
    pub(crate) async fn exchange(
        &self,
        keyspace: Option<&str>,
        name: &str,
        arguments: Fields,
    ) -> Result<Option<ThriftValue>, ThriftCallError> {
        let idle = self.idle.lock().pop();
        let mut client = match idle {
            Some(client) => client,
            None => {
                let connected = ThriftClient::connect(&self.address, self.login.clone()).await;
                connected.map_err(ThriftCallError::Unreachable)?
            }
        };
        if let Some(keyspace) = keyspace {
            client.use_keyspace(keyspace).await.map_err(ThriftCallError::Unreachable)?;
        }
        // A connection whose call failed may still receive its reply, and is not used again. Neither are others that are
        // idle, if the server has closed this one: it may have restarted.
        let answer = client.exchange(name, arguments).await;
        match &answer {
            Ok(_) => self.idle.lock().push(client),
            Err(ThriftCallError::Lost(_)) => self.idle.lock().clear(),
            Err(_) => {}
        }
        answer
    }

    /// Reads from a column family, whose keyspace is the first argument of a call up to 0.6.
    async fn read(
        &self,
        cf: &CfDef,
        name: &str,
        mut arguments: Vec<ThriftValue>,
    ) -> Result<ThriftValue, String> {
        if self.address.is_keyed {
            arguments.insert(0, cf.keyspace.as_str().into());
        }
        arguments.push(ThriftValue::Int(CONSISTENCY));
        let arguments = Fields((1..).zip(arguments).collect());
        let end = Instant::now() + RESTART_TIME;
        loop {
            match self.exchange(Some(&cf.keyspace), name, arguments.clone()).await {
                Err(error) if error.is_lost() && Instant::now() < end => {
                    tokio::time::sleep(RESTART_PAUSE).await;
                }
                answer => return required(name, answer),
            }
        }
    }

    async fn slice(
        &self,
        cf: &CfDef,
        key: &[u8],
        super_column: Option<&Bytes>,
        predicate: &Predicate,
    ) -> Result<RowColumns, String> {
        let arguments = vec![key.into(), parent_of(cf, super_column), predicate_of(predicate)];
        let columns = self.read(cf, "get_slice", arguments).await?.into_structs()?;
        self.columns_of(cf, cf.is_super() && super_column.is_none(), columns)
    }

    /// Returns the columns in a list of ColumnOrSuperColumn.
    fn columns_of(&self, cf: &CfDef, is_super: bool, list: Vec<Fields>) -> Result<RowColumns, String> {
        let (plain, counter) = if is_super { (2, 4) } else { (1, 3) };
        let (mut cells, mut supers) = (Vec::new(), Vec::new());
        for mut either in list {
            let (column, is_counter) = match (either.take(plain), either.take(counter)) {
                // 1.2 marks the rows of tables of counters with a column, which has no meaning.
                (Some(_), _) if cf.is_counter() => continue,
                (Some(column), _) => (column.into_fields()?, false),
                (None, Some(column)) => (column.into_fields()?, true),
                (None, None) => continue,
            };
            if is_super {
                supers.push(self.super_of(column, is_counter)?);
            } else {
                cells.push(self.cell_of(column, is_counter)?);
            }
        }
        Ok(if is_super { RowColumns::Supers(supers) } else { RowColumns::Cells(cells) })
    }

    /// Returns a SuperColumn or CounterSuperColumn.
    fn super_of(&self, mut column: Fields, is_counter: bool) -> Result<SuperColumn, String> {
        let cells = column.structs(2)?.into_iter().map(|cell| self.cell_of(cell, is_counter));
        let cells = cells.collect::<Result<Vec<Cell>, String>>()?;
        Ok(SuperColumn { name: name_of(&mut column)?, deletion: DeletionTime::LIVE, cells })
    }

    /// Returns a Column or CounterColumn. A counter gets the current time, because the API has no timestamps of counters.
    fn cell_of(&self, mut column: Fields, is_counter: bool) -> Result<Cell, String> {
        let name = name_of(&mut column)?;
        if is_counter {
            let total = column.long(2).ok_or("the reply has a counter without a value")?;
            let value = Bytes::copy_from_slice(&total.to_be_bytes());
            let timestamp = self.clock.next_micros();
            return Ok(Cell { name, value, timestamp, kind: CellKind::Counter });
        }
        let timestamp = column.long(3).unwrap_or_default();
        let mut cell = Cell::live(name, column.bytes(2).unwrap_or_default(), timestamp);
        if let Some(ttl_s) = column.int(4).filter(|ttl_s| *ttl_s > 0) {
            let expires_at_s = expiry(timestamp, ttl_s, self.clock.now_s());
            cell.kind = CellKind::Expiring { ttl_s, expires_at_s };
        }
        Ok(cell)
    }
}

/// Returns the result of a call whose method always has one.
fn required(name: &str, answer: Result<Option<ThriftValue>, ThriftCallError>) -> Result<ThriftValue, String> {
    let result = answer.map_err(|error| error.to_string())?;
    result.ok_or_else(|| format!("{name}: the reply has no result"))
}

fn name_of(column: &mut Fields) -> Result<Bytes, String> {
    column.bytes(1).ok_or_else(|| "the reply has a column without a name".to_owned())
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

/// Returns a ColumnParent.
fn parent_of(cf: &CfDef, super_column: Option<&Bytes>) -> ThriftValue {
    let super_column = super_column.map(|name| (4, ThriftValue::Bytes(name.clone())));
    ThriftValue::Struct(Fields([(3, cf.name.as_str().into())].into_iter().chain(super_column).collect()))
}

/// Returns a SlicePredicate.
fn predicate_of(predicate: &Predicate) -> ThriftValue {
    match predicate {
        Predicate::Names(names) => {
            let names = names.iter().cloned().map(ThriftValue::Bytes).collect();
            ThriftValue::from([(1, ThriftValue::List(names))])
        }
        Predicate::Range(range) => {
            let range = ThriftValue::from([
                (1, ThriftValue::Bytes(range.start.clone())),
                (2, ThriftValue::Bytes(range.finish.clone())),
                (3, ThriftValue::Bool(range.reversed)),
                (4, count_of(range.count)),
            ]);
            ThriftValue::from([(2, range)])
        }
    }
}

fn count_of(count: usize) -> ThriftValue {
    ThriftValue::Int(i32::try_from(count).unwrap_or(i32::MAX))
}

fn first_columns(start: Bytes, count: usize) -> Predicate {
    Predicate::Range(SliceRange { start, count, ..SliceRange::all() })
}

impl Pages for ThriftPages {
    fn range(&self, cf: &Arc<CfDef>, start: Bytes, rows: usize, columns: usize) -> PageFuture<'_, Vec<Row>> {
        let cf = cf.clone();
        Box::pin(async move {
            let range =
                ThriftValue::from([(1, ThriftValue::Bytes(start)), (2, "".into()), (5, count_of(rows))]);
            let predicate = predicate_of(&first_columns(Bytes::new(), columns));
            let rows =
                self.read(&cf, "get_range_slices", vec![parent_of(&cf, None), predicate, range]).await?;
            let mut found = Vec::new();
            for mut row in rows.into_structs()? {
                let key = row.bytes(1).ok_or("the reply has a row without a key")?;
                found.push(Row { key, columns: self.columns_of(&cf, cf.is_super(), row.structs(2)?)? });
            }
            Ok(found)
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
        // `columns_of` leaves out some columns of counter tables.
        self.address.is_keyed && cf.is_super() || cf.is_counter() && cf.table.is_some()
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
