//! The changes of a partition in a commit log of 3.0 and later.
//!
//! ```text
//!   update   key | flags | baselines | static columns, if there is a static row | regular columns
//!            | deletion, if there is one | static row | number of rows, if known | rows and bounds | end flag
//! ```
//!
//! Rows are stored as in SSTables, without their sizes. The columns have only their names: the types come from the
//! schema.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::super::atom::{Atom, Unit};
use super::super::error::SstableError;
use super::super::input::Input;
use super::super::statistics::{RowHeader, StoredColumn, ValueType, count_of_columns, read_baselines};
use super::rows::ModernRows;
use base::model::DeletionTime;
use base::schema::Layout;
use base::util::hex;

/// Flags of an update.
mod update_flags {
    /// There are no changes.
    pub(super) const EMPTY: u8 = 0x01;
    /// The partition was deleted.
    pub(super) const DELETION: u8 = 0x04;
    pub(super) const STATIC_ROW: u8 = 0x08;
    pub(super) const COUNT: u8 = 0x10;
    pub(super) const ALL: u8 = EMPTY | DELETION | STATIC_ROW | COUNT;
}

/// The columns of a column family's table in the schema.
#[derive(Debug, Clone)]
pub struct LogTable {
    layout: Layout,
    clustering: Vec<ValueType>,
    columns: HashMap<Bytes, Arc<StoredColumn>>,
    /// The column of the values of a compact table, whatever its name is.
    value: Option<Arc<StoredColumn>>,
}

impl LogTable {
    /// Returns a table with the class names of its clustering columns, and its other columns by their names. `value` is the
    /// class of the values of a compact table.
    pub fn new(
        layout: Layout,
        clustering: Vec<String>,
        columns: impl IntoIterator<Item = (Bytes, String)>,
        value: Option<String>,
    ) -> LogTable {
        let column = |(name, class): (Bytes, String)| {
            (name.clone(), Arc::new(StoredColumn::new(name, ValueType::of_class(class))))
        };
        LogTable {
            layout,
            clustering: clustering.into_iter().map(ValueType::of_class).collect(),
            columns: columns.into_iter().map(column).collect(),
            value: value.map(|class| column((Bytes::new(), class)).1),
        }
    }

    /// Whether it is a super column family.
    pub fn is_super(&self) -> bool {
        self.layout == Layout::Super
    }

    /// Returns a column. 3.0 freezes all user types.
    fn column(&self, name: Bytes, freezes_user_types: bool) -> Option<Arc<StoredColumn>> {
        let found = self.columns.get(&name).or(self.value.as_ref())?;
        if found.name == name && !(found.is_user_type && freezes_user_types) {
            return Some(found.clone());
        }
        let mut column = StoredColumn { name, ..StoredColumn::clone(found) };
        column.is_complex &= !(column.is_user_type && freezes_user_types);
        Some(Arc::new(column))
    }

    /// Whether a column has a user type that is not frozen, or seems to have one.
    pub(in super::super) fn has_user_types(&self) -> bool {
        self.columns.values().any(|column| column.is_user_type)
    }
}

/// The changes of a partition.
#[derive(Debug)]
pub(in super::super) struct Update {
    pub key: Bytes,
    pub deletion: DeletionTime,
    pub atoms: Vec<Atom>,
}

/// The stored forms that depend on the release.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct UpdateForms {
    /// Whether all user types are frozen (3.0).
    pub freezes_user_types: bool,
    /// Whether times of deletion are unsigned (5.0).
    pub has_unsigned_times: bool,
}

/// Reads the changes of a partition. Returns them with the input, which is behind them.
pub(in super::super) fn read_update(
    mut input: Input,
    table: &LogTable,
    forms: UpdateForms,
) -> Result<(Update, Input), SstableError> {
    let key = input.vint_bytes()?;
    let flags = input.u8()?;
    if flags & !update_flags::ALL != 0 {
        return Err(input.damaged(format!("changes of a partition with the flags {flags:#04x}")));
    }
    let has = |flag: u8| flags & flag != 0;
    let mut update = Update { key, deletion: DeletionTime::LIVE, atoms: Vec::new() };
    if has(update_flags::EMPTY) {
        return Ok((update, input));
    }
    let mut header = RowHeader {
        clustering: table.clustering.clone(),
        ..read_baselines(&mut input, forms.has_unsigned_times)?
    };
    let has_static = has(update_flags::STATIC_ROW);
    if has_static {
        header.static_columns = read_names(&mut input, table, forms.freezes_user_types)?;
    }
    header.regular_columns = read_names(&mut input, table, forms.freezes_user_types)?;
    if has(update_flags::DELETION) {
        update.deletion = header.deletion(&mut input)?;
    }
    if has_static && header.static_columns.is_empty() {
        return Err(input.damaged("a static row without columns"));
    }
    let (key, has_count) = (update.key.clone(), has(update_flags::COUNT));
    let mut rows = ModernRows::of_update(input, header, table.layout, key, has_count);
    while let Some(Unit::Atom(atom)) = rows.next_unit()? {
        update.atoms.push(atom);
    }
    Ok((update, rows.into_input()))
}

/// Reads names of columns, and returns the columns.
fn read_names(
    input: &mut Input,
    table: &LogTable,
    freezes_user_types: bool,
) -> Result<Vec<Arc<StoredColumn>>, SstableError> {
    let mut columns = Vec::new();
    for _ in 0..count_of_columns(input)? {
        let name = input.vint_bytes()?;
        let column = table.column(name.clone(), freezes_user_types);
        columns.push(column.ok_or_else(|| {
            let text = std::str::from_utf8(&name).map_or_else(|_| format!("0x{}", hex(&name)), str::to_owned);
            input.damaged(format!("a value of the column {text:?}, which the table does not define"))
        })?);
    }
    Ok(columns)
}
