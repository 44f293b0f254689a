//! The names of a table's cells: builds them from clustering values and a column, and decodes them.

use bytes::Bytes;

use super::{Layout, TableDef};
use crate::marshal::{STATIC_PREFIX, component_at, components, push_component};

/// Returns the row key of the partition key's values: a single value unchanged, several as a composite.
pub fn row_key(values: &[Bytes]) -> Bytes {
    match values {
        [value] => value.clone(),
        values => {
            let mut key = Vec::new();
            values.iter().for_each(|value| push_component(value, 0, &mut key));
            Bytes::from(key)
        }
    }
}

/// Returns the partition key's values of a row key. `None` if it does not have `count` values.
pub fn row_key_parts(key: &Bytes, count: usize) -> Option<Vec<Bytes>> {
    if count == 1 {
        return Some(vec![key.clone()]);
    }
    let parts = components(key)?;
    (parts.len() == count).then(|| parts.into_iter().map(|part| key.slice_ref(part)).collect())
}

/// The row and the column that a cell of a table belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CellPlace {
    /// Whether the cell belongs to the partition and not to a row of it.
    pub is_static: bool,
    /// The clustering values. In a CompositeDense table there may be fewer than clustering columns.
    pub clustering: Vec<Bytes>,
    /// The column's name in cells' names. `None` for the value of a dense table, empty for a row's marker.
    pub column: Option<Bytes>,
    /// The element of a collection.
    pub element: Option<Bytes>,
}

impl TableDef {
    /// Returns the prefix of the names of cells in a row with these clustering values. For Sparse and CompositeDense
    /// tables. `end` is the end of the last component, as in `push_component`.
    pub fn clustering_prefix(&self, clustering: &[Bytes], end: u8) -> Bytes {
        let mut name = Vec::new();
        for (at, value) in clustering.iter().enumerate() {
            push_component(value, if at + 1 == clustering.len() { end } else { 0 }, &mut name);
        }
        Bytes::from(name)
    }

    /// Returns the prefix of the names of static cells.
    fn static_prefix(&self) -> Vec<u8> {
        let mut name = STATIC_PREFIX.to_vec();
        self.clustering.iter().for_each(|_| push_component(&[], 0, &mut name));
        name
    }

    /// Returns the name of a cell of a Sparse table. `column` is empty for the row's marker. `end` is the end of the
    /// last component, as in `push_component`.
    pub fn sparse_name(
        &self,
        is_static: bool,
        clustering: &[Bytes],
        column: &[u8],
        element: Option<&[u8]>,
        end: u8,
    ) -> Bytes {
        let mut name = if is_static { self.static_prefix() } else { Vec::new() };
        let parts = clustering.iter().map(|value| value.len() + 3).sum::<usize>();
        name.reserve_exact(parts + column.len() + 3 + element.map_or(0, |element| element.len() + 3));
        if !is_static {
            clustering.iter().for_each(|value| push_component(value, 0, &mut name));
        }
        push_component(column, if element.is_none() { end } else { 0 }, &mut name);
        if let Some(element) = element {
            push_component(element, end, &mut name);
        }
        Bytes::from(name)
    }

    /// Returns the name of the cell of a row in a Dense or CompositeDense table.
    pub fn dense_name(&self, clustering: &[Bytes]) -> Bytes {
        match (self.layout, clustering) {
            (Layout::Dense, [value]) => value.clone(),
            _ => self.clustering_prefix(clustering, 0),
        }
    }

    /// Returns the row and the column of a cell's name. `None` if the table has no such names, and for Super tables,
    /// whose cells have two names.
    pub fn place_of(&self, name: &Bytes) -> Option<CellPlace> {
        match self.layout {
            Layout::StaticCompact => Some(CellPlace { column: Some(name.clone()), ..CellPlace::default() }),
            Layout::Dense => Some(CellPlace { clustering: vec![name.clone()], ..CellPlace::default() }),
            Layout::CompositeDense => {
                let clustering = components(name)?.into_iter().map(|part| name.slice_ref(part)).collect();
                Some(CellPlace { clustering, ..CellPlace::default() })
            }
            Layout::Sparse => self.sparse_place_of(name),
            Layout::Super => None,
        }
    }

    /// Returns whether a cell was written before its column was dropped. Only Sparse tables have dropped columns.
    pub fn is_dropped(&self, name: &[u8], timestamp: i64) -> bool {
        if self.dropped.is_empty() {
            return false;
        }
        let column = component_at(name.strip_prefix(&STATIC_PREFIX).unwrap_or(name), self.clustering.len());
        let dropped_at = column.and_then(|column| self.dropped.get(column));
        dropped_at.is_some_and(|dropped_at| timestamp <= dropped_at.at_us)
    }

