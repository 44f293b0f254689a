//! Checks whether a relation fits to the restrictions that its columns already have.

use super::analysis::Analysis;
use super::messages::NOT_ON_TOKEN;
use super::restrictions::{Restriction, RestrictionKind, Slice};
use crate::error::invalid;
use crate::{CqlError, Result};
use base::compat::features::restrictions::{CHANGES_OF_SEVERAL_ROWS, FILTERING_BY_CLUSTERING};
use base::compat::texts;
use base::schema::TableColumn;
use cql_syntax::{Operator, Relation};

/// The kind of a restriction, without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RelationShape {
    Eq,
    In,
    Slice,
    Contains,
}

impl RelationShape {
    fn of_restriction(asked: &RestrictionKind) -> RelationShape {
        match asked {
            RestrictionKind::Eq(_) => RelationShape::Eq,
            RestrictionKind::In(_) => RelationShape::In,
            RestrictionKind::Slice(_) => RelationShape::Slice,
            RestrictionKind::Contains(_) => RelationShape::Contains,
        }
    }

    fn of_relation(relation: &Relation) -> RelationShape {
        match relation {
            Relation::In { .. } | Relation::ColumnsIn { .. } => RelationShape::In,
            Relation::Column { element: Some(_), .. }
            | Relation::Column { operator: Operator::Contains | Operator::ContainsKey, .. } => {
                RelationShape::Contains
            }
            Relation::Column { operator: Operator::Eq, .. }
            | Relation::Columns { operator: Operator::Eq, .. }
            | Relation::Token { operator: Operator::Eq, .. } => RelationShape::Eq,
            Relation::Column { .. } | Relation::Columns { .. } | Relation::Token { .. } => {
                RelationShape::Slice
            }
        }
    }
}

