//! Checks a whole SELECT as 2.2 and later do: its restrictions must fit the key, an index, ORDER BY and DISTINCT, or be
//! checked row by row with ALLOW FILTERING (`StatementRestrictions`, `SelectStatement.RawStatement`).

use super::analysis::Analysis;
use super::messages::NEEDS_FILTERING;
use super::restrictions::{Restriction, RestrictionKind, Restrictions};
use super::selection::Projection;
use crate::CqlError;
use base::compat::features::LaterFeature;
use base::compat::features::restrictions::{
    CHANGES_OF_SEVERAL_ROWS, FILTERING_BY_CLUSTERING, FILTERING_BY_PARTITION_KEY, FILTERING_BY_VALUES,
};
use base::compat::texts;
use base::schema::{ColumnKind, Layout, TableColumn};

fn invalid<T>(why: impl Into<String>) -> Result<T, CqlError> {
    Err(CqlError::invalid(why))
}

/// The parts of a WHERE clause that are checked row by row.
struct Filtered {
    keys: bool,
    clustering: bool,
}

impl Analysis<'_> {
    /// Whether rows may be filtered by the columns of a feature.
    fn may_filter(&self, feature: LaterFeature) -> bool {
        self.select.allow_filtering && self.state.has(feature)
    }

    /// Runs the checks that need all relations.
    pub fn finish_as_later(mut self, projection: &Projection) -> Result<Restrictions, CqlError> {
        self.found.is_later = true;
        let mut filtered = Filtered { keys: self.key_columns()?, clustering: false };
        filtered.keys |= self.found.uses_index;
        // From 2.2 on the partition key alone is not enough.
        let def = &self.target.def;
        let is_static_only = projection.is_static_only(def) && projection.has_static(def);
        if is_static_only && self.found.restricts_clustering() {
            return invalid("Cannot restrict clustering columns when selecting only static columns");
        }
        filtered.clustering = self.clustering_columns(projection)?;
        if self.found.is_key_range && self.has_clustering_index {
            self.found.uses_index = true;
        }
        filtered.clustering |= self.found.uses_index;
        self.other_columns()?;
        if self.found.uses_index {
            if self.found.is_key_in {
                return invalid(
                    "Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
                );
            }
            if is_static_only && !self.state.has(FILTERING_BY_VALUES) {
                return invalid("Queries using 2ndary indexes don't support selecting only static columns");
            }
        }
        if self.select.is_distinct {
            self.distinct_rows()?;
            self.distinct(projection)?;
        }
        if !self.select.order_by.is_empty() {
            self.order()?;
        }
        self.check_filtering(&filtered)?;
        self.strict_bounds()?;
        Ok(self.found)
    }

    /// Checks the restrictions of the partition key. Returns whether rows are filtered by them.
    fn key_columns(&mut self) -> Result<bool, CqlError> {
        let keys = &self.found.keys;
        let missing: Vec<&str> = self
            .target
            .def
            .partition_key
            .iter()
            .zip(keys)
            .filter(|(_, restriction)| restriction.is_none())
            .map(|(column, _)| &*column.name)
            .collect();
        let is_on_token = self.found.token.is_some();
        let has_in = keys.iter().flatten().any(Restriction::is_in);
        self.found.is_key_in = has_in;
        if keys.iter().all(Option::is_none) {
            self.found.is_key_range = true;
            self.found.uses_index = !is_on_token && self.has_index;
            return Ok(false);
        }
        let has_slice = keys.iter().flatten().any(|restriction| {
            matches!(restriction.asked, RestrictionKind::Slice(_) | RestrictionKind::Contains(_))
        });
        if missing.is_empty() && !has_slice {
            return Ok(false);
        }
        if !self.has_index && !self.may_filter(FILTERING_BY_PARTITION_KEY) {
            return invalid(texts::partial_key(self.state.line(), &missing.join(", ")));
        }
        if has_in && self.state.has(FILTERING_BY_PARTITION_KEY) {
            return invalid("IN restrictions are not supported when the query involves filtering");
        }
        self.found.is_key_range = true;
        self.found.uses_index = self.has_index;
        Ok(true)
    }

    /// Checks the restrictions of the clustering columns. Returns whether rows are filtered by them.
    fn clustering_columns(&mut self, projection: &Projection) -> Result<bool, CqlError> {
        let may_filter = self.may_filter(FILTERING_BY_CLUSTERING);
        if !self.has_index && !self.state.has(CHANGES_OF_SEVERAL_ROWS) {
            self.check_slices()?;
        }
        let is_any = |is: fn(&Restriction) -> bool| self.found.of_clustering.iter().any(is);
        let has_contains = is_any(|of| matches!(of.asked, RestrictionKind::Contains(_)));
        // With a slice 2.2 no longer knows that there is an IN before it.
        let has_in = is_any(Restriction::is_in)
            && (self.state.has(FILTERING_BY_VALUES) || !is_any(Restriction::is_slice));
        if has_in && !projection.is_count && projection.has_collection(&self.target.def) {
            return invalid(
                "Cannot restrict clustering columns by IN relations when a collection is selected by the query",
            );
        }
        if has_contains && !self.has_index && !may_filter {
            return invalid(texts::contains_on_clustering(self.state.line()));
        }
        if !self.found.restricts_clustering() || !(self.found.has_gap() || has_contains) {
            return Ok(false);
        }
        if self.has_index {
            self.found.uses_index = true;
        } else if let Some(gap) = self.found.gap(&self.target.def).filter(|_| !may_filter) {
            return Err(gap);
        }
        Ok(true)
    }

    /// Checks that no clustering column is restricted after a slice, as 2.2 does.
    fn check_slices(&self) -> Result<(), CqlError> {
        let mut slice: Option<&Restriction> = None;
        for (at, place) in self.found.clustering.iter().enumerate() {
            let Some(restriction) = place.and_then(|place| self.found.of_clustering.get(place)) else {
                continue;
            };
            match slice {
                _ if restriction.first != at => {}
                Some(slice) => return Err(self.restricted_after_slice("Clustering", at, slice.first)),
                None => slice = Some(restriction).filter(|restriction| restriction.is_slice()),
            }
        }
        Ok(())
    }

    /// Checks that no clustering column is restricted after a slice, as 3.0 and later do with each relation. `new` is
    /// not added yet.
    pub fn check_after_slice(&self, new: &Restriction) -> Result<(), CqlError> {
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

    fn restricted_after_slice(&self, kind: &str, column: usize, slice: usize) -> CqlError {
        let name =
            |at: usize| self.target.def.clustering.get(at).map_or("", |column: &TableColumn| &column.name);
        CqlError::invalid(format!(
            "{kind} column \"{}\" cannot be restricted (preceding column \"{}\" is restricted by a non-EQ relation)",
            name(column),
            name(slice)
        ))
    }

    /// Checks the restrictions of columns outside of the primary key.
    fn other_columns(&mut self) -> Result<(), CqlError> {
        if self.found.others.is_empty() {
            return Ok(());
        }
        if self.has_index {
            self.found.uses_index = true;
            return Ok(());
        }
        if self.may_filter(FILTERING_BY_VALUES) {
            return Ok(());
        }
        // Before 3.0 rows of tables that Thrift clients declare column by column can be filtered.
        let is_static_compact = self.target.def.layout == Layout::StaticCompact;
        if self.state.has(FILTERING_BY_VALUES) || is_static_compact {
            return if self.select.allow_filtering { Ok(()) } else { invalid(NEEDS_FILTERING) };
        }
        let mut names: Vec<&str> = self.found.others.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        invalid(format!(
            "Predicates on non-primary-key columns ({}) are not yet supported for non secondary index queries",
            names.join(", ")
        ))
    }

    /// Checks that DISTINCT is restricted by the partition key, or by static columns.
    fn distinct_rows(&self) -> Result<(), CqlError> {
        let is_static = |(name, _): &(String, Restriction)| {
            // From 3.0 on, the columns of a compact table without clustering columns are static.
            let def = &self.target.def;
            let is_static = |column: &TableColumn| column.kind == ColumnKind::Static;
            def.layout == Layout::StaticCompact || def.column(name).is_some_and(is_static)
        };
        let filters_statics = self.state.has(FILTERING_BY_VALUES);
        let others = &self.found.others;
        let is_of_partition = others.is_empty() || filters_statics && others.iter().all(is_static);
        if is_of_partition && !self.found.restricts_clustering() {
            return Ok(());
        }
        invalid(texts::distinct_rows(self.state.line()))
    }

    /// Checks whether the query would read more rows than it returns, which needs ALLOW FILTERING.
    fn check_filtering(&self, filtered: &Filtered) -> Result<(), CqlError> {
        let found = &self.found;
        if self.select.allow_filtering || !(found.is_key_range || found.uses_index) {
            return Ok(());
        }
        let of_keys = match &found.token {
            Some(token) => token.width,
            None => found.keys.iter().flatten().count(),
        };
        let of_clustering = found.clustering.iter().flatten().count();
        let count = if filtered.keys { of_keys } else { 0 }
            + if filtered.clustering { of_clustering } else { 0 }
            + found.others.len();
        let several = |(_, restriction): &(String, Restriction)| matches!(&restriction.asked, RestrictionKind::Contains(elements) if elements.len() > 1);
        let is_filtering =
            count > 1 || count == 0 && of_clustering > 0 || count != 0 && found.others.iter().any(several);
        if is_filtering { invalid(NEEDS_FILTERING) } else { Ok(()) }
    }
}
