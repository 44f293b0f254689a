//! insert, batch_insert, batch_insert_superColumn and remove of 0.3.
//!
//! 0.3 trims the keys of writes, but not the keys of reads.

use std::collections::HashMap;

use bytes::Bytes;

use super::path::TextPath;
use super::timestamp;
use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use crate::thrift::types;
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::NEWEST;
use base::util::{in_java_order, trimmed};
use db::{ColumnOrSuper, ColumnPath, NewColumn, NewSuper};
use wire::thrift::{Reader, TType, WireError};

/// Returns the consistency level for `block`: a quorum of the replicas, or none.
fn consistency(call: &Call<'_>, id: i16) -> Result<ConsistencyLevel, WireError> {
    let waits = call.args.optional(id).map_or(Ok(false), |mut reader| reader.bool())?;
    Ok(if waits { ConsistencyLevel::Quorum } else { ConsistencyLevel::Zero })
}

pub(super) async fn insert(call: Call<'_>) -> Result<()> {
    let (table, key) = (call.args.bytes(1)?, trimmed(&call.args.bytes(2)?));
    let path = TextPath::parse(call.args.bytes(3)?).written()?;
    let (value, timestamp) = (call.args.bytes(4)?, timestamp(&call, 5)?);
    let consistency = consistency(&call, 6)?;
    call.request(&table, consistency).writes().insert(key, path, value, timestamp).await?;
    Ok(())
}

pub(super) async fn remove(call: Call<'_>) -> Result<()> {
    let (table, key) = (call.args.bytes(1)?, trimmed(&call.args.bytes(2)?));
    let path = TextPath::parse(call.args.bytes(3)?);
    let path = path.removed(call.database.describe(call.behaviour).is_super(&table, &path.family)?)?;
    let (timestamp, consistency) = (timestamp(&call, 4)?, consistency(&call, 5)?);
    call.request(&table, consistency).writes().remove(key, path, timestamp).await?;
    Ok(())
}

pub(super) async fn batch_insert(call: Call<'_>) -> Result<()> {
    let batch = batch(&mut call.args.required(1)?, "batch_mutation_t", column)?;
    let mut row = FamilyInserts::default();
    for (family, columns) in batch.families {
        for column in columns {
            row.add(&[&family, &column.name.clone()], column)?;
        }
    }
    let consistency = consistency(&call, 2)?;
    call.request(&batch.table, consistency).writes().batch_insert(batch.key, row.families).await?;
    Ok(())
}

pub(super) async fn batch_insert_super_column(call: Call<'_>) -> Result<()> {
    let batch = batch(&mut call.args.required(1)?, "batch_mutation_super_t", super_column)?;
    let mut row = FamilyInserts::default();
    for (family, supers) in batch.families {
        for NewSuper { name, columns } in supers {
            for column in columns {
                row.add(&[&family, &name, &column.name.clone()], column)?;
            }
        }
    }
    let consistency = consistency(&call, 2)?;
    call.request(&batch.table, consistency).writes().batch_insert(batch.key, row.families).await?;
    Ok(())
}

/// The changes of a batch, by column family.
#[derive(Default)]
struct FamilyInserts {
    families: Vec<(Bytes, Vec<ColumnOrSuper>)>,
    places: HashMap<Bytes, usize>,
}

impl FamilyInserts {
    /// Adds a column by its names. 0.3 joins them to one text and splits that again, so a name with a colon becomes
    /// two: clients can write into a super column with batch_insert, and some did.
    fn add(&mut self, names: &[&Bytes], column: NewColumn) -> Result<()> {
        let text = names.iter().map(|name| &name[..]).collect::<Vec<&[u8]>>().join(&b':');
        let ColumnPath { column_family, super_column, column: name } =
            TextPath::parse(Bytes::from(text)).written()?;
        let column = NewColumn { name: name.unwrap_or_default(), ..column };
        let insert = match super_column {
            Some(name) => ColumnOrSuper {
                super_column: Some(Box::new(NewSuper { name, columns: vec![column] })),
                ..ColumnOrSuper::default()
            },
            None => ColumnOrSuper { column: Some(column), ..ColumnOrSuper::default() },
        };
        let place = *self.places.entry(column_family.clone()).or_insert_with(|| {
            self.families.push((column_family, Vec::new()));
            self.families.len() - 1
        });
        self.families[place].1.push(insert);
        Ok(())
    }
}

/// A batch_mutation_t or batch_mutation_super_t.
struct BatchMutation<T> {
    table: Bytes,
    key: Bytes,
    families: Vec<(Bytes, Vec<T>)>,
}

fn batch<'a, T>(
    reader: &mut Reader<'a>,
    holder: &str,
    item: impl Fn(&mut Reader<'a>) -> Result<T>,
) -> Result<BatchMutation<T>> {
    let (mut table, mut key, mut families) = (None, None, None);
    types::fields!(reader, {
        (1, TType::String) => table = Some(reader.bytes()?),
        (2, TType::String) => key = Some(trimmed(&reader.bytes()?)),
        (3, TType::Map) => {
            let read =
                types::map(reader, TType::List, |reader| types::list(reader, TType::Struct, &item));
            families = Some(in_java_order(read?));
        }
    });
    let Some(table) = table else { return types::missing("table", holder) };
    let Some(key) = key else { return types::missing("key", holder) };
    let Some(families) = families else { return types::missing("cfmap", holder) };
    Ok(BatchMutation { table, key, families })
}

/// Reads a column_t. Without a timestamp its timestamp is 0.
fn column(reader: &mut Reader<'_>) -> Result<NewColumn> {
    // Read as in 2.0, which requires only the name.
    let column = types::column(reader, NEWEST)?;
    let Some(value) = column.value else { return types::missing("value", "column_t") };
    Ok(NewColumn {
        name: column.name,
        value: Some(value),
        timestamp: Some(column.timestamp.unwrap_or_default()),
        ttl_s: None,
    })
}

/// Reads a superColumn_t.
fn super_column(reader: &mut Reader<'_>) -> Result<NewSuper> {
    let (mut name, mut columns) = (None, Vec::new());
    types::fields!(reader, {
        (1, TType::String) => name = Some(reader.bytes()?),
        (2, TType::List) => columns = types::list(reader, TType::Struct, column)?,
    });
    let Some(name) = name else { return types::missing("name", "superColumn_t") };
    Ok(NewSuper { name, columns })
}
