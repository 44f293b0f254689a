//! The table of a column family on the cluster.

use std::sync::Arc;

use bytes::Bytes;
use uuid::Uuid;

use super::names::{NameForm, class_of, value_type};
use base::schema::{CfDef, quoted_name, quoted_text};
use store::{Result, StoreError, index_name};

/// The table in which a gateway stores a column family.
#[derive(Debug)]
pub struct ClusterTable {
    pub(crate) cf: Arc<CfDef>,
    /// `"Keyspace"."Table"`.
    pub(crate) quoted_name: String,
    /// The stored form of the names of columns, or of super columns.
    pub(crate) outer: NameForm,
    /// The stored form of the names of columns in super columns.
    pub(crate) inner: Option<NameForm>,
}

impl ClusterTable {
    /// Returns the table of a column family.
    ///
    /// # Errors
    /// `Mismatch` if a cluster cannot store the column family.
    pub fn of(cf: &Arc<CfDef>) -> Result<ClusterTable> {
        let named = |error: StoreError| match error {
            StoreError::Mismatch(why) => {
                StoreError::Mismatch(format!("column family {}.{}: {why}", cf.keyspace, cf.name))
            }
            other => other,
        };
        if cf.table.is_some() {
            return Err(named(StoreError::Mismatch(
                "a table created by CQL cannot be stored as a column family on a cluster".to_owned(),
            )));
        }
        let outer = NameForm::of(&cf.comparator).map_err(named)?;
        let inner = cf.subcomparator().map(NameForm::of).transpose().map_err(named)?;
        Ok(ClusterTable {
            cf: cf.clone(),
            quoted_name: format!("{}.{}", quoted_name(&cf.keyspace), quoted_name(&cf.name)),
            outer,
            inner,
        })
    }

    /// Returns the statements that create the table and its index.
    pub fn statements(&self) -> Vec<String> {
        let table = self.definition(None);
        std::iter::once(table).chain(self.index_definition()).collect()
    }

    /// Returns the class names of the types of the key, of the clustering columns and of the values.
    pub fn classes(&self) -> (String, Vec<String>, String) {
        let columns = self.columns();
        let class = |column: &str| {
            columns.iter().find(|(name, _)| *name == column).map(|(_, cql_type)| class_of(cql_type))
        };
        let forms = std::iter::once(("column1", &self.outer));
        let forms = forms.chain(self.inner.as_ref().map(|inner| ("column2", inner)));
        let clustering = forms.map(|(column, form)| {
            let class = class(column).unwrap_or_default();
            if form.is_descending {
                format!("{}ReversedType({class})", base::marshal::PACKAGE)
            } else {
                class
            }
        });
        (class("key").unwrap_or_default(), clustering.collect(), class("value").unwrap_or_default())
    }

    /// Returns the classes of the comparators whose names the table has as bytes that sort as the names do, because no CQL type
    /// does. Only this server reads such names.
    pub fn encoded_classes(&self) -> Vec<&str> {
        std::iter::once(&self.outer).chain(&self.inner).filter_map(NameForm::encoded_class).collect()
    }

    /// Returns the clustering values of a name: the value of a column or super column, and then of a column in it.
    pub fn clustering(&self, names: &[Bytes]) -> Vec<Bytes> {
        debug_assert!(names.len() <= 1 + usize::from(self.inner.is_some()), "names would be left out");
        let forms = std::iter::once(&self.outer).chain(&self.inner);
        names.iter().zip(forms).map(|(name, form)| form.encode(name)).collect()
    }

    /// Returns the columns and their CQL types, in order.
    pub(crate) fn columns(&self) -> Vec<(&'static str, &'static str)> {
        let key = self.cf.key_validator.as_ref().map_or("blob", value_type);
        let mut columns = vec![("key", key), ("column1", self.outer.cql_type)];
        columns.extend(self.inner.as_ref().map(|inner| ("column2", inner.cql_type)));
        columns.push(("value", self.value_type()));
        columns
    }

    /// Returns the CQL type of values: the validators' type if all have the same one, otherwise `blob`.
    fn value_type(&self) -> &'static str {
        let default = value_type(&self.cf.default_validator);
        let mut others = self.cf.column_metadata.values().map(|column| value_type(&column.validator));
        if others.all(|other| other == default) { default } else { "blob" }
    }

    /// Returns the statement that creates the table, with an id of the table if a gateway runs it.
    ///
    /// The id makes the statement idempotent: a node that was frozen may execute it long after another node has created
    /// the table. Without the id it would create a second, empty table that replaces the first one.
    pub(crate) fn definition(&self, id: Option<Uuid>) -> String {
        let columns =
            self.columns().into_iter().map(|(name, of)| format!("{name} {of}, ")).collect::<String>();
        let direction = |form: &NameForm| if form.is_descending { "DESC" } else { "ASC" };
        let (names, order) = match &self.inner {
            Some(inner) => (
                "column1, column2",
                format!("column1 {}, column2 {}", direction(&self.outer), direction(inner)),
            ),
            None => ("column1", format!("column1 {}", direction(&self.outer))),
        };
        let comment = match &self.cf.comment {
            Some(comment) => format!(" AND comment = {}", quoted_text(comment)),
            None => String::new(),
        };
        let id = id.map(|id| format!(" AND id = '{id}'")).unwrap_or_default();
        format!(
            "CREATE TABLE IF NOT EXISTS {} ({columns}PRIMARY KEY (key, {names})) WITH CLUSTERING ORDER BY ({order}) \
             AND gc_grace_seconds = {}{id}{comment}",
            self.quoted_name, self.cf.gc_grace_s
        )
    }

    /// Returns the statement that creates the table's index: one for all indexed columns, over the values. `None` if no
    /// column is indexed.
    pub(crate) fn index_definition(&self) -> Option<String> {
        self.cf.indexed_columns().next()?;
        Some(format!("CREATE INDEX IF NOT EXISTS {} ON {} (value)", self.index_name(), self.quoted_name))
    }

    pub(crate) fn index_name(&self) -> String {
        quoted_name(&index_name(&self.cf))
    }
}
