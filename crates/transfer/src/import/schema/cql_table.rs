//! A table of CQL that was found, and the definition that the target gets.
//!
//! The definition comes from a CREATE TABLE statement with the columns that the table had when the server stopped.
//! Cells of columns that were dropped before are in the files still. They must stay invisible, also after a column of
//! their name is added again, so the target gets the times of the drops:
//!
//! ```text
//!   columns   id int, owner text              CREATE TABLE carts (id int PRIMARY KEY, owner text, age map<text, int>)
//!   dropped   age map<text, int> at 9:00  ->  .. from which age is taken and recorded as dropped at 9:00
//! ```
//!
//! The statement has the dropped columns so that a collection among them is known to the comparator, as in the old server.

use std::sync::Arc;

use super::table_settings::{Settings, properties};
use super::table_statement::{TableStatement, type_of};
use crate::import::FamilyName;
use base::marshal::{CqlType, Native, Types};
use base::schema::{CfDef, DroppedColumn, KeyspaceDef, quoted_text};
use cql::define::column_family;
use cql::values::TypeScope;
use cql_syntax::{CreateTable, PropertyValue, Statement, parse};

/// A column that was dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundDrop {
    pub name: String,
    /// Its type in CQL, if it is known.
    pub cql_type: Option<String>,
    pub is_static: bool,
    /// When it was dropped, in microseconds since 1970.
    pub at_us: i64,
}

/// A table.
#[derive(Debug, Clone, Default)]
pub(super) struct CqlTable {
    /// Its columns when the server stopped.
    pub statement: TableStatement,
    pub comment: Option<String>,
    pub settings: Settings,
    pub dropped: Vec<FoundDrop>,
    /// CREATE INDEX statements.
    pub indexes: Vec<String>,
}

/// The definition of a table.
#[derive(Debug)]
pub(super) struct Definition {
    pub cf: Arc<CfDef>,
    /// A sentence for each setting that it does not have.
    pub refused: Vec<String>,
    /// CREATE TABLE with the settings that it has.
    pub statement: String,
}

impl CqlTable {
    /// Returns its name with its keyspace.
    pub(super) fn place(&self) -> FamilyName {
        FamilyName { keyspace: self.statement.keyspace.clone(), name: self.statement.name.clone() }
    }

    /// Returns the definition in a keyspace, whose user types it may use.
    ///
    /// # Errors
    ///
    /// The reason, if this server has no such tables.
    pub(super) fn definition(&self, keyspace: &KeyspaceDef, types: &Types) -> Result<Definition, String> {
        let scope = TypeScope::of_existing(keyspace, types);
        let mut statement = self.statement.clone();
        let is_counter = statement.columns.iter().any(|column| column.cql_type == "counter");
        let unknown = if is_counter { Native::Counter } else { Native::Blob };
        let mut dropped = Vec::new();
        for drop in &self.dropped {
            let known = drop.cql_type.as_ref().and_then(|text| type_of(text, &scope));
            let cql_type = known.unwrap_or(CqlType::Native(unknown));
            if !statement.columns.iter().any(|column| column.name == drop.name) {
                statement.add(&drop.name, &cql_type.to_string(), drop.is_static);
            }
            dropped.push((drop, cql_type));
        }
        let text = statement.to_string();
        let parsed = parse(&text).map_err(|error| format!("{text}: {error}"))?;
        let Statement::CreateTable(create) = parsed.statement else { return Err(text) };
        let made = column_family(&create, &scope).map_err(|error| format!("{text}: {error}"))?;
        let (mut cf, settings) = self.with_settings(made, create, &scope);
        if let (Some(table), false) = (&mut cf.table, dropped.is_empty()) {
            let table = Arc::make_mut(table);
            for (drop, cql_type) in dropped {
                let is_there = self.statement.columns.iter().any(|column| column.name == drop.name);
                if !is_there {
                    table.others.remove(&drop.name);
                }
                let FoundDrop { at_us, is_static, .. } = *drop;
                let column = DroppedColumn { at_us, is_static, cql_type };
                table.dropped.insert(drop.name.clone().into_bytes().into(), column);
            }
        }
        cf.comment = self.comment.clone();
        let properties =
            settings.accepted.iter().map(|(name, value)| format!(" AND {name} = {}", shown(value)));
        let statement = format!("{}{}", self.statement, properties.collect::<String>());
        Ok(Definition { cf: Arc::new(cf), refused: settings.refused, statement })
    }

