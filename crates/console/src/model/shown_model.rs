//! A sketch as the page shows it.

use super::family::ShownFamily;
use super::script::Script;
use super::sketch::{OpenSketch, SketchError};
use super::{cassandra_cli_text, cql_text, storage_conf_text};

/// The model that a sketch defines, ready to be shown.
#[derive(Debug, Default)]
pub(crate) struct ShownModel {
    pub errors: Vec<SketchError>,
    /// In the order of their keyspaces and names.
    pub families: Vec<ShownFamily>,
    pub scripts: Vec<Script>,
}

impl ShownModel {
    /// Returns the script of a form, such as `cql`.
    pub(crate) fn script(&self, anchor: &str) -> Option<&Script> {
        let made = self.scripts.iter().find(|script| script.anchor == anchor);
        made.filter(|_| !self.families.is_empty())
    }

    /// Returns a model with errors alone, without anything to show.
    pub(crate) fn failed(errors: Vec<SketchError>) -> ShownModel {
        ShownModel { errors, ..ShownModel::default() }
    }

    /// Shows all column families of a sketch.
    pub(crate) async fn of(open: &OpenSketch) -> ShownModel {
        let catalog = open.catalog();
        let mut model = ShownModel::default();
        for (at, cf) in catalog.column_families().enumerate() {
            match ShownFamily::of(open, cf, at).await {
                Ok(family) => model.families.push(family),
                Err(error) => model.errors.push(error),
            }
        }
        if catalog.keyspaces.is_empty() {
            return model;
        }
        model.scripts.push(storage_conf_text::storage_conf_text(open, &catalog));
        model.scripts.push(cassandra_cli_text::cassandra_cli_text(open, &catalog).await);
        model.scripts.push(cql_text::cql_text(open, &catalog).await);
        model
    }
}
