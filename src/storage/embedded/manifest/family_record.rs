//! The record of a column family in the manifest.

use serde::{Deserialize, Serialize};

use crate::marshal::{has_reversed_components, may_succeed};
use crate::schema::{CfDef, ColumnType};

/// The id, the generation and the types of a column family with which its data was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FamilyRecord {
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
    /// The order of its keys, if an earlier format had a different one.
    #[serde(rename = "order", skip_serializing_if = "Option::is_none", default)]
    pub key_order: Option<KeyOrder>,
}

/// How keys sort that an earlier format sorted otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyOrder {
    /// An empty component under a `ReversedType` comes last: from format 4 on.
    #[serde(rename = "empty last")]
    EmptyLast,
}

/// Returns the order of new keys under a comparator, if an earlier format had a different one.
fn key_order_of(comparators: [Option<&str>; 2]) -> Option<KeyOrder> {
    let is_concerned = |class: &str| has_reversed_components(class);
    comparators.into_iter().flatten().any(is_concerned).then_some(KeyOrder::EmptyLast)
}

impl FamilyRecord {
    pub fn new(id: u32, cf: &CfDef) -> FamilyRecord {
        let comparator = cf.comparator.class_name();
        let subcomparator = cf.subcomparator().map(|sub| sub.class_name());
        FamilyRecord {
            id,
            generation: 1,
            type_name: cf.type_name().to_owned(),
            comparator: comparator.to_owned(),
            subcomparator: subcomparator.map(str::to_owned),
            is_dropped: false,
            key_order: key_order_of([Some(comparator), subcomparator]),
        }
    }

    /// Whether its keys may be in the order of an earlier format.
    pub fn is_outdated(&self) -> bool {
        self.key_order != key_order_of([Some(&self.comparator), self.subcomparator.as_deref()])
    }

    /// Returns the record after its keys have been brought into the order of the newest format.
    pub fn reordered(&self) -> FamilyRecord {
        let key_order = key_order_of([Some(&self.comparator), self.subcomparator.as_deref()]);
        FamilyRecord { key_order, ..self.clone() }
    }

    /// Returns the record of a column family that is created again after this one was dropped. It has the generation
    /// that the drop started, so its trees are new.
    pub fn recreated(&self, cf: &CfDef) -> FamilyRecord {
        FamilyRecord { generation: self.generation, ..FamilyRecord::new(self.id, cf) }
    }

    /// Returns the record with the comparator of a compatible definition. `None` if the comparator is the same.
    pub fn with_comparator_of(&self, cf: &CfDef) -> Option<FamilyRecord> {
        let comparator = cf.comparator.class_name();
        (self.comparator != comparator)
            .then(|| FamilyRecord { comparator: comparator.to_owned(), ..self.clone() })
    }

    /// Returns why a definition contradicts the stored data. `None` if it does not.
    pub fn conflict_with(&self, cf: &CfDef) -> Option<String> {
        let name = format!("column family {}.{}", cf.keyspace, cf.name);
        let advice = "names are sorted by it on the disk, so put it back or choose another data directory";
        if self.type_name != cf.type_name() {
            return Some(format!(
                "{name} holds data of ColumnType {}, but is now defined as {}; put it back or choose another \
                 data directory",
                self.type_name,
                cf.type_name()
            ));
        }
        if !may_succeed(&self.comparator, cf.comparator.class_name()) {
            return Some(format!(
                "{name} holds data written with CompareWith {}, but is now defined with {}; {advice}",
                self.comparator,
                cf.comparator.class_name()
            ));
        }
        match (&self.subcomparator, &cf.column_type) {
            (Some(stored), ColumnType::Super { subcomparator }) if stored != subcomparator.class_name() => {
                Some(format!(
                    "{name} holds data written with CompareSubcolumnsWith {stored}, but is now defined with {}; \
                     {advice}",
                    subcomparator.class_name()
                ))
            }
            _ => None,
        }
    }
}
