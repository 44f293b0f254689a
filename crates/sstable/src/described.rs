//! The column family that the Statistics component of 3.x describes, which has the types of all columns and the names of
//! those that are not in keys.
//!
//! ```text
//!   key CompositeType(Int32Type,UTF8Type)     (key int, key2 text, column1 timestamp, title text,
//!   clustering TimestampType              ->   PRIMARY KEY ((key, key2), column1))
//!   regular title UTF8Type
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::component::Descriptor;
use super::statistics::{RowHeader, StoredColumn};
use base::marshal::{
    BytesType, CqlType, Native, TypeRef, Types, composite_parts, split_arguments, split_class, unreversed,
};
use base::schema::table_types::{comparator, key_validator};
use base::schema::{CfDef, ColumnDef, ColumnKind, ColumnType, Layout, TableColumn, TableDef};

/// Returns the definition of the column family of a file whose cells are named in a layout.
pub(super) fn described(
    descriptor: &Descriptor,
    header: &RowHeader,
    layout: Layout,
    types: &Types,
) -> Arc<CfDef> {
    let name_of = |name: &Option<String>| name.clone().unwrap_or_default();
    let cf = CfDef::new(&name_of(&descriptor.keyspace), &name_of(&descriptor.family));
    let of = TableDescription { header, types };
    Arc::new(if layout == Layout::Sparse { of.table(cf) } else { of.compact(cf, layout) })
}

struct TableDescription<'h> {
    header: &'h RowHeader,
    types: &'h Types,
}

