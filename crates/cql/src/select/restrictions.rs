//! The restrictions in a WHERE clause on a table's columns.

use std::sync::Arc;

use bytes::Bytes;

use super::element_condition::ElementCondition;
use super::operands::{Operand, Operands};
use crate::{ColumnSpec, CqlError, QueryOptions};
use base::compat::rules::WhereRules;
use base::schema::{CfDef, ColumnKind, TableColumn, TableDef};
use cql_syntax::Operator;
use db::{INDEX_ENTRIES, INDEX_KEYS};

/// The table of a SELECT.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub keyspace: String,
    pub name: String,
    pub def: Arc<TableDef>,
    pub cf: Arc<CfDef>,
    /// A virtual system table: it has no column family.
    pub is_system: bool,
}

impl Target {
    pub(super) fn spec(&self, column: &TableColumn) -> ColumnSpec {
        self.spec_of(&column.name, column.cql_type.clone())
    }

    pub(super) fn spec_of(&self, name: &str, cql_type: base::marshal::CqlType) -> ColumnSpec {
        ColumnSpec {
            keyspace: self.keyspace.clone(),
            table: self.name.clone(),
            name: name.to_owned(),
            cql_type,
            is_field: false,
        }
    }

    /// Returns which part of a column its index covers, or `None` if the column has no index.
    pub(super) fn index(&self, column: &TableColumn) -> Option<IndexedBy> {
        let definition = self.cf.column_metadata.get(&column.cell_name)?;
        let index = definition.index.as_ref()?;
        Some(match column.cql_type.is_multi_cell() {
            false => IndexedBy::Value,
            true if index.has_option(INDEX_KEYS) => IndexedBy::Keys,
            true if index.has_option(INDEX_ENTRIES) => IndexedBy::Entries,
            true => IndexedBy::Elements,
        })
    }
}

/// The part of a column that an index covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexedBy {
    Value,
    Elements,
    Keys,
    /// The pairs of the keys and values of a map.
    Entries,
}

impl IndexedBy {
    pub(super) fn supports(self, operator: Operator) -> bool {
        matches!(
            (self, operator),
            (IndexedBy::Value | IndexedBy::Entries, Operator::Eq)
                | (IndexedBy::Elements, Operator::Contains)
                | (IndexedBy::Keys, Operator::ContainsKey)
        )
    }
}

/// One end of a slice.
#[derive(Debug)]
pub(super) struct SliceEnd {
    pub operand: Operand,
    pub is_inclusive: bool,
}

#[derive(Debug, Default)]
pub(super) struct Slice {
    pub lower: Option<SliceEnd>,
    pub upper: Option<SliceEnd>,
}

#[derive(Debug)]
pub(super) enum RestrictionKind {
    Eq(Operand),
    In(Operands),
    Slice(Slice),
    /// Conditions on the elements of a collection.
    Contains(Vec<ElementCondition>),
}

impl RestrictionKind {
    /// Returns the restriction of an IN; `is_equality`: its only value is an equality.
    pub(super) fn of_in(operands: Operands, is_equality: bool) -> RestrictionKind {
        match operands {
            Operands::Each(mut each) if is_equality && each.len() == 1 => RestrictionKind::Eq(each.remove(0)),
            operands => RestrictionKind::In(operands),
        }
    }

    /// Whether the value of an equality, or an element of CONTAINS, is bound as unset.
    pub(super) fn is_unset(&self, options: &QueryOptions) -> bool {
        match self {
            RestrictionKind::Eq(Operand::One(term)) => term.is_unset(options),
            RestrictionKind::Eq(Operand::Each(terms)) => terms.iter().any(|term| term.is_unset(options)),
            RestrictionKind::Contains(elements) => elements.iter().any(|one| one.is_unset(options)),
            RestrictionKind::Eq(Operand::Whole(..)) | RestrictionKind::In(_) | RestrictionKind::Slice(_) => {
                false
            }
        }
    }
}

/// The restriction of one column, or of several adjacent clustering columns.
#[derive(Debug)]
pub(super) struct Restriction {
    /// The index of its first column, and the number of columns.
    pub first: usize,
    pub width: usize,
    /// Whether it was written as a tuple.
    pub is_tuple: bool,
    /// Whether it restricts the token of the whole key instead of the column.
    pub is_on_token: bool,
    pub asked: RestrictionKind,
}

impl Restriction {
    pub(super) fn is_slice(&self) -> bool {
        matches!(self.asked, RestrictionKind::Slice(_))
    }

    pub(super) fn is_in(&self) -> bool {
        matches!(self.asked, RestrictionKind::In(_))
    }

    pub(super) fn is_contains(&self) -> bool {
        matches!(self.asked, RestrictionKind::Contains(_))
    }

    /// Whether it has more than one condition on the elements of a collection.
    pub(super) fn has_several_conditions(&self) -> bool {
        matches!(&self.asked, RestrictionKind::Contains(elements) if elements.len() > 1)
    }