    /// Returns the definition with the settings that CREATE TABLE accepts.
    fn with_settings(
        &self,
        made: CfDef,
        mut create: CreateTable,
        scope: &TypeScope<'_>,
    ) -> (CfDef, TriedSettings) {
        let (mut cf, mut tried) = (made, TriedSettings::default());
        for (name, value) in properties(&self.settings) {
            let before = create.properties.clone();
            create.properties.0.push((name.clone(), value.clone()));
            match column_family(&create, scope) {
                Ok(made) => {
                    cf = made;
                    tried.accepted.push((name, value));
                }
                Err(error) => {
                    create.properties = before;
                    let (table, value) = (self.statement.table(), shown(&value));
                    tried.refused.push(format!("{table}: the property {name} = {value}: {error}"));
                }
            }
        }
        (cf, tried)
    }
}

/// The settings of a table, as CREATE TABLE takes them.
#[derive(Default)]
struct TriedSettings {
    accepted: Vec<(String, PropertyValue)>,
    /// A sentence for each of the others.
    refused: Vec<String>,
}

/// Returns the value of a property as CQL writes it.
fn shown(value: &PropertyValue) -> String {
    match value {
        PropertyValue::Text(text) => quoted_text(text),
        PropertyValue::Map(map) => {
            let pairs: Vec<String> = map.iter().map(|(name, value)| format!("'{name}': '{value}'")).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::schema::Setting;

    fn table() -> CqlTable {
        let mut statement = TableStatement {
            keyspace: "shop".to_owned(),
            name: "carts".to_owned(),
            keys: vec!["id".to_owned()],
            ..TableStatement::default()
        };
        statement.add("id", "int", false);
        statement.add("owner", "text", false);
        let drop = |name: &str, cql_type: Option<&str>, at_us| FoundDrop {
            name: name.to_owned(),
            cql_type: cql_type.map(str::to_owned),
            is_static: false,
            at_us,
        };
        let dropped = vec![
            drop("age", Some("map<text, int>"), 1),
            drop("owner", Some("int"), 2),
            drop("gone", Some("frozen<no_such_type>"), 3),
            drop("old", None, 4),
        ];
        CqlTable { statement, dropped, ..CqlTable::default() }
    }

    fn definition(table: &CqlTable) -> Definition {
        table.definition(&KeyspaceDef::new("shop"), &Types::builtin()).unwrap()
    }

    #[test]
    fn dropped_columns_are_recorded_and_not_there() {
        let Definition { cf, refused, .. } = definition(&table());
        let def = cf.table.as_ref().unwrap();
        assert_eq!(def.others.keys().collect::<Vec<_>>(), ["owner"]);
        let dropped: Vec<(&[u8], i64, String)> = def
            .dropped
            .iter()
            .map(|(name, column)| (&name[..], column.at_us, column.cql_type.to_string()))
            .collect();
        assert_eq!(
            dropped,
            [
                (&b"age"[..], 1, "map<text, int>".to_owned()),
                (b"gone", 3, "blob".to_owned()),
                (b"old", 4, "blob".to_owned()),
                (b"owner", 2, "int".to_owned()),
            ]
        );
        assert!(cf.comparator.class_name().contains("ColumnToCollectionType(616765:"));
        assert_eq!(refused, [""; 0]);
    }

    #[test]
    fn settings_that_are_refused_are_reported() {
        let mut table = table();
        table.comment = Some("carts".to_owned());
        table.settings.insert("default_time_to_live".to_owned(), Setting::Int(60));
        table.settings.insert("compaction_strategy".to_owned(), Setting::Text("com.example.Mine".to_owned()));
        let Definition { cf, refused, statement } = definition(&table);
        assert!(statement.ends_with(" AND default_time_to_live = '60'"), "{statement}");
        assert_eq!((cf.comment.as_deref(), cf.default_ttl_s()), (Some("carts"), Some(60)));
        assert_eq!(
            refused,
            [
                "shop.carts: the property compaction = {'class': 'com.example.Mine'}: Unable to find compaction strategy \
              class 'com.example.Mine'"
            ]
        );
    }
}