    fn sparse_place_of(&self, name: &Bytes) -> Option<CellPlace> {
        let is_static = name.starts_with(&STATIC_PREFIX);
        let parts = components(if is_static { &name[STATIC_PREFIX.len()..] } else { name })?;
        let mut parts = parts.into_iter().map(|part| name.slice_ref(part));
        let mut clustering: Vec<Bytes> = parts.by_ref().take(self.clustering.len()).collect();
        if clustering.len() < self.clustering.len() {
            return None;
        }
        let column = parts.next()?;
        let element = parts.next();
        if parts.next().is_some() {
            return None;
        }
        if is_static {
            clustering.clear();
        }
        Some(CellPlace { is_static, clustering, column: Some(column), element })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::marshal::{CqlType, Native};
    use crate::schema::{ColumnKind, DroppedColumn, TableColumn};
    use crate::util::hex;

    fn table(clustering: usize) -> TableDef {
        let column = |position| TableColumn {
            name: format!("c{position}"),
            kind: ColumnKind::Clustering,
            position,
            cql_type: CqlType::Native(Native::Text),
            is_reversed: false,
            cell_name: Bytes::new(),
        };
        TableDef {
            layout: Layout::Sparse,
            partition_key: Vec::new(),
            clustering: (0..clustering).map(column).collect(),
            others: BTreeMap::new(),
            dropped: BTreeMap::new(),
        }
    }

    #[test]
    fn names_are_those_of_the_old_servers() {
        let values = [Bytes::from_static(&[0, 0, 0, 103])];
        let marker = table(1).sparse_name(false, &values, b"", None, 0);
        assert_eq!(hex(&marker), "00040000006700000000");
        let element = table(1).sparse_name(false, &values, b"cvalue", Some(b"hoge1"), 0);
        assert_eq!(hex(&element), "000400000067000006".to_owned() + "6376616c7565000005686f67653100");
        let of_static = table(2).sparse_name(true, &[], b"sl", Some(&[0, 0, 0, 5]), 0);
        assert_eq!(hex(&of_static), "ffff0000000000000002736c0000040000000500");
    }

    #[test]
    fn names_are_decoded() {
        let values = vec![Bytes::from_static(b"a"), Bytes::from_static(b"")];
        let name = table(2).sparse_name(false, &values, b"m", Some(b"k"), 0);
        let place = table(2).place_of(&name).unwrap();
        assert_eq!(
            (place.clustering, place.column.as_deref(), place.element.as_deref()),
            (values, Some(&b"m"[..]), Some(&b"k"[..]))
        );
        let place = table(2).place_of(&table(2).sparse_name(true, &[], b"s", None, 0)).unwrap();
        assert!(place.is_static && place.clustering.is_empty());
        assert_eq!(table(2).place_of(&Bytes::from_static(b"\0\x01a\0")), None);
    }

    #[test]
    fn cells_of_dropped_columns_are_recognized_by_name_and_timestamp() {
        let cql_type = CqlType::Native(Native::Int);
        let dropped = DroppedColumn { at_us: 100, is_static: false, cql_type };
        let dropped = BTreeMap::from([(Bytes::from_static(b"v"), dropped)]);
        let table = TableDef { dropped, ..table(2) };
        let values = [Bytes::from_static(b"v"), Bytes::from_static(b"")];
        let is_dropped = |is_static, column: &[u8], element, timestamp| {
            let name = table.sparse_name(is_static, &values, column, element, 0);
            table.is_dropped(&name, timestamp)
        };
        assert!(is_dropped(false, b"v", None, 100) && is_dropped(true, b"v", None, 100));
        assert!(is_dropped(false, b"v", Some(&b"k"[..]), i64::MIN));
        assert!(!is_dropped(false, b"v", None, 101));
        assert!(!is_dropped(false, b"", None, 0) && !is_dropped(false, b"w", Some(&b"v"[..]), 0));
        assert!(!table.is_dropped(b"", 0) && !table.is_dropped(b"\0\x01v\0", 0));
    }

    #[test]
    fn keys_of_several_values_are_composites() {
        let values = vec![Bytes::from_static(b"theo"), Bytes::from_static(b"v")];
        let key = row_key(&values);
        assert_eq!(&key[..], b"\0\x04theo\0\0\x01v\0");
        assert_eq!(row_key_parts(&key, 2), Some(values));
        assert_eq!(row_key_parts(&key, 3), None);
    }
}