impl TableDescription<'_> {
    fn resolve(&self, class: &str) -> TypeRef {
        self.types.resolve(class).unwrap_or_else(|| Arc::new(BytesType))
    }

    /// Returns the type of a class: a comparator that the program has registered is itself, and an unknown one `blob`.
    fn cql_type(&self, class: &str) -> CqlType {
        match (CqlType::of_class(class), self.types.resolve(class)) {
            (CqlType::Native(Native::Blob), Some(registered)) => CqlType::of(&registered),
            (known, _) => known,
        }
    }

    fn key(&self) -> &str {
        self.header.key.as_ref().map_or("BytesType", |key| &key.class)
    }

    fn table(&self, cf: CfDef) -> CfDef {
        let key = self.key();
        let key_classes = composite_parts(key).unwrap_or_else(|| vec![key]);
        let clustering: Vec<&str> = self.header.clustering.iter().map(|of| &of.class[..]).collect();
        let is_static = self.header.static_columns.iter().map(|column| (column, ColumnKind::Static));
        let is_regular = self.header.regular_columns.iter().map(|column| (column, ColumnKind::Regular));
        let others: BTreeMap<String, TableColumn> =
            is_static.chain(is_regular).map(|(column, kind)| self.value_column(column, kind)).collect();
        let table = TableDef {
            layout: Layout::Sparse,
            partition_key: self.key_columns("key", ColumnKind::PartitionKey, &key_classes),
            clustering: self.key_columns("column", ColumnKind::Clustering, &clustering),
            others,
            dropped: BTreeMap::new(),
        };
        let bytes = || -> TypeRef { Arc::new(BytesType) };
        CfDef {
            comparator: comparator(&table, None, self.types).unwrap_or_else(|_| bytes()),
            key_validator: Some(key_validator(&table, self.types).unwrap_or_else(|_| bytes())),
            table: Some(Arc::new(table)),
            ..cf
        }
    }

    /// Returns a column family as Thrift clients define it.
    fn compact(&self, cf: CfDef, layout: Layout) -> CfDef {
        let clustering: Vec<&str> = self.header.clustering.iter().map(|of| &of.class[..]).collect();
        let names = match (layout, &clustering[..]) {
            (Layout::CompositeDense, parts) => format!("CompositeType({})", parts.join(",")),
            (_, [first, ..]) => (*first).to_owned(),
            (_, []) => "UTF8Type".to_owned(),
        };
        let value = self.header.regular_columns.first().map_or("BytesType", |column| &column.value.class);
        let (column_type, value) = match (layout, split_class(value)) {
            (Layout::Super, ("MapType", Some(held))) => match split_arguments(held)[..] {
                [name, value] => (ColumnType::Super { subcomparator: self.resolve(name) }, value),
                _ => (ColumnType::Standard, value),
            },
            _ => (ColumnType::Standard, value),
        };
        let defined = self.header.static_columns.iter().filter(|_| layout == Layout::StaticCompact);
        let defined = defined.map(|column| {
            let (name, validator) = (column.name.clone(), self.resolve(&column.value.class));
            (name.clone(), ColumnDef { name, validator, index: None })
        });
        CfDef {
            column_type,
            comparator: self.resolve(&names),
            key_validator: Some(self.resolve(self.key())),
            default_validator: self.resolve(value),
            column_metadata: defined.collect(),
            ..cf
        }
    }

    /// Returns columns of a key, whose names the file does not have: `key`, `key2`; `column1`, `column2`.
    fn key_columns(&self, base: &str, kind: ColumnKind, classes: &[&str]) -> Vec<TableColumn> {
        let mut columns = Vec::with_capacity(classes.len());
        for (at, class) in classes.iter().enumerate() {
            let (class, is_reversed) = unreversed(class);
            let name = match (kind, at) {
                (ColumnKind::PartitionKey, 0) => base.to_owned(),
                _ => format!("{base}{}", at + 1),
            };
            let column = TableColumn::new(&name, kind, at, self.cql_type(class).frozen());
            columns.push(TableColumn { is_reversed, ..column });
        }
        columns
    }

    fn value_column(&self, column: &Arc<StoredColumn>, kind: ColumnKind) -> (String, TableColumn) {
        let name = String::from_utf8_lossy(&column.name).into_owned();
        let cql_type = self.cql_type(&column.value.class);
        let has_cells_of_fields = column.is_user_type && column.is_complex;
        let cql_type = if has_cells_of_fields { cql_type.with_cells_of_fields() } else { cql_type };
        let cell_name: Bytes = column.name.clone();
        (name.clone(), TableColumn { cell_name, ..TableColumn::new(&name, kind, 0, cql_type) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::AbstractType;

    #[derive(Debug)]
    struct OwnType;

    impl AbstractType for OwnType {
        fn class_name(&self) -> &str {
            "com.example.OwnType"
        }

        fn validate(&self, _value: &[u8]) -> Result<(), base::marshal::MarshalError> {
            Ok(())
        }

        fn compare(&self, left: &[u8], right: &[u8]) -> std::cmp::Ordering {
            left.cmp(right)
        }

        fn to_text(&self, _value: &[u8]) -> String {
            String::new()
        }

        fn parse_text(&self, text: &str) -> Result<Vec<u8>, base::marshal::MarshalError> {
            Ok(text.as_bytes().to_vec())
        }
    }

    #[test]
    fn registered_comparators_are_themselves_and_unknown_classes_are_blobs() {
        let mut types = Types::builtin();
        types.register(Arc::new(OwnType));
        let header = RowHeader {
            least_timestamp: 0,
            least_deletion_time: 0,
            has_unsigned_times: false,
            least_ttl: 0,
            key: None,
            clustering: Vec::new(),
            static_columns: Vec::new(),
            regular_columns: Vec::new(),
        };
        let of = TableDescription { header: &header, types: &types };
        assert_eq!(of.cql_type("com.example.OwnType").class_name(), "com.example.OwnType");
        assert_eq!(of.cql_type("com.example.Unknown"), CqlType::Native(Native::Blob));
        let class = "org.apache.cassandra.db.marshal.MapType(\
            org.apache.cassandra.db.marshal.UTF8Type,org.apache.cassandra.db.marshal.LongType)";
        assert_eq!(of.cql_type(class).to_string(), "map<text, bigint>");
    }
}
