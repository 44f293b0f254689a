//! Checks the columns of the primary key in their order, as releases to 2.1 do.

use super::analysis::Analysis;
use super::messages::{NOT_ON_TOKEN, TOKEN_OF_SOME};
use super::restrictions::RestrictionKind;
use super::selection::Projection;
use crate::column_text::column_text;
use crate::error::invalid;
use crate::{CqlError, Result};
use base::compat::texts;
use base::schema::TableColumn;
use cql_syntax::{Relation, Select};

impl Analysis<'_> {
    /// Checks the columns of the partition key. Ends at the first gap if there is an index, which finds the partitions
    /// then.
    pub(super) fn check_key_in_order(&mut self, select: &Select) -> Result<()> {
        if self.found.token.is_some() && self.found.keys.iter().any(Option::is_some) {
            return invalid(TOKEN_OF_SOME);
        }
        let count = self.found.keys.len();
        let mut previous: Option<&TableColumn> = None;
        let (mut is_open, mut is_on_token) = (false, false);
        for (at, column) in self.target.def.partition_key.iter().enumerate() {
            let name = &column.name;
            let restriction = self.found.keys.get(at).and_then(Option::as_ref);
            match restriction {
                None if is_on_token => return invalid(TOKEN_OF_SOME),
                None => {
                    let follows = at > 0 && self.found.keys.get(at - 1).is_some_and(Option::is_some);
                    if follows && self.has_index {
                        return Ok(());
                    }
                    if follows {
                        return invalid(format!(
                            "Partition key part {name} must be restricted since preceding part is"
                        ));
                    }
                    is_open = true;
                }
                Some(_) if is_open && self.has_index => return Ok(()),
                Some(_) if is_open => {
                    let before = previous.map_or_else(String::new, |column| self.key_text(column));
                    return invalid(format!(
                        "Partitioning column \"{name}\" cannot be restricted because the preceding column \
                         (\"{before}\") is either not restricted or is restricted by a non-EQ relation"
                    ));
                }
                Some(restriction) if restriction.is_on_token => is_on_token = true,
                Some(_) if is_on_token => return invalid(TOKEN_OF_SOME),
                Some(restriction) if restriction.is_slice() => return invalid(NOT_ON_TOKEN),
                Some(restriction) if restriction.is_in() && at + 1 != count => {
                    return invalid(format!(
                        "Partition KEY part {name} cannot be restricted by IN relation (only the last part of the \
                         partition key can)"
                    ));
                }
                Some(_) => {}
            }
            previous = Some(column);
        }
        if is_on_token { self.token_of_key(select) } else { Ok(()) }
    }

    /// Returns a key column as error messages print it: 2.1 prints the whole column definition, other releases the
    /// name.
    fn key_text(&self, column: &TableColumn) -> String {
        if self.state.is_in_words_of_2_1() {
            column_text(&self.target.cf, &self.target.def, column)
        } else {
            column.name.clone()
        }
    }

    /// Merges the restrictions by token(a, b) on the key's columns into one. The token's arguments must be in the order
    /// of the key.
    fn token_of_key(&mut self, select: &Select) -> Result<()> {
        let key = &self.target.def.partition_key;
        let written = select.relations.iter().filter_map(|relation| match relation {
            Relation::Token { columns, .. } => Some(columns),
            _ => None,
        });
        if written.flatten().zip(key.iter().cycle()).any(|(name, column)| *name != column.name) {
            let columns: Vec<String> = key.iter().map(|column| self.key_text(column)).collect();
            return invalid(format!(
                "The token function arguments must be in the partition key order: {}",
                columns.join(",")
            ));
        }
        let mut of_token =
            self.found.keys.iter_mut().filter(|of| of.as_ref().is_some_and(|of| of.is_on_token));
        self.found.token = of_token.next().and_then(Option::take);
        of_token.for_each(|of| *of = None);
        Ok(())
    }

    /// Checks the clustering columns. Returns whether rows are filtered by them, which needs an index.
    pub(super) fn check_clustering_in_order(&self, projection: &Projection) -> Result<bool> {
        let columns = &self.target.def.clustering;
        let (mut is_open, mut is_filtered) = (false, false);
        let mut previous: Option<(&TableColumn, Option<usize>)> = None;
        for (at, column) in columns.iter().enumerate() {
            let name = &column.name;
            let place = self.found.clustering.get(at).copied().flatten();
            let Some(restriction) = self.found.of_clustering_at(at) else {
                is_open = true;
                previous = Some((column, None));
                continue;
            };
            if is_open {
                if previous.is_some_and(|(_, before)| before == place) {
                    previous = Some((column, place));
                    continue;
                }
                if self.has_index {
                    return Ok(true);
                }
                return Err(self.gap(name, previous));
            }
            match &restriction.asked {
                RestrictionKind::Slice(_) => is_open = true,
                RestrictionKind::In(_) => {
                    if !restriction.is_tuple && at + 1 != columns.len() {
                        return invalid(texts::in_before_last_clustering(self.release(), name));
                    }
                    if projection.has_collection(&self.target.def) {
                        return invalid(texts::in_with_collection(self.release(), name));
                    }
                    is_open = restriction.is_tuple;
                }
                RestrictionKind::Contains(_) => {
                    if !self.has_index {
                        return invalid(format!(
                            "Cannot restrict column \"{name}\" by a CONTAINS relation without a secondary index"
                        ));
                    }
                    is_filtered = true;
                }
                RestrictionKind::Eq(_) => {}
            }
            previous = Some((column, place));
        }
        Ok(is_filtered)
    }

    /// Returns the names of the clustering columns whose restrictions the slices cover. The other restrictions are checked
    /// row by row; from 2.2 on all are if one is.
    pub(super) fn covered_by_slices(&self, are_filtered: bool) -> Vec<String> {
        if !self.rules().conditions_need_index {
            let columns = self.target.def.clustering.iter().zip(&self.found.clustering);
            let covered = columns.filter(|(_, place)| place.is_some() && !are_filtered);
            return covered.map(|(column, _)| column.name.clone()).collect();
        }
        let (mut slice, mut covered) = (None, Vec::new());
        for (at, column) in self.target.def.clustering.iter().enumerate() {
            let place = self.found.clustering.get(at).copied().flatten();
            let Some(restriction) = self.found.of_clustering_at(at) else { return covered };
            if slice.is_some_and(|slice| Some(slice) != place) {
                return covered;
            }
            let is_by_index = self.found.uses_index && self.by_index.contains(&column.name);
            if is_by_index || restriction.is_contains() {
                continue;
            }
            slice = place.filter(|_| restriction.is_slice());
            covered.push(column.name.clone());
        }
        covered
    }

    /// Returns the error for a clustering column that may not be restricted because of the column before it.
    fn gap(&self, name: &str, previous: Option<(&TableColumn, Option<usize>)>) -> CqlError {
        let Some((before, place)) = previous else { return CqlError::invalid("") };
        let before = &before.name;
        let restriction = place.and_then(|place| self.found.of_clustering.get(place));
        let why = match restriction {
            None => "is not restricted",
            Some(restriction) if restriction.is_tuple && restriction.is_in() => {
                "is restricted by an IN tuple notation"
            }
            Some(_) => "is restricted by a non-EQ relation",
        };
        CqlError::invalid(texts::clustering_gap(self.release(), name, before, why))
    }
}
