//! The fields of the paths below `/rows`.

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;

use crate::failure::{AdminError, Result, forbidden, invalid};
use crate::limits::ADMIN_PAGE_CELLS;
use crate::pages::keyspaces::no_keyspace;
use crate::pages::questions::Asker;
use crate::present::escaped;
use crate::seen_schema::may_read;
use crate::side_bar::BarPlace;
use crate::state::AdminState;
use crate::visitor::Visitor;
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::NEWEST;
use base::marshal::{AbstractType, BytesType, TypeRef};
use base::model::SliceRange;
use base::schema::{CfDef, TableDef};
use config::suggestion;
use db::limits::NAME_BYTES_MAX;
use db::{Database, Request};

/// The fields, as they come. Empty ones are as if they were missing, except `down`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RowsQuery {
    keyspace: String,
    family: String,
    key: String,
    from: String,
    #[serde(rename = "super")]
    super_column: String,
    name: String,
    start: String,
    /// The name from which a slice goes down; empty: from the end of the row.
    down: Option<String>,
    /// `down` if the slice goes down from `start`.
    direction: String,
}

impl RowsQuery {
    /// Returns the column family, which the visitor must be allowed to read.
    pub(crate) fn family(&self, state: &AdminState, visitor: &Visitor) -> Result<Arc<CfDef>> {
        let catalog = state.database.catalog();
        let Some(keyspace) = catalog.keyspace(&self.keyspace) else {
            return Err(no_keyspace(&catalog, &self.keyspace, visitor));
        };
        match keyspace.column_families.get(&self.family) {
            Some(cf) if may_read(cf, &visitor.user) => Ok(cf.clone()),
            None if visitor.user.may_everything() => Err(AdminError::not_found(format!(
                "keyspace {} has no column family {:?}{}",
                self.keyspace,
                self.family,
                suggestion(&self.family, keyspace.column_families.keys().map(String::as_str))
            ))),
            _ => forbidden(format!(
                "there is no column family {:?} in keyspace {}, or you have no right to read it",
                self.family, self.keyspace
            )),
        }
    }
}

/// The data that a request asks for.
pub(super) struct Target {
    pub cf: Arc<CfDef>,
    /// The table that the column family is in CQL.
    pub table: Arc<TableDef>,
    pub key: Option<Bytes>,
    /// The key at which the list of rows begins; empty: at the beginning of the ring.
    pub from: Bytes,
    pub super_column: Option<Bytes>,
    pub name: Option<Bytes>,
    /// Where a slice starts; empty: at its end of the row.
    pub start: Bytes,
    pub is_reversed: bool,
}

impl Target {
    /// Returns the target of a column family's list of rows.
    pub(super) fn of_family(cf: Arc<CfDef>) -> Target {
        let table = TableDef::of(&cf, NEWEST);
        let (from, start) = (Bytes::new(), Bytes::new());
        Target { cf, table, key: None, from, super_column: None, name: None, start, is_reversed: false }
    }

    pub(super) fn of(cf: Arc<CfDef>, query: &RowsQuery) -> Result<Target> {
        let of_key = cf.key_validator.clone();
        let key = |text: &str, what: &str| bytes_of(text, of_key.as_ref(), what);
        let super_type = cf.is_super().then(|| cf.comparator.clone());
        let super_column =
            super_type.as_ref().map(|of| bytes_of(&query.super_column, Some(of), "super column"));
        let super_column = super_column.transpose()?.flatten();
        let names = match (&super_column, cf.subcomparator()) {
            (Some(_), Some(subcomparator)) => subcomparator.clone(),
            _ => cf.comparator.clone(),
        };
        let name = |text: &str| bytes_of(text, Some(&names), "name");
        let down = match &*query.direction {
            "down" => Some(&query.start),
            _ => query.down.as_ref(),
        };
        let down = down.map(|text| name(text)).transpose()?;
        let start = match &down {
            Some(down) => down.clone(),
            None => name(&query.start)?,
        };
        Ok(Target {
            key: key(&query.key, "key")?,
            from: key(&query.from, "key")?.unwrap_or_default(),
            super_column,
            name: name(&query.name)?,
            start: start.unwrap_or_default(),
            is_reversed: down.is_some(),
            ..Target::of_family(cf)
        })
    }

    /// Returns the comparator of the names that a slice of the target has.
    pub(super) fn names(&self) -> &TypeRef {
        match (&self.super_column, self.cf.subcomparator()) {
            (Some(_), Some(subcomparator)) => subcomparator,
            _ => &self.cf.comparator,
        }
    }

    /// Returns the name of the column family with its keyspace, as pages show it.
    pub(super) fn shown_family(&self) -> String {
        format!("{}.{}", escaped(self.cf.keyspace.as_bytes()), escaped(self.cf.name.as_bytes()))
    }

    /// Returns the place of the target in the side bar.
    pub(super) fn place(&self) -> BarPlace<'_> {
        BarPlace { keyspace: &self.cf.keyspace, family: &self.cf.name, is_inside: self.key.is_some() }
    }

    /// Returns the slice of one page.
    pub(super) fn range(&self) -> SliceRange {
        SliceRange {
            start: self.start.clone(),
            finish: Bytes::new(),
            reversed: self.is_reversed,
            count: ADMIN_PAGE_CELLS,
        }
    }

    /// Makes questions about the data of the target.
    pub(super) fn asker<'a>(&'a self, database: &'a Database, may_change: bool) -> Asker<'a> {
        let table = self.cf.table.as_ref().map(|_| &*self.table);
        Asker { types: database.types(), cf: &self.cf, table, may_change }
    }

    /// Begins a request that reads the column family.
    pub(super) fn request<'a>(&'a self, database: &'a Database) -> Request<'a> {
        let behaviour = Behaviour::of(NEWEST);
        database.request(self.cf.keyspace.as_bytes(), ConsistencyLevel::One, behaviour)
    }
}

/// Reads a key or name: hex after `0x`, otherwise the text form of its type, or any text if there is no type. `None` if
/// the field is empty.
fn bytes_of(text: &str, of: Option<&TypeRef>, what: &str) -> Result<Option<Bytes>> {
    if text.is_empty() {
        return Ok(None);
    }
    let bytes = match (text.strip_prefix("0x"), of) {
        (Some(hex), _) => BytesType.parse_text(hex),
        (None, Some(class)) if class.class_name().ends_with(".BytesType") => Ok(text.as_bytes().to_vec()),
        (None, Some(class)) => class.parse_text(text),
        (None, None) => Ok(text.as_bytes().to_vec()),
    };
    let hint = "give it in the text form of its type, or its bytes in hex after 0x";
    let begin: String = text.chars().take(40).collect();
    let bytes = bytes.map_err(|error| {
        AdminError::invalid(format!("the {what} {begin:?} cannot be read: {error}; {hint}"))
    })?;
    if bytes.len() > NAME_BYTES_MAX {
        let why = format!("the {what} has {} bytes: it may have at most {NAME_BYTES_MAX}", bytes.len());
        return invalid(why);
    }
    Ok(Some(bytes.into()))
}
