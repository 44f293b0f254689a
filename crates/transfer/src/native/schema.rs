//! The schema of a server, from its own tables, as an import reads it from their SSTables.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::client::{NativeExchange, PageColumn};
use crate::import::{FoundSchema, NEW_TABLES, OLD_TABLES, SchemaRow, SchemaTable};
use base::compat::features::ConsistencyLevel;
use base::marshal::{CollectionForm, Types, list_from_bytes, map_from_bytes};

/// Rows of a page.
const ROWS: i32 = 1000;

/// Reads the schema.
pub(super) async fn read(client: &mut NativeExchange, types: &Types) -> Result<FoundSchema, String> {
    let mut rows = BTreeMap::new();
    for tables in [NEW_TABLES, OLD_TABLES] {
        for SchemaTable { name, clustering, .. } in
            tables.of_all_releases.iter().chain(tables.of_some_releases)
        {
            let found = read_table(client, &format!("{}.{name}", tables.keyspace), *clustering).await?;
            rows.extend(found.map(|found| ((*name).to_owned(), found)));
        }
        if !rows.is_empty() {
            return FoundSchema::of_rows(&rows, types).map_err(|error| error.to_string());
        }
    }
    Err("it has none of the tables with the schema of Cassandra 2.0 and later".to_owned())
}

/// Reads a table; `None` if the server does not have it: each release has only some of them.
async fn read_table(
    client: &mut NativeExchange,
    table: &str,
    clustering: usize,
) -> Result<Option<Vec<SchemaRow>>, String> {
    // Up to 2.2 collections have a cell for each element; since 3.0 they are frozen.
    let form = table.starts_with("system.").then(|| client.collection_form());
    let query = format!("SELECT * FROM {table}");
    let mut found = Vec::new();
    let (mut rows, mut next) = (ROWS, None);
    let failed = |why: String| format!("{table}: {why}");
    loop {
        let page = match client.page(&query, ConsistencyLevel::One, &mut rows, next.as_ref()).await {
            Ok(page) => page,
            Err(failure) if failure.is_invalid() => return Ok(None),
            Err(failure) => return Err(failed(failure.into())),
        };
        for row in page.rows {
            found.extend(row_of(&page.columns, row, clustering, form).map_err(failed)?);
        }
        next = page.next;
        if next.is_none() {
            return Ok(Some(found));
        }
    }
}

/// Returns a row; `None` if a column of its key is missing. With a form collections are split into their elements.
fn row_of(
    columns: &[PageColumn],
    fields: Vec<Option<Bytes>>,
    clustering: usize,
    form: Option<CollectionForm>,
) -> Result<Option<SchemaRow>, String> {
    let mut fields = columns.iter().zip(fields);
    let mut text = || Some(String::from_utf8_lossy(&fields.next()?.1?).into_owned());
    let Some(keyspace) = text() else { return Ok(None) };
    let Some(clustering) = (0..clustering).map(|_| text()).collect::<Option<Vec<String>>>() else {
        return Ok(None);
    };
    let mut row = SchemaRow::new(keyspace, clustering);
    for (column, value) in fields {
        let Some(value) = value else { continue };
        let invalid = || format!("the value of {} is not a collection", column.name);
        match (column.type_number, form) {
            (0x20 | 0x22, Some(form)) => {
                let elements = list_from_bytes(&value, form).ok_or_else(invalid)?;
                for (at, element) in (0_u32..).zip(elements) {
                    row.set(&column.name, Bytes::copy_from_slice(&at.to_be_bytes()), element);
                }
            }
            (0x21, Some(form)) => {
                for (key, element) in map_from_bytes(&value, form).ok_or_else(invalid)? {
                    row.set(&column.name, key, element);
                }
            }
            _ => row.set(&column.name, Bytes::new(), value),
        }
    }
    Ok(Some(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_that_cannot_be_read_is_an_error() {
        let column = |name: &str, type_number| PageColumn { name: name.to_owned(), type_number };
        let columns = [column("keyspace_name", 0x0d), column("aliases", 0x22)];
        let row = |value: &'static [u8]| {
            let fields = vec![Some(Bytes::from("k")), Some(Bytes::from_static(value))];
            row_of(&columns, fields, 0, Some(CollectionForm::Short)).map(|row| row.is_some())
        };
        assert_eq!(row(b"\0\x01\0\x01a"), Ok(true));
        assert_eq!(row(b"\0\x02\0\x01a"), Err("the value of aliases is not a collection".to_owned()));
    }
}
