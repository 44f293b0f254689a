//! The text argument that names a column family and columns: "CF", "CF:C", "CF:SC" or "CF:SC:C".

use bytes::Bytes;

use db::{ColumnParent, ColumnPath, Error};

/// Names separated by colons, the column family's first. None of the names can contain a colon.
#[derive(Debug, Clone)]
pub(super) struct TextPath {
    text: Bytes,
    pub family: Bytes,
    /// The names after the column family.
    names: Vec<Bytes>,
}

impl TextPath {
    /// Splits a text as Java's `split` does: empty parts at the end are dropped. The result always has a family,
    /// whose name may be empty.
    pub(super) fn parse(text: Bytes) -> TextPath {
        let mut parts: Vec<Bytes> =
            text.split(|byte| *byte == b':').map(|part| text.slice_ref(part)).collect();
        while parts.len() > 1 && parts.last().is_some_and(Bytes::is_empty) {
            parts.pop();
        }
        let names = parts.split_off(1.min(parts.len()));
        TextPath { family: parts.pop().unwrap_or_default(), names, text }
    }

    /// Returns the column of get_column; the text must contain exactly the names that this needs.
    pub(super) fn column(&self, is_super: bool) -> Result<ColumnPath, Error> {
        match (is_super, &self.names[..]) {
            (false, [column]) => Ok(self.path(None, Some(column))),
            (true, [super_column, column]) => Ok(self.path(Some(super_column), Some(column))),
            (false, _) => {
                Err(self.invalid("get_column requires both parts of columnfamily:column for standard CF"))
            }
            (true, _) => Err(self
                .invalid("get_column requires all parts of columnfamily:supercolumn:subcolumn for super CF")),
        }
    }

    /// Returns the path of a super column.
    pub(super) fn super_column(&self) -> Result<ColumnPath, Error> {
        match &self.names[..] {
            [super_column] => Ok(self.path(Some(super_column), None)),
            _ => {
                Err(self
                    .invalid("get_superColumn requires both parts of columnfamily:supercolumn for super CF"))
            }
        }
    }

    /// Returns the path of the column to write.
    pub(super) fn written(&self) -> Result<ColumnPath, Error> {
        match &self.names[..] {
            [column] => Ok(self.path(None, Some(column))),
            [super_column, column] => Ok(self.path(Some(super_column), Some(column))),
            _ => Err(self.malformed()),
        }
    }

    /// Returns the path to remove: a row, a column, a super column or a column of a super column.
    pub(super) fn removed(&self, is_super: bool) -> Result<ColumnPath, Error> {
        match &self.names[..] {
            [] => Ok(self.path(None, None)),
            [super_column] if is_super => Ok(self.path(Some(super_column), None)),
            _ => self.written(),
        }
    }

    /// Returns the parent of a slice or count: a row of the family, or a super column in it.
    pub(super) fn parent(&self) -> Result<ColumnParent, Error> {
        match &self.names[..] {
            [] => Ok(ColumnParent { column_family: self.family.clone(), super_column: None }),
            [super_column] => Ok(ColumnParent {
                column_family: self.family.clone(),
                super_column: Some(super_column.clone()),
            }),
            _ => Err(Error::invalid(format!(
                "{} is in invalid format. Must be in <column family> or <column family>:<super column> format.",
                String::from_utf8_lossy(&self.text)
            ))),
        }
    }

    fn path(&self, super_column: Option<&Bytes>, column: Option<&Bytes>) -> ColumnPath {
        ColumnPath {
            column_family: self.family.clone(),
            super_column: super_column.cloned(),
            column: column.cloned(),
        }
    }

    fn invalid(&self, why: &str) -> Error {
        Error::invalid(format!("{why} {}", String::from_utf8_lossy(&self.family)))
    }

    /// Returns the error with the message of RowMutation, although 0.3 only logged it.
    fn malformed(&self) -> Error {
        Error::invalid(format!(
            "Column Family {} in invalid format. Must be in <column family>:<column> format.",
            String::from_utf8_lossy(&self.text)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &'static str) -> (Bytes, Vec<Bytes>) {
        let path = TextPath::parse(Bytes::from(text));
        (path.family, path.names)
    }

    #[test]
    fn texts_are_cut_as_java_does() {
        let cases: [(&str, &str, &[&str]); 8] = [
            ("CF", "CF", &[]),
            ("CF:C", "CF", &["C"]),
            ("CF:SC:C", "CF", &["SC", "C"]),
            ("CF:", "CF", &[]),
            ("CF::C", "CF", &["", "C"]),
            ("CF:a:b:c", "CF", &["a", "b", "c"]),
            ("", "", &[]),
            (":::", "", &[]),
        ];
        for (text, family, names) in cases {
            let names = names.iter().map(|name| Bytes::from(*name)).collect();
            assert_eq!(cut(text), (Bytes::from(family), names), "{text:?}");
        }
    }

    #[test]
    fn one_name_is_a_super_column_only_where_there_are_any() {
        let path = TextPath::parse(Bytes::from("CF:x"));
        assert_eq!(path.removed(true).unwrap().super_column.unwrap(), "x");
        assert_eq!(path.removed(false).unwrap().column.unwrap(), "x");
        assert!(path.column(true).is_err());
        assert!(TextPath::parse(Bytes::from("CF:a:b:c")).removed(true).is_err());
    }
}
