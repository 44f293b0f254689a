//! Whether SSTables can be of the column family that the target defines for them.
//!
//! ```text
//!   definition               what an SSTable has                               found
//!   comparator LongType      the name 6162                                     not a value of LongType
//!   comparator Int32Type     the names 00000001, ffffffff in this order        Int32Type has another order
//!   v text (3.x)             the Statistics file has v Int32Type               another type
//! ```
//!
//! With a wrong definition, from `--schema` or `--config`, all bytes would be imported, and clients could not read them.
//! A comparison with `--verify` would find no difference. Files of 3.x have the types of their columns. Of older ones the
//! names of the first rows are checked: the server that wrote them has validated and sorted them by its comparator.
//! Validators of keys and values are not checked there, since clients could change them at any time.

use std::sync::Arc;

use bytes::Bytes;

use super::read_thread::read_on_thread;
use super::{ImportError, Inventory, LeftOut, SstableFile};
use crate::endpoint::Endpoint;
use base::compat::features::releases::NEWEST;
use base::marshal;
use base::marshal::{AbstractType, CqlType, Types, widens};
use base::schema::{CfDef, Layout, TableColumn, TableDef};
use base::util::hex;
use cql::define::{accepts_values, keeps_order};
use sstable::{Atom, TableOptions, TableReader, Unit};

/// SSTables of a column family whose names are checked, and parts of rows in each of them.
const TABLES_READ: usize = 20;
const UNITS_READ: usize = 2_000;

/// Returns the SSTables that cannot be of the column family that a target defines for them. Damage is not reported here.
///
/// # Errors
///
/// If the thread that reads has panicked.
pub async fn misfits(
    inventory: &Inventory,
    to: &Endpoint,
    types: &Types,
) -> Result<Vec<LeftOut>, ImportError> {
    let mut families = Vec::new();
    for (name, tables) in &inventory.families {
        let defined = to.column_family(&name.keyspace, &name.name);
        families.extend(defined.map(|cf| (name.clone(), cf, tables.clone())));
    }
    let types = types.clone();
    read_on_thread(move || {
        let mut misfits = Vec::new();
        for (name, cf, tables) in families {
            let definition = CheckedFamily { table: TableDef::of(&cf, NEWEST), cf, types: &types };
            for (at, table) in tables.into_iter().enumerate() {
                let Some(why) = definition.misfit(&table, at < TABLES_READ) else { continue };
                let why = format!(
                    "{}: {why}; with a wrong definition of {name}, its rows cannot be read",
                    table.path.display()
                );
                misfits.push(LeftOut { path: table.path, why, family: name.clone() });
            }
        }
        misfits
    })
    .await
}

/// The definition of a column family.
struct CheckedFamily<'t> {
    cf: Arc<CfDef>,
    table: Arc<TableDef>,
    types: &'t Types,
}

impl CheckedFamily<'_> {
    /// Returns why a table does not fit.
    fn misfit(&self, found: &SstableFile, reads_rows: bool) -> Option<String> {
        // Up to 1.2 files show whether they have super columns.
        let layout = Some(self.table.layout).filter(|_| !found.descriptor.format.has_super_columns);
        let options = TableOptions { layout, partitioner: None };
        let (mut table, _) = TableReader::open_damaged(&found.path, &options).ok()?;
        match table.described(self.types) {
            Some(described) => self.types_misfit(&described),
            None if reads_rows => {
                let texts_as_java = found.descriptor.format.may_sort_texts_as_java();
                OldNameOrder { texts_as_java, definition: self }.misfit(&mut table)
            }
            None => None,
        }
    }

    /// Compares the definition with the definition in a file of 3.x.
    fn types_misfit(&self, described: &CfDef) -> Option<String> {
        if self.table.layout == Layout::Sparse {
            let own = TableDef::of(described, NEWEST);
            return self.key_misfit(&own).or_else(|| self.columns_misfit(&own));
        }
        let inner = self.cf.subcomparator().zip(described.subcomparator());
        let pairs = [Some((&self.cf.comparator, &described.comparator)), inner];
        let misfit =
            pairs.into_iter().flatten().find(|(new, old)| !widens(old.class_name(), new.class_name()));
        misfit.map(|(new, old)| {
            format!(
                "its column names are of {}, and the definition has {}",
                old.class_name(),
                new.class_name()
            )
        })
    }

    fn key_misfit(&self, own: &TableDef) -> Option<String> {
        let (new, old) = (&self.table.partition_key, &own.partition_key);
        let mut pairs = new.iter().zip(old);
        let is_fit =
            new.len() == old.len() && pairs.all(|(new, old)| accepts_values(&new.cql_type, &old.cql_type));
        (!is_fit).then(|| {
            format!("its row keys are {}, and those of the definition {}", types_of(old), types_of(new))
        })
    }

    fn columns_misfit(&self, own: &TableDef) -> Option<String> {
        let shown = |columns: &[TableColumn]| match columns {
            [] => "no clustering columns".to_owned(),
            some => format!("the clustering columns {}", types_of(some)),
        };
        let (new, old) = (&self.table.clustering, &own.clustering);
        let fit = new.iter().zip(old).all(|(new, old)| {
            new.is_reversed == old.is_reversed && keeps_order(&new.cql_type, &old.cql_type)
        });
        if new.len() != old.len() || !fit {
            return Some(format!("it has {}, and the definition has {}", shown(old), shown(new)));
        }
        own.others.iter().find_map(|(name, old)| {
            let new = self.table.others.get(name)?;
            // The column was dropped and added again since, maybe with another type.
            if self.table.dropped.contains_key(&new.cell_name) {
                return None;
            }
            let fits = new.kind == old.kind && accepts_values(&new.cql_type, &old.cql_type);
            (!fits).then(|| differs(&format!("its column {name} is"), &old.cql_type, &new.cql_type))
        })
    }
}