    /// Adds an end of a slice, or conditions on elements, of a later relation that fits to this restriction.
    pub(super) fn add(&mut self, new: Restriction) {
        self.width = self.width.max(new.width);
        self.is_tuple |= new.is_tuple;
        match (&mut self.asked, new.asked) {
            (RestrictionKind::Slice(slice), RestrictionKind::Slice(Slice { lower, upper })) => {
                debug_assert!(lower.is_none() || slice.lower.is_none());
                debug_assert!(upper.is_none() || slice.upper.is_none());
                slice.lower = slice.lower.take().or(lower);
                slice.upper = slice.upper.take().or(upper);
            }
            (RestrictionKind::Contains(elements), RestrictionKind::Contains(more)) => elements.extend(more),
            (asked, new) => debug_assert!(false, "{new:?} does not fit to {asked:?}"),
        }
    }
}

/// All restrictions of WHERE and ORDER BY, checked.
#[derive(Debug)]
pub(super) struct Restrictions {
    /// The rules of the release by which they were checked.
    pub rules: WhereRules,
    /// The restriction of each partition key column.
    pub keys: Vec<Option<Restriction>>,
    /// The restriction of the partition key's token.
    pub token: Option<Restriction>,
    /// For each clustering column, the index of its restriction in `of_clustering`.
    pub clustering: Vec<Option<usize>>,
    pub of_clustering: Vec<Restriction>,
    /// Restrictions of static and regular columns.
    pub others: Vec<(String, Restriction)>,
    /// Whether a range of partitions is read, not single keys.
    pub is_key_range: bool,
    pub is_key_in: bool,
    pub uses_index: bool,
    /// Names of primary key columns whose indexes are not used, because keys and slices cover their restrictions.
    pub without_index: Vec<String>,
    pub is_reversed: bool,
}

impl Restrictions {
    /// Returns no restrictions.
    pub(super) fn new(def: &TableDef, rules: WhereRules) -> Restrictions {
        Restrictions {
            rules,
            keys: def.partition_key.iter().map(|_| None).collect(),
            token: None,
            clustering: vec![None; def.clustering.len()],
            of_clustering: Vec::new(),
            others: Vec::new(),
            is_key_range: false,
            is_key_in: false,
            uses_index: false,
            without_index: Vec::new(),
            is_reversed: false,
        }
    }

    /// Returns the restriction of a column.
    pub(super) fn of(&self, column: &TableColumn) -> Option<&Restriction> {
        match column.kind {
            ColumnKind::PartitionKey => self.keys.get(column.position)?.as_ref(),
            ColumnKind::Clustering => self.of_clustering_at(column.position),
            _ => self.others.iter().find(|(known, _)| *known == column.name).map(|(_, of)| of),
        }
    }

    /// Adds a restriction that fits to those of its columns. `column` is its first one.
    pub(super) fn put(&mut self, column: &TableColumn, new: Restriction) {
        match column.kind {
            ColumnKind::PartitionKey => match self.keys.get_mut(column.position) {
                Some(Some(existing)) => existing.add(new),
                Some(place) => *place = Some(new),
                None => {}
            },
            ColumnKind::Clustering => self.put_clustering(new),
            ColumnKind::Static | ColumnKind::Regular | ColumnKind::CompactValue => {
                match self.others.iter_mut().find(|(known, _)| *known == column.name) {
                    Some((_, existing)) => existing.add(new),
                    None => self.others.push((column.name.clone(), new)),
                }
            }
        }
    }

    fn put_clustering(&mut self, new: Restriction) {
        let (first, width) = (new.first, new.width);
        let existing = self.clustering.get(first).copied().flatten();
        let at = existing.unwrap_or(self.of_clustering.len());
        match self.of_clustering.get_mut(at) {
            Some(existing) => existing.add(new),
            None => self.of_clustering.push(new),
        }
        self.clustering.iter_mut().skip(first).take(width).for_each(|place| *place = Some(at));
    }

    /// Returns the names of the restricted columns outside of the primary key, sorted.
    pub(super) fn names_of_others(&self) -> String {
        let mut names: Vec<&str> = self.others.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        names.join(", ")
    }

    pub(super) fn restricts_clustering(&self) -> bool {
        self.clustering.iter().any(Option::is_some)
    }

    /// Whether a clustering column is restricted after one without an equality.
    pub(super) fn has_gap(&self) -> bool {
        let mut restrictions: Vec<&Restriction> = self.of_clustering.iter().collect();
        restrictions.sort_by_key(|restriction| restriction.first);
        let mut position = 0;
        for restriction in restrictions {
            if restriction.first != position {
                return true;
            }
            if !restriction.is_slice() {
                position += restriction.width;
            }
        }
        false
    }

    /// Returns the error for the first clustering column that is restricted after one without a restriction.
    pub(super) fn gap(&self, def: &TableDef) -> Option<CqlError> {
        let restricted = def.clustering.iter().zip(&self.clustering).filter(|(_, place)| place.is_some());
        let mut pairs = def.clustering.iter().zip(restricted);
        let (column, (restricted, _)) =
            pairs.find(|(column, (restricted, _))| column.name != restricted.name)?;
        Some(CqlError::invalid(format!(
            "PRIMARY KEY column \"{}\" cannot be restricted as preceding column \"{}\" is not restricted",
            restricted.name, column.name
        )))
    }

    pub(super) fn of_clustering_at(&self, position: usize) -> Option<&Restriction> {
        let at = (*self.clustering.get(position)?)?;
        self.of_clustering.get(at)
    }
}

/// The values of the clustering columns; `None` where the name in a compact table ends early.
pub(super) type Clustering = Vec<Option<Bytes>>;
