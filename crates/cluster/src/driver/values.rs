//! The values of one statement, already encoded: this store and the cluster know their types, the driver does not.

use bytes::Bytes;
use scylla::errors::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;

/// A value of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriverValue {
    Bytes(Bytes),
    Long(i64),
    Int(i32),
    /// Leaves the column unchanged.
    Unset,
}

/// The values of a statement, in the order of its markers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DriverValues(pub Vec<DriverValue>);

impl DriverValues {
    #[must_use]
    pub fn bytes(mut self, bytes: Bytes) -> DriverValues {
        self.0.push(DriverValue::Bytes(bytes));
        self
    }

    #[must_use]
    pub fn long(mut self, number: i64) -> DriverValues {
        self.0.push(DriverValue::Long(number));
        self
    }

    #[must_use]
    pub fn int(mut self, number: i32) -> DriverValues {
        self.0.push(DriverValue::Int(number));
        self
    }

    #[must_use]
    pub fn unset(mut self) -> DriverValues {
        self.0.push(DriverValue::Unset);
        self
    }

    /// Appends a list for the marker of an IN.
    #[must_use]
    pub fn list(mut self, items: &[Bytes]) -> DriverValues {
        let length = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX).to_be_bytes();
        let mut list = Vec::with_capacity(4 + items.iter().map(|item| 4 + item.len()).sum::<usize>());
        list.extend(length(items.len()));
        for item in items {
            list.extend(length(item.len()));
            list.extend_from_slice(item);
        }
        self.0.push(DriverValue::Bytes(list.into()));
        self
    }
}

impl SerializeRow for DriverValues {
    fn serialize(
        &self,
        _context: &RowSerializationContext<'_>,
        writer: &mut RowWriter,
    ) -> Result<(), SerializationError> {
        for value in &self.0 {
            let cell = writer.make_cell_writer();
            let set = match value {
                DriverValue::Bytes(bytes) => cell.set_value(bytes),
                DriverValue::Long(number) => cell.set_value(&number.to_be_bytes()),
                DriverValue::Int(number) => cell.set_value(&number.to_be_bytes()),
                DriverValue::Unset => Ok(cell.set_unset()),
            };
            set.map_err(SerializationError::new)?;
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_its_length_and_items_with_lengths() {
        let values = DriverValues::default().list(&[Bytes::from_static(b"a"), Bytes::from_static(b"")]);
        let expected = [0, 0, 0, 2, 0, 0, 0, 1, b'a', 0, 0, 0, 0];
        assert_eq!(values.0, [DriverValue::Bytes(Bytes::copy_from_slice(&expected))]);
    }
}