/// The order of the names in a file of 0.4 to 2.2.
struct OldNameOrder<'d> {
    definition: &'d CheckedFamily<'d>,
    /// Whether texts may be in the order of Java's strings.
    texts_as_java: bool,
}

impl OldNameOrder<'_> {
    /// Compares the comparators with the names of the first rows.
    fn misfit(&self, table: &mut TableReader) -> Option<String> {
        let cf = &self.definition.cf;
        let mut before: Option<(Option<Bytes>, Bytes)> = None;
        for _ in 0..UNITS_READ {
            // Damage is reported by the import.
            let (holder, name) = match table.next_unit().ok()?? {
                Unit::Row { .. } | Unit::EndOfRow => {
                    before = None;
                    continue;
                }
                Unit::Atom(Atom::Cell { super_column, cell }) => (super_column, cell.name),
                Unit::Atom(Atom::Counter { super_column, counter }) => (super_column, counter.name),
                Unit::Atom(_) => continue,
            };
            if holder.is_some() != cf.is_super() {
                let has = if holder.is_some() { "has" } else { "has no" };
                return Some(format!("it {has} super columns, unlike the definition"));
            }
            let why = match &holder {
                Some(holder) => self.pair_misfit(holder, &name, before.as_ref()),
                None => {
                    let before = before.as_ref().map(|(_, name)| name);
                    self.name_misfit(&*cf.comparator, &name, before)
                }
            };
            if why.is_some() {
                return why;
            }
            before = Some((holder, name));
        }
        None
    }

    /// Checks a super column, and a column in it.
    fn pair_misfit(
        &self,
        holder: &Bytes,
        name: &Bytes,
        before: Option<&(Option<Bytes>, Bytes)>,
    ) -> Option<String> {
        let (outer, inner) = match before {
            Some((Some(of), before)) if of == holder => (None, Some(before)),
            Some((Some(of), _)) => (Some(of), None),
            _ => (None, None),
        };
        let cf = &self.definition.cf;
        let of_holder = self.name_misfit(&*cf.comparator, holder, outer);
        of_holder.or_else(|| self.name_misfit(&**cf.subcomparator()?, name, inner))
    }

    /// Returns why a name, and the one before it, are not of a comparator.
    fn name_misfit(
        &self,
        comparator: &dyn AbstractType,
        name: &Bytes,
        before: Option<&Bytes>,
    ) -> Option<String> {
        let class = comparator.class_name();
        if let Err(error) = comparator.validate(name) {
            return Some(format!("the column name 0x{} is not of {class} ({error})", hex(name)));
        }
        let before = before?;
        let is_in_order = marshal::at(comparator, NEWEST).compare(before, name).is_le()
            || (self.texts_as_java && class.ends_with("UTF8Type") && is_in_order_of_java(before, name));
        (!is_in_order).then(|| {
            format!(
                "the column names 0x{} and 0x{} are in this order, which is not that of {class}",
                hex(before),
                hex(name)
            )
        })
    }
}

/// Whether texts are in the order of Java's strings: by units of UTF-16, in which characters outside of the basic plane come
/// before some in it.
fn is_in_order_of_java(before: &Bytes, name: &Bytes) -> bool {
    match (std::str::from_utf8(before), std::str::from_utf8(name)) {
        (Ok(before), Ok(name)) => before.encode_utf16().le(name.encode_utf16()),
        _ => false,
    }
}

fn differs(what: &str, old: &CqlType, new: &CqlType) -> String {
    format!("{what} of the type {old}, and the definition has {new}")
}

/// Returns the types of columns: `(int, text)`.
fn types_of(columns: &[TableColumn]) -> String {
    let shown = columns.iter().map(|column| {
        let order = if column.is_reversed { " DESC" } else { "" };
        format!("{}{order}", column.cql_type)
    });
    format!("({})", shown.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_outside_of_the_basic_plane_come_first_in_java() {
        let [emoji, last] = ["\u{1f600}", "\u{fffd}"].map(|text| Bytes::copy_from_slice(text.as_bytes()));
        assert!(emoji > last && is_in_order_of_java(&emoji, &last));
        let cf = Arc::new(CfDef::new("Ks", "Cf"));
        let types = Types::builtin();
        let definition = CheckedFamily { table: TableDef::of(&cf, NEWEST), cf, types: &types };
        let utf8 = types.parse("UTF8Type").unwrap();
        for (texts_as_java, fits) in [(true, true), (false, false)] {
            let order = OldNameOrder { definition: &definition, texts_as_java };
            assert_eq!(order.name_misfit(&*utf8, &last, Some(&emoji)).is_none(), fits);
            assert_eq!(order.name_misfit(&*utf8, &emoji, Some(&last)), None);
        }
    }
}