impl Analysis<'_> {
    /// Checks a relation against the relations before it, if the release does so before the value is analyzed.
    pub(super) fn check_fits_first(&self, columns: &[TableColumn], relation: &Relation) -> Result<()> {
        if self.rules().merges_restrictions { Ok(()) } else { self.check_fits(columns, relation) }
    }

    /// Checks a relation on some columns, or on some columns of a relation, against the relations before it.
    pub(super) fn check_fits(&self, columns: &[TableColumn], relation: &Relation) -> Result<()> {
        let Some(existing) = columns.iter().find_map(|column| self.found.of(column)) else { return Ok(()) };
        let restricted = existing.first..existing.first + existing.width;
        let names = match columns {
            [column] => column.name.clone(),
            _ => {
                let both = columns.iter().filter(|column| restricted.contains(&column.position));
                both.map(|column| &*column.name).collect::<Vec<_>>().join(" ,")
            }
        };
        let misfit = match (self.misfit(existing, relation, &names), columns.first()) {
            (None, Some(first)) => self.misfit_of_slices(existing, first, relation, &names),
            (misfit, _) => misfit,
        };
        misfit.map_or(Ok(()), invalid)
    }

    /// Checks a relation on the token of the key against the relations before it.
    pub(super) fn check_fits_token(
        &self,
        existing: Option<&Restriction>,
        relation: &Relation,
        name: &str,
    ) -> Result<()> {
        let misfit = existing.and_then(|existing| self.misfit(existing, relation, name));
        misfit.map_or(Ok(()), invalid)
    }

    /// Returns why the kinds of a restriction and of a relation on the same columns do not fit.
    fn misfit(&self, existing: &Restriction, relation: &Relation, names: &str) -> Option<String> {
        let is_merged = self.rules().merges_restrictions && !matches!(relation, Relation::Token { .. });
        let (old, new) =
            (RelationShape::of_restriction(&existing.asked), RelationShape::of_relation(relation));
        let is_tuple = !is_merged && is_tuple(relation);
        match if is_merged { old } else { new } {
            decisive @ (RelationShape::Eq | RelationShape::In) if is_tuple => Some(format!(
                "Column \"{names}\" cannot be restricted by more than one relation if it is in an {} relation",
                if decisive == RelationShape::In { "IN" } else { "=" }
            )),
            RelationShape::Eq => Some(format!(
                "{names} cannot be restricted by more than one relation if it includes an Equal"
            )),
            RelationShape::In => {
                Some(format!("{names} cannot be restricted by more than one relation if it includes a IN"))
            }
            RelationShape::Contains | RelationShape::Slice if old == new => None,
            RelationShape::Contains => Some(texts::only_contains(self.state.line(), names)),
            RelationShape::Slice if is_tuple => Some(format!(
                "Column \"{names}\" cannot be restricted by an equality relation and an inequality relation"
            )),
            RelationShape::Slice => Some(format!(
                "Column \"{names}\" cannot be restricted by both an equality and an inequality relation"
            )),
        }
    }

    /// Returns why two inequalities do not fit, if these are two. `first` is the first column of the second one.
    fn misfit_of_slices(
        &self,
        existing: &Restriction,
        first: &TableColumn,
        relation: &Relation,
        names: &str,
    ) -> Option<String> {
        let RestrictionKind::Slice(slice) = &existing.asked else { return None };
        if existing.is_on_token {
            return Some(NOT_ON_TOKEN.to_owned());
        }
        let starts = self.misfit_of_starts(existing, first, relation);
        let ends = misfit_of_ends(slice, relation, names);
        if self.rules().merges_restrictions || is_tuple(relation) { starts.or(ends) } else { ends.or(starts) }
    }

    /// Returns the error of two inequalities that start at different columns.
    fn misfit_of_starts(
        &self,
        existing: &Restriction,
        first: &TableColumn,
        relation: &Relation,
    ) -> Option<String> {
        let rules = self.rules();
        let is_alike = match relation {
            Relation::Columns { columns, .. } if !rules.merges_restrictions => {
                let is_first = columns.first() == Some(&first.name);
                !rules.tuples_start_alike || self.starts_alike(first.position, is_first)
            }
            _ => existing.first == first.position,
        };
        if is_alike {
            return None;
        }
        let later = self.target.def.clustering.get(existing.first.max(first.position));
        let name = later.map_or("", |column| &column.name);
        let shown =
            if rules.merges_restrictions { String::new() } else { format!(": {}", self.text(relation)) };
        Some(format!(
            "Column \"{name}\" cannot be restricted by two inequalities not starting with the same column{shown}"
        ))
    }

    /// Checks whether the slice of a column of a tuple begins at the first column of the tuple, as far as Cassandra 2.1
    /// checks this.
    fn starts_alike(&self, position: usize, is_first: bool) -> bool {
        let place = |position: usize| self.found.clustering.get(position).copied().flatten();
        let before = position.checked_sub(1).map(place);
        if is_first {
            before.is_none_or(|before| before != place(position))
        } else {
            before == Some(place(position))
        }
    }

    /// Checks that no clustering column is restricted after a slice, as 3.0 and later do with each relation. `new` is
    /// not added yet.
    pub(super) fn check_after_slice(&self, new: &Restriction) -> Result<()> {
        let is_checked = self.state.has(CHANGES_OF_SEVERAL_ROWS) && !self.may_filter(FILTERING_BY_CLUSTERING);
        let existing = &self.found.of_clustering;
        match existing.iter().max_by_key(|of| of.first).filter(|_| is_checked) {
            Some(last) if new.first > last.first && last.is_slice() => {
                Err(self.restricted_after_slice("Clustering", new.first, last.first))
            }
            Some(last) if new.first < last.first && new.is_slice() => {
                let later = existing.iter().map(|of| of.first).filter(|first| *first > new.first);
                let next = later.min().unwrap_or(last.first);
                Err(self.restricted_after_slice("PRIMARY KEY", next, new.first))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn restricted_after_slice(&self, kind: &str, column: usize, slice: usize) -> CqlError {
        let names = [column, slice].map(|at| self.target.def.clustering.get(at).map_or("", |one| &one.name));
        CqlError::invalid(format!(
            "{kind} column \"{}\" cannot be restricted (preceding column \"{}\" is restricted by a non-EQ relation)",
            names[0], names[1]
        ))
    }
}

fn is_tuple(relation: &Relation) -> bool {
    matches!(relation, Relation::Columns { .. } | Relation::ColumnsIn { .. })
}

/// Returns the error of a slice that already has the end that an inequality sets.
pub(super) fn misfit_of_ends(slice: &Slice, relation: &Relation, names: &str) -> Option<String> {
    let (Relation::Column { operator, .. }
    | Relation::Columns { operator, .. }
    | Relation::Token { operator, .. }) = relation
    else {
        return None;
    };
    let end = match operator {
        Operator::Gt | Operator::Gte if slice.lower.is_some() => "start",
        Operator::Lt | Operator::Lte if slice.upper.is_some() => "end",
        _ => return None,
    };
    Some(format!("More than one restriction was found for the {end} bound on {names}"))
}
