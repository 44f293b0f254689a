//! Checks a WHERE clause as a whole: the restrictions must fit the key or an index, or be checked row by row with ALLOW
//! FILTERING.

use super::analysis::Analysis;
use super::messages::NEEDS_FILTERING;
use super::restrictions::{Restriction, Restrictions};
use super::selection::Projection;
use crate::Result;
use crate::error::invalid;
use base::compat::features::LaterFeature;
use base::compat::features::restrictions::{
    CHANGES_OF_SEVERAL_ROWS, FILTERING_BY_CLUSTERING, FILTERING_BY_PARTITION_KEY, FILTERING_BY_VALUES,
};
use base::compat::texts;
use base::schema::Layout;
use cql_syntax::Select;

impl Analysis<'_> {
    /// Whether rows may be filtered by the columns of a feature.
    pub(super) fn may_filter(&self, feature: LaterFeature) -> bool {
        self.select.is_some_and(|select| select.allow_filtering) && self.state.has(feature)
    }

    /// Runs the checks of a SELECT that need all relations.
    pub(super) fn finish(mut self, select: &Select, projection: &Projection) -> Result<Restrictions> {
        let (rules, def) = (self.rules(), &*self.target.def);
        let filters_keys = self.check_partition_key(select)? || self.found.uses_index;
        let is_static_only =
            projection.is_static_only(def) && (rules.key_is_static || projection.has_static(def));
        if is_static_only && self.found.restricts_clustering() {
            return invalid("Cannot restrict clustering columns when selecting only static columns");
        }
        let filters_clustering = self.check_clustering(projection)?;
        self.found.uses_index |= self.found.is_key_range && self.has_clustering_index;
        let covered = self.covered_by_slices(filters_clustering || self.found.uses_index);
        let filtered = self.filtered_columns(filters_keys, &covered);
        self.check_others(select, filtered)?;
        if !self.found.is_key_range && rules.covered_columns_use_no_index {
            let keys = def.partition_key.iter().map(|column| column.name.clone());
            self.found.without_index = keys.chain(covered).collect();
        }
        if self.found.uses_index && self.found.is_key_in {
            return invalid(
                "Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
            );
        }
        if self.found.uses_index && is_static_only && !self.state.has(FILTERING_BY_VALUES) {
            return invalid("Queries using 2ndary indexes don't support selecting only static columns");
        }
        if select.is_distinct && rules.checks_distinct_first {
            self.check_distinct_rows()?;
            self.check_distinct(select, projection)?;
        }
        if !select.order_by.is_empty() {
            self.check_order(select)?;
        }
        self.check_filtering(select, filtered)?;
        self.check_strict_bounds(select)?;
        if select.is_distinct && !rules.checks_distinct_first {
            self.check_distinct(select, projection)?;
        }
        Ok(self.found)
    }

    /// Checks the restrictions of the partition key. Returns whether rows are filtered by them.
    fn check_partition_key(&mut self, select: &Select) -> Result<bool> {
        let in_order = self.rules().checks_columns_in_order;
        if in_order {
            self.check_key_in_order(select)?;
        }
        let keys = &self.found.keys;
        let given = self.target.def.partition_key.iter().zip(keys);
        let missing: Vec<&str> =
            given.filter(|(_, restriction)| restriction.is_none()).map(|(column, _)| &*column.name).collect();
        if missing.len() == keys.len() {
            self.found.is_key_range = true;
            self.found.uses_index = self.found.token.is_none() && self.has_index;
            return Ok(false);
        }
        let has_in = keys.iter().flatten().any(Restriction::is_in);
        // To 2.1 the check of the order has refused slices.
        let has_slice = !in_order && keys.iter().flatten().any(|of| of.is_slice() || of.is_contains());
        let is_whole = missing.is_empty() && !has_slice;
        self.found.is_key_in = has_in && (is_whole || !in_order);
        if is_whole {
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
    fn check_clustering(&mut self, projection: &Projection) -> Result<bool> {
        let is_filtered = if self.rules().checks_columns_in_order {
            self.check_clustering_in_order(projection)?
        } else {
            self.check_clustering_by_kind(projection)?
        };
        self.found.uses_index |= is_filtered && self.has_index;
        Ok(is_filtered)
    }

    fn check_clustering_by_kind(&self, projection: &Projection) -> Result<bool> {
        let found = &self.found;
        let may_filter = self.has_index || self.may_filter(FILTERING_BY_CLUSTERING);
        if !self.has_index && !self.state.has(CHANGES_OF_SEVERAL_ROWS) {
            self.check_slices()?;
        }
        let has_contains = found.of_clustering.iter().any(Restriction::is_contains);
        // With a slice 2.2 no longer knows that there is an IN before it.
        let has_in = found.of_clustering.iter().any(Restriction::is_in)
            && (self.state.has(FILTERING_BY_VALUES)
                || !found.of_clustering.iter().any(Restriction::is_slice));
        if has_in && !projection.is_count && projection.has_collection(&self.target.def) {
            return invalid(
                "Cannot restrict clustering columns by IN relations when a collection is selected by the query",
            );
        }
        if has_contains && !may_filter {
            return invalid(texts::contains_on_clustering(self.state.line()));
        }
        if !found.restricts_clustering() || !(found.has_gap() || has_contains) {
            return Ok(false);
        }
        match found.gap(&self.target.def) {
            Some(gap) if !may_filter => Err(gap),
            _ => Ok(true),
        }
    }

    /// Checks that no clustering column is restricted after a slice, as 2.2 does.
    fn check_slices(&self) -> Result<()> {
        let mut slice: Option<&Restriction> = None;
        for at in 0..self.found.clustering.len() {
            let Some(restriction) = self.found.of_clustering_at(at) else { continue };
            match slice {
                _ if restriction.first != at => {}
                Some(slice) => return Err(self.restricted_after_slice("Clustering", at, slice.first)),
                None => slice = Some(restriction).filter(|restriction| restriction.is_slice()),
            }
        }
        Ok(())
    }

    /// Returns the number of columns whose conditions neither the keys nor the slices cover.
    fn filtered_columns(&self, filters_keys: bool, covered: &[String]) -> usize {
        let found = &self.found;
        let of_keys = match &found.token {
            Some(token) => token.width,
            None => found.keys.iter().flatten().count(),
        };
        let of_clustering = found.clustering.iter().flatten().count() - covered.len();
        (if filters_keys { of_keys } else { 0 }) + of_clustering + found.others.len()
    }

    /// Checks the restrictions of columns outside of the primary key, and to 2.1 all that need an index.
    fn check_others(&mut self, select: &Select, filtered: usize) -> Result<()> {
        if self.rules().conditions_need_index {
            if filtered > 0 && !self.has_index && self.state.behaviour.cql.conditions_need_index_first {
                return invalid("No indexed columns present in by-columns clause with Equal operator");
            }
            self.found.uses_index |= filtered > 0;
            return Ok(());
        }
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
            return if select.allow_filtering { Ok(()) } else { invalid(NEEDS_FILTERING) };
        }
        invalid(format!(
            "Predicates on non-primary-key columns ({}) are not yet supported for non secondary index queries",
            self.found.names_of_others()
        ))
    }

    /// Checks whether the query would read more rows than it returns, which needs ALLOW FILTERING. `filtered` is the
    /// number of columns whose conditions neither the keys nor the slices cover.
    fn check_filtering(&self, select: &Select, filtered: usize) -> Result<()> {
        let found = &self.found;
        if select.allow_filtering || !(found.is_key_range || found.uses_index) {
            return Ok(());
        }
        let has_several = found.others.iter().any(|(_, of)| of.has_several_conditions());
        let is_filtering = filtered > 1 || filtered == 0 && found.restricts_clustering() || has_several;
        if is_filtering { invalid(NEEDS_FILTERING) } else { Ok(()) }
    }
}
