//! The record of a column family in the manifest.

use std::path::Path;

use serde::{Deserialize, Serialize};

use base::marshal::{has_reversed_components, may_succeed};
use base::schema::{CfDef, ColumnType, FamilyName};
use store::{Result, StoreError};

/// The id, the generation and the types of a column family with which its data was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FamilyRecord {
    pub id: u32,
    /// Raised by each truncate.
    pub generation: u32,
    #[serde(rename = "type")]
    pub type_name: String,
    pub comparator: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subcomparator: Option<String>,
    /// Whether a client has dropped it. A new column family of that name starts empty and may have other types.
    #[serde(rename = "dropped", skip_serializing_if = "std::ops::Not::not", default)]
    pub is_dropped: bool,
    /// The order of its keys, if builds before release 1.0.0 had a different one.
    #[serde(rename = "order", skip_serializing_if = "Option::is_none", default)]
    pub key_order: Option<KeyOrder>,
}

/// The order of keys that builds before release 1.0.0 sorted differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KeyOrder {
    /// An empty component under a `ReversedType` comes last.
    #[serde(rename = "empty last")]
    EmptyLast,
}

/// Returns the order of new keys under a column family's comparators, if builds before release 1.0.0 had a different one.
fn key_order_of(comparator: &str, subcomparator: Option<&str>) -> Option<KeyOrder> {
    let is_concerned = [Some(comparator), subcomparator].into_iter().flatten().any(has_reversed_components);
    is_concerned.then_some(KeyOrder::EmptyLast)
}

impl FamilyRecord {
    pub(crate) fn new(id: u32, cf: &CfDef) -> FamilyRecord {
        let comparator = cf.comparator.class_name();
        let subcomparator = cf.subcomparator().map(|sub| sub.class_name());
        FamilyRecord {
            id,
            generation: 1,
            type_name: cf.type_name().to_owned(),
            comparator: comparator.to_owned(),
            subcomparator: subcomparator.map(str::to_owned),
            is_dropped: false,
            key_order: key_order_of(comparator, subcomparator),
        }
    }

    /// Checks that its keys are in the order of this version. Release 1.0.0 marks a directory of an earlier build as one
    /// of format 4 before it moves the keys of each column family, so a stopped upgrade leaves some in the earlier
    /// order, and so does a column family that its configuration does not define.
    ///
    /// # Errors
    /// `Mismatch`, with what to do.
    pub(crate) fn check_key_order(&self, directory: &Path, name: &FamilyName) -> Result<()> {
        let expected = key_order_of(&self.comparator, self.subcomparator.as_deref());
        if self.is_dropped || self.key_order.is_some() || expected.is_none() {
            return Ok(());
        }
        Err(StoreError::Mismatch(format!(
            "the upgrade of {} to format 4 is not complete: column family {name} has keys in the order of format 3; start \
             version 1.0.0 on the directory with this column family defined, and then this version",
            directory.display()
        )))
    }

    /// Returns the record of a column family that is created again after this one was dropped. It has the generation
    /// that the drop started, so its trees are new.
    pub(crate) fn recreated(&self, cf: &CfDef) -> FamilyRecord {
        FamilyRecord { generation: self.generation, ..FamilyRecord::new(self.id, cf) }
    }

    /// Returns the record of a column family without entries under a definition with other types. It has a new generation,
    /// so that nothing of the earlier types is read with the new ones.
    pub(crate) fn retyped(&self, cf: &CfDef) -> FamilyRecord {
        FamilyRecord { generation: self.generation + 1, ..FamilyRecord::new(self.id, cf) }
    }

    /// Returns the record with the comparator of a compatible definition. `None` if the comparator is the same.
    pub(crate) fn with_comparator_of(&self, cf: &CfDef) -> Option<FamilyRecord> {
        let comparator = cf.comparator.class_name();
        let key_order = key_order_of(comparator, self.subcomparator.as_deref());
        (self.comparator != comparator).then(|| FamilyRecord {
            comparator: comparator.to_owned(),
            key_order,
            ..self.clone()
        })
    }

    /// Returns why a definition contradicts the stored data. `None` if it does not.
    pub(crate) fn conflict_with(&self, cf: &CfDef) -> Option<String> {
        let name = format!("column family {}.{}", cf.keyspace, cf.name);
        let advice = "put it back, truncate the column family before the change if its rows are not needed, or choose \
                      another data directory";
        if self.type_name != cf.type_name() {
            return Some(format!(
                "{name} holds data of ColumnType {}, but is now defined as {}; {advice}",
                self.type_name,
                cf.type_name()
            ));
        }
        if !may_succeed(&self.comparator, cf.comparator.class_name()) {
            return Some(format!(
                "{name} holds data written with CompareWith {}, but is now defined with {}; names are sorted by it on \
                 the disk: {advice}",
                self.comparator,
                cf.comparator.class_name()
            ));
        }
        match (&self.subcomparator, &cf.column_type) {
            (Some(stored), ColumnType::Super { subcomparator }) if stored != subcomparator.class_name() => {
                Some(format!(
                    "{name} holds data written with CompareSubcolumnsWith {stored}, but is now defined with {}; names \
                     are sorted by it on the disk: {advice}",
                    subcomparator.class_name()
                ))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use base::marshal::Types;

    use super::*;

    #[test]
    fn keys_in_the_order_of_format_3_are_refused() {
        let name = FamilyName::of(&CfDef::new("K", "A"));
        let reversed = "CompositeType(UTF8Type, ReversedType(Int32Type))";
        for (comparator, has_order) in
            [("BytesType", false), (reversed, true), ("DynamicCompositeType(a=>UTF8Type)", true)]
        {
            let mut cf = CfDef::new("K", "A");
            cf.comparator = Types::builtin().parse(comparator).unwrap();
            let record = FamilyRecord::new(1, &cf);
            assert_eq!(record.key_order.is_some(), has_order, "{comparator}");
            record.check_key_order(Path::new("data"), &name).unwrap();
            let earlier = FamilyRecord { key_order: None, ..record };
            let checked = earlier.check_key_order(Path::new("data"), &name);
            assert_eq!(checked.is_err(), has_order, "{comparator}");
            if let Err(error) = checked {
                assert!(
                    error.to_string().contains("column family K.A has keys in the order of format 3"),
                    "{error}"
                );
            }
            FamilyRecord { is_dropped: true, ..earlier }.check_key_order(Path::new("data"), &name).unwrap();
        }
    }

    #[test]
    fn a_comparator_with_a_reversed_component_that_follows_another_one_has_the_order_of_this_version() {
        let mut cf = CfDef::new("K", "A");
        cf.comparator = Types::builtin().parse("CompositeType(UTF8Type)").unwrap();
        let record = FamilyRecord::new(1, &cf);
        cf.comparator = Types::builtin().parse("CompositeType(UTF8Type, ReversedType(Int32Type))").unwrap();
        assert_eq!(record.with_comparator_of(&cf).unwrap().key_order, Some(KeyOrder::EmptyLast));
    }
}
