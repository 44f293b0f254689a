//! A row of a system table while it is built.

use std::collections::BTreeMap;
use std::net::IpAddr;

use bytes::Bytes;

use base::marshal::{CollectionForm, map_to_bytes};

/// Values by column name. Columns that are not set are null.
#[derive(Debug, Default)]
pub(super) struct RowBuilder(BTreeMap<&'static str, Bytes>);

impl RowBuilder {
    pub(super) fn bytes(mut self, name: &'static str, value: impl Into<Bytes>) -> RowBuilder {
        self.0.insert(name, value.into());
        self
    }

    pub(super) fn text(self, name: &'static str, value: impl Into<String>) -> RowBuilder {
        let value: String = value.into();
        self.bytes(name, value.into_bytes())
    }

    pub(super) fn optional(self, name: &'static str, value: Option<String>) -> RowBuilder {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    pub(super) fn inet(self, name: &'static str, address: IpAddr) -> RowBuilder {
        match address {
            IpAddr::V4(address) => self.bytes(name, address.octets().to_vec()),
            IpAddr::V6(address) => self.bytes(name, address.octets().to_vec()),
        }
    }

    pub(super) fn int(self, name: &'static str, value: i32) -> RowBuilder {
        self.bytes(name, value.to_be_bytes().to_vec())
    }

    pub(super) fn optional_int(self, name: &'static str, value: Option<i32>) -> RowBuilder {
        match value {
            Some(value) => self.int(name, value),
            None => self,
        }
    }

    pub(super) fn double(self, name: &'static str, value: f64) -> RowBuilder {
        self.bytes(name, value.to_be_bytes().to_vec())
    }

    pub(super) fn optional_double(self, name: &'static str, value: Option<f64>) -> RowBuilder {
        match value {
            Some(value) => self.double(name, value),
            None => self,
        }
    }

    pub(super) fn boolean(self, name: &'static str, value: bool) -> RowBuilder {
        self.bytes(name, vec![u8::from(value)])
    }

    /// Adds a list or set of texts.
    pub(super) fn texts(self, name: &'static str, values: &[String]) -> RowBuilder {
        let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
        let mut bytes = length(values.len()).to_vec();
        for value in values {
            bytes.extend_from_slice(&length(value.len()));
            bytes.extend_from_slice(value.as_bytes());
        }
        self.bytes(name, bytes)
    }

    /// Adds a map from texts to numbers; an empty map is null.
    pub(super) fn numbers<'n>(
        self,
        name: &'static str,
        entries: impl ExactSizeIterator<Item = (&'n Bytes, &'n i64)>,
    ) -> RowBuilder {
        if entries.len() == 0 {
            return self;
        }
        let entries: Vec<(Bytes, Bytes)> = entries
            .map(|(key, number)| (key.clone(), Bytes::copy_from_slice(&number.to_be_bytes())))
            .collect();
        self.bytes(name, map_to_bytes(&entries, CollectionForm::Long))
    }

    /// Adds a map of texts.
    pub(super) fn map(self, name: &'static str, values: &BTreeMap<String, String>) -> RowBuilder {
        let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
        let mut bytes = length(values.len()).to_vec();
        for text in values.iter().flat_map(|(key, value)| [key, value]) {
            bytes.extend_from_slice(&length(text.len()));
            bytes.extend_from_slice(text.as_bytes());
        }
        self.bytes(name, bytes)
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Bytes> {
        self.0.remove(name)
    }
}
